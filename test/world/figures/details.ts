// Shares of correct record contents, by subject. Presence is measured separately.

import { Share } from "./presence.ts";

/** Titles by subject. */
export const DETAILS = {
  cards: "MAC addresses of interfaces",
  movedAddresses: "addresses at their new interface",
  aggregates: "members of aggregates",
  positions: "positions of stack members",
  types: "types of devices",
  links: "far ends of links",
  portIds: "far ends that announce a chassis id per port",
  names: "derived names of stations",
  lineages: "hosts that return with their lineage",
  ignores: "ignored machines without a host",
  usedAddresses: "addresses of ignored machines that are not free",
  notes: "records with notes by users",
  openPorts: "open ports of servers",
} as const;
export type Detail = keyof typeof DETAILS;
export const DETAIL_NAMES = Object.keys(DETAILS) as Detail[];

export function newDetails(): Readonly<Record<Detail, Share>> {
  return Object.fromEntries(DETAIL_NAMES.map((name) => [name, new Share()])) as Record<Detail, Share>;
}
