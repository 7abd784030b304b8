// Sessions on a read-only store: kept in memory.

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

test("of one user the most recently used stay, up to the limit", async () => {
  const queue = new ReadOnlyWriteQueue(reader);
  const hashOf = (place: number) => new Uint8Array(32).fill(place);
  const origin = { last_used_from: null, user_agent: null };
  // Any record number suffices.
  const [user, other] = [store.organizationId, store.networkId];
  await queue.run("session.open", { hash: hashOf(250), userId: other, at: 1_000, origin });
  for (let place = 0; place < SESSIONS_OF_USER_MAX; place += 1)
    await queue.run("session.open", { hash: hashOf(place), userId: user, at: 1_000 + place, origin });
  await queue.run("session.touch", { hash: hashOf(0), at: 9_000, origin });
  await queue.run("session.open", { hash: hashOf(200), userId: user, at: 9_001, origin });
  const kept = (reader.statement("SELECT hash FROM temp.sessions").values() as Array<[Uint8Array]>).map(
    ([hash]) => hash[0] as number,
  );
  expect(kept.sort((one, two) => one - two)).toEqual([
    0,
    ...Array.from({ length: SESSIONS_OF_USER_MAX - 2 }, (_, place) => place + 2),
    200,
    250,
  ]);
});
