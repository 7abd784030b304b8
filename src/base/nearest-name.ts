// Spelling suggestion: the known name with the smallest edit distance to a misspelled one.

/**
 * The nearest name to a string; null if none is near.
 * @param names in order of preference
 */
export function nearestName(text: string, names: Iterable<string>): string | null {
  const lower = text.toLowerCase().slice(0, MAX_LENGTH);
  const maxChanges = Math.max(1, Math.floor(lower.length / 3));
  let nearest: string | null = null;
  let fewest = maxChanges + 1;
  for (const name of names) {
    const candidate = name.toLowerCase();
    // A truncated name is nearer than a mistyped one.
    const changes = lower.length >= 3 && candidate.startsWith(lower) ? 1 : distance(lower, candidate, fewest);
    if (changes < fewest) [nearest, fewest] = [name, changes];
  }
  return nearest;
}

const MAX_LENGTH = 64;

/** Edit distance: insertions, deletions, replacements and transpositions between two strings, capped at `cap`. */
function distance(from: string, to: string, cap: number): number {
  if (Math.abs(from.length - to.length) >= cap) return cap;
  let older: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let fewest = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        fewest = Math.min(fewest, (older[column - 2] as number) + 1);
      current.push(fewest);
    }
    older = previous;
    previous = current;
  }
  return previous[to.length] as number;
}
