// Termination of paged lists, whatever the server claims about further pages.

import { expect, test } from "bun:test";
import { systemTimers } from "../../src/base/timers.ts";
import { JsonClient, RemoteTrouble } from "../../src/importers/json-client.ts";
import { Ledger } from "../../src/importers/ledger.ts";
import { NetboxApi } from "../../src/importers/netbox/netbox-api.ts";
import { SecretMask } from "../../src/importers/secret-mask.ts";

/** More pages than any list of these tests has: reaching it means that the reader does not stop. */
const PAGES_MAX = 50;

type Pages = (page: number) => { readonly ids: readonly (number | null)[]; readonly count: number };

interface Read {
  readonly ids: ReadonlyArray<number | string | null>;
  readonly pages: number;
  readonly trouble: string | null;
}

async function readAll(
  answer: (ids: readonly (number | null)[], count: number) => object,
  pages: Pages,
  list: (base: string) => AsyncIterable<readonly { readonly id?: unknown }[]>,
): Promise<Read> {
  let asked = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      if (asked === PAGES_MAX) return new Response("<enough>");
      const { ids, count } = pages(asked);
      asked += 1;
      return Response.json(answer(ids, count));
    },
  });
  const ids: Array<number | string | null> = [];
  try {
    for await (const rows of list(server.url.origin)) ids.push(...rows.map(({ id }) => (id ?? null) as number | null));
    return { ids, pages: asked, trouble: null };
  } catch (error) {
    if (!(error instanceof RemoteTrouble)) throw error;
    return { ids, pages: asked, trouble: error.message };
  }
}

const common = { ca: null, timers: systemTimers, secrets: new SecretMask([]) };

/** A NetBox with endless next pages. */
function readNetbox(pages: Pages, objects?: number): Promise<Read> {
  return readAll(
    (ids, count) => ({ count, next: "http://127.0.0.1:1/", results: ids.map((id) => (id === null ? {} : { id })) }),
    pages,
    (base) => new NetboxApi({ ...common, base, token: "t" }, base).pages("/api/dcim/sites/", "", objects),
  );
}

/** A netledger whose pages are always full. */
function readLedger(pages: Pages): Promise<Read> {
  return readAll(
    (ids, count) => ({
      success: true,
      data: ids.map((id) => ({ id: `r${id}` })),
      meta: { api_version: 1, pagination: { total_count: count } },
    }),
    pages,
    (base) =>
      new Ledger(new JsonClient({ ...common, product: "netledger", base, headers: {} }), {
        reason: "r",
        isDryRun: true,
        run: "1",
      }).list("/tags"),
  );
}

const row = (first: number, length: number) => Array.from({ length }, (_, place) => first + place);

test("a list is read to its first page's count, even if it grows and claims to continue", async () => {
  const read = await readNetbox((page) => ({ ids: row(1 + page * 2, 2), count: 5 + page * 2 }));
  expect(read).toEqual({ ids: row(1, 6), pages: 3, trouble: null });
  const ledger = await readLedger((page) => ({ ids: row(page * 1_000, 1_000), count: 1_500 + page * 1_000 }));
  expect([ledger.ids.length, ledger.pages, ledger.trouble]).toEqual([2_000, 2, null]);
});

test("a list that repeats the same page is given up", async () => {
  const read = await readNetbox(() => ({ ids: [1, 2], count: 1_000 }));
  expect([read.ids, read.pages]).toEqual([[1, 2], 2]);
  expect(read.trouble).toMatch(/\/api\/dcim\/sites\/ returns the same page again$/);
  const ledger = await readLedger(() => ({ ids: row(0, 1_000), count: 10_000 }));
  expect([ledger.ids.length, ledger.pages]).toEqual([1_000, 2]);
  expect(ledger.trouble).toMatch(/\/api\/v1\/tags returns the same page again$/);
});

test("a list that returns to an earlier object is given up", async () => {
  const read = await readNetbox((page) => ({ ids: [1 + (page % 3) * 2, 100 + page], count: 1_000 }));
  expect(read.pages).toBe(4);
  expect(read.trouble).toMatch(/\/api\/dcim\/sites\/ lists the object 1 twice$/);
});

test("a page may begin with the previous one's end, which is passed on once", async () => {
  const read = await readNetbox((page) => ({ ids: row(1 + page * 2, 3), count: 9 }));
  expect(read).toEqual({ ids: row(1, 7), pages: 3, trouble: null });
});

test("objects without ids end with the stated count as well", async () => {
  const read = await readNetbox(() => ({ ids: [null, null], count: 6 }));
  expect(read).toEqual({ ids: Array(6).fill(null), pages: 3, trouble: null });
});

test("a page larger than requested, and a list above the limit, are refused", async () => {
  expect((await readNetbox(() => ({ ids: row(1, 51), count: 51 }), 50)).trouble).toMatch(
    /answers 51 objects; 50 were requested$/,
  );
  expect((await readNetbox(() => ({ ids: [1], count: 5_000_001 }))).trouble).toMatch(/has more than 5000000 objects$/);
});

test.each([
  ["no list", { success: true, data: { length: 1_000 }, meta: { api_version: 1 } }],
  ["a list of other objects", { success: true, data: [1], meta: { api_version: 1, pagination: { total_count: 1 } } }],
  ["a list without a count", { success: true, data: [], meta: { api_version: 1 } }],
])("a server answering %s is not a netledger", async (_what, answer) => {
  const pages: Pages = () => ({ ids: [], count: 0 });
  const read = await readAll(
    () => answer,
    pages,
    (base) =>
      new Ledger(new JsonClient({ ...common, product: "netledger", base, headers: {} }), {
        reason: "r",
        isDryRun: true,
        run: "1",
      }).list("/tags"),
  );
  expect([read.pages, read.trouble]).toEqual([
    1,
    expect.stringMatching(/is not a netledger: it answers 200 with unexpected JSON/),
  ]);
});
