// Device with manual values that can never be fully written: the scan still terminates.

import { describe, expect, test } from "bun:test";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { Recorder } from "../../src/discovery/scans/recorder.ts";
import type { DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { first, owner } = appliance;
const scan = new ScanWriter(appliance);

/** More trunks with all VLANs than one command writes. */
const TRUNKS = 26;
const NUMBERS = Array.from({ length: 4_094 }, (_, each) => each + 1);
const VLANS = NUMBERS.map((number) => ({ number, name: null }));
/** Far above the number of commands here. */
const COMMANDS_MAX = 12;

function aSwitch(vlans: readonly number[]): DeviceSighting {
  const interfaces = Array.from({ length: TRUNKS }, (_, each) => ethernet(each + 1, { vlans: [...vlans] }));
  return deviceAt("10.0.0.2", { sys_name: "sw-1", serial_number: "SER123", interfaces, vlans: VLANS });
}

const entries = async (): Promise<Wire[]> => (await owner.get("if-entries?order_by=if_index&limit=0")).data;

/** Passes sightings on in order, as a scan does. @returns the result of each command */
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
      const { sightings: told } = JSON.parse(new TextDecoder().decode(bytes));
      const outcome = await scan.run(command, { sightings: told });
      outcomes.push(outcome);
      if (outcomes.length >= COMMANDS_MAX) void recorder.close();
      return outcome;
    },
  });
  for (const each of sightings) {
    await recorder.device({ ...each, digest: digestOf(each) });
    await recorder.flush();
  }
  return { outcomes, lost };
}

describe("a switch with more trunk VLANs than one command writes", () => {
  test("is written in one command if its trunks were deleted manually", async () => {
    await scan.devices(aSwitch([]));
    for (const { id } of await entries())
      expect((await owner.delete(`if-entries/${id}?cascade=true`)).status).toBeLessThan(300);
    const { outcomes, lost } = await recordAll(aSwitch(NUMBERS));
    expect(outcomes.map(({ result }) => result.unfinished)).toEqual([undefined]);
    expect(lost).toEqual([]);
    expect(await entries()).toEqual([]);
    // All of it is remembered.
    expect((await scan.devices(aSwitch(NUMBERS))).sequence).toBeNull();
  });

  test("is written in one command if its trunk VLANs were set manually, and the manual values stay", async () => {
    await scan.devices(aSwitch([]));
    const [vlan] = (await owner.get("vlans?order_by=number&limit=1")).data as Wire[];
    for (const { id, if_index, if_descr } of await entries()) {
      const body = { if_index, if_descr, vlan_ids: [vlan?.id] };
      expect((await owner.put(`if-entries/${id}`, body)).status).toBe(200);
    }
    const { outcomes, lost } = await recordAll(aSwitch(NUMBERS));
    expect(outcomes.map(({ result }) => result.unfinished)).toEqual([undefined]);
    expect(lost).toEqual([]);
    expect((await entries()).map((each) => each.vlan_ids)).toEqual(Array(TRUNKS).fill([vlan?.id]));
  });

  test("gets the VLANs of its remaining trunks if some were deleted manually", async () => {
    const half = TRUNKS / 2;
    await scan.devices(aSwitch([]));
    for (const { id } of (await entries()).slice(0, half)) await owner.delete(`if-entries/${id}?cascade=true`);
    expect((await recordAll(aSwitch(NUMBERS))).outcomes).toHaveLength(1);
    expect((await entries()).map((each) => each.vlan_ids.length)).toEqual(Array(half).fill(NUMBERS.length));
  });
});

describe("of two devices recorded as one host,", () => {
  const shared = [
    { ip_address: "10.0.0.2", prefix_length: 24, if_index: 1 },
    { ip_address: "10.0.0.3", prefix_length: 24, if_index: 2 },
  ];
  const at = (address: string, vlans: readonly number[] | undefined): DeviceSighting => {
    const interfaces = Array.from({ length: TRUNKS }, (_, each) => {
      const { vlans: _none, ...trunk } = ethernet(each + 1, { if_alias: address });
      return vlans === undefined ? trunk : { ...trunk, vlans: [...vlans] };
    });
    return deviceAt(address, {
      sys_name: "sw-1",
      serial_number: "SER123",
      interfaces,
      vlans: VLANS,
      addresses: shared,
    });
  };
  const command = (told: DeviceSighting, more: Partial<DeviceSighting> = {}) =>
    ["discovery.devices", { sightings: [{ ...told, digest: digestOf(told), ...more }] }] as const;
  const aliases = async () => [...new Set((await entries()).map((each) => each.if_alias))];

  test("the second, contradicting the first on every VLAN, is finished at once", async () => {
    const [first, second] = [at("10.0.0.2", [1]), at("10.0.0.3", NUMBERS)];
    await scan.whole([command(first), command(second)]);
    expect((await scan.whole([command(first), command(second)])).result.unfinished).toBeUndefined();
    expect((await entries()).map((each) => each.vlan_ids.length)).toEqual(Array(TRUNKS).fill(1));
    expect(await aliases()).toEqual(["10.0.0.2"]);
  });

  test("the second adds its own data in several commands, and the first's values stay", async () => {
    const [first, second] = [at("10.0.0.2", undefined), at("10.0.0.3", NUMBERS)];
    const { result } = await scan.whole([command(first), command(second)]);
    expect(result.unfinished).toEqual([{ ip_address: "10.0.0.3", is_repeat: true }]);
    const goesOn = command(second, { is_continued: true, ...result.unfinished?.[0] });
    expect((await scan.run(...goesOn)).result.unfinished).toBeUndefined();
    expect((await entries()).map((each) => each.vlan_ids.length)).toEqual(Array(TRUNKS).fill(NUMBERS.length));
    expect(await aliases()).toEqual(["10.0.0.2"]);
  });
});
