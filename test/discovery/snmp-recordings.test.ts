// Real devices, replayed by the test agent: reads over the wire equal the recordings, which separate code extracts from
// the files.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ReadStep, Reads, SnmpValue } from "../../src/discovery/mib/reads.ts";
import { readSteps } from "../../src/discovery/snmp/read-steps.ts";
import type { SnmpSession } from "../../src/discovery/snmp/session.ts";
import { walk } from "../../src/discovery/snmp/walk.ts";
import { patientTimers } from "../support/injected/patient-timers.ts";
import { readRecording, readsOf, recordingNames, recordingText } from "../support/reconcile/recorded-reads.ts";
import { startAgent } from "../support/snmp/agent.ts";
import { closeAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, neverAborted, sessionTo } from "../support/snmp/sessions.ts";
import { type SnmpView, viewOfSnmprec } from "../support/snmp/view.ts";

const names = recordingNames();
const COUNTER_64 = 70;
const CHANGING = new Set(["h3c-e528-2", "ibm-x3550-m3", "netmanage"]);

const UP_TIME_AT_FIRST = [{ oid: "1.3.6.1.2.1.1.3.0", value: 0 }];

function hasValue(recording: ReturnType<typeof readRecording>, wanted: string): boolean {
  return recording.some(({ oid }) => oid === wanted);
}

const closeAfterTest = closeAfterEach();

describe.skipIf(names.length === 0).each(names)(
  "the recorded device %s (skipped without ../shared/snmp-recordings and snmp-recordings-lost)",
  (name) => {
    let view: SnmpView;
    let recording: ReturnType<typeof readRecording>;
    beforeAll(() => {
      view = viewOfSnmprec(recordingText(name));
      recording = readRecording(name);
    });
    afterAll(() => {
      // Large ones would stay in memory until the end of the run.
      view = viewOfSnmprec("");
      recording = [];
    });

    test("is walked from end to end", async () => {
      const recorded = new Map(recording.map(({ oid, value }) => [oid, comparable(value)]));
      const session = await sessionAt(view);
      const { columns } = await walk(session, { "1.0": "1.0", "1.2": "1.2", "1.3": "1.3" }, { signal: neverAborted });
      const read = new Map<string, string | number>();
      for (const [root, { isComplete, values }] of columns) {
        expect(isComplete).toBe(true);
        for (const [index, value] of values) read.set(`${root}.${index}`, comparable(value));
      }
      const differing = [...new Set([...recorded.keys(), ...read.keys()])].filter(
        (oid) => read.get(oid) !== recorded.get(oid),
      );
      // The recording defines variable values by formula; the agent serves the first one.
      expect(differing.filter((oid) => recorded.has(oid) || !CHANGING.has(name)).slice(0, 5)).toEqual([]);
    });

    test("is read as planned, in v2c and v1 alike", async () => {
      const expected = [...recording];
      // As above: the time since a start is such a value.
      if (CHANGING.has(name)) expected.push(...UP_TIME_AT_FIRST.filter(({ oid }) => !hasValue(recording, oid)));
      expect(
        comparableReads(
          await readSteps(await sessionAt(view), READING_PLAN, { signal: neverAborted, timers: patientTimers }),
        ),
      ).toEqual(comparableReads(readsOf(expected, READING_PLAN)));

      // v1 has no Counter64.
      const withoutCounter64 = expected.filter(({ oid }) => view.tagOf(oid) !== COUNTER_64);
      expect(
        comparableReads(
          await readSteps(await sessionAt(view, "SnmpV1"), READING_PLAN, {
            signal: neverAborted,
            timers: patientTimers,
          }),
        ),
      ).toEqual(comparableReads(readsOf(withoutCounter64, READING_PLAN)));
    });
  },
);

async function sessionAt(view: SnmpView, version: "SnmpV1" | "SnmpV2c" = "SnmpV2c"): Promise<SnmpSession> {
  const agent = closeAfterTest(await startAgent({ communities: { public: view } }));
  // Loopback loses nothing: the only timeouts are for VLAN contexts, which no recording has.
  return closeAfterTest(
    await sessionTo(agent, community("public", version), { timeouts: { timeoutMs: 2_000, retries: 0 } }),
  );
}

/** Comparable text, independent of step order. */
function comparableReads(reads: Reads): unknown {
  const columnsOf = (step: ReadStep): unknown =>
    Object.fromEntries(
      [...(reads.get(step.name)?.columns ?? [])].map(([name, { isComplete, problem, values }]) => [
        name,
        { isComplete, problem, values: [...values].map(([index, value]) => [index, comparable(value)]) },
      ]),
    );
  const scalarsOf = (step: ReadStep): unknown =>
    Object.fromEntries([...(reads.get(step.name)?.scalars ?? [])].map(([name, value]) => [name, comparable(value)]));
  return Object.fromEntries(
    READING_PLAN.filter((step) => reads.has(step.name)).map((step) => [
      step.name,
      { scalars: scalarsOf(step), problem: reads.get(step.name)?.scalarsProblem, columns: columnsOf(step) },
    ]),
  );
}

function comparable(value: SnmpValue): string | number {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString("hex")}` : value;
}
