// IANAifType of an interface, from kernel flags.

import { expect, test } from "bun:test";
import { interfaceType } from "../../src/discovery/self/interface-type.ts";

const CASES: [name: string, hardwareType: number, deviceType: string | null, entries: string[], ifType: number][] = [
  ["an Ethernet card", 1, null, ["device"], 6],
  ["the loopback interface", 772, null, [], 24],
  ["a bridge", 1, "bridge", ["bridge", "brif"], 209],
  ["a bridge of a kernel without DEVTYPE", 1, null, ["bridge"], 209],
  ["a bond", 1, "bond", ["bonding"], 161],
  ["a VLAN", 1, "vlan", [], 135],
  ["Wi-Fi", 1, "wlan", ["phy80211"], 71],
  ["Wi-Fi with wireless extensions only", 1, null, ["wireless"], 71],
  ["Wi-Fi in monitor mode", 803, null, [], 71],
  ["WireGuard", 65_534, "wireguard", [], 131],
  ["a tun device", 65_534, null, ["tun_flags"], 131],
  ["a tap device, which is Ethernet", 1, null, ["tun_flags"], 6],
  ["VXLAN", 1, "vxlan", [], 131],
  ["IP in IP", 768, null, [], 131],
  ["6in4", 776, null, [], 131],
  ["GRE", 778, null, [], 131],
  ["GRE over IPv6", 823, null, [], 131],
  ["PPP", 512, "ppp", [], 23],
  ["PPP without DEVTYPE", 512, null, [], 23],
  ["InfiniBand", 32, null, ["device"], 199],
  ["a mobile modem", 65_534, "wwan", [], 243],
  ["a USB gadget, which is Ethernet", 1, "gadget", [], 6],
  ["no hardware and no hint", 65_534, null, [], 1],
  ["CAN", 280, null, [], 1],
];

for (const [what, hardwareType, deviceType, entries, ifType] of CASES)
  test(`${what} has the type ${ifType}`, () => {
    expect(interfaceType({ hardwareType, deviceType, entries: new Set(entries) })).toBe(ifType);
  });
