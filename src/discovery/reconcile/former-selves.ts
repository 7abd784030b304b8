// Former signs of consolidated hosts, mapped to the surviving host. Read once per command. identity.ts decides
// identity.

import { append } from "../../base/multimap.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { formerIdentities, survivorOf } from "../../resources/consolidations/consolidation.ts";
import { SignIndex, type Signs, signsOfTexts } from "./signs.ts";

interface FormerHost {
  readonly hostId: string;
  readonly signs: Signs;
}

interface FormerHostIndex {
  readonly all: SignIndex<FormerHost>;
  /** Keyed by surviving host ID, like formerNs. */
  readonly signs: Map<string, Signs[]>;
  readonly formerNs: Map<string, number[]>;
}

export class FormerHosts {
  private readonly tx: WriteTransaction;
  private readonly networkId: string;
  private cached: FormerHostIndex | null = null;

  constructor(tx: WriteTransaction, networkId: string) {
    this.tx = tx;
    this.networkId = networkId;
  }

  /** Returns former hosts that share a sign. */
  sharingSign(seen: Signs): FormerHost[] {
    return this.index().all.sharingSign(seen);
  }

  /** Returns the former signs of a surviving host. */
  signsOf(hostId: string): readonly Signs[] {
    return this.index().signs.get(hostId) ?? [];
  }

  /** Returns the record numbers of the hosts consolidated into a surviving one. */
  formerNsOf(hostId: string): readonly number[] {
    return this.index().formerNs.get(hostId) ?? [];
  }

  /** Returns the surviving host of a possibly consolidated one; null if none. */
  survivorOf(hostId: string): string | null {
    return this.index().formerNs.size === 0 ? hostId : survivorOf(this.tx, hostId);
  }

  private index(): FormerHostIndex {
    if (this.cached !== null) return this.cached;
    const all: FormerHost[] = [];
    const signsOf = new Map<string, Signs[]>();
    const formerNs = new Map<string, number[]>();
    for (const { hostId, formerN, signs: texts } of formerIdentities(this.tx, this.networkId)) {
      const signs = signsOfTexts(texts);
      all.push({ hostId, signs });
      append(signsOf, hostId, signs);
      if (formerNs.get(hostId)?.includes(formerN) !== true) append(formerNs, hostId, formerN);
    }
    this.cached = { all: new SignIndex(all), signs: signsOf, formerNs };
    return this.cached;
  }
}
