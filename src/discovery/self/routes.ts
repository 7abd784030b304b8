// Routes for /api/v1/discovery.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import { json } from "../../http/json-response.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { setOutcomeHeaders, termsOf } from "../../records/write-responses.ts";
import { ADMIN_STATUSES, OPER_STATUSES } from "../../resources/if-entries/vocabulary.ts";
import { META, successBody } from "../../schemas/envelope.ts";
import { Body, Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";
import { discoverSelf } from "./discover.ts";
import type { MachineSnapshot } from "./machine.ts";
import { readMachine } from "./read-machine.ts";
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

const SelfReading = Type.Object(
  {
    hostname: Type.String({ description: "The machine's name in the kernel; the name of its host if that is new." }),
    interfaces: Type.Array(
      Type.Object({
        if_name: Type.String(),
        mac_address: Nullable(Type.String()),
        admin_status: OneOf(ADMIN_STATUSES),
        oper_status: OneOf(OPER_STATUSES),
        speed_bps: Nullable(Type.Integer()),
      }),
    ),
    addresses: Type.Array(
      Type.Object({
        ip_address: Type.String(),
        cidr: Type.String({ description: "The subnet of the address." }),
        if_name: Nullable(Type.String(), { description: "Null if the machine does not show that interface." }),
        is_default_route: Type.Boolean({ description: "Whether a default route uses this interface." }),
      }),
      { description: "Without loopback, link-local and temporary ones, which are not recorded." },
    ),
    port_count: Type.Integer({ minimum: 0, description: "Open TCP and UDP ports." }),
  },
  { $id: "SelfReading" },
);

type SelfReading = Static<typeof SelfReading>;

const READING_EXAMPLE = {
  hostname: "noc-1",
  interfaces: [
    {
      if_name: "eth0",
      mac_address: "00:1b:21:aa:bb:cc",
      admin_status: "Up",
      oper_status: "Up",
      speed_bps: 1_000_000_000,
    },
  ],
  addresses: [{ ip_address: "10.2.3.4", cidr: "10.2.3.0/24", if_name: "eth0", is_default_route: true }],
  port_count: 3,
} as const;

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
  /** Reads this machine; replaceable in tests. */
  readonly readMachine?: () => Promise<MachineSnapshot>;
}

/** /api/v1/discovery: self discovery of the appliance. */
export function discoveryRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<SelfCommands>,
  options: DiscoveryOptions,
): void {
  surface.get(
    "/api/v1/discovery/self",
    {
      operationId: "readSelf",
      summary: "Preview the record of the machine that netledger runs on",
      description:
        "Reads the kernel's own tables, as `discoverSelf` does, and writes nothing. It is the same in every network.",
      group: "Discovery",
      access: MEMBER,
      responseSchema: SelfReading,
      example: { data: READING_EXAMPLE },
    },
    async (call) => {
      const machine = await (options.readMachine ?? readMachine)();
      return json(call, successBody(JSON.stringify(readingOf(machine)), META));
    },
  );
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
      responseSchema: SelfDiscovery,
      errors: ["entity_reference_invalid"],
      example: { body: { network_id: EXAMPLE.network_id }, data: EXAMPLE },
    },
    async (call) => {
      const outcome = await discoverSelf(backend.writes, {
        networkId: call.body.network_id,
        discoveryId: options.newDiscoveryId(),
        actor: backend.authorOf(call),
        terms: termsOf(call),
        ...(options.readMachine === undefined ? {} : { read: options.readMachine }),
      });
      setOutcomeHeaders(call, outcome);
      const report = { ...outcome.result, sequence: outcome.sequence };
      return json(call, successBody(JSON.stringify(report), META));
    },
  );
}

function readingOf({ hostname, interfaces, addresses, ports, default_interfaces }: MachineSnapshot): SelfReading {
  const nameOf = new Map(interfaces.map(({ if_index, if_name }) => [if_index, if_name]));
  return {
    hostname,
    interfaces: interfaces.map(({ if_name, mac_address, admin_status, oper_status, speed_bps }) => ({
      if_name,
      mac_address,
      admin_status,
      oper_status,
      speed_bps,
    })),
    addresses: addresses.map(({ ip_address, cidr, if_index }) => {
      const name = nameOf.get(if_index) ?? null;
      const isDefault = name !== null && default_interfaces.includes(name);
      return { ip_address, cidr, if_name: name, is_default_route: isDefault };
    }),
    port_count: ports.length,
  };
}
