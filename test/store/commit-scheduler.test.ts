// Order of writes: first the scheduler alone, checked against its guarantees, then the writer's side of the queue, with
// transactions.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { FairQueue } from "../../src/base/fair-queue.ts";
import {
  CommitScheduler,
  LARGE_WRITE_BYTES,
  MAX_GROUP,
  MAX_GROUP_BYTES,
  MAX_URGENT_GROUP,
  queueOf,
  type WaitingWrite,
} from "../../src/db/writing/commit-scheduler.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { serveWrites, type WriteMessages } from "../../src/db/writing/write-queue.ts";
import { GROUP_SLICE_MS, type WriteRequest, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { takesLong } from "../../src/registry/commands.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { Store, type StoreCommand, tagFields } from "../support/store/store.ts";

const authorOf = (id: string): Author => ({ type: "User", id, name: id, organizationId: null, requestId: null });

let last = 0;
function write(userId: string, fields: { bytes?: number; isUrgent?: true; command?: string } = {}): WaitingWrite {
  last += 1;
  const { bytes = 0, isUrgent, command = "test" } = fields;
  return {
    id: last,
    bytes,
    request: { command, input: null, actor: authorOf(userId), ...(isUrgent === undefined ? {} : { isUrgent }) },
  };
}

const USERS = 5;
const LARGE = { bytes: LARGE_WRITE_BYTES + 1 };
const URGENT = { isUrgent: true } as const;
const idsOf = (writes: readonly WaitingWrite[]) => writes.map(({ id }) => id);

describe("a command that scans all references to a record", () => {
  const commands = ["network", "subnet", "vlan", "tag", "credential", "host", "if_entry"].map(
    (name) => `${name}.delete`,
  );

  test.each([...commands, "transaction.revert", "tag.restore", "host.bulk", "port.bulk_delete"])(
    "shares no commit: %s",
    (command) => {
      const scheduler = new CommitScheduler(takesLong);
      scheduler.add(write("a", { command: "host.update" }));
      scheduler.add(write("b", { command }));
      expect(scheduler.next()).toHaveLength(1);
    },
  );

  test("is distinguished from ordinary updates and deletes, which share a commit", () => {
    const scheduler = new CommitScheduler(takesLong);
    scheduler.add(write("a", { command: "host.update" }));
    scheduler.add(write("b", { command: "port.delete" }));
    expect(scheduler.next()).toHaveLength(2);
  });
});

describe("round-robin queues", () => {
  test("are served in turn, each in its own order, like a scanned list", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      const queue = new FairQueue<{ caller: string; n: number }>();
      const model: Array<{ caller: string; n: number }> = [];
      const servedAt = new Map<string, number>();
      let order: string[] = [];
      for (let step = 1; step <= 400; step += 1) {
        if (random.integer(2) === 0) {
          const item = { caller: `caller ${random.integer(6)}`, n: step };
          if (!model.some(({ caller }) => caller === item.caller)) {
            servedAt.delete(item.caller);
            order = [...order.filter((caller) => caller !== item.caller), item.caller];
          }
          model.push(item);
          queue.add(item.caller, item);
        } else {
          // The caller least recently created or served.
          const next = order.find((caller) => model.some((item) => item.caller === caller));
          const expected = model.find(({ caller }) => caller === next) ?? null;
          expect(queue.take()).toEqual(expected);
          if (expected === null) continue;
          model.splice(model.indexOf(expected), 1);
          order = [...order.filter((caller) => caller !== next), expected.caller];
        }
        expect(queue.isEmpty).toBe(model.length === 0);
      }
    }
  });

  test("keep the turn of a queue with a rejected head, and accept returned items", () => {
    const queue = new FairQueue<string>();
    for (const item of ["a1", "a2", "b1", "c1"]) queue.add(item.charAt(0), item);
    expect(queue.take((item) => item !== "a1")).toBe("b1");
    expect(queue.take()).toBe("a1");
    expect(queue.take()).toBe("c1");
    queue.putBack("c", "c1");
    expect([queue.take(), queue.take(), queue.take()]).toEqual(["c1", "a2", null]);
  });
});

describe("the commands of the next commit", () => {
  const scheduler = () => new CommitScheduler((command) => command === "long");
  const linesWith = (...writes: WaitingWrite[]) => {
    const queue = scheduler();
    for (const waiting of writes) queue.add(waiting);
    return queue;
  };

  test("are one per user before a second of any, within limits of count and bytes", () => {
    const bulkWrites = Array.from({ length: 2 * MAX_GROUP }, () => write("crowd"));
    const [firstOther, secondOther] = [write("one"), write("two")];
    const next = linesWith(...bulkWrites, firstOther, secondOther).next();
    expect(idsOf(next.slice(0, 3))).toEqual(idsOf([bulkWrites[0] as WaitingWrite, firstOther, secondOther]));
    expect(idsOf(next.slice(3))).toEqual(idsOf(bulkWrites.slice(1, MAX_GROUP - 2)));
    const half = { bytes: LARGE_WRITE_BYTES };
    expect(linesWith(...Array.from({ length: 10 }, () => write("a", half))).next()).toHaveLength(
      MAX_GROUP_BYTES / LARGE_WRITE_BYTES,
    );
  });

  test("are a single one if it is large or slow", () => {
    for (const large of [write("a", LARGE), write("a", { command: "long" })]) {
      const line = linesWith(large, write("a"));
      expect(idsOf(line.next())).toEqual([large.id]);
      line.served(1);
      expect(line.next()).toHaveLength(1);
    }
  });

  test("alternate, if both wait, between small ones and a large one, with equal time", () => {
    const line = linesWith(write("a", LARGE), write("a", LARGE), write("a", LARGE));
    const kinds: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      line.add(write("b"));
      const isLarge = line.next()[0]?.bytes === LARGE.bytes;
      kinds.push(isLarge ? "large" : "small");
      line.served(isLarge ? 100 : 10);
    }
    expect(kinds.flatMap((kind, index) => (kind === "large" ? [index] : []))).toEqual([1, 12, 23]);
  });

  test("come from each user in turn if large", () => {
    const line = linesWith(write("a", LARGE), write("a", LARGE), write("b", LARGE), write("c", LARGE));
    expect(Array.from({ length: 4 }, () => line.next()[0]?.request.actor.id)).toEqual(["a", "b", "c", "a"]);
  });

  test("come first if they lower permissions, from each user in turn, and not twice in a row if others wait", () => {
    const line = linesWith(
      write("a"),
      ...Array.from({ length: 3 * MAX_URGENT_GROUP }, () => write("a", URGENT)),
      write("b", URGENT),
    );
    const first = line.next();
    expect(first).toHaveLength(MAX_URGENT_GROUP);
    expect(first.slice(0, 2).map(({ request }) => [request.actor.id, request.isUrgent])).toEqual([
      ["a", true],
      ["b", true],
    ]);
    line.served(1);
    expect(line.next().map(({ request }) => request.isUrgent)).toEqual([undefined]);
    line.served(1);
    expect(line.next()).toHaveLength(MAX_URGENT_GROUP);
    line.served(1);
    expect(line.next()[0]?.request.isUrgent).toBe(true);
  });

  test("keep the order of each queue in any mix, and wait for at most one large command or for their turn", () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = seededRandom(seed);
      const line = scheduler();
      const waiting = new Map<number, { write: WaitingWrite; commits: number; larges: number }>();
      const servedOf = new Map<string, number>();
      const isLarge = ({ bytes, request }: WaitingWrite) => bytes > LARGE_WRITE_BYTES || request.command === "long";
      for (let step = 0; step < 1_500 || !line.isEmpty; step += 1) {
        if (step < 1_500) {
          for (let more = random.integer(4); more > 0; more -= 1) {
            const kind = random.pick([{}, {}, LARGE, URGENT, { command: "long" }, { ...LARGE, ...URGENT }]);
            const added = write(`user ${random.integer(USERS)}`, kind);
            waiting.set(added.id, { write: added, commits: 0, larges: 0 });
            line.add(added);
          }
        }
        if (line.isEmpty) continue;
        const next = line.next();
        expect(next.length).toBeGreaterThan(0);
        expect(next.length === 1 || next.every((command) => !isLarge(command))).toBe(true);
        const isLargeCommit = next.some((command) => isLarge(command) && command.request.isUrgent !== true);
        for (const command of next) {
          const lane = `${queueOf(command.request.actor)} ${command.request.isUrgent === true}`;
          expect(command.id).toBeGreaterThan(servedOf.get(lane) ?? 0);
          servedOf.set(lane, command.id);
          waiting.delete(command.id);
        }
        // Heads of their queues: other writes of the same user wait behind them.
        const heads = [
          ...new Map(
            [...waiting.values()]
              .toReversed()
              .map((entry) => [`${entry.write.request.actor.id} ${entry.write.request.isUrgent === true}`, entry]),
          ).values(),
        ];
        for (const head of heads) {
          head.commits += 1;
          if (isLargeCommit) head.larges += 1;
          // An urgent write may be large: then it runs alone, and the other users get their turns one by one.
          if (head.write.request.isUrgent === true) expect(head.commits).toBeLessThanOrEqual(2 * USERS);
          else if (!isLarge(head.write)) expect(head.larges).toBeLessThanOrEqual(1);
        }
        line.served(isLargeCommit ? 50 + random.integer(100) : 1 + random.integer(5));
      }
      expect(waiting.size).toBe(0);
    }
  });
});

describe("the writer's side", () => {
  let store: Store;
  let replies: Array<Extract<WriteMessages["from"], { type: "reply" }>>;
  let receive: ReturnType<ReturnType<typeof serveWrites>>;
  /** Messages sent while the thread is busy. */
  let inbox: Array<WriteMessages["to"]>;
  let commits: number;
  let hasClosed: boolean;
  let nowMs: number;

  beforeEach(() => {
    store = new Store();
    replies = [];
    inbox = [];
    commits = 0;
    hasClosed = false;
    nowMs = 0;
    const writer = new Writer({
      db: store.db,
      kinds: KINDS,
      commands: { test: (tx: WriteTransaction, input: StoreCommand<unknown>) => input(tx) },
      clock: store.clock,
      random: store.random,
      monotonicMs: () => nowMs,
      // In these tests only urgent commands without writes lower permissions.
      reducesPermissions: (tx) => tx.netChanges().length === 0,
    });
    receive = serveWrites({ open: () => writer, takesLong: () => false, monotonicMs: () => nowMs })(
      (message) => {
        if (message.type === "reply") replies.push(message);
        else if (message.type === "closed") hasClosed = true;
      },
      () => {
        const message = inbox.shift();
        return message === undefined ? null : { message };
      },
    );
    const execute = writer.execute.bind(writer);
    writer.execute = (...args) => {
      commits += 1;
      return execute(...args);
    };
    const options = { databasePath: "", secretKey: new Uint8Array() };
    receive({ type: "open", options, fence: new SharedArrayBuffer(8) });
  });
  afterEach(() => store.close());

  let lastId = 0;
  type Fields = { bytes?: number; isUrgent?: true };
  const newMessage = (userId: string, input: StoreCommand<unknown>, { bytes = 0, isUrgent }: Fields = {}) => {
    lastId += 1;
    const request = { command: "test", input, actor: authorOf(userId), isUrgent } satisfies WriteRequest;
    return { type: "run", id: lastId, bytes, request } as const;
  };
  const send = (userId: string, input: StoreCommand<unknown>, fields?: Fields) => {
    const message = newMessage(userId, input, fields);
    receive(message);
    return message.id;
  };
  const sendDuringCommit = (userId: string, input: StoreCommand<unknown>, fields?: Fields) => {
    const message = newMessage(userId, input, fields);
    inbox.push(message);
    return message.id;
  };
  const repliedIds = async (count: number) => {
    while (replies.length < count) await new Promise<void>((resolve) => setImmediate(resolve));
    return replies.map(({ id }) => id);
  };
  const newTag = (name: string) => (tx: WriteTransaction) =>
    tx.create(tagKind, store.organizationId, tagFields(store.organizationId, name));

  test("includes commands that arrive during a commit in the next choice of a user", async () => {
    let otherId = 0;
    const sendOther = () => {
      otherId = send("b", newTag("other"));
    };
    const bulkWrites = [() => {}, sendOther, () => {}, () => {}, () => {}].map((command) => send("a", command, LARGE));
    expect(await repliedIds(6)).toEqual([...bulkWrites.slice(0, 2), otherId, ...bulkWrites.slice(2)]);
  });

  test("adds commands that arrive in the meantime to a started commit, from any user, except large ones", async () => {
    const first = send("a", (tx) => {
      sendDuringCommit("b", newTag("b1"));
      sendDuringCommit("c", newTag("c1"), LARGE);
      sendDuringCommit("c", newTag("c2"));
      sendDuringCommit("a", newTag("a2"));
      return newTag("a1")(tx);
    });
    const [b1, c1, c2, a2] = [first + 1, first + 2, first + 3, first + 4];
    expect(await repliedIds(5)).toEqual([first, b1, a2, c1, c2]);
    expect(commits).toBe(3);
  });

  test("commits a command exactly once if a refusal after its arrival rolled back the whole group", async () => {
    let hasSent = false;
    const first = send("a", (tx) => {
      if (!hasSent) sendDuringCommit("b", newTag("b1"));
      hasSent = true;
      return newTag("a1")(tx);
    });
    const bad = send("c", (tx) => {
      newTag("c1")(tx);
      tx.finish();
      throw new Error("failed after starting to write");
    });
    expect(await repliedIds(3)).toEqual([first, bad, bad + 1]);
    expect(replies.find(({ id }) => id === bad)?.reply.ok).toBe(false);
    expect(replies.filter(({ reply }) => reply.ok)).toHaveLength(2);
    expect(commits).toBe(1);
  });

  test("ends after commands that arrived with the shutdown", async () => {
    const first = send("a", (tx) => {
      sendDuringCommit("b", newTag("b1"));
      inbox.push({ type: "close" });
      return newTag("a1")(tx);
    });
    expect(await repliedIds(2)).toEqual([first, first + 1]);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(hasClosed).toBe(true);
  });

  test("leaves commands that could not start in time to the next commit, in order", async () => {
    const slow = (name: string) => (tx: WriteTransaction) => {
      nowMs += GROUP_SLICE_MS / 2 + 1;
      return newTag(name)(tx);
    };
    const [first, second, third, fourth, fifth] = [..."abaca"].map((user, n) => send(user, slow(`${n + 1}`)));
    expect(await repliedIds(5)).toEqual([first, second, fourth, third, fifth] as number[]);
    expect(store.list(tagKind).items.map(({ name }) => name)).toEqual(["1", "2", "4", "3", "5"]);
  });

  test("runs a prioritized command only if it lowers permissions; otherwise it is rolled back, and waits its turn", async () => {
    const bulk = send("a", newTag("bulk"), LARGE);
    const jumping = send("a", newTag("jumping"), URGENT);
    const lowering = send("b", () => "less", URGENT);
    expect(await repliedIds(3)).toEqual([lowering, bulk, jumping]);
    expect(replies.every(({ reply }) => reply.ok)).toBe(true);
    expect(store.list(tagKind).items.map(({ name }) => name)).toEqual(["bulk", "jumping"]);
    expect(store.transactions()).toHaveLength(3);
  });

  test("refuses an invalid urgent command like any other", async () => {
    const refuse = () => {
      throw new DomainError("entity_stale", "no");
    };
    send("a", refuse, URGENT);
    await repliedIds(1);
    expect(replies[0]?.reply).toMatchObject({ ok: false, code: "entity_stale" });
  });

  test("executes all waiting commands before it closes", async () => {
    for (const name of ["1", "2", "3"]) send(name, newTag(name), LARGE);
    receive({ type: "close" });
    expect(replies.map(({ reply }) => reply.ok)).toEqual([true, true, true]);
  });
});
