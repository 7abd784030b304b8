// Log line as returned by the API, and its filter fields.

import { Type } from "@sinclair/typebox";
import { LOG_LEVELS } from "../base/recent-lines.ts";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { OneOf, Timestamp } from "../schemas/schemas.ts";

export const LogLineBody = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: "Number of the line since the start, without gaps." }),
    at: Timestamp,
    level: OneOf(LOG_LEVELS),
    event: Type.String(),
    text: Type.String({ description: "The complete line as written." }),
  },
  { $id: "LogLine" },
);
export const LOG_LINE_ROWS: RowList = { name: "log_line", path: "log", row: LogLineBody };
export const LOG_LINE_FIELDS = new RowFields(LOG_LINE_ROWS);

export const LOG_LINE_EXAMPLE = {
  sequence: 97,
  at: "2026-11-21T09:15:42.011Z",
  level: "info",
  event: "scan_ended",
  text: "2026-11-21T09:15:42.011Z INFO  scan_ended scan_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021 status=Completed",
};
