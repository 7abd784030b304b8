// Disk part of the proof: full, read-only, slow and corrupting disks.

import { changedBytes } from "./disk/changed-bytes.ts";
import { damagedAtRest, damagedLog, damagedWhileRunning } from "./disk/damage.ts";
import { foreignObjects } from "./disk/foreign-objects.ts";
import { fullDisk, logGrows, noInodes } from "./disk/full.ts";
import { missingRows } from "./disk/missing-rows.ts";
import { readOnlyFromTheStart, refusesWrites, somebodyElses } from "./disk/read-only.ts";
import { slowDisk } from "./disk/slow.ts";
import { wrongFiles } from "./disk/wrong-files.ts";
import { merged, type Part, type Proof, type Proving } from "./part.ts";

type Piece = (proving: Proving) => Promise<Proof>;

/** Stages run in sequence; rows within a stage in parallel. */
type Stages = ReadonlyArray<ReadonlyArray<readonly Piece[]>>;

const STAGES: Stages = [
  [[fullDisk], [noInodes, refusesWrites, readOnlyFromTheStart, somebodyElses]],
  [[damagedAtRest], [damagedWhileRunning, damagedLog, foreignObjects]],
  [[changedBytes], [missingRows, wrongFiles]],
  // Timing measurements against the disk, so nothing else runs.
  [[logGrows, slowDisk]],
];

export const disk: Part = {
  name: "disk",
  title: "Full disk, read-only disk, slow disk, damaged disk",
  prove: async (proving) => {
    const proofs: Proof[] = [];
    for (const stage of STAGES) {
      // Waits for all rows: after a failure, parallel ones must not still run during the cleanup.
      const rows = await Promise.allSettled(stage.map((row) => oneByOne(row, proving)));
      for (const row of rows) {
        if (row.status === "rejected") throw row.reason;
        proofs.push(...row.value);
      }
    }
    return merged(proofs);
  },
};

async function oneByOne(pieces: readonly Piece[], proving: Proving): Promise<Proof[]> {
  const proofs: Proof[] = [];
  for (const piece of pieces) {
    const began = performance.now();
    proofs.push(await piece(proving));
    proving.say(`${piece.name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
  return proofs;
}
