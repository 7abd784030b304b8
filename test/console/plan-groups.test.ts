// Reading order of a plan.

import { expect, test } from "bun:test";
import { isFolded, type PlannedAction, planGroups, untoldFields } from "../../src/console/writes/plan-groups.ts";

const planned = (
  action: PlannedAction["action"],
  entity_type: string,
  name: string,
  more: Partial<PlannedAction> = {},
): PlannedAction => ({ action, entity_type, id: `${entity_type} ${name}`, name, fields: [], ...more });

const told = (actions: readonly PlannedAction[]) =>
  planGroups(actions).map(({ action, type, actions }) => [action, type, actions.map(({ name }) => name)]);

test("actions on one kind are grouped, hosts before their parts, those not reported elsewhere last", () => {
  expect(
    told([
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
    told([
      planned("Skip", "host", "switch"),
      planned("Skip", "ip_address", "10.0.0.1", { reason: "it has come from another host since, and stays" }),
      planned("Delete", "service", "ssh"),
    ]),
  ).toEqual([
    ["Delete", "service", ["ssh"]],
    ["Skip", "ip_address", ["10.0.0.1"]],
  ]);
});

test("more than three are counted, with their common reason", () => {
  const [few, many, mixed] = [3, 4, 4].map((count, kind) =>
    Array.from({ length: count }, (_, place) =>
      planned("Delete", ["port", "if_entry", "service"][kind] as string, `${place}`, {
        reason: kind === 2 && place === 0 ? "another" : "it was created since",
      }),
    ),
  );
  const groups = planGroups([few, many, mixed].flatMap((each) => each ?? []));
  expect(groups.map((group) => [group.type, isFolded(group), group.reason])).toEqual([
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
  expect(untoldFields(host, new Set(["host", "if_entry"]))).toEqual(["ip_addresses"]);
  expect(untoldFields(host, new Set(["host", "if_entry", "ip_address"]))).toEqual([]);
  const user = planned("Update", "user", "ada", { fields: ["network_ids"] });
  expect(untoldFields(user, new Set(["user"]))).toEqual(["network_ids"]);
});
