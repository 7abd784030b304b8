// Routes for /api/v1/networks/{id}/map-positions: map positions of a network's devices.

import { type Access, type Actor, MEMBER, VIEWER } from "../../access/actor.ts";
import { notFound } from "../../base/errors.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { runWrite } from "../../records/write-responses.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { IdParams } from "../../schemas/schemas.ts";
import { networkKind } from "../networks/network.ts";
import type { MapPositionCommands } from "./commands.ts";
import {
  MAP_POSITIONS_EXAMPLE,
  MAP_POSITIONS_MAX,
  MapPositions,
  MapPositionsUpdate,
  storedPositions,
} from "./map-position.ts";

const group = "Networks";
const example = { parameters: { id: MAP_POSITIONS_EXAMPLE.network_id }, data: MAP_POSITIONS_EXAMPLE };
const body = {
  nodes: Object.fromEntries(Object.entries(MAP_POSITIONS_EXAMPLE.nodes).map(([id, { x, y }]) => [id, { x, y }])),
};

const STORAGE_NOTES = `Positions belong to the network and are the same at every timestamp: they have no history. They are whole numbers, x to the right and y down, in units of the map. A host is positioned when its first neighbor is recorded, by a scan or a user; the position then stays fixed. Nodes without a position, such as devices that are not in the inventory, are laid out around the others by the topology, the same way each time. At most ${MAP_POSITIONS_MAX} per network are stored. They are deleted with the network, and with a host when its history is pruned.`;

/** /api/v1/networks/{id}/map-positions. */
export function mapPositionRoutes(surface: Surface<Actor, Access>, backend: Backend<MapPositionCommands>): void {
  const { reader } = backend;
  surface
    .get(
      "/api/v1/networks/:id/map-positions",
      {
        operationId: "getMapPositions",
        summary: "Get the map positions of a network",
        description: `All stored positions. ${STORAGE_NOTES}`,
        group,
        access: VIEWER,
        params: IdParams,
        responseSchema: MapPositions,
        example,
      },
      (call) => {
        const { id } = call.params;
        const answer = reader.snapshot((): MapPositions => {
          const network = reader.find(networkKind, id, call.actor, null);
          if (network === null) throw notFound(networkKind, id);
          return { network_id: id, nodes: Object.fromEntries(storedPositions(reader, network.n)) };
        });
        return successResponse(call, JSON.stringify(answer));
      },
    )
    .put(
      "/api/v1/networks/:id/map-positions",
      {
        operationId: "setMapPositions",
        writesNoTransaction: true,
        summary: "Place devices on the map of a network",
        description: `Places the named nodes; all others stay where they are. Null removes a position: the device is then laid out automatically, next to its links. One request may name every node of the map; null for all of them lays out the whole map again. Deleted hosts can also be placed, for past views of the map. ${STORAGE_NOTES}`,
        group,
        access: MEMBER,
        params: IdParams,
        body: MapPositionsUpdate,
        responseSchema: MapPositions,
        errors: ["entity_reference_invalid"],
        example: { ...example, body },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "map_positions.set", { id: call.params.id, body: call.body });
        return successResponse(call, JSON.stringify(result));
      },
    );
}
