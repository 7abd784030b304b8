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
  const replies = store.group(
    newTag("a"),
    (tx) => {
      newTag("b")(tx);
      throw new DomainError("entity_stale", "no");
    },
    newTag("c"),
    newTag("a"),
    () => "nothing",
    newTag("d"),
  );
  expect(codes(replies)).toEqual([2, "entity_stale", 3, "entity_already_exists", null, 4]);
  expect(tagNames()).toEqual(["a", "c", "d"]);
  expect(store.transactions().map((each) => each.sequence)).toEqual([1, 2, 3, 4]);
});

describe.each([
  ["a trigger", "UPDATE history_transactions SET source = 'x'"],
  ["a check", "INSERT INTO appliance_settings (name, value) VALUES (NULL, '')"],
  ["a foreign key", "INSERT INTO observations (n, observed) VALUES (1000000, '')"],
])("a violation of %s within a command", (_what, sql) => {
  test("rolls back that command only", () => {
    const replies = store.group(
      newTag("a"),
      (tx) => {
        newTag("b")(tx);
        tx.db.$client.run(sql);
      },
      newTag("c"),
    );
    expect(codes(replies)).toEqual([2, "internal_error", 3]);
    expect(tagNames()).toEqual(["a", "c"]);
  });

  test("rolls it back even after its records are written", () => {
    const replies = store.group(
      newTag("a"),
      (tx) => {
        newTag("b")(tx);
        tx.afterwardsRun(() => tx.db.$client.run(sql));
      },
      newTag("c"),
    );
    expect(codes(replies)).toEqual([2, "internal_error", 3]);
    expect(tagNames()).toEqual(["a", "c"]);
  });
});

test("removing a parent while a part remains is refused as a dangling reference, and adjacent commands stand", () => {
  const host = store.write((tx) => {
    const made = tx.create(hostKind, store.organizationId, hostFields(store.networkId, "a"));
    tx.create(portKind, store.organizationId, portFields(made, 22));
    return made;
  });
  expect(codes(store.group(newTag("a"), (tx) => tx.remove(hostKind, host.id), newTag("b")))).toEqual([
    3,
    "internal_error",
    4,
  ]);
  expect(store.list(hostKind).total).toBe(1);
});

test("a tag in use cannot be removed", () => {
  const { tag } = store.write((tx) => {
    const made = newTag("a")(tx);
    return {
      tag: made,
      host: tx.create(hostKind, store.organizationId, hostFields(store.networkId, "h", { tags: [made.id] })),
    };
  });
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
  const newHosts = (count: number) => (tx: WriteTransaction) => {
    for (let each = 0; each < count; each += 1)
      tx.create(hostKind, store.organizationId, hostFields(store.networkId, `h${each}`, { description: big }));
  };
  const limit = (pages: number) => store.db.$client.run(`PRAGMA max_page_count = ${pages}`);
  const pages = () => store.rows<{ page_count: number }>("PRAGMA page_count")[0]?.page_count as number;
  const sound = () => verifyLedger(store.readDb, KINDS).findings;

  test.each([
    ["first", (fill: (tx: WriteTransaction) => void) => [fill, newTag("b"), newTag("c")]],
    ["second", (fill: (tx: WriteTransaction) => void) => [newTag("b"), fill, newTag("c")]],
    ["last", (fill: (tx: WriteTransaction) => void) => [newTag("b"), newTag("c"), fill]],
  ])("at the %s command fails the whole group, and writing resumes once there is room", (_which, commands) => {
    store.write(newTag("a"));
    const before = store.transactions();
    limit(pages() + 20);
    expect(codes(store.group(...commands(newHosts(200))))).toEqual(["storage_full", "storage_full", "storage_full"]);
    expect(store.db.$client.inTransaction).toBe(false);
    expect(store.transactions()).toEqual(before);
    expect(tagNames()).toEqual(["a"]);
    expect(sound()).toEqual([]);
    limit(1_000_000);
    expect(codes(store.group(...commands(newHosts(200))))).toEqual([3, 4, 5]);
    expect(store.list(hostKind).total).toBe(200);
    expect(sound()).toEqual([]);
  });

  test("also fails refusals, which may depend on a lost adjacent command", () => {
    limit(pages() + 20);
    expect(codes(store.group(newTag("a"), newTag("a"), newHosts(200)))).toEqual([
      "storage_full",
      "storage_full",
      "storage_full",
    ]);
    limit(1_000_000);
    expect(codes(store.group(newTag("a")))).toEqual([2]);
  });

  test("does not block a small write that still fits", () => {
    limit(pages() + 20);
    expect(codes(store.group(newHosts(200)))).toEqual(["storage_full"]);
    expect(codes(store.group(newTag("a")))).toEqual([2]);
  });
});

test("another process's write is continued from, and waited for no longer than the busy timeout", () => {
  const db = openWritable(store.path);
  try {
    db.$client.run("PRAGMA busy_timeout = 1");
    const commands = { test: (tx: WriteTransaction, input: (tx: WriteTransaction) => unknown) => input(tx) };
    const writer = new Writer({ db, kinds: KINDS, commands, clock: store.clock, random: store.random });
    expect(
      codes([
        ...writer.execute([request(newTag("a"))]),
        ...store.group(newTag("b")),
        ...writer.execute([request(newTag("c"))]),
      ]),
    ).toEqual([2, 3, 4]);
    store.db.$client.run("BEGIN IMMEDIATE");
    expect(codes(writer.execute([request(newTag("d")), request(newTag("e"))]))).toEqual([
      "rate_limit_exceeded",
      "rate_limit_exceeded",
    ]);
    store.db.$client.run("ROLLBACK");
    expect(codes(writer.execute([request(newTag("d"))]))).toEqual([5]);
  } finally {
    db.$client.close();
  }
});
