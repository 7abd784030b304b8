// Contract of GET /api/v1/tags (handbook: api, "Lists"): items, order, pages. For the past: contract-time.

import { beforeAll, describe, expect, test } from "bun:test";
import { newAppliance } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { newTag, type Wire } from "../support/appliance/factories.ts";
import {
  COLORS,
  envelopeProblems,
  issuePaths,
  problems,
  refused,
  succeeded,
  tagShape,
} from "../support/contract/shapes.ts";

/** Created in this order, a second apart: names and colors are unordered. */
const MADE: Array<[name: string, color: string, isApplication: boolean]> = [
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
const { anonymous, clock, first, newApiKey, newOrganization, newUser, owner, signedIn, tick } = appliance;
let tags: Wire[];

beforeAll(async () => {
  tags = [];
  for (const [name, color, is_application] of MADE) {
    tags.push(await newTag(appliance, { name, color, is_application, description: `about ${name}` }));
    tick();
  }
  const other = await newOrganization("Other");
  await newTag(appliance, { name: "theirs" }, await signedIn(other.userId));
  tick();
});

async function list(query = ""): Promise<{ data: Wire[]; pagination: Wire }> {
  const answer = await owner.get(`tags${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  expect(envelopeProblems(answer)).toEqual([]);
  return { data: answer.data, pagination: answer.body.meta.pagination };
}

async function names(query: string): Promise<string[]> {
  return (await list(query)).data.map((tag) => tag.name);
}

/** Names of the created tags, sorted by their definitions. */
function sorted(...by: Array<(tag: Wire) => string | number>): string[] {
  const compare = (a: Wire, b: Wire) => {
    for (const key of by) {
      const [left, right] = [key(a), key(b)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
  return tags.toSorted(compare).map((tag) => tag.name);
}

const byColor = (tag: Wire) => tag.color;
const byApplication = (tag: Wire) => Number(tag.is_application);
const byCreation = (tag: Wire) => tag.created_at;

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
    const [tag] = await succeeded(appliance.owner.get("tags"));
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

  test("is of the caller's organization only, by key and by session", async () => {
    const { client } = newApiKey({ permissions: "Viewer" });
    const answer = await client.get("tags");
    expect(envelopeProblems(answer)).toEqual([]);
    expect(answer.data).toEqual((await list()).data);
    expect(answer.data).toHaveLength(MADE.length);
  });
});

describe("the order", () => {
  test("is by creation by default", async () => {
    expect(await names("")).toEqual(MADE.map(([name]) => name));
  });

  test("of names ignores case, then is by code point", async () => {
    expect(await names("?order_by=name")).toEqual([
      "Alpha",
      "alpha",
      "Bravo",
      "charlie",
      "delta",
      "Ärger",
      "～ wide",
      "😀",
    ]);
    expect(await names("?order_by=name&order_direction=desc")).toEqual([
      "😀",
      "～ wide",
      "Ärger",
      "delta",
      "charlie",
      "Bravo",
      "alpha",
      "Alpha",
    ]);
  });

  test("of colors is alphabetical, then by creation", async () => {
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

  test("within groups follows order_by, whose direction leaves groups ascending", async () => {
    expect(await names("?group_by=color")).toEqual(sorted(byColor, byCreation));
    expect(await names("?group_by=is_application&order_by=color")).toEqual(sorted(byApplication, byColor, byCreation));
    for (const group_by of ["color", "is_application"]) {
      const { data } = await list(`?group_by=${group_by}&order_by=created_at&order_direction=desc`);
      const key = group_by === "color" ? byColor : byApplication;
      expect(data.map(key)).toEqual(data.map(key).toSorted((a, b) => (a < b ? -1 : Number(a > b))));
      for (const [index, tag] of data.slice(1).entries()) {
        const previous = data[index] as Wire;
        if (key(previous) === key(tag)) expect(previous.created_at > tag.created_at).toBe(true);
      }
    }
  });

  test("applies a direction to order_by only: alone, or with only group_by, it has no effect", async () => {
    expect(await names("?order_direction=desc")).toEqual(await names(""));
    expect(await names("?group_by=color&order_direction=desc")).toEqual(await names("?group_by=color"));
  });

  test("accepts the same field twice", async () => {
    expect(await names("?group_by=name&order_by=name&order_direction=desc")).toEqual(await names("?order_by=name"));
  });

  test("accepts each of the five fields, in every combination, without losing or duplicating a row", async () => {
    const fields = ["created_at", "name", "color", "updated_at", "is_application"];
    for (const group_by of fields) {
      for (const order_by of fields) {
        for (const direction of ["asc", "desc"]) {
          const query = `?group_by=${group_by}&order_by=${order_by}&order_direction=${direction}`;
          const whole = await names(query);
          expect(whole.toSorted()).toEqual(MADE.map(([name]) => name).toSorted());
          const paged = [
            ...(await names(`${query}&limit=3`)),
            ...(await names(`${query}&limit=3&offset=3`)),
            ...(await names(`${query}&limit=3&offset=6`)),
          ];
          expect(paged).toEqual(whole);
        }
      }
    }
  });

  test("by an unknown field or direction is 400, naming parameter, value and alternatives", async () => {
    for (const [name, value] of [
      ["group_by", "colour"],
      ["order_by", "Name"],
      ["order_by", "description"],
      ["order_direction", "down"],
      ["order_direction", "DESC"],
      ["order_by", ""],
      ["group_by", "name,color"],
    ] as const) {
      const { body } = await refused(owner.get(`tags?${name}=${value}`), 400, "validation_failed");
      expect(body.params.issues).toHaveLength(1);
      expect(body.params.issues[0]).toMatchObject({ path: `/${name}`, value });
      expect(body.params.issues[0].message).toContain(name === "order_direction" ? "desc" : "is_application");
    }
  });
});

describe("the page", () => {
  test("has 50 items from offset 0 by default, and reports the total", async () => {
    expect((await list()).pagination).toEqual({ has_more: false, limit: 50, offset: 0, total_count: MADE.length });
    const appliance = await newAppliance();
    for (let n = 0; n < 51; n++) await newTag(appliance);
    const answer = await appliance.owner.get("tags");
    expect(answer.data).toHaveLength(50);
    expect(answer.body.meta.pagination).toEqual({ has_more: true, limit: 50, offset: 0, total_count: 51 });
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

  test("is unlimited with limit=0, from the offset on, and then empty", async () => {
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
      const { body } = await refused(owner.get(`tags?limit=${encodeURIComponent(value)}`), 400, "validation_failed");
      expect(body.params.issues).toHaveLength(1);
      expect(body.params.issues[0].path).toBe("/limit");
      expect(String(body.params.issues[0].value)).toBe(value);
      expect(body.params.issues[0].message).toMatch(/\b0\b.*\b1,?000\b/);
    }
    for (const value of ["-1", "2147483648", "1.5", "abc", "", "1e2"])
      expect(await issuePaths(owner.get(`tags?offset=${value}`))).toEqual(["/offset"]);
    expect(await issuePaths(owner.get("tags?limit=1001&offset=-1&order_by=x&at=now"))).toEqual(
      "/at /limit /offset /order_by".split(" "),
    );
  });

  test("parameter given twice is 400", async () => {
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
    const [first, second] = tags as [Wire, Wire];
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
    expect((await client.get("tags")).data).toHaveLength(MADE.length);
  });

  test("is refused to others, before the query is checked", async () => {
    for (const query of ["", "?limit=abc", "?unknown=1"]) {
      const answer = await refused(anonymous.get(`tags${query}`), 401, "auth_not_authenticated");
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });
});
