// What a fingerprint is: on which ports it is tried, what it says first, how it reads the answer. The rules for all of
// them: nothing that changes a device, no more than one small request, and no exception on whatever bytes come back.

import type { IdentifiedService } from "../sightings.ts";

export interface Fingerprint {
  /** Unique; for tests and messages. */
  readonly name: string;
  /** Where it is tried. One whose service speaks first reads greetings of all other ports, too. */
  readonly ports: readonly number[];
  readonly transport: "Tcp" | "Tls";
  /** What is said first; null where the service speaks first. */
  readonly request: ((target: Target) => Uint8Array) | null;
  readonly read: (answer: ServiceReply) => Reading;
}

interface Target {
  /** As in a URL: IPv6 in brackets. */
  readonly host: string;
}

export interface ServiceReply {
  /** All that has come so far, of at most 16 KiB. */
  readonly bytes: Uint8Array;
  /** Whether no more will come. */
  readonly isWhole: boolean;
  readonly port: number;
}

/** More: it may be this service, and the rest will tell. Never More of an answer that is whole. Other: it is not. */
export type Reading = IdentifiedService | "More" | "Other";
