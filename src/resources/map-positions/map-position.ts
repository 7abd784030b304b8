// Map positions of a network's devices: table, wire format and pruning. Positions belong to the network, are the same
// at every timestamp, and have no history in the ledger.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Sql } from "../../db/connection.ts";
import { scopeKey } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { Body, Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";

/** Origin of a position: set by a user, or laid out by the appliance. */
export const PLACED_BY = ["person", "layout"] as const;

/**
 * Limit per network and per request. A whole map can be laid out again only by removing all positions in one request,
 * since layout keeps existing ones. 20,000 positions are a body of 2 MB.
 */
export const MAP_POSITIONS_MAX = 20_000;
export const MAP_COORDINATE_MAX = 1_000_000;

export const mapPositions = sqliteTable("map_positions", {
  network_n: integer().notNull(),
  node_id: text().notNull(),
  x: integer().notNull(),
  y: integer().notNull(),
  placed: text().$type<MapPosition["placed"]>().notNull(),
  checksum: integer().notNull(),
});

const coordinate = (description: string) =>
  Type.Integer({ minimum: -MAP_COORDINATE_MAX, maximum: MAP_COORDINATE_MAX, description });
const x = coordinate("Horizontal, increasing to the right.");
const y = coordinate("Vertical, increasing downwards.");
const placed = OneOf(PLACED_BY, {
  description: "`person`: by a write of map positions. `layout`: laid out by the appliance.",
});

/** A position on the map and its origin. */
export const MapPosition = Type.Object(
  { x: Type.Integer(x), y: Type.Integer(y), placed },
  {
    $id: "MapPosition",
    description:
      "Position on the network's map, the same at every timestamp. The layout keeps devices at least 160 units apart horizontally, or 120 vertically.",
  },
);
export type MapPosition = Static<typeof MapPosition>;

/** Node ids as in the topology. */
const NODE_ID = "^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|unknown-[0-9a-f]{16})$";

export const MapPositionsUpdate = Body({
  nodes: Type.Record(
    Type.String({ pattern: NODE_ID }),
    Nullable(
      Body({
        x,
        y,
        placed: Type.Optional(OneOf(PLACED_BY, { description: "Ignored: written positions are always `person`." })),
      }),
    ),
    {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: MAP_POSITIONS_MAX,
      description: `By node id, as in the topology. Null removes the position. At most ${MAP_POSITIONS_MAX}.`,
    },
  ),
});
export type MapPositionsUpdate = Static<typeof MapPositionsUpdate>;

export const MapPositions = Type.Object(
  {
    network_id: Uuid,
    nodes: Type.Record(Type.String(), MapPosition, {
      description: "By node id. Deleted hosts keep theirs for views of the past.",
    }),
  },
  { $id: "MapPositions" },
);
export type MapPositions = Static<typeof MapPositions>;

type Connection = Pick<ReadConnection, "statement">;

/** Stored positions of a network, by node. */
export function storedPositions(connection: Connection, networkN: number): Map<string, MapPosition> {
  const rows = connection
    .statement("SELECT node_id, x, y, placed FROM map_positions WHERE network_n = +? ORDER BY node_id")
    .values(networkN) as Array<[string, number, number, MapPosition["placed"]]>;
  return new Map(rows.map(([id, ...[x, y, placed]]) => [id, { x, y, placed }]));
}

/** Ids of hosts that were never in the network, and ids of no host. Ids of devices outside the inventory pass. */
export function idsOutsideNetwork(connection: Connection, networkN: number, nodeIds: readonly string[]): string[] {
  const statement = connection.statement(
    `SELECT 1 FROM history_records r WHERE r.id = ?1 AND r.kind = ${hostKind.code}
      AND EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = +?2 AND s.n = r.n)`,
  );
  return nodeIds.filter(
    (id) => !id.startsWith("unknown-") && statement.values(id, scopeKey(networkN, hostKind)).length === 0,
  );
}

/** Whether a user placed a host on the map of its network. */
export function isPlacedByPerson(tx: WriteTransaction, { id, network_id }: HostRecord): boolean {
  const statement = tx.db.$client.query(
    "SELECT 1 FROM map_positions WHERE network_n = ?1 AND node_id = ?2 AND placed = 'person'",
  );
  return statement.get(tx.recordN(network_id) ?? 0, id) !== null;
}

/** Drops positions of hosts whose history has been pruned completely. */
export function dropPrunedPositions({ $client }: Sql): void {
  $client.run(
    `DELETE FROM map_positions WHERE node_id NOT LIKE 'unknown-%' AND NOT EXISTS (
       SELECT 1 FROM history_records r JOIN history_versions v ON v.key > (r.n << 31) AND v.key < ((r.n + 1) << 31)
       WHERE r.id = map_positions.node_id AND v.members IS NOT NULL)`,
  );
}

export const MAP_POSITIONS_EXAMPLE: MapPositions = {
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  nodes: { "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010": { x: 480, y: -120, placed: "person" } },
};
