// SQL for conditions on documents: 1, 0, or NULL if only the parsed document can decide. SQL's three-valued logic
// carries NULL through AND, OR and NOT. Field names come from schemas, never from a caller.

import type { Bind, FieldPath, FieldStep, ValueTest } from "./condition.ts";
import type { ResolvedCondition } from "./resolved-condition.ts";

/** SQL expressions for a record's data. */
export interface DocumentSql {
  /** Record number. */
  readonly n: string;
  /** The record as JSON object members, without the braces. */
  readonly members: string;
  /** Current observation values, as a continuation of members; null for kinds without any. */
  readonly observed: string | null;
  /** End of the version; NULL if open. */
  readonly end: string;
  /** For rows that are not records: a JSON object with this field; null if only the row itself can decide. */
  readonly objectOf?: (field: string) => string | null;
}

/** Range of record numbers to examine: (after, until]. */
export interface Window {
  readonly after: number;
  readonly until: number;
}

/** @param asOf evaluates an expression on the version as of another transaction: 1, 0 (also if none), or NULL */
export interface ConditionSqlContext {
  readonly bind: Bind;
  readonly window: Window;
  readonly asOf: (sequence: number, expression: (document: DocumentSql) => string) => string;
}

export function conditionSql(
  condition: ResolvedCondition,
  document: DocumentSql,
  context: ConditionSqlContext,
): string {
  const sqlOf = (each: ResolvedCondition) => conditionSql(each, document, context);
  const { bind, window } = context;
  switch (condition.type) {
    case "all":
      return joined(condition.parts.map(sqlOf), " AND ", "1");
    case "any":
      return joined(condition.parts.map(sqlOf), " OR ", "0");
    case "not":
      return `(NOT ${sqlOf(condition.part)})`;
    case "field":
      return fieldSql(condition.path, condition.test, document, bind);
    case "present":
      return presentSql(condition.path, document);
    case "names": {
      if (condition.ids.size === 0) return "0";
      const ids = bind(JSON.stringify([...condition.ids]));
      const sql = (value: string) => `${value} IN (SELECT value FROM json_each(${ids}))`;
      const tests = condition.paths.map((path) => fieldSql(path, { holds: () => false, sql }, document, bind));
      return joined(tests, " OR ", "0");
    }
    case "numbers":
      return inNumbers(condition.numbers.within(window), document, bind);
    case "changed":
      return `(CASE WHEN ${inNumbers(condition.changed.within(window), document, bind)} THEN ${inNumbers(condition.matching.within(window), document, bind)} ELSE ${sqlOf(condition.otherwise)} END)`;
    case "was":
      return context.asOf(condition.sequence, (past) => conditionSql(condition.nested, past, context));
  }
}

/** The order does not matter for the result. Shorter terms are faster to evaluate and often suffice. */
function joined(parts: readonly string[], separator: string, empty: string): string {
  return parts.length === 0 ? empty : `(${parts.toSorted((a, b) => a.length - b.length).join(separator)})`;
}

function inNumbers(numbers: Uint32Array, document: DocumentSql, bind: Bind): string {
  if (numbers.length === 0) return "0";
  return `(${document.n} IN (SELECT value FROM json_each(${bind(`[${numbers.join()}]`)})))`;
}

/**
 * SQL for a condition on a row that is not a record: 1, 0, or NULL if only the row itself can decide.
 * @param objectOf an expression for a JSON object with a field of the row; null if SQL has none
 */
export function rowConditionSql(
  condition: ResolvedCondition,
  objectOf: (field: string) => string | null,
  bind: Bind,
): string {
  return conditionSql(
    condition,
    { n: "0", members: "''", observed: null, end: "NULL", objectOf },
    { bind, window: { after: 0, until: 0 }, asOf: () => "NULL" },
  );
}

/** Milliseconds as a wire timestamp; NULL for NULL. */
export function instantSql(at: string): string {
  return `(strftime('%Y-%m-%dT%H:%M:%S', ${at} / 1000, 'unixepoch') || format('.%03dZ', ${at} % 1000))`;
}

/** Expression for the JSON object that contains a field. */
function objectSql(path: FieldPath, { members, observed, objectOf }: DocumentSql): string | null {
  if (objectOf !== undefined) return objectOf(path.steps[0]?.name as string);
  if (path.source === "members") return `('{' || ${members} || '}')`;
  return observed === null ? null : `('{' || substr(${observed}, 2) || '}')`;
}

function fieldSql(path: FieldPath, test: ValueTest, document: DocumentSql, bind: Bind): string {
  // Live records have no end. Do not bind values that the statement does not use.
  if (path.source === "end" && document.end === "NULL") return "0";
  if (test.sql === null) return "NULL";
  const { sql } = test;
  const passes = (value: string) => sql(value, bind);
  if (path.source === "end") return ifAny(document.end, passes);
  const object = objectSql(path, document);
  if (object === null) return missingObject(document);
  const listStep = path.steps.findIndex(({ isMany }) => isMany);
  if (listStep < 0) return ifAny(`${object} ->> '${pathOf(path.steps)}'`, passes);
  const rest = path.steps.slice(listStep + 1);
  if (rest.some(({ isMany }) => isMany)) return "NULL";
  const value = rest.length === 0 ? "e.value" : `e.value ->> '${pathOf(rest)}'`;
  // 1 if any item passes, 0 if none can, NULL if undecided.
  return `(SELECT CASE WHEN coalesce(max(t), 0) = 1 THEN 1 WHEN count(*) = count(t) THEN 0 END FROM (SELECT ${ifAny(value, passes)} AS t FROM json_each(${object}, '${pathOf(path.steps.slice(0, listStep + 1))}') e))`;
}

/**
 * A missing value never matches, so it yields 0. The two LIMITs stop SQLite from flattening the subquery and computing
 * the value for each use.
 */
function ifAny(value: string, test: (value: string) => string): string {
  return `(SELECT CASE WHEN v IS NULL THEN 0 ELSE ${test("v")} END FROM (SELECT ${value} AS v LIMIT 1) LIMIT 1)`;
}

/** A record without observations has no value; for other rows only the caller can decide. */
function missingObject({ objectOf }: DocumentSql): string {
  return objectOf === undefined ? "0" : "NULL";
}

function presentSql(path: FieldPath, document: DocumentSql): string {
  if (path.source === "end") return `(${document.end} IS NOT NULL)`;
  const object = objectSql(path, document);
  if (object === null) return missingObject(document);
  // In a list, any item suffices, and a list counts as present if it has an item.
  const lists = path.steps.filter(({ isMany }) => isMany).length;
  if (lists > 1 || (lists === 1 && path.steps.at(-1)?.isMany !== true)) return "NULL";
  return `coalesce((${object} -> '${pathOf(path.steps)}') NOT IN ('null', '""', '[]', '{}'), 0)`;
}

function pathOf(steps: readonly FieldStep[]): string {
  return `$${steps.map(({ name }) => `.${name}`).join("")}`;
}
