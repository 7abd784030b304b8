// netledger compact: packs versions stored in full and rewrites the file, while no appliance is running.

import { freeBytesOf, requireRoom } from "../backup/room.ts";
import { inUnits, sizeOf } from "../base/byte-size.ts";
import { systemLog } from "../base/log.ts";
import type { DataFiles } from "../db/files/data-directory.ts";
import { compactable, compactHistory } from "../history/compact.ts";
import type { Packed } from "../history/pack-versions.ts";
import { describeReport } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { atRest, bringUpToSchema, mergeLog, onDisk, rewriteFile } from "./data-at-rest.ts";
import { findData, reading } from "./data-folder.ts";
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
    if (dryRun) await tell(files, io);
    else await pack(files, io);
    return EXIT.done;
  },
);

async function tell(files: DataFiles, { clock, print }: ProcessIo): Promise<void> {
  const told = await reading(files, (db) => compactable(db, progressTo(systemLog(), clock, "looking")));
  await print(`Would pack ${inWords(told)}.\nNothing was changed.\n`);
}

async function pack(files: DataFiles, { clock, print }: ProcessIo): Promise<void> {
  await atRest(files, async (db) => {
    bringUpToSchema(db, files);
    requireRoom(files.directory, sizeOf(files.database), freeBytesOf);
    const onProgress = progressTo(systemLog(), clock, "packing");
    const compacted = onDisk(files, "the versions packed so far stay packed; run it again", () =>
      compactHistory(db, KINDS, { onProgress, onStep: () => mergeLog(db) }),
    );
    await print(`Packed ${inWords(compacted)}.\n${describeReport(compacted.report)}`);
    onDisk(files, "the history was packed, but the file was not rewritten; run it again", () => rewriteFile(db));
    await print(`${files.database} has ${inUnits(sizeOf(files.database))}.\n`);
  });
}

function inWords({ packed, savedBytes, versions }: Packed & { readonly versions: number }): string {
  return `${packed} of ${versions} versions, saving ${inUnits(savedBytes)}`;
}
