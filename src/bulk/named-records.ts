// Lookup of records by the names in a table, within the caller's reach, and of names by id. Reads the state before the
// transaction.

import { ownValue } from "../base/fields.ts";
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
const STEP = 10_000;

export class NamedRecords {
  private readonly reader: Reader;
  private readonly reach: Reach;
  /** By kind, then by name as in a cell. */
  private readonly byName = new Map<Named, Map<string, NameCandidate[]>>();
  /** The same per host: every host may have a port of the same number. */
  private readonly byHost = new Map<Named, Map<string, NameCandidate[]>>();
  /** Kinds whose names are all loaded. */
  private readonly learnedWhole = new Set<Named>();

  constructor(reader: Reader, reach: Reach) {
    this.reader = reader;
    this.reach = reach;
  }

  /** Prefetches records for `called`. @param names as in cells; null for all names */
  learn(of: Named, names: ReadonlySet<string> | null): void {
    const known = this.byName.get(of) ?? new Map<string, NameCandidate[]>();
    const unknown = names === null ? null : new Set([...names].filter((name) => !known.has(name)));
    if (unknown === null ? this.learnedWhole.has(of) : unknown.size === 0) return;
    if (unknown === null) {
      known.clear();
      this.learnedWhole.add(of);
    }
    for (const name of unknown ?? []) known.set(name, []);
    const { kind } = of;
    const inHost = this.byHost.get(of) ?? new Map<string, NameCandidate[]>();
    if (unknown === null) inHost.clear();
    const wholes = this.namesOfWholes(of);
    const places = [kind.scopes.network, kind.scopes.host].filter((field) => field !== undefined);
    const whole = of.names.of?.field;
    const fields = [
      ...new Set(["id", "created_at", ...of.names.fields, ...places, ...(whole === undefined ? [] : [whole])]),
    ];
    const query = { kind, reach: this.reach, asOf: null, limit: 0, offset: 0 };
    for (const row of this.reader.ownFields(query, fields)) {
      const values = JSON.parse(row) as unknown[];
      const record = Object.fromEntries(fields.map((field, place) => [field, values[place]]));
      const own = nameOf(of, record);
      const before = whole === undefined ? undefined : wholes.get(ownValue(record, whole) as string);
      const name = cellText(before === undefined ? own : [before, own].filter((part) => part !== null).join(" "));
      if (unknown?.has(name) === false) continue;
      const found: NameCandidate = {
        id: record.id as string,
        ...(kind.scopes.network === undefined ? {} : { networkId: record[kind.scopes.network] as string }),
        ...(kind.scopes.host === undefined ? {} : { hostId: record[kind.scopes.host] as string }),
      };
      const others = known.get(name);
      if (others === undefined) known.set(name, [found]);
      else others.push(found);
      if (found.hostId === undefined) continue;
      const key = keyInHost(found.hostId, name);
      const beside = inHost.get(key);
      if (beside === undefined) inHost.set(key, [found]);
      else beside.push(found);
    }
    this.byName.set(of, known);
    this.byHost.set(of, inHost);
  }

  /** Names of the owners of a kind's records, by id; they precede the records' own names. */
  private namesOfWholes({ names }: Named): ReadonlyMap<string, string | number | null> {
    const found = new Map<string, string | number | null>();
    if (names.of === undefined) return found;
    const { part } = names.of;
    const fields = ["id", ...part.names.fields];
    for (const row of this.reader.ownFields(
      { kind: part.kind, reach: this.reach, asOf: null, limit: 0, offset: 0 },
      fields,
    )) {
      const values = JSON.parse(row) as unknown[];
      const record = Object.fromEntries(fields.map((field, place) => [field, values[place]]));
      found.set(record.id as string, nameOf(part, record));
    }
    return found;
  }

  /** Records with a name. Requires a prior `learn`. */
  called(of: Named, name: string): readonly NameCandidate[] {
    return this.byName.get(of)?.get(name) ?? [];
  }

  /** The same within one host. */
  calledInHost(of: Named, name: string, hostId: string): readonly NameCandidate[] {
    return this.byHost.get(of)?.get(keyInHost(hostId, name)) ?? [];
  }

  /**
   * By id cell, the name cell that an export would write next to it.
   * @param saidIn parses an id cell
   */
  namesOf(idsColumn: string, cells: ReadonlySet<string>, saidIn: (cell: string) => unknown): Map<string, string> {
    const names = new Map<string, string>();
    const [own] = [fieldColumns([idsColumn])];
    const all = [...cells];
    for (let start = 0; start < all.length; start += STEP) {
      const step = all.slice(start, start + STEP);
      const records = step.map((cell) => ({ [idsColumn]: saidIn(cell) }));
      const known = new ReferenceNames(this.reader, this.reach, null);
      known.learn(targetsIn(own, records));
      const [, beside] = withNames(own, (target) => known.of(target));
      for (const [place, record] of records.entries()) names.set(step[place] as string, cellText(beside?.cell(record)));
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
