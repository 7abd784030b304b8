// /api/v1/if-entries (specification 4.6)

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
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
import { ALL_OFFENDERS } from "../offenders.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import {
  IF_ENTRY_EXAMPLE,
  IF_ENTRY_KEYED_FIELDS,
  IF_ENTRY_ORDER_FIELDS,
  IfEntry,
  IfEntryCreate,
  ifEntryKind,
  IfEntryUpdate,
} from "./if-entry.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...orderQuery(IF_ENTRY_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Interface entries";
const example = { data: IF_ENTRY_EXAMPLE };
const body = {
  host_id: IF_ENTRY_EXAMPLE.host_id,
  if_index: 1,
  if_descr: "GigabitEthernet1/0/1",
  if_type: 6,
  speed_bps: 1_000_000_000,
  admin_status: "Up",
  oper_status: "Up",
};
const updateErrors = [
  "validation_id_mismatch",
  "entity_reference_invalid",
  "entity_access_denied",
  "entity_already_exists",
] as const;

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return {
    kind: ifEntryKind,
    within: { host: query.host_id, network: query.network_id },
    order: orderTerms(query, IF_ENTRY_KEYED_FIELDS),
  };
}

/** /api/v1/if-entries. */
export function ifEntryRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/if-entries",
      {
        operationId: "listIfEntries",
        summary: "List interface entries",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(IfEntry),
        isList: true,
        example: { data: [IF_ENTRY_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/if-entries/export/csv",
      {
        operationId: "exportIfEntries",
        summary: "Export interface entries as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("interface entries", schemaColumns(IfEntry), IF_ENTRY_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .postHandedOver(
      "/api/v1/if-entries",
      {
        operationId: "createIfEntry",
        summary: "Create an interface entry",
        description: ALL_OFFENDERS,
        group,
        access: MEMBER,
        body: IfEntryCreate,
        answer: IfEntry,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: IF_ENTRY_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "if_entry.create", { body: call.body }, ifEntryKind),
    )
    .get(
      "/api/v1/if-entries/:id",
      {
        operationId: "getIfEntry",
        summary: "Get an interface entry",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: IfEntry,
        example,
      },
      (call) => answerRecord(inventory, call, ifEntryKind),
    )
    .putHandedOver(
      "/api/v1/if-entries/:id",
      {
        operationId: "updateIfEntry",
        summary: "Update an interface entry",
        description: ALL_OFFENDERS,
        group,
        access: MEMBER,
        params: IdParams,
        body: IfEntryUpdate,
        answer: IfEntry,
        errors: updateErrors,
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "if_entry.update", { id: call.params.id, body: call.body }, ifEntryKind),
    )
    .delete(
      "/api/v1/if-entries/:id",
      {
        operationId: "deleteIfEntry",
        summary: "Delete an interface entry",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: IfEntry,
        example,
      },
      (call) =>
        answerRemoval(inventory, call, "if_entry.delete", { cascade: call.query.cascade ?? false }, ifEntryKind),
    )
    .post(
      "/api/v1/if-entries/bulk-delete",
      {
        operationId: "deleteIfEntries",
        summary: "Delete many interface entries, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(IfEntry),
        errors: ["entity_reference_invalid"],
        example: { data: [IF_ENTRY_EXAMPLE], body: [IF_ENTRY_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "if_entry.bulk_delete",
          { cascade: call.query.cascade ?? false },
          ifEntryKind,
        ),
    );
}
