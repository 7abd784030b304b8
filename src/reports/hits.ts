// What a search has found so far, in the order of its answer, and how it shows: what it is, where it is, and why.

import { parseMac } from "../base/mac.ts";
import { compareCodePoints, textSortKey } from "../base/text.ts";
import { vendorOf } from "../base/vendors/vendor.ts";
import type { AnyKind, RecordBase } from "../db/kind.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { networkKind } from "../resources/networks/network.ts";
import { recordLabel } from "../resources/record-label.ts";
import type { RecordVersions } from "./record-versions.ts";
import { MATCHES, type Match, type MatchKind } from "./search-query.ts";

/** A record that is found. */
export interface Hit {
  readonly n: number;
  readonly kind: AnyKind;
  /** As it is, or as it was last. */
  readonly record: RecordBase;
  readonly match: Match;
  /** Tells until when it was called so; null while it is. */
  readonly namedUntil: (() => string) | null;
  /** Null while it is there. */
  readonly deletedAt: string | null;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** As it stands in the answer. */
export interface SearchResult {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly network: Named | null;
  readonly host: Named | null;
  readonly match: Match & { readonly vendor?: string | null };
  readonly named_until: string | null;
  readonly deleted_at: string | null;
}

/** What a caller sees of one version. */
export interface VersionSight {
  sees(kind: AnyKind, record: RecordBase): boolean;
}

function isCurrent({ namedUntil, deletedAt }: Hit): boolean {
  return namedUntil === null && deletedAt === null;
}

/** Whether both were found alike by what they were called once, and one was called so for longer. */
function isLater(one: Hit, other: Hit): boolean {
  if (one.namedUntil === null || other.namedUntil === null || compareRanks(rankOf(one), rankOf(other)) !== 0)
    return false;
  return one.namedUntil() > other.namedUntil();
}

/** Whether one is told before the other, as far as how they were found goes. */
function isBetter(one: Hit, other: Hit): boolean {
  return compareRanks(rankOf(one), rankOf(other)) < 0;
}

export class HitList {
  private readonly kinds: readonly AnyKind[];
  private readonly byN = new Map<number, Hit>();

  /** @param kinds in their order */
  constructor(kinds: readonly AnyKind[]) {
    this.kinds = kinds;
  }

  /**
   * Of each record the best is kept; what it was called once only where nothing says that it is called so. A station may
   * have come to an interface and gone again several times: the last of them tells until when.
   */
  add(hit: Hit): void {
    const known = this.byN.get(hit.n);
    if (known === undefined || (isCurrent(known) === isCurrent(hit) ? isBetter(hit, known) : isCurrent(hit)))
      this.byN.set(hit.n, hit);
    else if (isLater(hit, known)) this.byN.set(hit.n, hit);
  }

  /** Whether a record was found in this way, or in a better one. */
  has(n: number, way: MatchKind): boolean {
    const known = this.byN.get(n);
    return known !== undefined && MATCHES.indexOf(known.match.kind) <= MATCHES.indexOf(way);
  }

  /** How many are called so today, in this way or a better one. */
  currentUpTo(way: MatchKind): number {
    let count = 0;
    for (const hit of this.byN.values())
      if (isCurrent(hit) && MATCHES.indexOf(hit.match.kind) <= MATCHES.indexOf(way)) count += 1;
    return count;
  }

  /** What is deleted comes last; then by how it was found, what it was called once after what it is; then by name. */
  ordered(): Hit[] {
    return [...this.byN.values()]
      .map((hit) => ({
        hit,
        rank: [...rankOf(hit), this.kinds.indexOf(hit.kind)],
        name: textSortKey(recordLabel(hit.kind, hit.record)),
      }))
      .sort(
        (a, b) =>
          compareRanks(a.rank, b.rank) ||
          compareCodePoints(a.name, b.name) ||
          compareCodePoints(a.hit.record.id, b.hit.record.id),
      )
      .map(({ hit }) => hit);
  }

  /** With the names of where they are. */
  results(hits: readonly Hit[], versions: RecordVersions, sight: VersionSight): SearchResult[] {
    const places = versions.byIds(
      hits
        .flatMap(({ kind, record }) => [placeOf(kind, record, "network"), placeOf(kind, record, "host")])
        .filter((id) => id !== null),
    );
    const named = (kind: AnyKind, id: string | null): Named | null => {
      const record = id === null ? undefined : places.get(id);
      return record === undefined || !sight.sees(kind, record)
        ? null
        : { id: record.id, name: recordLabel(kind, record) };
    };
    return hits.map(({ kind, record, match, namedUntil, deletedAt }) => ({
      type: kind.name,
      id: record.id,
      name: recordLabel(kind, record),
      network: named(networkKind, placeOf(kind, record, "network")),
      host: named(hostKind, placeOf(kind, record, "host")),
      match: withVendor(match),
      named_until: namedUntil?.() ?? null,
      deleted_at: deletedAt,
    }));
  }
}

/** The id of the network or host that a record is in; null for one that is such itself. */
function placeOf(kind: AnyKind, record: RecordBase, scope: "network" | "host"): string | null {
  const field = kind.scopes[scope];
  return field === undefined || field === "id" ? null : ((Reflect.get(record, field) as string | null) ?? null);
}

/** With who made what is found by a MAC address. */
function withVendor(match: Match): SearchResult["match"] {
  const mac = typeof match.value === "string" ? parseMac(match.value) : null;
  return mac === null ? match : { ...match, vendor: vendorOf(mac) };
}

function rankOf({ match, namedUntil, deletedAt }: Hit): number[] {
  return [Number(deletedAt !== null), MATCHES.indexOf(match.kind), Number(namedUntil !== null)];
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [place, rank] of one.entries()) {
    const difference = rank - (other[place] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
