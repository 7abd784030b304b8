// Name columns of tables: pairs each id column with a column of names, and determines the referenced kinds. Does not
// look up names; see reference-names.ts.

import { ownValue } from "../base/fields.ts";
import type { ColumnOfObjects, Named, ObjectNames } from "../resources/resource.ts";
import { virtualizingService } from "../resources/services/resource.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import { PARTS } from "./resources.ts";

/** A referenced record. */
export interface Target {
  readonly of: Named;
  readonly id: string;
}

/** Returns a record's name; null if not visible to the caller. */
export type NameOf = (target: Target) => string | number | null;

interface NameColumn {
  readonly of: Named;
  readonly column: string | ColumnOfObjects;
}

/** By id column. One column may hold ids of several kinds. */
const NAME_COLUMNS: ReadonlyMap<string, readonly NameColumn[]> = Map.groupBy(
  [...PARTS, virtualizingService]
    .flatMap((part) => (part.names === undefined ? [] : [part as Named]))
    .flatMap((of) => Object.entries(of.names.columns).map(([ids, column]) => ({ ids, of, column }))),
  ({ ids }) => ids,
);

/**
 * Kinds of the ids in a column, and its name column; null for any other column.
 * @returns `isPlain`: whether the cells contain nothing but ids
 */
export function nameColumnOf(
  idsColumn: string,
): { readonly of: readonly Named[]; readonly column: string; readonly isPlain: boolean } | null {
  const nameColumns = NAME_COLUMNS.get(idsColumn) ?? [];
  const [nameColumn] = nameColumns;
  if (nameColumn === undefined) return null;
  const isPlain = typeof nameColumn.column === "string";
  const column = typeof nameColumn.column === "string" ? nameColumn.column : nameColumn.column.name;
  return { of: nameColumns.map(({ of }) => of), column, isPlain };
}

/** Inserts a name column after each id column. */
export function withNames(columns: readonly CsvColumn[], nameOf: NameOf): CsvColumn[] {
  return columns.flatMap((column) => {
    const [nameColumn] = NAME_COLUMNS.get(column.name) ?? [];
    if (nameColumn === undefined) return [column];
    const textOf = typeof nameColumn.column === "string" ? undefined : nameColumn.column.text;
    const cell = (record: Record<string, unknown>) => {
      const value = ownValue(record, column.name);
      if (textOf !== undefined) {
        const renderItem = (item: unknown) => textOf(item, namesIn(targetsOf(column, [item]), nameOf));
        return Array.isArray(value) ? value.map(renderItem) : value == null ? null : renderItem(value);
      }
      const found = targetsOf(column, value).map((target) => nameOf(target) ?? "");
      // One name per id, in the same order.
      return Array.isArray(value) ? found : found[0];
    };
    return [column, { name: typeof nameColumn.column === "string" ? nameColumn.column : nameColumn.column.name, cell }];
  });
}

function namesIn(targets: readonly Target[], nameOf: NameOf): ObjectNames {
  const names: Record<string, string | number> = {};
  for (const target of targets) {
    const name = nameOf(target);
    if (name !== null) names[target.of.kind.name] = name;
  }
  return names;
}

/** Records whose names `withNames` will request for these records. */
export function targetsIn(columns: readonly CsvColumn[], records: ReadonlyArray<Record<string, unknown>>): Target[] {
  return columns.flatMap((column) =>
    NAME_COLUMNS.has(column.name) ? records.flatMap((record) => targetsOf(column, ownValue(record, column.name))) : [],
  );
}

/** Example name for the documentation of a table. */
export function exampleName({ of }: Target): string | number {
  return of.names.example;
}

function targetsOf({ name }: CsvColumn, value: unknown): Target[] {
  const found: Target[] = [];
  for (const item of Array.isArray(value) ? value : [value ?? null]) {
    for (const { of, column } of item === null ? [] : (NAME_COLUMNS.get(name) ?? [])) {
      const id: unknown = typeof column === "string" ? item : column.id(item);
      if (typeof id === "string") found.push({ of, id });
    }
  }
  return found;
}
