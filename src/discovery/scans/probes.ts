// What a scan asks the network by: the boundary between what is asked, and of whom, and how that is done. Types and limits only.

import type { SnmpCredential } from "../snmp/credential.ts";
import type { AddressSighting, WorkingCredential } from "../sightings.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { Device } from "../device.ts";

/** Devices that are read at the same time. */
export const DEVICES_AT_A_TIME = 32;
/** Names of neighbors that are looked up at the same time. */
export const NAMES_AT_A_TIME = 32;

/** How far a sweep is. */
export interface SweepProgress {
  /** Addresses that have answered or were given up. */
  readonly done: number;
  readonly requests: number;
  /** By kind. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface SweepEvents {
  /** An address that answered. The sweep waits for what it returns, and fails with it. */
  readonly answer: (sighting: AddressSighting) => void | Promise<void>;
  readonly progress: (progress: SweepProgress) => void;
}

/** Why one credential did not open a device. */
export interface Refusal {
  readonly credential_id: string;
  readonly reason: string;
  /** For people; holds no secret. */
  readonly clause: string;
}

export type AskedDevice =
  | { readonly ok: true; readonly device: Device; readonly credential: WorkingCredential; readonly requests: number }
  | { readonly ok: false; readonly failures: readonly Refusal[]; readonly requests: number };

export interface AskOptions {
  readonly credentials: readonly SnmpCredential[];
  readonly remembered: WorkingCredential | null;
  /** What the agent has told so far; null where that is not known. */
  readonly served: ServedBefore | null;
  /** Asked before everything that is sent with a credential: false from when it was taken back or changed. */
  readonly maySend: (credential: SnmpCredential) => boolean;
  readonly signal: AbortSignal;
}

export interface Probes {
  /**
   * Finds out which of these addresses answer; asks no other.
   * @returns by which means it asked, for people. Once the signal is aborted, soon and in any way
   */
  sweep(addresses: readonly string[], signal: AbortSignal, events: SweepEvents): Promise<{ readonly means: string }>;
  /** Reads a device with the first credential that opens it. Once the signal is aborted, soon and in any way. */
  askDevice(address: string, options: AskOptions): Promise<AskedDevice>;
  /** The link-layer address that this machine knows of an address on one of its own links; null where it knows none. */
  macOf(address: string): string | null;
  /** The addresses of a name; null where nobody answers. Once the signal is aborted, soon and in any way. */
  addressesOf(name: string, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Forgets what was made of the credentials' secrets. To be called when nobody is asked: it is made anew where it is missing. */
  forgetSecrets(): void;
}
