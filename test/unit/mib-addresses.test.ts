import { describe, expect, test } from "bun:test";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { deviceWith, hex, NO_RESPONSE, readsWith, rows, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const LINK_LOCAL = "254.128.0.0.0.0.0.0.2.27.33.255.254.170.187.204";
const GLOBAL = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1";
const V4_PREFIX = "1.3.6.1.2.1.4.32.1.5.7.1.4.10.0.0.0.24";
const V6_PREFIX = "1.3.6.1.2.1.4.32.1.5.7.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.0.64";
const unicast = (ipAddressIfIndex: number) => ({ ipAddressIfIndex, ipAddressType: 1 });

describe("device addresses", () => {
  test("have their mask's prefix length if they are from ipAddrTable", () => {
    const device = deviceWith({
      ip_addr_table: tableOf({
        "10.0.0.1": { ipAdEntIfIndex: 7, ipAdEntNetMask: "255.255.252.0" },
        "9.0.0.1": { ipAdEntIfIndex: 8, ipAdEntNetMask: hex("ffffffff") },
        "127.0.0.1": { ipAdEntIfIndex: 1, ipAdEntNetMask: "255.0.0.0" },
      }),
    });
    expect(device.addresses).toEqual([
      { ip_address: "9.0.0.1", prefix_length: 32, if_index: 8 },
      { ip_address: "10.0.0.1", prefix_length: 22, if_index: 7 },
      { ip_address: "127.0.0.1", prefix_length: 8, if_index: 1 },
    ]);
    expect(device.tables.addresses).toEqual({ state: "complete", problem: null });
  });

  test.each(["255.0.255.0", "0.0.0.0", "0.0.0.255", "0.255.0.0", "1.3.6.1", 24, utf8("x")])(
    "have no prefix length if the mask is %p",
    (ipAdEntNetMask) => {
      const device = deviceWith({ ip_addr_table: tableOf({ "10.0.0.1": { ipAdEntIfIndex: 7, ipAdEntNetMask } }) });
      expect(device.addresses).toEqual([{ ip_address: "10.0.0.1", prefix_length: null, if_index: 7 }]);
    },
  );

  test("are IPv4 and IPv6, with and without zones, with the referenced prefix length, if they are from ipAddressTable", () => {
    const device = deviceWith({
      ip_address_table: tableOf({
        "1.4.10.0.0.1": { ...unicast(7), ipAddressPrefix: V4_PREFIX },
        [`2.16.${GLOBAL}`]: { ...unicast(7), ipAddressPrefix: V6_PREFIX },
        "3.8.10.0.0.2.0.0.0.7": { ...unicast(7), ipAddressPrefix: "0.0" },
        [`4.20.${LINK_LOCAL}.18.0.3.198`]: { ...unicast(9), ipAddressPrefix: "0.0" },
        "1.4.10.40.1.1": { ...unicast(8), ipAddressPrefix: "1.3.6.1.2.1.4.32.1.151060550.1.10.40.1.1.32" },
      }),
    });
    expect(device.addresses).toEqual([
      { ip_address: "10.0.0.1", prefix_length: 24, if_index: 7 },
      { ip_address: "10.0.0.2", prefix_length: null, if_index: 7 },
      { ip_address: "10.40.1.1", prefix_length: 32, if_index: 8 },
      { ip_address: "2001:db8::1", prefix_length: 64, if_index: 7 },
      { ip_address: "fe80::21b:21ff:feaa:bbcc", prefix_length: null, if_index: 9 },
    ]);
  });

  test("exclude anycast, broadcast, multicast and unspecified ones", () => {
    const device = deviceWith({
      ip_address_table: tableOf({
        "1.4.10.0.0.1": { ipAddressIfIndex: 7, ipAddressType: 2 },
        "1.4.10.0.0.255": { ipAddressIfIndex: 7, ipAddressType: 3 },
        "1.4.224.0.0.5": unicast(7),
        "1.4.0.0.0.0": unicast(7),
        "1.4.10.0.0.9": unicast(7),
        [`2.16.${"0.".repeat(15)}0`]: unicast(7),
        [`24558368.16.${"0.".repeat(15)}0`]: unicast(26),
      }),
      ip_addr_table: tableOf({ "0.0.0.0": { ipAdEntIfIndex: 7 }, "255.255.255.255": { ipAdEntIfIndex: 7 } }),
    });
    expect(device.addresses?.map(({ ip_address }) => ip_address)).toEqual(["10.0.0.9"]);
    expect(device.tables.addresses.state).toBe("complete");
  });

  test("are read with and without an address length from ipv6AddrTable", () => {
    const ipv6AddrPfxLength = { [`23.16.${GLOBAL}`]: 64, [`1.${LINK_LOCAL}`]: 0 };
    const device = deviceWith({ ipv6_addr_table: { columns: { ipv6AddrPfxLength } } });
    expect(device.addresses).toEqual([
      { ip_address: "2001:db8::1", prefix_length: 64, if_index: 23 },
      { ip_address: "fe80::21b:21ff:feaa:bbcc", prefix_length: null, if_index: 1 },
    ]);
  });

  test("are merged if they are in several tables, each table completing the previous ones", () => {
    const device = deviceWith({
      ip_address_table: tableOf({
        "1.4.10.0.0.1": { ipAddressIfIndex: 7, ipAddressType: 1, ipAddressPrefix: "0.0" },
        "1.4.10.0.0.2": { ipAddressIfIndex: 0, ipAddressType: 1, ipAddressPrefix: V4_PREFIX },
      }),
      ip_addr_table: tableOf({
        "10.0.0.1": { ipAdEntIfIndex: 99, ipAdEntNetMask: "255.255.255.0" },
        "10.0.0.2": { ipAdEntIfIndex: 8, ipAdEntNetMask: "255.0.0.0" },
      }),
    });
    expect(device.addresses).toEqual([
      { ip_address: "10.0.0.1", prefix_length: 24, if_index: 7 },
      { ip_address: "10.0.0.2", prefix_length: 24, if_index: 8 },
    ]);
  });

  test("belong to the lowest of several interfaces", () => {
    const ipv6AddrPfxLength = { [`5896.16.${LINK_LOCAL}`]: 64, [`23.16.${LINK_LOCAL}`]: 10 };
    const device = deviceWith({ ipv6_addr_table: { columns: { ipv6AddrPfxLength } } });
    expect(device.addresses).toEqual([{ ip_address: "fe80::21b:21ff:feaa:bbcc", prefix_length: 10, if_index: 23 }]);
  });

  test("make the table partial, and clear nothing, if an index is malformed", () => {
    const table = tableOf({ "1.10.1.123.240": { ipAdEntIfIndex: 31 }, "1.127.0.0.1": { ipAdEntIfIndex: 31 } });
    const device = deviceWith({ ip_addr_table: table });
    expect(device).not.toHaveProperty("addresses");
    const problem = "2 of 2 rows have an index that is not an address (1.10.1.123.240)";
    expect(device.tables.addresses).toEqual({ state: "partial", problem });
  });

  test("come from ipAdEntAddr for a sequentially numbered table, and it is read only in this case", () => {
    const rowOf = (ipAdEntIfIndex: number) => ({ ipAdEntIfIndex, ipAdEntNetMask: "255.255.255.0" });
    const reads = readsWith({
      ip_addr_table: tableOf({ "1": rowOf(2), "2": rowOf(3), "3": rowOf(4) }),
      ip_addr_table_addresses: { columns: { ipAdEntAddr: { "1": "192.168.1.250", "2": hex("0a0a0a02") } } },
    });
    expect(deviceOf(reads).addresses).toEqual([
      { ip_address: "10.10.10.2", prefix_length: 24, if_index: 3 },
      { ip_address: "192.168.1.250", prefix_length: 24, if_index: 2 },
    ]);
    expect(deviceOf(reads).tables.addresses.problem).toBe("1 of 3 rows have an index that is not an address (3)");
    expect(readsWith({ ip_addr_table: tableOf({ "10.0.0.1": rowOf(7) }) }).has("ip_addr_table_addresses")).toBeFalse();
  });

  test("are reported as far as read, with the error, if a table breaks off", () => {
    const table = tableOf({ "10.0.0.1": { ipAdEntIfIndex: 7 } });
    const device = deviceWith({ ip_addr_table: table, ip_address_table: { broken: ["*"] } });
    expect(device.addresses).toHaveLength(1);
    expect(device.tables.addresses).toEqual({ state: "partial", problem: NO_RESPONSE });
  });

  test("are unknown if not served", () => {
    const device = deviceWith({});
    expect(device).not.toHaveProperty("addresses");
    expect(device.tables.addresses.state).toBe("absent");
  });
});

describe("ARP and neighbor discovery", () => {
  const MAC = hex("001b21aabbcc");
  const mac_address = "00:1b:21:aa:bb:cc";

  test("have the entries of all three tables once", () => {
    const device = deviceWith({
      ip_net_to_physical_table: tableOf({
        "7.1.4.10.0.0.2": { ipNetToPhysicalPhysAddress: MAC, ipNetToPhysicalType: 3 },
        [`7.4.20.${LINK_LOCAL}.0.0.0.7`]: { ipNetToPhysicalPhysAddress: MAC, ipNetToPhysicalType: 3 },
      }),
      ip_net_to_media_table: tableOf({
        "7.10.0.0.2": { ipNetToMediaPhysAddress: hex("001b21000000"), ipNetToMediaType: 3 },
        "8.10.0.0.2": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 4 },
        "7.10.0.0.3": { ipNetToMediaPhysAddress: MAC },
      }),
      ipv6_net_to_media_table: tableOf({
        [`7.${GLOBAL}`]: { ipv6NetToMediaPhysAddress: MAC, ipv6NetToMediaValid: 1 },
        [`7.16.${LINK_LOCAL}`]: { ipv6NetToMediaPhysAddress: MAC },
      }),
    });
    expect(device.arp).toEqual([
      { ip_address: "10.0.0.2", mac_address, if_index: 7 },
      { ip_address: "fe80::21b:21ff:feaa:bbcc", mac_address, if_index: 7 },
      { ip_address: "10.0.0.2", mac_address, if_index: 8 },
      { ip_address: "10.0.0.3", mac_address, if_index: 7 },
      { ip_address: "2001:db8::1", mac_address, if_index: 7 },
    ]);
    expect(device.tables.arp).toEqual({ state: "complete", problem: null });
  });

  test("exclude invalid, incomplete, group and broadcast entries", () => {
    const device = deviceWith({
      ip_net_to_physical_table: tableOf({
        "7.1.4.10.0.0.1": { ipNetToPhysicalPhysAddress: MAC, ipNetToPhysicalType: 2 },
        "7.1.4.10.0.0.2": { ipNetToPhysicalPhysAddress: utf8(""), ipNetToPhysicalType: 3 },
      }),
      ip_net_to_media_table: tableOf({
        "7.10.0.0.3": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 2 },
        "7.10.0.0.4": { ipNetToMediaPhysAddress: hex("000000000000"), ipNetToMediaType: 3 },
        "7.10.0.0.255": { ipNetToMediaPhysAddress: hex("ffffffffffff"), ipNetToMediaType: 1 },
        "7.224.0.0.5": { ipNetToMediaPhysAddress: hex("01005e000005"), ipNetToMediaType: 4 },
        "7.224.0.0.6": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 4 },
        "7.10.0.6": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 3 },
        "7.10.0.0.7": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 3 },
      }),
      ipv6_net_to_media_table: tableOf({
        [`7.${GLOBAL}`]: { ipv6NetToMediaPhysAddress: MAC, ipv6NetToMediaValid: 2 },
        [`8.${GLOBAL}`]: { ipv6NetToMediaPhysAddress: MAC, ipv6IfNetToMediaState: 5 },
      }),
    });
    expect(device.arp?.map(({ ip_address }) => ip_address)).toEqual(["10.0.0.7"]);
  });

  test("have no interface for static entries with ifIndex 0", () => {
    const media = tableOf({ "0.10.0.0.6": { ipNetToMediaPhysAddress: MAC, ipNetToMediaType: 4 } });
    const physical = tableOf({ "0.1.4.10.0.0.7": { ipNetToPhysicalPhysAddress: MAC, ipNetToPhysicalType: 4 } });
    const device = deviceWith({ ip_net_to_media_table: media, ip_net_to_physical_table: physical });
    expect(device.arp).toEqual([
      { ip_address: "10.0.0.7", mac_address, if_index: null },
      { ip_address: "10.0.0.6", mac_address, if_index: null },
    ]);
  });

  test("use interface and address columns, which are read only in this case, for sequentially numbered rows", () => {
    const row = { ipNetToMediaPhysAddress: MAC };
    const table = tableOf({ "1": row, "2": row, "3": row });
    const columns = rows({
      "1": { ipNetToMediaIfIndex: 7, ipNetToMediaNetAddress: "10.0.0.1" },
      "2": { ipNetToMediaIfIndex: 8, ipNetToMediaNetAddress: hex("0a000002") },
      "3": { ipNetToMediaIfIndex: 8, ipNetToMediaNetAddress: null },
    });
    const reads = readsWith({ ip_net_to_media_table: table, ip_net_to_media_table_addresses: { columns } });
    const arp = deviceOf(reads).arp?.map(({ ip_address, if_index }) => `${ip_address} on ${if_index}`);
    expect(arp).toEqual(["10.0.0.1 on 7", "10.0.0.2 on 8"]);
    const regular = readsWith({ ip_net_to_media_table: tableOf({ "7.10.0.0.2": row }) });
    expect(regular.has("ip_net_to_media_table_addresses")).toBeFalse();
  });

  test("have the rows read before a table broke off, with the error", () => {
    const columns = rows({ "7.10.0.0.2": { ipNetToMediaPhysAddress: MAC } });
    const device = deviceWith({ ip_net_to_media_table: { columns, broken: ["*"] } });
    expect(device.arp).toHaveLength(1);
    expect(device.tables.arp).toEqual({ state: "partial", problem: NO_RESPONSE });
  });
});
