// Sessions on a read-only store, which are kept in memory.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openImmutable } from "../../src/db/connection.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { SESSIONS_OF_USER_MAX } from "../../src/sessions/commands.ts";
import { ReadOnlyWriteQueue } from "../../src/sessions/read-only-writes.ts";
import { Store } from "../support/store/store.ts";

const store = new Store();
let reader: Reader;

beforeAll(() => {
  reader = new Reader(openImmutable(store.path), store.clock);
});

afterAll(() => {
  reader.close();
  store.close();
});

test("a user's most recently used sessions are kept, up to the limit", async () => {
  const queue = new ReadOnlyWriteQueue(reader);
  const hashOf = (index: number) => new Uint8Array(32).fill(index);
  const origin = { last_used_from: null, user_agent: null };
  // Any record number suffices.
  const [user, otherUser] = [store.organizationId, store.networkId];
  await queue.run("session.open", { hash: hashOf(250), userId: otherUser, at: 1_000, origin });
  for (let index = 0; index < SESSIONS_OF_USER_MAX; index += 1)
    await queue.run("session.open", { hash: hashOf(index), userId: user, at: 1_000 + index, origin });
  await queue.run("session.touch", { hash: hashOf(0), at: 9_000, origin });
  await queue.run("session.open", { hash: hashOf(200), userId: user, at: 9_001, origin });
  const hashes = reader.statement("SELECT hash FROM temp.sessions").values() as Array<[Uint8Array]>;
  const stored = hashes.map(([hash]) => hash[0] as number).sort((a, b) => a - b);
  const others = Array.from({ length: SESSIONS_OF_USER_MAX - 2 }, (_, index) => index + 2);
  expect(stored).toEqual([0, ...others, 200, 250]);
});
