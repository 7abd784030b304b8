// netledger verify: proves a store, also beside a running appliance; makes anew what is derived from the ledger when told to.

import { existsSync } from "node:fs";
import { systemLog } from "../base/log.ts";
import { openReadOnly, openWritable } from "../db/connection.ts";
import { dataFiles, DataLock, type DataFiles } from "../db/data-directory.ts";
import { DatabaseRefused, refusalOf, refuseForeignFile, SCHEMA_VERSION } from "../db/migrate.ts";
import { LEDGER_CHECKS } from "../history/findings.ts";
import { rebuildDerived } from "../history/rebuild.ts";
import { describeReport, verifyLedger, type KnownHead, type Progress, type Report } from "../history/verify.ts";
import { KINDS } from "../resources/kinds.ts";
import { defineCommand, EXIT } from "./command.ts";
import { progressTo } from "./progress.ts";

/** A predecessor that is about to stop may hold the lock for a moment. */
const LOCK_WAIT_MS = 300;

export const verify = defineCommand(
  {
    name: "verify",
    summary: "proves the data: the file, the hash chain over the ledger, and all that is derived from it. May run beside an appliance.",
    always: ["data", "repairDerived"],
    maybe: ["knownHead"],
  },
  async (config, { clock, print }) => {
    const files = dataFiles(config.data);
    if (!existsSync(files.database)) throw new DatabaseRefused(`There are no data in ${files.directory}.`);
    refuseForeignFile(files.database);
    const progress = progressTo(systemLog(), clock, "verifying");
    const report = read(files, config.knownHead, progress);
    await print(describeReport(report));
    if (isSound(report)) return EXIT.done;
    if (!config.repairDerived) return EXIT.failed;
    if (report.findings.some((finding) => (LEDGER_CHECKS as readonly string[]).includes(finding.check))) {
      await print("The ledger itself is not sound: nothing can be made anew from it.\n");
      return EXIT.failed;
    }
    repair(files);
    const repaired = read(files, config.knownHead, progress);
    await print(`\nWhat is derived from the ledger was made anew.\n${describeReport(repaired)}`);
    return isSound(repaired) ? EXIT.done : EXIT.failed;
  },
);

function isSound(report: Report): boolean {
  return report.findings.length === 0;
}

function read(files: DataFiles, knownHead: KnownHead | null, onProgress: (progress: Progress) => void): Report {
  const db = opened(files, openReadOnly);
  try {
    const { user_version: version } = opened(files, () => db.$client.query("PRAGMA user_version").get()) as { user_version: number };
    if (version !== SCHEMA_VERSION) throw new DatabaseRefused(`${files.database} has the schema ${version}, and this netledger knows ${SCHEMA_VERSION}: netledger serve brings it up to date.`);
    return verifyLedger(db, KINDS, { isBusy: isBusy(files), onProgress, ...(knownHead === null ? {} : { knownHead }) });
  } finally {
    db.$client.close();
  }
}

function isBusy(files: DataFiles): boolean {
  const lock = DataLock.take(files.lock, 0);
  lock?.release();
  return lock === null;
}

function repair(files: DataFiles): void {
  const lock = DataLock.take(files.lock, LOCK_WAIT_MS);
  if (lock === null) throw new DatabaseRefused(`The data in ${files.directory} are in use by another netledger: stop it first.`);
  try {
    const db = opened(files, openWritable);
    try {
      rebuildDerived(db, KINDS);
    } finally {
      db.$client.close();
    }
  } finally {
    lock.release();
  }
}

function opened<T>(files: DataFiles, open: (path: string) => T): T {
  try {
    return open(files.database);
  } catch (error) {
    throw refusalOf(error, files.database);
  }
}
