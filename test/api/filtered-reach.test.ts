// Reach of filters by reference fields: they match only the values shown to the caller, for every such field of every
// kind, from the schema; also in the past, with ever(), and in diffs.

import { afterAll, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { CHANGE_TYPES } from "../../src/history/change-view.ts";
import { itemOf, propertiesOf } from "../../src/records/filter/schema-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { newAuthorizationWorld } from "../support/authorization/world.ts";

const world = await newAuthorizationWorld();
afterAll(() => world.appliance.close());

/** Paths of id fields, except the record's own id and its lineage_id. */
function namingFields(properties: Readonly<Record<string, TSchema>>, before = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${before}${name}`;
    if (["id", "lineage_id", "organization_id"].includes(path)) return [];
    const { item } = itemOf(schema);
    return item.format === "uuid" ? [path] : namingFields(propertiesOf(item), `${path}.`);
  });
}

const FIELDS = RESOURCES.flatMap((resource) => {
  const { properties } = resource.answer as unknown as { readonly properties: Readonly<Record<string, TSchema>> };
  return namingFields(properties).map((field) => ({ resource, field }));
});

/** Out of reach of callers limited to near. */
const beyond = [...world.oracle.known().values()].flatMap(({ id, networkId }) =>
  networkId === world.places.near.networkId || networkId === null ? [] : [id],
);

/** Callers limited to near. */
const confined = world.callers.filter(({ name }) =>
  [
    "Viewer of near",
    "Member of far before, of near today",
    "a key for near with the role Admin",
    "a key for near with the role Owner",
  ].includes(name),
);

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (value === null || value === undefined) return [];
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as Wire)[name], rest);
}

/** Records shown to a caller; null for a refusal. */
async function list(by: Client, path: string, query = ""): Promise<Wire[] | null> {
  const answer = await by.get(`${path}?limit=0&${query}`);
  if (answer.status !== 200) expect(answer.status).toBeOneOf([400, 403]);
  return answer.status === 200 ? answer.data : null;
}

const filtered = (by: Client, path: string, filter: string, query = "") =>
  list(by, path, `${query}filter=${encodeURIComponent(filter)}`);

const idsOf = (records: readonly Wire[]) => records.map(({ id }) => id as string).sort();

test("most kinds have such fields, with records out of reach to name", () => {
  expect(new Set(FIELDS.map(({ resource }) => resource.kind.name)).size).toBeGreaterThan(15);
  expect(FIELDS.length).toBeGreaterThan(60);
  expect(beyond.length).toBeGreaterThan(30);
  expect(confined).toHaveLength(4);
});

test("a reference to a record out of reach is hidden according to its kind", async () => {
  const owner = world.callers.find(({ name }) => name === "Owner")?.client as Client;
  const member = world.callers.find(({ name }) => name === "Member of near")?.client as Client;
  const naming: string[] = [];
  for (const { resource, field } of FIELDS) {
    const { path, kind } = resource;
    const seen = new Set(idsOf((await list(member, path)) ?? []));
    const whole = (await list(owner, path)) ?? [];
    const named = whole.filter(({ id }) => seen.has(id)).flatMap((record) => valuesAt(record, field.split(".")));
    if (named.some((id) => beyond.includes(id as string))) naming.push(`${kind.name} ${field.split(".")[0]}`);
  }
  const kept = RESOURCES.flatMap(({ kind, compose }) =>
    Object.keys(compose?.reachFields ?? {}).map((field) => `${kind.name} ${field}`),
  );
  expect(kept).toEqual(expect.arrayContaining([...new Set(naming)]));
  expect([...new Set(naming)].sort()).toEqual([
    "credential assigned_network_ids",
    "credential host_assignments",
    "user network_ids",
  ]);
});

describe.each(RESOURCES.map((resource) => [resource.path, resource] as const))("%s", (path, { kind }) => {
  const fields = FIELDS.flatMap(({ resource, field }) => (resource.path === path ? [field] : []));

  test.each(confined.map(({ name, client }) => [name, client] as const))(
    "show %s the values they match",
    async (_name, by) => {
      for (const at of [null, world.then]) {
        const all = await list(by, path, at === null ? "" : `at=${at}`);
        // API keys are readable by session only.
        if (all === null) continue;
        for (const field of fields) {
          const shown = idsOf(all.filter((record) => valuesAt(record, field.split(".")).length > 0));
          const found = await filtered(by, path, `${field}:*`, at === null ? "" : `at=${at}&`);
          // Fields that no caller may filter by.
          if (found !== null) expect([field, idsOf(found)]).toEqual([field, shown]);
        }
      }
    },
  );

  test.each(confined.map(({ name, client }) => [name, client] as const))(
    "cannot be found by %s by values out of reach, at present, in the past, at any time, and in a diff",
    async (_name, by) => {
      for (const field of fields) {
        const named = beyond.map((id) => `${field} = "${id}"`);
        for (let place = 0; place < named.length; place += 20) {
          const any = named.slice(place, place + 20).join(" OR ");
          for (const filter of [any, `was(${world.then}, ${any})`, `ever(${any}, ${world.early})`])
            expect([field, (await filtered(by, path, filter)) ?? []]).toEqual([field, []]);
          if (!CHANGE_TYPES.includes(kind.name)) continue;
          const query = `from=${world.then}&types=${kind.name}&filter=${encodeURIComponent(any)}`;
          const { status, data } = await by.get(`diff?${query}`);
          if (status === 200) expect(data).toMatchObject({ added: [], removed: [], changed: [] });
          else expect(status).toBe(400);
        }
      }
    },
  );

  test.each(confined.map(({ name, client }) => [name, client] as const))(
    "cannot be found by %s among a record's versions by values out of reach",
    async (_name, by) => {
      const records = (await list(by, path)) ?? [];
      for (const { id } of records.slice(-3))
        for (const field of fields)
          for (let place = 0; place < beyond.length; place += 20) {
            const any = beyond.slice(place, place + 20).map((each) => `record.${field} = "${each}"`);
            expect((await filtered(by, `${path}/${id}/history`, any.join(" OR "))) ?? []).toEqual([]);
          }
    },
  );

  test.each(confined.map(({ name, client }) => [name, client] as const))(
    "name nothing out of reach in a diff requested by %s, whatever the filter",
    async (_name, by) => {
      if (!CHANGE_TYPES.includes(kind.name)) return;
      for (const field of ["id", ...fields])
        for (const from of [world.early, world.then]) {
          const { status, text } = await by.get(`diff?from=${from}&types=${kind.name}&filter=${field}:*`);
          expect([field, status]).toBeOneOf([
            [field, 200],
            [field, 400],
          ]);
          expect(beyond.filter((id) => text.includes(id))).toEqual([]);
        }
    },
  );
});

test("a change out of reach is absent from a diff", async () => {
  const { client } = world.callers.find(({ name }) => name === "a key for near with the role Admin") as {
    client: Client;
  };
  const answer = await made(client.get(`diff?from=${world.then}&types=user,credential`));
  const changes = answer.changed.flatMap(({ fields }: Wire) => fields);
  expect(changes.filter(({ field }: Wire) => field === "network_ids")).toMatchObject([
    { from: [], to: [world.places.near.networkId] },
  ]);
});
