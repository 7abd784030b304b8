// Where a record has its page, and where it is listed, by its kind's name in the API.

import { ownValue } from "../text/own-value.ts";
import type { PagePath } from "../url/page-paths.ts";

const PAGES: Readonly<Record<string, (id: string) => string>> = {
  host: (id) => `/hosts/${id}`,
  if_entry: (id) => `/interfaces/${id}`,
  subnet: (id) => `/subnets/${id}`,
  vlan: (id) => `/vlans/${id}`,
  credential: (id) => `/settings/credentials/${id}`,
  schedule: (id) => `/discovery/schedules/${id}`,
};

/** Null where records of the kind have none of their own. */
export function recordPage(type: string, id: string): string | null {
  return ownValue(PAGES, type)?.(id) ?? null;
}

/** Kinds that have a page with nothing but what each record says, and its history. */
const PLAIN: ReadonlySet<string> = new Set([
  "network",
  "ip_range",
  "ip_address",
  "port",
  "service",
  "binding",
  "ignored",
  "credential",
  "tag",
  "custom_field",
  "marker",
  "user",
  "api_key",
]);

/** Kinds whose own page is of now, or has no tab of its history. */
const WITHOUT_TABS: ReadonlySet<string> = new Set(["credential", "schedule"]);

/** The page that lists the records of a kind, and on which they are made. */
const LISTS = {
  host: "/hosts",
  if_entry: "/interfaces",
  ip_address: "/addresses",
  service: "/services",
  binding: "/services",
  port: "/ports",
  subnet: "/subnets/list",
  ip_range: "/subnets/ranges",
  vlan: "/vlans",
  schedule: "/discovery/schedules",
  ignored: "/discovery/ignored",
  network: "/settings/networks",
  credential: "/settings/credentials",
  tag: "/settings/tags",
  custom_field: "/settings/custom-fields",
  marker: "/settings/markers",
  user: "/settings/people",
  api_key: "/settings/keys",
} as const satisfies Readonly<Record<string, PagePath>>;
export type ListedKind = keyof typeof LISTS;

export function listPageOf(kind: ListedKind): (typeof LISTS)[ListedKind] {
  return LISTS[kind];
}

export function isListedKind(kind: string): kind is ListedKind {
  return Object.hasOwn(LISTS, kind);
}

/** Its own page, else the plain one; null for what has no history that can be asked for. */
export function anyRecordPage(type: string, id: string): string | null {
  return recordPage(type, id) ?? (PLAIN.has(type) ? plainPage(type, id) : null);
}

/** Where its history is told; null for what has none that can be asked for. */
export function historyPage(type: string, id: string): string | null {
  const page = recordPage(type, id);
  if (page !== null) return WITHOUT_TABS.has(type) ? plainPage(type, id) : `${page}?tab=history`;
  return anyRecordPage(type, id);
}

/** The page of any record by its kind: what it says and its history. */
function plainPage(type: string, id: string): string {
  return `/records/${type}/${id}`;
}
