// What many writes of one transaction look up once between them. Whoever hands it to commands vouches that nothing but
// these writes changes what is looked up.

export class SharedLookups {
  private readonly known = new Map<string, unknown>();

  /** What was made under this name, or is made now. */
  of<T>(name: string, make: () => T): T {
    if (!this.known.has(name)) this.known.set(name, make());
    return this.known.get(name) as T;
  }
}

/** The input of a command that may be one of many. */
export interface OneOfMany {
  readonly shared?: SharedLookups | undefined;
}
