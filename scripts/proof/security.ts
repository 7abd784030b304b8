// Security part of the proof: attacks on the sign-in (floods, timing), planted sessions, cross-site pages, leaked and
// guessed secrets, privilege escalation.

import { runInLanes } from "../testing/lanes.ts";
import { type Finding, mergeProofs, type Part, type Proof, type ProofContext } from "./part.ts";
import { proveAttacks } from "./security/attacks.ts";
import { proveBursts } from "./security/bursts.ts";
import { proveConcurrentSignIns } from "./security/concurrent-sign-ins.ts";
import { proveCrossSite } from "./security/cross-site.ts";
import { proveEncryption } from "./security/encryption.ts";
import { proveEnvironment } from "./security/environment.ts";
import { proveFlood } from "./security/flood.ts";
import { proveGuesses } from "./security/guesses.ts";
import { proveImports } from "./security/imports.ts";
import { proveLeftDrafts } from "./security/leftover-drafts.ts";
import { proveLookAlikes } from "./security/look-alikes.ts";
import { proveOnBehalf } from "./security/on-behalf.ts";
import { proveRebinding } from "./security/rebinding.ts";
import { proveRevokedPermissions } from "./security/revoked-permissions.ts";
import { proveSecrets } from "./security/secrets.ts";
import { proveSentSecrets } from "./security/sent-secrets.ts";
import { proveSessions } from "./security/sessions.ts";
import { proveTiming } from "./security/timing.ts";

/** Runs the measurements in sequence, without concurrent tests. */
async function proveMeasured(context: ProofContext): Promise<Proof> {
  context.say("sign-in flood");
  const flood = await proveFlood(context);
  context.say("request bursts of one client");
  const bursts = await proveBursts(context);
  context.say("sign-in timing");
  const { findings, table } = await proveTiming(context);
  return { findings: [...flood, ...bursts, ...findings], tables: [table] };
}

async function proveOthers(context: ProofContext): Promise<Proof> {
  context.say("revoked permissions of queued writers");
  const revoked = await proveRevokedPermissions(context);
  context.say("DNS rebinding of a demo");
  const rebinding = await proveRebinding(context);
  context.say("sessions, cross-site pages, attacks, guesses, TLS, leaked and misdirected secrets");
  return mergeProofs([{ findings: [...revoked, ...rebinding] }, ...(await runConcurrently(context))]);
}

type Prover = (context: ProofContext) => Promise<Proof | Finding[]>;

/** Proofs that can run concurrently: each has a separate appliance, and mostly waits for it. */
const CONCURRENT_PROOFS: readonly Prover[] = [
  proveSecrets,
  proveSentSecrets,
  proveLeftDrafts,
  proveSessions,
  proveConcurrentSignIns,
  proveCrossSite,
  proveEncryption,
  proveAttacks,
  proveEnvironment,
  proveGuesses,
  proveImports,
  proveOnBehalf,
  proveLookAlikes,
];
/** Maximum of concurrent proofs: more would wait for a CPU and delay everything else. */
const CONCURRENCY = 3;

async function runConcurrently(context: ProofContext): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const tasks = CONCURRENT_PROOFS.map((prove, index) => ({
    isReady: () => true,
    run: async () => {
      const started = performance.now();
      const proof = await prove(context);
      context.say(`${prove.name}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
      proofs[index] = Array.isArray(proof) ? { findings: proof } : proof;
      return [];
    },
  }));
  await runInLanes(CONCURRENCY, tasks);
  return proofs;
}

export const security: Part = {
  name: "security",
  title: "Security",
  prove: async (context) => mergeProofs([await proveMeasured(context), await proveOthers(context)]),
};
