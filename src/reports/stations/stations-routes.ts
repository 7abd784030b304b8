// Routes for /api/v1/stations: stations at edge ports, known hosts and unknown MAC addresses.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import { EDGE_PORT } from "../../history/edge-ports.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { Uuid } from "../../schemas/schemas.ts";
import { computedList } from "../computed-list-responses.ts";
import { STATION_EXAMPLE, Station } from "./station-schema.ts";
import { STATION_COLUMNS, STATION_ROWS_EXAMPLE } from "./station-table.ts";
import { stations } from "./stations.ts";

const selectionQuery = {
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
  host_id: Type.Optional({ ...Uuid, description: "Only at the ports of this device." }),
  known: Type.Optional(
    Type.Boolean({ description: "true: only MAC addresses of known hosts. false: only unknown ones." }),
  ),
};

const DESCRIPTION = `The MAC addresses at edge ports, according to the forwarding tables of the switches, now or \`at\` a timestamp; newest first.

${EDGE_PORT} Uplinks do not count; nor do group addresses and those of virtual routers. A MAC address at several edge ports is listed at each of them. \`hosts\` are those of the same network that have it on an interface or next to an IP address: \`known=false\` selects stations that are not in the inventory.`;

const stationList = computedList({
  name: "Stations",
  words: "the MAC addresses at edge ports",
  description: DESCRIPTION,
  tableDescription:
    "All pages of the list: one row for each MAC address at a port. If several hosts have it, they are joined, in the same order in each column.",
  group: "Questions",
  selectionQuery,
  row: Station,
  example: STATION_EXAMPLE,
  columns: STATION_COLUMNS,
  tableExample: STATION_ROWS_EXAMPLE,
  read: stations,
  parametersOf: ({ host_id, known }) => ({ hostId: host_id ?? null, isKnown: known ?? null }),
});

/** /api/v1/stations. */
export function stationRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface
    .get("/api/v1/stations", stationList.list, (call) => stationList.respond(backend, call, "json"))
    .get("/api/v1/stations/export/csv", stationList.table, (call) => stationList.respond(backend, call, "csv"));
}
