// Routes for /api/auth/preferences: client preferences of the signed-in user, inaccessible to other users.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { invalid } from "../base/errors.ts";
import { PREFERENCES_LIMIT_BYTES, tooLarge } from "../http/body.ts";
import type { RequestContext } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { runWrite } from "../records/write-responses.ts";
import { entityTag, isNotModified } from "../schemas/entity-tags.ts";
import { successResponse } from "../schemas/envelope.ts";
import { NO_PREFERENCES, type PreferenceCommands, preferencesVersion, type StoredPreferences } from "./preferences.ts";

const Preferences = Type.Record(Type.String(), Type.Unknown(), {
  $id: "Preferences",
  description: "A JSON object; its members are interpreted only by the client.",
});

const PREFERENCES_EXAMPLE = { theme: "dark", "hosts.columns": ["name", "hostname", "sys_location"] };

const group = "Access";
const access: Access = { role: "Viewer", sessionOnly: true };
const PREFERENCES_SQL = "SELECT preferences, revision FROM user_preferences WHERE user_n = +?";

/** /api/auth/preferences. */
export function preferenceRoutes(surface: Surface<Actor, Access>, backend: Backend<PreferenceCommands>): void {
  surface
    .get(
      "/api/auth/preferences",
      {
        operationId: "getPreferences",
        isRecord: true,
        summary: "Get your preferences",
        description: "The last object written; initially empty. Preferences have no history.",
        group,
        access,
        responseSchema: Preferences,
        example: { data: PREFERENCES_EXAMPLE },
      },
      (call) => {
        const [row] = backend.reader.statement(PREFERENCES_SQL).values(call.actor.userN) as Array<[string, number]>;
        const stored = row === undefined ? NO_PREFERENCES : { text: row[0], revision: row[1] };
        const etag = entityTag(preferencesVersion(stored));
        return isNotModified(call.request.headers.get("if-none-match"), etag)
          ? new Response(null, { status: 304, headers: { ...call.headers, etag } })
          : respond(call, stored);
      },
    )
    .put(
      "/api/auth/preferences",
      {
        operationId: "setPreferences",
        isRecord: true,
        writesNoTransaction: true,
        ignoresIdempotencyKey: true,
        summary: "Replace your preferences",
        description:
          "Replaces all of them: omitted ones are removed. Send the ETag that you read as If-Match, so that two open windows do not overwrite each other. At most 16 KiB. They are deleted with the user.",
        group,
        access,
        bodyLimitBytes: PREFERENCES_LIMIT_BYTES,
        body: Preferences,
        responseSchema: Preferences,
        example: { body: PREFERENCES_EXAMPLE, data: PREFERENCES_EXAMPLE },
      },
      async (call) => {
        const outOfRange = [...unrepresentableNumbers(call.body, "")];
        if (outOfRange.length > 0)
          throw invalid(outOfRange.map((path) => ({ path, message: "is a number outside the range of a double" })));
        const text = JSON.stringify(call.body);
        // 1e20 becomes longer when serialized.
        if (Buffer.byteLength(text) > PREFERENCES_LIMIT_BYTES) throw tooLarge(PREFERENCES_LIMIT_BYTES);
        const { result } = await runWrite(backend, call, "preferences.set", { text });
        return respond(call, result);
      },
    );
}

/** JSON pointers to numbers that would not round-trip (RFC 8259 section 6). */
function* unrepresentableNumbers(value: unknown, path: string): Generator<string> {
  if (typeof value === "number" && !Number.isFinite(value)) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, each] of Object.entries(value))
    yield* unrepresentableNumbers(each, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

function respond(call: RequestContext, stored: StoredPreferences): Response {
  const headers = { ...call.headers, etag: entityTag(preferencesVersion(stored)) };
  return successResponse({ headers }, stored.text);
}
