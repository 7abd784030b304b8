// Store of one data directory, opened for reading and writing: for the appliance, and complete for a subcommand. Starts
// no thread or server, and prints only log lines.

import { existsSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { formatInstant } from "../base/instant.ts";
import { loadOrCreateKeyFile } from "../base/key-file.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { openReadOnly, openWritable } from "../db/connection.ts";
import { type DataFiles, DataLock, dataFiles, ensureDataDirectory, LOCK_WAIT_MS } from "../db/files/data-directory.ts";
import {
  DatabaseRefused,
  orRefused,
  refusalOfWork,
  refuseForeignFile,
  requireRegular,
  SCHEMA_VERSION,
} from "../db/files/migrate.ts";
import { Reader } from "../db/reading/reader.ts";
import { DirectWriteQueue, type WriteQueue } from "../db/writing/write-queue.ts";
import { CLOCK_LEAD_REPORTED_MS } from "../operations/concerns.ts";
import type { AllCommands } from "../registry/commands.ts";
import { openWriter } from "./open-writer.ts";

/** Maximum lead of the clock over the last transaction: one wrong leap would falsify all later timestamps. */
export const CLOCK_LEAP_MAX_MS = 400 * 24 * 60 * 60 * 1000;
/**
 * Lead of a subcommand's commit timestamps next to a running appliance, which may be responding about the last second
 * at that moment.
 */
const CONCURRENT_LEAD_MS = 1_000;

export interface StoreOptions {
  /** Absolute. */
  readonly directory: string;
  /** Accepts a leap of the clock. */
  readonly acceptClock: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface Store {
  readonly reader: Reader;
  readonly writes: WriteQueue<AllCommands>;
  close(): Promise<void>;
}

/**
 * The store for a subcommand, with the writer on this thread. May run next to a running appliance: every write is a
 * transaction that reads the head of the ledger.
 * @param mayCreate whether to create missing data
 * @throws DatabaseRefused with one sentence for the operator
 */
export function openStore(options: StoreOptions & { readonly mayCreate: boolean }): Store {
  const { clock, random } = options;
  const files = dataFiles(options.directory);
  requireRegular(files.database);
  if (options.mayCreate) ensureDataDirectory(files.directory);
  else if (!existsSync(files.database))
    throw new DatabaseRefused(
      `There is no data in ${files.directory}: create it with netledger serve or netledger setup.`,
    );
  refuseForeignFile(files.database);
  // A running appliance holds the lock throughout: waiting helps only while another process creates the data.
  const lock = DataLock.acquire(files.lock, existsSync(files.database) ? 0 : LOCK_WAIT_MS);
  try {
    // A migration would change the schema under a running appliance.
    if (lock === null) requireCurrentSchema(files);
    const writer = orRefused(files.database, () =>
      openWriter({ databasePath: files.database, secretKey: loadKey(files, random) }, clock, random, {
        leadMs: lock === null ? CONCURRENT_LEAD_MS : 0,
      }),
    );
    try {
      const reader = openReader(files, clock);
      checkClock(reader, options);
      const writes = new DirectWriteQueue(writer);
      const close = async () => {
        reader.close();
        await writes.close();
      };
      return { reader, writes, close };
    } catch (error) {
      writer.close();
      throw refusalOfWork(error, files.database);
    }
  } finally {
    lock?.release();
  }
}

/** @throws DatabaseRefused for an unconfirmed leap of the clock */
export function checkClock(reader: Reader, options: Pick<StoreOptions, "clock" | "acceptClock" | "log">): void {
  const last = reader.head();
  if (last.sequence === 0) return;
  const now = options.clock.now();
  if (now - last.at > CLOCK_LEAP_MAX_MS && !options.acceptClock) {
    throw new DatabaseRefused(
      `The clock says ${formatInstant(now)}, more than 400 days after the last change (${formatInstant(last.at)}): correct it, or confirm it with --accept-clock.`,
    );
  }
  if (last.at - now > CLOCK_LEAD_REPORTED_MS) {
    options.log.warn("store_clock_leads", {
      lead_ms: last.at - now,
      last_change: formatInstant(last.at),
      clock: formatInstant(now),
    });
  }
}

/** @throws DatabaseRefused */
export function openReader(files: DataFiles, clock: Clock): Reader {
  return new Reader(
    orRefused(files.database, () => openReadOnly(files.database)),
    clock,
  );
}

/**
 * Key for sealing secrets. Creating a new key next to secrets sealed with a lost one would hide the loss until they are
 * needed.
 * @throws DatabaseRefused
 */
export function loadKey(files: DataFiles, random: Random): Uint8Array {
  if (!existsSync(files.key) && hasSecrets(files)) {
    throw new DatabaseRefused(
      `The key file ${files.key} is missing, and ${files.database} holds secrets sealed with it: put it back. If it is lost, take a backup and restore it with --replace --drop-secrets.`,
    );
  }
  try {
    return loadOrCreateKeyFile(files.key, random);
  } catch (error) {
    throw new DatabaseRefused(error instanceof Error ? error.message : String(error));
  }
}

function hasSecrets(files: DataFiles): boolean {
  if (!existsSync(files.database)) return false;
  // Writable: a read-only connection cannot recover a log left by a crash.
  const { $client } = orRefused(files.database, () => openWritable(files.database));
  try {
    return orRefused(files.database, () => {
      const hasTable = $client.query("SELECT 1 FROM sqlite_schema WHERE name = 'credential_secrets'").get() !== null;
      return (
        hasTable && $client.query("SELECT 1 FROM credential_secrets WHERE length(sealed) > 0 LIMIT 1").get() !== null
      );
    });
  } finally {
    $client.close();
  }
}

function requireCurrentSchema(files: DataFiles): void {
  const { $client } = orRefused(files.database, () => openReadOnly(files.database));
  const { user_version: version } = $client.query("PRAGMA user_version").get() as { user_version: number };
  $client.close();
  if (version !== SCHEMA_VERSION) {
    throw new DatabaseRefused(
      `The data in ${files.directory} are in use by a different netledger version (schema ${version}; this version uses ${SCHEMA_VERSION}).`,
    );
  }
}
