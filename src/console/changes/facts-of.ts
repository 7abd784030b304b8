// Selection and order of the fields listed as facts on a record's page. Pure.

import type { KindDetails } from "../kinds/details.ts";
import { UNLISTED_FIELDS } from "../kinds/untold-fields.ts";

/** Facts of the kind first, then all fields that the page does not show elsewhere. */
export function factsOf(
  { facts = [], toldElsewhere = [], unlisted = [] }: Pick<KindDetails, "facts" | "toldElsewhere" | "unlisted">,
  record: object,
): string[] {
  const others = Object.keys(record).filter(
    (field) => !UNLISTED_FIELDS.has(field) && !toldElsewhere.includes(field) && !unlisted.includes(field),
  );
  return [...new Set([...facts, ...others])];
}
