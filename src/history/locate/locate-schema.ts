// Response schemas of locate: candidates with evidence, and timeline intervals. Defines the vocabularies and confidence
// factors; ranking.ts decides which apply.

import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { ADMIN_STATUSES, OPER_STATUSES } from "../../resources/if-entries/vocabulary.ts";
import { LastSeenField } from "../../resources/last-seen.ts";
import { MacText, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { LOCATE_TERM_TYPES, RECORD_TYPES } from "./facts.ts";

/** Maximum candidates listed; the least likely are omitted. */
export const CANDIDATES_MAX = 20;

/**
 * Factors of a confidence. Each candidate has one location factor, followed by any number of doubts. Names are evidence
 * kinds, or variants of a kind.
 */
export const FACTORS = {
  confirmed: {
    factor: 0.98,
    kind: "Neighbor",
    meaning: "the port forwards to it, and LLDP on the port (or an entered neighbor) says that it is the far end",
  },
  alone: { factor: 0.9, kind: "Forwarding", meaning: "the port forwards to it and to nothing else" },
  behind: {
    factor: 0.85,
    kind: "Behind",
    meaning:
      "the port forwards to it, and the far end is another host, not known to be a switch: a hypervisor, a phone",
  },
  announced: {
    factor: 0.85,
    kind: "Neighbor",
    meaning: "no forwarding table has it, but LLDP or an entered neighbor says so",
  },
  fewShare: {
    factor: 0.75,
    kind: "SharedPort",
    meaning:
      "the port forwards to it and up to 15 others, and its neighbor is unknown: probably an unmanaged switch in between",
  },
  behindMany: {
    factor: 0.6,
    kind: "Behind",
    meaning: "the same with more than 15 others: a hypervisor, or a switch whose forwarding table is unknown",
  },
  deviceOnly: { factor: 0.6, kind: "Neighbor", meaning: "only the linked device is known, not the port" },
  cdpOnly: {
    factor: 0.6,
    kind: "Neighbor",
    meaning: "only CDP says so: CDP passes through bridges, so the link may not be direct",
  },
  manyShare: {
    factor: 0.5,
    kind: "SharedPort",
    meaning: "the port forwards to it and more than 15 others: something unknown with many stations in between",
  },
  uplinkOnly: {
    factor: 0.4,
    kind: "UplinkOnly",
    meaning: "only ports that lead to other switches forward to it: the direction is known, not the location",
  },
  noPlace: { factor: 0.3, kind: "NoPlace", meaning: "its identity is known, but not its location" },
  shortName: { factor: 0.9, kind: "ShortName", meaning: "only the first part of its name matches" },
  closeCall: {
    factor: 0.8,
    kind: "CloseCall",
    meaning:
      "another port counts as an uplink only because it forwards to more MAC addresses: a few more, or its far end is a host not known to be a switch",
  },
  movedHere: {
    factor: 0.8,
    kind: "MovedHere",
    meaning:
      "another switch learned it an hour or more before this one, and still forwards to it on a port with a device at the far end",
  },
  alsoSeen: { factor: 0.6, kind: "AlsoSeen", meaning: "it could just as well be on other ports" },
  movedOn: {
    factor: 0.5,
    kind: "MovedOn",
    meaning: "another switch learned it an hour or more later, on a port that it had known for long",
  },
  severalHosts: { factor: 0.6, kind: "SeveralHosts", meaning: "several hosts match" },
  virtualRouter: {
    factor: 0.6,
    kind: "VirtualRouter",
    meaning: "the MAC address belongs to a virtual router (VRRP, HSRP) and moves between routers",
  },
  portDown: { factor: 0.3, kind: "PortDown", meaning: "the port is down: its table entries are old" },
} as const;

/** In display order: identity, location, doubts, path, other. */
const EVIDENCE_KINDS = [
  "Name",
  "ShortName",
  "Announced",
  "Address",
  "AddressInterface",
  "AddressMac",
  "InterfaceMac",
  "Forwarding",
  "Neighbor",
  "Behind",
  "SharedPort",
  "UplinkOnly",
  "NoPlace",
  "PortDown",
  "AlsoSeen",
  "MovedOn",
  "MovedHere",
  "CloseCall",
  "SeveralHosts",
  "VirtualRouter",
  "Uplink",
  "UnknownNeighbor",
  "Vlan",
  "LocallyAdministered",
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** Source of the VLAN: the forwarding table rows, the port's membership, or the subnet of the address. */
const VLAN_SOURCES = ["ForwardingTable", "Port", "Subnet"] as const;
/** Whether a port leads to the station itself or to more of the network. */
const PORT_ROLES = ["Edge", "Uplink"] as const;

const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "The product of the factors of the evidence, to two digits.",
});
const Ref = <T extends TProperties>(more: T) => ({ id: Uuid, name: Type.String(), ...more });

const place = {
  network_id: Uuid,
  host: Nullable(Type.Object(Ref({ hostname: Nullable(Type.String()) })), {
    description: "The host; null for a device that is not in the inventory.",
  }),
  ip_address: Nullable(Type.Object({ id: Uuid, ip_address: Type.String() }), {
    description: "The requested address, or the first one of the MAC address.",
  }),
  mac_address: Nullable(MacText),
  switch: Nullable(Type.Object(Ref({})), { description: "The device that has the port." }),
};
const port = {
  if_index: Type.Integer(),
  if_descr: Type.String(),
  role: OneOf(PORT_ROLES, { description: "Edge: it is connected there. Uplink: it is somewhere beyond." }),
};
const behind = Nullable(Type.Object(Ref({})), {
  description: "The host between the port and the station: a hypervisor, a phone.",
});
const vlan = Nullable(
  Type.Object({
    id: Nullable(Uuid, { description: "Null if the inventory has no VLAN with this number." }),
    number: Type.Integer(),
    name: Nullable(Type.String()),
    source: OneOf(VLAN_SOURCES),
  }),
);

const Evidence = Type.Object(
  {
    kind: OneOf(EVIDENCE_KINDS),
    factor: Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Its effect on the confidence; 1 for information only.",
    }),
    sentence: Type.String(),
    records: Type.Array(
      Type.Object({
        entity_type: OneOf(RECORD_TYPES, { description: "The kind of record." }),
        id: Uuid,
        name: Type.String(),
        valid_from: Timestamp,
      }),
      {
        description: "The records it is based on, each with the start of its state at that time.",
      },
    ),
  },
  { $id: "LocationEvidence" },
);

export const Candidate = Type.Object(
  {
    confidence: Confidence,
    explanation: Type.String({ description: "One readable sentence." }),
    ...place,
    port: Nullable(
      Type.Object(
        Ref({
          ...port,
          admin_status: OneOf(ADMIN_STATUSES),
          oper_status: OneOf(OPER_STATUSES),
          units: Type.Array(Type.Object(Ref({})), {
            description: "The units of the port that learned it (`parent_id`); empty if the port itself did.",
          }),
          members: Type.Array(Type.Object(Ref({})), {
            description: "The members of an aggregate (`lag_id`); empty for a port.",
          }),
        }),
      ),
      { description: "The interface entry of the switch: a port or an aggregate." },
    ),
    behind,
    vlan,
    subnet: Nullable(Type.Object(Ref({ cidr: Type.String() }))),
    evidence: Type.Array(Evidence),
  },
  { $id: "LocationCandidate" },
);
export type Candidate = Static<typeof Candidate>;
export type Evidence = Static<typeof Evidence>;

const asked = Type.Object(
  { by: OneOf(LOCATE_TERM_TYPES), value: Type.String() },
  { description: "The query, in canonical form." },
);

export const Location = Type.Object(
  {
    asked,
    explanation: Type.String({
      description:
        "The result in one sentence: that of the first candidate, or that nothing is known; then the last place, if there is one.",
    }),
    ambiguity: Nullable(Type.String(), {
      description: "Why there are several candidates; null for at most one.",
    }),
    candidates: Type.Array(Candidate, {
      description: `Most likely first, ${CANDIDATES_MAX} at most; empty if nothing is known.`,
    }),
    truncated: Type.Boolean({ description: "Whether there are more than listed." }),
    last_seen: LastSeenField,
  },
  { $id: "Location" },
);
export type Location = Static<typeof Location>;
/** Without the last place. */
export type PresentLocation = Omit<Location, "last_seen">;

export const Interval = Type.Object(
  {
    from: Timestamp,
    to: Nullable(Timestamp, {
      description: "End of the interval or of the range, not included; null if it still holds.",
    }),
    confidence: Confidence,
    ...place,
    port: Nullable(Type.Object(Ref(port))),
    behind,
    vlan,
    others: Type.Integer({
      minimum: 0,
      description: "Number of less likely candidates at the start of the interval; locate with `at` lists them.",
    }),
  },
  { $id: "LocationInterval" },
);
export type Interval = Static<typeof Interval>;

export const Timeline = Type.Object(
  {
    asked,
    from: Nullable(Timestamp, { description: "Start of the range; null: the start of the ledger." }),
    intervals: Type.Array(Interval, { description: "The locations in order. For gaps, the location is unknown." }),
    to: Nullable(Timestamp, { description: "End of the range; null: now." }),
    truncated: Type.Boolean({
      description: "Whether the timeline was too long for one response. The last interval then ends at `next_from`.",
    }),
    next_from: Nullable(Timestamp, { description: "Send this as `from` to continue." }),
  },
  { $id: "LocationTimeline" },
);
export type Timeline = Static<typeof Timeline>;

const INSTANT = "2026-11-21T09:15:00.123Z";
const id = (n: number) => `01936f2e-0d5c-7d3a-9a39-3f6f1f7a00${n}`;
const PLACE_EXAMPLE = {
  network_id: id(20),
  host: { id: id(21), name: "web-1", hostname: "web-1.example.net" },
  ip_address: { id: id(22), ip_address: "10.2.3.4" },
  mac_address: "00:1b:21:aa:bb:cc",
  switch: { id: id(23), name: "access-2" },
};
const VLAN_EXAMPLE = { id: id(25), number: 120, name: "Servers", source: "ForwardingTable" };

export const LOCATION_EXAMPLE = {
  asked: { by: "ip", value: "10.2.3.4" },
  explanation: "web-1 (10.2.3.4, 00:1b:21:aa:bb:cc) is at Gi1/0/7 of access-2, VLAN 120 (Servers).",
  ambiguity: null,
  candidates: [
    {
      confidence: 0.9,
      explanation: "web-1 (10.2.3.4, 00:1b:21:aa:bb:cc) is at Gi1/0/7 of access-2, VLAN 120 (Servers).",
      ...PLACE_EXAMPLE,
      port: {
        id: id(24),
        name: "Gi1/0/7",
        if_index: 7,
        if_descr: "GigabitEthernet1/0/7",
        role: "Edge",
        admin_status: "Up",
        oper_status: "Up",
        units: [],
        members: [],
      },
      behind: null,
      vlan: VLAN_EXAMPLE,
      subnet: { id: id(26), name: "Server room", cidr: "10.2.3.0/24" },
      evidence: [
        {
          kind: "Address",
          factor: 1,
          sentence: "10.2.3.4 is an address of web-1, with the MAC address 00:1b:21:aa:bb:cc.",
          records: [{ entity_type: "ip_address", id: id(22), name: "10.2.3.4", valid_from: INSTANT }],
        },
        {
          kind: "Forwarding",
          factor: 0.9,
          sentence: "access-2 forwards to 00:1b:21:aa:bb:cc at Gi1/0/7, and to nothing else there.",
          records: [
            { entity_type: "fdb_entry", id: id(27), name: "00:1b:21:aa:bb:cc", valid_from: INSTANT },
            { entity_type: "if_entry", id: id(24), name: "Gi1/0/7", valid_from: INSTANT },
          ],
        },
      ],
    },
  ],
  truncated: false,
  last_seen: null,
};

export const TIMELINE_EXAMPLE = {
  asked: { by: "mac", value: "00:1b:21:aa:bb:cc" },
  from: "2026-11-14T09:15:00.123Z",
  intervals: [
    {
      from: INSTANT,
      to: null,
      confidence: 0.9,
      ...PLACE_EXAMPLE,
      port: { id: id(24), name: "Gi1/0/7", if_index: 7, if_descr: "GigabitEthernet1/0/7", role: "Edge" },
      behind: null,
      vlan: VLAN_EXAMPLE,
      others: 0,
    },
  ],
  to: null,
  truncated: false,
  next_from: null,
};
