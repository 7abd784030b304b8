// Plans for merging and splitting hosts, reviewed before the write.

import type { components } from "#api";
import { api, unwrap } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import { type Plan, type PlanRequest, planQuery } from "../plans/plans.ts";

type MovePlan = components["schemas"]["MovePlan"];

/** Ids of the parts that move to the new host. */
export type SplitParts = Readonly<Record<"ip_address_ids" | "if_entry_ids" | "port_ids" | "service_ids", string[]>>;

/** Moves the parts of another host to this host, and closes the other. @throws Refusal */
export async function joinPlan(
  id: string,
  otherId: string,
  { isDryRun, reason, key, plan }: PlanRequest,
): Promise<Plan> {
  const params = {
    path: { id, other_id: otherId },
    query: { dry_run: isDryRun, ...planQuery(isDryRun, plan) },
    header: isDryRun ? {} : { "Idempotency-Key": key },
  };
  const headers = reasonHeader(reason);
  return planOf(await unwrap(api.PUT("/api/v1/hosts/{id}/consolidate/{other_id}", { params, headers })));
}

/** Creates a new host from parts of another. @throws Refusal */
export async function splitPlan(
  id: string,
  { name, parts }: { readonly name: string; readonly parts: SplitParts },
  { isDryRun, reason, key, plan }: PlanRequest,
): Promise<Plan> {
  const params = { path: { id }, header: isDryRun ? {} : { "Idempotency-Key": key } };
  const headers = reasonHeader(reason);
  const body = { name, ...parts, dry_run: isDryRun, ...planQuery(isDryRun, plan) };
  return planOf(await unwrap(api.POST("/api/v1/hosts/{id}/split", { params, headers, body })));
}

function planOf({ refused: conflicts, ...plan }: MovePlan): Plan {
  return { ...plan, conflicts };
}
