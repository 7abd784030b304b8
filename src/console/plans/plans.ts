// Writes with a dry run: undoing a transaction and restoring a record.

import { api, read, unwrap } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import { apiPath, type WrittenKind } from "../kinds/kinds.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import type { PlannedAction } from "./plan-groups.ts";

/** Effects of a write, planned or done. */
export interface Plan {
  readonly applied: boolean;
  /** Transaction of the write. */
  readonly sequence: number | null;
  /** All transactions in order, if the write took several. */
  readonly sequences?: readonly number[];
  readonly actions: readonly PlannedAction[];
  /** Reasons why the write is impossible; for a write done record by record, the skipped records with reasons. */
  readonly conflicts: readonly { readonly id: string; readonly field?: string; readonly message: string }[];
  /** Fingerprint of the plan, sent with the write so that nothing else is applied. */
  readonly plan?: string;
  /** Instant of the restored state; absent if unknown or not applicable. */
  readonly stateAt?: string;
}

/** Options of a request. */
export interface PlanRequest {
  /** Dry run. */
  readonly isDryRun: boolean;
  readonly reason: string;
  /** Idempotency key, from newRequestKey(). */
  readonly key: string;
  /** Fingerprint of the plan shown; the API returns 409 if the effects have changed since. */
  readonly plan?: string | undefined;
}

/** Undoes a transaction. @throws Refusal */
export async function revertPlan(sequence: number, { isDryRun, reason, key, plan }: PlanRequest): Promise<Plan> {
  const stateBefore = isDryRun ? instantBefore(sequence) : null;
  const params = { path: { sequence }, header: isDryRun ? {} : { "Idempotency-Key": key } };
  const body = { dry_run: isDryRun, ...planQuery(isDryRun, plan) };
  const headers = reasonHeader(reason);
  const reverted = await unwrap(api.POST("/api/v1/transactions/{sequence}/revert", { params, headers, body }));
  return withInstant(reverted, await stateBefore);
}

/** Instant just before a transaction; null if unknown. */
async function instantBefore(sequence: number): Promise<string | null> {
  const request = read("/api/v1/transactions/{sequence}", { path: { sequence } });
  const response = await request.load().catch(() => null);
  const atMs = response === null ? null : parseInstant(response.data.at);
  return atMs === null ? null : formatUtc(atMs - 1);
}

function withInstant(plan: Plan, stateAt: string | null): Plan {
  return stateAt === null ? plan : { ...plan, stateAt };
}

/** Undoes several transactions, last one first. @throws Refusal; a retry does not repeat those already undone */
export async function revertPlans(sequences: readonly number[], options: PlanRequest): Promise<Plan> {
  const plans: Plan[] = [];
  for (const sequence of sequences.toReversed())
    plans.push(await revertPlan(sequence, { ...options, key: `${options.key}-${sequence}` }));
  const appliedSequences = plans.flatMap((plan) => plan.sequence ?? []);
  const combined = {
    // Undoing a transaction twice changes nothing.
    applied: plans.some(({ applied }) => applied),
    sequence: appliedSequences.at(-1) ?? null,
    sequences: appliedSequences,
    // With several, each undo changes the plan of the next one; the API rejects an undo after intervening changes.
    ...(sequences.length === 1 && plans[0]?.plan !== undefined ? { plan: plans[0].plan } : {}),
    actions: plans.flatMap(({ actions }) => actions),
    conflicts: plans.flatMap(({ conflicts }) => conflicts),
  };
  // The state before the first transaction.
  return withInstant(combined, plans.at(-1)?.stateAt ?? null);
}

/** Restores a record to an earlier state. @param at timestamp, or `marker:NAME` @throws Refusal */
export async function restorePlan(
  { kind, id, at }: { readonly kind: WrittenKind; readonly id: string; readonly at: string },
  { isDryRun, reason, key, plan }: PlanRequest,
): Promise<Plan> {
  const params = { path: { id }, header: isDryRun ? {} : { "Idempotency-Key": key } };
  const body = { at, dry_run: isDryRun, ...planQuery(isDryRun, plan) };
  const headers = reasonHeader(reason);
  const restored = await unwrap(api.POST(`${apiPath(kind)}/{id}/restore`, { params, headers, body }));
  return withInstant(restored, restored.at);
}

/** Request property with the fingerprint of the plan shown; empty for a dry run. */
export function planQuery(isDryRun: boolean, plan: string | undefined): { plan?: string } {
  return isDryRun || plan === undefined ? {} : { plan };
}
