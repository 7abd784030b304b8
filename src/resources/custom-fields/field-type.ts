// Value rules for custom-field types, with error messages for values that violate them. Independent of records.

import { FIELD_TEXT_MAX_LENGTH, FIELD_URL_MAX_LENGTH } from "../../base/custom-field-limits.ts";
import { parseInstant } from "../../base/instant.ts";
import { groupedDigits } from "../../base/text.ts";
import { isVisible } from "../../base/visible.ts";

export const FIELD_TYPES = ["text", "number", "boolean", "date", "choice", "url"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Record kinds that can have custom fields, by name. */
export const FIELD_KINDS = ["host", "subnet", "vlan", "if_entry", "service", "ip_range"] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** As stored in a record. */
export type FieldValue = string | number | boolean;

/** Properties of a field that determine its valid values. */
export interface TypedField {
  readonly type: FieldType;
  readonly choices: readonly string[];
}

/** Predicate of an error sentence whose subject is the field; null for a valid value. */
export function valueProblem({ type, choices }: TypedField, value: unknown): string | null {
  switch (type) {
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? null : `must be a number, not ${quoted(value)}`;
    case "boolean":
      return typeof value === "boolean" ? null : `must be true or false, not ${quoted(value)}`;
    case "choice":
      return typeof value === "string" && choices.includes(value)
        ? null
        : `must be one of its choices (${choiceList(choices)}), not ${quoted(value)}`;
    case "date":
      return typeof value === "string" && isDate(value)
        ? null
        : `must be a date such as 2026-11-21, not ${quoted(value)}`;
    case "url":
      return typeof value === "string" ? urlProblem(value) : `must be a URL, not ${quoted(value)}`;
    case "text":
      return typeof value === "string" ? textProblem(value) : `must be text, not ${quoted(value)}`;
  }
}

function textProblem(value: string): string | null {
  if (!isVisible(value)) return "must not be blank; null clears it";
  if ([...value].length > FIELD_TEXT_MAX_LENGTH)
    return `must have at most ${groupedDigits(FIELD_TEXT_MAX_LENGTH)} characters`;
  return CONTROL.test(value) ? "must not contain control characters" : null;
}

/** Control characters other than tab and line breaks. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

/** A link with another scheme could run script when opened. */
function urlProblem(value: string): string | null {
  if (value.length > FIELD_URL_MAX_LENGTH) return `must have at most ${groupedDigits(FIELD_URL_MAX_LENGTH)} characters`;
  const isLink = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value);
  return isLink ? null : `must be a URL that begins with http:// or https://, not ${quoted(value)}`;
}

/** A calendar date in RFC 3339 format. */
function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(value) && parseInstant(`${value}T00:00:00Z`) !== null;
}

const QUOTED_MAX_LENGTH = 60;

/** A value quoted for an error message. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return [...text].length <= QUOTED_MAX_LENGTH ? text : `${[...text].slice(0, QUOTED_MAX_LENGTH).join("")}…`;
}

function choiceList(choices: readonly string[]): string {
  return choices.length <= 12 ? choices.join(", ") : `${choices.slice(0, 12).join(", ")}, …`;
}
