// Search over all kinds as of one transaction, best matches first. Runs off the main thread; examines a bounded number
// of records, and reports whether there are more.

import type { Actor } from "../access/actor.ts";
import { atLeast } from "../access/role.ts";
import type { AnyKind, RecordBase } from "../db/kind.ts";
import type { FixedMoment } from "../db/reading/list-query.ts";
import { longRead, PAUSE } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hostMacs, LastPlaces } from "../history/last-place.ts";
import type { Visibility } from "../history/records-at.ts";
import { RESOURCES } from "../records/resources.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../resources/hosts/host.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import type { LastSeen } from "../resources/last-seen.ts";
import { metaAt, successBody } from "../schemas/envelope.ts";
import { type Hit, HitList, type SearchResult, type VersionVisibility } from "./hits.ts";
import { PartsOfHosts } from "./parts-of-hosts.ts";
import { RecordVersions, type Version } from "./record-versions.ts";
import { CandidateReader, type CandidateRecords } from "./search-candidates.ts";
import { MATCHES, type Match, matchOf, parseSearchQuery, type SearchQuery, worseMatch } from "./search-query.ts";

/** Passed to another thread. */
export interface SearchInput {
  readonly actor: Actor;
  /** Contains at least one word. */
  readonly q: string;
  /** Names of kinds; null for all that the caller may list. */
  readonly types: readonly string[] | null;
  readonly networkId: string | null;
  readonly limit: number;
  readonly moment: FixedMoment;
}

/** Searchable kinds in the order of the documentation: all kinds with names. */
export const SEARCHED_TYPES = RESOURCES.filter(({ kind }) => kind.indexedNames !== undefined).map(
  ({ kind }) => kind.name,
);

export const search = longRead("search", function* (reader: Reader, input: SearchInput) {
  const steps = new Search(reader, input).run();
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      const { results, hasMore, cutOff } = step.value;
      const more = `,"search":${JSON.stringify({ limit: input.limit, has_more: hasMore, cut_off: cutOff })}`;
      const meta = metaAt(input.moment, more);
      yield encoder.encode(successBody(JSON.stringify(results), meta));
      return;
    }
    yield PAUSE;
  }
});

const encoder = new TextEncoder();

interface SearchOutcome {
  readonly results: SearchResult[];
  readonly hasMore: boolean;
  readonly cutOff: string[];
}

class Search implements VersionVisibility {
  private readonly input: SearchInput;
  private readonly query: SearchQuery;
  private readonly versions: RecordVersions;
  private readonly candidates: CandidateReader;
  private readonly kinds: readonly AnyKind[];
  /** Ids; null for all. */
  private readonly networkIds: ReadonlySet<string> | null;
  /** User whose API keys the caller sees; null for all users. */
  private readonly onlyUserId: string | null;
  private readonly hits: HitList;
  private readonly reader: Reader;
  private readonly visibility: Visibility;
  private readonly places: LastPlaces;

  constructor(reader: Reader, input: SearchInput) {
    const { actor, networkId } = input;
    this.reader = reader;
    this.input = input;
    this.query = parseSearchQuery(input.q);
    const networkNs = networksInReach(reader, actor, networkId);
    this.networkIds = networkNs === null ? null : new Set(reader.recordIds(networkNs));
    this.versions = new RecordVersions(reader, input.moment.asOf.sequence);
    this.candidates = new CandidateReader(
      reader,
      { organizationN: actor.organizationN, networkNs },
      input.moment.asOf.sequence,
    );
    this.kinds = RESOURCES.filter(
      ({ kind, read }) =>
        kind.indexedNames !== undefined &&
        (read.sessionOnly !== true || actor.type === "User") &&
        atLeast(actor.role, read.role) &&
        input.types?.includes(kind.name) !== false &&
        (isOfOrganization(kind) && networkId === null
          ? true
          : kind.scopes.network !== undefined && networkNs?.length !== 0),
    ).map(({ kind }) => kind);
    this.onlyUserId = atLeast(actor.role, "Admin") ? null : (reader.recordIds([actor.userN])[0] ?? "");
    this.hits = new HitList(this.kinds);
    this.visibility = {
      organizationN: actor.organizationN,
      networkIds: this.networkIds === null ? null : [...this.networkIds],
    };
    this.places = new LastPlaces(reader, input.moment.asOf.sequence, this.visibility);
  }

  *run(): Generator<void, SearchOutcome> {
    const { limit } = this.input;
    const parts = new PartsOfHosts(this.reader, this.versions, this.candidates, this, this.input.moment.asOf.sequence);
    for (const hit of yield* parts.find(this.kinds, this.query)) this.hits.add(hit);
    const isComplete = yield* this.matchAll();
    const hits = this.hits.ordered();
    const { cutOff } = this.candidates;
    const isCutOff = (kind: AnyKind) => cutOff.has(kind) || (kind === ifEntryKind && cutOff.has(fdbEntryKind));
    return {
      results: this.hits.results(hits.slice(0, limit), this.versions, this, (hit) => this.lastSeenOf(hit)),
      hasMore: hits.length > limit || !isComplete,
      cutOff: this.kinds.filter(isCutOff).map(({ name }) => name),
    };
  }

  /** Last place of a host, or of the device at an address, that is currently at no port. */
  private lastSeenOf({ n, kind, record, deletedAt }: Hit): LastSeen | null {
    if (kind === ipAddressKind) {
      const { network_id, mac_address } = record as IpAddressRecord;
      return this.places.ofAbsent(network_id, mac_address === null ? [] : [mac_address]);
    }
    if (kind !== hostKind) return null;
    const [newest] = deletedAt === null ? [] : this.versions.newest([n]);
    const sequence = newest === undefined ? this.input.moment.asOf.sequence : newest.sequence - 1;
    return this.places.ofAbsent((record as HostRecord).network_id, hostMacs(this.reader, n, sequence, this.visibility));
  }

  sees(kind: AnyKind, record: RecordBase): boolean {
    const networkField = kind.scopes.network;
    if (networkField !== undefined) {
      const networkId = Reflect.get(record, networkField) as string | null;
      if (networkId === null) return this.input.networkId === null;
      return this.networkIds === null || this.networkIds.has(networkId);
    }
    const userField = kind.scopes.user;
    return userField === undefined || this.onlyUserId === null || Reflect.get(record, userField) === this.onlyUserId;
  }

  /**
   * Tries each kind of match for every record kind, until no better result is possible. @returns whether it was
   * exhaustive
   */
  private *matchAll(): Generator<void, boolean> {
    for (const matchKind of MATCHES) {
      for (const kind of this.kinds) {
        yield* this.matchOne(kind, matchKind);
        if (kind === ifEntryKind) yield* this.matchOne(fdbEntryKind, matchKind);
        if (this.hits.currentUpTo(matchKind) > this.input.limit) return false;
      }
    }
    return true;
  }

  private *matchOne(kind: AnyKind, matchKind: (typeof MATCHES)[number]): Generator<void> {
    const candidates = yield* this.candidates.of(kind, this.query, matchKind);
    for (const n of [...candidates.keys()]) if (this.hits.has(n, matchKind)) candidates.delete(n);
    for (const hit of this.matchCandidates(kind, candidates)) {
      const visibleHit = kind === fdbEntryKind ? this.onInterface(hit) : hit;
      if (visibleHit !== null) this.hits.add(visibleHit);
    }
    yield;
  }

  /** Matches candidates by their current or last name, else by former names. */
  private matchCandidates(kind: AnyKind, candidates: CandidateRecords): Hit[] {
    const newest = this.versions.newest([...candidates.keys()]);
    const ends = newest.filter(({ record }) => record === null);
    const lastVersions = this.versions.newestOf(ends.map(({ n, sequence }) => [n, sequence - 1]));
    const records = new Map([...newest, ...lastVersions].map(({ n, record }) => [n, record] as const));
    const hits: Hit[] = [];
    const others = new Map<number, Omit<Hit, "match" | "namedUntil">>();
    for (const { n, record: current, at } of newest) {
      const record = records.get(n) ?? null;
      if (record === null || !this.sees(kind, record)) continue;
      const found = { n, kind, record, deletedAt: current === null ? at : null };
      const match = this.match(kind, record);
      if (match === null) others.set(n, found);
      else hits.push({ ...found, match, namedUntil: null });
    }
    const pairs = [...others.keys()].flatMap((n) =>
      (candidates.get(n) ?? []).map((sequence) => [n, sequence] as const),
    );
    // The most recent former name first.
    for (const former of this.versions.newestOf(pairs.sort((a, b) => b[1] - a[1]))) {
      const found = others.get(former.n);
      if (found === undefined || former.record === null || !this.sees(kind, former.record)) continue;
      const match = this.match(kind, former.record);
      if (match === null) continue;
      others.delete(former.n);
      hits.push({ ...found, match, namedUntil: () => this.endOf(former, match) });
    }
    return hits;
  }

  /** When a record lost the matching name. */
  private endOf(former: Version, { kind: wantedKind }: Match): string {
    const end = this.versions.firstAfter(former, ({ kind, record }) => {
      const later = record === null ? null : this.match(kind, record);
      return later === null || worseMatch(later.kind, wantedKind) !== wantedKind;
    });
    // Every former name has an end.
    return (end ?? former).at;
  }

  private match(kind: AnyKind, record: RecordBase): Match | null {
    return matchOf(kind.indexedNames?.(record) ?? [], this.query, kind.name === "vlan");
  }

  /** Replaces a forwarding entry with its present or former interface. */
  private onInterface(hit: Hit): Hit | null {
    const n = this.reader.recordN((hit.record as RecordBase & { readonly if_entry_id: string }).if_entry_id);
    const [newest] = n === null ? [] : this.versions.newest([n]);
    if (newest === undefined) return null;
    const record = newest.record ?? this.versions.last(newest)?.record ?? null;
    if (record === null || !this.sees(ifEntryKind, record)) return null;
    return {
      n: newest.n,
      kind: ifEntryKind,
      record,
      match: hit.match,
      namedUntil: hit.namedUntil ?? (hit.deletedAt === null ? null : () => hit.deletedAt as string),
      deletedAt: newest.record === null ? newest.at : null,
    };
  }
}

/** Whether records of a kind can be outside any network. */
function isOfOrganization(kind: AnyKind): boolean {
  return kind.scopes.network === undefined || kind.networkIsOptional === true;
}

/** Record numbers of the searched networks; null for all of the organization. */
function networksInReach(reader: Reader, { networkNs }: Actor, networkId: string | null): readonly number[] | null {
  if (networkId === null) return networkNs;
  const n = reader.recordN(networkId);
  return n === null || networkNs?.includes(n) === false ? [] : [n];
}
