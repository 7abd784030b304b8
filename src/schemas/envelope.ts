// Response envelope for everything under /api (handbook: api, "The envelope"). Composes text: documents arrive
// serialized.

import { version } from "../../package.json" with { type: "json" };
import { formatInstant, type Instant } from "../base/instant.ts";

export const API_VERSION = 1;
export const SERVER_VERSION: string = version;

const META_MEMBERS = `"api_version":${API_VERSION},"server_version":${JSON.stringify(SERVER_VERSION)}`;
/** `meta` without additional members. */
export const META = `{${META_MEMBERS}}`;

/** Resolution of thinned history, and the retained timestamp; `resolvedAt` is null before the first known one. */
interface ThinnedPoint {
  readonly resolution: string;
  readonly resolvedAt: Instant | null;
}

/** Moment of a response, as reported in `meta`. */
export interface ResponseMoment {
  readonly at: Instant | null;
  readonly asOf: { readonly thinned?: ThinnedPoint } | null;
}

/**
 * `meta` of a response as of a moment.
 * @param moment null for a response without one
 * @param extraMembers additional members, as from thinnedUntilMember
 */
export function metaAt(moment: ResponseMoment | null, extraMembers = ""): string {
  return `{${META_MEMBERS}${momentMembers(moment)}${extraMembers}}`;
}

function momentMembers(moment: ResponseMoment | null): string {
  if (moment === null || moment.at === null) return "";
  return `,"at":"${formatInstant(moment.at)}"${resolvedMembers(moment.asOf?.thinned)}`;
}

/**
 * Members for a timestamp in thinned history.
 * @returns members with a leading comma; empty if the history is complete
 */
export function resolvedMembers(thinned: ThinnedPoint | undefined): string {
  if (thinned === undefined) return "";
  return `,"resolution":"${thinned.resolution}","resolved_at":${thinned.resolvedAt === null ? "null" : `"${formatInstant(thinned.resolvedAt)}"`}`;
}

/** Member for an incomplete list of changes: all changes after `until` are included. Empty if none is missing. */
export function thinnedUntilMember(until: Instant | null): string {
  return until === null ? "" : `,"thinned_until":"${formatInstant(until)}"`;
}

/** `meta` with additional members. @param members JSON members */
export function metaWith(members: string): string {
  return `{${META_MEMBERS},${members}}`;
}

export interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
}

/** `meta` of a list; parameters as for metaAt. `has_more` is false without a limit. */
export function listMeta(page: Pagination, moment: ResponseMoment | null, extraMembers = ""): string {
  const hasMore = page.limit > 0 && page.offset + page.limit < page.total;
  return `{${META_MEMBERS}${momentMembers(moment)}${extraMembers},"pagination":{"total_count":${page.total},"limit":${page.limit},"offset":${page.offset},"has_more":${hasMore}}}`;
}

/** Text before the items of a list. */
export const LIST_HEAD = '{"success":true,"data":[';

/** Joins chunks of comma-separated items with commas. */
export function* commaSeparated(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let isFirst = true;
  for (const chunk of chunks) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield chunk;
  }
}

const COMMA = new TextEncoder().encode(",");

/** Text after the items of a list. @param meta JSON */
export function listTail(meta: string): string {
  return `],"meta":${meta}}\n`;
}

/** Like successBody, around bytes. */
export function successParts(data: Uint8Array<ArrayBuffer>, meta: string): Array<string | Uint8Array<ArrayBuffer>> {
  return ['{"success":true,"data":', data, `,"meta":${meta}}\n`];
}

/** A complete response body; `data` is JSON. Every body ends with a newline, for terminals. */
export function successBody(data: string, meta: string = META): string {
  return `{"success":true,"data":${data},"meta":${meta}}\n`;
}

/** Call whose headers a response has. */
interface Responding {
  readonly headers: Readonly<Record<string, string>>;
}

/** Response with a JSON body. */
export function jsonResponse({ headers }: Responding, body: string): Response {
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

/** Like jsonResponse, with parameters as for successBody. */
export function successResponse(call: Responding, data: string, meta: string = META): Response {
  return jsonResponse(call, successBody(data, meta));
}
