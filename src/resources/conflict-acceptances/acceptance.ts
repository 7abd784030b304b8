// That a conflict was accepted: who, when and why. Its table, how it stands on the wire, and which are in force at an
// instant. None of it has history in the ledger; what was withdrawn stays, for the instants before.

import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { formatInstant, type Instant } from "../../base/instant.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { withChanges, withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { Body, ChangeReason, Nullable, OneOf, Timestamp, Uuid } from "../../wire/schemas.ts";

export const CONFLICT_TYPES = ["Address", "Mac", "Subnet"] as const;
export type ConflictType = (typeof CONFLICT_TYPES)[number];
/**
 * Those that a summary counts: for MAC addresses every forwarding entry has to be read, and those that wander are told
 * of there as well.
 */
export const SUMMARY_CONFLICT_TYPES = ["Address", "Subnet"] as const satisfies readonly ConflictType[];

export interface AcceptedBy {
  readonly type: string;
  readonly id: string | null;
  readonly name: string;
}

const conflictAcceptances = sqliteTable("conflict_acceptances", {
  id: text().primaryKey(),
  organization_n: integer().notNull(),
  network_ids: text({ mode: "json" }).$type<readonly string[]>().notNull(),
  type: text().$type<ConflictType>().notNull(),
  value: text().notNull(),
  fingerprint: text().notNull(),
  reason: text(),
  accepted_at: integer().notNull(),
  accepted_by: text({ mode: "json" }).$type<AcceptedBy>().notNull(),
  withdrawn_at: integer(),
  withdrawn_by: text({ mode: "json" }).$type<AcceptedBy>(),
  checksum: integer().notNull(),
});
export type StoredAcceptance = typeof conflictAcceptances.$inferSelect;

export const ConflictFingerprint = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "The same as long as the same records claim the same thing.",
});
const type = OneOf(CONFLICT_TYPES);
/** The longest is an IPv6 prefix. */
const value = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The address, the MAC address or the prefix, as the conflict has it.",
});

export const AcceptanceCreate = Body({
  type,
  value,
  fingerprint: ConflictFingerprint,
  reason: Type.Optional(Nullable(ChangeReason, { description: "Why it may stay." })),
});
export type AcceptanceCreate = Static<typeof AcceptanceCreate>;

export const Acceptance = Type.Object(
  {
    id: Uuid,
    type,
    value,
    fingerprint: ConflictFingerprint,
    network_ids: Type.Array(Uuid, { description: "The networks in which the conflict is." }),
    reason: Nullable(Type.String()),
    accepted_at: Timestamp,
    accepted_by: Type.Object({ type: Type.String(), id: Nullable(Uuid), name: Type.String() }),
  },
  { $id: "ConflictAcceptance" },
);
export type Acceptance = Static<typeof Acceptance>;

export function shownAcceptance(row: Omit<StoredAcceptance, "checksum">): Acceptance {
  const { id, type, value, fingerprint, network_ids, reason, accepted_at, accepted_by } = row;
  const { type: actorType, id: actorId, name } = accepted_by;
  return {
    id,
    type,
    value,
    fingerprint,
    network_ids: [...network_ids],
    reason,
    accepted_at: formatInstant(accepted_at),
    accepted_by: { type: actorType, id: actorId, name },
  };
}

const IN_FORCE = `SELECT a.id, a.type, a.value, a.fingerprint, a.network_ids, a.reason, a.accepted_at, a.accepted_by
  FROM json_each(+?2) j CROSS JOIN conflict_acceptances a INDEXED BY conflict_acceptances_by_fingerprint
    ON a.organization_n = +?1 AND a.fingerprint = j.value
  WHERE a.accepted_at <= +?3 AND (a.withdrawn_at IS NULL OR a.withdrawn_at > +?3)`;
type Row = [string, ConflictType, string, string, string, string | null, number, string];

/** Keeps one that is new. */
export function addAcceptance(tx: WriteTransaction, row: Omit<StoredAcceptance, "checksum">): void {
  tx.db.insert(conflictAcceptances).values(withChecksum(conflictAcceptances, row)).run();
}

/** One by its id, in force or not; null for none. */
export function findAcceptance(tx: WriteTransaction, id: string): StoredAcceptance | null {
  return tx.db.select().from(conflictAcceptances).where(eq(conflictAcceptances.id, id)).limit(1).all()[0] ?? null;
}

/** Ends one that is in force. */
export function endAcceptance(tx: WriteTransaction, row: StoredAcceptance, withdrawn_by: AcceptedBy): void {
  tx.db
    .update(conflictAcceptances)
    .set(withChanges(conflictAcceptances, row, { withdrawn_at: tx.instant, withdrawn_by }))
    .where(eq(conflictAcceptances.id, row.id))
    .run();
}

/**
 * Those in force at an instant, by their fingerprints: whoever sees all of a conflict's records, sees that it is accepted.
 * @param at null for the present
 */
export function acceptancesAt(
  connection: Pick<ReadConnection, "statement">,
  organizationN: number,
  fingerprints: readonly string[],
  at: Instant | null,
): Map<string, Acceptance> {
  const rows = connection
    .statement(IN_FORCE)
    .values(organizationN, JSON.stringify(fingerprints), at ?? Number.MAX_SAFE_INTEGER) as Row[];
  return new Map(
    rows.map(([id, type, value, fingerprint, networkIds, reason, acceptedAt, acceptedBy]) => [
      fingerprint,
      shownAcceptance({
        id,
        organization_n: organizationN,
        network_ids: JSON.parse(networkIds),
        type,
        value,
        fingerprint,
        reason,
        accepted_at: acceptedAt,
        accepted_by: JSON.parse(acceptedBy),
        withdrawn_at: null,
        withdrawn_by: null,
      }),
    ]),
  );
}
