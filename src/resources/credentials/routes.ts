// Routes of /api/v1/credentials.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
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
const operations = standardOperations(credentialResource, filters);
const CONFINED =
  "A caller limited to some networks can do this only if the credential is assigned in those and nowhere else. An unassigned credential may be meant for anyone.";
const body = {
  organization_id: CREDENTIAL_EXAMPLE.organization_id,
  name: CREDENTIAL_EXAMPLE.name,
  credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "the-community" } },
  assigned_network_ids: CREDENTIAL_EXAMPLE.assigned_network_ids,
  host_assignments: [],
  tags: [],
};

const listed = listing(credentialResource, filters, {});

/** /api/v1/credentials. No response contains a secret. */
export function credentialRoutes(surface: Surface<Actor, Access>, backend: Backend<CredentialCommands>): void {
  surface
    .get("/api/v1/credentials", operations.list({ summary: "List credentials, with their secrets masked" }), (call) =>
      answerList(backend, call, listed(call.query)),
    )
    .get(
      "/api/v1/credentials/export/csv",
      operations.table({ summary: "Export credentials as CSV, with their secrets masked" }),
      (call) => answerCsv(backend, call, listed(call.query)),
    )
    .postHandedOver(
      "/api/v1/credentials",
      operations.create(CredentialCreate, body, {
        description: "A caller limited to some networks can assign it only in those.",
      }),
      (call) => answerWrite(backend, call, "credential.create", { body: call.body }, credentialResource),
    )
    .get("/api/v1/credentials/:id", operations.get({ summary: "Get a credential, with its secrets masked" }), (call) =>
      answerRecord(backend, call, credentialResource),
    )
    .putHandedOver(
      "/api/v1/credentials/:id",
      operations.update(
        CredentialUpdate,
        { ...body, assigned_network_ids: [] },
        {
          summary: "Update a credential and its assignments",
          description: `${CONFINED} Sending back unchanged data changes nothing; any secret but the mask is refused, whether it equals the stored one or not.`,
          errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"],
        },
      ),
      (call) =>
        answerWrite(backend, call, "credential.update", { id: call.params.id, body: call.body }, credentialResource),
    )
    .delete(
      "/api/v1/credentials/:id",
      operations.remove({ description: CONFINED, errors: ["entity_access_denied", "entity_in_use"] }),
      (call) => answerRemoval(backend, call, "credential.delete", credentialResource),
    )
    .post(
      "/api/v1/credentials/bulk-delete",
      operations.removeMany({ description: CONFINED, errors: ["entity_access_denied", "entity_in_use"] }),
      (call) => answerBulkRemoval(backend, call, "credential.bulk_delete", credentialResource),
    );
}
