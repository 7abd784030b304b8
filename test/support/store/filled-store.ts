// Store with rows in every table, as files: records of every kind with pruned and complete history, scans and their
// findings, keys, secrets, sessions; and queries that must work on any stored data. No assertions beyond success.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { generateSessionToken, hashSessionToken } from "../../../src/access/session-token.ts";
import { openWritable } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { pruneHistory } from "../../../src/history/prune.ts";
import { KINDS } from "../../../src/records/resources.ts";
import { newUnclaimedAppliance, PASSWORD_HASH, type TestAppliance } from "../appliance/appliance.ts";
import { expectOk, type JsonRecord, newApiKey, newHost, newSubnet, newUser } from "../appliance/factories.ts";
import { communityOf, findings, runScan } from "../appliance/scans.ts";
import { newRecordFixture, PLURALS } from "../contract/operations.ts";
import { fakeDevice } from "../injected/fake-probes.ts";
import { machineWith } from "../reconcile/machine.ts";
import { ScanWriter } from "../reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../reconcile/sightings.ts";

/** A query and its caller. */
interface StoreQuery {
  readonly caller: CallerName;
  readonly path: string;
}

type CallerName = "owner" | "viewer" | "key" | "foreigner";

export interface FilledStore {
  /** Credentials of each caller, as request headers. */
  readonly callers: Readonly<Record<CallerName, Record<string, string>>>;
  /** An idempotent request, replayed from the stored response. */
  readonly repeatedRequest: {
    readonly path: string;
    readonly body: JsonRecord;
    readonly headers: Record<string, string>;
  };
  readonly queries: readonly StoreQuery[];
  readonly email: string;
  readonly secretKey: Uint8Array;
  /** Time of the queries: shortly after the last event. */
  readonly queriedAt: number;
}

const MACHINE = machineWith();

/** Lists in addition to PLURALS. */
const MORE_LISTS = ["discovery/ignored", "discovery/scans"];
const DAY_MS = 86_400_000;
/** Time from the first event to the last, plus some hours. */
const DURATION_MS = 2 * DAY_MS + 4 * 3_600_000;
const HOSTS = 30;
const SWITCH_PORTS = 12;

/**
 * @param directory directory for the data at rest: the database without a log, and the key file
 * @param now time some hours after the last event, with the sessions still valid
 */
export async function fillStore(directory: string, now: number): Promise<FilledStore> {
  const unclaimed = newUnclaimedAppliance({ machine: MACHINE });
  try {
    unclaimed.clock.advance(now - DURATION_MS - unclaimed.clock.now());
    const first = await unclaimed.newOrganization("First");
    const appliance = { ...unclaimed, first, owner: await unclaimed.signedIn(first.userId) };
    const instants = await fill(appliance);
    return await saveStore(appliance, directory, instants);
  } finally {
    await unclaimed.close();
  }
}

/** Writes the history. @returns timestamps between its states */
async function fill(appliance: TestAppliance): Promise<string[]> {
  const { owner, clock } = appliance;
  const instants: string[] = [];
  const markInstant = () => {
    clock.advance(60_000);
    instants.push(clock.text());
    clock.advance(60_000);
  };
  const fixture = await newRecordFixture(appliance);
  const hosts: JsonRecord[] = [];
  for (let index = 0; index < HOSTS; index += 1) {
    hosts.push(
      await newHost(appliance, {
        name: `Server ${index} Ölberg`,
        hostname: `server-${index}.example`,
        tags: [fixture.records.tags?.id],
        ip_addresses: [{ ip_address: `198.51.100.${130 + index}`, mac_address: mac(index, 9), name: "" }],
        ports: [{ number: 22, protocol: "Tcp" }],
        services: [{ name: "shell", service_definition: "OpenSSH" }],
        interfaces: [{ if_index: 1, if_descr: "eth0", mac_address: mac(index, 9) }],
      }),
    );
  }
  markInstant();
  // The host's address changes later, so an assignment at the address no longer covers it.
  await communityOf(appliance, "own", {
    assigned_network_ids: [],
    host_assignments: hosts.slice(5, 7).map(({ id }) => ({ host_id: id })),
  });
  await expectOk(owner.put(`ip-addresses/${hosts[5]?.ip_addresses[0].id}`, { ip_address: "198.51.100.200" }));
  for (const host of hosts.slice(0, 20)) await rename(appliance, host.id, `${host.name} moved`);
  markInstant();
  await runDiscovery(appliance);
  markInstant();
  for (const host of hosts.slice(0, 4)) await expectOk(owner.delete(`hosts/${host.id}`));
  clock.advance(2 * DAY_MS);
  const db = openWritable(appliance.databasePath);
  pruneHistory(db, KINDS, { before: clock.now() - 12 * 3_600_000, keep: "daily" }, clock.now());
  db.$client.close();
  clock.advance(60_000);
  await newHost(appliance, { name: "came again", ip_addresses: [{ ip_address: "198.51.100.130" }] });
  for (const host of hosts.slice(10, 24)) await rename(appliance, host.id, `${host.name} again`);
  await acceptConflict(appliance);
  await consolidateHosts(appliance);
  await expectOk(owner.put("/api/auth/preferences", { theme: "dark" }));
  await expectOk(
    owner.put(`networks/${appliance.first.networkId}/map-positions`, {
      nodes: { [hosts[6]?.id]: { x: 480, y: -120 } },
    }),
  );
  markInstant();
  await runDiscovery(appliance);
  await expectOk(owner.post("discovery/self", { network_id: appliance.first.networkId }));
  await appliance.writes.run(
    "discovery.schedule_pass",
    { schedule_id: fixture.records["discovery/schedules"]?.id, due_at: clock.now() },
    SYSTEM_AUTHOR,
  );
  await expectOk(
    owner.put(`discovery/schedules/${fixture.records["discovery/schedules"]?.id}`, {
      ...fixture.records["discovery/schedules"],
      is_enabled: false,
    }),
  );
  markInstant();
  return instants;
}

/** Creates two hosts with an address conflict, and accepts it. */
async function acceptConflict(appliance: TestAppliance): Promise<void> {
  for (const name of ["node 1", "node 2"])
    await newHost(appliance, { name, ip_addresses: [{ ip_address: "198.51.100.250" }] });
  const [conflict] = (await expectOk(appliance.owner.get("conflicts?type=Address"))) as unknown as JsonRecord[];
  const { type, value, fingerprint } = conflict as JsonRecord;
  await expectOk(appliance.owner.post("conflicts/acceptances", { type, value, fingerprint, reason: "a cluster" }));
}

/** Creates two hosts, and merges them. */
async function consolidateHosts(appliance: TestAppliance): Promise<void> {
  const [survivor, merged] = [
    await newHost(appliance, { name: "stays" }),
    await newHost(appliance, { name: "goes", ip_addresses: [{ ip_address: "198.51.100.251" }] }),
  ];
  appliance.clock.advance(1_000);
  await expectOk(appliance.owner.put(`hosts/${survivor.id}/consolidate/${merged.id}`, {}));
}

async function rename(appliance: TestAppliance, id: string, name: string): Promise<void> {
  await expectOk(appliance.owner.put(`hosts/${id}`, { ...(await expectOk(appliance.owner.get(`hosts/${id}`))), name }));
}

/** Runs a scan, and passes additional sightings to the scan writer. */
async function runDiscovery(appliance: TestAppliance): Promise<void> {
  const { probes, clock } = appliance;
  if (probes.devices.size === 0) {
    await newSubnet(appliance, { cidr: "10.99.0.0/28" });
    await newSubnet(appliance, { cidr: "10.98.0.0/24" });
    await communityOf(appliance, "public");
    for (const last of [1, 2, 3, 4]) probes.alive.set(`10.99.0.${last}`, { mac_address: `00:00:5e:00:53:1${last}` });
  }
  const speed = probes.devices.size === 0 ? 1_000_000_000 : 10_000_000_000;
  probes.devices.set("10.99.0.1", {
    community: "public",
    device: fakeDevice({
      sys_name: "core-1",
      interfaces: [1, 2].map((if_index) => ({
        if_index,
        if_descr: `port ${if_index}`,
        if_type: 6,
        speed_bps: speed,
        admin_status: "Up",
        oper_status: "Up",
      })),
      addresses: [{ ip_address: "10.99.0.1", prefix_length: 28, if_index: 1 }],
      vlans: [{ number: 10, name: "users" }],
      partial: { lldp_remotes: "no response within 5 s" } as never,
    }),
  });
  const scan = await runScan(appliance);
  if ((await findings(appliance, scan)).length === 0) throw new Error("the scan found nothing");
  const writer = new ScanWriter(appliance);
  const sighting = deviceAt("10.98.0.1", {
    sys_name: "edge-1",
    serial_number: "EDGE1",
    served: ["ifDescr", "sysName"],
    interfaces: Array.from({ length: SWITCH_PORTS }, (_, port) =>
      ethernet(port + 1, {
        mac_address: mac(port + 1, 77),
        vlans: [1, 10],
        native_vlan: 1,
        forwarding: [{ mac_address: mac(port, 9), vlan_number: 10 }],
      }),
    ),
    addresses: [{ ip_address: "10.98.0.1", prefix_length: 24, if_index: 1 }],
    vlans: [
      { number: 1, name: "default" },
      { number: 10, name: "users" },
    ],
  });
  await writer.devices(sighting);
  clock.advance(60_000);
  await writer.devices(sighting);
  // Changes serial number and name: the reads are stored.
  for (const number of [1, 2])
    await writer.devices(
      deviceAt("10.98.0.2", {
        sys_name: `edge-2-${number}`,
        serial_number: `EDGE2-${number}`,
        interfaces: [ethernet(1, { mac_address: mac(1, 78) })],
        addresses: [{ ip_address: "10.98.0.2", prefix_length: 24, if_index: 1 }],
      }),
    );
  const two = { mac_address: mac(200, 77) };
  const ports = { asked: [22], open: [{ number: 22, protocol: "Tcp", service: null }] } as const;
  await writer.addresses(seenAt("10.98.0.9", two), seenAt("10.98.0.10", { ...two, ports }));
}

async function saveStore(
  appliance: TestAppliance,
  directory: string,
  instants: readonly string[],
): Promise<FilledStore> {
  const { first, clock, random } = appliance;
  const session = async (userId: string) => {
    const token = generateSessionToken(random);
    await appliance.writes.run(
      "session.open",
      { hash: hashSessionToken(token), userId, at: clock.now() },
      SYSTEM_AUTHOR,
    );
    return { cookie: `session_id=${token}` };
  };
  const viewer = await newUser(appliance, { role: "Viewer", networkIds: [first.networkId] });
  await appliance.writes.run(
    "user.set_password",
    { id: first.userId, passwordHash: PASSWORD_HASH, keptHash: null },
    SYSTEM_AUTHOR,
  );
  const second = await appliance.newOrganization("Second");
  const key = newApiKey(appliance, { permissions: "Owner" });
  const callers = {
    owner: await session(first.userId),
    viewer: await session(viewer.id),
    foreigner: await session(second.userId),
    key: { authorization: `Bearer ${key.key}` },
  };
  const repeatedRequest = {
    path: "/api/v1/tags",
    body: { name: "made once", color: "Blue" },
    headers: { "idempotency-key": "once" },
  };
  const reopened = appliance.anonymous.with(callers.owner);
  const response = await reopened.post(repeatedRequest.path, repeatedRequest.body, repeatedRequest.headers);
  if (response.status !== 200) throw new Error(response.text);
  clock.advance(60_000);
  const email = (await expectOk(reopened.get("/api/auth/me"))).email;
  const queries = await queriesOf(appliance, callers, [...instants, clock.text()]);
  const files = dataFiles(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const db = openWritable(appliance.databasePath);
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.$client.close();
  copyFileSync(appliance.databasePath, files.database);
  writeFileSync(files.key, appliance.secretKey, { mode: 0o600 });
  return { callers, repeatedRequest, queries, email, secretKey: appliance.secretKey, queriedAt: clock.now() };
}

async function queriesOf(
  appliance: TestAppliance,
  callers: FilledStore["callers"],
  instants: readonly string[],
): Promise<StoreQuery[]> {
  const paths: string[] = ["/api/auth/setup", "/api/auth/me", "/api/v1/ledger", "/api/v1/organizations"];
  const times = ["", ...instants];
  const pathAt = (path: string, time: string) =>
    time === "" ? path : `${path}${path.includes("?") ? "&" : "?"}at=${time}`;
  const owner = appliance.anonymous.with(callers.owner);
  const { networkId } = appliance.first;
  for (const plural of [...PLURALS, ...MORE_LISTS]) {
    const path = `/api/v1/${plural}`;
    const ids = new Set<string>();
    for (const time of times) {
      paths.push(pathAt(`${path}?limit=0`, time), pathAt(`${path}?limit=1000`, time));
      if (plural !== "discovery/scans") paths.push(pathAt(`${path}/export/csv`, time));
      for (const { id } of (await owner.get(pathAt(`${path}?limit=1000`, time))).data as JsonRecord[]) ids.add(id);
    }
    for (const id of [...ids].slice(0, 6)) {
      for (const time of times) paths.push(pathAt(`${path}/${id}`, time));
      if (plural !== "discovery/scans") paths.push(`${path}/${id}/history?limit=0`);
      else paths.push(`${path}/${id}/findings?limit=0`, `${path}/${id}/findings?limit=100`);
    }
  }
  for (const time of times) {
    paths.push(
      pathAt(`/api/v1/hosts?limit=0&include_children=true`, time),
      ...["name", "updated_at", "last_seen_at"].map((field) =>
        pathAt(`/api/v1/hosts?limit=1000&order_by=${field}`, time),
      ),
      pathAt(`/api/v1/if-entries?limit=1000&order_by=mac_address&network_id=${networkId}`, time),
      pathAt("/api/v1/ip-addresses?limit=1000&order_by=ip_address", time),
      ...["server", "oelb", "öl", "moved", "server-12", "again", "00:1b", "10.98"].map((search) =>
        pathAt(`/api/v1/hosts?limit=1000&search=${encodeURIComponent(search)}`, time),
      ),
      pathAt("/api/v1/ip-addresses?limit=1000&search=198.51", time),
      ...["json", "graphml", "mermaid"].map((format) =>
        pathAt(`/api/v1/topology?network_id=${networkId}&format=${format}`, time),
      ),
      pathAt(`/api/v1/locate?mac=${mac(5, 9)}`, time),
      pathAt("/api/v1/locate?ip=198.51.100.135", time),
      pathAt("/api/v1/locate?hostname=server-7.example", time),
      pathAt("/api/v1/transactions?limit=1000", time),
      pathAt("/api/v1/conflicts?limit=1000", time),
      pathAt("/api/v1/discovery/withheld?limit=1000", time),
    );
  }
  for (const [index, from] of instants.entries()) {
    const to = instants[index + 1];
    if (to === undefined) continue;
    for (const format of ["json", "csv"]) paths.push(`/api/v1/diff?from=${from}&to=${to}&format=${format}`);
    paths.push(
      `/api/v1/diff?from=${from}&to=${to}&network_id=${networkId}`,
      `/api/v1/locate/timeline?mac=${mac(5, 9)}&from=${from}&to=${to}`,
    );
  }
  const last = appliance.reader.head().sequence;
  for (let sequence = 1; sequence <= last; sequence += Math.ceil(last / 25))
    paths.push(`/api/v1/transactions/${sequence}`);
  for (let after = 0; after < last; after += 40) paths.push(`/api/v1/changes?after=${after}&limit=1000`);
  const narrow = ["hosts", "if-entries", "ip-addresses", "discovery/scans", "subnets", "tags"].map(
    (plural) => `/api/v1/${plural}?limit=0`,
  );
  const queries: StoreQuery[] = [
    ...paths.map((path): StoreQuery => ({ caller: "owner", path })),
    ...["/api/auth/me", "/api/v1/networks", ...narrow].map((path): StoreQuery => ({ caller: "viewer", path })),
    ...["/api/v1/networks", ...narrow].map((path): StoreQuery => ({ caller: "key", path })),
    ...["/api/auth/me", "/api/v1/networks", ...narrow].map((path): StoreQuery => ({ caller: "foreigner", path })),
  ];
  for (const { caller, path } of queries) {
    const { status, text } = await appliance.anonymous.with(callers[caller]).get(path);
    if (status !== 200 && status !== 404) throw new Error(`${path}: ${text.slice(0, 300)}`);
  }
  return queries;
}
