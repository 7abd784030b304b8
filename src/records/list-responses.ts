// List responses for all resources: a page synchronously, an entire list as a stream, expensive lists as long reads.

import { plainActor } from "../access/actor.ts";
import { customFieldKey, customFieldName } from "../base/custom-field-names.ts";
import { entityWords } from "../base/entity-words.ts";
import { type Issue, invalid } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import { nearestName } from "../base/nearest-name.ts";
import type { ScopeName } from "../db/kind.ts";
import type { AsOf, Filter, ListQuery, Moment, OrderTerm } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { byteStream } from "../http/byte-stream.ts";
import type { OrderParameters } from "../resources/ordering.ts";
import type { ResourceBase } from "../resources/resource.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail, thinnedUntilMember } from "../schemas/envelope.ts";
import { LIMIT_DEFAULT } from "../schemas/schemas.ts";
import type { ActorCall, Backend } from "./backend.ts";
import { logBrokenStream } from "./broken-stream.ts";
import { filterableFields } from "./custom-fields-at.ts";
import { listCondition, type RequestFilter, thinnedUntil } from "./list-filter.ts";
import { composedWith, longListRead } from "./long-list.ts";
import { parsedFilter } from "./read-filter.ts";
import { fixedMoment, readingAt } from "./read-instant.ts";

/** Maximum composed records per synchronous response; larger lists, or records with many parts, are long reads. */
const COMPOSED_AT_ONCE = 20;
/** Maximum plain records to read synchronously without first checking how many parts SQLite would render. */
const PLAIN_AT_ONCE = 100;
/** Maximum rows to scan synchronously; larger scans are long reads. */
const LONG_ABOVE = 1_000;
/** Maximum rows to skip synchronously. */
const LONG_OFFSET = 10_000;

interface ListParameters extends OrderParameters<string> {
  readonly limit?: number;
  readonly offset?: number;
  readonly at?: string;
  readonly ids?: string[];
  readonly filter?: string;
}

export interface ListOptions {
  readonly resource: ResourceBase;
  readonly filters?: readonly Filter[];
  readonly search?: string | undefined;
  /** Omits the children of hosts. */
  readonly omitsChildren?: boolean;
  /** Additions to each record, from the resource's `includes`. */
  readonly include?: string;
  readonly within?: Partial<Record<ScopeName, string | undefined>>;
  readonly order?: readonly OrderTerm[];
}

/** A page, or the entire list as a stream for `limit=0`. */
export function respondWithList(
  backend: Backend,
  call: ActorCall & { readonly query: ListParameters },
  options: ListOptions,
): Response | Promise<Response> {
  return readingAt(backend, call, (moment) => listAt(backend, call, options, moment));
}

function listAt(
  backend: Backend,
  call: ActorCall & { readonly query: ListParameters },
  options: ListOptions,
  moment: Moment,
): Response | Promise<Response> {
  const { reader } = backend;
  const { asOf } = moment;
  const limit = call.query.limit ?? LIMIT_DEFAULT;
  const offset = call.query.offset ?? 0;
  const composeFor = composedWith(options.resource, options);
  const compose = composeFor?.(reader, call.actor) ?? null;
  const filter = requestFilter(call, reader, moment);
  const filtered = { kindName: options.resource.kind.name, reach: call.actor, asOf };
  const { condition, after } = listCondition(reader, filtered, filter);
  assertOrder(reader, call, options, asOf);
  const baseQuery: ListQuery = {
    ...listQuery(call, options, asOf),
    condition,
    limit,
    offset,
  };
  const headers = { ...call.headers, "content-type": "application/json" };
  const parts = composeFor?.parts;
  const asLongRead = (isPage: boolean) =>
    longList(
      backend,
      call,
      baseQuery,
      {
        omitsChildren: options.omitsChildren === true,
        include: options.include,
        isPage,
        at: moment.at,
        filter,
        format: "json",
      },
      headers,
    );
  // Counting the additions may be expensive.
  if (options.include !== undefined) return asLongRead(limit > 0);
  const query = reader.filteredAtOnce(baseQuery);
  if (query === null) return asLongRead(limit > 0 && parts === undefined);
  const more = thinnedUntilMember(thinnedUntil(reader, after));
  if (isLong(reader, query)) return asLongRead(limit > 0 && parts === undefined);
  // Each complete host may have ten thousand children of each kind.
  if (
    parts !== undefined &&
    (limit === 0 || limit > COMPOSED_AT_ONCE) &&
    reader.total(query) - offset > COMPOSED_AT_ONCE
  )
    return asLongRead(false);
  if (limit > PLAIN_AT_ONCE && reader.isHeavyPage(query)) return asLongRead(true);
  if (limit === 0 && parts === undefined) {
    // Pins the present to one sequence: the stream may take minutes, and writers continue.
    const pinned = { ...query, asOf: query.asOf ?? reader.present() };
    const total = reader.total(pinned);
    return new Response(
      byteStream(
        LIST_HEAD,
        commaSeparated(reader.chunks(pinned, compose)),
        listTail(listMeta({ limit, offset, total }, moment, more)),
        logBrokenStream(backend, call),
      ),
      { headers },
    );
  }
  const frame = (total: number) => ({
    head: LIST_HEAD,
    tail: listTail(listMeta({ limit, offset, total }, moment, more)),
  });
  const page = compose === null ? reader.framedPage(query, frame) : reader.composedPage(query, compose, parts, frame);
  return page === null ? asLongRead(false) : responseOf(page, headers);
}

/**
 * Response with bytes that have no other use: it copies them, and they are freed at once. The next page then reuses
 * memory that is still in the CPU cache; the collector would free it thousands of pages later.
 */
function responseOf(page: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Response {
  const response = new Response(page, { headers });
  page.buffer.transfer(0);
  return response;
}

/**
 * Checks that custom fields in the sort order exist, at the list's time or now.
 * @throws DomainError validation_failed
 */
export function assertOrder(
  reader: Reader,
  call: ActorCall & { readonly query: OrderParameters<string> },
  { resource: { kind } }: Pick<ListOptions, "resource">,
  asOf: AsOf | null,
): void {
  if (call.query.group_by === undefined && call.query.order_by === undefined) return;
  const fieldsOf = filterableFields(reader, call.actor, asOf);
  const issues = (["group_by", "order_by"] as const).flatMap((name): Issue[] => {
    const value = call.query[name];
    const key = value === undefined ? null : customFieldKey(value);
    if (key === null || fieldsOf(kind.name).has(key)) return [];
    const nearest = nearestName(key, [...fieldsOf(kind.name).keys()]);
    const message = `is not a custom field of ${entityWords(kind)}${nearest === null ? "" : `; did you mean ${customFieldName(nearest)}?`}`;
    return [{ path: `/${name}`, message, value }];
  });
  if (issues.length > 0) throw invalid(issues);
}

/**
 * Parsed filter of a request, with the base time for relative ages.
 * @throws DomainError validation_failed for a syntax error
 */
export function requestFilter(
  call: { readonly query: { readonly filter?: string } },
  reader: Reader,
  moment: Pick<Moment, "at"> | null,
): RequestFilter {
  const now = reader.now();
  // A future timestamp means the present.
  return { ...parsedFilter(call.query.filter ?? ""), base: Math.min(moment?.at ?? now, now) };
}

export function listQuery(
  call: ActorCall & { readonly query: { readonly ids?: string[] } },
  options: ListOptions,
  asOf: AsOf | null,
): Omit<ListQuery, "limit" | "offset"> {
  return {
    kind: options.resource.kind,
    reach: call.actor,
    asOf,
    ids: call.query.ids,
    search: options.search,
    filters: options.filters,
    within: options.within,
    order: options.order,
  };
}

/** Whether a list costs more than its page: a sort, filter or search over many records, or a large offset. */
function isLong(reader: Reader, query: ListQuery): boolean {
  const { order, filters, search } = query;
  // Word and tag searches scan the entire store, regardless of the size of the list.
  if (search !== undefined || filters?.some((filter) => "namesAny" in filter)) return reader.head().lastN > LONG_ABOVE;
  const isPlain = (order ?? []).length === 0 && (filters ?? []).length === 0;
  if (isPlain && query.offset <= LONG_OFFSET) return false;
  return reader.total({ ...query, order: undefined, filters: undefined, search: undefined }) > LONG_ABOVE;
}

/** The list as a long read, at the sequence of this request. */
export async function longList(
  backend: Backend,
  call: ActorCall,
  query: ListQuery,
  more: {
    omitsChildren: boolean;
    include?: string | undefined;
    isPage: boolean;
    at: Instant | null;
    filter?: RequestFilter;
    isRemoval?: true;
    format: "json" | "csv";
  },
  headers: Record<string, string>,
): Promise<Response> {
  // Conditions cannot cross to another thread: pass the parsed filter.
  const { kind, reach: _actor, asOf, condition: _read, ...rest } = query;
  const { at, ...others } = more;
  const input = {
    ...rest,
    ...others,
    kind: kind.name,
    moment: fixedMoment(backend.reader, { at, asOf }),
    actor: plainActor(call.actor),
  };
  // Responses to writes are exempt from the caller's limit.
  const chunks = await backend.longReads.start(longListRead, input, { bypassesLimit: more.isRemoval === true });
  // A page has a Content-Length, as if returned at once; a page of complete hosts may be large.
  if (more.isPage)
    return new Response(new Blob(await Array.fromAsync(chunks, (chunk) => chunk as Uint8Array<ArrayBuffer>)), {
      headers,
    });
  return new Response(byteStream("", chunks, "", logBrokenStream(backend, call)), { headers });
}
