// Order and grouping of planned actions.

import { expect, test } from "bun:test";
import { isCollapsed, otherFields, type PlannedAction, planGroups } from "../../src/console/plans/plan-groups.ts";

const planned = (
  action: PlannedAction["action"],
  entity_type: string,
  name: string,
  more: Partial<PlannedAction> = {},
): PlannedAction => ({ action, entity_type, id: `${entity_type} ${name}`, name, fields: [], ...more });

const grouped = (actions: readonly PlannedAction[]) =>
  planGroups(actions).map(({ action, type, actions }) => [action, type, actions.map(({ name }) => name)]);

test("groups actions by kind: hosts first, then their parts, then other kinds", () => {
  expect(
    grouped([
      planned("Create", "credential_assignment", "a"),
      planned("Create", "if_entry", "Gi1/0/1"),
      planned("Update", "if_entry", "Gi1/0/2"),
      planned("Create", "if_entry", "Gi1/0/3"),
      planned("Update", "host", "switch"),
    ]),
  ).toEqual([
    ["Update", "host", ["switch"]],
    ["Create", "if_entry", ["Gi1/0/1", "Gi1/0/3"]],
    ["Update", "if_entry", ["Gi1/0/2"]],
    ["Create", "credential_assignment", ["a"]],
  ]);
});

test("unchanged records come last, and only with a reason", () => {
  expect(
    grouped([
      planned("Skip", "host", "switch"),
      planned("Skip", "ip_address", "10.0.0.1", { reason: "it has come from another host since, and stays" }),
      planned("Delete", "service", "ssh"),
    ]),
  ).toEqual([
    ["Delete", "service", ["ssh"]],
    ["Skip", "ip_address", ["10.0.0.1"]],
  ]);
});

test("more than three actions fold into a count with their common reason", () => {
  const [few, many, mixed] = [3, 4, 4].map((count, kind) =>
    Array.from({ length: count }, (_, index) =>
      planned("Delete", ["port", "if_entry", "service"][kind] as string, `${index}`, {
        reason: kind === 2 && index === 0 ? "another" : "it was created since",
      }),
    ),
  );
  const groups = planGroups([few, many, mixed].flatMap((actions) => actions ?? []));
  expect(groups.map((group) => [group.type, isCollapsed(group), group.reason])).toEqual([
    ["port", false, "it was created since"],
    ["service", true, null],
    ["if_entry", true, "it was created since"],
  ]);
});

test("changed fields are named if neither values nor parts show the change", () => {
  const host = planned("Update", "host", "switch", {
    fields: ["interfaces", "ip_addresses", "name"],
    changes: [{ field: "name", from: "b", to: "a" }],
  });
  expect(otherFields(host, new Set(["host", "if_entry"]))).toEqual(["ip_addresses"]);
  expect(otherFields(host, new Set(["host", "if_entry", "ip_address"]))).toEqual([]);
  const user = planned("Update", "user", "ada", { fields: ["network_ids"] });
  expect(otherFields(user, new Set(["user"]))).toEqual(["network_ids"]);
});
