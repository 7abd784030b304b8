// Forty hosts in two halls, for tests of writes to many records.

import type { Client } from "./client.ts";
import { expectOk } from "./factories.ts";

/** Creates access-1 to access-40: odd numbers with the location Hall 1, even ones with Hall 2. */
export async function addHostsInHalls(client: Client, networkId: string): Promise<void> {
  const hosts = Array.from({ length: 40 }, (_, index) => ({
    network_id: networkId,
    name: `access-${index + 1}`,
    sys_location: index % 2 === 0 ? "Hall 1" : "Hall 2",
  }));
  await expectOk(client.post("hosts/bulk", hosts));
}
