// /api/v1/discovery/ignored

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import type { Filter } from "../../db/list-query.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, OneOf, PageQuery, Uuid } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  csvAnswer,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import {
  Ignored,
  IGNORED_ENTITIES,
  IGNORED_EXAMPLE,
  IGNORED_KEYED_FIELDS,
  IGNORED_ORDER_FIELDS,
  ignoredKind,
} from "./ignored.ts";

const entity = Type.Optional(OneOf(IGNORED_ENTITIES, { description: "Only what was of this kind." }));
const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  entity,
  ...IdsQuery,
  ...orderQuery(IGNORED_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Discovery";
const example = { data: IGNORED_EXAMPLE };
const description = "It is not made again at once: the next scan that comes upon it does that.";

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  const sieve: Filter[] = query.entity === undefined ? [] : [{ field: "entity", equals: query.entity }];
  return {
    kind: ignoredKind,
    filters: sieve,
    within: { host: query.host_id, network: query.network_id },
    order: orderTerms(query, IGNORED_KEYED_FIELDS),
  };
}

/** /api/v1/discovery/ignored. */
export function ignoredRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/discovery/ignored",
      {
        operationId: "listIgnored",
        summary: "List what discovery is not to bring back",
        description:
          "What a person deleted after discovery had found it. It comes about by the deletion; restoring the record that was deleted, or lifting it here, ends it.",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Ignored),
        isList: true,
        example: { data: [IGNORED_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/discovery/ignored/export/csv",
      {
        operationId: "exportIgnored",
        summary: "Export what discovery is not to bring back as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("things that discovery is not to bring back", schemaColumns(Ignored), IGNORED_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/discovery/ignored/:id",
      {
        operationId: "getIgnored",
        summary: "Get one thing that discovery is not to bring back",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Ignored,
        example,
      },
      (call) => answerRecord(inventory, call, ignoredKind),
    )
    .delete(
      "/api/v1/discovery/ignored/:id",
      {
        operationId: "liftIgnored",
        summary: "Let discovery bring it back",
        description,
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Ignored,
        example,
      },
      (call) => answerRemoval(inventory, call, "ignored.delete", {}, ignoredKind),
    )
    .post(
      "/api/v1/discovery/ignored/bulk-delete",
      {
        operationId: "liftManyIgnored",
        summary: "Let discovery bring many things back, all or none",
        description,
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Ignored),
        errors: ["entity_reference_invalid"],
        example: { data: [IGNORED_EXAMPLE], body: [IGNORED_EXAMPLE.id] },
      },
      (call) => answerBulkRemoval(inventory, call, "ignored.bulk_delete", { cascade: false }, ignoredKind),
    );
}
