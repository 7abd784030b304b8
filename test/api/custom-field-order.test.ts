// Lists ordered by a custom field: the order of each type, live and as of a timestamp, paged, streamed and as a table;
// records without a value come last.

import { beforeEach, describe, expect, test } from "bun:test";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { hostFields } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, inTransaction, newHost, newNetwork, newUser, owner, tick } = appliance;

const newField = (fields: JsonRecord) =>
  expectOk(owner.post("custom-fields", { kinds: ["host"], type: "text", ...fields }));

/** Values by key, ascending; grouped ones are equal. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  rack: ["a", "B", "b1", "b10", "Zebra", "ähre"],
  height: [-7, 0, 0.5, 2, 10, 1e6],
  spare: [false, true],
  support_until: ["1999-12-31", "2026-02-01", "2026-10-31"],
  room: ["north", "South", "west"],
  manual: ["http://a.example/", "https://B.example/", "https://c.example/"],
};

beforeEach(async () => {
  await newField({ key: "rack" });
  await newField({ key: "height", type: "number" });
  await newField({ key: "spare", type: "boolean" });
  await newField({ key: "support_until", type: "date" });
  await newField({ key: "room", type: "choice", choices: ["west", "north", "South"] });
  await newField({ key: "manual", type: "url" });
});

/** Expected order: by rank, records without a value last, equal ones by creation. */
function ordered(hosts: readonly JsonRecord[], key: string, direction: "asc" | "desc"): string[] {
  const rank = ({ custom_fields: values }: JsonRecord) => VALUES[key]?.indexOf(values?.[key]) as number;
  const sign = direction === "desc" ? -1 : 1;
  return hosts
    .toSorted((a, b) => {
      const [left, right] = [rank(a), rank(b)];
      return left < 0 || right < 0 ? Number(left < 0) - Number(right < 0) : sign * (left - right);
    })
    .map(({ name }) => name);
}

const names = (hosts: readonly JsonRecord[]) => hosts.map(({ name }) => name);
const list = async (query: string, caller = owner): Promise<JsonRecord[]> => {
  const response = await caller.get(
    `hosts?include_children=false&${query.includes("limit=") ? "" : "limit=1000&"}${query}`,
  );
  expect([query, response.status]).toEqual([query, 200]);
  return response.data;
};

/** Creates hosts with values of most fields, then changes some. @returns a timestamp before the changes */
async function createHosts(random: SeededRandom): Promise<string> {
  const draw = () => {
    const chosen = Object.entries(VALUES).filter(() => random.integer(10) < 7);
    return Object.fromEntries(chosen.map(([key, values]) => [key, random.pick(values)]));
  };
  const hosts: JsonRecord[] = [];
  for (let index = 0; index < 30; index += 1) hosts.push(await newHost({ name: `h${index}`, custom_fields: draw() }));
  tick();
  const at = clock.text();
  tick();
  for (const host of hosts.filter(() => random.integer(10) < 4)) {
    const cleared = Object.fromEntries(Object.keys(host.custom_fields ?? {}).map((key) => [key, null]));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { ...cleared, ...draw() } }));
  }
  tick();
  return at;
}

describe("a list ordered by a custom field", () => {
  test.each([1, 2, 3])(
    "equals a comparison of values, now and in the past, in every read mode (seed %i)",
    async (seed) => {
      const at = await createHosts(seededRandom(seed));
      for (const instantQuery of ["", `&at=${at}`]) {
        const plain = await list(instantQuery);
        for (const key of Object.keys(VALUES))
          for (const direction of ["asc", "desc"] as const) {
            const query = `order_by=custom_fields.${key}&order_direction=${direction}${instantQuery}`;
            const expected = ordered(plain, key, direction);
            expect([query, names(await list(query))]).toEqual([query, expected]);
            const paged = [...(await list(`${query}&limit=7`)), ...(await list(`${query}&limit=100&offset=7`))];
            expect(names(paged)).toEqual(expected);
            expect(names((await owner.get(`hosts?${query}&limit=0`)).data)).toEqual(expected);
            expect(csvRecords((await owner.get(`hosts/export/csv?${query}`)).text).map(({ name }) => name)).toEqual(
              expected,
            );
          }
        // Grouped, and filtered.
        const grouped = await list(
          `group_by=custom_fields.spare&order_by=custom_fields.height&order_direction=desc${instantQuery}`,
        );
        const within = ordered(plain, "height", "desc").map(
          (name) => plain.find((host) => host.name === name) as JsonRecord,
        );
        expect(names(grouped)).toEqual(ordered(within, "spare", "asc"));
        const filter = encodeURIComponent("custom_fields.height > 0");
        const filtered = await list(`filter=${filter}&order_by=custom_fields.rack${instantQuery}`);
        const matching = plain.filter(({ custom_fields: values }) => (values?.height ?? 0) > 0);
        expect(names(filtered)).toEqual(ordered(matching, "rack", "asc"));
      }
    },
  );

  test("yields to other reads when very long, with the same result", async () => {
    const random = seededRandom(7);
    const racks = VALUES.rack as readonly string[];
    inTransaction((tx) => {
      for (let index = 0; index < 1_500; index += 1) {
        const custom = random.integer(10) < 8 ? { custom_fields: { rack: random.pick(racks) } } : {};
        tx.create(hostKind, first.organizationId, hostFields(first.networkId, `h${index}`, custom));
      }
    });
    tick();
    const at = clock.text();
    tick();
    const plain: JsonRecord[] = (await owner.get("hosts?limit=0&include_children=false")).data;
    await expectOk(owner.delete(`hosts/${plain[0]?.id}`));
    tick();
    const expected = ordered(plain, "rack", "desc");
    for (const [instantQuery, all] of [
      [`&at=${at}`, expected],
      ["", expected.filter((name) => name !== plain[0]?.name)],
    ] as const) {
      const query = `include_children=false&order_by=custom_fields.rack&order_direction=desc${instantQuery}`;
      expect(names((await owner.get(`hosts?${query}&limit=0`)).data)).toEqual([...all]);
      expect(names((await owner.get(`hosts?${query}&limit=20&offset=1190`)).data)).toEqual(all.slice(1190, 1210));
    }
  });

  test("applies to every kind with custom fields, and refuses unknown ones", async () => {
    const kinds = ["subnet", "vlan", "if_entry", "service", "ip_range"];
    await newField({ key: "note", kinds });
    for (const path of ["subnets", "vlans", "if-entries", "services", "ip-ranges"]) {
      expect((await owner.get(`${path}?order_by=custom_fields.note`)).status).toBe(200);
      for (const query of ["order_by=custom_fields.rack", "group_by=custom_fields.nothing"]) {
        const [name, value] = query.split("=") as [string, string];
        const response = await owner.get(`${path}?${query}`);
        expect(response).toMatchObject(invalid({ path: `/${name}` }));
        expect(response.body.params.issues[0]).toMatchObject({
          value,
          message: expect.stringContaining("not a custom field"),
        });
        expect(await owner.get(`${path}/export/csv?${query}`)).toMatchObject(invalid({ path: `/${name}` }));
      }
    }
    const nearMiss = await owner.get("hosts?order_by=custom_fields.heigth");
    expect(nearMiss.body.params.issues[0].message).toEndWith("did you mean custom_fields.height?");
    for (const order of [
      "custom_fields.",
      "custom_fields.rack.x",
      "custom_fields.Rack",
      `custom_fields.${"k".repeat(500)}`,
    ])
      expect(await owner.get(`hosts?order_by=${order}`)).toMatchObject(invalid({ path: "/order_by" }));
    const refused = await owner.get("ports?order_by=custom_fields.rack");
    expect(refused.body.params.issues[0].message).not.toContain("custom");
  });

  test("works at any timestamp, even before a field existed and after its deletion", async () => {
    const host = await newHost({ name: "a", custom_fields: { rack: "x" } });
    await newHost({ name: "b", custom_fields: { rack: "c" } });
    tick();
    const before = clock.text();
    tick();
    const laterField = await newField({ key: "later" });
    tick();
    expect(names(await list(`order_by=custom_fields.later&at=${before}`))).toEqual(["a", "b"]);
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { rack: null } }));
    const fields = (await owner.get("custom-fields")).data as JsonRecord[];
    const rack = fields.find(({ key }) => key === "rack") as JsonRecord;
    await expectOk(owner.delete(`custom-fields/${rack.id}?cascade=true`));
    await expectOk(owner.delete(`custom-fields/${laterField.id}`));
    tick();
    expect(names(await list(`order_by=custom_fields.rack&at=${before}`))).toEqual(["b", "a"]);
    expect(await owner.get("hosts?order_by=custom_fields.rack")).toMatchObject(invalid({ path: "/order_by" }));
  });

  test("is limited to the caller's reach", async () => {
    const far = await newNetwork({ name: "far" });
    for (const [name, network_id, rack] of [
      ["one", first.networkId, "z"],
      ["two", far.id, "a"],
      ["three", first.networkId, "b"],
    ])
      await newHost({ name, network_id, custom_fields: { rack } });
    const { client } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    expect(names(await list("order_by=custom_fields.rack", client))).toEqual(["three", "one"]);
    expect(names(await list("order_by=custom_fields.rack"))).toEqual(["two", "three", "one"]);
  });
});
