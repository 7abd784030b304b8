// Filters against plain code over random histories: the records that each one leaves, their order and their number, as
// of random instants, for callers of all, of some and of one network, in pages, beside other parameters and as CSV.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { csvRecords } from "../support/contract/csv.ts";
import type { DescribedField, Question } from "../support/model/filter-question.ts";
import { type AskedKind, isWithinReach } from "../support/model/filter-scene.ts";
import { type Asked, type Caller, FilterWorld, idsOf } from "../support/model/filter-world.ts";

const SEEDS = [17, 18];
const STEPS = 400;
const QUESTIONS = 1_200;
const INSTANTS = 14;

const everAsked = new Set<string>();
const fields = new Set<DescribedField>();

describe.each(SEEDS)("over a random history (seed %i)", (seed) => {
  let world: FilterWorld;

  beforeAll(async () => {
    world = await FilterWorld.open(seed, STEPS);
  });

  afterAll(() => world.appliance.close());

  test("there is what matters", () => {
    const { done } = world.history;
    for (const act of ["move a host", "delete a host", "delete an entry", "delete a tag", "restore", "discover"])
      expect([act, (done.get(act) ?? 0) > 3]).toEqual([act, true]);
    expect(done.get("change an entry")).toBeGreaterThan(STEPS / 8);
    const all = [...world.versions.values()];
    const [, member] = world.callers as [Caller, Caller];
    /** Of how many records some versions are so and others are not. */
    const ofBoth = (isSo: (record: Record<string, unknown> | null, kind: AskedKind) => boolean) =>
      all.filter((versions) => new Set(versions.map(({ record, kind }) => isSo(record, kind))).size === 2).length;
    expect(ofBoth((record, kind) => record !== null && isWithinReach(member, kind, record))).toBeGreaterThan(10);
    // Deleted and restored under its own id.
    expect(
      all.filter((versions) => versions.slice(0, -1).some(({ record }) => record === null)).length,
    ).toBeGreaterThan(1);
    expect(ofBoth((record) => record?.description === "")).toBeGreaterThan(3);
  });

  test("each filter leaves what plain code leaves, in its order, its number and its pages", async () => {
    const { random, history, questions } = world;
    const instants = [null, null, null, ...Array.from({ length: INSTANTS }, () => random.pick(history.instants))];
    const answers = { none: 0, some: 0, all: 0 };
    for (let each = 0; each < QUESTIONS; each += 1) {
      const asked = await world.draw(instants);
      const question = questions.draw(asked.kind, world.until(asked.at));
      const { ids, of } = await world.answer(asked, question);
      await expectAnswer(asked, question, ids);
      answers[ids.length === 0 ? "none" : ids.length === of ? "all" : "some"] += 1;
    }
    expect(Math.min(answers.some, answers.none, answers.all), JSON.stringify(answers)).toBeGreaterThan(QUESTIONS / 8);
    for (const each of questions.asked.keys()) everAsked.add(each);
    for (const described of world.fields.values()) for (const field of described) fields.add(field);
  });

  async function expectAnswer(asked: Asked, { text }: Question, ids: readonly string[]): Promise<void> {
    const { random } = world;
    const { kind, caller, at, more } = asked;
    const query = { ...more, filter: text };
    const said = { kind, caller: caller.name, at, query };
    const [limit, offset] = random.pick([
      [0, 0],
      [50, 0],
      [1, 0],
      [5, 3],
      [1_000, 1],
    ]) as [number, number];
    const answer = await world.list(asked, { ...query, limit, offset });
    const page = limit === 0 ? ids : ids.slice(offset, offset + limit);
    expect({ ...said, limit, offset, total: answer.body.meta.pagination?.total_count, ids: idsOf(answer) }).toEqual({
      ...said,
      limit,
      offset,
      total: ids.length,
      ids: [...page],
    });
    if (random.integer(5) > 0) return;
    const rows = csvRecords((await world.list(asked, query, "/export/csv")).text);
    expect({ ...said, rows: rows.map(({ id }) => id) }).toEqual({ ...said, rows: [...ids] });
  }
});

test("each operator of each type was asked, each function, and every number of references", () => {
  const all = new Set([
    "changes",
    "ever",
    "always",
    "was",
    "words",
    ...[0, 1, 2, 3].map((hops) => `${hops} references`),
  ]);
  for (const { type, operators } of fields)
    if (type !== "record") for (const operator of operators) all.add(`${operator} ${type}`);
  expect(all.size).toBeGreaterThan(50);
  expect([...all].filter((each) => !everAsked.has(each))).toEqual([]);
});
