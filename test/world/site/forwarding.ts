// Forwarding tables of all switches: each learns a MAC address on the port toward the machine that has it.

import type { Device, Learned, SiteState } from "./machines.ts";

/** By device id, the learned MAC addresses. The site is a tree whose root is the first core switch. */
export function forwardingOf(site: SiteState): ReadonlyMap<string, ReadonlyMap<string, Learned>> {
  const tables = new Map<string, Map<string, Learned>>();
  const switches = site.present("Core", "Distribution", "Access");
  for (const { id } of switches) tables.set(id, new Map());
  const root = switches.find(({ uplink }) => uplink === null);
  const learn = (mac: string, vlan: number, at: { device: string; port: string }) => {
    let [device, port] = [site.devices.get(at.device), at.port];
    const path = new Set<string>();
    while (device !== undefined && !device.isRetired && !path.has(device.id)) {
      path.add(device.id);
      const entry = device.interfaces.get(port);
      tables.get(device.id)?.set(mac, { vlan, port: entry?.lag ?? port });
      const farEnd = uplinkEnd(device);
      [device, port] = [farEnd === null ? undefined : site.devices.get(farEnd.device), farEnd?.name ?? ""];
    }
    // Routers next to the path see it as well.
    for (const other of switches)
      if (other.role === "Core" && !path.has(other.id) && other.uplink !== null)
        tables.get(other.id)?.set(mac, { vlan, port: other.uplink });
    return path;
  };
  for (const { mac, vlan, at, isOn } of site.stations.values()) if (isOn) learn(mac, vlan, attachmentOf(site, at));
  for (const device of site.present()) {
    const own = [...device.interfaces.values()].find(({ addresses }) =>
      addresses.some(({ ip }) => ip === device.address),
    );
    const farEnd = uplinkEnd(device);
    if (own?.mac == null || own.vlan === null || farEnd === null) continue;
    learn(own.mac, own.vlan, { device: farEnd.device, port: farEnd.name });
  }
  // Every access switch talks to the gateway of its management VLAN.
  const gateway = [...(root?.interfaces.values() ?? [])].find(({ addresses }) =>
    addresses.some(({ ip }) => ip === root?.address),
  );
  for (const { id, uplink, role } of switches)
    if (gateway?.mac != null && uplink !== null && role !== "Core")
      tables.get(id)?.set(gateway.mac, { vlan: gateway.vlan ?? 1, port: uplink });
  return tables;
}

/** The switch port of a station: a VM is at the port of its hypervisor, a guest at that of its access point. */
export function attachmentOf(site: SiteState, at: { device: string; port: string }): { device: string; port: string } {
  const device = site.devices.get(at.device);
  if (device === undefined || device.role === "Access") return at;
  const farEnd = uplinkEnd(device);
  return farEnd === null ? at : { device: farEnd.device, port: farEnd.name };
}

/** Far end of a device's uplink: that of its first member if it is an aggregate. */
export function uplinkEnd(device: Device): { readonly device: string; readonly name: string } | null {
  const { uplink, interfaces } = device;
  if (uplink === null) return null;
  const entry = interfaces.get(uplink);
  if (entry?.farEnd != null) return entry.farEnd;
  return [...interfaces.values()].find(({ lag, farEnd }) => lag === uplink && farEnd !== null)?.farEnd ?? null;
}
