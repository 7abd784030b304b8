// Custom fields of an organization at a point in time, for table columns and filter fields. Looked up only if a table
// or filter needs them.

import { CUSTOM_FIELDS, customFieldName } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { type CustomFieldRecord, customFieldKind } from "../resources/custom-fields/custom-field.ts";
import type { FieldKind, FieldType } from "../resources/custom-fields/field-type.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import type { ValueType } from "./filter/value-tests.ts";

/** Custom fields of an organization, in order of creation. @param asOf null for now */
export function customFieldsAt(reader: Reader, reach: Reach, asOf: AsOf | null): CustomFieldRecord[] {
  const items = reader.items({ kind: customFieldKind, reach, asOf, limit: 0, offset: 0 });
  return items.map(({ text }) => JSON.parse(text) as CustomFieldRecord);
}

/** Custom fields of one kind of record. */
export function ofKind(fields: readonly CustomFieldRecord[], kindName: string): CustomFieldRecord[] {
  return fields.filter(({ kinds }) => kinds.includes(kindName as FieldKind));
}

/** Filter types of a kind's custom fields, by key. */
export type CustomFieldsOf = (kindName: string) => ReadonlyMap<string, FilterField>;

export interface FilterField {
  readonly value: ValueType;
  /** Its label and description. */
  readonly description: string;
}

/** No custom fields. */
export const NO_CUSTOM_FIELDS: CustomFieldsOf = () => new Map();

/**
 * Custom fields that a filter accepts at a point in time: those of that time and, for the time before a field was
 * created, the current ones, so that one filter works across history. Looked up on first use.
 */
export function filterableFields(reader: Reader, reach: Reach, asOf: AsOf | null): CustomFieldsOf {
  let fields: CustomFieldRecord[] | null = null;
  const known = new Map<string, ReadonlyMap<string, FilterField>>();
  return (kindName) => {
    let found = known.get(kindName);
    if (found === undefined) {
      fields ??= [
        ...(asOf === null ? [] : customFieldsAt(reader, reach, null)),
        ...customFieldsAt(reader, reach, asOf),
      ];
      found = new Map(ofKind(fields, kindName).map((field) => [field.key, toFilterField(field)]));
      known.set(kindName, found);
    }
    return found;
  };
}

function toFilterField({ type, choices, label, description }: CustomFieldRecord): FilterField {
  const text = [label, description].filter((text) => text !== null).join(": ");
  return { value: VALUE_TYPE_OF[type](choices), description: text };
}

const VALUE_TYPE_OF: { readonly [Type in FieldType]: (choices: readonly string[]) => ValueType } = {
  text: () => ({ name: "text" }),
  url: () => ({ name: "text" }),
  number: () => ({ name: "number", isInBits: false }),
  boolean: () => ({ name: "boolean" }),
  date: () => ({ name: "date" }),
  choice: (values) => ({ name: "enumeration", values }),
};

/** Replaces the column of all custom fields by one column per field. */
export function withCustomFields(
  columns: readonly CsvColumn[],
  fieldsOf: () => readonly CustomFieldRecord[],
): readonly CsvColumn[] {
  if (!columns.some(({ name }) => name === CUSTOM_FIELDS)) return columns;
  return columns.flatMap((column) =>
    column.name === CUSTOM_FIELDS
      ? fieldsOf().map(({ key }) => ({
          name: customFieldName(key),
          cell: (record) => customValue(column.cell(record), key),
        }))
      : [column],
  );
}

function customValue(values: unknown, key: string): unknown {
  if (typeof values !== "object" || values === null || !Object.hasOwn(values, key)) return null;
  return ownValue(values as Readonly<Record<string, unknown>>, key);
}
