// Single record import: creates missing ones, updates differing ones, keeps local changes. Hosts are in hosts.ts.

import type { TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldKey, fieldValueOf } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import { CustomFieldCreate } from "../resources/custom-fields/custom-field.ts";
import type { FieldKind } from "../resources/custom-fields/field-type.ts";
import { IpRangeCreate } from "../resources/ip-ranges/ip-range.ts";
import { NetworkCreate } from "../resources/networks/network.ts";
import { SubnetCreate } from "../resources/subnets/subnet.ts";
import { TagCreate } from "../resources/tags/tag.ts";
import { VlanCreate } from "../resources/vlans/vlan.ts";
import { check } from "../schemas/validation.ts";
import type { ImportRun } from "./import-run.ts";
import type { CustomValues, Origin } from "./imported-objects.ts";
import { onOneLine } from "./json-client.ts";
import type { LedgerRecord } from "./ledger.ts";
import type { LastAuthor } from "./local-changes.ts";
import { type ImportKind, PlanTally, planLine } from "./plan.ts";

interface RecordForm {
  readonly kind: ImportKind;
  readonly path: string;
  readonly create: TSchema;
  /** Fields required by a PUT. */
  readonly required: readonly string[];
}

export const RECORD_FORMS = {
  tag: { kind: "tags", path: "/tags", create: TagCreate, required: ["name", "color"] },
  field: { kind: "fields", path: "/custom-fields", create: CustomFieldCreate, required: ["kinds", "type"] },
  network: { kind: "networks", path: "/networks", create: NetworkCreate, required: ["name"] },
  vlan: { kind: "VLANs", path: "/vlans", create: VlanCreate, required: ["number"] },
  subnet: { kind: "subnets", path: "/subnets", create: SubnetCreate, required: ["cidr"] },
  range: { kind: "ranges", path: "/ip-ranges", create: IpRangeCreate, required: ["first", "last", "purpose"] },
} as const satisfies Record<string, RecordForm>;

export interface ImportedRecord {
  readonly origin: Origin;
  /** For lines of the plan. */
  readonly label: string;
  /** Values from the source; null means not specified. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Set only on creation: the record's network, and netledger's own fields. */
  readonly onCreate?: Readonly<Record<string, unknown>>;
  readonly custom?: { readonly kind: FieldKind; readonly values: CustomValues };
  /** IDs, added to the existing ones; undefined for a kind without tags. */
  readonly tags?: readonly string[];
}

/** Returns a valid API body, or its problems. */
export function checkedBody<T>(schema: TSchema, body: unknown): { readonly body: T } | { readonly refused: string } {
  const checked = check(schema, body);
  if (checked.ok) return { body: checked.value as T };
  const issues = checked.issues.slice(0, 3).map(({ path, message, value }) => {
    const shownValue = value === undefined ? "" : ` (${onOneLine(JSON.stringify(value))})`;
    return `${path.slice(1)} ${message}${shownValue}`;
  });
  return { refused: issues.join("; ") };
}

export function specified(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Builds a body from fields, some of them named `custom_fields.KEY`. */
export function bodyWithCustomFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const key = customFieldKey(name);
    if (key === null) body[name] = value;
    else custom[key] = value;
  }
  return Object.keys(custom).length === 0 ? body : { ...body, [CUSTOM_FIELDS]: custom };
}

/**
 * @param existing the record of the object; null if none
 * @returns the resulting record; null if refused
 * @throws RemoteError
 */
export async function importRecord(
  run: ImportRun,
  form: RecordForm,
  wanted: ImportedRecord,
  existing: LedgerRecord | null,
): Promise<LedgerRecord | null> {
  const { plan } = run;
  const { origin, label } = wanted;
  const custom =
    wanted.custom === undefined
      ? {}
      : run.customValues(wanted.custom.kind, wanted.custom.values, (reason) =>
          plan.refuse("fields", origin.url, reason),
        );
  const checked = checkedBody<LedgerRecord>(
    form.create,
    bodyWithCustomFields({
      id: origin.id,
      ...specified(wanted.fields),
      ...custom,
      ...wanted.onCreate,
      ...(wanted.tags === undefined ? {} : { tags: wanted.tags }),
    }),
  );
  if ("refused" in checked) {
    plan.refuse(form.kind, origin.url, checked.refused);
    return null;
  }
  if (existing !== null) {
    const names = Object.keys({ ...specified(wanted.fields), ...custom });
    const fields = Object.fromEntries(names.map((name) => [name, fieldValueOf(checked.body, name)]));
    return changeRecord(run, form, wanted, existing, fields);
  }
  if (await wasDeletedHere(run, form.path, origin.id)) {
    plan.add(form.kind, "kept", `${planLine(label, origin.url)} was deleted here`);
    return null;
  }
  const outcome = await run.ledger.write("POST", form.path, checked.body);
  if ("refusal" in outcome) {
    plan.refuse(form.kind, origin.url, outcome.refusal.message);
    return null;
  }
  plan.add(form.kind, "created", planLine(label, origin.url));
  return checked.body;
}

/** True if a missing record once existed: IDs are never reused. @throws RemoteError */
export async function wasDeletedHere(
  { isRepeated: isAgain, ledger }: ImportRun,
  path: string,
  id: string,
): Promise<boolean> {
  return isAgain && (await ledger.history(path, id, 1)).length > 0;
}

async function changeRecord(
  run: ImportRun,
  form: RecordForm,
  wanted: ImportedRecord,
  existing: LedgerRecord,
  fields: Readonly<Record<string, unknown>>,
): Promise<LedgerRecord | null> {
  const { plan, ledger } = run;
  const line = planLine(wanted.label, wanted.origin.url);
  const { changes, kept } = await changesOf(run, form.path, existing, {
    fields,
    ...(wanted.tags === undefined ? {} : { tags: wanted.tags }),
  });
  const tally = new PlanTally();
  tally.addChange(form.kind, line, Object.keys(changes), kept);
  if (Object.keys(changes).length > 0) {
    const required = Object.fromEntries(form.required.map((name) => [name, ownValue(existing, name)]));
    const outcome = await ledger.write(
      "PUT",
      `${form.path}/${existing.id}`,
      bodyWithCustomFields({ ...required, ...changes }),
    );
    if ("refusal" in outcome) {
      plan.refuse(form.kind, wanted.origin.url, outcome.refusal.message);
      return existing;
    }
  }
  plan.take(tally);
  return { ...existing, ...changes };
}

export interface ImportedChanges {
  /** As in the API. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields that the source specifies only because it must: they override only values from an import. */
  readonly weak?: readonly string[];
  readonly tags?: readonly string[];
}

/**
 * Determines the changes to a record, and the differences kept because of local changes.
 * @param path list of the record: `/hosts`
 * @throws RemoteError
 */
export async function changesOf(
  run: ImportRun,
  path: string,
  existing: LedgerRecord,
  { fields, weak = [], tags = [] }: ImportedChanges,
): Promise<{ readonly changes: Record<string, unknown>; readonly kept: readonly string[] }> {
  const { localChanges, options } = run;
  const differing = Object.keys(fields).filter(
    (name) => !Bun.deepEquals(fieldValueOf(existing, name) ?? null, ownValue(fields, name)),
  );
  const existingTags = (existing.tags ?? []) as readonly string[];
  const missing = tags.filter((tag) => !existingTags.includes(tag));
  const changes: Record<string, unknown> = {};
  const kept: string[] = [];
  if (differing.length > 0) {
    const authors = await localChanges.lastAuthors(path, existing.id, differing);
    for (const name of differing) {
      const author = authors.get(name) as LastAuthor;
      if (weak.includes(name)) {
        if (author.by === "import") changes[name] = ownValue(fields, name);
      } else if (author.by !== "somebody" || options.overwrites) changes[name] = ownValue(fields, name);
      else kept.push(`${name} was changed by ${onOneLine(author.name)} at ${author.at}`);
    }
  }
  if (missing.length > 0) {
    const removed = options.overwrites ? new Set() : await localChanges.removedTags(path, existing.id, missing);
    const added = missing.filter((tag) => !removed.has(tag));
    if (added.length > 0) changes.tags = [...existingTags, ...added];
    if (added.length < missing.length) kept.push("a tag was removed in netledger");
  }
  return { changes, kept };
}
