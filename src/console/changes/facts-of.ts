// Which fields of a record are facts of its page, and in which order. Plain functions.

import type { KindDetails } from "../kinds/details.ts";
import { UNLISTED_FIELDS } from "../kinds/untold-fields.ts";

/** Those that its kind mentions, then all that its page does not show elsewhere. */
export function factsOf(
  { facts = [], toldElsewhere = [], unlisted = [] }: Pick<KindDetails, "facts" | "toldElsewhere" | "unlisted">,
  record: object,
): string[] {
  const others = Object.keys(record).filter(
    (field) => !UNLISTED_FIELDS.has(field) && !toldElsewhere.includes(field) && !unlisted.includes(field),
  );
  return [...new Set([...facts, ...others])];
}
