// Whether a text can be seen. Pure.

/**
 * Of white space, marks of format, letters that stand for none (Unicode's Default_Ignorable_Code_Point) and the Braille
 * pattern without dots nothing is seen.
 */
export function isVisible(text: string): boolean {
  return /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}
