// netledger backup: a verified copy of all data in one file, beside a running appliance or without one.

import { formatInstant } from "../base/instant.ts";
import { systemLog } from "../base/log.ts";
import { inUnits } from "../backup/room.ts";
import { takeBackup } from "../backup/take.ts";
import { readHeader, requireSchema } from "../db/migrate.ts";
import { defineCommand, EXIT } from "./command.ts";
import { findData } from "./data-folder.ts";
import { progressTo } from "./progress.ts";

export const backup = defineCommand(
  {
    name: "backup",
    summary: "copies all data into one file as of one transaction, and verifies it. May run beside an appliance. The key file is not in it.",
    always: ["file", "data"],
    maybe: [],
    operand: "file",
  },
  async ({ file, data }, { clock, print }) => {
    const files = findData(data);
    requireSchema(files.database, readHeader(files.database)?.schemaVersion ?? 0, ", or the older netledger takes the backup");
    const { head, sizeBytes } = await takeBackup({ database: files.database, file, onProgress: progressTo(systemLog(), clock, "backing_up") });
    const last = head === null ? "The ledger is empty." : `Last transaction: ${head.sequence}, at ${formatInstant(head.at)}, hash ${head.hash}`;
    await print(`${last}\nCopied and verified: ${file}, ${inUnits(sizeBytes)}\nNot in it: ${files.key}, which the credentials' secrets are sealed with. Keep a copy of it apart, or they are lost with it.\n`);
    return EXIT.done;
  },
);
