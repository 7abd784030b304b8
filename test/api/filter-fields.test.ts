// Filter coverage of answer fields: each is stored with its record, observed, listed from other records, or explicitly
// excluded.

import { beforeAll, expect, test } from "bun:test";
import { getTableName } from "drizzle-orm";
import { PART_FIELDS, UNASKED_FIELDS } from "../../src/records/part-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { newWorld } from "../support/contract/operations.ts";

const appliance = applianceForAll();
const { owner } = appliance;

beforeAll(async () => {
  await newWorld(appliance);
});

test.each(RESOURCES.map((resource) => [resource.kind.name, resource] as const))(
  "%s: every field of the answer can be filtered, or is exempt for a stated reason",
  async (name, { kind, path }) => {
    const shown = (await owner.get(`${path}?limit=0`)).data as Wire[];
    expect(shown.length).toBeGreaterThan(0);
    const kept = appliance.reader
      .statement(`SELECT '{' || members || '}' FROM ${getTableName(kind.table)}`)
      .values()
      .flatMap(([text]) => Object.keys(JSON.parse(text as string) as object));
    const known = new Set<string>([
      ...kept,
      ...kind.observed,
      "valid_to",
      ...Object.keys(PART_FIELDS[name] ?? {}),
      ...Object.keys(UNASKED_FIELDS[name] ?? {}),
    ]);
    const fields = [...new Set(shown.flatMap((record) => Object.keys(record)))];
    expect(fields.filter((field) => !known.has(field))).toEqual([]);
    for (const field of fields) {
      const answer = await owner.get(`${path}?${new URLSearchParams({ filter: `${field}:*` })}`);
      expect(answer.status, `${field}:*`).toBe(UNASKED_FIELDS[name]?.[field] === undefined ? 200 : 400);
      if (answer.status !== 200) continue;
      // Finds exactly the records that show a value.
      const isShown = ({ [field]: value }: Wire) =>
        value !== null &&
        value !== undefined &&
        value !== "" &&
        Object.keys(Object(value)).length + Number(typeof value !== "object") > 0;
      expect(
        answer.data.map(({ id }: Wire) => id),
        `${field}:*`,
      ).toEqual(
        shown
          .filter(isShown)
          .slice(0, 50)
          .map(({ id }) => id),
      );
    }
  },
);

test("listed and exempt fields are fields of the answer", () => {
  for (const table of [PART_FIELDS, UNASKED_FIELDS])
    for (const [name, fields] of Object.entries(table)) {
      const resource = RESOURCES.find(({ kind }) => kind.name === name);
      for (const field of Object.keys(fields))
        expect(Object.keys(resource?.answer.properties ?? {})).toContain(field.split(".")[0] as string);
    }
});
