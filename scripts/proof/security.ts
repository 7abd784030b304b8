// Security part of the proof: attacks on sign-in (floods, timing), planted sessions, cross-site pages, searches and
// guesses of secrets, stretched rights.

import { inLanes } from "../testing/lanes.ts";
import { type Finding, merged, type Part, type Proof, type Proving } from "./part.ts";
import { proveAttacks } from "./security/attacks.ts";
import { proveCrowding } from "./security/crowding.ts";
import { proveEncryption } from "./security/encryption.ts";
import { proveEnvironment } from "./security/environment.ts";
import { proveFlood } from "./security/flood.ts";
import { proveForeignPages } from "./security/foreign-pages.ts";
import { proveGuesses } from "./security/guesses.ts";
import { proveImports } from "./security/imports.ts";
import { proveLateRights } from "./security/late-rights.ts";
import { proveLeftDrafts } from "./security/left-drafts.ts";
import { proveLookAlikes } from "./security/look-alikes.ts";
import { proveOnBehalf } from "./security/on-behalf.ts";
import { proveRebinding } from "./security/rebinding.ts";
import { proveSecrets } from "./security/secrets.ts";
import { proveSentSecrets } from "./security/sent-secrets.ts";
import { proveSessions } from "./security/sessions.ts";
import { proveSignInsAtOnce } from "./security/sign-ins-at-once.ts";
import { proveTiming } from "./security/timing.ts";

/** Measurements in sequence, without other tests at the same time. */
async function measured(proving: Proving): Promise<Proof> {
  proving.say("a flood of sign-ins");
  const flood = await proveFlood(proving);
  proving.say("one caller's thousands of requests at once");
  const crowding = await proveCrowding(proving);
  proving.say("the time that sign-ins take");
  const { findings, table } = await proveTiming(proving);
  return { findings: [...flood, ...crowding, ...findings], tables: [table] };
}

async function others(proving: Proving): Promise<Proof> {
  proving.say("rights that are taken away from who waits");
  const late = await proveLateRights(proving);
  proving.say("names that are made to lead to a demo");
  const rebinding = await proveRebinding(proving);
  proving.say("sessions, other sites' pages, attacks, guesses, TLS, secrets looked for, and whom they are sent to");
  return merged([{ findings: [...late, ...rebinding] }, ...(await someAtOnce(proving))]);
}

type Prover = (proving: Proving) => Promise<Proof | Finding[]>;

/** Each serves a separate appliance, and mostly waits for it. */
const BESIDE_EACH_OTHER: readonly Prover[] = [
  proveSecrets,
  proveSentSecrets,
  proveLeftDrafts,
  proveSessions,
  proveSignInsAtOnce,
  proveForeignPages,
  proveEncryption,
  proveAttacks,
  proveEnvironment,
  proveGuesses,
  proveImports,
  proveOnBehalf,
  proveLookAlikes,
];
/** More would wait for a processor, and delay everything else. */
const AT_ONCE = 3;

async function someAtOnce(proving: Proving): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const tasks = BESIDE_EACH_OTHER.map((prove, place) => ({
    isReady: () => true,
    run: async () => {
      const began = performance.now();
      const proof = await prove(proving);
      proving.say(`${prove.name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      proofs[place] = Array.isArray(proof) ? { findings: proof } : proof;
      return [];
    },
  }));
  await inLanes(AT_ONCE, tasks);
  return proofs;
}

export const security: Part = {
  name: "security",
  title: "Security",
  prove: async (proving) => merged([await measured(proving), await others(proving)]),
};
