// Queries for scans and findings visible to a caller, in live networks, now or at a past time. Independent of running
// scans.

import type { Instant } from "../../base/instant.ts";
import { rowConditionSql } from "../../db/reading/condition-sql.ts";
import type { AsOf, Moment, Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { ResolvedCondition } from "../../db/reading/resolved-condition.ts";
import { SqlBuilder } from "../../db/reading/sql-builder.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { FindingType } from "../sightings.ts";
import type { ScanStatus } from "./scan.ts";
import { scanObjectSql } from "./scan-rows.ts";
import { scanAt } from "./stored-scan.ts";
import type { StoredScan } from "./tables.ts";

export interface StoredScanRow {
  readonly row: StoredScan;
  readonly networkId: string;
}

/** Null for the present. */
export interface ScansAt {
  readonly at: Instant;
  readonly asOf: AsOf;
}

/** Scans are stored outside the ledger: their own timestamps give their past state. */
export function pastOf({ at, asOf }: Moment): ScansAt | null {
  return at === null || asOf === null ? null : { at, asOf };
}

export interface ScanQuery {
  readonly reach: Reach;
  readonly past: ScansAt | null;
  readonly networkId?: string | undefined;
  readonly statuses?: readonly ScanStatus[] | undefined;
  readonly direction: "asc" | "desc";
}

/** Returns null if not visible to the caller. */
export function findScan(reader: Reader, id: string, reach: Reach, past: ScansAt | null): StoredScanRow | null {
  const query: ScanQuery = { reach, past, direction: "asc" };
  return selectScans(reader, query, (sql) => `AND s.id = ${sql.bind(id)}`)[0] ?? null;
}

/** Ignores paging. */
export function countScans(reader: Reader, query: ScanQuery): number {
  const sql = new SqlBuilder(null);
  const where = conditions(reader, sql, query);
  const text = `SELECT count(*) FROM discovery_scans s WHERE ${where}`;
  const [[count]] = reader.statement(text).values(...sql.values) as [[number]];
  return count;
}

/** In request order. @param limit rows */
export function pageOfScans(reader: Reader, query: ScanQuery, limit: number, offset: number): StoredScanRow[] {
  const pageSql = (sql: SqlBuilder) =>
    `ORDER BY s.id ${query.direction} LIMIT ${sql.bind(limit)} OFFSET ${sql.bind(offset)}`;
  return selectScans(reader, query, pageSql);
}

/** Returns the IDs of scans after a given one, in request order, each with the SQL verdict: 1, 0 or null. */
export function evaluateScans(
  reader: Reader,
  query: ScanQuery,
  condition: ResolvedCondition,
  after: string | null,
  limit: number,
): Array<[string, number | null]> {
  const sql = new SqlBuilder(null);
  const verdict = rowConditionSql(condition, scanObjectSql(query.past === null), (value) => sql.bind(value));
  const where = conditions(reader, sql, query);
  const afterClause = after === null ? "" : ` AND s.id ${query.direction === "asc" ? ">" : "<"} ${sql.bind(after)}`;
  return reader
    .statement(
      `SELECT s.id, ${verdict} FROM discovery_scans s JOIN history_records r ON r.n = s.network_n
        WHERE ${where}${afterClause} ORDER BY s.id ${query.direction} LIMIT ${sql.bind(limit)}`,
    )
    .values(...sql.values) as Array<[string, number | null]>;
}

/** Returns the scans that still exist, by ID. */
export function scansOf(reader: Reader, query: ScanQuery, ids: readonly string[]): Map<string, StoredScanRow> {
  const inIds = (sql: SqlBuilder) => `AND s.id IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(ids))}))`;
  return new Map(selectScans(reader, query, inIds).map((scan) => [scan.row.id, scan]));
}

/** Returns scans that failed within a time range, in networks that exist as of a transaction; newest first. */
export function failedScans(
  reader: Reader,
  { reach, networkN, after, at, sequence }: FailedScansQuery,
): readonly FailedScan[] {
  const networkNs = reach.networkNs === null ? null : JSON.stringify(reach.networkNs);
  const rows = reader
    .statement(
      `SELECT s.id, s.network_n, s.ended_at, s.request ->> '$.schedule_id'
        FROM discovery_scans s INDEXED BY discovery_scans_failed
        WHERE s.status = 'Failed' AND s.organization_n = +?1 AND s.ended_at > +?2 AND s.ended_at <= +?3
        AND (+?4 IS NULL OR s.network_n IN (SELECT value FROM json_each(+?4))) AND (+?5 IS NULL OR s.network_n = +?5)
        AND EXISTS (SELECT 1 FROM history_spans w WHERE w.scope = +?1 * 64 + ${networkKind.code} AND w.n = s.network_n
          AND w.born <= +?6 AND w.died > +?6) ORDER BY s.ended_at DESC, s.id DESC`,
    )
    .values(reach.organizationN, after, at, networkNs, networkN, sequence) as Array<
    [string, number, number, string | null]
  >;
  return rows.map(([id, n, endedAt, scheduleId]) => ({ id, networkN: n, endedAt, scheduleId }));
}

export interface FailedScan {
  readonly id: string;
  readonly networkN: number;
  readonly endedAt: Instant;
  /** Schedule that started the scan. */
  readonly scheduleId: string | null;
}

/** Counts hosts unreached by each network's last completed scan, if that scan ended in the time range. */
export function unreachedByLast(
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
  /** Null for all networks visible to the caller. */
  readonly networkN: number | null;
  readonly after: Instant;
  readonly at: Instant;
  readonly sequence: number;
}

export function scansAfter(reader: Reader, query: ScanQuery, after: string, limit: number): StoredScanRow[] {
  const { direction } = query;
  const afterSql = (sql: SqlBuilder) => `AND s.id ${direction === "asc" ? ">" : "<"} ${sql.bind(after)}
    ORDER BY s.id ${direction} LIMIT ${sql.bind(limit)}`;
  return selectScans(reader, query, afterSql);
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

/** Returns findings after an ordinal (−1 for all), with an offset. */
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

/** Returns the ordinals of findings after a given one, each with the SQL verdict: 1, 0 or null. */
export function evaluateFindings(
  reader: Reader,
  { scanId, types, condition }: FindingsQuery,
  after: number,
  limit: number,
): Array<[number, number | null]> {
  const sql = new SqlBuilder(null);
  const bind = (value: string | number) => sql.bind(value);
  const verdict = rowConditionSql(condition, () => "finding", bind);
  const ofTypes =
    types === undefined ? "" : ` AND type IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(types))}))`;
  return reader
    .statement(
      `SELECT ordinal, ${verdict} FROM discovery_findings WHERE scan_id = ${sql.bind(scanId)}
        AND ordinal > ${sql.bind(after)}${ofTypes} ORDER BY ordinal LIMIT ${sql.bind(limit)}`,
    )
    .values(...sql.values) as Array<[number, number | null]>;
}

interface FindingsQuery {
  readonly scanId: string;
  readonly types: readonly FindingType[] | undefined;
  readonly condition: ResolvedCondition;
}

/** As JSON, by ordinal. */
export function findingsAt(reader: Reader, scanId: string, ordinals: readonly number[]): Map<number, string> {
  const text = `SELECT ordinal, finding FROM discovery_findings
    WHERE scan_id = +?1 AND ordinal IN (SELECT value FROM json_each(+?2))`;
  return new Map(reader.statement(text).values(scanId, JSON.stringify(ordinals)) as Array<[number, string]>);
}

/** Returns null for a deleted network. */
export function organizationIdOf(reader: Reader, networkId: string): string | null {
  const rows = reader
    .statement(
      `SELECT o.id FROM networks w JOIN history_records r ON r.n = w.n
        JOIN history_records o ON o.n = w.organization_n WHERE r.id = ?`,
    )
    .values(networkId) as Array<[string]>;
  return rows[0]?.[0] ?? null;
}

export function areScansActive(reader: Reader): boolean {
  const text = "SELECT 1 FROM discovery_scans WHERE status IN ('Queued', 'Running') LIMIT 1";
  return reader.statement(text).values().length > 0;
}

/** A scan as stored, with its JSON as text. */
interface Row extends Omit<StoredScan, "request" | "progress" | "outcome"> {
  readonly networkId: string;
  readonly request: string;
  readonly progress: string | null;
  readonly outcome: string | null;
}

const SELECT = `SELECT s.id, s.organization_n, s.network_n, s.status, s.requested_at, s.started_at, s.ended_at,
  s.request, s.progress, s.outcome, r.id AS networkId
  FROM discovery_scans s JOIN history_records r ON r.n = s.network_n`;

/** Status of a row at a past time. */
function pastStatusSql(at: string): string {
  return `CASE WHEN s.ended_at <= ${at} THEN s.status WHEN s.started_at <= ${at} THEN 'Running' ELSE 'Queued' END`;
}

function conditions(reader: Reader, sql: SqlBuilder, { reach, past, networkId, statuses }: ScanQuery): string {
  const where = [`s.organization_n = ${sql.bind(reach.organizationN)}`];
  if (reach.networkNs !== null)
    where.push(`s.network_n IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(reach.networkNs))}))`);
  if (networkId !== undefined) where.push(`s.network_n = ${sql.bind(reader.recordN(networkId) ?? 0)}`);
  // Scans of a network that did not exist are hidden.
  if (past === null) where.push("EXISTS (SELECT 1 FROM networks w WHERE w.n = s.network_n)");
  else {
    const sequence = sql.bind(past.asOf.sequence);
    where.push(
      `s.requested_at <= ${sql.bind(past.at)}`,
      `EXISTS (SELECT 1 FROM history_spans w WHERE w.scope = ${sql.bind(reach.organizationN * 64 + networkKind.code)}
        AND w.n = s.network_n AND w.born <= ${sequence} AND w.died > ${sequence})`,
    );
  }
  if (statuses !== undefined) {
    const status = past === null ? "s.status" : pastStatusSql(sql.bind(past.at));
    where.push(`${status} IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(statuses))}))`);
  }
  return where.join(" AND ");
}

/** @param more SQL after the conditions of the query */
function selectScans(reader: Reader, query: ScanQuery, more: (sql: SqlBuilder) => string): StoredScanRow[] {
  const sql = new SqlBuilder(null);
  const text = `${SELECT} WHERE ${conditions(reader, sql, query)} ${more(sql)}`;
  const rows = reader.statement(text).all(...sql.values) as Row[];
  return rows.map(({ networkId, request, progress, outcome, ...rest }) => {
    const scan = { ...rest, request: JSON.parse(request), progress: parsed(progress), outcome: parsed(outcome) };
    const stored = scan as StoredScan;
    return { row: query.past === null ? stored : scanAt(stored, query.past.at), networkId };
  });
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
