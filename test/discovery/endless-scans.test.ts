// Termination of scans of devices whose data can never be fully written because of manual values.

import { describe, expect, test } from "bun:test";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { Recorder } from "../../src/discovery/scans/recorder.ts";
import { inputOf } from "../../src/discovery/sighting-lines.ts";
import type { DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { first, owner } = appliance;
const scan = new ScanWriter(appliance);

/** More trunks with all VLANs than one command writes. */
const TRUNKS = 26;
const NUMBERS = Array.from({ length: 4_094 }, (_, index) => index + 1);
const VLANS = NUMBERS.map((number) => ({ number, name: null }));
/** Far above the number of commands that the scans need. */
const COMMANDS_MAX = 12;

function switchSighting(vlans: readonly number[]): DeviceSighting {
  const interfaces = Array.from({ length: TRUNKS }, (_, index) => ethernet(index + 1, { vlans: [...vlans] }));
  return deviceAt("10.0.0.2", { sys_name: "sw-1", serial_number: "SER123", interfaces, vlans: VLANS });
}

const entries = async (): Promise<JsonRecord[]> => (await owner.get("if-entries?order_by=if_index&limit=0")).data;

/** Records sightings in order, like a scan. @returns the outcome of each command */
async function recordAll(
  ...sightings: readonly DeviceSighting[]
): Promise<{ outcomes: CommandOutcome<Recorded>[]; lost: string[] }> {
  const outcomes: CommandOutcome<Recorded>[] = [];
  const lost: string[] = [];
  const recorder: Recorder = new Recorder({
    scanId: "0193aaaa-0000-7000-8000-000000000001",
    networkId: first.networkId,
    timers: new TestTimers(new TestClock()),
    recorded: () => {},
    lost: (label) => lost.push(label),
    run: async (command, bytes) => {
      const outcome = await scan.run(command, inputOf(new TextDecoder().decode(bytes)));
      outcomes.push(outcome);
      if (outcomes.length >= COMMANDS_MAX) void recorder.close();
      return outcome;
    },
  });
  for (const sighting of sightings) {
    await recorder.device({ ...sighting, digest: digestOf(sighting) });
    await recorder.flush();
  }
  return { outcomes, lost };
}

describe("a switch with more trunk VLANs than one command writes", () => {
  test("is written in one command if its trunks were deleted manually", async () => {
    await scan.devices(switchSighting([]));
    for (const { id } of await entries())
      expect((await owner.delete(`if-entries/${id}?cascade=true&ignore=true`)).status).toBeLessThan(300);
    const { outcomes, lost } = await recordAll(switchSighting(NUMBERS));
    expect(outcomes.map(({ result }) => result.unfinished)).toEqual([undefined]);
    expect(lost).toEqual([]);
    expect(await entries()).toEqual([]);
    // The whole report is stored.
    expect((await scan.devices(switchSighting(NUMBERS))).sequence).toBeNull();
  });

  test("is written in one command if its trunk VLANs were set manually, and the manual values are kept", async () => {
    await scan.devices(switchSighting([]));
    const [vlan] = (await owner.get("vlans?order_by=number&limit=1")).data as JsonRecord[];
    for (const { id, if_index, if_descr } of await entries()) {
      const body = { if_index, if_descr, vlan_ids: [vlan?.id] };
      expect((await owner.put(`if-entries/${id}`, body)).status).toBe(200);
    }
    const { outcomes, lost } = await recordAll(switchSighting(NUMBERS));
    expect(outcomes.map(({ result }) => result.unfinished)).toEqual([undefined]);
    expect(lost).toEqual([]);
    expect((await entries()).map(({ vlan_ids }) => vlan_ids)).toEqual(Array(TRUNKS).fill([vlan?.id]));
  });

  test("gets the VLANs of its remaining trunks if some were deleted manually", async () => {
    const half = TRUNKS / 2;
    await scan.devices(switchSighting([]));
    for (const { id } of (await entries()).slice(0, half))
      await owner.delete(`if-entries/${id}?cascade=true&ignore=true`);
    expect((await recordAll(switchSighting(NUMBERS))).outcomes).toHaveLength(1);
    expect((await entries()).map(({ vlan_ids }) => vlan_ids.length)).toEqual(Array(half).fill(NUMBERS.length));
  });
});

describe("two devices recorded as one host", () => {
  const shared = [
    { ip_address: "10.0.0.2", prefix_length: 24, if_index: 1 },
    { ip_address: "10.0.0.3", prefix_length: 24, if_index: 2 },
  ];
  const sightingAt = (address: string, vlans: readonly number[] | undefined): DeviceSighting => {
    const interfaces = Array.from({ length: TRUNKS }, (_, index) => {
      const { vlans: _none, ...trunk } = ethernet(index + 1, { if_alias: address });
      return vlans === undefined ? trunk : { ...trunk, vlans: [...vlans] };
    });
    const identity = { sys_name: "sw-1", serial_number: "SER123" };
    return deviceAt(address, { ...identity, interfaces, vlans: VLANS, addresses: shared });
  };
  const command = (sighting: DeviceSighting, more: Partial<DeviceSighting> = {}) =>
    ["discovery.devices", { sightings: [{ ...sighting, digest: digestOf(sighting), ...more }] }] as const;
  const aliases = async () => [...new Set((await entries()).map(({ if_alias }) => if_alias))];

  test("finish at once if the second contradicts the first on every VLAN", async () => {
    const [first, second] = [sightingAt("10.0.0.2", [1]), sightingAt("10.0.0.3", NUMBERS)];
    await scan.runAll([command(first), command(second)]);
    expect((await scan.runAll([command(first), command(second)])).result.unfinished).toBeUndefined();
    expect((await entries()).map(({ vlan_ids }) => vlan_ids.length)).toEqual(Array(TRUNKS).fill(1));
    expect(await aliases()).toEqual(["10.0.0.2"]);
  });

  test("keep the first's values while the second's own data is written in several commands", async () => {
    const [first, second] = [sightingAt("10.0.0.2", undefined), sightingAt("10.0.0.3", NUMBERS)];
    const { result } = await scan.runAll([command(first), command(second)]);
    expect(result.unfinished).toEqual([{ ip_address: "10.0.0.3", is_repeat: true }]);
    const continuation = command(second, { is_continued: true, ...result.unfinished?.[0] });
    expect((await scan.run(...continuation)).result.unfinished).toBeUndefined();
    expect((await entries()).map(({ vlan_ids }) => vlan_ids.length)).toEqual(Array(TRUNKS).fill(NUMBERS.length));
    expect(await aliases()).toEqual(["10.0.0.2"]);
  });
});
