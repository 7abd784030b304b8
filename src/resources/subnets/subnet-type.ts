// What a subnet is for. A person's or the discovery's judgement; nothing is derived from the address here.

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

/** What is not swept unless it is named: other people's addresses, what is far away, and what is in every machine. */
export const PASSED_OVER_TYPES: readonly SubnetType[] = ["Internet", "Remote", "Loopback"];
