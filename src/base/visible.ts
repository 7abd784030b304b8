// Visibility of text.

/**
 * Invisible characters: format marks, default-ignorable code points (Unicode's Default_Ignorable_Code_Point) and the
 * Braille pattern without dots. White space is separate, since it divides words.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Whether a string has anything visible besides white space and invisible characters. */
export function isVisible(text: string): boolean {
  return /\S/u.test(withoutInvisible(text));
}

/** Removes invisible characters. Idempotent. */
export function withoutInvisible(text: string): string {
  // Fast path: most text written in bulk is ASCII.
  return ASCII.test(text) ? text : text.replaceAll(INVISIBLE, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII.
const ASCII = /^[\u0000-\u007f]*$/;
