// netledger verify: checks a store, even while an appliance is running; rebuilds derived data on request.

import { systemLog } from "../base/log.ts";
import { openBackup } from "../db/files/backup-file.ts";
import { type DataFiles, DataLock } from "../db/files/data-directory.ts";
import { orRefused } from "../db/files/migrate.ts";
import { RESTORE_ADVICE } from "../db/sqlite-failures.ts";
import { KNOWN_CHECK, LEDGER_CHECKS, OTHER_TABLE_CHECKS } from "../history/verify/findings.ts";
import { type Dropped, describeDropped } from "../history/verify/outside-ledger.ts";
import { rebuildDerived } from "../history/verify/rebuild.ts";
import {
  describeReport,
  type KnownHead,
  type Report,
  type VerifyProgress,
  verifyLedger,
} from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { defineCommand, EXIT } from "./command.ts";
import { UsageError } from "./config.ts";
import { withExclusiveDatabase } from "./data-at-rest.ts";
import { findData, withReadOnlyDatabase } from "./data-folder.ts";
import { progressTo } from "./progress.ts";

export const verify = defineCommand(
  {
    name: "verify",
    summary:
      "verifies the data: the file, the ledger's hash chain, everything derived from the ledger, and the rows outside it. The appliance can be running.",
    always: ["data", "repairDerived"],
    maybe: ["knownHead", "backup"],
  },
  async (config, { clock, print }) => {
    const progress = progressTo(systemLog(), clock, "verifying");
    if (config.backup !== null) {
      if (config.repairDerived)
        throw new UsageError("--repair-derived is for a data folder: a backup is never changed");
      const report = readBackup(config.backup, config.knownHead, progress);
      const remedy = isDifferentLedger(report)
        ? DIFFERENT_LEDGER
        : "It cannot be used as a backup: take another one.\n";
      await print(`${describeReport(report)}${isIntact(report) ? "" : remedy}`);
      return isIntact(report) ? EXIT.done : EXIT.failed;
    }
    const files = findData(config.data);
    const report = await read(files, config.knownHead, progress);
    // If ledger data is missing, the derived data may be all that is left of it.
    const isLedgerIntact = !report.findings.some(
      ({ check }) => check === KNOWN_CHECK || (LEDGER_CHECKS as readonly string[]).includes(check),
    );
    if (isDifferentLedger(report)) {
      await print(`${describeReport(report)}${DIFFERENT_LEDGER}`);
      return EXIT.failed;
    }
    const areOtherRowsIntact = !report.findings.some(({ check }) =>
      (OTHER_TABLE_CHECKS as readonly string[]).includes(check),
    );
    const remedy = !isLedgerIntact
      ? `The ledger itself is damaged: stop the appliance and ${RESTORE_ADVICE}.\n`
      : areOtherRowsIntact
        ? "All damaged data is derived from the ledger, which is intact: rebuild it with netledger verify --repair-derived.\n"
        : OTHER_ROWS_DAMAGED;
    await print(`${describeReport(report)}${isIntact(report) || config.repairDerived ? "" : remedy}`);
    if (isIntact(report)) return EXIT.done;
    if (!config.repairDerived) return EXIT.failed;
    if (!isLedgerIntact) {
      await print("The ledger itself is damaged: nothing can be rebuilt from it.\n");
      return EXIT.failed;
    }
    const dropped = await repair(files);
    const repaired = await read(files, config.knownHead, progress);
    const done = ["The data derived from the ledger were rebuilt.", ...describeDropped(dropped)].join("\n");
    await print(`\n${done}\n${describeReport(repaired)}`);
    return isIntact(repaired) ? EXIT.done : EXIT.failed;
  },
);

const DIFFERENT_LEDGER =
  "The data is otherwise intact. Either the value of --head is mistyped or belongs to other data, or a backup has been restored since, or the ledger was truncated or replaced.\n";

const OTHER_ROWS_DAMAGED = `The ledger itself is intact. Either ${RESTORE_ADVICE}, which includes the rest; \
or run netledger verify --repair-derived, which rebuilds what is derived from it, drops damaged rows outside it, and lists them.
`;

/** Whether the only finding is that the ledger differs from --head: then there is nothing to repair. */
function isDifferentLedger(report: Report): boolean {
  return report.findings.length > 0 && report.findings.every(({ check }) => check === KNOWN_CHECK);
}

function isIntact(report: Report): boolean {
  return report.findings.length === 0;
}

function read(
  files: DataFiles,
  knownHead: KnownHead | null,
  onProgress: (progress: VerifyProgress) => void,
): Promise<Report> {
  return withReadOnlyDatabase(files, (db) =>
    verifyLedger(db, KINDS, { isBusy: isBusy(files), onProgress, ...(knownHead === null ? {} : { knownHead }) }),
  );
}

function readBackup(file: string, knownHead: KnownHead | null, onProgress: (progress: VerifyProgress) => void): Report {
  const db = openBackup(file);
  try {
    return orRefused(file, () => verifyLedger(db, KINDS, { onProgress, ...(knownHead === null ? {} : { knownHead }) }));
  } finally {
    db.$client.close();
  }
}

function isBusy(files: DataFiles): boolean {
  const lock = DataLock.acquire(files.lock, 0);
  lock?.release();
  return lock === null;
}

function repair(files: DataFiles): Promise<Dropped> {
  return withExclusiveDatabase(files, (db) => orRefused(files.database, () => rebuildDerived(db, KINDS)));
}
