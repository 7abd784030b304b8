// Conflict acceptance, with its author, time and reason: record, wire form, and lookup of those in force at a
// timestamp. Withdrawn acceptances stay for earlier timestamps.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type Instant, parseInstant } from "../../base/instant.ts";
import { type Kind, liveColumns, parseMembers, type RecordBase } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { Body, ChangeReason, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";

export const CONFLICT_TYPES = ["Address", "Mac", "Subnet"] as const;
export type ConflictType = (typeof CONFLICT_TYPES)[number];
/**
 * Types counted in a summary. MAC conflicts are excluded: they require reading every forwarding entry, and the summary
 * reports moving MAC addresses separately.
 */
export const SUMMARY_CONFLICT_TYPES = ["Address", "Subnet"] as const satisfies readonly ConflictType[];

export interface AcceptedBy {
  readonly type: string;
  readonly id: string | null;
  readonly name: string;
}

export interface ConflictAcceptanceRecord extends RecordBase {
  readonly organization_id: string;
  /** Networks of the conflict's records. */
  readonly network_ids: readonly string[];
  readonly type: ConflictType;
  readonly value: string;
  readonly fingerprint: string;
  readonly reason: string | null;
  readonly accepted_at: string;
  readonly accepted_by: AcceptedBy;
  /** Null while in force. */
  readonly withdrawn_at: string | null;
  readonly withdrawn_by: AcceptedBy | null;
}

const conflictAcceptances = sqliteTable("conflict_acceptances", {
  ...liveColumns,
  fingerprint: text().notNull(),
  /** UTC milliseconds, like withdrawn_at. */
  accepted_at: integer().notNull(),
  withdrawn_at: integer(),
});

export const conflictAcceptanceKind: Kind<ConflictAcceptanceRecord> = {
  name: "conflict_acceptance",
  plural: "conflict_acceptances",
  code: 22,
  table: conflictAcceptances,
  columns: ({ fingerprint, accepted_at, withdrawn_at }) => ({
    fingerprint,
    accepted_at: parseInstant(accepted_at),
    withdrawn_at: withdrawn_at === null ? null : parseInstant(withdrawn_at),
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

export const ConflictFingerprint = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "Stays the same while the same records make the same claims.",
});
const type = OneOf(CONFLICT_TYPES);
/** The longest value is an IPv6 prefix. */
const value = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The address, MAC address or prefix, as shown in the conflict.",
});

export const AcceptanceCreate = Body({
  type,
  value,
  fingerprint: ConflictFingerprint,
  reason: Type.Optional(Nullable(ChangeReason, { description: "Reason for accepting the conflict." })),
});
export type AcceptanceCreate = Static<typeof AcceptanceCreate>;

export const Acceptance = Type.Object(
  {
    id: Uuid,
    type,
    value,
    fingerprint: ConflictFingerprint,
    network_ids: Type.Array(Uuid, { description: "Networks of the conflict." }),
    reason: Nullable(Type.String()),
    accepted_at: Timestamp,
    accepted_by: Type.Object({ type: Type.String(), id: Nullable(Uuid), name: Type.String() }),
  },
  { $id: "ConflictAcceptance" },
);
export type Acceptance = Static<typeof Acceptance>;

/** Wire form of an acceptance. */
export function acceptanceView(record: ConflictAcceptanceRecord): Acceptance {
  const { id, type, value, fingerprint, network_ids, reason, accepted_at, accepted_by } = record;
  const { type: actorType, id: actorId, name } = accepted_by;
  return {
    id,
    type,
    value,
    fingerprint,
    network_ids: [...network_ids],
    reason,
    accepted_at,
    accepted_by: { type: actorType, id: actorId, name },
  };
}

const IN_FORCE = `SELECT a.fingerprint, a.members
  FROM json_each(+?2) j CROSS JOIN conflict_acceptances a INDEXED BY conflict_acceptances_by_fingerprint
    ON a.organization_n = +?1 AND a.fingerprint = j.value
  WHERE a.accepted_at <= +?3 AND (a.withdrawn_at IS NULL OR a.withdrawn_at > +?3)`;

/**
 * Acceptances in force at a timestamp, by fingerprint. Callers who see all records of a conflict see its acceptance.
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
    .values(organizationN, JSON.stringify(fingerprints), at ?? Number.MAX_SAFE_INTEGER) as Array<[string, string]>;
  return new Map(
    rows.map(([fingerprint, members]) => [
      fingerprint,
      acceptanceView(parseMembers<ConflictAcceptanceRecord>(members)),
    ]),
  );
}
