// Random NetBox fixture from a seed: few names, numbers and addresses, so that many collide; some are invalid.

import type { SeededRandom } from "../injected/seeded-random.ts";
import { emptyFixture, type FakeInterface, type NetboxFixture } from "./fake-netbox.ts";

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
const PREFIXES = "10.0.0.0/24 10.0.0.0/16 10.0.1.0/24 10.0.1.5/24 2001:db8::/64 10.0.0.300/24 / 0.0.0.0/0".split(" ");
const MACS = ["00:1b:21:aa:bb:cc", "00-1B-21-AA-BB-CD", "nonsense", null, null];
const TYPES = ["1000base-t", "virtual", "lag", "something", "5gbase-t", "constructor", "hasOwnProperty", "__proto__"];

/** @param extraNames names to pick from in addition to NAMES */
export function randomNetbox(random: SeededRandom, extraNames: readonly string[] = []): NetboxFixture {
  const names = [...NAMES, ...extraNames];
  const fixture = emptyFixture();
  const pick = <T>(items: readonly T[]): T => random.pick(items);
  const ids = (maxCount: number) => Array.from({ length: 1 + random.integer(maxCount) }, (_, index) => index + 1);
  const sometimes = <T>(value: T): T | undefined => (random.integer(2) === 0 ? undefined : value);
  fixture.tags = ids(5).map((id) => ({ id, name: pick(names), color: pick(["ff0000", "none"]) }));
  const tags = () => ids(2).map(() => pick(fixture.tags).name);
  fixture.sites = ids(4).map((id) => ({ id, name: pick(names), tags: tags() }));
  const site = () => (random.integer(4) === 0 ? null : pick(fixture.sites).id);
  fixture.locations = ids(2).map((id) => ({ id, name: "hall", site: pick(fixture.sites).id }));
  fixture.groups = ids(2).map((id) => ({ id, name: "group", site: pick(fixture.sites).id }));
  fixture.clusters = ids(2).map((id) => ({ id, name: "cluster", site: site() }));
  fixture.vlans = ids(8).map((id) => ({ id, vid: pick([1, 10, 20, 4094, 5000]), name: pick(names), site: site() }));
  fixture.prefixes = ids(10).map((id) => ({
    id,
    prefix: pick(PREFIXES),
    site: site(),
    tags: tags(),
    ...(sometimes(1) === undefined ? {} : { vrf: 1 + random.integer(2) }),
    ...(sometimes(1) === undefined ? {} : { vlan: pick(fixture.vlans) }),
  }));
  let interfaces = 0;
  const portOf = (): FakeInterface => {
    interfaces += 1;
    return {
      id: interfaces,
      name: pick(["eth0", "eth1", "Gi0/1", "", "x".repeat(5_000)]),
      type: pick(TYPES),
      mac: pick(MACS),
      enabled: random.integer(4) > 0,
      description: pick(["", "to the roof"]),
      speedKbps: pick([null, 1_000, -1, 2 ** 53]),
      native: random.integer(3) === 0 ? pick(fixture.vlans) : null,
      tagged: random.integer(3) === 0 ? fixture.vlans.slice(0, 3) : [],
    };
  };
  fixture.devices = ids(70).map((id) => ({
    id,
    name: pick(["sw-1", "sw-2", null, `sw-${id}`, `sw-${id}`, `sw-${id}`, pick(names)]),
    site: site(),
    serial: pick(["", "S1"]),
    tags: tags(),
    interfaces: ids(4).map(portOf),
  }));
  fixture.machines = ids(5).map((id) => ({
    id,
    name: `vm-${id}`,
    site: site(),
    cluster: pick(fixture.clusters).id,
    interfaces: ids(2).map(portOf),
  }));
  const texts = ["10.0.0.5/24", "10.0.0.6/24", "10.0.1.7/32", "192.0.2.9/24", "2001:db8::7/64", "10.0.0.7", "what"];
  fixture.addresses = ids(120).map((id) => {
    const device = pick(random.integer(4) === 0 ? fixture.machines : fixture.devices);
    const on = {
      interface: pick(device.interfaces ?? []).id,
      ...(fixture.machines.includes(device) ? { machine: device.id } : { device: device.id }),
    };
    return {
      id,
      address: random.integer(3) === 0 ? pick(texts) : `10.0.${random.integer(3)}.${1 + random.integer(250)}/24`,
      dnsName: pick(["", `host-${id}.example.com`]),
      ...(random.integer(3) === 0 ? {} : { on }),
      ...(random.integer(4) > 0 ? {} : { vrf: 1 }),
    };
  });
  return fixture;
}
