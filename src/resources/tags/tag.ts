// Tag: an organization's label on any record. Its name is unique among live tags.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { namesOf } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import {
  Body,
  Description,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  Uuid,
} from "../../schemas/schemas.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { namesIn } from "../searching.ts";
import { COLORS } from "./color.ts";

export const tags = sqliteTable("tags", liveColumns);

export const tagKind: Kind<TagRecord> = {
  name: "tag",
  plural: "tags",
  code: 5,
  table: tags,
  scopes: {},
  observed: [],
  absent: "null",
  identity: (tag) => `${tag.organization_id}/${tag.name}`,
  unique: { field: "name", value: (tag) => tag.name, seenWithin: (tag) => `${tag.organization_id}/` },
  indexedNames: namesIn<TagRecord>({ name: "Name", description: "Text" }),
  search: { texts: (tag) => ({ words: [tag.name, tag.description] }), finds: (tag) => tag.id },
  sortKeys: { name: textSortKey },
};

const writeFields = {
  name: Name,
  description: Type.Optional(Nullable(Description, { description: 'Default: "". Null clears the description.' })),
  color: OneOf(COLORS),
  is_application: Type.Optional(
    Type.Boolean({ description: "Whether the tag represents an application. Default on create: false." }),
  ),
} satisfies WriteSchemas<TagRecord, "organization_id">;
export const TAG_WRITE_FIELDS = namesOf(writeFields);
const writable = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid), ...writeFields };

export const TagCreate = Body(writable, { ignored: RECORD_READ_ONLY });
export const TagUpdate = Body(writable, { ignored: RECORD_READ_ONLY });
export type TagCreate = Static<typeof TagCreate>;
export type TagUpdate = Static<typeof TagUpdate>;

export const Tag = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    name: Name,
    description: Description,
    color: OneOf(COLORS),
    is_application: Type.Boolean(),
    ...recordFields,
  },
  { $id: "Tag" },
);
export interface TagRecord extends RecordOf<typeof Tag> {}

/**
 * Distinct tags of a write, in the given order.
 * @param field as written by the caller
 * @throws DomainError entity_reference_invalid for tags that do not exist in the caller's organization
 */
export function existingTags(
  tx: WriteTransaction,
  ids: readonly string[],
  actor: CommandActor,
  field = "tags",
): string[] {
  getReferenced(tx, tagKind, ids, field, actor);
  return [...new Set(ids)];
}

export const TAG_EXAMPLE: Static<typeof Tag> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  name: "core",
  description: "",
  color: "Green",
  is_application: false,
  ...RECORD_EXAMPLE,
};
