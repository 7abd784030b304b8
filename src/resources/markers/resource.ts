// Markers as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { MARKER_EXAMPLE, Marker, type MarkerRecord, markerKind } from "./marker.ts";

export const markerResource: Resource<MarkerRecord> = {
  kind: markerKind,
  path: "markers",
  group: "Markers",
  about: "Named timestamps of the organization or of a network. `marker:NAME` is accepted in place of a timestamp.",
  responseSchema: Marker,
  example: MARKER_EXAMPLE,
  read: VIEWER,
  write: MEMBER,
};
