// Bidirectional isolation of names in text (Unicode Standard Annex 9). Pure.

const REORDERING = /[\u0590-\u08ff\u200e\u200f\u061c\u202a-\u202e\u2029\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Name within a sentence, wrapped in isolate characters if it could reorder the text around it. */
export function isolated(name: string): string {
  if (!REORDERING.test(name)) return name;
  return `\u2068${name.replaceAll(/[\u2029\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
}

/** Text with balanced isolates, so that none affects what follows. Paragraph separators become spaces. */
export function selfContained(text: string): string {
  if (!/[\u2066-\u2069\u2029]/.test(text)) return text;
  let open = 0;
  const balanced = text.replaceAll(/[\u2066-\u2069\u2029]/g, (character) => {
    if (character === "\u2029") return " ";
    if (character !== "\u2069") open += 1;
    else if (open === 0) return "";
    else open -= 1;
    return character;
  });
  return balanced + "\u2069".repeat(open);
}
