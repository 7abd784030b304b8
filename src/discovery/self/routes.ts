// /api/v1/discovery

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../inventory/backend.ts";
import { termsOf } from "../../inventory/write-answers.ts";
import { META, successBody } from "../../wire/envelope.ts";
import { Body, Nullable, Uuid } from "../../wire/schemas.ts";
import { discoverSelf } from "./discover.ts";
import type { MachineSnapshot } from "./machine.ts";
import type { SelfCommands } from "./reconcile.ts";

const Counts = Type.Record(Type.String(), Type.Integer(), { description: "Records by kind." });

const SelfDiscovery = Type.Object(
  {
    discovery_id: Uuid,
    network_id: Uuid,
    host_id: Uuid,
    sequence: Nullable(Type.Integer(), {
      description: "Its ledger transaction; null if nothing changed.",
    }),
    created: Counts,
    updated: Counts,
    deleted: Counts,
  },
  { $id: "SelfDiscovery" },
);

const EXAMPLE = {
  discovery_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0020",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  sequence: 42,
  created: { ports: 1 },
  updated: {},
  deleted: {},
};

export interface DiscoveryOptions {
  readonly newDiscoveryId: () => string;
  /** Reads this machine; tests give another one. */
  readonly readMachine?: () => Promise<MachineSnapshot>;
}

/** /api/v1/discovery: what the appliance finds out by itself. */
export function discoveryRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<SelfCommands>,
  options: DiscoveryOptions,
): void {
  surface.post(
    "/api/v1/discovery/self",
    {
      operationId: "discoverSelf",
      summary: "Record the machine that netledger runs on",
      description:
        "Reads interfaces, addresses, ports and the services behind them from the kernel's own tables and writes what changed since the last time. On an unchanged machine nothing is written.",
      group: "Discovery",
      access: MEMBER,
      body: Body({ network_id: Uuid }),
      answer: SelfDiscovery,
      errors: ["entity_reference_invalid"],
      example: { body: { network_id: EXAMPLE.network_id }, data: EXAMPLE },
    },
    async (call) => {
      const { isReplayed, ...report } = await discoverSelf(backend.writes, {
        networkId: call.body.network_id,
        discoveryId: options.newDiscoveryId(),
        actor: backend.authorOf(call),
        terms: termsOf(call),
        ...(options.readMachine === undefined ? {} : { read: options.readMachine }),
      });
      if (isReplayed) call.headers["idempotency-replayed"] = "true";
      return new Response(successBody(JSON.stringify(report), META), {
        headers: { ...call.headers, "content-type": "application/json" },
      });
    },
  );
}
