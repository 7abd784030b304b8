// Values in the text of a filter.

/** A text as a value of a filter. */
export function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
