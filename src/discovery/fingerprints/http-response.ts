// Parser for a partial HTTP/1 response (RFC 9112): status, headers, body. Pure; never throws, regardless of the input.

import { latin1Of, textOfLatin1 } from "./service-text.ts";

export interface HttpResponse {
  readonly status: number;
  /** By lower-case name; the first of several. */
  readonly headers: ReadonlyMap<string, string>;
  /** With chunked encoding removed. */
  readonly body: Uint8Array;
  readonly isBodyComplete: boolean;
}

/** Minimal GET request that any server responds to. @param host as in a URL */
export function getRequest(host: string, path: string): Uint8Array {
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "User-Agent: netledger", "Accept: */*", "Connection: close"];
  return new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
}

/**
 * Returns "More" until the headers are complete; null if not HTTP.
 * @param protocol `HTTP` or `RTSP`, which share the response format
 */
export function parseHttpResponse(
  bytes: Uint8Array,
  isComplete: boolean,
  protocol = "HTTP",
): HttpResponse | "More" | null {
  const text = latin1Of(bytes);
  const prefix = `${protocol}/`;
  if (!prefix.startsWith(text.slice(0, prefix.length))) return null;
  const end = /\r?\n\r?\n/.exec(text);
  if (!end && !isComplete) return "More";
  const head = end ? text.slice(0, end.index) : text;
  const [statusLine = "", ...lines] = head.split(/\r?\n/);
  const status = /^[A-Z]+\/\d(?:\.\d)? (\d{3})\b/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, textOfLatin1(line.slice(colon + 1)).trim());
  }
  const rest = end ? bytes.subarray(end.index + end[0].length) : new Uint8Array();
  const isChunked = /\bchunked\b/i.test(headers.get("transfer-encoding") ?? "");
  const chunked = isChunked ? dechunk(rest) : null;
  const length = Number(headers.get("content-length") ?? Number.NaN);
  const isBodyComplete = isComplete || (chunked ? chunked.isComplete : rest.length >= length);
  return { status: Number(status), headers, body: chunked?.body ?? rest, isBodyComplete };
}

function dechunk(bytes: Uint8Array): { body: Uint8Array; isComplete: boolean } {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const end = bytes.indexOf(0x0a, offset);
    const size = end < 0 ? Number.NaN : Number.parseInt(latin1Of(bytes.subarray(offset, end)), 16);
    // A size of zero ends the body; an invalid size ends parsing.
    if (!(size > 0)) return { body: Buffer.concat(parts), isComplete: end >= 0 };
    parts.push(bytes.subarray(end + 1, end + 1 + size));
    offset = end + 1 + size + 2;
    if (offset >= bytes.length) return { body: Buffer.concat(parts), isComplete: false };
  }
}
