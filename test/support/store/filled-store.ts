// Store with rows in every table, as files: records of every kind with history, thinned and full, scans and their
// findings, keys, secrets, sessions; and the questions that any stored data must answer. No assertions beyond success.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { generateSessionToken, hashSessionToken } from "../../../src/access/session-token.ts";
import { openWritable } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { pruneHistory } from "../../../src/history/prune.ts";
import { KINDS } from "../../../src/records/resources.ts";
import { newUnclaimedAppliance, PASSWORD_HASH, type TestAppliance } from "../appliance/appliance.ts";
import { made, newApiKey, newHost, newSubnet, newUser, type Wire } from "../appliance/factories.ts";
import { communityOf, findings, scanned } from "../appliance/scans.ts";
import { newWorld, PLURALS } from "../contract/operations.ts";
import { fakeDevice } from "../injected/fake-probes.ts";
import { machineWith } from "../reconcile/machine.ts";
import { ScanWriter } from "../reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../reconcile/sightings.ts";

/** A question and its caller. */
interface Question {
  readonly as: CallerName;
  readonly path: string;
}

type CallerName = "owner" | "viewer" | "key" | "foreigner";

export interface FilledStore {
  /** Credentials of each caller, as request headers. */
  readonly callers: Readonly<Record<CallerName, Record<string, string>>>;
  /** An idempotent request that is answered again from the stored answer. */
  readonly repeated: { readonly path: string; readonly body: Wire; readonly headers: Record<string, string> };
  readonly questions: readonly Question[];
  readonly email: string;
  readonly secretKey: Uint8Array;
  /** Time of the questions: shortly after the last event. */
  readonly askedAt: number;
}

const MACHINE = machineWith();

/** Lists in addition to the standard set. */
const MORE_LISTS = ["discovery/ignored", "discovery/scans"];
const DAY_MS = 86_400_000;
/** From the first event to the last, plus some hours. */
const LASTS_MS = 2 * DAY_MS + 4 * 3_600_000;
const HOSTS = 30;
const PORTS_OF_SWITCH = 12;

/**
 * @param directory for the data folder at rest: the database without a log, and the key file
 * @param now some hours after the last event, with the sessions still valid
 */
export async function fillStore(directory: string, now: number): Promise<FilledStore> {
  const unclaimed = newUnclaimedAppliance({ machine: MACHINE });
  try {
    unclaimed.clock.advance(now - LASTS_MS - unclaimed.clock.now());
    const first = await unclaimed.newOrganization("First");
    const appliance = { ...unclaimed, first, owner: await unclaimed.signedIn(first.userId) };
    const instants = await fill(appliance);
    return await putDown(appliance, directory, instants);
  } finally {
    await unclaimed.close();
  }
}

/** @returns timestamps between its states */
async function fill(appliance: TestAppliance): Promise<string[]> {
  const { owner, clock } = appliance;
  const instants: string[] = [];
  const instant = () => {
    clock.advance(60_000);
    instants.push(clock.text());
    clock.advance(60_000);
  };
  const world = await newWorld(appliance);
  const hosts: Wire[] = [];
  for (let each = 0; each < HOSTS; each += 1) {
    hosts.push(
      await newHost(appliance, {
        name: `Server ${each} Ölberg`,
        hostname: `server-${each}.example`,
        tags: [world.records.tags?.id],
        ip_addresses: [{ ip_address: `198.51.100.${130 + each}`, mac_address: mac(each, 9), name: "" }],
        ports: [{ number: 22, protocol: "Tcp" }],
        services: [{ name: "shell", service_definition: "OpenSSH" }],
        interfaces: [{ if_index: 1, if_descr: "eth0", mac_address: mac(each, 9) }],
      }),
    );
  }
  instant();
  // The host moves later, which ends the coverage of an assignment at its address.
  await communityOf(appliance, "own", {
    assigned_network_ids: [],
    host_assignments: hosts.slice(5, 7).map(({ id }) => ({ host_id: id })),
  });
  await made(owner.put(`ip-addresses/${hosts[5]?.ip_addresses[0].id}`, { ip_address: "198.51.100.200" }));
  for (const host of hosts.slice(0, 20)) await rename(appliance, host.id, `${host.name} moved`);
  instant();
  await discovered(appliance);
  instant();
  for (const host of hosts.slice(0, 4)) await made(owner.delete(`hosts/${host.id}`));
  clock.advance(2 * DAY_MS);
  const db = openWritable(appliance.databasePath);
  pruneHistory(db, KINDS, { before: clock.now() - 12 * 3_600_000, keep: "daily" }, clock.now());
  db.$client.close();
  clock.advance(60_000);
  await newHost(appliance, { name: "came again", ip_addresses: [{ ip_address: "198.51.100.130" }] });
  for (const host of hosts.slice(10, 24)) await rename(appliance, host.id, `${host.name} again`);
  await acceptOne(appliance);
  await consolidateTwo(appliance);
  await made(owner.put("/api/auth/preferences", { theme: "dark" }));
  await made(
    owner.put(`networks/${appliance.first.networkId}/map-positions`, {
      nodes: { [hosts[6]?.id]: { x: 480, y: -120 } },
    }),
  );
  instant();
  await discovered(appliance);
  await made(owner.post("discovery/self", { network_id: appliance.first.networkId }));
  await appliance.writes.run(
    "discovery.schedule_pass",
    { schedule_id: world.records["discovery/schedules"]?.id, due_at: clock.now() },
    SYSTEM_AUTHOR,
  );
  await made(
    owner.put(`discovery/schedules/${world.records["discovery/schedules"]?.id}`, {
      ...world.records["discovery/schedules"],
      is_enabled: false,
    }),
  );
  instant();
  return instants;
}

/** Two hosts with an accepted address conflict. */
async function acceptOne(appliance: TestAppliance): Promise<void> {
  for (const name of ["node 1", "node 2"])
    await newHost(appliance, { name, ip_addresses: [{ ip_address: "198.51.100.250" }] });
  const [conflict] = (await made(appliance.owner.get("conflicts?type=Address"))) as unknown as Wire[];
  const { type, value, fingerprint } = conflict as Wire;
  await made(appliance.owner.post("conflicts/acceptances", { type, value, fingerprint, reason: "a cluster" }));
}

/** Two hosts that are merged. */
async function consolidateTwo(appliance: TestAppliance): Promise<void> {
  const [stays, goes] = [
    await newHost(appliance, { name: "stays" }),
    await newHost(appliance, { name: "goes", ip_addresses: [{ ip_address: "198.51.100.251" }] }),
  ];
  appliance.clock.advance(1_000);
  await made(appliance.owner.put(`hosts/${stays.id}/consolidate/${goes.id}`, {}));
}

async function rename(appliance: TestAppliance, id: string, name: string): Promise<void> {
  await made(appliance.owner.put(`hosts/${id}`, { ...(await made(appliance.owner.get(`hosts/${id}`))), name }));
}

/** Scan findings, passed to the scan writer in separate scans. */
async function discovered(appliance: TestAppliance): Promise<void> {
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
      partial: { lldp_remotes: "no answer within 5 s" } as never,
    }),
  });
  const scan = await scanned(appliance);
  if ((await findings(appliance, scan)).length === 0) throw new Error("the scan found nothing");
  const writer = new ScanWriter(appliance);
  const told = deviceAt("10.98.0.1", {
    sys_name: "edge-1",
    serial_number: "EDGE1",
    served: ["ifDescr", "sysName"],
    interfaces: Array.from({ length: PORTS_OF_SWITCH }, (_, port) =>
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
  await writer.devices(told);
  clock.advance(60_000);
  await writer.devices(told);
  await writer.addresses(seenAt("10.98.0.9", { mac_address: mac(200, 77) }));
}

async function putDown(appliance: TestAppliance, directory: string, instants: readonly string[]): Promise<FilledStore> {
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
    { id: first.userId, passwordHash: PASSWORD_HASH, keeps: null },
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
  const repeated = {
    path: "/api/v1/tags",
    body: { name: "made once", color: "Blue" },
    headers: { "idempotency-key": "once" },
  };
  const reopened = appliance.anonymous.with(callers.owner);
  const answer = await reopened.post(repeated.path, repeated.body, repeated.headers);
  if (answer.status !== 200) throw new Error(answer.text);
  clock.advance(60_000);
  const email = (await made(reopened.get("/api/auth/me"))).email;
  const questions = await questionsOf(appliance, callers, [...instants, clock.text()]);
  const files = dataFiles(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const db = openWritable(appliance.databasePath);
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.$client.close();
  copyFileSync(appliance.databasePath, files.database);
  writeFileSync(files.key, appliance.secretKey, { mode: 0o600 });
  return { callers, repeated, questions, email, secretKey: appliance.secretKey, askedAt: clock.now() };
}

async function questionsOf(
  appliance: TestAppliance,
  callers: FilledStore["callers"],
  instants: readonly string[],
): Promise<Question[]> {
  const paths: string[] = ["/api/auth/setup", "/api/auth/me", "/api/v1/ledger", "/api/v1/organizations"];
  const thens = ["", ...instants];
  const at = (path: string, then: string) =>
    then === "" ? path : `${path}${path.includes("?") ? "&" : "?"}at=${then}`;
  const owner = appliance.anonymous.with(callers.owner);
  const { networkId } = appliance.first;
  for (const plural of [...PLURALS, ...MORE_LISTS]) {
    const path = `/api/v1/${plural}`;
    const ids = new Set<string>();
    for (const then of thens) {
      paths.push(at(`${path}?limit=0`, then), at(`${path}?limit=1000`, then));
      if (plural !== "discovery/scans") paths.push(at(`${path}/export/csv`, then));
      for (const { id } of (await owner.get(at(`${path}?limit=1000`, then))).data as Wire[]) ids.add(id);
    }
    for (const id of [...ids].slice(0, 6)) {
      for (const then of thens) paths.push(at(`${path}/${id}`, then));
      if (plural !== "discovery/scans") paths.push(`${path}/${id}/history?limit=0`);
      else paths.push(`${path}/${id}/findings?limit=0`, `${path}/${id}/findings?limit=100`);
    }
  }
  for (const then of thens) {
    paths.push(
      at(`/api/v1/hosts?limit=0&include_children=true`, then),
      ...["name", "updated_at", "last_seen_at"].map((field) => at(`/api/v1/hosts?limit=1000&order_by=${field}`, then)),
      at(`/api/v1/if-entries?limit=1000&order_by=mac_address&network_id=${networkId}`, then),
      at("/api/v1/ip-addresses?limit=1000&order_by=ip_address", then),
      ...["server", "oelb", "öl", "moved", "server-12", "again", "00:1b", "10.98"].map((search) =>
        at(`/api/v1/hosts?limit=1000&search=${encodeURIComponent(search)}`, then),
      ),
      at("/api/v1/ip-addresses?limit=1000&search=198.51", then),
      ...["json", "graphml", "mermaid"].map((format) =>
        at(`/api/v1/topology?network_id=${networkId}&format=${format}`, then),
      ),
      at(`/api/v1/locate?mac=${mac(5, 9)}`, then),
      at("/api/v1/locate?ip=198.51.100.135", then),
      at("/api/v1/locate?hostname=server-7.example", then),
      at("/api/v1/transactions?limit=1000", then),
      at("/api/v1/conflicts?limit=1000", then),
      at("/api/v1/discovery/withheld?limit=1000", then),
    );
  }
  for (const [place, from] of instants.entries()) {
    const to = instants[place + 1];
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
  const questions: Question[] = [
    ...paths.map((path): Question => ({ as: "owner", path })),
    ...["/api/auth/me", "/api/v1/networks", ...narrow].map((path): Question => ({ as: "viewer", path })),
    ...["/api/v1/networks", ...narrow].map((path): Question => ({ as: "key", path })),
    ...["/api/auth/me", "/api/v1/networks", ...narrow].map((path): Question => ({ as: "foreigner", path })),
  ];
  for (const { as, path } of questions) {
    const { status, text } = await appliance.anonymous.with(callers[as]).get(path);
    if (status !== 200 && status !== 404) throw new Error(`${path}: ${text.slice(0, 300)}`);
  }
  return questions;
}
