// UI strings for the discovery pages: scans, findings, schedules and ignored addresses.

import { groupedDigits } from "./digits.ts";

export const discoveryText = {
  kinds: { sweep: "Sweep", snmp: "SNMP", full: "Full scan" } as Readonly<Record<string, string>>,
  kindDescriptions: {
    sweep: "finds responding addresses",
    snmp: "reads devices by SNMP",
    full: "finds responding addresses and reads devices by SNMP",
  } as Readonly<Record<string, string>>,
  permitted: "specified by an Admin: the network's credentials may be sent to all of them",
  took: (length: string) => `took ${length}`,
  counts: ({ created, updated, deleted }: { created: number; updated: number; deleted: number }) =>
    [
      created > 0 ? `${groupedDigits(created)} added` : "",
      updated > 0 ? `${groupedDigits(updated)} changed` : "",
      deleted > 0 ? `${groupedDigits(deleted)} removed` : "",
    ]
      .filter((part) => part !== "")
      .join(", "),
  left: (length: string) => `about ${length} left`,
  waiting: "Queued: scans of one network run one at a time.",
} as const;
