// Tag assignment: which tags a record carries, changed without writing the rest of the record. The records keep their tags
// themselves: this has no table of its own.

import { Type, type Static } from "@sinclair/typebox";
import { Body, BULK_MAX, OneOf, TagIds, TAGS_MAX, Uuid } from "../../http/schemas.ts";

/** The kinds that carry tags, as errors and history name them. */
export const TAGGED_TYPES = ["host", "service", "network", "subnet", "credential", "api_key"] as const;

export type TaggedType = (typeof TAGGED_TYPES)[number];

/** As many as a body of the record itself may name. */
export const ASSIGNED_TAGS_MAX = TAGS_MAX;

const entity_type = OneOf(TAGGED_TYPES, { description: "What kind of record it is." });
const EntityIds = Type.Array(Uuid, { minItems: 1, maxItems: BULK_MAX, description: "Records of that kind, all or none; duplicates are dropped." });

export const TagAssignment = Body({ entity_type, entity_id: Uuid, tag_ids: TagIds });
export const TagBulkAssignment = Body({ entity_type, entity_ids: EntityIds, tag_id: Uuid });
export type TagAssignment = Static<typeof TagAssignment>;
export type TagBulkAssignment = Static<typeof TagBulkAssignment>;

export const AssignedTags = Type.Object(
  { entity_type, entity_id: Uuid, tag_ids: Type.Array(Uuid, { description: "The record's tags, as they are stored now." }) },
  { $id: "AssignedTags" },
);
export const BulkAssignedTag = Type.Object(
  {
    entity_type,
    entity_ids: Type.Array(Uuid, { description: "The records that were named, each once." }),
    tag_id: Uuid,
    changed_ids: Type.Array(Uuid, { description: "Those of them that were changed: the others had, or lacked, the tag already." }),
  },
  { $id: "BulkAssignedTag" },
);
export type AssignedTags = Static<typeof AssignedTags>;
export type BulkAssignedTag = Static<typeof BulkAssignedTag>;
