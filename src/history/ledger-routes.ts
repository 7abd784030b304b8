// Routes for /api/v1/transactions and /api/v1/ledger: the list of transactions, and the head hash that covers them all.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../access/actor.ts";
import { type DomainError, notFound } from "../base/errors.ts";
import { defined } from "../base/fields.ts";
import { formatInstant } from "../base/instant.ts";
import { RESOLUTIONS } from "../db/pruned-history.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { requestedInstant, settledAt } from "../records/read-instant.ts";
import { ORDER_DIRECTIONS } from "../resources/ordering.ts";
import { successBody } from "../schemas/envelope.ts";
import {
  ChangeReason,
  LIMIT_DEFAULT,
  Nullable,
  OneOf,
  PageQuery,
  QueryList,
  SequenceParams,
  Timestamp,
} from "../schemas/schemas.ts";
import { ACTOR_TYPES } from "./change-view.ts";
import { HIGHLIGHTS_MAX } from "./highlight-rows.ts";
import { narrowingQuery, resolveNarrowing } from "./narrowing.ts";
import { Period, periodQuery } from "./period.ts";
import { LISTED_TRANSACTION_EXAMPLE, Transaction } from "./transaction-rows.ts";
import { type AuthorFilter, type TransactionsInput, transaction, transactions } from "./transactions.ts";

const Ledger = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 0,
      description: "The last transaction, of all organizations; 0 in an empty ledger.",
    }),
    at: Nullable(Timestamp, { description: "The timestamp of that transaction." }),
    hash: Nullable(
      Type.String({
        description:
          "SHA-256 over its versions' hashes and its predecessor's hash, which covers everything up to here. Keep a copy elsewhere: `netledger verify --head SEQUENCE:HASH` detects later whether the ledger was changed or truncated.",
      }),
    ),
    thinned: Type.Array(
      Type.Object({
        first_sequence: Type.Integer({ minimum: 1 }),
        last_sequence: Type.Integer({
          minimum: 1,
          description: "The last retained transaction of the segment; after it, everything is retained.",
        }),
        until: Timestamp,
        resolution: OneOf(RESOLUTIONS, {
          description: "The retained states: the last of each day or month (UTC), or only the last of the segment.",
        }),
        pruned_by: Type.Integer({ minimum: 1, description: "The transaction of the prune." }),
      }),
      { description: "Thinned segments of history, in order; none by default." },
    ),
  },
  { $id: "Ledger" },
);

const LEDGER_EXAMPLE = {
  sequence: 42,
  at: "2026-11-21T09:15:00.123Z",
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  thinned: [],
};

const IncludeQuery = {
  include: Type.Optional(
    OneOf(["highlights"] as const, {
      description: `Adds \`highlights\`: the ${HIGHLIGHTS_MAX} most significant changes with names and values, and counts of the rest.`,
    }),
  ),
};

const TransactionsQuery = Type.Object({
  ...periodQuery,
  ...narrowingQuery,
  actor_type: Type.Optional(QueryList(OneOf(ACTOR_TYPES), { description: "Only by actors of these types." })),
  actor_id: Type.Optional(Type.String({ format: "uuid", description: "Only by this user or API key." })),
  actor_name: Type.Optional(
    Type.String({ minLength: 1, description: "Only by the actor with this name at that time; case-insensitive." }),
  ),
  reason: Type.Optional(
    Type.String({
      ...ChangeReason,
      description: "Only transactions whose reason contains this text, case-insensitive.",
    }),
  ),
  order_direction: Type.Optional(
    OneOf(ORDER_DIRECTIONS, { default: "desc", description: "`desc`: newest first. `asc`: oldest first." }),
  ),
  ...FilterQuery,
  ...IncludeQuery,
  ...PageQuery,
});

/** Registers /api/v1/transactions and /api/v1/ledger. */
export function ledgerRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  const { reader } = backend;
  surface
    .get(
      "/api/v1/transactions",
      {
        operationId: "listTransactions",
        summary: "List transactions",
        description:
          "A transaction is one write: everything in it became visible at one timestamp. With `at`, those up to that timestamp. Filters can be combined; `changes` counts all changes of a transaction, not only those that match; `highlights` only those. Like the feed, the list leaves out transactions that only wrote API keys.",
        group: "Changes",
        access: VIEWER,
        query: TransactionsQuery,
        responseSchema: Type.Array(Transaction),
        isList: true,
        example: { data: [LISTED_TRANSACTION_EXAMPLE] },
      },
      (call) => {
        const now = reader.now();
        const at = call.query.at === undefined ? null : requestedInstant(reader, call.actor, call.query.at, "/at", now);
        const period = new Period(reader, call, now);
        const { actor_type, actor_id, actor_name, reason, order_direction, include } = call.query;
        const { limit = LIMIT_DEFAULT, offset = 0 } = call.query;
        return settledAt(backend, period.settledBy(at), () => {
          const moment = { at, asOf: reader.resolve(at) };
          const hasActorFilter = (actor_type ?? actor_id ?? actor_name) !== undefined;
          const input: TransactionsInput = {
            actor: plainActor(call.actor),
            ...period.sequences(reader, moment.asOf?.sequence),
            direction: order_direction ?? "desc",
            ...(reason === undefined ? {} : { reason }),
            filter: requestFilter(call, reader, moment),
            narrowing: resolveNarrowing(reader, call.actor, call.query),
            ...(hasActorFilter
              ? { madeBy: defined<AuthorFilter>({ types: actor_type, id: actor_id, name: actor_name }) }
              : {}),
            ...(include === undefined ? {} : { hasHighlights: true as const }),
            limit,
            offset,
            moment,
          };
          return respondWithLongRead(backend, call, transactions, input);
        });
      },
    )
    .get(
      "/api/v1/transactions/:sequence",
      {
        operationId: "getTransaction",
        summary: "Get a transaction",
        description: "The versions of the transaction are in the feed: `/api/v1/changes?after=<sequence − 1>&limit=1`.",
        group: "Changes",
        access: VIEWER,
        params: SequenceParams,
        query: Type.Object(IncludeQuery),
        responseSchema: Transaction,
        isRecord: false,
        example: { parameters: { sequence: 2 }, data: LISTED_TRANSACTION_EXAMPLE },
      },
      async (call) => {
        const { sequence } = call.params;
        if (!isVisible(call.actor, sequence)) throw transactionNotFound(sequence);
        return respondWithLongRead(backend, call, transaction, {
          actor: plainActor(call.actor),
          sequence,
          hasHighlights: call.query.include !== undefined,
        });
      },
    )
    .get(
      "/api/v1/ledger",
      {
        operationId: "getLedger",
        summary: "Get the head of the ledger",
        description:
          "The last transaction and the hash over all transactions. Keep a copy elsewhere: `netledger verify --head SEQUENCE:HASH` checks later whether the ledger is still the same. Also lists the thinned segments of history.",
        group: "Changes",
        access: VIEWER,
        responseSchema: Ledger,
        example: { data: LEDGER_EXAMPLE },
      },
      (call) => {
        const head = reader.head();
        const { thinnedHistory: thinnedPast } = reader;
        const thinned = thinnedPast.segments.map(({ first, last, resolution, prunedBy }) => ({
          first_sequence: first,
          last_sequence: last,
          until: formatInstant(thinnedPast.instantOf(last)),
          resolution,
          pruned_by: prunedBy,
        }));
        const data =
          head.sequence === 0
            ? { sequence: 0, at: null, hash: null, thinned }
            : { sequence: head.sequence, at: formatInstant(head.at), hash: reader.hashOf(head.sequence), thinned };
        return new Response(successBody(JSON.stringify(data)), {
          headers: { ...call.headers, "content-type": "application/json" },
        });
      },
    );

  function isVisible(actor: Actor, sequence: number): boolean {
    return new ChangeLog(reader).activity({ reach: actor }).next(sequence - 1, sequence, 1).sequences.length > 0;
  }
}

/** 404: identical for a missing transaction and one out of reach. */
function transactionNotFound(sequence: number): DomainError {
  return notFound({ name: "transaction" }, String(sequence));
}
