// Texts of the start page without a query.

import { counted } from "./digits.ts";

export const startText = {
  pinned: "Pinned",
  recent: "Recent",
  attention: "Needs attention",
  appliance: "The appliance",
  nothingWrong: "Nothing.",
  today: "The last 24 hours",
  dayBefore: "The 24 hours before",
  nothingChanged: "Nothing changed.",
  empty: "The inventory is empty.",
  emptyThen: "Nothing was in the inventory yet.",
  adminStarts: "An Admin starts the first scan.",
  oneHost: "Only one host is known so far.",
  fresh: "New",
  vanished: "Gone",
  latest: "Latest changes",
  allChanges: "All changes",
  week: "What's new, gone, or unstable this week",
  weekBefore: "What was new, gone, or unstable in the week before",
  since: "since",
  changed: (times: number) => `${counted(times, "change", "changes")}, the last`,
  ports: (ports: number) => `at ${counted(ports, "port", "ports")}:`,
  troubles: {
    FailedScan: (n: number) => `${counted(n, "scan", "scans")} failed`,
    FailedSchedule: (n: number) => `${counted(n, "schedule has", "schedules have")} a scan that failed`,
    Conflict: (n: number) => counted(n, "unresolved conflict", "unresolved conflicts"),
    Withheld: (n: number) => `${counted(n, "item needs", "items need")} an admin's approval`,
    Unreached: (n: number) => `${counted(n, "target", "targets")} did not answer SNMP in the last scan`,
    Flapping: (n: number) => counted(n, "flapping port", "flapping ports"),
    Wandering: (n: number) => `${counted(n, "MAC address keeps", "MAC addresses keep")} moving`,
    FullSubnet: (n: number) =>
      `${counted(n, "subnet is", "subnets are")} nearly full of hosts, DHCP ranges not counted`,
    Stale: (n: number) => `${counted(n, "host is", "hosts are")} stale`,
  },
} as const;
