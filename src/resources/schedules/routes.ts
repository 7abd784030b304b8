// /api/v1/discovery/schedules

import { Type, type Static } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { invalid } from "../../base/errors.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  answerWrite,
  csvAnswer,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { composeSchedules } from "./schedule-view.ts";
import {
  Schedule,
  SCHEDULE_EXAMPLE,
  SCHEDULE_KEYED_FIELDS,
  SCHEDULE_ORDER_FIELDS,
  ScheduleCreate,
  scheduleKind,
  ScheduleUpdate,
} from "./schedule.ts";

const filters = { network_id: Type.Optional(Uuid), ...IdsQuery, ...orderQuery(SCHEDULE_ORDER_FIELDS) };
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Discovery";
const example = { data: SCHEDULE_EXAMPLE };
const body = {
  network_id: SCHEDULE_EXAMPLE.network_id,
  name: "Every night",
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  kind: "full",
};
const description =
  "Times are those of the time zone. What is to run at certain times of the day runs once on every day: right after a spring gap that swallowed its time, and the first time round where an autumn hour comes twice. What runs every so often (`*` or a step in minute or hour) runs in both of the hours.";

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return {
    kind: scheduleKind,
    within: { network: query.network_id },
    order: orderTerms(query, SCHEDULE_KEYED_FIELDS),
    compose: composeSchedules,
  };
}

/** What is wrong with targets that a scan would refuse: each by its place in the list. */
export type TargetCheck = (
  targets: readonly string[],
) => ReadonlyArray<{ readonly index: number; readonly message: string }>;

/** /api/v1/discovery/schedules. */
export function scheduleRoutes(
  surface: Surface<Actor, Access>,
  inventory: Inventory,
  targetProblems: TargetCheck,
): void {
  // Or every scan of it would fail, at night.
  const assertTargets = ({ targets }: { readonly targets?: readonly string[] | null }) => {
    const problems = targetProblems(targets ?? []);
    if (problems.length > 0)
      throw invalid(
        problems.map(({ index, message }) => ({ path: `/targets/${index}`, message, value: targets?.[index] })),
      );
  };
  surface
    .get(
      "/api/v1/discovery/schedules",
      {
        operationId: "listSchedules",
        summary: "List schedules",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Schedule),
        isList: true,
        example: { data: [SCHEDULE_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/discovery/schedules/export/csv",
      {
        operationId: "exportSchedules",
        summary: "Export schedules as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("schedules", schemaColumns(Schedule), SCHEDULE_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/discovery/schedules",
      {
        operationId: "createSchedule",
        summary: "Create a schedule",
        description,
        group,
        access: ADMIN,
        body: ScheduleCreate,
        answer: Schedule,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: SCHEDULE_EXAMPLE.id, ...body } },
      },
      (call) => {
        assertTargets(call.body);
        return answerWrite(inventory, call, "schedule.create", { body: call.body }, scheduleKind, composeSchedules);
      },
    )
    .get(
      "/api/v1/discovery/schedules/:id",
      {
        operationId: "getSchedule",
        summary: "Get a schedule",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Schedule,
        example,
      },
      (call) => answerRecord(inventory, call, scheduleKind, composeSchedules),
    )
    .put(
      "/api/v1/discovery/schedules/:id",
      {
        operationId: "updateSchedule",
        summary: "Update a schedule",
        description,
        group,
        access: ADMIN,
        params: IdParams,
        body: ScheduleUpdate,
        answer: Schedule,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body },
      },
      (call) => {
        assertTargets(call.body);
        return answerWrite(
          inventory,
          call,
          "schedule.update",
          { id: call.params.id, body: call.body },
          scheduleKind,
          composeSchedules,
        );
      },
    )
    .delete(
      "/api/v1/discovery/schedules/:id",
      {
        operationId: "deleteSchedule",
        summary: "Delete a schedule",
        group,
        access: ADMIN,
        params: IdParams,
        query: Cascade,
        answer: Schedule,
        example,
      },
      (call) => answerRemoval(inventory, call, "schedule.delete", {}, scheduleKind, composeSchedules),
    )
    .post(
      "/api/v1/discovery/schedules/bulk-delete",
      {
        operationId: "deleteSchedules",
        summary: "Delete many schedules, all or none",
        group,
        access: ADMIN,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Schedule),
        errors: ["entity_reference_invalid"],
        example: { data: [SCHEDULE_EXAMPLE], body: [SCHEDULE_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(inventory, call, "schedule.bulk_delete", { cascade: false }, scheduleKind, composeSchedules),
    );
}
