// Scan schemas: request, progress and outcome. Stored outside the ledger: a scan that finds nothing new writes nothing
// there.

import { type Static, Type } from "@sinclair/typebox";
import { SCAN_KINDS, type ScanKind, TARGETS_MAX } from "../../resources/schedules/schedule.ts";
import { SKIPPED_TYPES } from "../../resources/subnets/subnet-type.ts";
import { Body, Nullable, OneOf, TargetText, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { ROW_REASONS } from "../rows.ts";
import { FINDING_TYPES, OUTSIDE_REPORTED_MAX } from "../sightings.ts";

export const SCAN_STATUSES = ["Queued", "Running", "Completed", "Cancelled", "Failed", "Interrupted"] as const;
export type ScanStatus = (typeof SCAN_STATUSES)[number];
/** Final states of a scan. */
export type ScanEnding = Exclude<ScanStatus, "Queued" | "Running">;

/** In order; a scan of many addresses alternates between sweep and snmp. */
const SCAN_PHASES = ["dispatch", "target_ips", "sweep", "snmp", "follow", "links", "stale", "done"] as const;
export type ScanPhase = (typeof SCAN_PHASES)[number];

/** Maximum queued scans per network, not counting scans with a reserved slot. */
export const SCANS_WAITING_MAX = 10;
/** Of these, the maximum per user, including the user's API keys. */
export const SCANS_WAITING_OF_USER_MAX = 3;
/** Of these, the places reserved for Admins and Owners. */
export const SCANS_WAITING_OF_ADMINS = 2;
/** Networks scanned concurrently. */
export const SCANS_RUNNING_MAX = 4;
/** Scans stored per network; the next scan deletes the oldest ended one. */
export const STORED_SCANS_MAX = 1_000;
/** Findings stored per scan; any more are only counted. */
export const STORED_FINDINGS_MAX = 10_000;
/** Additional Read findings, which account for the rows of device tables: enough for about 10,000 devices. */
export const STORED_READS_MAX = 100_000;
/** Newest scans per network that keep Read findings. */
export const SCANS_WITH_READS = 10;
/** Interval between progress reports of a running scan. */
export const PROGRESS_INTERVAL_MS = 250;

/** Coverage of a scan without targets, and the limit for targets named by roles below Admin. */
export const SCANNED_SUBNETS = `the network's subnets, except those of type ${SKIPPED_TYPES.slice(0, -1).join(", ")} and ${SKIPPED_TYPES.at(-1)}`;

interface RequestedBy {
  readonly type: "User" | "ApiKey" | "Discovery" | "System";
  readonly id: string | null;
  readonly name: string;
}

/** Queue place of a waiting scan. */
export interface QueuePosition {
  /** The user, also for an API key; null for a schedule. */
  readonly user_id: string | null;
  readonly is_admins: boolean;
  /** True if the place does not count toward the network's limit. */
  readonly is_own: boolean;
}

/** Scan request. */
export interface ScanRequest {
  readonly kind: ScanKind;
  /** Canonical; null for the network's subnets. */
  readonly targets: readonly string[] | null;
  readonly commit: boolean;
  readonly allow_large: boolean;
  /** True if an Admin named the targets. */
  readonly are_targets_permitted: boolean;
  readonly schedule_id: string | null;
  readonly requested_by: RequestedBy;
  /** Queue place while waiting. */
  readonly place: QueuePosition;
  /** Reason given by the requester. */
  readonly reason: string | null;
}

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const CountsBy = (description: string) => Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description });

const Progress = Type.Object(
  {
    phase: OneOf(SCAN_PHASES),
    addresses_total: Count("Addresses to scan."),
    addresses_done: Count("Of these, those that responded or timed out."),
    hosts_found: Count("Addresses that responded in any way."),
    devices_asked: Count("Addresses asked by SNMP."),
    devices_answered: Count("Of these, those that responded."),
    requests: Count("Requests sent, of any kind."),
    errors: CountsBy("Errors by kind: addresses that did not respond to SNMP, and errors of the sweep."),
    seconds_left: Nullable(Type.Integer({ minimum: 0 }), {
      description: "Estimate for the current phase; null while there is none.",
    }),
    findings: Count("Findings saved so far, including those no longer kept."),
  },
  { $id: "ScanProgress" },
);
/** Progress as the scanning thread reports it. */
export type ScanProgress = Omit<Static<typeof Progress>, "findings">;

const Records = Type.Object({
  created: Type.Integer({ minimum: 0 }),
  updated: Type.Integer({ minimum: 0 }),
  deleted: Type.Integer({ minimum: 0 }),
});

const Outcome = Type.Object(
  {
    records: Type.Record(Type.String(), Records, {
      description: "Records by kind (in the plural): what was written, or with `commit: false` what would be.",
    }),
    hosts: Type.Object({
      found: Count("Addresses that responded in any way."),
      devices: Count("Devices that responded to SNMP."),
      unreached: Count("Known hosts and named targets that did not respond to SNMP."),
    }),
    findings: CountsBy("Findings by type, including those no longer kept."),
    findings_dropped: Count("Findings beyond the limit, which are not kept."),
    transactions: Nullable(Type.Object({ first: Type.Integer({ minimum: 1 }), last: Type.Integer({ minimum: 1 }) }), {
      description: "Its first and last ledger transaction; null if it changed nothing.",
    }),
    icmp: Nullable(Type.String(), {
      description: "The methods of the sweep, ICMP's first; null if nothing was swept.",
    }),
    problem: Nullable(Type.String(), {
      description: "Why it ended early, or why it could not scan at all.",
    }),
  },
  { $id: "ScanOutcome" },
);
export type ScanOutcome = Static<typeof Outcome>;

export const Scan = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    kind: OneOf(SCAN_KINDS),
    targets: Nullable(Type.Array(Type.String()), {
      description: "Addresses and CIDRs; null for the network's subnets.",
    }),
    commit: Type.Boolean({ description: "false: nothing is written; the findings describe what would be written." }),
    allow_large: Type.Boolean(),
    are_targets_permitted: Type.Boolean({
      description: "Whether an Admin named the targets, so that the network's credentials may be sent to all of them.",
    }),
    schedule_id: Nullable(Uuid, { description: "The schedule that started it." }),
    requested_by: Type.Object({
      type: OneOf(["User", "ApiKey", "Discovery", "System"]),
      id: Nullable(Uuid),
      name: Type.String(),
    }),
    reason: Nullable(Type.String(), {
      description: "The `X-Change-Reason` it was started with, which its transactions carry; null if there was none.",
    }),
    status: OneOf(SCAN_STATUSES),
    requested_at: Timestamp,
    started_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
    progress: Nullable(Progress, { description: "Null before the scan starts, or if `at` is a time while it ran." }),
    outcome: Nullable(Outcome, { description: "Null until it ends." }),
  },
  { $id: "Scan" },
);
export type Scan = Static<typeof Scan>;

export const ScanCreate = Body({
  network_id: Uuid,
  kind: OneOf(SCAN_KINDS, {
    description:
      "sweep: find which addresses respond, and on which ports. snmp: read the known hosts, or every target, by SNMP. full: a sweep, then SNMP on what responds.",
  }),
  targets: Type.Optional(
    Nullable(
      Type.Array(TargetText, {
        minItems: 1,
        maxItems: TARGETS_MAX,
        description: `Addresses and CIDRs to scan instead of all subnets. Those that an Admin names may be anywhere, and receive the network's credentials as well. A Member can name targets inside ${SCANNED_SUBNETS}; credentials are sent there as without \`targets\`. Each address is scanned once.`,
      }),
    ),
  ),
  commit: Type.Optional(
    Type.Boolean({ default: true, description: "false: write nothing, and report what would be written." }),
  ),
  allow_large: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Accept IPv4 targets larger than /16. IPv6 targets larger than /112 are never accepted.",
    }),
  ),
});
export type ScanCreate = Static<typeof ScanCreate>;

export const ScanFinding = Type.Object(
  {
    type: OneOf(FINDING_TYPES),
    entity: Nullable(Type.String(), { description: "The kind of record; null if there is none." }),
    id: Nullable(Uuid),
    label: Type.String({ description: "A host's name, an address, a CIDR." }),
    reason: Type.String({ description: "Why, in one phrase." }),
    other_id: Type.Optional({ ...Uuid, description: "For Undecided: the host that it may be." }),
    records: Type.Optional(
      Type.Record(Type.String(), Records, { description: "For a host: its children, by kind (in the plural)." }),
    ),
    rows: Type.Optional(
      Type.Object(
        {
          read: Count("Rows read."),
          kept: Count("Rows kept."),
          set_aside: CountsBy(
            `Rows not kept, by reason: ${Object.entries(ROW_REASONS)
              .map(([reason, words]) => `\`${reason}\` ${words}`)
              .join("; ")}.`,
          ),
        },
        { description: "For a table of a device: `read` is `kept` plus all of `set_aside`." },
      ),
    ),
    addresses: Type.Optional(
      Type.Array(Type.String(), {
        description: `For an ARP table: the addresses in none of the network's subnets, ${OUTSIDE_REPORTED_MAX} at most.`,
      }),
    ),
    changes: Type.Optional(
      Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
        description: "With `commit: false`: for each field, its value now and what it would be.",
      }),
    ),
  },
  { $id: "ScanFinding" },
);

export const NO_PROGRESS: ScanProgress = {
  phase: "dispatch",
  addresses_total: 0,
  addresses_done: 0,
  hosts_found: 0,
  devices_asked: 0,
  devices_answered: 0,
  requests: 0,
  errors: {},
  seconds_left: null,
};

export const NO_OUTCOME: ScanOutcome = {
  records: {},
  hosts: { found: 0, devices: 0, unreached: 0 },
  findings: {},
  findings_dropped: 0,
  transactions: null,
  icmp: null,
  problem: null,
};

/** Author name of a scan's changes in the ledger. */
export function scanName(kind: ScanKind): string {
  return `${kind} scan`;
}

export const SCAN_EXAMPLE: Scan = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  kind: "full",
  targets: null,
  commit: true,
  allow_large: false,
  are_targets_permitted: false,
  schedule_id: null,
  requested_by: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada" },
  reason: "CHG-4711: after the move",
  status: "Completed",
  requested_at: "2026-11-21T09:15:00.123Z",
  started_at: "2026-11-21T09:15:00.131Z",
  ended_at: "2026-11-21T09:15:42.007Z",
  progress: {
    phase: "done",
    addresses_total: 254,
    addresses_done: 254,
    hosts_found: 31,
    devices_asked: 31,
    devices_answered: 6,
    requests: 4_120,
    errors: { no_answer: 25 },
    seconds_left: 0,
    findings: 32,
  },
  outcome: {
    records: { hosts: { created: 31, updated: 0, deleted: 0 }, if_entries: { created: 312, updated: 0, deleted: 0 } },
    hosts: { found: 31, devices: 6, unreached: 1 },
    findings: { Created: 31, Unreached: 1 },
    findings_dropped: 0,
    transactions: { first: 42, last: 45 },
    icmp: "ICMP by raw socket, ARP, TCP",
    problem: null,
  },
};
export const QUEUED_EXAMPLE: Scan = {
  ...SCAN_EXAMPLE,
  status: "Queued",
  started_at: null,
  ended_at: null,
  progress: null,
  outcome: null,
};
export const FINDING_EXAMPLE: Static<typeof ScanFinding> = {
  type: "Unreached",
  entity: "host",
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  label: "core-1",
  reason: "10.2.3.1: wrong password",
};
