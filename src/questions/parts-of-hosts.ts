// What a search finds across a host and its parts: `core-1 gi1/0/7` is the interface of that name on the host of that
// name. Looks at few hosts, and at their parts as they are at the instant.

import type { AnyKind, Kind, RecordBase } from "../db/kind.ts";
import { scopeKey } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hostKind } from "../resources/hosts/host.ts";
import type { Hit, VersionSight } from "./hits.ts";
import type { RecordVersions, Version } from "./record-versions.ts";
import type { CandidateReader } from "./search-candidates.ts";
import {
  MATCHES,
  matchOf,
  readingOf,
  type SearchQuery,
  type WordReading,
  wordsMatched,
  worse,
} from "./search-query.ts";

/** Hosts whose parts are looked at, those that are called most exactly so first. */
const HOSTS_MAX = 20;
/** Parts of all of them that are looked at. */
const PARTS_MAX = 1_000;

/** A host, the words that it has, and those that are left for its parts. */
interface HostOfWords {
  readonly host: Version & { readonly record: RecordBase };
  readonly left: readonly string[];
  readonly rank: number;
  readonly match: (typeof MATCHES)[number];
}

export class PartsOfHosts {
  private readonly reader: Reader;
  private readonly versions: RecordVersions;
  private readonly candidates: CandidateReader;
  private readonly sight: VersionSight;
  private readonly until: number;

  constructor(
    reader: Reader,
    versions: RecordVersions,
    candidates: CandidateReader,
    sight: VersionSight,
    until: number,
  ) {
    this.reader = reader;
    this.versions = versions;
    this.candidates = candidates;
    this.sight = sight;
    this.until = until;
  }

  /** @param kinds those that are searched */
  *find(kinds: readonly AnyKind[], query: SearchQuery): Generator<void, Hit[]> {
    const parts = kinds.filter((kind) => kind.scopes.host !== undefined && kind.name !== "ignored");
    const hits: Hit[] = [];
    if (parts.length === 0) return hits;
    let budget = PARTS_MAX;
    for (const reading of query.readings) {
      if (reading.words.length < 2) continue;
      for (const named of yield* this.hosts(reading, parts)) {
        for (const kind of parts) {
          const living = this.partsOf(named.host.n, kind, budget);
          if (living.length >= budget) this.candidates.cutOff.add(kind);
          budget -= living.length;
          for (const version of living) {
            const hit = this.judge(version, named);
            if (hit !== null) hits.push(hit);
          }
          yield;
        }
      }
    }
    return hits;
  }

  /** @param parts the kinds that are looked at on them */
  private *hosts({ words }: WordReading, parts: readonly AnyKind[]): Generator<void, HostOfWords[]> {
    const ns = new Set<number>();
    for (const word of words) for (const n of (yield* this.candidates.byWord(hostKind, word)).keys()) ns.add(n);
    const found = this.versions.newest([...ns]).flatMap((version): HostOfWords[] => {
      const { record } = version;
      if (record === null || !this.sight.sees(hostKind, record)) return [];
      const called = (hostKind as Kind<RecordBase>).called?.(record) ?? [];
      const own = wordsMatched(called, words);
      const left = words.filter((word) => !own.includes(word));
      if (own.length === 0 || left.length === 0) return [];
      const match = matchOf(called, { readings: [readingOf(own)], macDigits: null, vlanNumber: null }, false);
      if (match === null) return [];
      return [
        {
          host: { ...version, record },
          left,
          match: match.kind,
          rank: left.length * MATCHES.length + MATCHES.indexOf(match.kind),
        },
      ];
    });
    if (found.length > HOSTS_MAX || this.candidates.cutOff.has(hostKind))
      for (const kind of parts) this.candidates.cutOff.add(kind);
    return found.sort((a, b) => a.rank - b.rank || a.host.n - b.host.n).slice(0, HOSTS_MAX);
  }

  private partsOf(hostN: number, kind: AnyKind, limit: number): Version[] {
    const rows = this.reader
      .statement("SELECT n FROM history_spans WHERE scope = +?1 AND born <= +?2 AND died > +?2 ORDER BY n LIMIT +?3")
      .values(scopeKey(hostN, kind), this.until, Math.max(0, limit)) as Array<[number]>;
    return this.versions.newest(rows.map(([n]) => n));
  }

  private judge({ n, kind, record }: Version, named: HostOfWords): Hit | null {
    if (record === null || !this.sight.sees(kind, record)) return null;
    const query = { readings: [readingOf(named.left)], macDigits: null, vlanNumber: null } as const;
    const match = matchOf(kind.called?.(record) ?? [], query, false);
    if (match === null) return null;
    return {
      n,
      kind,
      record,
      match: { ...match, kind: worse(match.kind, named.match) },
      namedUntil: null,
      deletedAt: null,
    };
  }
}
