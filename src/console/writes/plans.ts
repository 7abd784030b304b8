// Writes with a dry run: undo of a transaction, and restore of a record.

import { api, read, rethrown } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { reasonHeader } from "../forms/reason.ts";
import { apiPath, type RecordKind } from "../kinds/kinds.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import type { PlannedAction } from "./plan-groups.ts";

/** Effects of a write, planned or done. */
export interface Plan {
  readonly applied: boolean;
  /** Transaction of the write. */
  readonly sequence: number | null;
  /** All transactions of a write that took several, in order. */
  readonly sequences?: readonly number[];
  readonly actions: readonly PlannedAction[];
  /** Obstacles; for a write done record by record, the skipped records with reasons. */
  readonly conflicts: readonly { readonly id: string; readonly field?: string; readonly message: string }[];
  /** Fingerprint of the plan, sent with the write to prevent any other effect. Absent without a plan. */
  readonly plan?: string;
  /** Instant of the restored state; absent if unknown or not applicable. */
  readonly thenAt?: string;
}

/** Options of a request. */
export interface Sending {
  /** Dry run. */
  readonly isTried: boolean;
  readonly reason: string;
  /** From newRequestKey(): the API carries out a key only once. */
  readonly key: string;
  /** Fingerprint of the plan shown; 409 if the effects have changed since. */
  readonly plan?: string | undefined;
}

/** Undoes a transaction. @throws Refusal */
export async function revertPlan(sequence: number, { isTried, reason, key, plan }: Sending): Promise<Plan> {
  const before = isTried ? instantBefore(sequence) : null;
  const { data, error, response } = await api
    .POST("/api/v1/transactions/{sequence}/revert", {
      params: { path: { sequence }, header: isTried ? {} : { "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: { dry_run: isTried, ...quotedPlan(isTried, plan) },
    })
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  return withInstant(data.data, await before);
}

/** Instant just before a transaction; null if unknown. */
async function instantBefore(sequence: number): Promise<string | null> {
  const asked = read("/api/v1/transactions/{sequence}", { path: { sequence } });
  const answered = await asked.load().catch(() => null);
  const atMs = answered === null ? null : parseInstant(answered.data.at);
  return atMs === null ? null : formatUtc(atMs - 1);
}

function withInstant(plan: Plan, thenAt: string | null): Plan {
  return thenAt === null ? plan : { ...plan, thenAt };
}

/**
 * Undoes several transactions, last one first.
 * @throws Refusal; transactions already undone stay so, and a retry does not undo them twice
 */
export async function revertPlans(sequences: readonly number[], sending: Sending): Promise<Plan> {
  const plans: Plan[] = [];
  for (const sequence of sequences.toReversed())
    plans.push(await revertPlan(sequence, { ...sending, key: `${sending.key}-${sequence}` }));
  const done = plans.flatMap((plan) => plan.sequence ?? []);
  const all = {
    // A transaction that was already undone has no effect; the others count as applied.
    applied: plans.some(({ applied }) => applied),
    sequence: done.at(-1) ?? null,
    sequences: done,
    // With several, each undo changes the plan of the next one; the API rejects an undo with intervening changes.
    ...(sequences.length === 1 && plans[0]?.plan !== undefined ? { plan: plans[0].plan } : {}),
    actions: plans.flatMap(({ actions }) => actions),
    conflicts: plans.flatMap(({ conflicts }) => conflicts),
  };
  // State before the first transaction.
  return withInstant(all, plans.at(-1)?.thenAt ?? null);
}

/** Restores a record to an earlier state. @param at an instant, or `marker:NAME` @throws Refusal */
export async function restorePlan(
  { kind, id, at }: { readonly kind: RecordKind; readonly id: string; readonly at: string },
  { isTried, reason, key, plan }: Sending,
): Promise<Plan> {
  const { data, error, response } = await api
    .POST(`${apiPath(kind)}/{id}/restore`, {
      params: { path: { id }, header: isTried ? {} : { "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: { at, dry_run: isTried, ...quotedPlan(isTried, plan) },
    })
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  return withInstant(data.data, data.data.at);
}

/** Fingerprint of the plan shown, as sent with the write. */
export function quotedPlan(isTried: boolean, plan: string | undefined): { plan?: string } {
  return isTried || plan === undefined ? {} : { plan };
}
