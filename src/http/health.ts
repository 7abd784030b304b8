// Health and version of the appliance, for monitors without credentials. Must not reveal any stored data.

import { Type } from "@sinclair/typebox";
import { API_VERSION, SERVER_VERSION, successBody } from "../schemas/envelope.ts";
import type { Surface } from "./surface.ts";

export interface HealthProbe {
  /** Reads from the store; throws on failure. */
  readonly readStore: () => void;
  /** Schema of the data. */
  readonly schemaVersion: number;
  /** Whether a backup is being served. */
  readonly isReadOnly: boolean;
  /** Whether the data is demo data. */
  readonly isDemo: boolean;
  /** Features unavailable on this machine. */
  readonly limitations: () => readonly HealthLimitation[];
}

export interface HealthLimitation {
  readonly code: string;
  readonly message: string;
}

const ReadOnly = Type.Boolean({
  description: "Whether it serves a backup and refuses every change.",
});

const Limitation = Type.Object({
  code: Type.String({
    description: "`native_calls_refused`, `netlink_refused`, `executable_gives_rights` or `host_not_checked`.",
  }),
  message: Type.String({ description: "What is missing, the likely cause, and what the appliance does instead." }),
});

const Health = Type.Object(
  {
    status: Type.Literal("ok"),
    read_only: ReadOnly,
    limitations: Type.Array(Limitation, {
      description:
        "What this machine does not allow, so that scans and self-discovery use other methods, checked at start; and whether requests are answered under any host name.",
    }),
  },
  { $id: "Health" },
);

const Version = Type.Object(
  {
    version: Type.String({ description: "Version of the program." }),
    api_version: Type.Integer(),
    schema_version: Type.Integer({ description: "Version of the database schema." }),
    read_only: ReadOnly,
    is_demo: Type.Boolean({
      description: "Whether it serves the made-up data of `netledger serve --demo`: its scans ask a made-up network.",
    }),
  },
  { $id: "Version" },
);

/** /api/health and /api/version, without credentials. */
export function healthRoutes<Actor, Access>(surface: Surface<Actor, Access>, probe: HealthProbe): void {
  const version = JSON.stringify({
    version: SERVER_VERSION,
    api_version: API_VERSION,
    schema_version: probe.schemaVersion,
    read_only: probe.isReadOnly,
    is_demo: probe.isDemo,
  });
  surface.get(
    "/api/health",
    {
      operationId: "getHealth",
      summary: "Check the health of the appliance",
      description:
        "Whether the appliance answers and its store can be read. It answers even while other requests are refused under overload. `limitations` lists what the machine does not allow.",
      group: "Appliance",
      access: "anyone",
      // Monitors check availability: a busy appliance is available.
      isAlwaysAdmitted: true,
      answer: Health,
      example: { data: { status: "ok", read_only: false, limitations: [] } },
    },
    ({ headers }) => {
      probe.readStore();
      // Limitations of the machine are detected concurrently with the start.
      return answer(
        JSON.stringify({ status: "ok", read_only: probe.isReadOnly, limitations: probe.limitations() }),
        headers,
      );
    },
  );
  surface.get(
    "/api/version",
    {
      operationId: "getVersion",
      summary: "Get the versions of the program, its API and its database",
      description: "`schema_version` is the database's. `netledger restore` upgrades backups of older versions.",
      group: "Appliance",
      access: "anyone",
      answer: Version,
      example: {
        data: {
          version: SERVER_VERSION,
          api_version: API_VERSION,
          schema_version: probe.schemaVersion,
          read_only: false,
          is_demo: false,
        },
      },
    },
    ({ headers }) => answer(version, headers),
  );
}

function answer(data: string, headers: Record<string, string>): Response {
  return new Response(successBody(data), { headers: { ...headers, "content-type": "application/json" } });
}
