// Who made the device that a MAC address belongs to, by the IEEE's registry, which is part of the program.

import { brotliDecompressSync } from "node:zlib";
import { isGroupAddress, isLocallyAdministered } from "../../base/mac.ts";
import { compactRegistry } from "./compact-registry.ts" with { type: "macro" };
import { type Registry, registeredName, unpackRegistry } from "./registry-format.ts";

/**
 * The registrant of a canonical MAC address, by the longest prefix that is registered: `Cisco Systems, Inc`. Null where
 * there is none, where the registrant is not reported ("Private", or a block of which the IEEE gives away parts and
 * this part is not listed), for addresses that software made up (locally administered) and for those of groups. The
 * first call takes some milliseconds.
 */
export function vendorOf(mac: string): string | null {
  if (isGroupAddress(mac) || isLocallyAdministered(mac)) return null;
  registry ??= unpackRegistry(brotliDecompressSync(Buffer.from(COMPACT_REGISTRY, "base64")));
  const name = registeredName(registry, mac.replaceAll(":", ""));
  return name === null || NO_VENDORS.has(name) ? null : name;
}

const COMPACT_REGISTRY = compactRegistry();

const NO_VENDORS: ReadonlySet<string> = new Set(["", "Private", "IEEE Registration Authority"]);

let registry: Registry | undefined;
