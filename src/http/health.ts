// Whether the appliance answers, and which version does: for monitors, before anybody has signed in.
// Must not tell anything of what is stored.

import { Type } from "@sinclair/typebox";
import { API_VERSION, SERVER_VERSION, successBody } from "./envelope.ts";
import type { Surface } from "./surface.ts";

export interface HealthProbe {
  /** Reads from the store; throws when that fails. */
  readonly readStore: () => void;
  /** The number of the database's migrations. */
  readonly schemaVersion: number;
  /** Whether a backup is served. */
  readonly isReadOnly: boolean;
}

const ReadOnly = Type.Boolean({ description: "Whether a backup is served: everything that would change something is refused." });

const Health = Type.Object({ status: Type.Literal("ok"), read_only: ReadOnly }, { $id: "Health" });

const Version = Type.Object(
  {
    version: Type.String({ description: "Of the program." }),
    api_version: Type.Integer(),
    schema_version: Type.Integer({ description: "Of the database." }),
    read_only: ReadOnly,
  },
  { $id: "Version" },
);

/** /api/health and /api/version, for anyone. */
export function healthRoutes<Actor, Access>(surface: Surface<Actor, Access>, probe: HealthProbe): void {
  const health = JSON.stringify({ status: "ok", read_only: probe.isReadOnly });
  const version = JSON.stringify({ version: SERVER_VERSION, api_version: API_VERSION, schema_version: probe.schemaVersion, read_only: probe.isReadOnly });
  surface.get(
    "/api/health",
    {
      operationId: "getHealth",
      summary: "Whether the appliance answers and its store can be read",
      group: "Appliance",
      access: "anyone",
      // Who watches over the appliance asks whether it is there: one that is busy is.
      isAlwaysAdmitted: true,
      answer: Health,
      example: { data: { status: "ok", read_only: false } },
    },
    ({ headers }) => {
      probe.readStore();
      return answer(health, headers);
    },
  );
  surface.get(
    "/api/version",
    {
      operationId: "getVersion",
      summary: "The versions of the program, its API and its database",
      group: "Appliance",
      access: "anyone",
      answer: Version,
      example: { data: { version: SERVER_VERSION, api_version: API_VERSION, schema_version: probe.schemaVersion, read_only: false } },
    },
    ({ headers }) => answer(version, headers),
  );
}

function answer(data: string, headers: Record<string, string>): Response {
  return new Response(successBody(data), { headers: { ...headers, "content-type": "application/json" } });
}
