// /api/v1/hosts (specification 4.2)

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import type { Filter } from "../../db/list-query.ts";
import { BULK_BODY_LIMIT_BYTES } from "../../http/body.ts";
import { successBody } from "../../http/envelope.ts";
import {
  AtQuery,
  BULK_MAX,
  BulkIds,
  CascadeQuery,
  IdParams,
  IdsQuery,
  PageQuery,
  QueryList,
  Uuid,
} from "../../http/schemas.ts";
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
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { ALL_OFFENDERS, OFFENDERS_MAX } from "../offenders.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { searched, searchQuery } from "../searching.ts";
import { HostBulk, HostBulkResult } from "./bulk-body.ts";
import { HOST_KEYED_FIELDS, HOST_ORDER_FIELDS, hostKind } from "./host.ts";
import { Host, HostCreate, HostUpdate, ListedHost } from "./host-body.ts";
import { HOST_BODY_EXAMPLE, HOST_EXAMPLE } from "./host-example.ts";
import { composeHosts, composeHostsAlone, HOST_COLUMNS } from "./host-view.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  tag_ids: Type.Optional(
    QueryList(Uuid, { description: "Only hosts that carry any of these tags; repeated, or separated by commas." }),
  ),
  hidden: Type.Optional(Type.Boolean({ description: "Only hosts that are hidden, or only those that are not." })),
  ...searchQuery(
    "a word of the host's name, hostname, sys_name, description, sys_descr, asset_tag or of the name of one of its addresses; or an IP or MAC address of the host or of its interfaces (`10.2.`, `aa:bb`), which is found by its own beginning only, MAC addresses with colons, dashes or Cisco dots",
  ),
  include_children: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        "With false the hosts come without `interfaces`, `ip_addresses`, `ports` and `services`: these four are then absent.",
    }),
  ),
  ...orderQuery(HOST_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Hosts";
const example = { data: HOST_EXAMPLE };
/** Of the host that the example of a bulk write makes. */
const ACCESS_SWITCH_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030";
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  const isAlone = query.include_children === false;
  const filters: Filter[] = [];
  if (query.tag_ids !== undefined) filters.push({ field: "tags", namesAny: query.tag_ids });
  if (query.hidden !== undefined) filters.push({ field: "hidden", equals: query.hidden });
  const { network_id: network, search } = query;
  return {
    kind: hostKind,
    within: { network },
    filters,
    search: searched(search),
    order: orderTerms(query, HOST_KEYED_FIELDS),
    isAlone,
    compose: isAlone ? composeHostsAlone : composeHosts,
  };
}

/** /api/v1/hosts. */
export function hostRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/hosts",
      {
        operationId: "listHosts",
        summary: "List hosts with their children",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(ListedHost),
        isList: true,
        example: { data: [HOST_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/hosts/export/csv",
      {
        operationId: "exportHosts",
        summary: "Export hosts as CSV, with what tells their children apart",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("hosts", HOST_COLUMNS, HOST_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .postHandedOver(
      "/api/v1/hosts",
      {
        operationId: "createHost",
        summary: "Create a host with its children",
        description: `${ALL_OFFENDERS} What belongs to a host that has no place, by its network or its id, is not looked at.`,
        group,
        access: MEMBER,
        body: HostCreate,
        answer: Host,
        errors: writeErrors,
        example: { ...example, body: { id: HOST_EXAMPLE.id, ...HOST_BODY_EXAMPLE } },
      },
      (call) => answerWrite(inventory, call, "host.create", { body: call.body }, hostKind, composeHosts),
    )
    .get(
      "/api/v1/hosts/:id",
      {
        operationId: "getHost",
        summary: "Get a host with its children",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Host,
        example,
      },
      (call) => answerRecord(inventory, call, hostKind, composeHosts),
    )
    .putHandedOver(
      "/api/v1/hosts/:id",
      {
        operationId: "updateHost",
        summary: "Update a host and make its children match",
        description: `Addresses, ports and services that are given replace the host's: an item with a known id updates it, one that stands for the same real thing is that record, another is created, and what is not in the list is deleted. Lists that are null or left out stay as they are. Interface entries are not written here, whatever \`interfaces\` says: they have operations of their own, and the bulk. All of it happens in one transaction or not at all. ${ALL_OFFENDERS}`,
        group,
        access: MEMBER,
        params: IdParams,
        body: HostUpdate,
        answer: Host,
        errors: ["entity_stale", "validation_id_mismatch", ...writeErrors],
        example: {
          ...example,
          body: { id: HOST_EXAMPLE.id, hidden: false, tags: [], ...withoutNetwork(HOST_BODY_EXAMPLE) },
        },
      },
      (call) =>
        answerWrite(inventory, call, "host.update", { id: call.params.id, body: call.body }, hostKind, composeHosts),
    )
    .delete(
      "/api/v1/hosts/:id",
      {
        operationId: "deleteHost",
        summary: "Delete a host with its children",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Host,
        errors: ["entity_in_use"],
        example,
      },
      (call) =>
        answerRemoval(inventory, call, "host.delete", { cascade: call.query.cascade ?? false }, hostKind, composeHosts),
    )
    .postBytes(
      "/api/v1/hosts/bulk",
      {
        operationId: "writeHosts",
        summary: "Create or update many hosts with all that belongs to them, all or none",
        description: `An item with the id of a host updates it, as a PUT does, except that \`hidden\` and \`tags\` that are left out stay as well; any other creates a host, and may bring an id that was never used: hosts are not known by their names, so the same list sent twice makes them twice, unless its items bring ids or the request an \`Idempotency-Key\`. Interface entries that are given replace the host's: known by id, else by \`if_index\`. An item may refer to what an earlier one makes; the service that a host runs on and the neighbor of an interface may be of any item. All of it happens in one transaction or not at all: \`params.issues\` names every offender by the index of its item, with the \`code\` that it alone would have been refused with; where they all have the same code it is the answer's, else that is \`validation_failed\`. What belongs to a host that has no place, by its network or its id, or that was changed since, is not looked at. At most ${BULK_MAX} hosts and ${BULK_BODY_LIMIT_BYTES / 1024 / 1024} MiB.`,
        group,
        access: MEMBER,
        bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
        issuesMax: OFFENDERS_MAX,
        body: HostBulk,
        answer: Type.Array(HostBulkResult),
        errors: ["entity_stale", ...writeErrors],
        example: {
          data: [
            { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name, operation: "Updated", updated_at: HOST_EXAMPLE.updated_at },
            { id: ACCESS_SWITCH_ID, name: "access-1", operation: "Created", updated_at: HOST_EXAMPLE.updated_at },
          ],
          body: [
            { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name, description: "Behind the load balancer" },
            {
              id: ACCESS_SWITCH_ID,
              network_id: HOST_EXAMPLE.network_id,
              name: "access-1",
              interfaces: [{ if_index: 1, if_descr: "GigabitEthernet1/0/1", oper_status: "Up" }],
            },
          ],
        },
      },
      async (call) => {
        const { result } = await runWrite<HostBulkResult[]>(inventory, call, "host.bulk", { bytes: call.body });
        return new Response(successBody(JSON.stringify(result)), {
          headers: { ...call.headers, "content-type": "application/json" },
        });
      },
    )
    .post(
      "/api/v1/hosts/bulk-delete",
      {
        operationId: "deleteHosts",
        summary: "Delete many hosts with their children, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Host),
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { data: [HOST_EXAMPLE], body: [HOST_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "host.bulk_delete",
          { cascade: call.query.cascade ?? false },
          hostKind,
          composeHosts,
        ),
    );
}

function withoutNetwork(body: typeof HOST_BODY_EXAMPLE): Omit<typeof HOST_BODY_EXAMPLE, "network_id"> {
  const { network_id: _fixed, ...rest } = body;
  return rest;
}
