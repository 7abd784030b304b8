// /api/v1/ip-addresses (specification 2.5)

import { Type, type Static } from "@sinclair/typebox";
import { ADMIN, MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import type { Filter } from "../../db/list-query.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  answerWrite,
  csvAnswer,
  runWrite,
  spliced,
  writtenRecord,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { searched, searchQuery } from "../searching.ts";
import {
  IpAddress,
  IP_ADDRESS_EXAMPLE,
  IP_ADDRESS_KEYED_FIELDS,
  IP_ADDRESS_ORDER_FIELDS,
  ConfirmedIpAddress,
  IpAddressCreate,
  ipAddressKind,
  IpAddressUpdate,
  type Confirmed,
} from "./ip-address.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  subnet_id: Type.Optional(Type.String({ ...Uuid, description: "Only those in this subnet: what is used there." })),
  ...IdsQuery,
  ...searchQuery(
    "the address (`10.2.`), its MAC address (`aa:bb`, with colons, dashes or Cisco dots) or a word of its name",
  ),
  ...orderQuery(IP_ADDRESS_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "IP addresses";
const example = { data: IP_ADDRESS_EXAMPLE };
const body = {
  host_id: IP_ADDRESS_EXAMPLE.host_id,
  ip_address: "10.2.3.4",
  mac_address: "00:1b:21:aa:bb:cc",
  name: "eth0",
};
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const CREDENTIAL_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0006";
const CONFIRMS =
  "A credential that is assigned to a host goes to the addresses that the host had then, to those that an Admin has named since, and to those that the device itself tells. " +
  "An address that somebody has added or changed waits for this; scans say so. What is confirmed is the value: another one has to be confirmed anew, and `If-Match` makes sure that it is the one that was seen. " +
  "Where there is nothing to confirm, nothing is written.";

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  const { host_id: host, network_id: network, subnet_id: subnet } = query;
  const filters: Filter[] = subnet === undefined ? [] : [{ field: "subnet_id", names: subnet }];
  return {
    kind: ipAddressKind,
    within: { host, network },
    filters,
    search: searched(query.search),
    order: orderTerms(query, IP_ADDRESS_KEYED_FIELDS),
  };
}

/** /api/v1/ip-addresses. */
export function ipAddressRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/ip-addresses",
      {
        operationId: "listIpAddresses",
        summary: "List IP addresses",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(IpAddress),
        isList: true,
        example: { data: [IP_ADDRESS_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/ip-addresses/export/csv",
      {
        operationId: "exportIpAddresses",
        summary: "Export IP addresses as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("IP addresses", schemaColumns(IpAddress), IP_ADDRESS_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/ip-addresses",
      {
        operationId: "createIpAddress",
        summary: "Create an IP address",
        group,
        access: MEMBER,
        body: IpAddressCreate,
        answer: IpAddress,
        errors: writeErrors,
        example: { ...example, body: { id: IP_ADDRESS_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "ip_address.create", { body: call.body }, ipAddressKind),
    )
    .get(
      "/api/v1/ip-addresses/:id",
      {
        operationId: "getIpAddress",
        summary: "Get an IP address",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: IpAddress,
        example,
      },
      (call) => answerRecord(inventory, call, ipAddressKind),
    )
    .put(
      "/api/v1/ip-addresses/:id",
      {
        operationId: "updateIpAddress",
        summary: "Update an IP address",
        group,
        access: MEMBER,
        params: IdParams,
        body: IpAddressUpdate,
        answer: IpAddress,
        errors: ["validation_id_mismatch", ...writeErrors],
        example: { ...example, body },
      },
      (call) =>
        answerWrite(inventory, call, "ip_address.update", { id: call.params.id, body: call.body }, ipAddressKind),
    )
    .delete(
      "/api/v1/ip-addresses/:id",
      {
        operationId: "deleteIpAddress",
        summary: "Delete an IP address",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: IpAddress,
        example,
      },
      (call) =>
        answerRemoval(inventory, call, "ip_address.delete", { cascade: call.query.cascade ?? false }, ipAddressKind),
    )
    .post(
      "/api/v1/ip-addresses/bulk-delete",
      {
        operationId: "deleteIpAddresses",
        summary: "Delete many IP addresses, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(IpAddress),
        errors: ["entity_reference_invalid"],
        example: { data: [IP_ADDRESS_EXAMPLE], body: [IP_ADDRESS_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "ip_address.bulk_delete",
          { cascade: call.query.cascade ?? false },
          ipAddressKind,
        ),
    )
    .post(
      "/api/v1/ip-addresses/:id/confirm",
      {
        operationId: "confirmIpAddress",
        summary: "Let the credentials of the host go to this address",
        description: CONFIRMS,
        group,
        access: ADMIN,
        params: IdParams,
        answer: ConfirmedIpAddress,
        errors: ["precondition_failed", "entity_access_denied"],
        example: { data: { ...IP_ADDRESS_EXAMPLE, credential_ids: [CREDENTIAL_ID] } },
      },
      async (call) => {
        const { seen, result } = await runWrite<Confirmed>(inventory, call, "ip_address.confirm", {
          id: call.params.id,
        });
        const members = `"credential_ids":${JSON.stringify(result.credential_ids)}`;
        return writtenRecord(
          inventory,
          call,
          ipAddressKind,
          result.id,
          seen,
          () => (items) => items.map((item) => spliced(item.text, members)),
        );
      },
    );
}
