// A name for a write that may have to be sent again: the API does it once.

const BYTES = 16;

/** 32 hexadecimal digits. Over plain HTTP there is no randomUUID(). */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
