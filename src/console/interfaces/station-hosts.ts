// Hosts of MAC addresses, resolved through their IP addresses.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { atQuery } from "../time/at.ts";

/** MAC addresses per request; further ones are ignored. */
const ASKED_MAX = 50;

/** Most rows of an answer: ten addresses for each MAC address. */
const ADDRESSES_MAX = 500;

/**
 * Host ids by the MAC addresses of their IP addresses, at the shown instant.
 * @param networkId network of the hosts
 */
export function useStationHosts(macs: readonly string[], networkId: string): ReadonlyMap<string, string> {
  const filter = macs
    .slice(0, ASKED_MAX)
    .map((mac) => `mac_address = "${mac}"`)
    .join(" OR ");
  const query = { ...atQuery(), network_id: networkId, filter, limit: ADDRESSES_MAX };
  const { data } = useAnswer(filter === "" ? null : read("/api/v1/ip-addresses", { query }));
  return new Map((data ?? []).map(({ mac_address, host_id }) => [mac_address ?? "", host_id]));
}
