// ASN.1 BER for SNMP (RFC 3417 §8) for tests, independent of the product's library so that each checks the other.

export const BER = {
  Integer: 0x02,
  OctetString: 0x04,
  Null: 0x05,
  Oid: 0x06,
  Sequence: 0x30,
  IpAddress: 0x40,
  Counter32: 0x41,
  Gauge32: 0x42,
  TimeTicks: 0x43,
  Opaque: 0x44,
  Counter64: 0x46,
  NoSuchObject: 0x80,
  NoSuchInstance: 0x81,
  EndOfMibView: 0x82,
} as const;

/** Tag, length and concatenated contents. */
export function tlv(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const content of contents) size += content.length;
  const head = headOf(tag, size);
  const bytes = new Uint8Array(head.length + size);
  bytes.set(head);
  let offset = head.length;
  for (const content of contents) {
    bytes.set(content, offset);
    offset += content.length;
  }
  return bytes;
}

/** Encodes an integer in the shortest two's complement, up to the length of a Counter64. */
export function integer(value: number | bigint, tag: number = BER.Integer): Uint8Array {
  let rest = BigInt(value);
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while ((rest !== 0n || (bytes[0] as number) >= 0x80) && (rest !== -1n || (bytes[0] as number) < 0x80));
  return tlv(tag, Uint8Array.from(bytes));
}

export function octets(value: string | Uint8Array, tag: number = BER.OctetString): Uint8Array {
  return tlv(tag, typeof value === "string" ? Buffer.from(value) : value);
}

export function oid(dotted: string): Uint8Array {
  return tlv(BER.Oid, oidContent(dotted));
}

export function oidContent(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes: number[] = [];
  for (const part of [first * 40 + second, ...rest]) {
    const groups = [part & 0x7f];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return Uint8Array.from(bytes);
}

export function ipAddress(dotted: string): Uint8Array {
  return tlv(BER.IpAddress, Uint8Array.from(dotted.split(".").map(Number)));
}

export function headOf(tag: number, size: number): Uint8Array {
  if (size < 0x80) return Uint8Array.of(tag, size);
  if (size < 0x100) return Uint8Array.of(tag, 0x81, size);
  if (size < 0x10000) return Uint8Array.of(tag, 0x82, size >> 8, size & 0xff);
  return Uint8Array.of(tag, 0x83, size >> 16, (size >> 8) & 0xff, size & 0xff);
}

/** Reads elements in sequence. @throws RangeError on truncated input */
export class BerReader {
  private readonly bytes: Uint8Array;
  private readonly end: number;
  private offset: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.offset = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.offset >= this.end;
  }

  /** Tag of the next element, without consuming it. */
  get tag(): number {
    return this.bytes[this.offset] as number;
  }

  /** The next element's content, without its tag and length. */
  content(): Uint8Array {
    const { start, end } = this.next();
    return this.bytes.subarray(start, end);
  }

  /** The next element, complete. */
  element(): Uint8Array {
    const from = this.offset;
    const { end } = this.next();
    return this.bytes.subarray(from, end);
  }

  /** Reader of the next element's content. */
  inside(): BerReader {
    const { start, end } = this.next();
    return new BerReader(this.bytes, start, end);
  }

  integer(): number {
    const content = this.content();
    let value = ((content[0] as number) << 24) >> 24;
    for (let index = 1; index < content.length; index += 1) value = value * 256 + (content[index] as number);
    return value;
  }

  text(): string {
    return Buffer.from(this.content()).toString();
  }

  private next(): { start: number; end: number } {
    const bytes = this.bytes;
    let offset = this.offset + 1;
    let size = bytes[offset++] as number;
    if (size >= 0x80) {
      let left = size & 0x7f;
      size = 0;
      for (; left > 0; left -= 1) size = size * 256 + (bytes[offset++] as number);
    }
    const end = offset + size;
    if (!(end <= this.end)) throw new RangeError("unexpected end of data");
    this.offset = end;
    return { start: offset, end };
  }
}
