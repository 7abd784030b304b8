// Schema migration of a database file. Refuses foreign or newer files untouched. Migrations are embedded in the
// executable, not read from a folder.

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
import ledger from "../../../migrations/0001_ledger.sql" with { type: "text" };
import inventory from "../../../migrations/0002_inventory.sql" with { type: "text" };
import access from "../../../migrations/0003_access.sql" with { type: "text" };
import changesAndSearch from "../../../migrations/0004_changes_and_search.sql" with { type: "text" };
import thinnedHistory from "../../../migrations/0005_thinned_history.sql" with { type: "text" };
import discovery from "../../../migrations/0006_discovery.sql" with { type: "text" };
import acceptingSubnets from "../../../migrations/0007_accepting_subnets.sql" with { type: "text" };
import credentialCoverage from "../../../migrations/0008_credential_coverage.sql" with { type: "text" };
import rowsLeftOut from "../../../migrations/0009_rows_left_out.sql" with { type: "text" };
import servedTables from "../../../migrations/0010_served_tables.sql" with { type: "text" };
import checksums from "../../../migrations/0011_checksums.sql" with { type: "text" };
import reasons from "../../../migrations/0012_reasons.sql" with { type: "text" };
import words from "../../../migrations/0013_words.sql" with { type: "text" };
import changeCounts from "../../../migrations/0014_change_counts.sql" with { type: "text" };
import markers from "../../../migrations/0015_markers.sql" with { type: "text" };
import groups from "../../../migrations/0016_groups.sql" with { type: "text" };
import ipRanges from "../../../migrations/0017_ip_ranges.sql" with { type: "text" };
import summary from "../../../migrations/0018_summary.sql" with { type: "text" };
import subnetScopes from "../../../migrations/0019_subnet_scopes.sql" with { type: "text" };
import conflicts from "../../../migrations/0020_conflicts.sql" with { type: "text" };
import conflictAcceptances from "../../../migrations/0021_conflict_acceptances.sql" with { type: "text" };
import completedScans from "../../../migrations/0022_completed_scans.sql" with { type: "text" };
import preferences from "../../../migrations/0023_preferences.sql" with { type: "text" };
import allowedSources from "../../../migrations/0024_allowed_sources.sql" with { type: "text" };
import mapPositions from "../../../migrations/0025_map_positions.sql" with { type: "text" };
import cheaperConditions from "../../../migrations/0026_cheaper_conditions.sql" with { type: "text" };
import sessionOrigins from "../../../migrations/0027_session_origins.sql" with { type: "text" };
import packedVersions from "../../../migrations/0028_packed_versions.sql" with { type: "text" };
import customFields from "../../../migrations/0029_custom_fields.sql" with { type: "text" };
import customFieldValues from "../../../migrations/0030_custom_field_values.sql" with { type: "text" };
import consolidatedHosts from "../../../migrations/0031_consolidated_hosts.sql" with { type: "text" };
import demandedReasons from "../../../migrations/0032_demanded_reasons.sql" with { type: "text" };
import hashedIdempotencyKeys from "../../../migrations/0033_hashed_idempotency_keys.sql" with { type: "text" };
import rowSums from "../../../migrations/0034_row_sums.sql" with { type: "text" };
import lastingRecords from "../../../migrations/0035_lasting_records.sql" with { type: "text" };
import { syncDirectory, syncFile } from "../../base/durable-file.ts";
import { DomainError } from "../../base/errors.ts";
import { openRegular, whatElse, whyUnreadable } from "../../base/regular-file.ts";
import { openWritable, type Sql } from "../connection.ts";
import { keepRowSums, settleRowSums } from "../row-sums.ts";
import { sqliteCode } from "../sqlite-code.ts";
import { describeRefusal, GOOD_COPY, readTroubleOf } from "../trouble.ts";

/** Append-only: a database's version is the number of migrations applied (`PRAGMA user_version`). */
const MIGRATIONS: readonly string[] = [
  ledger,
  inventory,
  access,
  changesAndSearch,
  thinnedHistory,
  discovery,
  acceptingSubnets,
  credentialCoverage,
  rowsLeftOut,
  servedTables,
  checksums,
  reasons,
  words,
  changeCounts,
  markers,
  groups,
  ipRanges,
  summary,
  subnetScopes,
  conflicts,
  conflictAcceptances,
  completedScans,
  preferences,
  allowedSources,
  mapPositions,
  cheaperConditions,
  sessionOrigins,
  packedVersions,
  customFields,
  customFieldValues,
  consolidatedHosts,
  demandedReasons,
  hashedIdempotencyKeys,
  rowSums,
  lastingRecords,
];

/** Adds checksums to tables outside the ledger; older stores get theirs on upgrade. */
export const ADDS_CHECKSUMS = MIGRATIONS.indexOf(checksums) + 1;

/** Adds the word index of record names. */
export const ADDS_WORDS = MIGRATIONS.indexOf(words) + 1;

/** Adds device positions on network maps. */
export const ADDS_MAP_POSITIONS = MIGRATIONS.indexOf(mapPositions) + 1;

/** Adds change counts, updated with every write. */
export const ADDS_CHANGE_COUNTS = MIGRATIONS.indexOf(changeCounts) + 1;

/** Completes the groups that current kinds have. */
export const ADDS_GROUPS = MIGRATIONS.indexOf(subnetScopes) + 1;

/** Stores the origin addresses of sessions. */
export const ADDS_SESSION_ORIGINS = MIGRATIONS.indexOf(sessionOrigins) + 1;

/** Stores Idempotency-Keys as hashes only. */
export const HASHES_IDEMPOTENCY_KEYS = MIGRATIONS.indexOf(hashedIdempotencyKeys) + 1;
/** Adds row counts of tables outside the ledger. */
export const ADDS_ROW_SUMS = MIGRATIONS.indexOf(rowSums) + 1;

/** Turns acceptances and consolidations into records. */
export const ADDS_LASTING_RECORDS = MIGRATIONS.indexOf(lastingRecords) + 1;

export const SCHEMA_VERSION = MIGRATIONS.length;
/** "nled": distinguishes netledger databases from other SQLite files, also for `file`. */
export const APPLICATION_ID = 0x6e6c6564;

const GOOD_COPY_SENTENCE = `${GOOD_COPY[0]?.toUpperCase()}${GOOD_COPY.slice(1)}.`;

export class DatabaseRefused extends Error {
  override readonly name = "DatabaseRefused";
}

/** Fields from the first 100 bytes of a database file. */
interface DatabaseHeader {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Whether the file is in WAL mode: newer content may be in the WAL. */
  readonly hasLog: boolean;
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
  refuseCutOff(path, header.readUInt16BE(16));
  return {
    applicationId: header.readUInt32BE(68),
    schemaVersion: header.readUInt32BE(60),
    hasLog: header.readUInt8(18) === 2,
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
      throw new DatabaseRefused(`${each} ${whyUnreadable(error)}.`);
    }
    if (file?.isFile() === false) throw new DatabaseRefused(`${each} ${whatElse(file)}.`);
  }
}

/**
 * Refuses a foreign file, or one from a newer netledger, by its header alone, before SQLite touches it.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function refuseForeignFile(path: string): void {
  requireRegular(path);
  const header = readHeader(path);
  // SQLite would start an empty database and delete the WAL.
  if (header === null && logBytes(path) > 0) {
    throw new DatabaseRefused(
      `${path} is ${existsSync(path) ? "empty" : "missing"}, and its log ${path}-wal is not. ${GOOD_COPY_SENTENCE}`,
    );
  }
  // Neither is set: a first start was interrupted early.
  if (header === null || (header.applicationId === 0 && header.schemaVersion === 0)) return;
  refuseVersion(path, header.applicationId, header.schemaVersion);
}

/** Converts an SQLite error into a message for the operator; returns any other error unchanged. */
export function refusalOf(error: unknown, path: string): unknown {
  return sqliteCode(error) === "" ? error : new DatabaseRefused(describeRefusal(error, path));
}

/** As refusalOf, but keeps DomainErrors and errors that readTroubleOf will translate. */
export function refusalOfWork(error: unknown, path: string): unknown {
  return error instanceof DomainError || readTroubleOf(error) !== null ? error : refusalOf(error, path);
}

/**
 * Runs work on a file that SQLite may refuse.
 * @throws DatabaseRefused as refusalOf
 */
export function orRefused<T>(path: string, act: (path: string) => T): T {
  try {
    return act(path);
  } catch (error) {
    throw refusalOf(error, path);
  }
}

/**
 * @param orElse an alternative remedy to mention if the schema differs
 * @throws DatabaseRefused for any schema but the current one
 */
export function requireSchema(path: string, version: number, orElse = ""): void {
  if (version !== SCHEMA_VERSION)
    throw new DatabaseRefused(
      `${path} has the schema ${version}, and this netledger needs ${SCHEMA_VERSION}: netledger serve upgrades it${orElse}.`,
    );
}

/** Schema version of a database, also if its newest migration is still in the WAL. */
export function schemaVersionOf(db: Sql): number {
  return pragma(db, "user_version");
}

/**
 * Upgrade steps besides the migrations' SQL.
 * @param from the previous schema version; not called for a new store
 */
type Upgrade = (db: Sql, from: number) => void;

/**
 * Applies all missing migrations in one transaction. From then on the connection maintains the row sums.
 * @param upgrade runs within that transaction, after all SQL, if the store has an earlier schema
 */
export function migrate(db: Sql, path: string, upgrade: Upgrade = refuseUpgrade): void {
  const client = db.$client;
  const applicationId = pragma(db, "application_id");
  const version = schemaVersionOf(db);
  if (applicationId !== 0 || version !== 0) refuseVersion(path, applicationId, version);
  else if (client.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null) {
    throw new DatabaseRefused(`${path} is a database of another program.`);
  }
  // Row sums must follow what migrations change.
  if (version >= ADDS_ROW_SUMS) keepRowSums(db);
  if (version < SCHEMA_VERSION) {
    client
      .transaction(() => {
        runMigrations(db, version, SCHEMA_VERSION);
        if (version > 0) upgrade(db, version);
        // Includes tables that the upgrade rebuilt.
        if (version < ADDS_ROW_SUMS) settleRowSums(db, new Map());
        keepRowSums(db);
        client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      })
      .immediate();
  }
  // Puts the version into the header of the file itself, for starts that do not read the WAL.
  if (version < SCHEMA_VERSION) client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Creates the schema of a version up to the current one in an empty database, for comparison. */
export function makeSchema(db: Sql, version: number): void {
  runMigrations(db, 0, version);
}

function runMigrations({ $client }: Sql, from: number, to: number): void {
  // A migration without SQL only adds fields to records; SQLite refuses an empty statement.
  for (const [place, migration] of MIGRATIONS.entries())
    if (place >= from && place < to) $client.run(`${migration}\nPRAGMA user_version = ${place + 1}`);
}

/** A store with records must not skip the upgrade steps of a migration. */
function refuseUpgrade(): never {
  throw new Error("migrate: only a new store takes no upgrade");
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
function refuseCutOff(path: string, pageBytes: number): void {
  const missing = pageBytes === 0 ? 0 : statSync(path).size % pageBytes;
  if (missing === 0 || logBytes(path) > 0) return;
  throw new DatabaseRefused(`${path} is damaged: it is truncated. ${GOOD_COPY_SENTENCE}`);
}

function openToRead(path: string): number {
  try {
    return openRegular(path);
  } catch (error) {
    throw new DatabaseRefused(`${path} ${whyUnreadable(error)}.`);
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
    throw new DatabaseRefused(
      `${path} cannot be written to (${error instanceof Error && "code" in error ? error.code : error}).`,
    );
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function refuseVersion(path: string, applicationId: number, version: number): void {
  if (applicationId !== APPLICATION_ID) throw new DatabaseRefused(`${path} is a database of another program.`);
  if (version > SCHEMA_VERSION) {
    throw new DatabaseRefused(
      `${path} was written by a newer netledger (schema ${version}, this one knows ${SCHEMA_VERSION}) and was left untouched. Use the newer version.`,
    );
  }
}

function pragma(db: Sql, name: "application_id" | "user_version"): number {
  const row = db.$client.query(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] as number;
}
