// The means of ICMP echo, and their outcomes.

import type { Ip } from "../../base/ip.ts";
import type { ErrorKind } from "./error-kinds.ts";

/** Best first. */
export const ECHO_MEANS = ["IcmpDatagram", "IcmpRaw", "Fping", "Ping"] as const;
export type EchoMeans = (typeof ECHO_MEANS)[number];

/** For people. */
export const ECHO_MEANS_LABELS: Readonly<Record<EchoMeans, string>> = {
  IcmpDatagram: "ICMP by datagram socket",
  IcmpRaw: "ICMP by raw socket",
  Fping: "ICMP by fping",
  Ping: "ICMP by ping",
};

/** Answered: an echo reply of the address itself; router errors are Silent. Failed: the request could not be sent. */
export type EchoOutcome =
  | { readonly kind: "Answered" | "Silent" }
  | { readonly kind: "Failed"; readonly error: ErrorKind };

export interface Echo {
  readonly means: EchoMeans;
  /** At most twice. */
  ask(ip: Ip): Promise<EchoOutcome>;
  /** Callers get the reason as an error, now and later; everything is closed. */
  end(reason: unknown): void;
}
