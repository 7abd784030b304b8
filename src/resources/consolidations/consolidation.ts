// Which hosts went into which, and by what each was known: the table, and who asks it. A row counts as long as nothing
// has happened to the closed host since, so that a revert or a restore takes it back by itself.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { hostKind } from "../hosts/host.ts";

const hostConsolidations = sqliteTable("host_consolidations", {
  former_n: integer().notNull(),
  sequence: integer().notNull(),
  into_n: integer().notNull(),
  network_n: integer().notNull(),
  signs: text().notNull(),
  into_signs: text().notNull(),
  checksum: integer().notNull(),
});
const rows = new KeyedRows(hostConsolidations, ["former_n", "sequence"]);

/** Of the row `c`, as of the transaction ?1. */
const COUNTS = `c.sequence <= ?1 AND NOT EXISTS (SELECT 1 FROM history_versions v
  WHERE v.key > ((c.former_n << 31) | c.sequence) AND v.key <= ((c.former_n << 31) | ?1))`;
const NEWEST = 2 ** 31 - 1;
const OF_NETWORK = `SELECT c.former_n, c.into_n, c.signs, c.into_signs FROM host_consolidations c
  WHERE c.network_n = +?2 AND ${COUNTS} ORDER BY c.former_n`;
const INTO = `SELECT r.id FROM host_consolidations c JOIN history_records r ON r.n = c.into_n
  WHERE c.former_n = +?2 AND ${COUNTS}`;
const KEPT = `SELECT c.* FROM host_consolidations c WHERE c.former_n = +?2 AND ${COUNTS}`;
const FORMER_IN = `SELECT r.id FROM host_consolidations c JOIN history_records r ON r.n = c.former_n
  WHERE c.into_n = ?1 AND c.sequence = ?2`;
const FORMERS = `WITH RECURSIVE formers (n) AS (SELECT +?2
    UNION SELECT c.former_n FROM formers JOIN host_consolidations c ON c.into_n = formers.n WHERE ${COUNTS})
  SELECT n FROM formers WHERE n <> +?2 ORDER BY n`;
/** Of hosts as they were as of ?1: into which those went that ended with that version. */
const ENDED_INTO = `SELECT j.value, r.id FROM json_each(+?2) j
  CROSS JOIN host_consolidations c ON c.former_n = j.value AND c.sequence > +?1
  CROSS JOIN history_records r ON r.n = c.into_n
  WHERE NOT EXISTS (SELECT 1 FROM history_versions v
    WHERE v.key > ((c.former_n << 31) | +?1) AND v.key < ((c.former_n << 31) | c.sequence))`;

/** What a host was known by when it was consolidated: texts as ignored entries have them. */
interface KnownBy {
  readonly id: string;
  readonly signs: readonly string[];
}

/** Keeps that a host goes into another in this transaction. Both are in one network. */
export function keepConsolidation(tx: WriteTransaction, networkId: string, former: KnownBy, into: KnownBy): void {
  tx.afterwardsRun(() => {
    rows.put(
      tx.db,
      withChecksum(hostConsolidations, {
        former_n: tx.recordN(former.id) as number,
        sequence: tx.sequence,
        into_n: tx.recordN(into.id) as number,
        network_n: tx.recordN(networkId) as number,
        signs: JSON.stringify(former.signs),
        into_signs: JSON.stringify(into.signs),
      }),
    );
  });
}

/**
 * Keeps again, of a host that ends in this transaction as it had ended before it came back, that it goes into another.
 * @param back the transaction in which it had come back
 */
export function keepConsolidationAgain(tx: WriteTransaction, formerN: number, back: number): void {
  const [row] = tx.db.$client.query(KEPT).all(back - 1, formerN) as Array<typeof hostConsolidations.$inferSelect>;
  if (row === undefined) return;
  const { checksum: _of, ...kept } = row;
  tx.afterwardsRun(() => rows.put(tx.db, withChecksum(hostConsolidations, { ...kept, sequence: tx.sequence })));
}

/** The host that stands for a closed one today, itself where it lives; null where there is none. */
export function survivorOf(tx: WriteTransaction, id: string): string | null {
  const seen = new Set<string>();
  for (let host: string | null = id; host !== null && !seen.has(host); host = intoOf(tx, host)) {
    if (tx.find(hostKind, host) !== null) return host;
    seen.add(host);
  }
  return null;
}

/** The host that went into another one in a transaction; null for none. */
export function consolidatedIn(tx: WriteTransaction, intoN: number, sequence: number): string | null {
  const [row] = tx.db.$client.query(FORMER_IN).values(intoN, sequence) as Array<[string]>;
  return row?.[0] ?? null;
}

/** What a living host was known by before it was consolidated. */
export interface FormerSelf {
  readonly hostId: string;
  readonly formerN: number;
  readonly signs: readonly string[];
}

/** All of a network's living hosts, each as every host that went into it was known, and as itself was then. */
export function formerSelves(tx: WriteTransaction, networkId: string): FormerSelf[] {
  const found = tx.db.$client.query(OF_NETWORK).values(NEWEST, tx.recordN(networkId) ?? 0) as Array<
    [number, number, string, string]
  >;
  return found.flatMap(([formerN, intoN, signs, intoSigns]) => {
    const hostId = survivorOf(tx, tx.recordId(intoN) ?? "");
    if (hostId === null) return [];
    return [signs, intoSigns].map((texts) => ({ hostId, formerN, signs: JSON.parse(texts) as string[] }));
  });
}

/** The record numbers of the hosts that have gone into one by a transaction, those that went into these included. */
export function formersAt(connection: Pick<ReadConnection, "statement">, hostN: number, sequence: number): number[] {
  return (connection.statement(FORMERS).values(sequence, hostN) as Array<[number]>).map(([n]) => n);
}

/** By record number: into which host those went whose last version, as of an instant, is the one of then. */
export function endedInto(
  connection: Pick<ReadConnection, "statement">,
  hostNs: readonly number[],
  asOf: AsOf | null,
): Map<number, string> {
  // What lives today has not ended.
  if (asOf === null || asOf.present || hostNs.length === 0) return new Map();
  return new Map(
    connection.statement(ENDED_INTO).values(asOf.sequence, JSON.stringify(hostNs)) as Array<[number, string]>,
  );
}

function intoOf(tx: WriteTransaction, id: string): string | null {
  const n = tx.recordN(id);
  if (n === null) return null;
  const [row] = tx.db.$client.query(INTO).values(NEWEST, n) as Array<[string]>;
  return row?.[0] ?? null;
}
