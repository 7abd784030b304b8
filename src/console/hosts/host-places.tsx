// Location of a host: the switch port that learned its MAC addresses, with confidence and reasons.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Reasons } from "../find/reasons.tsx";
import { VlanLink } from "../find/vlan-link.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Status } from "../parts/status.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { percent } from "../text/find.ts";
import { atQuery } from "../time/at.ts";
import type { HostData } from "./host-data.ts";
import { liveOf } from "./host-reads.ts";
import { ownMacs } from "./neighbors.ts";

/** Number of addresses and interfaces to check; most share the same few MAC addresses. */
const LOOKED_AT = 20;

export function HostPlaces({ host }: { readonly host: HostData }) {
  const query = { host_id: host.id, filter: "mac_address:*", limit: LOOKED_AT, ...atQuery() };
  const addresses = useAnswer(read("/api/v1/ip-addresses", { query }), liveOf(host.id));
  const interfaces = useAnswer(read("/api/v1/if-entries", { query }), liveOf(host.id));
  const failed = [addresses, interfaces].find(({ problem }) => problem !== undefined);
  if (failed?.problem !== undefined) return <Problem problem={failed.problem} again={failed.again} />;
  if (addresses.data === undefined || interfaces.data === undefined) return <Waiting />;
  const macs = ownMacs([...addresses.data, ...interfaces.data]);
  if (macs.length === 0) return <p class="aside">No MAC address known, so its switch port can't be found.</p>;
  return (
    <RowsTable title="Where it is connected" heads={["MAC address", "Switch", "Port", "VLAN", "Source"]}>
      {macs.map((mac) => (
        <Place key={mac} mac={mac} host={host} />
      ))}
    </RowsTable>
  );
}

function Place({ mac, host }: { readonly mac: string; readonly host: HostData }) {
  const asked = read("/api/v1/locate", { query: { mac, network_id: host.network_id, ...atQuery() } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", host_id: host.id });
  const candidate = data?.candidates.find((each) => each.host === null || each.host.id === host.id);
  const port = candidate?.port ?? null;
  return (
    <tr>
      <th scope="row">
        <Copied text={mac} />
      </th>
      {problem !== undefined && (
        <td colSpan={4}>
          <Problem problem={problem} again={again} />
        </td>
      )}
      {problem === undefined && (candidate === undefined || candidate.switch === null || port === null) && (
        <td class="aside" colSpan={4}>
          {data !== undefined && "No switch has its MAC address on a known port."}
        </td>
      )}
      {problem === undefined && candidate !== undefined && candidate.switch !== null && port !== null && (
        <>
          <td>
            <RecordLink type="host" {...candidate.switch} />
          </td>
          <td>
            <RecordLink type="if_entry" {...port} /> <Status status={port.oper_status} />{" "}
            {port.role === "Uplink" && <span class="aside">uplink: it is somewhere beyond</span>}
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
