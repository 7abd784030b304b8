// What values a custom field of each type takes, and how one that it does not is told. Knows no record.

import { FIELD_TEXT_MAX_LENGTH, FIELD_URL_MAX_LENGTH } from "../../base/custom-field-limits.ts";
import { parseInstant } from "../../base/instant.ts";
import { groupedDigits } from "../../base/text.ts";
import { isVisible } from "../../base/visible.ts";

export const FIELD_TYPES = ["text", "number", "boolean", "date", "choice", "url"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** The kinds of records that can have custom fields, by name. */
export const FIELD_KINDS = ["host", "subnet", "vlan", "if_entry", "service", "ip_range"] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** As a record has it. */
export type FieldValue = string | number | boolean;

/** What decides whether a value is one of the field. */
export interface TypedField {
  readonly type: FieldType;
  readonly choices: readonly string[];
}

/** The rest of a sentence that begins with the field; null for a value that the field takes. */
export function valueProblem({ type, choices }: TypedField, value: unknown): string | null {
  switch (type) {
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? null : `must be a number, not ${shown(value)}`;
    case "boolean":
      return typeof value === "boolean" ? null : `must be true or false, not ${shown(value)}`;
    case "choice":
      return typeof value === "string" && choices.includes(value)
        ? null
        : `must be one of its choices (${listed(choices)}), not ${shown(value)}`;
    case "date":
      return typeof value === "string" && isDate(value)
        ? null
        : `must be a date such as 2026-11-21, not ${shown(value)}`;
    case "url":
      return typeof value === "string" ? urlProblem(value) : `must be a URL, not ${shown(value)}`;
    case "text":
      return typeof value === "string" ? textProblem(value) : `must be a text, not ${shown(value)}`;
  }
}

function textProblem(value: string): string | null {
  if (!isVisible(value)) return "must not be blank; null clears it";
  if ([...value].length > FIELD_TEXT_MAX_LENGTH)
    return `must have at most ${groupedDigits(FIELD_TEXT_MAX_LENGTH)} characters`;
  return CONTROL.test(value) ? "must not contain control characters" : null;
}

/** Others than those that end or indent a line. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

/** Whoever opens a link of another scheme runs what stands in it. */
function urlProblem(value: string): string | null {
  if (value.length > FIELD_URL_MAX_LENGTH) return `must have at most ${groupedDigits(FIELD_URL_MAX_LENGTH)} characters`;
  const isLink = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value);
  return isLink ? null : `must be a URL that begins with http:// or https://, not ${shown(value)}`;
}

/** A day of the calendar as RFC 3339 writes it. */
function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(value) && parseInstant(`${value}T00:00:00Z`) !== null;
}

const SHOWN_MAX_LENGTH = 60;

/** A value in a sentence. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return [...text].length <= SHOWN_MAX_LENGTH ? text : `${[...text].slice(0, SHOWN_MAX_LENGTH).join("")}…`;
}

function listed(choices: readonly string[]): string {
  return choices.length <= 12 ? choices.join(", ") : `${choices.slice(0, 12).join(", ")}, …`;
}
