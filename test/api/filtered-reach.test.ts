// Access limits of filters by reference fields: they match only the values shown to the caller, for every such field of
// every kind, from the schema; in the past too, with ever(), and in diffs.

import { afterAll, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { CHANGE_TYPES } from "../../src/history/change-view.ts";
import { itemOf, propertiesOf } from "../../src/records/filter/schema-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { newAuthorizationFixture } from "../support/authorization/fixture.ts";

const fixture = await newAuthorizationFixture();
afterAll(() => fixture.appliance.close());

/** Paths of id fields, except the record's own id and its lineage_id. */
function referenceFields(properties: Readonly<Record<string, TSchema>>, prefix = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    if (["id", "lineage_id", "organization_id"].includes(path)) return [];
    const { item } = itemOf(schema);
    return item.format === "uuid" ? [path] : referenceFields(propertiesOf(item), `${path}.`);
  });
}

const FIELDS = RESOURCES.flatMap((resource) => {
  const { properties } = resource.responseSchema as unknown as {
    readonly properties: Readonly<Record<string, TSchema>>;
  };
  return referenceFields(properties).map((field) => ({ resource, field }));
});

/** Out of reach of callers limited to near. */
const outOfReachIds = [...fixture.oracle.known().values()].flatMap(({ id, networkId }) =>
  networkId === fixture.sites.near.networkId || networkId === null ? [] : [id],
);

/** Callers limited to near. */
const limitedCallers = fixture.callers.filter(({ name }) =>
  [
    "Viewer of near",
    "Member of near, previously of far",
    "a key for near with the role Admin",
    "a key for near with the role Owner",
  ].includes(name),
);

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (value === null || value === undefined) return [];
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as JsonRecord)[name], rest);
}

/** Records shown to a caller; null for a refusal. */
async function list(caller: Client, path: string, query = ""): Promise<JsonRecord[] | null> {
  const { status, data } = await caller.get(`${path}?limit=0&${query}`);
  if (status !== 200) expect(status).toBeOneOf([400, 403]);
  return status === 200 ? data : null;
}

const filtered = (caller: Client, path: string, filter: string, query = "") =>
  list(caller, path, `${query}filter=${encodeURIComponent(filter)}`);

const idsOf = (records: readonly JsonRecord[]) => records.map(({ id }) => id as string).sort();

test("most kinds have reference fields, and there are records out of reach", () => {
  expect(new Set(FIELDS.map(({ resource }) => resource.kind.name)).size).toBeGreaterThan(15);
  expect(FIELDS.length).toBeGreaterThan(60);
  expect(outOfReachIds.length).toBeGreaterThan(30);
  expect(limitedCallers).toHaveLength(4);
});

test("a reference to a record out of reach is hidden according to its kind", async () => {
  const owner = fixture.callers.find(({ name }) => name === "Owner")?.client as Client;
  const member = fixture.callers.find(({ name }) => name === "Member of near")?.client as Client;
  const exposed: string[] = [];
  for (const { resource, field } of FIELDS) {
    const { path, kind } = resource;
    const visibleIds = new Set(idsOf((await list(member, path)) ?? []));
    const allRecords = (await list(owner, path)) ?? [];
    const referencedIds = allRecords
      .filter(({ id }) => visibleIds.has(id))
      .flatMap((record) => valuesAt(record, field.split(".")));
    if (referencedIds.some((id) => outOfReachIds.includes(id as string)))
      exposed.push(`${kind.name} ${field.split(".")[0]}`);
  }
  const restricted = RESOURCES.flatMap(({ kind, compose }) =>
    Object.keys(compose?.reachFields ?? {}).map((field) => `${kind.name} ${field}`),
  );
  expect(restricted).toEqual(expect.arrayContaining([...new Set(exposed)]));
  expect([...new Set(exposed)].sort()).toEqual([
    "credential assigned_network_ids",
    "credential host_assignments",
    "user network_ids",
  ]);
});

describe.each(RESOURCES.map((resource) => [resource.path, resource] as const))("%s", (path, { kind }) => {
  const fields = FIELDS.flatMap(({ resource, field }) => (resource.path === path ? [field] : []));

  test.each(limitedCallers.map(({ name, client }) => [name, client] as const))(
    "show %s the values they match",
    async (_name, caller) => {
      for (const at of [null, fixture.middle]) {
        const all = await list(caller, path, at === null ? "" : `at=${at}`);
        // API keys are readable by session only.
        if (all === null) continue;
        for (const field of fields) {
          const withValues = idsOf(all.filter((record) => valuesAt(record, field.split(".")).length > 0));
          const found = await filtered(caller, path, `${field}:*`, at === null ? "" : `at=${at}&`);
          // Fields that no caller may filter by.
          if (found !== null) expect([field, idsOf(found)]).toEqual([field, withValues]);
        }
      }
    },
  );

  test.each(limitedCallers.map(({ name, client }) => [name, client] as const))(
    "cannot be found by %s by values out of reach, now, in the past, at any time, and in a diff",
    async (_name, caller) => {
      for (const field of fields) {
        const conditions = outOfReachIds.map((id) => `${field} = "${id}"`);
        for (let index = 0; index < conditions.length; index += 20) {
          const condition = conditions.slice(index, index + 20).join(" OR ");
          for (const filter of [
            condition,
            `was(${fixture.middle}, ${condition})`,
            `ever(${condition}, ${fixture.early})`,
          ])
            expect([field, (await filtered(caller, path, filter)) ?? []]).toEqual([field, []]);
          if (!CHANGE_TYPES.includes(kind.name)) continue;
          const query = `from=${fixture.middle}&types=${kind.name}&filter=${encodeURIComponent(condition)}`;
          const { status, data } = await caller.get(`diff?${query}`);
          if (status === 200) expect(data).toMatchObject({ added: [], removed: [], changed: [] });
          else expect(status).toBe(400);
        }
      }
    },
  );

  test.each(limitedCallers.map(({ name, client }) => [name, client] as const))(
    "cannot be found by %s among a record's versions by values out of reach",
    async (_name, caller) => {
      const records = (await list(caller, path)) ?? [];
      for (const { id } of records.slice(-3))
        for (const field of fields)
          for (let index = 0; index < outOfReachIds.length; index += 20) {
            const condition = outOfReachIds.slice(index, index + 20).map((id) => `record.${field} = "${id}"`);
            expect((await filtered(caller, `${path}/${id}/history`, condition.join(" OR "))) ?? []).toEqual([]);
          }
    },
  );

  test.each(limitedCallers.map(({ name, client }) => [name, client] as const))(
    "name nothing out of reach in a diff requested by %s, whatever the filter",
    async (_name, caller) => {
      if (!CHANGE_TYPES.includes(kind.name)) return;
      for (const field of ["id", ...fields])
        for (const from of [fixture.early, fixture.middle]) {
          const { status, text } = await caller.get(`diff?from=${from}&types=${kind.name}&filter=${field}:*`);
          expect([field, status]).toBeOneOf([
            [field, 200],
            [field, 400],
          ]);
          expect(outOfReachIds.filter((id) => text.includes(id))).toEqual([]);
        }
    },
  );
});

test("a change out of reach is absent from a diff", async () => {
  const { client } = fixture.callers.find(({ name }) => name === "a key for near with the role Admin") as {
    client: Client;
  };
  const diff = await expectOk(client.get(`diff?from=${fixture.middle}&types=user,credential`));
  const changes = diff.changed.flatMap(({ fields }: JsonRecord) => fields);
  expect(changes.filter(({ field }: JsonRecord) => field === "network_ids")).toMatchObject([
    { from: [], to: [fixture.sites.near.networkId] },
  ]);
});
