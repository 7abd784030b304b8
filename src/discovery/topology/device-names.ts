// Device names in announcements, and rules for their equality. Pure.

import { parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import { foldCase } from "../../base/text.ts";

/** Default names. */
const DEFAULT_NAMES = new Set([
  "",
  "localhost",
  "localhost.localdomain",
  "localhost.local",
  "(none)",
  "none",
  "null",
  "unknown",
  "not advertised",
  "n/a",
  "-",
]);

/** Lower case without the root dot; null for an address or a default name. */
export function deviceName(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const folded = foldCase(text.trim()).replace(/\.$/, "");
  return DEFAULT_NAMES.has(folded) || parseIp(folded) !== null || BARE_MAC.test(folded) || parseMac(folded) !== null
    ? null
    : folded;
}

type NameRelation = "Same" | "Short" | "Different";

/** For names in the format of deviceName. Short: one lacks its domain. Different domains make different names. */
export function compareNames(a: string, b: string): NameRelation {
  if (a === b) return "Same";
  return a.startsWith(`${b}.`) || b.startsWith(`${a}.`) ? "Short" : "Different";
}

/** Possible interpretations of a CDP device ID. */
interface DeviceId {
  /** In the format of deviceName. */
  readonly name: string | null;
  /** True if it is certainly a name, not a serial number. */
  readonly isNamed: boolean;
  /** In the format of serialKey. */
  readonly serial: string | null;
  readonly mac: string | null;
}

const NO_ID: DeviceId = { name: null, isNamed: false, serial: null, mac: null };

/**
 * Parses, for example: `sw1.example.com`, `sw1(FOC1234X0YZ)` (NX-OS), `TBA04120731(sw1)` (CatOS), a serial number, a
 * MAC address in any form, `SEP001122334455` (phones).
 */
export function readDeviceId(text: string | undefined): DeviceId {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return NO_ID;
  const mac = macIn(trimmed);
  // A phone's name contains its MAC address.
  if (mac !== null) return { name: deviceName(trimmed), isNamed: true, serial: null, mac };
  const [, outside, inside] = /^([^()]+)\(([^()]+)\)$/.exec(trimmed) ?? [];
  if (outside !== undefined && inside !== undefined) {
    const isSerialFirst = looksLikeSerial(outside) && !looksLikeSerial(inside);
    const [name, serial] = isSerialFirst ? [inside, outside] : [outside, inside];
    return { name: deviceName(name), isNamed: true, serial: serialKey(serial), mac: null };
  }
  return looksLikeSerial(trimmed)
    ? { name: deviceName(trimmed), isNamed: false, serial: serialKey(trimmed), mac: null }
    : { name: deviceName(trimmed), isNamed: true, serial: null, mac: null };
}

/** In comparable form; null if empty. */
export function serialKey(text: string | null | undefined): string | null {
  const key = text?.trim().toUpperCase() ?? "";
  return key === "" ? null : key;
}

/** Parses a MAC address in any form, also after a phone's prefix; null for any other text. */
export function macIn(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length < 12 || trimmed.length > 20) return null;
  const mac = parseMac(trimmed);
  if (mac !== null) return mac;
  // `0011.2233.4455`, `001122334455`, `001122334455:P1`, `SEP001122334455`.
  const [, digits] = /^(?:SEP|SIP|ATA|AP)?([0-9a-f]{12})(?::P\d+)?$/i.exec(trimmed) ?? [];
  return digits === undefined ? null : digits.toLowerCase().replaceAll(/(..)(?=.)/g, "$1:");
}

const BARE_MAC = /^[0-9a-f]{12}$/i;

/** Upper case and digits, both, of a manufacturer's usual length: `FOC1234X0YZ`. */
function looksLikeSerial(text: string): boolean {
  return /^[A-Z0-9]{8,16}$/.test(text) && /[A-Z]/.test(text) && (text.match(/\d/g) ?? []).length >= 4;
}
