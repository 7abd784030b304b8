// /api/v1/credentials

import { Type } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, CascadeQuery, IdParams, IdsQuery, PageQuery } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerList, answerRecord, answerRemoval, answerWrite, type Inventory } from "../answers.ts";
import { composeCredentials } from "./credential-view.ts";
import { Credential, CREDENTIAL_EXAMPLE, CredentialCreate, credentialKind, CredentialUpdate } from "./credential.ts";

const List = Type.Object({ ...IdsQuery, ...PageQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Credentials";
const example = { data: CREDENTIAL_EXAMPLE };
const body = {
  organization_id: CREDENTIAL_EXAMPLE.organization_id,
  name: CREDENTIAL_EXAMPLE.name,
  credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "the-community" } },
  assigned_network_ids: CREDENTIAL_EXAMPLE.assigned_network_ids,
  host_assignments: [],
  tags: [],
};

/** /api/v1/credentials. No answer holds a secret. */
export function credentialRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get("/api/v1/credentials", { operationId: "listCredentials", summary: "List credentials, their secrets masked", group, access: VIEWER, query: List, answer: Type.Array(Credential), isList: true, example: { data: [CREDENTIAL_EXAMPLE] } }, (call) =>
      answerList(inventory, call, { kind: credentialKind, compose: composeCredentials }),
    )
    .post("/api/v1/credentials", { operationId: "createCredential", summary: "Create a credential", group, access: ADMIN, body: CredentialCreate, answer: Credential, errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "credential.create", { body: call.body }, credentialKind, composeCredentials),
    )
    .get("/api/v1/credentials/:id", { operationId: "getCredential", summary: "Get a credential, its secrets masked", group, access: VIEWER, params: IdParams, query: At, answer: Credential, example }, (call) =>
      answerRecord(inventory, call, credentialKind, composeCredentials),
    )
    .put("/api/v1/credentials/:id", { operationId: "updateCredential", summary: "Update a credential and what it is assigned to", group, access: ADMIN, params: IdParams, body: CredentialUpdate, answer: Credential, errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "credential.update", { id: call.params.id, body: call.body }, credentialKind, composeCredentials),
    )
    .delete("/api/v1/credentials/:id", { operationId: "deleteCredential", summary: "Delete a credential", group, access: ADMIN, params: IdParams, query: Cascade, answer: Credential, errors: ["entity_access_denied", "entity_in_use"], example }, (call) =>
      answerRemoval(inventory, call, "credential.delete", { cascade: call.query.cascade ?? false }, credentialKind, composeCredentials),
    );
}
