// Health and version of the appliance, for monitors without credentials. Reveals no stored data.

import { Type } from "@sinclair/typebox";
import { API_VERSION, SERVER_VERSION, successResponse } from "../schemas/envelope.ts";
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
  message: Type.String({ description: "The missing feature, the likely cause, and what the appliance does instead." }),
});

const Health = Type.Object(
  {
    status: Type.Literal("ok"),
    read_only: ReadOnly,
    limitations: Type.Array(Limitation, {
      description:
        "Restrictions of this machine, checked at start, that make scans and self-discovery use other methods; and whether requests are accepted under any host name.",
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
      description:
        "Whether it serves the demo data of `netledger serve --demo`: its scans run against a simulated network.",
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
        "Whether the appliance responds and its store can be read. It responds even while other requests are refused under overload. `limitations` lists what the machine does not allow.",
      group: "Appliance",
      access: "anyone",
      // Monitors check availability: a busy appliance is available.
      isAlwaysAdmitted: true,
      responseSchema: Health,
      example: { data: { status: "ok", read_only: false, limitations: [] } },
    },
    (call) => {
      probe.readStore();
      // Limitations of the machine are detected concurrently with the start.
      const health = { status: "ok", read_only: probe.isReadOnly, limitations: probe.limitations() };
      return successResponse(call, JSON.stringify(health));
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
      responseSchema: Version,
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
    (call) => successResponse(call, version),
  );
}
