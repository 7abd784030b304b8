// Transaction list filtered by changes, author and time, compared with a fold over all versions: random history, for
// callers of all networks and of some, and after a prune.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { CHANGE_TYPES } from "../../src/history/change-view.ts";
import { type NarrowingParameters, narrowingOf } from "../../src/history/narrowing.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { type MadeBy, transactions } from "../../src/history/transactions.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { Model } from "../support/model/model.ts";
import { changeRanges } from "../support/model/range-drafts.ts";
import { isTold, type ToldChange, type ToldQuery, toldChanges } from "../support/model/told-changes.ts";
import { PRESENT } from "../support/store/moments.ts";
import { Store, type Wire } from "../support/store/store.ts";

const store = new Store({ seed: 31 });
let reader: Reader;
let model: Model;
let told: ToldChange[];

beforeAll(() => {
  reader = store.reader;
  model = new Model(store, 31);
  for (let each = 0; each < 400; each += 1) {
    model.author = model.random.pick(AUTHORS);
    if (model.random.integer(4) === 0) model.step((draft) => changeRanges(draft, model.random));
    else model.step();
    if (each % 50 === 0) store.clock.at += 86_400_000;
  }
  told = toldChanges(store);
});
afterAll(() => store.close());

const author = (type: Author["type"], id: string | null, name: string, reason?: string): Author => ({
  type,
  id,
  name,
  organizationId: null,
  requestId: null,
  ...(reason === undefined ? {} : { reason }),
});
const AUTHORS = [
  author("User", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", "Ada"),
  author("User", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004", "grace", "CHG-1 Ärger"),
  author("ApiKey", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", "ADA", "chg-2"),
  author("Discovery", null, "netledger"),
];

const idsOf = (type: string) => [...new Set(told.filter((change) => change.type === type).map(({ id }) => id))];

function actorOf(reach: readonly string[] | null): Actor {
  return { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
}

function listed(
  reach: readonly string[] | null,
  input: {
    narrowing: NarrowingParameters;
    madeBy?: MadeBy;
    reason?: string;
    after?: number;
    until?: number;
    direction?: "asc" | "desc";
    limit?: number;
    offset?: number;
  },
): { sequences: number[]; total: number; steps: number } {
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
      narrowing: narrowingOf(reader, actor, narrowing),
      ...(madeBy === undefined ? {} : { madeBy }),
      ...rest,
    }),
  ];
  const { data, meta } = JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  return {
    sequences: data.map((transaction: Wire) => transaction.sequence),
    total: meta.pagination.total_count,
    steps: chunks.length,
  };
}

function expected(
  query: ToldQuery,
  madeBy: MadeBy,
  reason: string | undefined,
  { after = 0, until = Number.POSITIVE_INFINITY }: { after?: number; until?: number },
): number[] {
  // With only a network filter, everything there is visible.
  const isNarrowed = (query.types ?? query.host_id ?? query.subnet_id ?? query.id) !== undefined;
  const named = [query.network_id, query.host_id, query.subnet_id, query.id].filter((id) => id !== undefined);
  const isSeen = (id: string) => told.some((change) => change.id === id && isTold(change, { reach: query.reach }));
  if (!named.every(isSeen)) return [];
  const found = told.filter(
    (change) =>
      (change.isCounted || !isNarrowed) &&
      isTold(change, query) &&
      change.sequence > after &&
      change.sequence <= until &&
      (madeBy.types?.includes(change.actor.type) ?? true) &&
      (madeBy.id === undefined || change.actor.id === madeBy.id) &&
      (reason === undefined || (change.reason ?? "").toLowerCase().includes(reason.toLowerCase())) &&
      (madeBy.name === undefined || change.actor.name.toLowerCase() === madeBy.name.toLowerCase()),
  );
  return [...new Set(found.map(({ sequence }) => sequence))];
}

function compare(times: number): number {
  const { random } = model;
  const networks = idsOf("network");
  let found = 0;
  for (let time = 0; time < times; time += 1) {
    const reach = random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]);
    const maybe = <T>(value: () => T): T | undefined => (random.integer(4) === 0 ? value() : undefined);
    const narrowing = Object.fromEntries(
      Object.entries({
        types: random.integer(3) === 0 ? CHANGE_TYPES.filter(() => random.integer(5) === 0) : undefined,
        network_id: maybe(() => random.pick(networks)),
        host_id: maybe(() => random.pick(idsOf("host"))),
        subnet_id: maybe(() => random.pick(idsOf("subnet"))),
        id: random.integer(8) === 0 ? random.pick(told).id : undefined,
      }).filter(([, value]) => value !== undefined),
    ) as NarrowingParameters;
    const madeBy: MadeBy =
      random.integer(3) > 0
        ? {}
        : random.pick([{ types: ["User", "Discovery"] }, { id: AUTHORS[1]?.id as string }, { name: "aDa" }]);
    const reason = maybe(() => random.pick(["chg", "äRGER", "HG-2"]));
    const head = reader.head().sequence;
    const [after, until] = [random.integer(head), random.integer(head + 1)].sort((a, b) => a - b) as [number, number];
    const range = random.integer(2) === 0 ? {} : { after, until };
    // A filter with an id that the caller never saw matches nothing, like one with an unused id.
    const all = expected({ ...narrowing, reach } as ToldQuery, madeBy, reason, range);
    const direction = random.pick(["asc", "desc"] as const);
    const ordered = direction === "asc" ? all : all.toReversed();
    const input = {
      narrowing,
      ...range,
      direction,
      ...(Object.keys(madeBy).length > 0 ? { madeBy } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
    const whole = listed(reach, input);
    expect({ narrowing, reach, range, madeBy, reason, ...whole }).toMatchObject({
      sequences: ordered,
      total: all.length,
    });
    const [limit, offset] = [1 + random.integer(4), random.integer(all.length + 2)];
    expect(listed(reach, { ...input, limit, offset })).toMatchObject({
      sequences: ordered.slice(offset, offset + limit),
      total: all.length,
    });
    found += all.length;
  }
  return found;
}

describe("narrowed transactions", () => {
  test("have a change matching all filters, in either order, by page, and counted", () => {
    expect(compare(400)).toBeGreaterThan(4_000);
  });

  test("match the remaining versions after a prune", () => {
    const before = told[Math.floor(told.length / 2)]?.at as number;
    expect(pruneHistory(store.db, KINDS, { before, keep: "daily" }, store.clock.now()).dropped).toBeGreaterThan(100);
    // A prune requires that no appliance is running: readers start after it.
    reader = new Reader(store.readDb, store.clock);
    told = toldChanges(store);
    expect(compare(200)).toBeGreaterThan(1_000);
    expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
  });
});
