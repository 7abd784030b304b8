// Response schema of the appliance status.

import { type Static, Type } from "@sinclair/typebox";
import { wordList } from "../base/word-list.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../schemas/schemas.ts";
import { VERIFICATION_STATUSES } from "./verification.ts";

/** Conditions that need attention. */
export const CONCERN_CODES = [
  ...wordList("disk_full data_damaged backup_damaged certificate_expired certificate_not_yet_valid disk_low"),
  ...wordList("no_room_for_backup memory_low log_large writes_delayed backup_missing backup_old backup_failed"),
  ...wordList("verification_missing verification_failed certificate_expires clock_ahead clock_not_synchronized"),
  ...wordList("errors_logged"),
] as const;

const Bytes = (description: string) => Type.Integer({ minimum: 0, description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const Concern = Type.Object({
  code: OneOf(CONCERN_CODES, { description: "Stable and machine-readable." }),
  severity: OneOf(["error", "warning"], {
    description: "error: something is broken or damaged. warning: something will fail soon, or could go unnoticed.",
  }),
  message: Type.String({ description: "One sentence." }),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()]), {
    description: "The values in the message.",
  }),
});
export type Concern = Static<typeof Concern>;

const Disk = Type.Object({
  size_bytes: Bytes("Size of the file system that contains the data folder."),
  free_bytes: Bytes("Space that the appliance can still use."),
});

const Certificate = Type.Object({
  subject: Type.String(),
  issuer: Type.String(),
  is_own: Type.Boolean({
    description: "Whether the appliance generated the certificate itself, which it then also renews.",
  }),
  names: Type.String({ description: "Its subject names: `DNS:netledger.example.net, IP Address:10.0.0.5`." }),
  fingerprint: Type.String({ description: "SHA-256, as browsers and openssl show it." }),
  not_before: Timestamp,
  not_after: Timestamp,
  days_left: Type.Integer({ description: "Whole days until `not_after`; negative once it has passed." }),
});

const Backups = Type.Object({
  count: Count("Number of complete backups in the `backups` folder."),
  size_bytes: Bytes("Total size of the files in that folder."),
  last: Nullable(
    Type.Object({
      name: Type.String(),
      created_at: Timestamp,
      size_bytes: Bytes("Size of the backup file."),
      sequence: Type.Integer({ minimum: 0, description: "The newest transaction in the backup." }),
    }),
    { description: "The newest complete backup. Each is verified when it is taken." },
  ),
  failed: Nullable(Type.Object({ name: Type.String(), created_at: Timestamp, reason: Nullable(Type.String()) }), {
    description: "The last failed backup, if no complete one is newer.",
  }),
  damaged: Type.Array(Type.String(), { description: "Names of backups in which a later verification found damage." }),
});

export const ApplianceBody = Type.Object(
  {
    version: Type.String(),
    schema_version: Type.Integer(),
    read_only: Type.Boolean({ description: "Whether it serves a backup." }),
    is_demo: Type.Boolean(),
    started_at: Timestamp,
    url: Nullable(Type.String(), { description: "URL on which the appliance listens." }),
    disk: Nullable(Disk, { description: "Null if the file system does not report it." }),
    store: Type.Object({
      database_bytes: Bytes("The database file."),
      log_bytes: Bytes("Its write-ahead log."),
      log_bound_bytes: Bytes("The size to which the log shrinks once no read uses it."),
    }),
    memory: Type.Object({
      process_bytes: Bytes("Resident memory of this process."),
      available_bytes: Nullable(Bytes(""), { description: "Memory still available." }),
      total_bytes: Nullable(Bytes(""), {
        description: "Memory of the machine, or the limit of the control group if that is lower.",
      }),
    }),
    work: Type.Object({
      writes_waiting: Count("Commands waiting for the writer."),
      oldest_write_wait_ms: Count("Waiting time of the oldest of them."),
      long_reads: Count("Running long reads."),
      scans: Count("Scans queued or running."),
    }),
    backups: Backups,
    ledger: Type.Object({
      verified_at: Nullable(Timestamp, {
        description:
          "The last time the data was found intact: by a verification, or by a backup, which verifies the copy.",
      }),
      is_verifying: Type.Boolean({ description: "Whether a verification is running, of the data or of a backup." }),
      last_verification: Nullable(
        Type.Object({
          id: Uuid,
          status: OneOf(VERIFICATION_STATUSES),
          started_at: Timestamp,
          ended_at: Nullable(Timestamp),
          is_sound: Nullable(Type.Boolean()),
          findings_total: Count("Number of findings."),
        }),
        { description: "The last verification of the appliance's own data that ended by itself." },
      ),
    }),
    clock: Type.Object({
      now: Timestamp,
      last_transaction_at: Nullable(Timestamp),
      lead_ms: Count("Lead of the last transaction over the clock, if the clock was set back."),
      is_synchronized: Nullable(Type.Boolean(), {
        description: "Whether systemd-timesyncd has set the clock; null if another time service does, or none.",
      }),
    }),
    certificate: Nullable(Certificate, { description: "The certificate of new connections; null for plain HTTP." }),
    log: Type.Object({
      warnings: Count("Lines of level warn since the start."),
      errors: Count("Lines of level error since the start."),
      last_error_at: Nullable(Timestamp),
    }),
    limitations: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
      description: "As in `GET /api/health`.",
    }),
    concerns: Type.Array(Concern, {
      description: "Conditions that need attention, errors first. The thresholds are in the handbook: Running it.",
    }),
  },
  { $id: "Appliance" },
);
export type ApplianceState = Static<typeof ApplianceBody>;

export const APPLIANCE_EXAMPLE: ApplianceState = {
  version: SERVER_VERSION,
  schema_version: 31,
  read_only: false,
  is_demo: false,
  started_at: "2026-11-14T05:00:00.120Z",
  url: "https://10.0.0.5",
  disk: { size_bytes: 105_089_261_568, free_bytes: 8_589_934_592 },
  store: { database_bytes: 6_929_547_264, log_bytes: 8_388_608, log_bound_bytes: 67_108_864 },
  memory: { process_bytes: 412_090_368, available_bytes: 3_221_225_472, total_bytes: 8_589_934_592 },
  work: { writes_waiting: 2, oldest_write_wait_ms: 14, long_reads: 0, scans: 1 },
  backups: {
    count: 3,
    size_bytes: 20_788_641_792,
    last: {
      name: "netledger-20261121T091500123Z.db",
      created_at: "2026-11-21T09:15:00.123Z",
      size_bytes: 6_929_547_264,
      sequence: 131_725,
    },
    failed: null,
    damaged: [],
  },
  ledger: {
    verified_at: "2026-11-21T09:16:12.007Z",
    is_verifying: false,
    last_verification: {
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0041",
      status: "Completed",
      started_at: "2026-11-21T09:15:00.123Z",
      ended_at: "2026-11-21T09:16:12.007Z",
      is_sound: true,
      findings_total: 0,
    },
  },
  clock: {
    now: "2026-11-21T09:20:00.000Z",
    last_transaction_at: "2026-11-21T09:19:58.411Z",
    lead_ms: 0,
    is_synchronized: true,
  },
  certificate: {
    subject: "CN=netledger",
    issuer: "CN=netledger",
    is_own: true,
    names: "DNS:netledger.example.net, IP Address:10.0.0.5",
    fingerprint: "4F:0C:…:9A",
    not_before: "2026-11-13T05:00:00.000Z",
    not_after: "2029-02-16T05:00:00.000Z",
    days_left: 817,
  },
  log: { warnings: 4, errors: 0, last_error_at: null },
  limitations: [],
  concerns: [
    {
      code: "disk_low",
      severity: "warning",
      message: "The disk with the data is nearly full: 8.6 GB of 106 GB are free.",
      params: { free_bytes: 8_589_934_592, size_bytes: 105_089_261_568 },
    },
  ],
};
