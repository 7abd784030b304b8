// Bounds of untrusted JSON text, checked before parsing, which allocates an object for every few bytes and recurses once
// per nesting level. Counts only brackets and commas outside of strings.

export interface JsonBounds {
  /** Nesting depth of arrays and objects. */
  readonly depth: number;
  /** Total number of arrays and objects. */
  readonly containers: number;
  /** Total number of commas: items and members, except the first of each array and object. */
  readonly commas: number;
}

/** @returns the first bound that the text exceeds; null if within all */
export function exceededBound(text: string, bounds: JsonBounds): keyof JsonBounds | null {
  let open = 0;
  let containers = 0;
  let commas = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      open += 1;
      containers += 1;
      if (open > bounds.depth) return "depth";
      if (containers > bounds.containers) return "containers";
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) open -= 1;
    else if (code === COMMA) {
      commas += 1;
      if (commas > bounds.commas) return "commas";
    }
  }
  return null;
}

const [BACKSLASH, QUOTE, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  0x5c, 0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d,
];
