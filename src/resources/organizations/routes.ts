// Routes for /api/v1/organizations: the caller's own. The executable creates additional ones.

import { type Access, type Actor, OWNER, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { respondWithRecord } from "../../records/record-responses.ts";
import { respondWithWrite } from "../../records/write-responses.ts";
import { At } from "../../schemas/schemas.ts";
import type { OrganizationCommands } from "./commands.ts";
import { ORGANIZATION_EXAMPLE, Organization, OrganizationUpdate } from "./organization.ts";
import { organizationView } from "./resource.ts";

const group = "Organizations";
const example = { data: ORGANIZATION_EXAMPLE };
const body = { name: "Example Networks", require_change_reason: false };

/** /api/v1/organizations: the caller's own. */
export function organizationRoutes(surface: Surface<Actor, Access>, backend: Backend<OrganizationCommands>): void {
  const idOf = (call: ResourceCall<unknown, unknown, unknown>) => backend.authorOf(call).organizationId;
  surface
    .get(
      "/api/v1/organizations",
      {
        operationId: "getOrganization",
        summary: "Get the caller's organization",
        group,
        access: VIEWER,
        query: At,
        responseSchema: Organization,
        errors: ["entity_not_found"],
        example,
      },
      (call) => respondWithRecord(backend, { ...call, params: { id: idOf(call) } }, organizationView),
    )
    .put(
      "/api/v1/organizations",
      {
        operationId: "updateOrganization",
        summary: "Change the caller's organization",
        description:
          "An omitted optional field keeps its value. Turning off the requirement of a reason needs a reason itself.",
        group,
        access: OWNER,
        body: OrganizationUpdate,
        responseSchema: Organization,
        errors: ["entity_access_denied", "validation_id_mismatch", "precondition_failed"],
        example: { ...example, body },
      },
      (call) => respondWithWrite(backend, call, "organization.update", { body: call.body }, organizationView),
    );
}
