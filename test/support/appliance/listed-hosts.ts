// Hosts for tests of long lists, some with hostile names. No assertions.

import type { Client } from "./client.ts";
import { expectOk } from "./factories.ts";

export const LISTED_HOSTS = 1_200;
const LONG = "n".repeat(255);
const HOSTILE = ["<img src=x onerror=alert(1)>", "خادم الطباعة", "🖨️ printer", LONG, "=cmd|' /C calc'!A0"];

/** Adds LISTED_HOSTS: the hostile names first, then from host-1000, alternating between Juniper and Cisco. */
export async function addListedHosts(client: Client, networkId: string): Promise<void> {
  const names = [...HOSTILE, ...Array.from({ length: LISTED_HOSTS - HOSTILE.length }, (_, n) => `host-${1000 + n}`)];
  const hosts = names.map((name, position) => ({
    network_id: networkId,
    name,
    hidden: false,
    tags: [],
    manufacturer: position % 2 === 0 ? "Juniper" : "Cisco",
    ip_addresses: [],
  }));
  for (let start = 0; start < hosts.length; start += 600)
    await expectOk(client.post("hosts/bulk", hosts.slice(start, start + 600)));
}
