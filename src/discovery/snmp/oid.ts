// The order of dotted OIDs, and of indexes, which are their ends. Pure.

/**
 * Less than, equal to or greater than nought as `a` comes before, is, or comes after `b`: by their numbers, one after
 * the other, a shorter one first. Both as net-snmp writes them: decimal, without leading noughts.
 */
export function compareOids(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length) {
    if (a.length === b.length) return 0;
    // One begins with the other: it goes on with a dot, or its last number is longer. Either way it is the greater.
    return a.length - b.length;
  }
  // The first number that differs: of two lengths the longer is the greater, else the first digit that differs tells.
  const digits = endOfNumber(a, at) - endOfNumber(b, at);
  return digits !== 0 ? digits : a.charCodeAt(at) - b.charCodeAt(at);
}

const DOT = 46;

function endOfNumber(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== DOT) at += 1;
  return at;
}
