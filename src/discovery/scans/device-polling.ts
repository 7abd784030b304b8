// SNMP polling of devices: each host once, with limited concurrency, its own credentials, and only at permitted
// addresses. Records unreachable hosts and the reasons.

import { parseIp } from "../../base/ip.ts";
import { isSingleDevice } from "../../base/mac.ts";
import { sightingKey } from "../../resources/sightings.ts";
import type { ServedBefore } from "../mib/served.ts";
import {
  type NeighborSightings,
  neighborKey,
  neighborLines,
  neighborSightingsOf,
} from "../reconcile/neighbor-tables.ts";
import { digestOf } from "../reconcile/reports.ts";
import { countRows, KEPT_ROW, narrowed, type RowCount, type RowOutcome, type RowReason } from "../rows.ts";
import type { AddressSighting, DeviceSighting, Finding } from "../sightings.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { Choice, Withheld } from "./credentials.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import { CONCURRENT_DEVICES, type Probes, type Refusal } from "./probes.ts";
import type { ProgressMeter } from "./progress.ts";

/** Maximum addresses tried per host: a router that is down has too many. */
export const ADDRESSES_OF_HOST_MAX = 8;
/**
 * Responses between garbage collections: about 24 small devices or 12 large ones. A collection takes a few percent of
 * the reading time.
 */
const REQUESTS_BETWEEN_COLLECTIONS = 1_500;
/** Per scan, from the devices' neighbor tables. */
const LEARNED_MAX = 262_144;

/** A device, as known before polling. */
export interface PollTarget {
  readonly host: KnownHost | null;
  /** In polling order. */
  readonly addresses: readonly string[];
  /** Sightings of the sweep, recorded once the host is known. */
  readonly seen: readonly AddressSighting[];
  /** True if the device was named explicitly: report it if it does not respond. */
  readonly isNamed: boolean;
}

type PollOutcome =
  | { readonly isReached: true }
  | {
      readonly isReached: false;
      readonly refusals: ReadonlyArray<{ readonly address: string; readonly refusal: Refusal }>;
    };

interface NeighborTable {
  readonly ip_address: string;
  readonly rows: RowCount;
  /** Addresses that this device was the first to report, and all others. */
  readonly own: readonly AddressSighting[];
  readonly others: readonly AddressSighting[];
}

interface NeighborTableRows {
  readonly ip_address: string;
  readonly rows: RowCount;
  /** Addresses outside the network's subnets. */
  readonly outside: readonly string[];
}

interface DevicePollingOptions {
  readonly probes: Pick<Probes, "pollDevice" | "macOf">;
  readonly network: KnownNetwork;
  readonly choose: (address: string) => Choice;
  /** True if a chosen credential is unchanged and may still be sent to the address. */
  readonly maySend: (address: string, credential: SnmpCredential) => boolean;
  /** Columns that the agent has served so far. @param hostId the presumed host of the address */
  readonly servedBefore: (address: string, hostId: string | null) => ServedBefore | null;
  /** Stored MAC addresses of the device's interfaces. */
  readonly macsBefore: (address: string, hostId: string | null) => readonly string[];
  readonly mayPoll: (address: string) => boolean;
  readonly progress: ProgressMeter;
  readonly signal: AbortSignal;
  readonly device: (sighting: DeviceSighting) => Promise<void>;
  readonly address: (sighting: AddressSighting) => Promise<void>;
}

export class DevicePolling {
  private readonly options: DevicePollingOptions;
  /** Addresses polled, or claimed by a device that responded. */
  private readonly settled = new Set<string>();
  private readonly answered = new Set<string>();
  /** MAC addresses of devices by the address at which they responded; null if a device did not report all. */
  private readonly macsOfAnswered = new Map<string, ReadonlySet<string> | null>();
  private readonly reachedHosts = new Set<string>();
  private readonly refused: Array<{
    readonly candidate: PollTarget;
    readonly refusals: ReadonlyArray<{ readonly address: string; readonly refusal: Refusal }>;
  }> = [];
  /** Addresses and names of neighbors, in order. */
  private readonly neighborAddresses = new Set<string>();
  private readonly neighborNames = new Set<string>();
  /** Withheld credentials by address, with the address's known host. */
  private readonly withheld = new Map<string, { readonly host: KnownHost | null; readonly withheld: Withheld }>();
  private readonly answeredNames = new Set<string>();
  /** Neighbor table entries by neighborKey. */
  private readonly learned = new Map<string, AddressSighting>();
  private readonly neighborTables: NeighborTable[] = [];
  /** Repeatedly learned addresses, counted up to LEARNED_MAX. */
  private repeated = 0;
  private requestsToCollect = 0;
  private readonly inFlight = new Map<string, AbortController>();
  /** MAC addresses seen at the addresses being polled. */
  private readonly macs = new Map<string, string>();

  constructor(options: DevicePollingOptions) {
    this.options = options;
  }

  async poll(candidates: Iterable<PollTarget>): Promise<void> {
    this.macs.clear();
    if (Array.isArray(candidates))
      for (const { seen } of candidates as readonly PollTarget[])
        for (const { ip_address, mac_address } of seen)
          if (mac_address !== null) this.macs.set(ip_address, mac_address);
    await inParallel(candidates, CONCURRENT_DEVICES, this.options.signal, async (candidate) => {
      await this.pollTarget(candidate);
      this.options.progress.countPolled();
    });
  }

  /** True if polling the address again is pointless. */
  isSettled(address: string): boolean {
    return this.settled.has(address);
  }

  hasAnswered(address: string): boolean {
    return this.answered.has(address);
  }

  hasReached(hostId: string): boolean {
    return this.reachedHosts.has(hostId);
  }

  /** Returns neighbors since the last call, without the names of responding or known hosts. */
  takeNeighbors(): { readonly addresses: readonly string[]; readonly names: readonly string[] } {
    const addresses = [...this.neighborAddresses].filter((address) => !this.settled.has(address));
    const names = [...this.neighborNames].filter((name) => !this.answeredNames.has(name));
    this.neighborAddresses.clear();
    this.neighborNames.clear();
    return { addresses, names };
  }

  /**
   * Yields learned hosts that did not respond, by address: the order of the responses must not show in their records.
   * Call once, at the end.
   */
  *neighborsOfDevices(): Generator<AddressSighting> {
    const keyed = [...this.learned.values()].map((sighting) => ({
      sighting,
      key: `${sightingKey(sighting.ip_address)} ${sighting.mac_address}`,
    }));
    this.learned.clear();
    keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const { sighting } of keyed) if (!this.isOfAnswered(sighting)) yield sighting;
  }

  /**
   * Counts neighbor table rows by outcome, per device. Call after all learned addresses are written.
   * @param setAside reason of each dropped neighbor, by neighborKey
   */
  *neighborTableRows(setAside: ReadonlyMap<string, RowReason>): Generator<NeighborTableRows> {
    for (const { ip_address, rows, own, others } of this.neighborTables) {
      const outside = [...own, ...others].filter((each) => setAside.get(neighborKey(each)) === "outside");
      const outcomeOf = (each: AddressSighting): RowOutcome =>
        this.isOfAnswered(each) ? "answered" : (setAside.get(neighborKey(each)) ?? KEPT_ROW);
      const ofOwn = countRows(own, outcomeOf);
      const ofOthers = countRows(others, (each) => {
        const rowOutcome = outcomeOf(each);
        return rowOutcome === KEPT_ROW ? "elsewhere" : rowOutcome;
      });
      const addresses = [...new Set(outside.map((each) => each.ip_address))];
      yield { ip_address, rows: narrowed(narrowed(rows, ofOwn), ofOthers), outside: addresses };
    }
  }

  /**
   * Yields unreached hosts worth reporting.
   * @param isReported true if a known host is reported merely for not responding
   */
  *unreached(isReported: (host: KnownHost) => boolean): Generator<Finding> {
    for (const { candidate, refusals } of this.refused) {
      const { host, isNamed } = candidate;
      if (host !== null && this.reachedHosts.has(host.id)) continue;
      const isExplicit = refusals.some(({ refusal }) => !SILENT.has(refusal.reason));
      if (!isExplicit && !isNamed && (host === null || !isReported(host))) continue;
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

  /** Yields addresses that did not respond and did not receive all assigned credentials. */
  *unanswered(): Generator<readonly [address: string, withheld: Withheld]> {
    for (const [address, { host, withheld }] of this.withheld) {
      if (!this.answered.has(address) && (host === null || !this.reachedHosts.has(host.id))) yield [address, withheld];
    }
  }

  private async pollTarget(candidate: PollTarget): Promise<void> {
    const { host, seen } = candidate;
    const isAlreadyReached = host !== null && this.reachedHosts.has(host.id);
    if (!isAlreadyReached) {
      const outcome = await this.pollAddresses(candidate);
      if (outcome.isReached) {
        if (host !== null) this.reachedHosts.add(host.id);
      } else if (
        outcome.refusals.length > 0 &&
        (host !== null || candidate.isNamed || outcome.refusals.some(({ refusal }) => !SILENT.has(refusal.reason)))
      )
        this.refused.push({ candidate: { ...candidate, seen: [] }, refusals: outcome.refusals });
    }
    for (const sighting of seen) await this.options.address(sighting);
  }

  private async pollAddresses(candidate: PollTarget): Promise<PollOutcome> {
    const refusals: Array<{ address: string; refusal: Refusal }> = [];
    const { progress } = this.options;
    let tried = 0;
    for (const address of candidate.addresses) {
      if (tried === ADDRESSES_OF_HOST_MAX) break;
      if (this.settled.has(address) || !this.options.mayPoll(address)) continue;
      this.settled.add(address);
      const failures = await this.pollAddress(address, candidate);
      if (failures === null) return { isReached: true };
      // Nothing was sent without credentials, so no time was lost.
      if (failures.length === 0) continue;
      tried += 1;
      progress.failed(worstOf(failures).reason);
      for (const refusal of failures) refusals.push({ address, refusal });
    }
    return { isReached: false, refusals };
  }

  /** Returns null if the address responded; empty without credentials. */
  private async pollAddress(address: string, candidate: PollTarget): Promise<readonly Refusal[] | null> {
    const { probes, progress, signal } = this.options;
    const { credentials, refused, remembered, withheld } = this.options.choose(address);
    if (withheld !== null) this.withheld.set(address, { host: candidate.host, withheld });
    if (credentials.length === 0) return refused;
    progress.devicesPolled += 1;
    const redundant = new AbortController();
    this.inFlight.set(address, redundant);
    const hostId = candidate.host?.id ?? null;
    const served = this.options.servedBefore(address, hostId);
    const combinedSignal = AbortSignal.any([signal, redundant.signal]);
    const maySend = (credential: SnmpCredential): boolean => this.options.maySend(address, credential);
    const result = await probes.pollDevice(address, {
      credentials,
      remembered,
      served,
      maySend,
      signal: combinedSignal,
    });
    this.inFlight.delete(address);
    signal.throwIfAborted();
    progress.requests += result.requests;
    if (!result.ok) return redundant.signal.aborted ? [] : [...refused, ...result.failures];
    progress.devicesAnswered += 1;
    // A device's responses are thousands of small objects, which the collector leaves too long.
    this.requestsToCollect += result.requests;
    if (this.requestsToCollect >= REQUESTS_BETWEEN_COLLECTIONS) {
      this.requestsToCollect = 0;
      Bun.gc(true);
    }
    this.answered.add(address);
    const sweepSighting = candidate.seen.find((each) => each.ip_address === address);
    if (sweepSighting === undefined) progress.hostsFound += 1;
    const mac = sweepSighting?.mac_address ?? probes.macOf(address);
    this.applyDeviceData({ ip_address: address, mac_address: mac, device: result.device }, candidate.host);
    const areMacsMissing = result.device.broken?.includes("interfaces") === true;
    const macs = macsOf(result.device, mac);
    this.macsOfAnswered.set(address, areMacsMissing || macs.size === 0 ? null : macs);
    this.learn(
      address,
      neighborSightingsOf(result.device, areMacsMissing ? this.options.macsBefore(address, hostId) : []),
    );
    // Write neighbors after all devices have responded.
    const { arp: _arp, ...device } = result.device;
    const neighbors = neighborLines(result.device);
    const sighting: DeviceSighting = {
      ip_address: address,
      mac_address: mac,
      ...(sweepSighting?.hostname === undefined ? {} : { hostname: sweepSighting.hostname }),
      device,
      ...(neighbors === undefined ? {} : { neighbors }),
      credential: result.credential,
    };
    await this.options.device({ ...sighting, digest: digestOf(sighting) });
    return null;
  }

  /** True for the own MAC address of a device that responded to SNMP there, and if that is unknown. */
  private isOfAnswered({ ip_address, mac_address }: AddressSighting): boolean {
    const macs = this.macsOfAnswered.get(ip_address);
    if (macs === undefined) return false;
    return macs === null || mac_address === null || macs.has(mac_address) || !isSingleDevice(mac_address);
  }

  /** The first device to learn a MAC address at an address counts. */
  private learn(address: string, { sightings, rows }: NeighborSightings): void {
    const own: AddressSighting[] = [];
    const others: AddressSighting[] = [];
    const counted = countRows(sightings, (each) => {
      const key = neighborKey(each);
      const known = this.learned.get(key);
      if (known !== undefined) {
        this.learned.set(key, combined(known, each));
        if (this.repeated >= LEARNED_MAX) return "elsewhere";
        this.repeated += 1;
        others.push(known);
        return KEPT_ROW;
      }
      if (this.learned.size >= LEARNED_MAX) return "limit";
      this.learned.set(key, each);
      own.push(each);
      return KEPT_ROW;
    });
    if (rows.read > 0) this.neighborTables.push({ ip_address: address, rows: narrowed(rows, counted), own, others });
  }

  /** Learns from a device's own and neighbor data which addresses to skip and which to follow. */
  private applyDeviceData(
    { ip_address, mac_address, device }: Pick<DeviceSighting, "ip_address" | "mac_address" | "device">,
    host: KnownHost | null,
  ): void {
    const { network, probes } = this.options;
    const macs = macsOf(device, mac_address);
    for (const { ip_address: own } of device.addresses ?? []) {
      // If another host has this address, poll it anyway: one of the two is wrong.
      const owners = network.byAddress.get(own) ?? [];
      if (own === ip_address || !owners.every((each) => each.host_id === host?.id)) continue;
      // Poll also if another MAC address was seen there, or a device could hide others by claiming their addresses.
      const seenMac = this.macs.get(own) ?? probes.macOf(own);
      if (seenMac !== null && macs.size > 0 && !macs.has(seenMac) && isSingleDevice(seenMac)) continue;
      this.settled.add(own);
      this.inFlight.get(own)?.abort();
    }
    if (typeof device.sys_name === "string") this.answeredNames.add(nameKey(device.sys_name));
    for (const each of device.interfaces ?? []) {
      for (const { mgmt_addr, sys_name } of each.lldp ?? []) this.addNeighbor(mgmt_addr ?? undefined, sys_name);
      for (const { address, device_id } of each.cdp ?? []) this.addNeighbor(address, device_id);
    }
  }

  private addNeighbor(address: string | undefined, name: string | undefined): void {
    const ip = address === undefined ? null : parseIp(address);
    if (ip !== null) this.neighborAddresses.add(ip.text);
    else if (name !== undefined && NAME.test(name.trim())) this.neighborNames.add(nameKey(name));
  }
}

/** The same neighbor in the tables of two devices. */
function combined(some: AddressSighting, other: AddressSighting): AddressSighting {
  const { is_local, is_mac_shared, ...sighting } = some;
  return {
    ...sighting,
    ...(is_mac_shared === true || other.is_mac_shared === true ? { is_mac_shared: true } : {}),
    ...(is_local === true && other.is_local === true ? { is_local: true } : {}),
  };
}

/** Runs work with limited concurrency; the first error stops the rest. */
export async function inParallel<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (;;) {
      signal.throwIfAborted();
      const next = hasFailed ? null : iterator.next();
      if (next === null || next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = settled.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** No host or no agent at the address. */
const SILENT: ReadonlySet<string> = new Set(["no_answer", "port_closed", "unreachable", "cancelled"]);

/** Plausible host name (RFC 1123 §2.1). */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i;

function nameKey(name: string): string {
  return name.trim().toLowerCase();
}

/** Returns the most informative refusal: an explicit one first. */
function worstOf(refusals: readonly Refusal[]): Refusal {
  return (refusals.find(({ reason }) => !SILENT.has(reason)) ?? refusals.at(-1)) as Refusal;
}

/** Lists each address, unless it is the label, with its most informative refusal, as one clause. */
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

/** MAC addresses of a device. @param seen the one seen where it responded */
function macsOf({ bridge_address, interfaces = [] }: DeviceSighting["device"], seen: string | null): Set<string> {
  const macs = [seen, bridge_address, ...interfaces.map((each) => each.mac_address)];
  return new Set(macs.filter((mac) => typeof mac === "string"));
}
