// Kill part of the proof: durability of acknowledged writes after SIGKILL at any moment, and after the loss of unsynced
// data.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type SeededRandom, seededRandom } from "../../test/support/injected/seeded-random.ts";
import { Devices } from "./kill/devices.ts";
import type { Fate, Loss } from "./kill/forgetful-disk.ts";
import { type Counts, type Moment, noCounts, noTroubles, type Round, Trial, type Troubles } from "./kill/trial.ts";
import type { Finding, Part, Proof, Proving } from "./part.ts";
import { compileShim } from "./shim/compile.ts";

/** A store grows with every round, and so does its check. */
const FORMS = {
  short: { stores: 2, rounds: 6, whileMaking: 2, verifyEvery: 1, otherWays: 1 },
  long: { stores: 22, rounds: 15, whileMaking: 5, verifyEvery: 5, otherWays: 3 },
} as const;

const MOMENTS: readonly Moment[] = ["load", "load", "bulk", "stop", "start", "look"];
/** In turn: a loss after a lossless kill may affect data that the kill left in the page cache. */
const FATES: readonly Fate[] = ["torn", "kept", "dropped", "torn"];

export const kill: Part = { name: "kill", title: "Power and kill", prove };

async function prove({ form, executable, directory, seed, say }: Proving): Promise<Proof> {
  const { stores, rounds, whileMaking, verifyEvery, otherWays } = FORMS[form];
  const compiled = compileShim(directory);
  const shim = "path" in compiled ? compiled.path : null;
  const [troubles, counts] = [noTroubles(), noCounts()];
  const byMoment = new Map<string, number>();
  let unexplained: string[] | null = null;
  let liar: { readonly noticed: Troubles; readonly loss: Loss } | null = null;
  let recovered: { readonly before: number; readonly after: number } | null = null;
  const devices = await Devices.start();
  try {
    for (let store = 0; store < stores; store += 1) {
      const random = seededRandom(seed * 1_000 + store);
      const place = join(directory, `store-${store}`);
      mkdirSync(place);
      const trial = new Trial({ executable, directory: place, devices, random, shim, troubles, counts });
      try {
        await trial.killWhileMaking(whileMaking, FATES);
        for (let round = 0; round < rounds; round += 1) {
          const plan = planOf(round, random, verifyEvery, otherWays);
          await trial.round(plan);
          const key = `${plan.moment} ${shim === null ? "kept" : plan.fate}`;
          byMoment.set(key, (byMoment.get(key) ?? 0) + 1);
        }
        if (shim !== null && store === 0) unexplained = await trial.calmRound();
        await trial.end();
        if (shim !== null && store === 0) recovered = await trial.recovery();
        if (shim !== null && store === 0) liar = await trial.roundOnLiar();
      } catch (error) {
        // Keeps the findings of the other stores.
        troubles.starts.push(`store ${store} did not finish: ${error instanceof Error ? error.message : error}`);
        await trial.abandon();
      }
      rmSync(place, { recursive: true, force: true });
      say(
        `${(store + 1) * rounds} rounds: ${counts.acknowledged} writes acknowledged, ${counts.unanswered} cut off, ${Object.values(troubles).flat().length} troubles`,
      );
    }
  } finally {
    devices.close();
  }
  return {
    findings: findingsOf(troubles, counts, shim !== null, unexplained, recovered, liar),
    tables: [
      {
        title: "Rounds by the moment of the kill and the fate of unsynced writes",
        columns: ["killed", "unsynced", "rounds"],
        rows: [...byMoment].sort().map(([key, count]) => [...key.split(" "), String(count)]),
      },
    ],
    leftOut: "missing" in compiled ? [`Power loss: ${compiled.missing}.`] : [],
  };
}

function planOf(round: number, random: SeededRandom, verifyEvery: number, otherWays: number): Round {
  return {
    // The first round creates the records that later ones check.
    moment: round === 0 ? "load" : random.pick(MOMENTS),
    fate: FATES[round % FATES.length] as Fate,
    withScans: random.integer(3) > 0,
    withBackup: random.integer(3) === 0,
    verifies: round % verifyEvery === 0,
    otherWays,
  };
}

function findingsOf(
  troubles: Troubles,
  counts: Counts,
  hasShim: boolean,
  unexplained: readonly string[] | null,
  recovered: { readonly before: number; readonly after: number } | null,
  liar: { readonly noticed: Troubles; readonly loss: Loss } | null,
): Finding[] {
  const finding = (claim: string, wrong: readonly string[], figure: string): Finding => ({
    claim,
    held: wrong.length === 0,
    figure: wrong.length === 0 ? figure : `${wrong.length} times not: ${[...new Set(wrong)].slice(0, 4).join(" · ")}`,
  });
  const after = hasShim ? "after a kill and after a loss of power" : "after a kill";
  const findings = [
    finding(
      `every acknowledged write is present ${after}, exactly as acknowledged`,
      troubles.lost,
      `${counts.acknowledged} acknowledged writes, ${counts.kills} kills, ${counts.losses} losses of power`,
    ),
    finding(
      "an interrupted request is written whole or not at all",
      troubles.half,
      `${counts.unanswered} requests without an answer`,
    ),
    finding(
      "an interrupted POST, repeated with its Idempotency-Key, is done exactly once",
      troubles.repeated,
      `${counts.repeated} sent again, ${counts.replayed} of them written before the kill`,
    ),
    finding(
      `the store is intact ${after}: verify, SQLite's own checks, live rows equal to the newest history, a sequence without a gap`,
      troubles.unsound,
      `verified ${counts.verified} times; ${counts.otherWays} other possible outcomes of the same power loss`,
    ),
    finding(
      "answers about the past stay the same byte for byte, except `valid_to` of versions that have ended since",
      troubles.past,
      `${counts.pastAnswers} comparisons`,
    ),
    finding(
      "scans interrupted by a kill are marked Interrupted, and completed ones stay so",
      troubles.scans,
      `${counts.scansInterrupted} interrupted, ${counts.scansCompleted} completed`,
    ),
    finding("a backup reported as done is complete and unchanged", troubles.backups, "hashed after every start"),
    finding("it restarts without help every time, and never ends on its own", troubles.starts, `${counts.kills} kills`),
    finding("nothing is refused in the meantime", troubles.refusals, `${counts.acknowledged} answered`),
  ];
  const tried = {
    "acknowledged writes": counts.acknowledged / counts.kills,
    "requests cut off": counts.unanswered,
    "requests sent again": counts.repeated,
    "scans cut off": counts.scansInterrupted,
    "scans completed": counts.scansCompleted,
    backups: counts.backups,
  };
  const missing = Object.entries(tried)
    .filter(([, count]) => count < 1)
    .map(([what]) => what);
  findings.push({
    claim: "the rounds covered interrupted writes, requests and scans, and completed scans and backups",
    held: missing.length === 0,
    figure:
      missing.length > 0
        ? `missing: ${missing.join(", ")}`
        : `${(counts.acknowledged / counts.kills).toFixed(1)} acknowledged writes a kill, ${counts.backups} backups`,
  });
  if (!hasShim) return findings;
  return [
    ...findings,
    {
      claim: "a start syncs recovered data to disk before answering from them",
      held: recovered !== null && recovered.before > 0 && recovered.after === 0,
      figure: `${recovered?.before} bytes of the log unsynced at the kill, ${recovered?.after} when it listens`,
    },
    {
      claim: "the forgetful disk loses unsynced writes",
      held: (liar?.loss.droppedBytes ?? 0) > 0,
      figure: `${kib(counts.unsyncedBytes)} written and not synced when the power went, ${kib(counts.droppedBytes)} of files not as they were last, ${counts.changedNames} names undone; of a disk that lies about syncs, ${kib(liar?.loss.droppedBytes ?? 0)}`,
    },
    finding(
      "the forgetful disk sees every write",
      unexplained ?? ["not tried"],
      "every file in the data folder follows from the disk's log",
    ),
    {
      claim: "a disk that ignores syncs is noticed",
      held: (liar?.noticed.lost.length ?? 0) + (liar?.noticed.starts.length ?? 0) > 0,
      figure: `${liar?.noticed.lost.length ?? 0} acknowledged writes found missing`,
    },
  ];
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 10)} KiB`;
}
