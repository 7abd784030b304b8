// Filter coverage of response fields: each is stored with its record, observed, listed from other records, or
// explicitly excluded.

import { beforeAll, expect, test } from "bun:test";
import { getTableName } from "drizzle-orm";
import { PART_FIELDS, UNFILTERABLE_FIELDS } from "../../src/records/part-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { newRecordFixture } from "../support/contract/operations.ts";

const appliance = applianceForAll();
const { owner } = appliance;

beforeAll(async () => {
  await newRecordFixture(appliance);
});

test.each(RESOURCES.map((resource) => [resource.kind.name, resource] as const))(
  "%s: every field of the response can be filtered, or is exempt for a stated reason",
  async (name, { kind, path }) => {
    const records = (await owner.get(`${path}?limit=0`)).data as JsonRecord[];
    expect(records.length).toBeGreaterThan(0);
    const storedFields = appliance.reader
      .statement(`SELECT '{' || members || '}' FROM ${getTableName(kind.table)}`)
      .values()
      .flatMap(([text]) => Object.keys(JSON.parse(text as string) as object));
    const coveredFields = new Set<string>([
      ...storedFields,
      ...kind.observed,
      "valid_to",
      ...Object.keys(PART_FIELDS[name] ?? {}),
      ...Object.keys(UNFILTERABLE_FIELDS[name] ?? {}),
    ]);
    const fields = [...new Set(records.flatMap((record) => Object.keys(record)))];
    expect(fields.filter((field) => !coveredFields.has(field))).toEqual([]);
    for (const field of fields) {
      const response = await owner.get(`${path}?${new URLSearchParams({ filter: `${field}:*` })}`);
      expect(response.status, `${field}:*`).toBe(UNFILTERABLE_FIELDS[name]?.[field] === undefined ? 200 : 400);
      if (response.status !== 200) continue;
      // Finds exactly the records that show a value.
      const hasValue = ({ [field]: value }: JsonRecord) =>
        value !== null &&
        value !== undefined &&
        value !== "" &&
        Object.keys(Object(value)).length + Number(typeof value !== "object") > 0;
      expect(
        response.data.map(({ id }: JsonRecord) => id),
        `${field}:*`,
      ).toEqual(
        records
          .filter(hasValue)
          .slice(0, 50)
          .map(({ id }) => id),
      );
    }
  },
);

test("listed and exempt fields are fields of the response", () => {
  for (const table of [PART_FIELDS, UNFILTERABLE_FIELDS])
    for (const [name, fields] of Object.entries(table)) {
      const resource = RESOURCES.find(({ kind }) => kind.name === name);
      for (const field of Object.keys(fields))
        expect(Object.keys(resource?.responseSchema.properties ?? {})).toContain(field.split(".")[0] as string);
    }
});
