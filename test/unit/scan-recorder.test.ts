import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import {
  BATCH_MS,
  CONCURRENT_COMMANDS,
  DEVICES_PER_BATCH,
  LENGTH_PER_BATCH,
  Recorder,
} from "../../src/discovery/scans/recorder.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

const EMPTY_RESULT: Recorded = { records: {}, findings: [], hosts: [] };
const device = (ip_address: string, sys_name = ""): DeviceSighting => {
  return { ip_address, mac_address: null, device: fakeDevice({ sys_name }), credential: null };
};
const sighting = (ip_address: string): AddressSighting => ({ ip_address, mac_address: null, answered: ["Icmp"] });
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const addressesUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `10.0.0.${index}`);

interface ExecutedCommand {
  readonly command: string;
  readonly input: { scan_id: string; network_id: string; sightings?: Array<{ ip_address: string }> };
  readonly finish: (outcome?: CommandOutcome<Recorded> | Error) => void;
}

/** A writer on manual control. */
function newRecorder(
  options: { isManual?: boolean; respond?: (executed: Omit<ExecutedCommand, "finish">) => Error | null } = {},
) {
  const timers = new TestTimers(new TestClock());
  const executed: ExecutedCommand[] = [];
  const lost: string[] = [];
  const recorded: Array<number | null> = [];
  let maxRunning = 0;
  let running = 0;
  const recorder = new Recorder({
    scanId: "s",
    networkId: "n",
    timers,
    recorded: (_recorded, sequence) => recorded.push(sequence),
    lost: (label, reason) => lost.push(`${label}: ${reason}`),
    run: async (command, bytes) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      const request = { command, input: JSON.parse(new TextDecoder().decode(new Uint8Array(bytes))) };
      const { promise, resolve, reject } = Promise.withResolvers<CommandOutcome<Recorded>>();
      executed.push({
        ...request,
        finish: (outcome = { sequence: 1, result: EMPTY_RESULT }) =>
          outcome instanceof Error ? reject(outcome) : resolve(outcome),
      });
      const refusal = options.respond?.(request) ?? null;
      if (options.isManual !== true) executed.at(-1)?.finish(refusal ?? undefined);
      try {
        return await promise;
      } finally {
        running -= 1;
      }
    },
  });
  const summaries = () =>
    executed.map(
      ({ command, input }) =>
        `${command.replace("discovery.", "")} ${(input.sightings ?? []).map(({ ip_address }) => ip_address).join(" ")}`,
    );
  return { recorder, timers, executed, lost, recorded, summaries, maxRunning: () => maxRunning };
}

describe("the scan recorder", () => {
  test("writes a full batch immediately, and the rest after a moment", async () => {
    const { recorder, timers, summaries } = newRecorder();
    for (const address of addressesUpTo(DEVICES_PER_BATCH + 1)) await recorder.device(device(address));
    expect(summaries()).toEqual([`devices ${addressesUpTo(DEVICES_PER_BATCH).join(" ")}`]);
    timers.pass(BATCH_MS);
    await recorder.flush();
    expect(summaries()[1]).toBe(`devices 10.0.0.${DEVICES_PER_BATCH}`);
  });

  test("names the scan and its network in each batch, and returns the outcome", async () => {
    const { recorder, executed, recorded } = newRecorder();
    await recorder.address(sighting("10.0.0.1"));
    await recorder.flush();
    const sightings = [{ ip_address: "10.0.0.1", mac_address: null, answered: ["Icmp"] }];
    expect(executed[0]?.input).toEqual({ scan_id: "s", network_id: "n", sightings });
    expect(recorded).toEqual([1]);
  });

  test("resends an unfinished device, alone, until everything is written", async () => {
    const { recorder, executed } = newRecorder({ isManual: true });
    await recorder.device(device("10.0.0.1"));
    await recorder.device(device("10.0.0.2"));
    const flushed = recorder.flush();
    await nextTurn();
    const unfinished = [{ ip_address: "10.0.0.2", is_repeat: false }];
    const records = { "if-entries": { created: 0, updated: 1, deleted: 0 } };
    executed[0]?.finish({ sequence: 1, result: { ...EMPTY_RESULT, records, unfinished } });
    await nextTurn();
    executed[1]?.finish({ sequence: 2, result: { ...EMPTY_RESULT, records, unfinished } });
    await nextTurn();
    executed[2]?.finish();
    await flushed;
    const sent = executed.map(({ input }) => input.sightings as unknown as readonly DeviceSighting[]);
    expect(sent.map((sightings) => sightings.map(({ ip_address }) => ip_address))).toEqual([
      ["10.0.0.1", "10.0.0.2"],
      ["10.0.0.2"],
      ["10.0.0.2"],
    ]);
    const isContinued = sent.flatMap((sightings) => sightings.map(({ is_continued = false }) => is_continued));
    expect(isContinued).toEqual([false, false, true, true]);
  });

  test("resends a device with its first resolved identity", async () => {
    for (const is_repeat of [false, true]) {
      const { recorder, executed } = newRecorder({ isManual: true });
      await recorder.device(device("10.0.0.2"));
      const flushed = recorder.flush();
      await nextTurn();
      const unfinished = [{ ip_address: "10.0.0.2", is_repeat }];
      executed[0]?.finish({ sequence: 1, result: { ...EMPTY_RESULT, unfinished } });
      await nextTurn();
      executed[1]?.finish();
      await flushed;
      expect(executed[1]?.input.sightings).toEqual([{ ...device("10.0.0.2"), is_continued: true, is_repeat }] as never);
    }
  });

  test("gives up on a device that two consecutive commands leave unfinished without progress", async () => {
    const { recorder, executed, lost } = newRecorder({ isManual: true });
    await recorder.device(device("10.0.0.2"));
    const flushed = recorder.flush();
    const unfinished = [{ ip_address: "10.0.0.2", is_repeat: false }];
    for (let round = 0; round < 5; round += 1) {
      await nextTurn();
      executed[round]?.finish({ sequence: null, result: { ...EMPTY_RESULT, unfinished } });
    }
    await flushed;
    expect(executed).toHaveLength(2);
    expect(lost).toEqual(["10.0.0.2: endless"]);
  });

  test("forms small batches of large devices", async () => {
    const { recorder, summaries } = newRecorder();
    await recorder.device(device("10.0.0.1", "x".repeat(LENGTH_PER_BATCH)));
    await recorder.device(device("10.0.0.2"));
    expect(summaries()).toEqual(["devices 10.0.0.1"]);
  });

  test("writes devices before addresses passed with them", async () => {
    const { recorder, summaries } = newRecorder();
    await recorder.address(sighting("10.0.0.2"));
    await recorder.device(device("10.0.0.1"));
    await recorder.flush();
    expect(summaries()).toEqual(["devices 10.0.0.1", "addresses 10.0.0.2"]);
  });

  test("limits pending commands, keeps their order, and applies backpressure", async () => {
    const { recorder, executed, summaries, maxRunning } = newRecorder({ isManual: true });
    let accepted = 0;
    const submission = (async () => {
      for (const address of addressesUpTo(200)) {
        await recorder.device(device(address));
        accepted += 1;
      }
    })();
    await nextTurn();
    expect(executed).toHaveLength(CONCURRENT_COMMANDS);
    expect(accepted).toBeLessThan((CONCURRENT_COMMANDS + 1) * DEVICES_PER_BATCH);
    while (accepted < 200) {
      for (const command of executed) command.finish();
      await nextTurn();
    }
    await submission;
    const flushed = recorder.flush();
    while (summaries().join(" ").split("10.0").length <= 200) {
      for (const command of executed) command.finish();
      await nextTurn();
    }
    for (const command of executed) command.finish();
    await flushed;
    expect(maxRunning()).toBe(CONCURRENT_COMMANDS);
    expect(summaries().flatMap((summary) => summary.split(" ").slice(1))).toEqual(addressesUpTo(200));
  });

  test.each(["internal_error", "payload_too_large"] as const)(
    "writes the rest of a batch if one sighting fails with %s, and reports that one",
    async (code) => {
      const { recorder, summaries, lost } = newRecorder({
        respond: ({ input }) =>
          input.sightings?.some(({ ip_address }) => ip_address === "10.0.0.2") ? new DomainError(code, "broken") : null,
      });
      for (const number of [1, 2, 3]) await recorder.device(device(`10.0.0.${number}`));
      await recorder.flush();
      expect(lost).toEqual(["10.0.0.2: broken"]);
      const single = ["devices 10.0.0.1", "devices 10.0.0.2", "devices 10.0.0.3"];
      expect(summaries()).toEqual(["devices 10.0.0.1 10.0.0.2 10.0.0.3", ...single]);
    },
  );

  test("retries a busy store", async () => {
    let tries = 0;
    const { recorder, timers, summaries } = newRecorder({
      respond: () => ((tries += 1) < 3 ? new DomainError("rate_limit_exceeded", "busy") : null),
    });
    await recorder.address(sighting("10.0.0.1"));
    const flushed = recorder.flush();
    while (tries < 3) {
      await nextTurn();
      timers.pass(1_000);
    }
    await flushed;
    expect(summaries()).toHaveLength(3);
  });

  test("fails completely on a global error", async () => {
    const { recorder } = newRecorder({ respond: () => new DomainError("storage_full", "The disk is full.") });
    await recorder.address(sighting("10.0.0.1"));
    expect(recorder.flush()).rejects.toThrow("The disk is full.");
    await nextTurn();
    expect(recorder.device(device("10.0.0.2"))).rejects.toThrow("The disk is full.");
  });

  test("waits for pending commands when closed, and writes nothing more", async () => {
    const { recorder, executed, summaries } = newRecorder({ isManual: true });
    const submissions = addressesUpTo(80).map((address) => recorder.device(device(address)));
    await nextTurn();
    let isClosed = false;
    const closing = recorder.close().then(() => {
      isClosed = true;
    });
    await nextTurn();
    expect(isClosed).toBe(false);
    for (const command of executed) command.finish();
    await closing;
    await Promise.all(submissions);
    expect(summaries()).toHaveLength(CONCURRENT_COMMANDS);
  });
});
