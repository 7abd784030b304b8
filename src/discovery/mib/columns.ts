// Accessors for the results of a plan's steps: columns, scalars and table completeness. Independent of any MIB.

import type { TableReport } from "../device.ts";
import { countRows, type RowCount, type RowOutcome } from "../rows.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { subIdsOf } from "./values.ts";

type NamedStep = Pick<ReadStep, "name">;
/** Steps with column or scalar names known to the compiler: a mistyped name would read as not served. */
type NamedColumns = NamedStep & Required<Pick<ReadStep, "columns">>;
type NamedScalars = NamedStep & Required<Pick<ReadStep, "scalars">>;

/** Returns an empty column if the step was not polled, or an unread one if only this column is missing. */
export function columnOf<Step extends NamedColumns>(
  reads: Reads,
  step: Step,
  column: keyof Step["columns"] & string,
): ColumnRead {
  const read = reads.get(step.name);
  return read === undefined ? NOT_POLLED : (read.columns.get(column) ?? NOT_READ);
}

export function scalarOf<Step extends NamedScalars>(
  reads: Reads,
  step: Step,
  scalar: keyof Step["scalars"] & string,
): SnmpValue | undefined {
  return reads.get(step.name)?.scalars.get(scalar);
}

/** Returns the decoded value; null if a column read completely has no value for the row; undefined if unknown. */
export function reported<Value>(
  column: ColumnRead,
  index: string,
  decode: (value: SnmpValue) => Value,
): Value | null | undefined {
  const value = column.values.get(index);
  if (value !== undefined) return decode(value);
  return column.isComplete && column.values.size > 0 ? null : undefined;
}

export function rowsOf(columns: readonly ColumnRead[]): Iterable<string> {
  const [first, ...others] = columns;
  if (first === undefined) return [];
  if (others.every(({ values }) => values.size === first.values.size && sameKeys(values, first.values)))
    return first.values.keys();
  const rows = new Set<string>();
  for (const { values } of columns) for (const index of values.keys()) rows.add(index);
  return rows;
}

/** @param length number of sub-identifiers */
export function hasOtherIndexes({ values }: ColumnRead, length: number): boolean {
  for (const index of values.keys()) if (subIdsOf(index).length !== length) return true;
  return false;
}

/** Counts the rows of a step by outcome. A row counts if it appears in any column. */
export function countStep(reads: Reads, step: NamedStep, outcomeOf: (index: string) => RowOutcome): RowCount {
  return countRows(rowsOf([...(reads.get(step.name)?.columns.values() ?? [])]), outcomeOf);
}

export function hasRows(reads: Reads, { name }: NamedStep): boolean {
  for (const { values } of reads.get(name)?.columns.values() ?? []) if (values.size > 0) return true;
  return false;
}

export function isStepComplete(reads: Reads, { name }: NamedStep): boolean {
  for (const { isComplete } of reads.get(name)?.columns.values() ?? []) if (!isComplete) return false;
  return true;
}

/** True if the agent served the columns before and now returns nothing for any of them. */
export function areLost(columns: readonly ColumnRead[]): boolean {
  const isEmpty = (column: ColumnRead): boolean =>
    column.values.size === 0 && (column.isComplete || column.isLost === true);
  return columns.some(({ isLost }) => isLost === true) && columns.every(isEmpty);
}

/** True if all columns were read completely, are empty, and one was once served. */
export function areEnded(columns: readonly ColumnRead[]): boolean {
  return (
    columns.some(({ isEnded }) => isEnded === true) &&
    columns.every(({ isComplete, values }) => isComplete && values.size === 0)
  );
}

export function hasScalarsProblem(reads: Reads, { name }: NamedStep): boolean {
  return (reads.get(name)?.scalarsProblem ?? null) !== null;
}

export function areComplete(columns: readonly ColumnRead[]): boolean {
  return columns.every((column) => column.isComplete);
}

/**
 * Reports the completeness of a table.
 * @param isServed true if the device is known to have the table: an empty table is then complete and clears stored
 * data. Otherwise an empty table is absent.
 * @param notes unusable data, as user-readable clauses: they make the table partial
 */
export function reportOn(
  reads: Reads,
  steps: readonly string[],
  isServed: boolean,
  notes: readonly string[] = [],
): TableReport {
  const problems = new Set<string>();
  let isAnythingRead = false;
  for (const step of steps) {
    const read = reads.get(step);
    if (read === undefined) continue;
    if (read.scalarsProblem !== null) problems.add(read.scalarsProblem);
    if (read.scalars.size > 0) isAnythingRead = true;
    for (const column of read.columns.values()) {
      if (!column.isComplete) problems.add(column.problem ?? "it was not read completely");
      if (column.values.size > 0) isAnythingRead = true;
    }
  }
  if (problems.size > 0)
    return { state: isAnythingRead ? "partial" : "failed", problem: [...problems, ...notes].join("; ") };
  if (notes.length > 0) return { state: "partial", problem: notes.join("; ") };
  return { state: isServed ? "complete" : "absent", problem: null };
}

const NOT_POLLED: ColumnRead = { isComplete: true, problem: null, values: new Map() };
const NOT_READ: ColumnRead = { isComplete: false, problem: null, values: new Map() };

function sameKeys(some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): boolean {
  for (const key of some.keys()) if (!others.has(key)) return false;
  return true;
}
