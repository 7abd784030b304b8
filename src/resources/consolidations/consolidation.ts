// Consolidation records: former host, destination and the identifying signs of both. Counts as long as the closed host
// has no later version, so a revert or restore cancels it without a write. Never deleted.

import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { type Kind, liveColumns, type OwnFields, parseMembers, type RecordBase } from "../../db/kind.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { hostKind } from "../hosts/host.ts";

export interface HostConsolidationRecord extends RecordBase {
  readonly organization_id: string;
  readonly former_id: string;
  readonly into_id: string;
  readonly network_id: string;
  /** The transaction that closed the former host. */
  readonly closed_in: number;
  /** Format of ignored entries: `serial:FOC1234`, `mac:00:1b:21:aa:bb:cc`. */
  readonly signs: readonly string[];
  readonly into_signs: readonly string[];
}

const hostConsolidations = sqliteTable("host_consolidations", {
  ...liveColumns,
  former_n: integer().notNull(),
  into_n: integer().notNull(),
  /** Network of both hosts; it may be deleted. The record itself belongs to no network. */
  within_n: integer().notNull(),
  closed_in: integer().notNull(),
});

export const hostConsolidationKind: Kind<HostConsolidationRecord> = {
  name: "host_consolidation",
  plural: "host_consolidations",
  code: 23,
  table: hostConsolidations,
  columns: ({ former_id, into_id, network_id, closed_in }, n) => ({
    former_n: n(former_id),
    into_n: n(into_id),
    within_n: n(network_id),
    closed_in,
  }),
  scopes: {},
  isOutsideFeed: true,
  isReportedByContainer: true,
  isPermanent: true,
  observed: [],
  absent: "null",
  identity: () => null,
  unique: null,
};

/** SQL that tests whether row `c` applies as of transaction ?1. */
const COUNTS = `c.closed_in <= ?1 AND NOT EXISTS (SELECT 1 FROM history_versions v
  WHERE v.key > ((c.former_n << 31) | c.closed_in) AND v.key <= ((c.former_n << 31) | ?1))`;
const NEWEST = 2 ** 31 - 1;
const OF_NETWORK = `SELECT c.former_n, c.into_n, c.members FROM host_consolidations c
  WHERE c.within_n = +?2 AND ${COUNTS} ORDER BY c.former_n`;
const INTO = `SELECT r.id FROM host_consolidations c JOIN history_records r ON r.n = c.into_n
  WHERE c.former_n = +?2 AND ${COUNTS}`;
const OF_FORMER = `SELECT c.members FROM host_consolidations c WHERE c.former_n = +?2 AND ${COUNTS}`;
const FORMER_IN = `SELECT r.id FROM host_consolidations c JOIN history_records r ON r.n = c.former_n
  WHERE c.into_n = ?1 AND c.closed_in = ?2`;
const FORMERS = `WITH RECURSIVE formers (n) AS (SELECT +?2
    UNION SELECT c.former_n FROM formers JOIN host_consolidations c ON c.into_n = formers.n WHERE ${COUNTS})
  SELECT n FROM formers WHERE n <> +?2 ORDER BY n`;
/** Destination of each host ?2 as of transaction ?1, if a consolidation ended the host's version of that time. */
const ENDED_INTO = `SELECT j.value, r.id FROM json_each(+?2) j
  CROSS JOIN host_consolidations c ON c.former_n = j.value AND c.closed_in > +?1
  CROSS JOIN history_records r ON r.n = c.into_n
  WHERE NOT EXISTS (SELECT 1 FROM history_versions v
    WHERE v.key > ((c.former_n << 31) | +?1) AND v.key < ((c.former_n << 31) | c.closed_in))`;

/** Identifying signs of a host at consolidation, in the format of ignored entries. */
interface IdentifiedHost {
  readonly id: string;
  readonly signs: readonly string[];
}

/** Records that a host was consolidated into another in this transaction. Both are in one network. */
export function recordConsolidation(
  tx: WriteTransaction,
  { organizationId, networkId }: { readonly organizationId: string; readonly networkId: string },
  former: IdentifiedHost,
  into: IdentifiedHost,
): void {
  tx.create(hostConsolidationKind, organizationId, {
    organization_id: organizationId,
    former_id: former.id,
    into_id: into.id,
    network_id: networkId,
    closed_in: tx.sequence,
    signs: former.signs,
    into_signs: into.signs,
  });
}

/**
 * Records the earlier consolidation again for a host that was reopened and is closed again by this transaction.
 * @param reopenedIn the transaction that reopened it
 */
export function renewConsolidation(tx: WriteTransaction, formerN: number, reopenedIn: number): void {
  const [row] = tx.db.$client.query(OF_FORMER).values(reopenedIn - 1, formerN) as Array<[string]>;
  if (row === undefined) return;
  const { organization_id, former_id, into_id, network_id, signs, into_signs } = parseMembers<HostConsolidationRecord>(
    row[0],
  );
  const fields: OwnFields<HostConsolidationRecord> = {
    organization_id,
    former_id,
    into_id,
    network_id,
    closed_in: tx.sequence,
    signs,
    into_signs,
  };
  tx.create(hostConsolidationKind, organization_id, fields);
}

/** The present host for a closed one, following consolidations; the host itself if live, null if there is none. */
export function survivorOf(tx: WriteTransaction, id: string): string | null {
  const seen = new Set<string>();
  for (let host: string | null = id; host !== null && !seen.has(host); host = destinationOf(tx, host)) {
    if (tx.find(hostKind, host) !== null) return host;
    seen.add(host);
  }
  return null;
}

/** The host consolidated into another one by a transaction; null for none. */
export function consolidatedIn(tx: WriteTransaction, intoN: number, sequence: number): string | null {
  const [row] = tx.db.$client.query(FORMER_IN).values(intoN, sequence) as Array<[string]>;
  return row?.[0] ?? null;
}

/** Identifying signs of a live host from before a consolidation. */
export interface FormerIdentity {
  readonly hostId: string;
  readonly formerN: number;
  readonly signs: readonly string[];
}

/** For all live hosts of a network: the signs of every host consolidated into them, and their own at that time. */
export function formerIdentities(tx: WriteTransaction, networkId: string): FormerIdentity[] {
  const rows = tx.db.$client.query(OF_NETWORK).values(NEWEST, tx.recordN(networkId) ?? 0) as Array<
    [number, number, string]
  >;
  return rows.flatMap(([formerN, intoN, members]) => {
    const hostId = survivorOf(tx, tx.recordId(intoN) ?? "");
    if (hostId === null) return [];
    const { signs, into_signs } = parseMembers<HostConsolidationRecord>(members);
    return [signs, into_signs].map((texts) => ({ hostId, formerN, signs: texts }));
  });
}

/** Record numbers of all hosts consolidated into one by a transaction, including indirectly. */
export function formersAt(connection: Pick<ReadConnection, "statement">, hostN: number, sequence: number): number[] {
  return (connection.statement(FORMERS).values(sequence, hostN) as Array<[number]>).map(([n]) => n);
}

/** Destination host by record number, for hosts whose version as of a timestamp a consolidation ended. */
export function destinationsOf(
  connection: Pick<ReadConnection, "statement">,
  hostNs: readonly number[],
  asOf: AsOf | null,
): Map<number, string> {
  // A live host was not ended.
  if (asOf === null || asOf.present || hostNs.length === 0) return new Map();
  return new Map(
    connection.statement(ENDED_INTO).values(asOf.sequence, JSON.stringify(hostNs)) as Array<[number, string]>,
  );
}

function destinationOf(tx: WriteTransaction, id: string): string | null {
  const n = tx.recordN(id);
  if (n === null) return null;
  const [row] = tx.db.$client.query(INTO).values(NEWEST, n) as Array<[string]>;
  return row?.[0] ?? null;
}
