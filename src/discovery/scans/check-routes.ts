// POST /api/v1/ip-addresses/{id}/check: polls one address now, by a scan with this single target.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import { json } from "../../http/json-response.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { setOutcomeHeaders, termsOf } from "../../records/write-responses.ts";
import { IP_ADDRESS_EXAMPLE } from "../../resources/ip-addresses/ip-address.ts";
import { SCAN_KINDS } from "../../resources/schedules/schedule.ts";
import { META, successBody } from "../../schemas/envelope.ts";
import { Body, IdParams, OneOf } from "../../schemas/schemas.ts";
import type { ScanCommands } from "./commands.ts";
import type { Scans } from "./director.ts";
import { QUEUED_EXAMPLE, Scan } from "./scan.ts";

const AddressCheck = Body({
  kind: Type.Optional(
    OneOf(SCAN_KINDS, {
      default: "sweep",
      description: "`sweep` checks whether it responds, and sends no secret; `full` also reads it by SNMP.",
    }),
  ),
});

const EXAMPLE: Static<typeof Scan> = { ...QUEUED_EXAMPLE, kind: "sweep", targets: [IP_ADDRESS_EXAMPLE.ip_address] };

/** Separate from the address routes, which know no scans. */
export function checkRoutes(surface: Surface<Actor, Access>, backend: Backend<ScanCommands>, scans: Scans): void {
  surface.post(
    "/api/v1/ip-addresses/:id/check",
    {
      operationId: "checkIpAddress",
      summary: "Check an address now",
      description:
        "Starts a scan of this address alone, and returns immediately with the scan `Queued`: follow it by its id. It waits while a scan of the network runs; one check of each Admin does not count towards the queued scans. It requires the same rights as any scan with a target: Members inside the network's subnets, except those of type Internet, Remote and Loopback; Admins anywhere. A `full` or `snmp` check by an Admin may send the same credentials there as a scan with an address that an Admin named.",
      group: "Discovery",
      access: MEMBER,
      params: IdParams,
      body: AddressCheck,
      responseSchema: Scan,
      errors: ["entity_in_use"],
      example: { parameters: { id: IP_ADDRESS_EXAMPLE.id }, body: { kind: "sweep" }, data: EXAMPLE },
    },
    async (call) => {
      const author = backend.authorOf(call);
      const input = { id: call.params.id, kind: call.body.kind ?? "sweep" };
      const outcome = await backend.writes.run("discovery.check", input, author, termsOf(call));
      setOutcomeHeaders(call, outcome);
      if (outcome.isReplayed !== true) scans.enqueue(outcome.result, author.userId);
      return json(call, successBody(JSON.stringify(outcome.result), META));
    },
  );
}
