// Appliance backups: the backup directory, the backup in progress, and backups that failed since the start.

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { syncDirectory } from "../base/durable-file.ts";
import { DomainError, refuseWrite, storageFull } from "../base/errors.ts";
import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import { describeReadError, nameExists, regularFile } from "../base/regular-file.ts";
import { headOf } from "../db/files/copy.ts";
import { DatabaseRefused, refusalOf, requireRegular } from "../db/files/migrate.ts";
import type { BackupJob, BackupRequest } from "./job.ts";
import { databaseBytes, type FreeBytes, freeBytesOf, requireFreeSpace } from "./room.ts";
import { PARTIAL, removePartial } from "./take.ts";
import { noSuchBackup } from "./unknown-backup.ts";

export const BACKUP_STATES = ["Running", "Done", "Failed"] as const;

/** In wire format. */
export interface Backup {
  readonly name: string;
  readonly state: (typeof BACKUP_STATES)[number];
  readonly created_at: string;
  readonly size_bytes: number | null;
  readonly sequence: number | null;
  readonly hash: string | null;
  readonly reason: string | null;
}

/** Backups of an appliance. */
export interface Backups {
  /** Complete, running and failed backups, oldest first. */
  list(): Backup[];
  /** Null if no backup has the name. */
  find(name: string): Backup | null;
  /** A name not used by any complete, running or failed backup, and not issued before since the start. */
  newName(): string;
  /**
   * Starts a backup with this name.
   * @throws DomainError entity_already_exists while another one is running, storage_full if it obviously does not fit,
   * store_read_only
   */
  start(name: string): Backup;
  /**
   * The file of a complete backup.
   * @throws DomainError entity_in_use while it is running, entity_not_found if there is no complete one with the name
   */
  file(name: string): { readonly path: string; readonly sizeBytes: number };
  /**
   * Deletes a backup permanently; forgets a failed one.
   * @throws DomainError entity_not_found; entity_in_use while it is running; storage_full if the disk refuses;
   * store_read_only
   */
  remove(name: string): void;
  /** Aborts the backup in progress. */
  close(): void;
}

/** For an appliance that serves a backup. */
export const NO_BACKUPS: Backups = {
  list: () => [],
  find: () => null,
  newName: refuseWrite,
  start: refuseWrite,
  file: (name) => {
    throw noSuchBackup(name);
  },
  remove: refuseWrite,
  close: () => {},
};

/** Settings of a backup directory. */
export interface BackupFolderOptions {
  /** Absolute; created with the first backup. */
  readonly directory: string;
  readonly database: string;
  readonly takeBackup: (request: BackupRequest) => BackupJob;
  readonly clock: Clock;
  readonly log: Log;
  readonly freeBytes?: FreeBytes;
  /** Reads the names in the directory; tests can make files vanish afterwards. */
  readonly readNames?: (directory: string) => string[];
}

/** Maximum failures remembered; older ones are in the log. */
const MAX_FAILED = 100;
/** `netledger-20261121T091500123Z.db`: the start time. */
const NAME = /^netledger-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db$/;

/** Backups of an appliance that serves its own data. */
export class BackupFolder implements Backups {
  private readonly options: BackupFolderOptions;
  private running: { readonly name: string; readonly job: BackupJob } | null = null;
  private failed: Backup[] = [];
  private lastNameInstant: Instant = -1;
  /** Cache of readable backups by name, size and modification time: each is opened once. */
  private readonly cache = new Map<string, Backup>();
  private isClosed = false;

  /**
   * Cleans up backups interrupted by the end of the appliance. No other process may be using the directory.
   * @throws DatabaseRefused if it is not a directory
   */
  constructor(options: BackupFolderOptions) {
    this.options = options;
    // A previous process may have been killed between renaming and syncing: the backup is listed only once it is
    // durable.
    if (existsSync(options.directory)) requireFolder(options.directory);
    for (const file of this.files()) {
      const name = file.endsWith(PARTIAL) ? file.slice(0, -PARTIAL.length) : null;
      if (name === null || !NAME.test(name) || regularFile(join(options.directory, file)) === null) continue;
      removePartial(join(options.directory, file));
      // A complete backup briefly has both names.
      if (!nameExists(join(options.directory, name)))
        this.fail(name, "The appliance stopped before the backup was complete.");
    }
  }

  list(): Backup[] {
    // The name of the running backup may appear before it is durable; only its job knows when it is.
    const done = this.files()
      .filter((file) => NAME.test(file) && file !== this.running?.name)
      .flatMap((name) => this.readBackup(name) ?? []);
    const running = this.running === null ? [] : [backup(this.running.name, { state: "Running" })];
    return [...this.failed, ...done, ...running].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Backup | null {
    return this.list().find((each) => each.name === name) ?? null;
  }

  newName(): string {
    this.lastNameInstant = Math.max(this.options.clock.now(), this.lastNameInstant + 1);
    // After a restart the clock may repeat an earlier time.
    while (this.isTaken(nameAt(this.lastNameInstant))) this.lastNameInstant += 1;
    return nameAt(this.lastNameInstant);
  }

  start(name: string): Backup {
    const { directory, database, freeBytes = freeBytesOf } = this.options;
    if (this.running !== null) {
      throw new DomainError("entity_already_exists", `A backup is already running: ${this.running.name}.`, {
        entity: "backup",
        field: "state",
        value: "Running",
        name: this.running.name,
      });
    }
    this.makeDirectory();
    requireFreeSpace(directory, databaseBytes(database), freeBytes);
    const job = this.options.takeBackup({ database, file: join(directory, name) });
    this.running = { name, job };
    this.finish(name, job).catch((error: unknown) => this.options.log.error("backup_not_told", { cause: error }));
    return backup(name, { state: "Running" });
  }

  file(name: string): { readonly path: string; readonly sizeBytes: number } {
    const found = this.finishedBackup(name);
    if (found.state !== "Done")
      throw new DomainError("entity_not_found", `The backup ${name} is not complete: ${found.reason}`, {
        entity: "backup",
        id: name,
      });
    return { path: join(this.options.directory, name), sizeBytes: found.size_bytes as number };
  }

  remove(name: string): void {
    const { directory } = this.options;
    this.finishedBackup(name);
    const path = join(directory, name);
    if (regularFile(path) !== null) {
      try {
        rmSync(path);
        syncDirectory(directory);
      } catch (cause) {
        throw storageFull("The disk is failing or cannot be written to: the backup was not deleted.", cause);
      }
    }
    this.failed = this.failed.filter((each) => each.name !== name);
  }

  close(): void {
    this.isClosed = true;
    this.running?.job.abandon();
  }

  /** A backup that is not running. */
  private finishedBackup(name: string): Backup {
    const found = this.find(name);
    if (found === null) throw noSuchBackup(name);
    if (found.state === "Running")
      throw new DomainError("entity_in_use", `The backup ${name} is still being taken.`, {
        entity: "backup",
        id: name,
        dependants: {},
      });
    return found;
  }

  private isTaken(name: string): boolean {
    const path = join(this.options.directory, name);
    return (
      nameExists(path) ||
      nameExists(path + PARTIAL) ||
      this.running?.name === name ||
      this.failed.some((each) => each.name === name)
    );
  }

  private async finish(name: string, job: BackupJob): Promise<void> {
    const { log } = this.options;
    try {
      const { head, sizeBytes } = await job.taken;
      this.running = null;
      log.info("backup_done", { name, sequence: head?.sequence ?? 0, hash: head?.hash ?? null, size_bytes: sizeBytes });
    } catch (error) {
      this.running = null;
      if (this.isClosed) return;
      const isExpected = error instanceof DomainError || error instanceof DatabaseRefused;
      log.error("backup_failed", {
        name,
        reason: isExpected ? error.message : null,
        cause: isExpected ? error.cause : error,
      });
      this.fail(name, isExpected ? error.message : "Something went wrong inside the appliance; see its log.");
    }
  }

  private fail(name: string, reason: string): void {
    this.failed = [...this.failed, backup(name, { state: "Failed", reason })].slice(-MAX_FAILED);
  }

  private files(): string[] {
    const { directory, readNames = readdirSync as (path: string) => string[] } = this.options;
    return existsSync(directory) ? readNames(directory) : [];
  }

  private makeDirectory(): void {
    const { directory } = this.options;
    try {
      if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
      // Even for an existing directory: its creator may have been killed before the directory entry was synced.
      syncDirectory(dirname(directory));
    } catch (cause) {
      throw storageFull("The disk is full, failing or not writable: no backup was started.", cause);
    }
  }

  /** A file with the name of a backup; null if it does not exist or is not a regular file. */
  private readBackup(name: string): Backup | null {
    const path = join(this.options.directory, name);
    const file = regularFile(path);
    if (file === null) return null;
    const key = `${name} ${file.size} ${file.mtimeMs}`;
    let found = this.cache.get(key);
    if (found === undefined) {
      found = read(name, path, file.size);
      // The file may have vanished before it was read.
      if (regularFile(path) === null) return null;
      if (found.state === "Done") this.cache.set(key, found);
    }
    return found;
  }
}

/** @throws DatabaseRefused if it is not a directory, or cannot be opened */
function requireFolder(directory: string): void {
  try {
    syncDirectory(directory);
  } catch (error) {
    throw new DatabaseRefused(`The backup folder ${directory} ${describeReadError(error)}.`);
  }
}

function read(name: string, path: string, size: number): Backup {
  try {
    requireRegular(path);
    const head = headOf(path);
    return backup(name, { state: "Done", size_bytes: size, sequence: head?.sequence ?? 0, hash: head?.hash ?? null });
  } catch (error) {
    const refusal = refusalOf(error, name);
    return backup(name, {
      state: "Failed",
      size_bytes: size,
      reason: refusal instanceof Error ? refusal.message : String(refusal),
    });
  }
}

function backup(name: string, rest: Pick<Backup, "state"> & Partial<Backup>): Backup {
  return { name, created_at: instantOf(name), size_bytes: null, sequence: null, hash: null, reason: null, ...rest };
}

function nameAt(instant: Instant): string {
  return `netledger-${formatInstant(instant).replaceAll(/[-:.]/g, "")}.db`;
}

function instantOf(name: string): string {
  return formatInstant(parseInstant(name.replace(NAME, "$1-$2-$3T$4:$5:$6.$7Z")) ?? 0);
}
