// The SQL that renders one list item from its stored JSON, live or as of a sequence (?1), for a record number p.n.
// Documents are spliced as text: building objects from columns costs twice the throughput.

import { getTableName } from "drizzle-orm";
import type { AnyKind } from "./kind.ts";
import type { AsOf, OrderTerm } from "./reader.ts";

/** An expression: the record p.n as a JSON object. */
export function itemSql(kind: AnyKind, asOf: AsOf | null): string {
  const observed = "coalesce((SELECT o.observed FROM observations o WHERE o.n = p.n), '')";
  const noEnd = kind.absent === "null" ? `,"valid_to":null}` : "}";
  if (asOf === null) {
    const composed = kind.composedSql === undefined ? "" : ` || CASE l.composed WHEN 1 THEN ${kind.composedSql.live} ELSE '' END`;
    const seen = kind.observed.length === 0 ? "" : ` || ${observed}`;
    return `(SELECT '{' || l.members${seen}${composed} || '${noEnd}' FROM ${getTableName(kind.table)} l WHERE l.n = p.n)`;
  }
  const composed = kind.composedSql === undefined ? "" : ` || CASE v.composed WHEN 1 THEN ${kind.composedSql.asOf} ELSE '' END`;
  const seen = asOf.present && kind.observed.length > 0 ? `coalesce(nullif(${observed}, ''), v.observed)` : "v.observed";
  const version = `(SELECT '{' || v.members || ${seen}${composed} FROM history_versions v WHERE v.key <= ((p.n << 31) | ?1) ORDER BY v.key DESC LIMIT 1)`;
  if (asOf.present) return `${version} || '${noEnd}'`;
  const successor = "(SELECT x.valid_from FROM history_versions x WHERE x.key > ((p.n << 31) | ?1) AND x.key < ((p.n + 1) << 31) ORDER BY x.key LIMIT 1)";
  return `${version} || coalesce(',"valid_to":"' || ${successor} || '"}', '${noEnd}')`;
}

/** Expressions that order by one field; two where texts are folded. The field name comes from a vocabulary, never from a caller. */
export function sortSql(kind: AnyKind, term: OrderTerm, asOf: AsOf | null): string[] {
  const direction = term.direction === "desc" ? " DESC" : "";
  const terms = [`${fieldSql(kind, `('{' || members || '}') ->> '$.${term.field}'`, asOf)}${direction}`];
  if (term.folded) terms.unshift(`${fieldSql(kind, `sort_keys ->> '$.${term.field}'`, asOf)}${direction}`);
  return terms;
}

function fieldSql(kind: AnyKind, expression: string, asOf: AsOf | null): string {
  return asOf === null
    ? `(SELECT ${expression} FROM ${getTableName(kind.table)} WHERE n = p.n)`
    : `(SELECT ${expression} FROM history_versions WHERE key <= ((p.n << 31) | ?1) ORDER BY key DESC LIMIT 1)`;
}
