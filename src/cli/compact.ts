// netledger compact: packs versions stored in full and rewrites the file, while no appliance is running.

import { freeBytesOf, requireFreeSpace } from "../backup/room.ts";
import { formatBytes, sizeOf } from "../base/byte-size.ts";
import { systemLog } from "../base/log.ts";
import type { DataFiles } from "../db/files/data-directory.ts";
import { compactHistory, estimateCompaction } from "../history/compact.ts";
import type { Packed } from "../history/pack-versions.ts";
import { describeReport } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { checkpointLog, rewriteFile, upgradeSchema, withDiskErrors, withExclusiveDatabase } from "./data-at-rest.ts";
import { findData, withReadOnlyDatabase } from "./data-folder.ts";
import { progressTo } from "./progress.ts";

export const compact = defineCommand(
  {
    name: "compact",
    summary:
      "packs versions that are stored in full, and returns the space to the disk; drops nothing. The appliance must not be running.",
    always: ["dryRun", "data"],
    maybe: [],
  },
  async ({ data, dryRun }, io) => {
    const files = findData(data);
    if (dryRun) await preview(files, io);
    else await pack(files, io);
    return EXIT.done;
  },
);

async function preview(files: DataFiles, { clock, print }: ProcessIo): Promise<void> {
  const summary = await withReadOnlyDatabase(files, (db) =>
    estimateCompaction(db, progressTo(systemLog(), clock, "estimating")),
  );
  await print(`Would pack ${describePacked(summary)}.\nNothing was changed.\n`);
}

async function pack(files: DataFiles, { clock, print }: ProcessIo): Promise<void> {
  await withExclusiveDatabase(files, async (db) => {
    upgradeSchema(db, files);
    requireFreeSpace(files.directory, sizeOf(files.database), freeBytesOf);
    const onProgress = progressTo(systemLog(), clock, "packing");
    const compacted = withDiskErrors(files, "the versions packed so far stay packed; run it again", () =>
      compactHistory(db, KINDS, { onProgress, onStep: () => checkpointLog(db) }),
    );
    await print(`Packed ${describePacked(compacted)}.\n${describeReport(compacted.report)}`);
    withDiskErrors(files, "the history was packed, but the file was not rewritten; run it again", () =>
      rewriteFile(db),
    );
    await print(`${files.database} has ${formatBytes(sizeOf(files.database))}.\n`);
  });
}

function describePacked({ packed, savedBytes, versions }: Packed & { readonly versions: number }): string {
  return `${packed} of ${versions} versions, saving ${formatBytes(savedBytes)}`;
}
