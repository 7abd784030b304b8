// Texts of the page for joining hosts and splitting one.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

export const identityText = {
  link: "Join or split…",
  title: "Join or split",
  notThen: "The past is not changed: hosts are joined and split as they are now.",
  showNow: "Show it now",
  noHost: "Host not found, or you don't have access to it.",
  notYours: "Your role does not join or split hosts.",
  join: "Join another host into this one",
  joinSays: (name: string) =>
    `For one device that stands here twice. ${isolated(name)} stays; what the other one has comes to it, and the other one is closed.`,
  other: "The other host",
  found: "Hosts found",
  nobody: "No other host of this network is called so.",
  joinTitle: (other: string, name: string) => `Join ${isolated(other)} into ${isolated(name)}`,
  joinVerb: "Join them",
  joinFollows:
    "Where both have the same address, port, interface or service, that of the host that stays is kept. Scans that find either know this host from now on. Credentials go where they went before.",
  split: "Split this host",
  splitSays: (name: string) =>
    `For two devices that stand here as one. What you choose leaves ${isolated(name)} for a new host, with its history.`,
  newHost: "The new host:",
  newName: "Name of the new host",
  splitTitle: (name: string) => `Split off ${isolated(name)}`,
  splitVerb: "Split it",
  splitFollows: "What discovery found of it, scans do not bring back to the host that it leaves.",
  showPlan: "Show what would change…",
  chosen: (count: number) => (count === 0 ? "Nothing is chosen yet." : `${groupedDigits(count)} chosen`),
  addresses: "Addresses",
  interfaces: "Interfaces",
  ports: "Ports",
  services: "Services",
  moreParts: (count: number) =>
    `The first ${groupedDigits(count)} of each are shown. Others are split off through the API.`,
} as const;
