// Subnet choice in the wizard: which subnets are preselected, and why the others are not. Pure.

import { addressesOfTargets } from "../scanning/targets.ts";
import type { SkipReason } from "../text/first-run.ts";
import { ownValue } from "../text/own-value.ts";

export interface SubnetChoice {
  readonly cidr: string;
  /** Number of addresses. */
  readonly size: number;
  /** Reason for not being preselected; null if preselected. */
  readonly skipReason: SkipReason | null;
  /** Whether the subnet can be scanned as a whole. */
  readonly isScannable: boolean;
}

interface Subnet {
  readonly cidr: string;
  readonly subnet_type: string;
}

/** Larger subnets take minutes, so they are scanned only on request. */
const PRESELECTED_MAX = 4_096;
/** API limit per scan: a /12. */
export const SCAN_MAX = 1_048_576;
/** API limit per IPv6 subnet: a /112. */
const IPV6_MAX = 65_536;

const SKIPPED_TYPES: Readonly<Record<string, SkipReason>> = {
  Loopback: "loopback",
  DockerBridge: "containers",
  PodmanBridge: "containers",
  VpnTunnel: "tunnel",
  Internet: "elsewhere",
  Remote: "elsewhere",
};

/** Names of bridges created by container engines and hypervisors. */
const CONTAINERS = /^(?:docker\d|br-[\da-f]{12}$|podman\d|cni|virbr\d|lxcbr\d|lxdbr\d|incusbr\d|flannel|cali|veth)/;
const TUNNELS = /^(?:tun\d|tap\d|wg|ppp\d|tailscale|zt|utun)/;

/** @param interfaces names of this machine's interfaces in the subnet */
export function subnetChoice({ cidr, subnet_type }: Subnet, interfaces: readonly string[]): SubnetChoice {
  const size = addressesOfTargets([cidr]) ?? 0;
  const isIpv6 = cidr.includes(":");
  if (size > (isIpv6 ? IPV6_MAX : SCAN_MAX))
    return { cidr, size, skipReason: isIpv6 ? "ipv6" : "huge", isScannable: false };
  return { cidr, size, skipReason: skipReasonOf({ cidr, subnet_type }, interfaces, size), isScannable: true };
}

function skipReasonOf({ cidr, subnet_type }: Subnet, interfaces: readonly string[], size: number): SkipReason | null {
  const byType = ownValue(SKIPPED_TYPES, subnet_type);
  if (byType !== undefined) return byType;
  if (cidr.startsWith("127.") || cidr === "::1/128") return "loopback";
  if (interfaces.some((name) => CONTAINERS.test(name))) return "containers";
  if (interfaces.some((name) => TUNNELS.test(name))) return "tunnel";
  if (!isPrivate(cidr)) return "public";
  return size > PRESELECTED_MAX ? "large" : null;
}

/** Whether a prefix is private (RFC 1918, RFC 6598, RFC 4193) or link-local. */
function isPrivate(cidr: string): boolean {
  if (cidr.includes(":")) return /^(?:f[cd]|fe[89ab])/i.test(cidr);
  const [first = 0, second = 0] = cidr.split(".").map(Number);
  return (
    first === 10 ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second < 128) ||
    (first === 169 && second === 254)
  );
}
