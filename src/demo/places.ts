// The demo's VLANs and subnets. Data only. Private and documentation addresses (RFC 1918, RFC 3849, RFC 5737).

import type { RangePurpose } from "../resources/ip-ranges/range-purpose.ts";
import type { SubnetType } from "../resources/subnets/subnet-type.ts";
import type { StoryPeriod } from "./calendar.ts";
import type { Site } from "./equipment.ts";

export interface PlannedVlan {
  readonly site: Site;
  readonly number: number;
  readonly name: string;
}

export const VLANS: readonly PlannedVlan[] = [
  { site: "campus", number: 10, name: "Management" },
  { site: "campus", number: 20, name: "Staff" },
  { site: "campus", number: 30, name: "Students" },
  { site: "campus", number: 40, name: "Voice" },
  { site: "campus", number: 50, name: "Printers" },
  { site: "campus", number: 60, name: "Cameras and sensors" },
  { site: "campus", number: 70, name: "Guests" },
  { site: "campus", number: 100, name: "Servers" },
  { site: "harbour", number: 10, name: "Management" },
  { site: "harbour", number: 20, name: "Workshop" },
  { site: "harbour", number: 30, name: "Wave tank" },
];

export interface PlannedSubnet {
  readonly site: Site;
  readonly cidr: string;
  readonly name: string;
  readonly type: SubnetType;
  readonly vlan?: number;
  /** Prefix of the router addresses, completed by `.1` and `.2`; null if no demo router has one. */
  readonly prefix: string | null;
  /** Period in which routers have it and a user keeps it in the inventory. */
  readonly period?: StoryPeriod;
  readonly ranges?: ReadonlyArray<readonly [first: string, last: string, purpose: RangePurpose, description: string]>;
}

const subnetAt =
  (site: Site) =>
  (
    cidr: string,
    name: string,
    type: SubnetType,
    prefix: string | null,
    details: Pick<PlannedSubnet, "vlan" | "period" | "ranges"> = {},
  ): PlannedSubnet => ({ site, cidr, name, type, prefix, ...details });
const campus = subnetAt("campus");
const harbour = subnetAt("harbour");

export const SUBNETS: readonly PlannedSubnet[] = [
  campus("10.20.0.0/24", "Management", "Management", null, {
    vlan: 10,
    ranges: [["10.20.0.200", "10.20.0.219", "Reserved", "Out-of-band consoles, ordered for spring"]],
  }),
  campus("10.20.20.0/24", "Staff", "Lan", "10.20.20", {
    vlan: 20,
    ranges: [
      ["10.20.20.1", "10.20.20.9", "Gateway", "Routers"],
      ["10.20.20.40", "10.20.20.49", "Static", "Door terminals and time clocks"],
      ["10.20.20.100", "10.20.20.219", "Dhcp", "dhcp-1, scope staff"],
    ],
  }),
  campus("10.20.30.0/24", "Students", "WiFi", "10.20.30", {
    vlan: 30,
    ranges: [["10.20.30.20", "10.20.30.250", "Dhcp", "dhcp-1, scope students"]],
  }),
  campus("10.20.40.0/24", "Voice (old)", "Lan", "10.20.40", { vlan: 40, period: { until: "-16d 22:00" } }),
  campus("10.20.44.0/23", "Voice", "Lan", "10.20.44", {
    vlan: 40,
    period: { from: "-16d 22:00" },
    ranges: [["10.20.44.20", "10.20.45.250", "Dhcp", "dhcp-1, scope voice"]],
  }),
  campus("10.20.50.0/26", "Printers", "Lan", "10.20.50", { vlan: 50 }),
  campus("10.20.60.0/24", "Cameras and sensors", "IoT", "10.20.60", { vlan: 60 }),
  campus("10.20.70.0/24", "Guests", "Guest", "10.20.70", {
    vlan: 70,
    ranges: [["10.20.70.10", "10.20.70.254", "Dhcp", "Handed out by the wireless controller"]],
  }),
  campus("10.20.100.0/25", "Server room", "Lan", null),
  campus("10.20.100.0/27", "Servers", "Lan", "10.20.100", {
    vlan: 100,
    ranges: [["10.20.100.28", "10.20.100.30", "Reserved", "The new directory servers"]],
  }),
  campus("2001:db8:20:100::/64", "Servers, IPv6", "Lan", null, { vlan: 100 }),
  campus("192.0.2.0/28", "Transit to the provider", "Internet", null),
  harbour("10.30.0.0/24", "Management", "Management", null, { vlan: 10 }),
  harbour("10.30.20.0/24", "Workshop", "Lan", "10.30.20", { vlan: 20 }),
  harbour("10.20.30.0/25", "Wave tank, numbered before the merger", "IoT", "10.20.30", { vlan: 30 }),
];
