// Notation for lists of texts.

/** Splits a list of texts, any of which may be empty. White space at the ends of a text must be escaped. */
export function texts(list: string): string[] {
  return list.split(/ ¦(?: |\n {2})/);
}
