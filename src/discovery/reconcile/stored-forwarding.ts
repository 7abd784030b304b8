// Stored forwarding entries of a host's interfaces. Most interfaces report the same entries in every scan, so their
// records are not loaded.

import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import type { ForwardingEntry } from "../device.ts";

export class StoredForwarding {
  private readonly tx: WriteTransaction;
  private readonly hostId: string;
  /** Identities by interface; null if the transaction has changed some. */
  private readonly identities: ReadonlyMap<string, ReadonlySet<string>> | null;
  private records: ReadonlyMap<string, FdbEntryRecord[]> | null = null;

  constructor(tx: WriteTransaction, hostId: string) {
    this.tx = tx;
    this.hostId = hostId;
    const identities = tx.storedIdentities(fdbEntryKind, "host_n", hostId);
    if (identities === null) this.identities = null;
    else {
      const byEntry = new Map<string, Set<string>>();
      for (const identity of identities) {
        const entryId = identity.slice(0, identity.indexOf("/"));
        const known = byEntry.get(entryId);
        if (known === undefined) byEntry.set(entryId, new Set([identity]));
        else known.add(identity);
      }
      this.identities = byEntry;
    }
  }

  /** True if an interface certainly has these entries and no others. */
  isSame(entryId: string, reported: readonly ForwardingEntry[]): boolean {
    if (this.identities === null) return false;
    const stored = this.identities.get(entryId) ?? new Set();
    const now = new Set(
      reported.map(({ mac_address, vlan_number }) => `${entryId}/${mac_address}/${vlan_number ?? ""}`),
    );
    return now.size === stored.size && now.isSubsetOf(stored);
  }

  /** The entries of an interface when this object was created. */
  of(entryId: string): readonly FdbEntryRecord[] {
    if (this.identities !== null && !this.identities.has(entryId)) return [];
    this.records ??= Map.groupBy(
      this.tx.children(fdbEntryKind, "host_n", this.hostId),
      ({ if_entry_id }) => if_entry_id,
    );
    return this.records.get(entryId) ?? [];
  }
}
