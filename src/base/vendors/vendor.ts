// Who made the device that a MAC address belongs to, by the IEEE's registry, which is part of the program.

import { brotliDecompressSync } from "node:zlib";
import { isGroupAddress, isLocallyAdministered, type MacType, macTypeOf } from "../mac.ts";
import { compactRegistry } from "./compact-registry.ts" with { type: "macro" };
import { type Registration, type Registry, registrationOf, unpackRegistry } from "./registry-format.ts";
import { knownUse } from "./well-known.ts";

/**
 * The registrant of a canonical MAC address, by the longest prefix that is registered: `Cisco Systems, Inc`. Null where
 * there is none, where the registrant is not reported ("Private", or a block of which the IEEE gives away parts and
 * this part is not listed), for addresses that software made up (locally administered) and for those of groups. The
 * first call of a thread takes twenty milliseconds, and from then on two megabytes.
 */
export function vendorOf(mac: string): string | null {
  return registered(mac)?.name ?? null;
}

/** What a MAC address tells by itself. */
export interface MacTold {
  readonly vendor: string | null;
  readonly type: MacType;
  /** What it is known for: `VRRP virtual router 10`, `Docker container`; null for most. */
  readonly known_use: string | null;
}

/** What stands beside a MAC address wherever one is answered. @param mac canonical */
export function macTold(mac: string): MacTold {
  return { vendor: vendorOf(mac), type: macTypeOf(mac), known_use: knownUse(mac) };
}

/**
 * The block that an address is of, and its registrant; null as vendorOf.
 * @param mac canonical, or the beginning of an address as parseMacPrefix gives it
 */
export function registered(mac: string): Registration | null {
  if (isGroupAddress(mac) || isLocallyAdministered(mac)) return null;
  registry ??= unpackRegistry(brotliDecompressSync(Buffer.from(COMPACT_REGISTRY, "base64")));
  const found = registrationOf(registry, mac.replaceAll(":", ""));
  return found === null || NO_VENDORS.has(found.name) ? null : found;
}

const COMPACT_REGISTRY = compactRegistry();

const NO_VENDORS: ReadonlySet<string> = new Set(["", "Private", "IEEE Registration Authority"]);

let registry: Registry | undefined;
