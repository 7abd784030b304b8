// Addresses next to each other, as numbers: how many, which are shared, which are left. Pure. Must not know what an
// address is used for.

import { type Cidr, type Ip, ipOfBytes, parseIp } from "./ip.ts";

/** From the first to the last, both in it. Of one version of IP, which it does not know. */
export interface AddressBlock {
  readonly first: bigint;
  readonly last: bigint;
}

/** The block of a prefix. */
export function prefixBlock({ bytes, prefixLength }: Pick<Cidr, "bytes" | "prefixLength">): AddressBlock {
  const first = BigInt(`0x${bytes.toHex()}`);
  return { first, last: first + (1n << BigInt(bytes.length * 8 - prefixLength)) - 1n };
}

/** An address as a number. @param text canonical */
export function addressNumber(text: string): bigint {
  return text.includes(":") ? BigInt(`0x${parseIp(text)?.bytes.toHex() ?? "0"}`) : BigInt(ipv4Number(text));
}

/** A number as an address, canonical. */
export function addressAt(at: bigint, version: 4 | 6): string {
  const digits = at.toString(16).padStart(version === 4 ? 8 : 32, "0");
  return (ipOfBytes(Uint8Array.fromHex(digits)) as Ip).text;
}

/** Four decimal numbers, digit by digit. */
export function ipv4Number(text: string): number {
  return ipv4Between(text, 0, text.length);
}

/** Of addresses with commas between them; none of an empty text. */
export function ipv4Numbers(text: string): number[] {
  const numbers: number[] = [];
  for (let from = 0; from < text.length; ) {
    const comma = text.indexOf(",", from);
    const to = comma < 0 ? text.length : comma;
    numbers.push(ipv4Between(text, from, to));
    from = to + 1;
  }
  return numbers;
}

function ipv4Between(text: string, from: number, to: number): number {
  let [value, part] = [0, 0];
  for (let place = from; place < to; place += 1) {
    const code = text.charCodeAt(place);
    if (code === DOT) {
      value = value * 256 + part;
      part = 0;
    } else part = part * 10 + code - ZERO;
  }
  return value * 256 + part;
}

const DOT = ".".charCodeAt(0);
const ZERO = "0".charCodeAt(0);

/** In the order of their first addresses. */
export function blockOrder(a: AddressBlock, b: AddressBlock): number {
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

export function blockContains(outer: AddressBlock, inner: AddressBlock): boolean {
  return outer.first <= inner.first && outer.last >= inner.last;
}

/** The same addresses as blocks in order that share none. */
export function mergedBlocks(blocks: readonly AddressBlock[]): AddressBlock[] {
  const apart: Array<{ first: bigint; last: bigint }> = [];
  for (const { first, last } of [...blocks].sort(blockOrder)) {
    const previous = apart.at(-1);
    if (previous === undefined || previous.last < first) apart.push({ first, last });
    else if (previous.last < last) previous.last = last;
  }
  return apart;
}

/** What is left of a block without others, in order. */
export function blocksOutside(block: AddressBlock, others: readonly AddressBlock[]): AddressBlock[] {
  const left: AddressBlock[] = [];
  let from = block.first;
  for (const { first, last } of mergedBlocks(others)) {
    if (last < from) continue;
    if (first > block.last) break;
    if (first > from) left.push({ first: from, last: first - 1n });
    from = last + 1n;
  }
  if (from <= block.last) left.push({ first: from, last: block.last });
  return left;
}

export function blockSize({ first, last }: AddressBlock): bigint {
  return last - first + 1n;
}

/** How many addresses two blocks have in common. */
export function sharedAddresses(one: AddressBlock, other: AddressBlock): bigint {
  const first = one.first > other.first ? one.first : other.first;
  const last = one.last < other.last ? one.last : other.last;
  return last < first ? 0n : last - first + 1n;
}
