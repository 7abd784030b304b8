// GET /api/v1/stations, as it is worked out: a page of the MAC addresses at edge ports, those that came last first, or all
// of them as a table. Every step is bounded.

import type { Actor } from "../../access/actor.ts";
import { compareCodePoints } from "../../base/text.ts";
import type { Thinned } from "../../db/pruned-history.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { sightOf } from "../../history/locate/locate.ts";
import { RecordsAt } from "../../history/records-at.ts";
import type { FilterText } from "../../inventory/list-filter.ts";
import { RowFilter } from "../../inventory/row-filter.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { csvHead, csvRows } from "../../wire/csv.ts";
import { LIST_HEAD, listMeta, listTail, resolvedMembers } from "../../wire/envelope.ts";
import { NamesThen } from "../activity/names-then.ts";
import { networksAt } from "../networks-at.ts";
import { type EdgeQuery, edgeStations } from "./edge-stations.ts";
import { STATION_FIELDS, type Station } from "./station-answer.ts";
import { STATION_COLUMNS, stationRow } from "./station-table.ts";

/** Crosses to another thread. */
export interface StationsInput {
  readonly actor: Actor;
  readonly networkId: string | null;
  /** The device whose ports are meant; null for all. */
  readonly hostId: string | null;
  /** Only those of a host that is known, or only the others; null for both. */
  readonly isKnown: boolean | null;
  readonly filter?: FilterText;
  /** The transaction as of which it is. */
  readonly sequence: number;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  readonly thinned?: Thinned;
  readonly format: "json" | "csv";
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);
/** Rows of one chunk, and rows that a filter looks at in one step. */
const STEP_ROWS = 500;

/** The answer as an envelope, or as a table. */
export const stations = longRead("stations", function* (reader: Reader, input: StationsInput) {
  const { actor, sequence, isKnown, limit, offset } = input;
  const filter = RowFilter.of(reader, STATION_FIELDS, actor, input.filter);
  let rows: Station[] = [];
  for (const query of placesMeant(reader, input)) {
    const records = new RecordsAt(reader, sequence, sightOf(reader, { actor, networkId: query.networkId }));
    const finding = edgeStations(reader, records, query);
    let step = finding.next();
    for (; step.done !== true; step = finding.next()) yield PAUSE;
    for (const row of step.value) if (isKnown === null || row.hosts.length > 0 === isKnown) rows.push(row);
  }
  if (filter !== null) {
    const matching: Station[] = [];
    for (let start = 0; start < rows.length; start += STEP_ROWS) {
      matching.push(...rows.slice(start, start + STEP_ROWS).filter((row) => filter.holds(row)));
      yield PAUSE;
    }
    rows = matching;
  }
  const page = rows.sort(byAge).slice(offset, limit === 0 ? undefined : offset + limit);
  const isTable = input.format === "csv";
  const names = new NamesThen(reader, actor, sequence);
  const networkNameOf = (id: string) => names.ofId(id)?.name ?? null;
  yield encoder.encode(isTable ? csvHead(STATION_COLUMNS) : LIST_HEAD);
  for (let start = 0; start < page.length; start += STEP_ROWS) {
    const some = page.slice(start, start + STEP_ROWS);
    yield encoder.encode(
      isTable
        ? csvRows(
            STATION_COLUMNS,
            some.map((row) => stationRow(row, networkNameOf)),
          )
        : (start === 0 ? "" : ",") + some.map((row) => JSON.stringify(row)).join(","),
    );
  }
  if (isTable) return;
  const meta = listMeta({ limit, offset, total: rows.length }, input.asked, resolvedMembers(input.thinned));
  yield encoder.encode(listTail(meta));
});

/** The last that came first. */
function byAge(one: Station, other: Station): number {
  return (
    compareCodePoints(other.since, one.since) ||
    compareCodePoints(one.mac_address, other.mac_address) ||
    compareCodePoints(one.port.id, other.port.id)
  );
}

/** The networks, or the one device, whose ports are looked at. */
function placesMeant(reader: Reader, { actor, networkId, hostId, sequence }: StationsInput): EdgeQuery[] {
  if (hostId !== null) {
    const host = new RecordsAt(reader, sequence, sightOf(reader, { actor, networkId })).byIds(hostKind, [hostId]);
    return [...host.values()].map(({ n, record }) => ({ sequence, networkId: record.network_id, containerN: n }));
  }
  const ns = networksAt(reader, actor, sequence);
  const ids = reader.recordIds(ns);
  return ns.flatMap((containerN, place) => {
    const id = ids[place] as string;
    return networkId === null || networkId === id ? [{ sequence, networkId: id, containerN }] : [];
  });
}

const encoder = new TextEncoder();
