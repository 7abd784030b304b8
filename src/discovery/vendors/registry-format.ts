// The registry of MAC prefixes as few bytes: for each length of prefix the sorted prefixes by their distances and the
// numbers of their names, then every name once. Pure: must not know where the entries come from, nor how the bytes are
// compressed.

/**
 * Lengths of prefix in hexadecimal digits, as the IEEE assigns them (MA-S, MA-M, MA-L): the longest first, which is the
 * one that counts.
 */
const PREFIX_LENGTHS = [9, 7, 6] as const;

export interface Registry {
  /** In the order of PREFIX_LENGTHS. */
  readonly blocks: readonly PrefixBlock[];
  readonly names: readonly string[];
}

interface PrefixBlock {
  readonly digits: number;
  /** Ascending. */
  readonly prefixes: Float64Array;
  /** Of each prefix: its place in `names`. */
  readonly nameIndexes: Uint32Array;
}

/**
 * @param entries prefix of 6, 7 or 9 hexadecimal digits → the registrant's name, with an address on the lines behind
 * it. Prefixes of other lengths are refused with an Error, so that a change of the registry does not go unnoticed.
 */
export function packRegistry(entries: Readonly<Record<string, string>>): Uint8Array {
  const named = Object.entries(entries).map(([prefix, text]) => ({ prefix, name: firstLine(text) }));
  const odd = named.find(
    ({ prefix }) => !/^[0-9a-f]+$/i.test(prefix) || !PREFIX_LENGTHS.some((digits) => digits === prefix.length),
  );
  if (odd) throw new Error(`The registry has a prefix that is none: ${odd.prefix}`);
  const names = [...new Set(named.map(({ name }) => name))].sort();
  const indexes = new Map(names.map((name, index) => [name, index]));
  const bytes: number[] = [];
  for (const digits of PREFIX_LENGTHS) {
    const block = named
      .filter(({ prefix }) => prefix.length === digits)
      .map(({ prefix, name }) => ({ value: Number.parseInt(prefix, 16), name }));
    block.sort((a, b) => a.value - b.value);
    pushNumber(bytes, block.length);
    for (const [index, { value }] of block.entries()) pushNumber(bytes, value - (block[index - 1]?.value ?? 0));
    for (const { name } of block) pushNumber(bytes, indexes.get(name) ?? 0);
  }
  return Buffer.concat([Uint8Array.from(bytes), new TextEncoder().encode(names.join("\n"))]);
}

/** What `packRegistry` has packed. */
export function unpackRegistry(bytes: Uint8Array): Registry {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const blocks = PREFIX_LENGTHS.map((digits): PrefixBlock => {
    const count = next();
    const prefixes = new Float64Array(count);
    const nameIndexes = new Uint32Array(count);
    for (let index = 0; index < count; index += 1) prefixes[index] = (prefixes[index - 1] ?? 0) + next();
    for (let index = 0; index < count; index += 1) nameIndexes[index] = next();
    return { digits, prefixes, nameIndexes };
  });
  return { blocks, names: new TextDecoder().decode(bytes.subarray(at)).split("\n") };
}

/** The name that the longest prefix of `hex`, twelve digits, is registered for; null where there is none. */
export function registeredName(registry: Registry, hex: string): string | null {
  for (const { digits, prefixes, nameIndexes } of registry.blocks) {
    const index = indexOf(prefixes, Number.parseInt(hex.slice(0, digits), 16));
    if (index >= 0) return registry.names[nameIndexes[index] ?? -1] ?? null;
  }
  return null;
}

function firstLine(text: string): string {
  return (text.split(/[\r\n]/, 1)[0] ?? "").replace(/\s+/g, " ").trim();
}

/**
 * Seven bits to a byte, the lowest first; the eighth says that more follow. By division: prefixes of nine digits have
 * 36 bits.
 */
function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
}

/** Where a value stands in an ascending array; -1 where it does not. */
function indexOf(sorted: Float64Array, value: number): number {
  let from = 0;
  let to = sorted.length - 1;
  while (from <= to) {
    const middle = (from + to) >>> 1;
    const found = sorted[middle] ?? 0;
    if (found === value) return middle;
    if (found < value) from = middle + 1;
    else to = middle - 1;
  }
  return -1;
}
