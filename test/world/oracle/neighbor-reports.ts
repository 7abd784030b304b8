// Expected addresses of machines known only from ARP tables and sweeps: until another machine has the address, or until
// they expire.

import type { Hearing } from "../site/truth.ts";
import type { Expectations } from "./expectation.ts";

const HOUR_MS = 3_600_000;
export const EXPIRY_MS = 720 * HOUR_MS;
/** For locally administered MAC addresses. */
const RANDOM_MAC_EXPIRY_MS = 72 * HOUR_MS;
/** Longest scan: a sighting may be as much older than its report. */
const SCAN_MS = 60_000;
/** Number of scans that must have looked for it since. */
const LOOKS_MIN = 2;

interface Heard extends Hearing {
  readonly firstAt: number;
  lastAt: number;
  /** Scans that have since looked for it and did not find it. */
  looks: number;
  wasHeard: boolean;
  /** Number of scans since it was due to expire. */
  dueFor: number;
}

/** Reporter of the addresses that answer to a sweep. */
export const SWEEP = "sweep";

/** Part of the addresses that one reporter sees, which replaces what it saw there before. */
export interface View {
  readonly reporter: string;
  readonly covers: (ip: string) => boolean;
  readonly hearings: readonly Hearing[];
}

export class Hearsay {
  private readonly byIp = new Map<string, Map<string, Heard>>();
  /** Per reporter, the MAC address that it last saw at each address, and when. */
  private readonly views = new Map<string, Map<string, { readonly mac: string; readonly at: number }>>();
  private readonly lastHeardAt = new Map<string, { readonly ip: string; readonly at: number }>();
  private looked: View[] = [];
  /** Per address, the reporters that ever had it: only these, and sweeps, can miss it. */
  private readonly reporters = new Map<string, Set<string>>();

  /** @returns machines seen with a MAC address, or at an address, for the first time or again after it was due */
  look(view: View, now: number): string[] {
    const { reporter, covers, hearings } = view;
    const news: string[] = [];
    this.looked.push(view);
    const seen = this.views.get(reporter) ?? new Map();
    this.views.set(reporter, seen);
    for (const ip of [...seen.keys()]) if (covers(ip)) seen.delete(ip);
    for (const hearing of hearings) {
      const { ip, mac } = hearing;
      seen.set(ip, { mac, at: now });
      const reporters = this.reporters.get(ip) ?? new Set<string>();
      this.reporters.set(ip, reporters.add(reporter));
      const found = this.byIp.get(ip) ?? new Map<string, Heard>();
      this.byIp.set(ip, found);
      const known = found.get(mac);
      // What was due to expire may have done so.
      if (known === undefined || known.dueFor > 0) news.push(hearing.machine);
      if (known === undefined)
        found.set(mac, { ...hearing, firstAt: now, lastAt: now, looks: 0, wasHeard: true, dueFor: 0 });
      else Object.assign(known, { lastAt: now, looks: 0, wasHeard: true, dueFor: 0 });
      this.lastHeardAt.set(mac, { ip, at: now });
    }
    return news;
  }

  /** @returns machines of which nothing more is expected */
  endScan(now: number): string[] {
    const ended: Heard[] = [];
    for (const found of this.byIp.values())
      for (const heard of found.values()) {
        // What went to another machine does not come back when that one leaves.
        if (this.stateOf(heard, found) === "gone") {
          found.delete(heard.mac);
          continue;
        }
        if (!heard.wasHeard && this.looked.some((view) => this.isLookFor(view, heard.ip))) heard.looks += 1;
        heard.wasHeard = false;
        if (heard.dueFor > 0 || isDue(heard, now)) heard.dueFor += 1;
        // One scan of grace: the first may have been the one that made it due.
        if (heard.dueFor > 2) {
          found.delete(heard.mac);
          ended.push(heard);
        }
      }
    this.looked = [];
    return ended.map(({ machine }) => machine).filter((machine) => !this.isKnown(machine));
  }

  forget(machine: string): void {
    for (const found of this.byIp.values())
      for (const heard of [...found.values()]) if (heard.machine === machine) found.delete(heard.mac);
  }

  /** @param readAt when a machine responded to SNMP; from then on its own report counts, and hearsay is allowed */
  expect(
    into: Expectations,
    keyOf: (machine: string) => string,
    readAt: (machine: string) => number | undefined,
  ): void {
    for (const found of this.byIp.values())
      for (const heard of found.values()) {
        const state = this.stateOf(heard, found);
        if (state === "gone") continue;
        const machine = keyOf(heard.machine);
        const ownReportAt = readAt(heard.machine);
        const isRequired = state === "required" && heard.dueFor === 0 && ownReportAt === undefined;
        const keys =
          ownReportAt === undefined || heard.lastAt < ownReportAt ? [machine] : [machine, aliasOf(machine, heard.mac)];
        for (const key of keys) {
          into.address.add(`${key}/${heard.ip}`, isRequired ? "required" : "tolerated");
          into.host.add(key, isRequired ? "required" : "tolerated");
        }
      }
  }

  /** True if the newest reports have another MAC address at the address. */
  hasOther(ip: string, mac: string): boolean {
    return [...(this.byIp.get(ip)?.keys() ?? [])].some((each) => each !== mac && this.seenAt(ip, each) > 0);
  }

  /** Addresses with several MAC addresses in the newest reports. */
  disputed(): string[] {
    return [...this.byIp]
      .filter(([ip, found]) => [...found.keys()].filter((mac) => this.isAt(ip, mac)).length > 1)
      .map(([ip]) => ip);
  }

  /** False for a MAC address that has been at another address since. */
  private isAt(ip: string, mac: string): boolean {
    const seenAt = this.seenAt(ip, mac);
    const last = this.lastHeardAt.get(mac);
    return seenAt > 0 && (last === undefined || last.ip === ip || last.at <= seenAt);
  }

  private stateOf(heard: Heard, found: ReadonlyMap<string, Heard>): "required" | "tolerated" | "gone" {
    const rivals = [...found.values()].filter(({ mac }) => mac !== heard.mac && this.seenAt(heard.ip, mac) > 0);
    if (rivals.length === 0) return "required";
    const seenAt = this.seenAt(heard.ip, heard.mac);
    const last = this.lastHeardAt.get(heard.mac);
    if (last !== undefined && last.ip !== heard.ip && last.at > heard.lastAt) return "gone";
    return rivals.every(({ firstAt }) => seenAt >= firstAt) ? "required" : "tolerated";
  }

  /** Newest view in which the MAC address is at the address; 0 if none, or if it has another address since. */
  private seenAt(ip: string, mac: string): number {
    let newest = 0;
    for (const view of this.views.values()) {
      const seen = view.get(ip);
      if (seen?.mac === mac) newest = Math.max(newest, seen.at);
    }
    const last = this.lastHeardAt.get(mac);
    return last !== undefined && last.ip !== ip && last.at > newest ? 0 : newest;
  }

  /** A table that never had the address says nothing about it. */
  private isLookFor({ reporter, covers }: View, ip: string): boolean {
    return covers(ip) && (reporter === SWEEP || this.reporters.get(ip)?.has(reporter) === true);
  }

  private isKnown(machine: string): boolean {
    for (const found of this.byIp.values())
      for (const heard of found.values()) if (heard.machine === machine) return true;
    return false;
  }
}

/** A device that others see with a card that it has not reported yet: it may be a separate host until then. */
export function aliasOf(machine: string, mac: string): string {
  return `${machine}~${mac}`;
}

function isDue({ mac, lastAt, looks }: Pick<Heard, "mac" | "lastAt" | "looks">, now: number): boolean {
  const isRandom = (Number.parseInt(mac.slice(0, 2), 16) & 2) !== 0;
  return now - lastAt >= (isRandom ? RANDOM_MAC_EXPIRY_MS : EXPIRY_MS) - SCAN_MS && looks >= LOOKS_MIN;
}
