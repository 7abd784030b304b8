// What a new record has before anybody typed: where it belongs, and what the organization gives its custom fields.

import type { EditedKind } from "../kinds/kinds.ts";
import { ownZone } from "../time/zone.ts";
import type { Values } from "./field.ts";

/** What the API would give where nothing is said, and is better seen. */
function usual(kind: EditedKind): Values {
  switch (kind) {
    case "schedule":
      return { kind: "full", timezone: ownZone(), is_enabled: true };
    case "custom_field":
      return { type: "text", required: false };
    case "tag":
      return { color: "Blue", is_application: false };
    case "port":
      return { protocol: "Tcp" };
    case "ip_range":
      return { purpose: "Reserved" };
    default:
      return {};
  }
}

/** A body as far as it is known. */
export function newRecord(
  kind: EditedKind,
  definitions: readonly { readonly key: string; readonly default?: unknown }[],
  presets: Values,
): Values {
  const given = definitions.filter((each) => each.default !== null && each.default !== undefined);
  const custom = Object.fromEntries(given.map((each) => [each.key, each.default]));
  return { ...usual(kind), ...presets, ...(given.length === 0 ? {} : { custom_fields: custom }) };
}
