// What waits, in a line for each of those who sent it: taken from the lines in turn, so that nobody's crowd holds up
// the others. Knows neither what waits nor for whom.

export class FairLines<Item> {
  /** Whose turn is next comes first: who was served, or came, least recently. A line that is empty is not kept. */
  private lines = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }

  /** To the end of a line. */
  add(line: string, item: Item): void {
    const waiting = this.lines.get(line);
    if (waiting === undefined) this.lines.set(line, [item]);
    else waiting.push(item);
  }

  /** To the head of a line, whose turn it is again: what was taken, and could not be served yet. */
  putBack(line: string, item: Item): void {
    const waiting = this.lines.get(line) ?? [];
    this.lines.delete(line);
    this.lines = new Map([[line, [item, ...waiting]], ...this.lines]);
  }

  /**
   * The head of the line whose turn it is, which is at the end of the turns then.
   * @param isWanted passes over lines whose head is another: they keep their turn
   * @returns null where nothing waits that is wanted
   */
  take(isWanted: (item: Item) => boolean = () => true): Item | null {
    for (const [line, waiting] of this.lines) {
      const [head] = waiting;
      if (head === undefined || !isWanted(head)) continue;
      waiting.shift();
      this.lines.delete(line);
      if (waiting.length > 0) this.lines.set(line, waiting);
      return head;
    }
    return null;
  }
}
