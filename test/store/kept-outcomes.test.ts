// Stored outcomes of requests with an Idempotency-Key: bounded, and reduced to what a repeated response needs.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OUTCOME_LIMITS } from "../../src/base/write-limits.ts";
import { OUTCOME_TTL_MS, OutcomeStore, type Repeatable, type StoredPart } from "../../src/db/writing/kept-outcomes.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { Store, tagFields } from "../support/store/store.ts";

const LIMITS = { perUser: { count: 20, bytes: 20_000 }, total: { count: 50, bytes: 50_000 } };
/** Transparent box instead of a sealed one. */
const BOX = {
  seal: (plaintext: string, context: string) => new TextEncoder().encode(`${context}\n${plaintext}`),
  open: (box: Uint8Array, context: string) => {
    const text = new TextDecoder().decode(box);
    if (!text.startsWith(`${context}\n`)) throw new Error("box for another context");
    return text.slice(context.length + 1);
  },
};

let store: Store;
let outcomes: OutcomeStore;
let users: number[];
let now: number;

beforeEach(() => {
  store = new Store();
  outcomes = new OutcomeStore(store.db, BOX, LIMITS);
  // Any record numbers suffice.
  users = [store.n(store.organizationId), store.n(store.networkId)];
  now = store.clock.now();
});
afterEach(() => store.close());

const request = (key: string, fields: Partial<Repeatable> = {}): Repeatable => ({
  userN: users[0] as number,
  callerN: fields.userN ?? (users[0] as number),
  key,
  fingerprint: "f",
  storedPart: "All",
  ...fields,
});
const keep = (key: string, result: unknown = key, fields: Partial<Repeatable> = {}) => {
  now += 1;
  outcomes.store(request(key, fields), { sequence: 7, result }, now);
};
const find = (key: string, fields: Partial<Repeatable> = {}) => outcomes.find(request(key, fields), now)?.result;
const rows = () =>
  store.db.$client.query("SELECT count(*), coalesce(sum(length(sealed)), 0) FROM idempotency_keys").values()[0] as [
    number,
    number,
  ];
const randomText = (length: number) => Buffer.from(store.random.bytes(length)).toString("base64");

describe("an outcome", () => {
  test.each<[StoredPart, unknown]>([
    ["All", { id: "a", name: "n" }],
    ["Id", { id: "a" }],
    ["Nothing", null],
  ])("is stored as far as needed: %s", (storedPart, stored) => {
    keep("k", { id: "a", name: "n" }, { storedPart });
    expect(find("k")).toEqual(stored);
    expect(outcomes.find(request("k"), now)).toMatchObject({ sequence: 7, isReplayed: true });
  });

  test("is stored with the permissions of its request, and with its position in the ledger", () => {
    outcomes.store(request("k"), { sequence: null, result: "seen", head: 7 }, now, ["Member", [3]]);
    const stored = { sequence: null, result: "seen", head: 7, rights: ["Member", [3]] };
    expect(outcomes.find(request("k"), now)).toEqual({ ...stored, isReplayed: true } as never);
  });

  test("is compressed if long, and round-trips", () => {
    const plan = Array.from({ length: 1_000 }, (_, n) => ({ action: "Updated", name: `host ${n} \u00e9` }));
    keep("k", plan);
    expect(rows()[1]).toBeLessThan(JSON.stringify(plan).length / 4);
    expect(find("k")).toEqual(plan);
  });

  test("is stored under a hash of its key, and no stored data reveals the key", () => {
    keep("what-was-sent");
    const stored = store.db.$client.query("SELECT key, sealed FROM idempotency_keys").values();
    const [[key, sealed]] = stored as [[string, Uint8Array]];
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(Buffer.from(sealed).toString()).toStartWith(`idempotency:${users[0]}:what-was-sent`);
    keep("what-was-sent", "the key's", { callerN: users[1] as number });
    expect(rows()[0]).toBe(2);
  });

  test("belongs to its caller, even among one user's keys", () => {
    keep("k", "the user's");
    keep("k", "the key's", { callerN: users[1] as number });
    expect([find("k"), find("k", { callerN: users[1] as number })]).toEqual(["the user's", "the key's"]);
  });
});

describe("one user's stored outcomes", () => {
  test("are limited in number, over all of the user's keys: the oldest are dropped", () => {
    for (let n = 0; n < 100; n += 1) {
      keep(`k${n}`, n, { callerN: users[n % 2] as number, userN: users[0] as number });
      expect(rows()[0]).toBeLessThanOrEqual(LIMITS.perUser.count);
      expect(find(`k${n}`, { callerN: users[n % 2] as number })).toBe(n);
    }
    // Several are evicted at a time.
    expect(rows()[0]).toBeGreaterThan(LIMITS.perUser.count * 0.8);
    expect(find("k83", { callerN: users[1] as number })).toBe(83);
    expect(find("k3", { callerN: users[1] as number })).toBeUndefined();
  });

  test("are limited in size, except that the newest is always stored", () => {
    for (let n = 0; n < 30; n += 1) {
      keep(`k${n}`, randomText(1_500));
      expect(rows()[1]).toBeLessThanOrEqual(LIMITS.perUser.bytes);
    }
    const large = randomText(30_000);
    keep("large", large);
    expect([rows()[0], find("large")]).toEqual([1, large]);
  });

  test("do not displace another user's", () => {
    keep("first", "mine", { userN: users[1] as number });
    for (let n = 0; n < 100; n += 1) keep(`k${n}`);
    expect(find("first", { userN: users[1] as number })).toBe("mine");
  });

  test("are counted after a start, and after a rolled-back commit", () => {
    for (let n = 0; n < LIMITS.perUser.count; n += 1) keep(`k${n}`);
    outcomes = new OutcomeStore(store.db, BOX, LIMITS);
    keep("one more");
    expect(rows()[0]).toBeLessThanOrEqual(LIMITS.perUser.count);
    for (let n = 0; n < 200; n += 1) {
      store.db.$client.run("BEGIN");
      keep(`undone ${n}`);
      store.db.$client.run("ROLLBACK");
    }
    expect(rows()[0]).toBeGreaterThan(LIMITS.perUser.count / 2);
  });

  test("expire after a day", () => {
    keep("k");
    now += OUTCOME_TTL_MS;
    expect(find("k")).toBeUndefined();
    keep("another");
    expect(rows()[0]).toBe(1);
  });
});

describe("all stored outcomes", () => {
  test("are limited in number: the user with the most loses the oldest", () => {
    const [first, quietUser] = users as [number, number];
    const newUser = (name: string) => store.n(store.create(tagKind, tagFields(store.organizationId, name)).id);
    const busyUsers = [first, ...["a", "b", "c", "d"].map(newUser)];
    keep("mine", "mine", { userN: quietUser });
    for (let n = 0; n < 20; n += 1)
      for (const userN of busyUsers) {
        keep(`k${n}`, n, { userN });
        expect(rows()[0]).toBeLessThanOrEqual(LIMITS.total.count);
        expect(find(`k${n}`, { userN })).toBe(n);
      }
    expect(find("mine", { userN: quietUser })).toBe("mine");
  });

  test("have product limits within the global ones", () => {
    expect(OUTCOME_LIMITS.total.count).toBeGreaterThan(OUTCOME_LIMITS.perUser.count);
    expect(OUTCOME_LIMITS.total.bytes).toBeGreaterThan(OUTCOME_LIMITS.perUser.bytes);
  });
});
