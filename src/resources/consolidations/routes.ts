// Routes for /api/v1/hosts/{id}/consolidate/{other_id} and /api/v1/hosts/{id}/split.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { runWrite, type WriteResult } from "../../records/write-responses.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { PLAN_TOKEN_LENGTH, PlanToken } from "../../schemas/plan-token.ts";
import { IdParams, Uuid } from "../../schemas/schemas.ts";
import { HOST_EXAMPLE } from "../hosts/host-example.ts";
import { hostResource } from "../hosts/resource.ts";
import { IP_ADDRESS_EXAMPLE } from "../ip-addresses/ip-address.ts";
import type { ConsolidationCommands } from "./commands.ts";
import { MovePlan, type MoveResult } from "./plan.ts";
import { HostSplit } from "./split.ts";

const { group } = hostResource;
/** Same id as in the bulk-write example. */
const OTHER_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030";
const dry_run = Type.Optional(
  Type.Boolean({ default: false, description: "true: return the plan and its obstacles, and write nothing." }),
);
const HONORS = "All or nothing, in one transaction that can be reverted. Honors `If-Match` with the host's ETag.";

/** Routes to consolidate and to split hosts. */
export function consolidationRoutes(surface: Surface<Actor, Access>, backend: Backend<ConsolidationCommands>): void {
  surface.post(
    "/api/v1/hosts/:id/split",
    {
      operationId: "splitHost",
      summary: "Split one host into two",
      description: `Moves the given addresses, interface entries, ports and services to a new host; they keep their ids and history. Bindings move with their service if its port and address move too; otherwise they end. Credentials are sent to the same addresses as before and nowhere else. Scans do not re-create moved records on the original host: each discovered one gets an ignored entry there. Requires the role Admin if the host has credentials assigned. ${HONORS}`,
      group,
      access: MEMBER,
      params: IdParams,
      body: HostSplit,
      responseSchema: MovePlan,
      errors: [
        "precondition_failed",
        "entity_reference_invalid",
        "entity_access_denied",
        "entity_already_exists",
        "entity_stale",
      ],
      example: {
        parameters: { id: HOST_EXAMPLE.id },
        body: { name: "web-2", ip_address_ids: [IP_ADDRESS_EXAMPLE.id], dry_run: true },
        data: {
          host_id: null,
          applied: false,
          sequence: null,
          plan: "5".repeat(PLAN_TOKEN_LENGTH),
          actions: [
            { entity_type: "host", id: null, name: "web-2", action: "Created", fields: [] },
            {
              entity_type: "ip_address",
              id: IP_ADDRESS_EXAMPLE.id,
              name: IP_ADDRESS_EXAMPLE.ip_address,
              action: "Moved",
              fields: ["host_id"],
            },
          ],
          refused: [],
        },
      },
    },
    (call) => respondWithMove(call, runWrite(backend, call, "host.split", { id: call.params.id, body: call.body })),
  );
  surface.put(
    "/api/v1/hosts/:id/consolidate/:other_id",
    {
      operationId: "consolidateHosts",
      summary: "Consolidate two hosts into one",
      description: `Moves the addresses, interface entries, ports, services, bindings and credential assignments of the other host to this host, and closes the other; its history is listed with that of this host, and its last version has \`consolidated_into\`. If both have the same address, port, \`if_index\` or service, this host's is kept. Tags are merged; missing fields of this host are taken from the other. Neighbors, bindings and virtualization that refer to closed records then refer to the kept ones. Credentials are sent to the same addresses as before and nowhere else: addresses that await confirmation still await it. Scans that find either host update this one. Both must be in the same network. Requires the role Admin if either host has credentials assigned. ${HONORS}`,
      group,
      access: MEMBER,
      params: Type.Object({
        id: { ...Uuid, description: "The id of the destination, which remains." },
        other_id: { ...Uuid, description: "The id of the other host, which is closed." },
      }),
      query: Type.Object({ dry_run, plan: Type.Optional(PlanToken) }),
      responseSchema: MovePlan,
      errors: ["precondition_failed", "entity_access_denied", "entity_stale"],
      example: {
        parameters: { id: HOST_EXAMPLE.id, other_id: OTHER_ID },
        data: {
          host_id: HOST_EXAMPLE.id,
          applied: true,
          sequence: 42,
          plan: "5".repeat(PLAN_TOKEN_LENGTH),
          actions: [
            {
              entity_type: "if_entry",
              id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0035",
              name: "GigabitEthernet1/0/1",
              action: "Moved",
              fields: ["host_id"],
            },
            {
              entity_type: "host",
              id: OTHER_ID,
              name: "access-1",
              action: "Closed",
              fields: [],
              into_id: HOST_EXAMPLE.id,
              reason: "its parts move to the destination",
            },
          ],
          refused: [],
        },
      },
    },
    (call) => {
      const { id, other_id: otherId } = call.params;
      const { dry_run: dryRun = false, plan } = call.query;
      return respondWithMove(call, runWrite(backend, call, "host.consolidate", { id, otherId, dryRun, plan }));
    },
  );
}

async function respondWithMove(
  call: ResourceCall<unknown, unknown, unknown>,
  pending: Promise<WriteResult<MoveResult>>,
): Promise<Response> {
  const { sequence, result } = await pending;
  const { hostId: host_id, token: plan, actions, refused } = result;
  const body = { host_id, applied: sequence !== null, sequence, plan, actions, refused };
  return successResponse(call, JSON.stringify(body));
}
