// Expected addresses of machines known only from ARP tables and sweeps: until another machine has the address, or until
// they expire.

import type { NeighborEntry } from "../site/truth.ts";
import type { Expectations } from "./expectation.ts";

const HOUR_MS = 3_600_000;
export const EXPIRY_MS = 720 * HOUR_MS;
/** For locally administered MAC addresses. */
const RANDOM_MAC_EXPIRY_MS = 72 * HOUR_MS;
/** Longest scan: a sighting may be older than its report by this much. */
const SCAN_MS = 60_000;
/** Minimum number of scans that must have covered an address since its last sighting. */
const MISSES_MIN = 2;

interface TrackedEntry extends NeighborEntry {
  readonly firstAt: number;
  lastAt: number;
  /** Number of scans since the last sighting that covered the address and did not find it. */
  misses: number;
  wasSeen: boolean;
  /** Number of scans since it was due to expire. */
  dueFor: number;
}

/** Reporter of the addresses that respond to a sweep. */
export const SWEEP = "sweep";

/** Part of the addresses that one reporter sees. Replaces its previous report of that part. */
export interface View {
  readonly reporter: string;
  readonly covers: (ip: string) => boolean;
  readonly entries: readonly NeighborEntry[];
}

export class NeighborReports {
  private readonly byIp = new Map<string, Map<string, TrackedEntry>>();
  /** By reporter: the MAC address last seen at each address, and when. */
  private readonly views = new Map<string, Map<string, { readonly mac: string; readonly at: number }>>();
  private readonly lastSeenAt = new Map<string, { readonly ip: string; readonly at: number }>();
  private observed: View[] = [];
  /** By address: the reporters that ever had it. Only these, and sweeps, can miss it. */
  private readonly reporters = new Map<string, Set<string>>();

  /**
   * @returns machines seen for the first time with a MAC address or at an address, or again after they were due to
   * expire
   */
  observe(view: View, now: number): string[] {
    const { reporter, covers, entries } = view;
    const news: string[] = [];
    this.observed.push(view);
    const seen = this.views.get(reporter) ?? new Map();
    this.views.set(reporter, seen);
    for (const ip of [...seen.keys()]) if (covers(ip)) seen.delete(ip);
    for (const entry of entries) {
      const { ip, mac } = entry;
      seen.set(ip, { mac, at: now });
      const reporters = this.reporters.get(ip) ?? new Set<string>();
      this.reporters.set(ip, reporters.add(reporter));
      const found = this.byIp.get(ip) ?? new Map<string, TrackedEntry>();
      this.byIp.set(ip, found);
      const known = found.get(mac);
      // An entry that was due to expire may have expired.
      if (known === undefined || known.dueFor > 0) news.push(entry.machine);
      if (known === undefined)
        found.set(mac, { ...entry, firstAt: now, lastAt: now, misses: 0, wasSeen: true, dueFor: 0 });
      else Object.assign(known, { lastAt: now, misses: 0, wasSeen: true, dueFor: 0 });
      this.lastSeenAt.set(mac, { ip, at: now });
    }
    return news;
  }

  /** @returns machines without remaining expectations */
  endScan(now: number): string[] {
    const ended: TrackedEntry[] = [];
    for (const found of this.byIp.values())
      for (const entry of found.values()) {
        // An address that went to another machine does not come back when that machine leaves.
        if (this.stateOf(entry, found) === "gone") {
          found.delete(entry.mac);
          continue;
        }
        if (!entry.wasSeen && this.observed.some((view) => this.canReport(view, entry.ip))) entry.misses += 1;
        entry.wasSeen = false;
        if (entry.dueFor > 0 || isDue(entry, now)) entry.dueFor += 1;
        // One additional scan: the first may be the one that made the entry due.
        if (entry.dueFor > 2) {
          found.delete(entry.mac);
          ended.push(entry);
        }
      }
    this.observed = [];
    return ended.map(({ machine }) => machine).filter((machine) => !this.isKnown(machine));
  }

  forget(machine: string): void {
    for (const found of this.byIp.values())
      for (const entry of [...found.values()]) if (entry.machine === machine) found.delete(entry.mac);
  }

  /**
   * @param readAt time at which a machine responded to SNMP: from then on its own report counts, and those of neighbors
   * are tolerated
   */
  expect(
    into: Expectations,
    keyOf: (machine: string) => string,
    readAt: (machine: string) => number | undefined,
  ): void {
    for (const found of this.byIp.values())
      for (const entry of found.values()) {
        const state = this.stateOf(entry, found);
        if (state === "gone") continue;
        const machine = keyOf(entry.machine);
        const ownReportAt = readAt(entry.machine);
        const isRequired = state === "required" && entry.dueFor === 0 && ownReportAt === undefined;
        const keys =
          ownReportAt === undefined || entry.lastAt < ownReportAt ? [machine] : [machine, aliasOf(machine, entry.mac)];
        for (const key of keys) {
          into.address.add(`${key}/${entry.ip}`, isRequired ? "required" : "tolerated");
          into.host.add(key, isRequired ? "required" : "tolerated");
        }
      }
  }

  /** True if the latest reports contain another MAC address at the address. */
  hasOther(ip: string, mac: string): boolean {
    return [...(this.byIp.get(ip)?.keys() ?? [])].some((each) => each !== mac && this.seenAt(ip, each) > 0);
  }

  /** Addresses with several MAC addresses in the latest reports. */
  disputed(): string[] {
    return [...this.byIp]
      .filter(([ip, found]) => [...found.keys()].filter((mac) => this.isAt(ip, mac)).length > 1)
      .map(([ip]) => ip);
  }

  /** False for a MAC address that was seen at another address later. */
  private isAt(ip: string, mac: string): boolean {
    const seenAt = this.seenAt(ip, mac);
    const last = this.lastSeenAt.get(mac);
    return seenAt > 0 && (last === undefined || last.ip === ip || last.at <= seenAt);
  }

  private stateOf(entry: TrackedEntry, found: ReadonlyMap<string, TrackedEntry>): "required" | "tolerated" | "gone" {
    const rivals = [...found.values()].filter(({ mac }) => mac !== entry.mac && this.seenAt(entry.ip, mac) > 0);
    if (rivals.length === 0) return "required";
    const seenAt = this.seenAt(entry.ip, entry.mac);
    const last = this.lastSeenAt.get(entry.mac);
    if (last !== undefined && last.ip !== entry.ip && last.at > entry.lastAt) return "gone";
    return rivals.every(({ firstAt }) => seenAt >= firstAt) ? "required" : "tolerated";
  }

  /**
   * Time of the latest report of the MAC address at the address; 0 if none, or if it was seen at another address later.
   */
  private seenAt(ip: string, mac: string): number {
    let newest = 0;
    for (const view of this.views.values()) {
      const seen = view.get(ip);
      if (seen?.mac === mac) newest = Math.max(newest, seen.at);
    }
    const last = this.lastSeenAt.get(mac);
    return last !== undefined && last.ip !== ip && last.at > newest ? 0 : newest;
  }

  /** A table that never contained the address gives no evidence about it. */
  private canReport({ reporter, covers }: View, ip: string): boolean {
    return covers(ip) && (reporter === SWEEP || this.reporters.get(ip)?.has(reporter) === true);
  }

  private isKnown(machine: string): boolean {
    for (const found of this.byIp.values())
      for (const entry of found.values()) if (entry.machine === machine) return true;
    return false;
  }
}

/**
 * Key of a card that others see on a device but that the device has not reported: until then it may be a separate host.
 */
export function aliasOf(machine: string, mac: string): string {
  return `${machine}~${mac}`;
}

function isDue({ mac, lastAt, misses }: Pick<TrackedEntry, "mac" | "lastAt" | "misses">, now: number): boolean {
  const isRandom = (Number.parseInt(mac.slice(0, 2), 16) & 2) !== 0;
  return now - lastAt >= (isRandom ? RANDOM_MAC_EXPIRY_MS : EXPIRY_MS) - SCAN_MS && misses >= MISSES_MIN;
}
