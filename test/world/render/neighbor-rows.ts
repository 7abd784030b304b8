// Rows about other machines: forwarding table, ARP table, LLDP and CDP neighbors.

import { type Device, IF_TYPE, receivesLldp } from "../site/machines.ts";
import type { Site } from "../site/site.ts";
import { CAPABILITIES, CAPABILITY } from "./capabilities.ts";
import { ipOctets, macIndex, octets, type Rows, RowWriter, text } from "./rows.ts";

/** dot1qTpFdbTable: the id of a filtering database is its VLAN number. */
export function forwardingRows(site: Site, device: Device): Rows {
  const rows = new RowWriter("1.3.6.1.2.1.17.7.1.2.2.1");
  for (const [mac, { vlan, port }] of site.learnedBy(device)) {
    const ifIndex = device.interfaces.get(port)?.ifIndex;
    if (ifIndex !== undefined) rows.add(`${vlan}.${macIndex(mac)}`, { 2: ifIndex, 3: 3 });
  }
  return rows;
}

/** ipNetToMediaTable of a router. */
export function arpRows(site: Site, device: Device): Rows {
  const rows = new RowWriter("1.3.6.1.2.1.4.22.1");
  if (device.role !== "Core") return rows;
  const byNet = new Map<string, number>();
  for (const { ifIndex, addresses } of device.interfaces.values())
    for (const { ip } of addresses) byNet.set(ip.slice(0, ip.lastIndexOf(".") + 1), ifIndex);
  for (const [ip, mac] of site.arpTableOf(device)) {
    const ifIndex = byNet.get(ip.slice(0, ip.lastIndexOf(".") + 1));
    if (ifIndex !== undefined) rows.add(`${ifIndex}.${ip}`, { 2: octets(mac), 4: 3 });
  }
  return rows;
}

/** lldpRemTable and lldpRemManAddrTable. */
export function neighborRows(site: Site, device: Device): Rows {
  const remote = new RowWriter("1.0.8802.1.1.2.1.4.1.1");
  const addresses = new RowWriter("1.0.8802.1.1.2.1.4.2.1");
  if (!receivesLldp(device)) return remote;
  for (const { ifIndex, farEnd, type } of device.interfaces.values()) {
    const neighbor = farEnd === null ? undefined : site.devices.get(farEnd.device);
    if (farEnd === null || neighbor === undefined || type !== IF_TYPE.ethernet || neighbor.isLldpDisabled) continue;
    const capabilities = Uint8Array.of(CAPABILITIES[neighbor.role]);
    remote.add(`0.${ifIndex}.1`, {
      4: 4,
      5: octets(neighbor.interfaces.get(farEnd.name)?.announcedId ?? neighbor.chassisMac),
      6: 5,
      7: text(farEnd.name),
      8: text(farEnd.name),
      9: text(neighbor.name),
      10: text(neighbor.descr),
      11: capabilities,
      12: capabilities,
    });
    addresses.add(`0.${ifIndex}.1.1.4.${neighbor.address}`, { 3: 2 });
  }
  for (const { at, mac, ip, isOn } of site.stationsOf("Phone")) {
    const ifIndex = at.device === device.id && isOn ? device.interfaces.get(at.port)?.ifIndex : undefined;
    if (ifIndex === undefined) continue;
    const capabilities = Uint8Array.of(CAPABILITY.bridge | CAPABILITY.telephone);
    remote.add(`0.${ifIndex}.2`, {
      4: 5,
      5: Uint8Array.of(1, ...ipOctets(ip)),
      6: 3,
      7: octets(mac),
      8: text("Port 1"),
      9: text(`SEP${mac.replaceAll(":", "")}`),
      10: text("IP phone"),
      11: capabilities,
      12: capabilities,
    });
  }
  return { scalars: new Map(), columns: new Map([...remote.columns, ...addresses.columns]) };
}

/** cdpCacheTable of core and distribution switches. */
export function cdpRows(site: Site, device: Device): Rows {
  const rows = new RowWriter("1.3.6.1.4.1.9.9.23.1.2.1.1");
  if (device.role !== "Core" && device.role !== "Distribution") return rows;
  rows.scalar("1.3.6.1.4.1.9.9.23.1.3.1.0", 1);
  for (const { ifIndex, farEnd } of device.interfaces.values()) {
    const neighbor = farEnd === null ? undefined : site.devices.get(farEnd.device);
    if (farEnd === null || neighbor === undefined || !["Core", "Distribution"].includes(neighbor.role)) continue;
    rows.add(`${ifIndex}.1`, {
      3: 1,
      4: ipOctets(neighbor.address),
      6: text(neighbor.name),
      7: text(farEnd.name),
      8: text(neighbor.model),
    });
  }
  return rows;
}
