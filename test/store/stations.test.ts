// Stations compared with a reference implementation over full copies of the inventory: at random timestamps of a random
// history, for callers with access to all or some networks, and for one network, one device, and all.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { stations } from "../../src/reports/stations/stations.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import type { ModelRecord } from "../support/model/draft.ts";
import { Model } from "../support/model/model.ts";
import { momentOf } from "../support/store/moments.ts";
import { type JsonRecord, Store } from "../support/store/store.ts";

const store = new Store({ seed: 83 });
const model = new Model(store, 83);

const MACS = [
  "00:1b:21:aa:bb:cc",
  "02:1b:21:aa:bb:cd",
  "00:1b:21:aa:bb:ce",
  "00:00:5e:00:01:07",
  "00:00:0c:07:ac:01",
  "01:00:5e:00:00:01",
];

beforeAll(() => {
  const { random } = model;
  for (let step = 0; step < 500; step += 1) {
    if (random.integer(3) > 0) model.step();
    else
      model.step((draft) => {
        const [ports, addresses] = [draft.all(ifEntryKind), draft.all(ipAddressKind)];
        for (let count = 0; count < 3 && ports.length > 0; count += 1)
          draft.forwardTo(random.pick(ports), random.pick(MACS));
        if (ports.length > 0 && random.integer(4) === 0)
          draft.update(random.pick(ports), {
            lldp_chassis_id:
              random.integer(2) === 0 ? undefined : { subtype: "MacAddress", value: "00:00:5e:00:53:01" },
            lldp_capabilities: random.pick([undefined, ["Bridge"], ["Bridge", "Telephone"], ["StationOnly"]]),
          });
        if (ports.length > 0) draft.update(random.pick(ports), { mac_address: random.pick([null, ...MACS]) });
        if (addresses.length > 0) draft.update(random.pick(addresses), { mac_address: random.pick([null, ...MACS]) });
      });
  }
});
afterAll(() => store.close());

interface StationsQuery {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly hostId: string | null;
  readonly isKnown: boolean | null;
  readonly sequence: number;
  readonly limit: number;
  readonly offset: number;
}

function runStations({ reach, sequence, ...query }: StationsQuery): JsonRecord {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
  const moment = momentOf(store.reader, sequence);
  const chunks = [...stations(store.reader, { actor, moment, format: "json", ...query })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}

/** Reference implementation: port and MAC address of each station, and the hosts that have the address. */
function referenceStations({ reach, networkId, hostId, isKnown, sequence }: StationsQuery): string[] {
  const records = [
    ...(model.snapshots.findLast((snapshot) => snapshot.sequence <= sequence)?.records.values() ?? []),
  ].filter(({ fields }) => reach === null || reach.includes(String(fields.network_id)));
  const recordsOf = (kind: unknown) => records.filter((record) => record.kind === kind);
  const ports = new Map(recordsOf(ifEntryKind).map((port) => [port.id, port]));
  const entries = recordsOf(fdbEntryKind);
  const hostsWith = (network: unknown, mac: unknown) =>
    [...recordsOf(ifEntryKind), ...recordsOf(ipAddressKind)]
      .filter(({ fields }) => fields.network_id === network && fields.mac_address === mac)
      .map(({ fields }) => String(fields.host_id));
  const isEnd = ({ lldp_capabilities: capabilities = [] }: JsonRecord) =>
    capabilities.includes("Telephone") || capabilities.includes("StationOnly");
  const isEdge = ({ id, fields }: ModelRecord) =>
    (fields.lldp_chassis_id === undefined || isEnd(fields as JsonRecord)) &&
    entries.filter((entry) => entry.fields.if_entry_id === id).length <= 4;
  return entries
    .filter(({ fields }) => !/^(00:00:5e:00:01|00:00:0c:07:ac|01:|00:00:00:00:00:00)/.test(`${fields.mac_address}`))
    .flatMap(({ fields }) => {
      const port = ports.get(String(fields.if_entry_id));
      if (port === undefined || !isEdge(port)) return [];
      if (networkId !== null && port.fields.network_id !== networkId) return [];
      if (hostId !== null && port.fields.host_id !== hostId) return [];
      const hosts = [...new Set(hostsWith(port.fields.network_id, fields.mac_address))].sort();
      if (isKnown !== null && hosts.length > 0 !== isKnown) return [];
      return [`${port.fields.host_id} ${port.id} ${fields.mac_address} ${hosts.join(" ")}`];
    })
    .sort();
}

const describeStations = (data: JsonRecord[]) =>
  data.map(({ switch: { id }, port, mac_address, hosts }) => {
    const hostIds = hosts.map((host: JsonRecord) => host.id).sort();
    return `${id} ${port.id} ${mac_address} ${hostIds.join(" ")}`;
  });

test("the stations match a reference implementation, at any timestamp, for any networks or one device", () => {
  const { random } = model;
  const networks = [...model.head.records.values()].filter(({ kind }) => kind === networkKind).map(({ id }) => id);
  const found = { known: 0, unknown: 0, ofNetwork: 0, ofHost: 0, shared: 0, twice: 0, none: 0 };
  for (let round = 0; round < 300; round += 1) {
    const { sequence, records } = random.integer(4) === 0 ? model.head : random.pick(model.snapshots);
    // Usually records with ports.
    const ports = [...records.values()].filter(
      ({ kind }) => kind === (random.integer(9) === 0 ? hostKind : ifEntryKind),
    );
    const somePort = ports.length === 0 ? null : random.pick(ports);
    const deviceId = somePort === null ? null : String(somePort.fields.host_id ?? somePort.id);
    const randomNetworkId =
      random.integer(4) === 0 || somePort === null ? random.pick(networks) : String(somePort.fields.network_id);
    const query: StationsQuery = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? randomNetworkId : null,
      hostId: random.integer(3) === 0 ? deviceId : null,
      isKnown: random.pick([null, null, true, false]),
      sequence,
      limit: 0,
      offset: 0,
    };
    const { data, meta } = runStations(query);
    const expectedStations = referenceStations(query);
    expect({ query, stations: describeStations(data).sort() }).toEqual({ query, stations: expectedStations });
    expect(meta.pagination.total_count).toBe(expectedStations.length);
    const since = data.map((station: JsonRecord) => station.since);
    expect(since).toEqual(since.toSorted().reverse());
    for (const station of data as JsonRecord[]) {
      found[station.hosts.length > 0 ? "known" : "unknown"] += 1;
      if (query.networkId !== null) found.ofNetwork += 1;
      if (query.hostId !== null) found.ofHost += 1;
      if (station.hosts.length > 1) found.shared += 1;
    }
    const macs = (data as JsonRecord[]).map((station) => `${station.network_id} ${station.mac_address}`);
    found.twice += macs.length - new Set(macs).size;
    if (data.length === 0) found.none += 1;
    const [offset, limit] = [random.integer(4), 1 + random.integer(3)];
    const page = runStations({ ...query, offset, limit });
    expect(page.data).toEqual(data.slice(offset, offset + limit));
    expect(page.meta.pagination).toMatchObject({ total_count: data.length, limit, offset });
  }
  for (const [label, count] of Object.entries(found)) expect([label, count > 20]).toEqual([label, true]);
});
