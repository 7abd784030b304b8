// Fields that are not shown because their values are meaningless to users.

import { wordList } from "./word-list.ts";

/** Ids that are equal everywhere or shown elsewhere. */
export const HIDDEN_FIELDS: ReadonlySet<string> = new Set(
  wordList("id organization_id lineage_id first_discovery_id last_discovery_id"),
);

/** `HIDDEN_FIELDS`, version fields, and fields that have a fixed place in lists and on record pages. */
export const NON_COLUMN_FIELDS: ReadonlySet<string> = HIDDEN_FIELDS.union(
  new Set(wordList("valid_from valid_to custom_fields discovered")),
);
