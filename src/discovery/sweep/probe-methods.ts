// Probe methods of a sweep: opened, rate-limited and closed together.

import { readFileSync } from "node:fs";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { RouteLookup } from "../kernel/ip-route.ts";
import { type NeighborSource, NeighborTable, openNeighbors } from "../kernel/neighbors.ts";
import { openRouteLookup } from "../kernel/route-lookup.ts";
import { openSockets, type Sockets } from "../kernel/sockets.ts";
import { type ArpSocket, openArpSocket } from "./arp-socket.ts";
import { ECHO_METHOD_LABELS, ECHO_METHODS, type Echo, type EchoMethod } from "./echo.ts";
import { type EchoSocketParts, openEchoSocket } from "./echo-socket.ts";
import { type EchoToolParts, openEchoTool } from "./echo-tools.ts";
import type { ErrorKind } from "./error-kinds.ts";
import { ServiceIdentifier } from "./identify-service.ts";
import { ReverseDns } from "./reverse-dns.ts";
import { Slots } from "./slots.ts";
import { SocketPoller } from "./socket-poller.ts";
import { RuntimeTcpProber } from "./tcp-by-runtime.ts";
import { type TcpConnector, TcpProber } from "./tcp-prober.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface KernelAccess {
  /** Returns null if the C library cannot be called. */
  readonly sockets: () => Sockets | null;
  readonly routes: () => RouteLookup;
  readonly neighbors: () => NeighborSource;
}

export const SYSTEM_KERNEL: KernelAccess = { sockets: openSockets, routes: openRouteLookup, neighbors: openNeighbors };

interface InstrumentOptions {
  /** Concurrent TCP connections. */
  readonly concurrency: number;
  /** Requests of all kinds per second. */
  readonly ratePerSecond: number;
  /** Best first; empty for none. */
  readonly echoMethods: readonly EchoMethod[];
  /** True to probe links by this process's own ARP. */
  readonly isArpOn: boolean;
  readonly dnsServers: readonly string[];
  readonly findTool: (name: string) => string | null;
  readonly kernel: KernelAccess;
  readonly random: Random;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
}

export class ProbeMethods {
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  readonly routes: RouteLookup;
  /** Null if not permitted. */
  readonly arp: ArpSocket | null;
  readonly tcp: TcpConnector;
  readonly neighbors: NeighborTable;
  readonly hasNeighborStates: boolean;
  readonly dns: ReverseDns;
  readonly services: ServiceIdentifier;
  /** Hosts whose ports are being scanned: some finish before the next start. */
  readonly hosts = new Slots(MAX_HOSTS);
  readonly connections: Slots;
  /** Slots for on-link addresses that only the kernel can resolve. */
  readonly unresolved: Slots;
  readonly errors = new Map<ErrorKind, number>();
  requests = 0;
  private readonly options: InstrumentOptions;
  private readonly sockets: Sockets | null;
  private readonly poller: SocketPoller;
  private readonly requestsPerSecond: TokenBucket;
  private readonly broadcastsPerSecond: TokenBucket;
  private readonly conversations = new Slots(MAX_CONVERSATIONS);
  private readonly echoes = new Map<4 | 6, Promise<Echo | null>>();
  private readonly echoMethods = new Set<EchoMethod>();
  private readonly pauses = new Set<(reason: unknown) => void>();
  private ended: { reason: unknown; isDone: Promise<void> } | null = null;

  /** Throws an Error if this machine provides no routes. */
  constructor(options: InstrumentOptions) {
    const { timers, random, monotonicMs, ratePerSecond } = options;
    this.options = options;
    this.timers = timers;
    this.monotonicMs = monotonicMs;
    this.poller = new SocketPoller(timers);
    this.requestsPerSecond = new TokenBucket(ratePerSecond, monotonicMs, timers);
    this.broadcastsPerSecond = new TokenBucket(Math.min(ratePerSecond, MAX_BROADCASTS_PER_SECOND), monotonicMs, timers);
    this.connections = new Slots(Math.min(options.concurrency, roomForConnections(openFilesMax())));
    this.unresolved = new Slots(roomForUnresolved());
    const { kernel } = options;
    this.routes = kernel.routes();
    const sockets = kernel.sockets();
    this.sockets = sockets;
    const parts = { poller: this.poller, timers };
    const permit = () => this.permitBroadcast();
    this.arp = options.isArpOn && sockets !== null ? openArpSocket({ ...parts, sockets, permit }) : null;
    this.tcp = sockets === null ? new RuntimeTcpProber(timers) : new TcpProber({ ...parts, sockets });
    const { read, hasStates } = kernel.neighbors();
    this.neighbors = new NeighborTable(monotonicMs, read);
    this.hasNeighborStates = hasStates;
    this.dns = new ReverseDns({ timers, random, servers: options.dnsServers });
    this.services = new ServiceIdentifier({
      timers,
      permit: (conversation) => this.conversations.during(async () => await this.permit().then(conversation)),
    });
  }

  /** Waits until one more request is allowed, and counts it. */
  async permit(): Promise<void> {
    await this.requestsPerSecond.take();
    this.requests += 1;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(this.ended.reason);
      const refuse = (reason: unknown): void => {
        cancel();
        reject(reason);
      };
      const cancel = this.timers.after(ms, () => {
        this.pauses.delete(refuse);
        resolve();
      });
      this.pauses.add(refuse);
    });
  }

  count(error: ErrorKind): void {
    this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
  }

  /** Opened on first use; null if none works. */
  async echo(version: 4 | 6): Promise<Echo | null> {
    if (this.ended) throw this.ended.reason;
    const echo = this.echoes.get(version) ?? this.openEcho(version);
    this.echoes.set(version, echo);
    return await echo;
  }

  /** User-readable: `ICMP by raw socket, ARP, TCP`. */
  describe(isTcpOn: boolean): string {
    const isIcmpEnabled = this.options.echoMethods.length > 0;
    const icmp = [...this.echoMethods].map((means) => ECHO_METHOD_LABELS[means]);
    const parts = [...icmp, ...(this.arp?.isUsed ? ["ARP"] : []), ...(isTcpOn ? ["TCP"] : [])];
    const isMissing = isIcmpEnabled && icmp.length === 0 && this.echoes.size > 0;
    const limitations = [
      ...(isMissing ? ["no ICMP: this process may not open ICMP sockets, and neither fping nor ping works"] : []),
      ...(isTcpOn && this.sockets === null
        ? ["a refused port does not count as an answer: this process may not ask the kernel who refused"]
        : []),
    ];
    return parts.join(", ") + (limitations.length > 0 ? ` (${limitations.join("; ")})` : "");
  }

  /** Rejects waiting callers with the reason; leaves no descriptor, timer or child. Idempotent. */
  end(reason: unknown): Promise<void> {
    this.ended ??= { reason, isDone: this.close(reason) };
    return this.ended.isDone;
  }

  private async close(reason: unknown): Promise<void> {
    for (const each of [
      this.requestsPerSecond,
      this.broadcastsPerSecond,
      this.conversations,
      this.hosts,
      this.connections,
      this.unresolved,
    ])
      each.end(reason);
    for (const each of [this.arp, this.tcp, this.dns, this.services]) each?.end(reason);
    for (const refuse of this.pauses) refuse(reason);
    for (const echo of this.echoes.values()) (await echo.catch(() => null))?.end(reason);
    this.routes.close();
    this.sockets?.close();
  }

  private async openEcho(version: 4 | 6): Promise<Echo | null> {
    const { random, timers, findTool, echoMethods } = this.options;
    const parts = { sockets: this.sockets, poller: this.poller, timers, random, findTool, permit: () => this.permit() };
    const echo = await openEcho(version, parts, echoMethods);
    if (echo) this.echoMethods.add(echo.method);
    return echo;
  }

  /** Every station must process a broadcast, which is most costly on wireless links. */
  private async permitBroadcast(): Promise<void> {
    await this.broadcastsPerSecond.take();
    await this.permit();
  }
}

const MAX_HOSTS = 128;
const MAX_CONVERSATIONS = 64;
const MAX_BROADCASTS_PER_SECOND = 800;

/** Maximum connections within the process's open file limit, shared with other sweeps, the store and API clients. */
export function roomForConnections(openFiles: number): number {
  return Math.max(MIN_CONNECTIONS, Math.floor(openFiles / OPEN_FILES_OF_CONNECTION));
}

const MIN_CONNECTIONS = 16;
const OPEN_FILES_OF_CONNECTION = 12;

/** RLIMIT_NOFILE, which Bun raises on startup. */
function openFilesMax(): number {
  try {
    return Number(
      /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Number.POSITIVE_INFINITY,
    );
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The kernel's default, visible only in the initial network namespace. */
const DEFAULT_NEIGHBOR_ROOM = 1_024;

/** Half of the kernel's neighbor table, leaving room for the machine's other traffic. */
function roomForUnresolved(): number {
  try {
    const room = Number(readFileSync("/proc/sys/net/ipv4/neigh/default/gc_thresh3", "utf8"));
    return Math.max(32, Math.min(MAX_UNRESOLVED, Math.floor(room / 2)));
  } catch {
    return DEFAULT_NEIGHBOR_ROOM / 2;
  }
}

const MAX_UNRESOLVED = 2_048;

interface EchoParts extends Omit<EchoSocketParts, "sockets">, EchoToolParts {
  /** Null if the C library cannot be called. */
  readonly sockets: Sockets | null;
}

/** Returns the first method that works; null if none. */
async function openEcho(
  version: 4 | 6,
  parts: EchoParts,
  means: readonly EchoMethod[] = ECHO_METHODS,
): Promise<Echo | null> {
  const { sockets } = parts;
  for (const each of means) {
    const echo =
      each === "Fping" || each === "Ping"
        ? await openEchoTool(version, each, parts)
        : sockets && openEchoSocket(version, each, { ...parts, sockets });
    if (echo) return echo;
  }
  return null;
}
