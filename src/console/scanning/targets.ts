// Parser for typed scan targets. Pure; the API validates them.

import type { Refusal } from "../api/refusal.ts";

/** Without duplicates, in the order typed. */
export function targetsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
}

const BITS = { 4: 32, 6: 128 } as const;
/** Shorter IPv4 prefixes are scanned only with confirmation. */
const LARGEST_PREFIX = 16;

/** Maximum number of addresses in the targets; null if one is invalid. */
export function addressesOfTargets(targets: readonly string[]): number | null {
  let sum = 0;
  for (const target of targets) {
    const length = prefixLength(target);
    if (length === null) return null;
    sum += 2 ** (BITS[target.includes(":") ? 6 : 4] - length);
  }
  return sum;
}

/** Whether a target is large enough to require confirmation. */
export function areLarge(targets: readonly string[]): boolean {
  return targets.some((target) => !target.includes(":") && (prefixLength(target) ?? LARGEST_PREFIX) < LARGEST_PREFIX);
}

/** Full length for a single address. */
function prefixLength(target: string): number | null {
  const bits = BITS[target.includes(":") ? 6 : 4];
  const match = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(target);
  if (match === null) return null;
  const length = match[2] === undefined ? bits : Number(match[2]);
  return length <= bits ? length : null;
}

/**
 * Local check of a target: must be an address or a subnet, for IPv4 without host bits. Null if valid.
 * @returns `meant`, the subnet that contains it; null if unreadable
 */
export function wrongTarget(target: string): { readonly meant: string | null } | null {
  const length = prefixLength(target);
  if (length === null) return { meant: null };
  const [address = ""] = target.split("/");
  if (target.includes(":")) return isIpv6(address) ? null : { meant: null };
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return { meant: null };
  // Arithmetic instead of bit operations, which are signed 32-bit in JavaScript.
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

/** Messages on rejected targets, each with the target as typed. */
export function refusedTargets(problem: Pick<Refusal, "issues"> | null, targets: readonly string[]): string[] {
  return (problem?.issues ?? []).flatMap(({ path, message }) => {
    const index = /^\/targets\/(\d+)$/.exec(path)?.[1];
    return index === undefined ? [] : [`${targets[Number(index)] ?? ""} ${message}`];
  });
}
