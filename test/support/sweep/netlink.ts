// Kernel messages as bytes, in little-endian order: netlink(7).

export function u16(value: number): number[] {
  return [value & 0xff, value >> 8];
}

export function u32(value: number): number[] {
  return [...u16(value & 0xffff), ...u16(value >>> 16)];
}

export function attribute(type: number, value: Iterable<number> & { readonly length: number }): number[] {
  return [...u16(value.length + 4), ...u16(type), ...value, ...Array.from({ length: -value.length & 3 }, () => 0)];
}

export function message(type: number, flags: number, ...parts: readonly number[][]): number[] {
  const body = parts.flat();
  return [...u32(body.length + 16), ...u16(type), ...u16(flags), ...u32(1), ...u32(4711), ...body];
}
