// What a thread that reads remembers of the network that it was last asked for. Versions never change, so that at
// another instant only those records are read that say something else then. Reads nothing itself.

import type { AnyKind } from "../../db/kind.ts";
import type { NetworkFacts } from "./facts.ts";

/** Records of one kind in a network that is remembered: some 80 MB of interfaces. A larger one is read anew each time. */
export const REMEMBERED_RECORDS_MAX = 120_000;

/** Record number → the transaction that wrote the version in force, in page order. */
export type VersionsThen = ReadonlyMap<number, number>;

/** Which versions were in force as of a transaction, by the code of their kind. */
export interface StateThen {
  readonly sequence: number;
  readonly versions: ReadonlyMap<number, VersionsThen>;
}

interface RememberedPart<Part> {
  readonly version: number;
  readonly part: Part;
}

/** By record number: what the version says that was asked for last. */
export type RememberedParts<Part> = Map<number, RememberedPart<Part>>;

export class FactsMemory {
  private networkN: number | null = null;
  private state: StateThen | null = null;
  private facts: NetworkFacts | null = null;
  private parts = new Map<number, RememberedParts<unknown>>();

  /** The last one of this network; null where there is none. */
  stateOf(networkN: number): StateThen | null {
    return networkN === this.networkN ? this.state : null;
  }

  /** What the last state of this network came to, where that is the same one; null for any other. */
  factsOf(networkN: number, { versions }: StateThen): NetworkFacts | null {
    const known = this.stateOf(networkN);
    const isSame = known !== null && [...versions].every(([code, own]) => known.versions.get(code) === own);
    return isSame ? this.facts : null;
  }

  /** Of the state that was kept last. */
  keepFacts(state: StateThen, facts: NetworkFacts): void {
    if (this.state === state) this.facts = facts;
  }

  /** What is known of any other network is forgotten. */
  keepState(networkN: number, state: StateThen): void {
    this.facts = this.factsOf(networkN, state);
    const count = [...this.parts.values()].reduce((sum, { size }) => sum + size, 0);
    // There are also records that were not there at the instants that are asked for now.
    if (networkN !== this.networkN || count > 3 * REMEMBERED_RECORDS_MAX) this.parts = new Map();
    this.networkN = networkN;
    this.state = state;
  }

  /** Of the network whose state was kept last. */
  partsOf<Part>({ code }: AnyKind): RememberedParts<Part> {
    const known = this.parts.get(code) ?? new Map();
    this.parts.set(code, known);
    return known as RememberedParts<Part>;
  }
}
