// Stations through the API: unknown MAC addresses, now and in the past, as a list and as a table.
// test/store/stations.test.ts compares their ports with a reference implementation.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

const { clock, first, newHost, newNetwork, newStranger, newSubnet, newViewer, owner, tick } = applianceForEach();

const listed = async (query = "", caller: Client = owner) =>
  (await caller.get(`stations?limit=0&${query}`)).data as JsonRecord[];
const table = async (query = "", caller: Client = owner) =>
  csvRecords((await caller.get(`stations/export/csv?${query}`)).text);

const PRINTER = "00:1b:21:00:00:02";
const INTRUDER = "b8:27:eb:00:00:07";
const PHONE = "fa:27:eb:00:00:08";

/** A switch port with these MAC addresses in its forwarding table. */
const newPort = async (switchId: string, ifIndex: number, fdb_macs: string[], network_id: string = first.networkId) =>
  expectOk(
    owner.post("if-entries", {
      host_id: switchId,
      network_id,
      if_index: ifIndex,
      if_descr: `GigabitEthernet1/0/${ifIndex}`,
      if_name: `Gi1/0/${ifIndex}`,
      if_type: 6,
      admin_status: "Up",
      oper_status: "Up",
      fdb_macs,
    }),
  );

async function newSwitch(): Promise<{ readonly id: string; readonly before: string }> {
  await newSubnet({ cidr: "10.98.0.0/24" });
  await newHost({ name: "=printer", ip_addresses: [{ ip_address: "10.98.0.2", mac_address: PRINTER }] });
  const { id } = await newHost({ name: "access-1" });
  await newPort(id, 1, [PRINTER]);
  tick();
  const before = clock.text();
  tick();
  await newPort(id, 2, [INTRUDER, PHONE]);
  await newPort(id, 48, [PRINTER, INTRUDER, PHONE, "00:1b:21:00:00:03", "00:1b:21:00:00:04"]);
  tick();
  return { id, before };
}

test("a station on an edge port without a host is listed with switch, port, vendor and first sighting", async () => {
  const { id, before } = await newSwitch();
  const [intruder, phone, ...others] = await listed("known=false");
  expect(others).toEqual([]);
  expect(intruder).toMatchObject({
    mac_address: INTRUDER,
    vendor: expect.stringContaining("Raspberry Pi"),
    type: "Universal",
    switch: { id, name: "access-1" },
    port: { name: "Gi1/0/2" },
    hosts: [],
  });
  expect(intruder?.since > before).toBe(true);
  expect(phone).toMatchObject({ mac_address: PHONE, vendor: null, type: "LocallyAdministered" });
  expect(await listed("known=true")).toMatchObject([
    { mac_address: PRINTER, hosts: [{ name: "=printer", ip_addresses: ["10.98.0.2"] }] },
  ]);
  // Newest first, and absent before its arrival.
  expect((await listed()).map(({ mac_address }) => mac_address)).toEqual([INTRUDER, PHONE, PRINTER]);
  expect((await listed(`at=${before}`)).map(({ mac_address }) => mac_address)).toEqual([PRINTER]);
  expect((await listed(`host_id=${id}`)).length).toBe(3);
  expect(await listed(`filter=${encodeURIComponent("type = LocallyAdministered")}`)).toEqual([phone as JsonRecord]);
});

test("a table has the same rows, with several hosts in one cell and formulas escaped", async () => {
  const { before } = await newSwitch();
  await newHost({ name: "twin", ip_addresses: [{ ip_address: "10.98.0.9", mac_address: PRINTER }] });
  tick();
  for (const query of ["", "known=false", "known=true", `at=${before}`, "filter=vendor:*"])
    expect((await table(query)).map((row) => [row.mac_address, row.port_id, row.since])).toEqual(
      (await listed(query)).map(({ mac_address, port, since }) => [mac_address, port.id, since]),
    );
  const { data: network } = await owner.get(`networks/${first.networkId}`);
  expect(await table("known=true")).toMatchObject([
    {
      host_names: "'=printer;twin",
      ip_addresses: "10.98.0.2;10.98.0.9",
      switch_name: "access-1",
      port_name: "Gi1/0/1",
      network_name: network.name,
    },
  ]);
  const { headers } = await owner.get(`stations/export/csv?at=${before}`);
  expect(headers.get("content-disposition")).toBe(`attachment; filename="stations-${before.replaceAll(":", "-")}.csv"`);
  for (const query of ["filter=vendr:*", "known=maybe", "limit=1"])
    expect(await owner.get(`stations/export/csv?${query}`)).toMatchObject({ status: 400 });
});

test("stations and their hosts out of reach are invisible", async () => {
  const { id: far } = await newNetwork();
  await newSubnet({ network_id: far, cidr: "10.97.0.0/24" });
  const { id } = await newHost({ network_id: far, name: "far-switch" });
  await newPort(id, 1, [INTRUDER], far);
  // Known there, but not here.
  await newHost({
    network_id: far,
    name: "secret",
    ip_addresses: [{ ip_address: "10.97.0.7", mac_address: INTRUDER }],
  });
  const { id: ownSwitch } = await newSwitch();
  const { client: reader } = await newViewer();
  expect((await listed(`network_id=${far}`)).map(({ hosts }) => hosts[0].name)).toEqual(["secret"]);
  expect((await listed("", reader)).map(({ mac_address }) => mac_address)).toEqual([INTRUDER, PHONE, PRINTER]);
  expect(await listed("known=false", reader)).toMatchObject([
    { switch: { id: ownSwitch } },
    { switch: { id: ownSwitch } },
  ]);
  for (const query of [`network_id=${far}`, `host_id=${id}`]) {
    expect(await listed(query, reader)).toEqual([]);
    expect(await table(query, reader)).toEqual([]);
  }
  expect(await listed("", (await newStranger()).client)).toEqual([]);
});
