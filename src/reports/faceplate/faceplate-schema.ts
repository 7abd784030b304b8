// Response schema and example of the faceplate report.

import { type Static, Type } from "@sinclair/typebox";
import { FAR_END_ROLES } from "../../history/far-end.ts";
import { ListedHost } from "../../resources/hosts/host-body.ts";
import { HOST_EXAMPLE } from "../../resources/hosts/host-example.ts";
import { IF_ENTRY_EXAMPLE } from "../../resources/if-entries/if-entry.ts";
import { ADMIN_STATUSES, OPER_STATUSES } from "../../resources/if-entries/vocabulary.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { stationFields } from "../stations/station-schema.ts";
import { STATIONS_MAX } from "./stations.ts";

const NamedRecord = Type.Object({ id: Uuid, name: Type.String() });
const VlanRef = Type.Object({ id: Uuid, number: Type.Integer(), name: Type.String() });
const NullableText = Nullable(Type.String());

const FaceplateStation = Type.Object(stationFields, { $id: "FaceplateStation" });

const Port = Type.Object(
  {
    id: Uuid,
    if_index: Type.Integer(),
    name: Type.String({ description: "`if_name`, otherwise `if_descr`." }),
    if_descr: Type.String(),
    if_alias: NullableText,
    if_type: Type.Integer(),
    admin_status: OneOf(ADMIN_STATUSES),
    oper_status: OneOf(OPER_STATUSES),
    speed_bps: Nullable(Type.Integer()),
    mac_address: NullableText,
    native_vlan: Nullable(VlanRef),
    tagged_vlans: Type.Array(VlanRef, { description: "By number." }),
    lag: Nullable(NamedRecord, { description: "The aggregate that the port is a member of." }),
    parent: Nullable(NamedRecord, { description: "The port or aggregate that the interface is a unit of." }),
    members: Type.Array(NamedRecord, { description: "The members of an aggregate; empty for other interfaces." }),
    neighbor: Nullable(
      Type.Object({
        source: OneOf(["Lldp", "Cdp", "Entered"] as const),
        host: Nullable(NamedRecord, { description: "The host at the other end, if known." }),
        interface: Nullable(NamedRecord),
        announced_name: NullableText,
        announced_port: NullableText,
        role: OneOf(FAR_END_ROLES, {
          description:
            "Network: stations behind the port are connected elsewhere. End: they are connected here, as behind a phone. Unknown: the neighbor is no evidence of either.",
        }),
      }),
    ),
    more_neighbors: Type.Integer({ minimum: 0, description: "Number of additional neighbors announced on the port." }),
    fdb_entries: Type.Integer({
      minimum: 0,
      description:
        "Number of forwarding-table entries for the port and its units or members: one for each MAC address and VLAN.",
    }),
    stations: Type.Array(FaceplateStation, {
      description: `Stations behind the port: named ones first, by name, then by MAC address. ${STATIONS_MAX} MAC addresses at most.`,
    }),
    has_more_stations: Type.Boolean(),
    unused_since: Nullable(Timestamp, {
      description:
        "The last time `oper_status` was `Up`. Null while the port is up, and if it has never been up since `known_since`.",
    }),
    known_since: Type.String({
      format: "date-time",
      description: "When the interface was first recorded; nothing is known about the time before.",
    }),
  },
  { $id: "FaceplatePort" },
);

export const Faceplate = Type.Object(
  {
    host: NamedRecord,
    host_record: Type.Optional(ListedHost),
    groups: Type.Array(
      Type.Object({
        type: OneOf(["Module", "Management"] as const),
        member: Nullable(Type.String(), {
          description: "Stack member number: `1` of `Gi1/0/7`; null for names with one or two numbers.",
        }),
        module: Nullable(Type.String(), {
          description: "The part before the port number: `1/0` of `Gi1/0/7`.",
        }),
        ports: Type.Array(Port),
      }),
      { description: "Ports by member and module, in numeric order; management ports last." },
    ),
    logical: Type.Array(Port, {
      description: "Interfaces that are not ports: aggregates, VLAN interfaces, loopbacks, tunnels, subinterfaces.",
    }),
  },
  { $id: "Faceplate" },
);
export type Faceplate = Static<typeof Faceplate>;
export type FaceplatePort = Static<typeof Port>;

export const FACEPLATE_EXAMPLE: Faceplate = {
  host: { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name },
  groups: [
    {
      type: "Module",
      member: "1",
      module: "1/0",
      ports: [
        {
          id: IF_ENTRY_EXAMPLE.id,
          if_index: 1,
          name: "Gi1/0/1",
          if_descr: "GigabitEthernet1/0/1",
          if_alias: null,
          if_type: 6,
          admin_status: "Up",
          oper_status: "Down",
          speed_bps: 1_000_000_000,
          mac_address: "00:1b:21:aa:bb:cc",
          native_vlan: { id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", number: 20, name: "Clients" },
          tagged_vlans: [],
          lag: null,
          parent: null,
          members: [],
          neighbor: null,
          more_neighbors: 0,
          fdb_entries: 1,
          stations: [
            {
              mac_address: "00:1b:21:aa:bb:dd",
              vendor: "Intel Corporate",
              type: "Universal",
              known_use: null,
              vlan_numbers: [20],
              since: "2026-11-01T08:00:00.000Z",
              hosts: [
                {
                  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030",
                  name: "printer-3",
                  interface: null,
                  ip_addresses: ["10.2.3.17"],
                },
              ],
            },
          ],
          has_more_stations: false,
          unused_since: "2026-11-20T17:42:00.000Z",
          known_since: "2026-06-01T09:15:00.123Z",
        },
      ],
    },
  ],
  logical: [],
};
