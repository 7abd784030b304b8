// Resolution of container conditions to record numbers: for very many containers, without reading documents. Runs in
// steps, without a transaction in between.

import { getTableName } from "drizzle-orm";
import { type AnyKind, liveColumnOf, type ScopeName } from "../kind.ts";
import { scopeOf } from "./candidates.ts";
import type { AsOf, ListQuery } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import type { ReadConnection } from "./read-connection.ts";
import { NumberSet, type Settled } from "./settled-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Containers per step: each holds at most ten thousand records of a kind. */
const STEP_CONTAINERS = 200;

/**
 * The same condition, with container references replaced by the records in those containers. Except for networks, which
 * may hold very many records: there the documents decide.
 * @param asOf like ListQuery.asOf, called before each step
 */
export function* byInhabitants(
  condition: Settled,
  query: ListQuery,
  connection: ReadConnection,
  asOf: () => AsOf | null,
): Generator<void, Settled> {
  const of = (part: Settled) => byInhabitants(part, query, connection, asOf);
  switch (condition.type) {
    case "all":
    case "any": {
      const parts: Settled[] = [];
      for (const part of condition.parts) parts.push(yield* of(part));
      return { type: condition.type, parts };
    }
    case "not":
      return { type: "not", part: yield* of(condition.part) };
    case "changed":
      return { ...condition, otherwise: yield* of(condition.otherwise) };
    case "names": {
      const [place, second] = condition.places;
      const scope = place === undefined || second !== undefined ? null : scopeOf(place, query);
      if (scope === null || scope === "network") return condition;
      const ids = [...condition.ids];
      const found: Uint32Array[] = [];
      for (let start = 0; start < ids.length; start += STEP_CONTAINERS) {
        found.push(livingIn(connection, query.kind, scope, ids.slice(start, start + STEP_CONTAINERS), asOf()));
        yield;
      }
      return { type: "numbers", numbers: NumberSet.of(concatenated(found)) };
    }
    default:
      return condition;
  }
}

function livingIn(
  connection: ReadConnection,
  kind: AnyKind,
  scope: ScopeName,
  ids: readonly string[],
  asOf: AsOf | null,
): Uint32Array {
  const sql = new SqlBuilder(asOf);
  const containers = `json_each(${sql.bind(JSON.stringify(ids))}) j CROSS JOIN history_records r ON r.id = j.value`;
  const inhabitants =
    asOf === null
      ? `${getTableName(kind.table)} l ON l.${liveColumnOf(kind.scopes[scope] as string)} = r.n`
      : `history_spans l ON l.scope = r.n * 64 + ${kind.code} AND l.born <= ?1 AND l.died > ?1`;
  const [numbers] = connection
    .statement(`SELECT CAST(group_concat(l.n) AS BLOB) FROM ${containers} CROSS JOIN ${inhabitants}`)
    .values(...sql.values)[0] as [Uint8Array | null];
  return numbersIn(numbers);
}

/** Concatenates number lists. */
export function concatenated(parts: readonly Uint32Array[]): Uint32Array {
  if (parts.length === 1) return parts[0] as Uint32Array;
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}
