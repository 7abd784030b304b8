// Fields that are not shown because their values mean nothing to users.

import { wordList } from "./word-list.ts";

/** Ids that are equal everywhere or shown elsewhere. */
export const HIDDEN_FIELDS: ReadonlySet<string> = new Set(
  wordList("id organization_id lineage_id first_discovery_id last_discovery_id"),
);

/** `HIDDEN_FIELDS`, version fields, and fields with a fixed place wherever a record is shown. */
export const NON_COLUMN_FIELDS: ReadonlySet<string> = HIDDEN_FIELDS.union(
  new Set(wordList("valid_from valid_to custom_fields discovered")),
);
