// Texts of the subnet, VLAN and conflict pages.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

const number = (value: number | string) => groupedDigits(BigInt(value));

/** Totals including child subnets have only the used and free counts. */
type UtilizationParts = Readonly<Record<"used" | "usable" | "free", number | string>> &
  Readonly<Partial<Record<"dhcp" | "reserved" | "in_subnets", number | string>>>;

export const subnetText = {
  noSubnets: "There are no subnets in this network. Discovery finds them, or you add one.",
  noSubnetsThen: "There were no subnets in this network at this instant.",
  noNetworks: "You don't have access to any network.",
  noNetworksThen: "You had no access to any network at this time.",
  ways: "Ways to look at subnets",
  tree: "Tree",
  list: "List",
  find: "CIDR or name",
  findHint: "Show only subnets whose CIDR or name contains this",
  fullest: "Fullest first",
  nothingFound: "No subnet matches.",
  cut: (count: number) => `Showing the first ${number(count)}. Filter to see others.`,
  cidr: "CIDR",
  name: "Name",
  type: "Type",
  vlan: "VLAN",
  used: "Utilization",
  usedWithin: "Including child subnets",
  free: "Free",
  usedOf: (used: number | string, usable: number | string) => `${number(used)} of ${number(usable)} in use`,
  counts: "Utilization counts hosts, DHCP and reserved ranges, and child subnets.",
  /** Breakdown of the utilization. */
  parts: ({ used, usable, dhcp = 0, reserved = 0, in_subnets = 0, free }: UtilizationParts) =>
    [
      subnetText.usedOf(used, usable),
      ...(BigInt(dhcp) > 0 ? [`${number(dhcp)} for DHCP`] : []),
      ...(BigInt(reserved) > 0 ? [`${number(reserved)} reserved`] : []),
      ...(BigInt(in_subnets) > 0 ? [`${number(in_subnets)} in subnets within`] : []),
      `${number(free)} free`,
      ...inTwo({ used, usable, dhcp, reserved, in_subnets, free }),
    ].join(", "),
  /** @param used number in use; a tiny share of an IPv6 subnet is still more than zero */
  percent: (value: number, used: number | string) =>
    `${value < 0.1 && BigInt(used) > 0 ? "<0.1" : Math.round(value * 10) / 10} %`,
  what: "The subnet",
  network: "Network",
  description: "Description",
  nextFree: "Next free",
  available: (count: number | string) => `${number(count)} available: free and outside all ranges.`,
  full: "No free addresses.",
  ranges: "Ranges",
  noRanges: "No ranges.",
  range: "Range",
  purpose: "Purpose",
  overTime: "Utilization over time",
  when: "When",
  conflicts: "Conflicts",
  noConflicts: "No conflicts.",
  seenLately: "Seen lately",
  seenOf: (seen: number, all: number) => `${number(seen)} of ${number(all)} addresses in the last 30 days`,
  unseen: (count: number) => `${number(count)} not`,
  map: "Addresses",
  blocks: "Blocks of addresses",
  block: "Block",
  blockLegend:
    "Filled: in use. Hatched: set aside or in child subnets. Click a block to open it; a block inside a child subnet leads there.",
  blockParts: ({ used, aside, inSubnets, free }: Readonly<Record<"used" | "aside" | "inSubnets" | "free", number>>) =>
    [
      `${number(used)} in use`,
      ...(aside > 0 ? [`${number(aside)} set aside`] : []),
      ...(inSubnets > 0 ? [`${number(inSubnets)} in subnets within`] : []),
      `${number(free)} free`,
    ].join(", "),
  blockInSubnet: (cidr: string, name: string) => `in the subnet ${cidr}${name === "" ? "" : ` ${isolated(name)}`}`,
  filledBlocks: "Blocks that are not empty",
  noFilledBlocks: "Nothing is in any of them.",
  inUse: "In use",
  setAside: "Set aside",
  inSubnet: "Subnet within",
  asTable: "Addresses in use",
  runs: "What its addresses are",
  address: "Address",
  state: "State",
  host: "Host",
  mac: "MAC address",
  seen: "Last seen",
  twice: (count: number) => `${count} hosts have it`,
  moreRows: (count: number) => `${number(count)} more rows: ask the API, or look at a subnet within it.`,
  states: {
    Used: "in use",
    Subnet: "in a subnet within",
    Gateway: "gateway",
    Network: "network",
    Broadcast: "broadcast",
    Dhcp: "DHCP",
    Reserved: "reserved",
    Static: "static",
    Other: "other",
    Free: "free",
    Twice: "on several hosts",
    Unseen: "in use, not seen for 30 days",
    Gone: "free, in use 30 days before",
  } as Readonly<Record<string, string>>,
  number,
  /** Free addresses of a large IPv6 prefix have too many digits for a table. */
  roughly: (value: number | string) =>
    BigInt(value) < 2n ** 32n ? number(value) : `≈ 2^${Math.round(Math.log2(Number(value)))}`,
} as const;

export const vlanText = {
  where: "Where it is",
  subnets: "Subnets",
  noSubnets: "No subnets in this VLAN.",
  interfaces: "Interfaces",
  noInterfaces: "No interfaces in this VLAN, native or tagged.",
  devices: "By device",
  device: "Device",
  untagged: "Untagged ports",
  up: "Up",
  upOf: (up: number, all: number) => `${number(up)} of ${number(all)}`,
  morePorts: (count: number) => `${number(count)} more`,
  moreInterfaces: (count: number) => `${number(count)} more interfaces have it; see the list of interfaces.`,
  taggedPorts: "Tagged ports",
  interface: "Interface",
  how: "VLAN",
  native: "native",
  tagged: "tagged",
  previous: "Before these",
  next: "More",
} as const;

export const stationText = {
  show: "Which stations",
  shown: { unknown: "Unknown", known: "Of known hosts", all: "All" },
  about:
    "MAC addresses at edge ports, as the forwarding tables have them. Ports with a neighbor or with more than four MAC addresses lead on to others.",
  none: {
    unknown: "Every MAC address at an edge port belongs to a host.",
    known: "No MAC address at an edge port belongs to a host.",
    all: "No MAC address is known at an edge port. Scans of switches by SNMP read their forwarding tables.",
  },
  noneFiltered: "No station matches the filter.",
  example: 'vendor : "Raspberry" AND since > "-24h"',
  mac: "MAC address",
  vendor: "Vendor",
  host: "Host",
  address: "Address",
  andMore: (count: number) => `+${count}`,
  switch: "Switch",
  port: "Port",
  vlans: "VLANs",
  since: "Since",
  locate: "locate",
  newer: "Newer",
  older: "Older",
  types: {
    Universal: "not in the registry",
    LocallyAdministered: "made up by software",
    VirtualRouter: "a virtual router's",
    Multicast: "a group's",
    Broadcast: "a group's",
    Null: "none",
  } as Readonly<Record<string, string>>,
} as const;

/** Texts for allocating addresses of a subnet. */
export const allocateText = {
  open: "Allocate next free",
  title: "Allocate the next free addresses",
  host: "To the host",
  hostHelp: "Leave empty to reserve without assigning a host.",
  count: "How many",
  name: "Name of the address",
  description: "What for",
  give: "Allocate them",
  reserve: "Reserve them",
  given: "Allocated:",
  unsure: "The answer was lost. Safe to retry: they are allocated once.",
  close: "Close",
} as const;

export const conflictText = {
  accept: "Accept",
  withdraw: "Withdraw",
  why: "Reason to accept it",
  cancel: "Cancel",
  show: "Which conflicts",
  shown: { open: "Open", accepted: "Accepted", all: "All" },
  none: {
    open: "There are no open conflicts.",
    accepted: "No conflict has been accepted.",
    all: "There are no conflicts.",
  },
  noneFiltered: "No conflict matches the filter.",
  example: 'type = Address AND value : "10.20."',
  type: "Type",
  value: "What",
  parties: "Who claims it",
  accepted: "Accepted",
  of: "of",
  within: "in",
  more: (count: number) => `${number(count)} more: choose a network above, or ask the API.`,
} as const;

/** Used addresses in reserved ranges or child subnets are part of both numbers. */
function inTwo(parts: Required<UtilizationParts>): string[] {
  const { used, usable, dhcp, reserved, in_subnets, free } = parts;
  const told = [used, dhcp, reserved, in_subnets, free].reduce<bigint>((sum, each) => sum + BigInt(each), 0n);
  const twice = told - BigInt(usable);
  return twice > 0n ? [`${number(String(twice))} counted in two of these`] : [];
}
