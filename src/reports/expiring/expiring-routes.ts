// Route for /api/v1/networks/{id}/expiring.

import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import { notFound } from "../../base/errors.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { NETWORK_EXAMPLE, networkKind } from "../../resources/networks/network.ts";
import { IdParams } from "../../schemas/schemas.ts";
import { EXPIRING_EXAMPLE, type ExpiringInput, ExpiringRecords, expiring } from "./expiring.ts";

export function expiringRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/networks/:id/expiring",
    {
      operationId: "listExpiring",
      summary: "List what expires next in a network",
      description:
        "Hosts and addresses that only sweeps and neighbor tables know, and that end next if no scan sees them again: see the network's `expire_hosts_after_hours`, `expire_addresses_after_hours` and `expire_random_macs_after_hours`. Now only: when a record was last seen is not known for the past.",
      group: "Networks",
      access: VIEWER,
      params: IdParams,
      responseSchema: ExpiringRecords,
      errors: ["entity_not_found"],
      example: { parameters: { id: NETWORK_EXAMPLE.id }, data: EXPIRING_EXAMPLE },
    },
    (call) => {
      const { reader } = backend;
      const { id } = call.params;
      const networkN = reader.recordN(id);
      if (networkN === null || reader.find(networkKind, id, call.actor, null) === null) throw notFound(networkKind, id);
      const input: ExpiringInput = { actor: plainActor(call.actor), networkN, now: reader.now() };
      return respondWithLongRead(backend, call, expiring, input);
    },
  );
}
