// The shapes that the records of a kind have had, and how a version of an earlier one reads in today's: SQL over the
// unpacked text, so that SQLite still puts pages together by itself. A version's text never changes: the chain proves the
// bytes as they were written.

import { joinedObservedSql, joinedSql, joinedTextSql, writtenSql } from "./packing.ts";

/**
 * What brings a version of one shape to the next: pure SQL, expression to expression. It must leave alone what spans,
 * lineages, links and search texts are made of (a record's id, its containers, its identity, what finds it), or its
 * migration has to make those anew.
 */
export interface Upcaster {
  /** The migration that it came with: there the live rows of the kind are made anew. */
  readonly migration: number;
  /** The members, the inside of a JSON object; NULL, of a tombstone, stays NULL. */
  readonly members: (members: string) => string;
  /** What lists are ordered by, a JSON object of texts; as it is where this is absent. */
  readonly sortKeys?: (sortKeys: string) => string;
  /** The names of the fields that changed, a JSON array; as it is where this is absent. */
  readonly changed?: (changed: string) => string;
}

/** A kind, as far as its shapes go. */
interface Shaped {
  readonly upcasters?: readonly Upcaster[];
}

/**
 * A field that earlier versions did not have.
 * @param value what it is in all of them.
 * @param sortKey where lists are ordered by its key
 */
export function addsField(migration: number, name: string, value: unknown, sortKey?: string): Upcaster {
  const upcaster = {
    migration,
    members: (members: string) => `${members} || ${quoted(`,${JSON.stringify(name)}:${JSON.stringify(value)}`)}`,
  };
  if (sortKey === undefined) return upcaster;
  return {
    ...upcaster,
    sortKeys: (sortKeys) => `json_set(coalesce(${sortKeys}, '{}'), ${quoted(`$.${name}`)}, ${quoted(sortKey)})`,
  };
}

/**
 * A field that had another name.
 * @param from what every record had, if only as null: rewritesRecord is for fields that may be left out
 */
export function renamesField(migration: number, from: string, to: string): Upcaster {
  const renamed = (record: string) =>
    `json_remove(json_set(${record}, ${quoted(`$.${to}`)}, ${record} -> ${quoted(`$.${from}`)}), ${quoted(`$.${from}`)})`;
  const has = (record: string) => `json_type(${record}, ${quoted(`$.${from}`)}) IS NOT NULL`;
  // In JSON that was written without blanks a quoted name before a colon is nothing but a key. Where there is one
  // alone, it is the record's own: replacing a text takes a fraction of what reading and writing JSON does. What is put
  // in its place by way of trial has another length.
  const [oldKey, newKey] = [from, to].map((name) => `${JSON.stringify(name)}:`) as [string, string];
  const trial = Buffer.byteLength(oldKey) === Buffer.byteLength(newKey) ? "" : newKey;
  const longerBy = Buffer.byteLength(trial) - Buffer.byteLength(oldKey);
  const isOnce = `octet_length(t) = octet_length(m) + (${longerBy})`;
  const replaced = trial === newKey ? "t" : `replace(m, ${quoted(oldKey)}, ${quoted(newKey)})`;
  return {
    migration,
    // LIMIT keeps SQLite from putting one subquery into the other, and from working out the same text twice.
    members: (members) =>
      `(SELECT CASE WHEN ${isOnce} THEN ${replaced} WHEN json_valid(${RECORD})
        AND ${has(RECORD)} THEN ${inside(renamed(RECORD))} ELSE m END
        FROM (SELECT m, replace(m, ${quoted(oldKey)}, ${quoted(trial)}) AS t
          FROM (SELECT ${members} AS m LIMIT 1) LIMIT 1))`,
    sortKeys: (sortKeys) =>
      `(SELECT CASE WHEN ${has("k")} THEN ${renamed("k")} ELSE k END FROM (SELECT ${sortKeys} AS k))`,
    changed: (changed) => `replace(${changed}, ${quoted(JSON.stringify(from))}, ${quoted(JSON.stringify(to))})`,
  };
}

/**
 * Anything else that SQLite's JSON functions can say; costs as much as reading and writing the JSON.
 * @param rewrite of an expression for the record, a JSON object, the same of the next shape; what is no JSON stays as
 * it is
 */
export function rewritesRecord(migration: number, rewrite: (record: string) => string): Upcaster {
  return {
    migration,
    // Each expression stands once, however many come after it: they would double in length with every shape.
    members: (members) =>
      `(SELECT CASE WHEN json_valid(r) THEN ${inside(rewrite("r"))} ELSE m END FROM (SELECT m, '{' || m || '}' AS r
        FROM (SELECT ${members} AS m)))`,
  };
}

/** The number of the shape that a kind's records have today. */
export function shapeOf({ upcasters = [] }: Shaped): number {
  return 1 + upcasters.length;
}

/**
 * The members of the row `version` of history_versions in today's shape.
 * @param version the table's name in the statement
 */
export function membersSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "members", ({ members }) => members);
}

/** The observation values that were written with the row `version`, as the continuation of its members. */
export function observedSql(version: string): string {
  return writtenSql(version, "observed");
}

/**
 * The text that a version's document begins, with what comes before and behind it: read `FROM history_versions v` with
 * baseJoinSql behind it.
 * @param before SQL of a text
 * @param behind SQL of texts behind the members, told that of the observation values as they were written
 */
export function documentSql(
  kind: Shaped,
  version: string,
  before: string,
  behind: (observed: string) => readonly string[],
): string {
  if ((kind.upcasters ?? []).length === 0)
    return joinedTextSql(version, before, (isPacked) => behind(joinedObservedSql(version, isPacked)));
  const members = upcastSql(kind, version, "members", (upcaster) => upcaster.members, joinedSql);
  return `concat(${[before, members, ...behind(joinedSql(version, "observed"))].join(", ")})`;
}

/** As membersSql, what lists are ordered by. */
export function sortKeysSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "sort_keys", ({ sortKeys }) => sortKeys);
}

/** As membersSql, the names of the fields that changed. */
export function changedSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "changed", ({ changed }) => changed);
}

/**
 * What one of the expressions above comes to where the kind is only known in the statement.
 * @param kinds those that may be there
 * @param code an expression for the code of the version's kind
 */
export function ofKindSql(
  kinds: Iterable<Shaped & { readonly code: number }>,
  code: string,
  version: string,
  sqlOf: (kind: Shaped, version: string) => string,
): string {
  const plain = sqlOf({}, version);
  const arms = [...kinds]
    .filter((kind) => sqlOf(kind, version) !== plain)
    .map((kind) => `WHEN ${kind.code} THEN ${sqlOf(kind, version)}`);
  return arms.length === 0 ? plain : `CASE ${code} ${arms.join(" ")} ELSE ${plain} END`;
}

type Step = ((sql: string) => string) | undefined;

function upcastSql(
  { upcasters = [] }: Shaped,
  version: string,
  column: "members" | "sort_keys" | "changed",
  stepOf: (upcaster: Upcaster) => Step,
  storedSql = writtenSql,
): string {
  const steps = upcasters.map(stepOf);
  const stored = column === "changed" ? `${version}.changed` : storedSql(version, column);
  if (steps.every((step) => step === undefined)) return stored;
  const arms = steps.map(
    (_, place) => `WHEN ${place + 1} THEN ${steps.slice(place).reduce((sql, step) => step?.(sql) ?? sql, stored)}`,
  );
  return `CASE ${version}.shape ${arms.join(" ")} ELSE ${stored} END`;
}

/** The record whose members are m. */
const RECORD = "('{' || m || '}')";

/** What stands within the braces of an expression for a JSON object. */
function inside(record: string): string {
  return `(SELECT substr(w, 2, length(w) - 2) FROM (SELECT ${record} AS w))`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
