// Cleanup of device text for display and storage: one line, no control characters, nothing that varies between
// responses. Pure; never throws, regardless of the input.

import { isVisible } from "../../base/visible.ts";
import { serviceOf } from "../self/well-known-services.ts";
import type { IdentifiedService } from "../sightings.ts";

/** UTF-16 code units of a service name. */
const SERVICE_NAME_MAX_LENGTH = 100;
/** UTF-16 code units of the text from which a name is built. */
const READ_MAX_LENGTH = 1_000;

/** Builds a service with a cleaned, truncated name; uses the definition if nothing remains. */
export function identified(name: string, definition: string): IdentifiedService {
  // Truncate first: the search for times may take quadratic time, and a device may send 16 KiB without a line break.
  return {
    name: oneLine(withoutVolatileParts(name.slice(0, READ_MAX_LENGTH)), SERVICE_NAME_MAX_LENGTH) || definition,
    service_definition: definition,
  };
}

/**
 * Builds a service named by its port, if that belongs to a family of the same protocol: mail on 587 is `submission`,
 * HTTP on 631 `ipp`.
 * @param family definitions; the first applies to all other ports
 * @param product null if unknown: then uses the name of the port
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

/** UTF-8 if valid, else ISO 8859-1. */
export function decodedText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  }
}

/** Decodes part of a text from `latin1Of`. */
export function textOfLatin1(text: string): string {
  return decodedText(Buffer.from(text, "latin1"));
}

/** Maps each byte to one character, for protocols with ASCII keywords. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/**
 * Strips control, bidirectional and other invisible characters; collapses whitespace to single spaces; truncates
 * between code points. Returns "" if nothing visible remains.
 */
export function oneLine(text: string, maxLength: number): string {
  const clean = text.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim();
  if (!isVisible(clean)) return "";
  if (clean.length <= maxLength) return clean;
  const end = /[\ud800-\udbff]/.test(clean.charAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return clean.slice(0, end).trimEnd();
}

/** Returns the label of the first matching pattern, followed by its captured group, which should be a version. */
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

/** Removes times, message IDs and session numbers: two scans of an unchanged service must yield the same name. */
function withoutVolatileParts(text: string): string {
  return text
    .replace(/<[^<>]*[@.][^<>]*>/g, " ")
    .replace(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +\d{1,2} +[A-Z][a-z]{2}[a-z]* +\d{4}/g, " ")
    .replace(/\b\d{4}-\d{2}-\d{2}(?:[T ]|\b)/g, " ")
    .replace(/\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b(?: *[+-]\d{4}| *(?:GMT|UTC|Z)\b)?(?: *\([A-Z]{2,5}\))?/g, " ")
    .replace(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b/gi, " ");
}
