// SQL for rendering list items from stored JSON, live or as of a sequence (?1), for a record number p.n. Splices
// documents as text: building objects from columns halves the throughput.

import { getTableName } from "drizzle-orm";
import { CUSTOM_FIELDS, customFieldKey } from "../../base/custom-field-names.ts";
import type { AnyKind } from "../kind.ts";
import { baseJoinSql } from "../packing.ts";
import { documentSql, membersSql, observedSql, sortKeysSql } from "../shape.ts";
import type { AsOf, OrderTerm } from "./list-query.ts";

/** An expression, and the joins to p that it needs. */
export interface ItemSql {
  readonly item: string;
  readonly joins: string;
}

/** Keyed by a kind's shapes, then by the properties of the read that the text depends on. */
const itemSqls = new WeakMap<object, Map<string, ItemSql>>();

/**
 * Renders record p.n as a JSON object. The text does not depend on the sequence, so it is built once.
 * @param isComposed whether this kind has any parts: checking each row costs a quarter of the page
 */
export function itemSql(kind: AnyKind, asOf: AsOf | null, isComposed: boolean): ItemSql {
  const shapes = kind.upcasters ?? kind;
  const ofKind = itemSqls.get(shapes) ?? new Map<string, ItemSql>();
  itemSqls.set(shapes, ofKind);
  const read = asOf === null ? "live" : `${asOf.present} ${asOf.endsAreThinned === true}`;
  const key = `${read} ${isComposed}`;
  const item = ofKind.get(key) ?? makeItemSql(kind, asOf, isComposed);
  ofKind.set(key, item);
  return item;
}

/** concat() builds an item in one pass and skips NULLs; a chain of || copies it each time. */
function makeItemSql(
  kind: AnyKind,
  asOf: Pick<AsOf, "present" | "endsAreThinned"> | null,
  isComposed: boolean,
): ItemSql {
  const noEnd = kind.absent === "null" ? `',"valid_to":null}'` : "'}'";
  const isObserved = kind.observed.length > 0;
  const parts = isComposed ? kind.composedSql : undefined;
  if (asOf === null) {
    const composed = parts === undefined ? "" : `, CASE l.composed WHEN 1 THEN ${parts.live} END`;
    return {
      item: `concat('{', l.members${isObserved ? ", o.observed" : ""}${composed}, ${noEnd})`,
      // CROSS JOIN keeps p as the outermost loop, for the order.
      joins: ` CROSS JOIN ${getTableName(kind.table)} l
        ON l.n = p.n${isObserved ? " LEFT JOIN observations o ON o.n = p.n" : ""}`,
    };
  }
  const composed = parts === undefined ? [] : [`CASE v.composed WHEN 1 THEN ${parts.asOf} END`];
  const observed = (written: string) => {
    if (!isObserved) return [];
    // At a pinned present, observation values are current; for a deleted record, those of its version.
    return [asOf.present ? `coalesce((SELECT o.observed FROM observations o WHERE o.n = p.n), ${written})` : written];
  };
  const end = asOf.present
    ? noEnd
    : `coalesce(${asOf.endsAreThinned === true ? `',"valid_to":"' || ${THINNED_END} || '"}'` : SUCCESSOR}, ${noEnd})`;
  const item = `(SELECT ${documentSql(kind, "v", "'{'", (written) => [...observed(written), ...composed, end])}
    FROM history_versions v${baseJoinSql("v")} WHERE v.key <= ((p.n << 31) | ?1) ORDER BY v.key DESC LIMIT 1)`;
  return { item, joins: "" };
}

/**
 * The version of p as of ?1 (must be alive then), without observation values and end: for comparing two versions of a
 * record.
 */
export function ownItemSql(kind: AnyKind, isComposed: boolean): string {
  const parts = isComposed ? kind.composedSql : undefined;
  const tail = parts === undefined ? ["'}'"] : [`CASE v.composed WHEN 1 THEN ${parts.asOf} END`, "'}'"];
  return `(SELECT ${documentSql(kind, "v", "'{'", () => tail)} FROM history_versions v${baseJoinSql("v")}
    WHERE v.key <= ((p.n << 31) | ?1) ORDER BY v.key DESC LIMIT 1)`;
}

/** End of the version of p as of `asOf`, as in its document; NULL if still open. */
export function versionEndSql(asOf: AsOf): string {
  if (asOf.endsAreThinned === true) return THINNED_END;
  return `(SELECT x.valid_from FROM history_versions x WHERE x.key > ((p.n << 31) | ?1) AND x.key < ((p.n + 1) << 31)
    ORDER BY x.key LIMIT 1)`;
}

/** The same, as the tail of a JSON object. */
const SUCCESSOR = `(SELECT concat(',"valid_to":"', x.valid_from, '"}') FROM history_versions x
  WHERE x.key > ((p.n << 31) | ?1) AND x.key < ((p.n + 1) << 31) ORDER BY x.key LIMIT 1)`;

/** End of a version whose successor may have been thinned, leaving only its transaction. */
const THINNED_END = `(
  SELECT concat(strftime('%Y-%m-%dT%H:%M:%S', e.at / 1000, 'unixepoch'), format('.%03dZ', e.at % 1000))
  FROM history_transactions e
  WHERE e.sequence = min(${nextVersionIn("history_versions")}, ${nextVersionIn("history_thinned")}) & 2147483647)`;

/** Key of p's next version after ?1 in one table; above all keys if none. */
function nextVersionIn(table: string): string {
  return `coalesce((SELECT x.key FROM ${table} x
    WHERE x.key > ((p.n << 31) | ?1) AND x.key < ((p.n + 1) << 31) ORDER BY x.key LIMIT 1), 1 << 62)`;
}

/** Sort term for p. The field comes from a vocabulary, never from a caller. */
export function sortSql(kind: AnyKind, term: OrderTerm, asOf: AsOf | null): string {
  return `${sortValueSql(kind, term, asOf)}${term.direction === "desc" ? " DESC" : ""}`;
}

/** Sort value, without direction. */
export function sortValueSql(kind: AnyKind, term: Pick<OrderTerm, "field" | "byKey">, asOf: AsOf | null): string {
  return (kind.observed as readonly string[]).includes(term.field)
    ? observedFieldSql(term.field, kind, asOf)
    : newestSql((version) => sortExpression(term, version), kind, asOf);
}

/** Own fields of p as a JSON array. Field names come from resources, never from a caller. @param fields at least two */
export function ownFieldsSql(kind: AnyKind, fields: readonly string[], asOf: AsOf | null): string {
  // Several paths yield an array from one concatenation and parse. A single path would yield the bare value.
  if (fields.length < 2) throw new Error(`item-sql: at least two own fields are required, not ${fields.join()}`);
  const paths = fields.map((field) => `'$.${field}'`).join(", ");
  return newestSql(({ members }) => `json_extract('{' || ${members} || '}', ${paths})`, kind, asOf);
}

/** Parsing documents is slow, so use the small sort keys, and the version's own timestamp. */
function sortExpression(
  { field, byKey }: Pick<OrderTerm, "field" | "byKey">,
  { members, sortKeys, writtenAt }: NewestSql,
): string {
  if (byKey) return `${sortKeys} ->> '$.${field}'`;
  // Most records have none, which a string search detects.
  if (customFieldKey(field) !== null)
    return `iif(instr(${members}, '"${CUSTOM_FIELDS}":{') > 0, ('{' || ${members} || '}') ->> '$.${field}', NULL)`;
  return field === "updated_at" ? writtenAt : `('{' || ${members} || '}') ->> '$.${field}'`;
}

function observedFieldSql(field: string, kind: AnyKind, asOf: AsOf | null): string {
  const current = "(SELECT observed FROM observations WHERE n = p.n)";
  const written = newestSql(({ observed }) => observed, kind, asOf);
  const observed = asOf === null ? current : asOf.present ? `coalesce(${current}, ${written})` : written;
  return `('{' || substr(${observed}, 2) || '}') ->> '$.${field}'`;
}

/** SQL expressions for a newest version in any shape. */
interface NewestSql {
  readonly members: string;
  readonly observed: string;
  readonly sortKeys: string;
  readonly writtenAt: string;
}

/** An expression on the newest version of p.n. */
function newestSql(expression: (version: NewestSql) => string, kind: AnyKind, asOf: AsOf | null): string {
  if (asOf === null)
    return `(SELECT ${expression({ members: "members", observed: "observed", sortKeys: "sort_keys", writtenAt: "sequence" })}
      FROM ${getTableName(kind.table)} WHERE n = p.n)`;
  const past = {
    members: membersSql(kind, "history_versions"),
    observed: observedSql("history_versions"),
    sortKeys: sortKeysSql(kind, "history_versions"),
    writtenAt: "valid_from",
  };
  return `(SELECT ${expression(past)} FROM history_versions WHERE key <= ((p.n << 31) | ?1) ORDER BY key DESC LIMIT 1)`;
}
