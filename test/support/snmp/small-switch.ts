// Switch on loopback with one interface and markup as its description, for tests of the console.

import { systemRandom } from "../../../src/base/random.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { systemProbes } from "../../../src/discovery/scans/system-probes.ts";
import { type SnmpAgent, startAgent } from "./agent.ts";
import { viewOf } from "./view.ts";

const SWITCH = viewOf({
  "1.3.6.1.2.1.1.1.0": "Acme Switch 48 <img src=x onerror=alert(1)>",
  "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.9.1.516" },
  "1.3.6.1.2.1.1.3.0": 4_200,
  "1.3.6.1.2.1.1.5.0": "access-9",
  "1.3.6.1.2.1.2.2.1.1.1": 1,
  "1.3.6.1.2.1.2.2.1.2.1": "Gi0/1",
  "1.3.6.1.2.1.2.2.1.3.1": 6,
});

/** @param community community that the agent accepts */
export function startSwitch(address: string, community: string): Promise<SnmpAgent> {
  return startAgent({ address, communities: { [community]: SWITCH } });
}

/** The appliance's probes, with SNMP on the port of an agent. */
export function probesOf({ port }: SnmpAgent): ReturnType<typeof systemProbes> {
  return systemProbes({
    snmpPort: port,
    tcpPorts: null,
    timers: systemTimers,
    random: systemRandom,
    monotonicMs: () => performance.now(),
  });
}
