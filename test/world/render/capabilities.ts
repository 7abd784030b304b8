// LLDP capabilities of devices.

import type { Device } from "../site/machines.ts";

/** LldpSystemCapabilitiesMap: bridge, router, WLAN access point, telephone, station only. */
export const CAPABILITY = { bridge: 0x20, accessPoint: 0x10, router: 0x08, telephone: 0x04, station: 0x01 } as const;

/** Announced by each kind of device. */
export const CAPABILITIES: Readonly<Record<Device["role"], number>> = {
  Core: CAPABILITY.bridge | CAPABILITY.router,
  Distribution: CAPABILITY.bridge,
  Access: CAPABILITY.bridge,
  Firewall: CAPABILITY.router,
  Server: CAPABILITY.station,
  Hypervisor: CAPABILITY.bridge | CAPABILITY.station,
  ContainerHost: CAPABILITY.bridge | CAPABILITY.router,
  Controller: CAPABILITY.bridge,
  AccessPoint: CAPABILITY.bridge | CAPABILITY.accessPoint,
  Printer: CAPABILITY.station,
};
