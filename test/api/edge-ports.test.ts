// Edge ports behind phones, access points, servers and documented cables, from agents' rows to every report of where
// stations connect (station list, locate, conflicts, highlights, faceplate), now and in the past.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { type HeardCdp, type HeardLldp, readSwitch } from "../support/reconcile/read-switch.ts";

const { clock, communityOf, first, newHost, newSubnet, owner, probes, runScan, tick } = applianceForEach();

const ACCESS = { name: "acc-1", address: "10.0.0.1", mac: "00:1b:21:00:00:10" };
const DESK = "00:1b:21:00:09:01";
const DEVICE = "00:1b:21:00:05:01";

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/24" });
  await communityOf("public");
});

type Ports = Parameters<typeof readSwitch>[0]["ports"];

/** Scans the switch with these ports, and addresses that respond to ping, with their MAC addresses. */
async function scan(ports: Ports, alive: Readonly<Record<string, string>> = {}): Promise<void> {
  probes.devices.set(ACCESS.address, { device: readSwitch({ ...ACCESS, ports }), community: "public" });
  probes.alive.set(ACCESS.address, {});
  for (const [address, mac_address] of Object.entries(alive)) probes.alive.set(address, { mac_address });
  await rescan(ACCESS.address, ...Object.keys(alive));
}

async function rescan(...targets: string[]): Promise<void> {
  tick();
  await runScan({ targets });
  tick();
}

const list = async (path: string): Promise<JsonRecord[]> => (await owner.get(path)).data;
/** Location of the desk according to each response, as `switch port`; null for none. */
async function answers(mac: string, at = ""): Promise<Record<string, unknown>> {
  const query = at === "" ? "" : `&at=${at}`;
  const placesIn = (rows: JsonRecord[]) =>
    rows.filter((row) => row.mac_address === mac).map((row) => `${row.switch.name} ${row.port.name}`);
  const { candidates } = (await owner.get(`locate?mac=${mac}${query}`)).data;
  const [located] = candidates as JsonRecord[];
  const { id } = (await list(`hosts?limit=0${query}`)).find(({ name }) => name === ACCESS.name) as JsonRecord;
  const { groups, logical } = (await owner.get(`hosts/${id}/faceplate?${query}`)).data;
  const ports: JsonRecord[] = [...groups.flatMap((group: JsonRecord) => group.ports), ...logical];
  const port = ports.find(({ stations }) => stations.some((each: JsonRecord) => each.mac_address === mac));
  return {
    stations: placesIn(await list(`stations?limit=0${query}`)),
    unknown: placesIn(await list(`stations?limit=0&known=false${query}`)),
    located: located?.port == null ? null : `${located.switch.name} ${located.port.name} ${located.port.role}`,
    role: port?.neighbor?.role ?? null,
  };
}
const hereAt = (name: string, role: string | null = "End") => ({
  stations: [`acc-1 ${name}`],
  unknown: [`acc-1 ${name}`],
  located: `acc-1 ${name} Edge`,
  role,
});
const elsewhere = (name: string) => ({ stations: [], unknown: [], located: `acc-1 ${name} Uplink`, role: "Network" });

interface Reported {
  readonly lldp?: readonly HeardLldp[];
  readonly cdp?: readonly HeardCdp[];
}

/** Devices that announce themselves and are not in the inventory. */
const UNRESOLVED: ReadonlyArray<readonly [title: string, reported: Reported, isEdge: boolean]> = [
  ["a phone (Bridge, Telephone)", { lldp: [{ chassis: DEVICE, name: "SEP1", enabled: "24", supported: "24" }] }, true],
  ["a phone that has not enabled telephony yet", { lldp: [{ chassis: DEVICE, enabled: "00", supported: "24" }] }, true],
  [
    "a phone reported by LLDP and CDP",
    {
      lldp: [{ chassis: DEVICE, name: "SEP1", enabled: "24" }],
      cdp: [{ id: "SEP1", port: "Port 1", platform: "Cisco IP Phone 8845", capabilities: "00000490" }],
    },
    true,
  ],
  ["a phone announced by CDP only", { cdp: [{ id: "SEP1", port: "Port 1", capabilities: "00000090" }] }, true],
  [
    "a phone with a computer behind it that announces itself too",
    { lldp: [{ chassis: DEVICE, enabled: "24" }, { chassis: DESK }] },
    true,
  ],
  ["an access point (Bridge, WLAN, Router)", { lldp: [{ chassis: DEVICE, name: "ap-1", enabled: "38" }] }, true],
  ["an access point of 802.1AB-2009 in two octets", { lldp: [{ chassis: DEVICE, enabled: "3000" }] }, true],
  [
    "an access point that CDP only calls a bridge",
    { cdp: [{ id: "ap-1", port: "Gi0", platform: "cisco AIR-CAP3702I-E-K9", capabilities: "00000026" }] },
    true,
  ],
  [
    "a server with lldpd (Bridge, Router, StationOnly)",
    { lldp: [{ chassis: DEVICE, name: "srv", enabled: "29" }] },
    true,
  ],
  ["a workstation (StationOnly)", { lldp: [{ chassis: DEVICE, enabled: "01" }] }, true],
  ["a switch (Bridge)", { lldp: [{ chassis: DEVICE, name: "sw-2", enabled: "20" }] }, false],
  ["a router (Router)", { lldp: [{ chassis: DEVICE, name: "gw-1", enabled: "08" }] }, false],
  ["a switch announced by CDP", { cdp: [{ id: "sw-2", port: "Gi0/1", capabilities: "00000028" }] }, false],
  [
    "a phone and a switch",
    {
      lldp: [
        { chassis: DEVICE, enabled: "24" },
        { chassis: "00:1b:21:00:06:01", enabled: "20" },
      ],
    },
    false,
  ],
];

describe("a port with a neighbor outside the inventory", () => {
  test.each(UNRESOLVED)("is an edge or not by the capabilities: %s", async (_title, reported, isEdge) => {
    await scan({ 3: { macs: [DEVICE, DESK], ...reported } });
    expect(await answers(DESK)).toEqual(isEdge ? hereAt("Gi0/3") : elsewhere("Gi0/3"));
  });

  test("proves nothing without capabilities and description: it is not listed as a station", async () => {
    await scan({ 3: { macs: [DEVICE, DESK], lldp: [{ chassis: DEVICE, name: "thing" }] } });
    expect(await answers(DESK)).toMatchObject({ stations: [], located: "acc-1 Gi0/3 Edge", role: "Unknown" });
  });

  test("shows the capabilities in interfaces, additional neighbors, filters, tables and the map's evidence", async () => {
    const lldp = [
      { chassis: DEVICE, name: "SEP1", enabled: "24" },
      { chassis: DESK, name: "pc-1", enabled: "01" },
    ];
    const cdp = [{ id: "SEP1", port: "Port 1", capabilities: "00000490" }];
    await scan({ 3: { macs: [DESK], lldp, cdp } });
    const filter = encodeURIComponent("lldp_capabilities = Telephone AND cdp_capabilities = Phone");
    const [port, ...others] = await list(`if-entries?filter=${filter}`);
    expect(others).toEqual([]);
    expect(port).toMatchObject({
      if_name: "Gi0/3",
      lldp_capabilities: ["Bridge", "Telephone"],
      cdp_capabilities: ["Host", "Phone", "TwoPortMacRelay"],
      more_neighbors: [{ sys_name: "pc-1", capabilities: ["StationOnly"] }],
    });
    expect((await owner.get(`if-entries/export/csv?filter=${filter}`)).text).toContain("Bridge;Telephone");
    const { links } = (await owner.get(`topology?network_id=${first.networkId}`)).data;
    const evidence = (links as JsonRecord[]).flatMap((link) => link.evidence as JsonRecord[]);
    expect(evidence.map(({ capabilities }) => capabilities)).toContainEqual(["Bridge", "Telephone"]);
    await scan({ 3: { macs: [DESK] } });
    expect((await owner.get(`if-entries?ids=${port?.id}`)).data[0]).not.toHaveProperty("lldp_capabilities");
  });
});

describe("a port with a host of the inventory at the far end", () => {
  const phone: HeardLldp = { chassis: DEVICE, name: "phone-1", enabled: "24" };

  test("counts by the type of the host, which its neighbor gave it", async () => {
    await scan({ 3: { macs: [DEVICE, DESK], lldp: [phone] } }, { "10.0.0.5": DEVICE });
    expect((await list("hosts?filter=device_type = Phone")).length).toBe(1);
    expect(await answers(DESK)).toEqual(hereAt("Gi0/3"));
  });

  test("is an edge for a server that bridges and routes for its containers", async () => {
    const description = "Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP x86_64";
    const server = { chassis: DEVICE, port: "eno1", name: "srv-1", description, enabled: "28", supported: "39" };
    await scan({ 3: { macs: [DEVICE, DESK], lldp: [server] } }, { "10.0.0.5": DEVICE });
    expect(await answers(DESK)).toEqual(hereAt("Gi0/3"));
  });

  test("follows a manually set type, now and in the past", async () => {
    await scan({ 3: { macs: [DEVICE, DESK], lldp: [phone] } }, { "10.0.0.5": DEVICE });
    const before = clock.text();
    tick();
    const [host] = await list("hosts?filter=device_type = Phone");
    const fields = { id: host?.id, name: host?.name, hidden: false, tags: [] };
    await expectOk(owner.put(`hosts/${host?.id}`, { ...fields, device_type: "Switch" }));
    tick();
    expect(await answers(DESK)).toEqual(elsewhere("Gi0/3"));
    expect(await answers(DESK, before)).toEqual(hereAt("Gi0/3"));
  });

  test.each(["a desk", "a patch panel", "a wall outlet"])("is an edge for a documented cable to %s", async (name) => {
    await scan({ 3: { macs: [DESK] } });
    const far = await newHost({ name });
    const [port] = await list("if-entries?filter=if_name = Gi0/3");
    const { id, if_index, if_descr } = port as JsonRecord;
    await expectOk(owner.put(`if-entries/${id}`, { if_index, if_descr, neighbor: { type: "Host", id: far.id } }));
    tick();
    expect(await answers(DESK)).toEqual(hereAt("Gi0/3"));
    // The same cable to a switch leads on.
    await expectOk(owner.put(`hosts/${far.id}`, { id: far.id, name, hidden: false, tags: [], device_type: "Switch" }));
    tick();
    expect(await answers(DESK)).toEqual(elsewhere("Gi0/3"));
  });

  test("leaves a station on the port of the access point that reports it: one location, no conflict", async () => {
    const ap = { name: "ap-1", address: "10.0.0.5", mac: DEVICE };
    const system = { sysDescr: new TextEncoder().encode("Acme Access Point 9"), sysObjectID: "1.3.6.1.4.1.99999.2" };
    const uplink: HeardLldp = { chassis: ACCESS.mac, port: "Gi0/3", name: "acc-1", enabled: "20" };
    const onAir = { 1: { lldp: [uplink], macs: ["00:1b:21:00:07:01"] }, 2: { macs: [DESK] } };
    const device = readSwitch({ ...ap, ports: onAir, system, portCount: 2, enabled: "30" });
    probes.devices.set(ap.address, { device, community: "public" });
    const reported: HeardLldp = { chassis: DEVICE, port: "Gi0/1", name: "ap-1", enabled: "30" };
    await scan({ 3: { macs: [DEVICE, DESK], lldp: [reported] } }, { "10.0.0.5": DEVICE });
    await rescan(ACCESS.address, ap.address);
    const stations = await list("stations?limit=0");
    expect(stations.filter(({ mac_address }) => mac_address === DESK).map((each) => each.switch.name)).toEqual([
      "ap-1",
    ]);
    // The access point itself is at the switch.
    expect(stations.filter(({ mac_address }) => mac_address === DEVICE).map((each) => each.switch.name)).toEqual([
      "acc-1",
    ]);
    expect((await list("conflicts?limit=0")).filter(({ type }) => type === "Mac")).toEqual([]);
    const { candidates } = (await owner.get(`locate?mac=${DESK}`)).data;
    expect(candidates.map((each: JsonRecord) => `${each.switch.name} ${each.port.name}`)).toEqual(["ap-1 Gi0/2"]);
  });
});

describe("a desk behind a phone", () => {
  const withPhone = (macs: readonly string[]) => ({
    macs: [DEVICE, ...macs],
    lldp: [{ chassis: DEVICE, enabled: "24" }],
  });

  test("is highlighted when it moves to another phone's port", async () => {
    await scan({ 3: withPhone([DESK]), 4: {} });
    await scan({ 3: withPhone([]), 4: { macs: [DESK], lldp: [{ chassis: "00:1b:21:00:05:02", enabled: "24" }] } });
    const transactions = await list("transactions?limit=20&include=highlights");
    const changes = transactions.flatMap(({ highlights }) => highlights.changes as JsonRecord[]);
    const [move, ...others] = changes.filter(({ type }) => type === "StationMoved");
    expect(others).toEqual([]);
    expect([move?.mac_address, move?.from.name, move?.to.name]).toEqual([DESK, "Gi0/3", "Gi0/4"]);
  });

  test("is in conflict if its MAC address also appears behind another phone", async () => {
    await scan({ 3: withPhone([DESK]), 4: { macs: [DESK], lldp: [{ chassis: "00:1b:21:00:05:02", enabled: "24" }] } });
    const conflicts = await list("conflicts?limit=0");
    expect(conflicts.map(({ type, value }) => [type, value])).toEqual([["Mac", DESK]]);
  });
});
