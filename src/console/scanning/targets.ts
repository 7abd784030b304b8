// Parser for typed scan targets, which the API validates. Pure.

import type { Refusal } from "../api/refusal.ts";

/** Targets in a string, without duplicates, in the order typed. */
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
export function isAnyLarge(targets: readonly string[]): boolean {
  return targets.some((target) => !target.includes(":") && (prefixLength(target) ?? LARGEST_PREFIX) < LARGEST_PREFIX);
}

/** Prefix length of a target: the full length for a single address; null if unreadable. */
function prefixLength(target: string): number | null {
  const bits = BITS[target.includes(":") ? 6 : 4];
  const match = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(target);
  if (match === null) return null;
  const length = match[2] === undefined ? bits : Number(match[2]);
  return length <= bits ? length : null;
}

/**
 * Checks a target locally: it must be an address or a subnet, for IPv4 without host bits.
 * @returns null if valid; else the subnet that contains the target as `suggestion`, or null if unreadable
 */
export function checkTarget(target: string): { readonly suggestion: string | null } | null {
  const length = prefixLength(target);
  if (length === null) return { suggestion: null };
  const [address = ""] = target.split("/");
  if (target.includes(":")) return isIpv6(address) ? null : { suggestion: null };
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return { suggestion: null };
  // Arithmetic instead of bit operations, which are signed 32-bit in JavaScript.
  const number = parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (BITS[4] - length);
  const first = number - (number % size);
  if (first === number) return null;
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return { suggestion: `${octets.join(".")}/${length}` };
}

function isIpv6(address: string): boolean {
  return URL.canParse(`http://[${address}]/`);
}

/** Messages about rejected targets, each with the target as typed. */
export function targetErrorsOf(problem: Pick<Refusal, "issues"> | null, targets: readonly string[]): string[] {
  return (problem?.issues ?? []).flatMap(({ path, message }) => {
    const index = /^\/targets\/(\d+)$/.exec(path)?.[1];
    return index === undefined ? [] : [`${targets[Number(index)] ?? ""} ${message}`];
  });
}
