// Forwarding entry: a MAC address learned on an interface, in a VLAN (BRIDGE-MIB dot1dTpFdbTable, Q-BRIDGE-MIB
// dot1qTpFdbTable). A separate record, so that a change on a busy uplink does not rewrite the whole table.

import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type Kind, liveColumns, type RecordBase } from "../../db/kind.ts";
import { hosts } from "../hosts/host.ts";
import { FDB_ENTRY_UPCASTERS, ifEntries } from "../if-entries/if-entry.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";

export interface FdbEntryRecord extends RecordBase {
  readonly if_entry_id: string;
  readonly host_id: string;
  readonly network_id: string;
  readonly mac_address: string;
  /** Null if the table has no VLAN. */
  readonly vlan_number: number | null;
}

export const fdbEntries = sqliteTable("fdb_entries", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  if_entry_n: requiredReference(() => ifEntries.n),
  mac_address: text().notNull(),
});

export const fdbEntryKind: Kind<FdbEntryRecord> = {
  name: "fdb_entry",
  plural: "fdb_entries",
  words: { one: "forwarding entry", many: "forwarding entries" },
  label: (entry) => entry.mac_address,
  code: 10,
  upcasters: FDB_ENTRY_UPCASTERS,
  table: fdbEntries,
  columns: (entry) => ({
    mac_address: entry.mac_address,
  }),
  scopes: { network: "network_id", host: "host_id", if_entry: "if_entry_id" },
  isReportedByContainer: true,
  references: [{ to: "if_entry", field: "if_entry_id" }],
  owners: (entry) => [{ kind: "if_entry", id: entry.if_entry_id, as: "fdb_macs" }],
  observed: [],
  absent: "null",
  identity: (entry) => `${entry.if_entry_id}/${entry.mac_address}/${entry.vlan_number ?? ""}`,
  // Learned MAC addresses find the interface, not its host.
  indexedNames: ({ mac_address }) => [{ field: "fdb_macs", value: mac_address, as: "Mac", isGlobalOnly: true }],
  search: { texts: (entry) => ({ values: [entry.mac_address] }), finds: (entry) => entry.if_entry_id },
  unique: { field: "mac_address", value: (entry) => entry.mac_address },
};
