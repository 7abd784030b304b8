// Signs that identify a deleted host found again: its own, without those shared with other hosts.

import { describe, expect, test } from "bun:test";
import { isSingleDevice } from "../../src/base/mac.ts";
import { hostSigns, SIGNS_MAX } from "../../src/resources/ignored/signs.ts";

const NOTHING = { serial_number: null, chassis_id: null, sys_name: null };

describe("the signs of a host", () => {
  test("are its serial number, chassis id, name, MAC and IP addresses, each once, strongest first", () => {
    const host = { serial_number: "FOC1234", chassis_id: "00:1b:21:00:00:01", sys_name: "Core-1.Example" };
    const interfaces = [
      { mac_address: "00:1b:21:00:00:02" },
      { mac_address: undefined },
      { mac_address: "00:1b:21:00:00:02" },
      {},
    ];
    const addresses = [
      { ip_address: "10.2.3.4", mac_address: "00:1b:21:00:00:03" },
      { ip_address: "2001:db8::1", mac_address: null },
    ];
    const expected =
      "serial:FOC1234 chassis:00:1b:21:00:00:01 name:core-1.example mac:00:1b:21:00:00:02 mac:00:1b:21:00:00:03 " +
      "ip:10.2.3.4 ip:2001:db8::1";
    expect(hostSigns(host, interfaces, addresses)).toEqual(expected.split(" "));
  });

  test("are empty without data", () => {
    expect(hostSigns(NOTHING, [], [])).toEqual([]);
    expect(hostSigns({ serial_number: "", chassis_id: "", sys_name: "" }, [{ mac_address: null }], [])).toEqual([]);
  });

  test("are at most 10,000, including its names", () => {
    const addresses = Array.from({ length: 10_000 }, (_, n) => ({
      ip_address: `10.0.${n >> 8}.${n & 255}`,
      mac_address: `00:1b:21:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`,
    }));
    const signs = hostSigns({ ...NOTHING, sys_name: "x", serial_number: "y" }, [], addresses);
    expect(signs).toHaveLength(SIGNS_MAX);
    expect(signs.slice(0, 3)).toEqual(["serial:y", "name:x", "mac:00:1b:21:00:00:00"]);
  });
});

test.each([
  ["assigned by the manufacturer", "00:1b:21:aa:bb:cc", true],
  ["assigned by IANA, outside virtual router ranges", "00:00:5e:00:53:01", true],
  ["all zeros", "00:00:00:00:00:00", false],
  ["broadcast", "ff:ff:ff:ff:ff:ff", false],
  ["multicast", "01:00:5e:00:00:01", false],
  ["locally administered, as on virtual machines", "52:54:00:12:34:56", true],
  ["VRRP", "00:00:5e:00:01:0a", false],
  ["VRRP for IPv6", "00:00:5e:00:02:0a", false],
  ["HSRP", "00:00:0c:07:ac:01", false],
  ["HSRP version 2", "00:00:0c:9f:f0:01", false],
  ["from HSRP's manufacturer", "00:00:0c:9f:00:01", true],
  ["GLBP", "00:07:b4:00:01:02", false],
])("a MAC address identifies one device (%s): %s", (_type, mac, expected) =>
  expect(isSingleDevice(mac)).toBe(expected),
);
