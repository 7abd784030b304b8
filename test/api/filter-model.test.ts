// Filters compared with plain code over random histories: matching records, their order and count, at random
// timestamps, for callers with full, partial and single-network reach, in pages, with other parameters and as CSV; also
// over thinned history.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  gainFields,
  openEarlier,
  putUpgradedStore,
  writeEarlierStore,
} from "../support/appliance/earlier-appliance.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import type { DescribedField } from "../support/model/filter-question.ts";
import { type AskedKind, isWithinReach, type Version } from "../support/model/filter-scene.ts";
import { type Asked, type Caller, FilterWorld, idsOf } from "../support/model/filter-world.ts";

const SEEDS = seedsOf(17, 18);
const STEPS = 400;
const QUESTIONS = 700;
const INSTANTS = 14;

const everAsked = new Set<string>();
const fields = new Set<DescribedField>();

describe.each(SEEDS)("over a random history (seed %i)", (seed) => {
  let world: FilterWorld;

  beforeAll(async () => {
    world = await FilterWorld.open(seed, STEPS);
  });

  afterAll(() => world.appliance.close());

  test("covers the relevant cases", () => {
    const { done } = world.history;
    for (const act of ["move a host", "delete a host", "delete an entry", "delete a tag", "restore", "discover"])
      expect([act, (done.get(act) ?? 0) > 3]).toEqual([act, true]);
    expect(world.history.markers.size).toBeGreaterThan(4);
    expect(done.get("change an entry")).toBeGreaterThan(STEPS / 8);
    const all = [...world.versions.values()];
    const [, member] = world.callers as [Caller, Caller];
    /** Ids of records with both matching and other versions. */
    const ofBoth = (isSo: (record: Wire | null, kind: AskedKind) => boolean) =>
      all.filter((versions) => new Set(versions.map(({ record, kind }) => isSo(record, kind))).size === 2).length;
    expect(ofBoth((record, kind) => record !== null && isWithinReach(member, kind, record))).toBeGreaterThan(10);
    expect(ofBoth((record) => record?.description === "")).toBeGreaterThan(3);
    // Deleted and restored under its own id.
    const isDeleted = ({ record }: Version) => record === null;
    expect(all.filter((versions) => versions.slice(0, -1).some(isDeleted)).length).toBeGreaterThan(1);
  });

  test("each filter matches a naive model in order, count and pages", async () => {
    const answers = await askAndCompare(world, QUESTIONS);
    expect(Math.min(answers.some, answers.none, answers.all), JSON.stringify(answers)).toBeGreaterThan(QUESTIONS / 8);
  });

  test("each value is compared as by a naive model, in every notation", async () => {
    const { random, questions, callers, history } = world;
    const instants = [null, random.pick(history.instants), random.pick(history.instants)];
    for (let each = 0; each < QUESTIONS / 2; each += 1) {
      const kind = random.pick(["host", "if_entry", "ip_address", "subnet", "subnet"] as const);
      const asked: Asked = { kind, caller: callers[0] as Caller, at: random.pick(instants), more: {} };
      const question = questions.drawValue(kind, world.until(asked.at));
      const { ids } = await world.answer(asked, question);
      await expectAnswer(world, asked, question.text, ids, undefined);
    }
    for (const each of world.questions.asked.keys()) everAsked.add(each);
    for (const described of world.fields.values()) for (const field of described) fields.add(field);
  });

  test("state from outside the reach stays hidden after a record moves into it", async () => {
    const { random, callers, questions, versions } = world;
    let counted = 0;
    for (let each = 0; each < QUESTIONS / 2; each += 1) {
      const caller = random.pick(callers.slice(1));
      const kind = random.pick(["host", "if_entry", "port", "service"] as const);
      const isOut = ({ record }: Version) => record !== null && !isWithinReach(caller, kind, record);
      const at = random.pick([null, random.pick(world.history.instants)]);
      const asked: Asked = { kind, caller, at, more: {} };
      const question = questions.drawPast(kind, world.until(at));
      const { ids } = await world.answer(asked, question);
      await expectAnswer(world, asked, question.text, ids, undefined);
      const list = await world.answer(asked, { text: "", ask: { is: "all", of: [] } });
      if (list.ids.some((id) => versions.get(id)?.some(isOut))) counted += 1;
    }
    expect(counted).toBeGreaterThan(QUESTIONS / 6);
  });

  test("after thinning to one state a day, filters match a naive model of the kept states", async () => {
    const all = [...world.versions.values()].flat().map(({ from }) => from);
    const before = all.sort((a, b) => a - b)[Math.floor(all.length * 0.7)] as number;
    const count = all.length;
    await world.prune(before);
    expect([...world.versions.values()].flat().length).toBeLessThan(count);
    const answers = await askAndCompare(world, QUESTIONS / 2);
    expect(answers.thinned).toBeGreaterThan(QUESTIONS / 20);
    expect(answers.some).toBeGreaterThan(QUESTIONS / 20);
  });
});

let loseFields = () => {};
afterAll(() => loseFields());

test("over a store written by an earlier version, new fields have their default at every instant", async () => {
  const earlier = await writeEarlierStore();
  const { instants, thinnedBefore, ids } = earlier;
  loseFields = gainFields();
  const { appliance, owner, member } = await openEarlier(earlier, (path) => putUpgradedStore(path, earlier));
  // Partly written by this version.
  const lab = await made(owner.get(`subnets/${ids.lab}`));
  await made(owner.put(`subnets/${ids.lab}`, { ...lab, accepts_credentials: false }));
  const spare = await made(owner.get(`hosts/${ids.spare}`));
  await made(owner.put(`hosts/${ids.spare}`, { ...spare, asset_tag: "NL-1" }));
  const networks = idsOf(await owner.get("networks?limit=0"));
  const reach = new Set(idsOf(await member.get("networks?limit=0")));
  expect(reach.size).toBeLessThan(networks.length);
  const history = { instants: [...instants], networks, markers: new Map(), done: new Map() };
  const world = await FilterWorld.of({ appliance, owner, history, seed: 6 }, [
    { name: "member", client: member, reach },
  ]);
  const ask = (kind: AskedKind, filter: string, at: string | null) =>
    world.list({ kind, caller: world.callers[0] as Caller, at, more: {} }, { filter, limit: 0 }).then(idsOf);
  for (const at of [instants[5] as string, instants[8] as string]) {
    const subnets = await ask("subnet", "id:*", at);
    expect(subnets.length).toBeGreaterThan(2);
    expect(await ask("subnet", "accepts_credentials = true", at)).toEqual(subnets);
    expect(await ask("subnet", `was(${instants[5]}, accepts_credentials = false)`, at)).toEqual([]);
    expect(await ask("host", "asset_tag:*", at)).toEqual([]);
  }
  expect(
    await ask("subnet", `ever(accepts_credentials = true, ${instants[8]}) AND accepts_credentials = false`, null),
  ).toEqual([ids.lab]);
  expect(await ask("host", `changes(asset_tag, ${instants[8]}) = 1 AND asset_tag = nl-1`, null)).toEqual([ids.spare]);
  const whole = await askAndCompare(world, QUESTIONS / 2);
  expect(whole).toMatchObject({ thinned: 0 });
  await world.prune(thinnedBefore);
  expect(await askAndCompare(world, QUESTIONS / 2)).not.toMatchObject({ thinned: 0 });
  await appliance.close();
});

/** Number of answers with none, some or all of the list, and of those that reach into thinned history. */
type Tally = Record<"none" | "some" | "all" | "thinned", number>;

async function askAndCompare(world: FilterWorld, count: number): Promise<Tally> {
  const { random, history } = world;
  const tally: Tally = { none: 0, some: 0, all: 0, thinned: 0 };
  const instants = [null, null, null, ...Array.from({ length: INSTANTS }, () => random.pick(history.instants))];
  for (let each = 0; each < count; each += 1) {
    const asked = await world.draw(instants);
    const question = world.questions.draw(asked.kind, world.until(asked.at));
    const { ids, of } = await world.answer(asked, question);
    const thinnedUntil = world.thinnedUntilOf(question);
    await expectAnswer(world, asked, question.text, ids, thinnedUntil);
    tally[ids.length === 0 ? "none" : ids.length === of ? "all" : "some"] += 1;
    if (thinnedUntil !== undefined) tally.thinned += 1;
  }
  return tally;
}

async function expectAnswer(
  world: FilterWorld,
  asked: Asked,
  filter: string,
  ids: readonly string[],
  thinnedUntil: string | undefined,
): Promise<void> {
  const { random } = world;
  const { kind, caller, at, more } = asked;
  const query = { ...more, filter };
  const [limit, offset] = random.pick([
    [0, 0],
    [50, 0],
    [1, 0],
    [5, 3],
    [1_000, 1],
  ]) as [number, number];
  const said = { kind, caller: caller.name, at, query, limit, offset };
  const answer = await world.list(asked, { ...query, limit, offset });
  const { meta } = answer.body;
  expect<Wire>({
    ...said,
    total: meta.pagination?.total_count,
    thinned: meta.thinned_until,
    ids: idsOf(answer),
  }).toEqual({
    ...said,
    total: ids.length,
    thinned: thinnedUntil,
    ids: limit === 0 ? ids : ids.slice(offset, offset + limit),
  });
  if (random.integer(5) > 0) return;
  const csv = await world.list(asked, query, "/export/csv");
  const rows = csvRecords(csv.text).map(({ id }) => id);
  expect<Wire>({ ...said, rows, thinned: csv.headers.get("x-thinned-until") }).toEqual({
    ...said,
    rows: ids,
    thinned: thinnedUntil ?? null,
  });
}

test("the cases cover each operator of each type, each function, and every number of references", () => {
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
