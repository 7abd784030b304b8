// Decoder of varbind values for the MIBs. Pure.

import type { SnmpValue } from "../mib/reads.ts";
import { VARBIND_TYPE, type Varbind } from "./requests.ts";

/** noSuchObject, noSuchInstance, endOfMibView. */
export function isException({ type }: Varbind): boolean {
  return type >= VARBIND_TYPE.NoSuchObject && type <= VARBIND_TYPE.EndOfMibView;
}

/**
 * Null for no value or an obsolete type (Null, BitString); undefined for a truncated value. Counter64 becomes a number,
 * exact up to 2^53.
 */
export function varbindValue({ type, value }: Varbind): SnmpValue | null | undefined {
  switch (type) {
    case VARBIND_TYPE.OctetString:
    case VARBIND_TYPE.Opaque:
      return value instanceof Uint8Array ? value : undefined;
    case VARBIND_TYPE.Integer:
    case VARBIND_TYPE.Counter32:
    case VARBIND_TYPE.Gauge32:
    case VARBIND_TYPE.TimeTicks:
      return typeof value === "number" ? value : undefined;
    case VARBIND_TYPE.Oid:
    case VARBIND_TYPE.IpAddress:
      return typeof value === "string" ? value : undefined;
    case VARBIND_TYPE.Counter64:
      return value instanceof Uint8Array ? unsigned(value) : undefined;
    case VARBIND_TYPE.Boolean:
      return Number(value);
    default:
      return null;
  }
}

function unsigned(bytes: Uint8Array): number {
  let number = 0;
  for (const byte of bytes) number = number * 256 + byte;
  return number;
}
