// Long lists by name as of a timestamp: read in short steps with other reads in between, in the same order as SQL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import type { ListQuery } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { STEP_RECORDS, STEP_VERSIONS, TIMELINE_RECORDS_MIN } from "../../src/db/reading/sort-key-timelines.ts";
import { sortedInSteps } from "../../src/db/reading/sorted-in-steps.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { countSteps } from "../support/store/counted-steps.ts";
import { hostFields, Store } from "../support/store/store.ts";

const HOSTS = TIMELINE_RECORDS_MIN + 300;
const RENAMES = 12;
const store = new Store({ seed: 7 });
const instants: number[] = [];
let readers: Reader[] = [];
afterAll(() => {
  for (const reader of readers) reader.close();
  store.close();
});

beforeAll(() => {
  const random = seededRandom(11);
  const names = Array.from({ length: HOSTS }, (_, index) => `host ${(index * 7_919) % HOSTS}`);
  const hosts = store.write((tx) =>
    names.map((name) => tx.create(hostKind, store.organizationId, hostFields(store.networkId, name))),
  );
  const rename = (host: HostRecord | undefined, name: string) =>
    store.write((tx) => tx.update(hostKind, host?.id as string, { name }));
  instants.push(store.clock.at);
  for (let round = 0; round < RENAMES; round += 1) {
    store.write((tx) => {
      for (const host of hosts)
        if (random.integer(4) === 0)
          tx.update(hostKind, host.id, { name: `${"ZaÄ~"[random.integer(4)]} ${random.integer(500)}` });
    });
    instants.push(store.clock.at);
  }
  // More versions of one record than a step reads.
  for (let index = 0; index < STEP_VERSIONS + 100; index += 1) rename(hosts[700], `often ${index % 3}`);
  instants.push(store.clock.at);
  // A later write must not appear in past states.
  rename(hosts[3], "last of all");
});

/** Opens a reader that counts the versions it reads for orders. */
function freshReader(): { reader: Reader; versionsRead: () => number } {
  const reader = new Reader(openReadOnly(store.path), store.clock);
  readers = [...readers, reader];
  let versions = 0;
  const statement = reader.statement.bind(reader);
  reader.statement = (text: string) => {
    const prepared = statement(text);
    if (!text.includes("FROM history_versions v") || !text.includes("->> '$.name'")) return prepared;
    return new Proxy(prepared, {
      get: (target, name) => {
        if (name !== "values") throw new Error(`reads by ${String(name)} are not counted`);
        return (...values: number[]) => {
          const rows = target.values(...values);
          versions += rows.length;
          return rows;
        };
      },
    });
  };
  return { reader, versionsRead: () => versions };
}

const byName = (instant: number, direction: "asc" | "desc" = "asc"): ListQuery => ({
  kind: hostKind,
  reach: store.reach(),
  asOf: store.reader.resolve(instant),
  order: [{ field: "name", direction, byKey: true }],
  limit: 0,
  offset: 0,
});

function ids(reader: Reader, query: ListQuery): string[] {
  return reader.items(query).map(({ text }) => (JSON.parse(text) as { id: string }).id);
}

/** Ids as ordered by SQL, in one step. */
const expected = (query: ListQuery): string[] => ids(store.reader, query);

test("a list is read in short steps, in the order of its timestamp", () => {
  const { reader, versionsRead } = freshReader();
  const query = byName(instants[5] as number);
  let before = 0;
  let maxVersions = 0;
  const { result, steps } = countSteps(reader.ordering(query), () => {
    maxVersions = Math.max(maxVersions, versionsRead() - before);
    before = versionsRead();
  });
  const versions = versionsRead();
  expect(versions).toBeGreaterThan(HOSTS * 3 + STEP_VERSIONS);
  expect(maxVersions).toBeLessThan(2 * STEP_VERSIONS);
  expect(steps).toBeGreaterThanOrEqual(HOSTS / STEP_RECORDS);
  expect(result.order).toEqual([]);
  expect(ids(reader, result)).toEqual(expected(query));
  // Known names are not read again, at any timestamp.
  for (const instant of [instants[0], instants[9], instants.at(-1)] as number[]) {
    const nextQuery = byName(instant, "desc");
    expect(ids(reader, countSteps(reader.ordering(nextQuery)).result)).toEqual(expected(nextQuery));
  }
  expect(versionsRead()).toBe(versions);
});

test("another list runs between two steps, ordered by name or not", () => {
  const { reader, versionsRead } = freshReader();
  const [first, second] = [byName(instants[2] as number), byName(instants[11] as number, "desc")];
  const plain: ListQuery = { ...first, order: [], limit: 3 };
  const otherOrdering = reader.ordering(second);
  let step = otherOrdering.next();
  const { result } = countSteps(reader.ordering(first), () => {
    if (step.done !== true) step = otherOrdering.next();
    expect(ids(reader, plain)).toHaveLength(3);
  });
  expect(ids(reader, result)).toEqual(expected(first));
  while (step.done !== true) step = otherOrdering.next();
  expect(ids(reader, step.value)).toEqual(expected(second));
  // Names read by one need not be read by the other, except those in progress in both.
  const { versionsRead: separateVersionsRead, reader: separateReader } = freshReader();
  countSteps(separateReader.ordering(first));
  expect(versionsRead()).toBeLessThan(separateVersionsRead() * 1.5);
});

test("writes between two steps do not affect an order in the past", () => {
  const { reader } = freshReader();
  const query = byName(instants.at(-1) as number);
  const before = expected(query);
  let writes = 0;
  const { result } = countSteps(reader.ordering(query), () => {
    if (writes >= 5) return;
    writes += 1;
    store.write((tx) => tx.update(hostKind, before[HOSTS - writes] as string, { name: `! ${writes}` }));
  });
  expect(writes).toBe(5);
  expect(ids(reader, result)).toEqual(before);
  const written = store.clock.at;
  store.write((tx) => tx.update(hostKind, before[0] as string, { name: "later" }));
  const after = countSteps(reader.ordering(byName(written))).result;
  expect(after.order).toEqual([]);
  expect(ids(reader, after)).toEqual(expected(byName(written)));
  expect(ids(reader, after)).not.toEqual(before);
});

describe("sorting in steps", () => {
  test.each([0, 1, 6, 7, 8, 50, 999])("equals a stable sort of %i numbers", (count) => {
    const random = seededRandom(count + 1);
    const keys = Array.from({ length: count }, () => random.integer(20));
    const compare = (a: number, b: number) => (keys[a] as number) - (keys[b] as number);
    const indexes = keys.map((_, index) => index);
    const { result, steps } = countSteps(sortedInSteps(Uint32Array.from(indexes), compare, 7));
    expect(Array.from(result)).toEqual(indexes.toSorted(compare));
    expect(steps).toBeGreaterThanOrEqual(Math.ceil(count / 7));
  });
});
