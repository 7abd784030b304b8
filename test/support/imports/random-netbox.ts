// Random NetBox world from a seed: few names, numbers and addresses, so that many collide; some of it invalid.

import type { SeededRandom } from "../injected/seeded-random.ts";
import { emptyWorld, type FakeInterface, type NetboxWorld } from "./fake-netbox.ts";

const NAMES = [
  "Berlin",
  "berlin",
  "Main",
  "Köln",
  "x".repeat(256),
  "a\u0000b",
  "",
  "\u202eright",
  "constructor",
  "__proto__",
];
const PREFIXES = [
  "10.0.0.0/24",
  "10.0.0.0/16",
  "10.0.1.0/24",
  "10.0.1.5/24",
  "2001:db8::/64",
  "10.0.0.300/24",
  "/",
  "0.0.0.0/0",
];
const MACS = ["00:1b:21:aa:bb:cc", "00-1B-21-AA-BB-CD", "nonsense", null, null];
const TYPES = ["1000base-t", "virtual", "lag", "something", "5gbase-t", "constructor", "hasOwnProperty", "__proto__"];

/** @param more further names to draw from */
export function randomNetbox(random: SeededRandom, more: readonly string[] = []): NetboxWorld {
  const names = [...NAMES, ...more];
  const world = emptyWorld();
  const some = <T>(items: readonly T[]): T => random.pick(items);
  const times = (most: number) => Array.from({ length: 1 + random.integer(most) }, (_, place) => place + 1);
  const maybe = <T>(value: T): T | undefined => (random.integer(2) === 0 ? undefined : value);
  world.tags = times(5).map((id) => ({ id, name: some(names), color: some(["ff0000", "none"]) }));
  const tags = () => times(2).map(() => some(world.tags).name);
  world.sites = times(4).map((id) => ({ id, name: some(names), tags: tags() }));
  const site = () => (random.integer(4) === 0 ? null : some(world.sites).id);
  world.locations = times(2).map((id) => ({ id, name: "hall", site: some(world.sites).id }));
  world.groups = times(2).map((id) => ({ id, name: "group", site: some(world.sites).id }));
  world.clusters = times(2).map((id) => ({ id, name: "cluster", site: site() }));
  world.vlans = times(8).map((id) => ({ id, vid: some([1, 10, 20, 4094, 5000]), name: some(names), site: site() }));
  world.prefixes = times(10).map((id) => ({
    id,
    prefix: some(PREFIXES),
    site: site(),
    tags: tags(),
    ...(maybe(1) === undefined ? {} : { vrf: 1 + random.integer(2) }),
    ...(maybe(1) === undefined ? {} : { vlan: some(world.vlans) }),
  }));
  let interfaces = 0;
  const portOf = (): FakeInterface => {
    interfaces += 1;
    return {
      id: interfaces,
      name: some(["eth0", "eth1", "Gi0/1", "", "x".repeat(5_000)]),
      type: some(TYPES),
      mac: some(MACS),
      enabled: random.integer(4) > 0,
      description: some(["", "to the roof"]),
      speedKbps: some([null, 1_000, -1, 2 ** 53]),
      native: random.integer(3) === 0 ? some(world.vlans) : null,
      tagged: random.integer(3) === 0 ? world.vlans.slice(0, 3) : [],
    };
  };
  world.devices = times(70).map((id) => ({
    id,
    name: some(["sw-1", "sw-2", null, `sw-${id}`, `sw-${id}`, `sw-${id}`, some(names)]),
    site: site(),
    serial: some(["", "S1"]),
    tags: tags(),
    interfaces: times(4).map(portOf),
  }));
  world.machines = times(5).map((id) => ({
    id,
    name: `vm-${id}`,
    site: site(),
    cluster: some(world.clusters).id,
    interfaces: times(2).map(portOf),
  }));
  const texts = ["10.0.0.5/24", "10.0.0.6/24", "10.0.1.7/32", "192.0.2.9/24", "2001:db8::7/64", "10.0.0.7", "what"];
  world.addresses = times(120).map((id) => {
    const device = some(random.integer(4) === 0 ? world.machines : world.devices);
    const on = {
      interface: some(device.interfaces ?? []).id,
      ...(world.machines.includes(device) ? { machine: device.id } : { device: device.id }),
    };
    return {
      id,
      address: random.integer(3) === 0 ? some(texts) : `10.0.${random.integer(3)}.${1 + random.integer(250)}/24`,
      dnsName: some(["", `host-${id}.example.com`]),
      ...(random.integer(3) === 0 ? {} : { on }),
      ...(random.integer(4) > 0 ? {} : { vrf: 1 }),
    };
  });
  return world;
}
