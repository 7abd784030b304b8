// VLANs of a network: looked up by number, created if new, named after a device.

import { DISCOVERED } from "../../resources/source.ts";
import { VLAN_NUMBER_MAX, VLAN_NUMBER_MIN, type VlanRecord, vlanKind } from "../../resources/vlans/vlan.ts";
import type { DeviceVlan } from "../device.ts";
import { lineOf } from "./device-text.ts";
import type { ScanWrite } from "./scan-write.ts";
import { namesOfHost, nameVlans, rememberNames } from "./vlan-names.ts";

export class NetworkVlans {
  private readonly write: ScanWrite;
  private readonly ids = new Map<number, string | null>();

  constructor(write: ScanWrite) {
    this.write = write;
  }

  /** Creates the VLAN if missing; null if a user deleted it or the number is invalid. */
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
   * Names VLANs after a device that renamed them, and those without a name. The others are named after all devices have
   * been read, by majority.
   * @param isComplete true if missing VLANs and names are gone
   */
  name(hostId: string, vlans: readonly DeviceVlan[], isComplete: boolean): void {
    const { write } = this;
    const before = namesOfHost(write, hostId);
    const now: Record<string, string> = isComplete ? {} : { ...before };
    const renamed: VlanRecord[] = [];
    for (const { number, name } of vlans) {
      const id = this.idOf(number, name);
      const text = lineOf(name ?? "");
      if (text === "") continue;
      now[number] = text;
      const previous = before[number];
      if (id === null || previous === text) continue;
      const vlan = write.tx.get(vlanKind, id);
      if (previous !== undefined || (vlan.name === `VLAN ${number}` && vlan.name !== text)) renamed.push(vlan);
    }
    if (Bun.deepEquals(before, now)) return;
    rememberNames(write, hostId, now);
    nameVlans(write, renamed);
  }
}
