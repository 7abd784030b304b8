// GET /api/v1/hosts/{id}/faceplate through the API, including a comparison with a reference implementation over the
// state after every write, at random timestamps and for all callers.

import { beforeAll, describe, expect, test } from "bun:test";
import { virtualRouterOf } from "../../src/base/mac.ts";
import { macInfo } from "../../src/base/vendors/vendor.ts";
import { applianceForAll, applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
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
    const port = (if_index: number, if_name: string, more: JsonRecord = {}) =>
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
    expect(
      data.groups.map(({ type, member, module, ports }: JsonRecord) => [type, member, module, namesOf(ports)]),
    ).toEqual([
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

  test("includes its host with include=host, as its list does with include=overview, now and at a timestamp", async () => {
    const host = await newHost({ name: "access-1" });
    await newIfEntry(host.id, { if_index: 1, if_descr: "Gi0/1" });
    const before = instant();
    tick();
    await newIfEntry(host.id, { if_index: 2, if_descr: "Gi0/2" });
    for (const at of ["", `&at=${before}`]) {
      const [listed] = (await owner.get(`hosts?ids=${host.id}&include=overview${at}`)).data;
      const { data } = await owner.get(`hosts/${host.id}/faceplate?include=host${at}`);
      expect(data.host_record).toEqual(listed);
      expect(data.host_record.counts.interfaces).toBe(at === "" ? 2 : 1);
    }
    expect((await owner.get(`hosts/${host.id}/faceplate`)).data.host_record).toBeUndefined();
  });

  test("shows when a port became unused, null if it was never up, and when its state became known", async () => {
    const host = await newHost({ name: "access-1" });
    const entry = await newIfEntry(host.id, { if_index: 1, if_descr: "Gi0/1", oper_status: "Up" });
    const otherEntry = await newIfEntry(host.id, { if_index: 2, if_descr: "Gi0/2", oper_status: "Down" });
    const whileUp = instant();
    tick();
    const down = await expectOk(owner.put(`if-entries/${entry.id}`, { ...entry, oper_status: "Down" }));
    tick();
    await expectOk(owner.put(`if-entries/${entry.id}`, { ...down, if_alias: "desk 3", oper_status: "LowerLayerDown" }));
    tick();
    const unused = async (query = "") =>
      (await owner.get(`hosts/${host.id}/faceplate${query}`)).data.groups[0].ports.map((port: JsonRecord) => [
        port.unused_since,
        port.known_since,
      ]);
    expect(await unused()).toEqual([
      [down.updated_at, entry.created_at],
      [null, otherEntry.created_at],
    ]);
    expect(await unused(`?at=${whileUp}`)).toEqual([
      [null, entry.created_at],
      [null, otherEntry.created_at],
    ]);
  });

  test("lists up to a hundred stations per port, and indicates more", async () => {
    const host = await newHost({ name: "access-1" });
    const macs = [...Array(130).keys()].map((index) => `00:1b:21:00:01:${index.toString(16).padStart(2, "0")}`);
    await newIfEntry(host.id, { if_index: 1, if_descr: "Gi0/1", fdb_macs: macs });
    const [port] = (await owner.get(`hosts/${host.id}/faceplate`)).data.groups[0].ports;
    expect([port.fdb_entries, port.stations.length, port.has_more_stations]).toEqual([130, 100, true]);
    expect(port.stations.map(({ mac_address }: JsonRecord) => mac_address)).toEqual(macs.slice(0, 100));
  });

  test("keeps the positions of selected ports, and omits others", async () => {
    const host = await newHost({ name: "access-1" });
    const otherEntry = await newIfEntry((await newHost({ name: "access-2" })).id, { if_index: 1, if_descr: "Gi1/0/1" });
    const port = (if_index: number, if_name: string, more: JsonRecord = {}) =>
      newIfEntry(host.id, { if_index, if_name, if_descr: if_name, if_type: 6, ...more });
    for (const number of [1, 2, 3]) await port(number, `Eth1/${number}`);
    // A breakout port: only its neighbors indicate its position.
    const breakout = await port(10, "Eth1/4/1", { fdb_macs: ["00:1b:21:aa:bb:dd"] });
    const vlan = await port(20, "Vlan20", { if_type: 53 });
    const early = instant();
    tick();
    const lateEntry = await port(30, "Eth1/5");
    const faceplateOf = async (query: string) => (await owner.get(`hosts/${host.id}/faceplate?${query}`)).data;
    const full = await faceplateOf("");
    const [group] = full.groups;
    expect(await faceplateOf(`ids=${breakout.id}&ids=${vlan.id}`)).toEqual({
      ...full,
      groups: [{ ...group, ports: group.ports.filter(({ id }: JsonRecord) => id === breakout.id) }],
    });
    expect(await faceplateOf(`ids=${lateEntry.id},${otherEntry.id}&at=${early}`)).toEqual({
      ...full,
      groups: [],
      logical: [],
    });
    expect(namesOf((await faceplateOf(`ids=${lateEntry.id},${otherEntry.id}`)).groups[0].ports)).toEqual(["Eth1/5"]);
    const names = async (query: string) => {
      const { groups, logical } = await faceplateOf(query);
      return [...groups.map((group: JsonRecord) => namesOf(group.ports)), namesOf(logical)];
    };
    expect(await names("limit=2")).toEqual([["Eth1/1", "Eth1/2"], []]);
    expect(await names("limit=6")).toEqual([["Eth1/1", "Eth1/2", "Eth1/3", "Eth1/4/1", "Eth1/5"], ["Vlan20"]]);
    expect(await names("limit=0")).toEqual(await names("limit=6"));
    expect(await names(`limit=1&ids=${vlan.id},${breakout.id}`)).toEqual([["Eth1/4/1"], []]);
    expect((await owner.get(`hosts/${host.id}/faceplate?ids=one`)).body.params.issues[0].path).toBe("/ids/0");
  });

  test("is 404 if its host is out of reach, did not exist yet, or never existed", async () => {
    const before = instant();
    tick();
    const far = await newNetwork({ name: "far" });
    const host = await newHost({ name: "access-1", network_id: far.id });
    const outsider = (await newUser({ role: "Viewer", networkIds: [] })).client;
    for (const response of [
      await outsider.get(`hosts/${host.id}/faceplate`),
      await owner.get(`hosts/${host.id}/faceplate?at=${before}`),
      await owner.get(`hosts/${far.id}/faceplate`),
    ])
      expect(response).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
  });
});

function namesOf(ports: readonly JsonRecord[]): string[] {
  return ports.map(({ name }) => name);
}

describe("a random faceplate", () => {
  const STEPS = 160;
  const ROUNDS = 300;
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
    readonly hosts: ReadonlyMap<string, JsonRecord>;
    readonly ports: ReadonlyMap<string, JsonRecord>;
    readonly vlans: ReadonlyMap<string, JsonRecord>;
  }
  const states: State[] = [];
  const networks: string[] = [];

  async function recordState(): Promise<void> {
    const byId = async (path: string) =>
      new Map(
        (await owner.get(`${path}?limit=0`)).data.map((record: JsonRecord) => [record.id, record]) as [
          string,
          JsonRecord,
        ][],
      );
    const [hosts, ports, vlans] = [await byId("hosts"), await byId("if-entries"), await byId("vlans")];
    states.push({ at: new Date(appliance.clock.now()).toISOString(), hosts, ports, vlans });
  }

  const sample = (items: readonly string[]) => items.filter(() => random.integer(3) === 0);
  const latest = () => states.at(-1) as State;
  const pick = <T>(items: Iterable<T>): T | null => {
    const all = [...items];
    return all.length === 0 ? null : random.pick(all);
  };

  function portFields(host: JsonRecord): JsonRecord {
    const vlans = [...latest().vlans.values()]
      .filter((vlan) => vlan.network_id === host.network_id)
      .map(({ id }) => id);
    const far = pick([...latest().ports.values()].filter((port) => port.network_id === host.network_id));
    return {
      if_type: 6,
      oper_status: random.pick(STATUSES),
      admin_status: random.pick(["Up", "Down"]),
      speed_bps: random.pick([null, 1_000_000_000]),
      mac_address: random.pick([null, ...MACS]),
      native_vlan_id: pick(vlans),
      vlan_ids: sample(vlans),
      fdb_macs: sample(MACS),
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

  async function step(index: number): Promise<void> {
    const roll = random.integer(10);
    const host = pick(latest().hosts.values());
    const port = pick(latest().ports.values());
    if (roll === 0 || host === null) {
      const networkIndex = random.integer(networks.length);
      await expectOk(
        owner.post("hosts", {
          network_id: networks[networkIndex],
          name: random.pick(["web", "Ärger", "core-1", "printer 10"]),
          ip_addresses: [
            { ip_address: `10.${networkIndex}.0.${index + 1}`, mac_address: random.pick([null, ...MACS]) },
          ],
        }),
      );
    } else if (roll < 4) {
      await expectOk(
        owner.post("if-entries", {
          host_id: host.id,
          if_index: index + 1,
          if_descr: `Gi1/0/${random.integer(30)}`,
          ...portFields(host),
        }),
      );
    } else if (roll < 8 && port !== null)
      await expectOk(
        owner.put(`if-entries/${port.id}`, { ...port, ...portFields(latest().hosts.get(port.host_id) as JsonRecord) }),
      );
    else if (roll === 8 && port !== null) await owner.delete(`if-entries/${port.id}?cascade=true`);
    else if (latest().hosts.size > 4) await owner.delete(`hosts/${host.id}?cascade=true`);
    else await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: `${host.name}${index}` }));
  }

  beforeAll(async () => {
    networks.push(appliance.first.networkId, (await expectOk(owner.post("networks", { name: "far" }))).id);
    for (const [index, network_id] of networks.entries()) {
      await expectOk(owner.post("subnets", { network_id, cidr: `10.${index}.0.0/16` }));
      for (const number of [10, 20]) await expectOk(owner.post("vlans", { network_id, number, name: `v${number}` }));
    }
    await recordState();
    for (let index = 0; index < STEPS; index += 1) {
      appliance.clock.advance(1_000 + random.integer(5_000));
      await step(index);
      appliance.clock.advance(1_000);
      await recordState();
    }
  });

  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const folded = (name: string) => name.toLowerCase();
  const named = (record: JsonRecord | undefined) =>
    record === undefined ? null : { id: record.id, name: record.name ?? record.if_name ?? record.if_descr };

  /** Expected ports by id, computed naively. @param index index of the queried state */
  function expected(index: number, hostId: string): Record<string, unknown> | null {
    const state = states[index] as State;
    const host = state.hosts.get(hostId);
    if (host === undefined) return null;
    const ports = [...state.ports.values()].filter((port) => port.host_id === hostId);
    return Object.fromEntries(ports.map((port) => [port.id, expectedPort(index, port)]));
  }

  function expectedPort(index: number, port: JsonRecord) {
    const { hosts, vlans, ports } = states[index] as State;
    const vlan = (id: string) => {
      const { number, name } = vlans.get(id) as JsonRecord;
      return { id, number, name };
    };
    const far = port.neighbor?.type === "IfEntry" ? ports.get(port.neighbor.id) : undefined;
    const farHost = port.neighbor?.type === "Host" ? hosts.get(port.neighbor.id) : hosts.get(far?.host_id);
    const isForwarding = [...ports.values()].some(
      ({ host_id, fdb_macs = [] }) => host_id === farHost?.id && fdb_macs.length > 0,
    );
    const source = port.lldp_sys_name !== undefined ? "Lldp" : port.cdp_port_id !== undefined ? "Cdp" : "Entered";
    return {
      oper_status: port.oper_status,
      admin_status: port.admin_status,
      speed_bps: port.speed_bps ?? null,
      native_vlan: port.native_vlan_id === undefined ? null : vlan(port.native_vlan_id),
      tagged_vlans: (port.vlan_ids ?? []).map(vlan).sort((a: JsonRecord, b: JsonRecord) => a.number - b.number),
      neighbor:
        source === "Entered" && farHost === undefined
          ? null
          : {
              source,
              host: named(farHost),
              interface: named(far),
              announced_name: port.lldp_sys_name ?? null,
              announced_port: port.cdp_port_id ?? null,
              role: isForwarding ? "Network" : source === "Entered" ? "End" : "Unknown",
            },
      fdb_entries: (port.fdb_macs ?? []).length,
      stations: expectedStations(index, port),
      unused_since: port.oper_status === "Up" ? null : lastUpEnd(index, port.id),
      known_since: port.created_at,
    };
  }

  function expectedStations(index: number, port: JsonRecord): unknown[] {
    const { hosts, ports } = states[index] as State;
    return ((port.fdb_macs ?? []) as string[])
      .map((mac) => {
        const isStation = virtualRouterOf(mac) !== null || !["Multicast", "Unspecified"].includes(macInfo(mac).type);
        const owners = [...hosts.values()]
          .filter((host) => host.network_id === port.network_id)
          .flatMap((host) => {
            const own = [...ports.values()].find((port) => port.host_id === host.id && port.mac_address === mac);
            const ips = host.ip_addresses.filter((address: JsonRecord) => address.mac_address === mac);
            return isStation && (own !== undefined || ips.length > 0)
              ? [
                  {
                    id: host.id,
                    name: host.name,
                    hasInterface: own !== undefined,
                    ips: ips.map((a: JsonRecord) => a.ip_address),
                  },
                ]
              : [];
          })
          .sort((a, b) => compare(folded(a.name), folded(b.name)) || compare(a.id, b.id))
          .slice(0, 8);
        return { mac, ...macInfo(mac), since: learnedAt(index, port.id, mac), owners };
      })
      .sort(
        (a, b) =>
          Number(a.owners.length === 0) - Number(b.owners.length === 0) ||
          compare(folded(a.owners[0]?.name ?? ""), folded(b.owners[0]?.name ?? "")) ||
          compare(a.mac, b.mac),
      );
  }

  /** Time at which the port last learned the address, up to a state. */
  function learnedAt(index: number, portId: string, mac: string): string {
    let first = index;
    const hasLearned = (position: number) => (states[position]?.ports.get(portId)?.fdb_macs ?? []).includes(mac);
    while (first > 0 && hasLearned(first - 1)) first -= 1;
    return states[first]?.ports.get(portId)?.updated_at;
  }

  function lastUpEnd(index: number, portId: string): string | null {
    for (let i = index; i > 0; i -= 1)
      if (states[i - 1]?.ports.get(portId)?.oper_status === "Up") return states[i]?.ports.get(portId)?.updated_at;
    return null;
  }

  test("matches a naive model, now and in the past, for every caller", async () => {
    const viewer = (await appliance.newUser({ role: "Viewer", networkIds: [networks[0] as string] })).client;
    const hostIds = [...new Set(states.flatMap(({ hosts }) => [...hosts.keys()]))];
    const count = { ports: 0, stations: 0, owners: 0, unused: 0, missing: 0, parts: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const index = random.integer(4) === 0 ? states.length - 1 : random.integer(states.length);
      const { at, hosts } = states[index] as State;
      const hostId = random.integer(3) === 0 ? random.pick(hostIds) : (pick(hosts.keys()) ?? random.pick(hostIds));
      const [client, isLimited]: [Client, boolean] = random.pick([
        [owner, false],
        [viewer, true],
      ]);
      const expectedPorts = isLimited && hosts.get(hostId)?.network_id !== networks[0] ? null : expected(index, hostId);
      const response = await client.get(`hosts/${hostId}/faceplate${index === states.length - 1 ? "" : `?at=${at}`}`);
      if (expectedPorts === null) {
        expect(response.status).toBe(404);
        count.missing += 1;
        continue;
      }
      const ports: JsonRecord[] = [
        ...response.data.groups.flatMap((group: JsonRecord) => group.ports),
        ...response.data.logical,
      ];
      const found: Record<string, unknown> = Object.fromEntries(ports.map((port) => [port.id, comparedFields(port)]));
      expect([round, found]).toEqual([round, expectedPorts]);
      const order = ports.map(({ name, if_index }) => [Number(name.split("/")[2]), if_index]);
      expect(order).toEqual(
        [...order].sort(([a, b], [c, d]) => (a as number) - (c as number) || (b as number) - (d as number)),
      );
      count.ports += ports.length;
      const chosen = ports.filter(() => random.integer(3) === 0).map(({ id }) => id);
      if (chosen.length > 0) {
        const query = new URLSearchParams({ ids: chosen.join(","), ...(index === states.length - 1 ? {} : { at }) });
        const part = (await client.get(`hosts/${hostId}/faceplate?${query}`)).data;
        const isChosen = ({ id }: JsonRecord) => chosen.includes(id);
        const groups = response.data.groups.map((group: JsonRecord) => ({
          ...group,
          ports: group.ports.filter(isChosen),
        }));
        expect([round, part]).toEqual([
          round,
          {
            ...response.data,
            groups: groups.filter((group: JsonRecord) => group.ports.length > 0),
            logical: response.data.logical.filter(isChosen),
          },
        ]);
        count.parts += 1;
      }
      for (const port of ports) {
        count.unused += Number(port.unused_since !== null);
        count.stations += port.stations.length;
        count.owners += port.stations.filter(({ hosts: owners }: JsonRecord) => owners.length > 0).length;
      }
    }
    for (const [label, total] of Object.entries(count)) expect([label, total > 40]).toEqual([label, true]);
  });

  /** Compared fields of a port. */
  function comparedFields(port: JsonRecord) {
    const { oper_status, admin_status, speed_bps, native_vlan, tagged_vlans, neighbor, fdb_entries } = port;
    return {
      oper_status,
      admin_status,
      speed_bps,
      native_vlan,
      tagged_vlans,
      neighbor,
      fdb_entries,
      stations: port.stations.map(({ mac_address, vendor, type, known_use, since, hosts }: JsonRecord) => ({
        mac: mac_address,
        vendor,
        type,
        known_use,
        since,
        owners: hosts.map((host: JsonRecord) => ({
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
