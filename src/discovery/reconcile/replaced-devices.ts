// Ends the forwarding entries of a device that another one replaces: its stations are now at the successor. Keeps its
// interfaces for the history, and in case the device returns.

import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { isForwardingSetByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign } from "./signs.ts";

/**
 * Ends the forwarding entries of the device that previously reported itself at an address under the same system name,
 * and nowhere else. Keeps entries that a user entered.
 * @param host the device that reports itself there now
 */
export function endReplacedForwarding(write: ScanWrite, host: HostRecord, polledAddress: string): void {
  const { tx, index } = write;
  const name = nameSign(host.sys_name);
  for (const formerId of index.reportersAt(polledAddress)) {
    const former = formerId === host.id ? null : tx.find(hostKind, formerId);
    if (former === null || name === null || nameSign(former.sys_name) !== name) continue;
    const others = tx.children(ipAddressKind, "host_n", formerId).filter((each) => each.ip_address !== polledAddress);
    if (others.some(({ ip_address }) => index.reportersAt(ip_address).includes(formerId))) continue;
    const learned = Map.groupBy(tx.children(fdbEntryKind, "host_n", formerId), ({ if_entry_id }) => if_entry_id);
    for (const [ifEntryId, entries] of learned) {
      if (isForwardingSetByUser(tx, ifEntryId)) continue;
      for (const { id } of entries) tx.remove(fdbEntryKind, id);
      tx.setComposed(ifEntryKind, ifEntryId, false);
    }
  }
}
