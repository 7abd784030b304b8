// Filterable fields of scans and findings, with their SQL.

import { instantSql } from "../../db/reading/condition-sql.ts";
import { KINDS } from "../../records/resources.ts";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { ROW_REASONS } from "../rows.ts";
import { FINDING_TYPES } from "../sightings.ts";
import { Scan, ScanFinding } from "./scan.ts";

const PLURALS = KINDS.map(({ plural }) => plural);

export const SCAN_ROWS: RowList = {
  name: "scan",
  path: "discovery/scans",
  row: Scan,
  keys: { "outcome.records": PLURALS, "outcome.findings": FINDING_TYPES },
  references: {
    network: { field: "network_id", kindName: "network" },
    schedule: { field: "schedule_id", kindName: "schedule" },
  },
};
export const SCAN_FIELDS = new RowFields(SCAN_ROWS);

export const FINDING_ROWS: RowList = {
  name: "scan_finding",
  words: { one: "finding", many: "findings" },
  path: "discovery/scans/{id}/findings",
  row: ScanFinding,
  keys: { records: PLURALS, "rows.set_aside": Object.keys(ROW_REASONS) },
};
export const FINDING_FIELDS = new RowFields(FINDING_ROWS);

/**
 * Returns a JSON object with a field of the scan s in the network r. Fields set after the request are available only
 * for the present; progress is known only to the scanning thread.
 */
export function scanObjectSql(isPresent: boolean): (field: string) => string | null {
  return (field) => {
    switch (field) {
      case "kind":
      case "targets":
      case "commit":
      case "allow_large":
      case "are_targets_permitted":
      case "schedule_id":
      case "requested_by":
      case "reason":
        return "s.request";
      case "id":
        return "json_object('id', s.id)";
      case "network_id":
        return "json_object('network_id', r.id)";
      case "requested_at":
        return `json_object('requested_at', ${instantSql("s.requested_at")})`;
      case "status":
        return isPresent ? "json_object('status', s.status)" : null;
      case "started_at":
      case "ended_at":
        return isPresent ? `json_object('${field}', ${instantSql(`s.${field}`)})` : null;
      case "outcome":
        return isPresent ? "json_object('outcome', iif(s.ended_at IS NULL, NULL, json(s.outcome)))" : null;
      default:
        return null;
    }
  };
}
