// Custom-field value conversion, from a write to stored values: defaults, kept values and validation errors.

import type { CommandActor } from "../../access/actor.ts";
import { canonicalOrder } from "../../base/custom-field-names.ts";
import { oneEntity } from "../../base/entity-words.ts";
import { type Issue, invalid, pointerTo } from "../../base/errors.ts";
import { nearestName } from "../../base/nearest-name.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { CustomFieldRecord } from "./custom-field.ts";
import { liveFields } from "./definition-rules.ts";
import { FIELD_KINDS, type FieldKind, type FieldValue, valueProblem } from "./field-type.ts";
import type { FieldValues, GivenValues } from "./field-values.ts";

/** Field definitions of one record kind. */
interface Definitions {
  readonly byKey: ReadonlyMap<string, CustomFieldRecord>;
  readonly required: readonly CustomFieldRecord[];
  /** Defaults for new records; undefined if no field has one. */
  readonly defaults: FieldValues | undefined;
}

/** Cached per transaction: a bulk write looks them up for a hundred thousand records. */
const cache = new WeakMap<WriteTransaction, Map<string, Definitions>>();
const NONE: Definitions = { byKey: new Map(), required: [], defaults: undefined };

/** Invalidates the cache after the transaction changes a definition. */
export function forgetDefinitions(tx: WriteTransaction): void {
  cache.delete(tx);
}

/** Field definitions that apply to records of a kind in this transaction. */
export function definitionsOf(tx: WriteTransaction, kind: AnyKind, organizationId: string): Definitions {
  let cached = cache.get(tx);
  if (cached === undefined) {
    cached = definitionsByKind(liveFields(tx, organizationId));
    cache.set(tx, cached);
  }
  return cached.get(kind.name) ?? NONE;
}

function definitionsByKind(fields: readonly CustomFieldRecord[]): Map<string, Definitions> {
  const byKind = new Map<string, Definitions>();
  for (const kind of FIELD_KINDS) {
    const kindFields = fields.filter(({ kinds }) => kinds.includes(kind));
    if (kindFields.length === 0) continue;
    const defaults = kindFields.flatMap(
      (field): Array<[string, FieldValue]> => (field.default === null ? [] : [[field.key, field.default]]),
    );
    byKind.set(kind, {
      byKey: new Map(kindFields.map((field) => [field.key, field])),
      required: kindFields.filter((field) => field.required),
      defaults: canonicalOrder(Object.fromEntries(defaults)),
    });
  }
  return byKind;
}

/** Adds the custom-field defaults to the fields of a record created by discovery. */
export function withDefaults<T extends object>(
  tx: WriteTransaction,
  kind: AnyKind,
  organizationId: string,
  fields: T,
): T {
  if (!FIELD_KINDS.includes(kind.name as FieldKind)) return fields;
  const { defaults } = definitionsOf(tx, kind, organizationId);
  return defaults === undefined ? fields : { ...fields, custom_fields: defaults };
}

/** Values from a user's write and their location in the body. */
interface CustomFieldInput {
  readonly kind: AnyKind;
  readonly organizationId: string;
  readonly given: GivenValues | undefined;
  /** JSON pointer to the record; empty for the body itself. */
  readonly pointer?: string;
}

/** @param pointer JSON pointer to the record in the body; empty for the body itself */
export function customFieldInput(
  kind: AnyKind,
  { custom_fields: given }: { readonly custom_fields?: GivenValues | undefined },
  { organizationId }: CommandActor,
  { pointer }: { readonly pointer: string } = { pointer: "" },
): CustomFieldInput {
  return { kind, organizationId, given, pointer };
}

/**
 * Values of a new record created by a user; undefined for none.
 * @throws DomainError validation_failed with all issues, including missing required fields
 */
export function newValues(tx: WriteTransaction, input: CustomFieldInput): FieldValues | undefined {
  const definitions = definitionsOf(tx, input.kind, input.organizationId);
  const values = valuesAfter(definitions, definitions.defaults, input);
  assertNoneMissing(definitions, values, input.pointer);
  return values;
}

/**
 * Values of a record after a user's write; undefined for none. Required fields are checked by assertRequired, once it
 * is known whether the write changes anything.
 * @throws DomainError validation_failed with all issues
 */
export function changedValues(
  tx: WriteTransaction,
  before: FieldValues | undefined,
  input: CustomFieldInput,
): FieldValues | undefined {
  if (input.given === undefined) return before;
  return valuesAfter(definitionsOf(tx, input.kind, input.organizationId), before, input);
}

/**
 * Call after the user's changes are in the transaction: a write without changes need not supply required fields.
 * @throws DomainError validation_failed with every required field that has no value
 */
export function assertRequired(
  tx: WriteTransaction,
  record: { readonly id: string; readonly custom_fields?: FieldValues | undefined },
  { kind, organizationId, pointer }: Omit<CustomFieldInput, "given">,
): void {
  const definitions = definitionsOf(tx, kind, organizationId);
  if (definitions.required.length > 0 && tx.isChanged(record.id))
    assertNoneMissing(definitions, record.custom_fields, pointer);
}

function valuesAfter(
  { byKey }: Definitions,
  before: FieldValues | undefined,
  { kind, given, pointer = "" }: CustomFieldInput,
): FieldValues | undefined {
  if (given === undefined) return before;
  const issues: Issue[] = [];
  const values: Record<string, FieldValue> = { ...before };
  for (const [key, value] of Object.entries(given)) {
    const field = byKey.get(key);
    const invalidity = field === undefined || value === null ? null : valueProblem(field, value);
    const problem = field === undefined ? unknownField(byKey, kind, key) : invalidity;
    if (problem !== null) issues.push({ path: `${pointer}/custom_fields${pointerTo(key)}`, message: problem, value });
    else if (value === null) delete values[key];
    else values[key] = value;
  }
  if (issues.length > 0) throw invalid(issues);
  return canonicalOrder(values);
}

function unknownField(byKey: Definitions["byKey"], kind: AnyKind, key: string): string {
  const nearest = nearestName(key, [...byKey.keys()]);
  return `is not a custom field of ${oneEntity(kind)}${nearest === null ? "" : `; ${nearest}?`}`;
}

function assertNoneMissing({ required }: Definitions, values: FieldValues | undefined, pointer = ""): void {
  const missing = required.filter(({ key }) => values === undefined || !Object.hasOwn(values, key));
  if (missing.length === 0) return;
  throw invalid(
    missing.map(({ key, label }) => ({
      path: `${pointer}/custom_fields/${key}`,
      message: label === key ? "is required" : `is required (${label})`,
    })),
  );
}
