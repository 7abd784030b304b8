// Validating values against their schema: removed fields, canonical forms, and an unmodified input.

import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Body, MacText, Nullable, Uuid } from "../../src/schemas/schemas.ts";
import { check } from "../../src/schemas/validation.ts";
import { processorMs } from "../support/measure/processor-time.ts";

const Port = Body(
  { mac: Type.Optional(Nullable(MacText)), ids: Type.Optional(Type.Array(Uuid)) },
  { ignored: ["created_at"] },
);
const Device = Body({ name: Type.String(), ports: Type.Array(Port) }, { ignored: ["created_at", "updated_at"] });

const ID = "01936f2e-0d5c-7d3a-9a39-00000000beef";

describe("a validated value", () => {
  test("is returned without read-only fields, in canonical form, at any depth", () => {
    const sent = {
      name: "a",
      created_at: "x",
      ports: [
        { mac: "00-1B-21-AA-BB-CC", created_at: 1 },
        { mac: null, ids: [ID.toUpperCase(), ID] },
        { created_at: "y" },
      ],
    };
    const before = structuredClone(sent);
    expect(check(Device, sent)).toEqual({
      ok: true,
      value: { name: "a", ports: [{ mac: "00:1b:21:aa:bb:cc" }, { mac: null, ids: [ID, ID] }, {}] },
    });
    expect(sent).toEqual(before);
  });

  test("is returned as the same object if unchanged", () => {
    const sent = { name: "a", ports: [{ mac: "00:1b:21:aa:bb:cc", ids: [ID] }] };
    const checked = check(Device, sent);
    expect(checked.ok && checked.value).toBe(sent);
  });

  test("is refused for an own field named __proto__, like any unknown one", () => {
    const issues = [{ path: "/__proto__", message: "is not a known field" }];
    for (const field of ["", `"created_at":1,`]) {
      const sent = JSON.parse(`{"name":"a","ports":[],${field}"__proto__":{}}`);
      expect(check(Device, sent)).toMatchObject({ ok: false, issues });
    }
  });

  test("is refused for each invalid string, by its pointer", () => {
    const checked = check(Device, { name: "\ud800", ports: [{}, { mac: "a\0" }], "a/b": "\0" });
    const paths = ["/name", "/ports/1/mac", "/a~1b", "/a~1b", "/ports/1/mac"];
    expect(checked.ok ? [] : checked.issues.map(({ path }) => path)).toEqual(paths);
  });

  test("is rejected, if it has a union type, for its own type's limit, and otherwise with all alternatives", () => {
    const Value = Type.Union([
      Type.String({ maxLength: 3, format: "name" }),
      Type.Integer({ minimum: 1, maximum: 9 }),
      Type.Array(Uuid, { maxItems: 1 }),
      Type.Boolean(),
    ]);
    const Holder = Body({ value: Type.Optional(Value) });
    for (const [value, message] of [
      ["abcd", "must have at most 3 characters"],
      [" ", "must not be blank or contain control characters"],
      [10, "must be from 1 to 9"],
      [[ID, ID], "must have at most 1 items"],
      [1.5, "must be a string, an integer, an array, true or false"],
      [null, "must be a string, an integer, an array, true or false"],
      [{}, "must be a string, an integer, an array, true or false"],
    ] as const)
      expect(check(Holder, { value })).toMatchObject({ ok: false, issues: [{ path: "/value", message }] });
    expect(check(Holder, { value: ["x"] })).toMatchObject({ ok: false, issues: [{ path: "/value/0" }] });
    // Three characters of two code units each count as three.
    expect(check(Holder, { value: "𝟙𝟚𝟛" })).toEqual({ ok: true, value: { value: "𝟙𝟚𝟛" } });
    for (const value of ["abc", 9, [ID], false])
      expect(check(Holder, { value })).toEqual({ ok: true, value: { value } });
  });

  test("is refused with as many issues as requested", () => {
    const sent = { name: "a", ports: Array.from({ length: 1_000 }, () => ({ mac: 5 })) };
    for (const [limit, count] of [
      [undefined, 200],
      [3, 3],
      [10_000, 1_000],
    ] as const) {
      const checked = check(Device, sent, "", limit);
      expect(!checked.ok && checked.issues.length).toBe(count);
    }
  });
});

test("an invalid string is searched for only once, at any depth", async () => {
  const measure = (depth: number) => {
    let value: unknown = [...Array.from({ length: 200_000 }, () => 1), "\u0000"];
    for (let level = 0; level < depth; level += 1) value = [value];
    const issues = [{ path: `${"/0".repeat(depth)}/200000` }];
    return processorMs(() => expect(check(Type.Unknown(), value)).toMatchObject({ ok: false, issues }));
  };
  await measure(1);
  // Sixty levels take no measurable time; restarting at each would take sixty times as long.
  expect((await measure(60)) / (await measure(1))).toBeLessThan(20);
});
