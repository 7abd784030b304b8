// Resolution of names in table rows to records, with a check against the ids next to them.

import { findReachable } from "../access/reach.ts";
import { oneEntity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { hostKind } from "../resources/hosts/host.ts";
import type { Named } from "../resources/resource.ts";
import { serviceKind } from "../resources/services/service.ts";
import { cellText } from "../schemas/csv.ts";
import { cellValue } from "./cell-values.ts";
import type { CellName, NameCell, ResolvedRecord } from "./name-cells.ts";
import type { NameCandidate, NamedRecords } from "./named-records.ts";
import type { NameReference, Row, TableRows } from "./table-rows.ts";

/** Maximum list parts that may form one name: a name may contain semicolons. */
const NAME_PARTS_MAX = 8;
/** Maximum characters of names in a message. */
const OWN_MAX_LENGTH = 200;
/** Maximum candidates listed for an ambiguous name. */
const CANDIDATES_MAX = 10;

/** Adds the ids of named records to the rows, and refuses rows with unknown or ambiguous names. */
export function resolveNames(table: TableRows, named: NamedRecords): void {
  for (const reference of table.references) {
    const { idsPosition, namesPosition, role } = reference;
    const [unresolved, idCells] = [new Set<string>(), new Set<string>()];
    for (const { cells } of table.rows) {
      const [ids, names] = [cells[idsPosition] ?? "", cells[namesPosition] ?? ""];
      if (names !== "") (ids === "" ? unresolved : idCells).add(ids === "" ? names : ids);
    }
    if (unresolved.size > 0) learnNames(reference, unresolved, named);
    const namesOf = named.namesOf(reference.field, idCells, (cell) => idsIn(reference, cell));
    for (const row of table.rows) {
      const [ids, names] = [row.cells[idsPosition] ?? "", row.cells[namesPosition] ?? ""];
      if (names === "") continue;
      if (ids !== "") {
        const own = namesOf.get(ids) ?? "";
        if (role.cell?.agrees?.(names, own, ids) !== true) assertAgreeing(table, row, reference, names, own);
      } else if (role.cell === undefined) resolve(table, row, reference, names, named);
      else resolveCell(table, row, reference, role.cell, names, named);
    }
  }
}

function learnNames({ role }: NameReference, cells: ReadonlySet<string>, named: NamedRecords): void {
  // Splitting a list requires all names: lists contain tags and VLANs, which are few.
  if (role.cell === undefined) return named.prefetch(role.of, role.isList ? null : cells);
  const requested = new Map<Named, Set<string>>();
  for (const cell of cells) {
    const names = role.cell.namesIn(cell);
    for (const { of, name } of typeof names === "string" ? [] : names)
      for (const each of of) {
        const others = requested.get(each);
        if (others === undefined) requested.set(each, new Set([name]));
        else others.add(name);
      }
  }
  for (const [of, names] of requested) named.prefetch(of, names);
}

/** Value of an id cell, as a record has it. */
function idsIn({ role }: NameReference, cell: string): unknown {
  const read = cellValue(cell, role.schema);
  return "value" in read && typeof read.value === typeof (role.isList || role.cell !== undefined ? {} : "")
    ? read.value
    : null;
}

/** @param own names of the records with these ids; empty for unknown ids, which are refused elsewhere */
function assertAgreeing(table: TableRows, row: Row, { namesColumn, field }: NameReference, names: string, own: string) {
  if (names === own || own === "") return;
  const message = `does not agree with ${field}, whose record is called ${own.slice(0, OWN_MAX_LENGTH)}; leave one of them empty`;
  table.refuse(row, namesColumn, { message, value: names });
}

function resolve(table: TableRows, row: Row, reference: NameReference, names: string, named: NamedRecords): void {
  const { role, field } = reference;
  const found: string[] = [];
  for (const name of role.isList ? partsOf(names, reference, named) : [names]) {
    const hostId = field === "host_id" ? undefined : hostOf(table, row, field);
    const match = findOnly(table, row, reference, { of: [role.of], name, hostId }, named);
    if (match === null) return;
    found.push(match.id);
  }
  row.ids.set(field, found.join(";"));
}

/** The same for a cell that contains more than names. */
function resolveCell(
  table: TableRows,
  row: Row,
  reference: NameReference,
  cell: NameCell,
  names: string,
  named: NamedRecords,
): void {
  const { field, namesColumn } = reference;
  const requested = cell.namesIn(names);
  if (typeof requested === "string") {
    table.refuse(row, namesColumn, { message: requested, value: names });
    return;
  }
  const found: ResolvedRecord[] = [];
  for (const each of requested) {
    const hostId = cell.isWithinHost ? hostOf(table, row, field) : undefined;
    const match = findOnly(table, row, reference, { ...each, hostId }, named);
    if (match === null) return;
    found.push(match);
  }
  row.ids.set(field, cellText(cell.value(names, found)));
}

/** The only record with a name; null if there is none or several, which is reported. */
function findOnly(
  table: TableRows,
  row: Row,
  { field, namesColumn }: NameReference,
  { of, name, hostId }: CellName & { readonly hostId: string | undefined },
  named: NamedRecords,
): ResolvedRecord | null {
  const candidates = of.flatMap((each) =>
    narrow(table, row, field, { of: each, name, hostId }, named).map(({ id }) => ({ of: each, id })),
  );
  const [match, ...others] = candidates;
  if (match !== undefined && others.length === 0) return match;
  // The ambiguity may result from an error already reported for the row.
  if (match !== undefined && row.isRefused) return null;
  const entities = of.map(({ kind }) => oneEntity(kind)).join(" or ");
  const message =
    match === undefined
      ? `The column ${namesColumn} names ${entities} that does not exist here.`
      : `The column ${namesColumn} names ${candidates.length} records: ${listIds(candidates)}. Choose one by ${field}, or by the network.`;
  table.refuse(row, namesColumn, { message, value: name, code: "entity_reference_invalid" });
  return null;
}

function listIds(candidates: readonly ResolvedRecord[]): string {
  const ids = candidates.slice(0, CANDIDATES_MAX).map(({ id }) => id);
  return `${ids.join(", ")}${candidates.length > CANDIDATES_MAX ? ", …" : ""}`;
}

/** Splits a list into names, preferring the longest known name. */
function* partsOf(names: string, { role }: NameReference, named: NamedRecords): Generator<string> {
  const parts = names.split(";");
  for (let start = 0; start < parts.length; ) {
    let end = Math.min(parts.length, start + NAME_PARTS_MAX);
    while (end > start + 1 && named.findByName(role.of, joinParts(parts, start, end)).length === 0) end -= 1;
    yield joinParts(parts, start, end);
    start = end;
  }
}

function joinParts(parts: readonly string[], start: number, end: number): string {
  return parts.slice(start, end).join(";").trim();
}

/** Narrows candidates to the row's own host or network, if they have one. */
function narrow(
  table: TableRows,
  row: Row,
  field: string,
  { of, name, hostId }: { readonly of: Named; readonly name: string; readonly hostId: string | undefined },
  named: NamedRecords,
): readonly NameCandidate[] {
  if (hostId !== undefined && of.kind.scopes.host !== undefined && of.kind.scopes.host !== "id")
    return named.findInHost(of, name, hostId);
  const candidates = named.findByName(of, name);
  const networkId = field === "network_id" ? undefined : networkOf(table, row, idIn(table, row, "host_id"));
  if (networkId === undefined || candidates[0]?.networkId === undefined) return candidates;
  return candidates.filter((candidate) => candidate.networkId === networkId);
}

/** Id in a field of a row, or of its record. */
function idIn(table: TableRows, row: Row, field: string): string | undefined {
  const given = table.cell(row, field).toLowerCase();
  if (given !== "") return given;
  const stored = ownValue(row.record, field);
  return typeof stored === "string" ? stored : undefined;
}

/** The row's own host, or that of its service. */
function hostOf(table: TableRows, row: Row, field: string): string | undefined {
  const own = idIn(table, row, "host_id");
  const serviceId = own !== undefined || field === "service_id" ? undefined : idIn(table, row, "service_id");
  return serviceId === undefined ? own : findReachable(table.tx, serviceKind, serviceId, table.actor)?.host_id;
}

function networkOf(table: TableRows, row: Row, hostId: string | undefined): string | undefined {
  const own = idIn(table, row, "network_id");
  if (own !== undefined || hostId === undefined) return own;
  return findReachable(table.tx, hostKind, hostId, table.actor)?.network_id;
}
