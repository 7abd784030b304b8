// Ledger in commit order, for callers with access to all or some networks: no gaps, no duplicates, and bounded steps.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { Activity } from "../../src/db/reading/activity.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { Reach } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { type ChangeFeedHead, type ChangeFeedInput, changeFeed } from "../../src/history/change-feed.ts";
import { Diff, type Difference } from "../../src/history/diff.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { countSteps } from "../support/store/counted-steps.ts";
import { planOf, preparedBy } from "../support/store/prepared-statements.ts";
import { hostFields, type JsonRecord, networkFields, portFields, Store, tagFields } from "../support/store/store.ts";

/** Enough that each step covers few versions. */
const MANY_NETWORKS = 1_000;
const KINDS: readonly AnyKind[] = [tagKind, hostKind, portKind, networkKind];

const store = new Store();
let otherNetworkId: string;

beforeAll(() => {
  const { organizationId } = store;
  otherNetworkId = store.create(networkKind, networkFields(organizationId, "other")).id;
  // Changes in both networks and outside networks; one transaction exceeds any step.
  for (let index = 0; index < 40; index += 1) {
    store.write((tx) => {
      if (index % 4 === 0) return tx.create(tagKind, organizationId, tagFields(organizationId, `tag ${index}`));
      const fields = hostFields(index % 3 === 0 ? otherNetworkId : store.networkId, `host ${index}`);
      const host = tx.create(hostKind, organizationId, fields);
      const ports = index === 7 ? 1_500 : index % 5;
      for (let number = 1; number <= ports; number += 1) tx.create(portKind, organizationId, portFields(host, number));
      return host;
    });
  }
});
afterAll(() => store.close());

const head = () => store.reader.head().sequence;
const networks = (networkIds: readonly string[], count: number) => [
  ...Array.from({ length: count - networkIds.length }, (_, index) => 1_000_000 + index),
  ...networkIds.map((id) => store.n(id)),
];

const REACHES: Array<[string, () => Reach]> = [
  ["the whole organization", () => store.reach()],
  ["one network", () => store.reach([otherNetworkId])],
  ["two networks", () => store.reach([otherNetworkId, store.networkId])],
  ["seventy networks", () => ({ ...store.reach(), networkNs: networks([otherNetworkId], 70) })],
  ["a thousand networks", () => ({ ...store.reach(), networkNs: networks([store.networkId], MANY_NETWORKS) })],
];

/** Every version in reach, in commit order, computed in one pass. */
function visibleVersions(reach: Reach, kinds: readonly AnyKind[]): string[] {
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

describe.each(REACHES)("changes for a caller with access to %s", (_whom, reachOf) => {
  test("are listed once each, in commit order, from any transaction on", () => {
    for (const kinds of [KINDS, [tagKind], [portKind]]) {
      const reach = reachOf();
      const keysAfter = (after: number) =>
        [...new ChangeLog(store.reader).changes({ reach, kinds }, after, head())].flatMap((step) =>
          step.changes.map((change) => `${change.sequence} ${change.n}`),
        );
      const all = keysAfter(0);
      expect(all).toEqual(visibleVersions(reach, kinds));
      for (const after of [1, 5, 9, 10, 30, head()])
        expect(keysAfter(after)).toEqual(all.filter((key) => Number.parseInt(key, 10) > after));
    }
  });

  test("report a position below all later changes", () => {
    let through = 0;
    for (const step of new ChangeLog(store.reader).changes({ reach: reachOf(), kinds: KINDS }, 0, head())) {
      for (const { sequence } of step.changes) expect(sequence).toBeGreaterThan(through);
      expect(step.through).toBeGreaterThanOrEqual(through);
      expect(step.changes.length).toBeLessThanOrEqual(1_000);
      through = step.through;
    }
    expect(through).toBe(head());
  });
});

test("invisible changes are skipped in steps, and the end of a step is found through an index", () => {
  const reach = { ...store.reach(), networkNs: networks([otherNetworkId, store.networkId], MANY_NETWORKS) };
  const steps = [...new ChangeLog(store.reader).changes({ reach, kinds: [tagKind] }, 0, head())];
  expect(steps.filter((step) => step.changes.length === 0).length).toBeGreaterThan(10);

  const db = openReadOnly(store.path);
  const reader = new Reader(db, store.clock);
  try {
    const { texts } = preparedBy(db.$client, () => {
      for (const query of [
        { reach, kinds: KINDS },
        { reach: store.reach(), kinds: [tagKind], hostN: 9 },
        { reach: store.reach([otherNetworkId]), kinds: [tagKind] },
      ])
        for (const _ of new ChangeLog(reader).changes(query, 0, head()));
    });
    const plans = [...new Set(texts)].map((text) => planOf(db.$client, text));
    // Only the window of a few transactions over many scopes is sorted.
    expect(plans.flat().filter((detail) => /AUTOMATIC|^SCAN history/.test(detail))).toEqual([]);
    expect(plans.filter((plan) => plan.some((detail) => detail.includes("TEMP B-TREE")))).toEqual([
      [
        expect.any(String),
        "SEARCH a USING PRIMARY KEY (scope=? AND sequence>? AND sequence<?)",
        "USE TEMP B-TREE FOR DISTINCT",
      ],
    ]);
    const byTransaction = plans.map((plan) => plan.join("\n")).filter((plan) => plan.includes("versions_by_sequence"));
    expect(byTransaction.length).toBeGreaterThan(2);
    for (const plan of byTransaction)
      expect(plan).toMatch(/^SEARCH v USING (COVERING )?INDEX history_versions_by_sequence \(<expr>=\? AND rowid>\?/m);
  } finally {
    reader.close();
  }
});

describe("the activity of scopes", () => {
  /** Organization without other records. */
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
      for (let index = 1; index <= TRANSACTIONS; index += 1) {
        // Other organizations have transactions as well.
        const sequence = index * 3;
        add(ORGANIZATION, sequence);
        if (index % 7 === 0) add(-ORGANIZATION, sequence);
        // The first networks have no changes for a long time.
        if (index % 2 === 0 || index > 5_000)
          for (const network of new Set([index % 90, (index * 31) % 90])) add(ORGANIZATION + 1 + network, sequence);
      }
    })();
  });

  const countTo = (activity: Activity, until: number) => countSteps(activity.count({ after: 0, until }));
  const scopesOf = (count: number) => [
    -ORGANIZATION,
    ...Array.from({ length: count }, (_, index) => ORGANIZATION + 1 + index),
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
  ] as Array<[string, () => number[]]>)("is found from either end and counted, in steps: %s", (_case, scopesIn) => {
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
          expect(countSteps(activity.count(range)).result).toBe(within.length);
        }
      for (let round = 0; round < 2; round += 1) expect(countTo(activity, until).result).toBe(all.length);
    }
  });

  test("is counted in several steps, continuing from the previous count", () => {
    const activity = new Activity(store.reader, ORGANIZATION, scopesOf(50));
    const first = countTo(activity, 20_000);
    expect(first.steps).toBeGreaterThan(2);
    expect(countTo(activity, 20_000)).toEqual({ ...first, steps: 0 });
    expect(countTo(activity, 20_003).steps).toBe(1);
    expect(countTo(activity, 9_000).result).toBe(expected(scopesOf(50), 9_000).length);
  });
});

test("a transaction larger than any step is one page of the feed, delivered once and never entirely in memory", () => {
  const large = store.rows<{ sequence: number; count: number }>(
    "SELECT key & 2147483647 AS sequence, count(*) AS count FROM history_versions GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
  )[0] as { sequence: number; count: number };
  expect(large.count).toBeGreaterThan(1_000);
  const read = (reach: Reach, format: "json" | "events", after: number, limit: number) => {
    const actor = { ...reach, type: "User", n: 1, userN: 1, role: "Viewer" } as const;
    const input: ChangeFeedInput = { actor, types: ["host", "port", "tag"], networkN: null, after, limit, format };
    const [head, ...rest] = [...changeFeed(store.reader, input)].filter((bytes) => bytes.length > 0);
    return {
      head: JSON.parse(new TextDecoder().decode(head)) as ChangeFeedHead,
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
      const changes = JSON.parse(`[${page.text}]`) as JsonRecord[];
      expect(changes).toHaveLength(large.count);
      expect(new Set(changes.map((change) => change.record.id)).size).toBe(large.count);
      expect(changes.every((change) => change.transaction.sequence === large.sequence)).toBe(true);
      const { text } = read(reach, "events", large.sequence - 1, limit);
      expect([...text.matchAll(/^data: /gm)]).toHaveLength(large.count);
      // Only the last event has the position.
      const position = new RegExp(`^id: ${large.sequence}-[0-9a-f]{8}$`);
      expect(text.match(/^id: .*$/gm)).toEqual([expect.stringMatching(position)]);
      expect(text.lastIndexOf("event: change")).toBe(text.lastIndexOf(`event: change\nid: ${large.sequence}`));
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

  test("processes many versions of one record in steps, with the last change to each field", () => {
    const tag = store.create(tagKind, tagFields(store.organizationId, "busy"));
    const from = head();
    const recolored = store.run((tx) => tx.update(tagKind, tag.id, { color: "Red" })).sequence;
    // Many commands in one commit: one transaction each.
    for (let group = 0; group < 11; group += 1)
      store.group(
        ...Array.from(
          { length: 100 },
          (_, index) => (tx: WriteTransaction) => tx.update(tagKind, tag.id, { description: `${group} ${index}` }),
        ),
      );
    const steps = [...diffOf(["tag"], from, head()).diff.differences(["changed"])];
    expect(steps.length).toBeGreaterThan(1);
    const found = steps.flat() as Array<Extract<Difference, { change: "changed" }>>;
    expect(
      found.map((change) => change.fields.map(({ field, transaction }) => [field, transaction?.sequence ?? null])),
    ).toEqual([
      [
        ["color", recolored],
        ["description", head()],
      ],
    ]);
    expect(found[0]?.transaction.sequence).toBe(head());
  });

  test("lists each existing record once, kind by kind, if it starts at the start of the ledger", () => {
    const { diff, gathered } = diffOf(["tag", "host", "port"], 0, head());
    expect(gathered).toBeGreaterThan(1);
    const added = [...diff.differences(["added"])].flat();
    const live = store.rows<{ count: number }>(
      "SELECT (SELECT count(*) FROM tags) + (SELECT count(*) FROM hosts) + (SELECT count(*) FROM ports) AS count",
    )[0]?.count;
    expect(added).toHaveLength(live as number);
    expect(new Set(added.map(({ record }) => record.id)).size).toBe(added.length);
    expect([...diff.differences(["removed", "changed"])].flat()).toEqual([]);
  });
});
