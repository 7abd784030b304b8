// Search results: groups by kind, and their pages. Plain functions.

import type { components } from "#api";
import { entryOf } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { ownValue } from "../text/own-value.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { markerAddress } from "../time/markers.ts";

export type Hit = components["schemas"]["SearchResult"];

/** Kinds in the order of their best result; results keep their order. */
export function groupsOf(hits: readonly Hit[]): (readonly [type: Hit["type"], hits: readonly Hit[]])[] {
  const groups = new Map<Hit["type"], Hit[]>();
  for (const hit of hits) {
    const group = groups.get(hit.type) ?? [];
    group.push(hit);
    groups.set(hit.type, group);
  }
  return [...groups];
}

/** Console path of a result; null without a page. */
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

/** Last instant of an interval. @param end exclusive end, RFC 3339 */
export function instantBefore(end: string): string {
  return formatUtc((parseInstant(end) ?? 1) - 1);
}
