// Texts of the page for joining hosts and splitting one.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

export const identityText = {
  link: "Join or split…",
  title: "Join or split",
  notThen: "Hosts can be joined and split only in the present.",
  showNow: "Show it now",
  noHost: "Host not found, or you don't have access to it.",
  notYours: "Your role can't join or split hosts.",
  join: "Join another host into this one",
  joinSays: (name: string) =>
    `For a device that is listed twice. ${isolated(name)} stays and takes over the parts of the other host, which is closed.`,
  other: "The other host",
  found: "Hosts found",
  nobody: "No other host of this network has this name.",
  joinTitle: (other: string, name: string) => `Join ${isolated(other)} into ${isolated(name)}`,
  joinVerb: "Join them",
  joinFollows:
    "If both have the same address, port, interface or service, that of the remaining host is kept. From now on, scans that find either one update this host. Credentials are sent where they were before.",
  split: "Split this host",
  splitSays: (name: string) =>
    `For two devices that are listed as one. The selected parts move from ${isolated(name)} to a new host, with their history.`,
  newHost: "The new host:",
  newName: "Name of the new host",
  splitTitle: (name: string) => `Split off ${isolated(name)}`,
  splitVerb: "Split it",
  splitFollows: "Scans do not bring discovered parts back to the old host.",
  showPlan: "Show what would change…",
  chosen: (count: number) => (count === 0 ? "Nothing is chosen yet." : `${groupedDigits(count)} chosen`),
  addresses: "Addresses",
  interfaces: "Interfaces",
  ports: "Ports",
  services: "Services",
  moreParts: (count: number) =>
    `The first ${groupedDigits(count)} of each are shown. Others are split off through the API.`,
} as const;
