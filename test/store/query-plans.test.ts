// Query plans on the hot paths: they use the intended index, never scan a full table, and sort only for an explicit
// order. They do not depend on statistics, since there are none.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { ListQuery } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { ReasonSearch } from "../../src/db/reading/reason-search.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { type Population, populate } from "../support/store/population.ts";
import { planOf, preparedBy } from "../support/store/prepared-statements.ts";
import { hostFields, portFields, request, Store, tagFields } from "../support/store/store.ts";

const store = new Store();
let population: Population;

beforeAll(() => {
  population = populate(store);
});
afterAll(() => store.close());

function expectStep(plan: readonly string[], step: RegExp): void {
  expect(plan).toContainEqual(expect.stringMatching(step));
}

/**
 * Whether a plan step scans an entire table. Expected scans are parameter lists, rows of one INSERT, and the segments
 * of thinned history, one per prune.
 */
const isTableScan = (detail: string) =>
  /^SCAN /.test(detail) &&
  !/^SCAN (CONSTANT ROW|\d+-ROW VALUES CLAUSE$|history_segments$|p$|\(subquery|\w+ (EXISTS )?VIRTUAL TABLE)/.test(
    detail,
  );
/** Whether a plan step builds an index or sorts rows. */
const isTemporary = (detail: string) => /AUTOMATIC|TEMP B-TREE/.test(detail);

function pagePlan(query: Partial<ListQuery> & Pick<ListQuery, "kind">): string[] {
  // A separate reader without prepared statements.
  const reader = new Reader(store.readDb, store.clock);
  const listQuery: ListQuery = { reach: store.reach(), asOf: null, limit: 50, offset: 0, ...query };
  const { texts } = preparedBy(store.readDb.$client, () => {
    reader.page(listQuery);
    reader.items(listQuery);
    reader.total(listQuery);
    if (listQuery.asOf !== null) for (const _ of reader.chunks(listQuery, (items) => items.map((item) => item.text)));
  });
  // The numbers of a chunk are a parameter list, sorted by their position in it, a few hundred at a time.
  return texts.filter((sql) => !sql.includes("ORDER BY key) p")).flatMap((sql) => planOf(store.readDb.$client, sql));
}

const states = (): Array<[string, ListQuery["asOf"]]> => [
  ["live", null],
  ["as of a timestamp", store.reader.atSequence(6)],
  ["the pinned present", store.reader.present()],
];

type Shape = [string, () => Partial<ListQuery>, live: RegExp, past: RegExp];

const networks = (count: number) =>
  Array.from({ length: count }, (_, index) => (index === 0 ? store.n(store.networkId) : 1_000_000 + index));
const reachOf = (count: number) => ({ ...store.reach(), networkNs: networks(count) });
const PAGE = /^SEARCH s USING PRIMARY KEY \(scope=\? AND n>\? AND n<\?\)$/;
const BY_NETWORK = /^SEARCH l USING INDEX ports_by_network \(network_n=\?\)$/;
const BY_HOST = /^SEARCH l USING INDEX ports_by_host \(host_n=\?\)$/;
const BY_ROW = /^SEARCH l USING INTEGER PRIMARY KEY \(rowid=\?\)$/;
const HOSTS_COVERED = /^SEARCH l USING COVERING INDEX hosts_by_organization \(organization_n=\? AND rowid=\?\)$/;
const HOSTS = /^SEARCH l USING INDEX hosts_by_organization \(organization_n=\? AND rowid=\?\)$/;
const BY_ID = /^SEARCH s USING PRIMARY KEY \(scope=\? AND n=\? AND born<\?\)$/;

const SHAPES: Shape[] = [
  ["without filters", () => ({}), /^SEARCH l USING COVERING INDEX ports_by_organization \(organization_n=\?\)$/, PAGE],
  ["of a network", () => ({ within: { network: store.networkId } }), BY_NETWORK, PAGE],
  ["of a host", () => ({ within: { host: population.hostId } }), BY_HOST, PAGE],
  ["of a host in a network", () => ({ within: { host: population.hostId, network: store.networkId } }), BY_HOST, PAGE],
  ["by ids", () => ({ ids: [population.portId] }), BY_ROW, BY_ID],
  ["by ids within a host", () => ({ ids: [population.portId], within: { host: population.hostId } }), BY_ROW, BY_ID],
  ["within reach of two networks", () => ({ reach: reachOf(2) }), BY_NETWORK, PAGE],
  ["by ids within reach of seventy networks", () => ({ reach: reachOf(70), ids: [population.portId] }), BY_ROW, BY_ID],
  [
    "of a host within reach of seventy networks",
    () => ({ reach: reachOf(70), within: { host: population.hostId } }),
    /^SEARCH l USING INDEX ports_by_host/,
    PAGE,
  ],
];

describe.each(SHAPES)("a page %s", (_case, shape, live, past) => {
  test("uses the intended index, in page order", () => {
    for (const [state, asOf] of states()) {
      const plan = pagePlan({ kind: portKind, asOf, ...shape() });
      expect([state, plan.filter(isTableScan), plan.filter(isTemporary)]).toEqual([state, [], []]);
      expectStep(plan, asOf === null ? live : past);
      if (asOf !== null) expect(plan).toContainEqual("SEARCH v USING INTEGER PRIMARY KEY (rowid<?)");
    }
  });
});

test("a page within reach of many networks sorts existing rows, and scans nothing else", () => {
  for (const [state, asOf] of states()) {
    const plan = pagePlan({ kind: portKind, asOf, reach: reachOf(70) });
    expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
    expectStep(plan, asOf === null ? /^SEARCH l USING INDEX ports_by_network/ : PAGE);
  }
});

test("interfaces with composed forwarding tables are searched by their entries", () => {
  const live = pagePlan({ kind: ifEntryKind });
  expectStep(live, /^SEARCH f USING INDEX fdb_entries_by_if_entry/);
  const past = pagePlan({ kind: ifEntryKind, asOf: store.reader.atSequence(6) });
  expectStep(past, /^SEARCH fs USING PRIMARY KEY \(scope=\?/);
  expect(past).toContainEqual("SEARCH fv USING INTEGER PRIMARY KEY (rowid<?)");
});

test("no query plan depends on values, since SQLite would prepare it again for each request", () => {
  for (const [state, asOf] of states()) {
    const { texts } = preparedBy(store.readDb.$client, () => {
      const reader = new Reader(store.readDb, store.clock);
      const page = { kind: ifEntryKind, reach: store.reach(), asOf, limit: 5, offset: 1 };
      const within = { host: population.hostId };
      const ids = [population.entryId];
      for (const part of [{}, { within }, { ids }, { reach: reachOf(2) }, { reach: reachOf(70) }]) {
        reader.page({ ...page, ...part });
        reader.items({ ...page, ...part });
      }
      reader.page({ ...page, kind: tagKind, order: [{ field: "name", direction: "desc", byKey: true }] });
      reader.find(ifEntryKind, population.entryId, store.reach(), asOf);
      reader.parts(portKind, "host", [store.n(population.hostId)], asOf, store.reach());
    });
    // As of a timestamp, ?1 is compared with columns of the history, with neither an order nor a join that it could
    // affect.
    const planned = texts.filter((sql) => /(LIMIT|OFFSET|\bl\.\w+ (=|>)) \?/.test(sql));
    expect([state, planned]).toEqual([state, []]);
    expect(texts.some((sql) => sql.includes("LIMIT +?"))).toBe(true);
  }
});

test("an ordered list sorts its members once", () => {
  for (const [, asOf] of states()) {
    const plan = pagePlan({ kind: tagKind, asOf, order: [{ field: "name", direction: "desc", byKey: true }] });
    expect(plan.filter(isTableScan)).toEqual([]);
    expect(plan).toContainEqual("USE TEMP B-TREE FOR ORDER BY");
  }
});

describe("a search", () => {
  const SEARCHES: Array<[string, () => Partial<ListQuery>, live: RegExp]> = [
    ["without filters", () => ({}), HOSTS_COVERED],
    [
      "of a network",
      () => ({ within: { network: store.networkId } }),
      /^SEARCH l USING INDEX hosts_by_network \(network_n=\? AND rowid=\?\)$/,
    ],
    ["by ids", () => ({ ids: [population.hostId] }), BY_ROW],
    ["within reach of two networks", () => ({ reach: reachOf(2) }), HOSTS],
    ["within reach of seventy networks", () => ({ reach: reachOf(70) }), HOSTS],
    ["in an order", () => ({ order: [{ field: "name", direction: "asc", byKey: true }] }), HOSTS_COVERED],
  ];

  test.each(SEARCHES)("starts from the words, and scans no inventory: %s", (_case, shape, live) => {
    for (const [state, asOf] of states()) {
      const plan = pagePlan({ kind: hostKind, asOf, search: "host 10.0.", ...shape() });
      expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
      const wordScans = plan.filter((detail) => detail === "SCAN history_search VIRTUAL TABLE INDEX 0:M1");
      expect(wordScans.length).toBeGreaterThanOrEqual(2);
      expect(plan).toContainEqual("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)");
      expect(plan).toContainEqual("SEARCH x USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
      expectStep(plan, asOf === null ? live : BY_ID);
      // The records of a container are not scanned.
      expect(plan.filter((detail) => /^SEARCH (l|s) .*(_n=\?\)|n>\?)/.test(detail))).toEqual([]);
    }
  });
});

/** For a list filtered by a reference of hosts or their addresses, with all, few and many networks in reach. */
function expectStartsFrom(query: Pick<ListQuery, "kind" | "filters">, live: RegExp): void {
  for (const [state, asOf] of states())
    for (const networkNs of [store.reach().networkNs, networks(2), networks(70)]) {
      const plan = pagePlan({ ...query, asOf, reach: { ...store.reach(), networkNs } });
      expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
      expectStep(plan, asOf === null ? live : PAGE);
      if (asOf === null) expectStep(plan, /^SEARCH l USING .*rowid=\?\)$/);
    }
}

test("a list by tags starts from the tags to the live records; at a timestamp it scans members once", () => {
  expectStartsFrom(
    { kind: hostKind, filters: [{ field: "tags", namesAny: [population.tagId] }] },
    /^SEARCH k USING COVERING INDEX live_links_by_target \(target_n=\? AND relation=\?\)$/,
  );
});

test("a list by a reference starts from the referenced record; at a timestamp it scans members once", () => {
  expectStartsFrom(
    { kind: ipAddressKind, filters: [{ field: "subnet_id", names: population.hostId }] },
    /^SEARCH k USING COVERING INDEX ip_addresses_by_subnet \(subnet_n=\?\)$/,
  );
});

test("a search of parts finds them by their own strings, starting from the words", () => {
  for (const [state, asOf] of states()) {
    const plan = pagePlan({ kind: ipAddressKind, asOf, search: "10.0." });
    expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
    expect(plan).toContainEqual("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)");
    const live = /^SEARCH l USING COVERING INDEX ip_addresses_by_organization \(organization_n=\? AND rowid=\?\)$/;
    expectStep(plan, asOf === null ? live : BY_ID);
  }
});

test("a computed order scans members once, and sorts nothing there", () => {
  for (const [state, asOf] of states()) {
    const order = [{ field: "ip_address", direction: "asc", byKey: true }] as const;
    const plan = pagePlan({ kind: ipAddressKind, asOf, order });
    expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
    expect(plan).not.toContain("USE TEMP B-TREE FOR ORDER BY");
    const live = /^SEARCH l USING COVERING INDEX ip_addresses_by_organization \(organization_n=\?\)$/;
    expectStep(plan, asOf === null ? live : PAGE);
  }
});

test("a list by a value scans members once", () => {
  for (const [state, asOf] of states()) {
    const plan = pagePlan({ kind: hostKind, asOf, filters: [{ field: "hidden", equals: true }] });
    expect([state, plan.filter(isTableScan), plan.filter(isTemporary)]).toEqual([state, [], []]);
    expectStep(plan, asOf === null ? /^SEARCH l USING INDEX hosts_by_organization \(organization_n=\?\)$/ : PAGE);
  }
});

test("every kind's list uses its own indexes", () => {
  for (const kind of KINDS) {
    for (const [state, asOf] of states()) {
      // Learned addresses of the interfaces on a page are sorted and deduplicated, one interface at a time.
      const plan = pagePlan({ kind, asOf }).filter((detail) => kind.name !== ifEntryKind.name || !isTemporary(detail));
      // A customer's store has one organization or a few: a scan of its table is allowed.
      const tableScans = plan
        .filter(isTableScan)
        .filter((detail) => detail !== "SCAN l" || kind.name !== "organization");
      expect([kind.name, state, tableScans, plan.filter(isTemporary)]).toEqual([kind.name, state, [], []]);
    }
  }
});

test("a single record, parts of owners and references of a request are indexed lookups", () => {
  const client = store.readDb.$client;
  for (const [state, asOf] of states()) {
    const reader = new Reader(store.readDb, store.clock);
    const { texts } = preparedBy(client, () => {
      reader.find(hostKind, population.hostId, store.reach(), asOf);
      reader.find(hostKind, population.hostId, { ...store.reach(), networkNs: networks(70) }, asOf);
      reader.parts(portKind, "host", [store.n(population.hostId)], asOf, store.reach());
      reader.recordN(population.hostId);
      reader.atSequence(3);
      reader.resolve(store.clock.at - 1_000);
    });
    const plan = texts.flatMap((sql) => planOf(client, sql));
    expect([state, plan.filter(isTableScan)]).toEqual([state, []]);
    expectStep(plan, /^SEARCH history_transactions USING INDEX \w+ \(at<\?\)$/);
    const live = /^SEARCH l USING (COVERING )?INDEX ports_by_host \(host_n=\?\)$/;
    expectStep(plan, asOf === null ? live : /^SEARCH s USING PRIMARY KEY \(scope=\?/);
  }
});

test("the writer uses indexes as well; only a table's newest row is read from its end", () => {
  const db = openWritable(store.path);
  try {
    const { texts } = preparedBy(db.$client, () => {
      const commands = { test: (tx: WriteTransaction, input: (tx: WriteTransaction) => unknown) => input(tx) };
      const writer = new Writer({ db, kinds: KINDS, commands, clock: store.clock, random: store.random });
      const replies = [
        (tx: WriteTransaction) => {
          const fields = hostFields(store.networkId, "planned", { tags: [population.tagId] });
          const host = tx.create(hostKind, store.organizationId, fields);
          tx.create(portKind, store.organizationId, portFields(host, 1));
          tx.findByIdentity(tagKind, `${store.organizationId}/kept`);
          tx.referringTo("tags", population.tagId);
          tx.children(portKind, "host_n", population.hostId);
        },
        (tx: WriteTransaction) => tx.update(hostKind, population.hostId, { name: "planned" }),
        (tx: WriteTransaction) =>
          tx.observe(ifEntryKind, population.entryId, { last_seen_at: "2026-11-21T11:00:00.000Z" }),
        (tx: WriteTransaction) => {
          const tag = tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "planned"));
          tx.remove(tagKind, tag.id);
        },
      ].flatMap((command) => writer.execute([request(command)]));
      expect(replies.map((reply) => reply.ok)).toEqual([true, true, true, true]);
    });
    const plans = texts
      .filter((sql) => /^(select|update|delete|insert)/i.test(sql))
      .map((sql) => ({ sql, plan: planOf(db.$client, sql) }));
    expect(plans.length).toBeGreaterThan(20);
    const tableScans = plans.filter(
      ({ sql, plan }) => plan.some(isTableScan) && !/order by .* desc limit \+\?$/i.test(sql),
    );
    expect(tableScans).toEqual([]);
    const identity = plans.find(({ sql }) => /\btags\b/.test(sql) && sql.includes("l.identity = +?"));
    expectStep(identity?.plan ?? [], /^SEARCH l USING INDEX \w+ \(identity=\?\)$/);
  } finally {
    db.$client.close();
  }
});

test("every foreign key is indexed on the referring side, so that a delete scans no table", () => {
  const unindexed: string[] = [];
  const tables = store.rows<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name: table } of tables) {
    for (const { from, table: parent } of store.rows<{ from: string; table: string }>(
      `SELECT "from", "table" FROM pragma_foreign_key_list('${table}')`,
    )) {
      // Rows of the ledger are never deleted.
      if (parent === "history_records" || parent === "history_transactions") continue;
      const plan = planOf(store.db.$client, `SELECT 1 FROM ${table} WHERE ${from} = 1`);
      if (plan.some(isTableScan)) unindexed.push(`${table}.${from}`);
    }
  }
  expect(unindexed).toEqual([]);
});

test("a search for reasons reads only transactions that have one", () => {
  const reader = new Reader(store.readDb, store.clock);
  const activity = new ChangeLog(reader).activity({ reach: store.reach([store.networkId]) });
  const { texts, result } = preparedBy(store.readDb.$client, () => [
    ...new ReasonSearch(reader, activity, "ü").newestFirst({ after: 0, until: 1_000_000 }, 0),
  ]);
  expect(result.flat()).toHaveLength(1);
  const plans = texts.map((sql) => planOf(store.readDb.$client, sql));
  expect(plans[0]).toEqual([
    "SEARCH history_transactions USING COVERING INDEX history_transactions_by_reason (sequence>? AND sequence<?)",
  ]);
  expect(plans.flat().filter(isTableScan)).toEqual([]);
  expectStep(plans[1] ?? [], /^SEARCH a .*\(scope=\? AND sequence=\?\)/);
});

test("networks are found by their own numbers", () => {
  expect(pagePlan({ kind: networkKind, reach: reachOf(2) }).filter(isTableScan)).toEqual([]);
});
