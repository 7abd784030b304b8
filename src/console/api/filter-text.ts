// Quoting for filter values.

/** Quotes a string for use as a filter value. */
export function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
