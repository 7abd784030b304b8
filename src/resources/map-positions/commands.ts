// Writer commands for map positions. Writes nothing to the ledger.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import { invalid, referenceInvalid } from "../../base/errors.ts";
import type { CallsOf } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { hostKind } from "../hosts/host.ts";
import { networkKind } from "../networks/network.ts";
import {
  keptPositions,
  MAP_POSITIONS_MAX,
  type MapPositions,
  type MapPositionsUpdate,
  strangersAmong,
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
  const connection = connectionOf(tx);
  const named = Object.entries(body.nodes);
  const put = named.flatMap(([nodeId, point]) => (point === null ? [] : [nodeId]));
  const strangers = strangersAmong(connection, networkN, put);
  if (strangers.length > 0) throw referenceInvalid(hostKind, "nodes", strangers);
  const kept = keptPositions(connection, networkN);
  for (const [nodeId, point] of named) {
    if (point === null) kept.delete(nodeId);
    else kept.set(nodeId, { x: point.x, y: point.y, placed: "person" });
  }
  if (kept.size > MAP_POSITIONS_MAX) throw tooMany(kept.size);
  for (const [nodeId] of named) {
    const position = kept.get(nodeId);
    if (position === undefined)
      tx.db.$client.query("DELETE FROM map_positions WHERE network_n = +? AND node_id = ?").run(networkN, nodeId);
    else writePosition(tx.db, networkN, [nodeId, position]);
  }
  const given = named.flatMap(([nodeId, point]) => (point === null ? (tx.recordN(nodeId) ?? []) : []));
  placeHosts(tx.db, networkN, given);
  return { network_id: id, nodes: Object.fromEntries(keptPositions(connection, networkN)) };
}

function connectionOf(tx: WriteTransaction) {
  return { statement: (sql: string) => tx.db.$client.query(sql) };
}

function tooMany(count: number) {
  return invalid([
    { path: "/nodes", message: `would make ${count} positions of this network; at most ${MAP_POSITIONS_MAX} are kept` },
  ]);
}

export const mapPositionCommands = {
  "map_positions.set": setPositions,
};
export type MapPositionCommands = CallsOf<typeof mapPositionCommands>;
