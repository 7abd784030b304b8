// Address blocks as numeric ranges: size, overlap and gaps. Independent of the use of an address.

import { type Cidr, type Ip, ipOfBytes, parseIp } from "./ip.ts";

/** Inclusive range of addresses of one IP version, which it does not record. */
export interface AddressBlock {
  readonly first: bigint;
  readonly last: bigint;
}

/** The block of a prefix. */
export function prefixBlock({ bytes, prefixLength }: Pick<Cidr, "bytes" | "prefixLength">): AddressBlock {
  const first = BigInt(`0x${bytes.toHex()}`);
  return { first, last: first + (1n << BigInt(bytes.length * 8 - prefixLength)) - 1n };
}

/** The block of a prefix with its IP version. @param text canonical */
export function cidrBlock(text: string): AddressBlock & { readonly version: 4 | 6 } {
  const slash = text.indexOf("/");
  const version = text.includes(":") ? 6 : 4;
  const first = addressNumber(text.slice(0, slash));
  const hostBits = (version === 4 ? 32 : 128) - Number(text.slice(slash + 1));
  return { version, first, last: first + (1n << BigInt(hostBits)) - 1n };
}

/** @param text canonical address */
export function addressNumber(text: string): bigint {
  return text.includes(":") ? BigInt(`0x${parseIp(text)?.bytes.toHex() ?? "0"}`) : BigInt(ipv4Number(text));
}

/** The canonical text of a numeric address. */
export function addressAt(value: bigint, version: 4 | 6): string {
  const digits = value.toString(16).padStart(version === 4 ? 8 : 32, "0");
  return (ipOfBytes(Uint8Array.fromHex(digits)) as Ip).text;
}

/** Parses four decimal numbers digit by digit. */
export function ipv4Number(text: string): number {
  let [value, part] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      value = value * 256 + part;
      part = 0;
    } else part = part * 10 + code - ZERO;
  }
  return value * 256 + part;
}

/** Distinct IPv4 addresses of a comma-separated text, ascending; empty for an empty text. */
export function ipv4Numbers(text: string): Uint32Array {
  // An address has at least seven characters, and all but the first follow a comma.
  const numbers = new Uint32Array((text.length + 1) >> 3);
  if (numbers.length === 0) return numbers;
  let count = 0;
  let previous = -1;
  let isAscending = true;
  let value = 0;
  let part = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : COMMA;
    if (code >= ZERO) {
      part = part * 10 + code - ZERO;
      continue;
    }
    // 32-bit arithmetic is much faster than multiplication.
    value = ((value << 8) | part) >>> 0;
    part = 0;
    if (code !== COMMA) continue;
    if (value <= previous) isAscending = false;
    previous = value;
    numbers[count] = value;
    count += 1;
    value = 0;
  }
  const all = numbers.subarray(0, count);
  return isAscending ? all : withoutDuplicates(all.sort());
}

/** @param ascending is overwritten */
function withoutDuplicates(ascending: Uint32Array): Uint32Array {
  let count = 0;
  for (const number of ascending) {
    if (count > 0 && ascending[count - 1] === number) continue;
    ascending[count] = number;
    count += 1;
  }
  return ascending.subarray(0, count);
}

const COMMA = ",".charCodeAt(0);
const DOT = ".".charCodeAt(0);
const ZERO = "0".charCodeAt(0);

/** By first address. */
export function blockOrder(a: AddressBlock, b: AddressBlock): number {
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

export function blockContains(outer: AddressBlock, inner: AddressBlock): boolean {
  return outer.first <= inner.first && outer.last >= inner.last;
}

/** The same addresses as sorted, disjoint blocks. */
export function mergedBlocks(blocks: readonly AddressBlock[]): AddressBlock[] {
  const merged: Array<{ first: bigint; last: bigint }> = [];
  for (const { first, last } of [...blocks].sort(blockOrder)) {
    const previous = merged.at(-1);
    if (previous === undefined || previous.last < first) merged.push({ first, last });
    else if (previous.last < last) previous.last = last;
  }
  return merged;
}

/** The parts of a block outside all others, in order. */
export function blocksOutside(block: AddressBlock, others: readonly AddressBlock[]): AddressBlock[] {
  const gaps: AddressBlock[] = [];
  let from = block.first;
  for (const { first, last } of mergedBlocks(others)) {
    if (last < from) continue;
    if (first > block.last) break;
    if (first > from) gaps.push({ first: from, last: first - 1n });
    from = last + 1n;
  }
  if (from <= block.last) gaps.push({ first: from, last: block.last });
  return gaps;
}

export function blockSize({ first, last }: AddressBlock): bigint {
  return last - first + 1n;
}

/** Number of common addresses of two blocks. */
export function sharedAddresses(a: AddressBlock, b: AddressBlock): bigint {
  const first = a.first > b.first ? a.first : b.first;
  const last = a.last < b.last ? a.last : b.last;
  return last < first ? 0n : last - first + 1n;
}
