// Verification and repair of tables outside the ledger that the ledger does not imply: checks row checksums and row
// counts, and drops damaged rows. Missing observations and derived data are handled elsewhere.

import { ownValue } from "../../base/fields.ts";
import { runSteps } from "../../base/steps.ts";
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
import { type RowSum, rowSumOf, summedTables, unexpectedRowSums } from "../../db/row-sums.ts";
import { type Findings, type OtherTableCheck, whereRecord } from "./findings.ts";

/** Description of such a table for messages. */
interface OtherTable {
  readonly check: OtherTableCheck;
  /** Noun for one row: `1 session`. */
  readonly singular: string;
  readonly plural: string;
  /** Action for the operator after a row was dropped; absent if it is recreated by itself, or not missed. */
  readonly remedy?: string;
}

/** Tables with checksums, by name. */
const OTHER_TABLES: Readonly<Record<string, OtherTable>> = {
  [OBSERVATIONS]: {
    check: "observation",
    singular: "record's observation values",
    plural: "records' observation values",
  },
  discovery_scans: { check: "scan", singular: "scan", plural: "scans" },
  discovery_findings: { check: "scan", singular: "finding of a scan", plural: "findings of scans" },
  discovery_credentials: {
    check: "memory",
    singular: "credential that had worked at an address",
    plural: "credentials that had worked at addresses",
  },
  discovery_vlan_names: { check: "memory", singular: "device's names of VLANs", plural: "devices' names of VLANs" },
  discovery_schedule_runs: {
    check: "memory",
    singular: "schedule's last due time",
    plural: "schedules' last due times",
  },
  discovery_macs: {
    check: "memory",
    singular: "MAC address that a host is recognized by",
    plural: "MAC addresses that hosts are recognized by",
  },
  discovery_served: {
    check: "memory",
    singular: "note of what a device serves",
    plural: "notes of what devices serve",
  },
  discovery_reads: {
    check: "memory",
    singular: "note of how much a device reported",
    plural: "notes of how much devices reported",
  },
  discovery_open_ports: {
    check: "memory",
    singular: "note of where a host's ports answered",
    plural: "notes of where hosts' ports answered",
  },
  discovery_reads_by_name: {
    check: "memory",
    singular: "note of a host that changes its name",
    plural: "notes of hosts that change their names",
  },
  ended_hosts: {
    check: "memory",
    singular: "sign of a host that may return",
    plural: "signs of hosts that may return",
  },
  discovery_identities: {
    check: "memory",
    singular: "decision on which host a device is",
    plural: "decisions on which hosts devices are",
  },
  discovery_sign_counts: {
    check: "memory",
    singular: "count of how often a sign stays the same",
    plural: "counts of how often signs stay the same",
  },
  discovery_tellings: {
    check: "memory",
    singular: "note of what a device reported",
    plural: "notes of what devices reported",
  },
  discovery_reporters: {
    check: "memory",
    singular: "note of a table in which addresses were seen",
    plural: "notes of tables in which addresses were seen",
  },
  discovery_sightings: { check: "memory", singular: "sighting of an address", plural: "sightings of addresses" },
  discovery_sweeps: { check: "memory", singular: "note of a sweep", plural: "notes of sweeps" },
  map_positions: { check: "memory", singular: "position on a map", plural: "positions on maps" },
  appliance_settings: {
    check: "memory",
    singular: "note of the appliance's own host",
    plural: "notes of the appliance's own hosts",
  },
  idempotency_keys: {
    check: "outcome",
    singular: "outcome of a request with an Idempotency-Key",
    plural: "outcomes of requests with an Idempotency-Key",
  },
  sessions: { check: "session", singular: "session", plural: "sessions" },
  user_passwords: {
    check: "secret",
    singular: "password",
    plural: "passwords",
    remedy: "set a new one with netledger user password",
  },
  user_preferences: { check: "memory", singular: "user's preferences", plural: "users' preferences" },
  api_key_hashes: {
    check: "secret",
    singular: "API key's hash",
    plural: "API keys' hashes",
    remedy: "rotate the API keys that are refused now",
  },
  credential_coverage: {
    check: "memory",
    singular: "note that a credential is sent to an address of a host",
    plural: "notes that credentials are sent to addresses of hosts",
    remedy: "confirm the addresses that scans find waiting",
  },
  credential_secrets: {
    check: "secret",
    singular: "secret of a credential",
    plural: "secrets of credentials",
    remedy: "set the secrets of the credentials again",
  },
};

/**
 * SQLite findings about single rows and their index entries, which a repair fixes. All others mean that the table
 * itself is broken.
 */
const ROW_FINDING = new RegExp(
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
export function checkOfTable(table: string, message = ""): OtherTableCheck | null {
  const description = ownValue(OTHER_TABLES, table);
  return description === undefined || (message !== "" && !ROW_FINDING.test(message)) ? null : description.check;
}

/**
 * Checks every row of these tables against its checksum, and the row counts.
 * @returns the number of rows per step
 */
export function* verifyOtherTables(db: Sql, kinds: readonly AnyKind[], findings: Findings): Generator<number> {
  for (const table of checkedTables(db)) {
    const { check } = requireTable(table.name);
    const rows = walkChecked(db, table, (step) => {
      for (const row of step)
        if (!row.isIntact) findings.add(check, whereRow(db, kinds, table, row), "does not match its checksum");
    });
    try {
      yield* rows;
    } catch (error) {
      findings.add("file", table.name, error instanceof Error ? error.message : String(error));
    }
  }
  for (const name of summedTables(db)) {
    const { check } = requireTable(name);
    findings.guard(check, name, () => {
      const message = differenceOf(rowSumOf(db, name));
      if (message !== null) findings.add(check, name, message);
    });
    yield 1;
  }
  findings.guard("memory", "row_sums", () => {
    for (const name of unexpectedRowSums(db))
      findings.add("memory", "row_sums", `counts ${JSON.stringify(name)}, which is not counted`);
  });
}

/** Message about a table's difference from its row sum; null if none. */
function differenceOf({ rows, written, isMatching }: RowSum): string | null {
  if (isMatching) return null;
  if (written === null) return `has ${rowCount(rows)}, but the number written is unknown`;
  const difference = Math.abs(written - rows);
  if (rows < written)
    return `has ${rowCount(rows)}: ${difference} of the ${written} written ${difference === 1 ? "is" : "are"} missing`;
  if (rows > written) return `has ${rowCount(rows)}: ${difference} more than the ${written} written`;
  return `has ${rowCount(rows)}, as many as were written, but not the same`;
}

function rowCount(count: number): string {
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
    runSteps(walkChecked(db, table, (rows) => damaged.push(...rows.filter(({ isIntact }) => !isIntact))));
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
export function countOtherTables(db: Sql): ReadonlyMap<string, number> {
  return new Map(
    checkedTables(db).map(({ name }) => {
      const [[count]] = db.$client.query(`SELECT count(*) FROM ${name} NOT INDEXED`).values() as [[number]];
      return [name, count];
    }),
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
      if (table === OBSERVATIONS) return [`Reset to the newest versions: ${describeRows(table, rows)}`];
      const { remedy } = requireTable(table);
      return [`${what}: ${describeRows(table, rows)}${remedy === undefined ? "" : `; ${remedy}`}`];
    });
  return [...lines("Dropped as damaged", damaged), ...lines("Missing", missing)];
}

/** Operator's report of rows lost in earlier repairs. @param lost rows by table */
export function describeLost(lost: ReadonlyMap<string, number>): string[] {
  return [...lost].map(([table, rows]) => `Lost earlier, as found by a repair: ${describeRows(table, rows)}`);
}

function describeRows(table: string, rows: number): string {
  const { singular, plural } = requireTable(table);
  return `${rows} ${rows === 1 ? singular : plural}`;
}

function requireTable(table: string): OtherTable {
  const description = ownValue(OTHER_TABLES, table);
  if (description === undefined) throw new Error(`verify: the table ${table} has checksums, but no entry here`);
  return description;
}

function whereRow(db: Sql, kinds: readonly AnyKind[], table: CheckedTable, row: CheckedRow): string {
  const key = keyOf(table, row);
  if (table.name === OBSERVATIONS) {
    const [n] = key as [number];
    const [row] = db.$client.query("SELECT id, kind FROM history_records WHERE n = ?").values(n) as [string, number][];
    return whereRecord(kinds.find((kind) => kind.code === row?.[1])?.name ?? "record", row?.[0] ?? null, n);
  }
  return `${table.name}, ${table.key.map((column, index) => `${column} ${shortForm(key[index])}`).join(", ")}`;
}

/** Short form that distinguishes rows. */
function shortForm(value: unknown): string {
  return value instanceof Uint8Array ? `${Buffer.from(value.subarray(0, 4)).toString("hex")}…` : JSON.stringify(value);
}
