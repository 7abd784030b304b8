// /api/v1/services (specification 2.7)

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
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
import { IP_ADDRESS_EXAMPLE } from "../ip-addresses/ip-address.ts";
import { ALL_OFFENDERS } from "../offenders.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { Service, SERVICE_EXAMPLE, ServiceCreate, ServiceUpdate } from "./service-body.ts";
import { composeServices, SERVICE_COLUMNS } from "./service-view.ts";
import { SERVICE_DEFINITION_MAX_LENGTH, SERVICE_KEYED_FIELDS, SERVICE_ORDER_FIELDS, serviceKind } from "./service.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  service_definition: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SERVICE_DEFINITION_MAX_LENGTH,
      description: "Only services of exactly this definition.",
    }),
  ),
  ...orderQuery(SERVICE_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Services";
const example = { data: SERVICE_EXAMPLE };
const body = {
  host_id: SERVICE_EXAMPLE.host_id,
  name: "Web shop",
  service_definition: "nginx",
  bindings: [{ type: "IpAddress", ip_address_id: IP_ADDRESS_EXAMPLE.id }],
};
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  const { host_id: host, network_id: network, service_definition: definition } = query;
  const filters = definition === undefined ? [] : [{ field: "service_definition", equals: definition }];
  return {
    kind: serviceKind,
    within: { host, network },
    filters,
    order: orderTerms(query, SERVICE_KEYED_FIELDS),
    compose: composeServices,
  };
}

/** /api/v1/services. */
export function serviceRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/services",
      {
        operationId: "listServices",
        summary: "List services with their bindings",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Service),
        isList: true,
        example: { data: [SERVICE_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/services/export/csv",
      {
        operationId: "exportServices",
        summary: "Export services as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("services", SERVICE_COLUMNS, SERVICE_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .postHandedOver(
      "/api/v1/services",
      {
        operationId: "createService",
        summary: "Create a service with its bindings",
        description: ALL_OFFENDERS,
        group,
        access: MEMBER,
        body: ServiceCreate,
        answer: Service,
        errors: writeErrors,
        example: { ...example, body: { id: SERVICE_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "service.create", { body: call.body }, serviceKind, composeServices),
    )
    .get(
      "/api/v1/services/:id",
      {
        operationId: "getService",
        summary: "Get a service with its bindings",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Service,
        example,
      },
      (call) => answerRecord(inventory, call, serviceKind, composeServices),
    )
    .putHandedOver(
      "/api/v1/services/:id",
      {
        operationId: "updateService",
        summary: "Update a service with its bindings",
        description: `Bindings that are given replace the service's; null or left out they stay as they are. ${ALL_OFFENDERS}`,
        group,
        access: MEMBER,
        params: IdParams,
        body: ServiceUpdate,
        answer: Service,
        errors: ["validation_id_mismatch", ...writeErrors],
        example: { ...example, body },
      },
      (call) =>
        answerWrite(
          inventory,
          call,
          "service.update",
          { id: call.params.id, body: call.body },
          serviceKind,
          composeServices,
        ),
    )
    .delete(
      "/api/v1/services/:id",
      {
        operationId: "deleteService",
        summary: "Delete a service with its bindings",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Service,
        example,
      },
      (call) =>
        answerRemoval(
          inventory,
          call,
          "service.delete",
          { cascade: call.query.cascade ?? false },
          serviceKind,
          composeServices,
        ),
    )
    .post(
      "/api/v1/services/bulk-delete",
      {
        operationId: "deleteServices",
        summary: "Delete many services with their bindings, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Service),
        errors: ["entity_reference_invalid"],
        example: { data: [SERVICE_EXAMPLE], body: [SERVICE_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "service.bulk_delete",
          { cascade: call.query.cascade ?? false },
          serviceKind,
          composeServices,
        ),
    );
}
