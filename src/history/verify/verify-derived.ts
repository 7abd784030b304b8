// Derived data checks against the ledger: spans, census, activity, search, lineages, live rows and links. Safe while an
// appliance is running: rechecks a difference against the current state before reporting it.

import { getTableName } from "drizzle-orm";
import { openScratch, type Sql } from "../../db/connection.ts";
import { type AnyKind, OPERATION, parseMembers } from "../../db/kind.ts";
import { ALIVE, BLOCK_BITS } from "../../db/schema.ts";
import { exactTerm } from "../../db/search-text.ts";
import { membersSql, sortKeysSql } from "../../db/shape.ts";
import { CensusComparison } from "./census.ts";
import { ChangeSums, compareChangeCounts } from "./change-counts.ts";
import type { Derivation, RecordHistory } from "./derived.ts";
import { type Findings, whereRecord } from "./findings.ts";
import { sumIndex, WordSums, wordsOf } from "./index-words.ts";
import { advance, inSnapshot, type LedgerVersion, STEP_ROWS } from "./ledger-walk.ts";
import type { LedgerEnd, VerificationInput } from "./verify-ledger.ts";

const SPAN_STEP_ROWS = 5_000;
/** Below every key. */
const LOWEST = Number.MIN_SAFE_INTEGER;

/** Key of a record's current newest version. */
const NEWEST = "SELECT max(key) FROM history_versions WHERE key > (l.n << 31) AND key <= ((l.n << 31) | 2147483647)";

const SPANS_OF = "SELECT scope, born, died FROM history_spans WHERE scope = ?1 AND n = ?2 AND born <= ?3";
const TEXT_OF = "SELECT owner_n, text FROM history_search_texts WHERE key = ((?1 << 31) | ?2)";
const FOUND_TEXT = "SELECT 1 FROM history_search WHERE history_search MATCH ?1 AND rowid = ((?2 << 31) | ?3)";
const NEWEST_NOW = `SELECT v.key & 2147483647, v.operation FROM (SELECT ?1 AS n) l
  JOIN history_versions v ON v.key = (${NEWEST})`;

/** Blocks per step: up to 1,024 live spans each. */
const BLOCK_STEP_ROWS = 32;
/** Records per step when looking for organizations and networks. */
const RECORD_STEP_ROWS = 20_000;
/** Container kinds with blocks: organization and network. */
const HAS_BLOCKS = "kind IN (1, 2)";

/** Blocks, and whether each matches its spans: one statement, so one snapshot. */
const CHECKED_BLOCKS = `
  SELECT b.scope, b.block, EXISTS (SELECT 1 FROM history_records WHERE n = b.scope >> 6 AND ${HAS_BLOCKS}) AND (
    SELECT count(*) > 0 AND count(*) FILTER (WHERE s.died = ${ALIVE}) = b.alive
      AND coalesce(max(s.died) FILTER (WHERE s.died < ${ALIVE}), 0) = b.died
    FROM history_spans s WHERE s.scope = b.scope AND s.n >= b.block << ${BLOCK_BITS}
      AND s.n < (b.block + 1) << ${BLOCK_BITS})
  FROM (SELECT * FROM history_span_blocks WHERE (scope, block) > (?1, ?2)
    ORDER BY scope, block LIMIT ${BLOCK_STEP_ROWS}) b`;
/** The next block with spans of a container, of any kind, and whether it has a row. */
const NEXT_BLOCK = `
  SELECT s.scope, s.n >> ${BLOCK_BITS}, EXISTS (SELECT 1 FROM history_span_blocks b
    WHERE b.scope = s.scope AND b.block = s.n >> ${BLOCK_BITS})
  FROM history_spans s WHERE (s.scope, s.n) >= (?1, (?2 + 1) << ${BLOCK_BITS}) AND s.scope < ?3
    ORDER BY s.scope, s.n LIMIT 1`;

type SpanRow = [scope: number, n: number, born: number, died: number, kind: number | null, id: string | null];

interface Statement {
  values(...values: Array<string | number>): unknown[][];
}

/** Comparisons of one verification. Run the methods in order: later ones use the counts of earlier ones. */
export class DerivedVerification {
  private readonly db: Sql;
  private readonly kinds: readonly AnyKind[];
  private readonly until: LedgerEnd;
  private readonly findings: Findings;
  private readonly derivation: Derivation;
  private readonly scratch = openScratch(
    "CREATE TABLE scratch.ends (kind INTEGER, identity TEXT, lineage_id TEXT, sequence INTEGER, n INTEGER); CREATE TABLE scratch.activity (scope INTEGER, sequence INTEGER, PRIMARY KEY (scope, sequence)) WITHOUT ROWID",
  );
  private readonly insertActivity = this.scratch.prepare("INSERT OR IGNORE INTO activity VALUES (?, ?)");
  private readonly insertEnd = this.scratch.prepare("INSERT INTO ends VALUES (?, ?, ?, ?, ?)");
  private readonly changeSums = new ChangeSums();
  private textsFound = 0;
  /** Words of the stored text. */
  private readonly words = new WordSums();
  /** Word-index entries implied by the ledger. */
  private readonly ledgerWords = new WordSums();
  private spansFound = 0;
  private spansCounted = 0;

  constructor({ db, kinds, until, findings, derivation }: VerificationInput<readonly AnyKind[]>) {
    this.db = db;
    this.kinds = kinds;
    this.until = until;
    this.findings = findings;
    this.derivation = derivation;
  }

  /** Checks a complete record history: spans, live row, and records of its deletion. */
  history(history: RecordHistory): void {
    const where = whereRecord(history.kind.name, history.id, history.n);
    this.spans(history, where);
    this.texts(history, where);
    for (const { sequence, entries } of history.words)
      for (const entry of wordsOf(entries)) this.ledgerWords.add(entry, history.n, sequence);
    for (const [scope, sequence] of history.activity) this.insertActivity.run(scope, sequence);
    for (const [scope, sequence, operation] of history.counted)
      if (sequence <= this.until.sequence) this.changeSums.add(scope, sequence, operation, 1);
    for (const { identity, lineageId, sequence } of history.ends)
      this.insertEnd.run(history.kind.code, identity, lineageId, sequence, history.n);
    if (history.newest.operation === OPERATION.Deleted) return;
    const isLive =
      this.prepare(`SELECT 1 FROM ${getTableName(history.kind.table)} WHERE n = ?`).values(history.n).length > 0;
    if (!isLive && this.prepare(NEWEST_NOW).values(history.n)[0]?.[1] !== OPERATION.Deleted)
      this.findings.add("live", where, "it is alive in the ledger, but has no live row");
  }

  /** Checks every live row, kind by kind. */
  *liveRows(): Generator<number> {
    for (const kind of this.kinds) {
      const table = getTableName(kind.table);
      const rows = this.db.$client.prepare(`
        SELECT l.*, r.kind AS "r.kind", r.id AS "r.id", o.n AS "o.n", v.key & 2147483647 AS "v.sequence", v.operation
          AS "v.operation",
               v.composed AS "v.composed", ${sortKeysSql(kind, "v")} AS "v.sort_keys", ${membersSql(kind, "v")} AS
                 "v.members"
        FROM (SELECT * FROM ${table} WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT ${STEP_ROWS}) l
        LEFT JOIN history_records r ON r.n = l.n
        LEFT JOIN observations o ON o.n = l.n
        LEFT JOIN history_versions v ON v.key = (${NEWEST})
        ORDER BY l.n`);
      let after = -1;
      for (let count = STEP_ROWS; count === STEP_ROWS; ) {
        count = inSnapshot(this.db, () => {
          const step = rows.all(after, this.until.lastN) as LiveRow[];
          for (const row of step) {
            const where = whereRecord(kind.name, row["r.id"], row.n);
            this.findings.guard("live", where, () => this.liveRow(kind, row, where));
          }
          const last = step.at(-1);
          if (last !== undefined) [after] = advance(table, [after], [last.n]);
          return step.length;
        });
        yield count;
      }
      rows.finalize();
    }
  }

  /** Finds links and observations of records that are not alive. */
  *leftovers(): Generator<number> {
    for (const [check, table] of [
      ["link", "live_links"],
      ["observation", "observations"],
    ] as const) {
      const statement = this.prepare(`
        SELECT l.n, r.id, v.operation FROM (SELECT DISTINCT n FROM ${table}
          WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT ${STEP_ROWS}) l
        LEFT JOIN history_records r ON r.n = l.n LEFT JOIN history_versions v ON v.key = (${NEWEST}) ORDER BY l.n`);
      let after = -1;
      for (let count = STEP_ROWS; count === STEP_ROWS; ) {
        const rows = statement.values(after, this.until.lastN) as Array<[number, string | null, number | null]>;
        for (const [n, id, operation] of rows) {
          if (operation === null || operation === OPERATION.Deleted)
            this.findings.add(check, whereRecord("record", id, n), `has ${check}s and is not alive`);
        }
        const last = rows.at(-1);
        if (last !== undefined) [after] = advance(table, [after], [last[0]]);
        count = rows.length;
        yield count;
      }
    }
  }

  /** Compares the census with the spans, which are checked against the ledger; also counts the spans. */
  *census(): Generator<number> {
    const { sequence: until } = this.until;
    const spans = this.prepare(
      `SELECT scope, n, born, died FROM history_spans WHERE (scope, n, born) > (?1, ?2, ?3)
        ORDER BY scope, n, born LIMIT ${SPAN_STEP_ROWS}`,
    );
    const census = new CensusComparison(this.db, until, (scope, sequence, expected, actual) =>
      this.findings.add(
        "census",
        `${whereScope(scope)}, transaction ${sequence}`,
        `counts ${actual ?? "nothing new"}, but the spans give ${expected ?? "nothing new"}`,
      ),
    );
    let after: [number, number, number] = [LOWEST, LOWEST, LOWEST];
    for (let count = SPAN_STEP_ROWS; count === SPAN_STEP_ROWS; ) {
      const rows = spans.values(...after) as Array<[number, number, number, number]>;
      for (const [scope, , born, died] of rows) {
        if (born > until) continue;
        this.spansCounted += 1;
        census.span(scope, born, died);
      }
      const last = rows.at(-1);
      if (last !== undefined) after = advance("history_spans", after, [last[0], last[1], last[2]]);
      count = rows.length;
      yield count;
    }
    yield* census.rest();
  }

  /**
   * Finds spans without a record history. Compares counts first, and searches only if there is a surplus. Run after the
   * census, which counts them.
   */
  *surplusSpans(): Generator<number> {
    const { sequence } = this.until;
    let surplus = this.spansCounted - this.spansFound;
    const step = this.prepare(
      `SELECT s.scope, s.n, s.born, s.died, r.kind, r.id FROM history_spans s LEFT JOIN history_records r ON r.n = s.n
       WHERE (s.scope, s.n, s.born) > (?1, ?2, ?3) AND s.born <= ?4 ORDER BY s.scope, s.n, s.born LIMIT ${STEP_ROWS}`,
    );
    let after: [number, number, number] = [LOWEST, LOWEST, LOWEST];
    while (surplus > 0) {
      const rows = step.values(...after, sequence) as SpanRow[];
      for (const [scope, n, born, died, kindCode, id] of rows) {
        after = advance("history_spans", after, [scope, n, born]);
        const kind = this.kinds.find((each) => each.code === kindCode);
        const history = kind === undefined || id === null ? null : this.replay(kind, id, n);
        // A span with a counterpart was already counted, or reported as wrong.
        const spans = history === null ? [] : this.derivation.spans(history);
        if (spans.some((span) => span.scope === scope && span.born === born)) continue;
        const message = `has a span in ${whereScope(scope)} from transaction ${born} to ${whereEnd(died)}, but was not in it then`;
        this.findings.add("span", whereRecord(kind?.name ?? "record", id, n), message);
        surplus -= 1;
      }
      if (rows.length === 0) break;
      yield rows.length;
    }
  }

  /** Compares blocks with spans: first existing blocks, then missing ones. */
  *spanBlocks(): Generator<number> {
    const add = (scope: number, block: number, message: string) =>
      this.findings.add("span", `${whereScope(scope)}, block ${block}`, message);
    let after: [number, number] = [LOWEST, LOWEST];
    for (let count = BLOCK_STEP_ROWS; count === BLOCK_STEP_ROWS; ) {
      const rows = this.prepare(CHECKED_BLOCKS).values(...after) as Array<[number, number, number]>;
      for (const [scope, block, isRight] of rows) {
        after = advance("history_span_blocks", after, [scope, block]);
        if (isRight === 0) add(scope, block, "has entries without spans");
      }
      count = rows.length;
      yield count;
    }
    for (let first = 1; first <= this.until.lastN; first += RECORD_STEP_ROWS) {
      const next = Math.min(first + RECORD_STEP_ROWS, this.until.lastN + 1);
      const sql = `SELECT n FROM history_records WHERE n >= ?1 AND n < ?2 AND ${HAS_BLOCKS}`;
      const containers = this.prepare(sql).values(first, next) as Array<[number]>;
      for (const [n] of containers) this.missingBlocks(n, add);
      yield 0;
    }
  }

  /** Steps from block to block: one seek each, however many spans a block has. */
  private missingBlocks(containerN: number, add: (scope: number, block: number, message: string) => void): void {
    let [scope, block] = [containerN * 64, -1];
    for (;;) {
      const [next] = this.prepare(NEXT_BLOCK).values(scope, block, (containerN + 1) * 64) as [number, number, number][];
      if (next === undefined) return;
      [scope, block] = [next[0], next[1]];
      if (next[2] === 0) add(scope, block, "lacks entries of the spans");
    }
  }

  /** Compares activity rows: both sides in the same order, row by row. */
  *activity(): Generator<number> {
    const expected = this.scratch.prepare(
      "SELECT scope, sequence FROM activity WHERE (scope, sequence) > (?1, ?2) ORDER BY scope, sequence LIMIT ?3",
    ) as unknown as Statement;
    const actual = this.prepare(
      `SELECT scope, sequence, ordinal FROM history_activity WHERE (scope, sequence) > (?1, ?2) AND sequence <= ?3
        ORDER BY scope, sequence LIMIT ?4`,
    );
    let after: [number, number] = [LOWEST, LOWEST];
    let ordinal = 0;
    for (let count = SPAN_STEP_ROWS; count === SPAN_STEP_ROWS; ) {
      const expectedRows = expected.values(...after, SPAN_STEP_ROWS) as Array<[number, number]>;
      const actualRows = actual.values(...after, this.until.sequence, SPAN_STEP_ROWS) as [number, number, number][];
      for (let index = 0; index < Math.max(expectedRows.length, actualRows.length); index += 1) {
        const [wanted, found] = [expectedRows[index], actualRows[index]];
        const at = wanted ?? found;
        if (at === undefined) break;
        ordinal = at[0] === after[0] ? ordinal + 1 : 1;
        after = [at[0], at[1]];
        const isSameRow = wanted !== undefined && wanted[0] === found?.[0] && wanted[1] === found[1];
        if (isSameRow && found?.[2] === ordinal) continue;
        const message =
          found === undefined
            ? "is missing"
            : `is row ${found[2]} of scope ${found[0]}, transaction ${found[1]}, where the ledger implies row ${ordinal}`;
        this.findings.add("activity", `scope ${at[0]}, transaction ${at[1]}`, message);
        // A surplus or missing row shifts all following ones.
        return;
      }
      count = Math.max(expectedRows.length, actualRows.length);
      yield count;
    }
  }

  /** Compares change counts with the versions. */
  *changeCounts(): Generator<number> {
    yield* compareChangeCounts(this.db, this.until.sequence, this.changeSums, (scope, message) =>
      this.findings.add("activity", whereScope(scope), message),
    );
  }

  /** Detects search text without a record history, by its count. */
  *surplusTexts(): Generator<number> {
    // Keys stay in SQL: they exceed JavaScript's integer precision.
    const step = this.prepare(`
      SELECT count(*), count(*) FILTER (WHERE key & 2147483647 <= ?3), coalesce(max(key) >> 31, 0),
        coalesce(max(key) & 2147483647, 0)
      FROM (SELECT key FROM history_search_texts WHERE key > ((?1 << 31) | ?2) ORDER BY key LIMIT ${SPAN_STEP_ROWS})`);
    let total = 0;
    let after: [number, number] = [-(2 ** 32), 0];
    for (let count = SPAN_STEP_ROWS; count === SPAN_STEP_ROWS; ) {
      const [row] = step.values(...after, this.until.sequence) as [[number, number, number, number]];
      const [rows, known, n, sequence] = row;
      total += known;
      after = [n, sequence];
      count = rows;
      yield count;
    }
    const message = `has ${total} rows where the ledger implies ${this.textsFound}`;
    if (total > this.textsFound) this.findings.add("search", "history_search_texts", message);
  }

  /** Compares all words of the index with those of the stored text. */
  *indexWords(): Generator<number> {
    const found = new WordSums();
    yield* sumIndex(this.db, "history_search", this.until.sequence, found);
    if (found.equals(this.words)) return;
    this.findings.add("search", "history_search", "does not match the words of the stored text");
  }

  /** Compares all entries of the word index with those implied by the ledger. */
  *nameWords(): Generator<number> {
    const found = new WordSums();
    yield* sumIndex(this.db, "history_words", this.until.sequence, found);
    if (found.equals(this.ledgerWords)) return;
    this.findings.add("search", "history_words", "does not match the names of the records");
  }

  /**
   * Compares the last ended record of each identity. Exact while nothing is written; with a concurrent writer, only
   * reports missing or wrong earlier rows.
   */
  *lineages(): Generator<number> {
    const expected = this.scratch
      .prepare(
        `SELECT kind, identity, lineage_id
          FROM (SELECT *, row_number() OVER (PARTITION BY kind, identity ORDER BY sequence DESC, n DESC) AS place
          FROM ends) WHERE place = 1`,
      )
      .iterate() as Iterable<{ kind: number; identity: string; lineage_id: string }>;
    const actual = this.prepare("SELECT lineage_id FROM history_lineages WHERE kind = ? AND identity = ?");
    let count = 0;
    for (const { kind, identity, lineage_id } of expected) {
      const found = actual.values(kind, identity)[0]?.[0] as string | undefined;
      count += 1;
      if (found !== lineage_id && (found === undefined || !this.hasNewTransactions())) {
        const where = `${this.kinds.find(({ code }) => code === kind)?.name ?? `kind ${kind}`} ${identity}`;
        this.findings.add("lineage", where, `leads to ${found ?? "nothing"} instead of ${lineage_id}`);
      }
      if (count % STEP_ROWS === 0) yield STEP_ROWS;
    }
    yield count % STEP_ROWS;
    const step = this.prepare(
      `SELECT kind, identity FROM history_lineages WHERE (kind, identity) > (?1, ?2)
        ORDER BY kind, identity LIMIT ${SPAN_STEP_ROWS}`,
    );
    let total = 0;
    let after: [number, string] = [LOWEST, ""];
    for (let rows = SPAN_STEP_ROWS; rows === SPAN_STEP_ROWS; ) {
      const page = step.values(...after) as Array<[number, string]>;
      total += page.length;
      const last = page.at(-1);
      if (last !== undefined) after = advance("history_lineages", after, last);
      rows = page.length;
      yield rows;
    }
    if (total > count && !this.hasNewTransactions())
      this.findings.add("lineage", "history_lineages", `has ${total} rows where the ledger implies ${count}`);
  }

  /** Deletes temporary data. */
  close(): void {
    this.scratch.close();
  }

  private spans(history: RecordHistory, where: string): void {
    const expected = this.derivation.spans(history);
    const actual = new Map<string, number>();
    for (const scope of new Set(expected.map((span) => span.scope))) {
      const rows = this.prepare(SPANS_OF).values(scope, history.n, this.until.sequence) as [number, number, number][];
      for (const [, born, died] of rows) actual.set(`${scope}/${born}`, died);
    }
    for (const { scope, born, died } of expected) {
      const found = actual.get(`${scope}/${born}`);
      if (found !== undefined) this.spansFound += 1;
      // A record that ended after the verification started was alive until then.
      const hasEndedSince =
        found !== undefined && died === ALIVE && found > this.until.sequence && found <= this.headNow();
      if (found === died || hasEndedSince) continue;
      const actually = found === undefined ? "is missing" : `ends at ${whereEnd(found)}`;
      const message = `was in ${whereScope(scope)} from transaction ${born} to ${whereEnd(died)}, but its span ${actually}`;
      this.findings.add("span", where, message);
    }
  }

  private texts(history: RecordHistory, where: string): void {
    for (const { sequence, ownerN, text } of history.texts) {
      if (sequence > this.until.sequence) continue;
      const [row] = this.prepare(TEXT_OF).values(history.n, sequence) as [number, string][];
      const since = `from transaction ${sequence} on`;
      if (row === undefined) {
        this.findings.add("search", where, `its search text ${since} is missing`);
        continue;
      }
      this.textsFound += 1;
      for (const word of wordsOf(text)) this.words.add(word, history.n, sequence);
      if (row[0] !== ownerN || row[1] !== text)
        this.findings.add("search", where, `its search text ${since} does not match the record`);
      else if (text !== "" && !this.isFound(history.n, sequence, text))
        this.findings.add("search", where, `the index does not find its search text ${since}`);
    }
  }

  /** Whether the index has the last entry of a search text: FTS5 indexes it completely or not at all. */
  private isFound(n: number, sequence: number, text: string): boolean {
    const entry = text.slice(text.lastIndexOf(" ") + 1);
    return this.prepare(FOUND_TEXT).values(exactTerm(entry), n, sequence).length > 0;
  }

  private liveRow(kind: AnyKind, row: LiveRow, where: string): void {
    const add = (message: string) => this.findings.add("live", where, message);
    if (row["r.kind"] !== kind.code)
      return add(`has a live row among the ${kind.plural}, but another kind in the ledger`);
    if (row["v.operation"] === null || row["v.operation"] === OPERATION.Deleted)
      return add("has a live row, but is not alive in the ledger");
    const members = row["v.members"];
    const version = {
      n: row.n,
      sequence: row["v.sequence"],
      operation: row["v.operation"],
      changed: null,
      composed: row["v.composed"],
      currentSortKeys: row["v.sort_keys"],
      currentMembers: members,
    };
    const id = row["r.id"] as string;
    const history = this.derivation.start(kind, id, version as unknown as LedgerVersion, parseMembers(members));
    for (const [column, expected] of Object.entries(this.derivation.liveRow(history))) {
      const actual = row[column as keyof LiveRow] as unknown;
      if (isSameValue(actual, expected)) continue;
      add(
        column === "members"
          ? "its live document is not its newest version"
          : `its live ${column} is ${JSON.stringify(actual)}, but in the ledger ${JSON.stringify(expected)}`,
      );
    }
    if (kind.observed.length > 0 && row["o.n"] === null)
      this.findings.add("observation", where, "has no observation values");
    this.links(history, where);
  }

  private links(history: RecordHistory, where: string): void {
    const expected = new Set(this.derivation.links(history).map((link) => `${link.relation} ${link.target_n}`));
    const links = this.prepare("SELECT relation, target_n FROM live_links WHERE n = ?");
    const rows = links.values(history.n) as Array<[string, number]>;
    for (const [relation, target] of rows) {
      if (!expected.delete(`${relation} ${target}`))
        this.findings.add("link", where, `has a link ${relation} to n ${target}, which the ledger does not imply`);
    }
    for (const missing of expected)
      this.findings.add("link", where, `the link ${missing.replace(" ", " to n ")} is missing`);
  }

  /** Replays one record up to the start of the verification; null if a version is unreadable. */
  private replay(kind: AnyKind, id: string, n: number): RecordHistory | null {
    const versions = this.db.$client
      .query(
        `SELECT ?1 AS n, key & 2147483647 AS sequence, operation, changed, ${membersSql(kind, "v")} AS currentMembers
          FROM history_versions v WHERE key > (?1 << 31) AND key <= ((?1 << 31) | ?2) ORDER BY key`,
      )
      .all(n, this.until.sequence) as LedgerVersion[];
    const [first, ...later] = versions;
    if (first === undefined) return null;
    try {
      const history = this.derivation.start(kind, id, first, parseMembers(first.currentMembers as string));
      for (const version of later) {
        const { currentMembers } = version;
        this.derivation.append(history, version, currentMembers === null ? null : parseMembers(currentMembers));
      }
      return history;
    } catch {
      return null;
    }
  }

  private hasNewTransactions(): boolean {
    return this.headNow() > this.until.sequence;
  }

  private headNow(): number {
    return (this.prepare("SELECT max(sequence) FROM history_transactions").values()[0]?.[0] as number | null) ?? 0;
  }

  /** Cached: `query` keeps prepared statements. */
  private prepare(sql: string): Statement {
    return this.db.$client.query(sql) as unknown as Statement;
  }
}

interface LiveRow {
  readonly n: number;
  readonly "r.kind": number | null;
  readonly "r.id": string | null;
  readonly "o.n": number | null;
  readonly "v.sequence": number;
  readonly "v.operation": number | null;
  readonly "v.composed": number;
  readonly "v.sort_keys": string | null;
  readonly "v.members": string;
}

/** UTF-8 storage has no lone surrogates. */
function isSameValue(actual: unknown, expected: unknown): boolean {
  return actual === (typeof expected === "string" ? expected.toWellFormed() : (expected ?? null));
}

function whereScope(scope: number): string {
  return `scope ${scope} (n ${Math.floor(scope / 64)}, kind ${scope % 64})`;
}

function whereEnd(died: number): string {
  return died === ALIVE ? "now" : String(died);
}
