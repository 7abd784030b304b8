// /api/v1/tags

import { Type } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, IdParams, IdsQuery, PageQuery } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerList, answerRecord, answerRemoval, answerWrite, type Inventory } from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { Tag, TAG_EXAMPLE, TAG_ORDER_FIELDS, TagCreate, tagKind, TagUpdate } from "./tag.ts";

const List = Type.Object({ ...orderQuery(TAG_ORDER_FIELDS), ...IdsQuery, ...PageQuery });
const At = Type.Object(AtQuery);
const group = "Tags";
const example = { data: TAG_EXAMPLE };
const body = { name: "core", color: "Green", description: "", is_application: false };

/** /api/v1/tags. */
export function tagRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get("/api/v1/tags", { operationId: "listTags", summary: "List tags", group, access: VIEWER, query: List, answer: Type.Array(Tag), isList: true, example: { data: [TAG_EXAMPLE] } }, (call) =>
      answerList(inventory, call, { kind: tagKind, order: orderTerms(call.query, ["name"]) }),
    )
    .post("/api/v1/tags", { operationId: "createTag", summary: "Create a tag", group, access: ADMIN, body: TagCreate, answer: Tag, errors: ["entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "tag.create", { body: call.body }, tagKind),
    )
    .get("/api/v1/tags/:id", { operationId: "getTag", summary: "Get a tag", group, access: VIEWER, params: IdParams, query: At, answer: Tag, example }, (call) =>
      answerRecord(inventory, call, tagKind),
    )
    .put("/api/v1/tags/:id", { operationId: "updateTag", summary: "Update a tag", group, access: ADMIN, params: IdParams, body: TagUpdate, answer: Tag, errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "tag.update", { id: call.params.id, body: call.body }, tagKind),
    )
    .delete("/api/v1/tags/:id", { operationId: "deleteTag", summary: "Delete a tag", description: "Takes it off every record that carries it, in the same transaction.", group, access: ADMIN, params: IdParams, answer: Tag, example }, (call) =>
      answerRemoval(inventory, call, "tag.delete", {}, tagKind),
    );
}
