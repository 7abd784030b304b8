// netledger compact: packs versions that lie whole in data that no appliance uses, and rewrites the file.

import { freeBytesOf, inUnits, requireRoom, sizeOf } from "../backup/room.ts";
import { systemLog } from "../base/log.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { type DataFiles, lockData } from "../db/files/data-directory.ts";
import { migrate, orRefused } from "../db/files/migrate.ts";
import { compactable, compactHistory } from "../history/compact.ts";
import type { Packed } from "../history/pack-versions.ts";
import { upgradeStore } from "../history/upgrade.ts";
import { describeReport } from "../history/verify/verify.ts";
import { KINDS } from "../inventory/resources.ts";
import { defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { findData, reading } from "./data-folder.ts";
import { onDisk } from "./on-disk.ts";
import { progressTo } from "./progress.ts";

export const compact = defineCommand(
  {
    name: "compact",
    summary:
      "packs the history of data from before schema 28 and returns the room to the disk; drops nothing. The appliance must not be running.",
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
  const lock = lockData(files);
  try {
    const db = orRefused(files.database, openWritable);
    try {
      orRefused(files.database, () => migrate(db, files.database, upgradeStore));
      requireRoom(files.directory, sizeOf(files.database), freeBytesOf);
      const log = systemLog();
      const compacted = onDisk(files, "what was packed until then stays; run it again", () =>
        compactHistory(db, KINDS, { onProgress: progressTo(log, clock, "packing"), onStep: () => mergeLog(db) }),
      );
      await print(`Packed ${inWords(compacted)}.\n${describeReport(compacted.report)}`);
      onDisk(files, "the history was packed, but the file was not rewritten; run it again", () => {
        mergeLog(db);
        db.$client.run("VACUUM");
        mergeLog(db);
      });
      await print(`${files.database} has ${inUnits(sizeOf(files.database))}.\n`);
    } finally {
      db.$client.close();
    }
  } finally {
    lock.release();
  }
}

function mergeLog(db: Sql): void {
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

function inWords({ packed, savedBytes, versions }: Packed & { readonly versions: number }): string {
  return `${packed} of ${versions} versions, which lie in ${inUnits(savedBytes)} less then`;
}
