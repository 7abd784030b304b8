// Stations on a device's ports without a network at the other end, from its forwarding table.

import { Copied } from "../components/copied.tsx";
import { Paged } from "../components/paged.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import type { FaceplatePort, FaceplateResponse } from "./host-data.ts";

/** @param response of `faceplateOf` */
export function HostStations({ response: { data, problem, retry } }: { readonly response: FaceplateResponse }) {
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const stations = [...data.groups.flatMap(({ ports }) => ports), ...data.logical].flatMap((port) =>
    // Stations of a subinterface are listed at its port.
    port.parent === null && (port.neighbor === null || port.neighbor.role === "End")
      ? port.stations.map((station) => ({ port, station }))
      : [],
  );
  if (stations.length === 0) return <p class="aside">No stations on other ports.</p>;
  return (
    <Paged rows={stations} title="Stations on other ports" textOf={({ port, station }) => textOf(port, station)}>
      {(rows) => (
        <RowsTable title="Stations on other ports" heads={["Local port", "Host", "MAC address", "VLANs", "Since"]}>
          {rows.map(({ port, station: { mac_address, vendor, vlan_numbers, since, hosts } }) => (
            <tr key={`${port.id} ${mac_address}`}>
              <th scope="row">
                <RecordLink type="if_entry" id={port.id} name={port.name} />
              </th>
              <td>
                {hosts.map(({ id, ip_addresses }) => (
                  <span key={id} class="station">
                    <Named kind="host" id={id} /> <span class="aside">{ip_addresses[0]}</span>
                  </span>
                ))}
              </td>
              <td>
                <Copied text={mac_address} /> <span class="aside">{vendor}</span>
              </td>
              <td>{vlan_numbers.join(", ")}</td>
              <td>{since !== null && <When instant={since} precision="minute" />}</td>
            </tr>
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

function textOf(port: FaceplatePort, { mac_address, vendor, hosts }: FaceplatePort["stations"][number]): string {
  const names = hosts.flatMap(({ name, ip_addresses }) => [name, ...ip_addresses]);
  return [port.name, mac_address, vendor, ...names].join(" ");
}
