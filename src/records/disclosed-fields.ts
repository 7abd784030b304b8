// Fields whose values may appear in change reports: response fields and, for callers without access to the whole
// organization, only those that do not depend on reach.

import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import type { AnyKind } from "../db/kind.ts";
import { CHANGE_LOG_RESOURCES, RESOURCES } from "./resources.ts";

const FIELDS_BY_KIND = new Map(
  [...new Set([...CHANGE_LOG_RESOURCES, ...RESOURCES])].map(
    ({ kind, responseSchema, schemaWithoutParts = responseSchema, compose }) => [
      kind,
      {
        fields: new Set(Object.keys(schemaWithoutParts.properties)),
        reachFields: new Set(Object.keys(compose?.reachFields ?? {})),
      },
    ],
  ),
);

/**
 * Whether a field's value may be shown; `custom_fields.rack` is one field.
 * @param hasFullReach whether the reader reaches every network of the organization
 */
export function isFieldVisible(kind: AnyKind, field: string, hasFullReach = false): boolean {
  const known = FIELDS_BY_KIND.get(kind);
  if (known === undefined || (!hasFullReach && dependsOnReach(kind, field))) return false;
  return known.fields.has(customFieldKey(field) === null ? field : CUSTOM_FIELDS);
}

/** Whether a field's content is restricted to the reader's reach. */
export function dependsOnReach(kind: AnyKind, field: string): boolean {
  return FIELDS_BY_KIND.get(kind)?.reachFields.has(field) === true;
}
