// SNMP engine IDs (SnmpEngineID, RFC 3411 §5) as signs of a device, in hexadecimal. Pure.

import { parseIp } from "../../base/ip.ts";

/** Minimum length of text to search for: many engine IDs contain shorter text by chance. */
const TEXT_LENGTH_MIN = 4;

/**
 * Returns an engine ID that adds information to the other signs; null for a factory default, and for one derived from
 * an IP address, or from a MAC address, serial number or name of the device.
 * @param macs of the device
 * @param texts serial numbers and names of the device, in lower case
 */
export function engineSign(
  engineId: string | null | undefined,
  macs: Iterable<string | null | undefined>,
  texts: Iterable<string | null>,
): string | null {
  if (typeof engineId !== "string") return null;
  const { format, payload } = partsOf(engineId);
  if (format === IPV4 || format === IPV6 || isFiller(payload)) return null;
  const text = Buffer.from(payload, "hex").toString("latin1").toLowerCase();
  if (parseIp(text) !== null) return null;
  const contained = new Set([...macsIn(engineId, 2), ...macsIn(text.replaceAll(/[:.-]/g, ""), 1)]);
  for (const mac of macs) if (typeof mac === "string" && contained.has(mac)) return null;
  for (const each of texts) if (each !== null && each.length >= TEXT_LENGTH_MIN && text.includes(each)) return null;
  return engineId;
}

/** True if two engine IDs prove two devices: net-snmp may generate a new random one at each start. */
export function isOtherEngine(some: string | null, other: string | null): boolean {
  return some !== null && other !== null && some !== other && ![some, other].some((each) => each.startsWith(RANDOM));
}

const IPV4 = 1;
const IPV6 = 2;
/** Enterprise 8072 (net-snmp), format 128. */
const RANDOM = "80001f8880";
/** Digits of the enterprise number; the format follows if its highest bit is set. */
const ENTERPRISE_DIGITS = 8;

function partsOf(engineId: string): { readonly format: number | null; readonly payload: string } {
  const hasFormat = Number.parseInt(engineId.slice(0, 2), 16) >= 0x80;
  if (!hasFormat) return { format: null, payload: engineId.slice(ENTERPRISE_DIGITS) };
  const [format, payload] = [
    engineId.slice(ENTERPRISE_DIGITS, ENTERPRISE_DIGITS + 2),
    engineId.slice(ENTERPRISE_DIGITS + 2),
  ];
  return { format: Number.parseInt(format, 16), payload };
}

/** True for an empty ID, a repeated octet, and consecutive octets: 01 02 03. */
function isFiller(payload: string): boolean {
  const octets = [...Buffer.from(payload, "hex")];
  const steps = new Set(octets.slice(1).map((octet, index) => octet - (octets[index] as number)));
  return steps.size === 0 || (steps.size === 1 && (steps.has(0) || steps.has(1)));
}

/** Yields every twelve consecutive hexadecimal digits as a MAC address. */
function* macsIn(text: string, step: number): Generator<string> {
  for (let from = 0; from + MAC_DIGITS <= text.length; from += step) {
    const digits = text.slice(from, from + MAC_DIGITS);
    if (/^[0-9a-f]+$/.test(digits)) yield digits.replaceAll(/(..)(?=.)/g, "$1:");
  }
}

const MAC_DIGITS = 12;
