// Idempotency keys: the API carries out a repeated write once.

const BYTES = 16;

/** 32 hexadecimal digits. randomUUID() is unavailable over plain HTTP. */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keys of the requests from one place. A retry after a lost response reuses the key of the unchanged request. */
export class RequestKeys {
  private readonly open = new Map<string, string>();

  /** @param what complete description of the request */
  of(what: string): string {
    const key = this.open.get(what) ?? newRequestKey();
    this.open.set(what, key);
    return key;
  }

  /** Marks the request as done: an equal one later gets a new key. */
  settle(what: string): void {
    this.open.delete(what);
  }
}
