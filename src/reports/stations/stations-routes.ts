// Routes of /api/v1/stations: stations at edge ports, known hosts and unknown MAC addresses.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../../access/actor.ts";
import { EDGE_MACS_MAX } from "../../history/edge-ports.ts";
import type { Surface } from "../../http/surface.ts";
import type { ActorCall, Backend } from "../../records/backend.ts";
import { tableMedia } from "../../records/csv-answers.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { PageQuery, Uuid } from "../../schemas/schemas.ts";
import { answerFoundList } from "../found-list-answers.ts";
import { STATION_EXAMPLE, Station } from "./station-answer.ts";
import { STATION_COLUMNS, STATION_ROWS_EXAMPLE } from "./station-table.ts";
import { type AskedStations, stations } from "./stations.ts";

const which = {
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
  host_id: Type.Optional({ ...Uuid, description: "Only at the ports of this device." }),
  known: Type.Optional(
    Type.Boolean({ description: "Only MAC addresses that a host of the network has, or only those that none has." }),
  ),
  ...FilterQuery,
};
const List = Type.Object({ ...which, ...PageQuery });
const Export = Type.Object({ ...which, at: PageQuery.at });

const DESCRIPTION = `The MAC addresses at edge ports, according to the forwarding tables of the switches, now or \`at\` an instant; newest first.

An edge port has no known or announced neighbor and ${EDGE_MACS_MAX} MAC addresses at most, so uplinks do not count; nor do group addresses and those of virtual routers. A MAC address at several edge ports is listed at each of them. \`hosts\` are those of the same network that have it on an interface or next to an IP address: \`known=false\` selects stations that are not in the inventory.`;

/** /api/v1/stations. */
export function stationRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/stations",
    {
      operationId: "listStations",
      summary: "List the MAC addresses at edge ports",
      description: DESCRIPTION,
      group: "Questions",
      access: VIEWER,
      query: List,
      answer: Type.Array(Station),
      isList: true,
      example: { data: [STATION_EXAMPLE] },
    },
    (call) => answerStations(backend, call, "json"),
  );
  surface.get(
    "/api/v1/stations/export/csv",
    {
      operationId: "exportStations",
      summary: "Export the MAC addresses at edge ports as CSV",
      description:
        "All pages of the list: a row for each MAC address at a port. Several hosts with it are joined, in the same order in each column.",
      group: "Questions",
      access: VIEWER,
      query: Export,
      answer: null,
      media: [tableMedia(STATION_COLUMNS, STATION_ROWS_EXAMPLE)],
      example: { data: null },
    },
    (call) => answerStations(backend, call, "csv"),
  );
}

function answerStations(
  backend: Backend,
  call: ActorCall & { readonly query: Static<typeof Export> },
  format: "json" | "csv",
): Response | Promise<Response> {
  const { host_id, known } = call.query;
  const own: AskedStations = { hostId: host_id ?? null, isKnown: known ?? null };
  return answerFoundList(backend, call, format, "stations", stations, own);
}
