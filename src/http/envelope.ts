// The envelope around every answer under /api (specification 2.1). Composes text: documents arrive rendered.

import { version } from "../../package.json" with { type: "json" };

export const API_VERSION = 1;
export const SERVER_VERSION: string = version;

const META_MEMBERS = `"api_version":${API_VERSION},"server_version":${JSON.stringify(SERVER_VERSION)}`;
/** `meta` where it has nothing of its own to say. */
export const META = `{${META_MEMBERS}}`;

/** `meta` with `at` where the answer is as of an instant. */
export function metaAt(at: string | null): string {
  return at === null ? META : `{${META_MEMBERS},"at":"${at}"}`;
}

export interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
}

/** `meta` of a list. `has_more` is false where no limit was asked for. */
export function listMeta(page: Pagination, at: string | null): string {
  const hasMore = page.limit > 0 && page.offset + page.limit < page.total;
  return `{${META_MEMBERS}${at === null ? "" : `,"at":"${at}"`},"pagination":{"total_count":${page.total},"limit":${page.limit},"offset":${page.offset},"has_more":${hasMore}}}`;
}

/** What stands before and after the items of a list. */
export const LIST_HEAD = '{"success":true,"data":[';

/** What closes a list. @param meta JSON */
export function listTail(meta: string): string {
  return `],"meta":${meta}}\n`;
}

/** A whole answer about one thing; `data` is JSON. Every body ends its line, for people with a terminal. */
export function successBody(data: string, meta: string = META): string {
  return `{"success":true,"data":${data},"meta":${meta}}\n`;
}
