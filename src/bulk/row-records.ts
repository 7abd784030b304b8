// Matching of table rows to records by id, or else by the match columns.

import { countedEntities, entityWord } from "../base/entity-words.ts";
import { append } from "../base/multimap.ts";
import { liveIdentity, type RecordBase } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { check } from "../schemas/validation.ts";
import { reachOf } from "./bulk-update-commands.ts";
import { cellValue, isNullable } from "./cell-values.ts";
import { columnRoles } from "./table-columns.ts";
import type { Row, TableRows } from "./table-rows.ts";

/** Maximum candidates listed for an ambiguous row. */
const CANDIDATES_MAX = 10;

/** Matches rows by id. */
export function findById(table: TableRows): void {
  for (const row of table.rows) {
    const id = table.cell(row, "id").toLowerCase();
    if (id !== "") row.record = table.reachable(id);
  }
}

/**
 * Matches the remaining rows by key fields; two rows must not match the same record.
 * @param match null for the kind's own key
 */
export function findByKey(table: TableRows, reader: Reader, match: readonly string[] | null): void {
  const { kind } = table.importable.resource;
  const key = match ?? table.importable.key;
  const unmatched = table.rows.flatMap((row) => {
    const values = row.record === null && !row.isRefused ? keyOf(table, row, key, match === null) : null;
    return values === null ? [] : [{ row, name: JSON.stringify(values) }];
  });
  const names = new Set(unmatched.map(({ name }) => name));
  const isIdentity = match === null && kind.unique !== null;
  const found = isIdentity ? byIdentity(table, key, names) : byFields(table, reader, key, names);
  const column = key.at(-1) as string;
  const rowOf = new Map<string, number>();
  for (const { row, name } of unmatched) {
    const candidates = found.get(name) ?? [];
    const [first] = candidates;
    const duplicateRow = rowOf.get(name);
    if (candidates.length > 1)
      table.refuse(row, column, {
        message: `There are ${countedEntities(kind, candidates.length)} with the ${key.map((field) => table.columnOf(field)).join(" and ")} of this row: ${candidates.slice(0, CANDIDATES_MAX).join(", ")}${candidates.length > CANDIDATES_MAX ? ", …" : ""}. Choose one by id.`,
        code: "entity_reference_invalid",
      });
    else if (duplicateRow !== undefined)
      table.refuse(row, column, { message: `refers to the same ${entityWord(kind)} as row ${duplicateRow}` });
    else if (first !== undefined) row.record = table.reachable(first);
    rowOf.set(name, row.row);
  }
  refuseDuplicates(table);
}

function refuseDuplicates(table: TableRows): void {
  const owners = new Map<string, number>();
  for (const row of table.rows) {
    if (row.record === null) continue;
    const duplicateRow = owners.get(row.record.id);
    const word = entityWord(table.importable.resource.kind);
    if (duplicateRow !== undefined)
      table.refuse(row, "id", { message: `refers to the same ${word} as row ${duplicateRow}` });
    owners.set(row.record.id, row.row);
  }
}

/**
 * A row's key values, as records have them; null if one is missing or invalid.
 * @param isOwnKey whether this is the kind's own key, in which a value may be missing: a marker outside all networks
 */
function keyOf(table: TableRows, row: Row, key: readonly string[], isOwnKey: boolean): unknown[] | null {
  const values: unknown[] = [];
  for (const field of key) {
    const role = columnRoles(table.importable).get(field);
    const cell = table.cell(row, field);
    if (role?.type !== "Field") return null;
    if (cell === "" && isOwnKey && isNullable(role.schema)) {
      values.push(null);
      continue;
    }
    const read = cell === "" ? null : cellValue(cell, role.schema);
    if (read === null || "message" in read) return null;
    const checked = check(role.schema, read.value);
    if (!checked.ok) return null;
    values.push(checked.value);
  }
  return values;
}

/** Ids of the records with these identities, for a kind whose key determines the identity. */
function byIdentity(table: TableRows, key: readonly string[], names: ReadonlySet<string>): Map<string, string[]> {
  const { kind } = table.importable.resource;
  const found = new Map<string, string[]>();
  for (const name of names) {
    const values = JSON.parse(name) as unknown[];
    const keyRecord = Object.fromEntries(key.map((field, index) => [field, values[index]]));
    const identity = liveIdentity(kind, { organization_id: table.actor.organizationId, ...keyRecord } as never);
    const record = identity === null ? null : (table.tx.findByIdentity(kind, identity) as RecordBase | null);
    if (record !== null && table.reachable(record.id) !== null) found.set(name, [record.id]);
  }
  return found;
}

/** Ids of records in reach, by their values of these fields. */
function byFields(
  table: TableRows,
  reader: Reader,
  key: readonly string[],
  names: ReadonlySet<string>,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  if (names.size === 0) return found;
  const { kind } = table.importable.resource;
  const query = { kind, reach: reachOf(table.tx, table.actor), asOf: null, limit: 0, offset: 0 };
  for (const row of reader.ownFields(query, ["id", ...key])) {
    const [id, ...values] = JSON.parse(row) as [string, ...unknown[]];
    const name = JSON.stringify(values);
    if (!names.has(name)) continue;
    append(found, name, id);
  }
  return found;
}
