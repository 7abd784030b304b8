// Tells whoever listens that the writer has committed something. What it was is in the ledger.

export class CommitSignal {
  private readonly listeners = new Set<() => void>();

  /** @returns what ends the listening */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  notify(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
