// Device types, the evidence for them, and their role at the far end of a link.

import { wordList } from "../../base/word-list.ts";

export const DEVICE_TYPES = [
  ...wordList("Router Switch Layer3Switch AccessPoint WirelessController Firewall Phone Printer Camera Server Ups Pdu"),
  ...wordList("Storage Host Unknown"),
] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** From the strongest evidence to the weakest; User for a type that a user set. */
export const DEVICE_TYPE_SOURCES = wordList(
  "User Description ObjectId Capabilities Services Neighbors OpenPorts Vendor",
);
export type DeviceTypeSource = (typeof DEVICE_TYPE_SOURCES)[number];

/** Types that forward other devices' traffic: whatever is behind them is connected elsewhere. */
const NETWORK_TYPES: ReadonlySet<DeviceType> = new Set([
  "Router",
  "Switch",
  "Layer3Switch",
  "WirelessController",
  "Firewall",
] as const);

/** True for a device with a network behind it; an access point or a phone only extends the port it is connected to. */
export function isNetworkType(type: DeviceType): boolean {
  return NETWORK_TYPES.has(type);
}

/** Fields of a host that determine its type. */
export interface StoredType {
  readonly device_type_source?: DeviceTypeSource | null | undefined;
  readonly discovered?: Readonly<Record<string, unknown>> | undefined;
}

/** True if the type of a host, or the one hidden by a manual type, is based on evidence that is at least as strong. */
export function isAsStrong({ device_type_source, discovered }: StoredType, as: DeviceTypeSource): boolean {
  const source = (discovered?.device_type_source ?? device_type_source ?? "User") as DeviceTypeSource;
  return source !== "User" && DEVICE_TYPE_SOURCES.indexOf(source) <= DEVICE_TYPE_SOURCES.indexOf(as);
}
