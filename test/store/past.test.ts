// Immutability of answers about the past: except for `valid_to`, they never change, whatever is written, observed,
// moved or deleted later.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { ALIVE } from "../../src/db/schema.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { type TagRecord, tagKind } from "../../src/resources/tags/tag.ts";
import {
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  networkFields,
  parseItems,
  portFields,
  Store,
  tagFields,
  type Wire,
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
const entries = (at: ReturnType<typeof asOf>) => store.list(ifEntryKind, { asOf: at }).items;

/** All items of a list in a long read of the present. */
function whole(): Wire[] {
  const query = { kind: ifEntryKind, reach: store.reach(), asOf: store.reader.present(), limit: 0, offset: 0 };
  return [...store.reader.chunks(query, null)].flatMap(parseItems);
}

describe("observation values", () => {
  const seen = (time: string) => `2026-11-21T${time}:00.000Z`;

  test("are refreshed without a version, a transaction and a new valid_from", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    const before = store.transactions().length;
    expect(store.run((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: seen("10:00") })).sequence).toBeNull();
    expect(store.transactions()).toHaveLength(before);
    expect(store.versions(entry.id)).toHaveLength(1);
    expect(entries(null)).toMatchObject([
      { last_seen_at: seen("10:00"), valid_from: entry.valid_from, updated_at: entry.updated_at },
    ]);
  });

  test("appear in the present, and in the past as written with that version", () => {
    const entry = store.write((tx) =>
      tx.create(ifEntryKind, store.organizationId, ifEntryFields(host, 1), {
        observed: { last_seen_at: seen("09:00") },
      }),
    );
    const first = now();
    store.write((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: seen("10:00") }));
    const answer = entries(asOf(first));
    expect(answer).toMatchObject([{ last_seen_at: seen("09:00"), valid_from: formatInstant(first) }]);
    store.write((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "b" }));
    const second = now();
    store.write((tx) =>
      tx.observe(ifEntryKind, entry.id, { last_seen_at: seen("11:00"), last_discovery_id: entry.id }),
    );
    store.clock.at += 1_000;
    expect(entries(asOf(first))).toEqual(answer.map((item) => ({ ...item, valid_to: formatInstant(second) })));
    // The version of `second` was written with the observations up to then.
    expect(entries(asOf(second))).toMatchObject([{ if_alias: "b", last_seen_at: seen("10:00") }]);
    expect(entries(asOf(second))[0]).not.toHaveProperty("last_discovery_id");
    for (const items of [entries(null), whole()])
      expect(items).toMatchObject([{ last_seen_at: seen("11:00"), last_discovery_id: entry.id }]);
  });

  test("of a removed record end with it, and recorded ones stay", () => {
    const entry = store.write((tx) =>
      tx.create(ifEntryKind, store.organizationId, ifEntryFields(host, 1), {
        observed: { last_seen_at: seen("09:00") },
      }),
    );
    const then = now();
    const present = store.reader.present();
    store.write((tx) => tx.observe(ifEntryKind, entry.id, { last_seen_at: seen("10:00") }));
    store.write((tx) => tx.remove(ifEntryKind, entry.id));
    expect(
      store.rows("SELECT * FROM observations WHERE n = (SELECT n FROM history_records WHERE id = ?)", entry.id),
    ).toEqual([]);
    expect(entries(null)).toEqual([]);
    expect(entries(asOf(then))).toMatchObject([{ last_seen_at: seen("09:00") }]);
    // A long read that started earlier still has all fields of the item.
    const page = store.reader.page({ kind: ifEntryKind, reach: store.reach(), asOf: present, limit: 0, offset: 0 });
    expect(page.total).toBe(1);
  });

  test("may accompany a change, and are then part of its version", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    store.write((tx) => {
      tx.update(ifEntryKind, entry.id, { if_alias: "b" });
      tx.observe(ifEntryKind, entry.id, { last_seen_at: seen("10:00") });
    });
    expect(store.versions(entry.id).at(-1)?.observed).toContain(seen("10:00"));
    expect(entries(null)).toMatchObject([{ last_seen_at: seen("10:00") }]);
  });
});

describe("parts composed into a record", () => {
  test("are those of the instant, each once and sorted, and absent if there were none", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    const none = now();
    const learn = (mac: string) =>
      store.write((tx) => {
        tx.setComposed(ifEntryKind, entry.id, true);
        return tx.create(fdbEntryKind, store.organizationId, { ...fdbEntryFields(entry, mac), vlan_number: 1 }).id;
      });
    const second = learn("00:00:00:00:00:02");
    const one = now();
    learn("00:00:00:00:00:01");
    store.write((tx) =>
      tx.create(fdbEntryKind, store.organizationId, { ...fdbEntryFields(entry, "00:00:00:00:00:01"), vlan_number: 2 }),
    );
    const two = now();
    store.write((tx) => tx.remove(fdbEntryKind, second));
    const left = now();
    store.write((tx) => {
      for (const each of tx.children(fdbEntryKind, "if_entry_n", entry.id)) tx.remove(fdbEntryKind, each.id);
      tx.setComposed(ifEntryKind, entry.id, false);
    });
    store.clock.at += 1_000;
    const macs = (at: ReturnType<typeof asOf>) => entries(at)[0]?.fdb_macs as string[] | undefined;
    expect([none, one, two, left].map((at) => macs(asOf(at)))).toEqual([
      undefined,
      ["00:00:00:00:00:02"],
      ["00:00:00:00:00:01", "00:00:00:00:00:02"],
      ["00:00:00:00:00:01"],
    ]);
    expect(macs(null)).toBeUndefined();
    expect(macs(asOf(now()))).toBeUndefined();
    // Also in a read of the single record, or of all.
    expect(
      JSON.parse(store.reader.find(ifEntryKind, entry.id, store.reach(), asOf(two))?.text ?? "").fdb_macs,
    ).toHaveLength(2);
  });
});

describe("the contents of a container", () => {
  test("may leave and return: two spans, with lists and counts by them", () => {
    const elsewhere = store.create(networkKind, networkFields(store.organizationId, "elsewhere")).id;
    const port = store.create(portKind, portFields(host, 22));
    const first = now();
    store.write((tx) => tx.update(portKind, port.id, { network_id: elsewhere }));
    const away = now();
    store.write((tx) => tx.update(portKind, port.id, { network_id: store.networkId }));
    const back = now();
    store.write((tx) => tx.remove(portKind, port.id));
    store.clock.at += 1_000;
    const scope = store.n(store.networkId) * 64 + portKind.code;
    const at = (instant: number) => store.transactions().find((each) => each.at === instant)?.sequence as number;
    expect(store.rows<object>("SELECT born, died FROM history_spans WHERE scope = ? ORDER BY born", scope)).toEqual([
      { born: at(first), died: at(away) },
      { born: at(back), died: at(now()) },
    ]);
    expect(
      store
        .rows<{ count: number }>("SELECT count FROM history_census WHERE scope = ? ORDER BY sequence", scope)
        .map((row) => row.count),
    ).toEqual([1, 0, 1, 0]);
    for (const [network, totals] of [
      [store.networkId, [1, 0, 1, 0]],
      [elsewhere, [0, 1, 0, 0]],
    ] as const) {
      const found = [first, away, back, now()].map((instant) =>
        store.list(portKind, { asOf: asOf(instant), within: { network } }),
      );
      expect(found.map((page) => page.total)).toEqual([...totals]);
      expect(found.map((page) => page.items.length)).toEqual([...totals]);
      // The same for a caller limited to that network.
      const reached = [first, away, back, now()].map(
        (instant) => store.list(portKind, { asOf: asOf(instant), reach: store.reach([network]) }).total,
      );
      expect(reached).toEqual([...totals]);
    }
    // Its position among all of the organization's was never given up.
    expect(
      store.rows<object>(
        "SELECT count(*) AS spans FROM history_spans WHERE scope = ?",
        store.n(store.organizationId) * 64 + portKind.code,
      ),
    ).toEqual([{ spans: 1 }]);
  });

  test("are listed by a container of the right kind: another kind's id is empty, in the past as at present", () => {
    store.create(portKind, portFields(host, 22));
    for (const at of [null, asOf(now()), store.reader.present()]) {
      expect(store.list(portKind, { asOf: at, within: { host: store.networkId } })).toEqual({ items: [], total: 0 });
      expect(store.list(portKind, { asOf: at, within: { network: host.id } })).toEqual({ items: [], total: 0 });
      expect(store.list(portKind, { asOf: at, within: { host: host.id } }).total).toBe(1);
    }
  });

  test("of another organization are invisible, by any id and for any caller", () => {
    store.create(portKind, portFields(host, 22));
    const other = store.write((tx) =>
      tx.create(networkKind, store.organizationId, networkFields(store.organizationId, "other")),
    );
    const foreign = { organizationN: store.n(other.id), networkNs: null };
    for (const at of [null, asOf(now())]) {
      for (const within of [{}, { host: host.id }, { network: store.networkId }])
        expect(store.list(portKind, { asOf: at, within, reach: foreign })).toEqual({ items: [], total: 0 });
      expect(store.reader.find(hostKind, host.id, foreign, at)).toBeNull();
    }
  });

  test("are invisible to a caller without networks, except tags, which belong to none", () => {
    const tag = store.create(tagKind, tagFields(store.organizationId, "t"));
    store.clock.at += 1_000;
    for (const at of [null, asOf(now()), store.reader.present()]) {
      expect(store.list(hostKind, { asOf: at, reach: store.reach([]) })).toEqual({ items: [], total: 0 });
      expect(store.reader.find(hostKind, host.id, store.reach([]), at)).toBeNull();
      expect(store.reader.find(tagKind, tag.id, store.reach([]), at)).not.toBeNull();
      expect(store.list(tagKind, { asOf: at, reach: store.reach([]) }).total).toBe(1);
    }
  });
});

describe("a temporary record", () => {
  test("is in the lists between its creation and its end, and in none before and after", () => {
    const before = now();
    store.clock.at += 60_000;
    const tag = store.create(tagKind, tagFields(store.organizationId, "short"));
    const born = now();
    store.write((tx) => tx.remove(tagKind, tag.id));
    const died = now();
    store.clock.at += 1_000;
    const found = [before, born - 1, born, died - 1, died].map((instant) =>
      store.list(tagKind, { asOf: asOf(instant) }),
    );
    expect(found.map((page) => page.total)).toEqual([0, 0, 1, 1, 0]);
    expect(found[2]?.items).toMatchObject([
      { id: tag.id, valid_from: formatInstant(born), valid_to: formatInstant(died) },
    ]);
    expect(store.reader.find(tagKind, tag.id, store.reach(), null)).toBeNull();
    expect(store.reader.find(tagKind, tag.id, store.reach(), asOf(born))).toMatchObject({ ended: true });
  });

  test("has a matching span, while live records have an open one", () => {
    const spans = store.rows<{ died: number }>("SELECT died FROM history_spans");
    expect(new Set(spans.map((span) => span.died))).toEqual(new Set([ALIVE]));
  });
});

describe("with mostly deleted records", () => {
  const COUNT = 5_000;
  const isKept = (place: number) => place < 3 || place > COUNT - 4 || place === 2_500;

  test("those live at an instant are found among deleted ones, by page, by chunk and individually", () => {
    const tags = store.write((tx) =>
      Array.from({ length: COUNT }, (_, place) =>
        tx.create(tagKind, store.organizationId, tagFields(store.organizationId, `t${place}`)),
      ),
    ) as TagRecord[];
    const full = now();
    const inOrder = store.list(tagKind, { limit: COUNT }).items.map((item) => item.id as string);
    const byId = new Map(tags.map((tag, place) => [tag.id, place]));
    const gone = inOrder.filter((id) => !isKept(byId.get(id) as number));
    store.write((tx) => {
      for (const id of gone) tx.remove(tagKind, id);
    });
    const thinned = now();
    const back = store.write((tx) =>
      tx.revive(tagKind, store.organizationId, tags[byId.get(gone[1_000] as string) as number] as TagRecord),
    );
    const revived = now();
    store.clock.at += 1_000;
    const left = inOrder.filter((id) => isKept(byId.get(id) as number));
    const withBack = inOrder.filter((id) => id === back.id || left.includes(id));
    for (const [instant, expected] of [
      [full, inOrder],
      [thinned, left],
      [revived, withBack],
    ] as const) {
      const at = asOf(instant);
      expect(store.list(tagKind, { asOf: at, limit: COUNT })).toMatchObject({ total: expected.length });
      expect(store.list(tagKind, { asOf: at, limit: COUNT }).items.map((item) => item.id)).toEqual(expected);
      expect(store.list(tagKind, { asOf: at, limit: 2, offset: 3 }).items.map((item) => item.id)).toEqual(
        expected.slice(3, 5),
      );
      const chunks = [
        ...store.reader.chunks({ kind: tagKind, reach: store.reach(), asOf: at as never, limit: 0, offset: 0 }, null),
      ];
      expect(
        chunks.flatMap((chunk) =>
          JSON.parse(`[${new TextDecoder().decode(chunk)}]`).map((item: { id: string }) => item.id),
        ),
      ).toEqual(expected);
    }
  });
});

test("two hundred versions read at once equal single reads, at each of their instants", () => {
  const [deep, flat] = [1, 2].map((index) => store.create(ifEntryKind, ifEntryFields(host, index))) as [
    IfEntryRecord,
    IfEntryRecord,
  ];
  const instants: number[] = [now()];
  for (let version = 1; version < 200; version += 1) {
    store.write((tx) => tx.update(ifEntryKind, deep.id, { if_alias: `version ${version}` }));
    instants.push(now());
  }
  store.clock.at += 1_000;
  expect(store.versions(deep.id)).toHaveLength(200);
  instants.forEach((instant, version) => {
    const [item, other] = entries(asOf(instant));
    expect(item?.if_alias).toBe(version === 0 ? undefined : `version ${version}`);
    expect(item?.valid_to).toBe(version === 199 ? undefined : formatInstant(instants[version + 1] as number));
    expect(other).toEqual(entries(null)[1] as Wire);
    expect(other?.id).toBe(flat.id);
  });
});
