// Session as shown to its user, and its filter fields.

import { Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { IpAddressText, Nullable } from "../schemas/schemas.ts";
import { USER_AGENT_MAX_LENGTH } from "./session-origin.ts";

export const Session = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifies the session; cannot be used to sign in." }),
    created_at: Type.String({ format: "date-time", description: "Time of sign-in." }),
    last_used_at: Type.String({ format: "date-time", description: "Recorded at most once a minute." }),
    last_used_from: Nullable(IpAddressText, {
      description: "Address of the last use; null if unknown.",
    }),
    user_agent: Nullable(Type.String({ maxLength: USER_AGENT_MAX_LENGTH }), {
      description:
        "The client's `User-Agent` at that time, on one line and truncated; null if it sent none. It can be forged.",
    }),
    expires_at: Type.String({ format: "date-time", description: "When the session ends if it is not used again." }),
    is_current: Type.Boolean({ description: "Whether this request uses it." }),
  },
  { $id: "Session" },
);

export const SESSION_ROWS: RowList = { name: "session", path: "/api/auth/sessions", row: Session };
export const SESSION_FIELDS = new RowFields(SESSION_ROWS);

export const SESSION_EXAMPLE = {
  id: "0d4f7c1a-52e9-8b36-9a39-3f6f1f7a0030",
  created_at: "2026-11-21T07:58:12.040Z",
  last_used_at: "2026-11-21T09:14:55.310Z",
  last_used_from: "10.0.30.7",
  user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
  expires_at: "2026-11-28T09:14:55.310Z",
  is_current: true,
};
