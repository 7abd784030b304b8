// MAC addresses (EUI-48, IEEE 802) as values: strict reading into one canonical text.

/**
 * Reads `aa:bb:cc:dd:ee:ff`, `AA-BB-CC-DD-EE-FF` (IEEE 802) or `aabb.ccdd.eeff` (Cisco), in any case, and gives lower case with colons.
 * Null for anything else: mixed separators, single digits, no separators, EUI-64.
 */
export function parseMac(text: string): string | null {
  if (!MAC.test(text)) return null;
  const digits = text.replace(/[:.-]/g, "").toLowerCase();
  return digits.replace(/(..)(?=.)/g, "$1:");
}

/** `\1` and not a second class: all separators must be the same. */
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})$/i;
