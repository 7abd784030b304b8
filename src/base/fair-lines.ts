// Fair queue: one line per sender, served round-robin, so that many items of one sender do not delay the others.
// Must not know the items or their senders.

export class FairLines<Item> {
  /** Next line first: the one served or added least recently. Empty lines are removed. */
  private lines = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }

  /** Appends to a line. */
  add(line: string, item: Item): void {
    const waiting = this.lines.get(line);
    if (waiting === undefined) this.lines.set(line, [item]);
    else waiting.push(item);
  }

  /** Returns an item that could not be served yet to the head of its line, which is next again. */
  putBack(line: string, item: Item): void {
    const waiting = this.lines.get(line) ?? [];
    this.lines.delete(line);
    this.lines = new Map([[line, [item, ...waiting]], ...this.lines]);
  }

  /**
   * Takes the head of the next line, which moves to the end of the rotation.
   * @param isWanted skips lines with another head; they keep their turn
   * @returns null if no matching item is waiting
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
