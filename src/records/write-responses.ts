// Write responses, shared by all resources: run the caller's command and respond with the record as written or removed.

import { notFound } from "../base/errors.ts";
import type { Written } from "../db/kind.ts";
import type { ListQuery } from "../db/reading/list-query.ts";
import type { BulkRemoval, Calls, Removal, Removing } from "../db/writing/command.ts";
import type { StoredPart } from "../db/writing/kept-outcomes.ts";
import type { CommandOutcome } from "../db/writing/transaction.ts";
import type { WriteTerms } from "../db/writing/write-queue.ts";
import { byteStream } from "../http/byte-stream.ts";
import type { RequestContext } from "../http/request.ts";
import type { View } from "../resources/resource.ts";
import { commaSeparated, LIST_HEAD, listTail, META } from "../schemas/envelope.ts";
import type { ActorCall, Backend } from "./backend.ts";
import { logBrokenStream } from "./broken-stream.ts";
import { longList } from "./list-responses.ts";
import { respondWithFound } from "./record-responses.ts";

/** Runs a command that creates or updates a record, and responds with the written record. */
export async function respondWithWrite<N extends string, C extends Calls & Record<N, { readonly result: Written }>>(
  backend: Backend<C>,
  call: ActorCall,
  command: N,
  input: C[N]["input"],
  view: View,
): Promise<Response> {
  const { seenSequence, result } = await runWrite(backend, call, command, input, "Id");
  return writtenRecord(backend, call, view, result.id, seenSequence);
}

/**
 * Metadata of a write for the writer: its size, and its idempotency key.
 * @param keeps part of the result to store for repeats
 */
export function termsOf({ actor, bodyBytes, idempotency }: ActorCall, keeps: StoredPart = "All"): WriteTerms {
  return {
    bytes: bodyBytes,
    ...(idempotency === null
      ? {}
      : { repeatable: { userN: actor.userN, callerN: actor.n, ...idempotency, storedPart: keeps } }),
  };
}

/** Outcome of a write. */
export interface WriteResult<T> {
  /** Its transaction; null if it wrote nothing. */
  readonly sequence: number | null;
  /** The last transaction that it saw or wrote; the response is as of it, even for a repeat. Null if unknown. */
  readonly seenSequence: number | null;
  readonly result: T;
}

/** Runs a command with the caller as actor, and with If-Match. */
export async function runWrite<C extends Calls, N extends keyof C & string>(
  backend: Backend<C>,
  call: ActorCall,
  command: N,
  input: C[N]["input"],
  keeps?: StoredPart,
): Promise<WriteResult<C[N]["result"]>> {
  const ifMatch = call.request.headers.get("if-match");
  const outcome = await backend.writes.run(
    command,
    { ...input, ifMatch },
    backend.authorOf(call),
    termsOf(call, keeps),
  );
  setOutcomeHeaders(call, outcome);
  const { sequence, result, head = null } = outcome;
  return { sequence, result, seenSequence: sequence ?? head };
}

/** Sets response headers for the transaction of a write, and for a replay. */
export function setOutcomeHeaders(
  { headers, mayTransact }: Pick<RequestContext, "headers" | "mayTransact">,
  { sequence, isReplayed }: Pick<CommandOutcome<unknown>, "sequence" | "isReplayed">,
): void {
  if (isReplayed === true) headers["idempotency-replayed"] = "true";
  if (mayTransact && sequence !== null) headers["x-transaction-sequence"] = String(sequence);
}

/**
 * Responds with a record as a write left it, with its entity tag.
 * @param seenSequence the last transaction that the write saw or wrote; null for the current record
 * @throws DomainError entity_not_found for a record that the caller no longer reaches
 */
export function writtenRecord(
  backend: Backend,
  call: ActorCall,
  { kind, compose }: View,
  id: string,
  seenSequence: number | null,
): Response | Promise<Response> {
  const { reader } = backend;
  return reader.snapshot(() => {
    const live = reader.find(kind, id, call.actor, null);
    // A version fixes the response, unless that varies by caller: while it is the newest, the live tables have it.
    const isNewest = live !== null && compose?.variesByCaller !== true && live.sequence <= (seenSequence ?? Infinity);
    // Exactly the state that this write left, or found if it changed nothing, regardless of later changes. Observation
    // values are always current.
    const asOf = seenSequence === null || isNewest ? null : { ...reader.atSequence(seenSequence), present: true };
    const found = asOf === null ? live : reader.find(kind, id, call.actor, asOf);
    if (found === null) throw notFound(kind, id);
    return respondWithFound(
      backend,
      call,
      { kind, found: { ...found, ended: false }, asOf, compose, isWritten: true },
      META,
    );
  });
}

type RemovalQuery = Pick<Removal, "cascade" | "ignore">;

/** Runs a command that removes a record, and responds with its last state. */
export async function respondWithRemoval<N extends string>(
  backend: Backend<Record<N, Removing<Removal>>>,
  call: ActorCall & { readonly params: { id: string }; readonly query: RemovalQuery },
  command: N,
  { kind, compose }: View,
): Promise<Response> {
  const { id } = call.params;
  const { sequence } = await runWrite(backend, call, command, { id, ...call.query }, "Nothing");
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const { reader } = backend;
  return reader.snapshot(() => {
    const asOf = reader.atSequence(sequence - 1);
    const found = reader.find(kind, id, call.actor, asOf);
    if (found === null) throw notFound(kind, id);
    return respondWithFound(backend, call, { kind, found, asOf, compose, isWritten: true }, META, { isTagged: false });
  });
}

/** Runs a command that removes many records, and responds with their last states, in page order. */
export async function respondWithBulkRemoval<N extends string>(
  backend: Backend<Record<N, Removing<BulkRemoval>>>,
  call: ActorCall & { readonly body: readonly string[]; readonly query: RemovalQuery },
  command: N,
  { kind, compose }: View,
): Promise<Response> {
  const input = { ids: call.body, ...call.query };
  const { sequence } = await runWrite(backend, call, command, input, "Nothing");
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const asOf = backend.reader.atSequence(sequence - 1);
  const query: ListQuery = { kind, reach: call.actor, asOf, ids: call.body, limit: 0, offset: 0 };
  const ns = () => call.body.flatMap((id) => backend.reader.recordN(id) ?? []);
  // Each removed host may have had ten thousand children of each kind.
  if (compose?.parts !== undefined && backend.reader.haveTooManyParts(ns(), compose.parts, asOf))
    return longList(
      backend,
      call,
      query,
      { omitsChildren: false, isPage: false, at: null, isRemoval: true, format: "json" },
      { ...call.headers, "content-type": "application/json" },
    );
  const chunks = backend.reader.chunks(query, compose?.(backend.reader, call.actor) ?? null, compose?.parts);
  return new Response(byteStream(LIST_HEAD, commaSeparated(chunks), listTail(META), logBrokenStream(backend, call)), {
    headers: { ...call.headers, "content-type": "application/json" },
  });
}
