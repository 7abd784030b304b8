// Bounds the requests of one address that were begun and not sent to their end: each holds a descriptor, and a process
// has only so many. Must not know how connections are looked at, nor end one whose request is whole.

import { type Cidr, isIpWithinAny, peerPlace } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";

/** Of all descriptors, what the unfinished requests of one address, or of one /64 of IPv6, may hold. */
const SHARE_OF_PLACE = 1 / 8;
/** The same of a trusted proxy, which has many callers behind it. */
const SHARE_OF_PROXY = 1 / 2;
/**
 * Where more of all descriptors are in use, all connections count without a request that waits for its answer: one may
 * be kept after a request, or have the beginning of one hidden behind a whole one.
 */
const SHARE_IN_USE = 3 / 4;
/** However few descriptors there are. */
const PLACE_MIN = 16;
/** Between looks. */
export const CONNECTIONS_LOOK_MS = 250;
/** What was ended is logged together, once in this time. */
const LOG_AFTER_MS = 1_000;

/** A connection of the listener. */
interface Connection {
  readonly descriptor: number;
  /** Of the peer, as `port`. */
  readonly address: string;
  readonly port: number;
  readonly wasAnswered: boolean;
  /** Since data were last sent or received; milliseconds. */
  readonly sentAgoMs: number;
  readonly heardAgoMs: number;
}

/** How connections are looked at. */
interface Connections {
  acceptedAt(port: number, descriptors: readonly number[]): readonly Connection[];
  end(connection: Connection): void;
  close(): void;
}

/** What listens. */
interface ListeningServer {
  readonly port: number;
  /** The peer of a request; null where it has gone. */
  peerOf(request: Request): { readonly address: string; readonly port: number } | null;
}

interface UnfinishedOptions {
  /** All that the process has open; null where that cannot be told at the moment. */
  readonly descriptors: () => readonly number[] | null;
  /** Called once, when the start is over; null where the kernel does not let them be looked at. */
  readonly open: () => Connections | null;
  readonly descriptorLimit: number;
  readonly server: ListeningServer;
  readonly isTls: boolean;
  /** Requests that have arrived whole and are not answered yet. */
  readonly answering: ReadonlySet<Request>;
  readonly trustedProxies: readonly Cidr[];
  readonly timers: Timers;
  readonly log: Log;
}

export class UnfinishedRequests {
  private readonly options: UnfinishedOptions;
  private connections: Connections | null = null;
  private callOff: () => void;
  /** By place: ended and not logged yet. */
  private readonly ended = new Map<string, number>();

  constructor(options: UnfinishedOptions) {
    this.options = options;
    this.callOff = options.timers.after(CONNECTIONS_LOOK_MS, () => {
      this.connections = options.open();
      if (this.connections !== null) this.look(this.connections);
    });
  }

  stop(): void {
    this.callOff();
    this.connections?.close();
  }

  private look(connections: Connections): void {
    this.bound(connections);
    this.callOff = this.options.timers.after(CONNECTIONS_LOOK_MS, () => this.look(connections));
  }

  private bound(connections: Connections): void {
    const { descriptorLimit, server } = this.options;
    const descriptors = this.options.descriptors();
    // Most of the time that is all.
    if (descriptors === null || descriptors.length <= this.boundOf(SHARE_OF_PLACE)) return;
    const isShort = descriptors.length > descriptorLimit * SHARE_IN_USE;
    const held = this.notAnswered(connections.acceptedAt(server.port, descriptors));
    const bounded = isShort ? held : held.filter((each) => this.isUnfinished(each));
    for (const [place, all] of Map.groupBy(bounded, ({ address }) => peerPlace(address).place)) {
      const excess = all.length - this.boundOfPlace(all[0] as Connection);
      if (excess <= 0) continue;
      all.sort((a, b) => restedMs(b) - restedMs(a));
      for (const connection of all.slice(0, excess)) connections.end(connection);
      this.note(place, excess);
    }
  }

  /** Those without a request that has arrived whole and waits for its answer. */
  private notAnswered(all: readonly Connection[]): Connection[] {
    const { answering, server } = this.options;
    const busy = new Set<string>();
    for (const request of answering) {
      const peer = server.peerOf(request);
      if (peer !== null) busy.add(endpoint(peer));
    }
    return all.filter((each) => !busy.has(endpoint(each)));
  }

  /**
   * Whether the rest of a request is waited for, or its beginning: the peer has spoken last. What the kernel tells is in
   * milliseconds: a request that was answered in the one in which it came counts as answered; but under TLS a handshake
   * may have been all.
   */
  private isUnfinished({ wasAnswered, sentAgoMs, heardAgoMs }: Connection): boolean {
    return this.options.isTls ? heardAgoMs <= sentAgoMs : !wasAnswered || heardAgoMs < sentAgoMs;
  }

  private boundOfPlace({ address }: Connection): number {
    const isProxy = isIpWithinAny(this.options.trustedProxies, peerPlace(address).address);
    return this.boundOf(isProxy ? SHARE_OF_PROXY : SHARE_OF_PLACE);
  }

  private boundOf(share: number): number {
    return Math.max(PLACE_MIN, Math.floor(this.options.descriptorLimit * share));
  }

  /** Not a line for each look: somebody may go on for hours. */
  private note(place: string, count: number): void {
    if (this.ended.size === 0) {
      this.options.timers.after(LOG_AFTER_MS, () => {
        for (const [source, ended] of this.ended) this.options.log.warn("unfinished_requests_ended", { source, ended });
        this.ended.clear();
      });
    }
    this.ended.set(place, (this.ended.get(place) ?? 0) + count);
  }
}

/** Since anything was sent or received. Those go first that have rested for the longest time. */
function restedMs({ sentAgoMs, heardAgoMs }: Connection): number {
  return Math.min(sentAgoMs, heardAgoMs);
}

function endpoint({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${peerPlace(address).address} ${port}`;
}
