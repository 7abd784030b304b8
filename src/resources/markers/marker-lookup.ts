// Marker lookup by name, among the live ones the caller can access.

import { foldCase } from "../../base/text.ts";
import { isUuid } from "../../base/uuid.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { type NetworkRecord, networkKind } from "../networks/network.ts";
import { type MarkerRecord, markerKind } from "./marker.ts";

export interface NamedMarker {
  readonly id: string;
  readonly at: string;
  /** Name of its network; null for a marker of the organization. */
  readonly networkName: string | null;
}

const BY_NAME = `SELECT r.id FROM markers l CROSS JOIN history_records r ON r.n = l.n
  WHERE l.organization_n = +?1 AND l.name_key = +?2`;

/**
 * The marker with this id, else those with this name, ignoring case: at most one of the organization and one per
 * network.
 */
export function findMarkers(reader: Reader, reach: Reach, text: string): NamedMarker[] {
  const byId = isUuid(text) ? markersIn(reader, reach, [text.toLowerCase()]) : [];
  if (byId.length > 0) return byId;
  const rows = reader.statement(BY_NAME).values(reach.organizationN, foldCase(text)) as Array<[string]>;
  return markersIn(
    reader,
    reach,
    rows.map(([id]) => id),
  );
}

function markersIn(reader: Reader, reach: Reach, ids: readonly string[]): NamedMarker[] {
  return reader.items({ kind: markerKind, reach, asOf: null, ids, limit: 0, offset: 0 }).map((item) => {
    const { id, at, network_id } = JSON.parse(item.text) as MarkerRecord;
    return { id, at, networkName: network_id === null ? null : nameOfNetwork(reader, reach, network_id) };
  });
}

function nameOfNetwork(reader: Reader, reach: Reach, id: string): string {
  const found = reader.find(networkKind, id, reach, null);
  if (found === null) throw new Error(`markers: network ${id} of a live marker does not exist`);
  return (JSON.parse(found.text) as NetworkRecord).name;
}
