// Column roles of imported tables: which columns are written, and which are read-only.

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import { nameColumnOf, withNames } from "../records/name-columns.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import type { Named } from "../resources/resource.ts";
import { schemaColumns } from "../schemas/csv.ts";
import { plainSchema } from "./cell-values.ts";
import { NAME_CELLS, type NameCell } from "./name-cells.ts";

/** Role of a column in an import. */
export type ColumnRole =
  /** A field of the record's body, or its id. */
  | { readonly type: "Field"; readonly schema: TSchema }
  /** Names of the records whose ids are in another column. `cell`: for cells that contain more than names. */
  | {
      readonly type: "Names";
      readonly ids: string;
      readonly schema: TSchema;
      readonly isList: boolean;
      readonly of: Named;
      readonly cell?: NameCell;
    }
  /** Shown by exports, but never written. */
  | { readonly type: "Shown" };

const roles = new WeakMap<RecordWrites, ReadonlyMap<string, ColumnRole>>();

/** Every column of the kind's export, by name. */
export function columnRoles(importable: RecordWrites): ReadonlyMap<string, ColumnRole> {
  const cached = roles.get(importable);
  if (cached !== undefined) return cached;
  const { resource, Create, parts = [] } = importable;
  // Custom fields are defined by each organization.
  const exported = (resource.columns ?? schemaColumns(resource.responseSchema)).filter(
    ({ name }) => name !== CUSTOM_FIELDS,
  );
  // Tables contain too few fields of parts to write them.
  const isReadOnly = (name: string) =>
    name !== "fdb_macs" && (parts.includes(name) || !Object.hasOwn(Create.properties, name));
  const result = new Map<string, ColumnRole>();
  for (const { name } of withNames(exported, () => "")) {
    if (Object.hasOwn(Create.properties, name) && !isReadOnly(name))
      result.set(name, { type: "Field", schema: ownValue(Create.properties, name) as TSchema });
    else result.set(name, { type: "Shown" });
  }
  for (const name of [...result.keys()]) {
    const naming = nameColumnOf(name);
    const schema = ownValue(Create.properties, name) as TSchema | undefined;
    const cell = ownValue(NAME_CELLS, name);
    // The id column may be read-only if the name column is complete.
    if (naming === null || schema === undefined || (cell === undefined && result.get(name)?.type !== "Field")) continue;
    if (!naming.isPlain && cell === undefined) continue;
    const [of] = naming.of as [Named];
    result.set(naming.column, { type: "Names", ids: name, schema, isList: isList(schema), of, ...(cell && { cell }) });
  }
  roles.set(importable, result);
  return result;
}

/** Whether a table of the kind may have the column; for a custom field, checks only the form of its name. */
export function mayHaveColumn(importable: RecordWrites, name: string): boolean {
  const isCustom = Object.hasOwn(importable.Create.properties, CUSTOM_FIELDS) && customFieldKey(name) !== null;
  return isCustom || columnRoles(importable).has(name);
}

/** Columns allowed in `match`: strings, numbers and references. */
export function matchColumns(importable: RecordWrites): string[] {
  return [...columnRoles(importable)].flatMap(([name, role]) =>
    role.type === "Field" && ["string", "integer"].includes(plainSchema(role.schema).type as string) ? name : [],
  );
}

function isList(schema: TSchema): boolean {
  return KindGuard.IsArray(plainSchema(schema));
}
