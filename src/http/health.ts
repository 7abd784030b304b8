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
  /** What the appliance does without on this machine. */
  readonly limitations: readonly HealthLimitation[];
}

export interface HealthLimitation {
  readonly code: string;
  readonly message: string;
}

const ReadOnly = Type.Boolean({
  description: "Whether a backup is served: everything that would change something is refused.",
});

const Limitation = Type.Object({
  code: Type.String({ description: "`native_calls_refused` or `netlink_refused`." }),
  message: Type.String({ description: "What is missing, why that may be, and what is done without it." }),
});

const Health = Type.Object(
  {
    status: Type.Literal("ok"),
    read_only: ReadOnly,
    limitations: Type.Array(Limitation, {
      description:
        "What this machine refuses to the appliance, so that scans and self-discovery go other ways; empty where nothing is refused. Found out at the start.",
    }),
  },
  { $id: "Health" },
);

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
  const version = JSON.stringify({
    version: SERVER_VERSION,
    api_version: API_VERSION,
    schema_version: probe.schemaVersion,
    read_only: probe.isReadOnly,
  });
  surface.get(
    "/api/health",
    {
      operationId: "getHealth",
      summary: "Whether the appliance answers and its store can be read",
      description:
        "For whoever watches over it: answered also while other requests are refused as too many. `limitations` are what the machine does not let it do.",
      group: "Appliance",
      access: "anyone",
      // Who watches over the appliance asks whether it is there: one that is busy is.
      isAlwaysAdmitted: true,
      answer: Health,
      example: { data: { status: "ok", read_only: false, limitations: [] } },
    },
    ({ headers }) => {
      probe.readStore();
      // What the machine refuses is found out beside the start.
      return answer(
        JSON.stringify({ status: "ok", read_only: probe.isReadOnly, limitations: probe.limitations }),
        headers,
      );
    },
  );
  surface.get(
    "/api/version",
    {
      operationId: "getVersion",
      summary: "The versions of the program, its API and its database",
      description:
        "`schema_version` is that of the database: a backup of an older one is brought up to date by `netledger restore`.",
      group: "Appliance",
      access: "anyone",
      answer: Version,
      example: {
        data: {
          version: SERVER_VERSION,
          api_version: API_VERSION,
          schema_version: probe.schemaVersion,
          read_only: false,
        },
      },
    },
    ({ headers }) => answer(version, headers),
  );
}

function answer(data: string, headers: Record<string, string>): Response {
  return new Response(successBody(data), { headers: { ...headers, "content-type": "application/json" } });
}
