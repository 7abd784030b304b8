// Notation for lists of strings.

/** Splits a list of strings, any of which may be empty. White space at the ends of a string must be escaped. */
export function texts(list: string): string[] {
  return list.split(/ ¦(?: |\n {2})/);
}
