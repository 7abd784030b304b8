// /api/v1/tags

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
import { Tag, TAG_EXAMPLE, TAG_KEYED_FIELDS, TAG_ORDER_FIELDS, TagCreate, tagKind, TagUpdate } from "./tag.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the tag's name or description"),
  ...orderQuery(TAG_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Tags";
const CONFINED =
  "A caller that is confined to some networks may where every record that carries the tag lies within these.";
const example = { data: TAG_EXAMPLE };
const body = { name: "core", color: "Green", description: "", is_application: false };

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return { kind: tagKind, search: searched(query.search), order: orderTerms(query, TAG_KEYED_FIELDS) };
}

/** /api/v1/tags. */
export function tagRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/tags",
      {
        operationId: "listTags",
        summary: "List tags",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Tag),
        isList: true,
        example: { data: [TAG_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/tags/export/csv",
      {
        operationId: "exportTags",
        summary: "Export tags as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("tags", schemaColumns(Tag), TAG_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/tags",
      {
        operationId: "createTag",
        summary: "Create a tag",
        group,
        access: ADMIN,
        body: TagCreate,
        answer: Tag,
        errors: ["entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: TAG_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "tag.create", { body: call.body }, tagKind),
    )
    .get(
      "/api/v1/tags/:id",
      {
        operationId: "getTag",
        summary: "Get a tag",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Tag,
        example,
      },
      (call) => answerRecord(inventory, call, tagKind),
    )
    .put(
      "/api/v1/tags/:id",
      {
        operationId: "updateTag",
        summary: "Update a tag",
        description: CONFINED,
        group,
        access: ADMIN,
        params: IdParams,
        body: TagUpdate,
        answer: Tag,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "tag.update", { id: call.params.id, body: call.body }, tagKind),
    )
    .delete(
      "/api/v1/tags/:id",
      {
        operationId: "deleteTag",
        summary: "Delete a tag",
        description: `Takes it off every record that carries it, in the same transaction, with \`cascade\` or without. ${CONFINED}`,
        group,
        access: ADMIN,
        params: IdParams,
        query: Cascade,
        answer: Tag,
        errors: ["entity_access_denied"],
        example,
      },
      (call) => answerRemoval(inventory, call, "tag.delete", {}, tagKind),
    )
    .post(
      "/api/v1/tags/bulk-delete",
      {
        operationId: "deleteTags",
        summary: "Delete many tags, all or none",
        description: `Takes them off every record that carries them, in the same transaction, with \`cascade\` or without. ${CONFINED}`,
        group,
        access: ADMIN,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Tag),
        errors: ["entity_reference_invalid", "entity_access_denied"],
        example: { data: [TAG_EXAMPLE], body: [TAG_EXAMPLE.id] },
      },
      (call) => answerBulkRemoval(inventory, call, "tag.bulk_delete", { cascade: false }, tagKind),
    );
}
