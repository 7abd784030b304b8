// Search across a host and its children: `core-1 gi1/0/7` finds the interface of that name on the host of that name.
// Examines few hosts and their children as of the timestamp.

import { type AnyKind, type Kind, type RecordBase, scopeKey } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hostKind } from "../resources/hosts/host.ts";
import type { Hit, VersionVisibility } from "./hits.ts";
import type { RecordVersions, Version } from "./record-versions.ts";
import type { CandidateReader } from "./search-candidates.ts";
import {
  MATCHES,
  matchOf,
  type QueryWord,
  queryOfWords,
  type SearchQuery,
  type WordReading,
  wordsMatched,
  worseMatch,
} from "./search-query.ts";

/** Maximum number of hosts examined, best matches first. */
const HOSTS_MAX = 20;
/**
 * Maximum number of children examined individually across all hosts, and the number of results at which the search
 * stops.
 */
const PARTS_MAX = 400;
const FOUND_MAX = 100;

/** A host, the words it matches, and the remaining words for its children. */
interface MatchedHost {
  readonly host: Version & { readonly record: RecordBase };
  readonly remaining: readonly QueryWord[];
  /** Query for its children. */
  readonly subQuery: SearchQuery;
  readonly rank: number;
  readonly match: (typeof MATCHES)[number];
}

export class PartsOfHosts {
  private readonly reader: Reader;
  private readonly versions: RecordVersions;
  private readonly candidates: CandidateReader;
  private readonly visibility: VersionVisibility;
  private readonly until: number;
  /** Index entries for the children of each kind, by their words. */
  private readonly known = new Map<string, string[] | null>();
  private budget = PARTS_MAX;

  constructor(
    reader: Reader,
    versions: RecordVersions,
    candidates: CandidateReader,
    visibility: VersionVisibility,
    until: number,
  ) {
    this.reader = reader;
    this.versions = versions;
    this.candidates = candidates;
    this.visibility = visibility;
    this.until = until;
  }

  /** @param kinds the kinds to search */
  *find(kinds: readonly AnyKind[], query: SearchQuery): Generator<void, Hit[]> {
    const parts = kinds.filter((kind) => kind.scopes.host !== undefined && kind.name !== "ignored");
    const hits: Hit[] = [];
    if (parts.length === 0) return hits;
    for (const reading of query.readings) {
      if (reading.words.length < 2) continue;
      for (const matchedHost of yield* this.hosts(reading, parts)) {
        for (const kind of parts) {
          if (hits.length > FOUND_MAX) this.candidates.cutOff.add(kind);
          else
            for (const version of this.partsOf(matchedHost, kind)) hits.push(...this.matchPart(version, matchedHost));
          yield;
        }
      }
    }
    return hits;
  }

  /** @param parts the kinds of children to examine */
  private *hosts({ words }: WordReading, parts: readonly AnyKind[]): Generator<void, MatchedHost[]> {
    const ns = new Set<number>();
    for (const word of words) for (const n of (yield* this.candidates.byWord(hostKind, word)).keys()) ns.add(n);
    // Most hosts match the same few words.
    const subQueries = new Map<string, SearchQuery>();
    const subQuery = (subset: readonly QueryWord[]) => {
      const name = subset.map(({ text }) => text).join(" ");
      let known = subQueries.get(name);
      if (known === undefined) subQueries.set(name, (known = queryOfWords(subset)));
      return known;
    };
    const found = this.versions.newest([...ns]).flatMap((version): MatchedHost[] => {
      const { record } = version;
      if (record === null || !this.visibility.sees(hostKind, record)) return [];
      const texts = (hostKind as Kind<RecordBase>).indexedNames?.(record) ?? [];
      const matched = wordsMatched(texts, words);
      const remaining = words.filter((word) => !matched.includes(word));
      if (matched.length === 0 || remaining.length === 0) return [];
      const match = matchOf(texts, subQuery(matched), false);
      // A number within a name does not identify a host.
      if (match === null || (match.kind === "Word" && !matched.some(({ text }) => /\p{L}/u.test(text)))) return [];
      return [
        {
          host: { ...version, record },
          remaining,
          subQuery: subQuery(remaining),
          match: match.kind,
          rank: remaining.length * MATCHES.length + MATCHES.indexOf(match.kind),
        },
      ];
    });
    if (found.length > HOSTS_MAX || this.candidates.cutOff.has(hostKind))
      for (const kind of parts) this.candidates.cutOff.add(kind);
    return found.sort((a, b) => a.rank - b.rank || a.host.n - b.host.n).slice(0, HOSTS_MAX);
  }

  /** Children that may match: by the index, or individually if the index has too many entries. */
  private partsOf({ host, remaining }: MatchedHost, kind: AnyKind): Version[] {
    const scope = scopeKey(host.n, kind);
    const [first, last] = this.reader
      .statement("SELECT min(n), max(n) FROM history_spans WHERE scope = +?1 AND born <= +?2 AND died > +?2")
      .values(scope, this.until)[0] as [number | null, number | null];
    if (first === null || last === null) return [];
    const entries = this.entriesFor(kind, remaining);
    const ns = entries === null ? null : this.candidates.between(entries, first, last);
    if (ns !== null) return this.versions.newest(ns);
    const rows = this.reader
      .statement("SELECT n FROM history_spans WHERE scope = +?1 AND born <= +?2 AND died > +?2 ORDER BY n LIMIT +?3")
      .values(scope, this.until, this.budget + 1) as Array<[number]>;
    if (rows.length > this.budget) this.candidates.cutOff.add(kind);
    const examined = rows.slice(0, this.budget).map(([n]) => n);
    this.budget -= examined.length;
    return this.versions.newest(examined);
  }

  private entriesFor(kind: AnyKind, words: readonly QueryWord[]): string[] | null {
    const name = `${kind.name} ${words.map(({ text }) => text).join(" ")}`;
    let entries = this.known.get(name);
    if (entries === undefined) {
      entries = this.candidates.entriesOfRarest(kind, words);
      this.known.set(name, entries);
    }
    return entries;
  }

  private matchPart({ n, kind, record }: Version, { host, subQuery, match: hostMatch }: MatchedHost): Hit[] {
    const hostField = kind.scopes.host;
    if (record === null || hostField === undefined || Reflect.get(record, hostField) !== host.record.id) return [];
    if (!this.visibility.sees(kind, record)) return [];
    const match = matchOf(kind.indexedNames?.(record) ?? [], subQuery, false);
    if (match === null) return [];
    return [
      {
        n,
        kind,
        record,
        match: { ...match, kind: worseMatch(match.kind, hostMatch) },
        namedUntil: null,
        deletedAt: null,
      },
    ];
  }
}
