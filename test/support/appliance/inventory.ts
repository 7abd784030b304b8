// Factories for interface entries through the API, and required bodies of hosts and keys. No assertions beyond success.

import type { TestAppliance } from "./appliance.ts";
import type { Client } from "./client.ts";
import { made, type Wire } from "./factories.ts";

/** Each with a distinct if_index. */
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

/** Only the required fields of an API key of the first Owner. */
export function keyBody(appliance: TestAppliance): Wire {
  return {
    name: `key ${next()}`,
    organization_id: appliance.first.organizationId,
    user_id: appliance.first.userId,
    tags: [],
  };
}

/** Body of a host update: the required fields of the host, with changes. */
export function hostBody(host: Wire, changes: Wire = {}): Wire {
  return { id: host.id, name: host.name, hidden: host.hidden, tags: host.tags, ...changes };
}

/** The current version of a record. */
export function live(appliance: TestAppliance, plural: string, id: string): Promise<Wire> {
  return made(appliance.owner.get(`/api/v1/${plural}/${id}`));
}

let last = 0;

/** Number that is unique within this run. */
function next(): number {
  last += 1;
  return last;
}
