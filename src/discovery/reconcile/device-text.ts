// Conversion of device text to names and single lines that the API accepts (schemas/schemas.ts). Pure.

import { isVisible } from "../../base/visible.ts";

const MAX_LENGTH = 255;

/** Returns one line without control characters, never cut within a character; "" if nothing is visible. */
export function lineOf(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  if (!isVisible(line)) return "";
  if (line.length <= MAX_LENGTH) return line;
  const isHighSurrogate = (line.charCodeAt(MAX_LENGTH - 1) & 0xfc00) === 0xd800;
  return line.slice(0, isHighSurrogate ? MAX_LENGTH - 1 : MAX_LENGTH).trimEnd();
}
