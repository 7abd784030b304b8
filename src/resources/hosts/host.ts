// The host: a device in a network. It owns its addresses, ports, services and interface entries.

import type { Static } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { addsField } from "../../db/shape.ts";
import { networks } from "../networks/network.ts";
import type { Discoverable } from "../discovered.ts";
import type { SourceRecord } from "../source.ts";
import type { HostVirtualization } from "../virtualization.ts";

export interface HostRecord extends RecordBase, Discoverable {
  readonly name: string;
  readonly hostname: string | null;
  readonly description: string | null;
  readonly hidden: boolean;
  readonly network_id: string;
  readonly tags: readonly string[];
  readonly source: SourceRecord;
  readonly virtualization: Static<typeof HostVirtualization> | null;
  /** SNMPv2-MIB system group (RFC 3418). */
  readonly sys_name: string | null;
  readonly sys_descr: string | null;
  readonly sys_object_id: string | null;
  readonly sys_location: string | null;
  readonly sys_contact: string | null;
  /** LLDP chassis id (IEEE 802.1AB). */
  readonly chassis_id: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly serial_number: string | null;
  readonly management_url: string | null;
  /** What its owner has written on it. Only a person's: no scan touches it. */
  readonly asset_tag: string | null;
}

export const hosts = sqliteTable("hosts", {
  ...liveColumns,
  network_n: integer()
    .notNull()
    .references(() => networks.n),
  name: text().notNull(),
  hostname: text(),
});

export const hostKind: Kind<HostRecord> = {
  name: "host",
  plural: "hosts",
  code: 7,
  upcasters: [addsField(7, "asset_tag", null)],
  table: hosts,
  columns: (host, n) => ({ network_n: n(host.network_id), name: host.name, hostname: host.hostname }),
  scopes: { network: "network_n" },
  scopeIds: (host) => ({ network: host.network_id }),
  links: (host) => [
    { relation: "tags", ids: host.tags },
    {
      relation: "virtualization",
      ids: host.virtualization?.details.service_id === undefined ? [] : [host.virtualization.details.service_id],
    },
  ],
  observed: ["last_seen_at"],
  absent: "null",
  // Two devices may have one name; a later incarnation is the one of the same name in the same network.
  identity: (host) => `${host.network_id}/${host.name}`,
  unique: null,
  search: {
    texts: (host) => ({
      words: [host.name, host.hostname, host.sys_name, host.description, host.sys_descr, host.asset_tag],
    }),
    finds: (host) => host.id,
  },
  sortKeys: (host) => {
    const keys: Record<string, string> = {};
    for (const field of HOST_KEYED_FIELDS) if (host[field] !== null) keys[field] = textSortKey(host[field]);
    return keys;
  },
};

/** What lists of hosts are grouped and ordered by; texts without regard to case. */
export const HOST_ORDER_FIELDS = [
  "created_at",
  "name",
  "hostname",
  "hidden",
  "network_id",
  "manufacturer",
  "model",
  "sys_location",
  "last_seen_at",
  "updated_at",
] as const;
export const HOST_KEYED_FIELDS = ["name", "hostname", "manufacturer", "model", "sys_location"] as const;
