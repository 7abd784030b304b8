// Probes of the simulated site: its agents' rows as results of the read plan, decoded by the product. The only module
// here that imports the product's discovery.

import type { Device as Decoded } from "../../../src/discovery/device.ts";
import { deviceOf } from "../../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../../src/discovery/mib/plan.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../../../src/discovery/mib/reads.ts";
import type { Probes } from "../../../src/discovery/scans/probes.ts";
import type { SeededRandom } from "../../support/injected/seeded-random.ts";
import type { Agents, AgentTables } from "../render/agent.ts";
import { ASKED_PORTS, type Device, VIRTUAL_MAC } from "../site/machines.ts";
import type { Site } from "../site/site.ts";

interface WorldProbesOptions {
  readonly site: Site;
  readonly agents: Agents;
  /** Order of the responses. */
  readonly random: SeededRandom;
  /** Called once a device has been read, before anything changes. */
  readonly onRead: (device: Device) => void;
}

const UNREAD = "no answer within 5 s";

export class WorldProbes implements Probes {
  private readonly options: WorldProbesOptions;
  private readonly decoded = new Map<string, { readonly key: string; readonly device: Decoded }>();
  private readonly waiting: Array<() => void> = [];
  /** While the appliance is behind a router: its sweeps see no MAC addresses. */
  isRemote = false;

  constructor(options: WorldProbesOptions) {
    this.options = options;
  }

  async sweep(addresses: readonly string[], signal: AbortSignal, events: Parameters<Probes["sweep"]>[2]) {
    const { site, random } = this.options;
    const asked = new Set(addresses);
    const answers = [...site.sweepEntries()].filter(([ip]) => asked.has(ip));
    for (const [ip_address, mac] of random.shuffled(answers)) {
      if (signal.aborted) break;
      if (this.isRemote && mac.startsWith(VIRTUAL_MAC)) continue;
      const mac_address = this.isRemote ? null : mac;
      await events.answer({ ip_address, mac_address, answered: ["Icmp"], ...this.portsAt(ip_address) });
    }
    events.progress({ done: addresses.length, requests: addresses.length, errors: {} });
    return { methods: "simulated" };
  }

  async pollDevice(address: string, { credentials, served, maySend, signal }: Parameters<Probes["pollDevice"]>[1]) {
    const { site, onRead } = this.options;
    await this.turn();
    const [credential] = credentials;
    const device = site.agentAt(address);
    if (credential === undefined || device === undefined || signal.aborted || !maySend(credential)) {
      const failures = credentials.map(({ credential_id }) => ({
        credential_id,
        reason: "no_answer",
        clause: "no answer",
      }));
      return { ok: false as const, failures, requests: 1 };
    }
    const report = this.decode(device, served);
    onRead(device);
    Object.assign(device, { fault: null, isRenumbered: false });
    return {
      ok: true as const,
      device: report,
      credential: { credential_id: credential.credential_id, key_extension: null },
      requests: 1,
    };
  }

  /** The TCP ports of a server that responds to the sweep. */
  private portsAt(ip: string) {
    const device = this.options.site.agentAt(ip);
    if (device === undefined || device.openPorts.size === 0) return {};
    const open = [...device.openPorts].map((number) => ({ number, protocol: "Tcp" as const, service: null }));
    const refused = ASKED_PORTS.filter((number) => !device.openPorts.has(number));
    return { ports: { asked: ASKED_PORTS, open, refused } };
  }

  async reach() {
    return { answered: [], methods: "simulated", hasRoute: true };
  }

  async tryCredential() {
    return [];
  }

  macOf(): null {
    return null;
  }

  async addressesOf(): Promise<readonly string[]> {
    return [];
  }

  forgetSecrets(): void {}

  /** Resolves in random order among the devices being polled. */
  private turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      setImmediate(() => {
        const [next] = this.waiting.splice(this.options.random.integer(this.waiting.length), 1);
        next?.();
      });
    });
  }

  /** Decodes what the agent serves now; an unchanged agent is decoded once. */
  private decode(device: Device, served: Parameters<Probes["pollDevice"]>[1]["served"]): Decoded {
    const { agents } = this.options;
    const key = `${agents.revisionOf(device)} ${isUptimeRead ? this.options.site.now : ""} ${JSON.stringify(served)}`;
    const known = this.decoded.get(device.id);
    if (known?.key === key) return known.device;
    const report = deviceOf(readsOf(agents.tablesOf(device), device), served);
    this.decoded.set(device.id, { key, device: report });
    return report;
  }
}

/** Whether the plan reads sysUpTime, which differs at every read. */
const isUptimeRead = READING_PLAN.some(({ scalars = {} }: ReadStep) =>
  Object.values(scalars).includes("1.3.6.1.2.1.1.3.0"),
);

/** Runs the reading plan on an agent's rows. */
function readsOf(tables: AgentTables, { fault }: Device): Reads {
  const scalars = new Map<string, SnmpValue>();
  const columns = new Map<string, ReadonlyMap<string, SnmpValue>>();
  const cut = new Set<string>();
  for (const { table, rows } of tables) {
    for (const [oid, value] of rows.scalars) scalars.set(oid, value);
    for (const [oid, values] of rows.columns) {
      columns.set(oid, values);
      if (fault?.kind === "cut" && fault.table === table) cut.add(oid);
    }
  }
  const reads = new Map<string, StepRead>();
  for (const step of READING_PLAN as readonly ReadStep[]) {
    if (step.isNeeded?.(reads) === false) continue;
    const read = Object.entries(step.columns ?? {}).map(([name, oid]): [string, ColumnRead] => {
      const values = step.vlanContexts === undefined ? (columns.get(oid) ?? NO_VALUES) : NO_VALUES;
      return [name, cut.has(oid) ? half(values) : { isComplete: true, problem: null, values }];
    });
    const single = Object.entries(step.scalars ?? {}).flatMap(([name, oid]): [string, SnmpValue][] => {
      const value = scalars.get(oid);
      return value === undefined ? [] : [[name, value]];
    });
    reads.set(step.name, { scalars: new Map(single), scalarsProblem: null, columns: new Map(read) });
  }
  return reads;
}

const NO_VALUES: ReadonlyMap<string, SnmpValue> = new Map();

function half(values: ReadonlyMap<string, SnmpValue>): ColumnRead {
  return { isComplete: false, problem: UNREAD, values: new Map([...values].slice(0, values.size >> 1)) };
}
