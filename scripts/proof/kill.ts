// Kill part of the proof: acknowledged writes survive SIGKILL at any moment, and a power loss that discards unsynced
// data.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type SeededRandom, seededRandom } from "../../test/support/injected/seeded-random.ts";
import { Devices } from "./kill/devices.ts";
import type { Loss, LossMode } from "./kill/forgetful-disk.ts";
import { type Counts, type Moment, NO_COUNTS, noProblems, type Problems, type Round, Trial } from "./kill/trial.ts";
import type { Finding, Part, Proof, ProofContext } from "./part.ts";
import { compileShim } from "./shim/compile.ts";

/** Sizes of the forms. Stores grow with every round, and so does the time to check them: hence many stores. */
const FORMS = {
  short: { stores: 2, rounds: 6, killsDuringSetup: 2, verifyEvery: 1, alternatives: 1 },
  long: { stores: 22, rounds: 15, killsDuringSetup: 5, verifyEvery: 5, alternatives: 3 },
} as const;

const MOMENTS: readonly Moment[] = ["load", "load", "bulk", "stop", "start", "check"];
/** Used in rotation: a loss after a lossless kill may affect data that the kill left in the page cache. */
const LOSS_MODES: readonly LossMode[] = ["torn", "kept", "dropped", "torn"];

export const kill: Part = { name: "kill", title: "Power and kill", prove };

async function prove({ form, executable, directory, seed, say }: ProofContext): Promise<Proof> {
  const { stores, rounds, killsDuringSetup, verifyEvery, alternatives } = FORMS[form];
  const compiled = compileShim(directory);
  const shim = "path" in compiled ? compiled.path : null;
  const [problems, counts] = [noProblems(), { ...NO_COUNTS }];
  const byMoment = new Map<string, number>();
  let unexplained: string[] | null = null;
  let lyingDisk: { readonly detected: Problems; readonly loss: Loss } | null = null;
  let recovered: { readonly before: number; readonly after: number } | null = null;
  const devices = await Devices.start();
  try {
    for (let store = 0; store < stores; store += 1) {
      const random = seededRandom(seed * 1_000 + store);
      const folder = join(directory, `store-${store}`);
      mkdirSync(folder);
      const trial = new Trial({ executable, directory: folder, devices, random, shim, problems, counts });
      try {
        await trial.killDuringSetup(killsDuringSetup, LOSS_MODES);
        for (let round = 0; round < rounds; round += 1) {
          const plan = planOf(round, random, verifyEvery, alternatives);
          await trial.round(plan);
          const key = `${plan.moment} ${shim === null ? "kept" : plan.mode}`;
          byMoment.set(key, (byMoment.get(key) ?? 0) + 1);
        }
        if (shim !== null && store === 0) unexplained = await trial.orderlyRound();
        await trial.end();
        if (shim !== null && store === 0) recovered = await trial.recovery();
        if (shim !== null && store === 0) lyingDisk = await trial.roundOnLyingDisk();
      } catch (error) {
        // The findings of the other stores are still valid.
        problems.starts.push(`store ${store} did not finish: ${error instanceof Error ? error.message : error}`);
        await trial.abandon();
      }
      rmSync(folder, { recursive: true, force: true });
      say(
        `${(store + 1) * rounds} rounds: ${counts.acknowledged} writes acknowledged, ${counts.unanswered} interrupted, ${Object.values(problems).flat().length} problems`,
      );
    }
  } finally {
    devices.close();
  }
  return {
    findings: findingsOf(problems, counts, shim !== null, unexplained, recovered, lyingDisk),
    tables: [
      {
        title: "Rounds by the moment of the kill and the outcome of unsynced writes",
        columns: ["killed", "unsynced", "rounds"],
        rows: [...byMoment].sort().map(([key, count]) => [...key.split(" "), String(count)]),
      },
    ],
    skipped: "missing" in compiled ? [`Power loss: ${compiled.missing}.`] : [],
  };
}

function planOf(round: number, random: SeededRandom, verifyEvery: number, alternatives: number): Round {
  return {
    // The first round creates records for later rounds to check.
    moment: round === 0 ? "load" : random.pick(MOMENTS),
    mode: LOSS_MODES[round % LOSS_MODES.length] as LossMode,
    withScans: random.integer(3) > 0,
    withBackup: random.integer(3) === 0,
    verifies: round % verifyEvery === 0,
    alternatives,
  };
}

function findingsOf(
  problems: Problems,
  counts: Counts,
  hasShim: boolean,
  unexplained: readonly string[] | null,
  recovered: { readonly before: number; readonly after: number } | null,
  lyingDisk: { readonly detected: Problems; readonly loss: Loss } | null,
): Finding[] {
  const finding = (claim: string, wrong: readonly string[], figure: string): Finding => ({
    claim,
    held: wrong.length === 0,
    figure: wrong.length === 0 ? figure : `${wrong.length} violations: ${[...new Set(wrong)].slice(0, 4).join(" · ")}`,
  });
  const after = hasShim ? "after a kill and after a loss of power" : "after a kill";
  const findings = [
    finding(
      `every acknowledged write is present ${after}, exactly as acknowledged`,
      problems.lost,
      `${counts.acknowledged} acknowledged writes, ${counts.kills} kills, ${counts.losses} losses of power`,
    ),
    finding(
      "an interrupted request is written completely or not at all",
      problems.partial,
      `${counts.unanswered} requests without a response`,
    ),
    finding(
      "an interrupted POST, repeated with its Idempotency-Key, is applied exactly once",
      problems.repeated,
      `${counts.repeated} sent again, ${counts.replayed} of them written before the kill`,
    ),
    finding(
      `the store is intact ${after}: verify, SQLite's own checks, live rows equal to the newest history, a sequence without a gap`,
      problems.corrupt,
      `verified ${counts.verified} times; ${counts.alternatives} alternative outcomes of the same power losses`,
    ),
    finding(
      "responses about the past stay byte-for-byte identical, except `valid_to` of versions that have ended since",
      problems.past,
      `${counts.pastResponses} comparisons`,
    ),
    finding(
      "scans interrupted by a kill are marked Interrupted, and completed scans stay Completed",
      problems.scans,
      `${counts.scansInterrupted} interrupted, ${counts.scansCompleted} completed`,
    ),
    finding("a backup reported as done is complete and unchanged", problems.backups, "hashed after every start"),
    finding(
      "the appliance always restarts without help, and never exits on its own",
      problems.starts,
      `${counts.kills} kills`,
    ),
    finding("no request is refused in the meantime", problems.refusals, `${counts.acknowledged} acknowledged`),
  ];
  const coverage = {
    "acknowledged writes": counts.acknowledged / counts.kills,
    "interrupted requests": counts.unanswered,
    "repeated requests": counts.repeated,
    "interrupted scans": counts.scansInterrupted,
    "completed scans": counts.scansCompleted,
    backups: counts.backups,
  };
  const missing = Object.entries(coverage)
    .filter(([, count]) => count < 1)
    .map(([name]) => name);
  findings.push({
    claim: "the rounds covered interrupted writes, requests and scans, and completed scans and backups",
    held: missing.length === 0,
    figure:
      missing.length > 0
        ? `missing: ${missing.join(", ")}`
        : `${(counts.acknowledged / counts.kills).toFixed(1)} acknowledged writes per kill, ${counts.backups} backups`,
  });
  if (!hasShim) return findings;
  return [
    ...findings,
    {
      claim: "a start syncs recovered data to disk before serving them",
      held: recovered !== null && recovered.before > 0 && recovered.after === 0,
      figure: `${recovered?.before} bytes of the log unsynced at the kill, ${recovered?.after} once it listens`,
    },
    {
      claim: "the forgetful disk loses unsynced writes",
      held: (lyingDisk?.loss.droppedBytes ?? 0) > 0,
      figure: `${kib(counts.unsyncedBytes)} written but not synced at the power loss, ${kib(counts.droppedBytes)} reverted, ${counts.changedNames} names reverted; with a disk that ignores syncs, ${kib(lyingDisk?.loss.droppedBytes ?? 0)}`,
    },
    finding(
      "the forgetful disk sees every write",
      unexplained ?? ["not tested"],
      "every file in the data folder is explained by the disk's log",
    ),
    {
      claim: "a disk that ignores syncs is detected",
      held: (lyingDisk?.detected.lost.length ?? 0) + (lyingDisk?.detected.starts.length ?? 0) > 0,
      figure: `${lyingDisk?.detected.lost.length ?? 0} acknowledged writes found missing`,
    },
  ];
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 10)} KiB`;
}
