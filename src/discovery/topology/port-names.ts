// Equality of interface names on one device: manufacturers abbreviate differently. Pure.

import { foldCase } from "../../base/text.ts";

/** Abbreviation → kind of interface. */
const KINDS = new Map(
  Object.entries({
    ethernet: ["e", "et", "eth", "ethernet"],
    fastethernet: ["f", "fa", "fas", "fast", "fastethernet"],
    gigabitethernet: ["g", "gi", "gig", "ge", "gige", "gigabit", "gigabiteth", "gigabitethernet"],
    twogigabitethernet: ["tw", "two", "twogig", "twogigabitethernet"],
    fivegigabitethernet: ["fi", "fiv", "five", "fivegigabitethernet"],
    tengigabitethernet: [
      "t",
      "te",
      "ten",
      "tengig",
      "tengige",
      "tengigabitethernet",
      "ten-gigabitethernet",
      "xge",
      "xgigabitethernet",
    ],
    twentyfivegige: ["twe", "twentyfivegige", "twentyfivegigabitethernet", "twenty-fivegige"],
    fortygige: ["fo", "fge", "fortygige", "fortygigabitethernet", "forty-gigabitethernet"],
    fiftygige: ["fif", "fiftygige"],
    hundredgige: ["hu", "hge", "hundredgige", "hundredgigabitethernet", "hundred-gigabitethernet"],
    fourhundredgige: ["fou", "fourhundredgige"],
    appgigabitethernet: ["ap", "appgigabitethernet"],
    "port-channel": ["po", "port-channel", "portchannel"],
    "bundle-ether": ["be", "bundle-ether", "bundleether"],
    "bridge-aggregation": ["bagg", "bridge-aggregation"],
    "eth-trunk": ["eth-trunk", "ethtrunk"],
    vlan: ["vl", "vlan"],
    loopback: ["lo", "loopback"],
    tunnel: ["tu", "tunnel"],
    serial: ["s", "se", "serial"],
    management: ["ma", "mgmt", "management"],
  }).flatMap(([kind, abbreviations]) => abbreviations.map((abbreviation) => [abbreviation, kind] as const)),
);

/** Letters, optional spaces, then only numbers with separators: `GigabitEthernet 0/1`. */
const NAME_PATTERN = /^([a-z][a-z-]*?)\s*(\d[\d/.:]*)$/;
/** Junos: a port and its unit: `xe-0/0/0.0`, `ae3.100`. */
const UNIT = /^((?:[a-z]{2}-\d+\/\d+\/\d+(?::\d+)?)|(?:ae|reth)\d+)\.\d+$/;

const PLAIN = /^[!-~]*$/;

export function foldPortName(name: string): string {
  // The common case, about 100,000 times per network.
  if (PLAIN.test(name)) return name.toLowerCase();
  return foldCase(name.trim()).replaceAll(/\s+/g, " ");
}

/**
 * Canonical form, equal for all names of one interface: `Gi0/1`, `GigabitEthernet0/1`; `xe-0/0/0`, `xe-0/0/0.0`.
 * @param folded from foldPortName
 */
function portNameKey(folded: string): string {
  const [, letters, numbers] = NAME_PATTERN.exec(folded) ?? [];
  if (letters !== undefined && numbers !== undefined) {
    const kind = KINDS.get(letters);
    if (kind !== undefined) return kind + numbers;
    if (!folded.includes(".")) return letters + numbers;
  }
  return UNIT.exec(folded)?.[1] ?? folded;
}

/** Computes each form once: the ports of 1,000 switches have equal names. */
export class PortNameKeys {
  private readonly known = new Map<string, string>();

  /** portNameKey of an unfolded name; "" if blank. */
  of(name: string): string {
    let key = this.known.get(name);
    if (key === undefined) {
      key = portNameKey(foldPortName(name));
      this.known.set(name, key);
    }
    return key;
  }
}

/** True if it names a unit of a port. @param folded from foldPortName */
export function isUnitName(folded: string): boolean {
  return UNIT.test(folded);
}

/** Returns the number at the end of a name: 7 for `RMON Port 7` and `gi1/7`; null if none. */
export function lastNumber(name: string): number | null {
  const [, digits] = /(\d{1,9})\s*$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}
