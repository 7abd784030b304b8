// HTTP/1.1 byte by byte: requests as they are written, however wrong, and what comes back. Knows no operation.
// fetch would mend half of what is to be tried before it leaves.

import { connect, type Socket } from "node:net";
import { HANG_MS } from "../../../test/support/measure/limits.ts";

export interface WireAnswer {
  readonly status: number;
  /** In the order in which they came, names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** Without the framing of chunks. */
  readonly body: Buffer;
  /** Whether the connection ends after it. */
  readonly isLast: boolean;
}

export interface Exchange {
  /** All that came, as Latin-1: a byte is a character. */
  readonly text: string;
  /** What of it are whole answers. */
  readonly answers: readonly WireAnswer[];
  /** How it ended: the appliance closed it, reset it, or nothing more came until the deadline. */
  readonly end: "closed" | "reset" | "open";
  readonly tookMs: number;
}

export interface ExchangeOptions {
  /** Ends once so many answers are whole. */
  readonly until?: number;
  /** Methods of the requests, where an answer to HEAD is among them. */
  readonly methods?: readonly string[];
  /** How long more is waited for, where silence is expected. */
  readonly silenceMs?: number;
  /** Says that no more will be sent, as soon as all is. */
  readonly halfClose?: boolean;
}

/**
 * Sends the pieces, each when the one before has left, over a connection of its own. Never rejects for what the
 * appliance does.
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
    // What is over drains no more.
    await new Promise<void>((resolve) => {
      for (const event of ["drain", "close", "end", "error"]) socket.once(event, () => resolve());
    });
  }
}

/**
 * The whole answers at the start of what came.
 * @param isEnded whether nothing more will: an answer without a length is whole then
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
  // A stream of events has no end to wait for: its head is the answer, and the connection is of no more use.
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

/** A connection that is kept for one request after the other, opened anew where the appliance has closed it. */
export class KeptConnection {
  private readonly port: number;
  private socket: Socket | null = null;

  constructor(port: number) {
    this.port = port;
  }

  /** @throws Error when no whole answer came until the deadline, or the connection ended before */
  async ask(method: string, bytes: Uint8Array): Promise<WireAnswer> {
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
      if (!look(true))
        reject(
          new Error(
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
    // Told by `close`, which follows.
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
