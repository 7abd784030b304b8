// Text in shared memory, passed between threads without copying.

/** UTF-8. */
export function sharedBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}
