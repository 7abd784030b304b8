// Stations on a device's ports without an announced neighbor, from its forwarding table.

import type { Answer } from "../api/answer.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Copied } from "../parts/copied.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import type { FaceplateData, FaceplatePort } from "./host-data.ts";

interface StationRow {
  readonly port: FaceplatePort;
  readonly station: FaceplatePort["stations"][number];
}

/** @param answer of `faceplateOf` */
export function HostStations({ answer: { data, problem, again } }: { readonly answer: Answer<FaceplateData> }) {
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const stations = [...data.groups.flatMap(({ ports }) => ports), ...data.logical].flatMap((port) =>
    port.neighbor === null ? port.stations.map((station) => ({ port, station })) : [],
  );
  if (stations.length === 0) return <p class="aside">No stations on other ports.</p>;
  return (
    <Paged rows={stations} title="On its other ports" textOf={textOf}>
      {(rows) => (
        <RowsTable title="On its other ports" heads={["Its port", "Host", "MAC address", "VLANs", "Since"]}>
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

function textOf({ port, station: { mac_address, vendor, hosts } }: StationRow): string {
  const names = hosts.flatMap(({ name, ip_addresses }) => [name, ...ip_addresses]);
  return [port.name, mac_address, vendor, ...names].join(" ");
}
