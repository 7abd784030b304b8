// Implementation of GET /api/v1/summary: record counts, changes of the last day, flapping ports, stale hosts, failed
// scans, conflicts, and the items that need attention. Every step is bounded.

import type { Actor } from "../../access/actor.ts";
import { atLeast } from "../../access/role.ts";
import { EARLIEST_INSTANT, formatInstant, type Instant } from "../../base/instant.ts";
import type { ChangeCounts } from "../../db/change-counts.ts";
import { type AnyKind, valueScope } from "../../db/kind.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeTotals } from "../../db/reading/change-totals.ts";
import { CountedChanges } from "../../db/reading/counted-changes.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, PAUSE } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { failedScans, unreachedByLast } from "../../discovery/scans/scan-reads.ts";
import { type Narrowing, narrowedChanges } from "../../history/narrowing.ts";
import { KINDS, RESOURCES } from "../../records/resources.ts";
import { SUMMARY_CONFLICT_TYPES } from "../../resources/conflict-acceptances/acceptance.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { OPER_STATUSES } from "../../resources/if-entries/vocabulary.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { scheduleKind } from "../../resources/schedules/schedule.ts";
import { metaAt, successBody, thinnedUntilMember } from "../../schemas/envelope.ts";
import { PastNames } from "../activity/names-at.ts";
import { Claims } from "../conflicts/claims.ts";
import { conflictFingerprint } from "../conflicts/conflict.ts";
import { conflictBody } from "../conflicts/conflict-schema.ts";
import { acceptancesByFingerprint, findConflicts } from "../conflicts/find-conflicts.ts";
import { networksAt } from "../networks-at.ts";
import { findWithheld } from "../withheld/find-withheld.ts";
import { WITHHELD_TYPES } from "../withheld/withheld-schema.ts";
import { attentionOf, NO_PROBLEMS, type Problems } from "./attention.ts";
import { flappingPorts } from "./flapping.ts";
import { fullSubnets } from "./full-subnets.ts";
import { recentRecords, topLevelRecords } from "./recent-records.ts";
import { staleHosts } from "./stale-hosts.ts";
import { wanderingMacs } from "./wandering.ts";

export interface SummaryInput {
  readonly actor: Actor;
  /** Only this network; 0 for a network hidden from the caller; null for all. */
  readonly networkN: number | null;
  readonly networkId: string | null;
  readonly moment: FixedMoment;
  /** Transactions of the last day. */
  readonly day: TransactionRange;
  readonly to: Instant;
}

/** Maximum number of items per list; the others are only counted. */
export const SUMMARY_LISTED = 10;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Transactions of the 24 hours before a timestamp. @param sequence the last of them */
export function dayBefore(reader: Reader, to: Instant, sequence: number): TransactionRange {
  return { after: Math.min(sequence, reader.thinnedHistory.lastBefore(to - DAY_MS + 1)), until: sequence };
}

/** Yields the response as an envelope. */
export const summary = longRead("summary", function* (reader: Reader, input: SummaryInput) {
  const parts: Record<string, unknown> = {
    from: formatInstant(Math.max(EARLIEST_INSTANT, input.to - DAY_MS)),
    to: formatInstant(input.to),
  };
  const problems: MutableProblems = { ...NO_PROBLEMS };
  const { sequence, present } = input.moment.asOf;
  for (const part of [
    counts,
    changes,
    flapping,
    wandering,
    stale,
    scans,
    conflictSummary,
    fullSubnetSummary,
    withheldSummary,
  ]) {
    const steps = part(reader, { ...input, sequence, isPresent: present }, problems);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) yield PAUSE;
    Object.assign(parts, step.value);
  }
  parts.needs_attention = attentionOf(problems, input.networkId);
  const thinned = thinnedUntilMember(reader.thinnedHistory.incompleteUntil(input.day.after));
  yield new TextEncoder().encode(successBody(JSON.stringify(parts), metaAt(input.moment, thinned)));
});

/** Items that need attention, as collected by the parts. */
type MutableProblems = { -readonly [Name in keyof Problems]: Problems[Name] };

interface PartInput extends SummaryInput {
  /** Transaction as of the summary's timestamp. */
  readonly sequence: number;
  readonly isPresent: boolean;
}

/** Live records by kind; interfaces by operational status. */
function* counts(reader: Reader, { actor, networkN, networkId, sequence }: PartInput): Generator<void, object> {
  const byKind: Record<string, number> = {};
  const asOf = reader.atSequence(sequence);
  for (const { kind, read } of RESOURCES) {
    if (read.sessionOnly === true || !atLeast(actor.role, read.role)) continue;
    if (networkId !== null && (kind.scopes.network === undefined || kind === networkKind)) continue;
    const within = networkId === null ? {} : { within: { network: networkId } };
    byKind[kind.name] = reader.total({ kind, reach: actor, asOf, ...within, limit: 1, offset: 0 });
    yield;
  }
  const networks = summarizedNetworks(reader, { actor, networkN, sequence });
  const byStatus: Record<string, number> = {};
  for (const status of OPER_STATUSES) {
    const scopes = networks.map((n) => valueScope(ifEntryKind, "oper_status", status, n));
    const [row] = reader
      .statement(
        `SELECT coalesce(sum((SELECT count FROM history_census WHERE scope = c.value AND sequence <= +?2
          ORDER BY sequence DESC LIMIT 1)), 0) FROM json_each(+?1) c`,
      )
      .values(JSON.stringify(scopes), sequence) as Array<[number]>;
    byStatus[status] = row?.[0] ?? 0;
    yield;
  }
  return { counts: byKind, interfaces_by_oper_status: byStatus };
}

/** Records created, updated and deleted within the day by kind, and the latest created and deleted ones. */
function* changes(reader: Reader, { actor, networkN, day, sequence }: PartInput): Generator<void, object> {
  const narrowing: Narrowing = networkN === null ? {} : { networkN };
  const counted = new CountedChanges(reader, narrowedChanges(actor, narrowing));
  const totals: ChangeCounts = { Created: 0, Updated: 0, Deleted: 0 };
  const byKind = new Map<string, ChangeCounts>();
  for (const { scope, counts: scopeCounts } of yield* new ChangeTotals(reader, counted.scopes).perScope(day, null)) {
    const name = kindOf(scope).name;
    const known = byKind.get(name) ?? { Created: 0, Updated: 0, Deleted: 0 };
    byKind.set(name, known);
    for (const operation of ["Created", "Updated", "Deleted"] as const) {
      known[operation] += scopeCounts[operation];
      totals[operation] += scopeCounts[operation];
    }
  }
  const query = topLevelRecords(actor, narrowing);
  const listed = { limit: SUMMARY_LISTED };
  const created = yield* recentRecords(reader, query, day, { operation: "Created", ...listed });
  const deleted = yield* recentRecords(reader, query, day, { operation: "Deleted", ...listed });
  const names = new PastNames(reader, actor, sequence);
  const describeRecord = ({ n, kind, id, sequence: at }: (typeof created)[number]) => ({
    entity_type: kind.name,
    id,
    name: names.of(n)?.name ?? null,
    network_id: names.of(n)?.networkId ?? null,
    at: formatInstant(reader.thinnedHistory.instantOf(at)),
  });
  yield;
  return {
    changes: {
      created: totals.Created,
      updated: totals.Updated,
      deleted: totals.Deleted,
      types: Object.fromEntries(
        [...byKind].map(([name, { Created, Updated, Deleted }]) => [
          name,
          { created: Created, updated: Updated, deleted: Deleted },
        ]),
      ),
    },
    new: created.map(describeRecord),
    vanished: deleted.map(describeRecord),
  };
}

function* flapping(
  reader: Reader,
  { actor, networkN, sequence, to }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  // Like an age in a filter, starts at a retained state in thinned history.
  const after = Math.min(sequence, reader.resolve(to - DAY_MS)?.sequence ?? sequence);
  const { count, ports } = yield* flappingPorts(reader, actor, networkN, { after, until: sequence }, SUMMARY_LISTED);
  problems.flapping = count;
  const names = new PastNames(reader, actor, sequence);
  return {
    flapping: {
      count,
      ports: ports.flatMap(({ n, changes: times, last }) => {
        const port = portRef(names, n);
        const lastAt = formatInstant(reader.thinnedHistory.instantOf(last));
        return port === null ? [] : { ...port, changes: times, last: lastAt };
      }),
    },
  };
}

function* wandering(
  reader: Reader,
  { actor, networkN, day, sequence }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  const macs = yield* wanderingMacs(reader, { reach: actor, networkN, ...day });
  problems.wandering = macs.map(({ macAddress }) => macAddress);
  const names = new PastNames(reader, actor, sequence);
  const entries = [];
  for (const { macAddress, networkId, ports } of macs.slice(0, SUMMARY_LISTED)) {
    const portRefs = ports.slice(0, SUMMARY_LISTED).flatMap((n) => portRef(names, n) ?? []);
    entries.push({ mac_address: macAddress, network_id: networkId, port_count: ports.length, ports: portRefs });
    yield;
  }
  return { wandering: { count: macs.length, macs: entries } };
}

function* stale(
  reader: Reader,
  { actor, networkN, sequence, isPresent }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  const hosts = yield* staleHosts(reader, { reach: actor, networkN, sequence, isPresent });
  problems.stale = hosts.length;
  const names = new PastNames(reader, actor, sequence);
  return {
    stale: {
      count: hosts.length,
      hosts: hosts.slice(0, SUMMARY_LISTED).flatMap(({ n, since }) => {
        const host = names.of(n);
        return host === null ? [] : { id: host.id, name: host.name, network_id: host.networkId, stale_since: since };
      }),
    },
  };
}

function* scans(
  reader: Reader,
  { actor, networkN, sequence, to }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  const after = to - DAY_MS;
  const failed = failedScans(reader, { reach: actor, networkN, after, at: to, sequence });
  problems.failedScans = failed.length;
  const scheduled = new Set(failed.flatMap(({ scheduleId }) => scheduleId ?? []));
  const asOf = reader.atSequence(sequence);
  problems.failedSchedules = [...scheduled].filter((id) => reader.find(scheduleKind, id, actor, asOf) !== null);
  yield;
  const missed = unreachedByLast(
    reader,
    { reach: actor, after, at: to },
    summarizedNetworks(reader, { actor, networkN, sequence }),
  );
  for (const { id, unreached } of missed) {
    if (unreached > problems.mostMissed) [problems.missingScanId, problems.mostMissed] = [id, unreached];
    problems.unreached += unreached;
  }
  yield;
  const networkIds = reader.recordIds(failed.slice(0, SUMMARY_LISTED).map((scan) => scan.networkN));
  return {
    failed_scans: {
      count: failed.length,
      scans: failed.slice(0, SUMMARY_LISTED).map(({ id, endedAt }, index) => ({
        id,
        network_id: networkIds[index],
        ended_at: formatInstant(endedAt),
      })),
    },
  };
}

function* conflictSummary(
  reader: Reader,
  { actor, networkId, sequence, isPresent, to }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  const query = { reach: actor, sequence, at: isPresent ? null : to };
  const found = yield* findConflicts(reader, query, SUMMARY_CONFLICT_TYPES, networkId);
  const accepted = yield* acceptancesByFingerprint(reader, query, found);
  const others = found.filter((each) => !accepted.has(conflictFingerprint(each)));
  problems.conflicts = others.length;
  const known = {
    names: new PastNames(reader, actor, sequence),
    claims: new Claims(reader, query),
    acceptances: accepted,
  };
  const listed = others.slice(0, SUMMARY_LISTED).map((each) => conflictBody(each, known));
  return { conflicts: { count: others.length, accepted_count: found.length - others.length, conflicts: listed } };
}

function* fullSubnetSummary(
  reader: Reader,
  { actor, networkN, sequence }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  const networks = summarizedNetworks(reader, { actor, networkN, sequence });
  problems.fullSubnets = yield* fullSubnets(reader, networks, sequence);
  return {};
}

/** Items that need an Admin's approval; empty for all other roles. */
function* withheldSummary(
  reader: Reader,
  { actor, networkId, sequence }: PartInput,
  problems: MutableProblems,
): Generator<void, object> {
  if (!atLeast(actor.role, "Admin")) return {};
  const found = yield* findWithheld(reader, { reach: actor, networkId, types: WITHHELD_TYPES, sequence });
  problems.withheld = found.length;
  return {};
}

/** A port and its host by id and name; null if unknown. */
function portRef(names: PastNames, n: number) {
  const port = names.of(n);
  const host = port?.hostId == null ? null : names.ofId(port.hostId);
  return port && { id: port.id, name: port.name, host: host && { id: host.id, name: host.name } };
}

/** Live networks covered by the summary. */
function summarizedNetworks(
  reader: Reader,
  { actor, networkN, sequence }: Pick<PartInput, "actor" | "networkN" | "sequence">,
): readonly number[] {
  const networks = networksAt(reader, actor, sequence);
  return networkN === null ? networks : networks.filter((n) => n === networkN);
}

function kindOf(scope: number): AnyKind {
  const code = ((scope % 64) + 64) % 64;
  return KINDS.find((kind) => kind.code === code) as AnyKind;
}
