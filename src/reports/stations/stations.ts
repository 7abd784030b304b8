// Implementation of GET /api/v1/stations: a page of the MAC addresses at edge ports, newest first, or all of them as a
// table. Every step is bounded.

import { compareCodePoints } from "../../base/text.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { visibilityOf } from "../../history/locate/locate.ts";
import { RecordsAt } from "../../history/records-at.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { PastNames } from "../activity/names-at.ts";
import { type ComputedListInput, filterResults, renderList } from "../computed-list.ts";
import { networksAt } from "../networks-at.ts";
import { type EdgeQuery, edgeStations } from "./edge-stations.ts";
import { STATION_FIELDS, type Station } from "./station-schema.ts";
import { STATION_COLUMNS, stationRow } from "./station-table.ts";

/** Passed to another thread. */
interface StationSelection {
  /** The device to examine; null for all. */
  readonly hostId: string | null;
  /** True for stations of known hosts only, false for the others only, null for both. */
  readonly isKnown: boolean | null;
}

type StationsInput = ComputedListInput & StationSelection;

/** Yields the response as an envelope, or as a table. */
export const stations = longRead("stations", function* (reader: Reader, input: StationsInput) {
  const { actor, moment, isKnown } = input;
  const { sequence } = moment.asOf;
  const filter = RowFilter.of(reader, STATION_FIELDS, actor, input.filter);
  const rows: Station[] = [];
  for (const query of edgeQueries(reader, input)) {
    const records = new RecordsAt(reader, sequence, visibilityOf(reader, { actor, networkId: query.networkId }));
    const found = yield* pausing(edgeStations(reader, records, query));
    for (const row of found) if (isKnown === null || row.hosts.length > 0 === isKnown) rows.push(row);
  }
  const matching = yield* filterResults(filter, rows, RENDERING);
  yield* renderList(input, new PastNames(reader, actor, sequence), [...matching].sort(byAge), RENDERING);
});

const RENDERING = {
  stepRows: 500,
  render: (batch: readonly Station[]) => batch,
  columns: STATION_COLUMNS,
  tableRows: (row: Station, networkNameOf: (id: string) => string | null) => [stationRow(row, networkNameOf)],
};

/** Newest first. */
function byAge(left: Station, right: Station): number {
  return (
    compareCodePoints(right.since, left.since) ||
    compareCodePoints(left.mac_address, right.mac_address) ||
    compareCodePoints(left.port.id, right.port.id)
  );
}

/** The networks, or the one device, to examine. */
function edgeQueries(reader: Reader, { actor, networkId, hostId, moment }: StationsInput): EdgeQuery[] {
  const { sequence } = moment.asOf;
  if (hostId !== null) {
    const host = new RecordsAt(reader, sequence, visibilityOf(reader, { actor, networkId })).byIds(hostKind, [hostId]);
    return [...host.values()].map(({ n, record }) => ({ sequence, networkId: record.network_id, containerN: n }));
  }
  const ns = networksAt(reader, actor, sequence);
  const ids = reader.recordIds(ns);
  return ns.flatMap((containerN, index) => {
    const id = ids[index] as string;
    return networkId === null || networkId === id ? [{ sequence, networkId: id, containerN }] : [];
  });
}
