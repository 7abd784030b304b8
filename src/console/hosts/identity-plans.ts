// Plans for merging and splitting hosts, reviewed before the write.

import type { components } from "#api";
import { api, done } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import { type Plan, quotedPlan, type Sending } from "../writes/plans.ts";

type MovePlan = components["schemas"]["MovePlan"];

/** Ids of the parts that move to the new host. */
export interface SplitParts {
  readonly ip_address_ids: readonly string[];
  readonly if_entry_ids: readonly string[];
  readonly port_ids: readonly string[];
  readonly service_ids: readonly string[];
}

/** Moves the parts of another host to this one, and closes the other. @throws Refusal */
export async function joinPlan(id: string, otherId: string, { isTried, reason, key, plan }: Sending): Promise<Plan> {
  return planOf(
    await done(
      api.PUT("/api/v1/hosts/{id}/consolidate/{other_id}", {
        params: {
          path: { id, other_id: otherId },
          query: { dry_run: isTried, ...quotedPlan(isTried, plan) },
          header: isTried ? {} : { "Idempotency-Key": key },
        },
        headers: reasonHeader(reason),
      }),
    ),
  );
}

/** Creates a new host from parts of another. @throws Refusal */
export async function splitPlan(
  id: string,
  { name, parts }: { readonly name: string; readonly parts: SplitParts },
  { isTried, reason, key, plan }: Sending,
): Promise<Plan> {
  const { ip_address_ids, if_entry_ids, port_ids, service_ids } = parts;
  return planOf(
    await done(
      api.POST("/api/v1/hosts/{id}/split", {
        params: { path: { id }, header: isTried ? {} : { "Idempotency-Key": key } },
        headers: reasonHeader(reason),
        body: {
          name,
          ip_address_ids: [...ip_address_ids],
          if_entry_ids: [...if_entry_ids],
          port_ids: [...port_ids],
          service_ids: [...service_ids],
          dry_run: isTried,
          ...quotedPlan(isTried, plan),
        },
      }),
    ),
  );
}

function planOf({ applied, sequence, plan, actions, refused }: MovePlan): Plan {
  return { applied, sequence, plan, actions, conflicts: refused };
}
