// Route of GET /api/v1/hosts/{id}/identity: the signs that identify the devices of a host.

import { type Access, type Actor, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { notFoundAt, readingAt } from "../../records/read-instant.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { metaAt, successResponse } from "../../schemas/envelope.ts";
import { At, IdParams } from "../../schemas/schemas.ts";
import { decisionsOf } from "./identity-decisions.ts";
import { HostIdentity, IDENTITY_EXAMPLE, identityOf } from "./identity-response.ts";

/** /api/v1/hosts/{id}/identity. */
export function identityRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/hosts/:id/identity",
    {
      operationId: "getHostIdentity",
      summary: "Explain why a device is this host",
      description:
        "For each address at which a device responded to SNMP as this host: the signs that decided, their weights in bits, and the host that it would be otherwise. The weights are those of the decision, which stays until the device shows other signs or another candidate appears.",
      group: "Questions",
      access: VIEWER,
      params: IdParams,
      query: At,
      responseSchema: HostIdentity,
      isRecord: false,
      example: { parameters: { id: IDENTITY_EXAMPLE.host_id }, data: IDENTITY_EXAMPLE },
    },
    (call) =>
      readingAt(backend, call, (moment) => {
        const { reader } = backend;
        const { actor, params } = call;
        const find = (id: string) => reader.find(hostKind, id, actor, moment.asOf);
        const found = find(params.id);
        if (found === null) throw notFoundAt(hostKind, params.id, moment);
        const nameOf = (id: string) => {
          const text = find(id)?.text;
          return text === undefined ? null : (JSON.parse(text) as { name: string }).name;
        };
        const decisions = decisionsOf(reader, found.n, moment.asOf?.sequence ?? Number.MAX_SAFE_INTEGER);
        return successResponse(call, JSON.stringify(identityOf(params.id, decisions, nameOf)), metaAt(moment));
      }),
  );
}
