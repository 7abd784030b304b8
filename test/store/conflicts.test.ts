// Conflicts compared with a reference implementation over full copies of the inventory: at random times of a random
// history, for callers with access to all or some networks, and for one network or all.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { addressConflicts } from "../../src/reports/conflicts/address-conflicts.ts";
import { conflicts } from "../../src/reports/conflicts/conflicts.ts";
import { CONFLICT_TYPES, type ConflictType } from "../../src/resources/conflict-acceptances/acceptance.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import type { Draft, ModelRecord } from "../support/model/draft.ts";
import { Model } from "../support/model/model.ts";
import { countSteps } from "../support/store/counted-steps.ts";
import { momentOf } from "../support/store/moments.ts";
import { type JsonRecord, Store, subnetFields } from "../support/store/store.ts";

const store = new Store({ seed: 71 });
const model = new Model(store, 71);

const ADDRESSES = ["10.2.3.4", "8.8.8.8", "2600::1", "127.0.0.1", "fe80::1", "169.254.3.4", "100.64.0.9"];
const PREFIXES = ["10.0.0.0/8", "10.2.0.0/16", "10.2.3.0/24", "8.8.0.0/16", "0.0.0.0/0", "127.0.0.0/8", "2600::/32"];
const TYPES = ["Lan", "Lan", "Lan", "Internet", "Remote", "Loopback", "DockerBridge", "PodmanBridge", "Container"];
const INTERFACES = [
  "",
  "",
  "",
  "",
  "",
  "eth0",
  "eth0",
  "eth0",
  "eth1",
  "eth1",
  "Vlan10",
  "docker0",
  "br-0123456789ab",
  "virbr0",
];
const LOCAL_INTERFACES = ["docker0", "br-0123456789ab", "virbr0"];
const MACS = ["00:1b:21:aa:bb:cc", "02:1b:21:aa:bb:cd", "00:00:5e:00:01:07", "00:00:0c:07:ac:01", "01:00:5e:00:00:01"];

beforeAll(() => {
  model.movesHosts = false;
  const { random } = model;
  for (let step = 0; step < 600; step += 1) {
    const choice = random.integer(5);
    if (choice === 0)
      model.step((draft) => {
        for (let count = 0; count < 5; count += 1) changeAddress(draft);
        const hosts = draft.all(hostKind);
        if (hosts.length > 0)
          draft.update(random.pick(hosts), {
            stale_since: random.pick([null, null, null, null, "2026-11-21T00:00:00.000Z"]),
          });
      });
    else if (choice === 1) model.step(changeSubnets);
    else if (choice === 2)
      model.step((draft) => {
        const ports = draft.all(ifEntryKind);
        for (let count = 0; count < 2 && ports.length > 0; count += 1) {
          const port = random.pick(ports);
          draft.forwardTo(port, random.pick(MACS));
          if (random.integer(6) === 0)
            draft.update(port, {
              lldp_chassis_id:
                random.integer(2) === 0 ? undefined : { subtype: "MacAddress", value: "00:00:5e:00:53:01" },
            });
        }
      });
    else model.step();
  }
});
afterAll(() => store.close());

/** Changes an address to another existing one, or to another MAC address. */
function changeAddress(draft: Draft): void {
  const { random } = model;
  const addresses = draft.all(ipAddressKind);
  if (addresses.length === 0) return;
  const address = random.pick(addresses);
  const ip_address = random.pick(ADDRESSES);
  const isTaken = addresses.some(
    ({ fields }) => fields.host_id === address.fields.host_id && fields.ip_address === ip_address,
  );
  const subnets = draft.all(subnetKind).filter(({ fields }) => fields.network_id === address.fields.network_id);
  draft.update(address, {
    mac_address: random.pick([null, null, null, null, ...MACS]),
    name: random.pick(INTERFACES),
    subnet_id: random.pick(subnets).id,
    ...(isTaken ? {} : { ip_address }),
  });
}

function changeSubnets(draft: Draft): void {
  const { random } = model;
  const network = random.pick(draft.all(networkKind).slice(0, 4));
  const subnets = draft.all(subnetKind);
  const cidr = random.pick(PREFIXES);
  if (!subnets.some(({ fields }) => fields.network_id === network.id && fields.cidr === cidr))
    draft.create(subnetKind, subnetFields(network.id, cidr));
  if (subnets.length > 0) draft.update(random.pick(subnets), { subnet_type: random.pick(TYPES) });
  const unused = subnets.filter(({ id }) => !draft.all(ipAddressKind).some(({ fields }) => fields.subnet_id === id));
  if (unused.length > 3) draft.remove(random.pick(unused));
}

interface ConflictQuery {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly types: readonly ConflictType[];
  readonly sequence: number;
  readonly limit: number;
  readonly offset: number;
}

function runConflicts({ reach, sequence, ...query }: ConflictQuery): JsonRecord {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
  const moment = momentOf(store.reader, sequence);
  const chunks = [...conflicts(store.reader, { actor, moment, isAccepted: null, format: "json", ...query })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}

const HOST_INTERNAL_TYPES = ["Loopback", "DockerBridge", "PodmanBridge"];
/** Link-scoped addresses and prefixes among those above. */
const LINK_SCOPED = /^(127\.|169\.254\.|fe80:|::1$|::\/0$|0\.0\.0\.0)/;
const PUBLIC = /^(8\.|110\.|2600:|9\.|11\.)/;

/** Reference implementation: type, value and the ids of the parties of each conflict. */
function referenceConflicts({ reach, networkId, types, sequence }: ConflictQuery): string[] {
  const snapshot = model.snapshots.findLast((candidate) => candidate.sequence <= sequence);
  const records = [...(snapshot?.records.values() ?? [])].filter(
    ({ fields }) => reach === null || reach.includes(String(fields.network_id)),
  );
  const recordsOf = (kind: unknown) => records.filter((record) => record.kind === kind);
  return [
    ...expectedAddresses(recordsOf, snapshot?.records ?? new Map()),
    ...expectedMacs(recordsOf),
    ...expectedSubnets(recordsOf, [...(snapshot?.records.values() ?? [])]),
  ]
    .filter(({ type, parties }) => types.includes(type) && parties.length > 1)
    .filter(({ networks }) => networkId === null || networks.includes(networkId))
    .map(({ type, value, parties }) => `${type} ${value} ${parties.sort().join(" ")}`)
    .sort();
}

interface ExpectedConflict {
  readonly type: ConflictType;
  readonly value: string;
  readonly parties: string[];
  readonly networks: string[];
}
type RecordsOf = (kind: unknown) => ModelRecord[];

function expectedAddresses(recordsOf: RecordsOf, all: ReadonlyMap<string, ModelRecord>): ExpectedConflict[] {
  const candidates = recordsOf(ipAddressKind).filter(({ fields }) => {
    const type = String(all.get(String(fields.subnet_id))?.fields.subnet_type);
    const mac = String(fields.mac_address);
    return (
      !HOST_INTERNAL_TYPES.includes(type) &&
      !LOCAL_INTERFACES.includes(String(fields.name)) &&
      !mac.startsWith("00:00:5e:00:01:") &&
      !mac.startsWith("00:00:0c:07:ac:") &&
      !LINK_SCOPED.test(String(fields.ip_address))
    );
  });
  const groups = Map.groupBy(candidates, ({ fields }) => {
    const address = String(fields.ip_address);
    return `${address} ${PUBLIC.test(address) ? "" : fields.network_id}`;
  });
  const entries = recordsOf(fdbEntryKind);
  return [...groups.values()].map((group) => {
    const present = group.filter(
      ({ fields }) => (all.get(String(fields.host_id))?.fields.stale_since ?? null) === null,
    );
    const claimants = present.length > 0 ? present : group;
    const macs = new Set(claimants.map(({ fields }) => fields.mac_address ?? null));
    const connected = claimants.filter(
      ({ fields: { mac_address, network_id } }) =>
        mac_address === null ||
        entries.some(({ fields }) => fields.mac_address === mac_address && fields.network_id === network_id),
    );
    const isKnown = connected.some(({ fields }) => fields.mac_address !== null);
    const holders = macs.size === 1 && !macs.has(null) ? [] : isKnown ? connected : claimants;
    return {
      type: "Address",
      value: String(group[0]?.fields.ip_address),
      parties: holders.map(({ fields }) => String(fields.host_id)),
      networks: holders.map(({ fields }) => String(fields.network_id)),
    };
  });
}

function expectedMacs(recordsOf: RecordsOf): ExpectedConflict[] {
  const entries = recordsOf(fdbEntryKind);
  const ports = recordsOf(ifEntryKind);
  const isEdge = ({ fields }: ModelRecord) =>
    ports.find(({ id }) => id === fields.if_entry_id)?.fields.lldp_chassis_id === undefined &&
    entries.filter((entry) => entry.fields.if_entry_id === fields.if_entry_id).length <= 4;
  const unicastEntries = entries.filter(
    ({ fields }) => !/^(00:00:5e|00:00:0c|01:|00:00:00:00:00:00)/.test(`${fields.mac_address}`),
  );
  const groups = Map.groupBy(
    unicastEntries.filter(isEdge),
    ({ fields }) => `${fields.network_id} ${fields.mac_address}`,
  );
  return [...groups.values()].map((stationEntries) => ({
    type: "Mac",
    value: String(stationEntries[0]?.fields.mac_address),
    parties: [...new Set(stationEntries.map(({ fields }) => String(fields.if_entry_id)))],
    networks: stationEntries.map(({ fields }) => String(fields.network_id)),
  }));
}

function expectedSubnets(recordsOf: RecordsOf, all: readonly ModelRecord[]): ExpectedConflict[] {
  const isLocal = ({ id }: ModelRecord) => {
    const names = all
      .filter(({ kind, fields }) => kind === ipAddressKind && fields.subnet_id === id && fields.name !== "")
      .map(({ fields }) => String(fields.name));
    return names.length > 0 && names.every((name) => LOCAL_INTERFACES.includes(name));
  };
  const candidates = recordsOf(subnetKind).filter(
    ({ fields }) =>
      ![...HOST_INTERNAL_TYPES, "Internet", "Remote", "Container"].includes(String(fields.subnet_type)) &&
      !LINK_SCOPED.test(String(fields.cidr)),
  );
  return [...Map.groupBy(candidates, ({ fields }) => String(fields.cidr))].map(([cidr, sameCidr]) => {
    const parties = [...sameCidr];
    // The most specific subnet first.
    const containing = candidates
      .filter(({ fields }) => fields.cidr !== cidr && isIn(cidr, String(fields.cidr)))
      .sort((a, b) => lengthOf(b) - lengthOf(a));
    for (const subnet of containing)
      if (!parties.some(({ fields }) => fields.network_id === subnet.fields.network_id)) parties.push(subnet);
    const claimants = parties.filter((subnet) => !isLocal(subnet));
    return {
      type: "Subnet",
      value: cidr,
      parties: claimants.map(({ id }) => id),
      networks: claimants.map(({ fields }) => String(fields.network_id)),
    };
  });
}

function lengthOf({ fields }: ModelRecord): number {
  return Number(String(fields.cidr).split("/")[1]);
}

/** Whether a prefix is inside another. */
function isIn(cidr: string, outer: string): boolean {
  const [[address = "", length], [containing = "", shorter]] = [cidr.split("/"), outer.split("/")];
  if (address.includes(":") !== containing.includes(":") || Number(length) <= Number(shorter)) return false;
  return bits(address).slice(0, Number(shorter)) === bits(containing).slice(0, Number(shorter));
}

function bits(address: string): string {
  if (!address.includes(":"))
    return address.split(".").reduce((text, octet) => text + Number(octet).toString(2).padStart(8, "0"), "");
  const groups = address.replace(/::$/, "").split(":");
  return [...groups, ...Array(8 - groups.length).fill("0")]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0"))
    .join("");
}

const describeConflicts = (data: JsonRecord[]) =>
  data.map(({ type, value, parties }) => {
    const ids = parties.map(({ id }: JsonRecord) => id).sort();
    return `${type} ${value} ${ids.join(" ")}`;
  });

test("the conflicts match a reference implementation, at any timestamp, for all networks and for some", () => {
  const { random } = model;
  const networks = [...model.head.records.values()].filter(({ kind }) => kind === networkKind).map(({ id }) => id);
  const found = { Address: 0, Mac: 0, Subnet: 0, across: 0, none: 0 };
  for (let round = 0; round < 300; round += 1) {
    const query: ConflictQuery = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? random.pick(networks) : null,
      types: random.integer(3) === 0 ? [random.pick([...CONFLICT_TYPES])] : CONFLICT_TYPES,
      sequence: random.integer(4) === 0 ? model.head.sequence : random.pick(model.snapshots).sequence,
      limit: 0,
      offset: 0,
    };
    const { data, meta } = runConflicts(query);
    const expectedConflicts = referenceConflicts(query);
    expect({ query, conflicts: describeConflicts(data).sort() }).toEqual({ query, conflicts: expectedConflicts });
    expect(meta.pagination.total_count).toBe(expectedConflicts.length);
    for (const conflict of data as JsonRecord[]) {
      found[conflict.type as ConflictType] += 1;
      if (conflict.network_ids.length > 1) found.across += 1;
      expect(conflict.network_ids).toEqual(
        [...new Set(conflict.parties.map((party: JsonRecord) => party.network_id))].sort(),
      );
    }
    if (data.length === 0) found.none += 1;
    const [offset, limit] = [random.integer(4), 1 + random.integer(3)];
    const page = runConflicts({ ...query, offset, limit });
    expect(page.data).toEqual(data.slice(offset, offset + limit));
    const hasMore = offset + limit < data.length;
    expect(page.meta.pagination).toEqual({ total_count: data.length, limit, offset, has_more: hasMore });
  }
  for (const [label, count] of Object.entries(found)) expect([label, count > 20]).toEqual([label, true]);
});

test("the same address conflicts are found in any number of steps, and for a single address", () => {
  let sequence = 0;
  const found = (addresses: readonly string[] | null, stepVersions?: number) => {
    const search = addressConflicts(
      store.reader,
      { reach: store.reach(), sequence, at: null },
      addresses,
      stepVersions,
    );
    const { result: all, steps } = countSteps(search);
    return { all, steps };
  };
  const sizes = model.snapshots.map((snapshot) => {
    ({ sequence } = snapshot);
    return { sequence, size: found(null).all.length };
  });
  ({ sequence } = sizes.reduce((largest, current) => (current.size > largest.size ? current : largest)));
  const complete = found(null);
  expect(complete.all.length).toBeGreaterThan(2);
  for (const stepVersions of [1, 2, 7]) {
    const stepwise = found(null, stepVersions);
    expect(stepwise.all).toEqual(complete.all);
    expect(stepwise.steps).toBeGreaterThan(complete.steps);
  }
  for (const { value } of complete.all)
    expect(found([value]).all).toEqual(complete.all.filter((conflict) => conflict.value === value));
  expect(found(["10.254.254.254"]).all).toEqual([]);
});

test("a conflict names its parties, with a fingerprint that depends only on them", () => {
  const { random } = model;
  const byFingerprint = new Map<string, string>();
  for (let round = 0; round < 40; round += 1) {
    const snapshot = random.pick(model.snapshots);
    const query = { reach: null, networkId: null, types: CONFLICT_TYPES, sequence: snapshot.sequence };
    const { data } = runConflicts({ ...query, limit: 0, offset: 0 });
    for (const [index, conflict] of (data as JsonRecord[]).entries()) {
      const label = describeConflicts(data)[index] as string;
      expect(byFingerprint.get(conflict.fingerprint) ?? label).toBe(label);
      byFingerprint.set(conflict.fingerprint, label);
      for (const party of conflict.parties) {
        const record = snapshot.records.get(party.id) as ModelRecord;
        expect(party.entity_type).toBe(record.kind.name);
        const { fields } = record;
        if (record.kind === hostKind) expect(party).toMatchObject({ name: fields.name, host: null });
        if (record.kind === subnetKind) expect(party).toMatchObject({ name: fields.cidr, host: null });
        const host = snapshot.records.get(String(fields.host_id));
        if (record.kind === ifEntryKind) expect(party.host).toEqual({ id: host?.id, name: host?.fields.name });
      }
    }
  }
  expect(byFingerprint.size).toBeGreaterThan(20);
  expect(new Set(byFingerprint.values()).size).toBe(byFingerprint.size);
});
