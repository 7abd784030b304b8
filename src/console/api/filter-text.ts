// Quoting of values in filters.

/** Quotes a text as a filter value. */
export function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
