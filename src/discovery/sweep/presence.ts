// Whether anybody is at an address: ARP or the kernel's neighbor table on the machine's own links, ICMP echo, a few TCP ports.
// Must not believe an error that only claims something, nor a neighbor that proved itself before it was asked.

import type { Ip } from "../../base/ip.ts";
import type { NeighborState } from "../kernel/neighbor-messages.ts";
import type { LinkWay } from "../kernel/ways.ts";
import type { ArpLink, ArpSocket } from "./arp-socket.ts";
import type { Instruments } from "./instruments.ts";
import type { TcpOutcome } from "./tcp-prober.ts";

export type Evidence = "Icmp" | "Tcp" | "Neighbor";

export interface Presence {
  readonly answered: ReadonlySet<Evidence>;
  readonly mac_address: string | null;
  /** Of the ports that were asked already. */
  readonly tcp: ReadonlyMap<number, TcpOutcome>;
}

/** Null where nobody is. @param fewPorts the TCP ports to ask an address for that does not answer otherwise; empty for none */
export async function presenceAt(ip: Ip, instruments: Instruments, fewPorts: readonly number[]): Promise<Presence | null> {
  const way = instruments.routes.wayTo(ip);
  if (way.kind === "None") {
    instruments.count("NoRoute");
    return null;
  }
  if (way.kind !== "Link") return await presenceByItself(ip, instruments, fewPorts);
  const link = arpLinkOf(ip, way);
  return instruments.arp && link ? await presenceByArp(ip, instruments, instruments.arp, link) : await presenceByKernel(ip, instruments, fewPorts);
}

/** One port of an address, within the bounds of the sweep. */
export async function askPort(ip: Ip, port: number, waitMs: number, instruments: Instruments): Promise<TcpOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await instruments.connections.during(async () => {
      await instruments.permit();
      return await instruments.tcp.connect(ip, port, waitMs);
    });
    if (outcome.kind === "Failed") instruments.count(outcome.error);
    // This machine's own shortage, which says nothing and passes.
    if (outcome.kind !== "Failed" || outcome.error !== "Exhausted" || attempt >= MAX_ATTEMPTS) return outcome;
    await instruments.pause(EXHAUSTED_WAIT_MS);
  }
}

/** Whether an outcome comes from the address itself. */
export function isAnswer({ kind }: TcpOutcome): boolean {
  return kind === "Open" || kind === "Refused";
}

/** Three ports of 4,096 addresses, 512 at once: eight seconds. One request of the kernel, which repeats it after a second only. */
const SILENT_WAIT_MS = 350;

const MAX_ATTEMPTS = 5;
const EXHAUSTED_WAIT_MS = 200;

/** The kernel asks a link three times, a second apart. */
const RESOLVING_MS = 3_200;
/** An entry of before is doubted for five seconds, then asked for three. */
const DOUBTING_MS = 9_000;
const TABLE_AGE_MS = 250;

async function presenceByItself(ip: Ip, instruments: Instruments, fewPorts: readonly number[]): Promise<Presence | null> {
  if (await answersEcho(ip, instruments)) return { answered: new Set(["Icmp"]), mac_address: null, tcp: new Map() };
  const tcp = new Map(await Promise.all(fewPorts.map(async (port) => [port, await askPort(ip, port, SILENT_WAIT_MS, instruments)] as const)));
  return tcp.values().some(isAnswer) ? { answered: new Set(["Tcp"]), mac_address: null, tcp } : null;
}

/** Without an answer to ARP nothing else would arrive. */
async function presenceByArp(ip: Ip, instruments: Instruments, arp: ArpSocket, link: ArpLink): Promise<Presence | null> {
  const outcome = await arp.ask(ip, link);
  if (outcome.kind === "Failed") instruments.count(outcome.error);
  if (outcome.kind !== "Answered") return null;
  const answered = new Set<Evidence>(["Neighbor"]);
  if (await answersEcho(ip, instruments)) answered.add("Icmp");
  return { answered, mac_address: outcome.answer, tcp: new Map() };
}

/** The first request makes the kernel ask the link, and its table tells what came of that: more requests would only make it ask again. */
async function presenceByKernel(ip: Ip, instruments: Instruments, fewPorts: readonly number[]): Promise<Presence | null> {
  return await instruments.unresolved.during(async () => {
    const startedMs = instruments.monotonicMs();
    const answered = new Set<Evidence>();
    const tcp = new Map<number, TcpOutcome>();
    const ask = async (port: number, waitMs: number): Promise<void> => {
      const outcome = await askPort(ip, port, waitMs, instruments);
      tcp.set(port, outcome);
      if (isAnswer(outcome)) answered.add("Tcp");
    };
    const [first] = fewPorts;
    if (await answersEcho(ip, instruments)) answered.add("Icmp");
    else if (entryOf(ip, instruments).mac_address !== null) await Promise.all(fewPorts.map((port) => ask(port, SILENT_WAIT_MS)));
    else if (first !== undefined && !(await instruments.echo(ip.version))) await ask(first, RESOLVING_MS);
    const neighbor = await neighborSince(ip, startedMs, instruments, answered.size > 0);
    if (neighbor.kind === "There") return { answered: answered.add("Neighbor"), mac_address: neighbor.mac_address, tcp };
    // Nobody on the link has that address: a refusal was made up on the way. An echo reply with our own token cannot be.
    if (neighbor.kind === "Absent" && !answered.has("Icmp")) return null;
    return answered.size === 0 ? null : { answered, mac_address: neighbor.mac_address, tcp };
  });
}

interface NeighborFinding {
  /** There: it has proved itself since. Unknown: the kernel has an entry and does not doubt it, or has none. */
  readonly kind: "There" | "Absent" | "Unknown";
  readonly mac_address: string | null;
}

/** @param isKnown whether the address has answered by itself, so that nothing is worth waiting for */
async function neighborSince(ip: Ip, startedMs: number, instruments: Instruments, isKnown: boolean): Promise<NeighborFinding> {
  for (;;) {
    const { mac_address, state, confirmedAtMs } = entryOf(ip, instruments);
    // Reachable: it has proved itself within the minute, and the kernel sees no reason to ask.
    const isProven = state === "Reachable" || (confirmedAtMs !== null && confirmedAtMs >= startedMs);
    if (mac_address !== null && state !== "Permanent" && isProven) return { kind: "There", mac_address };
    if (isKnown || state === "Permanent" || state === "NoArp") return { kind: isKnown && state === "Failed" ? "Absent" : "Unknown", mac_address };
    if (instruments.monotonicMs() - startedMs > (mac_address === null ? RESOLVING_MS : DOUBTING_MS)) return { kind: "Absent", mac_address: null };
    await instruments.pause(TABLE_AGE_MS);
  }
}

function entryOf(ip: Ip, { neighbors }: Instruments): { mac_address: string | null; state: NeighborState; confirmedAtMs: number | null } {
  const found = neighbors.find(ip.text, TABLE_AGE_MS);
  if (found === null) return { mac_address: null, state: "None", confirmedAtMs: null };
  const { mac_address, state, confirmedAgoMs } = found.neighbor;
  return { mac_address, state, confirmedAtMs: confirmedAgoMs === null ? null : found.readAtMs - confirmedAgoMs };
}

async function answersEcho(ip: Ip, instruments: Instruments): Promise<boolean> {
  const echo = await instruments.echo(ip.version);
  if (echo === null) return false;
  const outcome = await echo.ask(ip);
  if (outcome.kind === "Failed") instruments.count(outcome.error);
  return outcome.kind === "Answered";
}

function arpLinkOf(ip: Ip, { ifIndex, source, mac }: LinkWay): ArpLink | null {
  return ip.version === 4 && source !== null && mac !== null ? { ifIndex, source, mac } : null;
}
