// HTTP/1.1 client that sends requests as given, however malformed, and returns raw responses. Independent of
// operations. fetch would correct half of the test cases before sending.

import { connect, type Socket } from "node:net";
import { HANG_MS } from "../../../test/support/measure/limits.ts";

export interface WireResponse {
  readonly status: number;
  /** Headers in received order, with names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** Body without chunked framing. */
  readonly body: Buffer;
  /** Whether the connection closes after this response. */
  readonly isLast: boolean;
}

export interface Exchange {
  /** All received bytes as Latin-1: one character per byte. */
  readonly text: string;
  /** Complete responses at the start of `text`. */
  readonly responses: readonly WireResponse[];
  /** End of the exchange: closed or reset by the appliance, or still open. */
  readonly end: "closed" | "reset" | "open";
}

export interface ExchangeOptions {
  /** Stops after this many complete responses. */
  readonly until?: number;
  /** Methods of the requests; needed if one is HEAD. */
  readonly methods?: readonly string[];
  /** Timeout where silence is expected. */
  readonly silenceMs?: number;
  /** Whether to half-close the connection once everything is sent. */
  readonly halfClose?: boolean;
}

/**
 * Sends the pieces in sequence over a new connection, each once the previous one is sent. Never rejects because of what
 * the appliance does.
 */
export function exchange(
  port: number,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  const read = () => parseResponses(Buffer.concat(chunks), options.methods ?? [], isEnded);
  let isEnded = false;
  let isOver = false;
  const finish = (end: Exchange["end"]) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (end !== "open") isEnded = true;
    socket.destroy();
    resolve({ text: Buffer.concat(chunks).toString("latin1"), responses: read(), end });
  };
  const timer = setTimeout(finish, options.silenceMs ?? HANG_MS, "open");
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    if (options.until !== undefined && read().length >= options.until) finish("open");
  });
  for (const event of ["end", "close"]) socket.on(event, () => finish("closed"));
  socket.on("error", () => finish("reset"));
  socket.on("connect", () => {
    void sendAll(socket, pieces, () => isOver).then(() => {
      if (options.halfClose === true && !isOver) socket.end();
    });
  });
  return promise;
}

async function sendAll(
  socket: Socket,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  isOver: () => boolean,
): Promise<void> {
  for await (const piece of pieces) {
    if (isOver() || socket.destroyed) return;
    const bytes = typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
    if (socket.write(bytes)) continue;
    // Also continues when the exchange is over.
    await new Promise<void>((resolve) => {
      for (const event of ["drain", "close", "end", "error"]) socket.once(event, () => resolve());
    });
  }
}

/**
 * Parses the complete responses at the start of the received bytes.
 * @param isEnded whether the connection has ended, which completes a response without a length
 */
export function parseResponses(bytes: Buffer, methods: readonly string[], isEnded: boolean): WireResponse[] {
  const responses: WireResponse[] = [];
  let rest = bytes;
  for (;;) {
    const parsed = parseResponse(rest, methods[responses.length] ?? "GET", isEnded);
    if (parsed === null) return responses;
    if (parsed.response.status >= 200) responses.push(parsed.response);
    rest = rest.subarray(parsed.length);
  }
}

function parseResponse(
  bytes: Buffer,
  method: string,
  isEnded: boolean,
): { response: WireResponse; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return null;
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const header = (name: string) => headers.find(([field]) => field === name)?.[1];
  const isLast = (header("connection") ?? "").toLowerCase() === "close";
  const start = end + 4;
  const withBody = (body: Buffer, length: number) => ({ response: { status, headers, body, isLast }, length });
  // An event stream does not end: its head is the response, and the connection cannot be reused.
  if (header("content-type") === "text/event-stream")
    return { response: { status, headers, body: Buffer.alloc(0), isLast: true }, length: bytes.length };
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return withBody(Buffer.alloc(0), start);
  if ((header("transfer-encoding") ?? "").toLowerCase() === "chunked") {
    const body = dechunk(bytes, start);
    return body === null ? null : withBody(body.bytes, body.end);
  }
  const length = header("content-length");
  if (length === undefined) return isEnded ? withBody(bytes.subarray(start), bytes.length) : null;
  return bytes.length < start + Number(length)
    ? null
    : withBody(bytes.subarray(start, start + Number(length)), start + Number(length));
}

function dechunk(bytes: Buffer, start: number): { bytes: Buffer; end: number } | null {
  const parts: Buffer[] = [];
  for (let offset = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", offset);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.subarray(offset, lineEnd).toString("latin1"), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || next > bytes.length) return null;
    if (size === 0) return { bytes: Buffer.concat(parts), end: next };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    offset = next;
  }
}

/** A reused connection was closed before a response began: safe requests may be repeated (RFC 9112, 9.3.1). */
export class ClosedBeforeResponse extends Error {}

/** Keep-alive connection for sequential requests, reopened after the appliance has closed it. */
export class KeepAliveConnection {
  private readonly port: number;
  private socket: Socket | null = null;

  constructor(port: number) {
    this.port = port;
  }

  /** Sends a request. @throws ClosedBeforeResponse; Error if no complete response arrives before the deadline */
  async request(method: string, bytes: Uint8Array): Promise<WireResponse> {
    const isReused = this.socket !== null;
    const socket = this.socket ?? (await this.open());
    const chunks: Buffer[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
    const tryComplete = (isEnded: boolean) => {
      const response = parseResponses(Buffer.concat(chunks), [method], isEnded)[0];
      if (response !== undefined) resolve(response);
      return response !== undefined;
    };
    const received = () => {
      const bytes = Buffer.concat(chunks);
      return `after ${bytes.length} bytes: ${bytes.toString("latin1").slice(0, 200)}`;
    };
    const onEnd = () => {
      this.socket = null;
      const Reason = isReused && chunks.length === 0 ? ClosedBeforeResponse : Error;
      if (!tryComplete(true)) reject(new Reason(`the connection ended before a response was complete, ${received()}`));
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      tryComplete(false);
    };
    const timer = setTimeout(() => {
      reject(new Error(`no complete response within ${HANG_MS} ms, ${received()}`));
      this.close();
    }, HANG_MS);
    socket.on("data", onData);
    for (const event of ["close", "end"]) socket.on(event, onEnd);
    try {
      socket.write(bytes);
      const response = await promise;
      if (response.isLast) this.close();
      return response;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      socket.off("data", onData);
      for (const event of ["close", "end"]) socket.off(event, onEnd);
    }
  }

  close(): void {
    this.socket?.destroy();
    this.socket = null;
  }

  private async open(): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port: this.port, noDelay: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once("connect", resolve);
    socket.once("error", reject);
    await promise;
    // `close` follows and handles the error.
    socket.on("error", () => {});
    // The appliance may close the connection between two requests.
    const forget = () => {
      if (this.socket === socket) this.socket = null;
    };
    for (const event of ["close", "end"]) socket.on(event, forget);
    this.socket = socket;
    return socket;
  }
}
