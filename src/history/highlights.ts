// Transaction highlights: the most relevant changes by name, the rest as counts. Examines every change, keeps a few
// candidates, and reads only their records.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import { ChangeLog, type LedgerEntry, type RecordChange } from "../db/reading/change-log.ts";
import type { Reader } from "../db/reading/reader.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { recordName } from "../resources/record-label.ts";
import { isShown, MOVES_RANK, rankOf, shownFieldNames } from "./change-ranking.ts";
import { HighlightNames, ownFieldsAt, type PastFields } from "./highlight-records.ts";
import { HIGHLIGHTS_MAX, type Highlight, type HighlightRest } from "./highlight-rows.ts";
import { fieldSides, referencedIds, renderFields } from "./highlight-values.ts";
import { type Narrowing, narrowedChanges } from "./narrowing.ts";
import { ReachedFields } from "./reached-fields.ts";
import { hostOfMac, type StationMove, stationMoves } from "./station-moves.ts";

/** Candidates whose records are read; highlights come from these, as some turn out to be part of others. */
const CANDIDATES_MAX = 5 * HIGHLIGHTS_MAX;

/** Common properties of all changes with the same kind, operation and fields. */
interface ChangeClass {
  readonly countedAs: string;
  /** See rankOf. */
  readonly rank: number | null;
  readonly isForwarding: boolean;
}

interface Candidate {
  readonly change: RecordChange;
  /** See rankOf. */
  readonly rank: number;
  /** Count bucket, if not highlighted. */
  readonly countedAs: string;
}

/** A candidate with its record before and after; null if missing or dropped by thinning. */
interface ReadChange extends Candidate {
  readonly before: PastFields | null;
  readonly after: PastFields | null;
}

/** A highlight to show. */
interface HighlightItem {
  readonly rank: number;
  /** Changes that it shows, to be removed from the counts. */
  readonly covers: readonly Candidate[];
  /** Ids of the records that it names. */
  readonly names: readonly string[];
  readonly render: (names: HighlightNames) => Highlight;
}

/**
 * Highlights of one transaction, in response form.
 * @param narrowing restricts the changes
 * @param read also receives each change, which saves a second pass over up to a hundred thousand
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
  return yield* highlights.build(narrowing);
}

/** Builds highlights from a transaction's changes, added in commit order. */
class TransactionHighlights {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly entry: LedgerEntry;
  private readonly reached: ReachedFields;
  private readonly isByPerson: boolean;
  private readonly counts = new Map<string, number>();
  /** Cache: a large transaction has many changes of few types. Null for changes that are not shown. */
  private readonly classes = new Map<string, ChangeClass | null>();
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
    const sort = this.classify(change);
    if (sort === null) return;
    const { countedAs, rank } = sort;
    this.counts.set(countedAs, (this.counts.get(countedAs) ?? 0) + 1);
    if (sort.isForwarding) this.hasForwarding = true;
    if (rank === null) return;
    this.candidates.push({ change, rank, countedAs });
    if (this.candidates.length >= 4 * CANDIDATES_MAX) this.candidates = mostSignificant(this.candidates);
  }

  private classify(change: RecordChange): ChangeClass | null {
    const { kind, operation, changedFields } = change;
    const name = `${kind.code} ${operation} ${changedFields === null ? "-" : changedFields.join()}`;
    const known = this.classes.get(name);
    if (known !== undefined) return known;
    const [field = null] = operation === "Updated" ? shownFieldNames(change) : [];
    const sort = !isShown(change)
      ? null
      : {
          countedAs: JSON.stringify([kind.name, operation, field]),
          rank: rankOf(change, this.isByPerson),
          isForwarding: changedFields?.includes("fdb_macs") === true,
        };
    this.classes.set(name, sort);
    return sort;
  }

  /** Call after all changes were added. */
  *build(narrowing: Narrowing): Generator<void, { readonly changes: Highlight[]; readonly rest: HighlightRest[] }> {
    const { reader, actor } = this;
    const { sequence } = this.entry;
    const read = this.read(mostSignificant(this.candidates));
    const moved = movedAddresses(read);
    const covered = new Set(moved.flatMap(({ covers }) => covers));
    const stations = this.hasForwarding ? yield* stationMoves(reader, actor, sequence, HIGHLIGHTS_MAX) : [];
    const items = [
      ...this.stationItems(stations, narrowing),
      ...moved,
      ...withoutPartsOfHosts(read)
        .filter((each) => !covered.has(each))
        .map((each) => recordItem(each)),
    ]
      .toSorted((left, other) => left.rank - other.rank)
      .slice(0, HIGHLIGHTS_MAX);
    const names = new HighlightNames(reader, actor, sequence);
    names.prefetch(items.flatMap((item) => item.names));
    for (const { countedAs } of items.flatMap(({ covers }) => covers))
      this.counts.set(countedAs, (this.counts.get(countedAs) ?? 0) - 1);
    return { changes: items.map((item) => item.render(names)), rest: this.rest() };
  }

  private read(candidates: readonly Candidate[]): ReadChange[] {
    const { sequence } = this.entry;
    const isThinned = sequence - 1 < this.reader.thinnedHistory.until;
    const read = new Map<Candidate, ReadChange>();
    const kinds = Map.groupBy(candidates, ({ change }) => change.kind);
    for (const [kind, ofKind] of kinds) {
      const ns = ofKind.map(({ change }) => change.n);
      const before = ownFieldsAt(this.reader, kind, ns, sequence - 1);
      const after = ownFieldsAt(this.reader, kind, ns, sequence);
      for (const [rank, each] of ofKind.entries()) {
        const known = isThinned && each.change.operation === "Updated" ? null : (before[rank] ?? null);
        read.set(each, { ...each, before: known, after: after[rank] ?? null });
      }
    }
    return candidates.map((each) => read.get(each) as ReadChange);
  }

  private stationItems(moves: readonly StationMove[], { networkN, hostN, recordN }: Narrowing): HighlightItem[] {
    const { reader } = this;
    const { sequence } = this.entry;
    const ids = [...new Set(moves.flatMap(({ from, to }) => [from, to]))];
    const ns = ids.map((id) => reader.recordN(id) ?? 0);
    const before = ownFieldsAt(reader, ifEntryKind, ns, sequence - 1);
    const after = ownFieldsAt(reader, ifEntryKind, ns, sequence);
    const hosts = new Map(ids.map((id, rank) => [id, hostIdIn(after[rank] ?? before[rank] ?? null)]));
    const wanted = [networkN, hostN, recordN].filter((n) => n !== undefined);
    const requested = wanted.map((n) => reader.recordIds([n])[0] ?? "");
    return moves.flatMap((move) => {
      const station = hostOfMac(reader, move, sequence);
      const touched = [move.networkId, station, move.from, move.to, hosts.get(move.from), hosts.get(move.to)];
      if (requested.some((id) => !touched.includes(id))) return [];
      const port = (id: string, names: HighlightNames) => {
        const host = hosts.get(id) ?? null;
        return { ...names.of(id), host: host === null ? null : names.of(host) };
      };
      return [
        {
          rank: MOVES_RANK,
          covers: [],
          names: touched.slice(1).filter((id) => id !== null && id !== undefined),
          render: (names: HighlightNames) => ({
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
        const [entity_type, operation, field] = JSON.parse(countedAs) as CountKey;
        return { entity_type, operation, field, count };
      });
  }
}

/** Counted changes, as JSON: kind, operation, and the most relevant field of an update. */
type CountKey = [entityType: string, operation: HighlightRest["operation"], field: string | null];

/** By rank, then in commit order. */
function mostSignificant(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((left, other) => left.rank - other.rank).slice(0, CANDIDATES_MAX);
}

/** Without parts of hosts that were themselves added or removed. */
function withoutPartsOfHosts(read: readonly ReadChange[]): ReadChange[] {
  const hostIds = new Set(
    read
      .filter(({ change }) => change.kind.name === "host" && change.operation !== "Updated")
      .map(({ change }) => change.id),
  );
  return read.filter(({ change, before, after }) => {
    const hostId = hostIdIn(after ?? before);
    return change.operation === "Updated" || hostId === null || !hostIds.has(hostId);
  });
}

/** Addresses of one network that were deleted on one host and created on another, or that changed their host. */
function movedAddresses(read: readonly ReadChange[]): HighlightItem[] {
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
        rank: MOVES_RANK,
        covers: old === each ? [each] : [each, old],
        names: [from, to],
        render: (names: HighlightNames) => ({
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

function isSameAddress(left: PastFields | null, other: PastFields): boolean {
  return left?.ip_address === other.ip_address && left?.network_id === other.network_id;
}

function recordItem(each: ReadChange): HighlightItem {
  const { change, before, after } = each;
  const { kind, id, operation } = change;
  const record = after ?? before ?? {};
  const hostId = hostIdIn(record);
  const sides =
    operation === "Updated" && after !== null ? fieldSides(kind, shownFieldNames(change), before, after) : [];
  return {
    // A port with a neighbor ranks above an access port.
    rank: each.rank - (hasNeighbor(kind, before, after) ? 0.5 : 0),
    covers: [each],
    names: [...(hostId === null ? [] : [hostId]), ...referencedIds(kind, sides)],
    render: (names) => ({
      type: operation,
      entity_type: kind.name,
      id,
      name: recordName(kind, record),
      host: hostId === null ? null : names.of(hostId),
      fields: renderFields(kind, sides, names),
    }),
  };
}

function hasNeighbor(kind: AnyKind, before: PastFields | null, after: PastFields | null): boolean {
  return kind.name === "if_entry" && [before?.neighbor, after?.neighbor].some((neighbor) => neighbor != null);
}

/** Host of a part. */
function hostIdIn(record: PastFields | null): string | null {
  return typeof record?.host_id === "string" ? record.host_id : null;
}
