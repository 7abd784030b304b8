// HTTP/1.1 byte by byte: requests as given, however malformed, and raw answers. Must not know operations. fetch would
// correct half of the test cases before sending.

import { connect, type Socket } from "node:net";
import { HANG_MS } from "../../../test/support/measure/limits.ts";

export interface WireAnswer {
  readonly status: number;
  /** In received order, with names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** Without chunked framing. */
  readonly body: Buffer;
  /** Whether the connection closes after it. */
  readonly isLast: boolean;
}

export interface Exchange {
  /** All received bytes as Latin-1: one character per byte. */
  readonly text: string;
  /** The complete answers among them. */
  readonly answers: readonly WireAnswer[];
  /** End of the exchange: closed or reset by the appliance, or silence until the deadline. */
  readonly end: "closed" | "reset" | "open";
  readonly tookMs: number;
}

export interface ExchangeOptions {
  /** Stops after this many complete answers. */
  readonly until?: number;
  /** Methods of the requests, if one is HEAD. */
  readonly methods?: readonly string[];
  /** Additional wait where silence is expected. */
  readonly silenceMs?: number;
  /** Half-closes the connection once all is sent. */
  readonly halfClose?: boolean;
}

/**
 * Sends the pieces in sequence over a new connection, each after the previous one has left. Never rejects because of
 * the appliance.
 */
export function exchange(
  port: number,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const began = performance.now();
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  const read = () => answersIn(Buffer.concat(chunks), options.methods ?? [], isEnded);
  let isEnded = false;
  let isOver = false;
  const finish = (end: Exchange["end"]) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (end !== "open") isEnded = true;
    socket.destroy();
    resolve({
      text: Buffer.concat(chunks).toString("latin1"),
      answers: read(),
      end,
      tookMs: performance.now() - began,
    });
  };
  const timer = setTimeout(finish, options.silenceMs ?? HANG_MS, "open");
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    if (options.until !== undefined && read().length >= options.until) finish("open");
  });
  socket.on("end", () => finish("closed"));
  socket.on("close", () => finish("closed"));
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
    // A finished exchange needs no drain.
    await new Promise<void>((resolve) => {
      for (const event of ["drain", "close", "end", "error"]) socket.once(event, () => resolve());
    });
  }
}

/**
 * Complete answers at the start of the received bytes.
 * @param isEnded whether the connection has ended, which completes an answer without a length
 */
function answersIn(bytes: Buffer, methods: readonly string[], isEnded: boolean): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const one = answerAt(rest, methods[answers.length] ?? "GET", isEnded);
    if (one === null) return answers;
    if (one.answer.status >= 200) answers.push(one.answer);
    rest = rest.subarray(one.length);
  }
}

function answerAt(bytes: Buffer, method: string, isEnded: boolean): { answer: WireAnswer; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return null;
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const header = (name: string) => headers.find(([each]) => each === name)?.[1];
  const isLast = (header("connection") ?? "").toLowerCase() === "close";
  const start = end + 4;
  const made = (body: Buffer, length: number) => ({ answer: { status, headers, body, isLast }, length });
  // An event stream does not end: its head is the answer, and the connection is not reusable.
  if (header("content-type") === "text/event-stream")
    return { answer: { status, headers, body: Buffer.alloc(0), isLast: true }, length: bytes.length };
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return made(Buffer.alloc(0), start);
  if ((header("transfer-encoding") ?? "").toLowerCase() === "chunked") {
    const body = dechunked(bytes, start);
    return body === null ? null : made(body.bytes, body.end);
  }
  const length = header("content-length");
  if (length === undefined) return isEnded ? made(bytes.subarray(start), bytes.length) : null;
  return bytes.length < start + Number(length)
    ? null
    : made(bytes.subarray(start, start + Number(length)), start + Number(length));
}

function dechunked(bytes: Buffer, start: number): { bytes: Buffer; end: number } | null {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || next > bytes.length) return null;
    if (size === 0) return { bytes: Buffer.concat(parts), end: next };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}

/** A kept connection closed before the first byte of an answer: a client may repeat safe requests (RFC 9112, 9.3.1). */
export class ClosedUnanswered extends Error {}

/** A keep-alive connection for sequential requests, reopened after the appliance closed it. */
export class KeptConnection {
  private readonly port: number;
  private socket: Socket | null = null;

  constructor(port: number) {
    this.port = port;
  }

  /** @throws ClosedUnanswered; Error without a complete answer before the deadline, or if the connection ended earlier */
  async ask(method: string, bytes: Uint8Array): Promise<WireAnswer> {
    const isKept = this.socket !== null;
    const socket = this.socket ?? (await this.open());
    const chunks: Buffer[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
    const look = (isEnded: boolean) => {
      const answer = answersIn(
        chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
        [method],
        isEnded,
      )[0];
      if (answer !== undefined) resolve(answer);
      return answer !== undefined;
    };
    const ended = () => {
      this.socket = null;
      const Reason = isKept && chunks.length === 0 ? ClosedUnanswered : Error;
      if (!look(true))
        reject(
          new Reason(
            `the connection ended before an answer was whole; ${Buffer.concat(chunks).length} bytes had come: ${Buffer.concat(chunks).toString("latin1").slice(0, 200)}`,
          ),
        );
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      look(false);
    };
    const timer = setTimeout(() => {
      reject(
        new Error(
          `no whole answer within ${HANG_MS} ms; ${Buffer.concat(chunks).length} bytes had come: ${Buffer.concat(chunks).toString("latin1").slice(0, 200)}`,
        ),
      );
      this.close();
    }, HANG_MS);
    socket.on("data", take);
    socket.on("close", ended);
    socket.on("end", ended);
    try {
      socket.write(bytes);
      const answer = await promise;
      if (answer.isLast) this.close();
      return answer;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      socket.off("data", take);
      socket.off("close", ended);
      socket.off("end", ended);
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
    // `close` follows and handles it.
    socket.on("error", () => {});
    // Closed between two requests.
    socket.on("close", () => {
      if (this.socket === socket) this.socket = null;
    });
    socket.on("end", () => {
      if (this.socket === socket) this.socket = null;
    });
    this.socket = socket;
    return socket;
  }
}
