// Distinction between data that an agent no longer serves and data it never served: both look the same on the wire.
// Pure.

import { areComplete, hasRows } from "./columns.ts";
import { READING_PLAN } from "./plan.ts";
import type { ColumnRead, ReadStep, Reads, StepRead } from "./reads.ts";
import { sysObjectIdOf } from "./system.ts";

/** Earlier responses of an agent. */
export interface ServedBefore {
  /** sysObjectID; null if unknown. A different kind of agent serves different tables. */
  readonly sys_object_id: string | null;
  /** In the format of servedOf. */
  readonly columns: readonly string[];
  /** Once served, missing past the grace period: counts as empty. */
  readonly ended?: readonly string[];
}

interface ReadsWithLost {
  readonly reads: Reads;
  /** Served before and missing now, in fully read steps; in the format of servedOf. */
  readonly missed: readonly string[];
}

/** Lists the scalars and columns with at least one value, in plan order: `if_x_table.ifHighSpeed`. */
export function servedOf(reads: Reads): string[] {
  const served: string[] = [];
  for (const [step, { scalars, columns }] of reads) {
    for (const name of scalars.keys()) served.push(`${step}.${name}`);
    for (const [name, { values }] of columns) if (values.size > 0) served.push(`${step}.${name}`);
  }
  return served;
}

/**
 * Marks as unread the data that was served before and is now missing, and the steps skipped because they depend on such
 * a table or on an unreadable one. An optional column or scalar counts as missing only with its whole step. Ended columns
 * are empty.
 * @param before null if nothing is known about the agent
 */
export function markLost(
  reads: Reads,
  before: ServedBefore | null,
  plan: readonly ReadStep[] = READING_PLAN,
): ReadsWithLost {
  if (before === null || isDifferentAgent(reads, before)) return { reads, missed: [] };
  const served = new Set(before.columns);
  const ended = new Set(before.ended);
  const known = new Map(reads);
  const missed: string[] = [];
  for (const step of plan) {
    const read = reads.get(step.name);
    if (read === undefined) {
      const unpolled = unpolledOf(step, known, served);
      if (unpolled !== undefined) known.set(step.name, unpolled);
      continue;
    }
    const names = missedOf(step, read, hasRows(reads, step), served);
    if (isReadComplete(read))
      missed.push(...[...names.columns, ...names.scalars].map((name) => `${step.name}.${name}`));
    known.set(step.name, withEnded(step, withoutMissed(read, names), ended));
  }
  return { reads: known, missed };
}

function isDifferentAgent(reads: Reads, { sys_object_id: before }: ServedBefore): boolean {
  const now = sysObjectIdOf(reads);
  return typeof now === "string" && before !== null && now !== before;
}

interface MissedNames {
  readonly columns: readonly string[];
  readonly scalars: readonly string[];
}

/** @param hasAnyRow true if any column of the table has a row */
function missedOf(step: ReadStep, read: StepRead, hasAnyRow: boolean, served: ReadonlySet<string>): MissedNames {
  const isServed = (name: string): boolean => served.has(`${step.name}.${name}`);
  const isMissed = (name: string, { isComplete, values }: ColumnRead): boolean =>
    isComplete && values.size === 0 && isServed(name) && !(hasAnyRow && step.optional?.includes(name) === true);
  const columns = [...read.columns].flatMap(([name, column]) => (isMissed(name, column) ? [name] : []));
  const isOptional = (name: string): boolean => read.scalars.size > 0 && step.optional?.includes(name) === true;
  const isScalarMissed = (name: string): boolean => isServed(name) && !read.scalars.has(name) && !isOptional(name);
  const scalars = read.scalarsProblem === null ? Object.keys(step.scalars ?? {}).filter(isScalarMissed) : [];
  return { columns, scalars };
}

function isReadComplete({ scalarsProblem, columns }: StepRead): boolean {
  return scalarsProblem === null && areComplete([...columns.values()]);
}

function withoutMissed(read: StepRead, { columns: missed, scalars }: MissedNames): StepRead {
  if (missed.length + scalars.length === 0) return read;
  const columns = new Map(read.columns);
  for (const name of missed) columns.set(name, lostColumn(problemOf(missed)));
  const scalarsProblem = scalars.length === 0 ? read.scalarsProblem : problemOf(scalars);
  return { scalars: read.scalars, scalarsProblem, columns };
}

function withEnded(step: ReadStep, read: StepRead, ended: ReadonlySet<string>): StepRead {
  const isEnded = (name: string, { isComplete, values }: ColumnRead): boolean =>
    isComplete && values.size === 0 && ended.has(`${step.name}.${name}`);
  if (![...read.columns].some(([name, column]) => isEnded(name, column))) return read;
  const columns = [...read.columns].map(([name, column]): [string, ColumnRead] => [
    name,
    isEnded(name, column) ? { ...column, isEnded: true } : column,
  ]);
  return { ...read, columns: new Map(columns) };
}

function unpolledOf(step: ReadStep, reads: Reads, served: ReadonlySet<string>): StepRead | undefined {
  const names = Object.keys(step.columns ?? {});
  if (!names.some((name) => served.has(`${step.name}.${name}`))) return undefined;
  for (const other of step.dependsOn ?? []) {
    const cause = [...(reads.get(other)?.columns.values() ?? [])].find((column) => !column.isComplete);
    if (cause === undefined) continue;
    const columns = new Map(names.map((name) => [name, { ...cause, values: new Map() }]));
    return { scalars: new Map(), scalarsProblem: null, columns };
  }
  return undefined;
}

function lostColumn(problem: string): ColumnRead {
  return { isComplete: false, isLost: true, problem, values: new Map() };
}

function problemOf(names: readonly string[]): string {
  return `the device no longer serves ${names.join(", ")}`;
}
