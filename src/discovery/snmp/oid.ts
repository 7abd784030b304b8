// Sort order of dotted OIDs and of indexes, which are OID suffixes. Pure.

/**
 * Returns a number below, equal to or above 0 as `a` sorts before, equal to or after `b`: by sub-identifier, a prefix
 * first. Both in net-snmp's format: decimal, without leading zeros.
 */
export function compareOids(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  if (index === length) {
    if (a.length === b.length) return 0;
    // One is a prefix of the other, which continues with a dot or a longer last number. Either way the longer is
    // greater.
    return a.length - b.length;
  }
  // First differing number: the one with more digits is greater, else the first differing digit decides.
  const digits = endOfNumber(a, index) - endOfNumber(b, index);
  return digits !== 0 ? digits : a.charCodeAt(index) - b.charCodeAt(index);
}

const DOT = 46;

function endOfNumber(text: string, from: number): number {
  let index = from;
  while (index < text.length && text.charCodeAt(index) !== DOT) index += 1;
  return index;
}
