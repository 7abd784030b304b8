// Which fields of a record are told with their values where changes are told: what its answer has, and to whom not all of
// the organization is in reach, only what is the same for everybody who reaches the record.

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
 * Whether the value of a field may be told; `custom_fields.rack` is one.
 * @param isAllReached whether whoever is told reaches every network of the organization
 */
export function isFieldTold(kind: AnyKind, field: string, isAllReached = false): boolean {
  const answer = ANSWERS.get(kind);
  if (answer === undefined || (!isAllReached && isFieldOfReach(kind, field))) return false;
  return answer.fields.has(customFieldKey(field) === null ? field : CUSTOM_FIELDS);
}

/** Whether a field shows no more than what whoever is told reaches. */
export function isFieldOfReach(kind: AnyKind, field: string): boolean {
  return ANSWERS.get(kind)?.ofReach.has(field) === true;
}
