// Every list whose rows are no records and that takes a filter.

import { BACKUP_ROWS } from "./backup/backup-body.ts";
import { FINDING_ROWS, SCAN_ROWS } from "./discovery/scans/scan-rows.ts";
import { TRANSACTION_ROWS } from "./history/transaction-rows.ts";
import { VERSION_ROWS } from "./history/version-rows.ts";
import type { RowList } from "./inventory/row-fields.ts";
import { CONFLICT_ROWS } from "./questions/conflicts/conflict-answer.ts";
import { ADDRESS_ROWS } from "./questions/ipam/address-row.ts";
import { STATION_ROWS } from "./questions/stations/station-answer.ts";
import { WITHHELD_ROWS } from "./questions/withheld/withheld-answer.ts";
import { SESSION_ROWS } from "./sign-in/session.ts";
import { LOG_LINE_ROWS } from "./upkeep/log-line.ts";
import { VERIFICATION_ROWS } from "./upkeep/verification.ts";

export const ROW_LISTS: readonly RowList[] = [
  SCAN_ROWS,
  FINDING_ROWS,
  TRANSACTION_ROWS,
  ...VERSION_ROWS,
  CONFLICT_ROWS,
  STATION_ROWS,
  WITHHELD_ROWS,
  ADDRESS_ROWS,
  BACKUP_ROWS,
  LOG_LINE_ROWS,
  VERIFICATION_ROWS,
  SESSION_ROWS,
];
