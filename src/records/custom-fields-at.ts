// The custom fields of an organization as of an instant: what the columns of a table and the fields of a filter are made
// of. Looked up only where a table or a filter asks.

import { CUSTOM_FIELDS, customFieldName } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { type CustomFieldRecord, customFieldKind } from "../resources/custom-fields/custom-field.ts";
import type { FieldKind, FieldType } from "../resources/custom-fields/field-type.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import type { ValueType } from "./filter/value-tests.ts";

/** Those of an organization as of an instant, in the order in which they were made. @param asOf null for now */
export function customFieldsAt(reader: Reader, reach: Reach, asOf: AsOf | null): CustomFieldRecord[] {
  const items = reader.items({ kind: customFieldKind, reach, asOf, limit: 0, offset: 0 });
  return items.map(({ text }) => JSON.parse(text) as CustomFieldRecord);
}

/** Those of one kind of record. */
export function ofKind(fields: readonly CustomFieldRecord[], kindName: string): CustomFieldRecord[] {
  return fields.filter(({ kinds }) => kinds.includes(kindName as FieldKind));
}

/** What a filter asks of the custom fields of a kind: of each its type, by key. */
export type CustomFieldsOf = (kindName: string) => ReadonlyMap<string, FieldOfFilter>;

export interface FieldOfFilter {
  readonly value: ValueType;
  /** Its label, and what else is said of it. */
  readonly description: string;
}

/** None at all. */
export const NO_CUSTOM_FIELDS: CustomFieldsOf = () => new Map();

/**
 * Those that a filter can ask as of an instant: those of then, and for an instant before a field was made those of today,
 * so that a filter goes along through time. Looked up when the first is asked.
 */
export function askableFields(reader: Reader, reach: Reach, asOf: AsOf | null): CustomFieldsOf {
  let fields: CustomFieldRecord[] | null = null;
  const known = new Map<string, ReadonlyMap<string, FieldOfFilter>>();
  return (kindName) => {
    let found = known.get(kindName);
    if (found === undefined) {
      fields ??= [
        ...(asOf === null ? [] : customFieldsAt(reader, reach, null)),
        ...customFieldsAt(reader, reach, asOf),
      ];
      found = new Map(ofKind(fields, kindName).map((field) => [field.key, askable(field)]));
      known.set(kindName, found);
    }
    return found;
  };
}

function askable({ type, choices, label, description }: CustomFieldRecord): FieldOfFilter {
  const about = [label, description].filter((text) => text !== null).join(": ");
  return { value: VALUE_TYPE_OF[type](choices), description: about };
}

const VALUE_TYPE_OF: { readonly [Type in FieldType]: (choices: readonly string[]) => ValueType } = {
  text: () => ({ name: "text" }),
  url: () => ({ name: "text" }),
  number: () => ({ name: "number", isInBits: false }),
  boolean: () => ({ name: "boolean" }),
  date: () => ({ name: "date" }),
  choice: (values) => ({ name: "enumeration", values }),
};

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
  return ownValue(values as Readonly<Record<string, unknown>>, key);
}
