// What stands in an object of another product, whatever really stands there. Reads nothing that is not of the form
// expected.

export type ForeignObject = Readonly<Record<string, unknown>>;

/** An object, null for anything else. */
export function asObject(value: unknown): ForeignObject | null {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as ForeignObject) : null;
}

/** A text without blanks around it; null for an empty one and for anything else. */
export function asText(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? null : text;
}

/** A whole number; null for anything else. */
export function asInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** The id of an object that another one names. */
export function idOf(value: unknown): number | null {
  const id = asInteger(asObject(value)?.id);
  return id !== null && id > 0 ? id : null;
}

/** The name of an object that another one names. */
export function nameOf(value: unknown): string | null {
  const object = asObject(value);
  return asText(object?.name) ?? asText(object?.display);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
