// Ports of a VLAN per device, untagged and tagged.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Named } from "../names/named.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { groupedDigits } from "../text/digits.ts";
import { vlanText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { type VlanDevice, vlanDevices } from "./vlan-devices.ts";

type Port = DataOf<"/api/v1/if-entries">[number];

/** Limit per response; the interface list shows the rest. */
const PORTS_MAX = 1_000;
/** Ports shown per cell; the rest is counted, with a link to the list. */
const PORTS_SHOWN = 24;

interface VlanDeviceTableProps {
  readonly id: string;
  readonly networkId: string;
  /** Filter for the interfaces of the VLAN. */
  readonly filter: string;
}

export function VlanDeviceTable({ id, networkId, filter }: VlanDeviceTableProps) {
  const request = read("/api/v1/if-entries", { query: { ...atQuery(), filter, limit: PORTS_MAX } });
  const live = { how: "offer", types: ["if_entry"], network_id: networkId } as const;
  const { data, meta, problem, retry } = useResponse(request, live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.length === 0) return <p class="vlan-part aside">{vlanText.noInterfaces}</p>;
  const remaining = (meta?.pagination.total_count ?? 0) - data.length;
  return (
    <>
      <ResponseState data={data} problem={problem} retry={retry} />
      <RowsTable
        title="By device"
        className="vlan-interfaces"
        heads={["Device", "Untagged ports", "Tagged ports", "Up"]}
      >
        {vlanDevices(id, data).map((device) => (
          <DeviceRow key={device.hostId} device={device} filter={filter} />
        ))}
      </RowsTable>
      {remaining > 0 && (
        <p class="vlan-part aside">{groupedDigits(remaining)} more interfaces: see the interface list.</p>
      )}
    </>
  );
}

function DeviceRow({ device, filter }: { readonly device: VlanDevice<Port>; readonly filter: string }) {
  const { hostId, untagged, tagged, up } = device;
  const listHref = hrefOf("/interfaces", { filter: `host_id = "${hostId}" AND (${filter})` });
  return (
    <tr>
      <th scope="row" class="subnet-name">
        <Named kind="host" id={hostId} />
      </th>
      <td class="vlan-ports">
        <Ports ports={untagged} listHref={listHref} />
      </td>
      <td class="vlan-ports">
        <Ports ports={tagged} listHref={listHref} />
      </td>
      <td class="is-short">
        {groupedDigits(up)} of {groupedDigits(untagged.length + tagged.length)}
      </td>
    </tr>
  );
}

function Ports({ ports, listHref }: { readonly ports: readonly Port[]; readonly listHref: string }) {
  return (
    <>
      {ports.slice(0, PORTS_SHOWN).map(({ id, if_name, if_descr, if_index, oper_status }, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <a
            href={hrefOf(`/interfaces/${id}`)}
            class={oper_status === "Up" ? undefined : "is-not-up"}
            title={oper_status}
          >
            <bdi>{interfaceName({ if_name, if_descr, if_index })}</bdi>
          </a>
        </span>
      ))}
      {ports.length > PORTS_SHOWN && (
        <>
          {", "}
          <a href={listHref}>{groupedDigits(ports.length - PORTS_SHOWN)} more</a>
        </>
      )}
    </>
  );
}
