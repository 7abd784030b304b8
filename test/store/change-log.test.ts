// Ledger in commit order, for callers of all or some networks: no gaps, no duplicates, and bounded steps.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { Activity } from "../../src/db/reading/activity.ts";
import { ChangeLog, type ChangeStep, type RecordChange } from "../../src/db/reading/change-log.ts";
import type { Reach } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { type ChangeFeedHead, type ChangeFeedInput, changeFeed } from "../../src/history/change-feed.ts";
import { Diff, type Difference } from "../../src/history/diff.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { hostFields, networkFields, portFields, Store, tagFields } from "../support/store/store.ts";

/** Enough that each step covers few versions. */
const MANY_NETWORKS = 1_000;
const KINDS: readonly AnyKind[] = [tagKind, hostKind, portKind, networkKind];

const store = new Store();
let otherNetworkId: string;

beforeAll(() => {
  const { organizationId } = store;
  otherNetworkId = store.write(
    (tx) => tx.create(networkKind, organizationId, networkFields(organizationId, "other")).id,
  );
  // Changes in both networks and outside networks; one transaction exceeds any step.
  for (let each = 0; each < 40; each += 1) {
    store.write((tx) => {
      if (each % 4 === 0) return tx.create(tagKind, organizationId, tagFields(organizationId, `tag ${each}`));
      const host = tx.create(
        hostKind,
        organizationId,
        hostFields(each % 3 === 0 ? otherNetworkId : store.networkId, `host ${each}`),
      );
      const ports = each === 7 ? 1_500 : each % 5;
      for (let number = 1; number <= ports; number += 1) tx.create(portKind, organizationId, portFields(host, number));
      return host;
    });
  }
});
afterAll(() => store.close());

const head = () => store.reader.head().sequence;
const networks = (own: readonly string[], count: number) => [
  ...Array.from({ length: count - own.length }, (_, each) => 1_000_000 + each),
  ...own.map((id) => store.n(id)),
];

const REACHES: Array<[string, () => Reach]> = [
  ["the whole organization", () => store.reach()],
  ["one network", () => store.reach([otherNetworkId])],
  ["two networks", () => store.reach([otherNetworkId, store.networkId])],
  ["seventy networks", () => ({ ...store.reach(), networkNs: networks([otherNetworkId], 70) })],
  ["a thousand networks", () => ({ ...store.reach(), networkNs: networks([store.networkId], MANY_NETWORKS) })],
];

/** Every version in reach, in commit order, computed without steps. */
function shown(reach: Reach, kinds: readonly AnyKind[]): string[] {
  const rows = store.rows<{ n: number; sequence: number; kind: number }>(
    `SELECT v.key >> 31 AS n, v.key & 2147483647 AS sequence, r.kind FROM history_versions v
      JOIN history_records r ON r.n = v.key >> 31 ORDER BY v.key & 2147483647, v.key`,
  );
  const livesIn = (container: number, row: { n: number; kind: number }) =>
    store.rows("SELECT 1 FROM history_spans WHERE scope = ? AND n = ?", container * 64 + row.kind, row.n).length > 0;
  return rows
    .filter((row) => kinds.some((kind) => kind.code === row.kind))
    .filter(
      (row) =>
        reach.networkNs === null ||
        row.kind === tagKind.code ||
        reach.networkNs.some((n) => n < 1_000_000 && livesIn(n, row)),
    )
    .map((row) => `${row.sequence} ${row.n}`);
}

const told = (changes: readonly RecordChange[]) => changes.map((change) => `${change.sequence} ${change.n}`);

describe.each(REACHES)("changes for a caller of %s", (_whom, reachOf) => {
  test("are listed once each, in commit order, from any transaction on", () => {
    for (const kinds of [KINDS, [tagKind], [portKind]]) {
      const reach = reachOf();
      const steps = [...new ChangeLog(store.reader).changes({ reach, kinds }, 0, head())];
      const all = steps.flatMap((step) => told(step.changes));
      expect(all).toEqual(shown(reach, kinds));
      for (const after of [1, 5, 9, 10, 30, head()]) {
        const rest = [...new ChangeLog(store.reader).changes({ reach, kinds }, after, head())].flatMap((step) =>
          told(step.changes),
        );
        expect(rest).toEqual(all.filter((each) => Number.parseInt(each, 10) > after));
      }
    }
  });

  test("report their position: later changes follow", () => {
    let through = 0;
    let steps: ChangeStep[] = [];
    for (const step of new ChangeLog(store.reader).changes({ reach: reachOf(), kinds: KINDS }, 0, head())) {
      for (const { sequence } of step.changes) expect(sequence).toBeGreaterThan(through);
      expect(step.through).toBeGreaterThanOrEqual(through);
      through = step.through;
      steps = [...steps, step];
    }
    expect(through).toBe(head());
    expect(steps.every((step) => step.changes.length <= 1_000)).toBe(true);
  });
});

test("invisible changes are skipped in steps, and the end of a step is found by index", () => {
  const reach = { ...store.reach(), networkNs: networks([otherNetworkId, store.networkId], MANY_NETWORKS) };
  const steps = [...new ChangeLog(store.reader).changes({ reach, kinds: [tagKind] }, 0, head())];
  expect(steps.filter((step) => step.changes.length === 0).length).toBeGreaterThan(10);

  const db = openReadOnly(store.path);
  const texts: string[] = [];
  const prepare = db.$client.prepare.bind(db.$client);
  db.$client.prepare = ((sql: string) => {
    texts.push(sql);
    return prepare(sql);
  }) as typeof prepare;
  const reader = new Reader(db, store.clock);
  try {
    for (const _ of new ChangeLog(reader).changes({ reach, kinds: KINDS }, 0, head()));
    for (const _ of new ChangeLog(reader).changes({ reach: store.reach(), kinds: [tagKind], hostN: 9 }, 0, head()));
    for (const _ of new ChangeLog(reader).changes(
      { reach: store.reach([otherNetworkId]), kinds: [tagKind] },
      0,
      head(),
    ));
    const plans = [...new Set(texts)].map((text) =>
      (db.$client.query(`EXPLAIN QUERY PLAN ${text}`).all() as Array<{ detail: string }>).map((row) => row.detail),
    );
    // Only the window of a few transactions over many scopes is sorted.
    expect(plans.flat().filter((detail) => /AUTOMATIC|^SCAN history/.test(detail))).toEqual([]);
    expect(plans.filter((plan) => plan.some((detail) => detail.includes("TEMP B-TREE")))).toEqual([
      [
        expect.any(String),
        "SEARCH a USING PRIMARY KEY (scope=? AND sequence>? AND sequence<?)",
        "USE TEMP B-TREE FOR DISTINCT",
      ],
    ]);
    const byTransaction = plans.filter((plan) =>
      plan.some((detail) => detail.includes("history_versions_by_sequence")),
    );
    expect(byTransaction.length).toBeGreaterThan(2);
    for (const plan of byTransaction)
      expect(plan).toContainEqual(
        expect.stringMatching(
          /^SEARCH v USING (COVERING )?INDEX history_versions_by_sequence \(<expr>=\? AND rowid>\?/,
        ),
      );
  } finally {
    reader.close();
  }
});

describe("the activity of scopes", () => {
  /** An organization with no other records. */
  const ORGANIZATION = 500_000;
  const TRANSACTIONS = 9_000;
  let sequencesOf: Map<number, number[]>;

  beforeAll(() => {
    sequencesOf = new Map([[ORGANIZATION, []]]);
    const insert = store.db.$client.prepare("INSERT INTO history_activity (scope, sequence, ordinal) VALUES (?, ?, ?)");
    const add = (scope: number, sequence: number) => {
      const sequences = sequencesOf.get(scope) ?? [];
      sequencesOf.set(scope, sequences);
      sequences.push(sequence);
      insert.run(scope, sequence, sequences.length);
    };
    store.db.$client.transaction(() => {
      for (let each = 1; each <= TRANSACTIONS; each += 1) {
        // Other organizations have transactions as well.
        const sequence = each * 3;
        add(ORGANIZATION, sequence);
        if (each % 7 === 0) add(-ORGANIZATION, sequence);
        // The first networks have no changes for a long time.
        if (each % 2 === 0 || each > 5_000)
          for (const network of new Set([each % 90, (each * 31) % 90])) add(ORGANIZATION + 1 + network, sequence);
      }
    })();
  });

  const scopesOf = (count: number) => [
    -ORGANIZATION,
    ...Array.from({ length: count }, (_, each) => ORGANIZATION + 1 + each),
  ];
  const expected = (scopes: readonly number[], until: number) =>
    [...new Set(scopes.flatMap((scope) => sequencesOf.get(scope) ?? []))]
      .filter((sequence) => sequence <= until)
      .sort((a, b) => a - b);

  test.each([
    ["the organization", () => [ORGANIZATION]],
    ["one network", () => scopesOf(1)],
    ["sixty networks", () => scopesOf(60)],
    ["ninety networks", () => scopesOf(90)],
    ["networks without activity", () => [-900_000, 900_001, 900_002]],
  ] as Array<[string, () => number[]]>)("of %s is found from either end, and counted, in steps", (_what, scopesIn) => {
    const scopes = scopesIn();
    for (const until of [TRANSACTIONS * 3 + 100, 10_000, 3, 0]) {
      const activity = new Activity(store.reader, ORGANIZATION, scopes);
      const all = expected(scopes, until);
      const forward: number[] = [];
      for (let through = 0; through < until; ) {
        const step = activity.next(through, until, 1_000);
        expect(step.through).toBeGreaterThan(through);
        expect(step.sequences.length).toBeLessThanOrEqual(1_000);
        forward.push(...step.sequences);
        through = step.through;
      }
      expect(forward).toEqual(all);
      for (const offset of [0, 1, 2_500, all.length, all.length + 10])
        for (const after of [0, Math.floor(until / 3)]) {
          const within = all.filter((sequence) => sequence > after);
          const range = { after, until };
          expect([...activity.newestFirst(range, offset)].flat()).toEqual(within.toReversed().slice(offset));
          expect([...activity.oldestFirst(range, offset)].flat()).toEqual(within.slice(offset));
          expect(counted(activity, until, after).count).toBe(within.length);
        }
      for (let time = 0; time < 2; time += 1) expect(counted(activity, until).count).toBe(all.length);
    }
  });

  test("is counted in several steps, continuing from the previous count", () => {
    const activity = new Activity(store.reader, ORGANIZATION, scopesOf(50));
    const first = counted(activity, 20_000);
    expect(first.steps).toBeGreaterThan(2);
    expect(counted(activity, 20_000)).toEqual({ count: first.count, steps: 0 });
    expect(counted(activity, 20_003).steps).toBe(1);
    expect(counted(activity, 9_000).count).toBe(expected(scopesOf(50), 9_000).length);
  });

  function counted(activity: Activity, until: number, after = 0): { count: number; steps: number } {
    const counting = activity.count({ after, until });
    for (let steps = 0; ; steps += 1) {
      const step = counting.next();
      if (step.done === true) return { count: step.value, steps };
    }
  }
});

test("a transaction larger than any step is one page of the feed, delivered once and never held whole", () => {
  const large = store.rows<{ sequence: number; count: number }>(
    "SELECT key & 2147483647 AS sequence, count(*) AS count FROM history_versions GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
  )[0] as { sequence: number; count: number };
  expect(large.count).toBeGreaterThan(1_000);
  const read = (reach: Reach, format: "json" | "events", after: number, limit: number) => {
    const [head, ...rest] = [
      ...changeFeed(store.reader, {
        actor: { ...reach, type: "User" as const, n: 1, userN: 1, role: "Viewer" as const },
        types: ["host", "port", "tag"],
        networkN: null,
        after,
        limit,
        format,
      } satisfies ChangeFeedInput),
    ].filter((bytes) => bytes.length > 0);
    return {
      head: JSON.parse(new TextDecoder().decode(head)) as ChangeFeedHead,
      steps: rest.length,
      text: new TextDecoder().decode(Buffer.concat(rest)),
    };
  };
  for (const reach of [
    store.reach(),
    store.reach([store.networkId]),
    { ...store.reach(), networkNs: networks([store.networkId], MANY_NETWORKS) },
  ]) {
    for (const limit of [1, 5, 999, 1_000]) {
      const page = read(reach, "json", large.sequence - 1, limit);
      expect(page.head).toMatchObject({ after: large.sequence, hasMore: true });
      expect(page.head.count).toBeLessThanOrEqual(limit + 1_000);
      const changes = JSON.parse(`[${page.text}]`) as Array<{
        record: { id: string };
        transaction: { sequence: number };
      }>;
      expect(changes).toHaveLength(large.count);
      expect(new Set(changes.map((change) => change.record.id)).size).toBe(large.count);
      expect(changes.every((change) => change.transaction.sequence === large.sequence)).toBe(true);
      const events = read(reach, "events", large.sequence - 1, limit);
      expect([...events.text.matchAll(/^data: /gm)]).toHaveLength(large.count);
      // Only the last event has the position.
      expect(events.text.match(/^id: .*$/gm)).toEqual([
        expect.stringMatching(new RegExp(`^id: ${large.sequence}-[0-9a-f]{8}$`)),
      ]);
      expect(events.text.lastIndexOf("event: change")).toBe(
        events.text.lastIndexOf(`event: change\nid: ${large.sequence}`),
      );
    }
  }
  expect(read(store.reach(), "json", large.sequence - 1, large.count).head).toMatchObject({
    count: large.count,
    after: large.sequence,
  });
});

describe("a diff", () => {
  const diffOf = (types: readonly string[], from: number, to: number) => {
    const actor = { ...store.reach(), type: "User" as const, n: 1, userN: 1, role: "Owner" as const };
    const diff = new Diff(store.reader, { actor, types, networkN: null, hostN: null, from, to });
    const gathered = [...diff.gather()].length;
    return { diff, gathered };
  };

  test("processes very many versions of one record in steps, with the last change of each field", () => {
    const tag = store.create(tagKind, tagFields(store.organizationId, "busy"));
    const from = head();
    const recolored = store.run((tx) => tx.update(tagKind, tag.id, { color: "Red" })).sequence;
    // Many commands in one commit: one transaction each.
    for (let group = 0; group < 11; group += 1)
      store.group(
        ...Array.from(
          { length: 100 },
          (_, each) => (tx: WriteTransaction) => tx.update(tagKind, tag.id, { description: `${group} ${each}` }),
        ),
      );
    const steps = [...diffOf(["tag"], from, head()).diff.differences(["changed"])];
    expect(steps.length).toBeGreaterThan(1);
    const found = steps.flat() as Array<Extract<Difference, { change: "changed" }>>;
    expect(
      found.map((each) => each.fields.map(({ field, transaction }) => [field, transaction?.sequence ?? null])),
    ).toEqual([
      [
        ["color", recolored],
        ["description", head()],
      ],
    ]);
    expect(found[0]?.transaction.sequence).toBe(head());
  });

  test("of everything lists each existing record once, kind by kind", () => {
    const { diff, gathered } = diffOf(["tag", "host", "port"], 0, head());
    expect(gathered).toBeGreaterThan(1);
    const added = [...diff.differences(["added"])].flat();
    const live = store.rows<{ count: number }>(
      "SELECT (SELECT count(*) FROM tags) + (SELECT count(*) FROM hosts) + (SELECT count(*) FROM ports) AS count",
    )[0]?.count;
    expect(added).toHaveLength(live as number);
    expect(new Set(added.map((each) => each.record.id)).size).toBe(added.length);
    expect([...diff.differences(["removed", "changed"])].flat()).toEqual([]);
  });
});
