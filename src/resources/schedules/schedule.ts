// Scan schedule of a network: times, kind and targets. Does not record whether a scan ran.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import type { Issue } from "../../base/errors.ts";
import { namesOf } from "../../base/fields.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  defineFormat,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TargetText,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { CRON_MAX_LENGTH, nextDueTimes, parseCron, parseTimezone, TIMEZONE_MAX_LENGTH } from "./cron.ts";

/** sweep: find the addresses that respond. snmp: read the devices by SNMP. full: both. */
export const SCAN_KINDS = ["sweep", "snmp", "full"] as const;
export type ScanKind = (typeof SCAN_KINDS)[number];

export const TARGETS_MAX = 1_000;

export const schedules = sqliteTable("schedules", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  is_enabled: integer().notNull(),
});

export const scheduleKind: Kind<ScheduleRecord> = {
  name: "schedule",
  plural: "schedules",
  code: 17,
  table: schedules,
  columns: (schedule) => ({ is_enabled: schedule.is_enabled ? 1 : 0 }),
  scopes: { network: "network_id" },
  references: [{ to: "network", field: "network_id", refuses: true }],
  observed: [],
  absent: "null",
  identity: (schedule) => `${schedule.network_id}/${schedule.name}`,
  unique: { field: "name", value: (schedule) => schedule.name, seenWithin: (schedule) => `${schedule.network_id}/` },
  indexedNames: ({ name }) => [{ field: "name", value: name, as: "Name" }],
  sortKeys: { name: textSortKey },
};

defineFormat("cron", {
  parse: parseCron,
  sentence:
    "must be a cron expression with a next run: minute, hour, day of month, month and day of week, such as 30 2 * * 1-5, or @hourly, @daily, @weekly, @monthly or @yearly",
});
defineFormat("timezone", {
  parse: parseTimezone,
  sentence: "must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC",
});

const CronText = Type.String({
  format: "cron",
  maxLength: CRON_MAX_LENGTH,
  description:
    "Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. No seconds.",
});
const Timezone = Type.String({
  format: "timezone",
  maxLength: TIMEZONE_MAX_LENGTH,
  description: "An IANA time zone name.",
});
const Kinds = OneOf(SCAN_KINDS, {
  description: "sweep: find the addresses that respond. snmp: read the devices by SNMP. full: both.",
});
const Targets = Nullable(Type.Array(TargetText, { minItems: 1, maxItems: TARGETS_MAX }), {
  description:
    "Addresses and CIDRs to scan; the network's credentials may be sent to them. Null: the network's subnets.",
});

const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };
const writeFields = {
  name: Name,
  cron: CronText,
  timezone: Type.Optional({ ...Timezone, description: `${Timezone.description} Default on create: UTC.` }),
  kind: Kinds,
  targets: Type.Optional(Targets),
  is_enabled: Type.Optional(Type.Boolean({ description: "Default on create: true." })),
} satisfies WriteSchemas<ScheduleRecord, "network_id">;
export const SCHEDULE_WRITE_FIELDS = namesOf(writeFields);
const READ_ONLY = [...RECORD_READ_ONLY, "next_run_at"];

export const ScheduleCreate = Body({ ...identifying, network_id: Uuid, ...writeFields }, { ignored: READ_ONLY });
export const ScheduleUpdate = Body(
  { ...identifying, network_id: Type.Optional(Uuid), ...writeFields },
  { ignored: READ_ONLY },
);
export type ScheduleCreate = Static<typeof ScheduleCreate>;
export type ScheduleUpdate = Static<typeof ScheduleUpdate>;

/** Errors of targets that a scan would reject, by list index. */
export type TargetCheck = (
  targets: readonly string[],
) => ReadonlyArray<{ readonly index: number; readonly message: string }>;

/** The same errors as issues of a body. */
export function targetIssues({ targets }: Pick<ScheduleUpdate, "targets">, problemsOf: TargetCheck): Issue[] {
  const values = targets ?? [];
  return problemsOf(values).map(({ index, message }) => ({ path: `/targets/${index}`, message, value: values[index] }));
}

export const Schedule = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    name: Name,
    /** Normalized by parseCron. */
    cron: CronText,
    /** Normalized by parseTimezone. */
    timezone: Timezone,
    kind: Kinds,
    /** Canonical addresses and prefixes, deduplicated. */
    targets: Targets,
    is_enabled: Type.Boolean(),
    next_run_at: Nullable(Timestamp, {
      description: "The next run; null if disabled, and in responses about the past.",
    }),
    ...recordFields,
  },
  { $id: "Schedule" },
);
export interface ScheduleRecord extends RecordOf<typeof Schedule, "next_run_at"> {}

/** Enough to show what an expression means. */
export const DUE_TIMES_MAX = 20;
const DUE_TIMES_DEFAULT = 5;

/** Query for the due times of an expression, with or without a schedule. */
export const DueQuery = Type.Object({
  cron: CronText,
  timezone: Type.Optional({ ...Timezone, description: `${Timezone.description} Default: UTC.` }),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DUE_TIMES_MAX,
      description: `Number of runs to return. Default: ${DUE_TIMES_DEFAULT}.`,
    }),
  ),
});

export const ScheduleDues = Type.Object(
  {
    cron: CronText,
    timezone: Timezone,
    due_at: Type.Array(Timestamp, { description: "Its next runs from now on, in order." }),
  },
  { $id: "ScheduleDues" },
);

/** @param now start of the due times @throws Error for values outside the schema */
export function dueTimesFor(
  { cron, timezone = "UTC", count }: Static<typeof DueQuery>,
  now: Instant,
): Static<typeof ScheduleDues> {
  return { cron, timezone, due_at: nextDueTimes(cron, timezone, now, count ?? DUE_TIMES_DEFAULT).map(formatInstant) };
}

export const DUE_TIMES_EXAMPLE: Static<typeof ScheduleDues> = {
  cron: "30 2 * * 1-5",
  timezone: "Europe/Berlin",
  due_at: ["2026-11-23T01:30:00.000Z", "2026-11-24T01:30:00.000Z"],
};

export const SCHEDULE_EXAMPLE: Static<typeof Schedule> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0017",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  name: "Every night",
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  kind: "full",
  targets: null,
  is_enabled: true,
  next_run_at: "2026-11-22T01:30:00.000Z",
  ...RECORD_EXAMPLE,
};
