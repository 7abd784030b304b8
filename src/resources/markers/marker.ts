// Marker: a named timestamp of the organization or of a network, accepted in place of a timestamp.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { foldCase, textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  Description,
  Name,
  Nullable,
  RECORD_READ_ONLY,
  recordFields,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { namesIn } from "../searching.ts";

export const markers = sqliteTable("markers", {
  ...liveColumns,
  network_n: integer().references(() => networks.n),
  name_key: text().notNull(),
});

export const markerKind: Kind<MarkerRecord> = {
  name: "marker",
  plural: "markers",
  code: 19,
  table: markers,
  columns: (marker) => ({ name_key: foldCase(marker.name) }),
  scopes: { network: "network_id" },
  networkIsOptional: true,
  references: [{ to: "network", field: "network_id" }],
  observed: [],
  absent: "null",
  identity: (marker) => `${marker.network_id ?? marker.organization_id}/${foldCase(marker.name)}`,
  unique: {
    field: "name",
    value: (marker) => marker.name,
    seenWithin: (marker) => `${marker.network_id ?? marker.organization_id}/`,
  },
  indexedNames: namesIn<MarkerRecord>({ name: "Name", description: "Text" }),
  sortKeys: { name: textSortKey },
};

const identifying = {
  id: Type.Optional(Uuid),
  organization_id: Type.Optional(Uuid),
  network_id: Type.Optional(
    Nullable(Uuid, { description: "The marker's network; null, the default, for the whole organization." }),
  ),
};
const writeFields = {
  name: Name,
  at: Type.Optional(
    Type.String({ ...Timestamp, description: "The timestamp, not in the future. Default on create: now." }),
  ),
  description: Type.Optional(Nullable(Description)),
} satisfies WriteSchemas<MarkerRecord, "organization_id" | "network_id">;
export const MARKER_WRITE_FIELDS = namesOf(writeFields);

export const MarkerCreate = Body({ ...identifying, ...writeFields }, { ignored: RECORD_READ_ONLY });
export const MarkerUpdate = Body({ ...identifying, ...writeFields }, { ignored: RECORD_READ_ONLY });
export type MarkerCreate = Static<typeof MarkerCreate>;
export type MarkerUpdate = Static<typeof MarkerUpdate>;

export const Marker = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    network_id: Nullable(Uuid, { description: "Null for a marker of the whole organization." }),
    name: Name,
    at: Timestamp,
    description: Nullable(Description),
    ...recordFields,
  },
  { $id: "Marker" },
);
export interface MarkerRecord extends RecordOf<typeof Marker> {}

export const MARKER_EXAMPLE: Static<typeof Marker> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0019",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  name: "before the core upgrade",
  at: "2026-11-20T21:55:00.000Z",
  description: null,
  ...RECORD_EXAMPLE,
};
