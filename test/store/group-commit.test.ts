// Commands that share a commit: each succeeds or is rolled back alone, in order; a full disk rolls back all of them,
// and nothing else.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SYSTEM_AUTHOR } from "../../src/access/actor.ts";
import { DomainError } from "../../src/base/errors.ts";
import { openWritable } from "../../src/db/connection.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { hostFields, portFields, request, Store, tagFields } from "../support/store/store.ts";

let store: Store;

beforeEach(() => {
  store = new Store();
});
afterEach(() => store.close());

const newTag = (name: string) => (tx: WriteTransaction) =>
  tx.create(tagKind, store.organizationId, tagFields(store.organizationId, name));
const codes = (replies: WriteReply[]) => replies.map((reply) => (reply.ok ? reply.outcome.sequence : reply.code));
const tagNames = () => store.list(tagKind).items.map((tag) => tag.name);

test("a failing command leaves adjacent ones intact, in order and without a gap", () => {
  const failing = (tx: WriteTransaction) => {
    newTag("b")(tx);
    throw new DomainError("entity_stale", "no");
  };
  const replies = store.group(newTag("a"), failing, newTag("c"), newTag("a"), () => "nothing", newTag("d"));
  expect(codes(replies)).toEqual([2, "entity_stale", 3, "entity_already_exists", null, 4]);
  expect(tagNames()).toEqual(["a", "c", "d"]);
  expect(store.transactions().map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
});

describe.each([
  ["a trigger", "UPDATE history_transactions SET source = 'x'"],
  ["a check", "INSERT INTO appliance_settings (name, value) VALUES (NULL, '')"],
  ["a foreign key", "INSERT INTO observations (n, observed) VALUES (1000000, '')"],
])("a violation of %s within a command", (_case, sql) => {
  test.each([
    ["", (_tx: WriteTransaction, violate: () => void) => violate()],
    [", even after its records are written", (tx: WriteTransaction, violate: () => void) => tx.runAfterWrite(violate)],
  ])("rolls back that command only%s", (_when, run) => {
    const violating = (tx: WriteTransaction) => {
      newTag("b")(tx);
      run(tx, () => tx.db.$client.run(sql));
    };
    expect(codes(store.group(newTag("a"), violating, newTag("c")))).toEqual([2, "internal_error", 3]);
    expect(tagNames()).toEqual(["a", "c"]);
  });
});

test("removing a parent while a part remains is refused as a dangling reference, and adjacent commands succeed", () => {
  const host = store.create(hostKind, hostFields(store.networkId, "a"));
  store.create(portKind, portFields(host, 22));
  const replies = store.group(newTag("a"), (tx) => tx.remove(hostKind, host.id), newTag("b"));
  expect(codes(replies)).toEqual([4, "internal_error", 5]);
  expect(store.list(hostKind).total).toBe(1);
});

test("a tag in use cannot be removed", () => {
  const tag = store.write(newTag("a"));
  store.create(hostKind, hostFields(store.networkId, "h", { tags: [tag.id] }));
  expect(codes(store.group((tx) => tx.remove(tagKind, tag.id)))).toEqual(["internal_error"]);
  expect(tagNames()).toEqual(["a"]);
});

test("an unknown command fails alone", () => {
  const replies = store.writer.execute([
    request(newTag("a")),
    { command: "constructor", input: null, actor: SYSTEM_AUTHOR },
    request(newTag("b")),
  ]);
  expect(codes(replies)).toEqual([2, "internal_error", 3]);
});

describe("a full disk", () => {
  const big = "x".repeat(4_000);
  const newHosts =
    (count: number) =>
    (tx: WriteTransaction): void => {
      for (let index = 0; index < count; index += 1)
        tx.create(hostKind, store.organizationId, hostFields(store.networkId, `h${index}`, { description: big }));
    };
  const setPageLimit = (pages: number) => store.db.$client.run(`PRAGMA max_page_count = ${pages}`);
  const pages = () => store.rows<{ page_count: number }>("PRAGMA page_count")[0]?.page_count as number;
  const verifyFindings = () => verifyLedger(store.readDb, KINDS).findings;

  test.each([
    ["first", 0],
    ["second", 1],
    ["last", 2],
  ])("makes the whole group fail at the %s command, and writing resumes once there is room", (_which, index) => {
    store.write(newTag("a"));
    const before = store.transactions();
    const small: Array<(tx: WriteTransaction) => unknown> = [newTag("b"), newTag("c")];
    const commands = small.toSpliced(index, 0, newHosts(200));
    setPageLimit(pages() + 20);
    expect(codes(store.group(...commands))).toEqual(["storage_full", "storage_full", "storage_full"]);
    expect(store.db.$client.inTransaction).toBe(false);
    expect(store.transactions()).toEqual(before);
    expect(tagNames()).toEqual(["a"]);
    expect(verifyFindings()).toEqual([]);
    setPageLimit(1_000_000);
    expect(codes(store.group(...commands))).toEqual([3, 4, 5]);
    expect(store.list(hostKind).total).toBe(200);
    expect(verifyFindings()).toEqual([]);
  });

  test("also fails refusals, which may depend on a lost adjacent command", () => {
    setPageLimit(pages() + 20);
    const replies = store.group(newTag("a"), newTag("a"), newHosts(200));
    expect(codes(replies)).toEqual(["storage_full", "storage_full", "storage_full"]);
    setPageLimit(1_000_000);
    expect(codes(store.group(newTag("a")))).toEqual([2]);
  });

  test("does not block a small write that still fits", () => {
    setPageLimit(pages() + 20);
    expect(codes(store.group(newHosts(200)))).toEqual(["storage_full"]);
    expect(codes(store.group(newTag("a")))).toEqual([2]);
  });
});

test("writing continues after another process's write, and waits for it no longer than the busy timeout", () => {
  const db = openWritable(store.path);
  try {
    db.$client.run("PRAGMA busy_timeout = 1");
    const commands = { test: (tx: WriteTransaction, input: (tx: WriteTransaction) => unknown) => input(tx) };
    const writer = new Writer({ db, kinds: KINDS, commands, clock: store.clock, random: store.random });
    expect(codes(writer.execute([request(newTag("a"))]))).toEqual([2]);
    expect(codes(store.group(newTag("b")))).toEqual([3]);
    expect(codes(writer.execute([request(newTag("c"))]))).toEqual([4]);
    store.db.$client.run("BEGIN IMMEDIATE");
    const replies = writer.execute([request(newTag("d")), request(newTag("e"))]);
    expect(codes(replies)).toEqual(["rate_limit_exceeded", "rate_limit_exceeded"]);
    store.db.$client.run("ROLLBACK");
    expect(codes(writer.execute([request(newTag("d"))]))).toEqual([5]);
  } finally {
    db.$client.close();
  }
});
