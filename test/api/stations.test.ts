// Stations through the API: unknown MAC addresses, now and in the past, as a list and as a table.
// test/store/stations.test.ts compares their ports with plain code.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

const { clock, first, newHost, newNetwork, newStranger, newSubnet, newViewer, owner, tick } = applianceForEach();

const listed = async (query = "", by: Client = owner) => (await by.get(`stations?limit=0&${query}`)).data as Wire[];
const table = async (query = "", by: Client = owner) => csvRecords((await by.get(`stations/export/csv?${query}`)).text);

const PRINTER = "00:1b:21:00:00:02";
const INTRUDER = "b8:27:eb:00:00:07";
const PHONE = "fa:27:eb:00:00:08";

/** A port of a switch with these behind it. */
const portWith = async (switchId: string, ifIndex: number, fdb_macs: string[], network_id: string = first.networkId) =>
  made(
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

async function aSwitch(): Promise<{ readonly id: string; readonly before: string }> {
  await newSubnet({ cidr: "10.98.0.0/24" });
  await newHost({ name: "=printer", ip_addresses: [{ ip_address: "10.98.0.2", mac_address: PRINTER }] });
  const { id } = await newHost({ name: "access-1" });
  await portWith(id, 1, [PRINTER]);
  tick();
  const before = clock.text();
  tick();
  await portWith(id, 2, [INTRUDER, PHONE]);
  await portWith(id, 48, [PRINTER, INTRUDER, PHONE, "00:1b:21:00:00:03", "00:1b:21:00:00:04"]);
  tick();
  return { id, before };
}

test("a station on an edge port without a host is listed with switch, port, vendor and first sighting", async () => {
  const { id, before } = await aSwitch();
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
  expect(await listed(`filter=${encodeURIComponent("type = LocallyAdministered")}`)).toEqual([phone as Wire]);
});

test("a table has the same rows, with several hosts in one cell and formulas escaped", async () => {
  const { before } = await aSwitch();
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
  await portWith(id, 1, [INTRUDER], far);
  // Known there, but not here.
  await newHost({
    network_id: far,
    name: "secret",
    ip_addresses: [{ ip_address: "10.97.0.7", mac_address: INTRUDER }],
  });
  const { id: own } = await aSwitch();
  const { client: reader } = await newViewer();
  expect((await listed(`network_id=${far}`)).map(({ hosts }) => hosts[0].name)).toEqual(["secret"]);
  expect((await listed("", reader)).map(({ mac_address }) => mac_address)).toEqual([INTRUDER, PHONE, PRINTER]);
  expect(await listed("known=false", reader)).toMatchObject([{ switch: { id: own } }, { switch: { id: own } }]);
  for (const query of [`network_id=${far}`, `host_id=${id}`]) {
    expect(await listed(query, reader)).toEqual([]);
    expect(await table(query, reader)).toEqual([]);
  }
  expect(await listed("", (await newStranger()).client)).toEqual([]);
});
