// What the API says of a field, as it is said beside the field of a form: it speaks of JSON, and of what a form shows by
// itself. Plain functions.

import type { FormField } from "./field.ts";

/** Whoever types meets them only by what is refused, or not at all. */
const UNSAID = [
  /Not blank, no control characters\./g,
  /No control characters\./g,
  /"" when none is given; null clears it\./g,
];

/** What these types begin with is seen. */
const SHOWS_DEFAULT: ReadonlySet<FormField["type"]> = new Set(["boolean", "flag", "choice"]);

const DEFAULT = /Default in a create: /;

/** @returns null where nothing is left to say */
export function helpSaid({ type, description = "" }: Pick<FormField, "type" | "description">): string | null {
  let said = description;
  for (const sentence of UNSAID) said = said.replace(sentence, "");
  said = SHOWS_DEFAULT.has(type)
    ? said.replace(/Default in a create: [^.]*\./, "")
    : said.replace(DEFAULT, "Default: ");
  said = said
    .replace("; duplicates are dropped", "")
    .replace(/\b(?:Null|Left out)\b/g, "Empty")
    .replace(/\b(?:null|left out)\b/g, "empty")
    .replaceAll("`", "")
    .replace(/\s+/g, " ")
    .trim();
  return said === "" ? null : said;
}
