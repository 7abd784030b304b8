// Pruned store compared with a model of every state: retained states are unchanged, times in between resolve to the
// last retained state, later history is exact, and everything verifies. Tampering with the prune's records is found.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { formatInstant, type Instant } from "../../src/base/instant.ts";
import type { Sql } from "../../src/db/connection.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { RESOLUTIONS, type Resolution } from "../../src/db/pruned-history.ts";
import type { AsOf } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { planSteps, runPlan } from "../../src/history/prune-plan.ts";
import { rebuildDerived } from "../../src/history/verify/rebuild.ts";
import { describeReport, type Report, verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { Model, type Snapshot } from "../support/model/model.ts";
import { DAY_MS, type JsonRecord, parseItems, Store } from "../support/store/store.ts";
import { runUnguarded, withCopy as withCopyOf } from "../support/store/tampering.ts";

const LISTED: readonly AnyKind[] = [hostKind, portKind, ifEntryKind, tagKind, networkKind, fdbEntryKind];
const HOUR_MS = 3_600_000;

/** A store with some months of history, and its model. */
function storeWithHistory(seed: number, steps: number): { store: Store; model: Model } {
  const store = new Store({ seed });
  const history = { store, model: new Model(store, seed) };
  addHistory(history, steps);
  return history;
}

function addHistory({ store, model }: { store: Store; model: Model }, steps: number): void {
  for (let step = 0; step < steps; step += 1) {
    // Days with many changes, days with none, and occasionally a month of silence.
    const choice = model.random.integer(40);
    if (choice === 0) store.clock.at += model.random.integer(20 * DAY_MS);
    else if (choice < 8) store.clock.at += model.random.integer(DAY_MS);
    else store.clock.at += model.random.integer(HOUR_MS);
    model.step();
  }
  store.clock.at = Math.max(store.clock.at, model.head.at) + HOUR_MS;
}

/** Transactions with complete state after the prunes so far, computed without the store. */
class Expectation {
  /** Resolution by snapshot index; null for complete history. */
  private readonly resolutions: Array<Resolution | null> = [];
  private readonly model: Model;
  /** Time of the first prune. */
  firstAt: Instant | null = null;

  constructor(model: Model) {
    this.model = model;
  }

  prune(before: Instant, keep: Resolution): void {
    // The segment ends with an existing state.
    const last = this.resolved(this.model.snapshots.findLastIndex((snapshot) => snapshot.at < before));
    for (let index = 1; index <= last; index += 1) {
      const known = this.resolutions[index] ?? null;
      this.resolutions[index] = known === null || RESOLUTIONS.indexOf(keep) > RESOLUTIONS.indexOf(known) ? keep : known;
    }
  }

  /** Whether the state after a snapshot's transaction is retained. */
  isRetained(index: number): boolean {
    const resolution = this.resolutions[index] ?? null;
    const next = this.model.snapshots[index + 1];
    if (resolution === null || next === undefined || (this.resolutions[index + 1] ?? null) !== resolution) return true;
    const current = this.model.snapshots[index] as Snapshot;
    const period = resolution === "daily" ? 10 : resolution === "monthly" ? 7 : 0;
    return formatInstant(current.at).slice(0, period) !== formatInstant(next.at).slice(0, period);
  }

  /** Index of the snapshot that another one resolves to. */
  resolved(index: number): number {
    let retained = index;
    while (retained > 0 && !this.isRetained(retained)) retained -= 1;
    return retained;
  }

  /** Expected resolution at a snapshot, null outside thinned segments. */
  resolution(index: number): Resolution | null {
    const resolution = this.resolutions[index] ?? null;
    return resolution === null || (this.resolutions[index + 1] ?? null) !== resolution ? null : resolution;
  }
}

function items(reader: Reader, store: Store, kind: AnyKind, asOf: AsOf | null, search = ""): JsonRecord[] {
  return parseItems(reader.page({ kind, reach: store.reach(), asOf, search, limit: 100_000, offset: 0 }).items);
}

/** Compares lists and searches at every state, and in between. */
function compare(store: Store, model: Model, expected: Expectation): void {
  const reader = new Reader(store.readDb, store.clock);
  const { random } = model;
  for (const [index, snapshot] of model.snapshots.entries()) {
    const next = model.snapshots[index + 1];
    const resolved = model.snapshots[expected.resolved(index)] as Snapshot;
    const resolution = expected.resolution(index);
    for (const at of [snapshot.at, next === undefined ? snapshot.at + 1 : next.at - 1]) {
      const asOf = reader.snapshot(() => reader.resolve(at)) as AsOf;
      expect({ at: formatInstant(at), sequence: asOf.sequence, thinned: asOf.thinned ?? null }).toEqual({
        at: formatInstant(at),
        sequence: resolved.sequence,
        thinned: resolution === null ? null : { resolution, resolvedAt: resolved.sequence === 0 ? null : resolved.at },
      });
      const kind = random.pick(LISTED);
      const search = random.integer(3) === 0 ? model.newSearch(kind) : "";
      const found = items(reader, store, kind, asOf, search).map(withoutLineage);
      const expectedItems = model.list(resolved, { kind, reach: null, search }).map(withoutLineage);
      const query = { at: formatInstant(at), kind: kind.name, search };
      if (!Bun.deepEquals(found, expectedItems, true))
        expect({ ...query, found }).toEqual({ ...query, found: expectedItems });
    }
  }
  for (const kind of LISTED)
    expect(items(reader, store, kind, null).map(withoutLineage)).toEqual(
      model.list(model.head, { kind, reach: null }, true).map(withoutLineage),
    );

  /** Records created after a prune do not know fully dropped incarnations. */
  function withoutLineage(item: JsonRecord): JsonRecord {
    return expected.firstAt !== null && item.created_at > formatInstant(expected.firstAt)
      ? { ...item, lineage_id: undefined }
      : item;
  }
}

function count(store: Store): { versions: number; dropped: number; head: number } {
  return store.rows<ReturnType<typeof count>>(
    `SELECT (SELECT count(*) FROM history_versions) AS versions, (SELECT count(*) FROM history_thinned) AS dropped,
      (SELECT max(sequence) FROM history_transactions) AS head`,
  )[0] as ReturnType<typeof count>;
}

describe.each(seedsOf(1, 2, 3, 5))("a random history, randomly pruned (%i)", (seed) => {
  test("is unchanged where retained, marked where thinned, and verifies", () => {
    const { store, model } = storeWithHistory(seed, 200);
    try {
      const expected = new Expectation(model);
      for (let round = 0; round < 4; round += 1) {
        const before =
          model.random.pick(model.snapshots).at + model.random.integer(2) * model.random.integer(2 * DAY_MS);
        const keep = model.random.pick(RESOLUTIONS);
        const old = count(store);
        const plan = runPlan(planSteps(store.readDb, { before, keep }), () => {});
        expect(count(store)).toEqual(old);
        const { report, ...done } = pruneHistory(store.db, KINDS, { before, keep }, store.clock.now());
        expect(done).toEqual(plan);
        if (report !== null) {
          expected.prune(before, keep);
          model.skip();
          expected.firstAt ??= model.head.at;
          expect(report.head?.sequence).toBe(model.head.sequence);
        }
        store.clock.at += HOUR_MS;
        const [versions, dropped] = [old.versions - done.dropped, old.dropped + done.dropped];
        expect(count(store)).toEqual({ versions, dropped, head: model.head.sequence });
        compare(store, model, expected);
        expect(verifyLedger(store.readDb, KINDS)).toMatchObject({ findings: [], dropped: old.dropped + done.dropped });
        // Writing continues normally.
        addHistory({ store, model }, 30);
      }
      compare(store, model, expected);
      expect(verifyLedger(store.readDb, KINDS).findings).toEqual([]);
      rebuildDerived(store.db, KINDS);
      expect(verifyLedger(store.readDb, KINDS).findings).toEqual([]);
    } finally {
      store.close();
    }
  });
});

/** One store with history, copied for each test. */
let base: { store: Store; model: Model };
/** Two months before its end, in the middle of a day. */
let before: Instant;
let copies = 0;

beforeAll(() => {
  base = storeWithHistory(4, 300);
  before = base.model.head.at - 60 * DAY_MS;
  base.store.writer.checkpoint();
});
afterAll(() => base.store.close());

function withCopy<T>(act: (db: Sql, path: string) => T, source = base.store.path): T {
  copies += 1;
  return withCopyOf(source, join(base.store.directory, `copy${copies}`), act);
}

/** Rows of all tables except those internal to search indexes, and the schema; contentless indexes by their view. */
function dump(db: Sql): string {
  const tables = db.$client
    .query(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'history_search_%'
        AND name NOT LIKE 'history_words%' ORDER BY name`,
    )
    .all() as Array<{ name: string }>;
  const rows = tables.map(({ name }) => JSON.stringify([name, db.$client.query(`SELECT * FROM ${name}`).values()]));
  return [schema(db), ...rows].join("\n\n");
}

function schema(db: Sql): string {
  return JSON.stringify(
    db.$client.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all(),
  );
}

describe("a prune", () => {
  test("does not permanently remove any guard of the ledger", () => {
    withCopy((db) => {
      const guards = schema(db);
      expect(pruneHistory(db, KINDS, { before, keep: "daily" }, base.store.clock.now()).dropped).toBeGreaterThan(50);
      expect(schema(db)).toBe(guards);
      for (const sql of [
        "DELETE FROM history_versions",
        "UPDATE history_versions SET shape = shape",
        "INSERT INTO history_thinned (key, hash) VALUES (1, zeroblob(32))",
        "INSERT OR REPLACE INTO history_thinned SELECT * FROM history_thinned LIMIT 1",
        "UPDATE history_thinned SET hash = hash",
        "DELETE FROM history_thinned",
        "INSERT INTO history_segments SELECT last + 1, last + 1, resolution, pruned_by FROM history_segments",
        "UPDATE history_segments SET resolution = 'none'",
        "DELETE FROM history_segments",
      ])
        expect(() => db.$client.run(sql)).toThrow(/^ledger: /);
    });
  });

  test.each(["records thinned", "records rebuilt", "lineages"])("changes nothing if interrupted (at: %s)", (step) => {
    withCopy((db) => {
      const originalDump = dump(db);
      let hasStarted = false;
      const interrupt = (progress: { step: string }) => {
        hasStarted ||= progress.step === "records thinned";
        if (hasStarted && progress.step === step) throw new Error("power loss");
      };
      expect(() => pruneHistory(db, KINDS, { before, keep: "daily" }, base.store.clock.now(), interrupt)).toThrow(
        "power loss",
      );
      expect(dump(db)).toBe(originalDump);
      expect(verifyLedger(db, KINDS).findings).toEqual([]);
    });
  });

  test("is refused for a damaged ledger, since the damage could no longer be found", () => {
    withCopy((db) => {
      runUnguarded(db, [
        `UPDATE history_versions SET observed = observed || ' ' WHERE key = (SELECT min(key) FROM history_versions
          WHERE operation = 2)`,
      ]);
      expect(() => pruneHistory(db, KINDS, { before, keep: "none" }, base.store.clock.now())).toThrow(
        /^The data is damaged and was not pruned: version: /,
      );
      expect(db.$client.query("SELECT count(*) AS n FROM history_thinned").get()).toEqual({ n: 0 });
    });
  });

  test("is refused for an unguarded ledger", () => {
    withCopy((db) => {
      db.$client.run("DROP TRIGGER history_versions_are_never_changed");
      expect(() => pruneHistory(db, KINDS, { before, keep: "none" }, base.store.clock.now())).toThrow(
        "The data is damaged and was not pruned: schema: trigger history_versions_are_never_changed, on history_versions: is missing. Run netledger verify for all findings.",
      );
    });
  });

  test("writes nothing if there is no older data, or if it is already as coarse", () => {
    withCopy((db) => {
      const now = base.store.clock.now();
      const originalDump = dump(db);
      const counts = { last: 0, states: 0, versions: 0, dropped: 0, droppedBytes: 0, coverage: 0 };
      const unchanged = { segments: [], ...counts, report: null };
      expect(pruneHistory(db, KINDS, { before: 1, keep: "none" }, now)).toEqual(unchanged);
      expect(dump(db)).toBe(originalDump);
      pruneHistory(db, KINDS, { before, keep: "monthly" }, now);
      const monthly = dump(db);
      for (const request of [
        { before, keep: "monthly" },
        { before, keep: "daily" },
        { before: before - 20 * DAY_MS, keep: "daily" },
      ] as const)
        expect(pruneHistory(db, KINDS, request, now)).toMatchObject({ dropped: 0, report: null });
      expect(dump(db)).toBe(monthly);
    });
  });

  test("records itself in the ledger, chained like any other transaction", () => {
    withCopy((db) => {
      const { report, segments, last } = pruneHistory(db, KINDS, { before, keep: "monthly" }, base.store.clock.now());
      const sequence = base.model.head.sequence + 1;
      expect(
        db.$client
          .query(
            `SELECT sequence, organization_id, actor_type, actor_name, source, lower(hex(hash)) AS hash
              FROM history_transactions ORDER BY sequence DESC LIMIT 1`,
          )
          .get(),
      ).toEqual({
        sequence,
        organization_id: null,
        actor_type: "System",
        actor_name: "netledger",
        source: `ledger.prune before=${formatInstant(before)} keep=monthly`,
        hash: report?.head?.hash as string,
      });
      expect(segments).toEqual([{ first: 1, last, resolution: "monthly", prunedBy: sequence }]);
      expect(describeReport(report as Report)).toMatch(
        new RegExp(
          `\nDropped: \\d+ versions, by their hashes\nThinned: transactions 1 to ${last}, up to .*Z: the last state of each month \\(by transaction ${sequence}\\)\nNo problems found\\.\n$`,
        ),
      );
    });
  });
});

describe("tampering after a prune is found", () => {
  let pruned: string;
  let until: number;
  const now = () => base.store.clock.now();

  beforeAll(() => {
    pruned = withCopy((db, path) => {
      pruneHistory(db, KINDS, { before: before - 60 * DAY_MS, keep: "monthly" }, now());
      until = pruneHistory(db, KINDS, { before, keep: "daily" }, now() + 1).last;
      db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return path;
    });
  });

  /** Findings after these statements, as lines. Data derived from the ledger is adjusted to match. */
  function findingsAfter(...statements: string[]): string[] {
    return withCopy((db) => {
      if (runUnguarded(db, statements).includes(0)) throw new Error(`nothing was damaged: ${statements.join("; ")}`);
      try {
        rebuildDerived(db, KINDS);
      } catch {
        // Unreadable after the tampering.
      }
      return verifyLedger(db, KINDS).findings.map(({ check, where, message }) => `${check}: ${where}: ${message}`);
    }, pruned);
  }

  /** Statements of a prune, but in the wrong order. */
  const dropStatements = (key: string) => [
    `INSERT INTO history_thinned (key, hash) SELECT key, hash FROM history_versions WHERE key = (${key})`,
    `DELETE FROM history_versions WHERE key = (${key})`,
  ];
  const thinnedKey = "(SELECT key FROM history_thinned ORDER BY key LIMIT 1 OFFSET 20)";

  test("no finding without tampering", () =>
    expect(findingsAfter("UPDATE observations SET observed = observed")).toEqual([]));

  /** Tests that these statements lead to a finding. */
  const testFinding = (title: string, finding: RegExp, statements: () => readonly string[]) =>
    test(title, () => expect(findingsAfter(...statements())).toContainEqual(expect.stringMatching(finding)));

  testFinding("a changed hash", /^transaction: transaction \d+: its hash does not match/, () => [
    `UPDATE history_thinned SET hash = CAST(x'00' || substr(hash, 2) AS BLOB) WHERE key = ${thinnedKey}`,
  ]);
  testFinding("a deleted hash", /^transaction: transaction \d+: its hash does not match/, () => [
    `DELETE FROM history_thinned WHERE key = ${thinnedKey}`,
  ]);
  testFinding("all hashes deleted", /^transaction: transaction \d+: has no versions$/, () => [
    "DELETE FROM history_thinned",
  ]);
  testFinding("a moved hash", /^transaction: /, () => [
    `UPDATE history_thinned SET key = key + 1 WHERE key = (SELECT key FROM history_thinned t
      WHERE NOT EXISTS (SELECT 1 FROM history_thinned WHERE key = t.key + 1) AND NOT EXISTS (SELECT 1
      FROM history_versions WHERE key = t.key + 1) LIMIT 1)`,
  ]);
  testFinding(
    "a thinned segment with a missing row",
    /^segment: transactions 1 to \d+ \(monthly, by transaction \d+\): was thinned, but has no row in history_segments$/,
    () => ["DELETE FROM history_segments WHERE first = 1"],
  );
  test("a thinned segment with a changed row", () => {
    for (const change of ["resolution = 'daily'", "last = last - 1", "pruned_by = 3"]) {
      const found = findingsAfter(`UPDATE history_segments SET ${change} WHERE first = 1`).join("\n");
      expect(found).toMatch(/^segment: .*: was thinned, but has no row in history_segments$/m);
      expect(found).toMatch(/^segment: .*: has a row in history_segments, but was not thinned by any prune$/m);
    }
  });

  test("a segment that no prune thinned", () => {
    const [first, last, prunedBy] = [until + 1, until + 5, base.model.head.sequence + 1];
    expect(findingsAfter(`INSERT INTO history_segments VALUES (${first}, ${last}, 'daily', ${prunedBy})`)).toEqual([
      `segment: transactions ${first} to ${last} (daily, by transaction ${prunedBy}): has a row in history_segments, but was not thinned by any prune`,
    ]);
  });

  testFinding("a prune with changed parameters", /^transaction: .*: its hash does not match/, () => [
    "UPDATE history_transactions SET source = replace(source, 'daily', 'none') WHERE source LIKE '%daily'",
  ]);
  test("a document dropped outside every prune", () => {
    const found = findingsAfter(
      ...dropStatements(`SELECT min(key) FROM history_versions WHERE operation = 2 AND (key & 2147483647) > ${until}`),
    );
    expect(found).toEqual([expect.stringMatching(/^version: .*: was dropped, but no prune covered it$/)]);
  });

  // One with a successor in thinned history, so that nothing else reveals it.
  testFinding(
    "a document dropped although a kept state needs it",
    /^version: .*: was dropped, but is needed as of transaction \d+, which is retained$/,
    () =>
      dropStatements(
        `SELECT v.key FROM history_versions v WHERE v.operation <> 3 AND EXISTS (SELECT 1 FROM history_versions w
          WHERE w.key > v.key AND w.key < (((v.key >> 31) << 31) | ${until})) LIMIT 1`,
      ),
  );
  testFinding(
    "a dropped deletion after a remaining version",
    /^version: .*: was dropped, but ends the versions left before it$/,
    () =>
      dropStatements(
        `SELECT v.key FROM history_versions v WHERE v.operation = 3 AND (v.key & 2147483647) < ${until}
        AND NOT EXISTS (SELECT 1 FROM history_versions w WHERE w.key > v.key AND w.key >> 31 = v.key >> 31) LIMIT 1`,
      ),
  );
  testFinding("a version both dropped and present", /^version: .*: was dropped, but is still there$/, () => [
    "INSERT INTO history_thinned SELECT key, hash FROM history_versions LIMIT 1",
  ]);
  testFinding("a lone deletion", /^version: .*: only the end of the record is left$/, () =>
    dropStatements(
      `SELECT min(key) FROM history_versions WHERE key >> 31 = (SELECT key >> 31 FROM history_versions
        WHERE operation = 3 GROUP BY key >> 31 HAVING (SELECT count(*) FROM history_versions v
        WHERE v.key >> 31 = history_versions.key >> 31) = 2 LIMIT 1)`,
    ),
  );
});
