// Brings a database file to this executable's schema, or refuses it untouched.
// The migrations are embedded: nothing is read from a folder at run time.

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

/** Append-only: the version of a database is the number of those it has been through (`PRAGMA user_version`). */
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

/**
 * The migration since which rows beside the ledger carry checksums: those of a store from before it are given theirs.
 */
export const ADDS_CHECKSUMS = MIGRATIONS.indexOf(checksums) + 1;

/** The migration since which there is an index of what records are called. */
export const ADDS_WORDS = MIGRATIONS.indexOf(words) + 1;

/** The migration since which devices have places on the map of their network. */
export const ADDS_MAP_POSITIONS = MIGRATIONS.indexOf(mapPositions) + 1;

/** The migration since which changes are counted as they are written. */
export const ADDS_CHANGE_COUNTS = MIGRATIONS.indexOf(changeCounts) + 1;

/** The migration since which all groups that kinds have today are there. */
export const ADDS_GROUPS = MIGRATIONS.indexOf(subnetScopes) + 1;

/** The migration since which it is kept where sessions are used from. */
export const ADDS_SESSION_ORIGINS = MIGRATIONS.indexOf(sessionOrigins) + 1;

/** The migration since which hashes alone are kept of Idempotency-Keys. */
export const HASHES_IDEMPOTENCY_KEYS = MIGRATIONS.indexOf(hashedIdempotencyKeys) + 1;
/** The migration since which rows beside the ledger are counted. */
export const ADDS_ROW_SUMS = MIGRATIONS.indexOf(rowSums) + 1;

/** The migration since which acceptances and consolidations are records. */
export const ADDS_LASTING_RECORDS = MIGRATIONS.indexOf(lastingRecords) + 1;

export const SCHEMA_VERSION = MIGRATIONS.length;
/** "nled": so that `file` and we can tell our databases from any other SQLite file. */
export const APPLICATION_ID = 0x6e6c6564;

const GOOD_COPY_SENTENCE = `${GOOD_COPY[0]?.toUpperCase()}${GOOD_COPY.slice(1)}.`;

export class DatabaseRefused extends Error {
  override readonly name = "DatabaseRefused";
}

/** What the first bytes of a database file say of it. */
interface DatabaseHeader {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Whether a log may belong to it; what is in that log is not in the file. */
  readonly hasLog: boolean;
}

/**
 * Of a file that this process has not opened as a database: that would drop SQLite's locks on it.
 * @returns null for a file that is empty or not there: a database that was never written
 * @throws DatabaseRefused for what is no database
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
 * SQLite waits for a named pipe in the place of a database, or of one of the files that it keeps beside it.
 * @throws DatabaseRefused for what is there and is not a regular file or a link to one, or cannot be read
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
 * Refuses a file that is not ours or that a newer netledger wrote, by its header alone, before SQLite touches it.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function refuseForeignFile(path: string): void {
  requireRegular(path);
  const header = readHeader(path);
  // SQLite would begin anew and remove the log.
  if (header === null && logBytes(path) > 0) {
    throw new DatabaseRefused(
      `${path} is ${existsSync(path) ? "empty" : "missing"}, and its log ${path}-wal is not. ${GOOD_COPY_SENTENCE}`,
    );
  }
  // Neither: a start that was cut off at its very beginning.
  if (header === null || (header.applicationId === 0 && header.schemaVersion === 0)) return;
  refuseVersion(path, header.applicationId, header.schemaVersion);
}

/** What is thrown when SQLite cannot work with a file, in words for the operator; any other error stands as it is. */
export function refusalOf(error: unknown, path: string): unknown {
  return sqliteCode(error) === "" ? error : new DatabaseRefused(describeRefusal(error, path));
}

/** As refusalOf, but what was put in words already, or will be wherever it ends up (readTroubleOf), stands as it is. */
export function refusalOfWork(error: unknown, path: string): unknown {
  return error instanceof DomainError || readTroubleOf(error) !== null ? error : refusalOf(error, path);
}

/**
 * Works with a file that SQLite may refuse.
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
 * @param orElse what else helps where the schema is another one
 * @throws DatabaseRefused for any schema but this version's
 */
export function requireSchema(path: string, version: number, orElse = ""): void {
  if (version !== SCHEMA_VERSION)
    throw new DatabaseRefused(
      `${path} has the schema ${version}, and this netledger needs ${SCHEMA_VERSION}: netledger serve upgrades it${orElse}.`,
    );
}

/** The schema of a database, also where its newest migration is still in the log. */
export function schemaVersionOf(db: Sql): number {
  return pragma(db, "user_version");
}

/**
 * What is done to a store beside the migrations' SQL.
 * @param from the schema that it had; a new store is not upgraded
 */
type Upgrade = (db: Sql, from: number) => void;

/**
 * Applies what is missing, all of it in one transaction. From then on the connection keeps the sums of rows.
 * @param upgrade runs within that transaction, after all SQL, where the store is of an earlier schema
 */
export function migrate(db: Sql, path: string, upgrade: Upgrade = refuseUpgrade): void {
  const client = db.$client;
  const applicationId = pragma(db, "application_id");
  const version = schemaVersionOf(db);
  if (applicationId !== 0 || version !== 0) refuseVersion(path, applicationId, version);
  else if (client.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null) {
    throw new DatabaseRefused(`${path} is a database of another program.`);
  }
  // What a migration changes of rows that are counted is counted as well.
  if (version >= ADDS_ROW_SUMS) keepRowSums(db);
  if (version < SCHEMA_VERSION) {
    client
      .transaction(() => {
        runMigrations(db, version, SCHEMA_VERSION);
        if (version > 0) upgrade(db, version);
        // Of tables that the upgrade made anew as well.
        if (version < ADDS_ROW_SUMS) settleRowSums(db, new Map());
        keepRowSums(db);
        client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      })
      .immediate();
  }
  // The header in the file itself tells the version, also to a start that does not read the log.
  if (version < SCHEMA_VERSION) client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** The schema alone, of a version up to this one's: for comparison, in an empty database. */
export function makeSchema(db: Sql, version: number): void {
  runMigrations(db, 0, version);
}

function runMigrations({ $client }: Sql, from: number, to: number): void {
  // Where records alone get a field there is no SQL, and SQLite refuses a text without any.
  for (const [place, migration] of MIGRATIONS.entries())
    if (place >= from && place < to) $client.run(`${migration}\nPRAGMA user_version = ${place + 1}`);
}

/** A store with records in it must not pass through half of a migration. */
function refuseUpgrade(): never {
  throw new Error("migrate: only a new store takes no upgrade");
}

/**
 * Makes a database where there is none, whole or not at all: under a name of its own first, since one that the power
 * took away half-made would stand in the way of every later start.
 */
export function createDatabase(path: string): void {
  // A link that leads nowhere now is someone's word where the database is: it is not replaced.
  if (path === ":memory:" || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const draft = `${path}.new`;
  // Of a start that was cut off.
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

/** SQLite reads zeros for what is missing of the last page. Where there is a log, that page may be in it. */
function refuseCutOff(path: string, pageBytes: number): void {
  const missing = pageBytes === 0 ? 0 : statSync(path).size % pageBytes;
  if (missing === 0 || logBytes(path) > 0) return;
  throw new DatabaseRefused(`${path} is damaged: its end is cut off. ${GOOD_COPY_SENTENCE}`);
}

function openToRead(path: string): number {
  try {
    return openRegular(path);
  } catch (error) {
    throw new DatabaseRefused(`${path} ${whyUnreadable(error)}.`);
  }
}

/**
 * Refuses a file that this user may only read: SQLite would open it all the same, and fail at the first write.
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
