// Aggregates and subinterfaces, from the rows of agents to all responses with station locations. LLDP is on the members,
// the forwarding table on the aggregate or subinterface.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { readSwitch } from "../support/reconcile/read-switch.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { newSubnet, owner, tick } = appliance;
const scan = new ScanWriter(appliance);

beforeEach(() => newSubnet({ cidr: "10.0.0.0/24" }));

const PC = "00:1b:21:00:09:01";
const OTHER = "00:1b:21:00:09:02";
type Read = Parameters<typeof readSwitch>[0];
type Ports = Read["ports"];

const mac = (device: number) => `00:1b:21:0${device}:00:10`;
const address = (device: number) => `10.0.0.${device}`;
/** Report of a device by its number, which is in its name and addresses. */
const read = (name: string, device: number, ports: Ports, fields: Partial<Read> = {}) =>
  [
    address(device),
    readSwitch({ name, address: address(device), mac: mac(device), portCount: 0, ports, ...fields }),
  ] as const;
/** LLDP announcement of a switch, as received by a port. */
const hears = (name: string, device: number, port: string) => ({
  lldp: [{ chassis: mac(device), name, port, enabled: "20" }],
});
const ethernet = (name: string, fields: Ports[number] = {}) => ({ name, ...fields });

type Reports = ReadonlyArray<readonly [address: string, device: Device]>;

/** Writes the reports in one transaction, resolves links, and returns the transactions. */
async function write(reports: Reports, isReversed: boolean): Promise<number | null> {
  const ordered = isReversed ? reports.toReversed() : reports;
  const { sequence } = await scan.devices(...ordered.map(([at, device]) => deviceAt(at, device)));
  tick();
  return sequence;
}

const list = async (path: string): Promise<JsonRecord[]> => (await owner.get(path)).data;
const stationsOf = async (macAddress: string) =>
  (await list("stations?limit=0"))
    .filter((row) => row.mac_address === macAddress)
    .map(({ switch: device, port, units, members }) => ({
      at: `${device.name} ${port.name}`,
      units: units.map((each: JsonRecord) => each.name),
      members: members.map((each: JsonRecord) => each.name),
    }));
async function locate(macAddress: string, at = ""): Promise<string | null> {
  const [first] = (await owner.get(`locate?mac=${macAddress}${at === "" ? "" : `&at=${at}`}`)).data.candidates;
  return first?.port == null ? null : `${first.switch.name} ${first.port.name} ${first.port.role}`;
}
async function movesIn(sequence: number | null): Promise<string[]> {
  const { highlights } = await expectOk(owner.get(`transactions/${sequence}?include=highlights`));
  return (highlights.changes as JsonRecord[])
    .filter(({ type }) => type === "StationMoved")
    .map(({ from, to }) => `${from.host.name} ${from.name} → ${to.host.name} ${to.name}`);
}
const conflicts = async () => (await list("conflicts?type=Mac&limit=0")).map(({ value }) => value);

interface Situation {
  readonly title: string;
  /** Reports with the PC at its first or its second place. */
  readonly site: (place: "first" | "second") => Reports;
  readonly places: readonly [first: string, second: string];
  readonly units?: readonly string[];
}

/** An aggregate of Gi0/7 and Gi0/8 as a Catalyst reports it. */
const catalyst = {
  layers: [
    [100, 7],
    [100, 8],
  ] as const,
  attached: { 7: 100, 8: 100 },
};
const portChannel = (macs: readonly string[]) => ({ name: "Po1", type: 53, macs });

const SITUATIONS: readonly Situation[] = [
  {
    title: "port channels of Catalysts, with LLDP on their members",
    places: ["acc-1 Gi0/3", "acc-2 Gi0/3"],
    site: (place) => {
      const access = (name: string, device: number, isHere: boolean, corePorts: readonly [string, string]) =>
        read(
          name,
          device,
          {
            3: ethernet("Gi0/3", { macs: isHere ? [PC] : [] }),
            7: ethernet("Gi0/7", hears("core", 9, corePorts[0])),
            8: ethernet("Gi0/8", hears("core", 9, corePorts[1])),
            100: portChannel(isHere ? [OTHER] : [PC, OTHER]),
          },
          catalyst,
        );
      const isFirst = place === "first";
      return [
        access("acc-1", 1, isFirst, ["Gi0/1", "Gi0/2"]),
        access("acc-2", 2, !isFirst, ["Gi0/3", "Gi0/4"]),
        read(
          "core",
          9,
          {
            1: ethernet("Gi0/1", hears("acc-1", 1, "Gi0/7")),
            2: ethernet("Gi0/2", hears("acc-1", 1, "Gi0/8")),
            3: ethernet("Gi0/3", hears("acc-2", 2, "Gi0/7")),
            4: ethernet("Gi0/4", hears("acc-2", 2, "Gi0/8")),
            101: { name: "Po1", type: 53, macs: isFirst ? [PC] : [] },
            102: { name: "Po2", type: 53, macs: isFirst ? [] : [PC] },
          },
          {
            layers: [
              [101, 1],
              [101, 2],
              [102, 3],
              [102, 4],
            ],
            attached: { 1: 101, 2: 101, 3: 102, 4: 102 },
          },
        ),
      ];
    },
  },
  {
    title: "aggregates of the LACP table alone, whose ports were not selected yet",
    places: ["acc-1 Gi0/3", "acc-1 Gi0/4"],
    site: (place) => [
      read(
        "acc-1",
        1,
        {
          3: ethernet("Gi0/3", { macs: place === "first" ? [PC] : [] }),
          4: ethernet("Gi0/4", { macs: place === "first" ? [] : [PC] }),
          7: ethernet("Gi0/7", hears("core", 9, "Gi0/1")),
          30: { name: "Link-Aggregate 5", type: 161, macs: [OTHER] },
        },
        { attached: { 7: 30, 3: 0, 4: 4 } },
      ),
      read(
        "core",
        9,
        { 1: ethernet("Gi0/1", hears("acc-1", 1, "Gi0/7")), 40: { name: "Aggregate", type: 161, macs: [PC] } },
        { attached: { 1: 40 } },
      ),
    ],
  },
  {
    title: "units of Juniper ports and of an aggregate",
    places: ["ex-1 ge-0/0/3", "ex-2 ge-0/0/5"],
    units: ["ge-0/0/3.0", "ge-0/0/5.0"],
    site: (place) => {
      const isFirst = place === "first";
      return [
        read("ex-1", 1, {
          503: ethernet("ge-0/0/3"),
          513: { name: "ge-0/0/3.0", type: 53, macs: isFirst ? [PC] : [] },
          547: ethernet("ge-0/0/47", hears("ex-2", 2, "ge-0/0/47")),
          557: { name: "ge-0/0/47.0", type: 53, macs: isFirst ? [OTHER] : [PC, OTHER] },
        }),
        read(
          "ex-2",
          2,
          {
            505: ethernet("ge-0/0/5"),
            515: { name: "ge-0/0/5.0", type: 53, macs: isFirst ? [] : [PC] },
            547: ethernet("ge-0/0/47", hears("ex-1", 1, "ge-0/0/47")),
            557: { name: "ge-0/0/47.0", type: 53, macs: isFirst ? [PC] : [] },
            545: ethernet("xe-0/1/0", hears("core", 9, "xe-0/0/0")),
            546: ethernet("xe-0/1/1", hears("core", 9, "xe-0/0/1")),
            600: { name: "ae0", type: 161 },
            610: { name: "ae0.0", type: 53, macs: [OTHER] },
            655: { name: "xe-0/1/0.0", type: 53 },
            656: { name: "xe-0/1/1.0", type: 53 },
          },
          {
            layers: [
              [610, 655],
              [610, 656],
              [655, 545],
              [656, 546],
            ],
          },
        ),
        read(
          "core",
          9,
          {
            501: ethernet("xe-0/0/0", hears("ex-2", 2, "xe-0/1/0")),
            502: ethernet("xe-0/0/1", hears("ex-2", 2, "xe-0/1/1")),
            600: { name: "ae0", type: 161 },
            610: { name: "ae0.0", type: 53, macs: [PC] },
          },
          {
            layers: [
              [600, 501],
              [600, 502],
            ],
          },
        ),
      ];
    },
  },
  {
    title: "the bond of a Linux bridge, which only names and MAC addresses show",
    places: ["acc-1 Gi0/3", "acc-1 Gi0/4"],
    site: (place) => [
      read("acc-1", 1, {
        3: ethernet("Gi0/3", { macs: place === "first" ? [PC] : [] }),
        4: ethernet("Gi0/4", { macs: place === "first" ? [] : [PC] }),
        7: ethernet("Gi0/7", hears("hv", 5, "eth0")),
        8: ethernet("Gi0/8", hears("hv", 5, "eth1")),
      }),
      read("hv", 5, {
        2: ethernet("eth0", { mac: mac(5), ...hears("acc-1", 1, "Gi0/7") }),
        3: ethernet("eth1", { mac: mac(5), ...hears("acc-1", 1, "Gi0/8") }),
        4: ethernet("eth2", { mac: "00:1b:21:05:00:77" }),
        5: ethernet("bond0", { mac: mac(5), macs: [PC, OTHER] }),
        6: ethernet("br0", { mac: mac(5) }),
        7: ethernet("bond0.20", { mac: mac(5) }),
      }),
    ],
  },
];

describe.each(SITUATIONS)("$title", ({ site, places, units = [] }) => {
  test.each([
    ["in order", false],
    ["in the opposite order", true],
  ])("a station is at its port only, and moves from port to port: %s", async (_title, isReversed) => {
    await write(site("first"), isReversed);
    const first = await appliance.clock.text();
    expect((await stationsOf(PC)).map(({ at }) => at)).toEqual([places[0]]);
    expect((await stationsOf(PC)).flatMap((each) => each.units)).toEqual(units.slice(0, 1));
    expect(await locate(PC)).toBe(`${places[0]} Edge`);
    expect(await conflicts()).toEqual([]);
    tick();
    const moved = await write(site("second"), isReversed);
    expect(await movesIn(moved)).toEqual([`${places[0]} → ${places[1]}`]);
    expect((await stationsOf(PC)).map(({ at }) => at)).toEqual([places[1]]);
    expect(await locate(PC)).toBe(`${places[1]} Edge`);
    expect(await locate(PC, first)).toBe(`${places[0]} Edge`);
    expect(await conflicts()).toEqual([]);
  });
});

describe("lag_id and parent_id", () => {
  const [, switchReport] = read(
    "acc-1",
    1,
    { 7: ethernet("Gi0/7"), 8: ethernet("Gi0/8"), 100: portChannel([]), 101: { name: "Po1.20", type: 135 } },
    catalyst,
  );
  const entries = async (at = "") =>
    new Map((await list(`if-entries?limit=0${at}`)).map((entry) => [entry.if_name as string, entry]));
  const write = (device: Device) => scan.devices(deviceAt(address(1), device));

  test("are read, versioned, filtered and exported, and end with the interface that they refer to", async () => {
    await write(switchReport);
    const before = appliance.clock.text();
    const found = await entries();
    const aggregate = found.get("Po1")?.id;
    expect(found.get("Gi0/7")).toMatchObject({ lag_id: aggregate });
    expect(found.get("Gi0/7")).not.toHaveProperty("parent_id");
    expect(found.get("Po1.20")).toMatchObject({ parent_id: aggregate });
    const filtered = async (filter: string) =>
      (await list(`if-entries?filter=${encodeURIComponent(filter)}`)).map(({ if_name }) => if_name);
    expect(await filtered('lag.if_name = "Po1"')).toEqual(["Gi0/7", "Gi0/8"]);
    expect(await filtered(`parent_id = "${aggregate}"`)).toEqual(["Po1.20"]);
    const { text } = await owner.get("if-entries/export/csv");
    expect(text.split("\n")[0]).toContain("lag_id,lag_name,parent_id,parent_name");
    expect(text).toContain(`${aggregate},acc-1 Po1`);
    tick();
    const rest = readSwitch({
      name: "acc-1",
      address: address(1),
      mac: mac(1),
      portCount: 0,
      ports: { 7: ethernet("Gi0/7") },
    });
    await write(rest);
    expect((await entries()).get("Gi0/7")).not.toHaveProperty("lag_id");
    expect((await entries(`&at=${before}`)).get("Gi0/7")).toMatchObject({ lag_id: aggregate });
  });

  test("stay as a user set them, with the scan's value next to them", async () => {
    await write(switchReport);
    const found = await entries();
    const [port, aggregate] = [found.get("Gi0/7") as JsonRecord, found.get("Po1") as JsonRecord];
    const { id, host_id, if_index, if_descr } = port;
    await expectOk(owner.put(`if-entries/${id}`, { id, host_id, if_index, if_descr, lag_id: null }));
    tick();
    await write(
      readSwitch({
        name: "acc-1",
        address: address(1),
        mac: mac(1),
        portCount: 1,
        ports: { 7: ethernet("Gi0/7"), 8: ethernet("Gi0/8"), 100: portChannel([]), 101: { name: "Po1.20", type: 135 } },
        ...catalyst,
      }),
    );
    const kept = (await entries()).get("Gi0/7") as JsonRecord;
    expect(kept).not.toHaveProperty("lag_id");
    expect(kept.discovered).toEqual({ lag_id: aggregate.id });
  });
});

test("an aggregate between two switches is one link of the map, which names its members", async () => {
  const side = (name: string, device: number, far: string, farDevice: number) =>
    read(
      name,
      device,
      {
        7: ethernet("Gi0/7", hears(far, farDevice, "Gi0/7")),
        8: ethernet("Gi0/8", hears(far, farDevice, "Gi0/8")),
        9: ethernet("Gi0/9", hears(far, farDevice, "Gi0/9")),
        100: portChannel([]),
      },
      catalyst,
    );
  for (const [name, device] of [
    ["acc-1", 1],
    ["core", 9],
  ] as const)
    appliance.probes.devices.set(address(device), {
      device: side(name, device, name === "core" ? "acc-1" : "core", name === "core" ? 1 : 9)[1],
      community: "public",
    });
  for (const device of [1, 9]) appliance.probes.alive.set(address(device), {});
  await appliance.communityOf("public");
  await appliance.runScan({ targets: [address(1), address(9)] });
  const { links, nodes } = (await owner.get(`topology?network_id=${appliance.first.networkId}`)).data;
  const portsOf = ({ ends }: JsonRecord) => ends.map(({ port }: JsonRecord) => port).join("–");
  expect(nodes).toHaveLength(2);
  expect(links.map(portsOf).sort()).toEqual(["Gi0/9–Gi0/9", "Po1–Po1"]);
  const bundle = links.find((link: JsonRecord) => portsOf(link) === "Po1–Po1");
  expect(bundle).toMatchObject({ certainty: "Interfaces", parallel: 2 });
  expect(bundle.members.map(portsOf)).toEqual(["Gi0/7–Gi0/7", "Gi0/8–Gi0/8"]);
  expect(bundle.evidence).toHaveLength(4);
  const { groups, logical } = (await owner.get(`hosts/${nodes[0].id}/faceplate`)).data;
  const port = groups.flatMap((group: JsonRecord) => group.ports).find(({ name }: JsonRecord) => name === "Gi0/7");
  expect(port).toMatchObject({ lag: { name: "Po1" }, members: [] });
  expect(logical).toMatchObject([{ name: "Po1", members: [{ name: "Gi0/7" }, { name: "Gi0/8" }] }]);
  expect(logical[0].neighbor).toMatchObject({ role: "Network", host: { id: nodes[1].id } });
});
