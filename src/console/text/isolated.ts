// Bidirectional isolation of names in text: direction marks and right-to-left letters must not reorder the text around
// them (Unicode Standard Annex 9). Pure.

const TURNING = /[\u0590-\u08ff\u200e\u200f\u061c\u202a-\u202e\u2029\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * Name within a sentence: unchanged, or, if it could reorder the text around it, wrapped in isolate characters, with
 * any characters removed that would end the isolate.
 */
export function isolated(name: string): string {
  if (!TURNING.test(name)) return name;
  return `\u2068${name.replaceAll(/[\u2029\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
}

/**
 * Text without pop characters for isolates opened outside of it, and with its own isolates closed, so that they do not
 * extend into following text. Paragraph separators become spaces.
 */
export function withinItself(text: string): string {
  if (!/[\u2066-\u2069\u2029]/.test(text)) return text;
  let open = 0;
  const kept = text.replaceAll(/[\u2066-\u2069\u2029]/g, (sign) => {
    if (sign === "\u2029") return " ";
    if (sign !== "\u2069") open += 1;
    else if (open === 0) return "";
    else open -= 1;
    return sign;
  });
  return kept + "\u2069".repeat(open);
}
