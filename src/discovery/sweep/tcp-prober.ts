// TCP probes through non-blocking libc sockets, since Bun reports unreachable hosts as refused. Sends no data; trusts a
// refusal only if it arrived as TCP.

import type { Ip } from "../../base/ip.ts";
import type { Timers } from "../../base/timers.ts";
import { ipOfSocketAddress, socketAddress } from "../kernel/socket-address.ts";
import {
  AF_INET,
  AF_INET6,
  ECONNREFUSED,
  EINPROGRESS,
  POLLERR,
  POLLHUP,
  POLLOUT,
  type PolledSocket,
  SOCK_STREAM,
  type Sockets,
} from "../kernel/sockets.ts";
import { type ErrorKind, errorKindOf } from "./error-kinds.ts";
import type { SocketPoller } from "./socket-poller.ts";

/**
 * Open: accepted. Refused: a TCP reset from the address itself. Silent: no reply in time. Failed: an error that proves
 * nothing about the address, such as a router's "port unreachable". Unproven: not open, but the origin of the refusal
 * is unknown.
 */
export type TcpOutcome =
  | { readonly kind: "Open" | "Refused" | "Silent" | "Unproven" }
  | { readonly kind: "Failed"; readonly error: ErrorKind };

export interface TcpConnector {
  /** Closes at once. The caller limits the number of connections: each takes a descriptor. */
  connect(ip: Ip, port: number, waitMs: number): Promise<TcpOutcome>;
  /** Rejects current and later calls with the reason and closes all descriptors. */
  end(reason: unknown): void;
}

interface TcpProberParts {
  readonly sockets: Sockets;
  readonly poller: SocketPoller;
  readonly timers: Timers;
}

interface Connecting extends PolledSocket {
  readonly ip: Ip;
  readonly port: number;
  readonly settle: (outcome: TcpOutcome) => void;
  readonly refuse: (reason: unknown) => void;
  readonly cancelTimer: () => void;
}

export class TcpProber implements TcpConnector {
  private readonly parts: TcpProberParts;
  private readonly connecting = new Set<Connecting>();
  private readonly drainBound = (): boolean => this.drain();
  private ended: { reason: unknown } | null = null;

  constructor(parts: TcpProberParts) {
    this.parts = parts;
  }

  async connect(ip: Ip, port: number, waitMs: number): Promise<TcpOutcome> {
    if (this.ended) throw this.ended.reason;
    const { sockets, timers } = this.parts;
    const descriptor = sockets.open(ip.version === 4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
    if (descriptor < 0) return { kind: "Failed", error: errorKindOf(-descriptor) };
    const errno = sockets.connect(descriptor, socketAddress(ip, port));
    if (errno !== EINPROGRESS) {
      const outcome = this.outcomeOf(descriptor, ip, port, errno);
      sockets.closeSocket(descriptor);
      return outcome;
    }
    return await new Promise((settle, refuse) => {
      const cancelTimer = timers.after(waitMs, () => this.conclude(connecting, { kind: "Silent" }));
      const connecting: Connecting = { descriptor, events: 0, ip, port, settle, refuse, cancelTimer };
      this.connecting.add(connecting);
      if (this.connecting.size === 1) this.parts.poller.add(this.drainBound);
    });
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const connecting of [...this.connecting]) {
      this.remove(connecting);
      connecting.refuse(reason);
    }
  }

  private drain(): boolean {
    const connecting = [...this.connecting];
    this.parts.sockets.poll(connecting, POLLOUT);
    const ready = connecting.filter(({ events }) => events !== 0);
    for (const each of ready) {
      const errno = this.parts.sockets.takeError(each.descriptor);
      // Any socket error means that the port is not open.
      const isOpen = errno === 0 && (each.events & (POLLOUT | POLLERR | POLLHUP)) === POLLOUT;
      this.conclude(
        each,
        errno === 0 && !isOpen
          ? { kind: "Failed", error: "Other" }
          : this.outcomeOf(each.descriptor, each.ip, each.port, errno),
      );
    }
    return ready.length > 0;
  }

  private conclude(connecting: Connecting, outcome: TcpOutcome): void {
    this.remove(connecting);
    connecting.settle(outcome);
  }

  private remove(connecting: Connecting): void {
    connecting.cancelTimer();
    this.connecting.delete(connecting);
    if (this.connecting.size === 0) this.parts.poller.remove(this.drainBound);
    this.parts.sockets.closeSocket(connecting.descriptor);
  }

  private outcomeOf(descriptor: number, ip: Ip, port: number, errno: number): TcpOutcome {
    if (errno === 0) return { kind: this.isSelfConnection(descriptor, ip, port) ? "Refused" : "Open" };
    if (errno !== ECONNREFUSED) return { kind: "Failed", error: errorKindOf(errno) };
    return this.hasReceivedSegment(descriptor) ? { kind: "Refused" } : { kind: "Failed", error: "PortUnreachable" };
  }

  /** A connection to a free local port may get that port as its source and connect to itself. */
  private isSelfConnection(descriptor: number, ip: Ip, port: number): boolean {
    const localEnd = ipOfSocketAddress(this.parts.sockets.localAddress(descriptor));
    return localEnd?.port === port && localEnd.ip.text === ip.text;
  }

  /** ICMP "port unreachable", also sent by routers and firewalls, yields the errno of a reset without a TCP segment. */
  private hasReceivedSegment(descriptor: number): boolean {
    const info = new Uint8Array(SEGMENTS_IN_OFFSET + 4);
    if (this.parts.sockets.getOption(descriptor, IPPROTO_TCP, TCP_INFO, info) < info.length) return false;
    return new DataView(info.buffer).getUint32(SEGMENTS_IN_OFFSET, true) > 0;
  }
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** tcpi_segs_in of struct tcp_info, since Linux 4.2. */
const SEGMENTS_IN_OFFSET = 140;
