// All that a sweep asks with: opened together, bounded together, and closed together.
// Must not know which addresses are asked, nor in which order.

import { readFileSync } from "node:fs";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import { type NeighborSource, NeighborTable, openNeighbors } from "../kernel/neighbors.ts";
import type { Routes } from "../kernel/way.ts";
import { openRoutes } from "../kernel/ways.ts";
import { openSockets, type Sockets } from "../kernel/sockets.ts";
import { type ArpSocket, openArpSocket } from "./arp-socket.ts";
import { type Echo, ECHO_MEANS_LABELS, type EchoMeans, openEcho } from "./echo.ts";
import type { ErrorKind } from "./error-kinds.ts";
import { Pump } from "./pump.ts";
import { ReverseDns } from "./reverse-dns.ts";
import { ServiceIdentifier } from "./identify-service.ts";
import { Slots } from "./slots.ts";
import { RuntimeTcpProber } from "./tcp-by-runtime.ts";
import { type TcpConnector, TcpProber } from "./tcp-prober.ts";
import { TokenBucket } from "./token-bucket.ts";

/** What the kernel is asked by. */
export interface KernelAccess {
  /** Null where this process may not call the C library. */
  readonly sockets: () => Sockets | null;
  readonly routes: () => Routes;
  readonly neighbors: () => NeighborSource;
}

/** As far as this process may. */
export const SYSTEM_KERNEL: KernelAccess = { sockets: openSockets, routes: openRoutes, neighbors: openNeighbors };

export interface InstrumentOptions {
  /** TCP connections on their way at once. */
  readonly concurrency: number;
  /** Requests of all kinds in a second. */
  readonly ratePerSecond: number;
  /** The means of ICMP to try, best first; empty for none. */
  readonly echoMeans: readonly EchoMeans[];
  /** Whether links may be asked by ARP of our own, where that is permitted. */
  readonly isArpOn: boolean;
  readonly dnsServers: readonly string[];
  readonly findTool: (name: string) => string | null;
  readonly kernel: KernelAccess;
  readonly random: Random;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
}

export class Instruments {
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  readonly routes: Routes;
  /** Null where this process may not. */
  readonly arp: ArpSocket | null;
  readonly tcp: TcpConnector;
  readonly neighbors: NeighborTable;
  readonly areNeighborStatesTold: boolean;
  readonly dns: ReverseDns;
  readonly services: ServiceIdentifier;
  /** For hosts that are asked for all their ports: some are done before the next begin. */
  readonly hosts = new Slots(MAX_HOSTS);
  /** For TCP connections on their way. */
  readonly connections: Slots;
  /** For addresses on links that only the kernel can ask for, until it knows whether they are there. */
  readonly unresolved: Slots;
  /** How often each kind of error has come. */
  readonly errors = new Map<ErrorKind, number>();
  requests = 0;
  readonly #options: InstrumentOptions;
  readonly #sockets: Sockets | null;
  readonly #pump: Pump;
  readonly #requestsPerSecond: TokenBucket;
  readonly #broadcastsPerSecond: TokenBucket;
  readonly #conversations = new Slots(MAX_CONVERSATIONS);
  readonly #echoes = new Map<4 | 6, Promise<Echo | null>>();
  readonly #echoMeans = new Set<EchoMeans>();
  readonly #pausing = new Set<(reason: unknown) => void>();
  #ended: { reason: unknown; isDone: Promise<void> } | null = null;

  /** Throws an Error where the machine tells no routes at all. */
  constructor(options: InstrumentOptions) {
    const { timers, random, monotonicMs, ratePerSecond } = options;
    this.#options = options;
    this.timers = timers;
    this.monotonicMs = monotonicMs;
    this.#pump = new Pump(timers);
    this.#requestsPerSecond = new TokenBucket(ratePerSecond, monotonicMs, timers);
    this.#broadcastsPerSecond = new TokenBucket(
      Math.min(ratePerSecond, MAX_BROADCASTS_PER_SECOND),
      monotonicMs,
      timers,
    );
    this.connections = new Slots(Math.min(options.concurrency, roomForConnections(openFilesMax())));
    this.unresolved = new Slots(roomForUnresolved());
    const { kernel } = options;
    this.routes = kernel.routes();
    const sockets = kernel.sockets();
    this.#sockets = sockets;
    const parts = { pump: this.#pump, timers };
    const permit = () => this.#permitBroadcast();
    this.arp = options.isArpOn && sockets !== null ? openArpSocket({ ...parts, sockets, permit }) : null;
    this.tcp = sockets === null ? new RuntimeTcpProber(timers) : new TcpProber({ ...parts, sockets });
    const { read, areStatesTold } = kernel.neighbors();
    this.neighbors = new NeighborTable(monotonicMs, read);
    this.areNeighborStatesTold = areStatesTold;
    this.dns = new ReverseDns({ timers, random, servers: options.dnsServers });
    this.services = new ServiceIdentifier({
      timers,
      permit: (conversation) => this.#conversations.during(async () => await this.permit().then(conversation)),
    });
  }

  /** Resolves when one more request may go out, and counts it. */
  async permit(): Promise<void> {
    await this.#requestsPerSecond.take();
    this.requests += 1;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended.reason);
      const refuse = (reason: unknown): void => {
        cancel();
        reject(reason);
      };
      const cancel = this.timers.after(ms, () => {
        this.#pausing.delete(refuse);
        resolve();
      });
      this.#pausing.add(refuse);
    });
  }

  count(error: ErrorKind): void {
    this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
  }

  /** The means of ICMP for a version of IP, looked for at its first use; null where there is none. */
  async echo(version: 4 | 6): Promise<Echo | null> {
    if (this.#ended) throw this.#ended.reason;
    const echo = this.#echoes.get(version) ?? this.#openEcho(version);
    this.#echoes.set(version, echo);
    return await echo;
  }

  /** What is asked with, for people: `ICMP by raw socket, ARP, TCP`. */
  describe(isTcpOn: boolean): string {
    const isIcmpWanted = this.#options.echoMeans.length > 0;
    const icmp = [...this.#echoMeans].map((means) => ECHO_MEANS_LABELS[means]);
    const parts = [...icmp, ...(this.arp?.isUsed ? ["ARP"] : []), ...(isTcpOn ? ["TCP"] : [])];
    const isMissing = isIcmpWanted && icmp.length === 0 && this.#echoes.size > 0;
    const lacks = [
      ...(isMissing ? ["no ICMP: this process may not open such sockets, and neither fping nor ping works"] : []),
      ...(isTcpOn && this.#sockets === null
        ? ["a refused port is no sign of life: this process may not ask the kernel who refused"]
        : []),
    ];
    return parts.join(", ") + (lacks.length > 0 ? ` (${lacks.join("; ")})` : "");
  }

  /** Whatever is waited for fails with the reason, and no descriptor, timer or child is left. Any number of times. */
  end(reason: unknown): Promise<void> {
    this.#ended ??= { reason, isDone: this.#close(reason) };
    return this.#ended.isDone;
  }

  async #close(reason: unknown): Promise<void> {
    for (const each of [
      this.#requestsPerSecond,
      this.#broadcastsPerSecond,
      this.#conversations,
      this.hosts,
      this.connections,
      this.unresolved,
    ])
      each.end(reason);
    for (const each of [this.arp, this.tcp, this.dns, this.services]) each?.end(reason);
    for (const refuse of this.#pausing) refuse(reason);
    for (const echo of this.#echoes.values()) (await echo.catch(() => null))?.end(reason);
    this.routes.close();
    this.#sockets?.close();
  }

  async #openEcho(version: 4 | 6): Promise<Echo | null> {
    const { random, timers, findTool, echoMeans } = this.#options;
    const parts = { sockets: this.#sockets, pump: this.#pump, timers, random, findTool, permit: () => this.permit() };
    const echo = await openEcho(version, parts, echoMeans);
    if (echo) this.#echoMeans.add(echo.means);
    return echo;
  }

  /** A question to all stations of a link costs each of them, and wireless links most. */
  async #permitBroadcast(): Promise<void> {
    await this.#broadcastsPerSecond.take();
    await this.permit();
  }
}

const MAX_HOSTS = 128;
const MAX_CONVERSATIONS = 64;
const MAX_BROADCASTS_PER_SECOND = 800;

/**
 * Connections at once in a process that may have so many files open: several sweeps run at a time, and the store, which could not write
 * without a descriptor, and whoever asks the API need theirs.
 */
export function roomForConnections(openFiles: number): number {
  return Math.max(MIN_CONNECTIONS, Math.floor(openFiles / OPEN_FILES_OF_CONNECTION));
}

const MIN_CONNECTIONS = 16;
const OPEN_FILES_OF_CONNECTION = 12;

/** RLIMIT_NOFILE; Bun has raised it at its start as far as it may. */
function openFilesMax(): number {
  try {
    return Number(
      /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Number.POSITIVE_INFINITY,
    );
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The kernel's own default, which is seen in the machine's first network namespace only. */
const DEFAULT_NEIGHBOR_ROOM = 1_024;

/** Half of what the kernel's neighbor table holds: the machine speaks with others meanwhile. */
function roomForUnresolved(): number {
  try {
    const room = Number(readFileSync("/proc/sys/net/ipv4/neigh/default/gc_thresh3", "utf8"));
    return Math.max(32, Math.min(MAX_UNRESOLVED, Math.floor(room / 2)));
  } catch {
    return DEFAULT_NEIGHBOR_ROOM / 2;
  }
}

const MAX_UNRESOLVED = 2_048;
