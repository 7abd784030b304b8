// Types of hosts as scans report them: a device's own report takes precedence, and what other devices report about it
// is used only if its own report says nothing.

import { vendorOf } from "../../base/vendors/vendor.ts";
import { isAsStrong, type StoredType } from "../../resources/hosts/device-type.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import type { Device, DeviceTable } from "../device.ts";
import { type ConcludedType, typeByReport, typeFromOutside } from "../device-types/classify.ts";
import type { OpenPort } from "../sightings.ts";

/** The default of a host's type, which a scan may replace. */
export const TYPE_DEFAULTS = { device_type: "Unknown", device_type_source: null } as const;

type ReportedType = ConcludedType | typeof TYPE_DEFAULTS | Record<never, never>;

/** The tables that a device's type follows from. */
const TABLES: readonly DeviceTable[] = ["system", "entity", "lldp"];

/**
 * Type that a device reports; empty to keep the stored one.
 * @param host with its values for what the device did not report; null for a new host
 */
export function reportedType(device: Device, host: HostRecord | null): ReportedType {
  const isOwn = host !== null && isAsStrong(host, "Services");
  if (isOwn && TABLES.some((table) => device.broken?.includes(table))) return {};
  const { model = host?.model, sys_descr = host?.sys_descr, sys_object_id = host?.sys_object_id } = device;
  const { sys_services, capabilities } = device;
  const concluded = typeByReport({ model, sys_descr, sys_object_id, sys_services, capabilities });
  return concluded ?? (isOwn ? TYPE_DEFAULTS : {});
}

/**
 * Device type by responding open ports and the vendor of a MAC address. Empty if equally strong evidence is stored, so
 * that the vendors of several cards do not alternate.
 */
export function typeOfAddress(
  stored: StoredType,
  open: readonly OpenPort[],
  mac: string | null,
): ConcludedType | Record<never, never> {
  const vendor = mac === null || isAsStrong(stored, "Vendor") ? null : vendorOf(mac);
  const tcp = open.flatMap(({ number, protocol }) => (protocol === "Tcp" ? [number] : []));
  const concluded = typeFromOutside(tcp, vendor === null ? [] : [vendor]);
  return concluded === null || isAsStrong(stored, concluded.device_type_source) ? {} : concluded;
}
