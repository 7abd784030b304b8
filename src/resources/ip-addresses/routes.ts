// Routes for /api/v1/ip-addresses.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, ADMIN } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { runWrite, writtenRecord } from "../../records/write-responses.ts";
import { IdParams, IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { appendMembers, type ComposeFor } from "../compose.ts";
import type { ConfirmationCommands } from "../credential-assignments/commands.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IpAddressCommands } from "./commands.ts";
import {
  ConfirmedIpAddress,
  IP_ADDRESS_EXAMPLE,
  IpAddressCreate,
  IpAddressUpdate,
  ipAddressKind,
} from "./ip-address.ts";
import { ipAddressResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  subnet_id: Type.Optional(Type.String({ ...Uuid, description: "Only addresses in this subnet." })),
  ...IdsQuery,
  ...searchQuery(
    "the address (`10.2.`), its MAC address (`aa:bb`, with colons, dashes or Cisco dots) or a word of its name",
  ),
  ...orderQuery(ipAddressKind, [
    "created_at",
    "ip_address",
    "name",
    "mac_address",
    "subnet_id",
    "host_id",
    "updated_at",
  ]),
};
const { group } = ipAddressResource;
const body = {
  host_id: IP_ADDRESS_EXAMPLE.host_id,
  ip_address: "10.2.3.4",
  mac_address: "00:1b:21:aa:bb:cc",
  name: "eth0",
};

const CREDENTIAL_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0006";
const CONFIRMS =
  "A credential assigned to a host is sent to its addresses at the time of assignment, to those an Admin has specified since, and to those the device itself reports. " +
  "Any other added or changed address awaits this confirmation; scans report it. The confirmation applies to the value: a changed address must be confirmed again, and `If-Match` ensures that it is the one you saw. " +
  "If there is nothing to confirm, nothing is written.";

const { routesOn } = standardRoutes(ipAddressResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  subnet_id: { names: "subnet_id" },
});

/** /api/v1/ip-addresses. */
export function ipAddressRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<IpAddressCommands & ConfirmationCommands>,
): void {
  const routes = routesOn(surface, backend, "ip_address");
  routes.lists();
  routes.create(IpAddressCreate, body);
  routes.get();
  routes.update(IpAddressUpdate, body);
  routes.removals();
  surface.post(
    "/api/v1/ip-addresses/:id/confirm",
    {
      operationId: "confirmIpAddress",
      summary: "Confirm an address for the host's credentials",
      description: CONFIRMS,
      group,
      access: ADMIN,
      params: IdParams,
      responseSchema: ConfirmedIpAddress,
      errors: ["precondition_failed", "entity_access_denied"],
      example: { data: { ...IP_ADDRESS_EXAMPLE, credential_ids: [CREDENTIAL_ID] } },
    },
    async (call) => {
      const { seenSequence: seen, result } = await runWrite(backend, call, "ip_address.confirm", {
        id: call.params.id,
      });
      const members = `"credential_ids":${JSON.stringify(result.credential_ids)}`;
      const compose: ComposeFor = () => (items) => items.map((item) => appendMembers(item.text, members));
      return writtenRecord(backend, call, { kind: ipAddressKind, compose }, result.id, seen);
    },
  );
}
