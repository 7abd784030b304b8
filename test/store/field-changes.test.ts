// Counts of the changes of an indexed field, compared with a count of all versions: periods one after another, in steps
// of any size.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ChangesIndex } from "../../src/db/kind.ts";
import { FieldChanges } from "../../src/db/reading/field-changes.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { countSteps } from "../support/store/counted-steps.ts";
import { hostFields, ifEntryFields, Store } from "../support/store/store.ts";

const PORTS = 40;
const INDEX = ifEntryKind.changesIndex as ChangesIndex;
const store = new Store({ seed: 52 });
const { random, reader } = store;
afterAll(() => store.close());

beforeAll(() => {
  const host = store.create(hostKind, hostFields(store.networkId, "switch"));
  const ids = Array.from({ length: PORTS }, (_, index) => store.create(ifEntryKind, ifEntryFields(host, index + 1)).id);
  for (let round = 0; round < 300; round += 1)
    store.write((tx) => {
      // Sometimes all ports in one transaction, sometimes a change of another field.
      for (const id of random.integer(20) === 0 ? ids : [random.pick(ids), random.pick(ids.slice(0, 3))]) {
        const { oper_status } = tx.get(ifEntryKind, id);
        if (random.integer(4) === 0) tx.update(ifEntryKind, id, { if_alias: `port ${round}` });
        else tx.update(ifEntryKind, id, { oper_status: oper_status === "Up" ? "Down" : "Up" });
      }
    });
});

interface Period {
  readonly after: number;
  readonly until: number;
}

/** Counts by record number, of records with any. */
function countsOf(changes: FieldChanges, period: Period) {
  const { result, steps } = countSteps(changes.counts(INDEX, period));
  const numbers = result.numbers(() => true).sort((left, right) => left - right);
  return { counts: numbers.map((n) => [n, result.of(n)]), steps };
}

function referenceCounts({ after, until }: Period): number[][] {
  return store.db.$client
    .query(
      `SELECT v.key >> 31, count(*) FROM history_versions v NOT INDEXED, json_each(v.changed) j
        WHERE j.value = 'oper_status' AND v.key & 2147483647 > ? AND v.key & 2147483647 <= ? GROUP BY 1 ORDER BY 1`,
    )
    .values(after, until) as number[][];
}

const changesIn = (stepChanges?: number) => new FieldChanges(reader, () => reader.thinnedHistory.until, stepChanges);

test("consecutive periods are counted as if each were the first", () => {
  const head = reader.head().sequence;
  let adjusted = 0;
  for (const stepChanges of [undefined, 20]) {
    const changes = changesIn(stepChanges);
    for (let start = 0; start < 10; start += 1) {
      let after = random.integer(head / 2);
      let until = after + random.integer(head / 2);
      for (let step = 0; step < 20; step += 1) {
        // Usually forward by a little; sometimes beyond the existing history, or back.
        const [afterShift, untilShift] = [random.integer(30), random.integer(30)];
        after = Math.max(0, Math.min(head, after + (random.integer(10) === 0 ? -afterShift : afterShift)));
        until = Math.max(after, Math.min(head, until + (random.integer(10) === 0 ? -untilShift : untilShift)));
        const { counts, steps } = countsOf(changes, { after, until });
        expect({ after, until, counts }).toEqual({ after, until, counts: referenceCounts({ after, until }) });
        if (steps === 0) adjusted += 1;
      }
    }
  }
  expect(adjusted).toBeGreaterThan(100);
});

test("changes are counted once each, in steps of any size, even within one transaction", () => {
  const period = { after: 100, until: reader.head().sequence };
  const expected = referenceCounts(period);
  for (const stepChanges of [1, 2, 5, 1_000]) {
    const { counts, steps } = countsOf(changesIn(stepChanges), period);
    expect({ stepChanges, counts }).toEqual({ stepChanges, counts: expected });
    const total = counts.reduce((sum, [, count]) => sum + (count ?? 0), 0);
    expect(steps).toBeGreaterThanOrEqual(total / stepChanges);
  }
});
