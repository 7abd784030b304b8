// Route for GET /api/v1/hosts/{id}/faceplate: the physical port layout of a device, with the stations on each port.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { fixedMoment, readingAt } from "../../records/read-instant.ts";
import { At, IdParams, LIMIT_MAX, OneOf, QueryList, Uuid } from "../../schemas/schemas.ts";
import { type FaceplateInput, faceplate } from "./faceplate.ts";
import { FACEPLATE_EXAMPLE, Faceplate } from "./faceplate-schema.ts";
import { STATIONS_MAX } from "./stations.ts";

const DESCRIPTION = `The interfaces of a device in its own order: ports by member and module (\`Gi1/0/1\` … \`Gi2/0/1\`), management ports, and interfaces that are not ports. Each has its state, its VLANs, its neighbor, and the stations behind it by name.

Stations come from the device's forwarding table as of the timestamp: up to ${STATIONS_MAX} MAC addresses of each port, with the hosts of the same network that have them on an interface or next to an IP address, and with their vendors. \`unused_since\` is when the port was last up. With \`ids\` or \`limit\` only some ports are returned, in their groups; empty groups are omitted, as are ids that are not interfaces of the device at that time.`;

const Query = Type.Object({
  ...At.properties,
  ids: Type.Optional(
    QueryList(Uuid, { description: "Only these interfaces of the device; repeated or comma-separated." }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMIT_MAX,
      default: 0,
      description: "Maximum number of interfaces, the first in order: ports before other interfaces. 0 for all.",
    }),
  ),
  include: Type.Optional(
    OneOf(["host"] as const, {
      description: "Return the host too, as `host_record`: as in its list with `include=overview`.",
    }),
  ),
});

/** /api/v1/hosts/{id}/faceplate. */
export function faceplateRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/hosts/:id/faceplate",
    {
      operationId: "getFaceplate",
      summary: "Get the faceplate of a device",
      description: DESCRIPTION,
      group: "Questions",
      access: VIEWER,
      params: IdParams,
      query: Query,
      responseSchema: Faceplate,
      isRecord: false,
      example: { parameters: { id: FACEPLATE_EXAMPLE.host.id }, data: FACEPLATE_EXAMPLE },
    },
    (call) =>
      readingAt(backend, call, (moment) => {
        const input: FaceplateInput = {
          actor: plainActor(call.actor),
          hostId: call.params.id,
          ids: call.query.ids ?? null,
          limit: call.query.limit ?? 0,
          includesHost: call.query.include === "host",
          moment: fixedMoment(backend.reader, moment),
        };
        return respondWithLongRead(backend, call, faceplate, input);
      }),
  );
}
