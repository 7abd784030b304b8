// Devices to scan: SNMP agents on loopback whose interfaces can be replaced.

import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { type SnmpAgent, startAgent } from "../../../test/support/snmp/agent.ts";
import { startAgents } from "../../../test/support/snmp/agents.ts";
import { type ServedValue, type SnmpView, viewOf } from "../../../test/support/snmp/view.ts";

export const COMMUNITY = "proof";
const ADDRESSES = ["127.16.31.1", "127.16.31.2", "127.16.31.3"];
export const DEVICE_TARGETS = ["127.16.31.0/29"];
const INTERFACES = 24;

export class Devices {
  private agents: readonly SnmpAgent[];
  readonly port: number;

  private constructor(agents: readonly SnmpAgent[]) {
    this.agents = agents;
    this.port = agents[0]?.port ?? 0;
  }

  static async start(): Promise<Devices> {
    return new Devices(
      await startAgents(
        ADDRESSES.map((address, index) => ({ address, communities: { [COMMUNITY]: deviceView(index, 0) } })),
      ),
    );
  }

  /** Replaces the interfaces of all devices. */
  async change(seed: number): Promise<void> {
    this.close();
    this.agents = await Promise.all(
      ADDRESSES.map((address, index) =>
        startAgent({ address, port: this.port, communities: { [COMMUNITY]: deviceView(index, seed) } }),
      ),
    );
  }

  close(): void {
    for (const agent of this.agents) agent.close();
    this.agents = [];
  }
}

function deviceView(index: number, seed: number): SnmpView {
  const random = seededRandom(seed * 31 + index);
  const mac = (port: number) => Uint8Array.from([2, 0, 0x5e, index, 0, port]);
  const values = new Map<string, ServedValue>([
    ["1.3.6.1.2.1.1.1.0", `device ${index}, state ${seed}`],
    ["1.3.6.1.2.1.1.2.0", { oid: "1.3.6.1.4.1.8072.3.2.10" }],
    ["1.3.6.1.2.1.1.5.0", `device-${index}`],
    ["1.3.6.1.2.1.1.6.0", `rack ${random.integer(40)}`],
    ["1.3.6.1.2.1.2.1.0", INTERFACES],
  ]);
  for (let port = 1; port <= INTERFACES; port += 1) {
    // Some interfaces are temporarily missing.
    if (seed !== 0 && random.integer(12) === 0) continue;
    const row = (column: string, value: ServedValue) => values.set(`${column}.${port}`, value);
    row("1.3.6.1.2.1.2.2.1.1", port);
    row("1.3.6.1.2.1.2.2.1.2", `port ${port}`);
    row("1.3.6.1.2.1.2.2.1.3", 6);
    row("1.3.6.1.2.1.2.2.1.6", mac(port));
    row("1.3.6.1.2.1.2.2.1.7", 1);
    row("1.3.6.1.2.1.2.2.1.8", 1 + random.integer(2));
    row("1.3.6.1.2.1.31.1.1.1.1", `p${port}`);
    row("1.3.6.1.2.1.31.1.1.1.18", `patched to ${random.integer(1_000)}`);
  }
  return viewOf(values);
}
