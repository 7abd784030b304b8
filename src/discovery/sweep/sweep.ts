// Sweep of addresses, reporting each one that responds: probe methods, MAC address, name, open ports and services.
// Holds at most one block of addresses, and leaves nothing open at the end.

import { type Ip, parseIp } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { AddressSighting, OpenPort, ProbedPorts } from "../sightings.ts";
import { ECHO_METHODS, type EchoMethod } from "./echo.ts";
import type { ErrorKind } from "./error-kinds.ts";
import { knownService } from "./identify-service.ts";
import { isAnswer, type Presence, presenceAt, probePort } from "./presence.ts";
import { type KernelAccess, ProbeMethods, SYSTEM_KERNEL } from "./probe-methods.ts";
import { ProxyArpDetector } from "./proxy-arp.ts";
import { shuffledInBlocks } from "./shuffle.ts";
import { DEFAULT_TCP_PORTS } from "./tcp-ports.ts";
import type { TcpOutcome } from "./tcp-prober.ts";

interface SweepTargets {
  /** Canonical; iterated once. */
  readonly addresses: Iterable<string>;
  readonly count: number;
}

export interface SweepOptions {
  /** Without duplicates; empty for none. Default DEFAULT_TCP_PORTS. */
  readonly tcpPorts?: readonly number[];
  /** Concurrent TCP connections, 1–512; default 512. */
  readonly concurrency?: number;
  /** Requests of all kinds per second; default 3,000. */
  readonly ratePerSecond?: number;
  /** Best first; empty for no ICMP. */
  readonly echoMethods?: readonly EchoMethod[];
  /** True to probe own links by this process's ARP rather than through the kernel; default true. */
  readonly isArpOn?: boolean;
  /** True to look up names by reverse DNS; default true. */
  readonly isDnsOn?: boolean;
  /** Replaces the system's resolvers: IP addresses, with a port if not 53. */
  readonly dnsServers?: readonly string[];
  /** True to identify services on open ports; default true. Otherwise they are named by port number. */
  readonly isIdentifyingOn?: boolean;
  readonly signal?: AbortSignal;
  readonly random: Random;
  readonly timers: Timers;
  /** Monotonic clock; default: the process's own. */
  readonly monotonicMs?: () => number;
  readonly findTool?: (name: string) => string | null;
  /** Default: everything this process may use. */
  readonly kernel?: KernelAccess;
}

export interface SweepCounts {
  /** Addresses done. */
  readonly done: number;
  /** Addresses that responded. Those known only by neighbor evidence count at the end. */
  readonly found: number;
  /** Echo requests, ARP requests, TCP connections, conversations with open ports, name lookups. */
  readonly requests: number;
  readonly errors: Readonly<Partial<Record<ErrorKind, number>>>;
  /** User-readable: `ICMP by raw socket, ARP, TCP`. Final once an address is done. */
  readonly methods: string;
}

export interface SweepStats extends SweepCounts {
  readonly elapsedMs: number;
}

interface SweepListeners {
  /** The sweep awaits it and fails with it. */
  readonly answer: (sighting: AddressSighting) => void | Promise<void>;
  /** At most every 200 ms, and once at the end. */
  readonly progress?: (progress: SweepCounts) => void;
}

/**
 * Probes addresses in random order within blocks of 1,024: first ICMP echo with one retry, or neighbors on own links.
 * Scans all TCP ports of a present host, three of a silent address. Rejects with the signal's reason, a listener's
 * first error, or an Error if this machine provides no routes; always after everything is closed.
 */
export async function sweep(
  targets: SweepTargets,
  options: SweepOptions,
  listeners: SweepListeners,
): Promise<SweepStats> {
  options.signal?.throwIfAborted();
  const run = new SweepRun(targets, options, listeners);
  return await run.run();
}

/** Most are waiting for replies that never arrive. */
const MAX_CONCURRENT_ADDRESSES = 2_048;
const BLOCK_SIZE = 1_024;
const MAX_CONCURRENCY = 512;
const DEFAULT_RATE_PER_SECOND = 3_000;
/** Avoids overloading a small device. */
const MAX_CONCURRENT_PORTS = 6;
/** The kernel repeats a SYN after a second: one loss costs no port. */
const PORT_WAIT_MS = 1_500;
/** Fewer ports may well all be open. */
const MIN_PORTS_TO_SUSPECT = 12;
const PROGRESS_EVERY_MS = 200;

class SweepRun {
  private readonly targets: SweepTargets;
  private readonly options: SweepOptions;
  private readonly listeners: SweepListeners;
  private readonly tcpPorts: readonly number[];
  private readonly monotonicMs: () => number;
  private readonly startedMs: number;
  private readonly probes: ProbeMethods;
  private readonly proxyArp = new ProxyArpDetector<AddressSighting>();
  private done = 0;
  private found = 0;
  private reportedAtMs: number;
  private failure: { reason: unknown } | null = null;

  constructor(targets: SweepTargets, options: SweepOptions, listeners: SweepListeners) {
    this.targets = targets;
    this.options = options;
    this.listeners = listeners;
    this.tcpPorts = [...new Set(options.tcpPorts ?? DEFAULT_TCP_PORTS)];
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.startedMs = this.reportedAtMs = this.monotonicMs();
    this.probes = new ProbeMethods({
      concurrency: Math.max(1, Math.min(MAX_CONCURRENCY, options.concurrency ?? MAX_CONCURRENCY)),
      ratePerSecond: Math.max(1, options.ratePerSecond ?? DEFAULT_RATE_PER_SECOND),
      echoMethods: options.echoMethods ?? ECHO_METHODS,
      isArpOn: options.isArpOn ?? true,
      dnsServers: options.dnsServers ?? [],
      findTool: options.findTool ?? ((name) => Bun.which(name)),
      kernel: options.kernel ?? SYSTEM_KERNEL,
      random: options.random,
      timers: options.timers,
      monotonicMs: this.monotonicMs,
    });
  }

  async run(): Promise<SweepStats> {
    const abort = (): void => void this.fail(this.options.signal?.reason);
    this.options.signal?.addEventListener("abort", abort, { once: true });
    try {
      const addresses = shuffledInBlocks(this.targets.addresses, BLOCK_SIZE, this.options.random);
      const workers = Math.max(1, Math.min(MAX_CONCURRENT_ADDRESSES, this.targets.count));
      // All workers end before the sweep does.
      await Promise.all(Array.from({ length: workers }, () => this.work(addresses)));
      for (const sighting of this.proxyArp.credible())
        if (!this.failure) await this.report(sighting).catch((error: unknown) => this.fail(error));
    } finally {
      this.options.signal?.removeEventListener("abort", abort);
      await this.probes.end(new Error("The sweep is over."));
    }
    if (this.failure) throw this.failure.reason;
    this.listeners.progress?.(this.progress());
    return { ...this.progress(), elapsedMs: this.monotonicMs() - this.startedMs };
  }

  /** Never rejects. */
  private async work(addresses: Iterator<string>): Promise<void> {
    try {
      for (let next = addresses.next(); !next.done && !this.failure; next = addresses.next()) {
        const ip = parseIp(next.value);
        if (ip) await this.probeAddress(ip);
        this.done += 1;
        this.reportProgress();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(reason: unknown): void {
    if (this.failure) return;
    this.failure = { reason };
    void this.probes.end(reason);
  }

  private async probeAddress(ip: Ip): Promise<void> {
    const presence = await presenceAt(ip, this.probes, this.tcpPorts);
    if (!presence) return;
    const [ports, hostname] = await Promise.all([
      this.probes.hosts.during(() => this.portsOf(ip, presence)),
      this.hostnameOf(ip),
    ]);
    const isIntercepted = isAllOpen(ports.outcomes);
    if (isIntercepted) this.probes.count("Intercepted");
    const answered = new Set(presence.answered);
    if (ports.outcomes.values().some(isAnswer)) answered.add("Tcp");
    if (isIntercepted) answered.delete("Tcp");
    if (answered.size === 0) return;
    const sighting: AddressSighting = {
      ip_address: ip.text,
      mac_address: presence.mac_address,
      ...(hostname === undefined ? {} : { hostname }),
      answered: (["Icmp", "Tcp", "Neighbor"] as const).filter((evidence) => answered.has(evidence)),
      ...(this.tcpPorts.length === 0 || isIntercepted ? {} : { ports: ports.probed }),
    };
    // May be a router that responds for all addresses.
    if (answered.size === 1 && answered.has("Neighbor") && presence.mac_address !== null)
      this.proxyArp.add(presence.mac_address, sighting);
    else await this.report(sighting);
  }

  private async portsOf(
    ip: Ip,
    presence: Presence,
  ): Promise<{ probed: ProbedPorts; outcomes: ReadonlyMap<number, TcpOutcome> }> {
    const outcomes = new Map(presence.tcp);
    const ports = shuffledInBlocks(
      this.tcpPorts.filter((port) => !outcomes.has(port) || outcomes.get(port)?.kind === "Silent"),
      BLOCK_SIZE,
      this.options.random,
    );
    const probeNext = async (): Promise<void> => {
      for (let next = ports.next(); !next.done; next = ports.next()) {
        outcomes.set(next.value, await probePort(ip, next.value, PORT_WAIT_MS, this.probes));
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_PORTS }, probeNext));
    const open: OpenPort[] = [];
    if (isAllOpen(outcomes)) return { probed: { asked: [], open }, outcomes };
    const having = (isMeant: (outcome: TcpOutcome) => boolean): number[] =>
      [...outcomes].flatMap(([port, outcome]) => (isMeant(outcome) ? [port] : [])).sort((a, b) => a - b);
    for (const number of having(({ kind }) => kind === "Open")) {
      const service =
        this.options.isIdentifyingOn === false ? knownService(number) : await this.probes.services.identify(ip, number);
      open.push({ number, protocol: "Tcp", service });
    }
    // Excludes ports that this machine could not probe.
    const asked = having((outcome) => !isLocalFault(outcome));
    const refused = having(({ kind }) => kind === "Refused");
    return { probed: { asked, open, ...(refused.length === 0 ? {} : { refused }) }, outcomes };
  }

  private async hostnameOf(ip: Ip): Promise<string | null | undefined> {
    if (this.options.isDnsOn === false) return undefined;
    await this.probes.permit();
    const hostname = await this.probes.dns.nameOf(ip);
    if (hostname === undefined) this.probes.count("NameServer");
    return hostname;
  }

  private async report(sighting: AddressSighting): Promise<void> {
    this.found += 1;
    await this.listeners.answer(sighting);
  }

  private reportProgress(): void {
    const now = this.monotonicMs();
    if (now - this.reportedAtMs < PROGRESS_EVERY_MS) return;
    this.reportedAtMs = now;
    this.listeners.progress?.(this.progress());
  }

  private progress(): SweepCounts {
    const { requests, errors } = this.probes;
    return {
      done: this.done,
      found: this.found,
      requests,
      errors: Object.fromEntries(errors),
      methods: this.probes.describe(this.tcpPorts.length > 0),
    };
  }
}

/**
 * No host serves printers, databases, mail and remote desktops together: a proxy or firewall accepts every connection.
 */
function isAllOpen(outcomes: ReadonlyMap<number, TcpOutcome>): boolean {
  return outcomes.size >= MIN_PORTS_TO_SUSPECT && outcomes.values().every(({ kind }) => kind === "Open");
}

function isLocalFault(outcome: TcpOutcome): boolean {
  return (
    outcome.kind === "Failed" &&
    (outcome.error === "Exhausted" || outcome.error === "NotPermitted" || outcome.error === "Other")
  );
}
