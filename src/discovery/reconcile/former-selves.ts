// What hosts were known by before they were consolidated: whoever still says so is the host that is left. Read once for
// each command; must not decide who it is.

import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { formerSelves, survivorOf } from "../../resources/consolidations/consolidation.ts";
import { type Signs, signKeys, signsOfTexts } from "./signs.ts";

interface KnownSelf {
  readonly hostId: string;
  readonly signs: Signs;
}

interface Read {
  readonly bySign: Map<string, KnownSelf[]>;
  /** By the id of the living host, as the next. */
  readonly signs: Map<string, Signs[]>;
  readonly formerNs: Map<string, number[]>;
}

export class FormerSelves {
  private readonly tx: WriteTransaction;
  private readonly networkId: string;
  private read: Read | null = null;

  constructor(tx: WriteTransaction, networkId: string) {
    this.tx = tx;
    this.networkId = networkId;
  }

  /** Those with a sign in common. */
  sharing(seen: Signs): KnownSelf[] {
    const { bySign } = this.all();
    return bySign.size === 0 ? [] : [...new Set([...signKeys(seen)].flatMap((key) => bySign.get(key) ?? []))];
  }

  /** What a living host was known by before. */
  signsOf(hostId: string): readonly Signs[] {
    return this.all().signs.get(hostId) ?? [];
  }

  /** The record numbers of the hosts that have gone into a living one. */
  formerNsOf(hostId: string): readonly number[] {
    return this.all().formerNs.get(hostId) ?? [];
  }

  /** The living host for one that may have gone into it; null for none. */
  survivorOf(hostId: string): string | null {
    return this.all().formerNs.size === 0 ? hostId : survivorOf(this.tx, hostId);
  }

  private all(): Read {
    if (this.read !== null) return this.read;
    const bySign = new Map<string, KnownSelf[]>();
    const signsOf = new Map<string, Signs[]>();
    const formerNs = new Map<string, number[]>();
    for (const { hostId, formerN, signs: texts } of formerSelves(this.tx, this.networkId)) {
      const signs = signsOfTexts(texts);
      const self = { hostId, signs };
      add(signsOf, hostId, signs);
      for (const key of signKeys(signs)) add(bySign, key, self);
      if (formerNs.get(hostId)?.includes(formerN) !== true) add(formerNs, hostId, formerN);
    }
    this.read = { bySign, signs: signsOf, formerNs };
    return this.read;
  }
}

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
