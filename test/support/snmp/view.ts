// Objects served by a test agent: varbinds in OID order, encoded once and found by binary search. Independent of
// sockets.

import { BER, headOf, integer, ipAddress, octets, oid, oidContent, tlv } from "./ber.ts";

/** An encoded value; `encodeValue` converts a plain one. */
interface Encoded {
  readonly encoded: Uint8Array;
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
  private readonly keys: string[];
  private readonly bytes: Uint8Array;
  /** Start of each varbind, and the end of the last. */
  private readonly starts: Uint32Array;
  private readonly tags: Uint8Array;

  /** Of several values for one OID, the first counts. */
  constructor(varbinds: Iterable<ServedVarbind>) {
    const sorted = [...varbinds].map((varbind) => ({ ...varbind, key: oidKey(oidContent(varbind.oid)) }));
    sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const unique = sorted.filter((varbind, index) => varbind.key !== sorted[index - 1]?.key);
    this.oids = unique.map((varbind) => varbind.oid);
    this.keys = unique.map((varbind) => varbind.key);
    this.starts = new Uint32Array(unique.length + 1);
    this.tags = new Uint8Array(unique.length);
    const encoded = unique.map((varbind) => tlv(BER.Sequence, oid(varbind.oid), varbind.value.encoded));
    this.bytes = new Uint8Array(encoded.reduce((size, bytes) => size + bytes.length, 0));
    let offset = 0;
    for (const [index, bytes] of encoded.entries()) {
      this.bytes.set(bytes, offset);
      this.tags[index] = (unique[index] as ServedVarbind).value.encoded[0] as number;
      offset += bytes.length;
      this.starts[index + 1] = offset;
    }
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
    return this.bytes.subarray(this.starts[position] as number, this.starts[position + 1] as number);
  }

  tag(position: number): number {
    return this.tags[position] as number;
  }

  /** Tag of the value at an OID; null if not served. */
  tagOf(dotted: string): number | null {
    const position = this.find(oidKey(oidContent(dotted)));
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
    yield { oid: dotted, value: recordedValue(Number.parseInt(type, 10), /^\d+x/.test(type), value) };
  }
}

function recordedValue(tag: number, isHexadecimal: boolean, text: string): Encoded {
  const bytes = Buffer.from(text, isHexadecimal ? "hex" : "latin1");
  if (tag === BER.OctetString || tag === BER.Opaque) return { encoded: octets(bytes, tag) };
  if (tag === BER.IpAddress) return { encoded: isHexadecimal ? octets(bytes, tag) : ipAddress(text) };
  if (tag === BER.Oid) return { encoded: oid(text) };
  if (tag === BER.Null) return { encoded: tlv(tag) };
  return { encoded: integer(BigInt(text), tag) };
}
