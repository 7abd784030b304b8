// Response schema and example of a station.

import { type Static, Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { HOST_EXAMPLE } from "../../resources/hosts/host-example.ts";
import { IF_ENTRY_EXAMPLE } from "../../resources/if-entries/if-entry.ts";
import { macInfoFields } from "../../schemas/mac-fields.ts";
import { Nullable, Uuid } from "../../schemas/schemas.ts";
import { OWNERS_MAX } from "./owners.ts";

const NamedRecord = Type.Object({ id: Uuid, name: Type.String() });

/** A MAC address on one port. */
export const stationFields = {
  mac_address: Type.String(),
  ...macInfoFields,
  vlan_numbers: Type.Array(Type.Integer(), { description: "The VLANs in which the port learned it." }),
  since: Type.String({ format: "date-time", description: "First seen at this port." }),
  hosts: Type.Array(
    Type.Object({
      ...NamedRecord.properties,
      interface: Nullable(NamedRecord, { description: "The host's interface with the MAC address." }),
      ip_addresses: Type.Array(Type.String(), { description: `${OWNERS_MAX} at most.` }),
    }),
    {
      description: `The hosts of the network that have the MAC address, by name, at most ${OWNERS_MAX}. Several hosts share that of a virtual router.`,
    },
  ),
};

export const Station = Type.Object(
  {
    network_id: Uuid,
    switch: Type.Object(NamedRecord.properties, { description: "The device that has the port." }),
    port: Type.Object(NamedRecord.properties, { description: "The edge port: a port or an aggregate." }),
    units: Type.Array(NamedRecord, {
      description: "The units of the port that learned it (`parent_id`); empty if the port itself did.",
    }),
    members: Type.Array(NamedRecord, { description: "The members of an aggregate (`lag_id`); empty for a port." }),
    ...stationFields,
  },
  { $id: "Station" },
);
export type Station = Static<typeof Station>;

export const STATION_ROWS: RowList = { name: "station", path: "stations", row: Station };
export const STATION_FIELDS = new RowFields(STATION_ROWS);

export const STATION_EXAMPLE: Station = {
  network_id: HOST_EXAMPLE.network_id,
  switch: { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name },
  port: { id: IF_ENTRY_EXAMPLE.id, name: IF_ENTRY_EXAMPLE.if_name ?? "" },
  units: [],
  members: [],
  mac_address: "00:00:5e:00:53:42",
  vendor: null,
  type: "Universal",
  known_use: null,
  vlan_numbers: [20],
  since: "2026-11-21T03:12:00.000Z",
  hosts: [],
};
