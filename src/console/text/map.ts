// UI strings for the map.

import { groupedDigits } from "./digits.ts";

export const mapText = {
  tables: { devices: "Devices", links: "Links", changes: "Changes" },
  showRows: (count: number) => `Show all ${groupedDigits(count)}`,
  unknownPort: "unknown port",
} as const;
