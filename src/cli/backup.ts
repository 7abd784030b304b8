// netledger backup: a verified copy of all data in one file, with or without a running appliance.

import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { takeBackup } from "../backup/take.ts";
import { formatBytes } from "../base/byte-size.ts";
import { ownValue } from "../base/fields.ts";
import { formatInstant } from "../base/instant.ts";
import { systemLog } from "../base/log.ts";
import { readHeader, requireSchema } from "../db/files/migrate.ts";
import { defineCommand, EXIT } from "./command.ts";
import { UsageError } from "./config.ts";
import { findData } from "./data-folder.ts";
import { progressTo } from "./progress.ts";

export const backup = defineCommand(
  {
    name: "backup",
    summary:
      "copies all data as of one transaction into one file, and verifies it. The appliance can be running. The key file is not included.",
    always: ["file", "data"],
    maybe: [],
    operand: "file",
  },
  async ({ file, data }, { clock, print }) => {
    requireFolderOf(file);
    const files = findData(data);
    requireSchema(
      files.database,
      readHeader(files.database)?.schemaVersion ?? 0,
      ", or the older netledger takes the backup",
    );
    const { head, sizeBytes } = await takeBackup({
      database: files.database,
      file,
      onProgress: progressTo(systemLog(), clock, "backing_up"),
    });
    const last =
      head === null
        ? "The ledger is empty."
        : `Last transaction: ${head.sequence}, at ${formatInstant(head.at)}, hash ${head.hash}`;
    await print(
      `${last}\nCopied and verified: ${file}, ${formatBytes(sizeBytes)}\nNot included: ${files.key}, the key of the credentials' secrets. Keep a copy of it elsewhere: without it they are lost.\n`,
    );
    return EXIT.done;
  },
);

/** @throws UsageError if FILE is not a path where a file can be created, which is not an error of the data */
function requireFolderOf(file: string): void {
  const folder = dirname(file);
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new UsageError(`FILE ${file} is a folder: add a file name`);
    }
    if (!statSync(folder).isDirectory())
      throw new UsageError(`FILE ${file} cannot be created: ${folder} is not a folder`);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const problem = ownValue(FOLDER_PROBLEMS, code) ?? `the folder ${folder} cannot be used (${code})`;
    throw new UsageError(`FILE ${file} cannot be created: ${problem.replace("FOLDER", folder)}`);
  }
}

const FOLDER_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "there is no folder FOLDER",
  ENOTDIR: "FOLDER is not a folder",
  EACCES: "this user cannot write to the folder FOLDER",
  EROFS: "the folder FOLDER is on a read-only file system",
};
