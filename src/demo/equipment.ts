// The demo's switches, routers and cables. Data only; ports are named by ifName.

import type { DayTime, StoryPeriod } from "./calendar.ts";
import type { MODELS } from "./models.ts";

/** The organization's two networks. */
export type Site = "campus" | "harbour";

export interface Switch {
  readonly name: string;
  readonly site: Site;
  readonly model: keyof typeof MODELS;
  readonly address: string;
  /** Last three bytes of its first MAC address. */
  readonly mac: string;
  readonly serial: string;
  readonly location: string;
  /** Number of stack members. */
  readonly members?: number;
  /** Set if it routes: it has the first or second address of each subnet. */
  readonly routes?: 1 | 2;
  /** Period in which it exists. */
  readonly period?: StoryPeriod;
  /** Period in which it and everything behind it do not respond. */
  readonly outage?: StoryPeriod;
  /** Software version reported from then on. */
  readonly upgrade?: { readonly from: DayTime; readonly version: string };
}

type Details = Pick<Switch, "members" | "routes" | "period" | "outage" | "upgrade">;

const switchesOf =
  (site: Site, model: Switch["model"]) =>
  (name: string, address: string, mac: string, serial: string, location: string, details: Details = {}): Switch => ({
    name,
    site,
    model,
    address,
    mac,
    serial,
    location,
    ...details,
  });
const edge = switchesOf("campus", "edge");
const core = switchesOf("campus", "core");
const distribution = switchesOf("campus", "distribution");
const access = switchesOf("campus", "access");
const gateway = switchesOf("harbour", "gateway");
const aruba = switchesOf("harbour", "aruba");

export const SWITCHES: readonly Switch[] = [
  edge("edge-1", "10.20.0.1", "1a:40:00", "JN1269C4AAFB", "Main building, room B01"),
  core("core-1", "10.20.0.11", "20:10:00", "FCW2519L0AB", "Main building, room B01", {
    routes: 1,
    upgrade: { from: "-12d 23:20", version: "17.12.3" },
  }),
  core("core-2", "10.20.0.12", "20:20:00", "FCW2519L0AE", "Science building, room 0.12", {
    routes: 2,
    upgrade: { from: "-12d 23:40", version: "17.12.3" },
  }),
  distribution("dist-library", "10.20.0.21", "31:00:00", "FDO2304V0QJ", "Library, room U2"),
  distribution("dist-science", "10.20.0.22", "32:00:00", "FDO2304V0QT", "Science building, room 0.12"),
  access("acc-library-1", "10.20.0.31", "41:00:00", "FOC2418U1KM", "Library, ground floor", { members: 3 }),
  access("acc-library-2", "10.20.0.32", "42:00:00", "FOC2418U1LP", "Library, second floor", {
    members: 2,
    period: { until: "-9d 09:20" },
  }),
  access("acc-library-2", "10.20.0.32", "4a:00:00", "FJC2734S0ZD", "Library, second floor", {
    members: 2,
    period: { from: "-9d 10:05" },
  }),
  access("acc-science-1", "10.20.0.33", "43:00:00", "FOC2421L2QA", "Science building, first floor", {
    members: 3,
  }),
  access("acc-science-2", "10.20.0.34", "44:00:00", "FOC2421L2QF", "Science building, third floor", {
    members: 3,
    outage: { from: "-6d 14:02", until: "-6d 16:07" },
  }),
  access("acc-admin-1", "10.20.0.35", "45:00:00", "FOC2433X05T", "Administration, first floor", {
    members: 2,
  }),
  access("acc-dorm-1", "10.20.0.36", "46:00:00", "FOC2433X06C", "Residence hall, basement", { members: 4 }),
  access("acc-servers-1", "10.20.0.41", "47:00:00", "FOC2440B2NN", "Main building, room B02, rack 3"),
  access("acc-servers-2", "10.20.0.42", "48:00:00", "FOC2440B2NR", "Main building, room B02, rack 5"),
  gateway("harbour-gw", "10.30.0.1", "70:10:00", "HF8091ZYQXD", "Harbour site, cabinet 1", { routes: 1 }),
  aruba("harbour-core", "10.30.0.11", "71:00:00", "SG31KN501C", "Harbour site, cabinet 1"),
  aruba("harbour-quay-1", "10.30.0.12", "72:00:00", "SG31KN50FH", "Harbour site, quay workshop"),
  aruba("harbour-lab-1", "10.30.0.13", "73:00:00", "SG31KN50J2", "Harbour site, wave tank", { members: 2 }),
];

export interface Cable {
  readonly ends: readonly [switchName: string, port: string, otherName: string, otherPort: string];
  /** Blocked by spanning tree: both ends announce themselves, and no station is learned there. */
  readonly isBlocked?: true;
}

export const CABLES: readonly Cable[] = [
  { ends: ["edge-1", "xe-0/1/0", "core-1", "Twe1/0/1"] },
  { ends: ["edge-1", "xe-0/1/1", "core-2", "Twe1/0/1"], isBlocked: true },
  { ends: ["core-1", "Hu1/0/25", "core-2", "Hu1/0/25"] },
  { ends: ["core-1", "Hu1/0/26", "core-2", "Hu1/0/26"], isBlocked: true },
  { ends: ["core-1", "Twe1/0/3", "dist-library", "Te1/0/1"] },
  { ends: ["core-2", "Twe1/0/3", "dist-library", "Te1/0/2"], isBlocked: true },
  { ends: ["core-1", "Twe1/0/4", "dist-science", "Te1/0/1"] },
  { ends: ["core-2", "Twe1/0/4", "dist-science", "Te1/0/2"], isBlocked: true },
  { ends: ["core-1", "Twe1/0/5", "acc-servers-1", "Te1/1/1"] },
  { ends: ["core-2", "Twe1/0/5", "acc-servers-1", "Te1/1/2"], isBlocked: true },
  { ends: ["core-1", "Twe1/0/6", "acc-servers-2", "Te1/1/1"] },
  { ends: ["core-2", "Twe1/0/6", "acc-servers-2", "Te1/1/2"], isBlocked: true },
  { ends: ["dist-library", "Te1/0/3", "acc-library-1", "Te1/1/1"] },
  { ends: ["dist-library", "Te1/0/4", "acc-library-2", "Te1/1/1"] },
  { ends: ["dist-library", "Te1/0/5", "acc-dorm-1", "Te1/1/1"] },
  { ends: ["dist-science", "Te1/0/3", "acc-science-1", "Te1/1/1"] },
  { ends: ["dist-science", "Te1/0/4", "acc-science-2", "Te1/1/1"] },
  { ends: ["dist-science", "Te1/0/5", "acc-admin-1", "Te1/1/1"] },
  { ends: ["harbour-gw", "sfp-sfpplus1", "harbour-core", "1/1/49"] },
  { ends: ["harbour-core", "1/1/50", "harbour-quay-1", "1/1/49"] },
  { ends: ["harbour-core", "1/1/51", "harbour-lab-1", "1/1/49"] },
];

/** Ports with exceptional behavior. */
export interface PortStory {
  readonly at: readonly [switchName: string, port: string];
  readonly period: StoryPeriod;
  /** flaps: alternates between up and down at each poll. shut: disabled by an operator. */
  readonly state: "flaps" | "shut";
}

export const PORT_STORIES: readonly PortStory[] = [
  { at: ["acc-admin-1", "Gi1/0/31"], period: { from: "-2d 07:50" }, state: "flaps" },
  { at: ["acc-library-1", "Gi1/0/17"], period: { from: "-3d 03:50", until: "-3d 09:30" }, state: "shut" },
];
