// Validation issues and secrets: a secret anywhere in a value is not echoed; everything else is.

import { describe, expect, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { parseQuery } from "../../src/http/query.ts";
import { Body, Nullable } from "../../src/schemas/schemas.ts";
import { check } from "../../src/schemas/validation.ts";

const SECRET = "open sesame";

const Pin = Type.String({ maxLength: 4, writeOnly: true });
const Lock = Body({ code: Type.Integer(), hints: Type.Array(Body({ place: Type.Integer() })) }, { secret: true });
const Choice = Type.Union(
  [
    Body({ mode: Type.Literal("Code"), digits: Type.Integer() }),
    Body({ mode: Type.Literal("Word"), letters: Type.String({ maxLength: 3 }) }),
  ],
  { secret: true },
);
const Door = Body({
  colour: Type.String({ maxLength: 5 }),
  pin: Type.Optional(Pin),
  lock: Type.Optional(Lock),
  choice: Type.Optional(Choice),
  spare: Type.Optional(Nullable(Choice)),
  doors: Type.Optional(Type.Array(Body({ pin: Pin, floor: Type.Integer() }))),
});

/** Pointer → echoed value; undefined for none. */
function echoes(schema: TSchema, value: unknown): Record<string, unknown> {
  const checked = check(schema, value);
  return checked.ok ? {} : Object.fromEntries(checked.issues.map((issue) => [issue.path, issue.value]));
}

describe("a validation issue", () => {
  test.each<[string, object, string]>([
    ["a write-only value", { pin: SECRET }, "/pin"],
    ["a field of a secret object", { lock: { code: SECRET, hints: [] } }, "/lock/code"],
    ["a nested field of a secret object", { lock: { code: 1, hints: [{ place: SECRET }] } }, "/lock/hints/0/place"],
    ["an unknown field of a secret object", { lock: { code: 1, hints: [], more: SECRET } }, "/lock/more"],
    ["a value of another type instead of a secret object", { lock: SECRET }, "/lock"],
    ["a field of the intended branch", { choice: { mode: "Code", digits: SECRET } }, "/choice/digits"],
    ["a field of another branch", { choice: { mode: "Word", letters: "abc", digits: SECRET } }, "/choice/digits"],
    ["a value that matches no branch", { choice: SECRET }, "/choice"],
    ["a field of a nullable branch", { spare: { mode: "Word", letters: SECRET } }, "/spare/letters"],
    ["a secret in a list", { doors: [{ pin: SECRET, floor: 1 }] }, "/doors/0/pin"],
    ["an unknown field next to a secret", { doors: [{ pin: "1234", floor: 1, pni: SECRET }] }, "/doors/0/pni"],
    ["an unknown field next to secret fields", { pni: SECRET }, "/pni"],
    ["a value of another type instead of the list", { doors: SECRET }, "/doors"],
  ])("does not echo %s", (_title, fields, path) => {
    const echoed = echoes(Door, { colour: "green", ...fields });
    expect(Object.keys(echoed)).toEqual([path]);
    expect(echoed[path]).toBeUndefined();
  });

  test("echoes a value in its proper position that is not secret", () => {
    const echoed = echoes(Door, { colour: "vermilion", doors: [{ pin: "1234", floor: "first" }] });
    expect(echoed).toEqual({ "/colour": "vermilion", "/doors/0/floor": "first" });
  });

  test("echoes an unknown field unless its name suggests a secret", () => {
    const echoed = echoes(Body({}), { coluor: "green", community: SECRET, apiKey: SECRET });
    expect(echoed).toEqual({ "/coluor": "green", "/community": undefined, "/apiKey": undefined });
  });
});

test("an unknown query parameter is echoed unless its name suggests a secret", () => {
  const { issues } = parseQuery(Type.Object({}), "?colour=green&api_key=open%20sesame");
  expect(issues.map((issue) => issue.value)).toEqual(["green", undefined]);
});
