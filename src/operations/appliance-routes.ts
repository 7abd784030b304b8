// Route for GET /api/v1/appliance: status and conditions of the appliance, for an Owner without shell access.

import type { Access, Actor } from "../access/actor.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import type { Surface } from "../http/surface.ts";
import { successResponse } from "../schemas/envelope.ts";
import { APPLIANCE_EXAMPLE, ApplianceBody } from "./appliance-body.ts";
import { type ApplianceSources, applianceState } from "./appliance-state.ts";

/** /api/v1/appliance. */
export function applianceRoutes(surface: Surface<Actor, Access>, sources: ApplianceSources): void {
  surface.get(
    "/api/v1/appliance",
    {
      operationId: "getAppliance",
      summary: "Get the status of the appliance",
      description:
        "Disk, memory, the database and its log, queues and running work, backups, the last verification, clock, certificate, and in `concerns` the problems that need attention. It reads no table, so frequent requests are cheap. `GET /api/health` is for monitors without credentials. Only while the appliance has one organization.",
      group: "Appliance",
      access: OF_WHOLE_APPLIANCE,
      responseSchema: ApplianceBody,
      isRecord: false,
      example: { data: APPLIANCE_EXAMPLE },
    },
    (call) => successResponse(call, JSON.stringify(applianceState(sources))),
  );
}
