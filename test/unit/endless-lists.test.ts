// Termination of paged lists, regardless of what the server claims about more pages.

import { expect, test } from "bun:test";
import { systemTimers } from "../../src/base/timers.ts";
import { JsonClient, RemoteError } from "../../src/importers/json-client.ts";
import { Ledger } from "../../src/importers/ledger.ts";
import { NetboxApi } from "../../src/importers/netbox/netbox-api.ts";
import { SecretMask } from "../../src/importers/secret-mask.ts";

/** More pages than any list in these tests: a reader that reaches this number does not stop. */
const PAGES_MAX = 50;

type Pages = (page: number) => { readonly ids: readonly (number | null)[]; readonly count: number };

interface ReadResult {
  readonly ids: ReadonlyArray<number | string | null>;
  readonly pages: number;
  readonly problem: string | null;
}

async function readAll(
  response: (ids: readonly (number | null)[], count: number) => object,
  pages: Pages,
  list: (base: string) => AsyncIterable<readonly { readonly id?: unknown }[]>,
): Promise<ReadResult> {
  let requestCount = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      if (requestCount === PAGES_MAX) return new Response("<enough>");
      const { ids, count } = pages(requestCount);
      requestCount += 1;
      return Response.json(response(ids, count));
    },
  });
  const ids: Array<number | string | null> = [];
  try {
    for await (const rows of list(server.url.origin)) ids.push(...rows.map(({ id }) => (id ?? null) as number | null));
    return { ids, pages: requestCount, problem: null };
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return { ids, pages: requestCount, problem: error.message };
  }
}

const common = { ca: null, timers: systemTimers, secrets: new SecretMask([]) };

/** Reads a NetBox that always has a next page. */
function readNetbox(pages: Pages, objects?: number): Promise<ReadResult> {
  return readAll(
    (ids, count) => ({ count, next: "http://127.0.0.1:1/", results: ids.map((id) => (id === null ? {} : { id })) }),
    pages,
    (base) => new NetboxApi({ ...common, base, token: "t" }, base).pages("/api/dcim/sites/", "", objects),
  );
}

/** Reads a netledger whose pages are always full. */
function readLedger(pages: Pages): Promise<ReadResult> {
  return readAll(
    (ids, count) => ({
      success: true,
      data: ids.map((id) => ({ id: `r${id}` })),
      meta: { api_version: 1, pagination: { total_count: count } },
    }),
    pages,
    listTags,
  );
}

function listTags(base: string) {
  const client = new JsonClient({ ...common, product: "netledger", base, headers: {} });
  return new Ledger(client, { reason: "r", isDryRun: true, run: "1" }).list("/tags");
}

const idsFrom = (first: number, length: number) => Array.from({ length }, (_, index) => first + index);

test("a list is read up to the count of its first page, even if it grows and claims to continue", async () => {
  const read = await readNetbox((page) => ({ ids: idsFrom(1 + page * 2, 2), count: 5 + page * 2 }));
  expect(read).toEqual({ ids: idsFrom(1, 6), pages: 3, problem: null });
  const ledger = await readLedger((page) => ({ ids: idsFrom(page * 1_000, 1_000), count: 1_500 + page * 1_000 }));
  expect([ledger.ids.length, ledger.pages, ledger.problem]).toEqual([2_000, 2, null]);
});

test("a list that repeats the same page is abandoned", async () => {
  const read = await readNetbox(() => ({ ids: [1, 2], count: 1_000 }));
  expect([read.ids, read.pages]).toEqual([[1, 2], 2]);
  expect(read.problem).toMatch(/\/api\/dcim\/sites\/ returns the same page again$/);
  const ledger = await readLedger(() => ({ ids: idsFrom(0, 1_000), count: 10_000 }));
  expect([ledger.ids.length, ledger.pages]).toEqual([1_000, 2]);
  expect(ledger.problem).toMatch(/\/api\/v1\/tags returns the same page again$/);
});

test("a list that returns to an earlier object is abandoned", async () => {
  const read = await readNetbox((page) => ({ ids: [1 + (page % 3) * 2, 100 + page], count: 1_000 }));
  expect(read.pages).toBe(4);
  expect(read.problem).toMatch(/\/api\/dcim\/sites\/ lists the object 1 twice$/);
});

test("objects repeated from the end of the previous page are returned once", async () => {
  const read = await readNetbox((page) => ({ ids: idsFrom(1 + page * 2, 3), count: 9 }));
  expect(read).toEqual({ ids: idsFrom(1, 7), pages: 3, problem: null });
});

test("objects without ids are also read up to the stated count", async () => {
  const read = await readNetbox(() => ({ ids: [null, null], count: 6 }));
  expect(read).toEqual({ ids: Array(6).fill(null), pages: 3, problem: null });
});

test("a page larger than requested, and a list above the limit, are refused", async () => {
  const largePage = await readNetbox(() => ({ ids: idsFrom(1, 51), count: 51 }), 50);
  expect(largePage.problem).toMatch(/returns 51 objects; 50 were requested$/);
  expect((await readNetbox(() => ({ ids: [1], count: 5_000_001 }))).problem).toMatch(/has more than 5000000 objects$/);
});

test.each([
  ["no list", { success: true, data: { length: 1_000 }, meta: { api_version: 1 } }],
  ["a list of other objects", { success: true, data: [1], meta: { api_version: 1, pagination: { total_count: 1 } } }],
  ["a list without a count", { success: true, data: [], meta: { api_version: 1 } }],
])("a server that responds with %s is reported as not a netledger", async (_case, response) => {
  const pages: Pages = () => ({ ids: [], count: 0 });
  const read = await readAll(() => response, pages, listTags);
  expect(read.pages).toBe(1);
  expect(read.problem).toMatch(/is not netledger: it returns 200 with unexpected JSON/);
});
