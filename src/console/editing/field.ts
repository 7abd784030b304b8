// A field of a form: what its value looks like while it is typed, and what is wrong with what was typed. Plain functions;
// the limits are those of the API's schema.

import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { parseInstant } from "../time/instant.ts";

/**
 * As scripts/console-forms.ts makes it of a schema, or customFieldsOf of a definition. What is not bounded is left out;
 * `ids` are of other records, `lines` a list of texts; a `scalar` is what the record's own `type` says; what has parts of
 * its own is `other`.
 */
export interface FormField {
  /** In the record; of a custom field `custom_fields.KEY`. */
  readonly name: string;
  /** What a custom field is called. */
  readonly label?: string;
  readonly type:
    | "text"
    | "lines"
    | "integer"
    | "number"
    | "date"
    | "instant"
    | "boolean"
    | "flag"
    | "choice"
    | "choices"
    | "id"
    | "ids"
    | "scalar"
    | "other";
  readonly isNullable: boolean;
  readonly isRequired: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly choices?: readonly string[];
  readonly description?: string;
}

/** A text as it stands in its field, a switch, or what is chosen of several. */
export type Typed = string | boolean | readonly string[];

/** The fields of a record, as the API tells them. */
export type Values = Readonly<Record<string, unknown>>;

const CUSTOM = "custom_fields";

/** The key of a custom field; null for any other. */
export function customKeyOf({ name }: Pick<FormField, "name">): string | null {
  return name.startsWith(`${CUSTOM}.`) ? name.slice(CUSTOM.length + 1) : null;
}

/** What a record has in a field. */
export function valueIn(record: Values, field: Pick<FormField, "name">): unknown {
  const key = customKeyOf(field);
  return key === null ? ownValue(record, field.name) : ownValue(record[CUSTOM] as Values | undefined, key);
}

/** What stands in the field of a value. A flag can be neither. */
export function typedOf({ type }: FormField, value: unknown): Typed {
  if (type === "boolean") return value === true;
  if (type === "ids" || type === "choices") return Array.isArray(value) ? value.map(String) : [];
  if (type === "lines") return Array.isArray(value) ? value.join("\n") : "";
  return value === null || value === undefined ? "" : String(value);
}

/**
 * The value of what was typed, of which nothing is wrong. An empty field has none.
 * @param scalarType what a scalar is, by the record's `type`
 */
export function sentValue({ type, isNullable }: FormField, typed: Typed, scalarType?: unknown): unknown {
  if (typeof typed !== "string") return typed;
  if (type === "lines") return typed.trim() === "" && isNullable ? null : linesOf(typed);
  if (typed === "") return isNullable ? null : "";
  if (type === "scalar") return scalarOf(typed, scalarType);
  if (type === "flag") return typed === "true";
  return type === "integer" || type === "number" ? Number(typed) : typed;
}

/** Each line of a text, without what is empty. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** What cannot be read as the type that it is of is sent as it was typed: the API says what is wrong with it. */
function scalarOf(typed: string, type: unknown): unknown {
  if (type === "number" && typed.trim() !== "" && Number.isFinite(Number(typed))) return Number(typed);
  if (type === "boolean" && (typed === "true" || typed === "false")) return typed === "true";
  return typed;
}

/** Whether both come to the same value: what is chosen of several in any order. */
export function isSameTyped(one: Typed, other: Typed): boolean {
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  return one.length === other.length && JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());
}

/** What is wrong with it, as a sentence; null for nothing that can be known here. */
export function wrongWith(field: FormField, typed: Typed): string | null {
  const { type, isNullable, minLength = 0, maxLength, minimum, maximum, choices } = field;
  if (type === "choices") return (typed as readonly string[]).length === 0 ? editText.wrong.required : null;
  if (typeof typed !== "string" || type === "lines") return null;
  if (typed === "")
    return isNullable || type === "scalar" || (type === "text" && minLength === 0) ? null : editText.wrong.required;
  if (type === "text" && minLength > 0 && typed.trim() === "") return editText.wrong.required;
  // As the API counts them: in code points.
  const length = [...typed].length;
  if (type === "text" && length < minLength) return editText.wrong.tooShort(minLength, length);
  if (maxLength !== undefined && type === "text" && length > maxLength)
    return editText.wrong.tooLong(maxLength, length);
  if (type === "choice" && choices?.includes(typed) !== true) return editText.wrong.required;
  if (type === "instant") return parseInstant(typed.trim()) === null ? editText.wrong.notInstant : null;
  if (type === "number") return Number.isFinite(Number(typed)) && typed.trim() !== "" ? null : editText.wrong.notNumber;
  if (type !== "integer") return null;
  if (!/^\s*-?\d{1,16}\s*$/.test(typed)) return editText.wrong.notWhole;
  const number = Number(typed);
  const isWithin = number >= (minimum ?? number) && number <= (maximum ?? number);
  return isWithin ? null : editText.wrong.range(minimum, maximum);
}
