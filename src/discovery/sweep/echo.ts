// ICMP echo methods and outcomes.

import type { Ip } from "../../base/ip.ts";
import type { ErrorKind } from "./error-kinds.ts";

/** Best first. */
export const ECHO_METHODS = ["IcmpDatagram", "IcmpRaw", "Fping", "Ping"] as const;
export type EchoMethod = (typeof ECHO_METHODS)[number];

/** User-readable. */
export const ECHO_METHOD_LABELS: Readonly<Record<EchoMethod, string>> = {
  IcmpDatagram: "ICMP by datagram socket",
  IcmpRaw: "ICMP by raw socket",
  Fping: "ICMP by fping",
  Ping: "ICMP by ping",
};

/**
 * Answered: an echo reply from the address itself; router errors count as Silent. Failed: the request could not be
 * sent.
 */
export type EchoOutcome =
  | { readonly kind: "Answered" | "Silent" }
  | { readonly kind: "Failed"; readonly error: ErrorKind };

export interface Echo {
  readonly method: EchoMethod;
  /** Sends at most two requests. */
  probe(ip: Ip): Promise<EchoOutcome>;
  /** Rejects current and later calls with the reason and closes everything. */
  end(reason: unknown): void;
}
