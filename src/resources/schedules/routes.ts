// Routes of /api/v1/discovery/schedules.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../../access/actor.ts";
import { invalid } from "../../base/errors.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { ScheduleCommands } from "./commands.ts";
import { scheduleResource } from "./resource.ts";
import {
  DUES_EXAMPLE,
  DueQuery,
  duesOf,
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
const operations = standardOperations(scheduleResource, filters);
const body = {
  network_id: SCHEDULE_EXAMPLE.network_id,
  name: "Every night",
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  kind: "full",
};
const description =
  "Times are local to the time zone. A run at a fixed time of day happens once a day: right after the gap if clocks skip its time in spring, and only the first time if they repeat it in autumn. Periodic runs (`*` or a step in minute or hour) happen in both hours.";

const listed = listing(scheduleResource, filters, { network_id: { within: "network" } });

/** /api/v1/discovery/schedules. */
export function scheduleRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<ScheduleCommands>,
  targetProblems: TargetCheck,
): void {
  // Otherwise each of its scans would fail unattended.
  const assertTargets = (said: Pick<ScheduleUpdate, "targets">) => {
    const issues = targetIssues(said, targetProblems);
    if (issues.length > 0) throw invalid(issues);
  };
  surface
    .get("/api/v1/discovery/schedules", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/discovery/schedules/export/csv", operations.table(), (call) =>
      answerCsv(backend, call, listed(call.query)),
    )
    .post("/api/v1/discovery/schedules", operations.create(ScheduleCreate, body, { description }), (call) => {
      assertTargets(call.body);
      return answerWrite(backend, call, "schedule.create", { body: call.body }, scheduleResource);
    })
    .get(
      "/api/v1/discovery/schedules/due",
      {
        operationId: "listDueTimes",
        summary: "List the next runs of a cron expression",
        description: `For any expression, before it is used in a schedule. ${description}`,
        group: scheduleResource.group,
        access: VIEWER,
        query: DueQuery,
        answer: ScheduleDues,
        isRecord: false,
        example: {
          parameters: { cron: DUES_EXAMPLE.cron, timezone: DUES_EXAMPLE.timezone, count: 2 },
          data: DUES_EXAMPLE,
        },
      },
      (call) =>
        new Response(successBody(JSON.stringify(duesOf(call.query, backend.reader.now())), metaAt(null)), {
          headers: { ...call.headers, "content-type": "application/json" },
        }),
    )
    .get("/api/v1/discovery/schedules/:id", operations.get(), (call) => answerRecord(backend, call, scheduleResource))
    .put(
      "/api/v1/discovery/schedules/:id",
      operations.update(ScheduleUpdate, body, {
        description,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => {
        assertTargets(call.body);
        return answerWrite(backend, call, "schedule.update", { id: call.params.id, body: call.body }, scheduleResource);
      },
    )
    .delete("/api/v1/discovery/schedules/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "schedule.delete", scheduleResource),
    )
    .post("/api/v1/discovery/schedules/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "schedule.bulk_delete", scheduleResource),
    );
}
