// Writer command for the VLANs of a network after its devices were read: ends VLANs that no device reports and nothing
// uses, and names the others.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { recordLabel } from "../../resources/record-label.ts";
import { referrersOf } from "../../resources/references.ts";
import { type VlanRecord, vlanKind } from "../../resources/vlans/vlan.ts";
import type { Recorded } from "../sightings.ts";
import { wasWrittenByUser } from "./provenance.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";
import { nameVlans } from "./vlan-names.ts";

/**
 * Ends discovered VLANs that no device has in its VLAN tables and no interface or subnet refers to, and names the
 * others. Ends none while a responding device has not been read since its VLANs have been stored. Call after a scan's
 * devices.
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function endUnusedVlans(tx: WriteTransaction, input: ScanInput, actor: CommandActor): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const reported = reportedNumbers(write);
  const isGone = (vlan: VlanRecord) =>
    reported !== null &&
    vlan.source.type !== "Manual" &&
    !reported.has(vlan.number) &&
    referrersOf(tx, vlanKind, vlan.id).length === 0;
  const vlans = tx.children(vlanKind, "network_n", input.network_id);
  nameVlans(write, vlans);
  for (const vlan of vlans) {
    if (!isGone(vlan) || wasWrittenByUser(tx, vlan.id)) continue;
    if (!write.mayEnd()) break;
    write.close(vlanKind, vlan, recordLabel(vlanKind, vlan), "no device reports it, and nothing uses it");
  }
  return write.result();
}

/** Numbers in the VLAN tables of the network's devices; null if those of a device that still responds are unknown. */
function reportedNumbers({ tx, networkId }: ScanWrite): Set<number> | null {
  const client = tx.db.$client;
  const networkN = tx.recordN(networkId) ?? 0;
  if (client.query(UNREAD).get(networkN) !== null) return null;
  return new Set((client.query(REPORTED).values(networkN) as Array<[number]>).map(([number]) => number));
}

const UNREAD = `SELECT 1 FROM discovery_tellings t JOIN hosts h ON h.n = t.host_n
  LEFT JOIN discovery_reads r ON r.host_n = t.host_n
  WHERE t.network_n = ?1 AND r.vlans IS NULL
    AND json_extract('{' || h.members || '}', '$.stale_since') IS NULL LIMIT 1`;
const REPORTED = `SELECT DISTINCT j.value FROM hosts h JOIN discovery_reads r ON r.host_n = h.n, json_each(r.vlans) j
  WHERE h.network_n = ?1 AND r.vlans IS NOT NULL`;
