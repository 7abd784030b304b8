// Factories for interface entries through the API, and required bodies of hosts and keys. No assertions beyond success.

import type { TestAppliance } from "./appliance.ts";
import type { Client } from "./client.ts";
import { expectOk, type JsonRecord } from "./factories.ts";

/** Creates an interface entry, each with a distinct if_index. */
export function newIfEntry(
  appliance: TestAppliance,
  hostId: string,
  fields: JsonRecord = {},
  client: Client = appliance.owner,
): Promise<JsonRecord> {
  const number = next();
  return expectOk(
    client.post("/api/v1/if-entries", { host_id: hostId, if_index: number, if_descr: `port ${number}`, ...fields }),
  );
}

/** Only the required fields of an API key of the first Owner. */
export function keyBody(appliance: TestAppliance): JsonRecord {
  return {
    name: `key ${next()}`,
    organization_id: appliance.first.organizationId,
    user_id: appliance.first.userId,
    tags: [],
  };
}

/** Body of a host update: the required fields of the host, with changes. */
export function hostBody(host: JsonRecord, changes: JsonRecord = {}): JsonRecord {
  return { id: host.id, name: host.name, hidden: host.hidden, tags: host.tags, ...changes };
}

/** Reads the current version of a record. */
export function live(appliance: TestAppliance, plural: string, id: string): Promise<JsonRecord> {
  return expectOk(appliance.owner.get(`/api/v1/${plural}/${id}`));
}

let last = 0;

/** Number that is unique within this run. */
function next(): number {
  last += 1;
  return last;
}
