// Disk part of the proof: full, read-only, slow and corrupting disks.

import { changedBytes } from "./disk/changed-bytes.ts";
import { damagedAtRest, damagedLog, damagedWhileRunning } from "./disk/damage.ts";
import { foreignObjects } from "./disk/foreign-objects.ts";
import { fullDisk, logGrows, noInodes } from "./disk/full.ts";
import { missingRows } from "./disk/missing-rows.ts";
import { foreignOwner, readOnlyFromTheStart, refusesWrites } from "./disk/read-only.ts";
import { slowDisk } from "./disk/slow.ts";
import { wrongFiles } from "./disk/wrong-files.ts";
import { mergeProofs, type Part, type Proof, type ProofContext } from "./part.ts";

type Check = (context: ProofContext) => Promise<Proof>;

/** Stages run in sequence, rows of a stage in parallel, checks of a row in sequence. */
type Stages = ReadonlyArray<ReadonlyArray<readonly Check[]>>;

const STAGES: Stages = [
  [[fullDisk], [noInodes, refusesWrites, readOnlyFromTheStart, foreignOwner]],
  [[damagedAtRest], [damagedWhileRunning, damagedLog, foreignObjects]],
  [[changedBytes], [missingRows, wrongFiles]],
  // These measure disk timing, so nothing else runs.
  [[logGrows, slowDisk]],
];

export const disk: Part = {
  name: "disk",
  title: "Full disk, read-only disk, slow disk, damaged disk",
  prove: async (context) => {
    const proofs: Proof[] = [];
    for (const stage of STAGES) {
      // Waits for all rows even after a failure: no row may still run during the cleanup.
      const rows = await Promise.allSettled(stage.map((row) => runInOrder(row, context)));
      for (const row of rows) {
        if (row.status === "rejected") throw row.reason;
        proofs.push(...row.value);
      }
    }
    return mergeProofs(proofs);
  },
};

async function runInOrder(checks: readonly Check[], context: ProofContext): Promise<Proof[]> {
  const proofs: Proof[] = [];
  for (const check of checks) {
    const started = performance.now();
    proofs.push(await check(context));
    context.say(`${check.name}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  }
  return proofs;
}
