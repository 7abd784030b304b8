// Current status of the appliance, assembled from memory, a few small files and one row of the store. Scans no table,
// and reveals no path.

import type { Clock } from "../base/clock.ts";
import type { Counters } from "../base/counters.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import { JOURNAL_SIZE_LIMIT_BYTES } from "../db/connection.ts";
import { SCHEMA_VERSION } from "../db/files/migrate.ts";
import type { Reader } from "../db/reading/reader.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import type { TlsPair } from "../tls/pair.ts";
import type { ApplianceState } from "./appliance-body.ts";
import { concernsOf } from "./concerns.ts";
import type { Machine } from "./machine.ts";
import type { Verification } from "./verification.ts";

/** Listener and certificate. */
export interface ListeningState {
  readonly url: string;
  /** Null for plain HTTP. */
  readonly certificate: {
    readonly pair: Omit<TlsPair, "certificate" | "privateKey">;
    readonly isOwn: boolean;
  } | null;
}

/** The reported part of a backup. */
interface KnownBackup {
  readonly name: string;
  readonly state: "Running" | "Done" | "Failed";
  readonly created_at: string;
  readonly size_bytes: number | null;
  readonly sequence: number | null;
  readonly reason: string | null;
}

/** Sources of the status. */
export interface ApplianceSources {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly startedAt: Instant;
  readonly machine: Machine;
  /** Null until listening. */
  readonly served: () => ListeningState | null;
  /** Oldest first. */
  readonly backups: { list(): readonly KnownBackup[] };
  /** Newest first. */
  readonly verifications: { list(): readonly Verification[] };
  readonly counters: Counters;
  readonly log: Pick<Log, "recent">;
  readonly limitations: () => ReadonlyArray<Readonly<ApplianceState["limitations"][number]>>;
  readonly isReadOnly: boolean;
  readonly isDemo: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Present status with its concerns. Reads the disk and the clock, writes nothing. */
export function applianceState(sources: ApplianceSources): ApplianceState {
  const { reader, clock, counters, log, machine, isReadOnly, isDemo } = sources;
  const now = clock.now();
  const disk = machine.disk();
  const store = machine.store();
  const memory = machine.memory();
  const served = sources.served();
  const verifications = sources.verifications.list();
  const backups = backupsOf(sources.backups.list(), verifications);
  const head = reader.head();
  const state = {
    version: SERVER_VERSION,
    schema_version: SCHEMA_VERSION,
    read_only: isReadOnly,
    is_demo: isDemo,
    started_at: formatInstant(sources.startedAt),
    url: served?.url ?? null,
    disk: disk === null ? null : { size_bytes: disk.sizeBytes, free_bytes: disk.freeBytes },
    store: {
      database_bytes: store.databaseBytes,
      log_bytes: store.logBytes,
      log_bound_bytes: JOURNAL_SIZE_LIMIT_BYTES,
    },
    memory: {
      process_bytes: memory.processBytes,
      available_bytes: memory.availableBytes,
      total_bytes: memory.totalBytes,
    },
    work: {
      writes_waiting: counters.valueOf("writes_waiting"),
      oldest_write_wait_ms: counters.valueOf("oldest_write_wait"),
      long_reads: counters.valueOf("long_reads_under_way"),
      scans: counters.valueOf("scans_under_way"),
    },
    backups,
    ledger: ledgerOf(verifications, backups.last?.created_at ?? null),
    clock: {
      now: formatInstant(now),
      last_transaction_at: head.sequence === 0 ? null : formatInstant(head.at),
      // Transactions within one millisecond get consecutive timestamps.
      lead_ms: head.sequence === 0 ? 0 : Math.max(0, head.at - now),
      is_synchronized: machine.isClockSynchronized(),
    },
    certificate: certificateOf(served, now),
    log: {
      warnings: counters.counts.log_lines.warn,
      errors: counters.counts.log_lines.error,
      last_error_at: log.recent.lastAt("error"),
    },
    limitations: sources.limitations().map(({ code, message }) => ({ code, message })),
  };
  return { ...state, concerns: concernsOf(state, now, hasInventory(reader)) };
}

/** Whether anything has been added since the setup. */
function hasInventory(reader: Reader): boolean {
  const [[exists] = [0]] = reader
    .statement("SELECT EXISTS (SELECT 1 FROM hosts) OR EXISTS (SELECT 1 FROM subnets)")
    .values() as Array<[number]>;
  return exists === 1;
}

function backupsOf(backups: readonly KnownBackup[], verifications: readonly Verification[]): ApplianceState["backups"] {
  const done = backups.filter(({ state }) => state === "Done");
  const last = done.at(-1);
  const failed = backups.filter(({ state }) => state === "Failed").at(-1);
  const isFailedLast = failed !== undefined && (last === undefined || failed.created_at > last.created_at);
  return {
    count: done.length,
    size_bytes: backups.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0),
    last:
      last === undefined
        ? null
        : {
            name: last.name,
            created_at: last.created_at,
            size_bytes: last.size_bytes ?? 0,
            sequence: last.sequence ?? 0,
          },
    failed: isFailedLast ? { name: failed.name, created_at: failed.created_at, reason: failed.reason } : null,
    damaged: done
      .map(({ name }) => name)
      .filter(
        (name) =>
          verifications.find(({ backup, status }) => backup === name && status === "Completed")?.is_sound === false,
      ),
  };
}

/** @param backedUpAt time of the newest backup, which was verified then */
function ledgerOf(all: readonly Verification[], backedUpAt: string | null): ApplianceState["ledger"] {
  const ownVerifications = all.filter(({ backup }) => backup === null);
  const last = ownVerifications.find(({ status }) => status === "Completed" || status === "Failed");
  const soundAt = ownVerifications.find(({ is_sound }) => is_sound === true)?.started_at ?? null;
  return {
    verified_at:
      [soundAt, backedUpAt]
        .filter((at) => at !== null)
        .sort()
        .at(-1) ?? null,
    is_verifying: all.some(({ status }) => status === "Running"),
    last_verification:
      last === undefined
        ? null
        : {
            id: last.id,
            status: last.status,
            started_at: last.started_at,
            ended_at: last.ended_at,
            is_sound: last.is_sound,
            findings_total: last.findings_total,
          },
  };
}

function certificateOf(served: ListeningState | null, now: Instant): ApplianceState["certificate"] {
  if (served === null || served.certificate === null) return null;
  const { pair, isOwn } = served.certificate;
  return {
    subject: pair.subject,
    issuer: pair.issuer,
    is_own: isOwn,
    names: pair.names,
    fingerprint: pair.fingerprint,
    not_before: formatInstant(pair.validFrom),
    not_after: formatInstant(pair.validTo),
    days_left: Math.floor((pair.validTo - now) / DAY_MS),
  };
}
