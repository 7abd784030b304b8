// List columns of ignored records.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const ignoredDetails: KindDetails<keyof components["schemas"]["Ignored"]> = {
  columns: { label: [13, "removed"], entity: [6, "kind"], host_id: 13, network_id: 8, signs: 14, created_at: 11 },
  shown: ["label", "entity", "host_id", "network_id", "signs", "created_at"],
  order: "label",
  example: 'entity = host AND label : "printer"',
  listNames: { title: "Ignored", one: "entry", many: "entries" },
  emptyHint: "Lists deleted records that discovery would otherwise restore, until you stop ignoring them.",
  unlisted: ["record_id", "identity"],
};
