// The entry of the Worker that scans, and what it asks the network with, put together.

import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import { systemTimers } from "./base/timers.ts";
import type { Commands } from "./db/writer.ts";
import { fromScan, markStale, recordAddresses, recordDevices } from "./discovery/reconcile/commands.ts";
import { openScanMachine, type ScannerOptions } from "./discovery/scans/scan-machine.ts";
import { serveScans, type FromScanner, type ScanMachine, type ToScanner } from "./discovery/scans/scan-thread.ts";
import { systemProbes } from "./discovery/scans/system-probes.ts";
import { LINKS_COMMAND, linksOf } from "./discovery/topology/find-links.ts";
import { linkNeighbors } from "./discovery/topology/link-neighbors.ts";

/** What the writer runs on what a scan sees, by the same names: a scan that only tells what it would do runs them here, and writes nothing. */
export const SIGHTING_COMMANDS: Commands = {
  "discovery.addresses": fromScan(recordAddresses),
  "discovery.devices": fromScan(recordDevices),
  [LINKS_COMMAND]: fromScan(linkNeighbors),
  "discovery.stale": fromScan(markStale),
};

export function openScanner(options: ScannerOptions): ScanMachine {
  const shared = { timers: systemTimers, random: systemRandom };
  const probes = systemProbes({ ...shared, snmpPort: options.snmpPort, tcpPorts: options.tcpPorts, monotonicMs: () => performance.now() });
  return openScanMachine(options, { ...shared, probes, commands: SIGHTING_COMMANDS, links: linksOf, clock: systemClock });
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as { postMessage(message: FromScanner): void; onmessage: (event: MessageEvent<ToScanner>) => void };
  const receive = serveScans((options) => openScanner(options as ScannerOptions), port);
  port.onmessage = (event) => receive(event.data);
}
