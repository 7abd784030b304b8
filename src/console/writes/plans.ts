// Writes that say what they come to before they are done: putting a transaction back, and a record as it was.

import { api, read, rethrown } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { apiPath, type RecordKind } from "../kinds/kinds.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import type { PlannedAction } from "./plan-groups.ts";
import { reasonHeader } from "./reason.ts";

/** What it comes to, or came to. */
export interface Plan {
  readonly applied: boolean;
  /** The transaction that did it. */
  readonly sequence: number | null;
  /** Where it took several, all of them in their order. */
  readonly sequences?: readonly number[];
  readonly actions: readonly PlannedAction[];
  /** What prevents it; of what is done record by record, what was left as it is, and why. */
  readonly conflicts: readonly { readonly id: string; readonly field?: string; readonly message: string }[];
  /** What stands for it: quoted where it is done, so that nothing else is. Left out where there is none. */
  readonly plan?: string;
  /** The instant of which what comes back is; left out where it is not known, or there is none. */
  readonly thenAt?: string;
}

/** How it is sent. */
export interface Sending {
  /** Only to say what it comes to. */
  readonly isTried: boolean;
  readonly reason: string;
  /** Of newRequestKey(): what was done for it is not done again. */
  readonly key: string;
  /** What stands for the plan that was read: 409 where it would come to anything else by now. */
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

/** The instant before a transaction; null where it is not told. */
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
 * Undoes several transactions, the last of them first.
 * @throws Refusal: those that were undone before it stay so, and are not undone twice where it is sent again
 */
export async function revertPlans(sequences: readonly number[], sending: Sending): Promise<Plan> {
  const plans: Plan[] = [];
  for (const sequence of sequences.toReversed())
    plans.push(await revertPlan(sequence, { ...sending, key: `${sending.key}-${sequence}` }));
  const done = plans.flatMap((plan) => plan.sequence ?? []);
  const all = {
    // One that was undone already comes to nothing: what was done for the others is done.
    applied: plans.some(({ applied }) => applied),
    sequence: done.at(-1) ?? null,
    sequences: done,
    // Of several, what one undoes makes another plan of the next: the API refuses each where others came between.
    ...(sequences.length === 1 && plans[0]?.plan !== undefined ? { plan: plans[0].plan } : {}),
    actions: plans.flatMap(({ actions }) => actions),
    conflicts: plans.flatMap(({ conflicts }) => conflicts),
  };
  // What there was before the first of them.
  return withInstant(all, plans.at(-1)?.thenAt ?? null);
}

/** Brings a record back to what it was. @param at an instant, or `marker:NAME` @throws Refusal */
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

/** The plan that was read, as what is done quotes it. */
export function quotedPlan(isTried: boolean, plan: string | undefined): { plan?: string } {
  return isTried || plan === undefined ? {} : { plan };
}
