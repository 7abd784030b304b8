// What became of the steps of a plan: the columns and scalars by name, and how whole a table is. Knows no MIB.

import type { TableReport } from "../device.ts";
import { countRows, type RowCount, type RowFate } from "../rows.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { subIdsOf } from "./values.ts";

/** A column that was not asked for is empty: nothing in it was told. One that is missing from a step that was asked was not read. */
export function columnOf(reads: Reads, step: string, column: string): ColumnRead {
  const read = reads.get(step);
  return read === undefined ? NOT_ASKED : (read.columns.get(column) ?? NOT_READ);
}

export function scalarOf(reads: Reads, step: string, scalar: string): SnmpValue | undefined {
  return reads.get(step)?.scalars.get(scalar);
}

/**
 * What a column says of a row: its value decoded; null where a column that the device serves, read to its end, has nothing for the row; undefined
 * where nothing is known.
 */
export function told<Value>(
  column: ColumnRead,
  index: string,
  decode: (value: SnmpValue) => Value,
): Value | null | undefined {
  const value = column.values.get(index);
  if (value !== undefined) return decode(value);
  return column.isComplete && column.values.size > 0 ? null : undefined;
}

/** The indexes of all the columns, each once. */
export function rowsOf(columns: readonly ColumnRead[]): Iterable<string> {
  const [first, ...others] = columns;
  if (first === undefined) return [];
  if (others.every(({ values }) => values.size === first.values.size && sameKeys(values, first.values)))
    return first.values.keys();
  const rows = new Set<string>();
  for (const { values } of columns) for (const index of values.keys()) rows.add(index);
  return rows;
}

/** Whether a row of the column has an index of another length. @param length in numbers */
export function hasOtherIndexes({ values }: ColumnRead, length: number): boolean {
  for (const index of values.keys()) if (subIdsOf(index).length !== length) return true;
  return false;
}

/**
 * What becomes of each row of a step, in whatever columns it is.
 * @param fateOf of the row with that index
 */
export function countStep(reads: Reads, step: Pick<ReadStep, "name">, fateOf: (index: string) => RowFate): RowCount {
  return countRows(rowsOf([...(reads.get(step.name)?.columns.values() ?? [])]), fateOf);
}

/** Whether any column of the step has a row. */
export function hasRows(reads: Reads, step: string): boolean {
  for (const { values } of reads.get(step)?.columns.values() ?? []) if (values.size > 0) return true;
  return false;
}

/** Whether all columns of the step were read to their ends. */
export function isWhole(reads: Reads, step: string): boolean {
  for (const { isComplete } of reads.get(step)?.columns.values() ?? []) if (!isComplete) return false;
  return true;
}

/** Whether the agent served the columns before, and has nothing in any of them now. */
export function areLost(columns: readonly ColumnRead[]): boolean {
  const isNothing = (column: ColumnRead): boolean =>
    column.values.size === 0 && (column.isComplete || column.isLost === true);
  return columns.some(({ isLost }) => isLost === true) && columns.every(isNothing);
}

/** Whether there is nothing in any of the columns, all read to their ends, and the agent served one of them once. */
export function areEnded(columns: readonly ColumnRead[]): boolean {
  return (
    columns.some(({ isEnded }) => isEnded === true) &&
    columns.every(({ isComplete, values }) => isComplete && values.size === 0)
  );
}

/** Whether the scalars of the step could not be asked, or are missed. */
export function hasScalarsProblem(reads: Reads, step: string): boolean {
  return (reads.get(step)?.scalarsProblem ?? null) !== null;
}

export function areComplete(columns: readonly ColumnRead[]): boolean {
  return columns.every((column) => column.isComplete);
}

/**
 * How whole a table is that was read in these steps.
 * @param isServed whether the device showed that it has the table: an empty one is then complete, and clears what was known; else it is absent
 * @param notes what was read but could not be used, in clauses for people: the table is then partial
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
      if (!column.isComplete) problems.add(column.problem ?? "it was not read to its end");
      if (column.values.size > 0) isAnythingRead = true;
    }
  }
  if (problems.size > 0)
    return { state: isAnythingRead ? "partial" : "failed", problem: [...problems, ...notes].join("; ") };
  if (notes.length > 0) return { state: "partial", problem: notes.join("; ") };
  return { state: isServed ? "complete" : "absent", problem: null };
}

/** Sets a field that was told; `undefined` leaves it out. */
export function put<Target, Field extends keyof Target>(
  target: Target,
  field: Field,
  value: Target[Field] | undefined,
): void {
  if (value !== undefined) target[field] = value;
}

const NOT_ASKED: ColumnRead = { isComplete: true, problem: null, values: new Map() };
const NOT_READ: ColumnRead = { isComplete: false, problem: null, values: new Map() };

function sameKeys(some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): boolean {
  for (const key of some.keys()) if (!others.has(key)) return false;
  return true;
}
