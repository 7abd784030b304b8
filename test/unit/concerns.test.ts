// Appliance concerns, each with its threshold tested from both sides.

import { describe, expect, test } from "bun:test";
import { APPLIANCE_EXAMPLE } from "../../src/operations/appliance-body.ts";
import {
  type ApplianceReading,
  BACKUP_MAX_DAYS,
  CERTIFICATE_MIN_DAYS,
  CLOCK_LEAD_REPORTED_MS,
  concernsOf,
  DISK_FULL_BYTES,
  DISK_LOW_BYTES,
  ERRORS_REPORTED_MS,
  MEMORY_LOW_BYTES,
  WRITE_WAIT_MAX_MS,
} from "../../src/operations/concerns.ts";
import { isSynchronized, memoryLeft } from "../../src/operations/machine.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);
const timestamp = (ms: number) => new Date(ms).toISOString();

const { concerns: _, ...EXAMPLE } = APPLIANCE_EXAMPLE;
const HEALTHY: ApplianceReading = {
  ...EXAMPLE,
  disk: { size_bytes: 1e12, free_bytes: 5e11 },
  store: { ...EXAMPLE.store, database_bytes: 1e9, log_bytes: 1e6 },
};
const { last_verification: verification } = EXAMPLE.ledger;
const { certificate } = EXAMPLE;
const { last } = EXAMPLE.backups;

function codes(change: Partial<ApplianceReading>, hasInventory = true): string[] {
  return concernsOf({ ...HEALTHY, ...change }, NOW, hasInventory).map(({ code, severity }) => `${severity} ${code}`);
}

test("a healthy appliance needs no attention", () => expect(codes({})).toEqual([]));

test.each<[string, Partial<ApplianceReading>, Partial<ApplianceReading>]>([
  ["error disk_full", free(DISK_FULL_BYTES - 1), free(DISK_FULL_BYTES * 1_000)],
  ["warning disk_low", free(DISK_LOW_BYTES - 1), free(DISK_LOW_BYTES)],
  ["warning disk_low", free(4.9e9, 5e10), free(5e9, 5e10)],
  ["warning log_large", log(HEALTHY.store.log_bound_bytes + 1), log(HEALTHY.store.log_bound_bytes)],
  ["warning memory_low", memory(MEMORY_LOW_BYTES - 1), memory(MEMORY_LOW_BYTES)],
  ["warning memory_low", memory(0), memory(null)],
  ["warning writes_delayed", waiting(WRITE_WAIT_MAX_MS + 1), waiting(WRITE_WAIT_MAX_MS)],
  ["warning backup_old", backedUp(BACKUP_MAX_DAYS * DAY_MS), backedUp(BACKUP_MAX_DAYS * DAY_MS - 1)],
  ["warning backup_missing", { backups: { ...HEALTHY.backups, last: null } }, {}],
  ["warning backup_failed", failed("The disk is full."), {}],
  ["error backup_damaged", { backups: { ...HEALTHY.backups, damaged: ["a.db"] } }, {}],
  ["error data_damaged", verified({ is_sound: false, findings_total: 3 }), verified({})],
  ["warning verification_failed", verified({ status: "Failed", is_sound: null }), verified({})],
  [
    "warning verification_missing",
    { ledger: { ...HEALTHY.ledger, verified_at: null, last_verification: null } },
    { ledger: { ...HEALTHY.ledger, last_verification: null } },
  ],
  ["error certificate_expired", ends(0), ends(CERTIFICATE_MIN_DAYS * DAY_MS)],
  ["warning certificate_expires", ends(CERTIFICATE_MIN_DAYS * DAY_MS - 1), ends(CERTIFICATE_MIN_DAYS * DAY_MS)],
  ["error certificate_not_yet_valid", begins(NOW + 1), begins(NOW)],
  ["warning clock_ahead", clock({ lead_ms: CLOCK_LEAD_REPORTED_MS + 1 }), clock({ lead_ms: CLOCK_LEAD_REPORTED_MS })],
  ["warning clock_not_synchronized", clock({ is_synchronized: false }), clock({ is_synchronized: null })],
  ["warning errors_logged", errored(NOW - ERRORS_REPORTED_MS), errored(NOW - ERRORS_REPORTED_MS - 1)],
])("%s is reported beyond its threshold only", (concern, beyond, within) => {
  expect(codes(beyond)).toEqual([concern]);
  expect(codes(within)).toEqual([]);
});

test("a disk without room for a copy of the database is reported, unless it is full anyway", () => {
  const store = { ...HEALTHY.store, database_bytes: 6e11 };
  expect(codes({ store })).toEqual(["warning no_room_for_backup"]);
  expect(codes({ store, ...free(1_000) })).toEqual(["error disk_full"]);
});

test("errors come first", () => {
  expect(codes({ ...memory(0), ...ends(0) })).toEqual(["error certificate_expired", "warning memory_low"]);
});

test("nothing is reported missing for an empty store, a demo, or a copy", () => {
  const missing = {
    backups: { ...HEALTHY.backups, last: null },
    ledger: { ...HEALTHY.ledger, verified_at: null, last_verification: null },
  };
  expect(codes(missing)).toEqual(["warning backup_missing", "warning verification_missing"]);
  expect(codes(missing, false)).toEqual([]);
  expect(codes({ ...missing, is_demo: true })).toEqual([]);
  expect(codes({ ...missing, ...free(0), read_only: true })).toEqual([]);
});

describe("the available memory", () => {
  const MEMINFO = "MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    4000000 kB\n";
  const read = (files: Record<string, string>) => memoryLeft((path) => files[path] ?? null);

  test("is the machine's, as given by the kernel", () => {
    expect(read({ "/proc/meminfo": MEMINFO })).toEqual({ totalBytes: 8_192_000_000, availableBytes: 4_096_000_000 });
  });

  test("is the control group's under a limit, including reclaimable file pages", () => {
    const group = "/sys/fs/cgroup/system.slice/netledger.service";
    const files = {
      "/proc/meminfo": MEMINFO,
      "/proc/self/cgroup": "0::/system.slice/netledger.service\n",
      [`${group}/memory.current`]: "900\n",
      [`${group}/memory.stat`]: "anon 700\ninactive_file 150\n",
    };
    expect(read({ ...files, [`${group}/memory.max`]: "1000\n" })).toEqual({ totalBytes: 1_000, availableBytes: 250 });
    expect(read({ ...files, [`${group}/memory.max`]: "max\n" })).toMatchObject({ totalBytes: 8_192_000_000 });
  });

  test("is unknown without data", () => expect(read({})).toEqual({ totalBytes: null, availableBytes: null }));

  test("clock synchronization is known only under timesyncd", () => {
    const synchronizedWith = (...paths: string[]) => isSynchronized((path) => paths.includes(path));
    expect(synchronizedWith("/run/systemd/timesync", "/run/systemd/timesync/synchronized")).toBe(true);
    expect(synchronizedWith("/run/systemd/timesync")).toBe(false);
    expect(synchronizedWith()).toBeNull();
  });
});

/** A disk of any size, with a database that fits on it. */
function free(free_bytes: number, size_bytes = 1e12): Partial<ApplianceReading> {
  return { disk: { size_bytes, free_bytes }, store: { ...HEALTHY.store, database_bytes: 1, log_bytes: 1 } };
}

function log(log_bytes: number): Partial<ApplianceReading> {
  return { store: { ...HEALTHY.store, log_bytes } };
}

function memory(available_bytes: number | null): Partial<ApplianceReading> {
  return { memory: { ...HEALTHY.memory, available_bytes } };
}

function waiting(oldest_write_wait_ms: number): Partial<ApplianceReading> {
  return { work: { ...HEALTHY.work, oldest_write_wait_ms } };
}

function backedUp(ageMs: number): Partial<ApplianceReading> {
  return { backups: { ...HEALTHY.backups, last: last && { ...last, created_at: timestamp(NOW - ageMs) } } };
}

function failed(reason: string): Partial<ApplianceReading> {
  return { backups: { ...HEALTHY.backups, failed: { name: "b.db", created_at: timestamp(NOW), reason } } };
}

function verified(change: Partial<NonNullable<typeof verification>>): Partial<ApplianceReading> {
  return { ledger: { ...HEALTHY.ledger, last_verification: verification && { ...verification, ...change } } };
}

function ends(remainingMs: number): Partial<ApplianceReading> {
  const days_left = Math.floor(remainingMs / DAY_MS);
  return { certificate: certificate && { ...certificate, not_after: timestamp(NOW + remainingMs), days_left } };
}

function begins(instant: number): Partial<ApplianceReading> {
  return { certificate: certificate && { ...certificate, not_before: timestamp(instant) } };
}

function clock(change: Partial<ApplianceReading["clock"]>): Partial<ApplianceReading> {
  return { clock: { ...HEALTHY.clock, ...change } };
}

function errored(instant: number): Partial<ApplianceReading> {
  return { log: { ...HEALTHY.log, errors: 2, last_error_at: timestamp(instant) } };
}
