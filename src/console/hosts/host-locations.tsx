// Host location: the switch ports that learned its MAC addresses, with confidence and reasons.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { Problem } from "../components/problem.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Status } from "../components/status.tsx";
import { Waiting } from "../components/waiting.tsx";
import { LastPlace } from "../find/last-place.tsx";
import { Reasons } from "../find/reasons.tsx";
import { VlanLink } from "../find/vlan-link.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { percent } from "../text/find.ts";
import { atQuery } from "../time/at.ts";
import type { HostData } from "./host-data.ts";
import { liveUpdates, type ShownHost } from "./host-requests.ts";
import { ownMacs } from "./neighbors.ts";

/** Limit of addresses, and of interfaces, to check; most share the same few MAC addresses. */
const CHECKED_MAX = 20;

export function HostLocations({ host }: { readonly host: ShownHost }) {
  const query = { host_id: host.id, filter: "mac_address:*", limit: CHECKED_MAX, ...atQuery() };
  const { addresses: known, counts } = host;
  const addressesRead = known.length < counts.ip_addresses ? read("/api/v1/ip-addresses", { query }) : null;
  const addresses = useResponse(addressesRead, { ...liveUpdates(host.id), types: ["ip_address"] });
  const interfacesRead = counts.interfaces > 0 ? read("/api/v1/if-entries", { query }) : null;
  const interfaces = useResponse(interfacesRead, { ...liveUpdates(host.id), types: ["if_entry"] });
  const requested = [addressesRead === null ? [] : addresses, interfacesRead === null ? [] : interfaces].flat();
  const failed = requested.find(({ problem }) => problem !== undefined);
  if (failed?.problem !== undefined) return <Problem problem={failed.problem} retry={failed.retry} />;
  if (requested.some(({ data }) => data === undefined)) return <Waiting />;
  const inAddresses = addressesRead === null ? known : (addresses.data ?? []);
  const macs = ownMacs([...inAddresses, ...(interfacesRead === null ? [] : (interfaces.data ?? []))]);
  if (macs.length === 0) return <p class="aside">No MAC address known, so its switch port can't be found.</p>;
  return (
    <RowsTable title="Connected to" heads={["MAC address", "Switch", "Port", "VLAN", "Source"]}>
      {macs.map((mac) => (
        <LocationRow key={mac} mac={mac} host={host} />
      ))}
    </RowsTable>
  );
}

function LocationRow({ mac, host }: { readonly mac: string; readonly host: HostData }) {
  const request = read("/api/v1/locate", { query: { mac, network_id: host.network_id, ...atQuery() } });
  const live = { how: "refresh", host_id: host.id, types: ["ip_address", "if_entry"] } as const;
  const { data, problem, retry } = useResponse(request, live);
  const candidate = data?.candidates.find((location) => location.host === null || location.host.id === host.id);
  const port = candidate?.port ?? null;
  return (
    <tr>
      <th scope="row">
        <Copied text={mac} />
      </th>
      {problem !== undefined && (
        <td colSpan={4}>
          <Problem problem={problem} retry={retry} />
        </td>
      )}
      {problem === undefined && (candidate === undefined || candidate.switch === null || port === null) && (
        <td class="aside" colSpan={4}>
          {data !== undefined && "No switch reports this MAC address on a known port."}{" "}
          {data !== undefined && data.last_seen !== null && <LastPlace place={data.last_seen} />}
        </td>
      )}
      {problem === undefined && candidate !== undefined && candidate.switch !== null && port !== null && (
        <>
          <td>
            <RecordLink type="host" {...candidate.switch} />
          </td>
          <td>
            <RecordLink type="if_entry" {...port} /> <Status status={port.oper_status} />{" "}
            {port.role === "Uplink" && <span class="aside">uplink: located beyond this port</span>}
            {data !== undefined && data.last_seen !== null && (
              <div>
                <LastPlace place={data.last_seen} />
              </div>
            )}
          </td>
          <td>{candidate.vlan !== null && <VlanLink vlan={candidate.vlan} />}</td>
          <td>
            {percent(candidate.confidence)} <Reasons candidate={candidate} />
          </td>
        </>
      )}
    </tr>
  );
}
