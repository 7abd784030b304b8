// VLANs of a network: looked up by number, created if new, named after a device.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { DISCOVERED } from "../../resources/source.ts";
import { VLAN_NUMBER_MAX, VLAN_NUMBER_MIN, vlanKind } from "../../resources/vlans/vlan.ts";
import type { DeviceVlan } from "../device.ts";
import { lineOf } from "./line.ts";
import { isSetByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";

const vlanNames = sqliteTable("discovery_vlan_names", {
  host_n: integer().primaryKey(),
  names: text().notNull(),
  checksum: integer().notNull(),
});
const nameRows = new KeyedRows(vlanNames, ["host_n"]);

export class NetworkVlans {
  private readonly write: ScanWrite;
  private readonly ids = new Map<number, string | null>();

  constructor(write: ScanWrite) {
    this.write = write;
  }

  /** Creates the VLAN if missing; null if a person deleted it or the number is invalid. */
  idOf(number: number, name: string | null = null): string | null {
    if (number < VLAN_NUMBER_MIN || number > VLAN_NUMBER_MAX) return null;
    const known = this.ids.get(number);
    if (known !== undefined) return known;
    const { tx, networkId } = this.write;
    const present = tx.findByIdentity(vlanKind, `${networkId}/${number}`);
    const id =
      present?.id ??
      this.write.create(vlanKind, {
        network_id: networkId,
        number,
        name: lineOf(name ?? "") || `VLAN ${number}`,
        description: null,
        source: DISCOVERED,
      })?.id ??
      null;
    this.ids.set(number, id);
    return id;
  }

  /**
   * Names the VLANs after a device. Devices use different names for a VLAN: the network's name changes only if the
   * device it came from changes it.
   * @param isComplete true if missing VLANs and names are gone
   */
  name(hostId: string, vlans: readonly DeviceVlan[], isComplete: boolean): void {
    const { tx } = this.write;
    const hostN = tx.recordN(hostId);
    const row = hostN === null || hostN === 0 ? undefined : nameRows.find(tx.db, hostN);
    const before = row === undefined ? {} : (JSON.parse(row.names) as Record<string, string>);
    const now: Record<string, string> = isComplete ? {} : { ...before };
    for (const { number, name } of vlans) {
      const id = this.idOf(number, name);
      const text = lineOf(name ?? "");
      if (text === "") continue;
      now[number] = text;
      const previous = before[number];
      if (id === null || previous === text) continue;
      const vlan = tx.get(vlanKind, id);
      const isFromDevice = vlan.name === previous || vlan.name === `VLAN ${number}`;
      if (isFromDevice && vlan.name !== text && !isSetByUser(tx, id, "name")) tx.update(vlanKind, id, { name: text });
    }
    if (Bun.deepEquals(before, now)) return;
    tx.runAfterWrite(() => {
      nameRows.upsert(
        tx.db,
        withChecksum(vlanNames, { host_n: tx.recordN(hostId) as number, names: JSON.stringify(now) }),
      );
    });
  }
}
