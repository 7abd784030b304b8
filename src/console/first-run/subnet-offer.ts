// Default selection of subnets, with reasons for exclusions. Pure.

import { addressesOfTargets } from "../scanning/targets.ts";
import type { Doubt } from "../text/first-run.ts";
import { ownValue } from "../text/own-value.ts";

export interface SubnetOffer {
  readonly cidr: string;
  /** Number of addresses. */
  readonly size: number;
  /** Reason for not being preselected; null if preselected. */
  readonly doubt: Doubt | null;
  /** Whether the subnet can be scanned as a whole. */
  readonly isPossible: boolean;
}

interface Subnet {
  readonly cidr: string;
  readonly subnet_type: string;
}

/** Larger subnets take minutes, so they are scanned only on request. */
const USUAL_MAX = 4_096;
/** API limit of one scan: a /12. */
export const SCAN_MAX = 1_048_576;
/** API limit of an IPv6 subnet: a /112. */
const IPV6_MAX = 65_536;

const DOUBTED_TYPES: Readonly<Record<string, Doubt>> = {
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
export function offerOf({ cidr, subnet_type }: Subnet, interfaces: readonly string[]): SubnetOffer {
  const size = addressesOfTargets([cidr]) ?? 0;
  const isIpv6 = cidr.includes(":");
  if (size > (isIpv6 ? IPV6_MAX : SCAN_MAX)) return { cidr, size, doubt: isIpv6 ? "ipv6" : "huge", isPossible: false };
  return { cidr, size, doubt: doubtOf({ cidr, subnet_type }, interfaces, size), isPossible: true };
}

function doubtOf({ cidr, subnet_type }: Subnet, interfaces: readonly string[], size: number): Doubt | null {
  const byType = ownValue(DOUBTED_TYPES, subnet_type);
  if (byType !== undefined) return byType;
  if (cidr.startsWith("127.") || cidr === "::1/128") return "loopback";
  if (interfaces.some((name) => CONTAINERS.test(name))) return "containers";
  if (interfaces.some((name) => TUNNELS.test(name))) return "tunnel";
  if (!isPrivate(cidr)) return "public";
  return size > USUAL_MAX ? "large" : null;
}

/** RFC 1918, RFC 6598, RFC 4193, and link-local addresses. */
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
