// Idempotency keys: the API executes a repeated write only once.

const BYTES = 16;

/** 32 hexadecimal digits. randomUUID() is unavailable over plain HTTP. */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keys of a form's requests. A retry after a lost response reuses the key if the request is unchanged. */
export class RequestKeys {
  private readonly openKeys = new Map<string, string>();

  /** @param request complete description of the request */
  keyFor(request: string): string {
    const key = this.openKeys.get(request) ?? newRequestKey();
    this.openKeys.set(request, key);
    return key;
  }

  /** Marks a request as done: an identical later one gets a new key. */
  settle(request: string): void {
    this.openKeys.delete(request);
  }
}
