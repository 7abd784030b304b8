// How every resource answers: a list, a record, a write. Between the HTTP surface and the store; no rules of any resource.

import type { Actor, CommandActor } from "../access/actor.ts";
import { notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { formatInstant, parseInstant, type Instant } from "../base/instant.ts";
import type { AnyKind, ScopeName } from "../db/kind.ts";
import type { AsOf, ListQuery, OrderTerm } from "../db/list-query.ts";
import type { Compose, Item, Parts, Reader } from "../db/reader.ts";
import type { WriteQueue } from "../db/write-queue.ts";
import { assertMatch, entityTag, isNotModified } from "../http/conditional.ts";
import { LIST_HEAD, META, listMeta, listTail, metaAt, successBody } from "../http/envelope.ts";
import { LIMIT_DEFAULT } from "../http/schemas.ts";
import type { Call, RequestContext } from "../http/surface.ts";

/** What routes need of the appliance. */
export interface Inventory {
  readonly reader: Reader;
  readonly writes: WriteQueue;
  /** The caller as commands and the ledger know it. */
  readonly authorOf: (actor: Actor, requestId: string) => CommandActor;
  readonly log: Log;
}

/** Parts of a record that are kept as records of their own, for this caller. */
export interface ComposeFor {
  (reader: Reader, actor: Actor): Compose;
  /** Whether the answer can change without a new version of the record: with the caller's reach, or with other records. */
  readonly varies?: boolean;
  /** What there may be very many of, so that a long read takes few records at a time. */
  readonly parts?: Parts;
}

type Context = RequestContext & { readonly actor: Actor };

/** Says that answers composed so can change without a new version of the record. */
export function varying(compose: ComposeFor): ComposeFor {
  return Object.assign(compose, { varies: true });
}

/** Records with parts in one piece; more are streamed, so that no page holds up other readers. */
const STREAMED_ABOVE = 20;

interface ListParameters {
  readonly limit?: number;
  readonly offset?: number;
  readonly at?: string;
  readonly ids?: string[];
}

export interface ListOptions {
  readonly kind: AnyKind;
  readonly within?: Partial<Record<ScopeName, string | undefined>>;
  readonly order?: readonly OrderTerm[];
  readonly compose?: ComposeFor;
}

/** A page, or with `limit=0` all of it as a stream. */
export function answerList(inventory: Inventory, call: Context & { readonly query: ListParameters }, options: ListOptions): Response | Promise<Response> {
  const { at, asked } = readAt(call.query.at);
  return readingAt(inventory, at, (asOf) => listAsOf(inventory, call, options, asOf, asked));
}

function listAsOf(inventory: Inventory, call: Context & { readonly query: ListParameters }, options: ListOptions, asOf: AsOf | null, asked: string | null): Response {
  const { reader } = inventory;
  const limit = call.query.limit ?? LIMIT_DEFAULT;
  const offset = call.query.offset ?? 0;
  const compose = options.compose?.(reader, call.actor) ?? null;
  const query: ListQuery = {
    kind: options.kind,
    reach: call.actor,
    asOf,
    limit,
    offset,
    ids: call.query.ids,
    ...(options.within === undefined ? {} : { within: options.within }),
    ...(options.order === undefined ? {} : { order: options.order }),
  };
  const headers = { ...call.headers, "content-type": "application/json" };
  // A page of whole hosts may be large as well: each may have ten thousand children of each kind.
  if (limit === 0 || (options.compose?.parts !== undefined && limit > STREAMED_ABOVE)) {
    // The present is held still at one sequence: the stream may take minutes, and writers go on.
    const still = { ...query, asOf: query.asOf ?? reader.present() };
    const total = reader.total(still);
    return new Response(stream(reader.chunks(still, compose, options.compose?.parts), listTail(listMeta({ limit, offset, total }, asked)), (error) => inventory.log.error("stream_failed", { cause: String(error), request_id: call.requestId })), { headers });
  }
  const frame = (total: number) => ({ head: LIST_HEAD, tail: listTail(listMeta({ limit, offset, total }, asked)) });
  return new Response(compose === null ? reader.framedPage(query, frame) : reader.composedPage(query, compose, frame), { headers });
}

/** One record, with its version as entity tag. `within` names containers outside of which the caller sees none. */
export function answerRecord(
  inventory: Inventory,
  call: Context & { readonly params: { id: string }; readonly query: { readonly at?: string } },
  kind: AnyKind,
  compose?: ComposeFor,
  within: ListOptions["within"] = {},
): Response | Promise<Response> {
  const { reader } = inventory;
  const { at, asked } = readAt(call.query.at);
  return readingAt(inventory, at, (asOf) => {
    const found = reader.find(kind, call.params.id, call.actor, asOf, within);
    if (found === null) throw notFound(kind.name, call.params.id, asked);
    const text = composed(found, asOf, compose?.(reader, call.actor));
    const tag = entityTag(found.sequence, { ended: found.ended, view: compose?.varies === true ? text : null });
    const headers = { ...call.headers, etag: tag };
    if (isNotModified(call.request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
    return new Response(successBody(text, metaAt(asked)), { headers: { ...headers, "content-type": "application/json" } });
  });
}

/** What a write command answers with. */
export interface Written {
  readonly id: string;
}

/** Runs a command that creates or updates a record, and answers the record as it was written. */
export async function answerWrite(inventory: Inventory, call: Context, command: string, input: object, kind: AnyKind, compose?: ComposeFor): Promise<Response> {
  const { sequence, result } = await runWrite<Written>(inventory, call, command, input);
  return writtenRecord(inventory, call, kind, result.id, sequence, compose);
}

/** Runs a command with the caller as its actor and If-Match at hand. */
export function runWrite<T>(inventory: Inventory, call: Context, command: string, input: object): Promise<{ sequence: number | null; result: T }> {
  const ifMatch = call.request.headers.get("if-match");
  return inventory.writes.run<T>(command, { ...input, ifMatch }, inventory.authorOf(call.actor, call.requestId));
}

/**
 * Answers a record as a write left it, with its entity tag.
 * @param sequence the write's transaction; null where nothing changed: the record as it stands
 * @throws DomainError entity_not_found for a record that the caller no longer reaches
 */
export function writtenRecord(inventory: Inventory, call: Context, kind: AnyKind, id: string, sequence: number | null, compose?: ComposeFor): Response {
  const { reader } = inventory;
  return reader.snapshot(() => {
    // Nothing changed: the record as it stands. Else exactly what this write made of it, whatever came after.
    // Observation values are those of now in either case.
    const asOf = sequence === null ? null : { ...reader.atSequence(sequence), present: true };
    const found = reader.find(kind, id, call.actor, asOf);
    if (found === null) throw notFound(kind.name, id);
    const text = composed(found, asOf, compose?.(reader, call.actor));
    const tag = entityTag(found.sequence, { ended: false, view: compose?.varies === true ? text : null });
    return new Response(successBody(text), { headers: { ...call.headers, etag: tag, "content-type": "application/json" } });
  });
}

/** Runs a command that removes a record, and answers the record as it was closed. */
export async function answerRemoval(
  inventory: Inventory,
  call: Context & { readonly params: { id: string } },
  command: string,
  input: object,
  kind: AnyKind,
  compose?: ComposeFor,
): Promise<Response> {
  const { sequence } = await runWrite<unknown>(inventory, call, command, { ...input, id: call.params.id });
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const { reader } = inventory;
  return reader.snapshot(() => {
    const asOf = reader.atSequence(sequence - 1);
    const found = reader.find(kind, call.params.id, call.actor, asOf);
    if (found === null) throw notFound(kind.name, call.params.id);
    const text = composed(found, asOf, compose?.(reader, call.actor));
    return new Response(successBody(text), { headers: { ...call.headers, "content-type": "application/json" } });
  });
}

/** Runs a command that removes many records, and answers them as they were closed, in page order. */
export async function answerBulkRemoval(
  inventory: Inventory,
  call: Context & { readonly body: readonly string[] },
  command: string,
  input: object,
  kind: AnyKind,
  compose?: ComposeFor,
): Promise<Response> {
  const { sequence } = await runWrite<unknown>(inventory, call, command, { ...input, ids: call.body });
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const asOf = inventory.reader.atSequence(sequence - 1);
  const query: ListQuery = { kind, reach: call.actor, asOf, ids: call.body, limit: 0, offset: 0 };
  const chunks = inventory.reader.chunks(query, compose?.(inventory.reader, call.actor) ?? null, compose?.parts);
  return new Response(stream(chunks, listTail(META), (error) => inventory.log.error("stream_failed", { cause: String(error), request_id: call.requestId })), {
    headers: { ...call.headers, "content-type": "application/json" },
  });
}

/** If-Match against the version that a command found. */
export function assertVersion(ifMatch: string | null | undefined, sequence: number): void {
  assertMatch(ifMatch ?? null, sequence);
}

/** Fields composed into a JSON object that is rendered already. */
export function spliced(item: string, members: string): string {
  return members === "" ? item : `${item.slice(0, -1)},${members}}`;
}

function composed(found: Item, asOf: AsOf | null, compose: Compose | undefined): string {
  return compose === undefined ? found.text : (compose([found], asOf)[0] as string);
}

/**
 * Reads as of what `at` means, on one state of the database: the present where it has not passed, else the past, and that only when
 * nothing can be written there any more.
 */
function readingAt(inventory: Inventory, at: Instant | null, read: (asOf: AsOf | null) => Response): Response | Promise<Response> {
  const { reader, writes } = inventory;
  return reader.snapshot(() => {
    const asOf = reader.resolve(at);
    if (at === null || asOf === null) return read(null);
    const settled = writes.settlePast(at);
    return settled === null ? read(asOf) : settled.then(() => reader.snapshot(() => read(reader.resolve(at))));
  });
}

interface ReadAt {
  readonly at: Instant | null;
  /** As it is echoed. */
  readonly asked: string | null;
}

function readAt(at: string | undefined): ReadAt {
  if (at === undefined) return { at: null, asked: null };
  const instant = parseInstant(at) as Instant;
  return { at: instant, asked: formatInstant(instant) };
}

/** The list's bytes, a chunk whenever the client has taken the last one: memory stays bounded however slow it reads. */
function stream(chunks: Generator<Uint8Array>, tail: string, failed: (error: unknown) => void): ReadableStream<Uint8Array> {
  let first = true;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        controller.enqueue(encoder.encode(LIST_HEAD));
      },
      pull: (controller) => {
        let next: IteratorResult<Uint8Array>;
        try {
          next = chunks.next();
        } catch (error) {
          failed(error);
          // The status is out already: a connection that breaks off is the only way to say that this is not all.
          controller.error(error);
          return;
        }
        if (next.done === true) {
          controller.enqueue(encoder.encode(tail));
          controller.close();
          return;
        }
        if (!first) controller.enqueue(COMMA);
        first = false;
        controller.enqueue(next.value);
      },
      cancel: () => {
        chunks.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}

const encoder = new TextEncoder();
const COMMA = encoder.encode(",");

/** The handler's view of a call, for resources that name the type. */
export type ResourceCall<P, Q, B> = Call<Actor, P, Q, B>;
