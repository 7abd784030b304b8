// Response schemas and examples of a network's topology.

import { Type } from "@sinclair/typebox";
import {
  CDP_CAPABILITIES,
  CHASSIS_ID_SUBTYPES,
  LLDP_CAPABILITIES,
  OPER_STATUSES,
  PORT_ID_SUBTYPES,
} from "../../resources/if-entries/vocabulary.ts";
import { MapPosition } from "../../resources/map-positions/map-position.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { CERTAINTIES, LINK_PROTOCOLS, NODE_KINDS } from "./map.ts";

const StaleSince = Type.Optional({
  ...Timestamp,
  description: "When it became stale: not seen for longer than the network's `stale_after_hours`. Absent if not stale.",
});
const Intervals = Type.Optional(
  Type.Array(
    Type.Object(
      { from: Timestamp, to: Nullable(Timestamp, { description: "Null: now." }) },
      { $id: "TopologyInterval" },
    ),
    {
      minItems: 1,
      description:
        "When the item was shown, in order, each half-open (`to` is excluded) and clipped to the period. Only with `from` or `to`: all other fields are as last shown in the period.",
    },
  ),
);
const NodeId = Type.String({
  description:
    "The host's id. For a device that is not in the inventory, an id derived from its announcements, stable over time: `unknown-…`.",
});
const Speed = Nullable(Type.Integer({ minimum: 0 }), { description: "Bits per second." });
const Status = Nullable(OneOf(OPER_STATUSES));
const text = Type.Optional(Type.String());

const TopologyNode = Type.Object(
  {
    id: NodeId,
    kind: OneOf(NODE_KINDS, { description: "Unknown: announced by LLDP or CDP, but not in the inventory." }),
    name: Type.String(),
    sys_name: Nullable(Type.String()),
    chassis_id: Nullable(Type.String()),
    manufacturer: Nullable(Type.String()),
    model: Nullable(Type.String()),
    management_address: Nullable(Type.String(), {
      description:
        "An announced address of the node, else the address of its `management_url`, else its first address.",
    }),
    stale_since: StaleSince,
    intervals: Intervals,
    position: MapPosition,
  },
  { $id: "TopologyNode" },
);

const End = Type.Object(
  {
    node_id: NodeId,
    if_entry: Nullable(Type.Object({ id: Uuid, name: Type.String(), if_index: Type.Integer() }), {
      description: "Null if unknown.",
    }),
    port: Nullable(Type.String(), { description: "The interface's name, or its announced name." }),
    speed_bps: Speed,
    oper_status: Status,
    stale_since: StaleSince,
  },
  { $id: "TopologyEnd" },
);

const TopologyEvidence = Type.Object(
  {
    node_id: NodeId,
    if_entry_id: {
      ...Uuid,
      description: "The interface that received the announcement. The other fields are its content.",
    },
    protocol: OneOf(["Lldp", "Cdp"] as const),
    chassis_id: Type.Optional(Type.Object({ subtype: OneOf(CHASSIS_ID_SUBTYPES), value: Type.String() })),
    port_id: Type.Optional(Type.Object({ subtype: OneOf(PORT_ID_SUBTYPES), value: Type.String() })),
    sys_name: text,
    port_desc: text,
    mgmt_addr: text,
    device_id: text,
    platform: text,
    address: text,
    capabilities: Type.Optional(
      Type.Array(OneOf([...new Set([...LLDP_CAPABILITIES, ...CDP_CAPABILITIES])]), {
        description: "Same as `lldp_capabilities` or `cdp_capabilities` of the interface.",
      }),
    ),
  },
  { $id: "TopologyEvidence" },
);

const TopologyLink = Type.Object(
  {
    id: Type.String({ description: "Derived from the ends." }),
    protocol: OneOf(LINK_PROTOCOLS, {
      description: "Lldp if any evidence is LLDP; Entered if there is no evidence and a user entered the link.",
    }),
    certainty: OneOf(CERTAINTIES, {
      description:
        "Interfaces: both are known. Hosts: both devices are known, but at least one interface is not certain. Announced: the far device is not in the inventory. Beyond: flooded through other switches, from a device announced nowhere else.",
    }),
    is_shared: Type.Boolean({
      description:
        "More than one device is announced on one of the two interfaces: a hub, or a phone with a computer behind it.",
    }),
    ends: Type.Array(End, { minItems: 2, maxItems: 2 }),
    speed_bps: Speed,
    oper_status: Nullable(OneOf(OPER_STATUSES), {
      description: "Up if all known ends are up; otherwise the status of an end that is not.",
    }),
    group: Type.String({ description: "The same for all links between the two nodes." }),
    parallel: Type.Integer({ minimum: 1, description: "Number of links between the two nodes." }),
    members: Type.Array(
      Type.Object({ ends: Type.Array(End, { minItems: 2, maxItems: 2, description: "In the order of the link's." }) }),
      { description: "The cables of an aggregate, which is one link (`lag_id`); empty for a single cable." },
    ),
    evidence: Type.Array(TopologyEvidence, { description: "Announcements, by the end that received them." }),
    intervals: Intervals,
  },
  { $id: "TopologyLink" },
);

export const TopologyBody = Type.Object(
  {
    network_id: Nullable(Uuid, { description: "Null for a host that is not found." }),
    nodes: Type.Array(TopologyNode),
    links: Type.Array(TopologyLink),
    from: Type.Optional(
      Nullable(Timestamp, { description: "Start of the period; null: the start of the ledger. Only over a period." }),
    ),
    to: Type.Optional(Nullable(Timestamp, { description: "End of the period; null: now. Only over a period." })),
    truncated: Type.Optional(
      Type.Boolean({
        description:
          "Whether the period was too long for one response, which then ends at `next_from`. Only over a period.",
      }),
    ),
    next_from: Type.Optional(
      Nullable(Timestamp, { description: "Send this as `from` to continue. Only over a period." }),
    ),
  },
  { $id: "Topology" },
);

const CORE = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010";
const ACCESS = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030";
const DOWNLINK = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011";
const UPLINK = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0031";

export const TOPOLOGY_EXAMPLE = {
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  nodes: [
    {
      id: ACCESS,
      kind: "Known",
      name: "access-1",
      sys_name: "access-1.example.net",
      chassis_id: "00:1b:21:00:00:02",
      manufacturer: "Cisco",
      model: "WS-C3560-24TS",
      management_address: "10.2.0.2",
      position: { x: 160, y: 120, placed: "layout" },
    },
    {
      id: CORE,
      kind: "Known",
      name: "core-1",
      sys_name: "core-1.example.net",
      chassis_id: "00:1b:21:00:00:01",
      manufacturer: "Cisco",
      model: "WS-C3750G-24TS",
      management_address: "10.2.0.1",
      position: { x: 240, y: 0, placed: "layout" },
    },
  ],
  links: [
    {
      id: `${DOWNLINK}--${UPLINK}`,
      protocol: "Lldp",
      certainty: "Interfaces",
      is_shared: false,
      ends: [
        {
          node_id: ACCESS,
          if_entry: { id: UPLINK, name: "Gi0/24", if_index: 10124 },
          port: "Gi0/24",
          speed_bps: 1_000_000_000,
          oper_status: "Up",
        },
        {
          node_id: CORE,
          if_entry: { id: DOWNLINK, name: "Gi1/0/7", if_index: 10107 },
          port: "Gi1/0/7",
          speed_bps: 1_000_000_000,
          oper_status: "Up",
        },
      ],
      speed_bps: 1_000_000_000,
      oper_status: "Up",
      group: `${ACCESS}--${CORE}`,
      parallel: 1,
      members: [],
      evidence: [
        {
          node_id: ACCESS,
          if_entry_id: UPLINK,
          protocol: "Lldp",
          chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
          port_id: { subtype: "InterfaceName", value: "Gi1/0/7" },
          sys_name: "core-1.example.net",
        },
        {
          node_id: CORE,
          if_entry_id: DOWNLINK,
          protocol: "Lldp",
          chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:02" },
          port_id: { subtype: "InterfaceName", value: "Gi0/24" },
          sys_name: "access-1.example.net",
        },
      ],
    },
  ],
};

const PERIOD_FROM = "2026-11-14T09:15:00.123Z";
const MOVED_AT = "2026-11-18T02:30:00.000Z";
const [ACCESS_NODE, CORE_NODE] = TOPOLOGY_EXAMPLE.nodes;
const [CABLE] = TOPOLOGY_EXAMPLE.links;

/** A week in which the core's only other link ended; two days later an access switch was connected to it. */
export const PERIOD_EXAMPLE = {
  network_id: TOPOLOGY_EXAMPLE.network_id,
  from: PERIOD_FROM,
  to: null,
  nodes: [
    { ...ACCESS_NODE, intervals: [{ from: MOVED_AT, to: null }] },
    {
      ...CORE_NODE,
      intervals: [
        { from: PERIOD_FROM, to: "2026-11-16T22:00:00.000Z" },
        { from: MOVED_AT, to: null },
      ],
    },
  ],
  links: [{ ...CABLE, intervals: [{ from: MOVED_AT, to: null }] }],
  truncated: false,
  next_from: null,
};
