// Lookup cache shared by the writes of one transaction. The caller guarantees that only these writes change the cached
// data.

export class SharedLookups {
  private readonly cache = new Map<string, unknown>();

  /** The cached value of this name, created on first use. */
  of<T>(name: string, make: () => T): T {
    if (!this.cache.has(name)) this.cache.set(name, make());
    return this.cache.get(name) as T;
  }
}

/** Input of a command that may be one of many in a transaction. */
export interface BatchInput {
  readonly shared?: SharedLookups | undefined;
}
