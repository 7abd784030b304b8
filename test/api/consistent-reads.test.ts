// Consistent reads: one request reads everything, including permissions, from one database snapshot, regardless of
// concurrent commits.

import { beforeEach, describe, expect, test } from "bun:test";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";

const appliance = applianceForEach();
const { anonymous, clock, handle, inTransaction, newApiKey, newHost, newTag, owner, tick, transactionCount } =
  appliance;
let host: JsonRecord;
let tag: JsonRecord;

beforeEach(async () => {
  host = await newHost({ name: "switch" });
  tag = await newTag({ name: "core" });
  tick();
});

/** Reads outside a transaction during `request`, and the number of its transactions. */
async function observeReads(request: () => Promise<unknown>): Promise<{ outside: string[]; transactions: number }> {
  const { reader } = appliance;
  const outside: string[] = [];
  let transactions = 0;
  const statement = reader.statement.bind(reader);
  reader.statement = (sql) => {
    if (sql === "BEGIN") transactions += 1;
    else if (sql !== "COMMIT" && !reader.db.inTransaction) outside.push(sql);
    return statement(sql);
  };
  try {
    await request();
  } finally {
    reader.statement = statement;
  }
  return { outside, transactions };
}

describe("one read transaction", () => {
  test("is used by a read, by session and by key, live and as of a timestamp", async () => {
    const { key } = newApiKey();
    const at = clock.text();
    tick();
    for (const client of [owner, anonymous.with({ authorization: `Bearer ${key}` })]) {
      for (const path of [
        "/api/v1/hosts?limit=20",
        "/api/v1/if-entries",
        `/api/v1/hosts/${host.id}`,
        "/api/v1/tags?order_by=name",
        "/api/v1/hosts?limit=0",
      ]) {
        for (const when of ["", `${path.includes("?") ? "&" : "?"}at=${at}`]) {
          const reads = await observeReads(async () => expect((await client.get(path + when)).status).toBe(200));
          // A stream continues at its fixed sequence after the request's transaction, so that it blocks nothing.
          expect([path, when, reads.transactions, path.endsWith("?limit=0") ? [] : reads.outside]).toEqual([
            path,
            when,
            1,
            [],
          ]);
        }
      }
    }
  });

  test("is used by each step of a write: before its body, for the body's permissions, and for the response", async () => {
    const put = await observeReads(() => expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "router" }))));
    expect(put).toEqual({ outside: [], transactions: 3 });
    const removed = await observeReads(() => expectOk(owner.delete(`tags/${tag.id}`)));
    expect(removed).toEqual({ outside: [], transactions: 2 });
  });
});

test("one caller's response never leaks into another's, however similar their pages", async () => {
  const at = "2099-01-01T00:00:00.000Z";
  const metas = [];
  for (const query of ["", `?at=${at}`, "?limit=1", "", `?at=${at}`, "?limit=1&offset=1"])
    metas.push((await owner.get(`tags${query}`)).body.meta);
  expect(metas.map((meta) => meta.at)).toEqual([undefined, at, undefined, undefined, at, undefined]);
  expect(metas.map(({ pagination }) => [pagination.limit, pagination.offset])).toEqual([
    [50, 0],
    [50, 0],
    [1, 0],
    [50, 0],
    [50, 0],
    [1, 1],
  ]);
  await newTag({ name: "edge" });
  expect((await owner.get("tags")).body.meta.pagination.total_count).toBe(metas[0].pagination.total_count + 1);
});

test("a key disabled while its request body is in transit writes nothing", async () => {
  const { id, key } = newApiKey({ permissions: "Owner" });
  const before = transactionCount();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        inTransaction((tx) => tx.update(apiKeyKind, id, { is_enabled: false }));
        controller.enqueue(new TextEncoder().encode(JSON.stringify({ name: "late", color: "Red" })));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const request = new Request("http://localhost/api/v1/tags", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  const response = await handle(request);
  expect([response.status, ((await response.json()) as JsonRecord).code]).toEqual([401, "auth_key_disabled"]);
  // Only the disabling was written; the last use of a key creates no version.
  expect(transactionCount()).toBe(before + 1);
});
