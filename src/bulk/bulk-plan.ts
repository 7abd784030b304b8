// Plan of a bulk write, reported as a diff before and after the write. Writes nothing.

import { type Static, Type } from "@sinclair/typebox";
import { CUSTOM_FIELDS, changedCustomFields, fieldValueOf } from "../base/custom-field-names.ts";
import type { NetChange, WriteTransaction } from "../db/writing/transaction.ts";
import { CHANGE_LOG_RESOURCES } from "../records/resources.ts";
import { displayNameOf, liveNameLookup } from "../resources/bindings/display-names.ts";
import { ReportedPlanToken } from "../schemas/plan-token.ts";
import { Nullable, OneOf, Uuid } from "../schemas/schemas.ts";

/** Maximum changes listed per response; a longer list adds nothing. All changes are counted. */
export const BULK_CHANGES_MAX = 10_000;

const TYPES = CHANGE_LOG_RESOURCES.map(({ kind }) => kind.name);
const SHOWN_TYPES: ReadonlySet<string> = new Set(TYPES);

export const BulkChange = Type.Object(
  {
    entity_type: OneOf(TYPES),
    id: Nullable(Uuid, { description: "Null for a record that gets its id when it is created." }),
    name: Type.String({
      description: "The record's name, address or number; for a binding, its two endpoints.",
    }),
    operation: OneOf(["Created", "Updated", "Deleted"] as const),
    fields: Type.Array(
      Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() }, { $id: "BulkFieldChange" }),
      { description: "Field by field. A field without a value is null." },
    ),
  },
  { $id: "BulkChange" },
);
export type BulkChange = Static<typeof BulkChange>;

/** Fields of every such response. */
export const bulkPlanFields = {
  applied: Type.Boolean({
    description: "Whether anything was written; false for a dry run, and if there was nothing to change.",
  }),
  sequence: Nullable(Type.Integer({ minimum: 1 }), {
    description: "The transaction, which can be reverted; null if nothing was written.",
  }),
  plan: ReportedPlanToken,
  changes: Type.Array(BulkChange, { description: `The first ${BULK_CHANGES_MAX} changes; \`counts\` counts all.` }),
};

/** A command's report as rendered JSON object members, rendered once. */
export interface ReportedBulk {
  readonly members: string;
}

/**
 * First net changes of a transaction, for kinds shown in the change log; excludes records with changes only in their
 * parts.
 * @param isNew whether a record's id was generated in this transaction, and so would differ in the next one
 */
export function plannedChanges(tx: WriteTransaction, isNew: (id: string) => boolean): BulkChange[] {
  const changes: BulkChange[] = [];
  for (const change of tx.eachNetChange()) {
    const { kind, id, operation } = change;
    if (!SHOWN_TYPES.has(kind.name)) continue;
    changes.push({
      entity_type: kind.name,
      id: isNew(id) ? null : id,
      name: nameOf(tx, change),
      operation,
      fields: changedFields(change),
    });
    if (changes.length === BULK_CHANGES_MAX) break;
  }
  return changes;
}

/** Name after the write, or before it for a removed record. */
function nameOf(tx: WriteTransaction, { kind, before, after }: NetChange): string {
  return displayNameOf(kind, after ?? before ?? {}, liveNameLookup(tx)) ?? "";
}

const COMMON_FIELDS = new Set(["id", "created_at", "updated_at", "valid_from", "lineage_id"]);

function changedFields({ changed, before, after }: NetChange): BulkChange["fields"] {
  const [from, to] = [before ?? {}, after ?? {}] as Array<Readonly<Record<string, unknown>>>;
  const names =
    changed ??
    Object.keys({ ...from, ...to })
      .filter((name) => !COMMON_FIELDS.has(name))
      .flatMap((name) =>
        name === CUSTOM_FIELDS ? changedCustomFields(from?.[CUSTOM_FIELDS], to?.[CUSTOM_FIELDS]) : [name],
      );
  return names.flatMap((field) => {
    const values = { from: fieldValueOf(from ?? {}, field) ?? null, to: fieldValueOf(to ?? {}, field) ?? null };
    // Omits fields that have no value in a new or removed record.
    return changed === null && values.from === null && values.to === null ? [] : { field, ...values };
  });
}

/**
 * Token of a plan: a hash of the request and of the version of each affected record. The outcome depends on these, and
 * on records that they refer to.
 * @param ids of the affected records, changed or not
 */
export function planToken(tx: WriteTransaction, request: string, ids: Iterable<string>): string {
  const hasher = new Bun.CryptoHasher("sha256").update(request);
  for (const id of ids) hasher.update(`\n${id} ${tx.versionOf(id).sequence}`);
  return hasher.digest("hex");
}
