// /api/v1/tags/assign

import type { Static } from "@sinclair/typebox";
import { MEMBER, type Access, type Actor } from "../../access/actor.ts";
import { successBody } from "../../http/envelope.ts";
import type { Surface } from "../../http/surface.ts";
import { runWrite, type Inventory, type ResourceCall } from "../answers.ts";
import { HOST_EXAMPLE } from "../hosts/host-example.ts";
import { TAG_EXAMPLE } from "../tags/tag.ts";
import { AssignedTags, BulkAssignedTag, TagAssignment, TagBulkAssignment, taggedType } from "./tag-assignment.ts";

const group = "Tags";
const WHO =
  "Takes what writing the record itself takes: the role Member for hosts, services and subnets, Admin for networks and credentials; for API keys a sign-in, and that the key is one's own or, for Owner and Admin, of a user up to the own role. A caller that is confined to some networks may tag a credential where it is assigned within these alone.";
const errors = ["auth_session_required", "entity_reference_invalid", "entity_access_denied"] as const;
const one = { entity_type: "host", entity_id: HOST_EXAMPLE.id, tag_ids: [TAG_EXAMPLE.id] };
const many = { entity_type: "host", entity_ids: [HOST_EXAMPLE.id], tag_id: TAG_EXAMPLE.id };

/** /api/v1/tags/assign. */
export function tagAssignmentRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .put(
      "/api/v1/tags/assign",
      {
        operationId: "assignTags",
        summary: "Replace the tags of a record",
        description: `${WHO} \`If-Match\` with the record's ETag is heeded.`,
        group,
        access: MEMBER,
        body: TagAssignment,
        answer: AssignedTags,
        errors: [...errors, "precondition_failed"],
        example: { data: one, body: one },
      },
      (call) => answerAssignment(inventory, call, "tag.assign"),
    )
    .post(
      "/api/v1/tags/assign/bulk-add",
      {
        operationId: "addTagToRecords",
        summary: "Put a tag on many records, all or none",
        description: WHO,
        group,
        access: MEMBER,
        body: TagBulkAssignment,
        answer: BulkAssignedTag,
        errors,
        example: { data: { ...many, changed_ids: many.entity_ids }, body: many },
      },
      (call) => answerAssignment(inventory, call, "tag.bulk_add"),
    )
    .post(
      "/api/v1/tags/assign/bulk-remove",
      {
        operationId: "removeTagFromRecords",
        summary: "Take a tag off many records, all or none",
        description: WHO,
        group,
        access: MEMBER,
        body: TagBulkAssignment,
        answer: BulkAssignedTag,
        errors,
        example: { data: { ...many, changed_ids: many.entity_ids }, body: many },
      },
      (call) => answerAssignment(inventory, call, "tag.bulk_remove"),
    );
}

async function answerAssignment(
  inventory: Inventory,
  call: ResourceCall<unknown, unknown, Static<typeof TagAssignment> | Static<typeof TagBulkAssignment>>,
  command: string,
): Promise<Response> {
  const body = { ...call.body, entity_type: taggedType(call.body.entity_type) };
  const { result } = await runWrite<AssignedTags | BulkAssignedTag>(inventory, call, command, { body });
  return new Response(successBody(JSON.stringify(result)), {
    headers: { ...call.headers, "content-type": "application/json" },
  });
}
