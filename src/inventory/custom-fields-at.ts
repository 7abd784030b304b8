// The custom fields of an organization as of an instant: what the columns of a table and the fields of a filter are made
// of. Looked up only where a table or a filter asks.

import { CUSTOM_FIELDS, customFieldName } from "../base/custom-field-names.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { type CustomFieldRecord, customFieldKind } from "../resources/custom-fields/custom-field.ts";
import type { FieldKind } from "../resources/custom-fields/field-type.ts";
import type { CsvColumn } from "../wire/csv.ts";

/** Those of an organization as of an instant, in the order in which they were made. @param asOf null for now */
export function customFieldsAt(reader: Reader, reach: Reach, asOf: AsOf | null): CustomFieldRecord[] {
  const items = reader.items({ kind: customFieldKind, reach, asOf, limit: 0, offset: 0 });
  return items.map(({ text }) => JSON.parse(text) as CustomFieldRecord);
}

/** Those of one kind of record. */
export function ofKind(fields: readonly CustomFieldRecord[], kindName: string): CustomFieldRecord[] {
  return fields.filter(({ kinds }) => kinds.includes(kindName as FieldKind));
}

/** The columns of a table with one for each custom field, in the place of the one that holds them all. */
export function withCustomFields(
  columns: readonly CsvColumn[],
  fieldsOf: () => readonly CustomFieldRecord[],
): readonly CsvColumn[] {
  if (!columns.some(({ name }) => name === CUSTOM_FIELDS)) return columns;
  return columns.flatMap((column) =>
    column.name === CUSTOM_FIELDS
      ? fieldsOf().map(({ key }) => ({
          name: customFieldName(key),
          cell: (record) => heldIn(column.cell(record), key),
        }))
      : [column],
  );
}

function heldIn(values: unknown, key: string): unknown {
  if (typeof values !== "object" || values === null || !Object.hasOwn(values, key)) return null;
  return (values as Readonly<Record<string, unknown>>)[key];
}
