// /api/v1/credentials

import { Type, type Static } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  answerWrite,
  csvAnswer,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { composeCredentials } from "./credential-view.ts";
import {
  Credential,
  CREDENTIAL_EXAMPLE,
  CREDENTIAL_KEYED_FIELDS,
  CREDENTIAL_ORDER_FIELDS,
  CredentialCreate,
  credentialKind,
  CredentialUpdate,
} from "./credential.ts";

const filters = { ...IdsQuery, ...orderQuery(CREDENTIAL_ORDER_FIELDS) };
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Credentials";
const CONFINED =
  "A caller that is confined to some networks may where the credential is assigned within these, and nowhere else: one that is assigned to nothing may be meant for anybody.";
const example = { data: CREDENTIAL_EXAMPLE };
const body = {
  organization_id: CREDENTIAL_EXAMPLE.organization_id,
  name: CREDENTIAL_EXAMPLE.name,
  credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "the-community" } },
  assigned_network_ids: CREDENTIAL_EXAMPLE.assigned_network_ids,
  host_assignments: [],
  tags: [],
};

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return { kind: credentialKind, order: orderTerms(query, CREDENTIAL_KEYED_FIELDS), compose: composeCredentials };
}

/** /api/v1/credentials. No answer holds a secret. */
export function credentialRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/credentials",
      {
        operationId: "listCredentials",
        summary: "List credentials, their secrets masked",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Credential),
        isList: true,
        example: { data: [CREDENTIAL_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/credentials/export/csv",
      {
        operationId: "exportCredentials",
        summary: "Export credentials as CSV, their secrets masked",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("credentials", schemaColumns(Credential), CREDENTIAL_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .postHandedOver(
      "/api/v1/credentials",
      {
        operationId: "createCredential",
        summary: "Create a credential",
        description: "A caller that is confined to some networks assigns it within these.",
        group,
        access: ADMIN,
        body: CredentialCreate,
        answer: Credential,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: CREDENTIAL_EXAMPLE.id, ...body } },
      },
      (call) =>
        answerWrite(inventory, call, "credential.create", { body: call.body }, credentialKind, composeCredentials),
    )
    .get(
      "/api/v1/credentials/:id",
      {
        operationId: "getCredential",
        summary: "Get a credential, its secrets masked",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Credential,
        example,
      },
      (call) => answerRecord(inventory, call, credentialKind, composeCredentials),
    )
    .putHandedOver(
      "/api/v1/credentials/:id",
      {
        operationId: "updateCredential",
        summary: "Update a credential and what it is assigned to",
        description: CONFINED,
        group,
        access: ADMIN,
        params: IdParams,
        body: CredentialUpdate,
        answer: Credential,
        errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"],
        example: { ...example, body: { ...body, assigned_network_ids: [] } },
      },
      (call) =>
        answerWrite(
          inventory,
          call,
          "credential.update",
          { id: call.params.id, body: call.body },
          credentialKind,
          composeCredentials,
        ),
    )
    .delete(
      "/api/v1/credentials/:id",
      {
        operationId: "deleteCredential",
        summary: "Delete a credential",
        description: CONFINED,
        group,
        access: ADMIN,
        params: IdParams,
        query: Cascade,
        answer: Credential,
        errors: ["entity_access_denied", "entity_in_use"],
        example,
      },
      (call) =>
        answerRemoval(
          inventory,
          call,
          "credential.delete",
          { cascade: call.query.cascade ?? false },
          credentialKind,
          composeCredentials,
        ),
    )
    .post(
      "/api/v1/credentials/bulk-delete",
      {
        operationId: "deleteCredentials",
        summary: "Delete many credentials, all or none",
        description: CONFINED,
        group,
        access: ADMIN,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Credential),
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_in_use"],
        example: { data: [CREDENTIAL_EXAMPLE], body: [CREDENTIAL_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "credential.bulk_delete",
          { cascade: call.query.cascade ?? false },
          credentialKind,
          composeCredentials,
        ),
    );
}
