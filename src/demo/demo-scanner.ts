// Demo network scanner: the discovery engine with probes that send nothing.

import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { systemClock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import { type Random, systemRandom } from "../base/random.ts";
import { systemTimers, type Timers } from "../base/timers.ts";
import { type MachineParts, openScanMachine } from "../discovery/scans/scan-machine.ts";
import type { ScanMachine, ScannerOptions } from "../discovery/scans/scan-thread.ts";
import { SIGHTING_COMMANDS } from "../discovery/scans/sighting-commands.ts";
import { linksOf } from "../discovery/topology/find-links.ts";
import { Calendar } from "./calendar.ts";
import { Campus } from "./campus.ts";
import { startOf } from "./demo-marker.ts";
import type { Site } from "./equipment.ts";
import { HARBOUR_ID } from "./people.ts";
import { demoProbes } from "./probes.ts";

interface DemoScannerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly delay: (ms: number) => Promise<void>;
  /** First start of the demo. */
  readonly start: Instant;
  readonly afterScans?: () => void;
  readonly links?: MachineParts["links"];
}

/** For the scanning thread of a served demo: at the present time, and as slow as a network. */
export function openDemoScanner(options: ScannerOptions): ScanMachine {
  return demoScanMachine(options, {
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    delay: (ms) => new Promise((resolve) => systemTimers.after(ms / LIVE_SPEEDUP, () => resolve())),
    start: startOf(dirname(options.databasePath)),
  });
}

/** Speed-up, so that a user need not wait as long as the simulated network takes. */
const LIVE_SPEEDUP = 5;

/** The campus responds for every network except the harbor. */
export function demoScanMachine(
  store: Pick<ScannerOptions, "databasePath" | "secretKey" | "secretsFolder">,
  { start, delay, links = linksOf, ...parts }: DemoScannerOptions,
): ScanMachine {
  const campus = new Campus(new Calendar(start));
  const machineFor = (site: Site) =>
    openScanMachine(store, {
      ...parts,
      probes: demoProbes({ campus, clock: parts.clock, delay, site }),
      commands: SIGHTING_COMMANDS,
      links,
    });
  const machines = { campus: machineFor("campus"), harbour: machineFor("harbour") };
  const machineOf = (networkId: string) => machines[networkId === HARBOUR_ID ? "harbour" : "campus"];
  return {
    scan: (order, ports) => machineOf(order.network_id).scan(order, ports),
    try: (order, signal, onStep) => machineOf(order.network_id).try(order, signal, onStep),
    close: () => {
      machines.campus.close();
      machines.harbour.close();
    },
  };
}
