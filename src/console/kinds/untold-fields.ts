// Fields that no reader asks for.

/** Fields whose values mean nothing to people: ids of what is the same for all, or is told elsewhere. */
export const UNTOLD_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "organization_id",
  "lineage_id",
  "first_discovery_id",
  "last_discovery_id",
]);

/** Those, and fields of a version, or that have places of their own wherever a record is shown. */
export const UNLISTED_FIELDS: ReadonlySet<string> = new Set([
  ...UNTOLD_FIELDS,
  "valid_from",
  "valid_to",
  "custom_fields",
  "discovered",
]);
