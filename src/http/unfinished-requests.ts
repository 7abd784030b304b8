// Limit for incomplete requests per address: each holds a file descriptor, and the process has a limited number.
// Independent of how connections are inspected; never closes one whose request is complete.

import { type Cidr, isIpWithinAny, peerSource } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";

/** Share of all descriptors for incomplete requests of one address, or one IPv6 /64. */
const SHARE_OF_SOURCE = 1 / 8;
/** Share for a trusted proxy, which has many callers behind it. */
const SHARE_OF_PROXY = 1 / 2;
/**
 * Above this share of descriptors in use, all connections without a request awaiting its response count: they may be
 * idle after a request, or hide an incomplete request behind a complete one.
 */
const SHARE_IN_USE = 3 / 4;
/** Lower limit, however few descriptors there are. */
const LIMIT_MIN = 16;
/** Interval between inspections. */
export const INSPECT_INTERVAL_MS = 250;
/** Interval at which closed connections are logged together. */
const LOG_AFTER_MS = 1_000;

/** A connection of the listener. */
interface Connection {
  readonly descriptor: number;
  /** Peer address, like `port`. */
  readonly address: string;
  readonly port: number;
  readonly hasSentData: boolean;
  /** Milliseconds since data was last sent or received. */
  readonly sentAgoMs: number;
  readonly receivedAgoMs: number;
}

/** Inspection of connections. */
interface Connections {
  acceptedAt(port: number, descriptors: readonly number[]): readonly Connection[];
  end(connection: Connection): void;
  close(): void;
}

/** The listening server. */
interface ListeningServer {
  readonly port: number;
  /** Peer of a request; null if disconnected. */
  peerOf(request: Request): { readonly address: string; readonly port: number } | null;
}

interface UnfinishedOptions {
  /** Open descriptors of the process; null if unavailable at the moment. */
  readonly descriptors: () => readonly number[] | null;
  /** Called once after startup; returns null if the kernel does not permit inspection. */
  readonly open: () => Connections | null;
  readonly descriptorLimit: number;
  readonly server: ListeningServer;
  readonly isTls: boolean;
  /** Complete requests that await their response. */
  readonly awaitingResponse: ReadonlySet<Request>;
  readonly trustedProxies: readonly Cidr[];
  readonly timers: Timers;
  readonly log: Log;
}

export class UnfinishedRequests {
  private readonly options: UnfinishedOptions;
  private connections: Connections | null = null;
  private cancelTimer: () => void;
  /** By place: closed and not logged yet. */
  private readonly ended = new Map<string, number>();

  constructor(options: UnfinishedOptions) {
    this.options = options;
    this.cancelTimer = options.timers.after(INSPECT_INTERVAL_MS, () => {
      this.connections = options.open();
      if (this.connections !== null) this.inspect(this.connections);
    });
  }

  stop(): void {
    this.cancelTimer();
    this.connections?.close();
  }

  private inspect(connections: Connections): void {
    this.enforceLimits(connections);
    this.cancelTimer = this.options.timers.after(INSPECT_INTERVAL_MS, () => this.inspect(connections));
  }

  private enforceLimits(connections: Connections): void {
    const { descriptorLimit, server } = this.options;
    const descriptors = this.options.descriptors();
    // The usual case.
    if (descriptors === null || descriptors.length <= this.limitOf(SHARE_OF_SOURCE)) return;
    const isShort = descriptors.length > descriptorLimit * SHARE_IN_USE;
    const held = this.withoutPendingRequest(connections.acceptedAt(server.port, descriptors));
    const counted = isShort ? held : held.filter((each) => this.isUnfinished(each));
    for (const [place, all] of Map.groupBy(counted, ({ address }) => peerSource(address).source)) {
      const excess = all.length - this.limitOfSource(all[0] as Connection);
      if (excess <= 0) continue;
      all.sort((a, b) => idleMs(b) - idleMs(a));
      for (const connection of all.slice(0, excess)) connections.end(connection);
      this.noteClosed(place, excess);
    }
  }

  /** Connections without a complete request that awaits its response. */
  private withoutPendingRequest(all: readonly Connection[]): Connection[] {
    const { awaitingResponse, server } = this.options;
    const busy = new Set<string>();
    for (const request of awaitingResponse) {
      const peer = server.peerOf(request);
      if (peer !== null) busy.add(endpoint(peer));
    }
    return all.filter((each) => !busy.has(endpoint(each)));
  }

  /**
   * Whether the rest or the start of a request is outstanding: the peer sent last. The kernel's times have millisecond
   * resolution: a request that gets its response within the millisecond of its arrival counts as complete. Under TLS it
   * counts as unfinished, since the exchange may have been the handshake alone.
   */
  private isUnfinished({ hasSentData, sentAgoMs, receivedAgoMs }: Connection): boolean {
    return this.options.isTls ? receivedAgoMs <= sentAgoMs : !hasSentData || receivedAgoMs < sentAgoMs;
  }

  private limitOfSource({ address }: Connection): number {
    const isProxy = isIpWithinAny(this.options.trustedProxies, peerSource(address).address);
    return this.limitOf(isProxy ? SHARE_OF_PROXY : SHARE_OF_SOURCE);
  }

  private limitOf(share: number): number {
    return Math.max(LIMIT_MIN, Math.floor(this.options.descriptorLimit * share));
  }

  /** Not one line per inspection: an attack may last for hours. */
  private noteClosed(place: string, count: number): void {
    if (this.ended.size === 0) {
      this.options.timers.after(LOG_AFTER_MS, () => {
        for (const [source, ended] of this.ended) this.options.log.warn("unfinished_requests_ended", { source, ended });
        this.ended.clear();
      });
    }
    this.ended.set(place, (this.ended.get(place) ?? 0) + count);
  }
}

/** Idle time; the longest idle connections are closed first. */
function idleMs({ sentAgoMs, receivedAgoMs }: Connection): number {
  return Math.min(sentAgoMs, receivedAgoMs);
}

function endpoint({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${peerSource(address).address} ${port}`;
}
