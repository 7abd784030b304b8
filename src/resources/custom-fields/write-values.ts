// Conversion of custom-field values in a write to stored values: defaults, kept values and validation errors.

import { inOrder } from "../../base/custom-field-names.ts";
import { oneEntity } from "../../base/entity-words.ts";
import { type Issue, invalid, pointerTo } from "../../base/errors.ts";
import { nearestName } from "../../base/nearest-name.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { CustomFieldRecord } from "./custom-field.ts";
import { liveFields } from "./definition-rules.ts";
import { FIELD_KINDS, type FieldKind, type FieldValue, valueProblem } from "./field-type.ts";
import type { FieldValues, SaidValues } from "./field-values.ts";

/** Field definitions of one record kind. */
interface Definitions {
  readonly byKey: ReadonlyMap<string, CustomFieldRecord>;
  readonly required: readonly CustomFieldRecord[];
  /** Defaults for new records; undefined if no field has one. */
  readonly defaults: FieldValues | undefined;
}

/** Cached per transaction: a bulk write looks them up for a hundred thousand records. */
const known = new WeakMap<WriteTransaction, Map<string, Definitions>>();
const NONE: Definitions = { byKey: new Map(), required: [], defaults: undefined };

/** Invalidates the cache after the transaction changes a definition. */
export function forgetDefinitions(tx: WriteTransaction): void {
  known.delete(tx);
}

/** Field definitions that apply to records of a kind in this transaction. */
export function definitionsOf(tx: WriteTransaction, kind: AnyKind, organizationId: string): Definitions {
  let ofTransaction = known.get(tx);
  if (ofTransaction === undefined) {
    ofTransaction = definitionsByKind(liveFields(tx, organizationId));
    known.set(tx, ofTransaction);
  }
  return ofTransaction.get(kind.name) ?? NONE;
}

function definitionsByKind(fields: readonly CustomFieldRecord[]): Map<string, Definitions> {
  const byKind = new Map<string, Definitions>();
  for (const kind of FIELD_KINDS) {
    const own = fields.filter(({ kinds }) => kinds.includes(kind));
    if (own.length === 0) continue;
    const defaults = own.flatMap(
      (field): Array<[string, FieldValue]> => (field.default === null ? [] : [[field.key, field.default]]),
    );
    byKind.set(kind, {
      byKey: new Map(own.map((field) => [field.key, field])),
      required: own.filter((field) => field.required),
      defaults: inOrder(Object.fromEntries(defaults)),
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

/** Values from a user's write and their place in the body. */
export interface Saying {
  readonly kind: AnyKind;
  readonly organizationId: string;
  readonly said: SaidValues | undefined;
  /** JSON pointer to the record; empty for the body itself. */
  readonly at?: string;
}

/**
 * Values of a new record created by a user; undefined for none.
 * @throws DomainError validation_failed with all issues, including missing required fields
 */
export function newValues(tx: WriteTransaction, saying: Saying): FieldValues | undefined {
  const definitions = definitionsOf(tx, saying.kind, saying.organizationId);
  const values = valuesAfter(definitions, definitions.defaults, saying);
  assertNoneMissing(definitions, values, saying.at);
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
  saying: Saying,
): FieldValues | undefined {
  if (saying.said === undefined) return before;
  return valuesAfter(definitionsOf(tx, saying.kind, saying.organizationId), before, saying);
}

/**
 * Call after the user's changes are in the transaction: a write without changes need not supply required fields.
 * @throws DomainError validation_failed with every required field that has no value
 */
export function assertRequired(
  tx: WriteTransaction,
  record: { readonly id: string; readonly custom_fields?: FieldValues | undefined },
  { kind, organizationId, at }: Omit<Saying, "said">,
): void {
  const definitions = definitionsOf(tx, kind, organizationId);
  if (definitions.required.length > 0 && tx.isChanged(record.id))
    assertNoneMissing(definitions, record.custom_fields, at);
}

function valuesAfter(
  { byKey }: Definitions,
  before: FieldValues | undefined,
  { kind, said, at = "" }: Saying,
): FieldValues | undefined {
  if (said === undefined) return before;
  const issues: Issue[] = [];
  const values: Record<string, FieldValue> = { ...before };
  for (const [key, value] of Object.entries(said)) {
    const field = byKey.get(key);
    const problem = field === undefined ? unknownField(byKey, kind, key) : problemOf(field, value);
    if (problem !== null) issues.push({ path: `${at}/custom_fields${pointerTo(key)}`, message: problem, value });
    else if (value === null) delete values[key];
    else values[key] = value;
  }
  if (issues.length > 0) throw invalid(issues);
  return inOrder(values);
}

function problemOf(field: CustomFieldRecord, value: FieldValue | null): string | null {
  return value === null ? null : valueProblem(field, value);
}

function unknownField(byKey: Definitions["byKey"], kind: AnyKind, key: string): string {
  const nearest = nearestName(key, [...byKey.keys()]);
  return `is not a custom field of ${oneEntity(kind)}${nearest === null ? "" : `; ${nearest}?`}`;
}

function assertNoneMissing({ required }: Definitions, values: FieldValues | undefined, at = ""): void {
  const missing = required.filter(({ key }) => values === undefined || !Object.hasOwn(values, key));
  if (missing.length === 0) return;
  throw invalid(
    missing.map(({ key, label }) => ({
      path: `${at}/custom_fields/${key}`,
      message: label === key ? "is required" : `is required (${label})`,
    })),
  );
}
