// World of the authorization tests: three networks with the same furnishing, one of another organization, each with
// distinctive marks that identify a leak anywhere; and every type of caller. No assertions.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import type { Role } from "../../../src/access/role.ts";
import { generateSessionToken, hashSessionToken } from "../../../src/access/session-token.ts";
import { newAppliance, PASSWORD_HASH, type TestAppliance } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import { addUser, made, type NewApiKey, newApiKey, newIgnored, newUser, type Wire } from "../appliance/factories.ts";
import { untilEnded } from "../appliance/scans.ts";
import { CREATABLE, exampleBody } from "../contract/example-bodies.ts";
import { machineWith } from "../reconcile/machine.ts";
import { LedgerOracle, type Sight } from "./oracle.ts";

/** Near: in reach of a confined caller. Far: another network of the organization. Foreign: of another organization. */
export const PLACES = ["near", "far", "foreign"] as const;
type PlaceName = (typeof PLACES)[number];

/** Marks that occur in a place's texts, addresses and MAC addresses, and nowhere else. */
const MARKS: Readonly<Record<PlaceName, { readonly word: string; readonly octet: number }>> = {
  near: { word: "zznear", octet: 201 },
  far: { word: "zzfar", octet: 202 },
  foreign: { word: "zzforeign", octet: 203 },
};
/** Mark of records of the first organization as a whole. */
export const ORGANIZATION_WORD = "zzfirst";
/** Occurs in every secret of every place. */
export const SECRET_WORD = "zzsecret";

/** A case-insensitive regular expression for a place's marks. */
export function marksOf(place: PlaceName): string {
  const { word, octet } = MARKS[place];
  return `${word}[\\w.-]*|\\b10\\.${octet}\\.[\\d./]+|02:00:00:${octet.toString(16)}:[0-9a-f:]+`;
}

export interface Place extends Sight {
  readonly name: PlaceName;
  readonly networkId: string;
  /** Signed in as the Owner of its organization. */
  readonly owner: Client;
  readonly ownerId: string;
  readonly word: string;
  readonly octet: number;
  /** One live record of each kind, by the path below /api/v1. */
  readonly records: Readonly<Record<string, Wire>>;
  /** A host, and the other ones of its network. */
  readonly switchId: string;
  /** A host that was deleted after `World.then`. */
  readonly goneHostId: string;
  /** An ended scan. */
  readonly scanId: string;
  /** A transaction of this place only. */
  readonly sequence: number;
}

export interface Caller extends Sight {
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
  /** The place in reach; null for none. */
  readonly home: PlaceName | null;
  /** An API key of its user. */
  readonly keyId: string;
}

export interface World {
  readonly appliance: TestAppliance;
  readonly oracle: LedgerOracle;
  readonly places: Readonly<Record<PlaceName, Place>>;
  readonly callers: readonly Caller[];
  /** Timestamps: before all records, between two states of all records, and after everything. */
  readonly early: string;
  readonly then: string;
  readonly late: string;
  /** Texts that authenticate or must not be disclosed: tokens, keys, hashes. */
  readonly secrets: readonly string[];
  /** A network of the first organization that was deleted after `then`. */
  readonly goneNetworkId: string;
  /** API keys of the two Owners, by place. */
  readonly ownersKeys: Readonly<Record<"near" | "foreign", string>>;
}

export async function newAuthorizationWorld(): Promise<World> {
  const appliance = await newAppliance({
    machine: MACHINE,
    backups: { takeBackup: () => ({ taken: Promise.resolve({ head: null, sizeBytes: 0 }), abandon: () => {} }) },
  });
  const early = "1999-12-31T23:59:59.000Z";
  const { owner, first, clock } = appliance;
  const second = await appliance.newOrganization("zzforeign");
  const foreigner = await appliance.signedIn(second.userId);
  await made(owner.put("organizations", { name: `${ORGANIZATION_WORD} organization` }));
  await made(owner.put(`networks/${first.networkId}`, { name: "zznear network", description: "zznear" }));
  await made(foreigner.put(`networks/${second.networkId}`, { name: "zzforeign network", description: "zzforeign" }));
  const farNetwork = await made(owner.post("networks", { name: "zzfar network", description: "zzfar" }));
  const goneNetwork = await made(owner.post("networks", { name: "zzfirst gone network" }));

  const own = await furnishOrganization(appliance, owner, first.organizationId, ORGANIZATION_WORD, [
    first.networkId,
    farNetwork.id,
  ]);
  const foreign = await furnishOrganization(appliance, foreigner, second.organizationId, "zzforeign", [
    second.networkId,
  ]);
  const near = await furnish("near", appliance, owner, first.networkId, own);
  const far = await furnish("far", appliance, owner, farNetwork.id, own);
  const away = await furnish("foreign", appliance, foreigner, second.networkId, foreign);
  await assign(owner, own, [near, far]);
  await assign(foreigner, foreign, [away]);
  const scanIds = {
    near: await scan(appliance, near),
    far: await scan(appliance, far),
    foreign: await scan(appliance, away),
  };
  const callers = await newCallers(appliance, { nearId: first.networkId, farId: farNetwork.id, second, foreigner });

  clock.advance(60_000);
  const then = clock.text();
  clock.advance(60_000);
  await callers.later();
  await made(owner.delete(`networks/${goneNetwork.id}`));
  const places = {
    near: await changed(appliance, near, {
      organizationId: first.organizationId,
      networkIds: [first.networkId],
      ownerId: first.userId,
      scanId: scanIds.near,
    }),
    far: await changed(appliance, far, {
      organizationId: first.organizationId,
      networkIds: [farNetwork.id],
      ownerId: first.userId,
      scanId: scanIds.far,
    }),
    foreign: await changed(appliance, away, {
      organizationId: second.organizationId,
      networkIds: [second.networkId],
      ownerId: second.userId,
      scanId: scanIds.foreign,
    }),
  };
  clock.advance(60_000);
  return {
    appliance,
    oracle: new LedgerOracle(appliance),
    places,
    callers: callers.list,
    early,
    then,
    late: "2999-01-01T00:00:00.000Z",
    secrets: [...callers.secrets, PASSWORD_HASH, appliance.secretKey.toHex()],
    goneNetworkId: goneNetwork.id,
    ownersKeys: { near: callers.ownersKey, foreign: callers.foreignersKey },
  };
}

interface Common {
  readonly tag: Wire;
  readonly customField: Wire;
  readonly credential: Wire;
  readonly userId: string;
}

/** Creates the records of an organization as a whole. */
async function furnishOrganization(
  appliance: TestAppliance,
  by: Client,
  organizationId: string,
  word: string,
  networkIds: readonly string[],
): Promise<Common> {
  const tag = await made(by.post("tags", { name: `${word} tag`, color: "Green", description: word }));
  const credential = await made(
    by.post("credentials", {
      organization_id: organizationId,
      name: `${word} credential`,
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: `${SECRET_WORD}-community-${word}` } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [tag.id],
    }),
  );
  await made(by.post("markers", { name: `${word} marker`, description: word }));
  const key = `${word}_field`;
  const customField = await made(
    by.post("custom-fields", { key, label: `${word} field`, kinds: ["vlan"], type: "text", description: word }),
  );
  const userId = addUser(appliance, { organizationId, name: `${word} somebody`, role: "Member", networkIds });
  return { tag, customField, credential, userId };
}

interface Furnished extends Common {
  readonly name: PlaceName;
  readonly owner: Client;
  readonly networkId: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly switchId: string;
  readonly goneHostId: string;
}

/** Creates one record of every kind in a network: neighboring hosts with every kind of child. */
async function furnish(
  name: PlaceName,
  appliance: TestAppliance,
  owner: Client,
  networkId: string,
  common: Common,
): Promise<Furnished> {
  const { word, octet } = MARKS[name];
  const mac = (n: number) => `02:00:00:${octet.toString(16)}:00:${n.toString(16).padStart(2, "0")}`;
  const described = {
    description: `${word} described`,
    sys_name: `${word} sysname`,
    sys_location: `${word} room`,
    serial_number: `${word}-serial`,
    tags: [common.tag.id],
  };
  const post = (path: string, body: Wire) => made(owner.post(path, body, because(word)));
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
  const gone = await post("hosts", {
    network_id: networkId,
    name: `${word} gone`,
    ...described,
    ip_addresses: [{ ip_address: `10.${octet}.0.3`, mac_address: mac(3) }],
    ports: [{ number: 22, protocol: "Tcp" }],
  });
  const [[address], [port], [service]] = [station.ip_addresses, station.ports, station.services];
  const binding = await post("bindings", {
    service_id: service.id,
    type: "Port",
    port_id: port.id,
    ip_address_id: address.id,
  });
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
    (await made(owner.get("organizations"))).id,
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
    "discovery/ignored": ignored.id,
    credentials: common.credential.id,
    tags: common.tag.id,
    "custom-fields": common.customField.id,
    users: common.userId,
  };
  for (const { path } of CREATABLE)
    if (path !== "auth/keys") ids[path] ??= (await post(path, exampleBody(appliance, path, ids, `${word} ${path}`))).id;
  return { ...common, name, owner, networkId, ids, switchId: device.id, goneHostId: gone.id };
}

/** Scans hosts that do not answer, as the findings report. @returns the scan's id */
async function scan(appliance: TestAppliance, { name, owner, networkId }: Furnished): Promise<string> {
  const { id } = await made(
    owner.post("discovery/scans", { network_id: networkId, kind: "snmp" }, because(MARKS[name].word)),
  );
  await untilEnded(appliance, id);
  return id;
}

/** Assigns the organization's credential in each network and at a host of each. */
async function assign(by: Client, { credential }: Common, places: readonly Furnished[]): Promise<void> {
  const host_assignments = places.map((place) => ({
    host_id: place.ids.hosts,
    ip_address_ids: [place.ids["ip-addresses"]],
  }));
  await made(
    by.put(`credentials/${credential.id}`, {
      ...credential,
      assigned_network_ids: places.map((place) => place.networkId),
      host_assignments,
    }),
  );
}

/** Changes after `then`: most records are updated, and a host is deleted. */
async function changed(
  appliance: TestAppliance,
  place: Furnished,
  where: Sight & { readonly ownerId: string; readonly scanId: string },
): Promise<Place> {
  const { owner, ids, name } = place;
  const { word, octet } = MARKS[name];
  const edit = async (path: string, changes: Wire) =>
    made(owner.put(path, { ...(await made(owner.get(path))), ...changes }, because(word)));
  await edit(`subnets/${ids.subnets}`, { description: `${word} described anew` });
  const { sequence } = appliance.reader.head();
  await edit(`vlans/${ids.vlans}`, { description: `${word} described anew` });
  await edit(`hosts/${ids.hosts}`, { name: `${word} renamed station`, description: `${word} described anew` });
  await edit(`if-entries/${ids["if-entries"]}`, { if_alias: `${word} moved desk` });
  await edit(`discovery/schedules/${ids["discovery/schedules"]}`, { name: `${word} weekly schedule`, cron: "@weekly" });
  await made(owner.delete(`hosts/${place.goneHostId}`));
  const records: Record<string, Wire> = {};
  for (const [plural, id] of Object.entries(ids)) records[plural] = await made(owner.get(`${plural}/${id}`));
  return {
    name,
    ...where,
    networkId: place.networkId,
    owner,
    word,
    octet,
    records,
    switchId: place.switchId,
    goneHostId: place.goneHostId,
    sequence,
  };
}

/** Reason of a write, as hidden from other places as the record itself. */
function because(word: string): Record<string, string> {
  return { "x-change-reason": `${word} reason` };
}

interface AnyOwner {
  readonly nearId: string;
  readonly farId: string;
  readonly second: { readonly organizationId: string; readonly networkId: string; readonly userId: string };
  readonly foreigner: Client;
}

async function newCallers(appliance: TestAppliance, { nearId, farId, second, foreigner }: AnyOwner) {
  const { owner, first, clock } = appliance;
  const { organizationId } = first;
  const [every, only] = [null, [nearId]];
  const user = (role: Role, networkIds: readonly string[]) => newUser(appliance, { role, networkIds });
  const [viewer, member, admin, elsewhere, nowhere, moved, disabled, leaving, absent] = await Promise.all([
    user("Viewer", only),
    user("Member", only),
    user("Admin", []),
    user("Member", [farId]),
    user("Viewer", []),
    user("Member", [farId]),
    user("Owner", []),
    user("Owner", []),
    user("Owner", []),
  ]);
  // Users sign in with their own password: changing it is one of the operations.
  for (const each of [viewer, member, admin, elsewhere, nowhere, moved])
    await appliance.writes.run(
      "user.set_password",
      { id: each.id, passwordHash: PASSWORD_HASH, keeps: hashOf(each.client) },
      SYSTEM_AUTHOR,
    );
  const keys: NewApiKey[] = [];
  const key = (fields: Parameters<typeof newApiKey>[1]): NewApiKey => {
    const made = newApiKey(appliance, fields);
    keys.push(made);
    return made;
  };
  const disabledKey = key({ isEnabled: false });
  const expiredKey = key({ expiresAt: clock.text() });
  const keyOfDisabled = key({ userId: disabled.id });
  const keyOfLeaving = key({ userId: leaving.id });
  const ownersKey = key({}).id;
  const theirs = { userId: second.userId, organizationId: second.organizationId };
  const foreignersKey = key(theirs).id;
  const stale = generateSessionToken(appliance.random);
  await appliance.writes.run(
    "session.open",
    { hash: hashSessionToken(stale), userId: absent.id, at: clock.now() - 8 * 24 * 3_600_000 },
    SYSTEM_AUTHOR,
  );

  const list: Caller[] = [];
  const add = (name: string, client: Client, caller: Partial<Caller> = {}) => {
    const defaults = {
      refusal: null,
      role: "Owner" as Role,
      isKey: false,
      isForeignPage: false,
      home: "near" as const,
      organizationId,
      networkIds: every,
      userId: first.userId,
    };
    const whole = { ...defaults, ...caller, name, client };
    list.push({
      ...whole,
      keyId:
        caller.keyId ??
        (whole.userId === first.userId
          ? ownersKey
          : key({ userId: whole.userId, permissions: "Viewer", organizationId: whole.organizationId }).id),
    });
  };
  const { anonymous } = appliance;
  add("nobody", anonymous, { refusal: "auth_not_authenticated" });
  add("an Owner's cookie beside a bad bearer", owner.with({ authorization: "Bearer nlk_nonsense" }), {
    refusal: "auth_not_authenticated",
  });
  add("a session of eight days ago", anonymous.with({ cookie: `session_id=${stale}` }), {
    refusal: "auth_session_expired",
  });
  add("a disabled user's session", disabled.client, { refusal: "auth_not_authenticated" });
  add("a disabled user's key", keyOfDisabled.client, { refusal: "auth_key_disabled", isKey: true });
  add("a deleted user's session", leaving.client, { refusal: "auth_not_authenticated" });
  add("a deleted user's key", keyOfLeaving.client, { refusal: "auth_not_authenticated", isKey: true });
  add("a disabled key", disabledKey.client, { refusal: "auth_key_disabled", isKey: true });
  add("an expired key", expiredKey.client, { refusal: "auth_key_expired", isKey: true });
  add("Viewer of near", viewer.client, { role: "Viewer", networkIds: only, userId: viewer.id });
  add("Member of near", member.client, { role: "Member", networkIds: only, userId: member.id });
  add("Member of far before, of near today", moved.client, { role: "Member", networkIds: only, userId: moved.id });
  add("Member of far", elsewhere.client, { role: "Member", networkIds: [farId], userId: elsewhere.id, home: "far" });
  add("Viewer of no network", nowhere.client, { role: "Viewer", networkIds: [], userId: nowhere.id, home: null });
  add("Admin", admin.client, { role: "Admin", userId: admin.id });
  add("Owner", owner);
  add(
    "Owner, asked by another site's page",
    owner.with({ origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" }),
    { isForeignPage: true },
  );
  for (const role of ["Viewer", "Member", "Admin", "Owner"] as const) {
    add(`a key for near with the role ${role}`, key({ permissions: role, networkIds: only }).client, {
      role,
      isKey: true,
      networkIds: only,
    });
    add(`a key for all networks with the role ${role}`, key({ permissions: role }).client, { role, isKey: true });
  }
  add(
    "a Member of near's key that claims to be an Owner's for near and far",
    key({ userId: member.id, permissions: "Owner", networkIds: [nearId, farId] }).client,
    { role: "Member", isKey: true, networkIds: only, userId: member.id },
  );
  const away = { ...theirs, keyId: foreignersKey, home: "foreign" as const };
  add("Owner of another organization", foreigner, away);
  add("a key of another organization's Owner", key(theirs).client, { isKey: true, ...away });
  const later = async () => {
    const edit = async (id: string, changes: Wire) =>
      made(owner.put(`users/${id}`, { ...(await made(owner.get(`users/${id}`))), ...changes }));
    await edit(moved.id, { network_ids: [nearId] });
    await edit(disabled.id, { is_enabled: false });
    await made(owner.delete(`users/${leaving.id}`));
  };
  const secrets = [...keys.map((each) => each.key), ...list.flatMap(({ client }) => tokensOf(client)), stale];
  return { list, later, secrets, ownersKey, foreignersKey };
}

function tokensOf(client: Client): string[] {
  const { cookie } = (client as unknown as { readonly headers: Record<string, string> }).headers;
  return cookie === undefined ? [] : [cookie.replace("session_id=", "")];
}

function hashOf(client: Client): Uint8Array {
  return hashSessionToken(tokensOf(client)[0] as string);
}

/** Result of self discovery in every network, without marks of any. */
const MACHINE = machineWith();
