// Unused address: its subnet, and whether it is available. One line per network with a matching subnet.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { atQuery, network, scopeQuery } from "../time/at.ts";

type Subnet = DataOf<"/api/v1/subnets">[number];

/** Empty while loading, since it only supplements the main result. */
export function UnusedAddress({ address }: { readonly address: string }) {
  const query = { filter: `cidr : "${address}"`, limit: 0, ...scopeQuery() };
  const live = { how: "refresh", types: ["subnet"], network_id: network.value } as const;
  const { data, isEarlier } = useResponse(read("/api/v1/subnets", { query }), live);
  if (data === undefined || isEarlier) return null;
  if (data.length === 0) return <p>Not in any known subnet.</p>;
  return (
    <>
      {smallestOf(data).map((subnet) => (
        <WithinSubnet key={subnet.id} address={address} subnet={subnet} />
      ))}
    </>
  );
}

/** Most specific subnet per network. */
function smallestOf(subnets: readonly Subnet[]): readonly Subnet[] {
  const lengthOf = ({ cidr }: Subnet) => Number(cidr.slice(cidr.indexOf("/") + 1));
  const smallest = new Map<string, Subnet>();
  for (const subnet of subnets) {
    const current = smallest.get(subnet.network_id);
    if (current === undefined || lengthOf(current) < lengthOf(subnet)) smallest.set(subnet.network_id, subnet);
  }
  return [...smallest.values()];
}

/** Labels for the API states of an address without a host. */
const UNUSED_STATES: Readonly<Record<string, string>> = {
  Free: "Free",
  Seen: "Seen in use, without a host",
  Dhcp: "Assigned by DHCP",
  Reserved: "Reserved",
  Static: "Free, for static assignment",
  Gateway: "Reserved for a gateway",
  Other: "In another range",
  Network: "Network address",
  Broadcast: "Broadcast address",
};

function WithinSubnet({ address, subnet }: { readonly address: string; readonly subnet: Subnet }) {
  const addressPrefix = `${address}/${address.includes(":") ? 128 : 32}`;
  const { data, isEarlier } = useResponse(
    read("/api/v1/subnets/{id}/addresses", { path: { id: subnet.id }, query: { within: addressPrefix, ...atQuery() } }),
    { how: "refresh", types: ["ip_address", "ip_range"], network_id: subnet.network_id },
  );
  const row = isEarlier ? undefined : data?.[0];
  if (row === undefined) return null;
  const purpose = row.ip_range?.description;
  return (
    <p>
      {UNUSED_STATES[row.state] ?? row.state}
      {purpose && (
        <>
          {" "}
          (<bdi>{purpose}</bdi>)
        </>
      )}{" "}
      in <RecordLink type="subnet" id={subnet.id} name={subnet.cidr} />{" "}
      {subnet.name !== subnet.cidr && <bdi>{subnet.name}</bdi>}{" "}
      <span class="aside">
        <Named kind="network" id={subnet.network_id} />
      </span>
    </p>
  );
}
