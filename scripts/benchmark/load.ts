// Low-overhead load generator: raw sockets on loopback, requests prepared as bytes, responses delimited by length.

import { quantilesOf } from "../quantiles.ts";

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses without a success status. */
  readonly failures: number;
  /** CPU time of the server per request, in microseconds: independent of a slow generator. */
  readonly cpuMicroseconds: number;
}

interface LoadOptions {
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
  /** CPU time of the server so far, in seconds. */
  readonly cpuSeconds: () => number;
  /** The i-th request, complete, as sent on the wire. */
  readonly request: (i: number) => Uint8Array;
}

interface Connection {
  /** Remaining bytes of the current response, or -1 until its head is complete. */
  bytesLeft: number;
  head: Buffer;
  startedAt: number;
}

/** Generates load in a closed loop: each connection sends its next request after a complete response. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let sent = 0;
  let failures = 0;
  let open = options.connections;
  const cpuBefore = options.cpuSeconds();
  const begin = performance.now();
  const end = begin + options.seconds * 1000;
  let lastAt = begin;
  await new Promise<void>((resolve, reject) => {
    const next = (socket: { data: Connection; write(bytes: Uint8Array): number; end(): void }, now: number) => {
      if (now >= end) {
        socket.end();
        open -= 1;
        if (open === 0) resolve();
        return;
      }
      socket.data = { bytesLeft: -1, head: EMPTY, startedAt: now };
      socket.write(options.request(sent));
      sent += 1;
    };
    for (let i = 0; i < options.connections; i += 1) {
      Bun.connect<Connection>({
        hostname: "127.0.0.1",
        port: options.port,
        socket: {
          open: (socket) => next(socket as never, performance.now()),
          data: (socket, chunk) => {
            const state = socket.data;
            let bytes: Buffer = chunk;
            if (state.bytesLeft < 0) {
              const head = state.head.length === 0 ? bytes : Buffer.concat([state.head, bytes]);
              const bodyStart = head.indexOf("\r\n\r\n") + 4;
              if (bodyStart < 4) {
                state.head = Buffer.from(head);
                return;
              }
              if (head[STATUS_OFFSET] !== TWO) failures += 1;
              state.bytesLeft = contentLength(head.toString("latin1", 0, bodyStart));
              bytes = head.subarray(bodyStart);
            }
            state.bytesLeft -= bytes.length;
            if (state.bytesLeft > 0) return;
            lastAt = performance.now();
            latencies.push(lastAt - state.startedAt);
            next(socket as never, lastAt);
          },
          error: (_socket, error) => reject(error),
          connectError: (_socket, error) => reject(error),
        },
      }).catch(reject);
    }
  });
  const cpuSeconds = options.cpuSeconds() - cpuBefore;
  const quantile = quantilesOf(latencies);
  return {
    requestsPerSecond: latencies.length / ((lastAt - begin) / 1000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    failures,
    cpuMicroseconds: (cpuSeconds * 1e6) / Math.max(1, latencies.length),
  };
}

export function requestBytes(method: string, path: string, headers: Record<string, string>, body = ""): Uint8Array {
  const all = {
    host: "127.0.0.1",
    ...headers,
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return encoder.encode(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n${body}`);
}

const EMPTY = Buffer.alloc(0);
const encoder = new TextEncoder();
/** First digit of the status code in `HTTP/1.1 200`. */
const STATUS_OFFSET = 9;
const TWO = 0x32;

function contentLength(head: string): number {
  const name = head.search(/content-length:/i);
  return name < 0 ? 0 : Number.parseInt(head.slice(name + "content-length:".length), 10);
}
