// Fields whose values may appear in reports of changes: response fields and, for callers who do not reach the whole
// organization, only those that do not depend on reach.

import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import type { AnyKind } from "../db/kind.ts";
import { RESOURCES, SHOWN } from "./resources.ts";

const ANSWERS = new Map(
  [...new Set([...SHOWN, ...RESOURCES])].map(({ kind, answer, answerAlone = answer, compose }) => [
    kind,
    { fields: new Set(Object.keys(answerAlone.properties)), ofReach: new Set(Object.keys(compose?.reachFields ?? {})) },
  ]),
);

/**
 * Whether a field's value may be shown; `custom_fields.rack` is one field.
 * @param isAllReached whether the reader reaches every network of the organization
 */
export function isFieldTold(kind: AnyKind, field: string, isAllReached = false): boolean {
  const answer = ANSWERS.get(kind);
  if (answer === undefined || (!isAllReached && isFieldOfReach(kind, field))) return false;
  return answer.fields.has(customFieldKey(field) === null ? field : CUSTOM_FIELDS);
}

/** Whether a field's content is restricted to the reader's reach. */
export function isFieldOfReach(kind: AnyKind, field: string): boolean {
  return ANSWERS.get(kind)?.ofReach.has(field) === true;
}
