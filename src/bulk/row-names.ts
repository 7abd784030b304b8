// Which records the names in the rows of a table stand for, and whether they agree with the ids beside them.

import { findReachable } from "../access/reach.ts";
import { oneEntity } from "../base/entity-words.ts";
import { hostKind } from "../resources/hosts/host.ts";
import type { NameCandidate, NamedRecords } from "./named-records.ts";
import type { NameReference, Row, TableRows } from "./table-rows.ts";

/** Parts of a list that may be one name between them: a name may contain semicolons. */
const NAME_PARTS_MAX = 8;
/** Characters of names in a sentence. */
const OWN_MAX_LENGTH = 200;
/** Candidates that an ambiguous name lists. */
const CANDIDATES_MAX = 10;

/** Puts the ids that names stand for into the rows, and refuses rows whose names stand for nothing, or for several. */
export function resolveNames(table: TableRows, named: NamedRecords): void {
  for (const reference of table.references) {
    const { idsPlace, namesPlace, role } = reference;
    const [unresolved, beside] = [new Set<string>(), new Set<string>()];
    for (const { cells } of table.rows) {
      const [ids, names] = [cells[idsPlace] ?? "", cells[namesPlace] ?? ""];
      if (names !== "") (ids === "" ? unresolved : beside).add(ids === "" ? names : ids);
    }
    // Which names a list is of depends on which there are: lists are of tags and VLANs, which are few.
    if (unresolved.size > 0) named.learn(role.of, role.isList ? null : unresolved);
    const namesOf = named.namesOf(reference.field, beside, role.isList);
    for (const row of table.rows) {
      const [ids, names] = [row.cells[idsPlace] ?? "", row.cells[namesPlace] ?? ""];
      if (names === "") continue;
      if (ids === "") resolve(table, row, reference, names, named);
      else assertAgreeing(table, row, reference, names, namesOf.get(ids) ?? "");
    }
  }
}

/** @param own what the records of the ids are called; empty for ids that name nothing here, which are refused as such */
function assertAgreeing(table: TableRows, row: Row, { namesColumn, field }: NameReference, names: string, own: string) {
  if (names === own || own === "") return;
  const message = `does not agree with ${field}, whose record is called ${own.slice(0, OWN_MAX_LENGTH)}; leave one of them empty`;
  table.refuse(row, namesColumn, { message, value: names });
}

function resolve(table: TableRows, row: Row, reference: NameReference, names: string, named: NamedRecords): void {
  const { role, field, namesColumn } = reference;
  const found: string[] = [];
  for (const name of role.isList ? partsOf(names, reference, named) : [names]) {
    const candidates = near(table, row, field, named.called(role.of, name));
    const [one, ...others] = candidates;
    if (one === undefined || others.length > 0) {
      const message =
        one === undefined
          ? `The column ${namesColumn} names ${oneEntity(role.of.kind)} that does not exist here.`
          : `The column ${namesColumn} names ${candidates.length} records: ${listed(candidates)}. Say which by ${field}, or by the network.`;
      table.refuse(row, namesColumn, { message, value: name, code: "entity_reference_invalid" });
      return;
    }
    found.push(one.id);
  }
  row.ids.set(field, found.join(";"));
}

function listed(candidates: readonly NameCandidate[]): string {
  const ids = candidates.slice(0, CANDIDATES_MAX).map(({ id }) => id);
  return `${ids.join(", ")}${candidates.length > CANDIDATES_MAX ? ", …" : ""}`;
}

/** The names of a list: each as long as there is a record of it. */
function* partsOf(names: string, { role }: NameReference, named: NamedRecords): Generator<string> {
  const parts = names.split(";");
  for (let start = 0; start < parts.length; ) {
    let end = Math.min(parts.length, start + NAME_PARTS_MAX);
    while (end > start + 1 && named.called(role.of, joined(parts, start, end)).length === 0) end -= 1;
    yield joined(parts, start, end);
    start = end;
  }
}

function joined(parts: readonly string[], start: number, end: number): string {
  return parts.slice(start, end).join(";").trim();
}

/** Those of the row's own host or network, where there are any to tell apart. */
function near(
  table: TableRows,
  row: Row,
  field: string,
  candidates: readonly NameCandidate[],
): readonly NameCandidate[] {
  const [first] = candidates;
  if (first === undefined) return candidates;
  const hostId = field === "host_id" ? undefined : idIn(table, row, "host_id");
  if (hostId !== undefined && first.hostId !== undefined)
    return candidates.filter((candidate) => candidate.hostId === hostId);
  const networkId = field === "network_id" ? undefined : networkOf(table, row, hostId);
  if (networkId === undefined || first.networkId === undefined) return candidates;
  return candidates.filter((candidate) => candidate.networkId === networkId);
}

/** The id that a row, or its record, has in a field. */
function idIn(table: TableRows, row: Row, field: string): string | undefined {
  const said = table.cell(row, field).toLowerCase();
  if (said !== "") return said;
  const stored = (row.record as unknown as Readonly<Record<string, unknown>> | null)?.[field];
  return typeof stored === "string" ? stored : undefined;
}

function networkOf(table: TableRows, row: Row, hostId: string | undefined): string | undefined {
  const own = idIn(table, row, "network_id");
  if (own !== undefined || hostId === undefined) return own;
  return findReachable(table.tx, hostKind, hostId, table.actor)?.network_id;
}
