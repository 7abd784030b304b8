// ICMP echo by the best means that this machine has for it, and which one that is.

import type { Ip } from "../../base/ip.ts";
import type { Sockets } from "../kernel/sockets.ts";
import type { ErrorKind } from "./error-kinds.ts";
import { type EchoSocketParts, openEchoSocket } from "./echo-socket.ts";
import { type EchoToolParts, openEchoTool } from "./echo-tools.ts";

/** From the best to the last. */
export const ECHO_MEANS = ["IcmpDatagram", "IcmpRaw", "Fping", "Ping"] as const;
export type EchoMeans = (typeof ECHO_MEANS)[number];

/** For people. */
export const ECHO_MEANS_LABELS: Readonly<Record<EchoMeans, string>> = {
  IcmpDatagram: "ICMP by datagram socket",
  IcmpRaw: "ICMP by raw socket",
  Fping: "ICMP by fping",
  Ping: "ICMP by ping",
};

/** Only an echo reply of the address itself is Answered; errors of routers are Silent. Failed: the request could not be sent. */
export type EchoOutcome =
  | { readonly kind: "Answered" | "Silent" }
  | { readonly kind: "Failed"; readonly error: ErrorKind };

export interface Echo {
  readonly means: EchoMeans;
  /** Asks an address twice, the second time when it is silent. */
  ask(ip: Ip): Promise<EchoOutcome>;
  /** Whoever asks gets the reason as an error, now and later; nothing is left open. */
  end(reason: unknown): void;
}

export interface EchoParts extends Omit<EchoSocketParts, "sockets">, EchoToolParts {
  /** Null where this process may not call the C library. */
  readonly sockets: Sockets | null;
}

/** The first of `means` that works here; null where none does. */
export async function openEcho(
  version: 4 | 6,
  parts: EchoParts,
  means: readonly EchoMeans[] = ECHO_MEANS,
): Promise<Echo | null> {
  const { sockets } = parts;
  for (const each of means) {
    const echo =
      each === "Fping" || each === "Ping"
        ? await openEchoTool(version, each, parts)
        : sockets && openEchoSocket(version, each, { ...parts, sockets });
    if (echo) return echo;
  }
  return null;
}
