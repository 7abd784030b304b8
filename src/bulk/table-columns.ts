// Columns of the tables that come in: what of a row is written, and what is only shown.

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import { namingOf, withNames } from "../records/name-columns.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import type { Named } from "../resources/resource.ts";
import { schemaColumns } from "../schemas/csv.ts";
import { plainSchema } from "./cell-values.ts";
import { NAME_CELLS, type NameCell } from "./name-cells.ts";

/** What a column is to an import. */
export type ColumnRole =
  /** A field of the record's bodies, or its id. */
  | { readonly as: "Field"; readonly schema: TSchema }
  /** The names of the records whose ids another column holds. `cell`: where there is more to a cell than names. */
  | {
      readonly as: "Names";
      readonly ids: string;
      readonly schema: TSchema;
      readonly isList: boolean;
      readonly of: Named;
      readonly cell?: NameCell;
    }
  /** What an export shows besides: it is not written. */
  | { readonly as: "Shown" };

const roles = new WeakMap<RecordWrites, ReadonlyMap<string, ColumnRole>>();

/** By its name, every column that an export of the kind writes. */
export function columnRoles(importable: RecordWrites): ReadonlyMap<string, ColumnRole> {
  const known = roles.get(importable);
  if (known !== undefined) return known;
  const { resource, Create, parts = [] } = importable;
  // Which custom fields there are, each organization says.
  const own = (resource.columns ?? schemaColumns(resource.answer)).filter(({ name }) => name !== CUSTOM_FIELDS);
  // A table has less of parts than it takes to write them.
  const isShown = (name: string) =>
    name !== "fdb_macs" && (parts.includes(name) || !Object.hasOwn(Create.properties, name));
  const made = new Map<string, ColumnRole>();
  for (const { name } of withNames(own, () => "")) {
    if (Object.hasOwn(Create.properties, name) && !isShown(name))
      made.set(name, { as: "Field", schema: ownValue(Create.properties, name) as TSchema });
    else made.set(name, { as: "Shown" });
  }
  for (const name of [...made.keys()]) {
    const naming = namingOf(name);
    const schema = ownValue(Create.properties, name) as TSchema | undefined;
    const cell = ownValue(NAME_CELLS, name);
    // The cell of ids may only be shown, where that of names says all.
    if (naming === null || schema === undefined || (cell === undefined && made.get(name)?.as !== "Field")) continue;
    if (!naming.isPlain && cell === undefined) continue;
    const [of] = naming.of as [Named];
    made.set(naming.column, { as: "Names", ids: name, schema, isList: isList(schema), of, ...(cell && { cell }) });
  }
  roles.set(importable, made);
  return made;
}

/** Whether a table of the kind may have the column; of a custom field, only its form is looked at. */
export function mayHaveColumn(importable: RecordWrites, name: string): boolean {
  const isCustom = Object.hasOwn(importable.Create.properties, CUSTOM_FIELDS) && customFieldKey(name) !== null;
  return isCustom || columnRoles(importable).has(name);
}

/** The columns that `match` may name: texts, numbers and references. */
export function matchColumns(importable: RecordWrites): string[] {
  return [...columnRoles(importable)].flatMap(([name, role]) =>
    role.as === "Field" && ["string", "integer"].includes(plainSchema(role.schema).type as string) ? name : [],
  );
}

function isList(schema: TSchema): boolean {
  return KindGuard.IsArray(plainSchema(schema));
}
