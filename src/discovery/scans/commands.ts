// Writer commands for scans. The reconcile commands write the findings.

import { and, asc, desc, eq, inArray, lt, notInArray, sql } from "drizzle-orm";
import { type CommandActor, requireRole } from "../../access/actor.ts";
import { findReachable, getReachable, getReferenced } from "../../access/reach.ts";
import { atLeast, type Role } from "../../access/role.ts";
import { DomainError, invalid, notFound } from "../../base/errors.ts";
import { withChanges, withChecksum } from "../../db/row-checksum.ts";
import type { CallsOf } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { assertReachesCredential } from "../../resources/credential-assignments/reach.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { ScanKind } from "../../resources/schedules/schedule.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { Finding } from "../sightings.ts";
import {
  NO_OUTCOME,
  type QueuePosition,
  SCANNED_SUBNETS,
  SCANS_WAITING_MAX,
  SCANS_WAITING_OF_ADMINS,
  SCANS_WAITING_OF_USER_MAX,
  SCANS_WITH_READS,
  type Scan,
  type ScanEnding,
  type ScanOutcome,
  type ScanProgress,
  STORED_SCANS_MAX,
} from "./scan.ts";
import { targetProblems, targetsOutside } from "./scope.ts";
import { scanOf } from "./stored-scan.ts";
import {
  type CheckedScan,
  discoveryFindings,
  discoveryScans,
  discoveryScheduleRuns,
  type StoredScan,
} from "./tables.ts";
import type { TrialRequest } from "./trial.ts";

const ACTIVE = ["Queued", "Running"] as const;

export interface QueueScanInput {
  readonly network_id: string;
  readonly kind: ScanKind;
  /** Canonical and valid; null for the network's subnets. */
  readonly targets: readonly string[] | null;
  readonly commit: boolean;
  readonly allow_large: boolean;
  /** The due schedule and its due time. */
  readonly schedule: { readonly id: string; readonly due_at: number } | null;
}

/**
 * @throws DomainError entity_reference_invalid for the network; entity_in_use if too many scans are queued;
 * auth_permission_denied for targets that the caller may not name
 */
function queueScan(tx: WriteTransaction, input: QueueScanInput, actor: CommandActor): Scan {
  return queue(tx, input, actor, false);
}

/** @param isCheck true for a check of a single address in the inventory */
function queue(tx: WriteTransaction, input: QueueScanInput, actor: CommandActor, isCheck: boolean): Scan {
  const [network] = getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  if (network === undefined) throw new Error("scans: the network does not exist");
  // Only an Admin can write a schedule's targets (schedules/commands.ts).
  const areTargetsPermitted =
    input.targets !== null && (input.schedule !== null || atLeast(actor.role, ROLE_FOR_ANY_TARGET));
  if (input.targets !== null && !areTargetsPermitted) assertWithinSubnets(tx, network.id, input.targets, actor.role);
  const networkN = numberOf(tx, network.id);
  const position = queuePositionFor(tx, { ...input, networkN, isCheck }, actor);
  if (input.schedule !== null) passSchedule(tx, { schedule_id: input.schedule.id, due_at: input.schedule.due_at });
  const row: StoredScan = {
    id: tx.newId(),
    organization_n: numberOf(tx, actor.organizationId),
    network_n: networkN,
    status: "Queued",
    requested_at: tx.instant,
    started_at: null,
    ended_at: null,
    request: {
      kind: input.kind,
      targets: input.targets,
      commit: input.commit,
      allow_large: input.allow_large,
      are_targets_permitted: areTargetsPermitted,
      schedule_id: input.schedule?.id ?? null,
      requested_by: { type: actor.type, id: actor.id, name: actor.name },
      place: position,
      reason: actor.reason ?? null,
    },
    progress: null,
    outcome: null,
  };
  tx.db.insert(discoveryScans).values(withChecksum(discoveryScans, row)).run();
  deleteOldScans(tx, networkN);
  deleteOldReads(tx, networkN);
  return scanOf(row, network.id);
}

/**
 * Assigns a queue place. Each schedule has its own, and each Admin one for checks. No single user can take all the
 * others, and neither can users below Admin together.
 * @throws DomainError entity_in_use
 */
function queuePositionFor(
  tx: WriteTransaction,
  input: Pick<QueueScanInput, "network_id" | "schedule"> & { readonly networkN: number; readonly isCheck: boolean },
  actor: CommandActor,
): QueuePosition {
  const position = { user_id: actor.userId, is_admins: atLeast(actor.role, "Admin"), is_own: false };
  if (input.schedule !== null) return { ...position, is_own: true };
  const positions = tx.db
    .select({ request: discoveryScans.request })
    .from(discoveryScans)
    .where(and(eq(discoveryScans.network_n, input.networkN), eq(discoveryScans.status, "Queued")))
    .all()
    .map(({ request }) => request.place);
  const own = positions.filter((each) => each.user_id === actor.userId);
  if (input.isCheck && position.is_admins && !own.some((each) => each.is_own)) return { ...position, is_own: true };
  const refuse = (waiting: number, what: string, detail: string) => {
    throw new DomainError(
      "entity_in_use",
      `${waiting} ${what} of this network are already queued${detail}; cancel one, or wait until one starts.`,
      { entity: "network", id: input.network_id, dependants: { scans: waiting } },
    );
  };
  const shared = positions.filter((each) => !each.is_own);
  if (shared.length >= SCANS_WAITING_MAX) refuse(shared.length, "scans", "");
  const userCount = own.filter((each) => !each.is_own).length;
  if (userCount >= SCANS_WAITING_OF_USER_MAX) refuse(userCount, "of your scans", "");
  const memberCount = shared.filter((each) => !each.is_admins).length;
  if (!position.is_admins && memberCount >= SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS)
    refuse(memberCount, "scans", ", and the other places are for Admins and Owners");
  return position;
}

export interface AddressCheck {
  /** IP address ID. */
  readonly id: string;
  readonly kind: ScanKind;
}

/**
 * Queues a scan of a single address, with the same permissions as any scan with this target.
 * @throws DomainError entity_not_found; validation_failed for an address that scans never poll; else as queueScan
 */
function checkAddress(tx: WriteTransaction, { id, kind }: AddressCheck, actor: CommandActor): Scan {
  const { network_id, ip_address } = getReachable(tx, ipAddressKind, id, actor);
  const targets = [ip_address];
  const [problem] = targetProblems(targets, false);
  if (problem !== undefined)
    throw invalid([{ path: "/ip_address", message: `cannot be checked: it ${problem.message}`, value: ip_address }]);
  return queue(tx, { network_id, kind, targets, commit: true, allow_large: false, schedule: null }, actor, true);
}

/**
 * Checks that the caller may send a credential to any address. Writes nothing.
 * @throws DomainError entity_not_found; entity_reference_invalid for the network; validation_failed for an address that
 * scans never poll; auth_permission_denied; entity_access_denied for a credential that a confined caller may not assign
 */
function tryCredential(tx: WriteTransaction, input: TrialRequest, actor: CommandActor): TrialRequest {
  const { credential_id, network_id, ip_address } = input;
  const { id } = getReachable(tx, credentialKind, credential_id, actor);
  requireRole(actor.role, ROLE_FOR_ANY_TARGET, "Trying a credential");
  getReferenced(tx, networkKind, [network_id], "network_id", actor);
  assertReachesCredential(tx, id, actor);
  const [problem] = targetProblems([ip_address], false);
  if (problem !== undefined) throw invalid([{ path: "/ip_address", message: problem.message, value: ip_address }]);
  return { credential_id: id, network_id, ip_address };
}

/** Role required to name any target and send the network's credentials there. */
const ROLE_FOR_ANY_TARGET: Role = "Admin";

/**
 * Lower roles may name addresses that a scan of the network's subnets covers. The subnets are checked again when the
 * scan runs.
 * @throws DomainError auth_permission_denied
 */
function assertWithinSubnets(tx: WriteTransaction, networkId: string, targets: readonly string[], role: Role): void {
  const outside = targetsOutside(targets, tx.children(subnetKind, "network_n", networkId));
  if (outside.length === 0) return;
  throw new DomainError(
    "auth_permission_denied",
    `Not all of ${outside[0]} is inside ${SCANNED_SUBNETS}: naming it as a target requires the role ${ROLE_FOR_ANY_TARGET}; yours is ${role}.`,
    { required: ROLE_FOR_ANY_TARGET, actual: role },
  );
}

/** Role that the requester of a scan must still have. */
export function requiredRole({ are_targets_permitted }: Pick<Scan, "are_targets_permitted">): Role {
  return are_targets_permitted ? ROLE_FOR_ANY_TARGET : "Member";
}

export interface Dispatched {
  /** Addresses to poll first, by credential. */
  readonly target_ips: ReadonlyArray<{ readonly credential_id: string; readonly ip_addresses: readonly string[] }>;
  /** True if an Admin named the targets: the network's credentials may be sent there. */
  readonly are_targets_permitted: boolean;
}

/**
 * Starts a scan. A scan that polls SNMP takes over the first addresses of credentials assigned in its network or
 * nowhere, and clears them unless it is a dry run.
 * @returns null if the scan is no longer queued, or if its network was deleted, which ends the scan
 */
function dispatchScan(tx: WriteTransaction, input: { id: string }, actor: CommandActor): Dispatched | null {
  const row = find(tx, input.id);
  if (row === null || row.status !== "Queued") return null;
  const networkId = tx.recordId(row.network_n) as string;
  if (tx.find(networkKind, networkId) === null) {
    const outcome = { ...NO_OUTCOME, problem: "the network was deleted" };
    change(tx, row, { status: "Failed", ended_at: tx.instant, outcome });
    return null;
  }
  change(tx, row, { status: "Running", started_at: tx.instant });
  const { kind, commit } = row.request;
  const are_targets_permitted = row.request.targets !== null && row.request.are_targets_permitted;
  if (kind === "sweep") return { target_ips: [], are_targets_permitted };
  const target_ips: Array<{ credential_id: string; ip_addresses: readonly string[] }> = [];
  for (const id of credentialsWithTargets(tx, row.organization_n)) {
    const credential = tx.get(credentialKind, id);
    const assignments = tx.children(credentialAssignmentKind, "credential_n", id);
    if (
      credential.target_ips === null ||
      (assignments.length > 0 && !assignments.some((each) => each.network_id === networkId))
    )
      continue;
    target_ips.push({ credential_id: id, ip_addresses: credential.target_ips });
    if (commit && actor.organizationId === credential.organization_id)
      tx.update(credentialKind, id, { target_ips: null });
  }
  return { target_ips, are_targets_permitted };
}

export interface ScanNote {
  readonly id: string;
  /** Ordinal of the first finding within the scan. */
  readonly ordinal: number;
  readonly findings: readonly Finding[];
  readonly progress: ScanProgress;
  readonly outcome: ScanOutcome;
}

interface ScanNoteResult {
  readonly isNetworkGone: boolean;
}

/** Saves the findings of a running scan so far, in case the appliance is interrupted. */
function noteScan(tx: WriteTransaction, input: { bytes: Uint8Array }): ScanNoteResult {
  const { id, ordinal, findings, progress, outcome } = JSON.parse(new TextDecoder().decode(input.bytes)) as ScanNote;
  const row = find(tx, id);
  const networkId = row === null ? null : tx.recordId(row.network_n);
  const result = { isNetworkGone: networkId === null || tx.find(networkKind, networkId) === null };
  if (row?.status !== "Running") return result;
  change(tx, row, { progress, outcome });
  for (const [position, finding] of findings.entries()) {
    const values = { scan_id: id, ordinal: ordinal + position, type: finding.type, finding };
    const stored = withChecksum(discoveryFindings, values);
    tx.db.insert(discoveryFindings).values(stored).onConflictDoNothing().run();
  }
  return result;
}

export interface ScanEnd {
  readonly id: string;
  readonly status: ScanEnding;
  /** Null: keep the last saved value. */
  readonly progress: ScanProgress | null;
  readonly outcome: ScanOutcome | null;
  /** Null keeps the outcome's problem. */
  readonly problem: string | null;
}

/** Ends a queued or running scan; does not change an ended one. */
function endScan(tx: WriteTransaction, input: ScanEnd): void {
  const row = find(tx, input.id);
  if (row === null || !isActive(row)) return;
  const outcome = input.outcome ?? row.outcome ?? NO_OUTCOME;
  change(tx, row, {
    status: input.status,
    ended_at: tx.instant,
    outcome: input.problem === null ? outcome : { ...outcome, problem: input.problem },
    ...(input.progress === null ? {} : { progress: input.progress }),
  });
}

/**
 * Ends a queued scan; a running one is ended by its runner.
 * @throws DomainError entity_not_found; entity_stale if the scan has ended
 */
function cancelScan(tx: WriteTransaction, input: { id: string }, actor: CommandActor): Scan {
  const row = find(tx, input.id);
  const networkId = row === null ? null : tx.recordId(row.network_n);
  if (row === null || networkId === null || findReachable(tx, networkKind, networkId, actor) === null)
    throw notFound({ name: "scan" }, input.id);
  if (!isActive(row)) {
    const params = { entity: "scan", expected: ACTIVE.join(" or "), actual: row.status };
    throw new DomainError("entity_stale", `The scan has already ended: ${row.status}.`, params);
  }
  if (row.status === "Queued") change(tx, row, { status: "Cancelled", ended_at: tx.instant, outcome: NO_OUTCOME });
  return scanOf(find(tx, row.id) as StoredScan, networkId);
}

/** Interrupts all queued and running scans. @returns their number */
function interruptScans(tx: WriteTransaction, input: { problem: string }): number {
  const rows = tx.db
    .select()
    .from(discoveryScans)
    .where(inArray(discoveryScans.status, [...ACTIVE]))
    .orderBy(asc(discoveryScans.id))
    .all();
  for (const row of rows) {
    const outcome = { ...(row.outcome ?? NO_OUTCOME), problem: input.problem };
    change(tx, row, { status: "Interrupted", ended_at: tx.instant, outcome });
  }
  return rows.length;
}

/** Stores the last handled due time of a schedule; nothing if the schedule was deleted. */
function passSchedule(tx: WriteTransaction, input: { schedule_id: string; due_at: number }): void {
  const scheduleN = tx.recordN(input.schedule_id);
  if (scheduleN === null) return;
  const row = withChecksum(discoveryScheduleRuns, { schedule_n: scheduleN, due_at: input.due_at });
  const target = discoveryScheduleRuns.schedule_n;
  tx.db.insert(discoveryScheduleRuns).values(row).onConflictDoUpdate({ target, set: row }).run();
}

function find(tx: WriteTransaction, id: string): CheckedScan | null {
  return tx.db.select().from(discoveryScans).where(eq(discoveryScans.id, id)).all()[0] ?? null;
}

function isActive(row: StoredScan): boolean {
  return row.status === "Queued" || row.status === "Running";
}

function change(tx: WriteTransaction, row: CheckedScan, changes: Partial<StoredScan>): void {
  tx.db
    .update(discoveryScans)
    .set(withChanges(discoveryScans, row, changes))
    .where(eq(discoveryScans.id, row.id))
    .run();
}

function numberOf(tx: WriteTransaction, id: string): number {
  const n = tx.recordN(id);
  if (n === null) throw new Error(`scans: ${id} has no number`);
  return n;
}

/** Deletes the oldest ended scans with their findings, except incomplete ones whose reads or sweeps are the last ones. */
function deleteOldScans(tx: WriteTransaction, networkN: number): void {
  const oldestRetained = scanBeyond(tx, networkN, STORED_SCANS_MAX - 1);
  if (oldestRetained === null) return;
  tx.db
    .delete(discoveryScans)
    .where(
      and(
        eq(discoveryScans.network_n, networkN),
        lt(discoveryScans.id, oldestRetained),
        notInArray(discoveryScans.status, [...ACTIVE]),
        sql`(${discoveryScans.status} = 'Completed' OR ${discoveryScans.id} NOT IN (${usedScans(networkN)}))`,
      ),
    )
    .run();
}

/** Ids of scans that the coverage of addresses still rests on, where a missing one counts as completed. */
function usedScans(networkN: number) {
  const columns = ["scan_id", "previous_scan_id"];
  const selects = ["discovery_reporters", "discovery_sweeps"].flatMap((table) =>
    columns.map((column) => `SELECT ${column} FROM ${table} WHERE network_n = ${networkN}`),
  );
  return sql.raw(selects.join(" UNION "));
}

/** Deletes the Read findings of a scan once it is no longer among the newest. */
function deleteOldReads(tx: WriteTransaction, networkN: number): void {
  const outdated = scanBeyond(tx, networkN, SCANS_WITH_READS);
  if (outdated === null) return;
  tx.db
    .delete(discoveryFindings)
    .where(and(eq(discoveryFindings.scan_id, outdated), eq(discoveryFindings.type, "Read")))
    .run();
}

/** Returns the newest scan of a network that is not among its `count` newest; null if there is none. */
function scanBeyond(tx: WriteTransaction, networkN: number, count: number): string | null {
  const [scan] = tx.db
    .select({ id: discoveryScans.id })
    .from(discoveryScans)
    .where(eq(discoveryScans.network_n, networkN))
    .orderBy(desc(discoveryScans.id))
    .limit(1)
    .offset(count)
    .all();
  return scan?.id ?? null;
}

/** Returns an organization's credentials that have first addresses. */
function credentialsWithTargets(tx: WriteTransaction, organizationN: number): string[] {
  const rows = tx.db.$client
    .query(
      `SELECT r.id FROM credentials c JOIN history_records r ON r.n = c.n
        WHERE c.organization_n = ? AND json_type('{' || c.members || '}', '$.target_ips') = 'array' ORDER BY c.n`,
    )
    .values(organizationN) as Array<[string]>;
  return rows.map(([id]) => id);
}

export const scanCommands = {
  "discovery.cancel": cancelScan,
  "discovery.check": checkAddress,
  "discovery.dispatch": dispatchScan,
  "discovery.end": endScan,
  "discovery.interrupt": interruptScans,
  "discovery.note": noteScan,
  "discovery.queue": queueScan,
  "discovery.schedule_pass": passSchedule,
  "discovery.try": tryCredential,
};
export type ScanCommands = CallsOf<typeof scanCommands>;
