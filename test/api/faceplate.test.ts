// GET /api/v1/hosts/{id}/faceplate through the API; also at random timestamps and for all callers, compared with plain
// code over the state after every write.

import { beforeAll, describe, expect, test } from "bun:test";
import { virtualRouterOf } from "../../src/base/mac.ts";
import { macTold } from "../../src/base/vendors/vendor.ts";
import { applianceForAll, applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

describe("a faceplate", () => {
  const { owner, instant, tick, newHost, newIfEntry, newSubnet, newVlan, newNetwork, newUser } = applianceForEach();

  test("lists ports in device order, each with the names of its stations and its vendor", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const vlan = await newVlan({ number: 20, name: "Clients" });
    const voice = await newVlan({ number: 30, name: "Voice" });
    const printer = await newHost({
      name: "printer-3",
      ip_addresses: [{ ip_address: "10.2.3.17", mac_address: "00:1b:21:aa:bb:dd" }],
    });
    const core = await newHost({ name: "core-1" });
    const far = await newIfEntry(core.id, { if_index: 48, if_descr: "Gi0/48" });
    const host = await newHost({ name: "access-1" });
    const port = (if_index: number, if_name: string, more: Wire = {}) =>
      newIfEntry(host.id, { if_index, if_name, if_descr: `${if_name} of access-1`, if_type: 6, ...more });
    await port(3, "Gi2/0/1");
    await port(2, "Gi1/0/10", {
      oper_status: "Up",
      speed_bps: 1_000_000_000,
      native_vlan_id: vlan.id,
      vlan_ids: [voice.id, vlan.id],
      fdb_macs: ["00:1b:21:aa:bb:dd", "02:42:ac:11:00:02"],
    });
    const uplink = await port(1, "Gi1/0/2", {
      lldp_sys_name: "core-1",
      lldp_port_id: { subtype: "InterfaceName", value: "Gi0/48" },
      neighbor: { type: "IfEntry", id: far.id },
    });
    await port(10, "Vlan20", { if_type: 53 });
    const { data, body } = await owner.get(`hosts/${host.id}/faceplate`);
    expect(body.meta.at).toBeUndefined();
    expect(data.host).toEqual({ id: host.id, name: "access-1" });
    expect(data.groups.map(({ type, member, module, ports }: Wire) => [type, member, module, namesOf(ports)])).toEqual([
      ["Module", "1", "1/0", ["Gi1/0/2", "Gi1/0/10"]],
      ["Module", "2", "2/0", ["Gi2/0/1"]],
    ]);
    expect(namesOf(data.logical)).toEqual(["Vlan20"]);
    const [up, access] = data.groups[0].ports;
    expect(up).toMatchObject({
      id: uplink.id,
      neighbor: {
        source: "Lldp",
        host: { id: core.id, name: "core-1" },
        interface: { id: far.id, name: "Gi0/48" },
        announced_name: "core-1",
        announced_port: "Gi0/48",
      },
      stations: [],
      fdb_entries: 0,
    });
    expect(access).toMatchObject({
      oper_status: "Up",
      speed_bps: 1_000_000_000,
      native_vlan: { id: vlan.id, number: 20, name: "Clients" },
      tagged_vlans: [{ number: 20 }, { number: 30 }],
      neighbor: null,
      fdb_entries: 2,
      has_more_stations: false,
    });
    expect(access.stations).toMatchObject([
      {
        mac_address: "00:1b:21:aa:bb:dd",
        vendor: "Intel Corporate",
        type: "Universal",
        hosts: [{ id: printer.id, name: "printer-3", interface: null, ip_addresses: ["10.2.3.17"] }],
      },
      { mac_address: "02:42:ac:11:00:02", vendor: null, type: "LocallyAdministered", known_use: "Docker container" },
    ]);
  });

  test("shows since when a port is unused, and nothing if it was never up, or since when its state is known", async () => {
    const host = await newHost({ name: "access-1" });
    const one = await newIfEntry(host.id, { if_index: 1, if_descr: "Gi0/1", oper_status: "Up" });
    const other = await newIfEntry(host.id, { if_index: 2, if_descr: "Gi0/2", oper_status: "Down" });
    const whileUp = instant();
    tick();
    const down = await made(owner.put(`if-entries/${one.id}`, { ...one, oper_status: "Down" }));
    tick();
    await made(owner.put(`if-entries/${one.id}`, { ...down, if_alias: "desk 3", oper_status: "LowerLayerDown" }));
    tick();
    const unused = async (query = "") =>
      (await owner.get(`hosts/${host.id}/faceplate${query}`)).data.groups[0].ports.map((port: Wire) => [
        port.unused_since,
        port.known_since,
      ]);
    expect(await unused()).toEqual([
      [down.updated_at, one.created_at],
      [null, other.created_at],
    ]);
    expect(await unused(`?at=${whileUp}`)).toEqual([
      [null, one.created_at],
      [null, other.created_at],
    ]);
  });

  test("names up to a hundred stations per port, and indicates more", async () => {
    const host = await newHost({ name: "access-1" });
    const macs = [...Array(130).keys()].map((place) => `00:1b:21:00:01:${place.toString(16).padStart(2, "0")}`);
    await newIfEntry(host.id, { if_index: 1, if_descr: "Gi0/1", fdb_macs: macs });
    const [port] = (await owner.get(`hosts/${host.id}/faceplate`)).data.groups[0].ports;
    expect([port.fdb_entries, port.stations.length, port.has_more_stations]).toEqual([130, 100, true]);
    expect(port.stations.map(({ mac_address }: Wire) => mac_address)).toEqual(macs.slice(0, 100));
  });

  test("of selected ports keeps their positions, and shows nothing of others", async () => {
    const host = await newHost({ name: "access-1" });
    const other = await newIfEntry((await newHost({ name: "access-2" })).id, { if_index: 1, if_descr: "Gi1/0/1" });
    const port = (if_index: number, if_name: string, more: Wire = {}) =>
      newIfEntry(host.id, { if_index, if_name, if_descr: if_name, if_type: 6, ...more });
    for (const number of [1, 2, 3]) await port(number, `Eth1/${number}`);
    // A breakout port: only its neighbors indicate its position.
    const broken = await port(10, "Eth1/4/1", { fdb_macs: ["00:1b:21:aa:bb:dd"] });
    const vlan = await port(20, "Vlan20", { if_type: 53 });
    const early = instant();
    tick();
    const late = await port(30, "Eth1/5");
    const told = async (query: string) => (await owner.get(`hosts/${host.id}/faceplate?${query}`)).data;
    const whole = await told("");
    const [group] = whole.groups;
    expect(await told(`ids=${broken.id}&ids=${vlan.id}`)).toEqual({
      ...whole,
      groups: [{ ...group, ports: group.ports.filter(({ id }: Wire) => id === broken.id) }],
    });
    expect(await told(`ids=${late.id},${other.id}&at=${early}`)).toEqual({ ...whole, groups: [], logical: [] });
    expect(namesOf((await told(`ids=${late.id},${other.id}`)).groups[0].ports)).toEqual(["Eth1/5"]);
    const names = async (query: string) => {
      const { groups, logical } = await told(query);
      return [...groups.map((each: Wire) => namesOf(each.ports)), namesOf(logical)];
    };
    expect(await names("limit=2")).toEqual([["Eth1/1", "Eth1/2"], []]);
    expect(await names("limit=6")).toEqual([["Eth1/1", "Eth1/2", "Eth1/3", "Eth1/4/1", "Eth1/5"], ["Vlan20"]]);
    expect(await names("limit=0")).toEqual(await names("limit=6"));
    expect(await names(`limit=1&ids=${vlan.id},${broken.id}`)).toEqual([["Eth1/4/1"], []]);
    expect((await owner.get(`hosts/${host.id}/faceplate?ids=one`)).body.params.issues[0].path).toBe("/ids/0");
  });

  test("is 404 if its host is out of reach, did not exist yet, or never did", async () => {
    const before = instant();
    tick();
    const far = await newNetwork({ name: "far" });
    const host = await newHost({ name: "access-1", network_id: far.id });
    const near = (await newUser({ role: "Viewer", networkIds: [] })).client;
    for (const answer of [
      await near.get(`hosts/${host.id}/faceplate`),
      await owner.get(`hosts/${host.id}/faceplate?at=${before}`),
      await owner.get(`hosts/${far.id}/faceplate`),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
  });
});

function namesOf(ports: readonly Wire[]): string[] {
  return ports.map(({ name }) => name);
}

describe("at random", () => {
  const STEPS = 160;
  const QUESTIONS = 300;
  const random = seededRandom(17_006);
  const appliance = applianceForAll();
  const { owner } = appliance;
  const MACS = [
    ..."00:1b:21:aa:bb:01 00:1b:21:aa:bb:02 00:1b:21:aa:bb:03 3c:52:82:00:00:04".split(" "),
    ..."02:42:ac:11:00:05 00:00:5e:00:01:06 01:00:5e:00:00:07 00:00:00:00:00:00".split(" "),
  ];
  const STATUSES = ["Up", "Up", "Down", "LowerLayerDown", "Unknown"];

  interface State {
    readonly at: string;
    readonly hosts: ReadonlyMap<string, Wire>;
    readonly ports: ReadonlyMap<string, Wire>;
    readonly vlans: ReadonlyMap<string, Wire>;
  }
  const states: State[] = [];
  const networks: string[] = [];

  async function look(): Promise<void> {
    const byId = async (path: string) =>
      new Map((await owner.get(`${path}?limit=0`)).data.map((record: Wire) => [record.id, record]) as [string, Wire][]);
    const [hosts, ports, vlans] = [await byId("hosts"), await byId("if-entries"), await byId("vlans")];
    states.push({ at: new Date(appliance.clock.now()).toISOString(), hosts, ports, vlans });
  }

  const some = (of: readonly string[]) => of.filter(() => random.integer(3) === 0);
  const now = () => states.at(-1) as State;
  const pick = <T>(items: Iterable<T>): T | null => {
    const all = [...items];
    return all.length === 0 ? null : random.pick(all);
  };

  function portFields(host: Wire): Wire {
    const vlans = [...now().vlans.values()].filter((each) => each.network_id === host.network_id).map(({ id }) => id);
    const far = pick([...now().ports.values()].filter((each) => each.network_id === host.network_id));
    return {
      if_type: 6,
      oper_status: random.pick(STATUSES),
      admin_status: random.pick(["Up", "Down"]),
      speed_bps: random.pick([null, 1_000_000_000]),
      mac_address: random.pick([null, ...MACS]),
      native_vlan_id: pick(vlans),
      vlan_ids: some(vlans),
      fdb_macs: some(MACS),
      lldp_sys_name: random.pick([null, "core-1"]),
      cdp_port_id: random.pick([null, "Gi0/1"]),
      neighbor:
        far === null || random.integer(2) === 0
          ? null
          : random.pick([
              { type: "IfEntry", id: far.id },
              { type: "Host", id: far.host_id },
            ]),
    };
  }

  async function step(place: number): Promise<void> {
    const dice = random.integer(10);
    const host = pick(now().hosts.values());
    const port = pick(now().ports.values());
    if (dice === 0 || host === null) {
      const place2 = random.integer(networks.length);
      await made(
        owner.post("hosts", {
          network_id: networks[place2],
          name: random.pick(["web", "Ärger", "core-1", "printer 10"]),
          ip_addresses: [{ ip_address: `10.${place2}.0.${place + 1}`, mac_address: random.pick([null, ...MACS]) }],
        }),
      );
    } else if (dice < 4) {
      await made(
        owner.post("if-entries", {
          host_id: host.id,
          if_index: place + 1,
          if_descr: `Gi1/0/${random.integer(30)}`,
          ...portFields(host),
        }),
      );
    } else if (dice < 8 && port !== null)
      await made(owner.put(`if-entries/${port.id}`, { ...port, ...portFields(now().hosts.get(port.host_id) as Wire) }));
    else if (dice === 8 && port !== null) await owner.delete(`if-entries/${port.id}?cascade=true`);
    else if (now().hosts.size > 4) await owner.delete(`hosts/${host.id}?cascade=true`);
    else await made(owner.put(`hosts/${host.id}`, { ...host, name: `${host.name}${place}` }));
  }

  beforeAll(async () => {
    networks.push(appliance.first.networkId, (await made(owner.post("networks", { name: "far" }))).id);
    for (const [place, network_id] of networks.entries()) {
      await made(owner.post("subnets", { network_id, cidr: `10.${place}.0.0/16` }));
      for (const number of [10, 20]) await made(owner.post("vlans", { network_id, number, name: `v${number}` }));
    }
    await look();
    for (let place = 0; place < STEPS; place += 1) {
      appliance.clock.advance(1_000 + random.integer(5_000));
      await step(place);
      appliance.clock.advance(1_000);
      await look();
    }
  });

  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  const folded = (name: string) => name.toLowerCase();
  const named = (record: Wire | undefined) =>
    record === undefined ? null : { id: record.id, name: record.name ?? record.if_name ?? record.if_descr };

  /** Expected ports by id, from plain code. @param place of the queried state */
  function expected(place: number, hostId: string): Record<string, unknown> | null {
    const state = states[place] as State;
    const host = state.hosts.get(hostId);
    if (host === undefined) return null;
    const ports = [...state.ports.values()].filter((port) => port.host_id === hostId);
    return Object.fromEntries(ports.map((port) => [port.id, expectedPort(place, port)]));
  }

  function expectedPort(place: number, port: Wire) {
    const { hosts, vlans, ports } = states[place] as State;
    const vlan = (id: string) => {
      const { number, name } = vlans.get(id) as Wire;
      return { id, number, name };
    };
    const far = port.neighbor?.type === "IfEntry" ? ports.get(port.neighbor.id) : undefined;
    const farHost = port.neighbor?.type === "Host" ? hosts.get(port.neighbor.id) : hosts.get(far?.host_id);
    const source = port.lldp_sys_name !== undefined ? "Lldp" : port.cdp_port_id !== undefined ? "Cdp" : "Entered";
    return {
      oper_status: port.oper_status,
      admin_status: port.admin_status,
      speed_bps: port.speed_bps ?? null,
      native_vlan: port.native_vlan_id === undefined ? null : vlan(port.native_vlan_id),
      tagged_vlans: (port.vlan_ids ?? []).map(vlan).sort((a: Wire, b: Wire) => a.number - b.number),
      neighbor:
        source === "Entered" && farHost === undefined
          ? null
          : {
              source,
              host: named(farHost),
              interface: named(far),
              announced_name: port.lldp_sys_name ?? null,
              announced_port: port.cdp_port_id ?? null,
            },
      fdb_entries: (port.fdb_macs ?? []).length,
      stations: expectedStations(place, port),
      unused_since: port.oper_status === "Up" ? null : lastUpEnd(place, port.id),
      known_since: port.created_at,
    };
  }

  function expectedStations(place: number, port: Wire): unknown[] {
    const { hosts, ports } = states[place] as State;
    return ((port.fdb_macs ?? []) as string[])
      .map((mac) => {
        const isStation = virtualRouterOf(mac) !== null || !["Multicast", "Unspecified"].includes(macTold(mac).type);
        const owners = [...hosts.values()]
          .filter((host) => host.network_id === port.network_id)
          .flatMap((host) => {
            const own = [...ports.values()].find((each) => each.host_id === host.id && each.mac_address === mac);
            const ips = host.ip_addresses.filter((each: Wire) => each.mac_address === mac);
            return isStation && (own !== undefined || ips.length > 0)
              ? [
                  {
                    id: host.id,
                    name: host.name,
                    hasInterface: own !== undefined,
                    ips: ips.map((a: Wire) => a.ip_address),
                  },
                ]
              : [];
          })
          .sort((a, b) => compare(folded(a.name), folded(b.name)) || compare(a.id, b.id))
          .slice(0, 8);
        return { mac, ...macTold(mac), since: learned(place, port.id, mac), owners };
      })
      .sort(
        (a, b) =>
          Number(a.owners.length === 0) - Number(b.owners.length === 0) ||
          compare(folded(a.owners[0]?.name ?? ""), folded(b.owners[0]?.name ?? "")) ||
          compare(a.mac, b.mac),
      );
  }

  /** Time at which the port learned the address, for the last time up to a state. */
  function learned(place: number, portId: string, mac: string): string {
    let first = place;
    const knows = (at: number) => (states[at]?.ports.get(portId)?.fdb_macs ?? []).includes(mac);
    while (first > 0 && knows(first - 1)) first -= 1;
    return states[first]?.ports.get(portId)?.updated_at;
  }

  function lastUpEnd(place: number, portId: string): string | null {
    for (let at = place; at > 0; at -= 1)
      if (states[at - 1]?.ports.get(portId)?.oper_status === "Up") return states[at]?.ports.get(portId)?.updated_at;
    return null;
  }

  test("matches a naive model, at present and in the past, for every caller", async () => {
    const viewer = (await appliance.newUser({ role: "Viewer", networkIds: [networks[0] as string] })).client;
    const hostIds = [...new Set(states.flatMap(({ hosts }) => [...hosts.keys()]))];
    const count = { ports: 0, stations: 0, owners: 0, unused: 0, missing: 0, parts: 0 };
    for (let question = 0; question < QUESTIONS; question += 1) {
      const place = random.integer(4) === 0 ? states.length - 1 : random.integer(states.length);
      const { at, hosts } = states[place] as State;
      const hostId = random.integer(3) === 0 ? random.pick(hostIds) : (pick(hosts.keys()) ?? random.pick(hostIds));
      const [client, isFar]: [Client, boolean] = random.pick([
        [owner, false],
        [viewer, true],
      ]);
      const wanted = isFar && hosts.get(hostId)?.network_id !== networks[0] ? null : expected(place, hostId);
      const answer = await client.get(`hosts/${hostId}/faceplate${place === states.length - 1 ? "" : `?at=${at}`}`);
      if (wanted === null) {
        expect(answer.status).toBe(404);
        count.missing += 1;
        continue;
      }
      const ports: Wire[] = [...answer.data.groups.flatMap((group: Wire) => group.ports), ...answer.data.logical];
      const found: Record<string, unknown> = Object.fromEntries(ports.map((port) => [port.id, toldOf(port)]));
      expect([question, found]).toEqual([question, wanted]);
      const order = ports.map(({ name, if_index }) => [Number(name.split("/")[2]), if_index]);
      expect(order).toEqual(
        [...order].sort(([a, b], [c, d]) => (a as number) - (c as number) || (b as number) - (d as number)),
      );
      count.ports += ports.length;
      const chosen = ports.filter(() => random.integer(3) === 0).map(({ id }) => id);
      if (chosen.length > 0) {
        const query = new URLSearchParams({ ids: chosen.join(","), ...(place === states.length - 1 ? {} : { at }) });
        const part = (await client.get(`hosts/${hostId}/faceplate?${query}`)).data;
        const isChosen = ({ id }: Wire) => chosen.includes(id);
        const groups = answer.data.groups.map((group: Wire) => ({ ...group, ports: group.ports.filter(isChosen) }));
        expect([question, part]).toEqual([
          question,
          {
            ...answer.data,
            groups: groups.filter((group: Wire) => group.ports.length > 0),
            logical: answer.data.logical.filter(isChosen),
          },
        ]);
        count.parts += 1;
      }
      for (const port of ports) {
        count.unused += Number(port.unused_since !== null);
        count.stations += port.stations.length;
        count.owners += port.stations.filter(({ hosts: owners }: Wire) => owners.length > 0).length;
      }
    }
    for (const [what, many] of Object.entries(count)) expect([what, many > 40]).toEqual([what, true]);
  });

  /** Compared fields of a port. */
  function toldOf(port: Wire) {
    const { oper_status, admin_status, speed_bps, native_vlan, tagged_vlans, neighbor, fdb_entries } = port;
    return {
      oper_status,
      admin_status,
      speed_bps,
      native_vlan,
      tagged_vlans,
      neighbor,
      fdb_entries,
      stations: port.stations.map(({ mac_address, vendor, type, known_use, since, hosts }: Wire) => ({
        mac: mac_address,
        vendor,
        type,
        known_use,
        since,
        owners: hosts.map((host: Wire) => ({
          id: host.id,
          name: host.name,
          hasInterface: host.interface !== null,
          ips: host.ip_addresses,
        })),
      })),
      unused_since: port.unused_since,
      known_since: port.known_since,
    };
  }
});
