// How every resource answers: a list, a record, a write. Between the HTTP surface and the store; no rules of any resource.

import type { Access, Actor, CommandActor } from "../access/actor.ts";
import type { AskedBy } from "../access/gate.ts";
import { DomainError, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { formatInstant, parseInstantOrAge, type Instant } from "../base/instant.ts";
import type { KeptOfResult } from "../db/kept-outcomes.ts";
import type { AnyKind, ScopeName } from "../db/kind.ts";
import type { AsOf, Filter, ListQuery, OrderTerm } from "../db/list-query.ts";
import type { LongReads } from "../db/long-reads.ts";
import type { Compose, FoundItem, Parts, Reader } from "../db/reader.ts";
import type { Thinned } from "../db/thinned-past.ts";
import { readTroubleOf } from "../db/trouble.ts";
import type { WriteQueue, WriteTerms } from "../db/write-queue.ts";
import { assertMatch, assertMayExist, entityTag, isNotModified, type RecordVersion } from "../http/conditional.ts";
import {
  commaSeparated,
  LIST_HEAD,
  META,
  listMeta,
  listTail,
  metaAt,
  resolvedMembers,
  successBody,
  successParts,
} from "../http/envelope.ts";
import { LIMIT_DEFAULT } from "../http/schemas.ts";
import { byteStream } from "../http/byte-stream.ts";
import { CSV_TYPE, csvHead, csvRows, type CsvColumn } from "../http/csv.ts";
import { ANSWER_SHAPE } from "./kinds.ts";
import type { LargeRecordInput } from "./large-record.ts";
import type { Call, RequestContext } from "../http/request.ts";
import type { Operation } from "../http/surface.ts";
import { exampleName, withNames } from "./name-columns.ts";

/** What routes need of the appliance. */
export interface Inventory {
  readonly reader: Reader;
  readonly writes: WriteQueue;
  readonly longReads: LongReads;
  /** The caller as commands and the ledger know it. */
  readonly authorOf: (call: AskedBy) => CommandActor;
  readonly log: Log;
}

/** Parts of a record that are kept as records of their own, for this caller. */
export interface ComposeFor {
  (reader: Reader, actor: Actor): Compose;
  /** Whether the answer can change without a new version of the record: with the caller's reach, or with other records. */
  readonly varies?: boolean;
  /** Fields that show no more than what lies within the caller's reach. */
  readonly reachFields?: readonly string[];
  /** What there may be very many of, so that a long read takes few records at a time. */
  readonly parts?: Parts;
}

type Context = RequestContext & Pick<AskedBy, "actor" | "access"> & { readonly bodyBytes: number };

/** Says that answers composed so can change without a new version of the record. */
export function varying(compose: ComposeFor): ComposeFor {
  return Object.assign(compose, { varies: true });
}

/** Records with parts that are put together at once; more are beside this thread, as few with very many parts are. */
const COMPOSED_AT_ONCE = 20;
/** Other records that are read at once without a look at what SQLite would put into them. */
const PLAIN_AT_ONCE = 100;
/** Records that are gone through at once; more are gone through beside the thread that answers. */
const LONG_ABOVE = 1_000;
/** Rows that are passed over at once. */
const LONG_OFFSET = 10_000;

interface ListParameters {
  readonly limit?: number;
  readonly offset?: number;
  readonly at?: string;
  readonly ids?: string[];
}

export interface ListOptions {
  readonly kind: AnyKind;
  readonly filters?: readonly Filter[];
  readonly search?: string | undefined;
  /** Hosts without their children; `compose` is to match. */
  readonly isAlone?: boolean;
  readonly within?: Partial<Record<ScopeName, string | undefined>>;
  readonly order?: readonly OrderTerm[];
  readonly compose?: ComposeFor;
}

/** A page, or with `limit=0` all of it as a stream. */
export function answerList(
  inventory: Inventory,
  call: Context & { readonly query: ListParameters },
  options: ListOptions,
): Response | Promise<Response> {
  const { at, asked } = readAt(call.query.at, inventory.reader.now());
  return readingAt(inventory, at, (asOf) => listAsOf(inventory, call, options, asOf, asked));
}

function listAsOf(
  inventory: Inventory,
  call: Context & { readonly query: ListParameters },
  options: ListOptions,
  asOf: AsOf | null,
  asked: string | null,
): Response | Promise<Response> {
  const { reader } = inventory;
  const limit = call.query.limit ?? LIMIT_DEFAULT;
  const offset = call.query.offset ?? 0;
  const compose = options.compose?.(reader, call.actor) ?? null;
  const query: ListQuery = { ...listQuery(call, options, asOf), limit, offset };
  const headers = { ...call.headers, "content-type": "application/json" };
  const parts = options.compose?.parts;
  const beside = (isPage: boolean) =>
    longList(inventory, call, query, { isAlone: options.isAlone === true, isPage, asked, format: "json" }, headers);
  if (isLong(reader, query)) return beside(limit > 0 && parts === undefined);
  // Each whole host may have ten thousand children of each kind.
  if (
    parts !== undefined &&
    (limit === 0 || limit > COMPOSED_AT_ONCE) &&
    reader.total(query) - offset > COMPOSED_AT_ONCE
  )
    return beside(false);
  if (limit > PLAIN_AT_ONCE && reader.isHeavyPage(query)) return beside(true);
  if (limit === 0 && parts === undefined) {
    // The present is held still at one sequence: the stream may take minutes, and writers go on.
    const still = { ...query, asOf: query.asOf ?? reader.present() };
    const total = reader.total(still);
    return new Response(
      byteStream(
        LIST_HEAD,
        commaSeparated(reader.chunks(still, compose)),
        listTail(listMeta({ limit, offset, total }, asked, resolvedMembers(asOf?.thinned))),
        failed(inventory, call),
      ),
      { headers },
    );
  }
  const frame = (total: number) => ({
    head: LIST_HEAD,
    tail: listTail(listMeta({ limit, offset, total }, asked, resolvedMembers(asOf?.thinned))),
  });
  const page = compose === null ? reader.framedPage(query, frame) : reader.composedPage(query, compose, parts, frame);
  return page === null ? beside(false) : new Response(page, { headers });
}

function listQuery(
  call: Context & { readonly query: { readonly ids?: string[] } },
  options: ListOptions,
  asOf: AsOf | null,
): Omit<ListQuery, "limit" | "offset"> {
  return {
    kind: options.kind,
    reach: call.actor,
    asOf,
    ids: call.query.ids,
    search: options.search,
    ...(options.filters === undefined ? {} : { filters: options.filters }),
    ...(options.within === undefined ? {} : { within: options.within }),
    ...(options.order === undefined ? {} : { order: options.order }),
  };
}

/** What a CSV export answers, for its operation. */
export function csvAnswer(
  plural: string,
  columns: readonly CsvColumn[],
  example: object,
): Pick<Operation<Access>, "answer" | "media" | "example"> {
  const named = withNames(columns, exampleName);
  const rows = csvHead(named) + csvRows(named, [example as Record<string, unknown>]);
  return {
    answer: null,
    media: [
      {
        type: "text/csv",
        description: `RFC 4180 with a header row: the ${plural} as a table. Beside ids stands what they were called then, nothing for what the caller does not reach. Lists are joined by semicolons; an apostrophe stands before what a spreadsheet would run. As of an instant in thinned history, the headers \`X-Resolution\` and \`X-Resolved-At\` say what \`meta\` says elsewhere.`,
        example: rows,
      },
    ],
    example: { data: null },
  };
}

/** All that a list would answer over all of its pages, as a table. */
export function answerCsv(
  inventory: Inventory,
  call: Context & { readonly query: { readonly at?: string; readonly ids?: string[] } },
  options: ListOptions,
): Response | Promise<Response> {
  const { at, asked } = readAt(call.query.at, inventory.reader.now());
  return readingAt(inventory, at, (asOf) => {
    const name = `${options.kind.plural.replaceAll("_", "-")}${asked === null ? "" : `-${asked.replaceAll(":", "-")}`}.csv`;
    const headers = {
      ...call.headers,
      "content-type": CSV_TYPE,
      "content-disposition": `attachment; filename="${name}"`,
      ...resolvedHeaders(asOf?.thinned),
    };
    return longList(
      inventory,
      call,
      { ...listQuery(call, options, asOf), limit: 0, offset: 0 },
      { isAlone: options.isAlone === true, isPage: false, asked, format: "csv" },
      headers,
    );
  });
}

/** Whether a list takes more than its page: an order, a filter or a search that goes through many, or a page far behind. */
function isLong(reader: Reader, query: ListQuery): boolean {
  const { order, filters, search, ...plain } = query;
  // What a word or a tag finds is found in the whole store, however little of it the list is of.
  if (search !== undefined || filters?.some((filter) => "namesAny" in filter)) return reader.head().lastN > LONG_ABOVE;
  const isPlain = (order ?? []).length === 0 && (filters ?? []).length === 0;
  if (isPlain && query.offset <= LONG_OFFSET) return false;
  return reader.total(plain) > LONG_ABOVE;
}

/** The list beside this thread, at the sequence that this request is about. */
async function longList(
  inventory: Inventory,
  call: Context,
  query: ListQuery,
  more: { isAlone: boolean; isPage: boolean; asked: string | null; isRemoval?: true; format: "json" | "csv" },
  headers: Record<string, string>,
): Promise<Response> {
  const { kind, reach: _actor, asOf, ...rest } = query;
  const input = {
    ...rest,
    ...more,
    kind: kind.name,
    asOf: asOf ?? inventory.reader.present(),
    actor: plainActor(call.actor),
  };
  // What was written is answered, however much else its caller asks for.
  const chunks = await inventory.longReads.start("list", input, { isAdmitted: more.isRemoval === true });
  // A page has a length, as where it is answered at once; a page of whole hosts may be large.
  if (more.isPage)
    return new Response(new Blob(await Array.fromAsync(chunks, (chunk) => chunk as Uint8Array<ArrayBuffer>)), {
      headers,
    });
  return new Response(byteStream("", chunks, "", failed(inventory, call)), { headers });
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
  const { at, asked } = readAt(call.query.at, inventory.reader.now());
  return readingAt(inventory, at, (asOf) => {
    const found = reader.find(kind, call.params.id, call.actor, asOf, within);
    if (found === null) throw notFoundThen(kind.name, call.params.id, asked, asOf?.thinned);
    return shown(inventory, call, { kind, found, asOf, compose }, metaAt(asked, resolvedMembers(asOf?.thinned)));
  });
}

/** The caller as it crosses to another thread. */
export function plainActor({ type, n, userN, role, organizationN, networkNs }: Actor): Actor {
  return { type, n, userN, role, organizationN, networkNs };
}

/** What a write command answers with. */
export interface Written {
  readonly id: string;
}

/** Runs a command that creates or updates a record, and answers the record as it was written. */
export async function answerWrite(
  inventory: Inventory,
  call: Context,
  command: string,
  input: object,
  kind: AnyKind,
  compose?: ComposeFor,
): Promise<Response> {
  const { seen, result } = await runWrite<Written>(inventory, call, command, input, "Id");
  return writtenRecord(inventory, call, kind, result.id, seen, compose);
}

/**
 * What the writer needs to know of this request besides what it does: how much it is, and how a repetition of it is known.
 * @param keeps what of the result a repetition is answered with
 */
export function termsOf({ actor, bodyBytes, idempotency }: Context, keeps: KeptOfResult = "All"): WriteTerms {
  return {
    bytes: bodyBytes,
    ...(idempotency === null ? {} : { repeatable: { userN: actor.userN, callerN: actor.n, ...idempotency, keeps } }),
  };
}

/** What a write came to. */
export interface Done<T> {
  /** Its transaction; null where it wrote nothing. */
  readonly sequence: number | null;
  /** The last transaction that it saw or wrote: as of which it is answered, also when it is repeated. Null where that is not known. */
  readonly seen: number | null;
  readonly result: T;
}

/** Runs a command with the caller as its actor and If-Match at hand. */
export async function runWrite<T>(
  inventory: Inventory,
  call: Context,
  command: string,
  input: object,
  keeps?: KeptOfResult,
): Promise<Done<T>> {
  const ifMatch = call.request.headers.get("if-match");
  assertMayExist(call.request);
  const outcome = await inventory.writes.run<T>(
    command,
    { ...input, ifMatch },
    inventory.authorOf(call),
    termsOf(call, keeps),
  );
  if (outcome.isReplayed === true) call.headers["idempotency-replayed"] = "true";
  const { sequence, result, head = null } = outcome;
  return { sequence, result, seen: sequence ?? head };
}

/**
 * Answers a record as a write left it, with its entity tag.
 * @param seen the last transaction that the write saw or wrote; null for the record as it stands
 * @throws DomainError entity_not_found for a record that the caller no longer reaches
 */
export function writtenRecord(
  inventory: Inventory,
  call: Context,
  kind: AnyKind,
  id: string,
  seen: number | null,
  compose?: ComposeFor,
): Response | Promise<Response> {
  const { reader } = inventory;
  return reader.snapshot(() => {
    // Exactly what this write made of it, or found where it changed nothing, whatever came after.
    // Observation values are those of now in either case.
    const asOf = seen === null ? null : { ...reader.atSequence(seen), present: true };
    const found = reader.find(kind, id, call.actor, asOf);
    if (found === null) throw notFound(kind.name, id);
    return shown(inventory, call, { kind, found: { ...found, ended: false }, asOf, compose, isWritten: true }, META);
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
  const { sequence } = await runWrite<unknown>(inventory, call, command, { ...input, id: call.params.id }, "Nothing");
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const { reader } = inventory;
  return reader.snapshot(() => {
    const asOf = reader.atSequence(sequence - 1);
    const found = reader.find(kind, call.params.id, call.actor, asOf);
    if (found === null) throw notFound(kind.name, call.params.id);
    return shown(inventory, call, { kind, found, asOf, compose, isWritten: true }, META, { isTagged: false });
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
  const { sequence } = await runWrite<unknown>(inventory, call, command, { ...input, ids: call.body }, "Nothing");
  if (sequence === null) throw new Error(`${command} removed nothing`);
  const asOf = inventory.reader.atSequence(sequence - 1);
  const query: ListQuery = { kind, reach: call.actor, asOf, ids: call.body, limit: 0, offset: 0 };
  // Each host that went may have had ten thousand children of each kind.
  if (
    compose?.parts !== undefined &&
    inventory.reader.areMany(recordNs(inventory.reader, call.body), compose.parts, asOf)
  ) {
    return longList(
      inventory,
      call,
      query,
      { isAlone: false, isPage: false, asked: null, isRemoval: true, format: "json" },
      { ...call.headers, "content-type": "application/json" },
    );
  }
  const chunks = inventory.reader.chunks(query, compose?.(inventory.reader, call.actor) ?? null, compose?.parts);
  return new Response(byteStream(LIST_HEAD, commaSeparated(chunks), listTail(META), failed(inventory, call)), {
    headers: { ...call.headers, "content-type": "application/json" },
  });
}

function recordNs(reader: Reader, ids: readonly string[]): number[] {
  return ids.flatMap((id) => reader.recordN(id) ?? []);
}

/** If-Match against the version that a command found. */
export function assertVersion(ifMatch: string | null | undefined, version: RecordVersion): void {
  assertMatch(ifMatch ?? null, version);
}

/** Fields composed into a JSON object that is rendered already. */
export function spliced(item: string, members: string): string {
  return members === "" ? item : `${item.slice(0, -1)},${members}}`;
}

/** A record that was found, and what belongs to it. */
interface Found {
  readonly kind: AnyKind;
  readonly found: FoundItem;
  readonly asOf: AsOf | null;
  readonly compose: ComposeFor | undefined;
  /** Whether it is what a write made of it: that is answered, however much else its caller asks for. */
  readonly isWritten?: true;
}

/** A record as an answer: 304 where that is what the caller has; put together beside this thread where it is very large. */
function shown(
  inventory: Inventory,
  call: Context,
  record: Found,
  meta: string,
  { isTagged = true } = {},
): Response | Promise<Response> {
  const { reader } = inventory;
  const { found, asOf, compose } = record;
  const answer = (tag: string, body: () => string | Blob) => {
    const headers = { ...call.headers, ...(isTagged ? { etag: tag } : {}) };
    // What was written is told, whatever its caller has of it.
    if (isTagged && record.isWritten !== true && isNotModified(call.request.headers.get("if-none-match"), tag))
      return new Response(null, { status: 304, headers });
    return new Response(body(), { headers: { ...headers, "content-type": "application/json" } });
  };
  if (compose?.parts !== undefined && reader.areMany([found.n], compose.parts, asOf))
    return largeRecord(inventory, call, record).then(({ tag, text }) =>
      answer(tag, () => new Blob(successParts(text, meta))),
    );
  const text = compose === undefined ? found.text : (compose(reader, call.actor)([found], asOf)[0] as string);
  return answer(
    entityTag(found, { shape: ANSWER_SHAPE, ended: found.ended, view: compose?.varies === true ? text : null }),
    () => successBody(text, meta),
  );
}

async function largeRecord(
  inventory: Inventory,
  call: Context,
  { kind, found, asOf, isWritten }: Found,
): Promise<{ tag: string; text: Uint8Array<ArrayBuffer> }> {
  const { n, sequence, mark, ended } = found;
  const input: LargeRecordInput = {
    kind: kind.name,
    n,
    version: { sequence, mark },
    ended,
    actor: plainActor(call.actor),
    asOf: asOf ?? inventory.reader.present(),
  };
  const [tag, text] = await Array.fromAsync(
    await inventory.longReads.start("record", input, { isAdmitted: isWritten === true }),
  );
  return { tag: new TextDecoder().decode(tag), text: text as Uint8Array<ArrayBuffer> };
}

/**
 * Reads as of what `at` means, on one state of the database: the present where it has not passed, else the past, and that only when
 * nothing can be written there any more.
 */
export function readingAt(
  inventory: Pick<Inventory, "reader" | "writes">,
  at: Instant | null,
  read: (asOf: AsOf | null) => Response | Promise<Response>,
): Response | Promise<Response> {
  const { reader, writes } = inventory;
  return reader.snapshot(() => {
    const asOf = reader.resolve(at);
    if (at === null || asOf === null) return read(null);
    const settled = writes.settlePast(at, reader.head().sequence);
    return settled === null ? read(asOf) : settled.then(() => reader.snapshot(() => read(reader.resolve(at))));
  });
}

/** What a query's `at` asks for. */
export interface ReadAt {
  readonly at: Instant | null;
  /** As it is echoed: an age as the instant that it comes to. */
  readonly asked: string | null;
}

/** @param now what an age reaches back from */
export function readAt(at: string | undefined, now: Instant): ReadAt {
  if (at === undefined) return { at: null, asked: null };
  const instant = parseInstantOrAge(at, now) as Instant;
  return { at: instant, asked: formatInstant(instant) };
}

/** What `meta` says of thinned history, for an answer that has none. */
export function resolvedHeaders(thinned: Thinned | undefined): Record<string, string> {
  if (thinned === undefined) return {};
  return {
    "x-resolution": thinned.resolution,
    ...(thinned.resolvedAt === null ? {} : { "x-resolved-at": formatInstant(thinned.resolvedAt) }),
  };
}

/** 404 as of an instant. Where history was thinned, nobody knows whether it was there. */
export function notFoundThen(
  entity: string,
  id: string,
  asked: string | null,
  thinned: Thinned | undefined,
): DomainError {
  const error = notFound(entity, id, asked);
  if (thinned === undefined) return error;
  const resolvedAt = thinned.resolvedAt === null ? null : formatInstant(thinned.resolvedAt);
  const kept = resolvedAt === null ? "nothing is known of so long ago" : `this is the state of ${resolvedAt}`;
  return new DomainError(error.code, `${error.message} History was thinned there: ${kept}.`, {
    ...error.params,
    resolution: thinned.resolution,
    resolved_at: resolvedAt,
  });
}

/** Reports that a stream broke off. */
export function failed(inventory: Pick<Inventory, "log">, call: RequestContext): (error: unknown) => void {
  return (error) => {
    // What another thread came to grief over stands behind what it is told to be.
    const told = readTroubleOf(error) ?? error;
    const cause = told instanceof Error ? (told.cause ?? told.stack) : told;
    inventory.log.error("stream_failed", { cause: String(cause), request_id: call.requestId });
  };
}

/** The handler's view of a call, for resources that name the type. */
export type ResourceCall<P, Q, B> = Call<Actor, P, Q, B, Access>;
