// Ignored entries as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { IGNORED_EXAMPLE, Ignored, type IgnoredRecord, ignoredKind } from "./ignored.ts";

export const ignoredResource: Resource<IgnoredRecord> = {
  kind: ignoredKind,
  path: "discovery/ignored",
  group: "Discovery",
  responseSchema: Ignored,
  example: IGNORED_EXAMPLE,
  read: VIEWER,
  write: MEMBER,
};
