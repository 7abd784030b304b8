// Initial values of a new record: kind defaults, time zone, parent and custom field defaults.

import type { Values } from "../forms/field.ts";
import { type EditedKind, loadedDetails } from "../kinds/kinds.ts";
import { ownZone } from "../time/zone.ts";
import { allFieldsOf } from "./forms.ts";

/** Body of the creation, as far as known. */
export function newRecord(
  kind: EditedKind,
  definitions: readonly { readonly key: string; readonly default?: unknown }[],
  presets: Values,
): Values {
  const given = definitions.filter((each) => each.default !== null && each.default !== undefined);
  const custom = Object.fromEntries(given.map((each) => [each.key, each.default]));
  const zone = allFieldsOf(kind, true).some(({ name }) => name === "timezone") ? { timezone: ownZone() } : {};
  return {
    ...loadedDetails(kind)?.usual,
    ...zone,
    ...presets,
    ...(given.length === 0 ? {} : { custom_fields: custom }),
  };
}
