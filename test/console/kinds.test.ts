// Console definitions of record kinds: one per kind, and complete coverage of their schemas.

import { describe, expect, test } from "bun:test";
import { apiDocument, listFieldsOf } from "../../scripts/console-forms.ts";
import { factsOf } from "../../src/console/history/facts-of.ts";
import { apiPath, LISTED_KINDS, loadDetails, RECORD_KINDS } from "../../src/console/kinds/kinds.ts";
import { plannedColumns } from "../../src/console/lists/columns.ts";
import { RESOURCES } from "../../src/records/resources.ts";

test("every resource of the appliance has an entry, in the same order and with the same path", () => {
  const entries: string[][] = RECORD_KINDS.map((kind) => [kind, apiPath(kind)]);
  expect(entries).toEqual(RESOURCES.map(({ kind, path }) => [kind.name, `/api/v1/${path}`]));
});

describe("a field not mentioned by its kind", () => {
  const field = { name: "rack_unit", type: "integer" } as const;

  test("is a list column after the others, unless internal", async () => {
    for (const kind of LISTED_KINDS) {
      const details = await loadDetails(kind);
      const keys = plannedColumns(details, [{ name: "lineage_id", type: "id" }, field]).map(({ key }) => key);
      expect([kind, ...keys]).toEqual([kind, ...Object.keys(details.columns), "rack_unit"]);
    }
  });

  test("is a page fact after the others, unless shown elsewhere", async () => {
    for (const kind of LISTED_KINDS) {
      const { facts = [], shownElsewhere = [], unlisted = [] } = await loadDetails(kind);
      const names = [...shownElsewhere, ...unlisted, "valid_to", "rack_unit"];
      const record = Object.fromEntries(names.map((name) => [name, 1]));
      expect(factsOf({ facts, shownElsewhere, unlisted }, record)).toEqual([...facts, "rack_unit"]);
    }
  });
});

test("the schema has every mentioned field, and list columns order like the API", async () => {
  const fields = listFieldsOf(JSON.parse(await apiDocument()));
  for (const kind of LISTED_KINDS) {
    const { columns, shown, order = "name", unlisted = [], facts = [], shownElsewhere = [] } = await loadDetails(kind);
    const names = fields[kind].map(({ name }) => name);
    const mentioned = [...Object.keys(columns), ...unlisted, ...facts, ...shownElsewhere];
    expect([kind, mentioned.filter((name) => !names.includes(name))]).toEqual([kind, []]);
    expect([kind, shown.filter((name) => !Object.hasOwn(columns, name))]).toEqual([kind, []]);
    const ordered = fields[kind].filter(({ isOrdered }) => isOrdered === true).map(({ name }) => name);
    expect(ordered).toContain(order.replace(/^-/, ""));
  }
});
