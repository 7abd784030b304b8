// Factories for test records: through the API where there is a route, otherwise by a separate command on the real
// store. Also reads back stored versions. No assertions beyond success.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../../../src/access/api-key.ts";
import type { Role } from "../../../src/access/role.ts";
import { apiKeyHashes, userPasswords } from "../../../src/access/tables.ts";
import { formatInstant, type Instant } from "../../../src/base/instant.ts";
import { openWritable } from "../../../src/db/connection.ts";
import { OPERATION, type OwnFields } from "../../../src/db/kind.ts";
import type { Resolution } from "../../../src/db/pruned-history.ts";
import { withChecksum } from "../../../src/db/row-checksum.ts";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { type PruneResult, pruneHistory } from "../../../src/history/prune.ts";
import { KINDS } from "../../../src/records/resources.ts";
import { apiKeyKind } from "../../../src/resources/api-keys/api-key.ts";
import { type ComponentRecord, componentKind } from "../../../src/resources/components/component.ts";
import { type IgnoredRecord, ignoredKind } from "../../../src/resources/ignored/ignored.ts";
import { networkKind } from "../../../src/resources/networks/network.ts";
import type { CreatedOrganization } from "../../../src/resources/organizations/commands.ts";
import { userKind } from "../../../src/resources/users/user.ts";
import { PASSWORD_HASH, type TestAppliance } from "./appliance.ts";
import type { ApiResponse, Client } from "./client.ts";

/** A record in wire format. */
export type JsonRecord = Record<string, any>;

/** Access to the store of an appliance. */
type StoreAccess = Pick<TestAppliance, "secondWriter">;

export interface NewUser {
  readonly id: string;
  /** Signed in as the user. */
  readonly client: Client;
}

interface UserFields {
  readonly role: Role;
  readonly networkIds?: readonly string[];
  readonly organizationId?: string;
  readonly name?: string;
}

/** Creates a signed-in user. Without `networkIds` a Member or Viewer can access no network. */
export async function newUser(appliance: TestAppliance, fields: UserFields): Promise<NewUser> {
  const id = addUser(appliance, fields);
  return { id, client: await appliance.signedIn(id) };
}

/** Creates a Member of the first network only. */
export function newMember(appliance: TestAppliance): Promise<NewUser> {
  return newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
}

/** Creates a Viewer of the first network only. */
export function newViewer(appliance: TestAppliance): Promise<NewUser> {
  return newUser(appliance, { role: "Viewer", networkIds: [appliance.first.networkId] });
}

/** Creates another organization. @returns the organization with its Owner's client */
export async function newStranger(
  appliance: TestAppliance,
  name = "Second",
): Promise<CreatedOrganization & { readonly client: Client }> {
  const organization = await appliance.newOrganization(name);
  return { ...organization, client: await appliance.signedIn(organization.userId) };
}

/** Like newUser, without signing in. @returns the user's id */
export function addUser(
  appliance: TestAppliance,
  { role, networkIds = [], organizationId = appliance.first.organizationId, name = `user ${next()}` }: UserFields,
): string {
  const email = `${name.replaceAll(" ", "-")}@factory.example`;
  return inTransaction(appliance, (tx) => {
    const { id } = tx.create(userKind, organizationId, {
      organization_id: organizationId,
      email,
      name,
      role,
      network_ids: networkIds,
      is_enabled: true,
    });
    tx.runAfterWrite(() => putPassword(tx, id));
    return id;
  });
}

/** Sets the shared password. Call it once the user has its row number. */
export function putPassword(tx: WriteTransaction, userId: string): void {
  const user_n = tx.recordN(userId) as number;
  tx.db
    .insert(userPasswords)
    .values(withChecksum(userPasswords, { user_n, hash: PASSWORD_HASH }))
    .run();
}

export interface NewApiKey {
  readonly id: string;
  /** The plaintext. */
  readonly key: string;
  /** Client authenticated by the key. */
  readonly client: Client;
}

/** Creates an API key of a user. Without `networkIds` it follows its user's networks. */
export function newApiKey(
  appliance: TestAppliance,
  fields: {
    name?: string;
    userId?: string;
    permissions?: Role;
    networkIds?: readonly string[];
    isEnabled?: boolean;
    expiresAt?: string;
    allowedSources?: readonly string[];
    organizationId?: string;
  } = {},
): NewApiKey {
  const organizationId = fields.organizationId ?? appliance.first.organizationId;
  const key = generateApiKey(appliance.random);
  const id = inTransaction(appliance, (tx) => {
    const record = tx.create(apiKeyKind, organizationId, {
      name: fields.name ?? `key ${next()}`,
      organization_id: organizationId,
      user_id: fields.userId ?? appliance.first.userId,
      tags: [],
      expires_at: fields.expiresAt ?? null,
      is_enabled: fields.isEnabled ?? true,
      permissions: fields.permissions ?? "Owner",
      all_networks: fields.networkIds === undefined,
      network_ids: fields.networkIds ?? [],
      allowed_sources: fields.allowedSources ?? null,
      key: maskApiKey(key),
    });
    tx.runAfterWrite(() => {
      tx.db
        .insert(apiKeyHashes)
        .values(
          withChecksum(apiKeyHashes, {
            hash: Buffer.from(hashApiKey(key)),
            api_key_n: tx.recordN(record.id) as number,
          }),
        )
        .run();
    });
    return record.id;
  });
  return { id, key, client: appliance.anonymous.with({ authorization: `Bearer ${key}` }) };
}

/** Factory that sends a POST request; `fields` override those of the default body. */
function created(path: string, bodyOf: (appliance: TestAppliance) => JsonRecord) {
  return (appliance: TestAppliance, fields: JsonRecord = {}, client: Client = appliance.owner): Promise<JsonRecord> =>
    expectOk(client.post(`/api/v1/${path}`, { ...bodyOf(appliance), ...fields }));
}

export const newNetwork = created("networks", () => ({ name: `network ${next()}` }));
export const newTag = created("tags", () => ({ name: `tag ${next()}`, color: "Green" }));

/** Creates a subnet, in the first network by default, each with a distinct prefix. */
export const newSubnet = created("subnets", ({ first }) => {
  const number = next();
  return { network_id: first.networkId, cidr: `10.${(number >> 8) & 255}.${number & 255}.0/24` };
});

/** Creates a VLAN, in the first network by default, each with a distinct number. */
export const newVlan = created("vlans", ({ first }) => ({ network_id: first.networkId, number: 1 + (next() % 4094) }));

/** Creates a host, in the first network by default, with `ip_addresses` and other children as in the API. */
export const newHost = created("hosts", ({ first }) => ({ network_id: first.networkId, name: `host ${next()}` }));

/** Creates a schedule, in the first network by default, each with a distinct name. */
export const newSchedule = created("discovery/schedules", ({ first }) => ({
  network_id: first.networkId,
  name: `schedule ${next()}`,
  cron: "30 2 * * *",
  kind: "full",
}));

/** Creates an SNMPv2c credential of the first organization, without assignments by default. */
export const newCredential = created("credentials", credentialBody);

/** Ignores a record in discovery, a host by default. Written directly: through the API, only deletions do so. */
export function newIgnored(
  appliance: TestAppliance,
  fields: Partial<OwnFields<IgnoredRecord>> = {},
  organizationId: string = appliance.first.organizationId,
): JsonRecord {
  const recordId = `01936f2e-0d5c-7d3a-9a3c-${next().toString(16).padStart(12, "0")}`;
  return inTransaction(appliance, (tx) =>
    tx.create(ignoredKind, organizationId, {
      network_id: appliance.first.networkId,
      entity: "host",
      record_id: recordId,
      host_id: null,
      identity: recordId,
      label: "printer",
      signs: [],
      ...fields,
    }),
  );
}

/** A component of a host, as a scan writes it. */
export function newComponent(
  appliance: StoreAccess,
  host: JsonRecord,
  fields: Partial<OwnFields<ComponentRecord>> = {},
): JsonRecord {
  const component = {
    host_id: host.id,
    network_id: host.network_id,
    class: "Chassis",
    position: 1,
    manufacturer: "Acme",
    model: "AX-48",
    serial_number: `AC${next()}`,
    first_discovery_id: null,
    ...fields,
  } as const;
  return inTransaction(appliance, (tx) => {
    const { organization_id: organizationId } = tx.get(networkKind, host.network_id);
    const observed = { last_seen_at: formatInstant(tx.instant) };
    return tx.create(componentKind, organizationId, component, { observed });
  });
}

/** A secret in the body itself. */
export const inline = (value: string) => ({ mode: "Inline" as const, value });

/** Credential types with a community in the body itself. */
export const snmpV1 = (community: string) => ({ type: "SnmpV1" as const, community: inline(community) });
export const snmpV2c = (community: string) => ({ type: "SnmpV2c" as const, community: inline(community) });

/** Only the required fields of a credential. */
export function credentialBody(appliance: TestAppliance): JsonRecord {
  return {
    organization_id: appliance.first.organizationId,
    name: `credential ${next()}`,
    credential_type: snmpV2c("a community"),
    assigned_network_ids: [],
    host_assignments: [],
    tags: [],
  };
}

/** Runs an action as one command of the second writer on the same database, at the appliance's clock. */
export function inTransaction<T>(
  appliance: StoreAccess,
  action: (tx: WriteTransaction) => T,
  author: Author = SYSTEM_AUTHOR,
): T {
  return appliance.secondWriter.run(action, author);
}

/** Prunes the history before a timestamp. */
export function prune(
  appliance: Pick<TestAppliance, "databasePath" | "clock">,
  before: Instant,
  keep: Resolution,
): PruneResult {
  const db = openWritable(appliance.databasePath);
  try {
    return pruneHistory(db, KINDS, { before, keep }, appliance.clock.now());
  } finally {
    db.$client.close();
  }
}

/** Expects success. @returns the response's record @throws Error on a refusal */
export async function expectOk(response: Promise<ApiResponse>): Promise<JsonRecord> {
  const { status, text, data } = await response;
  if (status !== 200) throw new Error(`status ${status}: ${text}`);
  return data;
}

/** Expected error body of a refusal. */
export function refusal(status: number, code: string, params?: JsonRecord): JsonRecord {
  return { status, body: { code, ...(params === undefined ? {} : { params }) } };
}

/** Expected refusal of a request with these validation issues. */
export function invalid(...issues: readonly unknown[]): JsonRecord {
  return refusal(400, "validation_failed", { issues });
}

export const tcp = <Value>(number: Value, id?: string) => ({ ...withId(id), number, protocol: "Tcp" as const });
export const udp = <Value>(number: Value) => ({ number, protocol: "Udp" as const });
const withId = (id: string | undefined) => (id === undefined ? {} : { id });

/** Binding of a service to a port on all addresses. */
export const onPort = (port_id: unknown) => ({ type: "Port" as const, port_id });

interface StoredVersion {
  readonly operation: keyof typeof OPERATION;
  readonly sequence: number;
  readonly valid_from: string;
  readonly changed: string[] | null;
}

/** Stored versions of a record, oldest first. */
export function versionsOf(appliance: TestAppliance, id: string): StoredVersion[] {
  const rows = appliance.reader.db
    .query<{ operation: number; sequence: number; valid_from: string; changed: string | null }, [string]>(
      `SELECT v.operation, v.key & 2147483647 AS sequence, v.valid_from, v.changed FROM history_records r
       JOIN history_versions v ON v.key > (r.n << 31) AND v.key < ((r.n + 1) << 31) WHERE r.id = ? ORDER BY v.key`,
    )
    .all(id);
  const names = Object.keys(OPERATION) as Array<keyof typeof OPERATION>;
  return rows.map((row) => ({
    operation: names.find((name) => OPERATION[name] === row.operation) as keyof typeof OPERATION,
    sequence: row.sequence,
    valid_from: row.valid_from,
    changed: row.changed === null ? null : JSON.parse(row.changed),
  }));
}

/**
 * Writes of one transaction by operation and kind: `{ "Created host": 1, "Updated network": 1 }`. The last transaction
 * by default.
 */
export function writtenIn(appliance: TestAppliance, sequence = transactionCount(appliance)): Record<string, number> {
  const rows = appliance.reader.db
    .query<{ kind: number; operation: number; count: number }, [number]>(
      `SELECT r.kind, v.operation, count(*) AS count FROM history_records r
        JOIN history_versions v ON v.key = (r.n << 31) + ?
       GROUP BY r.kind, v.operation`,
    )
    .all(sequence);
  const operations = new Map(Object.entries(OPERATION).map(([name, code]) => [code as number, name]));
  const kinds = new Map(KINDS.map((kind) => [kind.code, kind.name]));
  return Object.fromEntries(rows.map((row) => [`${operations.get(row.operation)} ${kinds.get(row.kind)}`, row.count]));
}

/** Number of transactions in the ledger; a write that changes nothing adds none. */
export function transactionCount(appliance: TestAppliance): number {
  return appliance.reader.head().sequence;
}

/** Functions whose first parameter is the appliance, for tests with one appliance. */
export const APPLIANCE_FACTORIES = {
  addUser,
  credentialBody,
  newApiKey,
  newCredential,
  newHost,
  newComponent,
  newIgnored,
  newMember,
  newNetwork,
  newSchedule,
  newStranger,
  newSubnet,
  newTag,
  newUser,
  newViewer,
  newVlan,
  prune,
  transactionCount,
  versionsOf,
  writtenIn,
};

let last = 0;

/** Number that is unique within this run. */
function next(): number {
  last += 1;
  return last;
}
