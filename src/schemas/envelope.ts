// The envelope around every answer under /api (handbook: api, "The envelope"). Composes text: documents arrive
// rendered.

import { version } from "../../package.json" with { type: "json" };
import { formatInstant, type Instant } from "../base/instant.ts";

export const API_VERSION = 1;
export const SERVER_VERSION: string = version;

const META_MEMBERS = `"api_version":${API_VERSION},"server_version":${JSON.stringify(SERVER_VERSION)}`;
/** `meta` where it has nothing of its own to say. */
export const META = `{${META_MEMBERS}}`;

/** What is kept of thinned history, and of which instant; `resolvedAt` is null before the first of which anything is known. */
interface Kept {
  readonly resolution: string;
  readonly resolvedAt: Instant | null;
}

/** What is told of the moment that an answer is as of. */
export interface ToldMoment {
  readonly at: Instant | null;
  readonly asOf: { readonly thinned?: Kept } | null;
}

/**
 * `meta` of an answer as of a moment.
 * @param moment null for an answer that has none
 * @param more members of its own, as from thinnedUntilMember
 */
export function metaAt(moment: ToldMoment | null, more = ""): string {
  return `{${META_MEMBERS}${momentMembers(moment)}${more}}`;
}

function momentMembers(moment: ToldMoment | null): string {
  if (moment === null || moment.at === null) return "";
  return `,"at":"${formatInstant(moment.at)}"${resolvedMembers(moment.asOf?.thinned)}`;
}

/**
 * What is said where the instant asked for lies in thinned history.
 * @returns members that follow others; nothing where all is there
 */
export function resolvedMembers(thinned: Kept | undefined): string {
  if (thinned === undefined) return "";
  return `,"resolution":"${thinned.resolution}","resolved_at":${thinned.resolvedAt === null ? "null" : `"${formatInstant(thinned.resolvedAt)}"`}`;
}

/**
 * What `meta` says of changes some of which are no longer there: all that came after `until` are. Null where none is
 * missing.
 */
export function thinnedUntilMember(until: Instant | null): string {
  return until === null ? "" : `,"thinned_until":"${formatInstant(until)}"`;
}

/** `meta` with members of its own. @param members JSON members */
export function metaWith(members: string): string {
  return `{${META_MEMBERS},${members}}`;
}

export interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
}

/** `meta` of a list; parameters as of metaAt. `has_more` is false where no limit was asked for. */
export function listMeta(page: Pagination, moment: ToldMoment | null, more = ""): string {
  const hasMore = page.limit > 0 && page.offset + page.limit < page.total;
  return `{${META_MEMBERS}${momentMembers(moment)}${more},"pagination":{"total_count":${page.total},"limit":${page.limit},"offset":${page.offset},"has_more":${hasMore}}}`;
}

/** What stands before and after the items of a list. */
export const LIST_HEAD = '{"success":true,"data":[';

/** The items of a list from chunks of items that are comma-separated within. */
export function* commaSeparated(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let isFirst = true;
  for (const chunk of chunks) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield chunk;
  }
}

const COMMA = new TextEncoder().encode(",");

/** What closes a list. @param meta JSON */
export function listTail(meta: string): string {
  return `],"meta":${meta}}\n`;
}

/** As successBody, around bytes. */
export function successParts(data: Uint8Array<ArrayBuffer>, meta: string): Array<string | Uint8Array<ArrayBuffer>> {
  return ['{"success":true,"data":', data, `,"meta":${meta}}\n`];
}

/** A whole answer about one thing; `data` is JSON. Every body ends its line, for people with a terminal. */
export function successBody(data: string, meta: string = META): string {
  return `{"success":true,"data":${data},"meta":${meta}}\n`;
}
