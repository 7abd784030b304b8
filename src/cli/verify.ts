// netledger verify: checks a store, even while an appliance is running; rebuilds derived data on request.

import { systemLog } from "../base/log.ts";
import { openBackup } from "../db/files/backup-file.ts";
import { type DataFiles, DataLock } from "../db/files/data-directory.ts";
import { orRefused } from "../db/files/migrate.ts";
import { GOOD_COPY } from "../db/trouble.ts";
import { type Dropped, describeDropped } from "../history/verify/beside-ledger.ts";
import { BESIDE_CHECKS, KNOWN_CHECK, LEDGER_CHECKS } from "../history/verify/findings.ts";
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
import { atRest } from "./data-at-rest.ts";
import { findData, reading } from "./data-folder.ts";
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
      const remedy = isOther(report) ? OTHERS : "It cannot be used as a backup: take another one.\n";
      await print(`${describeReport(report)}${isSound(report) ? "" : remedy}`);
      return isSound(report) ? EXIT.done : EXIT.failed;
    }
    const files = findData(config.data);
    const report = await read(files, config.knownHead, progress);
    // If ledger data is missing, the derived data may be all that is left of it.
    const isLedgerSound = !report.findings.some(
      ({ check }) => check === KNOWN_CHECK || (LEDGER_CHECKS as readonly string[]).includes(check),
    );
    if (isOther(report)) {
      await print(`${describeReport(report)}${OTHERS}`);
      return EXIT.failed;
    }
    const isBesideSound = !report.findings.some(({ check }) => (BESIDE_CHECKS as readonly string[]).includes(check));
    const remedy = !isLedgerSound
      ? `The ledger itself is damaged: stop the appliance and ${GOOD_COPY}.\n`
      : isBesideSound
        ? "All damaged data are derived from the ledger, which is intact: rebuild them with netledger verify --repair-derived.\n"
        : BESIDE_DAMAGED;
    await print(`${describeReport(report)}${isSound(report) || config.repairDerived ? "" : remedy}`);
    if (isSound(report)) return EXIT.done;
    if (!config.repairDerived) return EXIT.failed;
    if (!isLedgerSound) {
      await print("The ledger itself is damaged: nothing can be rebuilt from it.\n");
      return EXIT.failed;
    }
    const dropped = await repair(files);
    const repaired = await read(files, config.knownHead, progress);
    const done = ["The data derived from the ledger were rebuilt.", ...describeDropped(dropped)].join("\n");
    await print(`\n${done}\n${describeReport(repaired)}`);
    return isSound(repaired) ? EXIT.done : EXIT.failed;
  },
);

const OTHERS =
  "The data are otherwise intact. Either the value of --head is mistyped or belongs to other data, or a backup has been restored since, or the ledger was truncated or replaced.\n";

const BESIDE_DAMAGED = `The ledger itself is sound. Either ${GOOD_COPY}, which has the rest as well; \
or run netledger verify --repair-derived, which rebuilds what is derived from it, drops damaged rows beside it, and lists them.
`;

/** Whether the only finding is that the ledger differs from the known one: then there is nothing to repair. */
function isOther(report: Report): boolean {
  return report.findings.length > 0 && report.findings.every(({ check }) => check === KNOWN_CHECK);
}

function isSound(report: Report): boolean {
  return report.findings.length === 0;
}

function read(
  files: DataFiles,
  knownHead: KnownHead | null,
  onProgress: (progress: VerifyProgress) => void,
): Promise<Report> {
  return reading(files, (db) =>
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
  const lock = DataLock.take(files.lock, 0);
  lock?.release();
  return lock === null;
}

function repair(files: DataFiles): Promise<Dropped> {
  return atRest(files, (db) => orRefused(files.database, () => rebuildDerived(db, KINDS)));
}
