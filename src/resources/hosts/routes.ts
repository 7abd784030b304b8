// Routes for /api/v1/hosts.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import { BULK_BODY_LIMIT_BYTES } from "../../http/body.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { respondWithRecord } from "../../records/record-responses.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { runWrite } from "../../records/write-responses.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { AtQuery, BULK_MAX, IdsQuery, listQueries, OneOf, QueryList, Uuid } from "../../schemas/schemas.ts";
import { ALL_ISSUES, ISSUES_MAX } from "../issues.ts";
import type { LastSeenOf } from "../last-seen.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import { HostBulk, HostBulkResult } from "./bulk-body.ts";
import type { HostBulkCommands } from "./bulk-commands.ts";
import type { HostCommands } from "./commands.ts";
import { HOST_WORDS, hostKind } from "./host.ts";
import { HostCreate, HostShown, HostUpdate } from "./host-body.ts";
import { HOST_BODY_EXAMPLE, HOST_EXAMPLE } from "./host-example.ts";
import {
  composeHosts,
  composeHostsAlone,
  HOST_INCLUDES,
  OVERVIEW_ADDRESSES,
  OVERVIEW_PORTS,
  withLastSeen,
} from "./host-view.ts";
import { hostResource } from "./resource.ts";

const IncludeChildrenQuery = {
  include_children: Type.Optional(
    Type.Boolean({
      default: true,
      description: "false: omit `interfaces`, `ip_addresses`, `ports` and `services`.",
    }),
  ),
};
const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  tag_ids: Type.Optional(
    QueryList(Uuid, { description: "Only hosts with any of these tags; repeated or comma-separated." }),
  ),
  hidden: Type.Optional(Type.Boolean({ description: "Only hidden hosts, or only visible ones." })),
  ...searchQuery(
    `a word of the host's ${HOST_WORDS.join(", ")} or of the name of one of its addresses; or an IP or MAC address of the host or its interfaces (\`10.2.\`, \`aa:bb\`, with colons, dashes or Cisco dots)`,
  ),
  ...IncludeChildrenQuery,
  ...orderQuery(
    hostKind,
    [
      "created_at",
      "name",
      "hostname",
      "hidden",
      "network_id",
      "manufacturer",
      "model",
      "sys_location",
      "last_seen_at",
      "updated_at",
    ],
    true,
  ),
};
const ChildrenQuery = {
  children: Type.Optional(
    OneOf(["ip_addresses"] as const, {
      description:
        "Only these children, regardless of `include_children`: `ip_addresses`. Interfaces would make a list of devices very long.",
    }),
  ),
};
const IncludeQuery = {
  include: Type.Optional(
    OneOf(["counts", "overview"] as const, {
      description: `counts: omit the children, and return their numbers, as \`counts\`. overview: as well the first ${OVERVIEW_ADDRESSES} \`ip_addresses\`, and of the \`ports\` TCP ${OVERVIEW_PORTS.join(", ")}.`,
    }),
  ),
};
const { group } = hostResource;
/** Id of the host created in the bulk-write example. */
const ACCESS_SWITCH_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030";
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const { operations, routesOn } = standardRoutes(hostResource, filters, {
  network_id: { within: "network" },
  tag_ids: { namesAny: "tags" },
  hidden: { equals: "hidden" },
});

/** /api/v1/hosts. */
export function hostRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<HostCommands & HostBulkCommands>,
  lastSeenOf: LastSeenOf,
): void {
  const routes = routesOn(surface, backend, "host");
  routes.lists(
    {
      summary: "List hosts with their children",
      query: listQueries({ ...filters, ...FilterQuery, ...ChildrenQuery, ...IncludeQuery }).List,
    },
    { summary: "Export hosts as CSV, with lists of their children" },
  );
  routes.create(HostCreate, HOST_BODY_EXAMPLE, {
    summary: "Create a host with its children",
    description: `${ALL_ISSUES} The children of a host refused for its network or id are not checked.`,
    acceptsRawBody: true,
  });
  surface.get(
    "/api/v1/hosts/:id",
    {
      ...operations.get({ summary: "Get a host with its children" }),
      query: Type.Object({ ...AtQuery, ...IncludeChildrenQuery, ...IncludeQuery }),
      responseSchema: HostShown,
    },
    (call) => {
      const { include_children, include } = call.query;
      const alone = include_children === false ? composeHostsAlone : composeHosts;
      const compose = withLastSeen(include === undefined ? alone : HOST_INCLUDES[include], lastSeenOf);
      return respondWithRecord(backend, call, { kind: hostKind, compose });
    },
  );
  const { network_id: _fixed, ...updateBody } = HOST_BODY_EXAMPLE;
  routes.update(
    HostUpdate,
    { id: HOST_EXAMPLE.id, hidden: false, tags: [], ...updateBody },
    {
      summary: "Update a host and its children",
      description: `Syncs the host's addresses, ports and services to the given lists: an item with the id or the identifying fields of a record updates it, any other item creates one, and records not in the list are deleted. Lists that are null or omitted stay unchanged. Interface entries are not written here, regardless of \`interfaces\`: use their own operations or the bulk write. All in one transaction or not at all. ${ALL_ISSUES}`,
      errors: ["entity_stale", "validation_id_mismatch", ...writeErrors],
      acceptsRawBody: true,
    },
  );
  surface.postBytes(
    "/api/v1/hosts/bulk",
    {
      operationId: "writeHosts",
      summary: "Create or update many hosts with their children atomically",
      description: `An item with the id of a host updates it like a PUT, except that \`hidden\` and \`tags\` keep their values too if omitted. Any other item creates a host, and may contain a never-used id. Hosts are not matched by name: the same list sent twice creates them twice, unless its items have ids or the request has an \`Idempotency-Key\`. Interface entries are synced to the given list by id, else by \`if_index\`. An item can refer to records of earlier items; the service that a host runs on and the neighbor of an interface can be in any item. All in one transaction or not at all: \`params.issues\` lists every problem by the index of its item, with the \`code\` it would have on its own. The code of the response is the one they all share, else \`validation_failed\`. The children of a host refused for its network, its id or a concurrent change are not checked. At most ${BULK_MAX} hosts and ${BULK_BODY_LIMIT_BYTES / 1024 / 1024} MiB.`,
      group,
      access: MEMBER,
      bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
      issuesMax: ISSUES_MAX,
      body: HostBulk,
      responseSchema: Type.Array(HostBulkResult),
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
      const { result } = await runWrite(backend, call, "host.bulk", { bytes: call.body });
      return successResponse(call, JSON.stringify(result));
    },
  );
  routes.removals(
    { summary: "Delete a host with its children", errors: ["entity_in_use"] },
    { summary: "Delete many hosts with their children atomically", errors: ["entity_in_use"] },
  );
}
