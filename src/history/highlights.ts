// Highlights of a transaction: its most relevant changes by name, the rest as counts. Examines every change, keeps a
// few candidates, and reads only their records.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import { ChangeLog, type LedgerEntry, type RecordChange } from "../db/reading/change-log.ts";
import type { Reader } from "../db/reading/reader.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { recordName } from "../resources/record-label.ts";
import { type FieldsThen, NamesOf, ownFieldsAt, type RecordMoment } from "./highlight-records.ts";
import { HIGHLIGHTS_MAX, type Highlight, type HighlightRest } from "./highlight-rows.ts";
import { fieldSides, referredIds, toldFields } from "./highlight-values.ts";
import { type Narrowing, narrowedChanges } from "./narrowing.ts";
import { ReachedFields } from "./reached-fields.ts";
import { hostOfMac, type StationMove, stationMoves } from "./station-moves.ts";
import { isTold, MOVES_PLACE, placeOf, toldFieldNames } from "./telling.ts";

/** Candidates whose records are read; highlights come from these, as some turn out to be part of others. */
const CANDIDATES_MAX = 5 * HIGHLIGHTS_MAX;

/** Common properties of all changes with the same kind, operation and fields. */
interface ChangeSort {
  readonly countedAs: string;
  /** See placeOf. */
  readonly place: number | null;
  readonly isForwarding: boolean;
}

interface Candidate {
  readonly change: RecordChange;
  /** See placeOf. */
  readonly place: number;
  /** Count bucket, if not highlighted. */
  readonly countedAs: string;
}

/** A candidate with its record before and after; null if missing or dropped by thinning. */
interface ReadChange extends Candidate {
  readonly before: FieldsThen | null;
  readonly after: FieldsThen | null;
}

/** A highlight to show. */
interface Item {
  readonly place: number;
  /** Changes that it shows, to be removed from the counts. */
  readonly covers: readonly Candidate[];
  /** Ids of the records that it names. */
  readonly names: readonly string[];
  readonly tell: (names: NamesOf) => Highlight;
}

/**
 * Highlights of one transaction, in response form.
 * @param narrowing restricts the changes
 * @param read receives each change in passing: a transaction may have a hundred thousand
 */
export function* highlightsOf(
  reader: Reader,
  actor: Actor,
  entry: LedgerEntry,
  narrowing: Narrowing,
  read: (change: RecordChange) => void = () => {},
): Generator<void, { readonly changes: Highlight[]; readonly rest: HighlightRest[] }> {
  const { sequence } = entry;
  const { recordN, ...query } = narrowedChanges(actor, narrowing);
  const highlights = new TransactionHighlights(reader, actor, entry);
  for (const step of new ChangeLog(reader).changesIn(query, { sequences: [sequence], through: sequence })) {
    for (const change of step.changes) {
      if (recordN !== undefined && change.n !== recordN) continue;
      read(change);
      highlights.add(change);
    }
    if (step.through < sequence) yield;
  }
  return yield* highlights.told(narrowing);
}

/** Builds highlights from a transaction's changes, added in commit order. */
class TransactionHighlights {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly entry: LedgerEntry;
  private readonly reached: ReachedFields;
  private readonly isByPerson: boolean;
  private readonly counts = new Map<string, number>();
  /** Cache: a large transaction has many changes of few sorts. Null for changes that are not shown. */
  private readonly sorts = new Map<string, ChangeSort | null>();
  private candidates: Candidate[] = [];
  private hasForwarding = false;

  constructor(reader: Reader, actor: Actor, entry: LedgerEntry) {
    this.reader = reader;
    this.actor = actor;
    this.entry = entry;
    this.reached = new ReachedFields(reader, actor);
    this.isByPerson = entry.actorType === "User" || entry.actorType === "ApiKey";
  }

  add(found: RecordChange): void {
    const change = { ...found, changedFields: this.reached.of(found.kind, [found])[0] ?? null };
    const sort = this.sortOf(change);
    if (sort === null) return;
    const { countedAs, place } = sort;
    this.counts.set(countedAs, (this.counts.get(countedAs) ?? 0) + 1);
    if (sort.isForwarding) this.hasForwarding = true;
    if (place === null) return;
    this.candidates.push({ change, place, countedAs });
    if (this.candidates.length >= 4 * CANDIDATES_MAX) this.candidates = mostTelling(this.candidates);
  }

  private sortOf(change: RecordChange): ChangeSort | null {
    const { kind, operation, changedFields } = change;
    const name = `${kind.code} ${operation} ${changedFields === null ? "-" : changedFields.join()}`;
    const known = this.sorts.get(name);
    if (known !== undefined) return known;
    const [field = null] = operation === "Updated" ? toldFieldNames(change) : [];
    const sort = !isTold(change)
      ? null
      : {
          countedAs: JSON.stringify([kind.name, operation, field]),
          place: placeOf(change, this.isByPerson),
          isForwarding: changedFields?.includes("fdb_macs") === true,
        };
    this.sorts.set(name, sort);
    return sort;
  }

  /** Call after all changes were added. */
  *told(narrowing: Narrowing): Generator<void, { readonly changes: Highlight[]; readonly rest: HighlightRest[] }> {
    const { reader, actor } = this;
    const { sequence } = this.entry;
    const read = this.read(mostTelling(this.candidates));
    const moved = movedAddresses(read);
    const covered = new Set(moved.flatMap(({ covers }) => covers));
    const stations = this.hasForwarding ? yield* stationMoves(reader, actor, sequence, HIGHLIGHTS_MAX) : [];
    const items = [
      ...this.stationItems(stations, narrowing),
      ...moved,
      ...withoutGoingAlong(read)
        .filter((each) => !covered.has(each))
        .map((each) => recordItem(each)),
    ]
      .toSorted((one, other) => one.place - other.place)
      .slice(0, HIGHLIGHTS_MAX);
    const names = new NamesOf(reader, actor, sequence);
    names.learn(items.flatMap((item) => item.names));
    for (const { countedAs } of items.flatMap(({ covers }) => covers))
      this.counts.set(countedAs, (this.counts.get(countedAs) ?? 0) - 1);
    return { changes: items.map((item) => item.tell(names)), rest: this.rest() };
  }

  private read(candidates: readonly Candidate[]): ReadChange[] {
    const { sequence } = this.entry;
    const isThinned = sequence - 1 < this.reader.thinnedPast.until;
    const read = new Map<Candidate, ReadChange>();
    const kinds = Map.groupBy(candidates, ({ change }) => change.kind);
    for (const [kind, some] of kinds) {
      const at = (then: number) =>
        ownFieldsAt(
          this.reader,
          kind,
          some.map(({ change }): RecordMoment => [change.n, then]),
        );
      const [before, after] = [at(sequence - 1), at(sequence)];
      for (const [place, each] of some.entries()) {
        const known = isThinned && each.change.operation === "Updated" ? null : (before[place] ?? null);
        read.set(each, { ...each, before: known, after: after[place] ?? null });
      }
    }
    return candidates.map((each) => read.get(each) as ReadChange);
  }

  private stationItems(moves: readonly StationMove[], { networkN, hostN, recordN }: Narrowing): Item[] {
    const { reader } = this;
    const { sequence } = this.entry;
    const ids = [...new Set(moves.flatMap(({ from, to }) => [from, to]))];
    const ns = ids.map((id) => reader.recordN(id) ?? 0);
    const [before, after] = [sequence - 1, sequence].map((then) =>
      ownFieldsAt(
        reader,
        ifEntryKind,
        ns.map((n): RecordMoment => [n, then]),
      ),
    ) as [(FieldsThen | null)[], (FieldsThen | null)[]];
    const hosts = new Map(ids.map((id, place) => [id, hostIdIn(after[place] ?? before[place] ?? null)]));
    const meant = [networkN, hostN, recordN].map((n) => (n === undefined ? null : (reader.recordIds([n])[0] ?? "")));
    return moves.flatMap((move) => {
      const station = hostOfMac(reader, move, sequence);
      const touched = [move.networkId, station, move.from, move.to, hosts.get(move.from), hosts.get(move.to)];
      if (meant.some((id) => id !== null && !touched.includes(id))) return [];
      const port = (id: string, names: NamesOf) => {
        const host = hosts.get(id) ?? null;
        return { ...names.of(id), host: host === null ? null : names.of(host) };
      };
      return [
        {
          place: MOVES_PLACE,
          covers: [],
          names: touched.slice(1).filter((id) => id !== null && id !== undefined),
          tell: (names: NamesOf) => ({
            type: "StationMoved" as const,
            mac_address: move.macAddress,
            station: station === null ? null : names.of(station),
            from: port(move.from, names),
            to: port(move.to, names),
          }),
        },
      ];
    });
  }

  private rest(): HighlightRest[] {
    return [...this.counts]
      .filter(([, count]) => count > 0)
      .map(([countedAs, count]) => {
        const [entity_type, operation, field] = JSON.parse(countedAs) as [
          string,
          HighlightRest["operation"],
          string | null,
        ];
        return { entity_type, operation, field, count };
      });
  }
}

/** By rank, then in commit order. */
function mostTelling(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((one, other) => one.place - other.place).slice(0, CANDIDATES_MAX);
}

/** Without parts of hosts that were themselves added or removed. */
function withoutGoingAlong(read: readonly ReadChange[]): ReadChange[] {
  const whole = new Set(
    read
      .filter(({ change }) => change.kind.name === "host" && change.operation !== "Updated")
      .map(({ change }) => change.id),
  );
  return read.filter(({ change, before, after }) => {
    const hostId = hostIdIn(after ?? before);
    return change.operation === "Updated" || hostId === null || !whole.has(hostId);
  });
}

/** Addresses of one network that were deleted on one host and created on another, or that changed their host. */
function movedAddresses(read: readonly ReadChange[]): Item[] {
  const addresses = read.filter(({ change }) => change.kind.name === "ip_address");
  const ended = addresses.filter(({ change }) => change.operation === "Deleted");
  return addresses.flatMap((each) => {
    const { change, after } = each;
    if (after === null || change.operation === "Deleted") return [];
    const old = change.operation === "Updated" ? each : ended.find((other) => isSameAddress(other.before, after));
    const [from, to] = [hostIdIn(old?.before ?? null), hostIdIn(after)];
    if (old === undefined || from === null || to === null || from === to) return [];
    return [
      {
        place: MOVES_PLACE,
        covers: old === each ? [each] : [each, old],
        names: [from, to],
        tell: (names: NamesOf) => ({
          type: "AddressMoved" as const,
          id: change.id,
          ip_address: String(after.ip_address),
          from: names.of(from),
          to: names.of(to),
        }),
      },
    ];
  });
}

function isSameAddress(one: FieldsThen | null, other: FieldsThen): boolean {
  return one?.ip_address === other.ip_address && one?.network_id === other.network_id;
}

function recordItem(each: ReadChange): Item {
  const { change, before, after } = each;
  const { kind, id, operation } = change;
  const record = after ?? before ?? {};
  const hostId = hostIdIn(record);
  const sides =
    operation === "Updated" && after !== null ? fieldSides(kind, toldFieldNames(change), before, after) : [];
  return {
    // A port with a neighbor ranks above an access port.
    place: each.place - (leadsOn(kind, before, after) ? 0.5 : 0),
    covers: [each],
    names: [...(hostId === null ? [] : [hostId]), ...referredIds(kind, sides)],
    tell: (names) => ({
      type: operation,
      entity_type: kind.name,
      id,
      name: recordName(kind, record),
      host: hostId === null ? null : names.of(hostId),
      fields: toldFields(kind, sides, names),
    }),
  };
}

function leadsOn(kind: AnyKind, before: FieldsThen | null, after: FieldsThen | null): boolean {
  return kind.name === "if_entry" && [before?.neighbor, after?.neighbor].some((neighbor) => neighbor != null);
}

/** Host of a part. */
function hostIdIn(record: FieldsThen | null): string | null {
  return typeof record?.host_id === "string" ? record.host_id : null;
}
