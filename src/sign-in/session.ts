// A session as its user sees it, and what a filter can ask of it.

import { Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../inventory/row-fields.ts";

export const Session = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Names the session and opens nothing." }),
    created_at: Type.String({ format: "date-time", description: "When the user signed in." }),
    last_used_at: Type.String({ format: "date-time", description: "Recorded at most once a minute." }),
    expires_at: Type.String({ format: "date-time", description: "When it ends without further use." }),
    is_current: Type.Boolean({ description: "Whether this request came with it." }),
  },
  { $id: "Session" },
);

export const SESSION_ROWS: RowList = { name: "session", path: "/api/auth/sessions", row: Session };
export const SESSION_FIELDS = new RowFields(SESSION_ROWS);

export const SESSION_EXAMPLE = {
  id: "0d4f7c1a-52e9-8b36-9a39-3f6f1f7a0030",
  created_at: "2026-11-21T07:58:12.040Z",
  last_used_at: "2026-11-21T09:14:55.310Z",
  expires_at: "2026-11-28T09:14:55.310Z",
  is_current: true,
};
