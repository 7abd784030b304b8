// Asks devices by SNMP: each host once, whatever addresses it has, so many at a time, with the credentials that are meant for it. Keeps
// account of who could not be reached and why. Asks no address that it was not allowed to.

import { parseIp } from "../../base/ip.ts";
import { isOneDevices } from "../../base/mac.ts";
import { heardOf, type Heard } from "../reconcile/neighbor-tables.ts";
import type { ServedBefore } from "../mib/served.ts";
import { digestOf } from "../reconcile/tellings.ts";
import { countRows, KEPT, narrowed, type RowCount, type RowFate, type RowReason } from "../rows.ts";
import type { AddressSighting, DeviceSighting, Finding } from "../sightings.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { Choice, Withheld } from "./credentials.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import { DEVICES_AT_A_TIME, type Probes, type Refusal } from "./probes.ts";
import type { Progress } from "./progress.ts";

/** Addresses of one host that are tried until one answers: a router that is down has too many. */
export const ADDRESSES_OF_HOST_MAX = 8;
/**
 * Requests that were answered after which the memory that they took is given back: of two dozen small devices, or a dozen large ones. What the
 * collector takes for it is some hundredths of what they took to be read.
 */
const REQUESTS_BETWEEN_COLLECTIONS = 1_500;
/** Addresses that are taken from the neighbor tables of devices in one scan. */
export const OVERHEARD_MAX = 262_144;

/** One device, as far as is known before it is asked. */
export interface Candidate {
  readonly host: KnownHost | null;
  /** To be tried in this order. */
  readonly addresses: readonly string[];
  /** What a sweep has seen of these addresses, to be recorded when it is known whose they are. */
  readonly seen: readonly AddressSighting[];
  /** Whether somebody named it, so that its silence is to be told. */
  readonly isNamed: boolean;
}

/** What came of a candidate by SNMP. */
type Answer =
  | { readonly isReached: true }
  | {
      readonly isReached: false;
      readonly refusals: ReadonlyArray<{ readonly address: string; readonly refusal: Refusal }>;
    };

interface HeardBy {
  /** Where the device was asked. */
  readonly ip_address: string;
  readonly rows: RowCount;
  /** Addresses that it was the first to tell of, and those that others told of before. */
  readonly own: readonly string[];
  readonly others: readonly string[];
}

export interface HeardRows {
  /** Where the device was asked. */
  readonly ip_address: string;
  readonly rows: RowCount;
  /** The addresses that lie in none of the network's subnets. */
  readonly outside: readonly string[];
}

export interface AskingOptions {
  readonly probes: Pick<Probes, "askDevice" | "macOf">;
  readonly network: KnownNetwork;
  readonly choose: (address: string) => Choice;
  /** Whether a credential that was chosen for an address may go there still, as it is. */
  readonly maySend: (address: string, credential: SnmpCredential) => boolean;
  /** What the agent at an address has told so far. @param hostId of the host that is taken to have it */
  readonly servedBefore: (address: string, hostId: string | null) => ServedBefore | null;
  /** The MAC addresses that its interfaces are known to have. */
  readonly macsBefore: (address: string, hostId: string | null) => readonly string[];
  /** Whether the scan may ask an address. */
  readonly mayAsk: (address: string) => boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly device: (sighting: DeviceSighting) => Promise<void>;
  readonly address: (sighting: AddressSighting) => Promise<void>;
}

export class Asking {
  private readonly options: AskingOptions;
  /** Addresses that were asked, or that a device which answered says are its own. */
  private readonly settled = new Set<string>();
  private readonly answered = new Set<string>();
  private readonly reachedHosts = new Set<string>();
  private readonly refused: Array<{
    readonly candidate: Candidate;
    readonly refusals: ReadonlyArray<{ readonly address: string; readonly refusal: Refusal }>;
  }> = [];
  /** Addresses and names that devices say their neighbors have, in the order of their telling. */
  private readonly heardAddresses = new Set<string>();
  private readonly heardNames = new Set<string>();
  /** What addresses were not asked with, and whose they are known to be. */
  private readonly withheld = new Map<string, { readonly host: KnownHost | null; readonly withheld: Withheld }>();
  private readonly answeredNames = new Set<string>();
  /** Whom the neighbor tables of those that answered hold, by address. */
  private readonly overheard = new Map<string, AddressSighting>();
  private readonly heardBy: HeardBy[] = [];
  /** Addresses of others than the first that told of them, as many as are remembered. */
  private repeated = 0;
  /** What ends the asking at an address that turns out to be of a device which has answered. */
  /** Since the last collection. */
  private requestsToCollect = 0;
  private readonly inFlight = new Map<string, AbortController>();
  /** The link-layer addresses at which those that are asked now were seen. */
  private readonly macs = new Map<string, string>();

  constructor(options: AskingOptions) {
    this.options = options;
  }

  /** Asks all of them. */
  async ask(candidates: Iterable<Candidate>): Promise<void> {
    this.macs.clear();
    if (Array.isArray(candidates))
      for (const { seen } of candidates as readonly Candidate[])
        for (const { ip_address, mac_address } of seen)
          if (mac_address !== null) this.macs.set(ip_address, mac_address);
    await inParallel(candidates, DEVICES_AT_A_TIME, this.options.signal, async (candidate) => {
      await this.askOne(candidate);
      this.options.progress.askedOne();
    });
  }

  /** Whether there is nothing to be learned by asking an address. */
  isSettled(address: string): boolean {
    return this.settled.has(address);
  }

  hasAnswered(address: string): boolean {
    return this.answered.has(address);
  }

  hasReached(hostId: string): boolean {
    return this.reachedHosts.has(hostId);
  }

  /** What was said of neighbors since the last time. Names are those of nobody who has answered, nor of a known host. */
  takeHeard(): { readonly addresses: readonly string[]; readonly names: readonly string[] } {
    const addresses = [...this.heardAddresses].filter((address) => !this.settled.has(address));
    const names = [...this.heardNames].filter((name) => !this.answeredNames.has(name));
    this.heardAddresses.clear();
    this.heardNames.clear();
    return { addresses, names };
  }

  /** Whom devices have heard of that did not answer themselves. To be asked once, at the end. */
  *neighborsOfDevices(): Generator<AddressSighting> {
    for (const sighting of this.overheard.values()) if (!this.answered.has(sighting.ip_address)) yield sighting;
    this.overheard.clear();
  }

  /**
   * What became of the rows of each device's neighbor tables. To be asked when all that was heard is written.
   * @param setAside what was not kept of it, by address
   */
  *heardRows(setAside: ReadonlyMap<string, RowReason>): Generator<HeardRows> {
    for (const { ip_address, rows, own, others } of this.heardBy) {
      const outside = [...own, ...others].filter((address) => setAside.get(address) === "outside");
      const fateOf = (address: string): RowFate =>
        this.answered.has(address) ? "answered" : (setAside.get(address) ?? KEPT);
      const ofOwn = countRows(own, fateOf);
      const ofOthers = countRows(others, (address) => {
        const fate = fateOf(address);
        return fate === KEPT ? "elsewhere" : fate;
      });
      yield { ip_address, rows: narrowed(narrowed(rows, ofOwn), ofOthers), outside };
    }
  }

  /**
   * Those that could not be reached and whose silence means something.
   * @param isTold whether nothing but silence of a known host is to be told
   */
  *unreached(isTold: (host: KnownHost) => boolean): Generator<Finding> {
    for (const { candidate, refusals } of this.refused) {
      const { host, isNamed } = candidate;
      if (host !== null && this.reachedHosts.has(host.id)) continue;
      const isTelling = refusals.some(({ refusal }) => !SILENT.has(refusal.reason));
      if (!isTelling && !isNamed && (host === null || !isTold(host))) continue;
      const label = host?.name ?? candidate.addresses[0] ?? "";
      yield {
        type: "Unreached",
        entity: host === null ? null : "host",
        id: host?.id ?? null,
        label,
        reason: reasonOf(refusals, label),
      };
    }
  }

  /** Addresses that were not asked with all that is assigned, and of whom nobody has answered otherwise. */
  *unanswered(): Generator<readonly [address: string, withheld: Withheld]> {
    for (const [address, { host, withheld }] of this.withheld) {
      if (!this.answered.has(address) && (host === null || !this.reachedHosts.has(host.id))) yield [address, withheld];
    }
  }

  private async askOne(candidate: Candidate): Promise<void> {
    const { host, seen } = candidate;
    const isKnownAlready = host !== null && this.reachedHosts.has(host.id);
    if (!isKnownAlready) {
      const answer = await this.answerOf(candidate);
      if (answer.isReached) {
        if (host !== null) this.reachedHosts.add(host.id);
      } else if (
        host !== null ||
        candidate.isNamed ||
        answer.refusals.some(({ refusal }) => !SILENT.has(refusal.reason))
      ) {
        if (answer.refusals.length > 0)
          this.refused.push({ candidate: { ...candidate, seen: [] }, refusals: answer.refusals });
      }
    }
    for (const sighting of seen) await this.options.address(sighting);
  }

  private async answerOf(candidate: Candidate): Promise<Answer> {
    const refusals: Array<{ address: string; refusal: Refusal }> = [];
    const { progress } = this.options;
    let tried = 0;
    for (const address of candidate.addresses) {
      if (tried === ADDRESSES_OF_HOST_MAX) break;
      if (this.settled.has(address) || !this.options.mayAsk(address)) continue;
      this.settled.add(address);
      const failures = await this.askAddress(address, candidate);
      if (failures === null) return { isReached: true };
      // Where there is nothing to ask with nobody was kept waiting.
      if (failures.length === 0) continue;
      tried += 1;
      progress.failed(worstOf(failures).reason);
      for (const refusal of failures) refusals.push({ address, refusal });
    }
    return { isReached: false, refusals };
  }

  /** Null where it answered; nothing where there is nothing to ask it with. */
  private async askAddress(address: string, candidate: Candidate): Promise<readonly Refusal[] | null> {
    const { probes, progress, signal } = this.options;
    const { credentials, refused, remembered, withheld } = this.options.choose(address);
    if (withheld !== null) this.withheld.set(address, { host: candidate.host, withheld });
    if (credentials.length === 0) return refused;
    progress.devicesAsked += 1;
    const needless = new AbortController();
    this.inFlight.set(address, needless);
    const hostId = candidate.host?.id ?? null;
    const served = this.options.servedBefore(address, hostId);
    const until = AbortSignal.any([signal, needless.signal]);
    const maySend = (credential: SnmpCredential): boolean => this.options.maySend(address, credential);
    const asked = await probes.askDevice(address, { credentials, remembered, served, maySend, signal: until });
    this.inFlight.delete(address);
    signal.throwIfAborted();
    progress.requests += asked.requests;
    if (!asked.ok) return needless.signal.aborted ? [] : [...refused, ...asked.failures];
    progress.devicesAnswered += 1;
    // What a device told is thousands of small things: left to itself, the collector waits until there is far more of it than is in use.
    this.requestsToCollect += asked.requests;
    if (this.requestsToCollect >= REQUESTS_BETWEEN_COLLECTIONS) {
      this.requestsToCollect = 0;
      Bun.gc(true);
    }
    this.answered.add(address);
    const sweptAs = candidate.seen.find((each) => each.ip_address === address);
    if (sweptAs === undefined) progress.hostsFound += 1;
    const mac = sweptAs?.mac_address ?? probes.macOf(address);
    this.learn({ ip_address: address, mac_address: mac, device: asked.device }, candidate.host);
    const areMacsMissing = asked.device.broken?.includes("interfaces") === true;
    this.overhear(address, heardOf(asked.device, areMacsMissing ? this.options.macsBefore(address, hostId) : []));
    // Whom it has heard of is written for itself, when all have answered.
    const { arp: _heard, ...device } = asked.device;
    const sighting: DeviceSighting = {
      ip_address: address,
      mac_address: mac,
      ...(sweptAs?.hostname === undefined ? {} : { hostname: sweptAs.hostname }),
      device,
      credential: asked.credential,
    };
    await this.options.device({ ...sighting, digest: digestOf(sighting) });
    return null;
  }

  /** Of several devices that have heard of an address, the first one's word counts. */
  private overhear(address: string, { sightings, rows }: Heard): void {
    const own: string[] = [];
    const others: string[] = [];
    const counted = countRows(sightings, (each) => {
      const known = this.overheard.get(each.ip_address);
      if (known !== undefined) {
        if (this.repeated >= OVERHEARD_MAX) return "elsewhere";
        this.repeated += 1;
        others.push(known.ip_address);
        return KEPT;
      }
      if (this.overheard.size >= OVERHEARD_MAX) return "limit";
      this.overheard.set(each.ip_address, each);
      own.push(each.ip_address);
      return KEPT;
    });
    if (rows.read > 0) this.heardBy.push({ ip_address: address, rows: narrowed(rows, counted), own, others });
  }

  /** What a device says of itself and of its neighbors that saves asking, or leads on. */
  private learn(
    { ip_address, mac_address, device }: Pick<DeviceSighting, "ip_address" | "mac_address" | "device">,
    host: KnownHost | null,
  ): void {
    const { network, probes } = this.options;
    const macs = new Set(
      [mac_address, ...(device.interfaces ?? []).map((each) => each.mac_address)].filter(
        (mac) => typeof mac === "string",
      ),
    );
    for (const { ip_address: own } of device.addresses ?? []) {
      // An address that another host is known by is asked all the same: one of the two is wrong.
      const owners = network.byAddress.get(own) ?? [];
      if (own === ip_address || !owners.every((each) => each.host_id === host?.id)) continue;
      // So is one at which another station was seen: or a device could hide all others by calling their addresses its own.
      const seenAs = this.macs.get(own) ?? probes.macOf(own);
      if (seenAs !== null && macs.size > 0 && !macs.has(seenAs) && isOneDevices(seenAs)) continue;
      this.settled.add(own);
      this.inFlight.get(own)?.abort();
    }
    if (typeof device.sys_name === "string") this.answeredNames.add(nameKey(device.sys_name));
    for (const each of device.interfaces ?? []) {
      for (const { mgmt_addr, sys_name } of each.lldp ?? []) this.hear(mgmt_addr ?? undefined, sys_name);
      for (const { address, device_id } of each.cdp ?? []) this.hear(address, device_id);
    }
  }

  private hear(address: string | undefined, name: string | undefined): void {
    const ip = address === undefined ? null : parseIp(address);
    if (ip !== null) this.heardAddresses.add(ip.text);
    else if (name !== undefined && NAME.test(name.trim())) this.heardNames.add(nameKey(name));
  }
}

/** Works on all of them, so many at a time; the first that breaks stops the rest. */
export async function inParallel<T>(
  items: Iterable<T>,
  atATime: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let isBroken = false;
  const worker = async () => {
    for (;;) {
      signal.throwIfAborted();
      const next = isBroken ? null : iterator.next();
      if (next === null || next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: atATime }, worker));
  const failed = settled.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Reasons that are no more than that nobody is there, or no agent. */
const SILENT: ReadonlySet<string> = new Set(["no_answer", "port_closed", "unreachable", "cancelled"]);

/** What a name of a host may look like, so that asking for its address makes sense (RFC 1123 §2.1). */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i;

function nameKey(name: string): string {
  return name.trim().toLowerCase();
}

/** The one that says the most: somebody is there and refuses. */
function worstOf(refusals: readonly Refusal[]): Refusal {
  return (refusals.find(({ reason }) => !SILENT.has(reason)) ?? refusals.at(-1)) as Refusal;
}

/** One clause: each address, unless it is the label already, with the most telling of what it said. */
function reasonOf(
  refusals: ReadonlyArray<{ readonly address: string; readonly refusal: Refusal }>,
  label: string,
): string {
  const byAddress = new Map<string, Refusal[]>();
  for (const { address, refusal } of refusals) byAddress.set(address, [...(byAddress.get(address) ?? []), refusal]);
  return [...byAddress]
    .map(([address, own]) => `${address === label ? "" : `${address}: `}${worstOf(own).clause}`)
    .join("; ");
}
