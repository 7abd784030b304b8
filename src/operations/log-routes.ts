// Route for GET /api/v1/log: log lines since the start of the appliance, for an Owner without shell access.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import { isAtLeast, LOG_LEVELS, type LogLine, MAX_LINES } from "../base/recent-lines.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { RowFilter } from "../records/row-filter.ts";
import { metaWith, successResponse } from "../schemas/envelope.ts";
import { OneOf } from "../schemas/schemas.ts";
import { LOG_LINE_EXAMPLE, LOG_LINE_FIELDS, LogLineBody } from "./log-line.ts";

const LOG_LIMIT_DEFAULT = 100;

/** Length of a timestamp of the appliance's own clock. */
const MARKER_MAX_LENGTH = 40;
const LogMeta = Type.Object({
  log: Type.Object({
    after: Type.Integer({ minimum: 0, description: "Follow the log from here: send it back as `after`." }),
    mark: Type.String({ description: "Identifies this start of the appliance: send it back as `mark`." }),
    dropped: Type.Integer({
      minimum: 0,
      description: "Lines after `after`, of any level, that are no longer retained; 0 without `after`.",
    }),
    is_restarted: Type.Boolean({
      description:
        "Whether the appliance was restarted since `after`: the lines then begin with the restart, and earlier ones are only in standard error.",
    }),
    has_more: Type.Boolean({ description: "Whether more lines are available now. Always false without `after`." }),
  }),
});
const Query = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "Only lines after this number, oldest first: `meta.log.after` of the last response. 0: from the first retained line. Absent: the newest lines.",
    }),
  ),
  mark: Type.Optional(
    Type.String({
      maxLength: MARKER_MAX_LENGTH,
      description: "`meta.log.mark` of the last response, together with `after`.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LINES,
      default: LOG_LIMIT_DEFAULT,
      description: "Maximum number of lines.",
    }),
  ),
  level: Type.Optional(
    OneOf(LOG_LEVELS, { default: LOG_LEVELS[0], description: "Only lines of this level and above." }),
  ),
  ...FilterQuery,
});
/** /api/v1/log. */
export function logRoutes(surface: Surface<Actor, Access>, { log, reader }: Pick<Backend, "log" | "reader">): void {
  surface.get(
    "/api/v1/log",
    {
      operationId: "listLogLines",
      summary: "List the last lines of the log",
      description: `Oldest first. The last ${MAX_LINES} lines since the start are kept in memory, fewer if they are long; standard error has all of them. With \`after\` and \`mark\` of the last response, each line is returned exactly once; \`dropped\` counts the lines lost before they were requested. Neither contains secrets. Only while the appliance has one organization.`,
      group: "Appliance",
      access: OF_WHOLE_APPLIANCE,
      query: Query,
      responseSchema: Type.Array(LogLineBody),
      meta: LogMeta,
      example: {
        data: [LOG_LINE_EXAMPLE],
        meta: {
          log: { after: 97, mark: "2026-11-21T07:58:01.774Z", dropped: 0, is_restarted: false, has_more: false },
        },
      },
    },
    (call) => {
      const { limit = LOG_LIMIT_DEFAULT, level = LOG_LEVELS[0], after, mark } = call.query;
      const requestedFilter = requestFilter(call, reader, null);
      const filter = RowFilter.of(reader, LOG_LINE_FIELDS, call.actor, requestedFilter);
      const isLevel = isAtLeast(level);
      const isMatch = (line: LogLine) => isLevel(line) && (filter === null || filter.holds(line));
      const page =
        after === undefined ? log.recent.last(limit, isMatch) : log.recent.next(limit, { after, mark }, isMatch);
      const logMeta = {
        after: page.after,
        mark: page.mark,
        dropped: page.dropped,
        is_restarted: page.isRestarted,
        has_more: page.hasMore,
      };
      return successResponse(call, JSON.stringify(page.lines), metaWith(`"log":${JSON.stringify(logMeta)}`));
    },
  );
}
