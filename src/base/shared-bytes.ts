// Text in memory that threads hand to each other without copying it.

/** UTF-8. */
export function sharedBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}
