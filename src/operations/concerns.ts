// Appliance conditions that need attention, with their thresholds. A pure function of the status. Reads nothing itself.

import { formatBytes } from "../base/byte-size.ts";
import { type Instant, parseInstant } from "../base/instant.ts";
import type { ApplianceState, Concern } from "./appliance-body.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Below this, the write-ahead log has no room to grow to its limit. */
export const DISK_FULL_BYTES = 64 * 1024 * 1024;
/** Nearly full: less free than both this share of the disk and this size. */
export const DISK_LOW_SHARE = 0.1;
export const DISK_LOW_BYTES = 10 * 1024 * 1024 * 1024;
/** Low memory: less than this available. */
export const MEMORY_LOW_BYTES = 256 * 1024 * 1024;
/** Slow writer: a command has waited longer than this. */
export const WRITE_WAIT_MAX_MS = 10_000;
/** Maximum age of the newest backup. */
export const BACKUP_MAX_DAYS = 7;
/** Minimum remaining validity of the certificate. */
export const CERTIFICATE_MIN_DAYS = 30;
/** Maximum lead of the store's clock over the system clock. */
export const CLOCK_LEAD_REPORTED_MS = 1_000;
/** Time for which log lines of level error are reported. */
export const ERRORS_REPORTED_MS = DAY_MS;

/** The status before its concerns are derived. */
export type ApplianceReading = Omit<ApplianceState, "concerns">;

/**
 * Errors first, then by urgency of the possible loss.
 * @param hasInventory whether there is data to lose
 */
export function concernsOf(state: ApplianceReading, now: Instant, hasInventory: boolean): Concern[] {
  // Losing demo data or a served backup does not matter.
  const hasDataToLose = hasInventory && !state.is_demo && !state.read_only;
  const found = [
    ...diskConcerns(state, hasDataToLose),
    ...memoryConcerns(state),
    ...storeConcerns(state),
    ...(hasDataToLose ? backupConcerns(state, now) : []),
    ...verificationConcerns(state, hasDataToLose),
    ...certificateConcerns(state, now),
    ...clockConcerns(state),
    ...logConcerns(state, now),
  ];
  return [
    ...found.filter(({ severity }) => severity === "error"),
    ...found.filter(({ severity }) => severity !== "error"),
  ];
}

function* diskConcerns({ disk, store, read_only }: ApplianceReading, hasDataToLose: boolean): Generator<Concern> {
  if (disk === null || read_only) return;
  const { free_bytes, size_bytes } = disk;
  const params = { free_bytes, size_bytes };
  const [free, size] = [formatBytes(free_bytes), formatBytes(size_bytes)];
  if (free_bytes < DISK_FULL_BYTES) {
    yield error(
      "disk_full",
      `The disk with the data is full: ${free} of ${size} are free. Once no space is left, writes are refused.`,
      params,
    );
    return;
  }
  if (free_bytes < Math.min(size_bytes * DISK_LOW_SHARE, DISK_LOW_BYTES))
    yield warning("disk_low", `The disk with the data is nearly full: ${free} of ${size} are free.`, params);
  const needed_bytes = store.database_bytes + store.log_bytes;
  if (hasDataToLose && free_bytes < needed_bytes)
    yield warning(
      "no_room_for_backup",
      `There is no space on the disk for a backup: it takes ${formatBytes(needed_bytes)}, and ${free} are free.`,
      { needed_bytes, free_bytes },
    );
}

function* memoryConcerns({ memory: { available_bytes, process_bytes } }: ApplianceReading): Generator<Concern> {
  if (available_bytes === null || available_bytes >= MEMORY_LOW_BYTES) return;
  yield warning(
    "memory_low",
    `Memory is low: ${formatBytes(available_bytes)} are available, and the appliance uses ${formatBytes(process_bytes)}.`,
    { available_bytes, process_bytes },
  );
}

function* storeConcerns({ store: { log_bytes, log_bound_bytes }, work }: ApplianceReading): Generator<Concern> {
  if (log_bytes > log_bound_bytes)
    yield warning(
      "log_large",
      `The database's write-ahead log has ${formatBytes(log_bytes)}: a long read blocks its truncation. Afterwards it shrinks to ${formatBytes(log_bound_bytes)}.`,
      { log_bytes, log_bound_bytes },
    );
  const { writes_waiting, oldest_write_wait_ms } = work;
  if (oldest_write_wait_ms > WRITE_WAIT_MAX_MS)
    yield warning(
      "writes_delayed",
      `Writes are delayed: ${writes_waiting} ${writes_waiting === 1 ? "waits" : "wait"}, the oldest for ${Math.round(oldest_write_wait_ms / 1000)} seconds.`,
      { writes_waiting, oldest_write_wait_ms },
    );
}

function* backupConcerns({ backups: { last, failed, damaged } }: ApplianceReading, now: Instant): Generator<Concern> {
  for (const name of damaged) yield error("backup_damaged", `The backup ${name} is damaged.`, { name });
  if (failed !== null)
    yield warning("backup_failed", `The last backup failed: ${failed.reason ?? "see the log."}`, { name: failed.name });
  if (last === null) {
    yield warning("backup_missing", "No backup has been taken yet.", {});
    return;
  }
  const days = Math.floor((now - instantOf(last.created_at)) / DAY_MS);
  if (days >= BACKUP_MAX_DAYS)
    yield warning("backup_old", `The last backup is ${days} days old.`, { days, name: last.name });
}

function* verificationConcerns(
  { ledger: { verified_at, last_verification: last } }: ApplianceReading,
  hasDataToLose: boolean,
): Generator<Concern> {
  if (last?.is_sound === false) {
    const { id, findings_total } = last;
    yield error(
      "data_damaged",
      `The last verification found the data damaged: ${findings_total} ${findings_total === 1 ? "finding" : "findings"}.`,
      { id, findings_total },
    );
  } else if (last?.status === "Failed")
    yield warning("verification_failed", "The last verification of the data could not be completed.", { id: last.id });
  else if (hasDataToLose && verified_at === null)
    yield warning("verification_missing", "The data has never been verified.", {});
}

function* certificateConcerns({ certificate }: ApplianceReading, now: Instant): Generator<Concern> {
  if (certificate === null) return;
  const { not_before, not_after, days_left } = certificate;
  const until = not_after.slice(0, 10);
  if (now >= instantOf(not_after))
    yield error("certificate_expired", `The TLS certificate expired on ${until}.`, { not_after });
  else if (now < instantOf(not_before))
    yield error("certificate_not_yet_valid", `The TLS certificate is not valid before ${not_before}.`, { not_before });
  else if (days_left < CERTIFICATE_MIN_DAYS)
    yield warning(
      "certificate_expires",
      `The TLS certificate expires on ${until}, in ${days_left} ${days_left === 1 ? "day" : "days"}.`,
      { not_after, days_left },
    );
}

function* clockConcerns({ clock: { lead_ms, is_synchronized } }: ApplianceReading): Generator<Concern> {
  if (lead_ms > CLOCK_LEAD_REPORTED_MS)
    yield warning(
      "clock_ahead",
      `The last transaction is ${Math.ceil(lead_ms / 1000)} seconds ahead of the clock: the clock was set back. New transactions are dated after it until the clock has caught up.`,
      { lead_ms },
    );
  if (is_synchronized === false)
    yield warning("clock_not_synchronized", "The machine's clock is not synchronized.", {});
}

function* logConcerns({ log: { errors, last_error_at } }: ApplianceReading, now: Instant): Generator<Concern> {
  if (last_error_at === null || now - instantOf(last_error_at) > ERRORS_REPORTED_MS) return;
  yield warning(
    "errors_logged",
    `The log has ${errors} ${errors === 1 ? "error" : "errors"} since the start, the last within a day.`,
    { errors, last_error_at },
  );
}

function error(code: Concern["code"], message: string, params: Concern["params"]): Concern {
  return { code, severity: "error", message, params };
}

function warning(code: Concern["code"], message: string, params: Concern["params"]): Concern {
  return { code, severity: "warning", message, params };
}

/** For timestamps written by this program. */
function instantOf(text: string): Instant {
  return parseInstant(text) ?? 0;
}
