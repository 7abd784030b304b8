// Results of a search: in groups by kind, and where each leads. Plain functions.

import type { components } from "#api";
import { entryOf } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { ownValue } from "../text/own-value.ts";
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
  const template = entryOf(type)?.found;
  if (template === undefined) return recordPage(type, id);
  const values: Readonly<Record<string, string | undefined>> = {
    id,
    host_id: host?.id,
    name: name.replaceAll(/["\\*]/g, "\\$&"),
    marker: markerAddress({ id, name, ms: 0, networkId: null }),
  };
  const [path = "", query] = template.split("?");
  if (host === null && path.includes("{host_id}")) return null;
  const filled = (text: string) => text.replace(/\{(\w+)\}/, (_, field: string) => ownValue(values, field) ?? "");
  const parameters = query?.split("&").map((each) => {
    const [parameter = "", ...value] = each.split("=");
    return `${parameter}=${encodeURIComponent(filled(value.join("=")))}`;
  });
  return filled(path) + (parameters === undefined ? "" : `?${parameters.join("&")}`);
}

/** The last instant before something ended. @param end RFC 3339 */
export function instantBefore(end: string): string {
  return formatUtc((parseInstant(end) ?? 1) - 1);
}
