// /api/v1/networks

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
import { searched, searchQuery } from "../searching.ts";
import { composeNetworks } from "./network-view.ts";
import {
  Network,
  NETWORK_EXAMPLE,
  NETWORK_KEYED_FIELDS,
  NETWORK_ORDER_FIELDS,
  NetworkCreate,
  networkKind,
  NetworkUpdate,
} from "./network.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the network's name or description"),
  ...orderQuery(NETWORK_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Networks";
const example = { data: NETWORK_EXAMPLE };
const body = { name: "Campus South", stale_after_hours: 168 };

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return {
    kind: networkKind,
    search: searched(query.search),
    order: orderTerms(query, NETWORK_KEYED_FIELDS),
    compose: composeNetworks,
  };
}

/** /api/v1/networks. */
export function networkRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/networks",
      {
        operationId: "listNetworks",
        summary: "List networks",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Network),
        isList: true,
        example: { data: [NETWORK_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/networks/export/csv",
      {
        operationId: "exportNetworks",
        summary: "Export networks as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("networks", schemaColumns(Network), NETWORK_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/networks",
      {
        operationId: "createNetwork",
        summary: "Create a network",
        group,
        access: ADMIN,
        body: NetworkCreate,
        answer: Network,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: NETWORK_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "network.create", { body: call.body }, networkKind, composeNetworks),
    )
    .get(
      "/api/v1/networks/:id",
      {
        operationId: "getNetwork",
        summary: "Get a network",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Network,
        example,
      },
      (call) => answerRecord(inventory, call, networkKind, composeNetworks),
    )
    .put(
      "/api/v1/networks/:id",
      {
        operationId: "updateNetwork",
        summary: "Update a network",
        group,
        access: ADMIN,
        params: IdParams,
        body: NetworkUpdate,
        answer: Network,
        errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body },
      },
      (call) =>
        answerWrite(
          inventory,
          call,
          "network.update",
          { id: call.params.id, body: call.body },
          networkKind,
          composeNetworks,
        ),
    )
    .delete(
      "/api/v1/networks/:id",
      {
        operationId: "deleteNetwork",
        summary: "Delete a network",
        group,
        access: ADMIN,
        params: IdParams,
        query: Cascade,
        answer: Network,
        errors: ["entity_in_use"],
        example,
      },
      (call) =>
        answerRemoval(
          inventory,
          call,
          "network.delete",
          { cascade: call.query.cascade ?? false },
          networkKind,
          composeNetworks,
        ),
    )
    .post(
      "/api/v1/networks/bulk-delete",
      {
        operationId: "deleteNetworks",
        summary: "Delete many networks, all or none",
        group,
        access: ADMIN,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Network),
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { data: [NETWORK_EXAMPLE], body: [NETWORK_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "network.bulk_delete",
          { cascade: call.query.cascade ?? false },
          networkKind,
          composeNetworks,
        ),
    );
}
