// Fields without meaning to readers.

/** Fields with meaningless values: ids that are equal everywhere or shown elsewhere. */
export const UNTOLD_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "organization_id",
  "lineage_id",
  "first_discovery_id",
  "last_discovery_id",
]);

/** `UNTOLD_FIELDS`, version fields, and fields with a fixed place wherever a record is shown. */
export const UNLISTED_FIELDS: ReadonlySet<string> = new Set([
  ...UNTOLD_FIELDS,
  "valid_from",
  "valid_to",
  "custom_fields",
  "discovered",
]);
