// Drizzle tables of scans; migrations/0038_discovery.sql explains each. None has history.

import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Finding, FindingType } from "../sightings.ts";
import type { ScanOutcome, ScanProgress, ScanRequest, ScanStatus } from "./scan.ts";

export const discoveryScans = sqliteTable("discovery_scans", {
  id: text().primaryKey(),
  organization_n: integer().notNull(),
  network_n: integer().notNull(),
  status: text().$type<ScanStatus>().notNull(),
  requested_at: integer().notNull(),
  started_at: integer(),
  ended_at: integer(),
  request: text({ mode: "json" }).$type<ScanRequest>().notNull(),
  progress: text({ mode: "json" }).$type<ScanProgress>(),
  outcome: text({ mode: "json" }).$type<ScanOutcome>(),
  checksum: integer().notNull(),
});
export type CheckedScan = typeof discoveryScans.$inferSelect;
export type StoredScan = Omit<CheckedScan, "checksum">;

export const discoveryFindings = sqliteTable(
  "discovery_findings",
  {
    scan_id: text().notNull(),
    ordinal: integer().notNull(),
    type: text().$type<FindingType>().notNull(),
    finding: text({ mode: "json" }).$type<Finding>().notNull(),
    checksum: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.scan_id, table.ordinal] })],
);

export const discoveryScheduleRuns = sqliteTable("discovery_schedule_runs", {
  schedule_n: integer().primaryKey(),
  due_at: integer().notNull(),
  checksum: integer().notNull(),
});
