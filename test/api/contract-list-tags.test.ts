// Contract of GET /api/v1/tags (handbook: api, "Lists"): items, order, and pages. contract-time covers the past.

import { beforeAll, describe, expect, test } from "bun:test";
import { newAppliance } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, newTag } from "../support/appliance/factories.ts";
import {
  COLORS,
  envelopeProblems,
  expectRefusal,
  expectSuccess,
  issuePaths,
  problems,
  tagShape,
} from "../support/contract/shapes.ts";

/** Created in this order, a second apart: names and colors are unordered. */
const CREATED: Array<[name: string, color: string, isApplication: boolean]> = [
  ["delta", "Red", false],
  ["Alpha", "Blue", true],
  ["charlie", "Amber", false],
  ["alpha", "Red", true],
  ["Bravo", "Blue", false],
  ["～ wide", "Lime", false],
  ["😀", "Lime", true],
  ["Ärger", "Red", false],
];

const appliance = applianceForAll();
const { clock, first, newApiKey, newOrganization, newUser, owner, signedIn, tick } = appliance;
let tags: JsonRecord[];

beforeAll(async () => {
  tags = [];
  for (const [name, color, is_application] of CREATED) {
    tags.push(await newTag(appliance, { name, color, is_application, description: `about ${name}` }));
    tick();
  }
  const otherOrganization = await newOrganization("Other");
  await newTag(appliance, { name: "theirs" }, await signedIn(otherOrganization.userId));
  tick();
});

async function list(query = ""): Promise<{ data: JsonRecord[]; pagination: JsonRecord }> {
  const response = await owner.get(`tags${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  expect(envelopeProblems(response)).toEqual([]);
  return { data: response.data, pagination: response.body.meta.pagination };
}

async function names(query: string): Promise<string[]> {
  return (await list(query)).data.map((tag) => tag.name);
}

/** Names of the created tags, sorted by their definitions. */
function sorted(...by: Array<(tag: JsonRecord) => string | number>): string[] {
  const compare = (a: JsonRecord, b: JsonRecord) => {
    for (const key of by) {
      const [left, right] = [key(a), key(b)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
  return tags.toSorted(compare).map((tag) => tag.name);
}

const byColor = (tag: JsonRecord) => tag.color;
const byApplication = (tag: JsonRecord) => Number(tag.is_application);
const byCreation = (tag: JsonRecord) => tag.created_at;

describe("an item", () => {
  test("has every field of table 2.8 with its type, and no other", async () => {
    const { data } = await list();
    expect(data.flatMap((tag) => problems(tag, tagShape))).toEqual([]);
    expect(data[0]).toMatchObject({
      name: "delta",
      description: "about delta",
      color: "Red",
      is_application: false,
      lineage_id: null,
      valid_to: null,
      organization_id: first.organizationId,
    });
  });

  test("has an empty description by default, and is not an application", async () => {
    const appliance = await newAppliance();
    await newTag(appliance);
    const [tag] = await expectSuccess(appliance.owner.get("tags"));
    expect([tag.description, tag.is_application]).toEqual(["", false]);
    await appliance.close();
  });

  test("accepts each of the eighteen colors, and no other", async () => {
    const appliance = await newAppliance();
    for (const color of COLORS) expect((await newTag(appliance, { color })).color).toBe(color);
    for (const color of ["green", "GREEN", "Black", "", "#00ff00", null, 5])
      expect(await issuePaths(appliance.owner.post("tags", { name: "n", color }))).toEqual(["/color"]);
    await appliance.close();
  });

  test("belongs to the caller's organization, by key and by session", async () => {
    const { client } = newApiKey({ permissions: "Viewer" });
    const response = await client.get("tags");
    expect(envelopeProblems(response)).toEqual([]);
    expect(response.data).toEqual((await list()).data);
    expect(response.data).toHaveLength(CREATED.length);
  });
});

describe("the order", () => {
  test("is creation order by default", async () => {
    expect(await names("")).toEqual(CREATED.map(([name]) => name));
  });

  test("is alphabetical for colors, then by creation", async () => {
    expect(await names("?order_by=color")).toEqual(sorted(byColor, byCreation));
    expect(await names("?order_by=color&order_direction=asc")).toEqual(sorted(byColor, byCreation));
  });

  test("may be by creation, change and is_application, in both directions", async () => {
    expect(await names("?order_by=created_at&order_direction=desc")).toEqual(sorted(byCreation).toReversed());
    expect(await names("?order_by=updated_at")).toEqual(sorted((tag) => tag.updated_at));
    expect(await names("?order_by=is_application")).toEqual(sorted(byApplication, byCreation));
    const descending = (await list("?order_by=is_application&order_direction=desc")).data.map(
      (tag) => tag.is_application,
    );
    expect(descending).toEqual(descending.toSorted((a, b) => Number(b) - Number(a)));
  });

  test("accepts each of the five fields, in every combination, without losing or duplicating a row", async () => {
    const fields = ["created_at", "name", "color", "updated_at", "is_application"];
    for (const group_by of fields) {
      for (const order_by of fields) {
        for (const direction of ["asc", "desc"]) {
          const query = `?group_by=${group_by}&order_by=${order_by}&order_direction=${direction}`;
          const complete = await names(query);
          expect(complete.toSorted()).toEqual(CREATED.map(([name]) => name).toSorted());
          const paged = [
            ...(await names(`${query}&limit=3`)),
            ...(await names(`${query}&limit=3&offset=3`)),
            ...(await names(`${query}&limit=3&offset=6`)),
          ];
          expect(paged).toEqual(complete);
        }
      }
    }
  });

  test("is refused with 400 for an unknown field or direction, with parameter, value and alternatives", async () => {
    for (const [name, value] of [
      ["group_by", "colour"],
      ["order_by", "Name"],
      ["order_by", "description"],
      ["order_direction", "down"],
      ["order_direction", "DESC"],
      ["order_by", ""],
      ["group_by", "name,color"],
    ] as const) {
      const { body } = await expectRefusal(owner.get(`tags?${name}=${value}`), 400, "validation_failed");
      expect(body.params.issues).toHaveLength(1);
      expect(body.params.issues[0]).toMatchObject({ path: `/${name}`, value });
      expect(body.params.issues[0].message).toMatch(
        /^must be one of .*(created_at, name, color, updated_at, is_application|asc, desc)$/,
      );
    }
  });
});

describe("the page", () => {
  test("has 50 items from offset 0 by default, and reports the total", async () => {
    expect((await list()).pagination).toEqual({ has_more: false, limit: 50, offset: 0, total_count: CREATED.length });
    const appliance = await newAppliance();
    for (let n = 0; n < 51; n++) await newTag(appliance);
    const response = await appliance.owner.get("tags");
    expect(response.data).toHaveLength(50);
    expect(response.body.meta.pagination).toEqual({ has_more: true, limit: 50, offset: 0, total_count: 51 });
    expect((await appliance.owner.get("tags?limit=0")).data).toHaveLength(51);
    expect((await appliance.owner.get("tags?limit=51")).body.meta.pagination.has_more).toBe(false);
    await appliance.close();
  });

  test("follows limit and offset; the count ignores both", async () => {
    const all = await names("");
    for (const [limit, offset] of [
      [1, 0],
      [3, 0],
      [3, 3],
      [3, 6],
      [8, 0],
      [7, 1],
      [1, 7],
      [1, 8],
      [1_000, 0],
      [5, 2_147_483_647],
    ] as const) {
      const { data, pagination } = await list(`?limit=${limit}&offset=${offset}`);
      expect(data.map((tag) => tag.name)).toEqual(all.slice(offset, offset + limit));
      expect(pagination).toEqual({ has_more: offset + limit < all.length, limit, offset, total_count: all.length });
    }
  });

  test("is unlimited with limit=0, starting at the offset, and then empty", async () => {
    const all = await names("");
    for (const offset of [0, 2, 8, 100]) {
      const { data, pagination } = await list(`?limit=0&offset=${offset}`);
      expect(data.map((tag) => tag.name)).toEqual(all.slice(offset));
      expect(pagination).toEqual({ has_more: false, limit: 0, offset, total_count: all.length });
    }
  });

  test("is refused outside its range with name, value and range, never clamped", async () => {
    for (const value of [
      "1001",
      "-1",
      "2147483648",
      "99999999999999999999",
      "1.5",
      "abc",
      "",
      "1e2",
      "0x10",
      "+5",
      "NaN",
      "Infinity",
      "true",
      "5 ",
      "٣",
    ]) {
      const { body } = await expectRefusal(
        owner.get(`tags?limit=${encodeURIComponent(value)}`),
        400,
        "validation_failed",
      );
      expect(body.params.issues).toHaveLength(1);
      expect(body.params.issues[0].path).toBe("/limit");
      expect(String(body.params.issues[0].value)).toBe(value);
      expect(body.params.issues[0].message).toMatch(/\b0\b.*\b1,?000\b/);
    }
    for (const value of ["-1", "2147483648", "1.5", "abc", "", "1e2"])
      expect(await issuePaths(owner.get(`tags?offset=${value}`))).toEqual(["/offset"]);
  });

  test("is refused with 400 if a parameter is given twice", async () => {
    for (const query of [
      "limit=1&limit=2",
      "limit=1&limit=1",
      "offset=0&offset=1",
      "order_by=name&order_by=color",
      `at=${clock.text()}&at=${clock.text()}`,
    ]) {
      expect(await issuePaths(owner.get(`tags?${query}`))).toEqual([`/${query.split("=")[0]}`]);
    }
  });
});

describe("the rest of the query", () => {
  test("filters by ids, in the list's own order", async () => {
    const [first, second] = tags as [JsonRecord, JsonRecord];
    expect(await names(`?ids=${second.id}&ids=${first.id}`)).toEqual(["delta", "Alpha"]);
    expect((await list(`?ids=${second.id},${first.id}&limit=1&order_by=name`)).pagination).toEqual({
      has_more: true,
      limit: 1,
      offset: 0,
      total_count: 2,
    });
  });

  test("refuses unknown parameters by name", async () => {
    expect(await issuePaths(owner.get("tags?limt=5&colour=Red"))).toEqual(["/colour", "/limt"]);
    expect(await issuePaths(owner.get("tags?host_id=0192f3a4-0000-7000-8000-000000000001"))).toEqual(["/host_id"]);
  });
});

describe("access", () => {
  test("is granted to every authenticated caller, including a Viewer without networks", async () => {
    const { client } = await newUser({ role: "Viewer", networkIds: [] });
    expect((await client.get("tags")).data).toHaveLength(CREATED.length);
  });
});
