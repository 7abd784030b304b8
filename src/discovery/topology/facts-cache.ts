// Read thread's cache of the last network queried. Versions are immutable, so a query for another time reads only the
// records that differ then. Does not read the store.

import type { AnyKind } from "../../db/kind.ts";
import type { NetworkFacts } from "./facts.ts";

/**
 * Maximum records per kind for a cached network: about 80 MB of interfaces. A larger network is read again each time.
 */
export const CACHED_RECORDS_MAX = 120_000;

/** Record number → transaction that wrote the version in force, in page order. */
export type VersionsAsOf = ReadonlyMap<number, number>;

/** Versions in force as of a transaction, by kind code. */
export interface StateAsOf {
  readonly sequence: number;
  readonly versions: ReadonlyMap<number, VersionsAsOf>;
}

interface CachedPart<Part> {
  readonly version: number;
  readonly part: Part;
}

/** By record number: the content of the last version read. */
export type CachedParts<Part> = Map<number, CachedPart<Part>>;

export class FactsCache {
  private networkN: number | null = null;
  private state: StateAsOf | null = null;
  private facts: NetworkFacts | null = null;
  private parts = new Map<number, CachedParts<unknown>>();

  /** Returns the last state of this network; null if none. */
  stateOf(networkN: number): StateAsOf | null {
    return networkN === this.networkN ? this.state : null;
  }

  /** Returns the facts of this network if its last state is unchanged; null otherwise. */
  factsOf(networkN: number, { versions }: StateAsOf): NetworkFacts | null {
    const known = this.stateOf(networkN);
    const isSame = known !== null && [...versions].every(([code, own]) => known.versions.get(code) === own);
    return isSame ? this.facts : null;
  }

  /** Stores the facts of the last stored state. */
  storeFacts(state: StateAsOf, facts: NetworkFacts): void {
    if (this.state === state) this.facts = facts;
  }

  /** Forgets all other networks. */
  storeState(networkN: number, state: StateAsOf): void {
    this.facts = this.factsOf(networkN, state);
    const count = [...this.parts.values()].reduce((sum, { size }) => sum + size, 0);
    // The cache may also hold records that did not exist at the requested times.
    if (networkN !== this.networkN || count > 3 * CACHED_RECORDS_MAX) this.parts = new Map();
    this.networkN = networkN;
    this.state = state;
  }

  /** Parts of the network whose state was stored last. */
  partsOf<Part>({ code }: AnyKind): CachedParts<Part> {
    const known = this.parts.get(code) ?? new Map();
    this.parts.set(code, known);
    return known as CachedParts<Part>;
  }
}
