// What somebody may have meant who misspelled a name: the one that the fewest changes lead to.

/**
 * The name that a text is nearest to; null where none is near.
 * @param names in the order in which they are preferred
 */
export function nearestName(text: string, names: Iterable<string>): string | null {
  const lower = text.toLowerCase().slice(0, MAX_LENGTH);
  const most = Math.max(1, Math.floor(lower.length / 3));
  let nearest: string | null = null;
  let least = most + 1;
  for (const name of names) {
    const own = name.toLowerCase();
    // What was cut off is nearer than what was mistyped.
    const changes = lower.length >= 3 && own.startsWith(lower) ? 1 : distance(lower, own, least);
    if (changes < least) [nearest, least] = [name, changes];
  }
  return nearest;
}

const MAX_LENGTH = 64;

/** Insertions, deletions, replacements and swaps of neighbours between two texts, or `enough` where it takes more. */
function distance(from: string, to: string, enough: number): number {
  if (Math.abs(from.length - to.length) >= enough) return enough;
  let older: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let least = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        least = Math.min(least, (older[column - 2] as number) + 1);
      current.push(least);
    }
    older = previous;
    previous = current;
  }
  return previous[to.length] as number;
}
