// The entry of the Worker that scans, and what it asks the network with, put together.

import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import { systemTimers } from "./base/timers.ts";
import { openScanMachine, type ScannerOptions } from "./discovery/scans/scan-machine.ts";
import { serveScans, type FromScanner, type ScanMachine, type ToScanner } from "./discovery/scans/scan-thread.ts";
import { systemProbes } from "./discovery/scans/system-probes.ts";
import { SIGHTING_COMMANDS } from "./discovery/sighting-commands.ts";
import { linksOf } from "./discovery/topology/find-links.ts";

export function openScanner(options: ScannerOptions): ScanMachine {
  const shared = { timers: systemTimers, random: systemRandom };
  const probes = systemProbes({
    ...shared,
    snmpPort: options.snmpPort,
    tcpPorts: options.tcpPorts,
    monotonicMs: () => performance.now(),
  });
  return openScanMachine(options, {
    ...shared,
    probes,
    commands: SIGHTING_COMMANDS,
    links: linksOf,
    clock: systemClock,
  });
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: FromScanner): void;
    onmessage: (event: MessageEvent<ToScanner>) => void;
  };
  const receive = serveScans((options) => openScanner(options as ScannerOptions), port);
  port.onmessage = (event) => receive(event.data);
}
