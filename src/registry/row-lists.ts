// Table of all filterable lists whose rows are not records.

import { BACKUP_ROWS } from "../backup/backup-body.ts";
import { FINDING_ROWS, SCAN_ROWS } from "../discovery/scans/scan-rows.ts";
import { TRANSACTION_ROWS } from "../history/transaction-rows.ts";
import { VERSION_ROWS } from "../history/version-rows.ts";
import { LOG_LINE_ROWS } from "../operations/log-line.ts";
import { VERIFICATION_ROWS } from "../operations/verification.ts";
import type { RowList } from "../records/row-fields.ts";
import { CONFLICT_ROWS } from "../reports/conflicts/conflict-schema.ts";
import { ADDRESS_ROWS } from "../reports/ipam/address-row.ts";
import { STATION_ROWS } from "../reports/stations/station-schema.ts";
import { WITHHELD_ROWS } from "../reports/withheld/withheld-schema.ts";
import { SESSION_ROWS } from "../sessions/session.ts";

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
