// Stations as table rows: one row per MAC address and port, with all its hosts.

import { type CsvColumn, fieldColumns } from "../../schemas/csv.ts";
import { STATION_EXAMPLE, type Station } from "./station-schema.ts";

export const STATION_COLUMNS: readonly CsvColumn[] = fieldColumns(
  `since mac_address vendor type known_use host_ids host_names ip_addresses switch_id switch_name port_id port_name
  unit_ids unit_names member_ids member_names vlan_numbers network_id network_name`.split(/\s+/),
);

/** @param networkNameOf as of the timestamp of the response; null if out of reach */
export function stationRow(
  { switch: device, port, units, members, hosts, ...fields }: Station,
  networkNameOf: (id: string) => string | null,
): Record<string, unknown> {
  return {
    ...fields,
    host_ids: hosts.map(({ id }) => id),
    host_names: hosts.map(({ name }) => name),
    ip_addresses: hosts.flatMap(({ ip_addresses }) => ip_addresses),
    switch_id: device.id,
    switch_name: device.name,
    port_id: port.id,
    port_name: port.name,
    unit_ids: units.map(({ id }) => id),
    unit_names: units.map(({ name }) => name),
    member_ids: members.map(({ id }) => id),
    member_names: members.map(({ name }) => name),
    network_name: networkNameOf(fields.network_id),
  };
}

export const STATION_ROWS_EXAMPLE = [stationRow(STATION_EXAMPLE, () => "Headquarters")];
