// Vendor of a MAC address by the embedded IEEE registry.

import { brotliDecompressSync } from "node:zlib";
import { isGroupAddress, isLocallyAdministered, type MacType, macTypeOf } from "../mac.ts";
import { compactRegistry } from "./compact-registry.ts" with { type: "macro" };
import { type Registration, type Registry, registrationOf, unpackRegistry } from "./registry-format.ts";
import { knownUse } from "./well-known.ts";

/**
 * Registrant of a canonical MAC address by longest-prefix match: `Cisco Systems, Inc`. Null if there is none, if it is
 * not reported ("Private", or an unlisted part of a block that the IEEE subdivides), and for locally administered and
 * group addresses. The first call in a thread takes twenty milliseconds and two megabytes of memory.
 */
export function vendorOf(mac: string): string | null {
  return findRegistration(mac)?.name ?? null;
}

/** Information derived from a MAC address. */
export interface MacInfo {
  readonly vendor: string | null;
  readonly type: MacType;
  /** Well-known use: `VRRP virtual router 10`, `Docker container`; null for most addresses. */
  readonly known_use: string | null;
}

/** Fields added to MAC addresses in responses. @param mac canonical */
export function macInfo(mac: string): MacInfo {
  return { vendor: vendorOf(mac), type: macTypeOf(mac), known_use: knownUse(mac) };
}

/**
 * The registered block of an address and its registrant; null as for vendorOf.
 * @param mac canonical, or a prefix as returned by parseMacPrefix
 */
export function findRegistration(mac: string): Registration | null {
  if (isGroupAddress(mac) || isLocallyAdministered(mac)) return null;
  registry ??= unpackRegistry(brotliDecompressSync(Buffer.from(COMPACT_REGISTRY, "base64")));
  const found = registrationOf(registry, mac.replaceAll(":", ""));
  return found === null || NO_VENDORS.has(found.name) ? null : found;
}

const COMPACT_REGISTRY = compactRegistry();

const NO_VENDORS: ReadonlySet<string> = new Set(["", "Private", "IEEE Registration Authority"]);

let registry: Registry | undefined;
