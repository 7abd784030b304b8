// Records with a value of a custom field, and the effect of changing or deleting the field. Reads the live tables
// through the index of records with custom fields.

import { getTableName } from "drizzle-orm";
import { CUSTOM_FIELDS, canonicalOrder } from "../../base/custom-field-names.ts";
import { countedEntities } from "../../base/entity-words.ts";
import { DomainError } from "../../base/errors.ts";
import { ownValue } from "../../base/fields.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type CustomFieldRecord, customFieldKind } from "./custom-field.ts";
import type { FieldValue } from "./field-type.ts";
import type { FieldValues } from "./field-values.ts";

/** A record with a value of a field. */
export interface Holder {
  readonly kind: AnyKind;
  readonly record: HoldingRecord;
  readonly value: FieldValue;
}
type HoldingRecord = RecordBase & { readonly custom_fields?: FieldValues | undefined };

/** Live records with a value of a field, including changes made in this transaction. */
export function holdersOf(tx: WriteTransaction, field: CustomFieldRecord, kinds = field.kinds): Holder[] {
  return kinds.flatMap((name) => {
    const kind = tx.kindByName(name);
    return [...idsIn(tx, kind, field)].flatMap((id): Holder[] => {
      const record = tx.find(kind, id) as HoldingRecord | null;
      const value = ownValue(record?.custom_fields, field.key);
      return record === null || value === undefined ? [] : [{ kind, record, value }];
    });
  });
}

/** Reads the live tables and the changes made in this transaction. */
function idsIn(tx: WriteTransaction, kind: AnyKind, { organization_id, key }: CustomFieldRecord): Set<string> {
  const organizationN = tx.recordN(organization_id);
  // The key format allows only characters that need no quoting in a JSON path.
  const sql = `SELECT r.id FROM ${getTableName(kind.table)} l CROSS JOIN history_records r ON r.n = l.n
    WHERE l.organization_n = +?1 AND instr(l.members, '"custom_fields":{') > 0
      AND ('{' || l.members || '}') -> '$.custom_fields.${key}' IS NOT NULL ORDER BY l.n`;
  const rows = organizationN === null ? [] : (tx.db.$client.query(sql).values(organizationN) as Array<[string]>);
  const ids = new Set(rows.map(([id]) => id));
  for (const { id } of tx.changedOf(kind) as RecordBase[]) ids.add(id);
  return ids;
}

/**
 * @param subject of the error's sentence: `The custom field rack`
 * @param remedy alternatives for the client
 * @throws DomainError entity_in_use with the holders counted by kind
 */
export function assertNoHolders(
  holders: readonly Holder[],
  field: CustomFieldRecord,
  { subject, remedy }: { readonly subject: string; readonly remedy: string },
): void {
  if (holders.length === 0) return;
  const counts = Map.groupBy(holders, ({ kind }) => kind);
  const counted = [...counts].map(([kind, { length }]) => countedEntities(kind, length)).join(", ");
  throw new DomainError("entity_in_use", `${subject} has values in ${counted}; ${remedy}.`, {
    entity: customFieldKind.name,
    id: field.id,
    dependants: Object.fromEntries([...counts].map(([kind, { length }]) => [kind.plural, length])),
  });
}

/** Clears a field on every record with a value. */
export function clearValues(tx: WriteTransaction, field: CustomFieldRecord): void {
  for (const { kind, record } of holdersOf(tx, field))
    tx.update(kind, record.id, { [CUSTOM_FIELDS]: valuesWithout(record, field.key) });
}

/** The values without one field; undefined if none is left. */
export function valuesWithout({ custom_fields: values = {} }: HoldingRecord, key: string): FieldValues | undefined {
  const { [key]: _removed, ...rest } = values;
  return canonicalOrder(rest);
}
