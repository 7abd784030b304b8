// Transaction list filtered by changes, author and time, compared with a fold over all versions: random history, for
// callers with access to all or some networks, including after a prune.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { CHANGE_TYPES } from "../../src/history/change-view.ts";
import { type NarrowingParameters, resolveNarrowing } from "../../src/history/narrowing.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { type AuthorFilter, transactions } from "../../src/history/transactions.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import {
  type ChangeQuery,
  type ExpectedChange,
  expectedChanges,
  matchesQuery,
} from "../support/model/expected-changes.ts";
import { Model } from "../support/model/model.ts";
import { changeRanges } from "../support/model/range-drafts.ts";
import { PRESENT } from "../support/store/moments.ts";
import { type JsonRecord, Store } from "../support/store/store.ts";

const store = new Store({ seed: 31 });
let reader: Reader;
let model: Model;
let allChanges: ExpectedChange[];

beforeAll(() => {
  reader = store.reader;
  model = new Model(store, 31);
  for (let step = 0; step < 400; step += 1) {
    model.author = model.random.pick(AUTHORS);
    if (model.random.integer(4) === 0) model.step((draft) => changeRanges(draft, model.random));
    else model.step();
    if (step % 50 === 0) store.clock.at += 86_400_000;
  }
  allChanges = expectedChanges(store);
});
afterAll(() => store.close());

const COMMON = { organizationId: null, requestId: null };
const AUTHORS: readonly Author[] = [
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada", ...COMMON },
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004", name: "grace", reason: "CHG-1 Ärger", ...COMMON },
  { type: "ApiKey", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", name: "ADA", reason: "chg-2", ...COMMON },
  { type: "Discovery", id: null, name: "netledger", ...COMMON },
];

const idsOf = (type: string) => [...new Set(allChanges.filter((change) => change.type === type).map(({ id }) => id))];

function actorOf(reach: readonly string[] | null): Actor {
  return { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
}

function listTransactions(
  reach: readonly string[] | null,
  input: {
    narrowing: NarrowingParameters;
    madeBy?: AuthorFilter;
    reason?: string;
    after?: number;
    until?: number;
    direction?: "asc" | "desc";
    limit?: number;
    offset?: number;
  },
): { sequences: number[]; total: number } {
  const actor = actorOf(reach);
  const { narrowing, madeBy, ...rest } = input;
  const chunks = [
    ...transactions(reader, {
      actor,
      after: 0,
      until: reader.head().sequence,
      limit: 0,
      offset: 0,
      moment: PRESENT,
      narrowing: resolveNarrowing(reader, actor, narrowing),
      ...(madeBy === undefined ? {} : { madeBy }),
      ...rest,
    }),
  ];
  const { data, meta } = JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  const sequences = data.map((transaction: JsonRecord) => transaction.sequence);
  return { sequences, total: meta.pagination.total_count };
}

function expected(
  query: ChangeQuery,
  madeBy: AuthorFilter,
  reason: string | undefined,
  { after = 0, until = Number.POSITIVE_INFINITY }: { after?: number; until?: number },
): number[] {
  // With only a network filter, everything there is visible.
  const isNarrowed = (query.types ?? query.host_id ?? query.subnet_id ?? query.id) !== undefined;
  const scopeIds = [query.network_id, query.host_id, query.subnet_id, query.id].filter((id) => id !== undefined);
  const { reach } = query;
  const isVisible = (id: string) => allChanges.some((change) => change.id === id && matchesQuery(change, { reach }));
  if (!scopeIds.every(isVisible)) return [];
  const found = allChanges.filter(
    (change) =>
      (change.isCounted || !isNarrowed) &&
      matchesQuery(change, query) &&
      change.sequence > after &&
      change.sequence <= until &&
      (madeBy.types?.includes(change.actor.type) ?? true) &&
      (madeBy.id === undefined || change.actor.id === madeBy.id) &&
      (reason === undefined || (change.reason ?? "").toLowerCase().includes(reason.toLowerCase())) &&
      (madeBy.name === undefined || change.actor.name.toLowerCase() === madeBy.name.toLowerCase()),
  );
  return [...new Set(found.map(({ sequence }) => sequence))];
}

function compare(rounds: number): number {
  const { random } = model;
  const networks = idsOf("network");
  let found = 0;
  for (let round = 0; round < rounds; round += 1) {
    const reach = random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]);
    const sometimes = <T>(value: () => T): T | undefined => (random.integer(4) === 0 ? value() : undefined);
    const narrowing = Object.fromEntries(
      Object.entries({
        types: random.integer(3) === 0 ? CHANGE_TYPES.filter(() => random.integer(5) === 0) : undefined,
        network_id: sometimes(() => random.pick(networks)),
        host_id: sometimes(() => random.pick(idsOf("host"))),
        subnet_id: sometimes(() => random.pick(idsOf("subnet"))),
        id: random.integer(8) === 0 ? random.pick(allChanges).id : undefined,
      }).filter(([, value]) => value !== undefined),
    ) as NarrowingParameters;
    const madeBy: AuthorFilter =
      random.integer(3) > 0
        ? {}
        : random.pick([{ types: ["User", "Discovery"] }, { id: AUTHORS[1]?.id as string }, { name: "aDa" }]);
    const reason = sometimes(() => random.pick(["chg", "äRGER", "HG-2"]));
    const head = reader.head().sequence;
    const [after, until] = [random.integer(head), random.integer(head + 1)].sort((a, b) => a - b) as [number, number];
    const range = random.integer(2) === 0 ? {} : { after, until };
    // A filter with an id never visible to the caller matches nothing, like one with an unused id.
    const all = expected({ ...narrowing, reach } as ChangeQuery, madeBy, reason, range);
    const direction = random.pick(["asc", "desc"] as const);
    const ordered = direction === "asc" ? all : all.toReversed();
    const input = {
      narrowing,
      ...range,
      direction,
      ...(Object.keys(madeBy).length > 0 ? { madeBy } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
    const complete = listTransactions(reach, input);
    const total = all.length;
    expect({ ...input, reach, ...complete }).toMatchObject({ sequences: ordered, total });
    const [limit, offset] = [1 + random.integer(4), random.integer(total + 2)];
    const page = listTransactions(reach, { ...input, limit, offset });
    expect(page).toEqual({ sequences: ordered.slice(offset, offset + limit), total });
    found += total;
  }
  return found;
}

describe("narrowed transactions", () => {
  test("have a change matching all filters, in either order, by page, and counted", () => {
    expect(compare(400)).toBeGreaterThan(4_000);
  });

  test("match the remaining versions after a prune", () => {
    const before = allChanges[Math.floor(allChanges.length / 2)]?.at as number;
    expect(pruneHistory(store.db, KINDS, { before, keep: "daily" }, store.clock.now()).dropped).toBeGreaterThan(100);
    // A prune requires that no appliance is running: readers start after it.
    reader = new Reader(store.readDb, store.clock);
    allChanges = expectedChanges(store);
    expect(compare(200)).toBeGreaterThan(1_000);
    expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
  });
});
