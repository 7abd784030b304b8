// Verification and repair of tables outside the ledger that it does not imply: checks row checksums and row counts, and
// drops damaged rows. Missing observations and derived data are handled elsewhere.

import { ownValue } from "../../base/fields.ts";
import type { Sql } from "../../db/connection.ts";
import type { AnyKind } from "../../db/kind.ts";
import {
  type CheckedRow,
  type CheckedTable,
  checkedTables,
  keyOf,
  OBSERVATIONS,
  walkChecked,
} from "../../db/row-checksum.ts";
import { type RowSum, rowSumOf, strangeRowSums, summedTables } from "../../db/row-sums.ts";
import { type BesideCheck, type Findings, whereRecord } from "./findings.ts";

/** Description of such a table for messages. */
interface Beside {
  readonly check: BesideCheck;
  /** Noun for one row: `1 session`. */
  readonly one: string;
  readonly several: string;
  /** Action for the operator after a row was dropped; null if it is recreated by itself, or not missed. */
  readonly remedy: string | null;
}

/** Tables with checksums, by name. */
const BESIDE: Readonly<Record<string, Beside>> = {
  [OBSERVATIONS]: {
    check: "observation",
    one: "record's observation values",
    several: "records' observation values",
    remedy: null,
  },
  discovery_scans: { check: "scan", one: "scan", several: "scans", remedy: null },
  discovery_findings: { check: "scan", one: "finding of a scan", several: "findings of scans", remedy: null },
  discovery_credentials: {
    check: "memory",
    one: "credential that had worked at an address",
    several: "credentials that had worked at addresses",
    remedy: null,
  },
  discovery_vlan_names: {
    check: "memory",
    one: "device's names of VLANs",
    several: "devices' names of VLANs",
    remedy: null,
  },
  discovery_schedule_runs: {
    check: "memory",
    one: "schedule's last due time",
    several: "schedules' last due times",
    remedy: null,
  },
  discovery_macs: {
    check: "memory",
    one: "MAC address that a host is recognized by",
    several: "MAC addresses that hosts are recognized by",
    remedy: null,
  },
  discovery_served: {
    check: "memory",
    one: "note of what a device serves",
    several: "notes of what devices serve",
    remedy: null,
  },
  discovery_tellings: {
    check: "memory",
    one: "note of what a device reported",
    several: "notes of what devices reported",
    remedy: null,
  },
  map_positions: {
    check: "memory",
    one: "position on a map",
    several: "positions on maps",
    remedy: null,
  },
  appliance_settings: {
    check: "memory",
    one: "note of the appliance's own host",
    several: "notes of the appliance's own hosts",
    remedy: null,
  },
  idempotency_keys: {
    check: "outcome",
    one: "outcome of a request with an Idempotency-Key",
    several: "outcomes of requests with an Idempotency-Key",
    remedy: null,
  },
  sessions: { check: "session", one: "session", several: "sessions", remedy: null },
  user_passwords: {
    check: "secret",
    one: "password",
    several: "passwords",
    remedy: "set a new one with netledger user password",
  },
  user_preferences: {
    check: "memory",
    one: "user's preferences",
    several: "users' preferences",
    remedy: null,
  },
  api_key_hashes: {
    check: "secret",
    one: "API key's hash",
    several: "API keys' hashes",
    remedy: "rotate the API keys that are refused now",
  },
  credential_coverage: {
    check: "memory",
    one: "note that a credential is sent to an address of a host",
    several: "notes that credentials are sent to addresses of hosts",
    remedy: "confirm the addresses that scans find waiting",
  },
  credential_secrets: {
    check: "secret",
    one: "secret of a credential",
    several: "secrets of credentials",
    remedy: "set the secrets of the credentials again",
  },
};

/**
 * SQLite findings about single rows and their index entries, which a repair fixes. All others mean that the table
 * itself is broken.
 */
const OF_ROWS = new RegExp(
  [
    "^row \\d+ (missing from index|values differ)",
    "^(wrong # of entries|non-unique entry) in index",
    "^rowid not at end-of-record",
    "^(non-)?(NULL|TEXT|INTEGER|BLOB|NUMERIC) value in",
    "^CHECK constraint failed",
  ].join("|"),
  "i",
);

/** @returns the check for findings in such a table; null for any other table */
export function besideCheckOf(table: string, message = ""): BesideCheck | null {
  const beside = ownValue(BESIDE, table);
  return beside === undefined || (message !== "" && !OF_ROWS.test(message)) ? null : beside.check;
}

/**
 * Checks every row of these tables against its checksum, and the row counts.
 * @returns the number of rows per step
 */
export function* verifyBeside(db: Sql, kinds: readonly AnyKind[], findings: Findings): Generator<number> {
  for (const table of checkedTables(db)) {
    const { check } = requireBeside(table.name);
    const rows = walkChecked(db, table, (step) => {
      for (const row of step)
        if (!row.isWhole) findings.add(check, whereRow(db, kinds, table, row), "does not match its checksum");
    });
    try {
      yield* rows;
    } catch (error) {
      findings.add("file", table.name, error instanceof Error ? error.message : String(error));
    }
  }
  for (const name of summedTables(db)) {
    const { check } = requireBeside(name);
    findings.during(check, name, () => {
      const message = differenceOf(rowSumOf(db, name));
      if (message !== null) findings.add(check, name, message);
    });
    yield 1;
  }
  findings.during("memory", "row_sums", () => {
    for (const name of strangeRowSums(db))
      findings.add("memory", "row_sums", `counts ${JSON.stringify(name)}, which is not counted`);
  });
}

/** Message about a table's difference from its row sum; null if none. */
function differenceOf({ rows, written, isRight }: RowSum): string | null {
  if (isRight) return null;
  if (written === null) return `has ${inRows(rows)}, but the number written is unknown`;
  const difference = Math.abs(written - rows);
  if (rows < written)
    return `has ${inRows(rows)}: ${difference} of the ${written} written ${difference === 1 ? "is" : "are"} missing`;
  if (rows > written) return `has ${inRows(rows)}: ${difference} more than the ${written} written`;
  return `has ${inRows(rows)}, as many as were written, but not the same`;
}

function inRows(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}

/** Rows lost in a repair. */
export interface Dropped {
  /** By table, the number of damaged rows dropped; for observations, the number reset to the newest versions. */
  readonly damaged: ReadonlyMap<string, number>;
  /** By table, the number of rows already missing. */
  readonly missing: ReadonlyMap<string, number>;
}

/**
 * Drops damaged rows, in the caller's transaction.
 * @throws SQLite's errors if a table is broken beyond single rows
 */
export function dropDamaged(db: Sql): void {
  for (const table of checkedTables(db)) {
    const damaged: CheckedRow[] = [];
    for (const _ of walkChecked(db, table, (rows) => damaged.push(...rows.filter(({ isWhole }) => !isWhole))));
    if (damaged.length === 0) continue;
    const drop = db.$client.prepare(
      `DELETE FROM ${table.name} WHERE (${table.key.join(", ")}) = (${table.key.map(() => "?").join(", ")})`,
    );
    for (const row of damaged) drop.run(...(keyOf(table, row) as never[]));
    drop.finalize();
  }
}

/**
 * Drops rows with dangling foreign keys, such as findings of a dropped scan, and reindexes these tables. Run after
 * derived data is rebuilt: a password must not be dropped because its user's row was missing.
 */
export function dropOrphans(db: Sql): void {
  for (const { name } of checkedTables(db)) {
    const references = db.$client
      .query(`SELECT "table", "from", "to" FROM pragma_foreign_key_list('${name}') WHERE seq = 0`)
      .values() as Array<[string, string, string]>;
    for (const [parent, column, key] of references) {
      db.$client.run(
        `DELETE FROM ${name} WHERE ${column} IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM ${parent} p WHERE p.${key} = ${name}.${column})`,
      );
    }
    db.$client.run(`REINDEX ${name}`);
  }
}

/** Row count of each of these tables. */
export function countBeside(db: Sql): ReadonlyMap<string, number> {
  return new Map(
    checkedTables(db).map(({ name }) => [
      name,
      (db.$client.query(`SELECT count(*) AS count FROM ${name} NOT INDEXED`).get() as { count: number }).count,
    ]),
  );
}

/** Number of missing rows per table. */
export function countMissing(db: Sql): ReadonlyMap<string, number> {
  return new Map(
    summedTables(db).map((name) => {
      const { rows, written } = rowSumOf(db, name);
      return [name, Math.max(0, (written ?? 0) - rows)];
    }),
  );
}

/** Operator's report of a repair: one line per table with dropped or missing rows. */
export function describeDropped({ damaged, missing }: Dropped): string[] {
  const lines = (what: string, lost: ReadonlyMap<string, number>) =>
    [...lost].flatMap(([table, rows]) => {
      if (rows === 0) return [];
      if (table === OBSERVATIONS) return [`Reset to the newest versions: ${inWords(table, rows)}`];
      const { remedy } = requireBeside(table);
      return [`${what}: ${inWords(table, rows)}${remedy === null ? "" : `; ${remedy}`}`];
    });
  return [...lines("Dropped as damaged", damaged), ...lines("Missing", missing)];
}

/** Operator's report of rows lost in earlier repairs. @param lost rows by table */
export function describeLost(lost: ReadonlyMap<string, number>): string[] {
  return [...lost].map(([table, rows]) => `Lost before, as a repair found: ${inWords(table, rows)}`);
}

function inWords(table: string, rows: number): string {
  const { one, several } = requireBeside(table);
  return `${rows} ${rows === 1 ? one : several}`;
}

function requireBeside(table: string): Beside {
  const beside = ownValue(BESIDE, table);
  if (beside === undefined) throw new Error(`verify: nothing is said of the table ${table}, which has checksums`);
  return beside;
}

function whereRow(db: Sql, kinds: readonly AnyKind[], table: CheckedTable, row: CheckedRow): string {
  const key = keyOf(table, row);
  if (table.name === OBSERVATIONS) {
    const [n] = key as [number];
    const [id, code] = (db.$client.query("SELECT id, kind FROM history_records WHERE n = ?").values(n)[0] ?? [
      null,
      null,
    ]) as [string | null, number | null];
    return whereRecord(kinds.find((kind) => kind.code === code)?.name ?? "record", id, n);
  }
  return `${table.name}, ${table.key.map((column, place) => `${column} ${printed(key[place])}`).join(", ")}`;
}

/** Short form that distinguishes rows. */
function printed(value: unknown): string {
  return value instanceof Uint8Array ? `${Buffer.from(value.subarray(0, 4)).toString("hex")}…` : JSON.stringify(value);
}
