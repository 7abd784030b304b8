// Long lists, which are read on a worker thread, with the same responses as short lists.

import { beforeAll, describe, expect, test } from "bun:test";
import { compareCodePoints, textSortKey } from "../../src/base/text.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { hostFields, tagFields } from "../support/store/store.ts";

const HOSTS = 1_300;

const appliance = applianceForAll();
const { clock, first, owner } = appliance;
const { inTransaction, newNetwork, newUser, tick } = appliance;
let tagId: string;
let second: string;
let at: string;
/** Number of worker reads. */
let longReads = 0;

beforeAll(async () => {
  second = (await newNetwork()).id;
  const { organizationId, networkId } = first;
  tagId = inTransaction((tx) => tx.create(tagKind, organizationId, tagFields(organizationId, "some")).id);
  inTransaction((tx) => {
    for (let index = 0; index < HOSTS; index += 1) {
      const name = `${["core", "Edge", "lab"][index % 3]}-${(index * 7_919) % HOSTS}`;
      tx.create(
        hostKind,
        organizationId,
        hostFields(index % 4 === 0 ? second : networkId, name, {
          hidden: index % 100 === 0,
          tags: index % 50 === 0 ? [tagId] : [],
          sys_name: index % 2 === 0 ? `n${index}` : null,
        }),
      );
    }
  });
  tick();
  at = clock.text();
  tick();
  const { data } = await owner.get("hosts?limit=40&include_children=false");
  for (const host of data)
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: `~${host.name}`, hidden: false, tags: [] }));
  tick();
  const { reader } = appliance;
  const readChunks = reader.countedChunks.bind(reader);
  reader.countedChunks = (...input) => {
    longReads += 1;
    return readChunks(...input);
  };
});

/** Fetches a page, and reports whether the read was long. */
async function fetchPage(
  query: string,
  caller = owner,
): Promise<{ data: JsonRecord[]; pagination: JsonRecord; at: unknown; isLong: boolean }> {
  const before = longReads;
  const { data, body } = await caller.get(`hosts?${query}`);
  return { data, pagination: body.meta.pagination, at: body.meta.at, isLong: longReads > before };
}

const ids = (hosts: readonly JsonRecord[]) => hosts.map((host) => host.id as string);

describe.each([
  ["live", ""],
  ["as of a timestamp", "&at="],
])("a long list %s", (_state, when) => {
  const atSuffix = () => (when === "" ? "" : `${when}${at}`);

  test.each([
    ["order_by=name"],
    ["order_by=name&order_direction=desc"],
    ["group_by=hidden&order_by=name"],
    ["hidden=true"],
    ["hidden=false&order_by=created_at&order_direction=desc"],
    ["order_by=updated_at"],
  ])("has the same pages as a short one by %s", async (query) => {
    const page = await fetchPage(`${query}&limit=20&offset=5${atSuffix()}`);
    expect(page.isLong).toBe(true);
    // The same query limited to these records, which are few.
    const short = await fetchPage(`${query}&limit=20&ids=${ids(page.data).join()}${atSuffix()}`);
    expect(short.isLong).toBe(false);
    expect(page.data).toEqual(short.data);
    expect(page.at).toBe(short.at);
    const complete = await fetchPage(`${query}&limit=0&include_children=false${atSuffix()}`);
    expect(complete.isLong).toBe(true);
    expect(complete.pagination).toEqual({ total_count: complete.data.length, limit: 0, offset: 0, has_more: false });
    expect(page.pagination).toEqual({
      total_count: complete.data.length,
      limit: 20,
      offset: 5,
      has_more: complete.data.length > 25,
    });
    expect(ids(complete.data.slice(5, 25))).toEqual(ids(page.data));
    expect(ids((await fetchPage(`${query}&limit=0&offset=${complete.data.length - 3}${atSuffix()}`)).data)).toEqual(
      ids(complete.data.slice(-3)),
    );
    expect((await fetchPage(`${query}&offset=${complete.data.length + 1}${atSuffix()}`)).data).toEqual([]);
    const rows = csvRecords((await owner.get(`hosts/export/csv?${query}&include_children=false${atSuffix()}`)).text);
    expect(rows.map((row) => row.id)).toEqual(ids(complete.data));
  });

  test.each([
    ["search=core", (host: JsonRecord) => /^core/.test(host.name)],
    ["search=n12", (host: JsonRecord) => host.sys_name?.startsWith("n12")],
    ["tag_ids=", (host: JsonRecord) => host.tags.length > 0],
  ] as const)("by %s has exactly the matching records of the full list", async (filter, isMatch) => {
    const query = filter === "tag_ids=" ? `${filter}${tagId}` : filter;
    const all = await fetchPage(`limit=0&include_children=false${atSuffix()}`);
    expect(all.isLong).toBe(false);
    const expected = all.data.filter((host) => isMatch({ ...host, name: host.name.replace("~", "") }));
    const found = await fetchPage(`${query}&limit=0&include_children=false${atSuffix()}`);
    expect(found.isLong).toBe(true);
    expect(found.data).toEqual(expected);
    expect(found.pagination.total_count).toBe(expected.length);
    expect((await fetchPage(`${query}&limit=3&offset=1&include_children=false${atSuffix()}`)).data).toEqual(
      expected.slice(1, 4),
    );
  });

  test("has an empty page at an offset beyond its end", async () => {
    const all = await fetchPage(`limit=0&include_children=false${atSuffix()}`);
    const past = await fetchPage(`limit=10&offset=10001&include_children=false${atSuffix()}`);
    expect([past.isLong, past.data, past.pagination]).toEqual([
      true,
      [],
      { total_count: all.data.length, limit: 10, offset: 10_001, has_more: false },
    ]);
  });

  test("covers a caller's single network", async () => {
    const { client } = await newUser({ role: "Viewer", networkIds: [second] });
    const visible = await fetchPage(`limit=0&include_children=false&order_by=name${atSuffix()}`, client);
    expect([visible.isLong, visible.data.length, visible.pagination.total_count]).toEqual([
      false,
      HOSTS / 4,
      HOSTS / 4,
    ]);
    const found = await fetchPage(`search=core&limit=0&include_children=false&order_by=name${atSuffix()}`, client);
    expect(found.isLong).toBe(true);
    expect(found.data).toEqual(visible.data.filter((host) => /^~?core/.test(host.name)));
    expect(new Set(found.data.map((host) => host.network_id))).toEqual(new Set([second]));
  });
});

test("a long list at a timestamp is unaffected by later writes, and current records have no valid_to", async () => {
  const past = await fetchPage(`order_by=name&limit=1000&include_children=false&at=${at}`);
  const present = await fetchPage("order_by=name&limit=1000&include_children=false");
  expect(present.data.every((host) => host.valid_to === null)).toBe(true);
  expect(past.data.filter((host) => host.valid_to !== null).length).toBeGreaterThan(10);
  expect(past.data.some((host) => host.name.startsWith("~"))).toBe(false);
});

test("a long list that cannot be read fails before it starts, with its status", async () => {
  const { reader } = appliance;
  const statement = reader.statement.bind(reader);
  reader.statement = (sql) => {
    if (sql.includes("sort_keys")) throw new Error("disk I/O error");
    return statement(sql);
  };
  const response = await owner.get("hosts?order_by=name");
  reader.statement = statement;
  expect(response).toMatchObject(refusal(500, "internal_error"));
  expect(response.text).not.toContain("disk");
});

describe("a long list by name at changing timestamps", () => {
  const instants: string[] = [];

  /** One transaction each: renames, deletions and creations. */
  async function change(round: number): Promise<void> {
    const { data } = await owner.get(`hosts?limit=12&offset=${round * 37}&include_children=false`);
    for (const [index, host] of (data as JsonRecord[]).entries()) {
      if (index % 6 === 5) await expectOk(owner.delete(`hosts/${host.id}`));
      else
        await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: `${"ZaÄ~"[index % 4]}${round}-${host.name}` }));
    }
    const fields = { network_id: first.networkId, hidden: false, tags: [] };
    await expectOk(owner.post("hosts", { ...fields, name: `Beta ${round}` }));
    instants.push(clock.text());
    tick();
  }

  async function expectOrder(instant: string, direction: "asc" | "desc"): Promise<void> {
    const { data: all } = await fetchPage(`limit=0&include_children=false&at=${instant}`);
    const sign = direction === "asc" ? 1 : -1;
    const sorted = all.toSorted((a, b) => sign * compareCodePoints(textSortKey(a.name), textSortKey(b.name)));
    const query = `order_by=name&order_direction=${direction}&include_children=false&at=${instant}`;
    const listed = await fetchPage(`${query}&limit=0`);
    expect(listed.isLong).toBe(true);
    expect(listed.data).toEqual(sorted);
    expect((await fetchPage(`${query}&limit=7&offset=1200`)).data).toEqual(sorted.slice(1200, 1207));
  }

  test("is in the order of each timestamp, before and after earlier requests, and after later writes", async () => {
    instants.push(at);
    for (let round = 0; round < 4; round += 1) await change(round);
    for (const index of [2, 0, 4, 1, 3, 2])
      for (const direction of ["asc", "desc"] as const) await expectOrder(instants[index] as string, direction);
    for (let round = 4; round < 6; round += 1) await change(round);
    for (const index of [6, 1, 5, 3]) await expectOrder(instants[index] as string, "asc");
    // Every timestamp is distinct.
    expect(new Set(instants).size).toBe(7);
  });

  test("is limited to the caller's reach", async () => {
    const { client } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const query = `include_children=false&at=${instants[2]}`;
    const reachableIds = new Set(ids((await fetchPage(`limit=0&${query}`, client)).data));
    const all = await fetchPage(`limit=0&order_by=name&${query}`);
    const listed = await fetchPage(`limit=0&order_by=name&${query}`, client);
    expect(listed.data).toEqual(all.data.filter(({ id }) => reachableIds.has(id)));
    expect(listed.data.length).toBeLessThan(all.data.length);
  });
});
