// Names among other words, where signs of direction or letters from right to left in them turn nothing else (Unicode
// Standard Annex 9). Plain functions.

const TURNING = /[\u0590-\u08ff\u200e\u200f\u061c\u202a-\u202e\u2029\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * A name within a sentence: as it is, or, where it would turn the words beside it, between the signs that isolate it and
 * without those that would end that.
 */
export function isolated(name: string): string {
  if (!TURNING.test(name)) return name;
  return `\u2068${name.replaceAll(/[\u2029\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
}

/**
 * The text without the ends of isolates that begin outside of it, and with those of its own: what is left open would end
 * with what follows. Separators of paragraphs are spaces.
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
