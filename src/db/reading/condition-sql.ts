// SQL for conditions on documents: 1, 0, or NULL if only the parsed document can decide. SQL's three-valued logic
// carries NULL through AND, OR and NOT. Field names come from schemas, never from a caller.

import type { Bind, FieldPlace, FieldStep, ValueTest } from "./condition.ts";
import type { Settled } from "./settled-condition.ts";

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

export function conditionSql(condition: Settled, document: DocumentSql, context: ConditionSqlContext): string {
  const of = (each: Settled) => conditionSql(each, document, context);
  const { bind, window } = context;
  switch (condition.type) {
    case "all":
      return joined(condition.parts.map(of), " AND ", "1");
    case "any":
      return joined(condition.parts.map(of), " OR ", "0");
    case "not":
      return `(NOT ${of(condition.part)})`;
    case "field":
      return fieldSql(condition.place, condition.test, document, bind);
    case "present":
      return presentSql(condition.place, document);
    case "names": {
      if (condition.ids.size === 0) return "0";
      const ids = bind(JSON.stringify([...condition.ids]));
      const test: ValueTest = {
        holds: () => false,
        sql: (value) => `${value} IN (SELECT value FROM json_each(${ids}))`,
      };
      return joined(
        condition.places.map((place) => fieldSql(place, test, document, bind)),
        " OR ",
        "0",
      );
    }
    case "numbers":
      return inNumbers(condition.numbers.within(window), document, bind);
    case "changed":
      return `(CASE WHEN ${inNumbers(condition.changed.within(window), document, bind)} THEN ${inNumbers(condition.those.within(window), document, bind)} ELSE ${of(condition.otherwise)} END)`;
    case "was":
      return context.asOf(condition.as, (then) => conditionSql(condition.that, then, context));
  }
}

/** The order does not matter for the result. Shorter terms are faster to evaluate and often suffice. */
function joined(parts: readonly string[], by: string, none: string): string {
  return parts.length === 0 ? none : `(${parts.toSorted((a, b) => a.length - b.length).join(by)})`;
}

function inNumbers(numbers: Uint32Array, document: DocumentSql, bind: Bind): string {
  if (numbers.length === 0) return "0";
  return `(${document.n} IN (SELECT value FROM json_each(${bind(`[${numbers.join()}]`)})))`;
}

/**
 * SQL for a condition on a row that is not a record: 1, 0, or NULL if only the row itself can decide.
 * @param objectOf an expression for a JSON object with a field of the row; null if SQL has none
 */
export function rowConditionSql(condition: Settled, objectOf: (field: string) => string | null, bind: Bind): string {
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
function objectSql(place: FieldPlace, { members, observed, objectOf }: DocumentSql): string | null {
  if (objectOf !== undefined) return objectOf(place.steps[0]?.name as string);
  if (place.of === "members") return `('{' || ${members} || '}')`;
  return observed === null ? null : `('{' || substr(${observed}, 2) || '}')`;
}

function fieldSql(place: FieldPlace, test: ValueTest, document: DocumentSql, bind: Bind): string {
  // Live records have no end. Do not bind values that the statement does not use.
  if (place.of === "end" && document.end === "NULL") return "0";
  if (test.sql === null) return "NULL";
  const { sql } = test;
  const isSo = (value: string) => sql(value, bind);
  if (place.of === "end") return ifAny(document.end, isSo);
  const object = objectSql(place, document);
  if (object === null) return noObject(document);
  const many = place.steps.findIndex(({ isMany }) => isMany);
  if (many < 0) return ifAny(`${object} ->> '${pathOf(place.steps)}'`, isSo);
  const rest = place.steps.slice(many + 1);
  if (rest.some(({ isMany }) => isMany)) return "NULL";
  const value = rest.length === 0 ? "e.value" : `e.value ->> '${pathOf(rest)}'`;
  // 1 if any item passes, 0 if none can, NULL if undecided.
  return `(SELECT CASE WHEN coalesce(max(t), 0) = 1 THEN 1 WHEN count(*) = count(t) THEN 0 END FROM (SELECT ${ifAny(value, isSo)} AS t FROM json_each(${object}, '${pathOf(place.steps.slice(0, many + 1))}') e))`;
}

/**
 * A missing value never matches, so it yields 0. The two LIMITs stop SQLite from flattening the subquery and computing
 * the value for each use.
 */
function ifAny(value: string, test: (value: string) => string): string {
  return `(SELECT CASE WHEN v IS NULL THEN 0 ELSE ${test("v")} END FROM (SELECT ${value} AS v LIMIT 1) LIMIT 1)`;
}

/** A record without observations has no value; for other rows only the caller can decide. */
function noObject({ objectOf }: DocumentSql): string {
  return objectOf === undefined ? "0" : "NULL";
}

function presentSql(place: FieldPlace, document: DocumentSql): string {
  if (place.of === "end") return `(${document.end} IS NOT NULL)`;
  const object = objectSql(place, document);
  if (object === null) return noObject(document);
  // In a list, any item suffices, and a list counts as present if it has an item.
  const lists = place.steps.filter(({ isMany }) => isMany).length;
  if (lists > 1 || (lists === 1 && place.steps.at(-1)?.isMany !== true)) return "NULL";
  return `coalesce((${object} -> '${pathOf(place.steps)}') NOT IN ('null', '""', '[]', '{}'), 0)`;
}

function pathOf(steps: readonly FieldStep[]): string {
  return `$${steps.map(({ name }) => `.${name}`).join("")}`;
}
