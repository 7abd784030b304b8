// Routes of /api/v1/ip-addresses.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, ADMIN } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite, runWrite, writtenRecord } from "../../records/write-answers.ts";
import { IdParams, IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { type ComposeFor, spliced } from "../compose.ts";
import type { ConfirmationCommands } from "../credential-assignments/commands.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IpAddressCommands } from "./commands.ts";
import {
  ConfirmedIpAddress,
  IP_ADDRESS_EXAMPLE,
  IpAddressCreate,
  IpAddressUpdate,
  ipAddressKind,
} from "./ip-address.ts";
import { ipAddressResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  subnet_id: Type.Optional(Type.String({ ...Uuid, description: "Only addresses in this subnet." })),
  ...IdsQuery,
  ...searchQuery(
    "the address (`10.2.`), its MAC address (`aa:bb`, with colons, dashes or Cisco dots) or a word of its name",
  ),
  ...orderQuery(ipAddressKind, [
    "created_at",
    "ip_address",
    "name",
    "mac_address",
    "subnet_id",
    "host_id",
    "updated_at",
  ]),
};
const operations = standardOperations(ipAddressResource, filters);
const { group } = ipAddressResource;
const body = {
  host_id: IP_ADDRESS_EXAMPLE.host_id,
  ip_address: "10.2.3.4",
  mac_address: "00:1b:21:aa:bb:cc",
  name: "eth0",
};
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const CREDENTIAL_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0006";
const CONFIRMS =
  "A credential assigned to a host is sent to the addresses the host had then, to those an Admin has named since, and to those the device itself reports. " +
  "Any other address that is added or changed waits for this confirmation; scans report it. The value is what is confirmed: a changed address must be confirmed again, and `If-Match` makes sure that it is the one you saw. " +
  "If there is nothing to confirm, nothing is written.";

const listed = listing(ipAddressResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  subnet_id: { names: "subnet_id" },
});

/** /api/v1/ip-addresses. */
export function ipAddressRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<IpAddressCommands & ConfirmationCommands>,
): void {
  surface
    .get("/api/v1/ip-addresses", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/ip-addresses/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/ip-addresses", operations.create(IpAddressCreate, body, { errors: writeErrors }), (call) =>
      answerWrite(backend, call, "ip_address.create", { body: call.body }, ipAddressResource),
    )
    .get("/api/v1/ip-addresses/:id", operations.get(), (call) => answerRecord(backend, call, ipAddressResource))
    .put(
      "/api/v1/ip-addresses/:id",
      operations.update(IpAddressUpdate, body, { errors: ["validation_id_mismatch", ...writeErrors] }),
      (call) =>
        answerWrite(backend, call, "ip_address.update", { id: call.params.id, body: call.body }, ipAddressResource),
    )
    .delete("/api/v1/ip-addresses/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "ip_address.delete", ipAddressResource),
    )
    .post("/api/v1/ip-addresses/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "ip_address.bulk_delete", ipAddressResource),
    )
    .post(
      "/api/v1/ip-addresses/:id/confirm",
      {
        operationId: "confirmIpAddress",
        summary: "Confirm an address for the host's credentials",
        description: CONFIRMS,
        group,
        access: ADMIN,
        params: IdParams,
        answer: ConfirmedIpAddress,
        errors: ["precondition_failed", "entity_access_denied"],
        example: { data: { ...IP_ADDRESS_EXAMPLE, credential_ids: [CREDENTIAL_ID] } },
      },
      async (call) => {
        const { seen, result } = await runWrite(backend, call, "ip_address.confirm", { id: call.params.id });
        const members = `"credential_ids":${JSON.stringify(result.credential_ids)}`;
        const compose: ComposeFor = () => (items) => items.map((item) => spliced(item.text, members));
        return writtenRecord(backend, call, { kind: ipAddressKind, compose }, result.id, seen);
      },
    );
}
