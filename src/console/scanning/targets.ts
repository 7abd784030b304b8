// What was typed as targets of a scan. Plain functions; whether they are any good is the API's to say.

/** Each once, in the order they were typed in. */
export function targetsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
}

const BITS = { 4: 32, 6: 128 } as const;
/** IPv4 prefixes above this are scanned only where one says so. */
const LARGEST_PREFIX = 16;

/** How many addresses they have at most; null where one of them is none. */
export function addressesOfTargets(targets: readonly string[]): number | null {
  let sum = 0;
  for (const target of targets) {
    const length = prefixLength(target);
    if (length === null) return null;
    sum += 2 ** (BITS[target.includes(":") ? 6 : 4] - length);
  }
  return sum;
}

/** Whether one of them is so large that it has to be said. */
export function areLarge(targets: readonly string[]): boolean {
  return targets.some((target) => !target.includes(":") && (prefixLength(target) ?? LARGEST_PREFIX) < LARGEST_PREFIX);
}

/** Of an address all its bits. */
function prefixLength(target: string): number | null {
  const bits = BITS[target.includes(":") ? 6 : 4];
  const match = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(target);
  if (match === null) return null;
  const length = match[2] === undefined ? bits : Number(match[2]);
  return length <= bits ? length : null;
}
