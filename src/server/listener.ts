// Listening socket of the app, with or without TLS: certificate renewal and ordered shutdown. Independent of flags;
// reads no files.

import { lookup } from "node:dns/promises";
import { ownValue } from "../base/fields.ts";
import { parseIp } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";
import type { createApp } from "../registry/app.ts";
import type { TlsPair } from "../tls/pair.ts";

/** Requests still running this long after the stop began are aborted. */
export const DRAIN_MS = 4_000;
/** Timeout of an idle connection; longer than any wait in the API. */
const IDLE_TIMEOUT_S = 120;
/** Interval between attempts to reopen an address. */
const RETRY_MS = 1_000;

export type App = ReturnType<typeof createApp>["app"];

export interface ListenerOptions {
  readonly app: App;
  /** `port` 0 for any free port. */
  readonly address: { readonly host: string; readonly port: number };
  /** Null for plain HTTP. */
  readonly pair: TlsPair | null;
  readonly log: Log;
  readonly timers: Timers;
}

/** The listen address is unavailable. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export class Listener {
  /** Base URL with the actual port. */
  readonly url: string;
  readonly port: number;
  private readonly app: App;
  private readonly host: string;
  private readonly log: Log;
  private readonly timers: Timers;
  private server: Bun.Server<unknown> | null;
  /** Servers that no longer accept connections but still respond. */
  private readonly draining = new Set<Bun.Server<unknown>>();
  private cancelRetry: () => void = () => {};

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
   * Uses another certificate for new connections. Bun cannot change it on a running server: the socket is closed and
   * reopened within milliseconds. Running requests complete; idle keep-alive connections are closed, and a request sent
   * on one at that moment is not started; clients that connect at that moment must retry.
   */
  renew(pair: TlsPair): void {
    this.cancelRetry();
    const previous = this.server;
    this.server = null;
    if (previous !== null) {
      this.draining.add(previous);
      void previous.stop().finally(() => this.draining.delete(previous));
    }
    try {
      this.server = open(this.app, this.host, this.port, pair);
    } catch (error) {
      this.log.error("not_listening", { cause: error });
      this.cancelRetry = this.timers.after(RETRY_MS, () => this.renew(pair));
    }
  }

  /** Peer of a request; null if disconnected. */
  peerOf(request: Request): { readonly address: string; readonly port: number } | null {
    for (const server of [this.server, ...this.draining]) {
      const peer = server?.requestIP(request) ?? null;
      if (peer !== null) return peer;
    }
    return null;
  }

  /** Stops accepting and waits for running requests, at most DRAIN_MS. */
  async stop(): Promise<void> {
    this.cancelRetry();
    const servers = [...this.draining, ...(this.server === null ? [] : [this.server])];
    await Promise.all(servers.map((server) => this.drain(server)));
  }

  private async drain(server: Bun.Server<unknown>): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<"late">();
    const cancelTimer = this.timers.after(DRAIN_MS, () => resolve("late"));
    if ((await Promise.race([server.stop(), timeout])) === "late") {
      this.log.warn("requests_cut_off", { pending: server.pendingRequests });
      await server.stop(true);
    }
    cancelTimer();
  }
}

/**
 * Whether only this machine can reach the address. A name counts by all its addresses.
 * @throws ListenError for a name that does not resolve
 */
export async function isLoopback(host: string): Promise<boolean> {
  if (parseIp(host) !== null) return isLoopbackAddress(host);
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.length === 0) throw new ListenError(`Cannot listen on ${host}: ${LISTEN_PROBLEMS.EINVAL}.`);
  return addresses.every(({ address }) => isLoopbackAddress(address));
}

/** 127.0.0.0/8 (RFC 1122 section 3.2.1.3), ::1 (RFC 4291 section 2.5.3), and the former as IPv4-mapped IPv6. */
function isLoopbackAddress(text: string): boolean {
  const ip = parseIp(text);
  if (ip === null) return false;
  if (ip.version === 4) return ip.bytes[0] === 127;
  return ip.text === "::1" || (ip.bytes.slice(0, 12).toHex() === "00000000000000000000ffff" && ip.bytes[12] === 127);
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use by another program",
  EADDRNOTAVAIL: "this machine has no such address",
  // Bun's code for a name that does not resolve.
  EINVAL: "the name does not resolve",
  EACCES: "permission denied",
};

function open(app: App, host: string, port: number, pair: TlsPair | null): Bun.Server<unknown> {
  const existing = new Set(process.listeners("beforeExit"));
  try {
    app.listen({
      hostname: host,
      port,
      // Otherwise a second appliance would silently share the port.
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_S,
      // Bodies are limited while they are read, with an error in the envelope.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun supports only TLS 1.2 and 1.3 (checked by a test).
      ...(pair === null ? {} : { tls: { cert: pair.certificate, key: pair.privateKey } }),
    });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ListenError(`Cannot listen on ${host} port ${port}: ${ownValue(LISTEN_PROBLEMS, code) ?? code}.`);
  }
  // Elysia would stop the server on an event that never occurs here, and adds one listener per certificate.
  for (const each of process.listeners("beforeExit"))
    if (!existing.has(each)) process.removeListener("beforeExit", each);
  return app.server as Bun.Server<unknown>;
}
