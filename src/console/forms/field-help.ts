// Help text for a form field: the API's description, without JSON details or facts that the form already shows. Pure.

import type { FormField } from "./field.ts";

/** Constraints that users see only as error messages, if at all. */
const OMITTED = [
  /Not blank, no control characters\./g,
  /No control characters\./g,
  /Default: ""\. Null clears the (?:name|description)\./g,
];

/** Types whose default is visible in the form. */
const SHOWS_DEFAULT: ReadonlySet<FormField["type"]> = new Set(["boolean", "flag", "choice"]);

const DEFAULT = /Default on create: /;

/** @returns null if no text is left */
export function helpText({ type, description = "" }: Pick<FormField, "type" | "description">): string | null {
  let text = description;
  for (const sentence of OMITTED) text = text.replace(sentence, "");
  text = SHOWS_DEFAULT.has(type) ? text.replace(/Default on create: [^.]*\./, "") : text.replace(DEFAULT, "Default: ");
  text = text
    .replace("; duplicates are dropped", "")
    .replace(/\b(?:Null|Omitted)\b/g, "Empty")
    .replace(/\b(?:null|left out|omitted)\b/g, "empty")
    .replaceAll("`", "")
    .replace(/\s+/g, " ")
    .trim();
  return text === "" ? null : text;
}
