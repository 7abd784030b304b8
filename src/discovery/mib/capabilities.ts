// Decoders for the capabilities that devices announce: LLDP (IEEE 802.1AB §8.5.8) and CDP (CISCO-CDP-MIB).

import {
  CDP_CAPABILITIES,
  type CdpCapability,
  LLDP_CAPABILITIES,
  type LldpCapability,
} from "../../resources/if-entries/vocabulary.ts";
import type { SnmpValue } from "./reads.ts";

/**
 * LldpSystemCapabilitiesMap: the enabled capabilities; the supported ones if none is enabled, as on phones before their
 * call server responds. Null if the list is empty; undefined if neither value is served as bits.
 */
export function lldpCapabilitiesOf(
  enabled: SnmpValue | undefined,
  supported: SnmpValue | undefined,
): readonly LldpCapability[] | null | undefined {
  const lists = [enabled, supported].flatMap((value) => lldpNames(value) ?? []);
  return lists.length === 0 ? undefined : (lists.find((names) => names.length > 0) ?? null);
}

/** cdpCacheCapabilities: a number of four octets, in network order. Undefined if none is set or served. */
export function cdpCapabilitiesOf(value: SnmpValue | undefined): readonly CdpCapability[] | undefined {
  if (!(value instanceof Uint8Array) || value.length !== 4) return undefined;
  const bits = value.reduce((number, octet) => number * 256 + octet, 0);
  const names = namesIn(CDP_CAPABILITIES, bits);
  return names.length === 0 ? undefined : names;
}

/** BITS (RFC 2578 §7.1.4): bit 0 is the most significant bit of the first octet. Wrapped in a list for flatMap. */
function lldpNames(value: SnmpValue | undefined): [readonly LldpCapability[]] | null {
  if (!(value instanceof Uint8Array) || value.length === 0 || value.length > 4) return null;
  const [first = 0, second = 0] = value;
  // Some agents copy the 16-bit number of the TLV instead, whose lowest bit is bit 0.
  const isTlv = value.length === 2 && first === 0 && (second & 0x1f) !== 0;
  return [namesIn(LLDP_CAPABILITIES, isTlv ? second : reversed(first) + reversed(second) * 256)];
}

/** Names of the set bits, starting with the least significant. */
function namesIn<Name extends string>(names: readonly Name[], bits: number): Name[] {
  return names.filter((_, position) => (bits & (1 << position)) !== 0);
}

function reversed(octet: number): number {
  let bits = 0;
  for (let position = 0; position < 8; position++) if ((octet & (1 << position)) !== 0) bits |= 0x80 >> position;
  return bits;
}
