// Former signs of consolidated hosts, mapped to the surviving host. Read once per command. Must not decide identity.

import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { formerSelves, survivorOf } from "../../resources/consolidations/consolidation.ts";
import { type Signs, signKeys, signsOfTexts } from "./signs.ts";

interface KnownSelf {
  readonly hostId: string;
  readonly signs: Signs;
}

interface Read {
  readonly bySign: Map<string, KnownSelf[]>;
  /** Keyed by surviving host ID, like formerNs. */
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

  /** Returns former hosts that share a sign. */
  sharing(seen: Signs): KnownSelf[] {
    const { bySign } = this.all();
    return bySign.size === 0 ? [] : [...new Set([...signKeys(seen)].flatMap((key) => bySign.get(key) ?? []))];
  }

  /** Returns the former signs of a surviving host. */
  signsOf(hostId: string): readonly Signs[] {
    return this.all().signs.get(hostId) ?? [];
  }

  /** Returns the record numbers of the hosts consolidated into a surviving one. */
  formerNsOf(hostId: string): readonly number[] {
    return this.all().formerNs.get(hostId) ?? [];
  }

  /** Returns the surviving host of a possibly consolidated one; null if none. */
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
