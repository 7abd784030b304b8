// Objects served by a test agent: varbinds in OID order, encoded when first served, found by binary search. Independent
// of sockets.

import { BER, headOf, integer, ipAddress, octets, oid, tlv } from "./ber.ts";

/** An encoded value; `encodeValue` converts a plain one. */
interface Encoded {
  readonly encoded: Uint8Array;
  /** Its first byte, where that is known without encoding. */
  readonly tag?: number;
}

/** Numbers are Integers, strings and bytes OctetStrings, bigints Counter64s; the others name their type. */
export type ServedValue =
  | number
  | string
  | bigint
  | Uint8Array
  | Encoded
  | { readonly oid: string }
  | { readonly ip: string }
  | { readonly tag: number; readonly value: number | bigint };

interface ServedVarbind {
  readonly oid: string;
  readonly value: Encoded;
}

export class SnmpView {
  /** OIDs in dotted notation, ascending, without duplicates. */
  readonly oids: readonly string[];
  private readonly keys: readonly string[];
  private readonly values: readonly Encoded[];
  /** Varbinds served so far: most of a recording is never asked for. */
  private readonly encoded: Uint8Array[] = [];

  /** Of several values for one OID, the first counts. */
  constructor(varbinds: Iterable<ServedVarbind>) {
    const sorted = Array.from(varbinds, ({ oid, value }) => ({ oid, value, key: keyOf(oid) }));
    sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const unique = sorted.filter((varbind, index) => varbind.key !== sorted[index - 1]?.key);
    this.oids = unique.map((varbind) => varbind.oid);
    this.keys = unique.map((varbind) => varbind.key);
    this.values = unique.map((varbind) => varbind.value);
  }

  get size(): number {
    return this.keys.length;
  }

  /** Position of an OID; -1 if not served. */
  find(key: string): number {
    const position = this.lowerBound(key);
    return this.keys[position] === key ? position : -1;
  }

  /** Position of the next OID; `size` at the end. */
  findNext(key: string): number {
    const position = this.lowerBound(key);
    return this.keys[position] === key ? position + 1 : position;
  }

  varbind(position: number): Uint8Array {
    let bytes = this.encoded[position];
    if (bytes === undefined) {
      bytes = tlv(BER.Sequence, oid(this.oids[position] as string), (this.values[position] as Encoded).encoded);
      this.encoded[position] = bytes;
    }
    return bytes;
  }

  tag(position: number): number {
    const value = this.values[position] as Encoded;
    return value.tag ?? (value.encoded[0] as number);
  }

  /** Tag of the value at an OID; null if not served. */
  tagOf(dotted: string): number | null {
    const position = this.find(keyOf(dotted));
    return position === -1 ? null : this.tag(position);
  }

  key(position: number): string {
    return this.keys[position] as string;
  }

  private lowerBound(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A view of dotted OIDs and their values. */
export function viewOf(values: Readonly<Record<string, ServedValue>> | ReadonlyMap<string, ServedValue>): SnmpView {
  const entries = values instanceof Map ? values.entries() : Object.entries(values);
  return new SnmpView([...entries].map(([dotted, value]) => ({ oid: dotted, value: encodeValue(value) })));
}

/**
 * A view of a recording with lines of `OID|type|value` (types of snmpsim; `x` marks hexadecimal). Variable values
 * (`:numeric`) keep their initial value. The text is latin1, one character per byte.
 */
export function viewOfSnmprec(text: string): SnmpView {
  return new SnmpView(varbindsOfSnmprec(text));
}

function encodeValue(value: ServedValue): Encoded {
  if (typeof value === "number") return { encoded: integer(value) };
  if (typeof value === "bigint") return { encoded: integer(value, BER.Counter64) };
  if (typeof value === "string" || value instanceof Uint8Array) return { encoded: octets(value) };
  if ("encoded" in value) return value;
  if ("oid" in value) return { encoded: oid(value.oid) };
  if ("ip" in value) return { encoded: ipAddress(value.ip) };
  return { encoded: integer(value.value, value.tag) };
}

/** String with the same order as OIDs: two code units per number. Takes the content of a BER OID. */
export function oidKey(content: Uint8Array): string {
  let key = "";
  let part = 0;
  for (const byte of content) {
    part = part * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      key += String.fromCharCode(part / 65_536, part & 0xffff);
      part = 0;
    }
  }
  return key;
}

/** As oidKey, of an OID in dotted notation: a recording has tens of thousands. */
function keyOf(dotted: string): string {
  let key = "";
  let part = 0;
  let first = -1;
  let isInKey = false;
  for (let index = 0; index <= dotted.length; index += 1) {
    const digit = dotted.charCodeAt(index) - 48;
    if (digit >= 0) part = part * 10 + digit;
    else if (!isInKey && first < 0) [first, part] = [part, 0];
    else {
      const value = isInKey ? part : first * 40 + part;
      key += String.fromCharCode(value / 65_536, value & 0xffff);
      [isInKey, part] = [true, 0];
    }
  }
  return key;
}

/** Varbind of a response without a value: noSuchObject, noSuchInstance, endOfMibView, Null. */
export function emptyVarbind(oidElement: Uint8Array, tag: number): Uint8Array {
  return new Uint8Array([...headOf(BER.Sequence, oidElement.length + 2), ...oidElement, tag, 0]);
}

function* varbindsOfSnmprec(text: string): Generator<ServedVarbind> {
  for (const line of text.split("\n")) {
    const [dotted = "", type = "", ...rest] = line.replace(/\r$/, "").split("|");
    if (!/^\d+(\.\d+)+$/.test(dotted)) continue;
    const value = type.includes(":")
      ? String(Number(rest.join("|").match(/(?:value|offset)=(\d+)/)?.[1] ?? 0))
      : rest.join("|");
    yield { oid: dotted, value: new RecordedValue(Number.parseInt(type, 10), /^\d+x/.test(type), value) };
  }
}

/** Value of a recording, encoded when served. */
class RecordedValue implements Encoded {
  readonly tag: number;
  private readonly isHexadecimal: boolean;
  private readonly text: string;

  constructor(tag: number, isHexadecimal: boolean, text: string) {
    this.tag = tag;
    this.isHexadecimal = isHexadecimal;
    this.text = text;
  }

  get encoded(): Uint8Array {
    return encodeRecorded(this.tag, this.isHexadecimal, this.text);
  }
}

function encodeRecorded(tag: number, isHexadecimal: boolean, text: string): Uint8Array {
  const bytes = Buffer.from(text, isHexadecimal ? "hex" : "latin1");
  if (tag === BER.OctetString || tag === BER.Opaque) return octets(bytes, tag);
  if (tag === BER.IpAddress) return isHexadecimal ? octets(bytes, tag) : ipAddress(text);
  if (tag === BER.Oid) return oid(text);
  if (tag === BER.Null) return tlv(tag);
  return integer(BigInt(text), tag);
}
