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

export const SUBNETS: readonly PlannedSubnet[] = [
  {
    site: "campus",
    cidr: "10.20.0.0/24",
    name: "Management",
    type: "Management",
    vlan: 10,
    prefix: null,
    ranges: [["10.20.0.200", "10.20.0.219", "Reserved", "Out-of-band consoles, ordered for spring"]],
  },
  {
    site: "campus",
    cidr: "10.20.20.0/24",
    name: "Staff",
    type: "Lan",
    vlan: 20,
    prefix: "10.20.20",
    ranges: [
      ["10.20.20.1", "10.20.20.9", "Gateway", "Routers"],
      ["10.20.20.40", "10.20.20.49", "Static", "Door terminals and time clocks"],
      ["10.20.20.100", "10.20.20.219", "Dhcp", "dhcp-1, scope staff"],
    ],
  },
  {
    site: "campus",
    cidr: "10.20.30.0/24",
    name: "Students",
    type: "WiFi",
    vlan: 30,
    prefix: "10.20.30",
    ranges: [["10.20.30.20", "10.20.30.250", "Dhcp", "dhcp-1, scope students"]],
  },
  {
    site: "campus",
    cidr: "10.20.40.0/24",
    name: "Voice (old)",
    type: "Lan",
    vlan: 40,
    prefix: "10.20.40",
    period: { until: "-16d 22:00" },
  },
  {
    site: "campus",
    cidr: "10.20.44.0/23",
    name: "Voice",
    type: "Lan",
    vlan: 40,
    prefix: "10.20.44",
    period: { from: "-16d 22:00" },
    ranges: [["10.20.44.20", "10.20.45.250", "Dhcp", "dhcp-1, scope voice"]],
  },
  { site: "campus", cidr: "10.20.50.0/26", name: "Printers", type: "Lan", vlan: 50, prefix: "10.20.50" },
  { site: "campus", cidr: "10.20.60.0/24", name: "Cameras and sensors", type: "IoT", vlan: 60, prefix: "10.20.60" },
  {
    site: "campus",
    cidr: "10.20.70.0/24",
    name: "Guests",
    type: "Guest",
    vlan: 70,
    prefix: "10.20.70",
    ranges: [["10.20.70.10", "10.20.70.254", "Dhcp", "Handed out by the wireless controller"]],
  },
  { site: "campus", cidr: "10.20.100.0/25", name: "Server room", type: "Lan", prefix: null },
  {
    site: "campus",
    cidr: "10.20.100.0/27",
    name: "Servers",
    type: "Lan",
    vlan: 100,
    prefix: "10.20.100",
    ranges: [["10.20.100.28", "10.20.100.30", "Reserved", "The new directory servers"]],
  },
  {
    site: "campus",
    cidr: "2001:db8:20:100::/64",
    name: "Servers, IPv6",
    type: "Lan",
    vlan: 100,
    prefix: null,
  },
  { site: "campus", cidr: "192.0.2.0/28", name: "Transit to the provider", type: "Internet", prefix: null },
  { site: "harbour", cidr: "10.30.0.0/24", name: "Management", type: "Management", vlan: 10, prefix: null },
  { site: "harbour", cidr: "10.30.20.0/24", name: "Workshop", type: "Lan", vlan: 20, prefix: "10.30.20" },
  {
    site: "harbour",
    cidr: "10.20.30.0/25",
    name: "Wave tank, numbered before the merger",
    type: "IoT",
    vlan: 30,
    prefix: "10.20.30",
  },
];
