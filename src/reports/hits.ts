// Search results so far, in response order, each with its record, location and match.

import { parseMac } from "../base/mac.ts";
import { compareCodePoints, textSortKey } from "../base/text.ts";
import { vendorOf } from "../base/vendors/vendor.ts";
import type { AnyKind, RecordBase } from "../db/kind.ts";
import { hostKind } from "../resources/hosts/host.ts";
import type { LastSeen } from "../resources/last-seen.ts";
import { networkKind } from "../resources/networks/network.ts";
import { recordLabel } from "../resources/record-label.ts";
import type { RecordVersions } from "./record-versions.ts";
import { MATCHES, type Match, type MatchKind } from "./search-query.ts";

/** A record that was found. */
export interface Hit {
  readonly n: number;
  readonly kind: AnyKind;
  /** The current record, or its last version. */
  readonly record: RecordBase;
  readonly match: Match;
  /** Computes when the record lost the matching name; null for a current name. */
  readonly namedUntil: (() => string) | null;
  /** Null for a live record. */
  readonly deletedAt: string | null;
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
}

/** Wire format of a result. */
export interface SearchResult {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly network: NamedRecord | null;
  readonly host: NamedRecord | null;
  readonly match: Match & { readonly vendor?: string | null };
  readonly named_until: string | null;
  readonly deleted_at: string | null;
  readonly last_seen: LastSeen | null;
}

/** Visibility of a version to the caller. */
export interface VersionVisibility {
  sees(kind: AnyKind, record: RecordBase): boolean;
}

function isCurrent({ namedUntil, deletedAt }: Hit): boolean {
  return namedUntil === null && deletedAt === null;
}

/** Whether both match equally well by a former name, and the first kept that name longer. */
function isLater(left: Hit, right: Hit): boolean {
  if (left.namedUntil === null || right.namedUntil === null || compareRanks(rankOf(left), rankOf(right)) !== 0)
    return false;
  return left.namedUntil() > right.namedUntil();
}

/** Whether the first ranks before the second by its match. */
function isBetter(left: Hit, right: Hit): boolean {
  return compareRanks(rankOf(left), rankOf(right)) < 0;
}

export class HitList {
  private readonly kinds: readonly AnyKind[];
  private readonly byN = new Map<number, Hit>();

  /** @param kinds in ranking order */
  constructor(kinds: readonly AnyKind[]) {
    this.kinds = kinds;
  }

  /**
   * Keeps the best hit of each record; a former name counts only if no current one matches. A station may have been
   * learned on an interface several times: the latest time determines the end.
   */
  add(hit: Hit): void {
    const known = this.byN.get(hit.n);
    if (known === undefined || (isCurrent(known) === isCurrent(hit) ? isBetter(hit, known) : isCurrent(hit)))
      this.byN.set(hit.n, hit);
    else if (isLater(hit, known)) this.byN.set(hit.n, hit);
  }

  /** Whether a record was found by this kind of match or a better one. */
  has(n: number, matchKind: MatchKind): boolean {
    const known = this.byN.get(n);
    return known !== undefined && MATCHES.indexOf(known.match.kind) <= MATCHES.indexOf(matchKind);
  }

  /** Number of records with a current match of this kind or a better one. */
  currentUpTo(matchKind: MatchKind): number {
    let count = 0;
    for (const hit of this.byN.values())
      if (isCurrent(hit) && MATCHES.indexOf(hit.match.kind) <= MATCHES.indexOf(matchKind)) count += 1;
    return count;
  }

  /** Order: live before deleted, kind of match, current before former name, record kind, name. */
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

  /** Adds the names of the networks and hosts, and last places. */
  results(
    hits: readonly Hit[],
    versions: RecordVersions,
    visibility: VersionVisibility,
    lastSeenOf: (hit: Hit) => LastSeen | null,
  ): SearchResult[] {
    const containers = versions.byIds(
      hits
        .flatMap(({ kind, record }) => [containerIdOf(kind, record, "network"), containerIdOf(kind, record, "host")])
        .filter((id) => id !== null),
    );
    const nameRef = (kind: AnyKind, id: string | null): NamedRecord | null => {
      const record = id === null ? undefined : containers.get(id);
      return record === undefined || !visibility.sees(kind, record)
        ? null
        : { id: record.id, name: recordLabel(kind, record) };
    };
    return hits.map((hit) => {
      const { kind, record, match, namedUntil, deletedAt } = hit;
      return {
        type: kind.name,
        id: record.id,
        name: recordLabel(kind, record),
        network: nameRef(networkKind, containerIdOf(kind, record, "network")),
        host: nameRef(hostKind, containerIdOf(kind, record, "host")),
        match: withVendor(match),
        named_until: namedUntil?.() ?? null,
        deleted_at: deletedAt,
        last_seen: lastSeenOf(hit),
      };
    });
  }
}

/** Id of the record's network or host; null if the record is one itself. */
function containerIdOf(kind: AnyKind, record: RecordBase, scope: "network" | "host"): string | null {
  const field = kind.scopes[scope];
  return field === undefined || field === "id" ? null : ((Reflect.get(record, field) as string | null) ?? null);
}

/** Adds the vendor to a match by MAC address. */
function withVendor(match: Match): SearchResult["match"] {
  const mac = typeof match.value === "string" ? parseMac(match.value) : null;
  return mac === null ? match : { ...match, vendor: vendorOf(mac) };
}

function rankOf({ match, namedUntil, deletedAt }: Hit): number[] {
  return [Number(deletedAt !== null), MATCHES.indexOf(match.kind), Number(namedUntil !== null)];
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  for (const [index, rank] of left.entries()) {
    const difference = rank - (right[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
