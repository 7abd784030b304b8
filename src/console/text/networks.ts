// UI strings for the subnet, VLAN and conflict pages.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

/** Totals including child subnets have only the used and free counts. */
type UtilizationParts = Readonly<Record<"used" | "usable" | "free", number | string>> &
  Readonly<Partial<Record<"dhcp" | "reserved" | "in_subnets", number | string>>>;

export const subnetText = {
  usedOf: (used: number | string, usable: number | string) =>
    `${groupedDigits(used)} of ${groupedDigits(usable)} in use`,
  /** Breakdown of the utilization. */
  parts: ({ used, usable, dhcp = 0, reserved = 0, in_subnets = 0, free }: UtilizationParts) =>
    [
      subnetText.usedOf(used, usable),
      ...(BigInt(dhcp) > 0 ? [`${groupedDigits(dhcp)} for DHCP`] : []),
      ...(BigInt(reserved) > 0 ? [`${groupedDigits(reserved)} reserved`] : []),
      ...(BigInt(in_subnets) > 0 ? [`${groupedDigits(in_subnets)} in child subnets`] : []),
      `${groupedDigits(free)} free`,
      ...overlapNote({ used, usable, dhcp, reserved, in_subnets, free }),
    ].join(", "),
  /** @param used number in use; a tiny share of an IPv6 subnet is still more than zero */
  percent: (value: number, used: number | string) =>
    `${value < 0.1 && BigInt(used) > 0 ? "<0.1" : Math.round(value * 10) / 10} %`,
  blockInSubnet: (cidr: string, name: string) => `in the subnet ${cidr}${name === "" ? "" : ` ${isolated(name)}`}`,
  states: {
    Used: "in use",
    Subnet: "in a child subnet",
    Gateway: "gateway",
    Network: "network",
    Broadcast: "broadcast",
    Dhcp: "DHCP",
    Reserved: "reserved",
    Static: "static",
    Other: "other",
    Seen: "seen in use, on no host",
    Free: "free",
    Twice: "on several hosts",
    Accepted: "on several hosts, accepted",
    Unseen: "in use, not seen for 30 days",
    Gone: "free, in use 30 days earlier",
  } as Readonly<Record<string, string>>,
} as const;

export const vlanText = {
  noInterfaces: "No interfaces in this VLAN, native or tagged.",
} as const;

export const conflictText = {
  seenBy: { Neighbor: "in the neighbor table of", Own: "reported by", Sweep: "responded to a sweep" },
  more: (count: number) => `${groupedDigits(count)} more: choose a network above, or use the API.`,
} as const;

/** Used addresses in reserved ranges or child subnets are part of both numbers. */
function overlapNote(parts: Required<UtilizationParts>): string[] {
  const { used, usable, dhcp, reserved, in_subnets, free } = parts;
  const total = [used, dhcp, reserved, in_subnets, free].reduce<bigint>((sum, part) => sum + BigInt(part), 0n);
  const overlap = total - BigInt(usable);
  return overlap > 0n ? [`${groupedDigits(String(overlap))} counted twice`] : [];
}
