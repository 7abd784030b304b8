// Interface entries made through the API for tests, and what bodies of hosts and keys require.
// No assertions beyond "it worked".

import type { TestAppliance } from "./appliance.ts";
import type { Client } from "./client.ts";
import { made, type Wire } from "./factories.ts";

/** With an if_index of its own. */
export function newIfEntry(
  appliance: TestAppliance,
  hostId: string,
  fields: Wire = {},
  by: Client = appliance.owner,
): Promise<Wire> {
  const number = next();
  return made(
    by.post("/api/v1/if-entries", { host_id: hostId, if_index: number, if_descr: `port ${number}`, ...fields }),
  );
}

/** The required fields of an API key of the first Owner, and nothing else. */
export function keyBody(appliance: TestAppliance): Wire {
  return {
    name: `key ${next()}`,
    organization_id: appliance.first.organizationId,
    user_id: appliance.first.userId,
    tags: [],
  };
}

/** What a host update requires, taken from the host, with changes. */
export function hostBody(host: Wire, changes: Wire = {}): Wire {
  return { id: host.id, name: host.name, hidden: host.hidden, tags: host.tags, ...changes };
}

/** The record as it is live. */
export function live(appliance: TestAppliance, plural: string, id: string): Promise<Wire> {
  return made(appliance.owner.get(`/api/v1/${plural}/${id}`));
}

let last = 0;

/** A number that no other record of this run was made with. */
function next(): number {
  last += 1;
  return last;
}
