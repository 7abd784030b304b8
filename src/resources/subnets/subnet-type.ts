// Purpose of a subnet, as judged by a user or by discovery. Must not derive anything from the address.

export const SUBNET_TYPES = [
  "Internet",
  "Remote",
  "Gateway",
  "VpnTunnel",
  "Dmz",
  "Lan",
  "WiFi",
  "IoT",
  "Guest",
  "DockerBridge",
  "PodmanBridge",
  "MacVlan",
  "IpVlan",
  "Management",
  "Storage",
  "Loopback",
  "Unknown",
] as const;

export type SubnetType = (typeof SUBNET_TYPES)[number];

/** Types that sweeps skip unless named: addresses of others, remote ones, and loopback. */
export const PASSED_OVER_TYPES: readonly SubnetType[] = ["Internet", "Remote", "Loopback"];
