// Routes for /api/v1/vlans.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { VlanCommands } from "./commands.ts";
import { vlanResource } from "./resource.ts";
import { VLAN_EXAMPLE, VlanCreate, VlanUpdate, vlanKind } from "./vlan.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the VLAN's number, or a word of its name or description"),
  ...orderQuery(vlanKind, ["created_at", "number", "name", "network_id", "updated_at"], true),
};
const body = { network_id: VLAN_EXAMPLE.network_id, number: 120, name: "Voice" };

const { routesOn } = standardRoutes(vlanResource, filters, { network_id: { within: "network" } });

/** /api/v1/vlans. */
export function vlanRoutes(surface: Surface<Actor, Access>, backend: Backend<VlanCommands>): void {
  const routes = routesOn(surface, backend, "vlan");
  routes.lists();
  routes.create(VlanCreate, body);
  routes.get();
  routes.update(VlanUpdate, body, {
    errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
  });
  routes.removals({ errors: ["entity_in_use"] });
}
