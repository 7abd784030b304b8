// Decoders for varbinds and index parts: text, addresses, numbers. Pure; invalid input yields null.

import { type Ip, ipOfBytes, parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import type { SnmpValue } from "./reads.ts";

/** UTF-16 code units; same as DEVICE_TEXT_MAX_LENGTH of an interface entry, without importing its schemas. */
export const TEXT_MAX_LENGTH = 4_000;
/** InterfaceIndex (RFC 2863): 1 to 2^31 − 1. */
export const IF_INDEX_MAX = 2 ** 31 - 1;
/** VlanId (RFC 4363): 0 and 4095 are not VLANs (IEEE 802.1Q table 9-2). */
export const VLAN_ID_MAX = 4_094;

/**
 * SnmpAdminString and DisplayString: UTF-8, else ISO 8859-1. Replaces line breaks and tabs by one space, strips other
 * control characters and surrounding whitespace; at most TEXT_MAX_LENGTH UTF-16 code units. "" if empty; null if not an
 * octet string.
 */
export function textOf(value: SnmpValue): string | null {
  if (!(value instanceof Uint8Array)) return null;
  const text = isPlainAscii(value) ? latin1(value) : withoutControls(utf8(value) ?? latin1(value));
  return truncate(text.trim());
}

/**
 * Text if the bytes are UTF-8 without inner control characters, else colon-separated hex pairs. Strips NUL and
 * whitespace padding. "" if empty; null if not an octet string.
 */
export function identifierOf(value: SnmpValue): string | null {
  if (!(value instanceof Uint8Array)) return null;
  if (isPlainAscii(value)) return truncate(latin1(value).trim());
  const text = utf8(value);
  const trimmed = text === null ? null : trimPadding(text);
  return truncate(trimmed === null || CONTROL.test(trimmed) ? hexPairs(value) : trimmed);
}

export function integerOf(value: SnmpValue | undefined, min: number, max: number): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : null;
}

export function ifIndexOf(value: SnmpValue | undefined): number | null {
  return integerOf(value, 1, IF_INDEX_MAX);
}

export function vlanNumberOf(value: SnmpValue | undefined): number | null {
  return integerOf(value, 1, VLAN_ID_MAX);
}

/** A six-byte EUI-48, not all zeros; else null. */
export function macOf(value: SnmpValue | undefined): string | null {
  return value instanceof Uint8Array ? macOfOctets(value, 0, value.length) : null;
}

/** macOf for the sub-identifiers of an index; null if one exceeds 255. */
export function macOfOctets(octets: ArrayLike<number>, start: number, end: number): string | null {
  if (end - start !== 6) return null;
  let sum = 0;
  let mac = "";
  for (let position = start; position < end; position++) {
    const octet = octets[position] as number;
    const pair = HEX_PAIRS[octet];
    if (pair === undefined) return null;
    sum += octet;
    mac = position === start ? pair : `${mac}:${pair}`;
  }
  return sum === 0 ? null : mac;
}

/** macOf that also accepts a MAC address written as text. */
export function macOfBytesOrText(value: SnmpValue): string | null {
  const mac = macOf(value);
  if (mac !== null || !(value instanceof Uint8Array) || value.length < 12 || value.length > 20) return mac;
  return parseMac(identifierOf(value) ?? "");
}

/**
 * A unicast address from 4 or 16 sub-identifiers; null for any other count and for unspecified (RFC 4291 §2.5.2),
 * broadcast and multicast addresses.
 */
export function unicastOfOctets(octets: ArrayLike<number>, start: number, end: number): string | null {
  for (let position = start; position < end; position++) if ((octets[position] as number) > 255) return null;
  const first = octets[start] as number;
  if (end - start === 4) {
    const text = `${first}.${octets[start + 1]}.${octets[start + 2]}.${octets[start + 3]}`;
    const isMulticast = first >= 224 && first <= 239;
    return isMulticast || text === "0.0.0.0" || text === "255.255.255.255" ? null : text;
  }
  if (end - start !== 16 || first === 0xff) return null;
  const ip = ipOfBytes(Uint8Array.from({ length: 16 }, (_, position) => octets[start + position] as number));
  return ip === null || ip.text === "::" ? null : ip.text;
}

/** unicastOfOctets for a value: IpAddress, or an octet string of 4 or 16 bytes. */
export function unicastOf(value: SnmpValue | undefined): string | null {
  if (value instanceof Uint8Array) return unicastOfOctets(value, 0, value.length);
  const ip: Ip | null = typeof value === "string" ? parseIp(value) : null;
  return ip === null ? null : unicastOfOctets(ip.bytes, 0, ip.bytes.length);
}

/** `0.47.2` → [0, 47, 2]; empty for invalid text. */
export function subIdsOf(index: string): number[] {
  const subIds: number[] = [];
  let number = 0;
  let digits = 0;
  for (let position = 0; position <= index.length; position++) {
    const code = position === index.length ? DOT : index.charCodeAt(position);
    if (code === DOT) {
      if (digits === 0 || digits > MAX_DIGITS) return [];
      subIds.push(number);
      number = 0;
      digits = 0;
    } else {
      if (code < ZERO || code > ZERO + 9) return [];
      number = number * 10 + code - ZERO;
      digits += 1;
    }
  }
  return subIds;
}

export function singleSubIdOf(index: string, max: number): number | null {
  const subIds = subIdsOf(index);
  const [number] = subIds;
  return subIds.length === 1 && number !== undefined && number <= max ? number : null;
}

/** Bytes as `00:1b:21`. */
function hexPairs(bytes: Uint8Array): string {
  let text = "";
  for (let position = 0; position < bytes.length; position++)
    text += position === 0 ? HEX_PAIRS[bytes[position] as number] : `:${HEX_PAIRS[bytes[position] as number]}`;
  return text;
}

const DOT = 0x2e;
const ZERO = 0x30;
/** Sub-identifiers are 32 bits wide (RFC 2578 §3.5). */
const MAX_DIGITS = 10;
const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const CONTROL = /\p{Cc}/u;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

function isPlainAscii(bytes: Uint8Array): boolean {
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position] as number;
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/**
 * Strips NUL and whitespace at both ends. Not a regular expression: its search for the end would be quadratic in long
 * inner runs.
 */
function trimPadding(text: string): string {
  const isPadding = (position: number): boolean => text[position] === "\0" || text.charAt(position).trim() === "";
  let from = 0;
  let to = text.length;
  while (from < to && isPadding(from)) from += 1;
  while (to > from && isPadding(to - 1)) to -= 1;
  return text.slice(from, to);
}

function withoutControls(text: string): string {
  const lines = text.split(/[\t\n\v\f\r\u0085]/).map((line) => line.replace(/\p{Cc}+/gu, "").trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** Never splits a surrogate pair. */
function truncate(text: string): string {
  if (text.length <= TEXT_MAX_LENGTH) return text;
  const last = text.charCodeAt(TEXT_MAX_LENGTH - 1);
  const isHighSurrogate = (last & 0xfc00) === 0xd800;
  return text.slice(0, TEXT_MAX_LENGTH - (isHighSurrogate ? 1 : 0)).trimEnd();
}
