// Help text of a form field, from the API's description without JSON details and without facts that the form shows
// anyway. Pure.

import type { FormField } from "./field.ts";

/** Constraints that a form user meets only as an error, or never. */
const UNSAID = [
  /Not blank, no control characters\./g,
  /No control characters\./g,
  /"" when none is given; null clears it\./g,
];

/** Types whose default is visible in the form. */
const SHOWS_DEFAULT: ReadonlySet<FormField["type"]> = new Set(["boolean", "flag", "choice"]);

const DEFAULT = /Default in a create: /;

/** @returns null if no text is left */
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
