// Fingerprint interface: ports to try, first request, and response parser. A fingerprint sends at most one small
// request, changes nothing on the device, and never throws, regardless of the bytes received.

import type { IdentifiedService } from "../sightings.ts";

export interface Fingerprint {
  /** Unique; for tests and messages. */
  readonly name: string;
  /** Ports to try. A fingerprint of a greeting also reads the greetings on all other ports. */
  readonly ports: readonly number[];
  readonly transport: "Tcp" | "Tls";
  /** First message to send; null if the service sends a greeting. */
  readonly request: ((target: Target) => Uint8Array) | null;
  readonly read: (answer: ServiceReply) => Reading;
}

interface Target {
  /** As in a URL: IPv6 in brackets. */
  readonly host: string;
}

export interface ServiceReply {
  /** All bytes so far, at most 16 KiB. */
  readonly bytes: Uint8Array;
  /** True if no more bytes will come. */
  readonly isComplete: boolean;
  readonly port: number;
}

/** More: may be this service, needs more bytes; never for a complete response. Other: a different service. */
export type Reading = IdentifiedService | "More" | "Other";
