// Search results: grouping by kind, and pages of results. Pure.

import type { components } from "#api";
import { entryOf } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { ownValue } from "../text/own-value.ts";
import { markerParameter } from "../time/markers.ts";

export type Hit = components["schemas"]["SearchResult"];

/** Kinds in the order of their best result; results keep their order. */
export function groupsOf(hits: readonly Hit[]): (readonly [type: Hit["type"], hits: readonly Hit[]])[] {
  return [...Map.groupBy(hits, ({ type }) => type)];
}

/** Console path of a result; null without a page. */
export function pageOfHit({ type, id, name, host }: Hit): string | null {
  const template = entryOf(type)?.resultPage;
  if (template === undefined) return recordPage(type, id);
  const values: Readonly<Record<string, string | undefined>> = {
    id,
    host_id: host?.id,
    name: name.replaceAll(/["\\*]/g, "\\$&"),
    marker: markerParameter({ id, name, ms: 0, networkId: null }),
  };
  const [path = "", query] = template.split("?");
  if (host === null && path.includes("{host_id}")) return null;
  const filled = (text: string) => text.replace(/\{(\w+)\}/, (_, field: string) => ownValue(values, field) ?? "");
  const parameters = query?.split("&").map((pair) => {
    const [parameter = "", ...value] = pair.split("=");
    return `${parameter}=${encodeURIComponent(filled(value.join("=")))}`;
  });
  return filled(path) + (parameters === undefined ? "" : `?${parameters.join("&")}`);
}
