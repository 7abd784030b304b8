// Compact binary format for the registry of MAC prefixes: per prefix length, delta-coded sorted prefixes and name
// indexes; then every name once. Independent of the source of the entries and of the compression.

/**
 * Prefix lengths in hexadecimal digits, as assigned by the IEEE (MA-S, MA-M, MA-L), longest first, for longest-prefix
 * match.
 */
const PREFIX_LENGTHS = [9, 7, 6] as const;

export interface Registry {
  /** In the order of PREFIX_LENGTHS. */
  readonly blocks: readonly PrefixBlock[];
  /** Concatenated names in UTF-8: thirty thousand separate strings would take several times the memory. */
  readonly nameBytes: Uint8Array;
  /** End of each name in `nameBytes`; names are separated by line breaks. */
  readonly nameEnds: Uint32Array;
}

/** A registered block of addresses. */
export interface Registration {
  /** 6, 7 or 9 hexadecimal digits, in lower case. */
  readonly prefix: string;
  readonly name: string;
}

interface PrefixBlock {
  readonly digits: number;
  /** Ascending. */
  readonly prefixes: Float64Array;
  /** Name index of each prefix. */
  readonly nameIndexes: Uint32Array;
}

/**
 * @param entries prefix of 6, 7 or 9 hexadecimal digits → name of the registrant, with its address on additional lines.
 * Throws an Error for other prefix lengths, so that a change to the registry does not go unnoticed.
 */
export function packRegistry(entries: Readonly<Record<string, string>>): Uint8Array {
  const registrations = Object.entries(entries).map(([prefix, text]) => ({ prefix, name: firstLine(text) }));
  const malformed = registrations.find(
    ({ prefix }) => !/^[0-9a-f]+$/i.test(prefix) || !PREFIX_LENGTHS.some((digits) => digits === prefix.length),
  );
  if (malformed) throw new Error(`Malformed prefix in the registry: ${malformed.prefix}`);
  const names = [...new Set(registrations.map(({ name }) => name))].sort();
  const indexes = new Map(names.map((name, index) => [name, index]));
  const bytes: number[] = [];
  for (const digits of PREFIX_LENGTHS) {
    const block = registrations
      .filter(({ prefix }) => prefix.length === digits)
      .map(({ prefix, name }) => ({ value: Number.parseInt(prefix, 16), name }));
    block.sort((a, b) => a.value - b.value);
    pushNumber(bytes, block.length);
    for (const [index, { value }] of block.entries()) pushNumber(bytes, value - (block[index - 1]?.value ?? 0));
    for (const { name } of block) pushNumber(bytes, indexes.get(name) ?? 0);
  }
  return Buffer.concat([Uint8Array.from(bytes), new TextEncoder().encode(names.join("\n"))]);
}

/** Unpacks the output of `packRegistry`. */
export function unpackRegistry(bytes: Uint8Array): Registry {
  let offset = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[offset++] ?? 0;
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
  const nameBytes = bytes.slice(offset);
  const ends: number[] = [];
  for (let end = nameBytes.indexOf(LINE_BREAK); end >= 0; end = nameBytes.indexOf(LINE_BREAK, end + 1)) ends.push(end);
  return { blocks, nameBytes, nameEnds: Uint32Array.from([...ends, nameBytes.length]) };
}

/**
 * The registration of the longest matching prefix of an address; null for none.
 * @param hex first digits of the address in lower case, at most twelve; longer prefixes are not considered
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
 * Varint: seven bits per byte, lowest first; the eighth bit means that more follow. Uses division, since prefixes of
 * nine digits have 36 bits.
 */
function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
}

/** Binary search; -1 if absent. */
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
