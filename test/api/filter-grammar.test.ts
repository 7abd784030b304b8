// Invalid filters, which are rejected with 400 and the position of the error, and randomly mutated and expensive ones,
// which are evaluated or rejected in bounded time.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FILTER_MAX_DEPTH, FILTER_MAX_LENGTH, FILTER_MAX_TERMS } from "../../src/base/filter-limits.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { expectOk, invalid } from "../support/appliance/factories.ts";
import { processorMs } from "../support/measure/processor-time.ts";
import { LISTS, QUERIED_KINDS, type QueriedKind } from "../support/model/filter-dataset.ts";
import { FilterSetup } from "../support/model/filter-setup.ts";
import type { DescribedField } from "../support/model/random-filters.ts";

const SEED = 29;
const ROUNDS = 60;
const MUTATIONS = 1_500;

let fixture: FilterSetup;

beforeAll(async () => {
  fixture = await FilterSetup.open(SEED, 60);
});

afterAll(() => fixture.appliance.close());

function runFilter(kind: QueriedKind, filter: string): Promise<ApiResponse> {
  return fixture.owner.get(`${LISTS[kind]}?${new URLSearchParams({ filter, limit: "5" })}`);
}

async function expectRefusal(
  kind: QueriedKind,
  filter: string,
): Promise<Array<{ message: string; position: number; value: string }>> {
  const response = await runFilter(kind, filter);
  expect([filter, response.status, response.body.code]).toEqual([filter, 400, "validation_failed"]);
  const { issues } = response.body.params;
  expect(issues.length).toBeGreaterThan(0);
  for (const { path, position, message, value } of issues) {
    expect([filter, path]).toEqual([filter, "/filter"]);
    expect(position).toBeInteger();
    expect(position).toBeWithin(0, filter.length + 1);
    expect(message).toMatch(/^(?:must|has|names) /);
    expect(message.length).toBeLessThan(400);
    expect(value.isWellFormed()).toBe(true);
    expect(filter.slice(position)).toStartWith(value.replace(/…$/, ""));
    expect(value.length).toBeLessThan(50);
  }
  return issues;
}

/** A filter without conjunctions. */
function simpleFilter(kind: QueriedKind): string {
  for (;;) {
    const { text, filter: drawn } = fixture.filters.draw(kind, fixture.referenceTime(null));
    if (drawn.type !== "all" && drawn.type !== "any") return text;
  }
}

const anyKind = (): QueriedKind => fixture.random.pick(QUERIED_KINDS);
const anyText = (kind: QueriedKind): string => fixture.filters.draw(kind, fixture.referenceTime(null)).text;
const fieldsOf = (kind: QueriedKind): readonly DescribedField[] => fixture.fields.get(kind) ?? [];

describe("A refused filter", () => {
  test("mixes AND and OR, with the error at the second operator", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const kind = anyKind();
      const [first, second] = fixture.random.pick([
        [" AND ", " OR "],
        [" OR ", " AND "],
        [" OR ", " "],
        [" ", " OR "],
      ]) as [string, string];
      const prefix = `${simpleFilter(kind)}${first}${simpleFilter(kind)}`;
      const [issue] = await expectRefusal(kind, `${prefix}${second}${simpleFilter(kind)}`);
      expect(issue?.message).toBe("must not mix AND and OR without parentheses: write a AND (b OR c)");
      expect(issue?.position).toBe(prefix.length + 1);
    }
  });

  test("has unbalanced parentheses or quotes", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const kind = anyKind();
      const valid = anyText(kind);
      expect(await expectRefusal(kind, `(${valid}`)).toMatchObject([{ position: 0, message: "has an unclosed (" }]);
      expect(await expectRefusal(kind, `${valid})`)).toMatchObject([
        { position: valid.length, message: "has an unmatched )" },
      ]);
      for (const quote of ['"', "'"])
        expect(await expectRefusal(kind, `id = ${quote}${"\\"}${quote}`)).toMatchObject([
          { position: 5, message: `has an unclosed ${quote}` },
        ]);
    }
  });

  test("has an unknown field, with suggestions", async () => {
    let suggested = 0;
    for (let round = 0; round < ROUNDS * 4; round += 1) {
      const kind = anyKind();
      const names = fieldsOf(kind).map(({ name }) => name);
      const name = fixture.random.pick(names.filter((candidate) => candidate.length > 4 && !candidate.includes(".")));
      const index = 1 + fixture.random.integer(name.length - 2);
      const wrong = fixture.random.pick([
        name.slice(0, index) + name.slice(index + 1),
        `${name.slice(0, index)}x${name.slice(index)}`,
        `${name.slice(0, index - 1)}${name[index]}${name[index - 1]}${name.slice(index + 1)}`,
        name.toUpperCase(),
      ]);
      if (names.includes(wrong)) continue;
      const [issue] = await expectRefusal(kind, `${simpleFilter(kind)} AND ${wrong}:*`.slice(-FILTER_MAX_LENGTH));
      const [, suggestion] = /\(did you mean `(.*)`\?\)$/.exec(issue?.message ?? "") ?? [];
      expect([wrong, suggestion, suggestion !== undefined && names.includes(suggestion)]).toEqual([
        wrong,
        suggestion,
        true,
      ]);
      if (suggestion === name) suggested += 1;
    }
    expect(suggested).toBeGreaterThan(ROUNDS * 3);
  });

  test("has a name inherited from Object.prototype", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
      for (const field of [name, `network.${name}`, `tags.${name}`, `source.${name}`, `discovered.${name}`])
        for (const filter of [`${field}:*`, `${field} = 1`]) await expectRefusal("host", filter);
      await expectRefusal("host", `ever(${name}:*, -1d)`);
      await expectRefusal("host", `changes(${name}, -1d) > 1`);
      await expectRefusal("host", `${name}(name, -1d) > 1`);
      expect(await runFilter("host", name)).toMatchObject({ status: 200 });
    }
  });

  test("has a comparator the field does not support", async () => {
    let count = 0;
    for (const kind of QUERIED_KINDS)
      for (const { name, operators, type } of fieldsOf(kind))
        for (const operator of ["=", "!=", "<", "<=", ">", ">=", ":"])
          if (!operators.includes(operator)) {
            const value = type === "instant" ? "now" : "x";
            const [issue] = await expectRefusal(kind, `${name} ${operator} ${value}`);
            expect(issue).toMatchObject({ position: name.length + operator.length + 2 });
            count += 1;
          }
    expect(count).toBeGreaterThan(500);
  });

  const WRONG: Readonly<Record<string, readonly string[]>> = {
    boolean: ["yes", "1", '""', "tru*"],
    enumeration: ["nonesuch", '""', "*"],
    number: ["ten", '""', '"1,5"', "0x10", "1e3", "--1", "*", "NaN", "Infinity"],
    instant: ["yesterday", "2026-02-30", "2026-11", "-1y", "1d", '"2026-11-21T10"', "-", "-99999999d"],
    uuid: ["1", "core-1", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00f", "*"],
    ip_address: ["10.2.3", "010.2.3.4", "10.2.3.256", '"fe80::1%eth0"', "10.2.3.4/24", '":::"'],
    prefix: ["10.2.3.4/24", "10.0.0.0/33", "10.2", '"::/129"', "lan"],
    mac_address: ["0", "zz", "00:1b:21:aa:bb:cg", "00:1b:21:aa:bb:cc:dd"],
  };

  test("has a value the field cannot have", async () => {
    for (const [type, values] of Object.entries(WRONG)) {
      const all = QUERIED_KINDS.flatMap((kind) =>
        fieldsOf(kind).flatMap((field) => (field.type === type ? [{ kind, ...field }] : [])),
      );
      expect([type, all.length > 0]).toEqual([type, true]);
      for (const value of values) {
        const { kind, name, operators } = fixture.random.pick(all);
        const operator = fixture.random.pick(
          operators.filter((operator) => operator !== ":*" && !(operator === ":" && value === "*")),
        );
        const prefix = `id:* AND ${name}${operator} `;
        expect(await expectRefusal(kind, prefix + value)).toMatchObject([{ position: prefix.length }]);
      }
    }
  });

  test("is too long, too deep, or has too many comparisons or references", async () => {
    const deep = (levels: number, open: string, close: string) => `${open.repeat(levels)}name:*${close.repeat(levels)}`;
    for (const [open, close] of [
      ["(", ")"],
      ["NOT ", ""],
      ["NOT (", ")"],
      ["-(", ")"],
    ] as const) {
      const levels = open.includes("(") && open !== "(" ? 2 : 1;
      expect(await runFilter("host", deep(FILTER_MAX_DEPTH / levels, open, close))).toMatchObject({ status: 200 });
      const [issue] = await expectRefusal("host", deep(FILTER_MAX_DEPTH / levels + 1, open, close));
      expect(issue?.message).toBe(`must not be nested more than ${FILTER_MAX_DEPTH} deep`);
    }
    const withTerms = (count: number) => Array.from({ length: count }, () => "name:*").join(" OR ");
    expect(await runFilter("host", withTerms(FILTER_MAX_TERMS))).toMatchObject({ status: 200 });
    expect(await expectRefusal("host", withTerms(FILTER_MAX_TERMS + 1))).toMatchObject([
      { position: FILTER_MAX_TERMS * 10 },
    ]);
    expect(await runFilter("service", "host.ports.host.name:*")).toMatchObject({ status: 200 });
    expect(await expectRefusal("service", "id:* host.ports.host.network.name:*")).toMatchObject([{ position: 5 }]);
    const withLength = (length: number) => `name = ${"x".repeat(length - 7)}`;
    expect(await runFilter("host", withLength(FILTER_MAX_LENGTH))).toMatchObject({ status: 200 });
    expect(await runFilter("host", withLength(FILTER_MAX_LENGTH + 1))).toMatchObject(
      invalid({ path: "/filter", message: `must have at most ${FILTER_MAX_LENGTH} characters` }),
    );
  });

  const MISTAKES: ReadonlyArray<readonly [filter: string, position: number, message: RegExp]> = [
    ["name == a", 6, /^must have a value after =/],
    ["name =~ a", 6, /^must have a value after =/],
    ["name => a", 6, /^must have a value after =/],
    ["name <> a", 6, /^must have a value after </],
    ["name =! a", 6, /^must have a value after =/],
    ["name ~ a", 5, /^has ~ where/],
    ["a && b", 2, /^must write AND;/],
    ["a || b", 2, /^must write OR;/],
    ["name = a | b", 9, /^must write OR;/],
    ["- name = a", 0, /^must write NOT/],
    ["! name = a", 0, /^has a !/],
    ['name = "a"b', 10, /^must have white space after a closing "/],
    ['name = "a""b"', 10, /^must have white space after a closing "/],
    ["name = 'it''s'", 11, /^must have white space after a closing '/],
    ['name = a"b"', 8, /^must quote all of a word/],
    ['core"sw"', 4, /^must quote all of a word/],
    ['"name"=b', 6, /^has a = where/],
    ["name = (a OR b)", 7, /^must have a value after =/],
    ["name = a, b", 8, /^has a ,/],
    ["name = ever(a)", 7, /is a function$/],
    ["ever(was(-1d, name = a), -2d)", 5, /^must not use was/],
    ["ever(name = a, 2099-01-01)", 15, /^must not be after the timestamp/],
    ["ever(last_seen_at:*, -1d)", 5, /^must not use last_seen_at/],
    ["always(network.name = a, -1d)", 7, /belongs to another record$/],
    ["was(-1d, interfaces:*)", 9, /belongs to another record$/],
    ["changes(ports, -1d) > 1", 8, /belongs to another record$/],
    ["changes(source.type, -1d) > 1", 8, /^must count the changes to a whole field/],
    ["changes(name, -1d)", 8, /^must compare the number of changes/],
    ["ever(name = a)", 0, /^must write ever\(/],
    ["ever(name = a, -1d, -2d)", 0, /^must write ever\(/],
  ];
  test.each(MISTAKES)("has a common mistake: %s", async (filter, position, message) => {
    const [issue] = await expectRefusal("host", filter);
    expect(issue).toMatchObject({ position });
    expect(issue?.message).toMatch(message);
  });
});

test("a randomly mutated filter is evaluated, or refused with a position in it", async () => {
  const { random } = fixture;
  const PIECES = [
    "(",
    ")",
    '"',
    "'",
    "\\",
    "*",
    ",",
    "-",
    ":",
    "=",
    "<",
    "!",
    " ",
    "\n",
    "AND",
    "NOT ",
    " OR ",
    "é",
    "😀",
    "\u0301",
  ];
  const counts = { answered: 0, rejected: 0 };
  for (let round = 0; round < MUTATIONS; round += 1) {
    const kind = anyKind();
    let characters = [...anyText(kind)];
    for (let changes = 1 + random.integer(3); changes > 0; changes -= 1) {
      const [from, to] = [random.integer(characters.length + 1), random.integer(characters.length + 1)];
      const rest = characters.slice(from);
      const change = random.integer(5);
      if (change === 0) characters.splice(from, 1 + random.integer(3));
      else if (change === 1) characters.splice(from, 0, random.pick(PIECES));
      else if (change === 2) characters.splice(from, 1, random.pick(PIECES));
      else if (change === 3) characters = characters.slice(0, Math.max(from, 1));
      else characters.splice(to, 0, ...rest.slice(0, random.integer(20)));
    }
    const filter = characters.join("").slice(0, FILTER_MAX_LENGTH).toWellFormed();
    const { status } = await runFilter(kind, filter);
    if (status === 200) counts.answered += 1;
    else {
      await expectRefusal(kind, filter);
      counts.rejected += 1;
    }
  }
  expect(Math.min(counts.answered, counts.rejected)).toBeGreaterThan(MUTATIONS / 10);
});

describe("An expensive filter", () => {
  const fill = (begin: string, repeated: string, end = "") =>
    begin + repeated.repeat(Math.floor((FILTER_MAX_LENGTH - begin.length - end.length) / repeated.length)) + end;
  const HOSTILE: ReadonlyArray<readonly [string, string]> = [
    ["wildcards that almost match", fill('description = "', "*a", '*b"')],
    ["wildcards that almost match a part", fill('description : "', "a*", 'b"')],
    ["wildcards and non-ASCII letters", fill('description = "', "*é", '*b"')],
    ["only wildcards", fill('description : "', "*", '"')],
    ["open parentheses", fill("", "(")],
    ["closed parentheses", fill("", "()")],
    ["minus signs", fill("", "-", "name:*")],
    ["NOT", fill("", "NOT ")],
    ["backslashes", fill('name = "', "\\")],
    ["quotes", fill("", '"')],
    ["dots", fill("name", ".name", ":*")],
    ["a long field name", fill("", "x", ":*")],
    ["a long function name", fill("", "x", "(a, b)")],
    ["a long marker name", fill('was("marker:', "x", '", name:*)')],
    ["arguments", fill("ever(", "a,", "a)")],
    ["words", fill("", "a ")],
    ["a word", fill('"', "a", '"')],
    ["spaces", fill("name:*", " ")],
    ["composing accents", fill('name = "a', "\u0301", '"')],
  ];
  /** For one list of several hosts; a short filter takes a tenth of it. */
  const BOUND_MS = 300;

  beforeAll(async () => {
    for (const letter of ["a", "é"])
      await expectOk(
        fixture.owner.post("hosts", {
          network_id: fixture.history.networks[0],
          name: "long",
          description: letter.repeat(4_000),
        }),
      );
  });

  test.each(HOSTILE)("is evaluated or refused in bounded time: %s", async (_case, filter) => {
    expect(filter.length).toBeGreaterThan(FILTER_MAX_LENGTH - 10);
    let status = 0;
    const elapsed = await processorMs(async () => {
      ({ status } = await runFilter("host", filter));
    });
    expect([200, 400]).toContain(status);
    if (status === 400) await expectRefusal("host", filter);
    expect(elapsed).toBeLessThan(BOUND_MS);
  });

  test.each([
    ["NUL", "name%20=%20a%00b"],
    ["a lone surrogate", "name%20=%20%ED%A0%80"],
    ["invalid UTF-8", "name%20=%20%FF%FE"],
    ["a lone percent sign", "name%20=%20%"],
  ])("is refused if it is not valid Unicode: %s", async (_case, encoded) => {
    expect(await fixture.owner.get(`hosts?filter=${encoded}`)).toMatchObject(invalid({ path: "/filter" }));
  });
});
