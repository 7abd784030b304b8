// Long lists by name as of a timestamp: read in short steps with other reads in between, in the same order as SQL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import type { ListQuery } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { STEP_RECORDS, STEP_VERSIONS, TIMELINE_RECORDS_MIN } from "../../src/db/reading/sort-key-timelines.ts";
import { sortedInSteps } from "../../src/db/reading/sorted-in-steps.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
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
  const hosts = store.write((tx) =>
    Array.from(
      { length: HOSTS },
      (_, each): HostRecord =>
        tx.create(hostKind, store.organizationId, hostFields(store.networkId, `host ${(each * 7_919) % HOSTS}`)),
    ),
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
  for (let each = 0; each < STEP_VERSIONS + 100; each += 1) rename(hosts[700], `often ${each % 3}`);
  instants.push(store.clock.at);
  // A later write must not appear in past states.
  rename(hosts[3], "last of all");
});

/** A new reader, with the number of versions it has read for orders. */
function cold(): { reader: Reader; versionsRead: () => number } {
  const reader = new Reader(openReadOnly(store.path), store.clock);
  readers = [...readers, reader];
  let versions = 0;
  const statement = reader.statement.bind(reader);
  reader.statement = (text: string) => {
    const prepared = statement(text);
    if (!text.includes("FROM history_versions v") || !text.includes("->> '$.name'")) return prepared;
    return new Proxy(prepared, {
      get: (target, name) => {
        if (name !== "values") throw new Error(`nothing counts what ${String(name)} reads`);
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

/** As ordered by SQL, in one step. */
function expected(query: ListQuery): string[] {
  return store.reader.items(query).map(({ text }) => idOf(text));
}

function ids(reader: Reader, query: ListQuery): string[] {
  return reader.items(query).map(({ text }) => idOf(text));
}

const idOf = (text: string) => (JSON.parse(text) as { id: string }).id;

/** Takes all steps. @param between runs after each */
function taken<T>(steps: Generator<void, T>, between: () => void = () => {}): { result: T; steps: number } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, steps: count };
    between();
  }
}

test("is read in short steps, and is in the order of its instant", () => {
  const { reader, versionsRead } = cold();
  const query = byName(instants[5] as number);
  let before = 0;
  let most = 0;
  const { result, steps } = taken(reader.ordering(query), () => {
    most = Math.max(most, versionsRead() - before);
    before = versionsRead();
  });
  const versions = versionsRead();
  expect(versions).toBeGreaterThan(HOSTS * 3 + STEP_VERSIONS);
  expect(most).toBeLessThan(2 * STEP_VERSIONS);
  expect(steps).toBeGreaterThanOrEqual(HOSTS / STEP_RECORDS);
  expect(result.order).toEqual([]);
  expect(ids(reader, result)).toEqual(expected(query));
  // Known names are not read again, at any timestamp.
  for (const instant of [instants[0], instants[9], instants.at(-1)] as number[]) {
    const again = byName(instant, "desc");
    const next = taken(reader.ordering(again));
    expect(ids(reader, next.result)).toEqual(expected(again));
  }
  expect(versionsRead()).toBe(versions);
});

test("another list runs between two steps, by the same names or none", () => {
  const { reader, versionsRead } = cold();
  const [first, second] = [byName(instants[2] as number), byName(instants[11] as number, "desc")];
  const plain: ListQuery = { ...first, order: [], limit: 3 };
  const other = reader.ordering(second);
  let turn = other.next();
  const { result } = taken(reader.ordering(first), () => {
    if (turn.done !== true) turn = other.next();
    expect(ids(reader, plain)).toHaveLength(3);
  });
  expect(ids(reader, result)).toEqual(expected(first));
  while (turn.done !== true) turn = other.next();
  expect(ids(reader, turn.value)).toEqual(expected(second));
  // Names read by one need not be read by the other, except those in progress in both.
  const { versionsRead: alone, reader: lone } = cold();
  taken(lone.ordering(first));
  expect(versionsRead()).toBeLessThan(alone() * 1.5);
});

test("writes between two steps do not affect an order in the past", () => {
  const { reader } = cold();
  const query = byName(instants.at(-1) as number);
  const before = expected(query);
  let writes = 0;
  const { result } = taken(reader.ordering(query), () => {
    if (writes >= 5) return;
    writes += 1;
    store.write((tx) => tx.update(hostKind, before[HOSTS - writes] as string, { name: `! ${writes}` }));
  });
  expect(writes).toBe(5);
  expect(ids(reader, result)).toEqual(before);
  const written = store.clock.at;
  store.write((tx) => tx.update(hostKind, before[0] as string, { name: "later" }));
  const after = taken(reader.ordering(byName(written))).result;
  expect(after.order).toEqual([]);
  expect(ids(reader, after)).toEqual(expected(byName(written)));
  expect(ids(reader, after)).not.toEqual(before);
});

describe("sorting in steps", () => {
  test.each([0, 1, 6, 7, 8, 50, 999])("%i numbers equals sorting them, and is stable", (count) => {
    const random = seededRandom(count + 1);
    const keys = Array.from({ length: count }, () => random.integer(20));
    const compare = (a: number, b: number) => (keys[a] as number) - (keys[b] as number);
    const places = keys.map((_, place) => place);
    const { result, steps } = taken(sortedInSteps(Uint32Array.from(places), compare, 7));
    expect(Array.from(result)).toEqual(places.toSorted(compare));
    expect(steps).toBeGreaterThanOrEqual(Math.ceil(count / 7));
  });
});
