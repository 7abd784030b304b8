// Accessors for objects of other products, tolerant of any content. Never return a value of an unexpected type.

export type ForeignObject = Readonly<Record<string, unknown>>;

/** Returns an object; null for anything else. */
export function asObject(value: unknown): ForeignObject | null {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as ForeignObject) : null;
}

/** Returns trimmed text; null if empty and for anything else. */
export function asText(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? null : text;
}

/** Returns an integer; null for anything else. */
export function asInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** Returns the ID of a referenced object. */
export function idOf(value: unknown): number | null {
  const id = asInteger(asObject(value)?.id);
  return id !== null && id > 0 ? id : null;
}

/** Returns the name of a referenced object. */
export function nameOf(value: unknown): string | null {
  const object = asObject(value);
  return asText(object?.name) ?? asText(object?.display);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
