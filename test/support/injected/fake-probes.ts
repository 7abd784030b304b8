// Simulated network: tests define live addresses, and SNMP devices by credential. Records the probes.

import type { Device, DeviceTable, TableReport } from "../../../src/discovery/device.ts";
import { DEVICE_TABLES } from "../../../src/discovery/device.ts";
import type { PollResult, Probes, ReachResult, Refusal } from "../../../src/discovery/scans/probes.ts";
import type { AddressSighting } from "../../../src/discovery/sightings.ts";
import type { SnmpCredential } from "../../../src/discovery/snmp/credential.ts";
import { endedStep, type TrialStep, untriedStep } from "../../../src/discovery/snmp/trial-steps.ts";
import { rowsOf } from "../reconcile/sightings.ts";

interface FakeDevice {
  readonly device: Device;
  /** The accepted community or user name. */
  readonly community: string;
}

/** Delays the reply until the test releases it. */
type Hold = (address: string, signal: AbortSignal) => Promise<void>;

export class FakeProbes implements Probes {
  readonly swept: string[] = [];
  readonly queries: Array<{
    readonly address: string;
    readonly credentials: readonly SnmpCredential[];
    readonly remembered: string | null;
  }> = [];
  /** Credentials sent, in order. */
  readonly sent: Array<{ readonly address: string; readonly credential: SnmpCredential }> = [];
  /** Objects that the agent served earlier, as passed with each device query. */
  readonly served: Array<Parameters<Probes["pollDevice"]>[1]["served"]> = [];
  readonly lookedUp: string[] = [];
  readonly alive: Map<string, Partial<AddressSighting>>;
  readonly devices = new Map<string, FakeDevice>();
  /** Reason for the refusal, by address; by default no response. */
  readonly refusals = new Map<string, string>();
  readonly names = new Map<string, readonly string[]>();
  /** Makes name lookups fail for lack of a resolver. */
  isWithoutResolver = false;
  readonly macs = new Map<string, string>();
  hold: Hold = async () => {};
  /** Number of calls that drop secrets. */
  forgetCount = 0;
  /** Maximum number of concurrent queries. */
  maxConcurrent = 0;
  private running = 0;

  /** @param alive addresses that respond to a sweep */
  constructor(...alive: string[]) {
    this.alive = new Map(alive.map((address) => [address, {}]));
  }

  /** Adds a device with an SNMP agent at an address. */
  addDevice(address: string, fields: Parameters<typeof fakeDevice>[0] = {}, community = "public"): void {
    this.devices.set(address, { community, device: fakeDevice(fields) });
  }

  async sweep(
    addresses: readonly string[],
    signal: AbortSignal,
    events: Parameters<Probes["sweep"]>[2],
  ): Promise<{ methods: string }> {
    let done = 0;
    for (const address of addresses) {
      if (signal.aborted) break;
      this.swept.push(address);
      await this.hold(address, signal);
      if (signal.aborted) break;
      const sighting = this.alive.get(address);
      if (sighting !== undefined)
        await events.answer({ ip_address: address, mac_address: null, answered: ["Icmp"], ...sighting });
      done += 1;
      events.progress({ done, requests: done, errors: {} });
    }
    return { methods: "fake" };
  }

  async pollDevice(
    address: string,
    { credentials, remembered, served, maySend, signal }: Parameters<Probes["pollDevice"]>[1],
  ): Promise<PollResult> {
    this.queries.push({ address, credentials, remembered: remembered?.credential_id ?? null });
    this.served.push(served);
    this.running += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.running);
    await this.hold(address, signal);
    this.running -= 1;
    const refusal = (credential: SnmpCredential, reason: string): Refusal => ({
      credential_id: credential.credential_id,
      reason,
      clause: reason.replaceAll("_", " "),
    });
    if (signal.aborted)
      return { ok: false, failures: credentials.slice(0, 1).map((first) => refusal(first, "cancelled")), requests: 0 };
    const found = this.devices.get(address);
    const failures: Refusal[] = [];
    for (const credential of credentials) {
      if (!maySend(credential)) {
        failures.push(refusal(credential, "cancelled"));
        continue;
      }
      this.sent.push({ address, credential });
      const secret = credential.version === "SnmpV3" ? credential.security_name : credential.community;
      if (found?.community === secret)
        return {
          ok: true,
          device: found.device,
          credential: { credential_id: credential.credential_id, key_extension: null },
          requests: failures.length + 10,
        };
      failures.push(refusal(credential, this.refusals.get(address) ?? "no_answer"));
    }
    return { ok: false, failures, requests: failures.length };
  }

  async reach(address: string, signal: AbortSignal): Promise<ReachResult> {
    await this.hold(address, signal);
    return { answered: this.alive.get(address)?.answered ?? [], methods: "fake", hasRoute: true };
  }

  async tryCredential(
    address: string,
    credential: SnmpCredential,
    { onStep, ...options }: Parameters<Probes["tryCredential"]>[2],
  ): Promise<readonly TrialStep[]> {
    const steps = await this.steps(address, credential, options);
    steps.forEach(onStep);
    return steps;
  }

  private async steps(
    address: string,
    credential: SnmpCredential,
    { maySend, signal }: Omit<Parameters<Probes["tryCredential"]>[2], "onStep">,
  ): Promise<readonly TrialStep[]> {
    await this.hold(address, signal);
    const startedMs = performance.now();
    if (signal.aborted || !maySend())
      return [endedStep("agent", startedMs, { outcome: "Failed", reason: "cancelled", sentence: "It was cancelled." })];
    this.sent.push({ address, credential });
    const found = this.devices.get(address);
    const secret = credential.version === "SnmpV3" ? credential.security_name : credential.community;
    const agent = endedStep("agent", startedMs, { outcome: "Passed", sentence: "An SNMP agent responds." });
    if (found?.community !== secret)
      return [
        agent,
        endedStep("authentication", startedMs, { outcome: "Failed", reason: "no_answer", sentence: "It is silent." }),
        untriedStep("system", "Not asked."),
      ];
    return [
      agent,
      endedStep("authentication", startedMs, { outcome: "Passed", sentence: "It accepts it." }),
      endedStep("system", startedMs, {
        outcome: "Passed",
        sentence: "The device identifies itself.",
        facts: [{ name: "sys_name", value: found.device.sys_name ?? "" }],
      }),
    ];
  }

  macOf(address: string): string | null {
    return this.macs.get(address) ?? null;
  }

  async addressesOf(name: string): Promise<readonly string[] | null> {
    this.lookedUp.push(name);
    return this.isWithoutResolver ? null : (this.names.get(name) ?? []);
  }

  forgetSecrets(): void {
    this.forgetCount += 1;
  }
}

/** Full report of a device; by default every table is read completely. */
export function fakeDevice(
  fields: Partial<Device> & { readonly partial?: Partial<Record<DeviceTable, string>> } = {},
): Device {
  const { partial = {}, ...device } = fields;
  const tables = Object.fromEntries(
    DEVICE_TABLES.map((table): [string, TableReport] => [
      table,
      partial[table] === undefined
        ? { state: "complete", problem: null }
        : { state: "partial", problem: partial[table] },
    ]),
  ) as Record<DeviceTable, TableReport>;
  return { tables, rows: rowsOf({}), ...device };
}
