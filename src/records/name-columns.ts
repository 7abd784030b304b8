// The columns of a table that say what its ids stand for: which column has which beside it, and whose names are in it.
// Must not look names up: that is reference-names.ts.

import { ownValue } from "../base/fields.ts";
import type { ColumnOfObjects, Named, ObjectNames } from "../resources/resource.ts";
import { virtualizingService } from "../resources/services/resource.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import { PARTS } from "./resources.ts";

/** A record that another one refers to. */
export interface Target {
  readonly of: Named;
  readonly id: string;
}

/** What people call a record; null for one that the caller does not see. */
export type NameOf = (target: Target) => string | number | null;

interface Naming {
  readonly of: Named;
  readonly column: string | ColumnOfObjects;
}

/** By the column of the ids. One column may hold ids of more than one kind. */
const NAMINGS: ReadonlyMap<string, readonly Naming[]> = Map.groupBy(
  [...PARTS, virtualizingService]
    .flatMap((part) => (part.names === undefined ? [] : [part as Named]))
    .flatMap((of) => Object.entries(of.names.columns).map(([ids, column]) => ({ ids, of, column }))),
  ({ ids }) => ids,
);

/**
 * Whose ids a column holds, and the column of their names beside it; null for one that holds none.
 * @returns `isPlain`: whether its cells are ids, and nothing else
 */
export function namingOf(
  idsColumn: string,
): { readonly of: readonly Named[]; readonly column: string; readonly isPlain: boolean } | null {
  const namings = NAMINGS.get(idsColumn) ?? [];
  const [naming] = namings;
  if (naming === undefined) return null;
  const isPlain = typeof naming.column === "string";
  const column = typeof naming.column === "string" ? naming.column : naming.column.name;
  return { of: namings.map(({ of }) => of), column, isPlain };
}

/** The columns, and right after each that holds ids the one of their names. */
export function withNames(columns: readonly CsvColumn[], nameOf: NameOf): CsvColumn[] {
  return columns.flatMap((column) => {
    const [naming] = NAMINGS.get(column.name) ?? [];
    if (naming === undefined) return [column];
    const textOf = typeof naming.column === "string" ? undefined : naming.column.text;
    const cell = (record: Record<string, unknown>) => {
      const value = ownValue(record, column.name);
      if (textOf !== undefined) {
        const said = (item: unknown) => textOf(item, namesIn(targetsOf(column, [item]), nameOf));
        return Array.isArray(value) ? value.map(said) : value == null ? null : said(value);
      }
      const found = targetsOf(column, value).map((target) => nameOf(target) ?? "");
      // As many names as there are ids, in their order.
      return Array.isArray(value) ? found : found[0];
    };
    return [column, { name: typeof naming.column === "string" ? naming.column : naming.column.name, cell }];
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

/** What `withNames` is going to ask the names of, for these records. */
export function targetsIn(columns: readonly CsvColumn[], records: ReadonlyArray<Record<string, unknown>>): Target[] {
  return columns.flatMap((column) =>
    NAMINGS.has(column.name) ? records.flatMap((record) => targetsOf(column, ownValue(record, column.name))) : [],
  );
}

/** A name for the documentation's example of a table. */
export function exampleName({ of }: Target): string | number {
  return of.names.example;
}

function targetsOf({ name }: CsvColumn, value: unknown): Target[] {
  const found: Target[] = [];
  for (const item of Array.isArray(value) ? value : [value ?? null]) {
    for (const { of, column } of item === null ? [] : (NAMINGS.get(name) ?? [])) {
      const id: unknown = typeof column === "string" ? item : column.id(item);
      if (typeof id === "string") found.push({ of, id });
    }
  }
  return found;
}
