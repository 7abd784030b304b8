// Filters compared with a naive model over random histories: matching records, their order and count, at random
// timestamps, for callers with full, partial and single-network access, in pages, with other parameters and as CSV;
// including thinned history.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  addLaterFields,
  openEarlier,
  putUpgradedStore,
  writeEarlierStore,
} from "../support/appliance/earlier-appliance.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { isWithinReach, type QueriedKind, type Version } from "../support/model/filter-dataset.ts";
import { type Caller, FilterSetup, idsOf, type ListRequest } from "../support/model/filter-setup.ts";
import type { DescribedField } from "../support/model/random-filters.ts";

const SEEDS = seedsOf(17, 18);
const STEP_COUNT = 400;
const FILTER_COUNT = 700;
const INSTANT_COUNT = 14;

const coveredFeatures = new Set<string>();
const fields = new Set<DescribedField>();

describe.each(SEEDS)("a random history (seed %i)", (seed) => {
  let fixture: FilterSetup;

  beforeAll(async () => {
    fixture = await FilterSetup.open(seed, STEP_COUNT);
  });

  afterAll(() => fixture.appliance.close());

  test("covers the relevant cases", () => {
    const { done } = fixture.history;
    for (const act of ["move a host", "delete a host", "delete an entry", "delete a tag", "restore", "discover"])
      expect([act, (done.get(act) ?? 0) > 3]).toEqual([act, true]);
    expect(fixture.history.markers.size).toBeGreaterThan(4);
    expect(done.get("change an entry")).toBeGreaterThan(STEP_COUNT / 8);
    const all = [...fixture.versions.values()];
    const [, member] = fixture.callers as [Caller, Caller];
    /** Ids of records with both matching and other versions. */
    const countMixed = (matches: (record: JsonRecord | null, kind: QueriedKind) => boolean) =>
      all.filter((versions) => new Set(versions.map(({ record, kind }) => matches(record, kind))).size === 2).length;
    expect(countMixed((record, kind) => record !== null && isWithinReach(member, kind, record))).toBeGreaterThan(10);
    expect(countMixed((record) => record?.description === "")).toBeGreaterThan(3);
    // Deleted and restored under its own id.
    const isDeleted = ({ record }: Version) => record === null;
    expect(all.filter((versions) => versions.slice(0, -1).some(isDeleted)).length).toBeGreaterThan(1);
  });

  test("each filter matches a naive model in order, count and pages", async () => {
    const tally = await compareRandomFilters(fixture, FILTER_COUNT);
    expect(Math.min(tally.some, tally.none, tally.all), JSON.stringify(tally)).toBeGreaterThan(FILTER_COUNT / 8);
  });

  test("each comparison matches a naive model, in every notation", async () => {
    const { random, filters: questions, callers, history } = fixture;
    const instants = [null, random.pick(history.instants), random.pick(history.instants)];
    for (let count = 0; count < FILTER_COUNT / 2; count += 1) {
      const kind = random.pick(["host", "if_entry", "ip_address", "subnet", "subnet"] as const);
      const request: ListRequest = { kind, caller: callers[0] as Caller, at: random.pick(instants), parameters: {} };
      const filter = questions.drawValue(kind, fixture.referenceTime(request.at));
      const { ids } = await fixture.evaluate(request, filter);
      await expectMatches(fixture, request, filter.text, ids, undefined);
    }
    for (const feature of fixture.filters.drawnCounts.keys()) coveredFeatures.add(feature);
    for (const described of fixture.fields.values()) for (const field of described) fields.add(field);
  });

  test("state from outside the caller's reach stays hidden after a record moves into it", async () => {
    const { random, callers, filters: questions, versions } = fixture;
    let withHiddenPast = 0;
    for (let count = 0; count < FILTER_COUNT / 2; count += 1) {
      const caller = random.pick(callers.slice(1));
      const kind = random.pick(["host", "if_entry", "port", "service"] as const);
      const isOut = ({ record }: Version) => record !== null && !isWithinReach(caller, kind, record);
      const at = random.pick([null, random.pick(fixture.history.instants)]);
      const request: ListRequest = { kind, caller, at, parameters: {} };
      const filter = questions.drawHistory(kind, fixture.referenceTime(at));
      const { ids } = await fixture.evaluate(request, filter);
      await expectMatches(fixture, request, filter.text, ids, undefined);
      const list = await fixture.evaluate(request, { text: "", filter: { type: "all", nested: [] } });
      if (list.ids.some((id) => versions.get(id)?.some(isOut))) withHiddenPast += 1;
    }
    expect(withHiddenPast).toBeGreaterThan(FILTER_COUNT / 6);
  });

  test("after thinning to one state a day, filters match a naive model of the kept states", async () => {
    const all = [...fixture.versions.values()].flat().map(({ from }) => from);
    const before = all.sort((a, b) => a - b)[Math.floor(all.length * 0.7)] as number;
    const count = all.length;
    await fixture.prune(before);
    expect([...fixture.versions.values()].flat().length).toBeLessThan(count);
    const tally = await compareRandomFilters(fixture, FILTER_COUNT / 2);
    expect(tally.thinned).toBeGreaterThan(FILTER_COUNT / 20);
    expect(tally.some).toBeGreaterThan(FILTER_COUNT / 20);
  });
});

let restoreFields = () => {};
afterAll(() => restoreFields());

test("over a store written by an earlier version, new fields have their default at every timestamp", async () => {
  const earlier = await writeEarlierStore();
  const { instants, thinnedBefore, ids } = earlier;
  restoreFields = addLaterFields();
  const { appliance, owner, member } = await openEarlier(earlier, (path) => putUpgradedStore(path, earlier));
  // Partly written by this version.
  const lab = await expectOk(owner.get(`subnets/${ids.lab}`));
  await expectOk(owner.put(`subnets/${ids.lab}`, { ...lab, accepts_credentials: false }));
  const spare = await expectOk(owner.get(`hosts/${ids.spare}`));
  await expectOk(owner.put(`hosts/${ids.spare}`, { ...spare, asset_tag: "NL-1" }));
  const networks = idsOf(await owner.get("networks?limit=0"));
  const reach = new Set(idsOf(await member.get("networks?limit=0")));
  expect(reach.size).toBeLessThan(networks.length);
  const history = { instants: [...instants], networks, markers: new Map(), done: new Map() };
  const fixture = await FilterSetup.of({ appliance, owner, history, seed: 6 }, [
    { name: "member", client: member, reach },
  ]);
  const listIds = (kind: QueriedKind, filter: string, at: string | null) =>
    fixture.list({ kind, caller: fixture.callers[0] as Caller, at, parameters: {} }, { filter, limit: 0 }).then(idsOf);
  for (const at of [instants[5] as string, instants[8] as string]) {
    const subnets = await listIds("subnet", "id:*", at);
    expect(subnets.length).toBeGreaterThan(2);
    expect(await listIds("subnet", "accepts_credentials = true", at)).toEqual(subnets);
    expect(await listIds("subnet", `was(${instants[5]}, accepts_credentials = false)`, at)).toEqual([]);
    expect(await listIds("host", "asset_tag:*", at)).toEqual([]);
  }
  expect(
    await listIds("subnet", `ever(accepts_credentials = true, ${instants[8]}) AND accepts_credentials = false`, null),
  ).toEqual([ids.lab]);
  const changedOnce = `changes(asset_tag, ${instants[8]}) = 1 AND asset_tag = nl-1`;
  expect(await listIds("host", changedOnce, null)).toEqual([ids.spare]);
  const tally = await compareRandomFilters(fixture, FILTER_COUNT / 2);
  expect(tally).toMatchObject({ thinned: 0 });
  await fixture.prune(thinnedBefore);
  expect(await compareRandomFilters(fixture, FILTER_COUNT / 2)).not.toMatchObject({ thinned: 0 });
  await appliance.close();
});

/** Number of results with none, some or all of the list, and of those that reach into thinned history. */
type Tally = Record<"none" | "some" | "all" | "thinned", number>;

async function compareRandomFilters(fixture: FilterSetup, count: number): Promise<Tally> {
  const { random, history } = fixture;
  const tally: Tally = { none: 0, some: 0, all: 0, thinned: 0 };
  const instants = [null, null, null, ...Array.from({ length: INSTANT_COUNT }, () => random.pick(history.instants))];
  for (let done = 0; done < count; done += 1) {
    const request = await fixture.draw(instants);
    const filter = fixture.filters.draw(request.kind, fixture.referenceTime(request.at));
    const { ids, unfilteredCount } = await fixture.evaluate(request, filter);
    const thinnedUntil = fixture.prunedUntilOf(filter);
    await expectMatches(fixture, request, filter.text, ids, thinnedUntil);
    tally[ids.length === 0 ? "none" : ids.length === unfilteredCount ? "all" : "some"] += 1;
    if (thinnedUntil !== undefined) tally.thinned += 1;
  }
  return tally;
}

async function expectMatches(
  fixture: FilterSetup,
  request: ListRequest,
  filter: string,
  ids: readonly string[],
  thinnedUntil: string | undefined,
): Promise<void> {
  const { random } = fixture;
  const { kind, caller, at, parameters: more } = request;
  const query = { ...more, filter };
  const [limit, offset] = random.pick([
    [0, 0],
    [50, 0],
    [1, 0],
    [5, 3],
    [1_000, 1],
  ]) as [number, number];
  const context = { kind, caller: caller.name, at, query, limit, offset };
  const response = await fixture.list(request, { ...query, limit, offset });
  const { meta } = response.body;
  expect<JsonRecord>({
    ...context,
    total: meta.pagination?.total_count,
    thinned: meta.thinned_until,
    ids: idsOf(response),
  }).toEqual({
    ...context,
    total: ids.length,
    thinned: thinnedUntil,
    ids: limit === 0 ? ids : ids.slice(offset, offset + limit),
  });
  if (random.integer(5) > 0) return;
  const csv = await fixture.list(request, query, "/export/csv");
  const rows = csvRecords(csv.text).map(({ id }) => id);
  expect<JsonRecord>({ ...context, rows, thinned: csv.headers.get("x-thinned-until") }).toEqual({
    ...context,
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
  expect([...all].filter((feature) => !coveredFeatures.has(feature))).toEqual([]);
});
