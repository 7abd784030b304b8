// Writes of tags, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { tagCommands } from "./commands.ts";
import { tagResource } from "./resource.ts";
import { TagCreate, TagUpdate } from "./tag.ts";

export const tagWrites: RecordWrites = {
  resource: tagResource,
  Create: TagCreate,
  create: tagCommands["tag.create"],
  Update: TagUpdate,
  update: tagCommands["tag.update"],
  key: ["name"],
};
