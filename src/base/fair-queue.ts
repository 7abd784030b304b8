// Fair queue: one queue per sender, served round-robin, so that one sender's backlog does not delay the others.
// Independent of the items and their senders.

import { append } from "./multimap.ts";

export class FairQueue<Item> {
  /** Next queue first: the one served or added least recently. Empty queues are removed. */
  private queues = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  /** Appends to a sender's queue. */
  add(sender: string, item: Item): void {
    append(this.queues, sender, item);
  }

  /** Returns an item that could not be served yet to the head of its queue, which is next again. */
  putBack(sender: string, item: Item): void {
    const waiting = this.queues.get(sender) ?? [];
    this.queues.delete(sender);
    this.queues = new Map([[sender, [item, ...waiting]], ...this.queues]);
  }

  /**
   * Takes the head of the next queue, which moves to the end of the rotation.
   * @param accepts skips queues with another head; they keep their turn
   * @returns null if no matching item is waiting
   */
  take(accepts: (item: Item) => boolean = () => true): Item | null {
    for (const [sender, waiting] of this.queues) {
      const [head] = waiting;
      if (head === undefined || !accepts(head)) continue;
      waiting.shift();
      this.queues.delete(sender);
      if (waiting.length > 0) this.queues.set(sender, waiting);
      return head;
    }
    return null;
  }
}
