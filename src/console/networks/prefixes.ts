// Arithmetic on addresses and prefixes in canonical form. Pure.

/** Numeric value of an address. */
export function addressToNumber(address: string): bigint {
  if (!address.includes(":")) return address.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const [head = "", tail] = address.split("::");
  const before = head.split(":").filter(Boolean);
  const after = (tail ?? "").split(":").filter(Boolean);
  const between = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...between, ...after].reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
}

/** IPv4 address from its numeric value. */
export function numberToAddress(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
}

/** Whether a prefix contains an address or another prefix. */
export function isWithinPrefix(cidr: string, other: string): boolean {
  const [base = "", length = ""] = cidr.split("/");
  const [address = "", otherLength] = other.split("/");
  if (base.includes(":") !== address.includes(":")) return false;
  if (otherLength !== undefined && Number(otherLength) < Number(length)) return false;
  const shift = BigInt((base.includes(":") ? 128 : 32) - Number(length));
  return addressToNumber(base) >> shift === addressToNumber(address) >> shift;
}

/** Octets that distinguish a block within an IPv4 prefix: `5` for 10.0.5.0/24 in 10.0.0.0/16. */
export function blockName(parent: string, block: string): string {
  const lengthOf = (cidr: string) => Number(cidr.slice(cidr.indexOf("/") + 1));
  const octets = block.slice(0, block.indexOf("/")).split(".");
  return octets.slice(Math.floor(lengthOf(parent) / 8), Math.ceil(lengthOf(block) / 8)).join(".");
}
