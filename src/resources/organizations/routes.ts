// /api/v1/organizations: the caller's own. Further ones are made by the executable.

import { Type } from "@sinclair/typebox";
import { OWNER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerRecord, answerWrite, type Inventory, type ResourceCall } from "../answers.ts";
import { Organization, ORGANIZATION_EXAMPLE, organizationKind, OrganizationUpdate } from "./organization.ts";

const At = Type.Object(AtQuery);
const group = "Organizations";
const example = { data: ORGANIZATION_EXAMPLE };
const body = { name: "Example Networks" };

/** /api/v1/organizations: the caller's own. */
export function organizationRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  const idOf = (call: ResourceCall<unknown, unknown, unknown>) => inventory.authorOf(call).organizationId;
  surface
    .get(
      "/api/v1/organizations",
      {
        operationId: "getOrganization",
        summary: "Get the caller's organization",
        group,
        access: VIEWER,
        query: At,
        answer: Organization,
        errors: ["entity_not_found"],
        example,
      },
      (call) => answerRecord(inventory, { ...call, params: { id: idOf(call) } }, organizationKind),
    )
    .put(
      "/api/v1/organizations",
      {
        operationId: "updateOrganization",
        summary: "Rename the caller's organization",
        group,
        access: OWNER,
        body: OrganizationUpdate,
        answer: Organization,
        errors: ["validation_id_mismatch", "precondition_failed"],
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "organization.update", { body: call.body }, organizationKind),
    );
}
