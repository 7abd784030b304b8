import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import {
  BATCH_MS,
  COMMANDS_AT_A_TIME,
  DEVICES_OF_BATCH,
  LENGTH_OF_BATCH,
  Recorder,
} from "../../src/discovery/scans/recorder.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

const NOTHING: Recorded = { records: {}, findings: [], hosts: [] };
const device = (ip_address: string, sys_name = ""): DeviceSighting => ({
  ip_address,
  mac_address: null,
  device: fakeDevice({ sys_name }),
  credential: null,
});
const seen = (ip_address: string): AddressSighting => ({ ip_address, mac_address: null, answered: ["Icmp"] });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Ran {
  readonly command: string;
  readonly input: { scan_id: string; network_id: string; sightings?: Array<{ ip_address: string }> };
  readonly finish: (outcome?: CommandOutcome<Recorded> | Error) => void;
}

/** A writer on manual control. */
function newRecorder(options: { isManual?: boolean; answer?: (ran: Omit<Ran, "finish">) => Error | null } = {}) {
  const timers = new TestTimers(new TestClock());
  const ran: Ran[] = [];
  const lost: string[] = [];
  const recorded: Array<number | null> = [];
  let most = 0;
  let underWay = 0;
  const recorder = new Recorder({
    scanId: "s",
    networkId: "n",
    timers,
    recorded: (_recorded, sequence) => recorded.push(sequence),
    lost: (label, reason) => lost.push(`${label}: ${reason}`),
    run: async (command, bytes) => {
      underWay += 1;
      most = Math.max(most, underWay);
      const asked = { command, input: JSON.parse(new TextDecoder().decode(new Uint8Array(bytes))) };
      const { promise, resolve, reject } = Promise.withResolvers<CommandOutcome<Recorded>>();
      ran.push({
        ...asked,
        finish: (outcome = { sequence: 1, result: NOTHING }) =>
          outcome instanceof Error ? reject(outcome) : resolve(outcome),
      });
      const refusal = options.answer?.(asked) ?? null;
      if (options.isManual !== true) ran.at(-1)?.finish(refusal ?? undefined);
      try {
        return await promise;
      } finally {
        underWay -= 1;
      }
    },
  });
  const told = () =>
    ran.map(
      ({ command, input }) =>
        `${command.replace("discovery.", "")} ${(input.sightings ?? []).map(({ ip_address }) => ip_address).join(" ")}`,
    );
  return { recorder, timers, ran, lost, recorded, told, most: () => most };
}

describe("the scan recorder", () => {
  test("writes a full batch at once, and the rest after a moment", async () => {
    const { recorder, timers, told } = newRecorder();
    for (let each = 0; each < DEVICES_OF_BATCH + 1; each += 1) await recorder.device(device(`10.0.0.${each}`));
    expect(told()).toEqual([
      `devices ${Array.from({ length: DEVICES_OF_BATCH }, (_, each) => `10.0.0.${each}`).join(" ")}`,
    ]);
    timers.pass(BATCH_MS);
    await recorder.flush();
    expect(told()[1]).toBe(`devices 10.0.0.${DEVICES_OF_BATCH}`);
  });

  test("names the scan and its network in each batch, and returns the outcome", async () => {
    const { recorder, ran, recorded } = newRecorder();
    await recorder.address(seen("10.0.0.1"));
    await recorder.flush();
    expect(ran[0]?.input).toEqual({
      scan_id: "s",
      network_id: "n",
      sightings: [{ ip_address: "10.0.0.1", mac_address: null, answered: ["Icmp"] }],
    } as never);
    expect(recorded).toEqual([1]);
  });

  test("resends an unfinished device, alone, until everything is written", async () => {
    const { recorder, ran } = newRecorder({ isManual: true });
    await recorder.device(device("10.0.0.1"));
    await recorder.device(device("10.0.0.2"));
    const flushed = recorder.flush();
    await turn();
    const unfinished = [{ ip_address: "10.0.0.2", is_repeat: false }];
    const records = { "if-entries": { created: 0, updated: 1, deleted: 0 } };
    ran[0]?.finish({ sequence: 1, result: { ...NOTHING, records, unfinished } });
    await turn();
    ran[1]?.finish({ sequence: 2, result: { ...NOTHING, records, unfinished } });
    await turn();
    ran[2]?.finish();
    await flushed;
    const sent = ran.map(({ input }) =>
      (input.sightings ?? []).map((each) => [each.ip_address, (each as DeviceSighting).is_continued ?? false]),
    );
    expect(sent).toEqual([
      [
        ["10.0.0.1", false],
        ["10.0.0.2", false],
      ],
      [["10.0.0.2", true]],
      [["10.0.0.2", true]],
    ]);
  });

  test("resends a device with its first resolved identity", async () => {
    for (const is_repeat of [false, true]) {
      const { recorder, ran } = newRecorder({ isManual: true });
      await recorder.device(device("10.0.0.2"));
      const flushed = recorder.flush();
      await turn();
      ran[0]?.finish({ sequence: 1, result: { ...NOTHING, unfinished: [{ ip_address: "10.0.0.2", is_repeat }] } });
      await turn();
      ran[1]?.finish();
      await flushed;
      expect(ran[1]?.input.sightings).toEqual([{ ...device("10.0.0.2"), is_continued: true, is_repeat }] as never);
    }
  });

  test("gives up on a device that two consecutive commands leave unfinished without progress", async () => {
    const { recorder, ran, lost } = newRecorder({ isManual: true });
    await recorder.device(device("10.0.0.2"));
    const flushed = recorder.flush();
    const unfinished = [{ ip_address: "10.0.0.2", is_repeat: false }];
    for (let each = 0; each < 5; each += 1) {
      await turn();
      ran[each]?.finish({ sequence: null, result: { ...NOTHING, unfinished } });
    }
    await flushed;
    expect(ran).toHaveLength(2);
    expect(lost).toEqual(["10.0.0.2: endless"]);
  });

  test("forms small batches of large devices", async () => {
    const { recorder, told } = newRecorder();
    await recorder.device(device("10.0.0.1", "x".repeat(LENGTH_OF_BATCH)));
    await recorder.device(device("10.0.0.2"));
    expect(told()).toEqual(["devices 10.0.0.1"]);
  });

  test("writes devices before addresses passed with them", async () => {
    const { recorder, told } = newRecorder();
    await recorder.address(seen("10.0.0.2"));
    await recorder.device(device("10.0.0.1"));
    await recorder.flush();
    expect(told()).toEqual(["devices 10.0.0.1", "addresses 10.0.0.2"]);
  });

  test("limits pending commands, keeps their order, and applies backpressure", async () => {
    const { recorder, ran, told, most } = newRecorder({ isManual: true });
    let accepted = 0;
    const handing = (async () => {
      for (let each = 0; each < 200; each += 1) {
        await recorder.device(device(`10.0.0.${each}`));
        accepted += 1;
      }
    })();
    await turn();
    expect(ran).toHaveLength(COMMANDS_AT_A_TIME);
    expect(accepted).toBeLessThan((COMMANDS_AT_A_TIME + 1) * DEVICES_OF_BATCH);
    while (accepted < 200) {
      for (const each of ran) each.finish();
      await turn();
    }
    await handing;
    const flushed = recorder.flush();
    while (told().join(" ").split("10.0").length <= 200) {
      for (const each of ran) each.finish();
      await turn();
    }
    for (const each of ran) each.finish();
    await flushed;
    expect(most()).toBe(COMMANDS_AT_A_TIME);
    expect(told().flatMap((each) => each.split(" ").slice(1))).toEqual(
      Array.from({ length: 200 }, (_, each) => `10.0.0.${each}`),
    );
  });

  test.each(["internal_error", "payload_too_large"] as const)(
    "writes the rest of a batch with a sighting failing by %s, and reports that one",
    async (code) => {
      const { recorder, told, lost } = newRecorder({
        answer: ({ input }) =>
          input.sightings?.some(({ ip_address }) => ip_address === "10.0.0.2") ? new DomainError(code, "broken") : null,
      });
      for (const each of [1, 2, 3]) await recorder.device(device(`10.0.0.${each}`));
      await recorder.flush();
      expect(lost).toEqual(["10.0.0.2: broken"]);
      expect(told()).toEqual([
        "devices 10.0.0.1 10.0.0.2 10.0.0.3",
        "devices 10.0.0.1",
        "devices 10.0.0.2",
        "devices 10.0.0.3",
      ]);
    },
  );

  test("retries a busy store", async () => {
    let tries = 0;
    const { recorder, timers, told } = newRecorder({
      answer: () => ((tries += 1) < 3 ? new DomainError("rate_limit_exceeded", "busy") : null),
    });
    await recorder.address(seen("10.0.0.1"));
    const flushed = recorder.flush();
    while (tries < 3) {
      await turn();
      timers.pass(1_000);
    }
    await flushed;
    expect(told()).toHaveLength(3);
  });

  test("fails as a whole on a global error", async () => {
    const { recorder } = newRecorder({ answer: () => new DomainError("storage_full", "The disk is full.") });
    await recorder.address(seen("10.0.0.1"));
    expect(recorder.flush()).rejects.toThrow("The disk is full.");
    await turn();
    expect(recorder.device(device("10.0.0.2"))).rejects.toThrow("The disk is full.");
  });

  test("waits for pending commands when closed, and writes nothing more", async () => {
    const { recorder, ran, told } = newRecorder({ isManual: true });
    const handed = Array.from({ length: 80 }, (_, each) => recorder.device(device(`10.0.0.${each}`)));
    await turn();
    let isClosed = false;
    const closing = recorder.close().then(() => {
      isClosed = true;
    });
    await turn();
    expect(isClosed).toBe(false);
    for (const each of ran) each.finish();
    await closing;
    await Promise.all(handed);
    expect(told()).toHaveLength(COMMANDS_AT_A_TIME);
  });
});
