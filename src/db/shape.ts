// Record shapes of a kind, and upgrades from earlier shapes to the current one. SQL on the unpacked text, so that
// SQLite still builds whole pages. Stored text never changes: the hash chain proves the bytes as written.

import { joinedObservedSql, joinedSql, joinedTextSql, writtenSql } from "./packing.ts";

/**
 * Upgrade from one shape to the next: pure SQL, expression to expression. Must not change inputs of spans, lineages,
 * links or search entries (a record's id, containers, identity, searchable text), unless its migration rebuilds those.
 */
export interface Upcaster {
  /** The migration that introduces it, which also rewrites the kind's live rows. */
  readonly migration: number;
  /** The members, without the braces of the JSON object; NULL of a tombstone stays NULL. */
  readonly members: (members: string) => string;
  /** The sort keys, a JSON object of strings; unchanged if absent. */
  readonly sortKeys?: (sortKeys: string) => string;
  /** The names of changed fields, a JSON array; unchanged if absent. */
  readonly changed?: (changed: string) => string;
}

/** The parts of a kind that concern its shapes. */
interface Shaped {
  readonly upcasters?: readonly Upcaster[];
}

/**
 * Adds a field that earlier versions lack.
 * @param value for all earlier versions
 * @param sortKey if lists sort by the field's key
 */
export function addField(migration: number, name: string, value: unknown, sortKey?: string): Upcaster {
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
 * Renames a field.
 * @param from a field present in every record, even if null; use rewriteRecord for optional fields
 */
export function renameField(migration: number, from: string, to: string): Upcaster {
  const renamed = (record: string) =>
    `json_remove(json_set(${record}, ${quoted(`$.${to}`)}, ${record} -> ${quoted(`$.${from}`)}), ${quoted(`$.${from}`)})`;
  const has = (record: string) => `json_type(${record}, ${quoted(`$.${from}`)}) IS NOT NULL`;
  // In JSON without white space, a quoted name before a colon is always a key. If it occurs once, it is the record's
  // own key, and replacing text costs a fraction of parsing JSON. The trial replacement has a different length, which
  // reveals the number of occurrences.
  const [oldKey, newKey] = [from, to].map((name) => `${JSON.stringify(name)}:`) as [string, string];
  const trial = Buffer.byteLength(oldKey) === Buffer.byteLength(newKey) ? "" : newKey;
  const longerBy = Buffer.byteLength(trial) - Buffer.byteLength(oldKey);
  const isOnce = `octet_length(t) = octet_length(m) + (${longerBy})`;
  const replaced = trial === newKey ? "t" : `replace(m, ${quoted(oldKey)}, ${quoted(newKey)})`;
  return {
    migration,
    // LIMIT stops SQLite from flattening the subqueries and computing the same text twice.
    members: (members) =>
      `(SELECT CASE WHEN ${isOnce} THEN ${replaced} WHEN json_valid(${RECORD})
        AND ${has(RECORD)} THEN ${withoutBraces(renamed(RECORD))} ELSE m END
        FROM (SELECT m, replace(m, ${quoted(oldKey)}, ${quoted(trial)}) AS t
          FROM (SELECT ${members} AS m LIMIT 1) LIMIT 1))`,
    sortKeys: (sortKeys) =>
      `(SELECT CASE WHEN ${has("k")} THEN ${renamed("k")} ELSE k END FROM (SELECT ${sortKeys} AS k))`,
    changed: (changed) => `replace(${changed}, ${quoted(JSON.stringify(from))}, ${quoted(JSON.stringify(to))})`,
  };
}

/**
 * Rewrites a record with SQLite's JSON functions; costs a parse and a render.
 * @param rewrite maps an expression for the record, a JSON object, to one for the next shape; invalid JSON is left
 * unchanged
 */
export function rewriteRecord(migration: number, rewrite: (record: string) => string): Upcaster {
  return {
    migration,
    // Each expression appears once, however many follow: otherwise the SQL would double in length with every shape.
    members: (members) =>
      `(SELECT CASE WHEN json_valid(r) THEN ${withoutBraces(rewrite("r"))} ELSE m END FROM (SELECT m, '{' || m || '}' AS r
        FROM (SELECT ${members} AS m)))`,
  };
}

/** Current shape number of a kind. */
export function shapeOf({ upcasters = [] }: Shaped): number {
  return 1 + upcasters.length;
}

/**
 * SQL for the members of row `version` of history_versions in the current shape.
 * @param version the table's alias in the statement
 */
export function membersSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "members", ({ members }) => members);
}

/** SQL for the observation values written with row `version`, as a continuation of its members. */
export function observedSql(version: string): string {
  return writtenSql(version, "observed");
}

/**
 * SQL for the text of a version's document, with prefix and suffixes. Requires `FROM history_versions v` followed by
 * baseJoinSql.
 * @param prefix SQL of a string
 * @param suffixes SQL of strings after the members, given the SQL of the stored observation values
 */
export function documentSql(
  kind: Shaped,
  version: string,
  prefix: string,
  suffixes: (observed: string) => readonly string[],
): string {
  if ((kind.upcasters ?? []).length === 0)
    return joinedTextSql(version, prefix, (isPacked) => suffixes(joinedObservedSql(version, isPacked)));
  const members = upcastSql(kind, version, "members", (upcaster) => upcaster.members, joinedSql);
  return `concat(${[prefix, members, ...suffixes(joinedSql(version, "observed"))].join(", ")})`;
}

/** Like membersSql, for the sort keys. */
export function sortKeysSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "sort_keys", ({ sortKeys }) => sortKeys);
}

/** Like membersSql, for the names of the changed fields. */
export function changedSql(kind: Shaped, version: string): string {
  return upcastSql(kind, version, "changed", ({ changed }) => changed);
}

/**
 * Applies one of the expressions above where only the statement knows the kind.
 * @param kinds all possible kinds
 * @param code an expression for the kind code of the version
 */
export function byKindSql(
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
    (_, index) => `WHEN ${index + 1} THEN ${steps.slice(index).reduce((sql, step) => step?.(sql) ?? sql, stored)}`,
  );
  return `CASE ${version}.shape ${arms.join(" ")} ELSE ${stored} END`;
}

/** The record with members m. */
const RECORD = "('{' || m || '}')";

/** Strips the braces from an expression for a JSON object. */
function withoutBraces(record: string): string {
  return `(SELECT substr(w, 2, length(w) - 2) FROM (SELECT ${record} AS w))`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
