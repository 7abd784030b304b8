// Simulated switches for the discovery benchmark, each an SNMP agent on loopback: in a separate process, so that their
// cost does not count for the appliance. Prints `ready` when all of them answer. Usage: switches.ts COUNT PORTS PORT

import { startAgent } from "../../test/support/snmp/agent.ts";
import { type ServedValue, type SnmpView, viewOf } from "../../test/support/snmp/view.ts";

/** Per switch. */
export const FORWARDING_ENTRIES = 200;
const VLANS = [1, 10, 20, 30];

/** Of 254 in a /24. */
const IN_BLOCK = 250;

/** Address of a switch: from 127.16.0.1 on, which needs no configuration. */
export function addressOf(number: number): string {
  return `127.16.${Math.floor(number / IN_BLOCK)}.${(number % IN_BLOCK) + 1}`;
}

/** Prefixes of this many switches. */
export function blocksOf(count: number): string[] {
  return Array.from({ length: Math.ceil(count / IN_BLOCK) }, (_, block) => `127.16.${block}.0/24`);
}

/** SNMP view of a switch with this many ports. */
function switchView(number: number, ports: number): SnmpView {
  const served: Record<string, ServedValue> = {
    "1.3.6.1.2.1.1.1.0": "Benchmark Switch OS 4.2",
    "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.8072.3.2.10" },
    "1.3.6.1.2.1.1.3.0": { tag: 0x43, value: 123_456 },
    "1.3.6.1.2.1.1.4.0": "noc@example.net",
    "1.3.6.1.2.1.1.5.0": `switch-${number}`,
    "1.3.6.1.2.1.1.6.0": `row ${number % 40}`,
    "1.3.6.1.2.1.17.1.1.0": macBytes(number, 0),
    "1.3.6.1.2.1.17.1.2.0": ports,
    "1.0.8802.1.1.2.1.3.1.0": 4,
    "1.0.8802.1.1.2.1.3.2.0": macBytes(number, 0),
    "1.0.8802.1.1.2.1.3.3.0": `switch-${number}`,
    "1.3.6.1.2.1.47.1.1.1.1.5.1": 3,
    "1.3.6.1.2.1.47.1.1.1.1.11.1": `BENCH${String(number).padStart(6, "0")}`,
    "1.3.6.1.2.1.47.1.1.1.1.12.1": "Benchmark",
    "1.3.6.1.2.1.47.1.1.1.1.13.1": `B-${ports}`,
    [`1.3.6.1.2.1.4.20.1.1.${addressOf(number)}`]: { ip: addressOf(number) },
    [`1.3.6.1.2.1.4.20.1.2.${addressOf(number)}`]: 1,
    [`1.3.6.1.2.1.4.20.1.3.${addressOf(number)}`]: { ip: "255.0.0.0" },
  };
  for (let port = 1; port <= ports; port += 1) {
    const interfaces = "1.3.6.1.2.1.2.2.1";
    served[`${interfaces}.1.${port}`] = port;
    served[`${interfaces}.2.${port}`] = `GigabitEthernet1/0/${port}`;
    served[`${interfaces}.3.${port}`] = 6;
    served[`${interfaces}.5.${port}`] = { tag: 0x42, value: 1_000_000_000 };
    served[`${interfaces}.6.${port}`] = macBytes(number, port);
    served[`${interfaces}.7.${port}`] = 1;
    served[`${interfaces}.8.${port}`] = port % 3 === 0 ? 2 : 1;
    const extensions = "1.3.6.1.2.1.31.1.1.1";
    served[`${extensions}.1.${port}`] = `Gi1/0/${port}`;
    served[`${extensions}.15.${port}`] = { tag: 0x42, value: 1_000 };
    served[`${extensions}.18.${port}`] = port === ports ? "uplink" : `desk ${number}-${port}`;
    served[`1.3.6.1.2.1.17.1.4.1.2.${port}`] = port;
    served[`1.3.6.1.2.1.17.7.1.4.5.1.1.${port}`] = { tag: 0x42, value: VLANS[port % VLANS.length] as number };
  }
  const allPorts = new Uint8Array(Math.ceil(ports / 8)).fill(255);
  for (const vlan of VLANS) {
    served[`1.3.6.1.2.1.17.7.1.4.3.1.1.${vlan}`] = vlan === 1 ? "default" : `vlan-${vlan}`;
    served[`1.3.6.1.2.1.17.7.1.4.2.1.3.0.${vlan}`] = { tag: 0x42, value: vlan };
    served[`1.3.6.1.2.1.17.7.1.4.2.1.4.0.${vlan}`] = allPorts;
    served[`1.3.6.1.2.1.17.7.1.4.2.1.5.0.${vlan}`] = new Uint8Array(allPorts.length);
  }
  for (let entry = 0; entry < FORWARDING_ENTRIES; entry += 1) {
    const mac = [2, 80, (number >> 8) & 255, number & 255, entry >> 8, entry & 255].join(".");
    const index = `${VLANS[entry % VLANS.length]}.${mac}`;
    served[`1.3.6.1.2.1.17.7.1.2.2.1.2.${index}`] = (entry % ports) + 1;
    served[`1.3.6.1.2.1.17.7.1.2.2.1.3.${index}`] = 3;
  }
  // A chain: the last port is connected to the first one of the next switch.
  const links = [
    { port: ports, far: number + 1, farPort: 1 },
    { port: 1, far: number - 1, farPort: ports },
  ];
  for (const { port, far, farPort } of links) {
    const remote = "1.0.8802.1.1.2.1.4.1.1";
    const index = `0.${port}.1`;
    served[`${remote}.4.${index}`] = 4;
    served[`${remote}.5.${index}`] = macBytes(far, 0);
    served[`${remote}.6.${index}`] = 5;
    served[`${remote}.7.${index}`] = `Gi1/0/${farPort}`;
    served[`${remote}.8.${index}`] = `GigabitEthernet1/0/${farPort}`;
    served[`${remote}.9.${index}`] = `switch-${far}`;
    served[`${remote}.10.${index}`] = "Benchmark Switch OS 4.2";
  }
  return viewOf(served);
}

function macBytes(number: number, port: number): Uint8Array {
  return new Uint8Array([0, 0x1b, 0x21, (number >> 8) & 255, number & 255, port]);
}

/** Starts this many in a separate process. Resolves once all of them answer. */
export async function startSwitches(count: number, ports: number, port: number): Promise<{ stop(): Promise<void> }> {
  const child = Bun.spawn([process.execPath, import.meta.path, ...[count, ports, port].map(String)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const ready = new TextDecoder().decode((await child.stdout.getReader().read()).value);
  if (!ready.startsWith("ready")) throw new Error("the switches did not start");
  return {
    stop: async () => {
      child.kill();
      await child.exited;
    },
  };
}

if (import.meta.main) {
  const [count = 0, ports = 48, port = 16_161] = process.argv.slice(2).map(Number);
  const agents = [];
  for (let number = 0; number < count; number += 1) {
    const view = switchView(number, ports);
    agents.push(await startAgent({ address: addressOf(number), port, communities: { public: view } }));
  }
  process.stdout.write(`ready ${agents.length}\n`);
}
