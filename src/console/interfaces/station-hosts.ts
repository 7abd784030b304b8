// Whose MAC addresses they are: hosts by what stands beside their IP addresses.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { atQuery } from "../time/at.ts";

/** As many as are asked for: the first. */
const ASKED_MAX = 50;

/**
 * Ids of hosts by the MAC addresses beside their IP addresses, as of the instant that is shown.
 * @param networkId whose hosts
 */
export function useStationHosts(macs: readonly string[], networkId: string): ReadonlyMap<string, string> {
  const filter = macs
    .slice(0, ASKED_MAX)
    .map((mac) => `mac_address = "${mac}"`)
    .join(" OR ");
  const query = { ...atQuery(), network_id: networkId, filter, limit: 2 * ASKED_MAX };
  const { data } = useAnswer(filter === "" ? null : read("/api/v1/ip-addresses", { query }));
  return new Map((data ?? []).map(({ mac_address, host_id }) => [mac_address ?? "", host_id]));
}
