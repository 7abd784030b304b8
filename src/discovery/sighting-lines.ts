// The input of a scan's command as text: a line of JSON, then a line for each device with its interfaces. Most of them
// are the same as before, and never parsed.

import type { Device } from "./device.ts";
import type { AddressSighting, DeviceSighting } from "./sightings.ts";

/** A sighting as JSON. */
export interface SightingText {
  readonly text: string;
  /** Of a device; empty if it reports none. */
  readonly interfaces: string;
}

export function sightingText(sighting: AddressSighting | DeviceSighting): SightingText {
  if (!("device" in sighting) || sighting.device.interfaces === undefined)
    return { text: JSON.stringify(sighting), interfaces: "" };
  const { interfaces, ...device } = sighting.device;
  return { text: JSON.stringify({ ...sighting, device }), interfaces: JSON.stringify(interfaces) };
}

/** @param members of the input, as JSON, without the sightings */
export function inputText(members: string, sightings?: readonly SightingText[]): string {
  if (sightings === undefined) return `{${members}}`;
  const first = `{${members},"sightings":[${sightings.map(({ text }) => text).join(",")}]}`;
  return [first, ...sightings.map(({ interfaces }) => interfaces)].join("\n");
}

/** The input of which inputText made this text. A device's interfaces are parsed when they are first read. */
export function inputOf<Input>(text: string): Input {
  const [first = "", ...lines] = text.split("\n");
  const input = JSON.parse(first) as Input & { readonly sightings?: ReadonlyArray<{ readonly device?: Device }> };
  for (const [index, line] of lines.entries()) {
    const device = input.sightings?.[index]?.device;
    if (device !== undefined && line !== "") addInterfaces(device, line);
  }
  return input;
}

function addInterfaces(device: Device, line: string): void {
  const property = { configurable: true, enumerable: true };
  Object.defineProperty(device, "interfaces", {
    ...property,
    get: () => {
      const value = JSON.parse(line) as Device["interfaces"];
      Object.defineProperty(device, "interfaces", { ...property, value });
      return value;
    },
  });
}
