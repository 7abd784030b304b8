// PortList parser for Q-BRIDGE-MIB (RFC 4363). Some agents deviate from the MIB; the existing ports show which ones.

/** Returns the bridge ports in a list, unordered; some may not exist. */
type PortListDecoder = (list: Uint8Array) => number[];

/**
 * Detects the port list encoding of a device from all its lists:
 * - MIB: the most significant bit of the first byte is port 1; missing trailing bytes are unset;
 * - Junos: comma-separated decimal numbers, `59,71`;
 * - D-Link DES-30xx: one number with port 1 as its lowest bit.
 * A non-MIB encoding is chosen only if the MIB's yields nonexistent ports and the other yields none.
 * @returns null if the lists name ports and no encoding yields an existing one
 */
export function portListDecoderOf(
  lists: readonly Uint8Array[],
  hasPort: (port: number) => boolean,
): PortListDecoder | null {
  const standard = evaluate(lists, readBits, hasPort);
  const isText = lists.every(isNumbers) && lists.some((list) => list.length > 0);
  if (isText && (lists.some(hasComma) || (standard.unknown > 0 && evaluate(lists, readNumbers, hasPort).unknown === 0)))
    return readNumbers;
  if (standard.known > 0 || standard.unknown === 0) return readBits;
  return evaluate(lists, readReversedBits, hasPort).unknown === 0 ? readReversedBits : null;
}

const COMMA = 0x2c;
const SPACE = 0x20;
const ZERO = 0x30;

function evaluate(
  lists: readonly Uint8Array[],
  read: PortListDecoder,
  hasPort: (port: number) => boolean,
): { known: number; unknown: number } {
  let known = 0;
  let unknown = 0;
  for (const list of lists) {
    for (const port of read(list)) {
      if (hasPort(port)) known += 1;
      else unknown += 1;
    }
  }
  return { known, unknown };
}

function readBits(list: Uint8Array): number[] {
  const ports: number[] = [];
  for (let index = 0; index < list.length; index++) {
    const byte = list[index] as number;
    for (let bit = 0; byte !== 0 && bit < 8; bit++) if ((byte & (0x80 >> bit)) !== 0) ports.push(index * 8 + bit + 1);
  }
  return ports;
}

function readReversedBits(list: Uint8Array): number[] {
  const bits = list.length * 8;
  return readBits(list).map((port) => bits + 1 - port);
}

function readNumbers(list: Uint8Array): number[] {
  const numbers = Buffer.from(list).toString("latin1").split(/[, ]+/);
  return numbers.map(Number).filter((port) => port > 0);
}

function isNumbers(list: Uint8Array): boolean {
  return list.every((byte) => (byte >= ZERO && byte <= ZERO + 9) || byte === COMMA || byte === SPACE);
}

function hasComma(list: Uint8Array): boolean {
  return list.includes(COMMA);
}
