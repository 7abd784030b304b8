// Routes for /api/v1/credentials.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { CredentialCommands } from "./commands.ts";
import { CREDENTIAL_EXAMPLE, CredentialCreate, CredentialUpdate, credentialKind } from "./credential.ts";
import { credentialResource } from "./resource.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the credential's name"),
  ...orderQuery(credentialKind, ["created_at", "name", "credential_type", "secrets_updated_at", "updated_at"]),
};
const CONFINED =
  "A caller limited to some networks can do this only if the credential is assigned in those and nowhere else. An unassigned credential may be intended for other networks.";
const body = {
  organization_id: CREDENTIAL_EXAMPLE.organization_id,
  name: CREDENTIAL_EXAMPLE.name,
  credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "the-community" } },
  assigned_network_ids: CREDENTIAL_EXAMPLE.assigned_network_ids,
  host_assignments: [],
  tags: [],
};

const { routesOn } = standardRoutes(credentialResource, filters, {});

/** /api/v1/credentials. No response contains a secret. */
export function credentialRoutes(surface: Surface<Actor, Access>, backend: Backend<CredentialCommands>): void {
  const routes = routesOn(surface, backend, "credential");
  routes.lists(
    { summary: "List credentials, with their secrets masked" },
    { summary: "Export credentials as CSV, with their secrets masked" },
  );
  routes.create(CredentialCreate, body, {
    description: "A caller limited to some networks can assign it only in those.",
    acceptsRawBody: true,
  });
  routes.get({ summary: "Get a credential, with its secrets masked" });
  const updateBody = { ...body, assigned_network_ids: [] };
  routes.update(CredentialUpdate, updateBody, {
    summary: "Update a credential and its assignments",
    description: `${CONFINED} Sending back unchanged data changes nothing; any secret other than the mask is refused, even if it equals the stored one.`,
    errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"],
    acceptsRawBody: true,
  });
  routes.removals({ description: CONFINED, errors: ["entity_access_denied", "entity_in_use"] });
}
