// GET /api/v1/vendors/{mac} through the API, and vendors in search results.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid } from "../support/appliance/factories.ts";

const { owner, newHost, newIfEntry, newSubnet, transactionCount } = applianceForEach();

test.each(["00:1b:21:aa:bb:cc", "00-1B-21-AA-BB-CC", "001b.21aa.bbcc", "001b21aabbcc", "0:1b:21:aa:bb:cc"])(
  "the vendor of %s is found, in any notation",
  async (mac) => {
    const before = transactionCount();
    expect((await owner.get(`vendors/${encodeURIComponent(mac)}`)).data).toEqual({
      mac_address: "00:1b:21:aa:bb:cc",
      prefix: "00:1b:21",
      vendor: "Intel Corporate",
      type: "Universal",
      known_use: null,
    });
    expect(transactionCount()).toBe(before);
  },
);

test("an OUI is sufficient; unregistered, locally administered and shared addresses are reported as such", async () => {
  const lookUp = async (mac: string) => {
    const { prefix, vendor, type, known_use } = (await owner.get(`vendors/${mac}`)).data;
    return [prefix, vendor, type, known_use];
  };
  expect(await lookUp("001b21")).toEqual(["00:1b:21", "Intel Corporate", "Universal", null]);
  expect(await lookUp("5254.0012.3456")).toEqual([null, null, "LocallyAdministered", "QEMU or KVM guest"]);
  expect((await lookUp("00005e00010a")).slice(2)).toEqual(["VirtualRouter", "VRRP virtual router 10"]);
  expect(await lookUp("3333.0000.0001")).toEqual([null, null, "Multicast", "IPv6 multicast"]);
});

test.each(["001b2", "nothing", "001b21aabbccdd"])("%s is refused", async (mac) => {
  expect(await owner.get(`vendors/${mac}`)).toMatchObject(
    invalid(expect.objectContaining({ path: "/mac", value: mac })),
  );
});

test("a search gives the vendor of each MAC address found, and of nothing else", async () => {
  await newSubnet({ cidr: "10.2.3.0/24" });
  const host = await newHost({
    name: "intel-1",
    ip_addresses: [{ ip_address: "10.2.3.17", mac_address: "00:1b:21:aa:bb:cc" }],
  });
  await newIfEntry(host.id, { if_index: 7, if_descr: "eth7", fdb_macs: ["00:1b:21:aa:bb:dd"] });
  const { data } = await owner.get("search?q=1b21aabb");
  expect(data.map(({ match }: { match: object }) => match)).toEqual([
    { field: "mac_address", value: "00:1b:21:aa:bb:cc", vendor: "Intel Corporate", kind: "Part" },
    { field: "fdb_macs", value: "00:1b:21:aa:bb:dd", vendor: "Intel Corporate", kind: "Part" },
  ]);
  const [hostResult] = (await owner.get("search?q=intel-1")).data;
  expect(hostResult.match).toEqual({ field: "name", value: "intel-1", kind: "Exact" });
});
