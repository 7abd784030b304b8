// MAC addresses shared by many hosts, as with proxy ARP (RFC 1027): they do not identify a host.

import type { WriteTransaction } from "../../db/writing/transaction.ts";

/**
 * A MAC address with more addresses in a neighbor table, or on addresses of more hosts in a network, does not identify
 * its owner.
 */
export const ADDRESSES_PER_MAC_MAX = 32;

/** Whether more hosts of a network than the limit have the MAC address, as stored. @param mac canonical */
export function isSharedMac(tx: WriteTransaction, networkN: number, mac: string): boolean {
  const [row] = tx.db.$client.query(HOSTS_WITH_MAC).values(networkN, mac) as Array<[number]>;
  return row !== undefined && row[0] > ADDRESSES_PER_MAC_MAX;
}

/** Uses the index on MAC addresses; stops counting above the limit. */
const HOSTS_WITH_MAC = `SELECT count(*) FROM (
  SELECT DISTINCT host_n FROM ip_addresses
    WHERE mac_address = +?2 AND network_n = +?1 LIMIT ${ADDRESSES_PER_MAC_MAX + 1}
)`;
