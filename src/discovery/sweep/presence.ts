// Whether anybody is at an address: ARP or the kernel's neighbor table on the machine's own links, ICMP echo, a few TCP ports.
// Must not believe an error that only claims something, nor a neighbor that proved itself before it was asked.

import type { Ip } from "../../base/ip.ts";
import type { NeighborState } from "../kernel/neighbor-messages.ts";
import type { LinkWay } from "../kernel/way.ts";
import type { ArpLink, ArpSocket } from "./arp-socket.ts";
import type { EchoOutcome } from "./echo.ts";
import type { Instruments } from "./instruments.ts";
import { portsForSilent } from "./tcp-ports.ts";
import type { TcpOutcome } from "./tcp-prober.ts";

export type Evidence = "Icmp" | "Tcp" | "Neighbor";

export interface Presence {
  readonly answered: ReadonlySet<Evidence>;
  readonly mac_address: string | null;
  /** Of the ports that were asked already. */
  readonly tcp: ReadonlyMap<number, TcpOutcome>;
}

/**
 * Null where nobody is.
 * @param tcpPorts the TCP ports that an address may be asked for; a few of them where it does not answer otherwise
 */
export async function presenceAt(
  ip: Ip,
  instruments: Instruments,
  tcpPorts: readonly number[],
): Promise<Presence | null> {
  const way = instruments.routes.wayTo(ip);
  if (way.kind === "None") {
    instruments.count("NoRoute");
    return null;
  }
  if (way.kind !== "Link") return await presenceByItself(ip, instruments, tcpPorts, way.kind === "Local");
  const link = arpLinkOf(ip, way);
  return instruments.arp && link
    ? await presenceByArp(ip, instruments, instruments.arp, link)
    : await presenceByKernel(ip, instruments, portsForSilent(tcpPorts));
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

/** As of a host that is known to be there. */
const PORTS_AT_ONCE = 6;

const MAX_ATTEMPTS = 5;
const EXHAUSTED_WAIT_MS = 200;

/** The kernel asks a link three times, a second apart. */
const RESOLVING_MS = 3_200;
/** An entry of before is doubted for five seconds, then asked for three. */
const DOUBTING_MS = 9_000;
const TABLE_AGE_MS = 250;

/** @param isOwn whether the address is this machine's, where nobody else could refuse */
async function presenceByItself(
  ip: Ip,
  instruments: Instruments,
  tcpPorts: readonly number[],
  isOwn: boolean,
): Promise<Presence | null> {
  if (await answersEcho(ip, instruments)) return { answered: new Set(["Icmp"]), mac_address: null, tcp: new Map() };
  const fewPorts = portsForSilent(tcpPorts);
  const tcp = await askPorts(ip, fewPorts, instruments);
  const isThere = () => tcp.values().some((outcome) => isAnswer(outcome) || (isOwn && outcome.kind === "Unproven"));
  // Somebody says no at once, and only a port that is open tells whether it was the address itself.
  const others = tcpPorts.filter((port) => !fewPorts.includes(port));
  while (others.length > 0 && !isThere() && tcp.values().some(({ kind }) => kind === "Unproven")) {
    for (const [port, outcome] of await askPorts(ip, others.splice(0, PORTS_AT_ONCE), instruments))
      tcp.set(port, outcome);
  }
  return isThere() ? { answered: new Set(["Tcp"]), mac_address: null, tcp } : null;
}

async function askPorts(ip: Ip, ports: readonly number[], instruments: Instruments): Promise<Map<number, TcpOutcome>> {
  return new Map(
    await Promise.all(ports.map(async (port) => [port, await askPort(ip, port, SILENT_WAIT_MS, instruments)] as const)),
  );
}

/** Without an answer to ARP nothing else would arrive. */
async function presenceByArp(
  ip: Ip,
  instruments: Instruments,
  arp: ArpSocket,
  link: ArpLink,
): Promise<Presence | null> {
  const outcome = await arp.ask(ip, link);
  if (outcome.kind === "Failed") instruments.count(outcome.error);
  if (outcome.kind !== "Answered") return null;
  const answered = new Set<Evidence>(["Neighbor"]);
  if (await answersEcho(ip, instruments)) answered.add("Icmp");
  return { answered, mac_address: outcome.answer, tcp: new Map() };
}

/** The first request makes the kernel ask the link, and its table tells what came of that: more requests would only make it ask again. */
async function presenceByKernel(
  ip: Ip,
  instruments: Instruments,
  fewPorts: readonly number[],
): Promise<Presence | null> {
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
    const wasThere = !instruments.areNeighborStatesTold && entryOf(ip, instruments).mac_address !== null;
    const echoed = await echoOf(ip, instruments);
    if (echoed?.kind === "Answered") answered.add("Icmp");
    else if (entryOf(ip, instruments).mac_address !== null)
      await Promise.all(fewPorts.map((port) => ask(port, SILENT_WAIT_MS)));
    // An echo request that could not be sent has made the kernel ask no more than one that nothing could be sent with.
    else if (first !== undefined && echoed?.kind !== "Silent") await ask(first, RESOLVING_MS);
    // A request that failed may never have left this machine: the kernel has had no reason to doubt anything.
    const isAsked = [echoed, ...tcp.values()].some((outcome) => outcome !== null && outcome.kind !== "Failed");
    const askedMs = instruments.monotonicMs();
    const neighbor = await neighborSince(
      ip,
      { startedMs, askedMs, wasThere, isAsked, isKnown: answered.size > 0 },
      instruments,
    );
    if (neighbor.kind === "There")
      return { answered: answered.add("Neighbor"), mac_address: neighbor.mac_address, tcp };
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

interface Asked {
  readonly startedMs: number;
  /** When the asking was over. */
  readonly askedMs: number;
  /** Whether the kernel had an entry before; told only of entries whose state is not. */
  readonly wasThere: boolean;
  /** Whether anything was surely sent, so that the kernel doubts an entry that nobody confirms. */
  readonly isAsked: boolean;
  /** Whether the address has answered by itself, so that nothing is worth waiting for. */
  readonly isKnown: boolean;
}

async function neighborSince(
  ip: Ip,
  { startedMs, askedMs, wasThere, isAsked, isKnown }: Asked,
  instruments: Instruments,
): Promise<NeighborFinding> {
  for (;;) {
    // A table that was read before the asking tells of before.
    const sinceMs = instruments.areNeighborStatesTold ? Number.NEGATIVE_INFINITY : askedMs;
    const { mac_address, state, confirmedAtMs } = entryOf(ip, instruments, sinceMs);
    // Reachable: it has proved itself within the minute, and the kernel sees no reason to ask.
    const isProven = state === "Reachable" || (confirmedAtMs !== null && confirmedAtMs >= startedMs);
    // Untold: an entry that is new has been proved; one of before by outliving the kernel's doubts.
    const isNew = state === "Untold" && !wasThere;
    if (mac_address !== null && state !== "Permanent" && (isProven || isNew)) return { kind: "There", mac_address };
    if (isKnown || state === "Permanent" || state === "NoArp")
      return { kind: isKnown && state === "Failed" ? "Absent" : "Unknown", mac_address };
    if (instruments.monotonicMs() - startedMs > (mac_address === null ? RESOLVING_MS : DOUBTING_MS)) {
      if (state === "Untold" && mac_address !== null && isAsked) return { kind: "There", mac_address };
      return { kind: "Absent", mac_address: null };
    }
    await instruments.pause(TABLE_AGE_MS);
  }
}

interface Entry {
  readonly mac_address: string | null;
  readonly state: NeighborState;
  readonly confirmedAtMs: number | null;
}

/** @param sinceMs the table must not have been read before */
function entryOf(ip: Ip, { neighbors, monotonicMs }: Instruments, sinceMs = Number.NEGATIVE_INFINITY): Entry {
  const found = neighbors.find(ip.text, Math.min(TABLE_AGE_MS, monotonicMs() - sinceMs));
  if (found === null) return { mac_address: null, state: "None", confirmedAtMs: null };
  const { mac_address, state, confirmedAgoMs } = found.neighbor;
  return { mac_address, state, confirmedAtMs: confirmedAgoMs === null ? null : found.readAtMs - confirmedAgoMs };
}

async function answersEcho(ip: Ip, instruments: Instruments): Promise<boolean> {
  return (await echoOf(ip, instruments))?.kind === "Answered";
}

/** Null where there is nothing to ask with. */
async function echoOf(ip: Ip, instruments: Instruments): Promise<EchoOutcome | null> {
  const echo = await instruments.echo(ip.version);
  if (echo === null) return null;
  const outcome = await echo.ask(ip);
  if (outcome.kind === "Failed") instruments.count(outcome.error);
  return outcome;
}

function arpLinkOf(ip: Ip, { ifIndex, source, mac }: LinkWay): ArpLink | null {
  return ip.version === 4 && source !== null && mac !== null ? { ifIndex, source, mac } : null;
}
