// Pruned store compared with the model that keeps everything: retained states are unchanged, times between answer with
// the last retained state, later history is exact, and everything verifies. Tampering with the prune's records is
// found.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { formatInstant, type Instant } from "../../src/base/instant.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { RESOLUTIONS, type Resolution } from "../../src/db/pruned-history.ts";
import type { AsOf } from "../../src/db/reading/list-query.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { planned, planSteps } from "../../src/history/prune-plan.ts";
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
import { DAY_MS, Store, type Wire } from "../support/store/store.ts";
import { unguarded } from "../support/store/unguarded.ts";

const LISTED: readonly AnyKind[] = [hostKind, portKind, ifEntryKind, tagKind, networkKind, fdbEntryKind];
const HOUR_MS = 3_600_000;

/** A store with some months of history, and its model. */
function grown(seed: number, steps: number): { store: Store; model: Model } {
  const store = new Store({ seed });
  const model = new Model(store, seed);
  grow({ store, model }, steps);
  return { store, model };
}

function grow({ store, model }: { store: Store; model: Model }, steps: number): void {
  for (let each = 0; each < steps; each += 1) {
    // Days with many changes, days with none, and occasionally a month of silence.
    const dice = model.random.integer(40);
    if (dice === 0) store.clock.at += model.random.integer(20 * DAY_MS);
    else if (dice < 8) store.clock.at += model.random.integer(DAY_MS);
    else store.clock.at += model.random.integer(HOUR_MS);
    model.step();
  }
  store.clock.at = Math.max(store.clock.at, model.head.at) + HOUR_MS;
}

/** Transactions with complete state after the prunes so far, computed without the store. */
class Expectation {
  /** Resolution by snapshot index; null for complete history. */
  private readonly resolutions: Array<Resolution | null>;
  private readonly model: Model;
  /** Time of the first prune. */
  firstAt: Instant | null = null;

  constructor(model: Model) {
    this.model = model;
    this.resolutions = [];
  }

  prune(before: Instant, keep: Resolution): void {
    // The segment ends with an existing state.
    const last = this.answering(this.model.snapshots.findLastIndex((snapshot) => snapshot.at < before));
    for (let place = 1; place <= last; place += 1) {
      const known = this.resolutions[place] ?? null;
      this.resolutions[place] = known === null || RESOLUTIONS.indexOf(keep) > RESOLUTIONS.indexOf(known) ? keep : known;
    }
  }

  /** Whether the state after a snapshot's transaction is retained. */
  isKept(place: number): boolean {
    const resolution = this.resolutions[place] ?? null;
    const next = this.model.snapshots[place + 1];
    if (resolution === null || next === undefined || (this.resolutions[place + 1] ?? null) !== resolution) return true;
    const own = this.model.snapshots[place] as Snapshot;
    const period = resolution === "daily" ? 10 : resolution === "monthly" ? 7 : 0;
    return formatInstant(own.at).slice(0, period) !== formatInstant(next.at).slice(0, period);
  }

  /** Index of the snapshot that answers for another one. */
  answering(place: number): number {
    let kept = place;
    while (kept > 0 && !this.isKept(kept)) kept -= 1;
    return kept;
  }

  /** Expected resolution of an answer, null outside thinned segments. */
  resolution(place: number): Resolution | null {
    const resolution = this.resolutions[place] ?? null;
    return resolution === null || (this.resolutions[place + 1] ?? null) !== resolution ? null : resolution;
  }
}

function items(reader: Reader, store: Store, kind: AnyKind, asOf: AsOf | null, search = ""): Wire[] {
  const page = reader.page({ kind, reach: store.reach(), asOf, search, limit: 100_000, offset: 0 });
  return JSON.parse(`[${new TextDecoder().decode(page.items)}]`) as Wire[];
}

/** Compares lists and searches at every state, and in between. */
function compare(store: Store, model: Model, expected: Expectation): void {
  const reader = new Reader(store.readDb, store.clock);
  const { random } = model;
  for (const [place, snapshot] of model.snapshots.entries()) {
    const next = model.snapshots[place + 1];
    const answering = model.snapshots[expected.answering(place)] as Snapshot;
    const resolution = expected.resolution(place);
    for (const at of [snapshot.at, next === undefined ? snapshot.at + 1 : next.at - 1]) {
      const asOf = reader.snapshot(() => reader.resolve(at)) as AsOf;
      expect({ at: formatInstant(at), sequence: asOf.sequence, thinned: asOf.thinned ?? null }).toEqual({
        at: formatInstant(at),
        sequence: answering.sequence,
        thinned:
          resolution === null ? null : { resolution, resolvedAt: answering.sequence === 0 ? null : answering.at },
      });
      const kind = random.pick(LISTED);
      const search = random.integer(3) === 0 ? model.newSearch(kind) : "";
      const found = items(reader, store, kind, asOf, search).map(withoutLineage);
      const wanted = model.list(answering, { kind, reach: null, search }).map(withoutLineage);
      if (!Bun.deepEquals(found, wanted, true))
        expect({ at: formatInstant(at), kind: kind.name, search, found }).toEqual({
          at: formatInstant(at),
          kind: kind.name,
          search,
          found: wanted,
        });
    }
  }
  for (const kind of LISTED)
    expect(items(reader, store, kind, null).map(withoutLineage)).toEqual(
      model.list(model.head, { kind, reach: null }, true).map(withoutLineage),
    );

  /** Records created after a prune do not know fully dropped incarnations. */
  function withoutLineage(item: Wire): Wire {
    return expected.firstAt !== null && item.created_at > formatInstant(expected.firstAt)
      ? { ...item, lineage_id: undefined }
      : item;
  }
}

const COUNTS = `SELECT (SELECT count(*) FROM history_versions) AS versions, (SELECT count(*)
  FROM history_thinned) AS dropped,
    (SELECT max(sequence) FROM history_transactions) AS head`;

function count(store: Store): { versions: number; dropped: number; head: number } {
  return store.rows<ReturnType<typeof count>>(COUNTS)[0] as ReturnType<typeof count>;
}

describe.each(seedsOf(1, 2, 3, 5))("a random history, randomly pruned (%i)", (seed) => {
  test("is unchanged where kept, marked where thinned, and verifies", () => {
    const { store, model } = grown(seed, 200);
    try {
      const expected = new Expectation(model);
      for (let round = 0; round < 4; round += 1) {
        const before =
          model.random.pick(model.snapshots).at + model.random.integer(2) * model.random.integer(2 * DAY_MS);
        const keep = model.random.pick(RESOLUTIONS);
        const old = count(store);
        const plan = planned(planSteps(store.readDb, { before, keep }), () => {});
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
        expect(count(store)).toEqual({
          versions: old.versions - done.dropped,
          dropped: old.dropped + done.dropped,
          head: model.head.sequence,
        });
        compare(store, model, expected);
        expect(verifyLedger(store.readDb, KINDS)).toMatchObject({ findings: [], dropped: old.dropped + done.dropped });
        // Writing continues normally.
        grow({ store, model }, 30);
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

/** One grown store, copied for each test. */
let base: { store: Store; model: Model };
/** Two months before its end, in the middle of a day. */
let before: Instant;
let copies = 0;

beforeAll(() => {
  base = grown(4, 300);
  before = base.model.head.at - 60 * DAY_MS;
  base.store.writer.checkpoint();
});
afterAll(() => base.store.close());

function withCopy<T>(act: (db: Sql, path: string) => T): T {
  copies += 1;
  const directory = join(base.store.directory, `copy${copies}`);
  mkdirSync(directory);
  const path = join(directory, "netledger.db");
  copyFileSync(base.store.path, path);
  const db = openWritable(path);
  db.$client.run("PRAGMA synchronous = OFF");
  try {
    return act(db, path);
  } finally {
    db.$client.close();
  }
}

/** Rows of all tables except those internal to search indexes, and the schema; contentless indexes by their view. */
function dump(db: Sql): string {
  const tables = db.$client
    .query(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'history_search_%'
        AND name NOT LIKE 'history_words%' ORDER BY name`,
    )
    .all() as Array<{ name: string }>;
  const rows = tables.map(
    ({ name }) =>
      `${name}\n${db.$client
        .query(`SELECT * FROM ${name}`)
        .values()
        .map((row) => JSON.stringify(row))
        .join("\n")}`,
  );
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

  test.each(["records thinned", "records rebuilt", "lineages"])(
    "that is interrupted (at: %s) has changed nothing",
    (step) => {
      withCopy((db) => {
        const whole = dump(db);
        let isBegun = false;
        const cutOff = (progress: { step: string }) => {
          isBegun ||= progress.step === "records thinned";
          if (isBegun && progress.step === step) throw new Error("the plug was pulled");
        };
        expect(() => pruneHistory(db, KINDS, { before, keep: "daily" }, base.store.clock.now(), cutOff)).toThrow(
          "the plug was pulled",
        );
        expect(dump(db)).toBe(whole);
        expect(verifyLedger(db, KINDS).findings).toEqual([]);
      });
    },
  );

  test("of a damaged ledger is refused, since the damage could no longer be found", () => {
    withCopy((db) => {
      unguarded(db, [
        `UPDATE history_versions SET observed = observed || ' ' WHERE key = (SELECT min(key) FROM history_versions
          WHERE operation = 2)`,
      ]);
      expect(() => pruneHistory(db, KINDS, { before, keep: "none" }, base.store.clock.now())).toThrow(
        /^The data are damaged and were not pruned: version: /,
      );
      expect(db.$client.query("SELECT count(*) AS n FROM history_thinned").get()).toEqual({ n: 0 });
    });
  });

  test("of an unguarded ledger is refused", () => {
    withCopy((db) => {
      db.$client.run("DROP TRIGGER history_versions_are_never_changed");
      expect(() => pruneHistory(db, KINDS, { before, keep: "none" }, base.store.clock.now())).toThrow(
        "The data are damaged and were not pruned: schema: trigger history_versions_are_never_changed, on history_versions: is missing. Run netledger verify for all findings.",
      );
    });
  });

  test("older than all data, or coarse enough already, writes nothing", () => {
    withCopy((db) => {
      const now = base.store.clock.now();
      const whole = dump(db);
      expect(pruneHistory(db, KINDS, { before: 1, keep: "none" }, now)).toEqual({
        segments: [],
        last: 0,
        states: 0,
        versions: 0,
        dropped: 0,
        droppedBytes: 0,
        coverage: 0,
        report: null,
      });
      expect(dump(db)).toBe(whole);
      pruneHistory(db, KINDS, { before, keep: "monthly" }, now);
      const monthly = dump(db);
      for (const order of [
        { before, keep: "monthly" },
        { before, keep: "daily" },
        { before: before - 20 * DAY_MS, keep: "daily" },
      ] as const)
        expect(pruneHistory(db, KINDS, order, now)).toMatchObject({ dropped: 0, report: null });
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
          `\nDropped: \\d+ versions, by their hashes\nThinned: transactions 1 to ${last}, up to .*Z: the last state of each month \\(by transaction ${sequence}\\)\nSound\\.\n$`,
        ),
      );
    });
  });
});

describe("tampering after a prune is found:", () => {
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
  function damaged(...statements: string[]): string[] {
    const path = `${pruned}-${(copies += 1)}`;
    copyFileSync(pruned, path);
    const db = openWritable(path);
    try {
      db.$client.run("PRAGMA foreign_keys = OFF");
      if (unguarded(db, statements).includes(0)) throw new Error(`nothing was damaged: ${statements.join("; ")}`);
      try {
        rebuildDerived(db, KINDS);
      } catch {
        // Unreadable now.
      }
      return verifyLedger(db, KINDS).findings.map(
        (finding) => `${finding.check}: ${finding.where}: ${finding.message}`,
      );
    } finally {
      db.$client.close();
    }
  }

  /** As a prune would, but in the wrong order. */
  const dropping = (key: string) => [
    `INSERT INTO history_thinned (key, hash) SELECT key, hash FROM history_versions WHERE key = (${key})`,
    `DELETE FROM history_versions WHERE key = (${key})`,
  ];
  const oneThinned = "(SELECT key FROM history_thinned ORDER BY key LIMIT 1 OFFSET 20)";

  test("not without tampering", () => expect(damaged("UPDATE observations SET observed = observed")).toEqual([]));

  /** A test that these statements lead to a finding. */
  const found = (what: string, finding: RegExp, statements: () => readonly string[]) =>
    test(what, () => expect(damaged(...statements())).toContainEqual(expect.stringMatching(finding)));

  test("a changed or deleted hash", () => {
    expect(
      damaged(`UPDATE history_thinned SET hash = CAST(x'00' || substr(hash, 2) AS BLOB) WHERE key = ${oneThinned}`),
    ).toContainEqual(expect.stringMatching(/^transaction: transaction \d+: its hash does not match/));
    expect(damaged(`DELETE FROM history_thinned WHERE key = ${oneThinned}`)).toContainEqual(
      expect.stringMatching(/^transaction: transaction \d+: its hash does not match/),
    );
    expect(damaged("DELETE FROM history_thinned")).toContainEqual(
      expect.stringMatching(/^transaction: transaction \d+: has no versions$/),
    );
  });

  found("a moved hash", /^transaction: /, () => [
    `UPDATE history_thinned SET key = key + 1 WHERE key = (SELECT key FROM history_thinned t
      WHERE NOT EXISTS (SELECT 1 FROM history_thinned WHERE key = t.key + 1) AND NOT EXISTS (SELECT 1
      FROM history_versions WHERE key = t.key + 1) LIMIT 1)`,
  ]);
  test("a thinned stretch whose record is missing or changed", () => {
    expect(damaged("DELETE FROM history_segments WHERE first = 1")).toContainEqual(
      expect.stringMatching(
        /^segment: transactions 1 to \d+ \(monthly, by transaction \d+\): was thinned, but no row of history_segments says so$/,
      ),
    );
    for (const change of ["resolution = 'daily'", "last = last - 1", "pruned_by = 3"]) {
      const found = damaged(`UPDATE history_segments SET ${change} WHERE first = 1`);
      expect(found).toContainEqual(
        expect.stringMatching(/^segment: .*: was thinned, but no row of history_segments says so$/),
      );
      expect(found).toContainEqual(
        expect.stringMatching(
          /^segment: .*: a row of history_segments says that it was thinned, but no prune did that$/,
        ),
      );
    }
  });

  test("a stretch that no prune thinned", () => {
    expect(
      damaged(
        `INSERT INTO history_segments VALUES (${until + 1}, ${until + 5}, 'daily', ${base.model.head.sequence + 1})`,
      ),
    ).toEqual([
      `segment: transactions ${until + 1} to ${until + 5} (daily, by transaction ${base.model.head.sequence + 1}): a row of history_segments says that it was thinned, but no prune did that`,
    ]);
  });

  found("a prune with changed parameters", /^transaction: .*: its hash does not match/, () => [
    "UPDATE history_transactions SET source = replace(source, 'daily', 'none') WHERE source LIKE '%daily'",
  ]);
  test("a document dropped outside every prune", () => {
    const found = damaged(
      ...dropping(`SELECT min(key) FROM history_versions WHERE operation = 2 AND (key & 2147483647) > ${until}`),
    );
    expect(found).toEqual([expect.stringMatching(/^version: .*: was dropped, but no prune covered it$/)]);
  });

  // One with a successor in thinned history, so that nothing else reveals it.
  found(
    "a document dropped although a kept state needs it",
    /^version: .*: was dropped, but is needed as of transaction \d+, which is kept$/,
    () =>
      dropping(
        `SELECT v.key FROM history_versions v WHERE v.operation <> 3 AND EXISTS (SELECT 1 FROM history_versions w
          WHERE w.key > v.key AND w.key < (((v.key >> 31) << 31) | ${until})) LIMIT 1`,
      ),
  );
  found(
    "a dropped end of a remaining version",
    /^version: .*: was dropped, but ends the versions left before it$/,
    () =>
      dropping(
        `SELECT v.key FROM history_versions v WHERE v.operation = 3 AND (v.key & 2147483647) < ${until}
        AND NOT EXISTS (SELECT 1 FROM history_versions w WHERE w.key > v.key AND w.key >> 31 = v.key >> 31) LIMIT 1`,
      ),
  );
  found("a version both dropped and present", /^version: .*: was dropped, but is still there$/, () => [
    "INSERT INTO history_thinned SELECT key, hash FROM history_versions LIMIT 1",
  ]);
  found("a lone end", /^version: .*: only the end of the record is left$/, () =>
    dropping(
      `SELECT min(key) FROM history_versions WHERE key >> 31 = (SELECT key >> 31 FROM history_versions
        WHERE operation = 3 GROUP BY key >> 31 HAVING (SELECT count(*) FROM history_versions v
        WHERE v.key >> 31 = history_versions.key >> 31) = 2 LIMIT 1)`,
    ),
  );
});
