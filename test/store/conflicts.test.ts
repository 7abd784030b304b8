// Conflicts compared with plain code over full copies of the inventory: at random timestamps of a random history, for
// callers of all networks and of some, for one network and for all.

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
import { momentOf } from "../support/store/moments.ts";
import { Store, subnetFields, type Wire } from "../support/store/store.ts";

const store = new Store({ seed: 71 });
const model = new Model(store, 71);

const ADDRESSES = ["10.2.3.4", "8.8.8.8", "2600::1", "127.0.0.1", "fe80::1", "169.254.3.4", "100.64.0.9"];
const PREFIXES = ["10.0.0.0/8", "10.2.0.0/16", "10.2.3.0/24", "8.8.0.0/16", "0.0.0.0/0", "127.0.0.0/8", "2600::/32"];
const TYPES = ["Lan", "Lan", "Lan", "Internet", "Remote", "Loopback", "DockerBridge", "PodmanBridge"];
const MACS = ["00:1b:21:aa:bb:cc", "02:1b:21:aa:bb:cd", "00:00:5e:00:01:07", "00:00:0c:07:ac:01", "01:00:5e:00:00:01"];

beforeAll(() => {
  model.movesHosts = false;
  const { random } = model;
  for (let each = 0; each < 600; each += 1) {
    const dice = random.integer(5);
    if (dice === 0)
      model.step((draft) => {
        for (let times = 0; times < 5; times += 1) giveAddress(draft);
      });
    else if (dice === 1) model.step(changeSubnets);
    else if (dice === 2)
      model.step((draft) => {
        const ports = draft.all(ifEntryKind);
        for (let times = 0; times < 2 && ports.length > 0; times += 1) {
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
function giveAddress(draft: Draft): void {
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
    mac_address: random.pick([null, ...MACS]),
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

interface Asked {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly types: readonly ConflictType[];
  readonly sequence: number;
  readonly limit: number;
  readonly offset: number;
}

function answer({ reach, sequence, ...asked }: Asked): Wire {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
  const moment = momentOf(store.reader, sequence);
  const chunks = [...conflicts(store.reader, { actor, moment, isAccepted: null, format: "json", ...asked })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}

const MACHINES = ["Loopback", "DockerBridge", "PodmanBridge"];
/** Prefixes drawn here. */
const OF_A_LINK = /^(127\.|169\.254\.|fe80:|::1$|::\/0$|0\.0\.0\.0)/;
const PUBLIC = /^(8\.|110\.|2600:|9\.|11\.)/;

/** Expected conflicts in plain code: type, value and the ids of the parties. */
function expected({ reach, networkId, types, sequence }: Asked): string[] {
  const snapshot = model.snapshots.findLast((each) => each.sequence <= sequence);
  const records = [...(snapshot?.records.values() ?? [])].filter(
    ({ fields }) => reach === null || reach.includes(String(fields.network_id)),
  );
  const of = (kind: unknown) => records.filter((record) => record.kind === kind);
  return [...addresses(of, snapshot?.records ?? new Map()), ...macs(of), ...subnets(of)]
    .filter(({ type, parties }) => types.includes(type) && parties.length > 1)
    .filter(({ networks }) => networkId === null || networks.includes(networkId))
    .map(({ type, value, parties }) => `${type} ${value} ${parties.sort().join(" ")}`)
    .sort();
}

interface Found {
  readonly type: ConflictType;
  readonly value: string;
  readonly parties: string[];
  readonly networks: string[];
}
type Of = (kind: unknown) => ModelRecord[];

function addresses(of: Of, all: ReadonlyMap<string, ModelRecord>): Found[] {
  const counted = of(ipAddressKind).filter(({ fields }) => {
    const type = String(all.get(String(fields.subnet_id))?.fields.subnet_type);
    const mac = String(fields.mac_address);
    return (
      !MACHINES.includes(type) &&
      !mac.startsWith("00:00:5e:00:01:") &&
      !mac.startsWith("00:00:0c:07:ac:") &&
      !OF_A_LINK.test(String(fields.ip_address))
    );
  });
  const places = Map.groupBy(counted, ({ fields }) => {
    const address = String(fields.ip_address);
    return `${address} ${PUBLIC.test(address) ? "" : fields.network_id}`;
  });
  return [...places.values()].map((holders) => ({
    type: "Address",
    value: String(holders[0]?.fields.ip_address),
    parties: holders.map(({ fields }) => String(fields.host_id)),
    networks: holders.map(({ fields }) => String(fields.network_id)),
  }));
}

function macs(of: Of): Found[] {
  const entries = of(fdbEntryKind);
  const ports = of(ifEntryKind);
  const isEdge = ({ fields }: ModelRecord) =>
    ports.find(({ id }) => id === fields.if_entry_id)?.fields.lldp_chassis_id === undefined &&
    entries.filter((other) => other.fields.if_entry_id === fields.if_entry_id).length <= 4;
  const ofOne = entries.filter(
    ({ fields }) => !/^(00:00:5e|00:00:0c|01:|00:00:00:00:00:00)/.test(`${fields.mac_address}`),
  );
  const places = Map.groupBy(ofOne.filter(isEdge), ({ fields }) => `${fields.network_id} ${fields.mac_address}`);
  return [...places.values()].map((at) => ({
    type: "Mac",
    value: String(at[0]?.fields.mac_address),
    parties: [...new Set(at.map(({ fields }) => String(fields.if_entry_id)))],
    networks: at.map(({ fields }) => String(fields.network_id)),
  }));
}

function subnets(of: Of): Found[] {
  const counted = of(subnetKind).filter(
    ({ fields }) =>
      ![...MACHINES, "Internet", "Remote"].includes(String(fields.subnet_type)) && !OF_A_LINK.test(String(fields.cidr)),
  );
  return [...Map.groupBy(counted, ({ fields }) => String(fields.cidr))].map(([cidr, same]) => {
    const parties = [...same];
    // The most specific subnet first.
    const around = counted
      .filter(({ fields }) => fields.cidr !== cidr && isIn(cidr, String(fields.cidr)))
      .sort((one, other) => lengthOf(other) - lengthOf(one));
    for (const each of around)
      if (!parties.some(({ fields }) => fields.network_id === each.fields.network_id)) parties.push(each);
    return {
      type: "Subnet",
      value: cidr,
      parties: parties.map(({ id }) => id),
      networks: parties.map(({ fields }) => String(fields.network_id)),
    };
  });
}

function lengthOf({ fields }: ModelRecord): number {
  return Number(String(fields.cidr).split("/")[1]);
}

/** For the drawn prefixes: their lengths are multiples of four, or a single 172.16.0.0/12. */
function isIn(cidr: string, other: string): boolean {
  const [[address = "", length], [around = "", shorter]] = [cidr.split("/"), other.split("/")];
  if (address.includes(":") !== around.includes(":") || Number(length) <= Number(shorter)) return false;
  return bits(address).slice(0, Number(shorter)) === bits(around).slice(0, Number(shorter));
}

function bits(address: string): string {
  if (!address.includes(":"))
    return address.split(".").reduce((text, octet) => text + Number(octet).toString(2).padStart(8, "0"), "");
  const groups = address.replace(/::$/, "").split(":");
  return [...groups, ...Array(8 - groups.length).fill("0")]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0"))
    .join("");
}

const named = (data: Wire[]) =>
  data.map(
    ({ type, value, parties }) =>
      `${type} ${value} ${parties
        .map(({ id }: Wire) => id)
        .sort()
        .join(" ")}`,
  );

test("matches a naive model, at any instant, of all networks and of some", () => {
  const { random } = model;
  const networks = [...model.head.records.values()].filter(({ kind }) => kind === networkKind).map(({ id }) => id);
  const found = { Address: 0, Mac: 0, Subnet: 0, across: 0, none: 0 };
  for (let time = 0; time < 300; time += 1) {
    const asked: Asked = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? random.pick(networks) : null,
      types: random.integer(3) === 0 ? [random.pick([...CONFLICT_TYPES])] : CONFLICT_TYPES,
      sequence: random.integer(4) === 0 ? model.head.sequence : random.pick(model.snapshots).sequence,
      limit: 0,
      offset: 0,
    };
    const { data, meta } = answer(asked);
    const wanted = expected(asked);
    expect({ asked, conflicts: named(data).sort() }).toEqual({ asked, conflicts: wanted });
    expect(meta.pagination.total_count).toBe(wanted.length);
    for (const conflict of data as Wire[]) {
      found[conflict.type as ConflictType] += 1;
      if (conflict.network_ids.length > 1) found.across += 1;
      expect(conflict.network_ids).toEqual([...new Set(conflict.parties.map((each: Wire) => each.network_id))].sort());
    }
    if (data.length === 0) found.none += 1;
    const [offset, limit] = [random.integer(4), 1 + random.integer(3)];
    const page = answer({ ...asked, offset, limit });
    expect(page.data).toEqual(data.slice(offset, offset + limit));
    expect(page.meta.pagination).toEqual({
      total_count: data.length,
      limit,
      offset,
      has_more: offset + limit < data.length,
    });
  }
  for (const [what, count] of Object.entries(found)) expect([what, count > 20]).toEqual([what, true]);
});

test("finds the same addresses in any number of steps, and the same for one alone", () => {
  let sequence = 0;
  const found = (address: string | null, stepVersions?: number) => {
    const steps = addressConflicts(store.reader, { reach: store.reach(), sequence }, address, stepVersions);
    for (let count = 1; ; count += 1) {
      const step = steps.next();
      if (step.done === true) return { all: step.value, steps: count };
    }
  };
  const sizes = model.snapshots.map((snapshot) => {
    ({ sequence } = snapshot);
    return { sequence, size: found(null).all.length };
  });
  ({ sequence } = sizes.reduce((most, each) => (each.size > most.size ? each : most)));
  const whole = found(null);
  expect(whole.all.length).toBeGreaterThan(2);
  for (const stepVersions of [1, 2, 7]) {
    const stepwise = found(null, stepVersions);
    expect(stepwise.all).toEqual(whole.all);
    expect(stepwise.steps).toBeGreaterThan(whole.steps);
  }
  for (const { value } of whole.all)
    expect(found(value).all).toEqual(whole.all.filter((conflict) => conflict.value === value));
  expect(found("10.254.254.254").all).toEqual([]);
});

test("names the participants, with a fingerprint that is stable while they are the same", () => {
  const { random } = model;
  const byFingerprint = new Map<string, string>();
  for (let time = 0; time < 40; time += 1) {
    const snapshot = random.pick(model.snapshots);
    const asked = { reach: null, networkId: null, types: CONFLICT_TYPES, sequence: snapshot.sequence };
    const { data } = answer({ ...asked, limit: 0, offset: 0 });
    for (const [place, conflict] of (data as Wire[]).entries()) {
      const what = named(data)[place] as string;
      expect(byFingerprint.get(conflict.fingerprint) ?? what).toBe(what);
      byFingerprint.set(conflict.fingerprint, what);
      for (const party of conflict.parties) {
        const record = snapshot.records.get(party.id) as ModelRecord;
        expect(party.entity_type).toBe(record.kind.name);
        const { fields } = record;
        if (record.kind === hostKind) expect(party).toMatchObject({ name: fields.name, host: null });
        if (record.kind === subnetKind) expect(party).toMatchObject({ name: fields.cidr, host: null });
        if (record.kind === ifEntryKind)
          expect(party.host).toEqual({
            id: fields.host_id,
            name: snapshot.records.get(String(fields.host_id))?.fields.name as string,
          });
      }
    }
  }
  expect(byFingerprint.size).toBeGreaterThan(20);
  expect(new Set(byFingerprint.values()).size).toBe(byFingerprint.size);
});
