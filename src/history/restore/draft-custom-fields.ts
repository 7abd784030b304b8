// Custom fields in a draft. Drops values whose field no longer exists or accepts them; a field that other records
// depend on cannot change.

import type { CommandActor } from "../../access/actor.ts";
import { FIELDS_OF_KIND_MAX } from "../../base/custom-field-limits.ts";
import { CUSTOM_FIELDS, canonicalOrder } from "../../base/custom-field-names.ts";
import { countedEntities, entityWords } from "../../base/entity-words.ts";
import { ownValue } from "../../base/fields.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { type CustomFieldRecord, customFieldKind } from "../../resources/custom-fields/custom-field.ts";
import { liveFields } from "../../resources/custom-fields/definition-rules.ts";
import { type FieldKind, type FieldValue, valueProblem } from "../../resources/custom-fields/field-type.ts";
import { holdersOf } from "../../resources/custom-fields/field-usage.ts";
import type { FieldValues } from "../../resources/custom-fields/field-values.ts";
import { type DraftedRecord, isWritten, type RestoreDraft } from "./draft.ts";
import { recordPhrase } from "./plan.ts";

type RecordWithFields = RecordBase & { readonly custom_fields?: FieldValues };

/** Run before all other checks: dropped values are not changes. */
export function checkCustomFields(draft: RestoreDraft, actor: CommandActor): void {
  const written = draft.all.filter(isWritten);
  const definitions = written.filter(({ kind }) => kind.code === customFieldKind.code);
  const withFields = written.filter(({ after }) => (after as RecordWithFields | null)?.custom_fields !== undefined);
  if (definitions.length === 0 && withFields.length === 0) return;
  const byKey = definitionsAfter(draft, actor.organizationId);
  for (const drafted of withFields) dropInvalidValues(drafted, byKey);
  for (const drafted of definitions) {
    refuseFieldInUse(draft, drafted);
    refuseTooManyFields(draft, drafted, [...byKey.values()]);
  }
}

/** Resulting field definitions, by key. */
function definitionsAfter(draft: RestoreDraft, organizationId: string): Map<string, CustomFieldRecord> {
  const byKey = new Map<string, CustomFieldRecord>();
  for (const field of liveFields(draft.tx, organizationId))
    if (draft.get(field.id) === null) byKey.set(field.key, field);
  for (const { kind, after } of draft.all)
    if (kind.code === customFieldKind.code && after !== null)
      byKey.set((after as CustomFieldRecord).key, after as CustomFieldRecord);
  return byKey;
}

function dropInvalidValues(drafted: DraftedRecord, byKey: ReadonlyMap<string, CustomFieldRecord>): void {
  const after = drafted.after as RecordWithFields;
  const before = (drafted.before as RecordWithFields | null)?.custom_fields ?? {};
  const values: Record<string, FieldValue> = {};
  for (const [key, value] of Object.entries(after.custom_fields ?? {})) {
    const field = byKey.get(key);
    const isAccepted = field !== undefined && accepts(field, drafted.kind, value);
    if (isAccepted) values[key] = value;
    else {
      const now = ownValue(before, key);
      if (field !== undefined && now !== undefined && accepts(field, drafted.kind, now)) values[key] = now;
      drafted.reasons.add(
        field === undefined || !field.kinds.includes(drafted.kind.name as FieldKind)
          ? `the custom field ${key} no longer exists, so it is omitted`
          : `the custom field ${key} no longer accepts its earlier value, which is omitted`,
      );
    }
  }
  drafted.after = { ...after, [CUSTOM_FIELDS]: canonicalOrder(values) } as RecordBase;
}

function accepts(field: CustomFieldRecord, kind: AnyKind, value: FieldValue): boolean {
  return field.kinds.includes(kind.name as FieldKind) && valueProblem(field, value) === null;
}

/** A field cannot be deleted or narrowed while values depend on it. */
function refuseFieldInUse(draft: RestoreDraft, drafted: DraftedRecord): void {
  if (drafted.before === null) return;
  const before = drafted.before as CustomFieldRecord;
  const after = drafted.after as CustomFieldRecord | null;
  const counts = new Map<AnyKind, number>();
  for (const { kind, record } of holdersOf(draft.tx, before)) {
    const values = (draft.find(kind, record.id) as RecordWithFields | null)?.custom_fields ?? {};
    const value = ownValue(values, before.key);
    if (value === undefined || (after !== null && accepts(after, kind, value))) continue;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const what = [...counts].map(([kind, count]) => countedEntities(kind, count)).join(", ");
  draft.refuse(drafted, "in_use", `${recordPhrase(customFieldKind, before)} is now in use by ${what}`);
}

function refuseTooManyFields(draft: RestoreDraft, drafted: DraftedRecord, fields: readonly CustomFieldRecord[]): void {
  const after = drafted.after as CustomFieldRecord | null;
  const full = after?.kinds.find(
    (kind) => fields.filter(({ kinds }) => kinds.includes(kind)).length > FIELDS_OF_KIND_MAX,
  );
  if (full === undefined) return;
  const what = entityWords(draft.tx.kindByName(full));
  draft.refuse(drafted, "limit_reached", `${what} have at most ${FIELDS_OF_KIND_MAX} custom fields`);
}
