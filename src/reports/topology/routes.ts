// Route for GET /api/v1/topology: links of a network or around a host.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import { type Issue, invalid } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { pastRange } from "../../history/period.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { fixedMoment, readingAt, resolvedHeaders, settledAt } from "../../records/read-instant.ts";
import { AtQuery, InstantOrAge, OneOf, Uuid } from "../../schemas/schemas.ts";
import { TOPOLOGY_FORMATS, TOPOLOGY_TYPES } from "./formats.ts";
import { type Center, HOPS_DEFAULT, HOPS_MAX } from "./neighborhood.ts";
import { type TopologyInput, topology } from "./topology.ts";
import { TOPOLOGY_POINTS_MAX, type TopologyPeriodInput, topologyOverTime } from "./topology-over-time.ts";
import { PERIOD_EXAMPLE, TOPOLOGY_EXAMPLE, TopologyBody } from "./topology-schema.ts";

const TopologyParameters = Type.Object({
  network_id: Type.Optional({
    ...Uuid,
    description:
      "The network to show. Empty if the caller cannot access it. Required unless `host_id` is given; with it, must be the host's network.",
  }),
  host_id: Type.Optional({
    ...Uuid,
    description: "Only this host and its neighborhood. Empty if the caller cannot access the host.",
  }),
  hops: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: HOPS_MAX,
      default: HOPS_DEFAULT,
      description: "Only with `host_id`: maximum number of links from it.",
    }),
  ),
  include_isolated: Type.Optional(
    Type.Boolean({ default: false, description: "Include hosts without links. Not with `host_id`." }),
  ),
  format: Type.Optional(
    OneOf(TOPOLOGY_FORMATS, {
      default: "json",
      description: "`mermaid`: a diagram as text. `graphml`: for graph tools.",
    }),
  ),
  from: Type.Optional(
    InstantOrAge(
      "Everything shown over a period that starts here: a timestamp, an age (`-24h`, `-7d`), or a marker. Default, if `to` is given: the start of the ledger. Not with `at`, and only as JSON.",
    ),
  ),
  to: Type.Optional(InstantOrAge("End of the period, not included. Default, if `from` is given: now.")),
  ...AtQuery,
});

const DESCRIPTION = `Devices and the cables between them, from LLDP and CDP announcements and entered neighbors. One link per cable, with
the announcements of both ends as its evidence; parallel cables are links of one \`group\`. If an interface entry has a \`neighbor\`, that is the far end. Otherwise the far end is derived from
announcements: it is the host whose name, chassis id, MAC addresses, addresses and opposite direction together match clearly better than any other's, and its
interface is named if both directions agree. Switches that do not speak CDP flood it, so LLDP of another device on the same interface takes precedence over CDP, and CDP names an interface
only if it is received in one place. An announced device that is not a host in the inventory is a node of kind Unknown.

With \`host_id\`, only that host, with or without links, and the nodes within \`hops\` links of it, with all links between these.

With \`from\` or \`to\`, the union over that period: each node and link that was shown at any timestamp of it, once, with the \`intervals\` in which it was shown,
exact to the millisecond. A link whose far interface becomes known is another link. At most ${TOPOLOGY_POINTS_MAX} points of change are evaluated: transactions that changed what
links are derived from (names, addresses, announcements, entered neighbors), not only a status or a speed. If there were more, \`truncated\` is true and \`next_from\`
continues. Where history was thinned, the retained states are compared.

The \`position\` of a node is that of its network's map (\`/networks/{id}/map-positions\`), the same at every timestamp. A host keeps its place from when a neighbor is first
written with it. Nodes without a position are laid out around the others: devices outside the inventory, and devices linked only by their announcements.

As of any timestamp; formats without \`meta\` report thinned history in the headers \`X-Resolution\` and \`X-Resolved-At\`.`;

const MERMAID_EXAMPLE = `graph LR
  n_01936f2e0d5c7d3a9a393f6f1f7a0030["access-1"]
  n_01936f2e0d5c7d3a9a393f6f1f7a0010["core-1"]
  n_01936f2e0d5c7d3a9a393f6f1f7a0030 ---|"Gi0/24 - Gi1/0/7, 1 Gbit/s"| n_01936f2e0d5c7d3a9a393f6f1f7a0010
  classDef unknown stroke-dasharray: 5 5
`;

const GRAPHML_EXAMPLE = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="n0" for="node" attr.name="name" attr.type="string"/>
  <graph id="01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002" edgedefault="undirected">
    <node id="01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010"><data key="n0">core-1</data></node>
  </graph>
</graphml>
`;

/** /api/v1/topology. */
export function topologyRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/topology",
    {
      operationId: "getTopology",
      summary: "Get the topology of a network, or around a host",
      description: DESCRIPTION,
      group: "Discovery",
      access: VIEWER,
      query: TopologyParameters,
      responseSchema: TopologyBody,
      media: [
        {
          type: "text/vnd.mermaid",
          description:
            "A Mermaid diagram, `graph LR`. Devices that are not hosts are dashed; links are dotted unless both interfaces are known.",
          example: MERMAID_EXAMPLE,
        },
        {
          type: "application/graphml+xml",
          description: "GraphML 1.0, undirected, every attribute declared.",
          example: GRAPHML_EXAMPLE,
        },
      ],
      example: {
        parameters: { network_id: TOPOLOGY_EXAMPLE.network_id },
        data: TOPOLOGY_EXAMPLE,
        further: {
          first: { name: "instant", summary: "Now, or at a timestamp" },
          others: [{ name: "period", summary: "Over a period: from=-7d", data: PERIOD_EXAMPLE }],
        },
      },
    },
    (call) => {
      rejectIneffective(call.query);
      if (isOverPeriod(call.query)) return overPeriod(backend, call);
      return readingAt(backend, call, async (moment) => {
        const format = call.query.format ?? "json";
        const input: TopologyInput = {
          actor: plainActor(call.actor),
          networkId: call.query.network_id ?? null,
          center: centerOf(call.query),
          includeIsolated: call.query.include_isolated === true,
          format,
          moment: fixedMoment(backend.reader, moment),
        };
        const headers = {
          ...call.headers,
          "content-type": TOPOLOGY_TYPES[format],
          ...(format === "json" ? {} : resolvedHeaders(moment)),
        };
        return respondWithLongRead(backend, call, topology, input, headers);
      });
    },
  );
}

type Parameters = Static<typeof TopologyParameters>;

function overPeriod(backend: Backend, call: ResourceCall<unknown, Parameters, unknown>): Response | Promise<Response> {
  const { reader } = backend;
  const { from, to } = pastRange(reader, call);
  // The period includes everything up to the last millisecond before its end. Without an end, only its start must be
  // settled.
  return settledAt(backend, to === null ? from : to - 1, (settled) => {
    const head = reader.head().sequence;
    const input: TopologyPeriodInput = {
      actor: plainActor(call.actor),
      networkId: call.query.network_id ?? null,
      center: centerOf(call.query),
      includeIsolated: call.query.include_isolated === true,
      from: from === null ? null : { at: formatInstant(from), sequence: reader.resolve(from)?.sequence ?? head },
      to: to === null ? null : formatInstant(to),
      until: (to === null ? null : settled)?.sequence ?? head,
    };
    return respondWithLongRead(backend, call, topologyOverTime, input);
  });
}

function isOverPeriod({ from, to }: Parameters): boolean {
  return from !== undefined || to !== undefined;
}

/** @throws DomainError validation_failed without a network or host, and for a parameter without effect */
function rejectIneffective(query: Parameters): void {
  const { network_id, host_id, hops, include_isolated, at, format } = query;
  const issues: Issue[] = [];
  if (network_id === undefined && host_id === undefined)
    issues.push({ path: "/network_id", message: "is required, unless host_id is given" });
  if (host_id === undefined && hops !== undefined)
    issues.push({ path: "/hops", message: "requires host_id", value: hops });
  if (host_id !== undefined && include_isolated === true)
    issues.push({
      path: "/include_isolated",
      message: "cannot be combined with host_id: every device around a host has a link",
    });
  if (isOverPeriod(query) && at !== undefined)
    issues.push({ path: "/at", message: "is a single timestamp: use it alone, or use from and to", value: at });
  if (isOverPeriod(query) && format !== undefined && format !== "json")
    issues.push({ path: "/format", message: "shows a single timestamp: use json for a period", value: format });
  if (issues.length > 0) throw invalid(issues);
}

function centerOf({ host_id, hops }: Parameters): Center | null {
  return host_id === undefined ? null : { hostId: host_id, hops: hops ?? HOPS_DEFAULT };
}
