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
}

const Health = Type.Object({ status: Type.Literal("ok") }, { $id: "Health" });

const Version = Type.Object(
  {
    version: Type.String({ description: "Of the program." }),
    api_version: Type.Integer(),
    schema_version: Type.Integer({ description: "Of the database." }),
  },
  { $id: "Version" },
);

/** /api/health and /api/version, for anyone. */
export function healthRoutes<Actor, Access>(surface: Surface<Actor, Access>, probe: HealthProbe): void {
  const version = JSON.stringify({ version: SERVER_VERSION, api_version: API_VERSION, schema_version: probe.schemaVersion });
  surface.get(
    "/api/health",
    {
      operationId: "getHealth",
      summary: "Whether the appliance answers and its store can be read",
      group: "Appliance",
      access: "anyone",
      answer: Health,
      example: { data: { status: "ok" } },
    },
    ({ headers }) => {
      probe.readStore();
      return answer('{"status":"ok"}', headers);
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
      example: { data: { version: SERVER_VERSION, api_version: API_VERSION, schema_version: probe.schemaVersion } },
    },
    ({ headers }) => answer(version, headers),
  );
}

function answer(data: string, headers: Record<string, string>): Response {
  return new Response(successBody(data), { headers: { ...headers, "content-type": "application/json" } });
}
