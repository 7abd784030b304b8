// What was typed as targets of a scan. Plain functions; whether they are any good is the API's to say.

import type { Refusal } from "../api/refusal.ts";

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

/**
 * What can be known of a target to be wrong: that it is neither an address nor a subnet, or an IPv4 subnet with bits of a
 * host. Null for nothing.
 * @returns `meant`, the subnet that it lies in; null where it is none
 */
export function wrongTarget(target: string): { readonly meant: string | null } | null {
  const length = prefixLength(target);
  if (length === null) return { meant: null };
  const [address = ""] = target.split("/");
  if (target.includes(":")) return isIpv6(address) ? null : { meant: null };
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return { meant: null };
  // In steps of whole numbers: bits of JavaScript have a sign.
  const number = parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (BITS[4] - length);
  const first = number - (number % size);
  if (first === number) return null;
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return { meant: `${octets.join(".")}/${length}` };
}

function isIpv6(address: string): boolean {
  return URL.canParse(`http://[${address}]/`);
}

/** What an order was refused for of its targets, each in the words that it was typed in. */
export function refusedTargets(problem: Pick<Refusal, "issues"> | null, targets: readonly string[]): string[] {
  return (problem?.issues ?? []).flatMap(({ path, message }) => {
    const index = /^\/targets\/(\d+)$/.exec(path)?.[1];
    return index === undefined ? [] : [`${targets[Number(index)] ?? ""} ${message}`];
  });
}
