// Routes for /api/v1/ip-ranges.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IpRangeCommands } from "./commands.ts";
import { IP_RANGE_EXAMPLE, IpRangeCreate, IpRangeUpdate, ipRangeKind } from "./ip-range.ts";
import { ipRangeResource } from "./resource.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  subnet_id: Type.Optional(Type.String({ ...Uuid, description: "Only ranges of this subnet." })),
  ...IdsQuery,
  ...searchQuery("the range's first or last address (`10.2.`), or a word of its description"),
  ...orderQuery(ipRangeKind, ["created_at", "first", "last", "purpose", "subnet_id", "network_id", "updated_at"], true),
};
const { network_id, first, last, purpose, description } = IP_RANGE_EXAMPLE;
const body = { network_id, first, last, purpose, description };
const SHARED =
  "No two ranges of purpose Dhcp or Reserved in a network share an address: `entity_already_exists` then, with the other range as `overlapping_id`.";

const { routesOn } = standardRoutes(ipRangeResource, filters, {
  network_id: { within: "network" },
  subnet_id: { names: "subnet_id" },
});

/** /api/v1/ip-ranges. */
export function ipRangeRoutes(surface: Surface<Actor, Access>, backend: Backend<IpRangeCommands>): void {
  const routes = routesOn(surface, backend, "ip_range");
  routes.lists();
  routes.create(IpRangeCreate, body, { description: SHARED });
  routes.get();
  routes.update(IpRangeUpdate, body, {
    description: `Omitted fields are kept; new ends without \`subnet_id\` determine the subnet again. ${SHARED}`,
  });
  routes.removals();
}
