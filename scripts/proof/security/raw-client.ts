// Raw HTTP/1.1 client with a new socket per request, for any source address, repeated headers and any bytes. Does not
// interpret requests or check responses.

import { connect } from "node:net";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { parseResponses } from "../input/wire.ts";

export type Header = readonly [name: string, value: string];

export interface RawRequest {
  /** Source address seen by the appliance; `127.0.0.0/8` needs no configuration. */
  readonly source?: string;
  readonly method?: string;
  /** Target as in the request line. */
  readonly path: string;
  /** Headers in this order; `Host`, `Connection` and, for a body, `Content-Length` are prepended unless given here. */
  readonly headers?: readonly Header[];
  readonly body?: string | Uint8Array;
}

export interface RawResponse {
  readonly status: number;
  /** Headers by lower-case name; repeated headers have several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly text: string;
  /** The complete response as received, including the head. */
  readonly raw: string;
  /** Time from the request's last byte to the response's first byte. */
  readonly tookMs: number;
}

/** Sends one request. @throws Error if there is no response */
export function sendRaw(port: number, request: RawRequest): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const pieces: Buffer[] = [];
  let sentAt = 0;
  let firstAt = 0;
  const socket = connect({ host: "127.0.0.1", port, localAddress: request.source ?? "127.0.0.1" });
  const timer = setTimeout(() => {
    socket.destroy();
    reject(new Error(`no response to ${request.method ?? "GET"} ${request.path.slice(0, 100)} within ${HANG_MS} ms`));
  }, HANG_MS);
  socket.setNoDelay(true);
  socket.on("connect", () => {
    sentAt = performance.now();
    socket.write(encodeRequest(port, request));
  });
  socket.on("data", (piece: Buffer) => {
    if (pieces.length === 0) firstAt = performance.now();
    pieces.push(piece);
  });
  socket.on("error", (error) => {
    clearTimeout(timer);
    reject(error);
  });
  socket.on("close", () => {
    clearTimeout(timer);
    try {
      resolve(parseResponse(Buffer.concat(pieces), request.method ?? "GET", firstAt - sentAt));
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}

/** Returns the first value of a header; null if absent. */
export function headerOf(response: RawResponse, name: string): string | null {
  return response.headers.get(name)?.[0] ?? null;
}

/** Returns a field of a JSON response; undefined if it is absent or the response is not JSON. */
export function jsonField(response: RawResponse, name: string): unknown {
  try {
    return (JSON.parse(response.text) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** Returns the session that a response sets; null for none or several cookies. */
export function sessionOf(response: RawResponse): string | null {
  const [cookie, ...others] = response.headers.get("set-cookie") ?? [];
  return others.length > 0 ? null : (/^session_id=([^;]+)/.exec(cookie ?? "")?.[1] ?? null);
}

function encodeRequest(port: number, { method = "GET", path, headers = [], body }: RawRequest): Buffer {
  const specified = new Set(headers.map(([name]) => name.toLowerCase()));
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body as Uint8Array);
  const defaults: Header[] = [
    ["Host", `127.0.0.1:${port}`],
    ["Connection", "close"],
  ];
  if (body !== undefined) defaults.push(["Content-Length", String(content.length)]);
  const all = [...defaults.filter(([name]) => !specified.has(name.toLowerCase())), ...headers];
  const head = `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

function parseResponse(bytes: Buffer, method: string, tookMs: number): RawResponse {
  const [response] = parseResponses(bytes, [method], true);
  if (response === undefined) throw new Error("the connection was closed without a complete response");
  const headers = new Map<string, string[]>();
  for (const [name, value] of response.headers) headers.set(name, [...(headers.get(name) ?? []), value]);
  const text = response.body.toString("utf8");
  return { status: response.status, headers, text, raw: bytes.toString("latin1"), tookMs };
}
