// Raw HTTP/1.1 client with a new socket per request: any source address, repeated headers, any bytes. Must not know the
// request's meaning, nor judge the answer.

import { connect } from "node:net";
import { HANG_MS } from "../../../test/support/measure/limits.ts";

export interface RawRequest {
  /** Source address seen by the appliance; `127.0.0.0/8` needs no configuration. */
  readonly source?: string;
  readonly method?: string;
  /** As in the request line. */
  readonly path: string;
  /** In this order. `Host` and `Connection` are prepended, and `Content-Length` for a body, unless given here. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body?: string | Uint8Array;
}

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; repeated headers have several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly text: string;
  /** The whole answer as received, including the head. */
  readonly whole: string;
  /** From the request's last byte to the answer's first one. */
  readonly tookMs: number;
}

/** Sends one request. @throws Error without an answer */
export function askRaw(port: number, request: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const pieces: Buffer[] = [];
  let sentAt = 0;
  let firstAt = 0;
  const socket = connect({ host: "127.0.0.1", port, localAddress: request.source ?? "127.0.0.1" });
  const timer = setTimeout(() => {
    socket.destroy();
    reject(new Error(`no answer to ${request.method ?? "GET"} ${request.path.slice(0, 100)} within ${HANG_MS} ms`));
  }, HANG_MS);
  socket.setNoDelay(true);
  socket.on("connect", () => {
    sentAt = performance.now();
    socket.write(bytesOf(port, request));
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
      resolve(answerOf(Buffer.concat(pieces), firstAt - sentAt));
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}

/** Value of a header; null if absent or repeated. */
export function headerOf(answer: RawAnswer, name: string): string | null {
  return answer.headers.get(name)?.[0] ?? null;
}

/** Member of a JSON answer; undefined if absent or not JSON. */
export function memberOf(answer: RawAnswer, name: string): unknown {
  try {
    return (JSON.parse(answer.text) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** Session of an answer; null for none. */
export function sessionOf(answer: RawAnswer): string | null {
  const [cookie, ...others] = answer.headers.get("set-cookie") ?? [];
  return others.length > 0 ? null : (/^session_id=([^;]+)/.exec(cookie ?? "")?.[1] ?? null);
}

function bytesOf(port: number, { method = "GET", path, headers = [], body }: RawRequest): Buffer {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body as Uint8Array);
  const implied: [string, string][] = [
    ["Host", `127.0.0.1:${port}`],
    ["Connection", "close"],
    ...(body === undefined ? [] : [["Content-Length", String(content.length)] as [string, string]]),
  ];
  const all = [...implied.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
  const head = `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

function answerOf(bytes: Buffer, tookMs: number): RawAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) throw new Error("the connection was closed without an answer");
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const content = bytes.subarray(end + 4);
  const text = (headers.get("transfer-encoding")?.[0] === "chunked" ? unchunked(content) : content).toString("utf8");
  return { status: Number(statusLine.split(" ")[1]), headers, text, whole: bytes.toString("latin1"), tookMs };
}

function unchunked(content: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = content.indexOf("\r\n", at);
    const length = end < 0 ? 0 : Number.parseInt(content.subarray(at, end).toString("latin1"), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(content.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
