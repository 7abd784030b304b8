// Agents that loop, lie, respond late, or return garbage or half a table, scanned by the executable: every scan
// terminates, reports the fault, and keeps the known state.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { ensureExecutable, type Running, Sandbox } from "../support/executable/executable.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { TEST_HANG_MS } from "../support/measure/limits.ts";
import { schedulingOf } from "../support/measure/processor-time.ts";
import { recordingText } from "../support/reconcile/recorded-reads.ts";
import { type AgentFaults, type AgentOptions, type SnmpAgent, startAgent } from "../support/snmp/agent.ts";
import { startAgents } from "../support/snmp/agents.ts";
import { viewOfSnmprec } from "../support/snmp/view.ts";

/**
 * Limit of one scan, not counting waits for a CPU. The wait for a silent agent is longer if it has responded before.
 */
const SCAN_MAX_MS = 40_000;

const IF_DESCR = "1.3.6.1.2.1.2.2.1.2";
const FDB_PORT = "1.3.6.1.2.1.17.7.1.2.2.1.2";
const LLDP_SYS_NAME = "1.0.8802.1.1.2.1.4.1.1.9";
const random = seededRandom(4);
const view = viewOfSnmprec(recordingText("switch-b"));

interface HostileAgent {
  readonly behavior: string;
  /** @param switchOff closes its port */
  readonly faults: (switchOff: () => void) => AgentFaults;
  /** The expected finding. */
  readonly finding: RegExp;
}

const HOSTILE: readonly HostileAgent[] = [
  {
    behavior: "that returns to the start of a table",
    faults: () => ({ following: { oid: `${IF_DESCR}.5`, next: `${IF_DESCR}.2` } }),
    finding: /^Partial: .*interfaces.*do not advance/,
  },
  {
    behavior: "that repeats a row endlessly",
    faults: () => ({ following: { oid: `${FDB_PORT}.1.0.27.33.152.2.1`, next: `${FDB_PORT}.1.0.27.33.152.2.1` } }),
    finding: /^Partial: .*forwarding: .*repeats .* endlessly/,
  },
  {
    behavior: "that returns half a table and then an error",
    faults: () => ({ errorAt: { oid: `${IF_DESCR}.6`, status: 5 } }),
    finding: /^Partial: .*interfaces.*returned an error/,
  },
  {
    behavior: "that fails only for its neighbors",
    faults: () => ({ errorAt: { oid: LLDP_SYS_NAME, status: 5 } }),
    finding: /^Partial: .*lldp.*returned an error/,
  },
  {
    behavior: "that is switched off mid-table",
    faults: (switchOff) => ({ alter: after(15, switchOff) }),
    finding: /^Partial: .*port is closed/,
  },
  {
    behavior: "that answers with other request ids",
    faults: () => ({ hasOtherRequestId: true }),
    finding: /^Unreached: .*no matching response/,
  },
  {
    behavior: "that answers after the timeout",
    faults: () => ({ delayMs: 6_000 }),
    finding: /^Unreached: .*no response/,
  },
  {
    behavior: "that answers garbage",
    faults: () => ({ alter: (response) => random.bytes(response.length) }),
    finding: /^Unreached: .*cannot be parsed|no response/,
  },
  {
    behavior: "that answers with half of each datagram",
    faults: () => ({ alter: (response) => response.subarray(0, response.length >> 1) }),
    finding: /^Unreached: .*cannot be parsed|no response/,
  },
];

/** Responds this many times, then no more. */
function after(responseCount: number, done: () => void): NonNullable<AgentFaults["alter"]> {
  let count = 0;
  return (response) => {
    count += 1;
    if (count <= responseCount) return response;
    done();
    return null;
  };
}

let sandbox: Sandbox;
let running: Running;
let discovery: DiscoveryClient;
const agents: SnmpAgent[] = [];

beforeAll(async () => {
  ensureExecutable();
  agents.push(...(await startAgents([...HOSTILE.keys()].map(agentAt))));
  sandbox = new Sandbox();
  const { key, organizationId } = await sandbox.setUp();
  running = await sandbox.serve(["--snmp-port", String(agents[0]?.port)]);
  discovery = new DiscoveryClient(running.withKey(key), organizationId);
});
afterAll(async () => {
  for (const agent of agents) agent.close();
  await sandbox.close();
});

function agentAt(index: number): AgentOptions & { readonly address: string } {
  return { address: `127.17.${index}.1`, communities: { public: view }, faults: {} };
}

describe("an agent", () => {
  test.concurrent.each(HOSTILE.map((hostile, index) => ({ ...hostile, index })))(
    "$behavior is reported, and removes nothing",
    async ({ behavior, index, faults, finding }) => {
      const agent = agents[index] as SnmpAgent;
      const { id } = await discovery.network(behavior);
      await discovery.credential(community("public"), [id]);
      const request = { network_id: id, kind: "snmp", targets: [agent.address] };
      await discovery.runScan(request);
      const before = await inventory(id);
      expect(before.if_entries).toHaveLength(8);

      Object.assign(
        agent.faults,
        faults(() => agent.close()),
      );
      const waitedBeforeMs = schedulingOf(running.pid, "first").waitedMs;
      const scan = await discovery.runScan(request);
      const waitedMs = schedulingOf(running.pid, "first").waitedMs - waitedBeforeMs;
      expect(Date.parse(scan.ended_at) - Date.parse(scan.started_at) - waitedMs).toBeLessThan(SCAN_MAX_MS);
      expect(
        (await discovery.findings(scan)).map(({ type, label, reason }) => `${type}: ${label}: ${reason}`),
      ).toContainEqual(expect.stringMatching(finding));
      expect(scan.outcome).toMatchObject({ transactions: null, records: {} });
      expect(await inventory(id)).toEqual(before);

      agent.close();
      agents[index] = await startAgent({ ...agentAt(index), port: agent.port });
      const unchanged = { transactions: null, records: {}, findings: {}, hosts: { devices: 1 } };
      expect((await discovery.runScan(request)).outcome).toMatchObject(unchanged);
    },
    TEST_HANG_MS,
  );
});

/** All records of a network, without observation times. */
async function inventory(networkId: string): Promise<JsonRecord> {
  const listOf = async (path: string) =>
    (await discovery.list(`/api/v1/${path}?network_id=${networkId}`)).map(
      ({ last_seen_at: _, last_discovery_id: __, ...record }) => record,
    );
  return {
    hosts: (await listOf("hosts")).length,
    if_entries: await listOf("if-entries"),
    ip_addresses: await listOf("ip-addresses"),
    vlans: await listOf("vlans"),
    subnets: await listOf("subnets"),
  };
}
