// Title of a possibly truncated HTML page. Pure; never throws, regardless of the input.

import { ownValue } from "../../base/fields.ts";
import { decodedText, oneLine } from "./service-text.ts";

/** Returns null if missing or incomplete. @param contentType value of the header */
export function htmlTitle(body: Uint8Array, contentType: string): string | null {
  const text = decode(body, /\bcharset=["']?([\w-]+)/i.exec(contentType)?.[1]);
  const title = /<title\b[^>]*>([^<]*)<\/title\s*>/i.exec(text)?.[1];
  return title === undefined ? null : oneLine(withoutEntities(title), MAX_LENGTH);
}

const MAX_LENGTH = 80;

function decode(body: Uint8Array, charset: string | undefined): string {
  if (charset === undefined || /^utf-?8$/i.test(charset)) return decodedText(body);
  try {
    return new TextDecoder(charset as ConstructorParameters<typeof TextDecoder>[0]).decode(body);
  } catch {
    return decodedText(body);
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  reg: "®",
  trade: "™",
  copy: "©",
  raquo: "»",
  laquo: "«",
  middot: "·",
  bull: "•",
};

function withoutEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,8}));/gi,
    (entity, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return ownValue(ENTITIES, name.toLowerCase()) ?? entity;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : " ";
    },
  );
}
