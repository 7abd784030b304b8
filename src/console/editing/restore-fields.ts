// Fields of a record that can be restored, reasons why others cannot, and the request body. Referenced records are
// looked up first, so that a deleted tag or VLAN is reported before the write.

import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { bodyWith, requiredOf } from "../forms/edits.ts";
import { customKeyOf, type FormField, type Values, valueIn } from "../forms/field.ts";
import { SELF_EVIDENT } from "../history/difference-lines.ts";
import { apiPath, type EditedKind, entryOf, type RecordKind, referencedKind } from "../kinds/kinds.ts";
import { wordList } from "../kinds/word-list.ts";
import { allFieldsOf, customField, definitionsOf } from "./forms.ts";

/** A changed field, with its earlier value. */
export interface EarlierField {
  readonly field: string;
  readonly was: unknown;
}

export interface RestoreField extends EarlierField {
  readonly now: unknown;
  /** Referenced ids that no longer exist; omitted from `was`. */
  readonly missing: readonly string[];
  /** Why the field cannot be restored, as the end of a sentence; null if it can. */
  readonly cannot: string | null;
}

/** Function that returns the ids that still exist. */
export type FindExisting = (field: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Fields that list parts, which are separate records. */
const PARTS = new Set(["ip_addresses", "ports", "services", "interfaces", "bindings"]);
const PLACEMENT_FIELDS: ReadonlySet<string> = new Set(
  wordList("id organization_id network_id host_id service_id expected_updated_at"),
);

/** Checks which fields can be restored, in the same order. @param current current record @throws Refusal */
export async function restoreFields(
  kind: EditedKind,
  current: Values,
  fields: readonly EarlierField[],
  findExisting: FindExisting = existingIds,
): Promise<RestoreField[]> {
  const defined = (await definitionsOf(kind)).map(customField);
  const writable = new Map([...allFieldsOf(kind, false), ...defined].map((field) => [field.name, field]));
  const listed = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return Promise.all(listed.map((item) => restoreField(writable.get(item.field), current, item, findExisting)));
}

/** Reasons why a field cannot be restored. */
const REASONS = {
  derived: "cannot be written: it is computed or read by scans.",
  parts: "is a separate record: restore it on its own page.",
  placed: "identifies where the record belongs and does not change.",
  credentials: "is set by an Admin with the credentials of the host.",
  missing: "refers to a record that has since been deleted: restore that record first.",
  empty: "had no value then but requires one.",
  undefinedNow: "is no longer a field of the organization.",
  same: "already has this value.",
};

async function restoreField(
  formField: FormField | undefined,
  current: Values,
  { field, was }: EarlierField,
  findExisting: FindExisting,
): Promise<RestoreField> {
  const now = valueIn(current, { name: field });
  const listed = { field, was, now, missing: [] };
  const cannot = cannotRestore(formField, field, was);
  if (cannot !== null) return { ...listed, cannot };
  if (isSame(now, was)) return { ...listed, cannot: REASONS.same };
  const ids = referencedIds(field, was);
  const existing = await findExisting(field, ids);
  const missing = ids.filter((id) => !existing.has(id));
  if (missing.length === 0) return { ...listed, cannot: null };
  if (!Array.isArray(was)) return { ...listed, cannot: REASONS.missing };
  const remaining = was.filter((id) => existing.has(String(id)));
  return { field, now, was: remaining, missing, cannot: isSame(now, remaining) ? REASONS.missing : null };
}

function cannotRestore(formField: FormField | undefined, field: string, was: unknown): string | null {
  if (PARTS.has(field)) return REASONS.parts;
  if (PLACEMENT_FIELDS.has(field)) return REASONS.placed;
  if (field === "credential_assignments") return REASONS.credentials;
  if (formField === undefined) return customKeyOf({ name: field }) === null ? REASONS.derived : REASONS.undefinedNow;
  return (was ?? null) === null && !formField.isNullable ? REASONS.empty : null;
}

/** Whether two values are equal, regardless of the order of multiple values. */
function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(Array.isArray(value) ? value.map((item) => JSON.stringify(item)).toSorted() : (value ?? null));
  return text(a) === text(b);
}

/** Kinds that a field can reference; a neighbor is a host or an interface. */
function referencedKinds(field: string): RecordKind[] {
  return field === "neighbor" ? ["host", "if_entry"] : [referencedKind(field) ?? []].flat();
}

/** Ids of records that a field's value references. */
function referencedIds(field: string, was: unknown): string[] {
  if (referencedKinds(field).length === 0 || was === null || was === undefined) return [];
  const { id = was } = was as { readonly id?: unknown };
  return (Array.isArray(id) ? id : [id]).map(String);
}

async function existingIds(field: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const existing = new Set<string>();
  for (const group of idGroups(ids))
    for (const kind of referencedKinds(field)) {
      const query = { ids: group, limit: IDS_MAX, ...entryOf(kind)?.withoutParts };
      for (const { id } of (await read(apiPath(kind), { query }).load()).data) existing.add(id);
    }
  return existing;
}

/** Request body: required fields with their current values, and the restored fields. @param current current record */
export function restoreBody(
  kind: EditedKind,
  current: Values,
  selected: ReadonlyArray<Pick<RestoreField, "field" | "was">>,
): Record<string, unknown> {
  return {
    ...requiredOf(allFieldsOf(kind, false), current),
    ...bodyWith(selected.map(({ field, was }) => [field, was ?? null])),
  };
}
