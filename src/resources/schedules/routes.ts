// Routes for /api/v1/discovery/schedules.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../../access/actor.ts";
import { invalid } from "../../base/errors.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { respondWithWrite } from "../../records/write-responses.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { ScheduleCommands } from "./commands.ts";
import { scheduleResource } from "./resource.ts";
import {
  DUE_TIMES_EXAMPLE,
  DueQuery,
  dueTimesFor,
  SCHEDULE_EXAMPLE,
  ScheduleCreate,
  ScheduleDues,
  ScheduleUpdate,
  scheduleKind,
  type TargetCheck,
  targetIssues,
} from "./schedule.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("a word of the schedule's name"),
  ...orderQuery(scheduleKind, ["created_at", "name", "kind", "is_enabled", "network_id", "updated_at"]),
};
const body = {
  network_id: SCHEDULE_EXAMPLE.network_id,
  name: "Every night",
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  kind: "full",
};
const description =
  "Times are local to the time zone. A run at a fixed time of day happens once a day: right after the gap if clocks skip its time in spring, and only the first time if they repeat it in autumn. Periodic runs (`*` or a step in minute or hour) happen in both hours.";

const { operations, routesOn } = standardRoutes(scheduleResource, filters, { network_id: { within: "network" } });

/** /api/v1/discovery/schedules. */
export function scheduleRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<ScheduleCommands>,
  targetProblems: TargetCheck,
): void {
  // Rejects invalid targets, which would make each scheduled scan fail unattended.
  const assertTargets = (input: Pick<ScheduleUpdate, "targets">) => {
    const issues = targetIssues(input, targetProblems);
    if (issues.length > 0) throw invalid(issues);
  };
  const routes = routesOn(surface, backend, "schedule");
  routes.lists();
  surface.post("/api/v1/discovery/schedules", operations.create(ScheduleCreate, body, { description }), (call) => {
    assertTargets(call.body);
    return respondWithWrite(backend, call, "schedule.create", { body: call.body }, scheduleResource);
  });
  surface.get(
    "/api/v1/discovery/schedules/due",
    {
      operationId: "listDueTimes",
      summary: "List the next runs of a cron expression",
      description: `For any expression, before it is used in a schedule. ${description}`,
      group: scheduleResource.group,
      access: VIEWER,
      query: DueQuery,
      responseSchema: ScheduleDues,
      isRecord: false,
      example: {
        parameters: { cron: DUE_TIMES_EXAMPLE.cron, timezone: DUE_TIMES_EXAMPLE.timezone, count: 2 },
        data: DUE_TIMES_EXAMPLE,
      },
    },
    (call) => successResponse(call, JSON.stringify(dueTimesFor(call.query, backend.reader.now()))),
  );
  routes.get();
  surface.put(
    "/api/v1/discovery/schedules/:id",
    operations.update(ScheduleUpdate, body, {
      description,
      errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
    }),
    (call) => {
      assertTargets(call.body);
      const input = { id: call.params.id, body: call.body };
      return respondWithWrite(backend, call, "schedule.update", input, scheduleResource);
    },
  );
  routes.removals();
}
