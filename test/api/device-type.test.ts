// Host types: derived by scans with their source, kept once a user sets them, filtered, exported, and read at past
// timestamps.

import { beforeEach, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { readSwitch } from "../support/reconcile/read-switch.ts";
import { deviceWith, hex, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const { clock, communityOf, first, newHost, newSubnet, owner, probes, runScan, tick, watchWrites } = applianceForEach();

const SWITCH = "10.0.0.1";
const switchMac = "00:1b:21:00:00:10";

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/24" });
  await communityOf("public");
});

/** Scans one or more addresses; those without a device respond to ping. */
async function scan(...targets: string[]): Promise<void> {
  for (const target of targets) if (!probes.alive.has(target)) probes.alive.set(target, {});
  tick();
  await runScan({ targets });
  tick();
}

function serve(address: string, device: ReturnType<typeof deviceWith>): void {
  probes.devices.set(address, { device, community: "public" });
}

const hostAt = async (address: string): Promise<JsonRecord> => {
  const hosts = (await owner.get("hosts?limit=0")).data as JsonRecord[];
  return hosts.find(({ ip_addresses: held }) =>
    held.some((each: JsonRecord) => each.ip_address === address),
  ) as JsonRecord;
};
const typeAt = async (address: string) => {
  const { device_type, device_type_source } = await hostAt(address);
  return [device_type, device_type_source];
};
const put = (host: JsonRecord, fields: JsonRecord) =>
  expectOk(owner.put(`hosts/${host.id}`, { id: host.id, name: host.name, hidden: false, tags: [], ...fields }));

test("a device's report gives its type once; a changed report changes it, in a version", async () => {
  serve(SWITCH, readSwitch({ name: "acc-1", address: SWITCH, mac: switchMac, ports: {} }));
  await scan(SWITCH);
  expect(await typeAt(SWITCH)).toEqual(["Switch", "Description"]);
  const before = clock.text();
  const expectNothingWritten = watchWrites();
  await scan(SWITCH);
  expectNothingWritten();

  serve(SWITCH, readSwitch({ name: "acc-1", address: SWITCH, mac: switchMac, ports: {}, enabled: "28" }));
  await scan(SWITCH);
  expect(await typeAt(SWITCH)).toEqual(["Layer3Switch", "Description"]);
  const { id } = await hostAt(SWITCH);
  expect((await owner.get(`hosts/${id}?at=${before}`)).data).toMatchObject({ device_type: "Switch" });
});

test("a device without evidence is Unknown, and becomes Unknown when its evidence disappears", async () => {
  const box = (sysDescr: string) =>
    deviceWith({
      system: { scalars: { sysName: utf8("box"), sysDescr: utf8(sysDescr), sysObjectID: "1.3.6.1.4.1.99999.7" } },
    });
  serve(SWITCH, box("Acme router"));
  await scan(SWITCH);
  expect(await typeAt(SWITCH)).toEqual(["Router", "Description"]);
  serve(SWITCH, box("Acme box"));
  await scan(SWITCH);
  expect(await typeAt(SWITCH)).toEqual(["Unknown", null]);
  const expectNothingWritten = watchWrites();
  await scan(SWITCH);
  expectNothingWritten();
});

test("a manually set type is kept, with the scanned type next to it, and can be any type", async () => {
  serve(SWITCH, readSwitch({ name: "acc-1", address: SWITCH, mac: switchMac, ports: {} }));
  await scan(SWITCH);
  const host = await put(await hostAt(SWITCH), { device_type: "Firewall", device_type_source: "Vendor" });
  expect(host).toMatchObject({ device_type: "Firewall", device_type_source: "User" });
  await scan(SWITCH);
  expect(await hostAt(SWITCH)).toMatchObject({
    device_type: "Firewall",
    device_type_source: "User",
    discovered: { device_type: "Switch", device_type_source: "Description" },
  });
  const expectNothingWritten = watchWrites();
  await scan(SWITCH);
  expectNothingWritten();
  expect(
    await owner.put(`hosts/${host.id}`, {
      id: host.id,
      name: "acc-1",
      hidden: false,
      tags: [],
      device_type: "Toaster",
    }),
  ).toMatchObject({ status: 400 });
});

test("a host entered manually without a type gets the scanned type; an entered type is kept", async () => {
  const entered = (name: string, last: number, fields: JsonRecord = {}) =>
    newHost({ name, ip_addresses: [{ ip_address: `10.0.0.${last}` }], ...fields });
  expect(await entered("acc-1", 1)).toMatchObject({ device_type: "Unknown", device_type_source: null });
  expect(await entered("acc-2", 2, { device_type: "Server" })).toMatchObject({ device_type_source: "User" });
  for (const last of [1, 2]) {
    const address = `10.0.0.${last}`;
    serve(address, readSwitch({ name: `acc-${last}`, address, mac: `00:1b:21:00:0${last}:10`, ports: {} }));
  }
  await scan("10.0.0.1", "10.0.0.2");
  expect(await typeAt("10.0.0.1")).toEqual(["Switch", "Description"]);
  expect(await typeAt("10.0.0.2")).toEqual(["Server", "User"]);
});

test("types are filtered, exported, set in bulk and restored", async () => {
  serve(SWITCH, readSwitch({ name: "acc-1", address: SWITCH, mac: switchMac, ports: {} }));
  await scan(SWITCH);
  const other = await newHost({ name: "desk" });
  const named = async (filter: string) =>
    ((await owner.get(`hosts?filter=${encodeURIComponent(filter)}`)).data as JsonRecord[]).map(({ name }) => name);
  expect(await named("device_type = Switch")).toEqual(["acc-1"]);
  expect(await named("device_type = Unknown")).toEqual(["desk"]);
  expect(await named('device_type_source = "Description"')).toEqual(["acc-1"]);
  const { text } = await owner.get("hosts/export/csv?filter=device_type = Switch");
  expect(csvRecords(text)).toMatchObject([{ name: "acc-1", device_type: "Switch", device_type_source: "Description" }]);

  const before = clock.text();
  tick();
  await expectOk(owner.post("hosts/bulk-update", { ids: [other.id], set: { device_type: "Phone" } }));
  expect((await owner.get(`hosts/${other.id}`)).data).toMatchObject({
    device_type: "Phone",
    device_type_source: "User",
  });
  tick();
  await expectOk(owner.post(`hosts/${other.id}/restore`, { at: before }));
  expect((await owner.get(`hosts/${other.id}`)).data).toMatchObject({
    device_type: "Unknown",
    device_type_source: null,
  });
});

test("a host that only answers ping has the type that its neighbors announce, and a rescan writes nothing", async () => {
  const server = "00:1b:21:00:02:01";
  const phone = "00:1b:21:00:03:01";
  const description = "Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP x86_64";
  probes.alive.set("10.0.0.2", { mac_address: server });
  probes.alive.set("10.0.0.3", { mac_address: phone });
  const lldp = {
    server: { chassis: server, port: "eno1", name: "server-1", description, enabled: "28", supported: "39" },
    phone: { chassis: phone, name: "SEP001", enabled: "24", supported: "24" },
  };
  serve(
    SWITCH,
    readSwitch({
      name: "acc-1",
      address: SWITCH,
      mac: switchMac,
      ports: { 2: { lldp: [lldp.server], macs: [server] }, 3: { lldp: [lldp.phone], macs: [phone] } },
    }),
  );
  await scan(SWITCH, "10.0.0.2", "10.0.0.3");
  expect(await typeAt("10.0.0.2")).toEqual(["Server", "Neighbors"]);
  expect(await typeAt("10.0.0.3")).toEqual(["Phone", "Neighbors"]);
  const expectNothingWritten = watchWrites();
  await scan(SWITCH, "10.0.0.2", "10.0.0.3");
  expectNothingWritten();

  // A manually set type stays, regardless of neighbors' reports.
  await put(await hostAt("10.0.0.3"), { device_type: "Camera" });
  await scan(SWITCH, "10.0.0.2", "10.0.0.3");
  expect(await hostAt("10.0.0.3")).toMatchObject({
    device_type: "Camera",
    discovered: { device_type: "Phone", device_type_source: "Neighbors" },
  });
  const expectNoMore = watchWrites();
  await scan(SWITCH, "10.0.0.2", "10.0.0.3");
  expectNoMore();

  // The host's own report outranks its neighbors.
  serve(
    "10.0.0.2",
    deviceWith({
      system: {
        scalars: { sysName: utf8("server-1"), sysDescr: utf8("FreeNAS-11.3"), sysObjectID: "1.3.6.1.4.1.50536.3.1" },
      },
      if_table: tableOf({ 1: { ifDescr: utf8("eno1"), ifType: 6, ifOperStatus: 1, ifPhysAddress: hex(server) } }),
    }),
  );
  await scan(SWITCH, "10.0.0.2", "10.0.0.3");
  expect(await typeAt("10.0.0.2")).toEqual(["Storage", "Description"]);
});

test("open print ports and the vendor of a MAC address give a type, and a scan without ports does not take it", async () => {
  const open = [9100, 631].map((number) => ({ number, protocol: "Tcp" as const, service: null }));
  probes.alive.set("10.0.0.4", { mac_address: "00:1b:21:00:04:01", ports: { asked: [631, 9100], open } });
  probes.alive.set("10.0.0.5", { mac_address: "ac:cc:8e:00:05:01" });
  await scan("10.0.0.4", "10.0.0.5");
  expect(await typeAt("10.0.0.4")).toEqual(["Printer", "OpenPorts"]);
  expect(await typeAt("10.0.0.5")).toEqual(["Camera", "Vendor"]);
  probes.alive.set("10.0.0.4", { mac_address: "00:1b:21:00:04:01" });
  const expectNothingWritten = watchWrites();
  await scan("10.0.0.4", "10.0.0.5");
  expectNothingWritten();
  expect(await typeAt("10.0.0.4")).toEqual(["Printer", "OpenPorts"]);
  expect(first.networkId).toBe((await hostAt("10.0.0.4")).network_id);
});
