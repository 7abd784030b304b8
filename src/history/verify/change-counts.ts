// Change counts: rebuild from the ledger's versions, and comparison with them. Holds one sum per scope, however many
// versions there are.

import type { VersionOperation } from "../../db/change-counts.ts";
import type { Sql } from "../../db/connection.ts";
import { OPERATION } from "../../db/kind.ts";
import type { RecordHistory } from "./derived.ts";
import { advance, inSnapshot } from "./ledger-walk.ts";

const STEP_ROWS = 5_000;
/** Maximum rows buffered in memory: the versions of one transaction are mostly adjacent. */
const BUFFERED_MAX = 100_000;
/** Below every scope. */
const LOWEST = Number.MIN_SAFE_INTEGER;
/** Hashes are at most 2^32: this many of them plus a sum stay an exact integer. */
const EXACT_COUNT_MAX = 2 ** 20;
const SUM_MODULUS = 2 ** 52;
const OPERATIONS = Object.keys(OPERATION) as VersionOperation[];

/** Checksum of counts per scope: covers each counted version with its transaction and operation. */
export class ChangeSums {
  private readonly sums = new Map<number, number>();

  add(scope: number, sequence: number, operation: VersionOperation, count: number): void {
    const each = hashOf(sequence * 4 + OPERATION[operation]);
    // Must be exact, or the result would depend on the order.
    const all = count <= EXACT_COUNT_MAX ? count * each : Number((BigInt(count) * BigInt(each)) % BigInt(SUM_MODULUS));
    this.sums.set(scope, ((this.sums.get(scope) ?? 0) + all) % SUM_MODULUS);
  }

  /** Returns and removes the sum of a scope; null if there is none. */
  take(scope: number): number | null {
    const sum = this.sums.get(scope) ?? null;
    this.sums.delete(scope);
    return sum;
  }

  /** Scopes not yet taken. */
  get scopes(): Iterable<number> {
    return this.sums.keys();
  }
}

/** Hash that spreads adjacent numbers: 1 to 2^32. */
function hashOf(value: number): number {
  let hash = (value ^ Math.floor(value / 2 ** 32)) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return ((hash ^ (hash >>> 15)) >>> 0) + 1;
}

/**
 * Compares all rows up to a transaction with the expected sums, in steps.
 * @param onDifference called once per differing scope
 * @returns the number of rows per step
 */
export function* compareChangeCounts(
  db: Sql,
  until: number,
  expected: ChangeSums,
  onDifference: (scope: number, message: string) => void,
): Generator<number> {
  const statement = db.$client.prepare(
    `SELECT scope, sequence, created, updated, deleted FROM history_change_counts
      WHERE (scope, sequence) > (?1, ?2) AND sequence <= ?3 ORDER BY scope, sequence LIMIT ${STEP_ROWS}`,
  );
  const found = new ChangeSums();
  let after: [number, number] = [LOWEST, LOWEST];
  let before: readonly number[] = [0, 0, 0];
  let problem: string | null = null;
  const finish = (scope: number) => {
    const [wanted, actual] = [expected.take(scope), found.take(scope)];
    if (problem !== null || wanted !== actual)
      onDifference(scope, problem ?? "the counts of changes differ from the versions");
    [before, problem] = [[0, 0, 0], null];
  };
  let scope: number | null = null;
  for (let count = STEP_ROWS; count === STEP_ROWS; ) {
    const rows = inSnapshot(db, () => statement.values(...after, until)) as [number, number, ...number[]][];
    for (const [ofScope, sequence, ...counts] of rows) {
      after = advance("history_change_counts", after, [ofScope, sequence]);
      if (scope !== null && scope !== ofScope) finish(scope);
      scope = ofScope;
      const increases = counts.map((each, index) => each - (before[index] as number));
      if (increases.some((each) => each < 0) || increases.every((each) => each === 0))
        problem ??= `the counts of changes are inconsistent at transaction ${sequence}`;
      for (const [index, operation] of OPERATIONS.entries())
        found.add(ofScope, sequence, operation, increases[index] as number);
      before = counts;
    }
    count = rows.length;
    yield count;
  }
  statement.finalize();
  if (scope !== null) finish(scope);
  for (const missing of expected.scopes) onDifference(missing, "the counts of changes are missing");
}

/** Recounts the changes of all records, into an empty table. */
export class ChangeCountsRebuild {
  private readonly db: Sql;
  private buffered = new Map<number, Map<number, [number, number, number]>>();
  private size = 0;

  constructor(db: Sql) {
    this.db = db;
    db.$client.run(
      "CREATE TEMP TABLE change_counts (scope INTEGER, sequence INTEGER, created INTEGER, updated INTEGER, deleted INTEGER)",
    );
  }

  add(life: RecordHistory): void {
    for (const [scope, sequence, operation] of life.counted) {
      let ofScope = this.buffered.get(scope);
      if (ofScope === undefined) this.buffered.set(scope, (ofScope = new Map()));
      let counts = ofScope.get(sequence);
      if (counts === undefined) {
        ofScope.set(sequence, (counts = [0, 0, 0]));
        this.size += 1;
      }
      counts[OPERATIONS.indexOf(operation) as 0 | 1 | 2] += 1;
    }
    if (this.size >= BUFFERED_MAX) this.flush();
  }

  finish(): void {
    this.flush();
    this.db.$client.run(`
      INSERT INTO history_change_counts (scope, sequence, created, updated, deleted)
      SELECT scope, sequence, sum(sum(created)) OVER earlier, sum(sum(updated)) OVER earlier, sum(sum(deleted)) OVER earlier
      FROM temp.change_counts GROUP BY scope, sequence WINDOW earlier AS (PARTITION BY scope ORDER BY sequence)`);
    this.db.$client.run("DROP TABLE temp.change_counts");
  }

  private flush(): void {
    const insert = this.db.$client.prepare("INSERT INTO temp.change_counts VALUES (?, ?, ?, ?, ?)");
    for (const [scope, ofScope] of this.buffered)
      for (const [sequence, counts] of ofScope) insert.run(scope, sequence, ...counts);
    insert.finalize();
    this.buffered = new Map();
    this.size = 0;
  }
}
