// Scans and their findings as callers see them, in living networks within reach, now or then. Reads rows; knows nothing
// of what runs.

import type { Instant } from "../../base/instant.ts";
import type { AsOf, Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { FindingType } from "../sightings.ts";
import type { ScanStatus } from "./scan.ts";
import { scanThen } from "./stored-scan.ts";
import type { StoredScan } from "./tables.ts";

export interface FoundScan {
  readonly row: StoredScan;
  readonly networkId: string;
}

/** Null for the present. */
export interface ScansAt {
  readonly at: Instant;
  readonly asOf: AsOf;
}

export interface ScanQuery {
  readonly reach: Reach;
  readonly then: ScansAt | null;
  readonly networkId?: string | undefined;
  readonly statuses?: readonly ScanStatus[] | undefined;
  readonly direction: "asc" | "desc";
}

/** Null where the caller sees none. */
export function findScan(reader: Reader, id: string, reach: Reach, then: ScansAt | null): FoundScan | null {
  const { sql, values } = conditions(reader, { reach, then, direction: "asc" });
  const rows = reader.statement(`${SELECT} WHERE s.id = ? AND ${sql}`).values(id, ...values) as Row[];
  const found = rows[0];
  return found === undefined ? null : scanIn(found, then);
}

/** Regardless of the page. */
export function countScans(reader: Reader, query: ScanQuery): number {
  const { sql, values } = conditions(reader, query);
  const row = reader.statement(`SELECT count(*) FROM discovery_scans s WHERE ${sql}`).values(...values)[0] as [number];
  return row[0];
}

/** By time of request. @param limit rows */
export function pageOfScans(reader: Reader, query: ScanQuery, limit: number, offset: number): FoundScan[] {
  const { sql, values } = conditions(reader, query);
  const rows = reader
    .statement(`${SELECT} WHERE ${sql} ORDER BY s.id ${query.direction} LIMIT ? OFFSET ?`)
    .values(...values, limit, offset) as Row[];
  return rows.map((row) => scanIn(row, query.then));
}

/** Those that failed after an instant and by another, in networks that are there as of a transaction; newest first. */
export function failedScans(
  reader: Reader,
  { reach, networkN, after, at, sequence }: FailedScansQuery,
): readonly FailedScan[] {
  const rows = reader
    .statement(
      `SELECT s.id, s.network_n, s.ended_at, s.request ->> '$.schedule_id'
        FROM discovery_scans s INDEXED BY discovery_scans_failed
        WHERE s.status = 'Failed' AND s.organization_n = +?1 AND s.ended_at > +?2 AND s.ended_at <= +?3
        AND (+?4 IS NULL OR s.network_n IN (SELECT value FROM json_each(+?4))) AND (+?5 IS NULL OR s.network_n = +?5)
        AND EXISTS (SELECT 1 FROM history_spans w WHERE w.scope = +?1 * 64 + ${networkKind.code} AND w.n = s.network_n
          AND w.born <= +?6 AND w.died > +?6) ORDER BY s.ended_at DESC, s.id DESC`,
    )
    .values(
      reach.organizationN,
      after,
      at,
      reach.networkNs === null ? null : JSON.stringify(reach.networkNs),
      networkN,
      sequence,
    ) as Array<[string, number, number, string | null]>;
  return rows.map(([id, n, endedAt, scheduleId]) => ({ id, networkN: n, endedAt, scheduleId }));
}

export interface FailedScan {
  readonly id: string;
  readonly networkN: number;
  readonly endedAt: Instant;
  /** The schedule that started it. */
  readonly scheduleId: string | null;
}

/** What the last completed scan of each of these networks did not reach, where that ended in a stretch of time. */
export function missedByLast(
  reader: Reader,
  { reach, after, at }: Omit<FailedScansQuery, "networkN" | "sequence">,
  networks: readonly number[],
): ReadonlyArray<{ readonly id: string; readonly unreached: number }> {
  const rows = reader
    .statement(
      `SELECT s.id, coalesce(s.outcome ->> '$.hosts.unreached', 0), max(s.ended_at)
        FROM discovery_scans s INDEXED BY discovery_scans_completed
        WHERE s.status = 'Completed' AND s.organization_n = +?1 AND s.ended_at > +?2 AND s.ended_at <= +?3
        AND s.network_n IN (SELECT value FROM json_each(+?4)) GROUP BY s.network_n`,
    )
    .values(reach.organizationN, after, at, JSON.stringify(networks)) as Array<[string, number, number]>;
  return rows.map(([id, unreached]) => ({ id, unreached }));
}

export interface FailedScansQuery {
  readonly reach: Reach;
  /** Null for all that the caller reaches. */
  readonly networkN: number | null;
  readonly after: Instant;
  readonly at: Instant;
  readonly sequence: number;
}

export function scansAfter(reader: Reader, query: ScanQuery, after: string, limit: number): FoundScan[] {
  const { sql, values } = conditions(reader, query);
  const rows = reader
    .statement(
      `${SELECT} WHERE ${sql} AND s.id ${query.direction === "asc" ? ">" : "<"} ? ORDER BY s.id ${query.direction}
        LIMIT ?`,
    )
    .values(...values, after, limit) as Row[];
  return rows.map((row) => scanIn(row, query.then));
}

/** As JSON, in order. @param limit rows */
export function findingsOf(
  reader: Reader,
  scanId: string,
  types: readonly FindingType[] | undefined,
  limit: number,
  offset: number,
): { readonly items: string[]; readonly total: number } {
  const [filter, values] =
    types === undefined ? ["", []] : [" AND type IN (SELECT value FROM json_each(?))", [JSON.stringify(types)]];
  const from = `FROM discovery_findings WHERE scan_id = ?${filter}`;
  const [total] = reader.statement(`SELECT count(*) ${from}`).values(scanId, ...values)[0] as [number];
  const rows = reader
    .statement(`SELECT finding ${from} ORDER BY ordinal LIMIT ? OFFSET ?`)
    .values(scanId, ...values, limit, offset) as Array<[string]>;
  return { items: rows.map(([finding]) => finding), total };
}

/** After an ordinal, −1 for all, with an offset. */
export function findingsAfter(
  reader: Reader,
  scanId: string,
  types: readonly FindingType[] | undefined,
  after: number,
  limit: number,
  offset: number,
): { readonly items: string[]; readonly last: number } {
  const [filter, values] =
    types === undefined ? ["", []] : [" AND type IN (SELECT value FROM json_each(?))", [JSON.stringify(types)]];
  const rows = reader
    .statement(
      `SELECT ordinal, finding FROM discovery_findings WHERE scan_id = ? AND ordinal > ?${filter}
        ORDER BY ordinal LIMIT ? OFFSET ?`,
    )
    .values(scanId, after, ...values, limit, offset) as Array<[number, string]>;
  return { items: rows.map(([, finding]) => finding), last: rows.at(-1)?.[0] ?? after };
}

/** Null for a network that is gone. */
export function organizationIdOf(reader: Reader, networkId: string): string | null {
  const rows = reader
    .statement(
      `SELECT o.id FROM networks w JOIN history_records r ON r.n = w.n
        JOIN history_records o ON o.n = w.organization_n WHERE r.id = ?`,
    )
    .values(networkId) as Array<[string]>;
  return rows[0]?.[0] ?? null;
}

export function areScansUnderWay(reader: Reader): boolean {
  return (
    reader.statement("SELECT 1 FROM discovery_scans WHERE status IN ('Queued', 'Running') LIMIT 1").values().length > 0
  );
}

type Row = [
  string,
  number,
  number,
  ScanStatus,
  number,
  number | null,
  number | null,
  string,
  string | null,
  string | null,
  string,
];

const SELECT = `SELECT s.id, s.organization_n, s.network_n, s.status, s.requested_at, s.started_at, s.ended_at,
  s.request, s.progress, s.outcome, r.id
  FROM discovery_scans s JOIN history_records r ON r.n = s.network_n`;

/** What a row's status was at ?, ?. */
const STATUS_THEN = "CASE WHEN s.ended_at <= ? THEN s.status WHEN s.started_at <= ? THEN 'Running' ELSE 'Queued' END";

function conditions(
  reader: Reader,
  { reach, then, networkId, statuses }: ScanQuery,
): { readonly sql: string; readonly values: Array<string | number> } {
  const where = ["s.organization_n = ?"];
  const values: Array<string | number> = [reach.organizationN];
  if (reach.networkNs !== null) {
    where.push("s.network_n IN (SELECT value FROM json_each(?))");
    values.push(JSON.stringify(reach.networkNs));
  }
  if (networkId !== undefined) {
    where.push("s.network_n = ?");
    values.push(reader.recordN(networkId) ?? 0);
  }
  // What lies below a network that is not there does not exist.
  if (then === null) where.push("EXISTS (SELECT 1 FROM networks w WHERE w.n = s.network_n)");
  else {
    where.push(
      "s.requested_at <= ?",
      `EXISTS (SELECT 1 FROM history_spans w WHERE w.scope = ? AND w.n = s.network_n AND w.born <= ? AND w.died > ?)`,
    );
    values.push(then.at, reach.organizationN * 64 + networkKind.code, then.asOf.sequence, then.asOf.sequence);
  }
  if (statuses !== undefined) {
    where.push(`${then === null ? "s.status" : STATUS_THEN} IN (SELECT value FROM json_each(?))`);
    values.push(...(then === null ? [] : [then.at, then.at]), JSON.stringify(statuses));
  }
  return { sql: where.join(" AND "), values };
}

function scanIn(row: Row, then: ScansAt | null): FoundScan {
  const [
    id,
    organization_n,
    network_n,
    status,
    requested_at,
    started_at,
    ended_at,
    request,
    progress,
    outcome,
    networkId,
  ] = row;
  const stored: StoredScan = {
    id,
    organization_n,
    network_n,
    status,
    requested_at,
    started_at,
    ended_at,
    request: JSON.parse(request),
    progress: parsed(progress),
    outcome: parsed(outcome),
  };
  return { row: then === null ? stored : scanThen(stored, then.at), networkId };
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
