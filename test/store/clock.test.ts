// Ledger clock: strictly increasing regardless of the system clock, and timestamps between, before and after
// transactions.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { DAY_MS, hostFields, Store } from "../support/store/store.ts";

let store: Store;

beforeEach(() => {
  store = new Store();
});
afterEach(() => store.close());

const names = (asOf: ReturnType<Store["reader"]["resolve"]>) =>
  store.list(hostKind, { asOf }).items.map((host) => host.name);

/** Writes without advancing the clock. */
function writeNow(name: string): void {
  const [reply] = store.group((tx) => tx.create(hostKind, store.organizationId, hostFields(store.networkId, name)));
  expect(reply?.ok).toBe(true);
}

test("transactions under a stopped clock are a millisecond apart", () => {
  const start = store.clock.at;
  for (const name of ["a", "b", "c"]) writeNow(name);
  expect(store.transactions().map(({ at }) => at)).toEqual([start, start + 1, start + 2, start + 3]);
  expect(store.transactions().map(({ wall_at }) => wall_at)).toEqual([start, start, start, start]);
});

test("commands that share a commit have distinct sequence numbers and timestamps", () => {
  const create = (name: string) => (tx: WriteTransaction) =>
    tx.create(hostKind, store.organizationId, hostFields(store.networkId, name));
  expect(store.group(create("a"), create("b")).map((reply) => reply.ok && reply.outcome.sequence)).toEqual([2, 3]);
  expect(new Set(store.transactions().map(({ at }) => at)).size).toBe(3);
});

test("a clock set back by a day continues from the last transaction, and the clock's time is recorded", () => {
  const start = store.clock.at;
  store.clock.at = start - DAY_MS;
  writeNow("a");
  writeNow("b");
  const [, first, second] = store.transactions();
  expect(first).toMatchObject({ at: start + 1, wall_at: start - DAY_MS });
  expect(second).toMatchObject({ at: start + 2, wall_at: start - DAY_MS });
  const [host] = store.list(hostKind).items;
  expect(host?.valid_from).toBe(formatInstant(start + 1));
  expect(store.versions(host?.id)[0]?.valid_from).toBe(formatInstant(start + 1));
});

test("a timestamp resolves to the last transaction at or before it", () => {
  const firstWrite = (store.clock.at += 10_000);
  writeNow("a");
  store.clock.at += 10_000;
  writeNow("b");
  store.clock.at += 10_000;
  const found = [-1, 0, 1, 9_999, 10_000].map((offset) => names(store.reader.resolve(firstWrite + offset)));
  expect(found).toEqual([[], ["a"], ["a"], ["a"], ["a", "b"]]);
});

test("at valid_from the new version applies; a millisecond earlier, the old one does, and ends there", () => {
  const host = store.create(hostKind, hostFields(store.networkId, "old"));
  store.write((tx) => tx.update(hostKind, host.id, { name: "new" }));
  const at = store.clock.at;
  store.clock.at += 1_000;
  const before = store.list(hostKind, { asOf: store.reader.resolve(at - 1) }).items[0];
  const after = store.list(hostKind, { asOf: store.reader.resolve(at) }).items[0];
  expect(before).toMatchObject({ name: "old", valid_from: host.valid_from, valid_to: formatInstant(at) });
  expect(after).toMatchObject({ name: "new", valid_from: formatInstant(at), valid_to: null });
});

test("before the first transaction the store is empty", () => {
  writeNow("a");
  const first = store.transactions()[0]?.at as number;
  store.clock.at += 1_000;
  const asOf = store.reader.resolve(first - 1);
  expect(asOf).toMatchObject({ sequence: 0 });
  expect(store.list(hostKind, { asOf })).toEqual({ items: [], total: 0 });
  const query = { kind: hostKind, reach: store.reach(), asOf, limit: 0, offset: 0 };
  expect([...store.reader.chunks(query, null)]).toEqual([]);
  expect(store.reader.resolve(-62_135_596_800_000)).toMatchObject({ sequence: 0 });
});

test("a future timestamp resolves to the present", () => {
  writeNow("a");
  expect(store.reader.resolve(store.clock.at + DAY_MS)).toBeNull();
  expect(store.reader.resolve(store.clock.at)).toBeNull();
});

test("while the ledger's clock is ahead, wall-clock timestamps from now on resolve to the head, and earlier ones to the past", () => {
  writeNow("a");
  store.clock.at -= DAY_MS;
  writeNow("b");
  const [, , second] = store.transactions();
  expect((second?.at as number) > store.clock.at).toBe(true);
  expect(store.reader.resolve(second?.at as number)).toBeNull();
  expect(store.reader.resolve(store.clock.at)).toBeNull();
  expect(store.reader.resolve(store.clock.at - 1)).toMatchObject({ sequence: 0 });
});
