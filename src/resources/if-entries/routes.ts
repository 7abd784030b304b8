// Routes for /api/v1/if-entries.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { ALL_ISSUES } from "../issues.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IfEntryCommands } from "./commands.ts";
import { IF_ENTRY_EXAMPLE, IfEntryCreate, IfEntryUpdate, ifEntryKind } from "./if-entry.ts";
import { ifEntryResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery(
    "a word of the interface's name, description or alias, in full or abbreviated as in `Gi1/0/7`; or its MAC address or one that the device forwards to it",
  ),
  ...orderQuery(
    ifEntryKind,
    ["created_at", "if_index", "if_descr", "if_name", "if_alias", "mac_address", "oper_status", "updated_at"],
    true,
  ),
};
const body = {
  host_id: IF_ENTRY_EXAMPLE.host_id,
  if_index: 1,
  if_descr: "GigabitEthernet1/0/1",
  if_type: 6,
  speed_bps: 1_000_000_000,
  admin_status: "Up",
  oper_status: "Up",
};

const { routesOn } = standardRoutes(ifEntryResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
});

/** /api/v1/if-entries. */
export function ifEntryRoutes(surface: Surface<Actor, Access>, backend: Backend<IfEntryCommands>): void {
  const routes = routesOn(surface, backend, "if_entry");
  routes.lists();
  routes.create(IfEntryCreate, body, { description: ALL_ISSUES, acceptsRawBody: true });
  routes.get();
  routes.update(IfEntryUpdate, body, {
    description: ALL_ISSUES,
    acceptsRawBody: true,
  });
  routes.removals();
}
