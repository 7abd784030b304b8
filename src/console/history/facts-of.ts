// Selection and order of the facts on a record's page. Pure.

import type { KindDetails } from "../kinds/details.ts";
import { NON_COLUMN_FIELDS } from "../kinds/hidden-fields.ts";

/** Fields to show as facts: those that the kind lists, then all others that the page does not show elsewhere. */
export function factsOf(
  { facts = [], shownElsewhere = [], unlisted = [] }: Partial<KindDetails>,
  record: object,
): string[] {
  const others = Object.keys(record).filter(
    (field) => !NON_COLUMN_FIELDS.has(field) && !shownElsewhere.includes(field) && !unlisted.includes(field),
  );
  return [...new Set([...facts, ...others])];
}
