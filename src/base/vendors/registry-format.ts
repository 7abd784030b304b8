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
  /** Each behind the other, in UTF-8: thirty thousand texts of their own would take several times the memory. */
  readonly nameBytes: Uint8Array;
  /** Where each name ends in `nameBytes`; a line break stands between two. */
  readonly nameEnds: Uint32Array;
}

/** A block of addresses that is registered. */
export interface Registration {
  /** 6, 7 or 9 hexadecimal digits, in lower case. */
  readonly prefix: string;
  readonly name: string;
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
  if (odd) throw new Error(`Malformed prefix in the registry: ${odd.prefix}`);
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
  const nameBytes = bytes.slice(at);
  const ends: number[] = [];
  for (let end = nameBytes.indexOf(LINE_BREAK); end >= 0; end = nameBytes.indexOf(LINE_BREAK, end + 1)) ends.push(end);
  return { blocks, nameBytes, nameEnds: Uint32Array.from([...ends, nameBytes.length]) };
}

/**
 * What the longest registered prefix of an address is registered for; null where there is none.
 * @param hex the first digits of the address in lower case, twelve at most: longer prefixes than it has are not looked
 * for
 */
export function registrationOf(registry: Registry, hex: string): Registration | null {
  for (const { digits, prefixes, nameIndexes } of registry.blocks) {
    if (digits > hex.length) continue;
    const prefix = hex.slice(0, digits);
    const index = indexOf(prefixes, Number.parseInt(prefix, 16));
    if (index >= 0) return { prefix, name: nameAt(registry, nameIndexes[index] as number) };
  }
  return null;
}

function nameAt({ nameBytes, nameEnds }: Registry, index: number): string {
  const start = index === 0 ? 0 : (nameEnds[index - 1] as number) + 1;
  return decoder.decode(nameBytes.subarray(start, nameEnds[index]));
}

const decoder = new TextDecoder();
const LINE_BREAK = 10;

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
