// Where the secret of a credential goes by its assignment to a host: (assignment, address value), beside the ledger.
// The store ends what is covered when the value, the address or the assignment goes (migration 0008), whoever writes;
// nothing but what is here makes it grow. A prune drops what has ended.

import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Sql } from "../../db/connection.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { type CredentialAssignmentRecord, credentialAssignmentKind } from "./credential-assignment.ts";

/** By whose word a credential is sent to an address. */
export type CoverageOrigin = "Assigned" | "Confirmed" | "Told" | "Restored";

const credentialCoverage = sqliteTable("credential_coverage", {
  assignment_n: integer().notNull(),
  ip_address: text().notNull(),
  since: integer().notNull(),
  until: integer(),
  origin: text().$type<CoverageOrigin>().notNull(),
  checksum: integer().notNull(),
});

/** The addresses that an assignment is for, and that are not covered yet. */
const UNCOVERED = `SELECT i.ip_address FROM credential_assignments a JOIN ip_addresses i ON i.host_n = a.host_n
  WHERE a.n = ?1
    AND (json_type('{' || a.members || '}', '$.ip_address_ids') = 'null'
      OR (SELECT id FROM history_records WHERE n = i.n) IN (SELECT value
        FROM json_each('{' || a.members || '}', '$.ip_address_ids')))
    AND NOT EXISTS (SELECT 1 FROM credential_coverage v WHERE v.assignment_n = a.n AND v.ip_address = i.ip_address
      AND v.until IS NULL)`;
const AMONG = "AND i.ip_address IN (SELECT value FROM json_each(?2))";
const IS_COVERED = "SELECT 1 FROM credential_coverage WHERE assignment_n = ?1 AND ip_address = ?2 AND until IS NULL";
/** As of a transaction. */
const WAS_COVERED = `SELECT ip_address FROM credential_coverage WHERE assignment_n = ?1 AND since <= ?2
    AND (until IS NULL OR until > ?2)`;
const MADE_IN = `SELECT assignment_n, ip_address FROM credential_coverage WHERE since = ?1 AND until IS NULL
    AND origin IN ('Assigned', 'Confirmed', 'Restored')`;
const ENDED_IN = "SELECT DISTINCT assignment_n, ip_address FROM credential_coverage WHERE until = ?1";
const END = `UPDATE credential_coverage SET until = ?3, checksum = checksum + ?3
  WHERE assignment_n = ?1 AND ip_address = ?2
    AND until IS NULL`;
const STEP_ROWS = 5_000;
/** In the order of the key, from one on. */
const ENDED_UP_TO = `SELECT assignment_n, ip_address, since, until FROM credential_coverage
  WHERE (assignment_n, ip_address, since) > (?2, ?3, ?4) AND +until <= ?1
  ORDER BY assignment_n, ip_address, since LIMIT ${STEP_ROWS}`;
const DROP = "DELETE FROM credential_coverage WHERE assignment_n = ?1 AND ip_address = ?2 AND since = ?3";

/**
 * Sends the secret of an assignment's credential to addresses of its host from the end of this transaction on. To be
 * called on the word of an Admin, or for what the device itself tells.
 * @param assignmentId of a host
 * @param values those among them that are to be covered; null for all that the assignment is for. What is no address of
 * the host then, or is not named by an assignment that names its addresses, is left out
 */
export function cover(
  tx: WriteTransaction,
  assignmentId: string,
  values: readonly string[] | null,
  origin: CoverageOrigin,
): void {
  if (values?.length === 0) return;
  tx.afterwardsRun(() => {
    const n = tx.recordN(assignmentId);
    if (n === null) return;
    const { $client } = tx.db;
    const rows = (
      values === null
        ? $client.query(UNCOVERED).values(n)
        : $client.query(`${UNCOVERED} ${AMONG}`).values(n, JSON.stringify(values))
    ) as Array<[string]>;
    for (const [ip_address] of rows) {
      tx.db
        .insert(credentialCoverage)
        .values(
          withChecksum(credentialCoverage, { assignment_n: n, ip_address, since: tx.sequence, until: null, origin }),
        )
        // What ended in the transaction that begins it anew goes on.
        .onConflictDoUpdate({
          target: [credentialCoverage.assignment_n, credentialCoverage.ip_address, credentialCoverage.since],
          set: { until: null, origin: sql`excluded.origin`, checksum: sql`excluded.checksum` },
        })
        .run();
    }
  });
}

/**
 * What an Admin's write of an assignment sends where. What was assigned before, and is sent again, confirms nothing.
 * @param before null for one that is made
 */
export function coverAssigned(
  tx: WriteTransaction,
  before: CredentialAssignmentRecord | null,
  after: CredentialAssignmentRecord,
): void {
  const { host_id: hostId, ip_address_ids: ids } = after;
  if (hostId === null) return;
  const isWidened = before === null || (ids === null && before.ip_address_ids !== null);
  if (isWidened) cover(tx, after.id, null, "Assigned");
  else if (ids !== null)
    cover(
      tx,
      after.id,
      valuesOf(
        tx,
        ids.filter((id) => before.ip_address_ids?.includes(id) !== true),
      ),
      "Assigned",
    );
  if (ids !== null && before !== null) endBeyond(tx, after.id, ids);
}

/** Whether an assignment is meant for an address of its host, covered or not. */
export function isFor(assignment: CredentialAssignmentRecord, addressId: string): boolean {
  return assignment.host_id !== null && assignment.ip_address_ids?.includes(addressId) !== false;
}

/** Whether the secret goes to an address value by an assignment, as of the beginning of this transaction. */
export function isCovered(tx: WriteTransaction, assignmentId: string, value: string): boolean {
  const n = tx.recordN(assignmentId);
  return n !== null && tx.db.$client.query(IS_COVERED).get(n, value) !== null;
}

/**
 * What an assignment covered as of a transaction, for an Admin who brings that back.
 * @returns address values
 */
export function coveredAt(tx: WriteTransaction, assignmentId: string, sequence: number): Set<string> {
  const n = tx.recordN(assignmentId);
  return new Set(
    n === null ? [] : (tx.db.$client.query(WAS_COVERED).values(n, sequence) as Array<[string]>).map(([value]) => value),
  );
}

/** A pair by the ids of today. */
export interface Covered {
  readonly assignmentId: string;
  readonly value: string;
}

/** What a transaction has begun to cover by someone's word, and covers still. */
export function coverageMadeIn(tx: WriteTransaction, sequence: number): Covered[] {
  return pairs(tx, tx.db.$client.query(MADE_IN).values(sequence) as Array<[number, string]>);
}

/** What a transaction has ended. */
export function coverageEndedIn(tx: WriteTransaction, sequence: number): Covered[] {
  return pairs(tx, tx.db.$client.query(ENDED_IN).values(sequence) as Array<[number, string]>);
}

/** What an assignment covered for a time: [since, until), in sequences. */
export interface EndedCoverage {
  readonly assignmentN: number;
  readonly value: string;
  readonly since: number;
  readonly until: number;
}

/** What has ended up to a transaction, in steps; what was handed over may be dropped meanwhile. */
export function* coverageEndedUpTo(db: Pick<Sql, "$client">, sequence: number): Generator<EndedCoverage> {
  let [assignmentN, value, since] = [0, "", 0];
  for (let count = STEP_ROWS; count === STEP_ROWS; ) {
    const rows = db.$client.query(ENDED_UP_TO).values(sequence, assignmentN, value, since) as Array<
      [number, string, number, number]
    >;
    for (const row of rows) {
      [assignmentN, value, since] = row;
      yield { assignmentN, value, since, until: row[3] };
    }
    count = rows.length;
  }
}

/** Drops what has ended, within a transaction of the caller's: nobody can bring it back from then on. */
export function dropCoverage(db: Sql, { assignmentN, value, since }: EndedCoverage): void {
  db.$client.query(DROP).run(assignmentN, value, since);
}

/** The secret goes there no more, from the end of this transaction on. */
export function endCoverage(tx: WriteTransaction, { assignmentId, value }: Covered): void {
  tx.afterwardsRun(() => {
    tx.db.$client.query(END).run(tx.recordN(assignmentId) as number, value, tx.sequence);
  });
}

/** An assignment that names its addresses covers no others. */
function endBeyond(tx: WriteTransaction, assignmentId: string, addressIds: readonly string[]): void {
  const named = new Set(valuesOf(tx, addressIds));
  for (const value of coveredAt(tx, assignmentId, tx.sequence))
    if (!named.has(value)) endCoverage(tx, { assignmentId, value });
}

function valuesOf(tx: WriteTransaction, addressIds: readonly string[]): string[] {
  return addressIds.flatMap((id) => tx.find(ipAddressKind, id)?.ip_address ?? []);
}

function pairs(tx: WriteTransaction, rows: ReadonlyArray<[number, string]>): Covered[] {
  return rows.map(([n, value]) => ({ assignmentId: tx.recordId(n) as string, value }));
}

/** The host's assignments that are meant for one of its addresses. */
export function assignmentsFor(
  tx: WriteTransaction,
  address: { readonly id: string; readonly host_id: string },
): CredentialAssignmentRecord[] {
  return tx
    .children(credentialAssignmentKind, "host_n", address.host_id)
    .filter((assignment) => isFor(assignment, address.id));
}
