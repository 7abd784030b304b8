// Simulated switches for the discovery benchmark, each an SNMP agent on loopback, run in a separate process so that its
// CPU time is not counted as the appliance's. Prints `ready` when all of them respond. Usage: switches.ts COUNT PORTS
// PORT

import { startAgent } from "../../test/support/snmp/agent.ts";
import { type ServedValue, type SnmpView, viewOf } from "../../test/support/snmp/view.ts";

/** Forwarding entries per switch. */
export const FORWARDING_ENTRIES = 200;
const VLANS = [1, 10, 20, 30];

/** Switches per /24, which has 254 addresses. */
const SWITCHES_PER_BLOCK = 250;

/** Address of a switch, starting at 127.16.0.1: loopback needs no configuration. */
export function addressOf(number: number): string {
  return `127.16.${Math.floor(number / SWITCHES_PER_BLOCK)}.${(number % SWITCHES_PER_BLOCK) + 1}`;
}

/** Prefixes that contain `count` switches. */
export function blocksOf(count: number): string[] {
  return Array.from({ length: Math.ceil(count / SWITCHES_PER_BLOCK) }, (_, block) => `127.16.${block}.0/24`);
}

/** SNMP view of a switch with this many ports. */
function switchView(number: number, ports: number): SnmpView {
  const values: Record<string, ServedValue> = {
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
    values[`${interfaces}.1.${port}`] = port;
    values[`${interfaces}.2.${port}`] = `GigabitEthernet1/0/${port}`;
    values[`${interfaces}.3.${port}`] = 6;
    values[`${interfaces}.5.${port}`] = { tag: 0x42, value: 1_000_000_000 };
    values[`${interfaces}.6.${port}`] = macBytes(number, port);
    values[`${interfaces}.7.${port}`] = 1;
    values[`${interfaces}.8.${port}`] = port % 3 === 0 ? 2 : 1;
    const extensions = "1.3.6.1.2.1.31.1.1.1";
    values[`${extensions}.1.${port}`] = `Gi1/0/${port}`;
    values[`${extensions}.15.${port}`] = { tag: 0x42, value: 1_000 };
    values[`${extensions}.18.${port}`] = port === ports ? "uplink" : `desk ${number}-${port}`;
    values[`1.3.6.1.2.1.17.1.4.1.2.${port}`] = port;
    values[`1.3.6.1.2.1.17.7.1.4.5.1.1.${port}`] = { tag: 0x42, value: VLANS[port % VLANS.length] as number };
  }
  const allPorts = new Uint8Array(Math.ceil(ports / 8)).fill(255);
  for (const vlan of VLANS) {
    values[`1.3.6.1.2.1.17.7.1.4.3.1.1.${vlan}`] = vlan === 1 ? "default" : `vlan-${vlan}`;
    values[`1.3.6.1.2.1.17.7.1.4.2.1.3.0.${vlan}`] = { tag: 0x42, value: vlan };
    values[`1.3.6.1.2.1.17.7.1.4.2.1.4.0.${vlan}`] = allPorts;
    values[`1.3.6.1.2.1.17.7.1.4.2.1.5.0.${vlan}`] = new Uint8Array(allPorts.length);
  }
  for (let entry = 0; entry < FORWARDING_ENTRIES; entry += 1) {
    const mac = [2, 80, (number >> 8) & 255, number & 255, entry >> 8, entry & 255].join(".");
    const index = `${VLANS[entry % VLANS.length]}.${mac}`;
    values[`1.3.6.1.2.1.17.7.1.2.2.1.2.${index}`] = (entry % ports) + 1;
    values[`1.3.6.1.2.1.17.7.1.2.2.1.3.${index}`] = 3;
  }
  // The switches form a chain: the last port is connected to the first port of the next switch.
  const links = [
    { port: ports, far: number + 1, farPort: 1 },
    { port: 1, far: number - 1, farPort: ports },
  ];
  for (const { port, far, farPort } of links) {
    const remote = "1.0.8802.1.1.2.1.4.1.1";
    const index = `0.${port}.1`;
    values[`${remote}.4.${index}`] = 4;
    values[`${remote}.5.${index}`] = macBytes(far, 0);
    values[`${remote}.6.${index}`] = 5;
    values[`${remote}.7.${index}`] = `Gi1/0/${farPort}`;
    values[`${remote}.8.${index}`] = `GigabitEthernet1/0/${farPort}`;
    values[`${remote}.9.${index}`] = `switch-${far}`;
    values[`${remote}.10.${index}`] = "Benchmark Switch OS 4.2";
  }
  return viewOf(values);
}

function macBytes(number: number, port: number): Uint8Array {
  return new Uint8Array([0, 0x1b, 0x21, (number >> 8) & 255, number & 255, port]);
}

/** Starts `count` switches in a separate process. Resolves once all of them respond. */
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
