// Purpose of a subnet, as evaluated by a user or by discovery. Nothing is derived from the address.

import { wordList } from "../../base/word-list.ts";

export const SUBNET_TYPES = [
  ...wordList("Internet Remote Gateway VpnTunnel Dmz Lan WiFi IoT Guest DockerBridge PodmanBridge MacVlan IpVlan"),
  ...wordList("Management Storage Container Loopback Unknown"),
] as const;

export type SubnetType = (typeof SUBNET_TYPES)[number];

/** Types that sweeps skip unless requested: addresses of others, remote ones, and loopback. */
export const SKIPPED_TYPES: readonly SubnetType[] = ["Internet", "Remote", "Loopback"];
