// Lookup of records by the names in a table, limited to what the caller can access, and of names by id. Reads the state
// before the transaction.

import { ownValue } from "../base/fields.ts";
import { append } from "../base/multimap.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { targetsIn, withNames } from "../records/name-columns.ts";
import { ReferenceNames } from "../records/reference-names.ts";
import { recordName } from "../resources/record-label.ts";
import type { Named } from "../resources/resource.ts";
import { cellText, fieldColumns } from "../schemas/csv.ts";

/** A record with a given name, and its location. */
export interface NameCandidate {
  readonly id: string;
  /** Absent for records outside all networks. */
  readonly networkId?: string;
  readonly hostId?: string;
}

/** Ids per name lookup: fewer than the cache holds. */
const BATCH_SIZE = 10_000;

export class NamedRecords {
  private readonly reader: Reader;
  private readonly reach: Reach;
  /** By kind, then by name as in a cell. */
  private readonly byName = new Map<Named, Map<string, NameCandidate[]>>();
  /** The same per host: every host may have a port of the same number. */
  private readonly byHost = new Map<Named, Map<string, NameCandidate[]>>();
  /** Kinds whose names are all loaded. */
  private readonly completeKinds = new Set<Named>();

  constructor(reader: Reader, reach: Reach) {
    this.reader = reader;
    this.reach = reach;
  }

  /** Prefetches records for `findByName`. @param names as in cells; null for all names */
  prefetch(named: Named, names: ReadonlySet<string> | null): void {
    const known = this.byName.get(named) ?? new Map<string, NameCandidate[]>();
    const unknown = names === null ? null : new Set([...names].filter((name) => !known.has(name)));
    if (unknown === null ? this.completeKinds.has(named) : unknown.size === 0) return;
    if (unknown === null) {
      known.clear();
      this.completeKinds.add(named);
    }
    for (const name of unknown ?? []) known.set(name, []);
    const { kind } = named;
    const inHost = this.byHost.get(named) ?? new Map<string, NameCandidate[]>();
    if (unknown === null) inHost.clear();
    const owners = this.ownerNames(named);
    const scopeFields = [kind.scopes.network, kind.scopes.host].filter((field) => field !== undefined);
    const ownerField = named.names.of?.field;
    const fields = [
      ...new Set([
        "id",
        "created_at",
        ...named.names.fields,
        ...scopeFields,
        ...(ownerField === undefined ? [] : [ownerField]),
      ]),
    ];
    const query = { kind, reach: this.reach, asOf: null, limit: 0, offset: 0 };
    for (const row of this.reader.ownFields(query, fields)) {
      const values = JSON.parse(row) as unknown[];
      const record = Object.fromEntries(fields.map((field, index) => [field, values[index]]));
      const own = nameOf(named, record);
      const ownerName = ownerField === undefined ? undefined : owners.get(ownValue(record, ownerField) as string);
      const name = cellText(ownerName === undefined ? own : [ownerName, own].filter((part) => part !== null).join(" "));
      if (unknown?.has(name) === false) continue;
      const found: NameCandidate = {
        id: record.id as string,
        ...(kind.scopes.network === undefined ? {} : { networkId: record[kind.scopes.network] as string }),
        ...(kind.scopes.host === undefined ? {} : { hostId: record[kind.scopes.host] as string }),
      };
      append(known, name, found);
      if (found.hostId === undefined) continue;
      const key = keyInHost(found.hostId, name);
      append(inHost, key, found);
    }
    this.byName.set(named, known);
    this.byHost.set(named, inHost);
  }

  /** Names of the owners of a kind's records, by id; they precede the records' own names. */
  private ownerNames({ names }: Named): ReadonlyMap<string, string | number | null> {
    const found = new Map<string, string | number | null>();
    if (names.of === undefined) return found;
    const { part } = names.of;
    const fields = ["id", ...part.names.fields];
    for (const row of this.reader.ownFields(
      { kind: part.kind, reach: this.reach, asOf: null, limit: 0, offset: 0 },
      fields,
    )) {
      const values = JSON.parse(row) as unknown[];
      const record = Object.fromEntries(fields.map((field, index) => [field, values[index]]));
      found.set(record.id as string, nameOf(part, record));
    }
    return found;
  }

  /** Records with a name. Requires a prior `prefetch`. */
  findByName(named: Named, name: string): readonly NameCandidate[] {
    return this.byName.get(named)?.get(name) ?? [];
  }

  /** The same within one host. */
  findInHost(named: Named, name: string, hostId: string): readonly NameCandidate[] {
    return this.byHost.get(named)?.get(keyInHost(hostId, name)) ?? [];
  }

  /**
   * By id cell, the name cell that an export would write next to it.
   * @param parseCell parses an id cell
   */
  namesOf(idsColumn: string, cells: ReadonlySet<string>, parseCell: (cell: string) => unknown): Map<string, string> {
    const names = new Map<string, string>();
    const [own] = [fieldColumns([idsColumn])];
    const all = [...cells];
    for (let start = 0; start < all.length; start += BATCH_SIZE) {
      const batch = all.slice(start, start + BATCH_SIZE);
      const records = batch.map((cell) => ({ [idsColumn]: parseCell(cell) }));
      const known = new ReferenceNames(this.reader, this.reach, null);
      known.prefetch(targetsIn(own, records));
      const [, other] = withNames(own, (target) => known.of(target));
      for (const [index, record] of records.entries()) names.set(batch[index] as string, cellText(other?.cell(record)));
    }
    return names;
  }
}

function nameOf({ kind, names }: Named, record: Record<string, unknown>): string | number | null {
  return names.name === undefined ? recordName(kind, record) : names.name(record);
}

function keyInHost(hostId: string, name: string): string {
  return `${hostId} ${name}`;
}
