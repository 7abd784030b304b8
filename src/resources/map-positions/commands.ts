// Writer commands for map positions. Writes nothing to the ledger.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import { invalid, referenceInvalid } from "../../base/errors.ts";
import type { CallsOf } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { hostKind } from "../hosts/host.ts";
import { networkKind } from "../networks/network.ts";
import {
  idsOutsideNetwork,
  MAP_POSITIONS_MAX,
  type MapPositions,
  type MapPositionsUpdate,
  storedPositions,
} from "./map-position.ts";
import { placeHosts, writePosition } from "./placing.ts";

/**
 * Sets the positions of nodes in the body; null removes a position, and layout places that node again. All other
 * positions stay.
 * @returns all positions of the network
 * @throws DomainError entity_not_found for the network, entity_reference_invalid for hosts that were never in it,
 * validation_failed above the maximum number of positions
 */
function setPositions(
  tx: WriteTransaction,
  input: { id: string; body: MapPositionsUpdate },
  actor: CommandActor,
): MapPositions {
  const { id, body } = input;
  getReachable(tx, networkKind, id, actor);
  const networkN = tx.recordN(id) as number;
  const connection = { statement: (sql: string) => tx.db.$client.query(sql) };
  const entries = Object.entries(body.nodes);
  const positionedIds = entries.flatMap(([nodeId, point]) => (point === null ? [] : [nodeId]));
  const foreignIds = idsOutsideNetwork(connection, networkN, positionedIds);
  if (foreignIds.length > 0) throw referenceInvalid(hostKind, "nodes", foreignIds);
  const positions = storedPositions(connection, networkN);
  for (const [nodeId, point] of entries) {
    if (point === null) positions.delete(nodeId);
    else positions.set(nodeId, { x: point.x, y: point.y, placed: "person" });
  }
  if (positions.size > MAP_POSITIONS_MAX) throw tooManyPositions(positions.size);
  for (const [nodeId] of entries) {
    const position = positions.get(nodeId);
    if (position === undefined)
      tx.db.$client.query("DELETE FROM map_positions WHERE network_n = +? AND node_id = ?").run(networkN, nodeId);
    else writePosition(tx.db, networkN, [nodeId, position]);
  }
  const cleared = entries.flatMap(([nodeId, point]) => (point === null ? (tx.recordN(nodeId) ?? []) : []));
  placeHosts(tx.db, networkN, cleared);
  return { network_id: id, nodes: Object.fromEntries(storedPositions(connection, networkN)) };
}

function tooManyPositions(count: number) {
  return invalid([
    { path: "/nodes", message: `would have ${count} positions in this network; the maximum is ${MAP_POSITIONS_MAX}` },
  ]);
}

export const mapPositionCommands = {
  "map_positions.set": setPositions,
};
export type MapPositionCommands = CallsOf<typeof mapPositionCommands>;
