// Size of the simulated site and number of events per run, in one table that `--rates FILE` can replace in part.

import { readFileSync } from "node:fs";

export const DEFAULT_RATES = {
  days: 120,
  /** Scans of the devices per day; each reads another random share of the site. */
  scansPerDay: 3,
  quietBlockDays: 5,
  /** Stations located after each scan. */
  placesPerScan: 12,
  /** New stations with a random MAC address per day; each stays for one day. */
  guestsPerDay: 10,
  daysPerSilence: 4,
  /**
   * 1: agents that start slowly, serve no interfaces or fewer than they count, virtual switches with a chassis ID per
   * port, servers with two cards and TCP ports, stacks whose cards move with their members, devices that are not in any
   * ARP table yet, and a first sweep without MAC addresses.
   */
  hardships: 0,
  /** Devices that respond to SNMP; the site also has two core switches. */
  devices: {
    distributionStacks: 4,
    accessStacks: 24,
    portsPerMember: 12,
    firewalls: 2,
    servers: 7,
    hypervisors: 3,
    containerHosts: 1,
    controllers: 1,
    accessPoints: 8,
    printers: 8,
  },
  stations: { computers: 170, laptops: 70, phones: 30, virtualMachines: 30 },
  /** Numbers per run, which shrink with the number of days. */
  events: {
    moves: 40,
    replacements: 10,
    stackChanges: 8,
    clones: 4,
    /** Pairs of machines that share cards. */
    commonCards: 2,
    renames: 10,
    renumberings: 10,
    swappedAddresses: 5,
    migrations: 15,
    vlanChanges: 20,
    containerChanges: 40,
    restarts: 15,
    /** Restarts after which the agent assigns new ifIndex values. */
    renumberedRestarts: 15,
    faultyTables: 42,
    /** Each lasts `daysPerSilence`. */
    silences: 28,
    failovers: 4,
    intruders: 5,
    leaseRotations: 30,
    laptopSwitches: 300,
    deletionsByPeople: 6,
    /** Hosts that a user ignored. */
    bans: 0,
    /** Users' notes on interfaces of containers. */
    notes: 0,
    addressMoves: 0,
    serviceChanges: 0,
  },
  /** Blocks of days without events, days without scans, timestamps queried again at the end; these are reduced too. */
  periods: { quietBlocks: 6, daysOff: 7, pastInstants: 20 },
};

export type Rates = typeof DEFAULT_RATES;
export type EventRate = keyof Rates["events"];

/** Rates for a shorter run: the same number of events per day, rounded up. */
export function ratesFor(days: number, base: Rates = DEFAULT_RATES): Rates {
  const scaled = <T extends Record<string, number>>(counts: T): T =>
    Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, Math.ceil((count * days) / base.days)]),
    ) as T;
  return { ...base, days, events: scaled(base.events), periods: scaled(base.periods) };
}

/** Shorter days for the tests: six seeds must take less than 90 s of CPU time. */
export const CI_RATES: Rates = { ...ratesFor(24), scansPerDay: 2, placesPerScan: 3 };

/** Number of seeds in the tests, from 1. */
export const CI_SEEDS = 6;

/**
 * Rates for the planted faults: the seeds of the tests with more events, and days off that exceed the expiry of random
 * MAC addresses.
 */
export const FAULT_RATES: Rates = {
  ...CI_RATES,
  hardships: 1,
  devices: { ...CI_RATES.devices, containerHosts: 2 },
  events: {
    ...CI_RATES.events,
    stackChanges: 3,
    commonCards: 2,
    faultyTables: 12,
    bans: 1,
    notes: 4,
    addressMoves: 1,
    serviceChanges: 4,
  },
  periods: { ...CI_RATES.periods, daysOff: 4 },
};

/** Reads a JSON object with some of the rates. @throws Error for an unknown name or a value that is not a number */
export function ratesFrom(file: string): Rates {
  return merged(DEFAULT_RATES, JSON.parse(readFileSync(file, "utf8")), file);
}

function merged<T extends object>(base: T, given: unknown, file: string): T {
  const result = { ...base } as Record<string, unknown>;
  for (const [name, value] of Object.entries(given as object)) {
    const known = Object.hasOwn(base, name) ? base[name as keyof T] : undefined;
    if (typeof known === "object" && known !== null && typeof value === "object")
      result[name] = merged(known, value, file);
    else if (typeof known === "number" && typeof value === "number" && value >= 0) result[name] = value;
    else throw new Error(`${file}: ${name} must be a rate, and its value a number of 0 or more`);
  }
  return result as T;
}
