// Results of a search: in groups by kind, and where each leads. Plain functions.

import type { components } from "#api";
import { recordPage } from "../names/record-page.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { markerAddress } from "../time/markers.ts";

export type Hit = components["schemas"]["SearchResult"];

/** The kinds in the order of their best results, which stay in theirs. */
export function groupsOf(hits: readonly Hit[]): (readonly [type: Hit["type"], hits: readonly Hit[]])[] {
  const groups = new Map<Hit["type"], Hit[]>();
  for (const hit of hits) {
    const group = groups.get(hit.type) ?? [];
    group.push(hit);
    groups.set(hit.type, group);
  }
  return [...groups];
}

/** The page that shows a result, as a path of the console; null where none does. */
export function pageOfHit({ type, id, name, host }: Hit): string | null {
  switch (type) {
    case "ip_address":
      return host === null ? null : `/hosts/${host.id}?tab=addresses`;
    case "port":
    case "service":
      return host === null ? null : `/hosts/${host.id}?tab=services`;
    case "network":
      return `/hosts?network=${id}`;
    case "tag":
      return `/hosts?filter=${encodeURIComponent(`tags.name = "${name.replaceAll(/["\\*]/g, "\\$&")}"`)}`;
    case "schedule":
      return "/discovery/schedules";
    case "ignored":
      return "/discovery/ignored";
    case "marker":
      return `/?at=${encodeURIComponent(markerAddress({ id, name, ms: 0, networkId: null }))}`;
    default:
      return recordPage(type, id);
  }
}

/** The last instant before something ended. @param end RFC 3339 */
export function instantBefore(end: string): string {
  return formatUtc((parseInstant(end) ?? 1) - 1);
}
