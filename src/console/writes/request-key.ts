// Names for writes that may have to be sent again: the API does each once.

const BYTES = 16;

/** 32 hexadecimal digits. Over plain HTTP there is no randomUUID(). */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The keys of what is sent from one place. What is sent again unchanged, its answer lost, has the key that it had. */
export class RequestKeys {
  private readonly open = new Map<string, string>();

  /** @param what says all of what is sent */
  of(what: string): string {
    const key = this.open.get(what) ?? newRequestKey();
    this.open.set(what, key);
    return key;
  }

  /** It was done: the next one alike is another. */
  settle(what: string): void {
    this.open.delete(what);
  }
}
