// The demo organization's people, tags and schedules. Data only; names are fictional, mail addresses undeliverable (RFC
// 2606).

import type { Role } from "../access/role.ts";
import type { Color } from "../resources/tags/color.ts";
import type { DayTime } from "./calendar.ts";
import { DOMAINS } from "./campus.ts";
import type { Site } from "./equipment.ts";

export const ORGANIZATION = "Larkfield University (made up)";

export const NETWORKS: Readonly<Record<Site, { readonly name: string; readonly description: string }>> = {
  campus: { name: "Main campus", description: "Four buildings, two cores, one provider." },
  harbour: { name: "Harbour site", description: "Acquired in the merger; reuses addresses of the main campus." },
};

/** Fixed ID of the harbour network, independent of its name: both sites have addresses of the same subnet. */
export const HARBOUR_ID = "0193f0a2-4b00-7000-8000-6861726275f2";

/** The demo's user. */
export const DEMO_EMAIL = `demo@${DOMAINS.campus}`;
export const DEMO_NAME = "You";
/** A user limited to the harbour. */
export const VIEWER_EMAIL = `j.lund@${DOMAINS.campus}`;

export interface Person {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Null for both. */
  readonly sites: readonly Site[] | null;
}

export const PEOPLE = {
  ada: { email: `a.okafor@${DOMAINS.campus}`, name: "Ada Okafor", role: "Admin", sites: null },
  priya: { email: `p.natarajan@${DOMAINS.campus}`, name: "Priya Natarajan", role: "Admin", sites: null },
  tom: { email: `t.berger@${DOMAINS.campus}`, name: "Tom Berger", role: "Member", sites: ["campus", "harbour"] },
  jonas: { email: VIEWER_EMAIL, name: "Jonas Lund", role: "Viewer", sites: ["harbour"] },
} as const satisfies Record<string, Person>;

export type PersonName = keyof typeof PEOPLE;

/** API key for facilities' import, acting as Priya. */
export const KEY_NAME = "facilities-import";

export const TAGS = [
  { name: "critical", color: "Red", description: "Call before you touch it." },
  { name: "lease ends this year", color: "Amber", description: "" },
  { name: "investigate", color: "Purple", description: "An unidentified device." },
  { name: "student services", color: "Teal", description: "" },
] as const satisfies ReadonlyArray<{ name: string; color: Color; description: string }>;

export interface ScanSchedule {
  readonly name: string;
  readonly site: Site;
  readonly kind: "full" | "snmp";
  readonly cron: string;
  /** Same schedule as hours and minutes of each day. */
  readonly times: readonly string[];
  /** Days as in cron; all if absent. */
  readonly weekdays?: readonly number[];
  /** Time of creation; the first day if absent. */
  readonly from?: DayTime;
}

/** Scheduled scans, in UTC. */
export const SCAN_SCHEDULES: readonly ScanSchedule[] = [
  { name: "Every night", site: "campus", kind: "full", cron: "12 3 * * *", times: ["03:12"] },
  {
    name: "Mondays and Thursdays",
    site: "harbour",
    kind: "full",
    cron: "41 3 * * 1,4",
    times: ["03:41"],
    weekdays: [1, 4],
  },
  {
    name: "Switches, while a link flaps",
    site: "campus",
    kind: "snmp",
    cron: "0 */3 * * *",
    times: ["00:00", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00"],
    from: "-2d 08:30",
  },
];
