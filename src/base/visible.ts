// What can be seen of a text. Pure.

/**
 * Marks of format, letters that stand for none (Unicode's Default_Ignorable_Code_Point) and the Braille pattern without
 * dots: nothing is seen of them. White space is told apart: it parts words.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Whether something is seen of a text: not of white space, nor of invisible characters. */
export function isVisible(text: string): boolean {
  return /\S/u.test(withoutInvisible(text));
}

/** A text as it is seen. Taking it twice changes nothing. */
export function withoutInvisible(text: string): string {
  // Most of what is written by the hundred thousand is ASCII.
  return ASCII.test(text) ? text : text.replaceAll(INVISIBLE, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\u0000-\u007f]*$/;
