// Bytes that a device sent as text that may be shown and stored: one line, no control characters, nothing that differs
// from one answer to the next. Pure; must not throw on any bytes.

import { isVisible } from "../../base/visible.ts";
import { serviceOf } from "../self/well-known-services.ts";
import type { IdentifiedService } from "../sightings.ts";

/** Code units of a service's name. */
const SERVICE_NAME_MAX_LENGTH = 100;
/** Code units of a text that a name is made of. */
const READ_MAX_LENGTH = 1_000;

/** A service by name, cut and cleaned; by its definition where nothing is left of the name. */
export function identified(name: string, definition: string): IdentifiedService {
  // Cut first: what finds the times in it may take the square of its length, and a device may send 16 KiB without a
  // line break.
  return {
    name: oneLine(steady(name.slice(0, READ_MAX_LENGTH)), SERVICE_NAME_MAX_LENGTH) || definition,
    service_definition: definition,
  };
}

/**
 * A service under the name that its port is known by, if that is one of a family that speaks alike: mail on 587 is
 * `submission`, HTTP on 631 `ipp`.
 * @param family definitions; the first holds on all other ports
 * @param product null where nothing is known of it: then the port's own name
 */
export function identifiedAs(
  family: readonly [string, ...string[]],
  port: number,
  product: string | null,
  fallback: string,
): IdentifiedService {
  const known = serviceOf({ number: port, protocol: "Tcp" });
  const isOfFamily = known !== null && family.includes(known.service_definition);
  return identified(product ?? (isOfFamily ? known.name : fallback), isOfFamily ? known.service_definition : family[0]);
}

/** UTF-8 where it is that, else ISO 8859-1. */
export function decodedText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  }
}

/** What was taken from a text of `latin1Of`, as the text that its bytes are. */
export function textOfLatin1(text: string): string {
  return decodedText(Buffer.from(text, "latin1"));
}

/** Each byte as one character: for protocols whose words are ASCII. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/**
 * Without control characters, marks of writing direction and other invisible ones; white space as single spaces; cut
 * between code points; "" where nothing of it is seen.
 */
export function oneLine(text: string, maxLength: number): string {
  const clean = text.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim();
  if (!isVisible(clean)) return "";
  if (clean.length <= maxLength) return clean;
  const end = /[\ud800-\udbff]/.test(clean.charAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return clean.slice(0, end).trimEnd();
}

/**
 * The first of the patterns that the text fits: its label, with what its group has caught behind it, which should be a
 * version.
 */
export function productIn(
  text: string,
  products: readonly (readonly [label: string, pattern: RegExp])[],
): string | null {
  for (const [label, pattern] of products) {
    const match = pattern.exec(text);
    if (match) return match[1] === undefined ? label : `${label} ${match[1]}`;
  }
  return null;
}

/** Two scans of an unchanged service must see the same name: times, message ids and session numbers are left out. */
function steady(text: string): string {
  return text
    .replace(/<[^<>]*[@.][^<>]*>/g, " ")
    .replace(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +\d{1,2} +[A-Z][a-z]{2}[a-z]* +\d{4}/g, " ")
    .replace(/\b\d{4}-\d{2}-\d{2}(?:[T ]|\b)/g, " ")
    .replace(/\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b(?: *[+-]\d{4}| *(?:GMT|UTC|Z)\b)?(?: *\([A-Z]{2,5}\))?/g, " ")
    .replace(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b/gi, " ");
}
