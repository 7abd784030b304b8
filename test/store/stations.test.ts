// Stations compared with plain code over full copies of the inventory: at random timestamps of a random history, for
// callers of all networks and of some, for one network, one device, and all.

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
import { Store, type Wire } from "../support/store/store.ts";

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
  for (let each = 0; each < 500; each += 1) {
    if (random.integer(3) > 0) model.step();
    else
      model.step((draft) => {
        const [ports, addresses] = [draft.all(ifEntryKind), draft.all(ipAddressKind)];
        for (let times = 0; times < 3 && ports.length > 0; times += 1)
          draft.forwardTo(random.pick(ports), random.pick(MACS));
        if (ports.length > 0 && random.integer(4) === 0)
          draft.update(random.pick(ports), {
            lldp_chassis_id:
              random.integer(2) === 0 ? undefined : { subtype: "MacAddress", value: "00:00:5e:00:53:01" },
          });
        if (ports.length > 0) draft.update(random.pick(ports), { mac_address: random.pick([null, ...MACS]) });
        if (addresses.length > 0) draft.update(random.pick(addresses), { mac_address: random.pick([null, ...MACS]) });
      });
  }
});
afterAll(() => store.close());

interface Asked {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly hostId: string | null;
  readonly isKnown: boolean | null;
  readonly sequence: number;
  readonly limit: number;
  readonly offset: number;
}

function answer({ reach, sequence, ...asked }: Asked): Wire {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
  const moment = momentOf(store.reader, sequence);
  const chunks = [...stations(store.reader, { actor, moment, format: "json", ...asked })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}

/** Expected stations in plain code: port, MAC address, and the hosts that have it. */
function expected({ reach, networkId, hostId, isKnown, sequence }: Asked): string[] {
  const records = [...(model.snapshots.findLast((each) => each.sequence <= sequence)?.records.values() ?? [])].filter(
    ({ fields }) => reach === null || reach.includes(String(fields.network_id)),
  );
  const of = (kind: unknown) => records.filter((record) => record.kind === kind);
  const ports = new Map(of(ifEntryKind).map((port) => [port.id, port]));
  const entries = of(fdbEntryKind);
  const hostsWith = (network: unknown, mac: unknown) =>
    [...of(ifEntryKind), ...of(ipAddressKind)]
      .filter(({ fields }) => fields.network_id === network && fields.mac_address === mac)
      .map(({ fields }) => String(fields.host_id));
  const isEdge = ({ id, fields }: ModelRecord) =>
    fields.lldp_chassis_id === undefined && entries.filter((other) => other.fields.if_entry_id === id).length <= 4;
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

const named = (data: Wire[]) =>
  data
    .map(
      ({ switch: { id }, port, mac_address, hosts }) =>
        `${id} ${port.id} ${mac_address} ${hosts
          .map((host: Wire) => host.id)
          .sort()
          .join(" ")}`,
    )
    .sort();

test("matches a naive model, at any instant, of all networks, of some, of one and of one device", () => {
  const { random } = model;
  const networks = [...model.head.records.values()].filter(({ kind }) => kind === networkKind).map(({ id }) => id);
  const found = { known: 0, unknown: 0, ofNetwork: 0, ofHost: 0, shared: 0, twice: 0, none: 0 };
  for (let time = 0; time < 300; time += 1) {
    const { sequence, records } = random.integer(4) === 0 ? model.head : random.pick(model.snapshots);
    // Usually records with ports.
    const ports = [...records.values()].filter(
      ({ kind }) => kind === (random.integer(9) === 0 ? hostKind : ifEntryKind),
    );
    const some = ports.length === 0 ? null : random.pick(ports);
    const deviceId = some === null ? null : String(some.fields.host_id ?? some.id);
    const placeId = random.integer(4) === 0 || some === null ? random.pick(networks) : String(some.fields.network_id);
    const asked: Asked = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? placeId : null,
      hostId: random.integer(3) === 0 ? deviceId : null,
      isKnown: random.pick([null, null, true, false]),
      sequence,
      limit: 0,
      offset: 0,
    };
    const { data, meta } = answer(asked);
    const wanted = expected(asked);
    expect({ asked, stations: named(data) }).toEqual({ asked, stations: wanted });
    expect(meta.pagination.total_count).toBe(wanted.length);
    const since = data.map((station: Wire) => station.since);
    expect(since).toEqual(since.toSorted().reverse());
    for (const station of data as Wire[]) {
      found[station.hosts.length > 0 ? "known" : "unknown"] += 1;
      if (asked.networkId !== null) found.ofNetwork += 1;
      if (asked.hostId !== null) found.ofHost += 1;
      if (station.hosts.length > 1) found.shared += 1;
    }
    const macs = (data as Wire[]).map((station) => `${station.network_id} ${station.mac_address}`);
    found.twice += macs.length - new Set(macs).size;
    if (data.length === 0) found.none += 1;
    const [offset, limit] = [random.integer(4), 1 + random.integer(3)];
    const page = answer({ ...asked, offset, limit });
    expect(page.data).toEqual(data.slice(offset, offset + limit));
    expect(page.meta.pagination).toMatchObject({ total_count: data.length, limit, offset });
  }
  for (const [what, count] of Object.entries(found)) expect([what, count > 20]).toEqual([what, true]);
});
