// Routes for /api/v1/tags/assign.

import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { runWrite, type WriteResult } from "../../records/write-responses.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { HOST_EXAMPLE } from "../hosts/host-example.ts";
import { TAG_EXAMPLE } from "../tags/tag.ts";
import type { TagAssignmentCommands } from "./commands.ts";
import {
  AssignedTags,
  BulkAssignedTag,
  type SentType,
  TagAssignment,
  TagBulkAssignment,
  taggedType,
} from "./tag-assignment.ts";

const group = "Tags";
const PERMISSIONS =
  "Requires the same permissions as writing the record: the role Member for hosts, services, subnets and IP ranges, Admin for networks and credentials. API keys require a session; you can tag your own, and as an Owner or Admin those of users up to your own role. A caller limited to some networks can tag a credential only if it is assigned in those and nowhere else.";
const errors = ["auth_session_required", "entity_reference_invalid", "entity_access_denied"] as const;
const single = { entity_type: "host", entity_id: HOST_EXAMPLE.id, tag_ids: [TAG_EXAMPLE.id] };
const many = { entity_type: "host", entity_ids: [HOST_EXAMPLE.id], tag_id: TAG_EXAMPLE.id };

/** /api/v1/tags/assign. */
export function tagAssignmentRoutes(surface: Surface<Actor, Access>, backend: Backend<TagAssignmentCommands>): void {
  surface
    .put(
      "/api/v1/tags/assign",
      {
        operationId: "assignTags",
        summary: "Replace the tags of a record",
        description: `${PERMISSIONS} Honors \`If-Match\` with the record's ETag.`,
        group,
        access: MEMBER,
        body: TagAssignment,
        responseSchema: AssignedTags,
        errors: [...errors, "precondition_failed"],
        example: { data: single, body: single },
      },
      (call) => respondWithAssignment(call, runWrite(backend, call, "tag.assign", { body: normalizeType(call.body) })),
    )
    .post(
      "/api/v1/tags/assign/bulk-add",
      {
        operationId: "addTagToRecords",
        summary: "Add a tag to many records atomically",
        description: PERMISSIONS,
        group,
        access: MEMBER,
        body: TagBulkAssignment,
        responseSchema: BulkAssignedTag,
        errors,
        example: { data: { ...many, changed_ids: many.entity_ids }, body: many },
      },
      (call) =>
        respondWithAssignment(call, runWrite(backend, call, "tag.bulk_add", { body: normalizeType(call.body) })),
    )
    .post(
      "/api/v1/tags/assign/bulk-remove",
      {
        operationId: "removeTagFromRecords",
        summary: "Remove a tag from many records atomically",
        description: PERMISSIONS,
        group,
        access: MEMBER,
        body: TagBulkAssignment,
        responseSchema: BulkAssignedTag,
        errors,
        example: { data: { ...many, changed_ids: many.entity_ids }, body: many },
      },
      (call) =>
        respondWithAssignment(call, runWrite(backend, call, "tag.bulk_remove", { body: normalizeType(call.body) })),
    );
}

/** Normalizes the record type of an assignment. */
function normalizeType<Body extends { readonly entity_type: SentType }>(body: Body) {
  return { ...body, entity_type: taggedType(body.entity_type) };
}

async function respondWithAssignment(
  call: ResourceCall<unknown, unknown, unknown>,
  pending: Promise<WriteResult<AssignedTags | BulkAssignedTag>>,
): Promise<Response> {
  const { result } = await pending;
  return successResponse(call, JSON.stringify(result));
}
