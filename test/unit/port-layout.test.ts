// Port layout of devices, derived from the manufacturers' interface names.

import { expect, test } from "bun:test";
import { layOutPorts } from "../../src/reports/faceplate/port-layout.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

/**
 * One line per group with its ports, and a last line for interfaces without a port.
 * @param interfaces names, each followed by `=` and its ifType unless that is 6
 */
function layout(interfaces: string): string[] {
  const { groups, logical } = layOutPorts(
    interfaces.split(", ").map((text, index) => {
      const [name = "", ifType = 6] = text.split("=");
      return { name, if_type: Number(ifType), if_index: index + 1 };
    }),
  );
  const names = (ports: readonly { name: string }[]) => ports.map(({ name }) => name).join(" ");
  return [
    ...groups.map(
      ({ type, member, module, ports }) =>
        `${type === "Module" ? "" : `${type} `}${member ?? "-"} ${module ?? "-"}: ${names(ports)}`,
    ),
    ...(logical.length === 0 ? [] : [`logical: ${names(logical)}`]),
  ];
}

test("a switch stack has its members and modules separate, ports by number, and the rest next to them", () => {
  const stack = "Vlan10=53, Gi1/0/10, Gi1/0/2, Te1/1/1, Gi2/0/1, Gi1/0/1, Po1=161, Lo0=24, Gi1/0/1.100";
  expect(layout(stack)).toEqual([
    "1 1/0: Gi1/0/1 Gi1/0/2 Gi1/0/10",
    "1 1/1: Te1/1/1",
    "2 2/0: Gi2/0/1",
    "logical: Vlan10 Po1 Lo0 Gi1/0/1.100",
  ]);
});

test("full names, with spaces, and those of other manufacturers are parsed in the same way", () => {
  expect(layout("GigabitEthernet 2/0/1, GigabitEthernet1/0/12, GigabitEthernet1/0/3")).toEqual([
    "1 1/0: GigabitEthernet1/0/3 GigabitEthernet1/0/12",
    "2 2/0: GigabitEthernet 2/0/1",
  ]);
  expect(layout("xe-0/1/0, ge-0/0/11, ge-0/0/2, ae0=161, irb=53, fxp0")).toEqual([
    "0 0/0: ge-0/0/2 ge-0/0/11",
    "0 0/1: xe-0/1/0",
    "Management - -: fxp0",
    "logical: ae0 irb",
  ]);
  expect(layout("1:12, 1:2, 2:1, Mgmt")).toEqual(["- 1: 1:2 1:12", "- 2: 2:1", "Management - -: Mgmt"]);
  expect(layout("mgmt0, Ethernet1/10, Ethernet1/9, port-channel3=161")).toEqual([
    "- 1: Ethernet1/9 Ethernet1/10",
    "Management - -: mgmt0",
    "logical: port-channel3",
  ]);
});

test("ports with equal or without distinct numbers form one group, in the device's order of types", () => {
  expect(layout("lo=24, eth10, eth9, wlan0=71, br0, veth12ab, eth9.20")).toEqual([
    "- -: eth9 eth10 wlan0",
    "logical: lo br0 veth12ab eth9.20",
  ]);
  expect(layout("swp10, swp2, swp1s1, swp1s0")).toEqual(["- -: swp1s0 swp1s1 swp2 swp10"]);
  expect(layout("B2, A10, A2, B1")).toEqual(["- -: B1 B2 A2 A10"]);
  expect(layout("Gi0/1, Gi0/2, Te0/1")).toEqual(["- 0: Gi0/1 Gi0/2 Te0/1"]);
});

test("a breakout port stays in position", () => {
  const withModule = "Eth1/1, Eth1/2, Eth1/3, Eth1/50, Eth1/49/2, Eth1/49/1";
  expect(layout(withModule)).toEqual(["- 1: Eth1/1 Eth1/2 Eth1/3 Eth1/49/1 Eth1/49/2 Eth1/50"]);
  const withoutModule = "Ethernet1, Ethernet2, Ethernet49/2, Ethernet49/1";
  expect(layout(withoutModule)).toEqual(["- -: Ethernet1 Ethernet2 Ethernet49/1 Ethernet49/2"]);
  expect(layout("et-0/0/1:1, et-0/0/1:0, et-0/0/0")).toEqual(["0 0/0: et-0/0/0 et-0/0/1:0 et-0/0/1:1"]);
});

test("the input order of ports of one type does not matter", () => {
  const random = seededRandom(17);
  const names = [1, 2].flatMap((member) => [...Array(48).keys()].map((port) => `Gi${member}/0/${port + 1}`));
  const expected = layout(names.join(", "));
  for (let round = 0; round < 20; round += 1) {
    const keys = new Map(names.map((name) => [name, random.bytes(4).toHex()]));
    const shuffled = [...names].sort((a, b) => ((keys.get(a) ?? "") < (keys.get(b) ?? "") ? -1 : 1));
    expect(layout(shuffled.join(", "))).toEqual(expected);
  }
});

test("a device without interfaces has no groups", () => {
  expect(layOutPorts([])).toEqual({ groups: [], logical: [] });
});
