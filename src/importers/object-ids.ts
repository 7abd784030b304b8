// Record IDs derived from objects of other products, to find the records again.

import { createHash } from "node:crypto";

/** URL namespace (RFC 9562 section 6.6). */
const URL_NAMESPACE = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** UUIDv5 (RFC 9562 section 5.5) of a URL. */
export function idOfUrl(url: string): string {
  const bytes = createHash("sha1").update(URL_NAMESPACE).update(url).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
