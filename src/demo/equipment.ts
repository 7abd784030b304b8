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
  /** Period in which it and everything behind it do not answer. */
  readonly outage?: StoryPeriod;
  /** Software version reported from then on. */
  readonly upgrade?: { readonly from: DayTime; readonly version: string };
}

export const SWITCHES: readonly Switch[] = [
  {
    name: "edge-1",
    site: "campus",
    model: "edge",
    address: "10.20.0.1",
    mac: "1a:40:00",
    serial: "JN1269C4AAFB",
    location: "Main building, room B01",
  },
  {
    name: "core-1",
    site: "campus",
    model: "core",
    address: "10.20.0.11",
    mac: "20:10:00",
    serial: "FCW2519L0AB",
    location: "Main building, room B01",
    routes: 1,
    upgrade: { from: "-12d 23:20", version: "17.12.3" },
  },
  {
    name: "core-2",
    site: "campus",
    model: "core",
    address: "10.20.0.12",
    mac: "20:20:00",
    serial: "FCW2519L0AE",
    location: "Science building, room 0.12",
    routes: 2,
    upgrade: { from: "-12d 23:40", version: "17.12.3" },
  },
  {
    name: "dist-library",
    site: "campus",
    model: "distribution",
    address: "10.20.0.21",
    mac: "31:00:00",
    serial: "FDO2304V0QJ",
    location: "Library, room U2",
  },
  {
    name: "dist-science",
    site: "campus",
    model: "distribution",
    address: "10.20.0.22",
    mac: "32:00:00",
    serial: "FDO2304V0QT",
    location: "Science building, room 0.12",
  },
  {
    name: "acc-library-1",
    site: "campus",
    model: "access",
    address: "10.20.0.31",
    mac: "41:00:00",
    serial: "FOC2418U1KM",
    location: "Library, ground floor",
    members: 3,
  },
  {
    name: "acc-library-2",
    site: "campus",
    model: "access",
    address: "10.20.0.32",
    mac: "42:00:00",
    serial: "FOC2418U1LP",
    location: "Library, second floor",
    members: 2,
    period: { until: "-9d 09:20" },
  },
  {
    name: "acc-library-2",
    site: "campus",
    model: "access",
    address: "10.20.0.32",
    mac: "4a:00:00",
    serial: "FJC2734S0ZD",
    location: "Library, second floor",
    members: 2,
    period: { from: "-9d 10:05" },
  },
  {
    name: "acc-science-1",
    site: "campus",
    model: "access",
    address: "10.20.0.33",
    mac: "43:00:00",
    serial: "FOC2421L2QA",
    location: "Science building, first floor",
    members: 3,
  },
  {
    name: "acc-science-2",
    site: "campus",
    model: "access",
    address: "10.20.0.34",
    mac: "44:00:00",
    serial: "FOC2421L2QF",
    location: "Science building, third floor",
    members: 3,
    outage: { from: "-6d 14:02", until: "-6d 16:07" },
  },
  {
    name: "acc-admin-1",
    site: "campus",
    model: "access",
    address: "10.20.0.35",
    mac: "45:00:00",
    serial: "FOC2433X05T",
    location: "Administration, first floor",
    members: 2,
  },
  {
    name: "acc-dorm-1",
    site: "campus",
    model: "access",
    address: "10.20.0.36",
    mac: "46:00:00",
    serial: "FOC2433X06C",
    location: "Residence hall, basement",
    members: 4,
  },
  {
    name: "acc-servers-1",
    site: "campus",
    model: "access",
    address: "10.20.0.41",
    mac: "47:00:00",
    serial: "FOC2440B2NN",
    location: "Main building, room B02, rack 3",
  },
  {
    name: "acc-servers-2",
    site: "campus",
    model: "access",
    address: "10.20.0.42",
    mac: "48:00:00",
    serial: "FOC2440B2NR",
    location: "Main building, room B02, rack 5",
  },
  {
    name: "harbour-gw",
    site: "harbour",
    model: "gateway",
    address: "10.30.0.1",
    mac: "70:10:00",
    serial: "HF8091ZYQXD",
    location: "Harbour site, cabinet 1",
    routes: 1,
  },
  {
    name: "harbour-core",
    site: "harbour",
    model: "aruba",
    address: "10.30.0.11",
    mac: "71:00:00",
    serial: "SG31KN501C",
    location: "Harbour site, cabinet 1",
  },
  {
    name: "harbour-quay-1",
    site: "harbour",
    model: "aruba",
    address: "10.30.0.12",
    mac: "72:00:00",
    serial: "SG31KN50FH",
    location: "Harbour site, quay workshop",
  },
  {
    name: "harbour-lab-1",
    site: "harbour",
    model: "aruba",
    address: "10.30.0.13",
    mac: "73:00:00",
    serial: "SG31KN50J2",
    location: "Harbour site, wave tank",
    members: 2,
  },
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
