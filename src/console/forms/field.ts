// Form fields: conversion between value and input, and validation against the limits of the API's schema. Pure.

import type { WordOf } from "../kinds/word-list.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { parseInstant } from "../time/instant.ts";

/**
 * Generated from a schema by scripts/console-forms.ts, or from a custom field definition by `customField`. `ids` is a
 * list of references, `lines` a list of strings, `scalar` a value whose type is the record's `type`, and `other` a
 * structured value.
 */
export interface FormField {
  /** Name in the record; `custom_fields.KEY` for a custom field. */
  readonly name: string;
  /** Display name of a custom field. */
  readonly label?: string;
  readonly type: WordOf<"text lines integer number date instant boolean flag choice choices id ids scalar other">;
  readonly isNullable: boolean;
  readonly isRequired: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly choices?: readonly string[];
  readonly description?: string;
}

/** Input: text, the state of a checkbox, or selected values. */
export type Typed = string | boolean | readonly string[];

/** Fields of a record in API format. */
export type Values = Readonly<Record<string, unknown>>;

const CUSTOM = "custom_fields";

/** Key of a custom field; null for other fields. */
export function customKeyOf({ name }: Pick<FormField, "name">): string | null {
  return name.startsWith(`${CUSTOM}.`) ? name.slice(CUSTOM.length + 1) : null;
}

/** Value of a field in a record. */
export function valueIn(record: Values, field: Pick<FormField, "name">): unknown {
  const key = customKeyOf(field);
  return key === null ? ownValue(record, field.name) : ownValue(record[CUSTOM] as Values | undefined, key);
}

/** Converts a value to input. */
export function typedOf({ type }: FormField, value: unknown): Typed {
  if (type === "boolean") return value === true;
  if (type === "ids" || type === "choices") return Array.isArray(value) ? value.map(String) : [];
  if (type === "lines") return Array.isArray(value) ? value.join("\n") : "";
  return value === null || value === undefined ? "" : String(value);
}

/** Converts valid input to a value in API format. @param scalarType the record's `type`, for a `scalar` field */
export function sentValue({ type, isNullable }: FormField, typed: Typed, scalarType?: unknown): unknown {
  if (typeof typed !== "string") return typed;
  if (type === "lines") return typed.trim() === "" && isNullable ? null : linesOf(typed);
  if (typed === "") return isNullable ? null : "";
  if (type === "scalar") return scalarOf(typed, scalarType);
  if (type === "flag") return typed === "true";
  return type === "integer" || type === "number" ? Number(typed) : typed;
}

/** Non-empty lines of a string. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Value of a scalar. Unparsable input stays text, so that the API reports the error. */
function scalarOf(typed: string, type: unknown): unknown {
  if (type === "number" && typed.trim() !== "" && Number.isFinite(Number(typed))) return Number(typed);
  if (type === "boolean" && (typed === "true" || typed === "false")) return typed === "true";
  return typed;
}

/** Whether two inputs are equal, regardless of the order of multiple values. */
export function isSameInput(a: Typed, b: Typed): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  return a.length === b.length && JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted());
}

const rangeError = (minimum: number | undefined, maximum: number | undefined) =>
  minimum === undefined
    ? `At most ${maximum}.`
    : maximum === undefined
      ? `At least ${minimum}.`
      : `A number from ${minimum} to ${maximum}.`;

/** Whether input exceeds its maximum, which more typing cannot fix. */
export function exceedsLimit({ type, maxLength, maximum }: FormField, typed: string): boolean {
  return type === "integer" ? Number(typed) > (maximum ?? Infinity) : [...typed].length > (maxLength ?? Infinity);
}

/** Validates input. @returns the error as a sentence; null if none can be detected in the browser */
export function validationError(field: FormField, typed: Typed): string | null {
  const { type, isNullable, minLength = 0, maxLength, minimum, maximum, choices } = field;
  if (type === "choices") return (typed as readonly string[]).length === 0 ? editText.error.required : null;
  if (typeof typed !== "string" || type === "lines") return null;
  if (typed === "")
    return isNullable || type === "scalar" || (type === "text" && minLength === 0) ? null : editText.error.required;
  if (type === "text" && minLength > 0 && typed.trim() === "") return editText.error.required;
  // In code points, as the API counts.
  const length = [...typed].length;
  if (type === "text" && length < minLength) return editText.error.tooShort(minLength, length);
  if (maxLength !== undefined && type === "text" && length > maxLength)
    return `At most ${maxLength} characters; it has ${length}.`;
  if (type === "choice" && choices?.includes(typed) !== true) return editText.error.required;
  if (type === "instant")
    return parseInstant(typed.trim()) === null ? "A timestamp, such as 2026-03-01T03:12:00Z." : null;
  if (type === "number")
    return Number.isFinite(Number(typed)) && typed.trim() !== "" ? null : "A number, such as 20 or 2.5.";
  if (type !== "integer") return null;
  if (!/^\s*-?\d{1,16}\s*$/.test(typed)) return "A whole number, such as 20.";
  const number = Number(typed);
  const isWithin = number >= (minimum ?? number) && number <= (maximum ?? number);
  return isWithin ? null : rangeError(minimum, maximum);
}
