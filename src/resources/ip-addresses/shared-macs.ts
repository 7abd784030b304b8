// MAC addresses that stand for many hosts: whoever has one answers on behalf of others (proxy ARP, RFC 1027), so it
// tells none of them from another.

import type { WriteTransaction } from "../../db/writing/transaction.ts";

/**
 * A MAC address that more addresses have in a neighbor table, or the addresses of more hosts in a network, is no sign
 * of who has them.
 */
export const ADDRESSES_PER_MAC_MAX = 32;

/** Whether addresses of so many hosts in a network have the MAC address, as the store has them. @param mac canonical */
export function isSharedMac(tx: WriteTransaction, networkN: number, mac: string): boolean {
  const [row] = tx.db.$client.query(HOSTS_WITH_MAC).values(networkN, mac) as Array<[number]>;
  return row !== undefined && row[0] > ADDRESSES_PER_MAC_MAX;
}

/** By the index of MAC addresses; no more than tell that there are too many. */
const HOSTS_WITH_MAC = `SELECT count(*) FROM (
  SELECT DISTINCT host_n FROM ip_addresses
    WHERE mac_address = +?2 AND network_n = +?1 LIMIT ${ADDRESSES_PER_MAC_MAX + 1}
)`;
