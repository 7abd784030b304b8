// What the pages of subnets, VLANs and conflicts say.

const number = (value: number | string) => new Intl.NumberFormat("en").format(BigInt(value));

type UtilizationPart = "used" | "dhcp" | "reserved" | "in_subnets" | "free";

export const subnetText = {
  noSubnets: "There are no subnets in this network. Discovery finds them, or they are added through the API.",
  noNetworks: "There are no networks within your reach.",
  find: "CIDR or name",
  findHint: "Show only subnets whose CIDR or name contains this",
  nothingFound: "No subnet here has this in its CIDR or its name.",
  cut: (count: number) => `The first ${number(count)} are shown. Say what you look for to see others.`,
  cidr: "CIDR",
  name: "Name",
  type: "Type",
  vlan: "VLAN",
  used: "Utilization",
  usedWithin: "With all within",
  free: "Free",
  usedOf: (used: number | string, usable: number | string) => `${number(used)} of ${number(usable)} in use`,
  /** What makes up the utilization. */
  parts: ({ used, dhcp, reserved, in_subnets, free }: Readonly<Record<UtilizationPart, number | string>>) =>
    [
      `${number(used)} in use`,
      ...(BigInt(dhcp) > 0 ? [`${number(dhcp)} for DHCP`] : []),
      ...(BigInt(reserved) > 0 ? [`${number(reserved)} reserved`] : []),
      ...(BigInt(in_subnets) > 0 ? [`${number(in_subnets)} in subnets within`] : []),
      `${number(free)} free`,
    ].join(", "),
  /** @param used what is seldom seen in a subnet of IPv6 is more than nothing */
  percent: (value: number, used: number | string) =>
    `${value < 0.1 && BigInt(used) > 0 ? "<0.1" : Math.round(value * 10) / 10} %`,
  what: "The subnet",
  network: "Network",
  description: "Description",
  nextFree: "Next free",
  available: (count: number | string) => `${number(count)} are free.`,
  full: "Nothing is free in it.",
  ranges: "Ranges",
  noRanges: "No ranges are set aside in it.",
  range: "Range",
  purpose: "Purpose",
  overTime: "Utilization over time",
  when: "When",
  conflicts: "Conflicts",
  noConflicts: "Nothing in it is in conflict.",
  seenLately: "Seen lately",
  seenOf: (seen: number, all: number) => `${number(seen)} of ${number(all)} addresses in the last 30 days`,
  unseen: (count: number) => `${number(count)} not`,
  map: "Addresses",
  blocks: "Blocks of addresses",
  block: "Block",
  blockLegend:
    "Filled is in use, hatched is set aside or in subnets within. A block opens; one that lies in a subnet within leads to it.",
  blockParts: ({ used, aside, inSubnets, free }: Readonly<Record<"used" | "aside" | "inSubnets" | "free", number>>) =>
    [
      `${number(used)} in use`,
      ...(aside > 0 ? [`${number(aside)} set aside`] : []),
      ...(inSubnets > 0 ? [`${number(inSubnets)} in subnets within`] : []),
      `${number(free)} free`,
    ].join(", "),
  blockInSubnet: (cidr: string, name: string) => `in the subnet ${cidr}${name === "" ? "" : ` ${name}`}`,
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
    Subnet: "a subnet within",
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
} as const;

export const vlanText = {
  where: "Where it is",
  subnets: "Subnets",
  noSubnets: "No subnet says that it is in this VLAN.",
  interfaces: "Interfaces",
  noInterfaces: "No interface has it, neither native nor tagged.",
  interface: "Interface",
  how: "VLAN",
  native: "native",
  tagged: "tagged",
  previous: "Before these",
  next: "More",
} as const;

export const conflictText = {
  show: "Which conflicts",
  shown: { open: "Open", accepted: "Accepted", all: "All" },
  none: {
    open: "There are no open conflicts.",
    accepted: "No conflict has been accepted.",
    all: "There are no conflicts.",
  },
  type: "Type",
  value: "What",
  parties: "Who claims it",
  accepted: "Accepted",
  of: "of",
  more: (count: number) => `${number(count)} more: choose a network above, or ask the API.`,
} as const;
