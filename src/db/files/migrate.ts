// Schema migration of a database file. Rejects foreign or newer files without modifying them. Migrations are embedded
// in the executable, not read from a directory.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import ledger from "../../../migrations/0036_ledger.sql" with { type: "text" };
import inventory from "../../../migrations/0037_inventory.sql" with { type: "text" };
import discovery from "../../../migrations/0038_discovery.sql" with { type: "text" };
import people from "../../../migrations/0039_people.sql" with { type: "text" };
import operations from "../../../migrations/0040_operations.sql" with { type: "text" };
import reads from "../../../migrations/0041_reads.sql" with { type: "text" };
import openPorts from "../../../migrations/0042_open_ports.sql" with { type: "text" };
import sightings from "../../../migrations/0043_sightings.sql" with { type: "text" };
import stackedInterfaces from "../../../migrations/0044_stacked_interfaces.sql" with { type: "text" };
import expiry from "../../../migrations/0045_expiry.sql" with { type: "text" };
import components from "../../../migrations/0046_components.sql" with { type: "text" };
import identity from "../../../migrations/0047_identity.sql" with { type: "text" };
import sightingMacs from "../../../migrations/0048_sighting_macs.sql" with { type: "text" };
import engineIds from "../../../migrations/0049_engine_ids.sql" with { type: "text" };
import { syncDirectory, syncFile } from "../../base/durable-file.ts";
import { DomainError } from "../../base/errors.ts";
import { describeReadError, describeWrongType, openRegular } from "../../base/regular-file.ts";
import { openWritable, type Sql } from "../connection.ts";
import { checkedTables, includeColumns } from "../row-checksum.ts";
import { installRowSumTriggers, startRowSums } from "../row-sums.ts";
import { sqliteCode } from "../sqlite-code.ts";
import { describeOpenFailure, RESTORE_ADVICE, readFailureOf } from "../sqlite-failures.ts";

/** Last schema before the first release. Its data is refused: nothing here upgrades it. */
const LAST_UNRELEASED_SCHEMA = 35;

/** Append-only. A database's version (`PRAGMA user_version`) is the number of the last migration applied. */
export const MIGRATIONS: readonly string[] = [
  ledger,
  inventory,
  discovery,
  people,
  operations,
  reads,
  openPorts,
  sightings,
  stackedInterfaces,
  expiry,
  components,
  identity,
  sightingMacs,
  engineIds,
];

export const SCHEMA_VERSION = LAST_UNRELEASED_SCHEMA + MIGRATIONS.length;
/** "nled": distinguishes netledger databases from other SQLite files, including for `file`. */
export const APPLICATION_ID = 0x6e6c6564;

const RESTORE_HINT = `${RESTORE_ADVICE[0]?.toUpperCase()}${RESTORE_ADVICE.slice(1)}.`;

export class DatabaseRefused extends Error {
  override readonly name: string = "DatabaseRefused";
}

/** Pre-release data; has its own exit status. */
export class PrereleaseDatabase extends DatabaseRefused {
  override readonly name = "PrereleaseDatabase";
}

/** Fields from the first 100 bytes of a database file. */
interface DatabaseHeader {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Whether the file is in WAL mode: newer content may be in the WAL. */
  readonly hasWal: boolean;
}

/**
 * Reads the header. Not for a file that this process has open as a database: closing it would drop SQLite's locks.
 * @returns null for an empty or missing file: a database never written
 * @throws DatabaseRefused if it is not a database
 */
export function readHeader(path: string): DatabaseHeader | null {
  if (!existsSync(path)) return null;
  const header = Buffer.alloc(100);
  const descriptor = openToRead(path);
  let length = 0;
  try {
    length = readSync(descriptor, header, 0, 100, 0);
  } finally {
    closeSync(descriptor);
  }
  if (length === 0) return null;
  if (length < 100 || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw new DatabaseRefused(`${path} is not an SQLite database.`);
  }
  refuseTruncated(path, header.readUInt16BE(16));
  return {
    applicationId: header.readUInt32BE(68),
    schemaVersion: header.readUInt32BE(60),
    hasWal: header.readUInt8(18) === 2,
  };
}

/**
 * Guards against named pipes in place of a database or its -wal, -shm or -journal file: SQLite would block on them.
 * @throws DatabaseRefused if a path exists but is not a regular file or a link to one, or is unreadable
 */
export function requireRegular(path: string): void {
  for (const each of ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix)) {
    let file: Stats | undefined;
    try {
      file = statSync(each, { throwIfNoEntry: false });
      if (file?.isFile() === true) accessSync(each, constants.R_OK);
    } catch (error) {
      throw new DatabaseRefused(`${each} ${describeReadError(error)}.`);
    }
    if (file?.isFile() === false) throw new DatabaseRefused(`${each} ${describeWrongType(file)}.`);
  }
}

/**
 * Rejects another program's file, or one from a newer netledger, by its header alone, before SQLite touches it.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function refuseForeignFile(path: string): void {
  requireRegular(path);
  const header = readHeader(path);
  // SQLite would start an empty database and delete the WAL.
  if (header === null && walBytes(path) > 0) {
    throw new DatabaseRefused(
      `${path} is ${existsSync(path) ? "empty" : "missing"}, but its write-ahead log ${path}-wal is not. ${RESTORE_HINT}`,
    );
  }
  // Neither is set if the first start was interrupted.
  if (header === null || (header.applicationId === 0 && header.schemaVersion === 0)) return;
  refuseVersion(path, header.applicationId, header.schemaVersion, SCHEMA_VERSION);
}

/** Converts an SQLite error into a message for the operator; returns any other error unchanged. */
export function refusalOf(error: unknown, path: string): unknown {
  return sqliteCode(error) === "" ? error : new DatabaseRefused(describeOpenFailure(error, path));
}

/** Like refusalOf, but passes through DomainErrors and errors that readFailureOf will translate. */
export function refusalOfWork(error: unknown, path: string): unknown {
  return error instanceof DomainError || readFailureOf(error) !== null ? error : refusalOf(error, path);
}

/**
 * Runs work on a file that SQLite may refuse.
 * @throws DatabaseRefused for any SQLite error
 */
export function orRefused<T>(path: string, act: (path: string) => T): T {
  try {
    return act(path);
  } catch (error) {
    throw refusalOf(error, path);
  }
}

/**
 * @param alternative another remedy to suggest if the schema version differs
 * @throws DatabaseRefused for any schema but the current one
 */
export function requireSchema(path: string, version: number, alternative = ""): void {
  if (version !== SCHEMA_VERSION)
    throw new DatabaseRefused(
      `${path} has schema version ${version}, but this netledger needs ${SCHEMA_VERSION}: netledger serve upgrades it${alternative}.`,
    );
}

/** Schema version of a database, even if its newest migration is still in the WAL. */
export function schemaVersionOf(db: Sql): number {
  return pragma(db, "user_version");
}

/** Columns that migrations added, by table; new tables are not listed. */
export type AddedColumns = ReadonlyMap<string, readonly string[]>;

/**
 * Row upgrade, run in addition to the migrations' SQL.
 * @param from the previous schema version; not called for a new store
 */
export type Upgrade = (db: Sql, from: number, added: AddedColumns) => void;

/**
 * Applies all missing migrations in one transaction. From then on the connection maintains the row sums. Counts added
 * columns into the checksums of their table.
 * @param upgrade runs within that transaction, after all SQL, if the store has an earlier schema
 */
export function migrate(db: Sql, path: string, upgrade: Upgrade = refuseUpgrade, migrations = MIGRATIONS): void {
  const client = db.$client;
  const applicationId = pragma(db, "application_id");
  const version = schemaVersionOf(db);
  const latest = LAST_UNRELEASED_SCHEMA + migrations.length;
  if (applicationId !== 0 || version !== 0) refuseVersion(path, applicationId, version, latest);
  else if (client.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null) {
    throw new DatabaseRefused(`${path} belongs to another program.`);
  }
  // Row sums must follow what migrations change.
  installRowSumTriggers(db);
  if (version === latest) return;
  client
    .transaction(() => {
      const before = columnsOf(db);
      runMigrations(db, version, latest, migrations);
      installRowSumTriggers(db);
      const after = columnsOf(db);
      const created = [...after.keys()].filter((table) => !before.has(table));
      startRowSums(db, created);
      if (version > 0) {
        const added = addedColumns(before, after);
        for (const { name } of checkedTables(db)) if (added.has(name)) includeColumns(db, name, added.get(name) ?? []);
        upgrade(db, version, added);
      }
      client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    })
    .immediate();
  // Checkpoints so that the version is in the file header, for starts that do not read the WAL.
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Creates the schema of a version up to the current one in an empty database, for comparison. */
export function makeSchema(db: Sql, version: number): void {
  runMigrations(db, 0, version, MIGRATIONS);
}

function runMigrations({ $client }: Sql, from: number, to: number, migrations: readonly string[]): void {
  for (const [index, migration] of migrations.entries()) {
    const version = LAST_UNRELEASED_SCHEMA + index + 1;
    // A migration without SQL only adds fields to records; SQLite refuses an empty statement.
    if (version > from && version <= to) $client.run(`${migration}\nPRAGMA user_version = ${version}`);
  }
}

/** Columns by table. */
function columnsOf({ $client }: Sql): Map<string, string[]> {
  const rows = $client
    .query(`SELECT t.name, c.name FROM main.sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`)
    .values() as Array<[string, string]>;
  const byTable = Map.groupBy(rows, ([table]) => table);
  return new Map([...byTable].map(([table, columns]) => [table, columns.map(([, name]) => name)]));
}

function addedColumns(before: AddedColumns, after: AddedColumns): AddedColumns {
  const added = [...before].map(([table, columns]): [string, string[]] => [
    table,
    (after.get(table) ?? []).filter((column) => !columns.includes(column)),
  ]);
  return new Map(added.filter(([, columns]) => columns.length > 0));
}

/** A store with records must not skip the upgrade steps of a migration. */
function refuseUpgrade(): never {
  throw new Error("migrate: an existing store requires an upgrade function");
}

/**
 * Creates a database if missing, atomically: under a temporary name first, since a half-made file after a power loss
 * would block every later start.
 */
export function createDatabase(path: string): void {
  // Do not replace a dangling link: the operator placed it there.
  if (path === ":memory:" || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const draft = `${path}.new`;
  // Left over from an interrupted start.
  removeDatabase(draft);
  try {
    const db = openWritable(draft);
    try {
      migrate(db, path);
    } finally {
      db.$client.close();
    }
    syncFile(draft);
    renameSync(draft, path);
    syncDirectory(dirname(path));
  } finally {
    removeDatabase(draft);
  }
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

/** SQLite reads zeros for the missing part of a truncated last page. If there is a WAL, it may contain that page. */
function refuseTruncated(path: string, pageBytes: number): void {
  const missing = pageBytes === 0 ? 0 : statSync(path).size % pageBytes;
  if (missing === 0 || walBytes(path) > 0) return;
  throw new DatabaseRefused(`${path} is damaged: it is truncated. ${RESTORE_HINT}`);
}

function openToRead(path: string): number {
  try {
    return openRegular(path);
  } catch (error) {
    throw new DatabaseRefused(`${path} ${describeReadError(error)}.`);
  }
}

/**
 * Refuses a file that this user may only read: SQLite would open it and fail at the first write.
 * @throws DatabaseRefused
 */
export function requireWritable(path: string): void {
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new DatabaseRefused(`${path} cannot be written to (${code}).`);
  }
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** @param latest the newest version known */
function refuseVersion(path: string, applicationId: number, version: number, latest: number): void {
  if (applicationId !== APPLICATION_ID) throw new DatabaseRefused(`${path} belongs to another program.`);
  if (version > latest) {
    throw new DatabaseRefused(
      `${path} was written by a newer netledger (schema ${version}; this version supports up to ${latest}) and was left untouched. Use the newer version.`,
    );
  }
  if (version <= LAST_UNRELEASED_SCHEMA) {
    throw new PrereleaseDatabase(
      `${path} was written by a netledger before 0.2.0 (schema ${version}) and was left untouched: this version cannot upgrade it. Use that version, or start with a new data folder.`,
    );
  }
}

function pragma(db: Sql, name: "application_id" | "user_version"): number {
  const row = db.$client.query(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] as number;
}
