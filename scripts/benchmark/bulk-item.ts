// Host for bulk requests.

import { fullInterface } from "./interface-item.ts";
import type { BuiltStore } from "./store.ts";

/** Host with one address, two ports, one service and this many interfaces. */
export function bulkItem(store: BuiltStore, host: number, interfaces: number) {
  const network_id = store.networkIds.campus as string;
  return {
    network_id,
    name: `bulk-${host}`,
    ip_addresses: [{ ip_address: `10.200.${host >> 8}.${host & 255}` }],
    ports: [
      { number: 22, protocol: "Tcp" },
      { number: 161, protocol: "Udp" },
    ],
    services: [{ name: "ssh", service_definition: "OpenSSH" }],
    interfaces: Array.from({ length: interfaces }, (_, position) => fullInterface(host, position + 1)),
  };
}
