// Interface between a scan and its network probes. Types and limits only.

import type { Device } from "../device.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { AddressSighting, WorkingCredential } from "../sightings.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { TrialStep } from "../snmp/trial-steps.ts";

/** Devices polled concurrently. */
export const CONCURRENT_DEVICES = 32;
/** Concurrent name lookups. */
export const CONCURRENT_NAME_LOOKUPS = 32;

export interface SweepProgress {
  /** Answered or given up. */
  readonly done: number;
  readonly requests: number;
  /** By kind. */
  readonly errors: Readonly<Record<string, number>>;
}

interface SweepEvents {
  /** The sweep awaits it and fails with it. */
  readonly answer: (sighting: AddressSighting) => void | Promise<void>;
  readonly progress: (progress: SweepProgress) => void;
}

export interface Refusal {
  readonly credential_id: string;
  readonly reason: string;
  /** User-readable; contains no secret. */
  readonly clause: string;
}

export type PollResult =
  | { readonly ok: true; readonly device: Device; readonly credential: WorkingCredential; readonly requests: number }
  | { readonly ok: false; readonly failures: readonly Refusal[]; readonly requests: number };

interface PollOptions {
  readonly credentials: readonly SnmpCredential[];
  readonly remembered: WorkingCredential | null;
  /** Null if unknown. */
  readonly served: ServedBefore | null;
  /** Called before each send; false once the credential was revoked or changed. */
  readonly maySend: (credential: SnmpCredential) => boolean;
  readonly signal: AbortSignal;
}

/** Result of checking whether an address is in use. */
export interface ReachResult {
  /** Empty if nothing responded. */
  readonly answered: AddressSighting["answered"];
  /** Probe methods, user-readable: `ICMP by raw socket, TCP`. */
  readonly methods: string;
  readonly hasRoute: boolean;
}

interface TryOptions {
  /** Called before each send; false once the credential was changed or deleted. */
  readonly maySend: () => boolean;
  readonly signal: AbortSignal;
  /** Called with each step as it ends. */
  readonly onStep: (step: TrialStep) => void;
}

export interface Probes {
  /**
   * Finds out which of these addresses respond.
   * @returns the probe methods, user-readable. Ends soon after the signal is aborted.
   */
  sweep(addresses: readonly string[], signal: AbortSignal, events: SweepEvents): Promise<{ readonly methods: string }>;
  /** Polls a device with the first credential that works. Ends soon after the signal is aborted. */
  pollDevice(address: string, options: PollOptions): Promise<PollResult>;
  /** Checks whether an address responds, without contacting its services. Ends soon after the signal is aborted. */
  reach(address: string, signal: AbortSignal): Promise<ReachResult>;
  /** Tries one credential: the steps from `agent` to `forwarding`. Ends soon after the signal is aborted. */
  tryCredential(address: string, credential: SnmpCredential, options: TryOptions): Promise<readonly TrialStep[]>;
  /** Only for this machine's own links; null if unknown. */
  macOf(address: string): string | null;
  /** Returns null if no name server responds. Ends soon after the signal is aborted. */
  addressesOf(name: string, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Clears keys derived from secrets. Call when no polling is in progress. */
  forgetSecrets(): void;
}
