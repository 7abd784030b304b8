// Container condition resolver: finds the record numbers for many containers, without reading documents. Runs in
// steps, and holds no transaction between them.

import { getTableName } from "drizzle-orm";
import { type AnyKind, liveColumnOf, type ScopeName } from "../kind.ts";
import { scopeOf } from "./candidates.ts";
import type { AsOf, ListQuery } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import type { ReadConnection } from "./read-connection.ts";
import { NumberSet, type ResolvedCondition } from "./resolved-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Containers per step: each holds at most ten thousand records of a kind. */
const STEP_CONTAINERS = 200;

/**
 * The same condition, with container references replaced by the records in those containers. Except for networks, which
 * may hold many records: there the documents decide.
 * @param asOf like ListQuery.asOf, called before each step
 */
export function* resolveContainers(
  condition: ResolvedCondition,
  query: ListQuery,
  connection: ReadConnection,
  asOf: () => AsOf | null,
): Generator<void, ResolvedCondition> {
  const resolve = (part: ResolvedCondition) => resolveContainers(part, query, connection, asOf);
  switch (condition.type) {
    case "all":
    case "any": {
      const parts: ResolvedCondition[] = [];
      for (const part of condition.parts) parts.push(yield* resolve(part));
      return { type: condition.type, parts };
    }
    case "not":
      return { type: "not", part: yield* resolve(condition.part) };
    case "changed":
      return { ...condition, otherwise: yield* resolve(condition.otherwise) };
    case "names": {
      const [position, second] = condition.paths;
      const scope = position === undefined || second !== undefined ? null : scopeOf(position, query);
      if (scope === null || scope === "network") return condition;
      const ids = [...condition.ids];
      const found: Uint32Array[] = [];
      for (let start = 0; start < ids.length; start += STEP_CONTAINERS) {
        found.push(recordsIn(connection, query.kind, scope, ids.slice(start, start + STEP_CONTAINERS), asOf()));
        yield;
      }
      return { type: "numbers", numbers: NumberSet.of(concatenate(found)) };
    }
    default:
      return condition;
  }
}

function recordsIn(
  connection: ReadConnection,
  kind: AnyKind,
  scope: ScopeName,
  ids: readonly string[],
  asOf: AsOf | null,
): Uint32Array {
  const sql = new SqlBuilder(asOf);
  const containers = `json_each(${sql.bind(JSON.stringify(ids))}) j CROSS JOIN history_records r ON r.id = j.value`;
  const contents =
    asOf === null
      ? `${getTableName(kind.table)} l ON l.${liveColumnOf(kind.scopes[scope] as string)} = r.n`
      : `history_spans l ON l.scope = r.n * 64 + ${kind.code} AND l.born <= ?1 AND l.died > ?1`;
  const [numbers] = connection
    .statement(`SELECT CAST(group_concat(l.n) AS BLOB) FROM ${containers} CROSS JOIN ${contents}`)
    .values(...sql.values)[0] as [Uint8Array | null];
  return numbersIn(numbers);
}

/** Concatenates number lists. */
export function concatenate(parts: readonly Uint32Array[]): Uint32Array {
  if (parts.length === 1) return parts[0] as Uint32Array;
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    all.set(part, position);
    position += part.length;
  }
  return all;
}
