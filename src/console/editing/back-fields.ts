// Restorable fields of a record, reasons for the others, and the body of the update. Referenced records are looked up,
// so that a deleted tag or VLAN is reported before the write.

import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { SELF_EVIDENT } from "../changes/difference-lines.ts";
import { bodyWith, requiredOf } from "../forms/edits.ts";
import type { FormField, Values } from "../forms/field.ts";
import { customKeyOf, valueIn } from "../forms/field.ts";
import { apiPath, type EditedKind, entryOf, type RecordKind, referredKind } from "../kinds/kinds.ts";
import { allFieldsOf, customField, definitionsOf } from "./forms.ts";

/** A field that differs, with its earlier value. */
export interface FieldThen {
  readonly field: string;
  readonly was: unknown;
}

export interface BackField extends FieldThen {
  readonly now: unknown;
  /** Ids in the earlier value that no longer exist; omitted from `was`. */
  readonly gone: readonly string[];
  /** Reason that the field cannot be restored, as the end of a sentence; null if it can. */
  readonly cannot: string | null;
}

/** Returns the ids that still exist. */
export type FindLiving = (field: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Parts of a record are records of their own. */
const PARTS = new Set(["ip_addresses", "ports", "services", "interfaces", "bindings"]);
const PLACES = new Set(["id", "organization_id", "network_id", "host_id", "service_id", "expected_updated_at"]);

/**
 * Checks which fields can be restored. Keeps their order.
 * @param current the present record
 * @throws Refusal
 */
export async function fieldsOfBack(
  kind: EditedKind,
  current: Values,
  fields: readonly FieldThen[],
  living: FindLiving = livingIds,
): Promise<BackField[]> {
  const defined = (await definitionsOf(kind)).map(customField);
  const writable = new Map([...allFieldsOf(kind, false), ...defined].map((each) => [each.name, each]));
  const told = fields.filter(({ field }) => !SELF_EVIDENT.has(field));
  return Promise.all(told.map((each) => backField(writable.get(each.field), current, each, living)));
}

// Texts for restoring individual fields of a record.
const BRING_BACK = {
  cannot: {
    derived: "cannot be written: the appliance works it out, or a scan reads it.",
    parts: "is a record of its own: restore it on its own page.",
    placed: "says where it belongs, and does not change.",
    credentials: "is set by an Admin, with the credentials of the host.",
    gone: "names what is gone since: restore that first.",
    empty: "had no value then, and must have one.",
    undefinedNow: "is a field that the organization no longer has.",
    same: "is already as it was.",
  },
};

async function backField(
  of: FormField | undefined,
  current: Values,
  { field, was }: FieldThen,
  living: FindLiving,
): Promise<BackField> {
  const now = valueIn(current, { name: field });
  const told = { field, was, now, gone: [] };
  const cannot = whyNot(of, field, was);
  if (cannot !== null) return { ...told, cannot };
  if (isSame(now, was)) return { ...told, cannot: BRING_BACK.cannot.same };
  const ids = idsIn(field, was);
  if (ids.length === 0) return { ...told, cannot: null };
  const there = await living(field, ids);
  const gone = ids.filter((id) => !there.has(id));
  if (gone.length === 0) return { ...told, cannot: null };
  if (!Array.isArray(was)) return { ...told, cannot: BRING_BACK.cannot.gone };
  const left = was.filter((id) => there.has(String(id)));
  return { field, now, was: left, gone, cannot: isSame(now, left) ? BRING_BACK.cannot.gone : null };
}

function whyNot(of: FormField | undefined, field: string, was: unknown): string | null {
  const { cannot } = BRING_BACK;
  if (PARTS.has(field)) return cannot.parts;
  if (PLACES.has(field)) return cannot.placed;
  if (field === "credential_assignments") return cannot.credentials;
  if (of === undefined) return customKeyOf({ name: field }) === null ? cannot.derived : cannot.undefinedNow;
  const isEmpty = was === null || was === undefined;
  return isEmpty && !of.isNullable ? cannot.empty : null;
}

/** Ignores the order of multiple values. */
function isSame(one: unknown, other: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(Array.isArray(value) ? value.map((each) => JSON.stringify(each)).toSorted() : (value ?? null));
  return text(one) === text(other);
}

/** Kinds that a field can reference; the other end of a link is a host or an interface. */
function kindsIn(field: string): RecordKind[] {
  return field === "neighbor" ? ["host", "if_entry"] : [referredKind(field) ?? []].flat();
}

/** Ids in a field's value; empty for a field without references. */
function idsIn(field: string, was: unknown): string[] {
  if (kindsIn(field).length === 0 || was === null || was === undefined) return [];
  const { id = was } = was as { readonly id?: unknown };
  return (Array.isArray(id) ? id : [id]).map(String);
}

async function livingIds(field: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  for (const group of idGroups(ids))
    for (const kind of kindsIn(field)) {
      const query = { ids: group, limit: IDS_MAX, ...entryOf(kind)?.alone };
      for (const { id } of (await read(apiPath(kind), { query }).load()).data) there.add(id);
    }
  return there;
}

/**
 * Body of the update: required fields with their present values, and the restored fields.
 * @param current the present record
 */
export function bodyOfBack(
  kind: EditedKind,
  current: Values,
  wanted: ReadonlyArray<Pick<BackField, "field" | "was">>,
): Record<string, unknown> {
  return {
    ...requiredOf(allFieldsOf(kind, false), current),
    ...bodyWith(wanted.map(({ field, was }) => [field, was ?? null])),
  };
}
