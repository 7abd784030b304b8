// Console pages for attention items, translated from their API requests. Pure.

import { apiPath, listPageOf, RECORD_KINDS } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { PAGE_PATHS } from "../url/page-paths.ts";
import { routeOf } from "../url/route.ts";

/**
 * Page that shows the result of an API request.
 * @param request as in the summary: `/api/v1/hosts?filter=stale_since%3A*`
 * @returns path of the page; null if there is none
 */
export function pageOfRequest(request: string): string | null {
  const { pathname, searchParams } = new URL(request, "http://console");
  const path = pathname.replace(/^\/api\/v1\//, "");
  const mac = searchParams.get("mac");
  if (path === "locate" && mac !== null) return `/?${new URLSearchParams({ q: mac })}`;
  const page = path.startsWith("discovery/")
    ? discoveryPage(path.split("/").slice(1), searchParams)
    : listPage(path, searchParams);
  return page === null || routeOf(PAGE_PATHS, new URL(page, "http://console").pathname) === null ? null : page;
}

function listPage(path: string, params: URLSearchParams): string | null {
  const kind = RECORD_KINDS.find((candidate) => apiPath(candidate) === `/api/v1/${path}`);
  const page = kind === undefined ? `/${path}` : listPageOf(kind);
  const [id, ...others] = params.get("ids")?.split(",") ?? [];
  if (kind !== undefined && id !== undefined && others.length === 0) return recordPage(kind, id);
  return withParameter(page, "filter", params.get("filter"));
}

function discoveryPage([list, id]: readonly string[], params: URLSearchParams): string | null {
  if (list === "schedules") return "/discovery/schedules";
  if (list === "withheld") return "/discovery/waiting";
  if (list !== "scans") return null;
  if (id !== undefined) return withParameter(`/discovery/${id}`, "type", params.get("type"));
  const status = params.get("status");
  return withParameter("/discovery", "filter", status === null ? null : `status = ${status}`);
}

function withParameter(page: string, name: string, value: string | null): string {
  return value === null ? page : `${page}?${new URLSearchParams({ [name]: value })}`;
}
