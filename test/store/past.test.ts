// Immutability of past states: except for `valid_to` they never change, regardless of later writes, observations, moves
// and deletions.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { ALIVE } from "../../src/db/schema.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { type TagRecord, tagKind } from "../../src/resources/tags/tag.ts";
import {
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  type JsonRecord,
  networkFields,
  parseItems,
  portFields,
  Store,
  tagFields,
} from "../support/store/store.ts";

let store: Store;
let host: HostRecord;

beforeEach(() => {
  store = new Store();
  host = store.create(hostKind, hostFields(store.networkId, "a"));
});
afterEach(() => store.close());

/** Timestamp of the last transaction; later writes are after it. */
const now = () => store.transactions().at(-1)?.at as number;
const asOf = (instant: number) => store.reader.resolve(instant);
const entries = (state: ReturnType<typeof asOf>) => store.list(ifEntryKind, { asOf: state }).items;

/** All items of a list in a long read of the present. */
function readAll(): JsonRecord[] {
  const query = { kind: ifEntryKind, reach: store.reach(), asOf: store.reader.present(), limit: 0, offset: 0 };
  return [...store.reader.chunks(query, null)].flatMap(parseItems);
}

test("parts are found in a step without a snapshot, even the first one of their kind", () => {
  const portsOfHost = () => {
    const hostN = store.n(host.id);
    return store.reader.parts(portKind, "host", [hostN], null, store.reach()).get(hostN)?.length ?? 0;
  };
  expect(portsOfHost()).toBe(0);
  store.create(portKind, portFields(host, 80));
  expect(portsOfHost()).toBe(1);
});

describe("observation values", () => {
  const timeAt = (time: string) => `2026-11-21T${time}:00.000Z`;
  const newObservedEntry = () => {
    const observed = { last_seen_at: timeAt("09:00") };
    return store.write((tx) => tx.create(ifEntryKind, store.organizationId, ifEntryFields(host, 1), { observed }));
  };

  test("are refreshed without a version, a transaction and a new valid_from", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    const before = store.transactions().length;
    expect(store.run((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: timeAt("10:00") })).sequence).toBeNull();
    expect(store.transactions()).toHaveLength(before);
    expect(store.versions(entry.id)).toHaveLength(1);
    expect(entries(null)).toMatchObject([
      { last_seen_at: timeAt("10:00"), valid_from: entry.valid_from, updated_at: entry.updated_at },
    ]);
  });

  test("appear in the present, and in the past as written with that version", () => {
    const entry = newObservedEntry();
    const first = now();
    store.write((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: timeAt("10:00") }));
    const itemsAtFirst = entries(asOf(first));
    expect(itemsAtFirst).toMatchObject([{ last_seen_at: timeAt("09:00"), valid_from: formatInstant(first) }]);
    store.write((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "b" }));
    const second = now();
    const observed = { last_seen_at: timeAt("11:00"), last_discovery_id: entry.id };
    store.write((tx) => tx.observe(ifEntryKind, entry.id, observed));
    store.clock.at += 1_000;
    expect(entries(asOf(first))).toEqual(itemsAtFirst.map((item) => ({ ...item, valid_to: formatInstant(second) })));
    // The version of `second` was written with the observations up to then.
    expect(entries(asOf(second))).toMatchObject([{ if_alias: "b", last_seen_at: timeAt("10:00") }]);
    expect(entries(asOf(second))[0]).not.toHaveProperty("last_discovery_id");
    for (const items of [entries(null), readAll()]) expect(items).toMatchObject([observed]);
  });

  test("end with a removed record, except those recorded in versions", () => {
    const entry = newObservedEntry();
    const beforeRemoval = now();
    const present = store.reader.present();
    store.write((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: timeAt("10:00") }));
    store.write((tx) => tx.remove(ifEntryKind, entry.id));
    expect(store.rows("SELECT * FROM observations WHERE n = ?", store.n(entry.id))).toEqual([]);
    expect(entries(null)).toEqual([]);
    expect(entries(asOf(beforeRemoval))).toMatchObject([{ last_seen_at: timeAt("09:00") }]);
    // A long read that started earlier still has all fields of the item.
    const page = store.reader.page({ kind: ifEntryKind, reach: store.reach(), asOf: present, limit: 0, offset: 0 });
    expect(page.total).toBe(1);
  });

  test("may accompany a change, and are then part of its version", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    store.write((tx) => {
      tx.update(ifEntryKind, entry.id, { if_alias: "b" });
      tx.observe(ifEntryKind, entry.id, { last_seen_at: timeAt("10:00") });
    });
    expect(store.versions(entry.id).at(-1)?.observed).toContain(timeAt("10:00"));
    expect(entries(null)).toMatchObject([{ last_seen_at: timeAt("10:00") }]);
  });
});

describe("parts composed into a record", () => {
  test("are those of the timestamp, each once and sorted, and absent if there were none", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    const withoutEntries = now();
    const learn = (mac: string, vlan = 1) =>
      store.write((tx) => {
        tx.setComposed(ifEntryKind, entry.id, true);
        return tx.create(fdbEntryKind, store.organizationId, { ...fdbEntryFields(entry, mac), vlan_number: vlan }).id;
      });
    const second = learn("00:00:00:00:00:02");
    const withOne = now();
    learn("00:00:00:00:00:01");
    learn("00:00:00:00:00:01", 2);
    const withTwo = now();
    store.write((tx) => tx.remove(fdbEntryKind, second));
    const remaining = now();
    store.write((tx) => {
      for (const { id } of tx.children(fdbEntryKind, "if_entry_n", entry.id)) tx.remove(fdbEntryKind, id);
      tx.setComposed(ifEntryKind, entry.id, false);
    });
    store.clock.at += 1_000;
    const macs = (state: ReturnType<typeof asOf>) => entries(state)[0]?.fdb_macs as string[] | undefined;
    expect([withoutEntries, withOne, withTwo, remaining].map((instant) => macs(asOf(instant)))).toEqual([
      undefined,
      ["00:00:00:00:00:02"],
      ["00:00:00:00:00:01", "00:00:00:00:00:02"],
      ["00:00:00:00:00:01"],
    ]);
    expect(macs(null)).toBeUndefined();
    expect(macs(asOf(now()))).toBeUndefined();
    // In a read of the single record or of all, too.
    const single = store.reader.find(ifEntryKind, entry.id, store.reach(), asOf(withTwo));
    expect(JSON.parse(single?.text ?? "").fdb_macs).toHaveLength(2);
  });
});

describe("the contents of a container", () => {
  test("may leave and return, giving two spans, each with its lists and counts", () => {
    const otherNetworkId = store.create(networkKind, networkFields(store.organizationId, "elsewhere")).id;
    const port = store.create(portKind, portFields(host, 22));
    const first = now();
    store.write((tx) => tx.update(portKind, port.id, { network_id: otherNetworkId }));
    const away = now();
    store.write((tx) => tx.update(portKind, port.id, { network_id: store.networkId }));
    const returned = now();
    store.write((tx) => tx.remove(portKind, port.id));
    store.clock.at += 1_000;
    const scope = store.n(store.networkId) * 64 + portKind.code;
    const sequenceAt = (instant: number) => store.transactions().find(({ at }) => at === instant)?.sequence as number;
    expect(store.rows<object>("SELECT born, died FROM history_spans WHERE scope = ? ORDER BY born", scope)).toEqual([
      { born: sequenceAt(first), died: sequenceAt(away) },
      { born: sequenceAt(returned), died: sequenceAt(now()) },
    ]);
    const counts = store.rows<object>("SELECT count FROM history_census WHERE scope = ? ORDER BY sequence", scope);
    expect(counts).toEqual([1, 0, 1, 0].map((count) => ({ count })));
    const instants = [first, away, returned, now()].map(asOf);
    for (const [network, totals] of [
      [store.networkId, [1, 0, 1, 0]],
      [otherNetworkId, [0, 1, 0, 0]],
    ] as const) {
      const found = instants.map((instant) => store.list(portKind, { asOf: instant, within: { network } }));
      expect(found.map((page) => page.total)).toEqual([...totals]);
      expect(found.map((page) => page.items.length)).toEqual([...totals]);
      // The same for a caller limited to that network.
      const reach = store.reach([network]);
      expect(instants.map((instant) => store.list(portKind, { asOf: instant, reach }).total)).toEqual([...totals]);
    }
    // Its span in the organization was never interrupted.
    const inOrganization = store.n(store.organizationId) * 64 + portKind.code;
    expect(store.rows("SELECT * FROM history_spans WHERE scope = ?", inOrganization)).toHaveLength(1);
  });

  test("are listed by a container of the right kind: another kind's id yields nothing, at any timestamp", () => {
    store.create(portKind, portFields(host, 22));
    for (const state of [null, asOf(now()), store.reader.present()]) {
      expect(store.list(portKind, { asOf: state, within: { host: store.networkId } })).toEqual({ items: [], total: 0 });
      expect(store.list(portKind, { asOf: state, within: { network: host.id } })).toEqual({ items: [], total: 0 });
      expect(store.list(portKind, { asOf: state, within: { host: host.id } }).total).toBe(1);
    }
  });

  test("are invisible if they belong to another organization, by any id and for any caller", () => {
    store.create(portKind, portFields(host, 22));
    const other = store.create(networkKind, networkFields(store.organizationId, "other"));
    const foreign = { organizationN: store.n(other.id), networkNs: null };
    for (const state of [null, asOf(now())]) {
      for (const within of [{}, { host: host.id }, { network: store.networkId }])
        expect(store.list(portKind, { asOf: state, within, reach: foreign })).toEqual({ items: [], total: 0 });
      expect(store.reader.find(hostKind, host.id, foreign, state)).toBeNull();
    }
  });

  test("are invisible to a caller without networks, except tags, since they belong to none", () => {
    const tag = store.create(tagKind, tagFields(store.organizationId, "t"));
    store.clock.at += 1_000;
    for (const state of [null, asOf(now()), store.reader.present()]) {
      expect(store.list(hostKind, { asOf: state, reach: store.reach([]) })).toEqual({ items: [], total: 0 });
      expect(store.reader.find(hostKind, host.id, store.reach([]), state)).toBeNull();
      expect(store.reader.find(tagKind, tag.id, store.reach([]), state)).not.toBeNull();
      expect(store.list(tagKind, { asOf: state, reach: store.reach([]) }).total).toBe(1);
    }
  });
});

describe("a temporary record", () => {
  test("is in the lists between its creation and its end, and in none before and after", () => {
    const before = now();
    store.clock.at += 60_000;
    const tag = store.create(tagKind, tagFields(store.organizationId, "short"));
    const created = now();
    store.write((tx) => tx.remove(tagKind, tag.id));
    const deleted = now();
    store.clock.at += 1_000;
    const found = [before, created - 1, created, deleted - 1, deleted].map((instant) =>
      store.list(tagKind, { asOf: asOf(instant) }),
    );
    expect(found.map((page) => page.total)).toEqual([0, 0, 1, 1, 0]);
    expect(found[2]?.items).toMatchObject([
      { id: tag.id, valid_from: formatInstant(created), valid_to: formatInstant(deleted) },
    ]);
    expect(store.reader.find(tagKind, tag.id, store.reach(), null)).toBeNull();
    expect(store.reader.find(tagKind, tag.id, store.reach(), asOf(created))).toMatchObject({ ended: true });
  });

  test("has a matching span, while live records have an open one", () => {
    const spans = store.rows<{ died: number }>("SELECT died FROM history_spans");
    expect(new Set(spans.map((span) => span.died))).toEqual(new Set([ALIVE]));
  });
});

describe("a list of mostly deleted records", () => {
  const COUNT = 5_000;
  const isRetained = (index: number) => index < 3 || index > COUNT - 4 || index === 2_500;

  test("has the records live at a timestamp, by page, by chunk and individually", () => {
    const tags = store.write((tx) =>
      Array.from({ length: COUNT }, (_, index) =>
        tx.create(tagKind, store.organizationId, tagFields(store.organizationId, `t${index}`)),
      ),
    ) as TagRecord[];
    const full = now();
    const inOrder = store.list(tagKind, { limit: COUNT }).items.map((item) => item.id as string);
    const byId = new Map(tags.map((tag, index) => [tag.id, index]));
    const deletedIds = inOrder.filter((id) => !isRetained(byId.get(id) as number));
    store.write((tx) => {
      for (const id of deletedIds) tx.remove(tagKind, id);
    });
    const thinned = now();
    const returned = store.write((tx) =>
      tx.revive(tagKind, store.organizationId, tags[byId.get(deletedIds[1_000] as string) as number] as TagRecord),
    );
    const revived = now();
    store.clock.at += 1_000;
    const remaining = inOrder.filter((id) => isRetained(byId.get(id) as number));
    const withRevived = inOrder.filter((id) => id === returned.id || remaining.includes(id));
    for (const [instant, expected] of [
      [full, inOrder],
      [thinned, remaining],
      [revived, withRevived],
    ] as const) {
      const query = { kind: tagKind, reach: store.reach(), asOf: asOf(instant), limit: 0, offset: 0 };
      const idsOf = (items: readonly JsonRecord[]) => items.map((item) => item.id);
      const all = store.list(tagKind, { ...query, limit: COUNT });
      expect(all.total).toBe(expected.length);
      expect(idsOf(all.items)).toEqual(expected);
      expect(idsOf(store.list(tagKind, { ...query, limit: 2, offset: 3 }).items)).toEqual(expected.slice(3, 5));
      expect(idsOf([...store.reader.chunks(query, null)].flatMap(parseItems))).toEqual(expected);
    }
  });
});

test("two hundred versions read together equal single reads, at each of their timestamps", () => {
  const newEntry = (index: number) => store.create(ifEntryKind, ifEntryFields(host, index));
  const [deep, flat] = [newEntry(1), newEntry(2)];
  const instants: number[] = [now()];
  for (let version = 1; version < 200; version += 1) {
    store.write((tx) => tx.update(ifEntryKind, deep.id, { if_alias: `version ${version}` }));
    instants.push(now());
  }
  store.clock.at += 1_000;
  expect(store.versions(deep.id)).toHaveLength(200);
  instants.forEach((instant, version) => {
    const [item, flatItem] = entries(asOf(instant));
    expect(item?.if_alias).toBe(version === 0 ? undefined : `version ${version}`);
    expect(item?.valid_to).toBe(version === 199 ? undefined : formatInstant(instants[version + 1] as number));
    expect(flatItem).toEqual(entries(null)[1] as JsonRecord);
    expect(flatItem?.id).toBe(flat.id);
  });
});
