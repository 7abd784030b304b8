// /api/v1/subnets

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import type { Filter } from "../../db/list-query.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
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
import {
  Subnet,
  SUBNET_EXAMPLE,
  SUBNET_KEYED_FIELDS,
  SUBNET_ORDER_FIELDS,
  SubnetCreate,
  subnetKind,
  SubnetUpdate,
} from "./subnet.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  accepts_credentials: Type.Optional(
    Type.Boolean({ description: "Only subnets that accept credentials, or only those that do not." }),
  ),
  ...orderQuery(SUBNET_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Subnets";
const example = { data: SUBNET_EXAMPLE };
const body = { network_id: SUBNET_EXAMPLE.network_id, cidr: "10.2.3.0/24", name: "Server room", subnet_type: "Lan" };

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  const filters: Filter[] =
    query.accepts_credentials === undefined
      ? []
      : [{ field: "accepts_credentials", equals: query.accepts_credentials }];
  return {
    kind: subnetKind,
    within: { network: query.network_id },
    filters,
    order: orderTerms(query, SUBNET_KEYED_FIELDS),
  };
}

/** /api/v1/subnets. */
export function subnetRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/subnets",
      {
        operationId: "listSubnets",
        summary: "List subnets",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Subnet),
        isList: true,
        example: { data: [SUBNET_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/subnets/export/csv",
      {
        operationId: "exportSubnets",
        summary: "Export subnets as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("subnets", schemaColumns(Subnet), SUBNET_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/subnets",
      {
        operationId: "createSubnet",
        summary: "Create a subnet",
        group,
        access: MEMBER,
        body: SubnetCreate,
        answer: Subnet,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: SUBNET_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "subnet.create", { body: call.body }, subnetKind),
    )
    .get(
      "/api/v1/subnets/:id",
      {
        operationId: "getSubnet",
        summary: "Get a subnet",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Subnet,
        example,
      },
      (call) => answerRecord(inventory, call, subnetKind),
    )
    .put(
      "/api/v1/subnets/:id",
      {
        operationId: "updateSubnet",
        summary: "Update a subnet",
        group,
        access: MEMBER,
        params: IdParams,
        body: SubnetUpdate,
        answer: Subnet,
        errors: [
          "validation_id_mismatch",
          "entity_reference_invalid",
          "entity_access_denied",
          "entity_already_exists",
          "entity_in_use",
        ],
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "subnet.update", { id: call.params.id, body: call.body }, subnetKind),
    )
    .delete(
      "/api/v1/subnets/:id",
      {
        operationId: "deleteSubnet",
        summary: "Delete a subnet",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Subnet,
        errors: ["entity_in_use"],
        example,
      },
      (call) => answerRemoval(inventory, call, "subnet.delete", { cascade: call.query.cascade ?? false }, subnetKind),
    )
    .post(
      "/api/v1/subnets/bulk-delete",
      {
        operationId: "deleteSubnets",
        summary: "Delete many subnets, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Subnet),
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { data: [SUBNET_EXAMPLE], body: [SUBNET_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(inventory, call, "subnet.bulk_delete", { cascade: call.query.cascade ?? false }, subnetKind),
    );
}
