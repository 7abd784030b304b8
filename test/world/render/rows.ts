// Rows of an agent: values by OID of a column and index, and single values by OID.

/** Integers as numbers, OIDs and IpAddress as dotted text, octet strings as bytes. */
export type Value = number | string | Uint8Array;

export type Column = Map<string, Value>;

/** A table as walked: column OID → index → value. */
export interface Rows {
  readonly scalars: ReadonlyMap<string, Value>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, Value>>;
}

/** Collects the rows of a table. */
export class RowWriter implements Rows {
  readonly scalars = new Map<string, Value>();
  readonly columns = new Map<string, Column>();
  private readonly entry: string;

  /** @param entry OID of the table's entry, for the columns of `add` */
  constructor(entry = "") {
    this.entry = entry;
  }

  /** Adds a row: column number → value. */
  add(index: string, row: Readonly<Record<number, Value | null>>): void {
    for (const [column, value] of Object.entries(row)) {
      if (value === null) continue;
      const oid = `${this.entry}.${column}`;
      const values = this.columns.get(oid);
      if (values === undefined) this.columns.set(oid, new Map([[index, value]]));
      else values.set(index, value);
    }
  }

  scalar(oid: string, value: Value): void {
    this.scalars.set(oid, value);
  }
}

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** Octets of `00:1b:54:00:00:01`; no octets for null. */
export function octets(mac: string | null): Uint8Array {
  return mac === null ? NO_OCTETS : Uint8Array.from(mac.split(":"), (pair) => Number.parseInt(pair, 16));
}

const NO_OCTETS = new Uint8Array(0);

/** A MAC address as index numbers: `0.27.84.0.0.1`. */
export function macIndex(mac: string): string {
  let index = macIndexes.get(mac);
  if (index === undefined) macIndexes.set(mac, (index = octets(mac).join(".")));
  return index;
}

const macIndexes = new Map<string, string>();

export function ipOctets(ip: string): Uint8Array {
  return Uint8Array.from(ip.split("."), Number);
}

/** PortList or VLAN bitmap: bit n − 1 for number n, from the most significant bit. */
export function bits(numbers: Iterable<number>): Uint8Array {
  const list = [...numbers];
  const bytes = new Uint8Array(Math.ceil(Math.max(8, ...list) / 8));
  for (const number of list) bytes[(number - 1) >> 3] = (bytes[(number - 1) >> 3] ?? 0) | (0x80 >> ((number - 1) & 7));
  return bytes;
}
