// GET /api/v1/log: what the appliance has logged since its start, for an Owner who has no shell on it.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import { LINES_KEPT, LOG_LEVELS } from "../base/recent-lines.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../inventory/backend.ts";
import { successBody } from "../wire/envelope.ts";
import { OneOf, Timestamp } from "../wire/schemas.ts";

const LOG_LIMIT_DEFAULT = 100;

const LogLine = Type.Object(
  {
    at: Timestamp,
    level: OneOf(LOG_LEVELS),
    event: Type.String(),
    text: Type.String({ description: "The whole line, as it was written." }),
  },
  { $id: "LogLine" },
);
const Query = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LINES_KEPT, default: LOG_LIMIT_DEFAULT, description: "How many lines." }),
  ),
  level: Type.Optional(
    OneOf(LOG_LEVELS, { default: LOG_LEVELS[0], description: "Only lines of this level and of those above it." }),
  ),
});
const EXAMPLE = {
  at: "2026-11-21T09:15:42.011Z",
  level: "info",
  event: "scan_ended",
  text: "2026-11-21T09:15:42.011Z INFO  scan_ended scan_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021 status=Completed",
};

/** /api/v1/log. */
export function logRoutes(surface: Surface<Actor, Access>, { log }: Pick<Backend, "log">): void {
  surface.get(
    "/api/v1/log",
    {
      operationId: "listLogLines",
      summary: "List the last lines of the log",
      description: `Oldest first. The last ${LINES_KEPT} lines since the start are kept in memory, fewer where they are long; standard error has all of them. Secrets are in neither. Only while the appliance has one organization.`,
      group: "Appliance",
      access: OF_WHOLE_APPLIANCE,
      query: Query,
      answer: Type.Array(LogLine),
      example: { data: [EXAMPLE] },
    },
    (call) => {
      const { limit = LOG_LIMIT_DEFAULT, level = LOG_LEVELS[0] } = call.query;
      return new Response(successBody(JSON.stringify(log.recent.last(limit, level))), {
        headers: { ...call.headers, "content-type": "application/json" },
      });
    },
  );
}
