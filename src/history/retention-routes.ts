// GET /api/v1/retention/preview: what a prune would drop and keep. Pruning itself is a CLI command.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor } from "../access/actor.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import type { Clock } from "../base/clock.ts";
import { invalid } from "../base/errors.ts";
import { RESOLUTIONS } from "../db/pruned-history.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { requestedInstant } from "../records/read-instant.ts";
import { InstantOrAge, OneOf, Timestamp } from "../schemas/schemas.ts";
import { retentionPreview } from "./retention-preview.ts";

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const Preview = Type.Object(
  {
    before: Timestamp,
    keep: OneOf(RESOLUTIONS),
    versions: Count("Versions in the segments that would be thinned."),
    dropped: Count("Versions that would be dropped."),
    dropped_bytes: Count("Bytes of their documents."),
    states_kept: Count("States that would remain in the thinned history."),
    credential_notes_dropped: Count("Records of where credentials were sent that would be dropped."),
    segments: Type.Array(Type.Object({ first: Type.Integer(), last: Type.Integer(), resolution: OneOf(RESOLUTIONS) }), {
      description: "All thinned segments after the prune, including those of earlier prunes.",
    }),
  },
  { $id: "RetentionPreview" },
);
const Query = Type.Object({
  before: InstantOrAge("History before this would be thinned: a timestamp, an age in days or weeks, or a marker."),
  keep: Type.Optional(
    OneOf(RESOLUTIONS, {
      default: "none",
      description: "The states to retain: the last of each day or month (UTC), or only the one at `before`.",
    }),
  ),
});

/** Registers /api/v1/retention/preview. */
export function retentionRoutes(surface: Surface<Actor, Access>, backend: Backend, clock: Clock): void {
  surface.get(
    "/api/v1/retention/preview",
    {
      operationId: "previewRetention",
      summary: "Preview a prune",
      description:
        "The report of `netledger prune --dry-run`; nothing is changed. It examines every version before the timestamp, which takes seconds for millions. Only while the appliance has one organization.",
      group: "Changes",
      access: OF_WHOLE_APPLIANCE,
      query: Query,
      responseSchema: Preview,
      example: {
        parameters: { before: "-365d", keep: "daily" },
        data: {
          before: "2025-11-21T09:15:00.123Z",
          keep: "daily",
          versions: 980_000,
          dropped: 669_000,
          dropped_bytes: 442_000_000,
          states_kept: 212,
          credential_notes_dropped: 0,
          segments: [{ first: 1, last: 48_211, resolution: "daily" }],
        },
      },
    },
    (call) => {
      const { before: text, keep = "none" } = call.query;
      const now = clock.now();
      const before = requestedInstant(backend.reader, call.actor, text, "/before", now);
      // As in the CLI: -3m means three minutes, which is hardly intended.
      if (/^-\d+[smh]$/i.test(text))
        throw invalid([{ path: "/before", message: "must be an age in days or weeks, such as -365d", value: text }]);
      if (before > now) throw invalid([{ path: "/before", message: "must not be in the future", value: text }]);
      return respondWithLongRead(backend, call, retentionPreview, {
        actor: plainActor(call.actor),
        options: { before, keep },
      });
    },
  );
}
