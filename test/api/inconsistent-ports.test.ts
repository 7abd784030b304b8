// Ports in inconsistent networks: aggregates that a user entered, loops and tables that contradict each other,
// entries on members, and neighbors of every kind at one port. From agents' rows to every response.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { readSwitch } from "../support/reconcile/read-switch.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, seenAt } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { newHost, newSubnet, owner, tick } = appliance;
const scan = new ScanWriter(appliance);

beforeEach(() => newSubnet({ cidr: "10.0.0.0/24" }));

const PC = "00:1b:21:00:09:01";
const OTHER = "00:1b:21:00:09:02";
const NEIGHBOR = "00:1b:21:00:05:01";
type Read = Parameters<typeof readSwitch>[0];
type Ports = Read["ports"];

const list = async (path: string): Promise<JsonRecord[]> => (await owner.get(path)).data;
const macOf = (device: number) => `00:1b:21:0${device}:00:10`;

/** Writes a report of a switch. */
async function write(ports: Ports, fields: Partial<Read> = {}, name = "acc-1", number = 1): Promise<number | null> {
  const at = `10.0.0.${number}`;
  const device: Device = readSwitch({ name, address: at, mac: macOf(number), portCount: 0, ports, ...fields });
  const { sequence } = await scan.devices(deviceAt(at, device));
  tick();
  return sequence;
}

/** Place of a station according to each response. */
async function answers(macAddress: string): Promise<Record<string, unknown>> {
  const placesIn = (rows: JsonRecord[]) =>
    rows
      .filter((row) => row.mac_address === macAddress)
      .map(({ switch: device, port }) => `${device.name} ${port.name}`);
  const [located] = (await owner.get(`locate?mac=${macAddress}`)).data.candidates;
  return {
    stations: placesIn(await list("stations?limit=0")),
    unknown: placesIn(await list("stations?limit=0&known=false")),
    located: located?.port == null ? null : `${located.switch.name} ${located.port.name} ${located.port.role}`,
    conflicts: (await list("conflicts?type=Mac")).map(({ value }) => value),
  };
}
const at = (place: string) => ({ stations: [place], unknown: [place], located: `${place} Edge`, conflicts: [] });
const beyond = (place: string) => ({ stations: [], unknown: [], located: `${place} Uplink`, conflicts: [] });
const entry = async (name: string) => (await list(`if-entries?filter=if_name = "${name}"`))[0] as JsonRecord;
const portChannel = (macs: readonly string[]) => ({ name: "Po1", type: 161, macs });
const bundle = { attached: { 7: 100, 8: 100 } };

describe("an aggregate", () => {
  test("is one port although the table has the station on a member too", async () => {
    await write({ 7: { name: "Gi0/7", macs: [PC] }, 8: { name: "Gi0/8" }, 100: portChannel([PC, OTHER]) }, bundle);
    expect(await answers(PC)).toEqual(at("acc-1 Po1"));
    const [station] = (await list("stations?limit=0")).filter((row) => row.mac_address === PC);
    expect(station?.members.map(({ name }: JsonRecord) => name)).toEqual(["Gi0/7", "Gi0/8"]);
  });

  test("of a server is its port although only one member hears the server", async () => {
    const lldp = [{ chassis: NEIGHBOR, name: "srv-1", enabled: "01" }];
    await write({ 7: { name: "Gi0/7", lldp }, 8: { name: "Gi0/8" }, 100: portChannel([NEIGHBOR, PC]) }, bundle);
    expect(await answers(PC)).toEqual(at("acc-1 Po1"));
  });

  test("leads on if a user entered the cable at one of its members", async () => {
    await write({ 7: { name: "Gi0/7" }, 8: { name: "Gi0/8" }, 100: portChannel([PC]) }, bundle);
    const far = await newHost({ name: "core", device_type: "Switch" });
    const { id, if_index, if_descr } = await entry("Gi0/8");
    await expectOk(owner.put(`if-entries/${id}`, { if_index, if_descr, neighbor: { type: "Host", id: far.id } }));
    tick();
    expect(await answers(PC)).toEqual(beyond("acc-1 Po1"));
  });

  test("that a user entered counts like one that an agent reports", async () => {
    const lldp = [{ chassis: NEIGHBOR, name: "core", enabled: "28" }];
    await write({ 7: { name: "Gi0/7", lldp }, 60: { name: "bundle-7", type: 6, macs: [PC] } });
    expect(await answers(PC)).toEqual(at("acc-1 bundle-7"));
    const { id, if_index, if_descr } = await entry("Gi0/7");
    const { id: lag_id } = await entry("bundle-7");
    await expectOk(owner.put(`if-entries/${id}`, { if_index, if_descr, lag_id }));
    tick();
    expect(await answers(PC)).toEqual(beyond("acc-1 bundle-7"));
  });

  test("does not loop if its tables do: a station has one port, and every response is complete", async () => {
    await write(
      { 7: { name: "Gi0/7", macs: [PC] }, 8: { name: "Gi0/8" }, 100: portChannel([OTHER]) },
      {
        layers: [
          [7, 100],
          [100, 7],
          [8, 8],
          [100, 8],
        ],
      },
    );
    const { stations, conflicts } = await answers(PC);
    expect([(stations as string[]).length, conflicts]).toEqual([1, []]);
    expect((await owner.get(`topology?network_id=${appliance.first.networkId}`)).status).toBe(200);
    const [host] = await list("hosts?filter=name = acc-1");
    expect((await owner.get(`hosts/${host?.id}/faceplate`)).status).toBe(200);
  });

  test("that is dissolved leaves its station at the member, as a move from the aggregate", async () => {
    await write({ 7: { name: "Gi0/7" }, 8: { name: "Gi0/8" }, 100: portChannel([PC]) }, bundle);
    await write({ 7: { name: "Gi0/7", macs: [PC] }, 8: { name: "Gi0/8" } });
    expect(await answers(PC)).toEqual(at("acc-1 Gi0/7"));
  });
});

describe("a unit", () => {
  test("of a unit is at the port of both", async () => {
    await write(
      { 3: { name: "eth3" }, 30: { name: "eth3.100", type: 135 }, 31: { name: "eth3.100.20", type: 135, macs: [PC] } },
      {
        layers: [
          [30, 3],
          [31, 30],
        ],
      },
    );
    expect(await answers(PC)).toEqual(at("acc-1 eth3"));
    const [station] = await list("stations?limit=0");
    expect(station?.units.map(({ name }: JsonRecord) => name)).toEqual(["eth3.100.20"]);
  });

  test("with the station in several units is one place, and no conflict", async () => {
    await write({
      503: { name: "ge-0/0/3" },
      513: { name: "ge-0/0/3.0", type: 53, macs: [PC] },
      514: { name: "ge-0/0/3.20", type: 53, macs: [PC] },
    });
    const found = await answers(PC);
    expect({ ...found, stations: [...new Set(found.stations as string[])] }).toMatchObject({
      stations: ["acc-1 ge-0/0/3"],
      located: "acc-1 ge-0/0/3 Edge",
      conflicts: [],
    });
  });
});

describe("a port", () => {
  const announcing = (...enabled: readonly string[]) =>
    enabled.map((capabilities, index) => ({ chassis: `00:1b:21:00:05:0${index + 1}`, enabled: capabilities }));
  const MACS = [NEIGHBOR, PC];

  test.each([
    ["a phone that routes", announcing("2c"), true],
    ["a cable modem", announcing("40"), true],
    ["a repeater", announcing("02"), true],
    ["a phone, and a computer with a bridge for its containers", announcing("24", "21"), true],
    ["an access point, and a router behind it", announcing("10", "08"), false],
  ])("with %s", async (_title, lldp, isEdge) => {
    await write({ 3: { name: "Gi0/3", macs: MACS, lldp } });
    const { located } = await answers(PC);
    expect(located).toBe(`acc-1 Gi0/3 ${isEdge ? "Edge" : "Uplink"}`);
  });

  test("leads on to a bridge that is in no forwarding table, and whose type a user entered as a switch", async () => {
    await write({ 3: { name: "Gi0/3", macs: MACS, lldp: [{ chassis: NEIGHBOR, name: "box", enabled: "01" }] } });
    expect(await answers(PC)).toEqual(at("acc-1 Gi0/3"));
    await scan.addresses(seenAt("10.0.0.5", { mac_address: NEIGHBOR }));
    const [host] = await list('hosts?filter=ip_addresses.ip_address = "10.0.0.5"');
    const { id, name } = host as JsonRecord;
    await expectOk(owner.put(`hosts/${id}`, { id, name, hidden: false, tags: [], device_type: "Switch" }));
    await write({ 3: { name: "Gi0/3", macs: MACS, lldp: [{ chassis: NEIGHBOR, name: "box", enabled: "01" }] } });
    await appliance.tick();
    expect((await answers(PC)).located).toBe("acc-1 Gi0/3 Uplink");
  });
});
