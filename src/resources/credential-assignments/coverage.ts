// Host assignment coverage: the address values that its secret is sent to, stored outside the ledger. Triggers in
// migrations/0038_discovery.sql end coverage when the value, address or assignment is removed; only this module adds to
// it. Pruning drops ended rows.

import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Sql } from "../../db/connection.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { type CredentialAssignmentRecord, credentialAssignmentKind } from "./credential-assignment.ts";

/** Authorizer of sending a credential to an address. */
export type CoverageOrigin = "Assigned" | "Confirmed" | "Told" | "Restored";

export const credentialCoverage = sqliteTable("credential_coverage", {
  assignment_n: integer().notNull(),
  ip_address: text().notNull(),
  since: integer().notNull(),
  until: integer(),
  origin: text().$type<CoverageOrigin>().notNull(),
  checksum: integer().notNull(),
});

/** Addresses within an assignment that are not covered yet. */
const UNCOVERED = `SELECT i.ip_address FROM credential_assignments a JOIN ip_addresses i ON i.host_n = a.host_n
  WHERE a.n = +?1
    AND (json_type('{' || a.members || '}', '$.ip_address_ids') = 'null'
      OR (SELECT id FROM history_records WHERE n = i.n) IN (SELECT value
        FROM json_each('{' || a.members || '}', '$.ip_address_ids')))
    AND NOT EXISTS (SELECT 1 FROM credential_coverage v WHERE v.assignment_n = a.n AND v.ip_address = i.ip_address
      AND v.until IS NULL)`;
const AMONG = "AND i.ip_address IN (SELECT value FROM json_each(?2))";
const IS_COVERED = "SELECT 1 FROM credential_coverage WHERE assignment_n = +?1 AND ip_address = +?2 AND until IS NULL";
/** Coverage as of a transaction. */
const WAS_COVERED = `SELECT ip_address FROM credential_coverage WHERE assignment_n = +?1 AND since <= +?2
    AND (until IS NULL OR until > ?2)`;
const STARTED_IN = `SELECT assignment_n, ip_address FROM credential_coverage WHERE since = +?1 AND until IS NULL
    AND origin IN ('Assigned', 'Confirmed', 'Restored')`;
const ENDED_IN = "SELECT DISTINCT assignment_n, ip_address FROM credential_coverage WHERE until = +?1";
const END = `UPDATE credential_coverage SET until = ?3, checksum = checksum + ?3
  WHERE assignment_n = +?1 AND ip_address = +?2
    AND until IS NULL`;
const STEP_ROWS = 5_000;
/** Ordered by primary key, after a given key. */
const ENDED_UP_TO = `SELECT assignment_n, ip_address, since, until FROM credential_coverage
  WHERE (assignment_n, ip_address, since) > (?2, ?3, ?4) AND +until <= ?1
  ORDER BY assignment_n, ip_address, since LIMIT ${STEP_ROWS}`;
const DROP = "DELETE FROM credential_coverage WHERE assignment_n = +?1 AND ip_address = +?2 AND since = +?3";

/**
 * Starts sending the secret of an assignment to addresses of its host at the end of this transaction. Call only when an
 * Admin decides, or for addresses reported by the device itself.
 * @param assignmentId of a host
 * @param values the address values to cover; null for all addresses of the assignment. Values that are then not an
 * address of the host, or that an assignment with an address list does not include, are skipped
 */
export function cover(
  tx: WriteTransaction,
  assignmentId: string,
  values: readonly string[] | null,
  origin: CoverageOrigin,
): void {
  if (values?.length === 0) return;
  tx.runAfterWrite(() => {
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
        // Coverage that ended and restarts in the same transaction continues.
        .onConflictDoUpdate({
          target: [credentialCoverage.assignment_n, credentialCoverage.ip_address, credentialCoverage.since],
          set: { until: null, origin: sql`excluded.origin`, checksum: sql`excluded.checksum` },
        })
        .run();
    }
  });
}

/**
 * Applies an Admin's write of an assignment to its coverage. Resending an existing assignment confirms nothing.
 * @param before null for a new assignment
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
  if (ids !== null && before !== null) endOutside(tx, after.id, ids);
}

/** Whether an assignment includes an address of its host, covered or not. */
export function includesAddress(assignment: CredentialAssignmentRecord, addressId: string): boolean {
  return assignment.host_id !== null && assignment.ip_address_ids?.includes(addressId) !== false;
}

/** Whether an assignment covers an address value as of the beginning of this transaction. */
export function isCovered(tx: WriteTransaction, assignmentId: string, value: string): boolean {
  const n = tx.recordN(assignmentId);
  return n !== null && tx.db.$client.query(IS_COVERED).get(n, value) !== null;
}

/**
 * Coverage of an assignment as of a transaction, for an Admin who restores that state.
 * @returns address values
 */
export function coveredAt(tx: WriteTransaction, assignmentId: string, sequence: number): Set<string> {
  const n = tx.recordN(assignmentId);
  return new Set(
    n === null ? [] : (tx.db.$client.query(WAS_COVERED).values(n, sequence) as Array<[string]>).map(([value]) => value),
  );
}

/** Covered address value of an assignment, by its present id. */
export interface Covered {
  readonly assignmentId: string;
  readonly value: string;
}

/** Coverage that an Admin started in a transaction and that is still in force. */
export function coverageStartedIn(tx: WriteTransaction, sequence: number): Covered[] {
  return pairs(tx, tx.db.$client.query(STARTED_IN).values(sequence) as Array<[number, string]>);
}

/** Coverage ended by a transaction. */
export function coverageEndedIn(tx: WriteTransaction, sequence: number): Covered[] {
  return pairs(tx, tx.db.$client.query(ENDED_IN).values(sequence) as Array<[number, string]>);
}

/** Past coverage of an assignment: [since, until), in sequences. */
export interface ExpiredCoverage {
  readonly assignmentN: number;
  readonly value: string;
  readonly since: number;
  readonly until: number;
}

/** Coverage ended up to a transaction, read in steps; yielded rows may be dropped between steps. */
export function* coverageExpiredBy(db: Pick<Sql, "$client">, sequence: number): Generator<ExpiredCoverage> {
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

/** Drops ended coverage permanently, within the caller's transaction. */
export function dropCoverage(db: Sql, { assignmentN, value, since }: ExpiredCoverage): void {
  db.$client.query(DROP).run(assignmentN, value, since);
}

/** Stops sending the secret to an address at the end of this transaction. */
export function endCoverage(tx: WriteTransaction, { assignmentId, value }: Covered): void {
  tx.runAfterWrite(() => {
    tx.db.$client.query(END).run(tx.recordN(assignmentId) as number, value, tx.sequence);
  });
}

/** Ends coverage outside an assignment's address list. */
function endOutside(tx: WriteTransaction, assignmentId: string, addressIds: readonly string[]): void {
  const listed = new Set(valuesOf(tx, addressIds));
  for (const value of coveredAt(tx, assignmentId, tx.sequence))
    if (!listed.has(value)) endCoverage(tx, { assignmentId, value });
}

function valuesOf(tx: WriteTransaction, addressIds: readonly string[]): string[] {
  return addressIds.flatMap((id) => tx.find(ipAddressKind, id)?.ip_address ?? []);
}

function pairs(tx: WriteTransaction, rows: ReadonlyArray<[number, string]>): Covered[] {
  return rows.map(([n, value]) => ({ assignmentId: tx.recordId(n) as string, value }));
}

/** Assignments of the host that include one of its addresses. */
export function assignmentsFor(
  tx: WriteTransaction,
  address: { readonly id: string; readonly host_id: string },
): CredentialAssignmentRecord[] {
  return tx
    .children(credentialAssignmentKind, "host_n", address.host_id)
    .filter((assignment) => includesAddress(assignment, address.id));
}
