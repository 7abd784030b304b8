// Computation of GET /api/v1/networks/{id}/expiring: the records that end next if no scan sees them again.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { type Expiring, findExpiring } from "../../discovery/reconcile/expired.ts";
import { EXPIRY_HOURS_MAX } from "../../resources/networks/network.ts";
import { successBody } from "../../schemas/envelope.ts";
import { OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";

/** Maximum records in a response. */
export const EXPIRING_MAX = 20;
/** Last seen records of each kind that are compared: hosts with random MAC addresses expire sooner. */
const EXAMINED_MAX = 2_000;
const HOUR_MS = 3_600_000;

export const ExpiringRecords = Type.Object(
  {
    next: Type.Array(
      Type.Object({
        type: OneOf(["host", "ip_address"]),
        id: Uuid,
        name: Type.String(),
        last_seen_at: Timestamp,
        expires_at: Type.Unsafe<string>({
          ...Timestamp,
          description:
            "When its hours are over. It ends at the end of the next scan then, if two scans have looked for it.",
        }),
      }),
      { description: `Those that expire first, at most ${EXPIRING_MAX}.` },
    ),
  },
  { $id: "ExpiringRecords" },
);

export const EXPIRING_EXAMPLE: Static<typeof ExpiringRecords> = {
  next: [
    {
      type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
      name: "Apple d2:11:22:33:44:55",
      last_seen_at: "2026-11-21T09:15:00.123Z",
      expires_at: "2026-11-24T09:15:00.123Z",
    },
  ],
};

/** Plain data: it crosses to another thread. */
export interface ExpiringInput {
  readonly actor: Actor;
  readonly networkN: number;
  readonly now: Instant;
}

/** Yields the response as an envelope. */
export const expiring = longRead(
  "expiring",
  function* (reader: Reader, { networkN, now }: ExpiringInput) {
    const before = now + EXPIRY_HOURS_MAX * HOUR_MS;
    const found = reader.snapshot(() => [...findExpiring(reader.db, networkN, before, EXAMINED_MAX)]);
    const next = found
      .filter(({ is_kept }) => !is_kept)
      .sort((some, other) => some.due_at - other.due_at)
      .slice(0, EXPIRING_MAX)
      .map(rowOf);
    yield new TextEncoder().encode(successBody(JSON.stringify({ next })));
  },
  { isInLargeSteps: true },
);

function rowOf({ entity, id, label, last_seen_at, due_at }: Expiring): Static<typeof ExpiringRecords>["next"][number] {
  return { type: entity, id, name: label, last_seen_at, expires_at: formatInstant(due_at) };
}
