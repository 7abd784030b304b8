// Routes of /api/v1/ip-ranges.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IpRangeCommands } from "./commands.ts";
import { IP_RANGE_EXAMPLE, IpRangeCreate, IpRangeUpdate, ipRangeKind } from "./ip-range.ts";
import { ipRangeResource } from "./resource.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  subnet_id: Type.Optional(Type.String({ ...Uuid, description: "Only ranges of this subnet." })),
  ...IdsQuery,
  ...searchQuery("the range's first or last address (`10.2.`), or a word of its description"),
  ...orderQuery(ipRangeKind, ["created_at", "first", "last", "purpose", "subnet_id", "network_id", "updated_at"], true),
};
const operations = standardOperations(ipRangeResource, filters);
const { network_id, first, last, purpose, description } = IP_RANGE_EXAMPLE;
const body = { network_id, first, last, purpose, description };
const SHARED =
  "No two ranges of purpose Dhcp or Reserved in a network share an address: `entity_already_exists` then, with the other range as `overlapping_id`.";

const listed = listing(ipRangeResource, filters, {
  network_id: { within: "network" },
  subnet_id: { names: "subnet_id" },
});

/** /api/v1/ip-ranges. */
export function ipRangeRoutes(surface: Surface<Actor, Access>, backend: Backend<IpRangeCommands>): void {
  surface
    .get("/api/v1/ip-ranges", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/ip-ranges/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/ip-ranges", operations.create(IpRangeCreate, body, { description: SHARED }), (call) =>
      answerWrite(backend, call, "ip_range.create", { body: call.body }, ipRangeResource),
    )
    .get("/api/v1/ip-ranges/:id", operations.get(), (call) => answerRecord(backend, call, ipRangeResource))
    .put(
      "/api/v1/ip-ranges/:id",
      operations.update(IpRangeUpdate, body, {
        description: `Omitted fields are kept; other ends without \`subnet_id\` determine the subnet again. ${SHARED}`,
        errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "ip_range.update", { id: call.params.id, body: call.body }, ipRangeResource),
    )
    .delete("/api/v1/ip-ranges/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "ip_range.delete", ipRangeResource),
    )
    .post("/api/v1/ip-ranges/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "ip_range.bulk_delete", ipRangeResource),
    );
}
