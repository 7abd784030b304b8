// Sort parameters of lists, as passed to the store.

import { expect, test } from "bun:test";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { orderTerms } from "../../src/resources/ordering.ts";

const fieldsOf = (query: Parameters<typeof orderTerms>[0]) =>
  orderTerms(query, hostKind).map(({ field, direction }) => `${field} ${direction}`);

test("a list by created_at is in page order, including ties within groups", () => {
  expect(fieldsOf({})).toEqual([]);
  expect(fieldsOf({ order_by: "created_at" })).toEqual([]);
  expect(fieldsOf({ order_by: "created_at", order_direction: "asc" })).toEqual([]);
  expect(fieldsOf({ group_by: "created_at" })).toEqual([]);
  expect(fieldsOf({ group_by: "name", order_by: "created_at" })).toEqual(["name asc"]);
});

test("any other order is separate", () => {
  expect(fieldsOf({ order_by: "created_at", order_direction: "desc" })).toEqual(["created_at desc"]);
  expect(fieldsOf({ group_by: "created_at", order_by: "name" })).toEqual(["created_at asc", "name asc"]);
  expect(fieldsOf({ group_by: "name", order_by: "created_at", order_direction: "desc" })).toEqual([
    "name asc",
    "created_at desc",
  ]);
  expect(fieldsOf({ order_by: "name" })).toEqual(["name asc"]);
});
