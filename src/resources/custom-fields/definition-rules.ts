// Validity rules for a custom-field definition, alone and among the others, on write and on restore.

import { FIELDS_OF_KIND_MAX } from "../../base/custom-field-limits.ts";
import { type Issue, invalid } from "../../base/errors.ts";
import { withoutInvisible } from "../../base/visible.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type CustomFieldRecord, customFieldKind } from "./custom-field.ts";
import { type FieldKind, valueProblem } from "./field-type.ts";

/**
 * @param existing existing choices, which stay as they are
 * @throws DomainError validation_failed with all issues
 */
export function assertDefinition(
  field: Pick<CustomFieldRecord, "type" | "choices" | "default">,
  existing: readonly string[] = [],
): void {
  const issues: Issue[] = [];
  const { type, choices, default: fallback } = field;
  if (type === "choice" && choices.length === 0)
    issues.push({
      path: "/choices",
      message: "must have at least one choice, because the field is of type choice",
      value: choices,
    });
  if (type !== "choice" && choices.length > 0)
    issues.push({ path: "/choices", message: `must be empty: a field of type ${type} has no choices`, value: choices });
  const normalized = choices.map(withoutInvisible);
  for (const [index, choice] of choices.entries())
    if (
      choices.indexOf(choice) < index ||
      (normalized.indexOf(normalized[index] as string) < index && !existing.includes(choice))
    )
      issues.push({ path: `/choices/${index}`, message: "must not be repeated", value: choice });
  const problem = fallback === null ? null : valueProblem(field, fallback);
  if (problem !== null) issues.push({ path: "/default", message: problem, value: fallback });
  if (issues.length > 0) throw invalid(issues);
}

/**
 * Call after the transaction has the field.
 * @throws DomainError validation_failed for a kind with too many fields
 */
export function assertFieldLimit(tx: WriteTransaction, organizationId: string, kinds: readonly string[]): void {
  const fullKind = kinds.find(
    (kind) => fieldsOfKind(tx, organizationId, kind as FieldKind).length > FIELDS_OF_KIND_MAX,
  );
  if (fullKind === undefined) return;
  throw invalid({
    path: "/kinds",
    message: `would give this kind of record more than ${FIELDS_OF_KIND_MAX} custom fields`,
    value: fullKind,
  });
}

/** Live fields of a record kind, including changes made in this transaction. */
export function fieldsOfKind(tx: WriteTransaction, organizationId: string, kind: FieldKind): CustomFieldRecord[] {
  return liveFields(tx, organizationId).filter(({ kinds }) => kinds.includes(kind));
}

/** Live fields of an organization, including changes made in this transaction. */
export function liveFields(tx: WriteTransaction, organizationId: string): CustomFieldRecord[] {
  // tx.children cannot find changed records by the organization column: no field fills it.
  const changed = tx.changedOf(customFieldKind).filter((field) => field.organization_id === organizationId);
  return [...tx.children(customFieldKind, "organization_n", organizationId), ...changed];
}
