// The boundary between a scan and how it asks the network. Types and limits only.

import type { Device } from "../device.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { AddressSighting, WorkingCredential } from "../sightings.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { TrialStep } from "../snmp/trial-steps.ts";

/** Devices read at once. */
export const DEVICES_AT_A_TIME = 32;
/** Names looked up at once. */
export const NAMES_AT_A_TIME = 32;

export interface SweepProgress {
  /** Answered or given up. */
  readonly done: number;
  readonly requests: number;
  /** By kind. */
  readonly errors: Readonly<Record<string, number>>;
}

interface SweepEvents {
  /** The sweep waits for it, and fails with it. */
  readonly answer: (sighting: AddressSighting) => void | Promise<void>;
  readonly progress: (progress: SweepProgress) => void;
}

export interface Refusal {
  readonly credential_id: string;
  readonly reason: string;
  /** For people; holds no secret. */
  readonly clause: string;
}

export type AskedDevice =
  | { readonly ok: true; readonly device: Device; readonly credential: WorkingCredential; readonly requests: number }
  | { readonly ok: false; readonly failures: readonly Refusal[]; readonly requests: number };

interface AskOptions {
  readonly credentials: readonly SnmpCredential[];
  readonly remembered: WorkingCredential | null;
  /** Null if unknown. */
  readonly served: ServedBefore | null;
  /** Asked before each sending; false once the credential was taken back or changed. */
  readonly maySend: (credential: SnmpCredential) => boolean;
  readonly signal: AbortSignal;
}

/** What tells whether anything is at an address. */
export interface Reached {
  /** Empty where nothing answered. */
  readonly answered: AddressSighting["answered"];
  /** What was asked with, for people: `ICMP by raw socket, TCP`. */
  readonly means: string;
  readonly hasRoute: boolean;
}

interface TryOptions {
  /** Asked before each sending; false once the credential was changed or deleted. */
  readonly maySend: () => boolean;
  readonly signal: AbortSignal;
  /** Told each step as it ends. */
  readonly onStep: (step: TrialStep) => void;
}

export interface Probes {
  /**
   * Finds out which of these addresses answer.
   * @returns the means, for people. Ends soon after the signal is aborted.
   */
  sweep(addresses: readonly string[], signal: AbortSignal, events: SweepEvents): Promise<{ readonly means: string }>;
  /** Reads a device with the first credential that opens it. Ends soon after the signal is aborted. */
  askDevice(address: string, options: AskOptions): Promise<AskedDevice>;
  /** Whether an address answers, without talking to its services. Ends soon after the signal is aborted. */
  reach(address: string, signal: AbortSignal): Promise<Reached>;
  /** Tries one credential: the steps from `agent` to `forwarding`. Ends soon after the signal is aborted. */
  tryCredential(address: string, credential: SnmpCredential, options: TryOptions): Promise<readonly TrialStep[]>;
  /** On this machine's own links; null if unknown. */
  macOf(address: string): string | null;
  /** Null where nobody answers. Ends soon after the signal is aborted. */
  addressesOf(name: string, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Forgets keys made of secrets. To be called when nobody is asked. */
  forgetSecrets(): void;
}
