// Assembly of the scanning thread with the system's network probes.

import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { systemTimers } from "../../base/timers.ts";
import { linksOf } from "../topology/find-links.ts";
import { openScanMachine } from "./scan-machine.ts";
import type { ScanMachine, ScannerOptions } from "./scan-thread.ts";
import { SIGHTING_COMMANDS } from "./sighting-commands.ts";
import { systemProbes } from "./system-probes.ts";

export function openScanner(options: ScannerOptions): ScanMachine {
  const { snmpPort, tcpPorts } = options;
  const shared = { timers: systemTimers, random: systemRandom };
  const probes = systemProbes({ ...shared, snmpPort, tcpPorts, monotonicMs: () => performance.now() });
  return openScanMachine(options, {
    ...shared,
    probes,
    commands: SIGHTING_COMMANDS,
    links: linksOf,
    clock: systemClock,
  });
}
