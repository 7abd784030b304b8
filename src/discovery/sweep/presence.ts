// Presence check for an address: ARP or the neighbor table on local links, ICMP echo, a few TCP ports. Trusts neither
// claims by third parties nor a neighbor entry confirmed before the probe.

import type { Ip } from "../../base/ip.ts";
import type { LinkRoute } from "../kernel/ip-route.ts";
import type { NeighborState } from "../kernel/neighbor-messages.ts";
import type { ArpLink, ArpSocket } from "./arp-socket.ts";
import type { EchoOutcome } from "./echo.ts";
import type { ProbeMethods } from "./probe-methods.ts";
import { portsForSilent } from "./tcp-ports.ts";
import type { TcpOutcome } from "./tcp-prober.ts";

type Evidence = "Icmp" | "Tcp" | "Neighbor";

export interface Presence {
  readonly answered: ReadonlySet<Evidence>;
  readonly mac_address: string | null;
  /** Outcomes of ports already probed. */
  readonly tcp: ReadonlyMap<number, TcpOutcome>;
}

/**
 * Returns null if no host is present.
 * @param tcpPorts the permitted TCP ports; a few are probed if nothing else responds
 */
export async function presenceAt(ip: Ip, probes: ProbeMethods, tcpPorts: readonly number[]): Promise<Presence | null> {
  const route = probes.routes.routeTo(ip);
  if (route.kind === "None") {
    probes.count("NoRoute");
    return null;
  }
  if (route.kind !== "Link") return await presenceByItself(ip, probes, tcpPorts, route.kind === "Local");
  const link = arpLinkOf(ip, route);
  return probes.arp && link
    ? await presenceByArp(ip, probes, probes.arp, link)
    : await presenceByKernel(ip, probes, portsForSilent(tcpPorts));
}

/** Probes one port, within the sweep's limits. */
export async function probePort(ip: Ip, port: number, waitMs: number, probes: ProbeMethods): Promise<TcpOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await probes.connections.during(async () => {
      await probes.permit();
      return await probes.tcp.connect(ip, port, waitMs);
    });
    if (outcome.kind === "Failed") probes.count(outcome.error);
    // A local shortage is temporary.
    if (outcome.kind !== "Failed" || outcome.error !== "Exhausted" || attempt >= MAX_ATTEMPTS) return outcome;
    await probes.pause(EXHAUSTED_WAIT_MS);
  }
}

/** True if the address itself responded. */
export function isAnswer({ kind }: TcpOutcome): boolean {
  return kind === "Open" || kind === "Refused";
}

/** Three ports of 4,096 addresses, 512 in parallel: eight seconds. One SYN, as the kernel repeats it after a second. */
const SILENT_WAIT_MS = 350;

/** Same as for a known host. */
const CONCURRENT_PORTS = 6;

const MAX_ATTEMPTS = 5;
const EXHAUSTED_WAIT_MS = 200;

/** The kernel sends three requests, one second apart. */
const RESOLVING_MS = 3_200;
/** The kernel delays five seconds for a stale entry, then probes for three. */
const VERIFYING_MS = 9_000;
const TABLE_AGE_MS = 250;

/** @param isOwn true for an address of this machine, where no other device could refuse */
async function presenceByItself(
  ip: Ip,
  probes: ProbeMethods,
  tcpPorts: readonly number[],
  isOwn: boolean,
): Promise<Presence | null> {
  if (await answersEcho(ip, probes)) return { answered: new Set(["Icmp"]), mac_address: null, tcp: new Map() };
  const fewPorts = portsForSilent(tcpPorts);
  const tcp = await probePorts(ip, fewPorts, probes);
  const isPresent = () => tcp.values().some((outcome) => isAnswer(outcome) || (isOwn && outcome.kind === "Unproven"));
  // Something refused; only an open port proves that it was the address itself.
  const others = tcpPorts.filter((port) => !fewPorts.includes(port));
  while (others.length > 0 && !isPresent() && tcp.values().some(({ kind }) => kind === "Unproven")) {
    for (const [port, outcome] of await probePorts(ip, others.splice(0, CONCURRENT_PORTS), probes))
      tcp.set(port, outcome);
  }
  return isPresent() ? { answered: new Set(["Tcp"]), mac_address: null, tcp } : null;
}

async function probePorts(ip: Ip, ports: readonly number[], probes: ProbeMethods): Promise<Map<number, TcpOutcome>> {
  return new Map(
    await Promise.all(ports.map(async (port) => [port, await probePort(ip, port, SILENT_WAIT_MS, probes)] as const)),
  );
}

/** Without an ARP reply, no other packet would arrive. */
async function presenceByArp(ip: Ip, probes: ProbeMethods, arp: ArpSocket, link: ArpLink): Promise<Presence | null> {
  const outcome = await arp.probe(ip, link);
  if (outcome.kind === "Failed") probes.count(outcome.error);
  if (outcome.kind !== "Answered") return null;
  const answered = new Set<Evidence>(["Neighbor"]);
  if (await answersEcho(ip, probes)) answered.add("Icmp");
  return { answered, mac_address: outcome.answer, tcp: new Map() };
}

/**
 * The first request makes the kernel resolve the neighbor, and its table shows the result; more would only repeat that.
 */
async function presenceByKernel(ip: Ip, probes: ProbeMethods, fewPorts: readonly number[]): Promise<Presence | null> {
  return await probes.unresolved.during(async () => {
    const startedMs = probes.monotonicMs();
    const answered = new Set<Evidence>();
    const tcp = new Map<number, TcpOutcome>();
    const probe = async (port: number, waitMs: number): Promise<void> => {
      const outcome = await probePort(ip, port, waitMs, probes);
      tcp.set(port, outcome);
      if (isAnswer(outcome)) answered.add("Tcp");
    };
    const [first] = fewPorts;
    const existedBefore = !probes.hasNeighborStates && entryOf(ip, probes).mac_address !== null;
    const echoed = await echoOf(ip, probes);
    if (echoed?.kind === "Answered") answered.add("Icmp");
    else if (entryOf(ip, probes).mac_address !== null)
      await Promise.all(fewPorts.map((port) => probe(port, SILENT_WAIT_MS)));
    // After a failed echo request, the kernel may not have resolved the neighbor.
    else if (first !== undefined && echoed?.kind !== "Silent") await probe(first, RESOLVING_MS);
    // A failed request may not have left this machine, so the kernel would not verify the entry.
    const wasSent = [echoed, ...tcp.values()].some((outcome) => outcome !== null && outcome.kind !== "Failed");
    const probedMs = probes.monotonicMs();
    const neighbor = await neighborSince(
      ip,
      { startedMs, probedMs, existedBefore, wasSent, hasAnswered: answered.size > 0 },
      probes,
    );
    if (neighbor.kind === "Present")
      return { answered: answered.add("Neighbor"), mac_address: neighbor.mac_address, tcp };
    // No neighbor has the address, so the refusal is forged. An echo reply with our token is not.
    if (neighbor.kind === "Absent" && !answered.has("Icmp")) return null;
    return answered.size === 0 ? null : { answered, mac_address: neighbor.mac_address, tcp };
  });
}

interface NeighborFinding {
  /** There: confirmed since the start. Unknown: no entry, or one that the kernel does not verify. */
  readonly kind: "Present" | "Absent" | "Unknown";
  readonly mac_address: string | null;
}

interface ProbedAddress {
  readonly startedMs: number;
  /** End of the probes. */
  readonly probedMs: number;
  /** True if an entry existed before; only for entries without a state. */
  readonly existedBefore: boolean;
  /** True if something was certainly sent, so that the kernel verifies an unconfirmed entry. */
  readonly wasSent: boolean;
  /** True if the address itself responded, so that no wait is needed. */
  readonly hasAnswered: boolean;
}

async function neighborSince(
  ip: Ip,
  { startedMs, probedMs, existedBefore, wasSent, hasAnswered }: ProbedAddress,
  probes: ProbeMethods,
): Promise<NeighborFinding> {
  for (;;) {
    // An earlier table shows the earlier state.
    const sinceMs = probes.hasNeighborStates ? Number.NEGATIVE_INFINITY : probedMs;
    const { mac_address, state, confirmedAtMs } = entryOf(ip, probes, sinceMs);
    // Reachable: confirmed within the last minute, so the kernel does not verify it.
    const isProven = state === "Reachable" || (confirmedAtMs !== null && confirmedAtMs >= startedMs);
    // Unknown: a new entry counts as confirmed; an old one once it outlives the kernel's verification.
    const isNew = state === "Unknown" && !existedBefore;
    if (mac_address !== null && state !== "Permanent" && (isProven || isNew)) return { kind: "Present", mac_address };
    if (hasAnswered || state === "Permanent" || state === "NoArp")
      return { kind: hasAnswered && state === "Failed" ? "Absent" : "Unknown", mac_address };
    if (probes.monotonicMs() - startedMs > (mac_address === null ? RESOLVING_MS : VERIFYING_MS)) {
      if (state === "Unknown" && mac_address !== null && wasSent) return { kind: "Present", mac_address };
      return { kind: "Absent", mac_address: null };
    }
    await probes.pause(TABLE_AGE_MS);
  }
}

interface Entry {
  readonly mac_address: string | null;
  readonly state: NeighborState;
  readonly confirmedAtMs: number | null;
}

/** @param sinceMs time of the oldest acceptable table */
function entryOf(ip: Ip, { neighbors, monotonicMs }: ProbeMethods, sinceMs = Number.NEGATIVE_INFINITY): Entry {
  const found = neighbors.find(ip.text, Math.min(TABLE_AGE_MS, monotonicMs() - sinceMs));
  if (found === null) return { mac_address: null, state: "None", confirmedAtMs: null };
  const { mac_address, state, confirmedAgoMs } = found.neighbor;
  return { mac_address, state, confirmedAtMs: confirmedAgoMs === null ? null : found.readAtMs - confirmedAgoMs };
}

async function answersEcho(ip: Ip, probes: ProbeMethods): Promise<boolean> {
  return (await echoOf(ip, probes))?.kind === "Answered";
}

/** Returns null if no echo method works. */
async function echoOf(ip: Ip, probes: ProbeMethods): Promise<EchoOutcome | null> {
  const echo = await probes.echo(ip.version);
  if (echo === null) return null;
  const outcome = await echo.probe(ip);
  if (outcome.kind === "Failed") probes.count(outcome.error);
  return outcome;
}

function arpLinkOf(ip: Ip, { ifIndex, source, mac }: LinkRoute): ArpLink | null {
  return ip.version === 4 && source !== null && mac !== null ? { ifIndex, source, mac } : null;
}
