// Authorization test fixture: three networks with the same records, one of another organization, each with
// distinctive marks that identify a leak anywhere, and every type of caller. No assertions.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import type { Role } from "../../../src/access/role.ts";
import { generateSessionToken, hashSessionToken } from "../../../src/access/session-token.ts";
import { newAppliance, PASSWORD_HASH, type TestAppliance } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import {
  addUser,
  expectOk,
  type JsonRecord,
  type NewApiKey,
  newApiKey,
  newComponent,
  newIgnored,
  newUser,
} from "../appliance/factories.ts";
import { waitForScan } from "../appliance/scans.ts";
import { CREATABLE, exampleBody } from "../contract/example-bodies.ts";
import { machineWith } from "../reconcile/machine.ts";
import { LedgerOracle, type Visibility } from "./oracle.ts";

/** Near: within a confined caller's reach. Far: another network of the organization. Foreign: another organization. */
export const SITES = ["near", "far", "foreign"] as const;
type SiteName = (typeof SITES)[number];

/** Marks that occur only in a site's strings, addresses and MAC addresses. */
const MARKS: Readonly<Record<SiteName, { readonly word: string; readonly octet: number }>> = {
  near: { word: "zznear", octet: 201 },
  far: { word: "zzfar", octet: 202 },
  foreign: { word: "zzforeign", octet: 203 },
};
/** Mark of records of the first organization as a whole. */
export const ORGANIZATION_WORD = "zzfirst";
/** Mark in every secret of every site. */
export const SECRET_WORD = "zzsecret";

/** Source of a case-insensitive regular expression for a site's marks. */
export function marksOf(site: SiteName): string {
  const { word, octet } = MARKS[site];
  return `${word}[\\w.-]*|\\b10\\.${octet}\\.[\\d./]+|02:00:00:${octet.toString(16)}:[0-9a-f:]+`;
}

export interface Site extends Visibility {
  readonly name: SiteName;
  readonly networkId: string;
  /** Signed in as the Owner of its organization. */
  readonly owner: Client;
  readonly ownerId: string;
  readonly word: string;
  readonly octet: number;
  /** One live record of each kind, by the path below /api/v1. */
  readonly records: Readonly<Record<string, JsonRecord>>;
  /** Switch with an interface that the station is connected to. */
  readonly switchId: string;
  /** Host deleted after `Fixture.middle`. */
  readonly deletedHostId: string;
  /** A completed scan. */
  readonly scanId: string;
  /** A transaction of this site only. */
  readonly sequence: number;
}

export interface Caller extends Visibility {
  readonly name: string;
  readonly client: Client;
  /** Code of the refusal for every request; null if admitted. */
  readonly refusal: string | null;
  /** Highest effective role. */
  readonly role: Role;
  readonly isKey: boolean;
  readonly userId: string;
  /** Sends its requests from another site's page. */
  readonly isForeignPage: boolean;
  /** Site within reach; null for none. */
  readonly homeSite: SiteName | null;
  /** An API key of its user. */
  readonly keyId: string;
}

export interface Fixture {
  readonly appliance: TestAppliance;
  readonly oracle: LedgerOracle;
  readonly sites: Readonly<Record<SiteName, Site>>;
  readonly callers: readonly Caller[];
  /** Timestamps: before all records, between two states of all records, and after everything. */
  readonly early: string;
  readonly middle: string;
  readonly late: string;
  /** Strings that authenticate or must not be disclosed: tokens, keys, hashes. */
  readonly secrets: readonly string[];
  /** Network of the first organization, deleted after `middle`. */
  readonly deletedNetworkId: string;
  /** API keys of the two Owners, by site. */
  readonly ownerKeys: Readonly<Record<"near" | "foreign", string>>;
}

export async function newAuthorizationFixture(): Promise<Fixture> {
  const appliance = await newAppliance({
    machine: MACHINE,
    backups: { takeBackup: () => ({ taken: Promise.resolve({ head: null, sizeBytes: 0 }), abandon: () => {} }) },
  });
  const early = "1999-12-31T23:59:59.000Z";
  const { owner, first, clock } = appliance;
  const second = await appliance.newOrganization("zzforeign");
  const foreignOwner = await appliance.signedIn(second.userId);
  await expectOk(owner.put("organizations", { name: `${ORGANIZATION_WORD} organization` }));
  await expectOk(owner.put(`networks/${first.networkId}`, { name: "zznear network", description: "zznear" }));
  await expectOk(
    foreignOwner.put(`networks/${second.networkId}`, { name: "zzforeign network", description: "zzforeign" }),
  );
  const farNetwork = await expectOk(owner.post("networks", { name: "zzfar network", description: "zzfar" }));
  const goneNetwork = await expectOk(owner.post("networks", { name: "zzfirst gone network" }));

  const own = await createOrganizationRecords(appliance, owner, first.organizationId, ORGANIZATION_WORD, [
    first.networkId,
    farNetwork.id,
  ]);
  const foreign = await createOrganizationRecords(appliance, foreignOwner, second.organizationId, "zzforeign", [
    second.networkId,
  ]);
  const near = await createRecords("near", appliance, owner, first.networkId, own);
  const far = await createRecords("far", appliance, owner, farNetwork.id, own);
  const away = await createRecords("foreign", appliance, foreignOwner, second.networkId, foreign);
  await assign(owner, own, [near, far]);
  await assign(foreignOwner, foreign, [away]);
  const scanIds = {
    near: await scan(appliance, near),
    far: await scan(appliance, far),
    foreign: await scan(appliance, away),
  };
  const callers = await newCallers(appliance, { nearId: first.networkId, farId: farNetwork.id, second, foreignOwner });

  clock.advance(60_000);
  const middle = clock.text();
  clock.advance(60_000);
  await callers.applyLater();
  await expectOk(owner.delete(`networks/${goneNetwork.id}`));
  const sites = {
    near: await applyChanges(appliance, near, first, scanIds.near),
    far: await applyChanges(appliance, far, first, scanIds.far),
    foreign: await applyChanges(appliance, away, second, scanIds.foreign),
  };
  clock.advance(60_000);
  return {
    appliance,
    oracle: new LedgerOracle(appliance),
    sites,
    callers: callers.list,
    early,
    middle,
    late: "2999-01-01T00:00:00.000Z",
    secrets: [...callers.secrets, PASSWORD_HASH, appliance.secretKey.toHex()],
    deletedNetworkId: goneNetwork.id,
    ownerKeys: { near: callers.ownerKey, foreign: callers.foreignOwnerKey },
  };
}

interface Common {
  readonly tag: JsonRecord;
  readonly customField: JsonRecord;
  readonly credential: JsonRecord;
  readonly userId: string;
}

/** Creates the records of an organization as a whole. */
async function createOrganizationRecords(
  appliance: TestAppliance,
  client: Client,
  organizationId: string,
  word: string,
  networkIds: readonly string[],
): Promise<Common> {
  const tag = await expectOk(client.post("tags", { name: `${word} tag`, color: "Green", description: word }));
  const credential = await expectOk(
    client.post("credentials", {
      organization_id: organizationId,
      name: `${word} credential`,
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: `${SECRET_WORD}-community-${word}` } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [tag.id],
    }),
  );
  await expectOk(client.post("markers", { name: `${word} marker`, description: word }));
  const key = `${word}_field`;
  const customField = await expectOk(
    client.post("custom-fields", { key, label: `${word} field`, kinds: ["vlan"], type: "text", description: word }),
  );
  const userId = addUser(appliance, { organizationId, name: `${word} somebody`, role: "Member", networkIds });
  return { tag, customField, credential, userId };
}

interface SiteRecords extends Common {
  readonly name: SiteName;
  readonly owner: Client;
  readonly networkId: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly switchId: string;
  readonly deletedHostId: string;
}

/** Creates one record of every kind in a network: neighboring hosts with every kind of child. */
async function createRecords(
  name: SiteName,
  appliance: TestAppliance,
  owner: Client,
  networkId: string,
  common: Common,
): Promise<SiteRecords> {
  const { word, octet } = MARKS[name];
  const mac = (n: number) => `02:00:00:${octet.toString(16)}:00:${n.toString(16).padStart(2, "0")}`;
  const described = {
    description: `${word} described`,
    sys_name: `${word} sysname`,
    sys_location: `${word} room`,
    serial_number: `${word}-serial`,
    tags: [common.tag.id],
  };
  const post = (path: string, body: JsonRecord) => expectOk(owner.post(path, body, changeReason(word)));
  const vlan = await post("vlans", { network_id: networkId, number: octet, name: `${word} vlan`, description: word });
  const subnet = await post("subnets", {
    network_id: networkId,
    cidr: `10.${octet}.0.0/16`,
    name: `${word} subnet`,
    description: word,
    vlan_id: vlan.id,
    tags: [common.tag.id],
  });
  const range = await post("ip-ranges", {
    network_id: networkId,
    first: `10.${octet}.3.200`,
    last: `10.${octet}.3.219`,
    purpose: "Reserved",
    description: `${word} range`,
    tags: [common.tag.id],
  });
  const station = await post("hosts", {
    network_id: networkId,
    name: `${word} station`,
    hostname: `${word}-station.example`,
    ...described,
    ip_addresses: [{ ip_address: `10.${octet}.0.1`, mac_address: mac(1), name: `${word} address` }],
    ports: [{ number: 443, protocol: "Tcp" }],
    services: [
      {
        name: `${word} web`,
        service_definition: `${word} Nginx`,
        tags: [common.tag.id],
        virtualization: { type: "Docker", details: { container_name: `${word}-container` } },
      },
    ],
  });
  const device = await post("hosts", {
    network_id: networkId,
    name: `${word} switch`,
    hostname: `${word}-switch.example`,
    ...described,
    ip_addresses: [{ ip_address: `10.${octet}.0.2`, mac_address: mac(2) }],
  });
  const deletedHost = await post("hosts", {
    network_id: networkId,
    name: `${word} gone`,
    ...described,
    ip_addresses: [{ ip_address: `10.${octet}.0.3`, mac_address: mac(3) }],
    ports: [{ number: 22, protocol: "Tcp" }],
  });
  const [[address], [port], [service]] = [station.ip_addresses, station.ports, station.services];
  const bound = { service_id: service.id, type: "Port", port_id: port.id, ip_address_id: address.id };
  const binding = await post("bindings", bound);
  const stationEntry = await post("if-entries", {
    host_id: station.id,
    if_index: 1,
    if_descr: `${word} eth0`,
    mac_address: mac(1),
    ip_address_id: address.id,
  });
  const entry = await post("if-entries", {
    host_id: device.id,
    if_index: 7,
    if_descr: `${word} port`,
    if_name: `${word}-7`,
    if_alias: `${word} desk`,
    mac_address: mac(7),
    fdb_macs: [mac(1)],
    native_vlan_id: vlan.id,
    vlan_ids: [vlan.id],
    lldp_sys_name: `${word}-station.example`,
    lldp_chassis_id: { subtype: "MacAddress", value: mac(1) },
    cdp_device_id: `${word}-cdp`,
    neighbor: { type: "IfEntry", id: stationEntry.id },
  });
  const schedule = await post("discovery/schedules", {
    network_id: networkId,
    name: `${word} schedule`,
    cron: "30 2 * * *",
    timezone: "Europe/Berlin",
    kind: "full",
    targets: [`10.${octet}.0.0/24`],
  });
  const ignored = newIgnored(
    appliance,
    {
      network_id: networkId,
      entity: "if_entry",
      host_id: station.id,
      identity: `${station.id}/9`,
      label: `${word} eth9`,
      signs: [`mac:${mac(9)}`, `ip:10.${octet}.0.9`],
    },
    (await expectOk(owner.get("organizations"))).id,
  );
  const ids: Record<string, string> = {
    networks: networkId,
    subnets: subnet.id,
    "ip-ranges": range.id,
    vlans: vlan.id,
    hosts: station.id,
    "ip-addresses": address.id,
    ports: port.id,
    services: service.id,
    bindings: binding.id,
    "if-entries": entry.id,
    "discovery/schedules": schedule.id,
    components: newComponent(appliance, device, { model: `${word} model`, serial_number: `${word}-component` }).id,
    "discovery/ignored": ignored.id,
    credentials: common.credential.id,
    tags: common.tag.id,
    "custom-fields": common.customField.id,
    users: common.userId,
  };
  for (const { path } of CREATABLE)
    if (path !== "auth/keys") ids[path] ??= (await post(path, exampleBody(appliance, path, ids, `${word} ${path}`))).id;
  return { ...common, name, owner, networkId, ids, switchId: device.id, deletedHostId: deletedHost.id };
}

/** Runs a scan of hosts that do not respond, which its findings report. @returns the scan's id */
async function scan(appliance: TestAppliance, { name, owner, networkId }: SiteRecords): Promise<string> {
  const { id } = await expectOk(
    owner.post("discovery/scans", { network_id: networkId, kind: "snmp" }, changeReason(MARKS[name].word)),
  );
  await waitForScan(appliance, id);
  return id;
}

/** Assigns the organization's credential in each network and at a host of each. */
async function assign(client: Client, { credential }: Common, sites: readonly SiteRecords[]): Promise<void> {
  const host_assignments = sites.map((site) => ({
    host_id: site.ids.hosts,
    ip_address_ids: [site.ids["ip-addresses"]],
  }));
  await expectOk(
    client.put(`credentials/${credential.id}`, {
      ...credential,
      assigned_network_ids: sites.map((site) => site.networkId),
      host_assignments,
    }),
  );
}

/** Changes after `middle`: updates most records, and deletes a host. */
async function applyChanges(
  appliance: TestAppliance,
  site: SiteRecords,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  scanId: string,
): Promise<Site> {
  const { name, owner, networkId, ids, switchId, deletedHostId } = site;
  const { word, octet } = MARKS[name];
  const edit = async (path: string, changes: JsonRecord) =>
    expectOk(owner.put(path, { ...(await expectOk(owner.get(path))), ...changes }, changeReason(word)));
  await edit(`subnets/${ids.subnets}`, { description: `${word} described again` });
  const { sequence } = appliance.reader.head();
  await edit(`vlans/${ids.vlans}`, { description: `${word} described again` });
  await edit(`hosts/${ids.hosts}`, { name: `${word} renamed station`, description: `${word} described again` });
  await edit(`if-entries/${ids["if-entries"]}`, { if_alias: `${word} moved desk` });
  await edit(`discovery/schedules/${ids["discovery/schedules"]}`, { name: `${word} weekly schedule`, cron: "@weekly" });
  await expectOk(owner.delete(`hosts/${deletedHostId}`));
  const records: Record<string, JsonRecord> = {};
  for (const [plural, id] of Object.entries(ids)) records[plural] = await expectOk(owner.get(`${plural}/${id}`));
  const scope = { organizationId, networkIds: [networkId], ownerId: userId, scanId };
  return { name, ...scope, networkId, owner, word, octet, records, switchId, deletedHostId, sequence };
}

/** Header with the reason for a write, which other sites must not see either. */
function changeReason(word: string): Record<string, string> {
  return { "x-change-reason": `${word} reason` };
}

interface CallerSetup {
  readonly nearId: string;
  readonly farId: string;
  readonly second: { readonly organizationId: string; readonly networkId: string; readonly userId: string };
  readonly foreignOwner: Client;
}

async function newCallers(appliance: TestAppliance, { nearId, farId, second, foreignOwner }: CallerSetup) {
  const { owner, first, clock } = appliance;
  const { organizationId } = first;
  const [allNetworks, nearOnly] = [null, [nearId]];
  const user = (role: Role, networkIds: readonly string[]) => newUser(appliance, { role, networkIds });
  const [viewer, member, admin, farMember, networklessViewer, moved, disabled, deletedUser, expiredUser] =
    await Promise.all([
      user("Viewer", nearOnly),
      user("Member", nearOnly),
      user("Admin", []),
      user("Member", [farId]),
      user("Viewer", []),
      user("Member", [farId]),
      user("Owner", []),
      user("Owner", []),
      user("Owner", []),
    ]);
  // Users sign in with their own password: changing it is one of the operations.
  for (const account of [viewer, member, admin, farMember, networklessViewer, moved])
    await appliance.writes.run(
      "user.set_password",
      { id: account.id, passwordHash: PASSWORD_HASH, keptHash: hashOf(account.client) },
      SYSTEM_AUTHOR,
    );
  const keys: NewApiKey[] = [];
  const key = (fields: Parameters<typeof newApiKey>[1]): NewApiKey => {
    const created = newApiKey(appliance, fields);
    keys.push(created);
    return created;
  };
  const disabledKey = key({ isEnabled: false });
  const expiredKey = key({ expiresAt: clock.text() });
  const keyOfDisabled = key({ userId: disabled.id });
  const keyOfLeaving = key({ userId: deletedUser.id });
  const ownerKey = key({}).id;
  const foreignFields = { userId: second.userId, organizationId: second.organizationId };
  const foreignOwnerKey = key(foreignFields).id;
  const expiredToken = generateSessionToken(appliance.random);
  await appliance.writes.run(
    "session.open",
    { hash: hashSessionToken(expiredToken), userId: expiredUser.id, at: clock.now() - 8 * 24 * 3_600_000 },
    SYSTEM_AUTHOR,
  );

  const list: Caller[] = [];
  const add = (name: string, client: Client, caller: Partial<Caller> = {}) => {
    const defaults = {
      refusal: null,
      role: "Owner" as Role,
      isKey: false,
      isForeignPage: false,
      homeSite: "near" as const,
      organizationId,
      networkIds: allNetworks,
      userId: first.userId,
    };
    const complete = { ...defaults, ...caller, name, client };
    list.push({
      ...complete,
      keyId:
        caller.keyId ??
        (complete.userId === first.userId
          ? ownerKey
          : key({ userId: complete.userId, permissions: "Viewer", organizationId: complete.organizationId }).id),
    });
  };
  const { anonymous } = appliance;
  add("nobody", anonymous, { refusal: "auth_not_authenticated" });
  add("an Owner's cookie with an invalid bearer token", owner.with({ authorization: "Bearer nlk_nonsense" }), {
    refusal: "auth_not_authenticated",
  });
  add("an expired session", anonymous.with({ cookie: `session_id=${expiredToken}` }), {
    refusal: "auth_session_expired",
  });
  add("a disabled user's session", disabled.client, { refusal: "auth_not_authenticated" });
  add("a disabled user's key", keyOfDisabled.client, { refusal: "auth_key_disabled", isKey: true });
  add("a deleted user's session", deletedUser.client, { refusal: "auth_not_authenticated" });
  add("a deleted user's key", keyOfLeaving.client, { refusal: "auth_not_authenticated", isKey: true });
  add("a disabled key", disabledKey.client, { refusal: "auth_key_disabled", isKey: true });
  add("an expired key", expiredKey.client, { refusal: "auth_key_expired", isKey: true });
  add("Viewer of near", viewer.client, { role: "Viewer", networkIds: nearOnly, userId: viewer.id });
  add("Member of near", member.client, { role: "Member", networkIds: nearOnly, userId: member.id });
  add("Member of near, previously of far", moved.client, { role: "Member", networkIds: nearOnly, userId: moved.id });
  add("Member of far", farMember.client, {
    role: "Member",
    networkIds: [farId],
    userId: farMember.id,
    homeSite: "far",
  });
  add("Viewer of no network", networklessViewer.client, {
    role: "Viewer",
    networkIds: [],
    userId: networklessViewer.id,
    homeSite: null,
  });
  add("Admin", admin.client, { role: "Admin", userId: admin.id });
  add("Owner", owner);
  add(
    "Owner, from another site's page",
    owner.with({ origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" }),
    { isForeignPage: true },
  );
  for (const role of ["Viewer", "Member", "Admin", "Owner"] as const) {
    add(`a key for near with the role ${role}`, key({ permissions: role, networkIds: nearOnly }).client, {
      role,
      isKey: true,
      networkIds: nearOnly,
    });
    add(`a key for all networks with the role ${role}`, key({ permissions: role }).client, { role, isKey: true });
  }
  add(
    "a key of a Member of near with the role Owner for near and far",
    key({ userId: member.id, permissions: "Owner", networkIds: [nearId, farId] }).client,
    { role: "Member", isKey: true, networkIds: nearOnly, userId: member.id },
  );
  const away = { ...foreignFields, keyId: foreignOwnerKey, homeSite: "foreign" as const };
  add("Owner of another organization", foreignOwner, away);
  add("a key of another organization's Owner", key(foreignFields).client, { isKey: true, ...away });
  const applyLater = async () => {
    const edit = async (id: string, changes: JsonRecord) =>
      expectOk(owner.put(`users/${id}`, { ...(await expectOk(owner.get(`users/${id}`))), ...changes }));
    await edit(moved.id, { network_ids: [nearId] });
    await edit(disabled.id, { is_enabled: false });
    await expectOk(owner.delete(`users/${deletedUser.id}`));
  };
  const secrets = [...keys.map(({ key }) => key), ...list.flatMap(({ client }) => tokensOf(client)), expiredToken];
  return { list, applyLater, secrets, ownerKey, foreignOwnerKey };
}

function tokensOf(client: Client): string[] {
  const { cookie } = (client as unknown as { readonly headers: Record<string, string> }).headers;
  return cookie === undefined ? [] : [cookie.replace("session_id=", "")];
}

function hashOf(client: Client): Uint8Array {
  return hashSessionToken(tokensOf(client)[0] as string);
}

/** Result of self discovery in every network, without marks. */
const MACHINE = machineWith();
