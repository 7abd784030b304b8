// Fixtures for tests of restores and reverts: a host with every kind of child, timestamps between changes, and records
// without their version fields. No assertions.

import { openReadOnly } from "../../../src/db/connection.ts";
import type { Damage } from "../../../src/history/verify/findings.ts";
import { verifyLedger } from "../../../src/history/verify/verify.ts";
import { KINDS } from "../../../src/records/resources.ts";
import type { TestAppliance } from "./appliance.ts";
import type { ApiResponse, Client } from "./client.ts";
import { expectOk, type JsonRecord, newCredential, newHost, newSubnet, newTag, newVlan } from "./factories.ts";

/** The current timestamp; later changes fall after it. */
export function instant(appliance: TestAppliance): string {
  tick(appliance);
  const at = appliance.clock.text();
  tick(appliance);
  return at;
}

/** Advances the clock by a second. */
export function tick(appliance: TestAppliance): void {
  appliance.clock.advance(1_000);
}

/** A record and its children without version fields and observed fields. */
export function content(record: JsonRecord): JsonRecord {
  const stripped = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(stripped);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([field]) => !VERSION_FIELDS.has(field))
        .map(([field, content]) => [field, stripped(content)]),
    );
  };
  return stripped(record) as JsonRecord;
}

const VERSION_FIELDS = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

export interface Scene {
  readonly tag: JsonRecord;
  readonly vlan: JsonRecord;
  readonly subnet: JsonRecord;
  readonly credential: JsonRecord;
  /** Another host, with an interface. */
  readonly far: JsonRecord;
  /** Host with every kind of child. The credential is assigned at one of its two addresses. */
  readonly host: JsonRecord;
}

/** Creates a host in the first network with every reference that a host can have. */
export async function newScene(appliance: TestAppliance): Promise<Scene> {
  const { owner, first } = appliance;
  const tag = await newTag(appliance);
  const vlan = await newVlan(appliance);
  const subnet = await newSubnet(appliance, { cidr: "10.9.0.0/16", vlan_id: vlan.id });
  const credential = await newCredential(appliance, {
    credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path: "community" } },
  });
  const far = await newHost(appliance, { name: "far", interfaces: [{ if_index: 1, if_descr: "far 1" }] });
  const [address, second, port, entry] = [newId(), newId(), newId(), newId()];
  const { id } = await newHost(appliance, {
    name: "switch",
    hostname: "switch.example",
    tags: [tag.id],
    ip_addresses: [
      { id: address, ip_address: "10.9.0.1", name: "first" },
      { id: second, ip_address: "10.9.0.2" },
    ],
    ports: [
      { id: port, number: 22, protocol: "Tcp" },
      { number: 53, protocol: "Udp" },
    ],
    services: [
      {
        name: "ssh",
        service_definition: "OpenSSH",
        tags: [tag.id],
        bindings: [
          { type: "Port", port_id: port, ip_address_id: address },
          { type: "IpAddress", ip_address_id: second },
        ],
      },
    ],
    interfaces: [
      {
        id: entry,
        if_index: 1,
        if_descr: "Gi1/0/1",
        if_alias: "uplink",
        ip_address_id: address,
        native_vlan_id: vlan.id,
        vlan_ids: [vlan.id],
        fdb_macs: ["00:00:5e:00:53:01", "00:00:5e:00:53:02"],
      },
      { if_index: 2, if_descr: "Gi1/0/2", neighbor: { type: "IfEntry", id: entry } },
    ],
    credential_assignments: [{ credential_id: credential.id, ip_address_ids: [address] }],
    network_id: first.networkId,
  });
  return { tag, vlan, subnet, credential, far, host: await expectOk(owner.get(`/api/v1/hosts/${id}`)) };
}

/** Unused UUID, higher than the last one and lower than the appliance's. */
function newId(): string {
  last += 1;
  return `00000000-0000-4000-8000-${String(last).padStart(12, "0")}`;
}

let last = 0;

export function restore(
  client: Client,
  plural: string,
  id: string,
  at: string,
  fields: JsonRecord = {},
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return client.post(`/api/v1/${plural}/${id}/restore`, { at, ...fields }, headers);
}

export function revert(
  client: Client,
  sequence: number,
  fields: JsonRecord = {},
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return client.post(`/api/v1/transactions/${sequence}/revert`, fields, headers);
}

/** Counts a plan's actions: `{ "Create host": 1 }`. */
export function tally(plan: JsonRecord): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { action, entity_type } of plan.actions as JsonRecord[])
    counts[`${action} ${entity_type}`] = (counts[`${action} ${entity_type}`] ?? 0) + 1;
  return counts;
}

/** Findings of a full verification; expected to be empty after any test. */
export function findingsOf(appliance: TestAppliance): readonly Damage[] {
  const db = openReadOnly(appliance.databasePath);
  try {
    return verifyLedger(db, KINDS).findings;
  } finally {
    db.$client.close();
  }
}
