// Hosts that devices reported themselves, by their interface entries and reports.

import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";

/** True if the host has interface entries. Called for every learned address, so it loads none of them. */
export function hasInterfaces(tx: WriteTransaction, hostId: string): boolean {
  const n = tx.recordN(hostId);
  const isStored =
    n !== null && n > 0 && tx.db.$client.query("SELECT 1 FROM if_entries WHERE host_n = +?1 LIMIT 1").get(n) !== null;
  return isStored || tx.children(ifEntryKind, "host_n", hostId).length > 0;
}

/** True if the host has responded to SNMP. */
export function hasReported(tx: WriteTransaction, hostId: string): boolean {
  const n = tx.recordN(hostId);
  return (
    n !== null &&
    n > 0 &&
    tx.db.$client.query("SELECT 1 FROM discovery_tellings WHERE host_n = +?1 LIMIT 1").get(n) !== null
  );
}
