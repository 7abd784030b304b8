// The socket that the app answers on: with or without TLS, with another certificate when there is one, and its end in
// order. Knows no flags and reads no file.

import { lookup } from "node:dns/promises";
import { ownValue } from "../base/fields.ts";
import { parseIp } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";
import type { createApp } from "../registry/app.ts";
import type { TlsPair } from "../tls/pair.ts";

/** Requests that still run this long after the stop began are cut off. */
export const DRAIN_MS = 4_000;
/** A connection on which nothing moves; longer than any wait that the API offers. */
const IDLE_TIMEOUT_S = 120;
/** Between attempts to have an address back. */
const RETRY_MS = 1_000;

export type App = ReturnType<typeof createApp>["app"];

export interface ListenerOptions {
  readonly app: App;
  /** `port` 0 for any that is free. */
  readonly address: { readonly host: string; readonly port: number };
  /** Null for plain HTTP. */
  readonly pair: TlsPair | null;
  readonly log: Log;
  readonly timers: Timers;
}

/** The address to listen on cannot be had. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export class Listener {
  /** Where it answers, with the port that it really has. */
  readonly url: string;
  readonly port: number;
  private readonly app: App;
  private readonly host: string;
  private readonly log: Log;
  private readonly timers: Timers;
  private server: Bun.Server<unknown> | null;
  /** Those that accept nothing any more and still answer. */
  private readonly ending = new Set<Bun.Server<unknown>>();
  private callOffRetry: () => void = () => {};

  /** @throws ListenError */
  constructor({ app, address, pair, log, timers }: ListenerOptions) {
    this.app = app;
    this.host = address.host;
    this.log = log;
    this.timers = timers;
    this.server = open(app, address.host, address.port, pair);
    this.port = this.server.port ?? address.port;
    this.url = this.server.url.origin;
  }

  /**
   * Answers new connections with another certificate. Bun cannot change that of a server: the socket is closed and
   * opened anew within milliseconds. Requests that run end as they began; connections that are kept alive are closed,
   * and what is sent on one at that moment was not begun; who connects then has to try again.
   */
  renew(pair: TlsPair): void {
    this.callOffRetry();
    const before = this.server;
    this.server = null;
    if (before !== null) {
      this.ending.add(before);
      void before.stop().finally(() => this.ending.delete(before));
    }
    try {
      this.server = open(this.app, this.host, this.port, pair);
    } catch (error) {
      this.log.error("not_listening", { cause: error });
      this.callOffRetry = this.timers.after(RETRY_MS, () => this.renew(pair));
    }
  }

  /** Whom a request comes from; null where that one has gone. */
  peerOf(request: Request): { readonly address: string; readonly port: number } | null {
    for (const server of [this.server, ...this.ending]) {
      const peer = server?.requestIP(request) ?? null;
      if (peer !== null) return peer;
    }
    return null;
  }

  /** Accepts nothing more and waits for what runs, DRAIN_MS at most. */
  async stop(): Promise<void> {
    this.callOffRetry();
    const servers = [...this.ending, ...(this.server === null ? [] : [this.server])];
    await Promise.all(servers.map((server) => this.drain(server)));
  }

  private async drain(server: Bun.Server<unknown>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const callOff = this.timers.after(DRAIN_MS, () => resolve("late"));
    if ((await Promise.race([server.stop(), late])) === "late") {
      this.log.warn("requests_cut_off", { pending: server.pendingRequests });
      await server.stop(true);
    }
    callOff();
  }
}

/**
 * Whether only this machine can reach what listens there. A name counts by all that it leads to.
 * @throws ListenError for a name that leads nowhere
 */
export async function isLoopback(host: string): Promise<boolean> {
  if (parseIp(host) !== null) return isLoopbackAddress(host);
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0) throw new ListenError(`Cannot listen on ${host}: ${LISTEN_PROBLEMS.EINVAL}.`);
  return found.every(({ address }) => isLoopbackAddress(address));
}

/** 127.0.0.0/8 (RFC 1122 section 3.2.1.3), ::1 (RFC 4291 section 2.5.3), and the former written as IPv6. */
function isLoopbackAddress(text: string): boolean {
  const ip = parseIp(text);
  if (ip === null) return false;
  if (ip.version === 4) return ip.bytes[0] === 127;
  return ip.text === "::1" || (ip.bytes.slice(0, 12).toHex() === "00000000000000000000ffff" && ip.bytes[12] === 127);
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program is listening there",
  EADDRNOTAVAIL: "this machine has no such address",
  // What Bun makes of a name that cannot be resolved.
  EINVAL: "the name does not resolve",
  EACCES: "this user lacks the permission",
};

function open(app: App, host: string, port: number, pair: TlsPair | null): Bun.Server<unknown> {
  const atEnd = new Set(process.listeners("beforeExit"));
  try {
    app.listen({
      hostname: host,
      port,
      // Or a second appliance would share the port without a word.
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_S,
      // Bodies are read as they come and bounded there, with an answer in the envelope.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun speaks TLS 1.2 and 1.3 and nothing older (a test asks).
      ...(pair === null ? {} : { tls: { cert: pair.certificate, key: pair.privateKey } }),
    });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ListenError(`Cannot listen on ${host} port ${port}: ${ownValue(LISTEN_PROBLEMS, code) ?? code}.`);
  }
  // Elysia would stop the server at an end that never comes by itself, and adds one listener for each certificate.
  for (const each of process.listeners("beforeExit")) if (!atEnd.has(each)) process.removeListener("beforeExit", each);
  return app.server as Bun.Server<unknown>;
}
