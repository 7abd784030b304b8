// Tag assignment: changes the tags of a record without writing its other fields. The records store their tags; there is
// no separate table.

import { type Static, Type } from "@sinclair/typebox";
import { Body, BULK_MAX, OneOf, TAGS_MAX, TagIds, Uuid } from "../../schemas/schemas.ts";

/** Kinds that have tags, named as in errors and history. */
export const TAGGED_TYPES = ["host", "service", "network", "subnet", "ip_range", "credential", "api_key"] as const;

export type TaggedType = (typeof TAGGED_TYPES)[number];

/** The same kinds in the notation of a neighbor's `type`; clients may send either. */
const PASCAL_CASE_TYPES = ["Host", "Service", "Network", "Subnet", "IpRange", "Credential", "ApiKey"] as const;

/** The kind for either notation. */
export function taggedType(sent: SentType): TaggedType {
  const index = (PASCAL_CASE_TYPES as readonly string[]).indexOf(sent);
  return index < 0 ? (sent as TaggedType) : (TAGGED_TYPES[index] as TaggedType);
}

/** The same limit as in a body of the record itself. */
export const ASSIGNED_TAGS_MAX = TAGS_MAX;

const entity_type = OneOf(TAGGED_TYPES, { description: "The kind of record." });
const SentEntityType = OneOf([...TAGGED_TYPES, ...PASCAL_CASE_TYPES], {
  description: "The kind of record: `host`, or `Host` as in the type of a neighbor.",
});
export type SentType = Static<typeof SentEntityType>;
const EntityIds = Type.Array(Uuid, {
  minItems: 1,
  maxItems: BULK_MAX,
  description: "Records of that kind, written atomically; duplicates are dropped.",
});

export const TagAssignment = Body({ entity_type: SentEntityType, entity_id: Uuid, tag_ids: TagIds });
export const TagBulkAssignment = Body({ entity_type: SentEntityType, entity_ids: EntityIds, tag_id: Uuid });
type Normalized<Sent> = Omit<Sent, "entity_type"> & { readonly entity_type: TaggedType };
export type TagAssignment = Normalized<Static<typeof TagAssignment>>;
export type TagBulkAssignment = Normalized<Static<typeof TagBulkAssignment>>;

export const AssignedTags = Type.Object(
  {
    entity_type,
    entity_id: Uuid,
    tag_ids: Type.Array(Uuid, { description: "The record's tags, as now stored." }),
  },
  { $id: "AssignedTags" },
);
export const BulkAssignedTag = Type.Object(
  {
    entity_type,
    entity_ids: Type.Array(Uuid, { description: "The records of the request, without duplicates." }),
    tag_id: Uuid,
    changed_ids: Type.Array(Uuid, {
      description: "The records that changed; the others already had, or lacked, the tag.",
    }),
  },
  { $id: "BulkAssignedTag" },
);
export type AssignedTags = Static<typeof AssignedTags>;
export type BulkAssignedTag = Static<typeof BulkAssignedTag>;
