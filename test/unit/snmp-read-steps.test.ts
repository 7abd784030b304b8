// Execution of a read plan: effect of one step's failure on the others, VLAN contexts, deadlines, and disappearing
// agents.

import { describe, expect, test } from "bun:test";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ReadStep, Reads, StepRead } from "../../src/discovery/mib/reads.ts";
import { failure } from "../../src/discovery/snmp/failure.ts";
import {
  DEVICE_DEADLINE_MS,
  MAX_SILENT_STEPS,
  readSteps,
  STEP_DEADLINE_MS,
} from "../../src/discovery/snmp/read-steps.ts";
import type { AgentReply, SnmpRequester, Varbind } from "../../src/discovery/snmp/requests.ts";
import { errorOf, fakeRequester, type Served, type ViewOptions } from "../support/injected/fake-requester.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { neverAborted } from "../support/snmp/sessions.ts";

const [NAME, CONTACT, UP_TIME] = ["1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.4.0", "1.3.6.1.2.1.1.3.0"];
const [DESCR, FDB, LLDP] = ["1.3.6.1.2.1.2.2.1.2", "1.3.6.1.2.1.17.4.3.1.2", "1.0.8802.1.1.2.1.4.1.1.9"];
const served: Record<string, Served> = {
  [NAME]: [4, Buffer.from("switch")],
  [UP_TIME]: [67, 100],
  [`${DESCR}.1`]: [4, Buffer.from("one")],
  [`${DESCR}.2`]: [4, Buffer.from("two")],
  [`${LLDP}.0.1.1`]: [4, Buffer.from("far")],
};
const SYSTEM: ReadStep = { name: "system", table: "system", scalars: { name: NAME, contact: CONTACT } };
const INTERFACES: ReadStep = { name: "interfaces", table: "interfaces", columns: { descr: DESCR } };
const NEIGHBORS: ReadStep = { name: "lldp", table: "lldp", scalars: { up: UP_TIME }, columns: { name: LLDP } };
const PLAN = [SYSTEM, INTERFACES, NEIGHBORS];

function read(
  requester: SnmpRequester,
  plan: readonly ReadStep[],
  signal = neverAborted,
  timers = new ManualTimers(),
): Promise<Reads> {
  return readSteps(requester, plan, { signal, timers });
}

/** Short form of reads: values of scalars, row counts of columns, and errors. */
function summary(reads: Reads): Record<string, unknown> {
  const describeStep = ({ scalars, scalarsProblem, columns }: StepRead): string => {
    const lists = [...columns].map(
      ([name, { values, problem }]) => `${name} ${values.size}${problem === null ? "" : `: ${problem}`}`,
    );
    return [...scalars.keys(), ...(scalarsProblem === null ? [] : [`! ${scalarsProblem}`]), ...lists].join(", ");
  };
  return Object.fromEntries([...reads].map(([name, step]) => [name, describeStep(step)]));
}

const SILENT = failure("no_answer").clause;
const CLOSED = failure("port_closed").clause;
const COMPLETE = { system: "name", interfaces: "descr 2", lldp: "up, name 1" };

describe("a read plan", () => {
  test.each([
    ["v2c", true],
    ["v1", false],
  ] as const)("is executed step by step, in %s", async (_version, hasBulk) => {
    const before: ViewOptions["before"] = (request) =>
      !hasBulk && request.kind === "Get" && request.oids.includes(CONTACT)
        ? errorOf(2, request.oids.indexOf(CONTACT) + 1)
        : undefined;
    expect(summary(await read(fakeRequester(served, { hasBulk, before }), PLAN))).toEqual(COMPLETE);
  });

  test("skips steps made unnecessary by read data", async () => {
    const executedSteps: string[] = [];
    const plan = [
      SYSTEM,
      { ...INTERFACES, isNeeded: (reads: Reads) => reads.get("system")?.scalars.has("contact") === true },
      { ...NEIGHBORS, isNeeded: (reads: Reads) => reads.has("system") && !reads.has("interfaces") },
    ];
    const onStep = (step: ReadStep): void => void executedSteps.push(step.name);
    const options = { signal: neverAborted, timers: new ManualTimers(), onStep };
    const reads = await readSteps(fakeRequester(served), plan, options);
    expect([...reads.keys()]).toEqual(["system", "lldp"]);
    expect(executedSteps).toEqual(["system", "lldp"]);
  });

  test("leaves no timer running", async () => {
    const timers = new ManualTimers();
    await read(fakeRequester(served), PLAN, neverAborted, timers);
    expect(timers.pendingCount).toBe(0);
    expect(timers.waits).toEqual([DEVICE_DEADLINE_MS, STEP_DEADLINE_MS, STEP_DEADLINE_MS, STEP_DEADLINE_MS]);
  });
});

describe("scalars", () => {
  test("are requested together, or else individually, and a failing one does not affect the others", async () => {
    const oids = Array.from({ length: 9 }, (_, index) => `1.3.6.1.2.1.1.${index}.0`);
    const scalars = Object.fromEntries(oids.map((oid, index) => [`s${index}`, oid]));
    const values = Object.fromEntries(oids.map((oid): [string, Served] => [oid, [2, 1]]));
    for (const [status, hasIndex] of [
      [5, true],
      [5, false],
      [2, true],
      [2, false],
      [1, false],
      [16, true],
    ] as const) {
      const requester = fakeRequester(values, {
        before: ({ oids }) =>
          (status === 1 ? oids.length > 2 : oids.includes(CONTACT))
            ? errorOf(status, hasIndex ? oids.indexOf(CONTACT) + 1 : 0)
            : undefined,
      });
      const step = (await read(requester, [{ name: "all", table: "system", scalars }])).get("all");
      expect(step?.scalars.size).toBe(status === 1 ? 9 : 8);
      expect(step?.scalarsProblem === null).toBe(status < 5);
    }
  });

  test("are rejected if the response has other or too few values, or is truncated", async () => {
    const scalars = { name: NAME, up: UP_TIME };
    const reply = (varbinds: readonly Varbind[]): AgentReply => ({ ...errorOf(0, 0), varbinds });
    const cases: NonNullable<ViewOptions["before"]>[] = [
      ({ oids }) => (oids.length === 2 ? reply([{ oid: NAME, type: 4, value: Buffer.from("x") }]) : undefined),
      ({ oids }) =>
        oids.includes(NAME)
          ? reply(oids.map((_oid, index) => ({ oid: `1.3.6.1.2.1.1.9.${index}`, type: 2, value: 1 })))
          : undefined,
      ({ oids }) => (oids.includes(NAME) ? reply(oids.map((oid) => ({ oid, type: 4, value: null }))) : undefined),
      ({ oids }) => (oids.includes(NAME) ? failure("garbage") : undefined),
    ];
    const plan: ReadStep[] = [{ name: "all", table: "system", scalars }];
    const steps = await Promise.all(
      cases.map(async (before) => (await read(fakeRequester(served, { before }), plan)).get("all")),
    );
    expect(steps.map((step) => [...(step?.scalars.keys() ?? [])])).toEqual([["up", "name"], ["up"], ["up"], ["up"]]);
    const unparsed = "the device's responses cannot be parsed";
    const mismatch = "the device's response does not match the request";
    expect(steps.map((step) => step?.scalarsProblem)).toEqual([null, mismatch, unparsed, unparsed]);
  });
});

describe("a failing step", () => {
  test("does not affect other steps", async () => {
    for (const reason of ["no_answer", "garbage"] as const) {
      const before: ViewOptions["before"] = (request) =>
        request.oids[0]?.startsWith(DESCR) === true ? failure(reason) : undefined;
      const interfaces = `descr 0: ${failure(reason).clause}`;
      expect(summary(await read(fakeRequester(served, { before }), PLAN))).toEqual({ ...COMPLETE, interfaces });
    }
  });

  test("skips its columns if its scalars already timed out", async () => {
    const requester = fakeRequester(served, { before: () => failure("no_answer") });
    expect(summary(await read(requester, [NEIGHBORS]))).toEqual({ lldp: `! ${SILENT}, name 0: ${SILENT}` });
    expect(requester.requests.every((request) => request.kind === "Get")).toBe(true);
  });

  test("is cut off if it takes too long, and the next has its full time", async () => {
    const timers = new ManualTimers();
    const before: ViewOptions["before"] = (request) => {
      if (request.oids[0]?.startsWith(DESCR) === true) timers.advance(STEP_DEADLINE_MS + 1);
      return undefined;
    };
    const reads = await read(fakeRequester(served, { before, maxVarbinds: 1 }), PLAN, neverAborted, timers);
    expect(summary(reads)).toEqual({ ...COMPLETE, interfaces: "descr 1: not finished within 120 s" });
  });
});

describe("an agent that ignores part of a read", () => {
  const BRIDGE = "1.3.6.1.2.1.17";
  /** An agent that is silent below some OIDs, and the number of requests there with the full and the brief timeout. */
  function silentBelow(...prefixes: string[]) {
    const waits = { long: 0, brief: 0 };
    const before: ViewOptions["before"] = ({ oids }, _count, isBrief) => {
      if (!prefixes.some((prefix) => oids.some((oid) => oid === prefix || oid.startsWith(`${prefix}.`))))
        return undefined;
      waits[isBrief ? "brief" : "long"] += 1;
      return failure("no_answer");
    };
    return { waits, before };
  }

  test("gets one long timeout per MIB, regardless of its number of tables", async () => {
    const { waits, before } = silentBelow(BRIDGE);
    const inBridge = READING_PLAN.filter(
      ({ columns = {} }) => Object.values(columns)[0]?.startsWith(`${BRIDGE}.`) === true,
    );
    expect(inBridge.length).toBeGreaterThan(4);
    const reads = await read(fakeRequester(served, { before }), READING_PLAN);
    expect(waits.long).toBeLessThanOrEqual(2);
    expect(waits.brief).toBeGreaterThan(0);
    expect(reads.get("if_table")?.columns.get("ifDescr")).toMatchObject({ isComplete: true });
    for (const { name, vlanContexts, isNeeded } of inBridge) {
      if (vlanContexts !== undefined || (isNeeded !== undefined && !reads.has(name))) continue;
      for (const column of reads.get(name)?.columns.values() ?? [])
        expect(column).toMatchObject({ isComplete: false, problem: SILENT });
    }
  });

  test("gets normal timeouts for the rest of a MIB to which it has partly responded", async () => {
    const { waits, before } = silentBelow(FDB);
    const port = "1.3.6.1.2.1.17.1.4.1.2";
    const plan: ReadStep[] = ["one", "two"].map((name) => ({ name, table: "forwarding", columns: { port, fdb: FDB } }));
    await read(fakeRequester({ ...served, [`${port}.1`]: [2, 1] }, { before }), plan);
    expect(waits.brief).toBe(0);
  });

  test("gets no more long timeouts after three silent parts", async () => {
    const mibs = [4, 5, 6, 7, 8, 9].map((group) => `1.3.6.1.2.1.${group}`);
    const { waits, before } = silentBelow(...mibs);
    const plan: ReadStep[] = mibs.map((mib) => ({ name: mib, table: "arp", columns: { value: `${mib}.1.1` } }));
    const reads = await read(fakeRequester(served, { before }), [...plan, INTERFACES]);
    expect(waits).toEqual({ long: MAX_SILENT_STEPS * 2, brief: 3 });
    expect(summary(reads).interfaces).toBe("descr 2");
  });
});

describe("an agent that disappears", () => {
  test("gets no more requests after silence to a step and a simple request", async () => {
    const requester = fakeRequester(served, {
      before: (_request, count) => (count > 1 ? failure("no_answer") : undefined),
    });
    const reads = await read(requester, [...PLAN, { ...INTERFACES, name: "again" }]);
    const interfaces = `descr 0: ${SILENT}`;
    const lldp = `! ${SILENT}, name 0: ${SILENT}`;
    expect(summary(reads)).toEqual({ system: "name", interfaces, lldp, again: interfaces });
    // The system, the interfaces twice, and the simple request.
    expect(requester.requests).toHaveLength(4);
  });

  test("gets no more requests once its port is closed", async () => {
    const requester = fakeRequester(served, {
      before: (_request, count) => (count > 1 ? failure("port_closed") : undefined),
    });
    const lldp = `! ${CLOSED}, name 0: ${CLOSED}`;
    expect(summary(await read(requester, PLAN))).toEqual({ system: "name", interfaces: `descr 0: ${CLOSED}`, lldp });
    expect(requester.requests).toHaveLength(2);
  });

  test("gets no more requests after the device's deadline, or a cancellation", async () => {
    const timers = new ManualTimers();
    const late = fakeRequester(served, { before: () => void timers.advance(DEVICE_DEADLINE_MS / 2 + 1) });
    const reads = await read(late, PLAN, neverAborted, timers);
    expect(reads.get("lldp")).toMatchObject({ scalarsProblem: "not finished within 600 s" });

    const stop = new AbortController();
    const requester = fakeRequester(served, { before: () => stop.abort() as undefined });
    expect(summary(await read(requester, PLAN, stop.signal))).toEqual({
      system: "name",
      interfaces: "descr 0: the scan was cancelled",
      lldp: "! the scan was cancelled, name 0: the scan was cancelled",
    });
    expect(requester.requests).toHaveLength(1);
  });
});

describe("VLAN contexts", () => {
  const forwarding = (vlans: readonly number[]): ReadStep => ({
    name: "fdb",
    table: "forwarding",
    columns: { port: FDB },
    vlanContexts: () => vlans,
  });
  const inVlan = (mac: string, port: number): SnmpRequester => fakeRequester({ [`${FDB}.${mac}`]: [2, port] });
  const silent = fakeRequester({}, { before: () => failure("no_answer") });

  test("are read one after another, each value under its VLAN", async () => {
    const requester = fakeRequester(served, { vlans: { 1: inVlan("0.1.2.3.4.5", 7), 10: inVlan("0.1.2.3.4.5", 8) } });
    const reads = await read(requester, [forwarding([1, 10, 20])]);
    const values = new Map(Object.entries({ "1.0.1.2.3.4.5": 7, "10.0.1.2.3.4.5": 8 }));
    expect(reads.get("fdb")?.columns.get("port")).toEqual({ isComplete: true, problem: null, values });
  });

  test("are not a failure if missing from an agent that responds in its own context", async () => {
    for (const reason of ["no_answer", "unsupported", "refused"] as const) {
      const unavailable = fakeRequester({}, { before: () => failure(reason) });
      const reads = await read(fakeRequester(served, { vlans: { 1: unavailable } }), [forwarding([1, 10, 20]), SYSTEM]);
      expect(summary(reads)).toEqual({ fdb: "port 0", system: "name" });
      expect(unavailable.requests).toHaveLength(1);
    }
  });

  test("keep the others' values if partly missing, and report the missing part", async () => {
    const requester = fakeRequester(served, {
      vlans: { 1: inVlan("0.0.0.0.0.1", 7), 10: silent, 20: inVlan("0.0.0.0.0.2", 8) },
    });
    const reads = await read(requester, [forwarding([1, 10, 20])]);
    expect(summary(reads)).toEqual({ fdb: `port 2: VLAN 10: ${SILENT}` });
  });

  test("are skipped after two consecutive timeouts", async () => {
    const requester = fakeRequester(served, {
      vlans: { 1: inVlan("0.0.0.0.0.1", 7), 10: silent, 20: silent, 30: inVlan("0.0.0.0.0.2", 8) },
    });
    const reads = await read(requester, [forwarding([1, 10, 20, 30]), SYSTEM]);
    expect(summary(reads)).toEqual({ fdb: `port 1: VLAN 10: ${SILENT}`, system: "name" });
  });

  test("are not treated as empty if not read", async () => {
    const closing = fakeRequester(
      { [`${FDB}.1`]: [2, 7] },
      { maxVarbinds: 2, before: (_request, count) => (count > 1 ? failure("port_closed") : undefined) },
    );
    const step = { ...forwarding([1, 10]), columns: { port: FDB, none: `${FDB}9` } };
    const reads = await read(fakeRequester(served, { vlans: { 1: closing } }), [step]);
    expect(summary(reads)).toEqual({ fdb: `port 1: VLAN 1: ${CLOSED}, none 0: VLAN 10: ${CLOSED}` });
  });

  test("are a failure if they time out together with the agent", async () => {
    const requester = fakeRequester({}, { before: () => failure("no_answer"), vlans: { 1: silent } });
    const reads = await read(requester, [forwarding([1]), SYSTEM]);
    expect(summary(reads)).toEqual({ fdb: `port 0: VLAN 1: ${SILENT}`, system: `! ${SILENT}` });
  });
});
