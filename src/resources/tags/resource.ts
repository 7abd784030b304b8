// Tags as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { TAG_EXAMPLE, Tag, type TagRecord, tagKind } from "./tag.ts";

export const tagResource: Resource<TagRecord> = {
  kind: tagKind,
  path: "tags",
  group: "Tags",
  about: "The organization's labels, and the records that have them.",
  responseSchema: Tag,
  example: TAG_EXAMPLE,
  names: { columns: { tags: "tag_names" }, fields: ["name"], example: "core" },
  read: VIEWER,
  write: ADMIN,
};
