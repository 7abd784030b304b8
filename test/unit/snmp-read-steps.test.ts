// Execution of a reading plan: effect of one step's failure on the others, VLAN contexts, deadlines, disappearing
// agents.

import { describe, expect, test } from "bun:test";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ReadStep, Reads } from "../../src/discovery/mib/reads.ts";
import { failure } from "../../src/discovery/snmp/failure.ts";
import {
  DEVICE_DEADLINE_MS,
  MAX_SILENT_STEPS,
  readSteps,
  STEP_DEADLINE_MS,
} from "../../src/discovery/snmp/read-steps.ts";
import type { SnmpRequester } from "../../src/discovery/snmp/requests.ts";
import { askingView, errorOf, type Served, type ViewOptions } from "../support/injected/asking-view.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { never } from "../support/snmp/sessions.ts";

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
  asking: SnmpRequester,
  plan: readonly ReadStep[],
  signal = never,
  timers = new ManualTimers(),
): Promise<Reads> {
  return readSteps(asking, plan, { signal, timers });
}

/** Reads in short form: values of scalars, row counts of columns, and errors. */
function summary(reads: Reads): Record<string, unknown> {
  const described = (step: string): unknown => {
    const { scalars, scalarsProblem, columns } = reads.get(step) ?? {
      scalars: new Map(),
      scalarsProblem: null,
      columns: new Map(),
    };
    const lists = [...columns].map(
      ([name, { values, problem }]) => `${name} ${values.size}${problem === null ? "" : `: ${problem}`}`,
    );
    return [...[...scalars.keys()], ...(scalarsProblem === null ? [] : [`! ${scalarsProblem}`]), ...lists].join(", ");
  };
  return Object.fromEntries([...reads.keys()].map((step) => [step, described(step)]));
}

const COMPLETE = { system: "name", interfaces: "descr 2", lldp: "up, name 1" };

describe("a read plan", () => {
  test.each([
    ["v2c", true],
    ["v1", false],
  ] as const)("is executed step by step, in %s", async (_version, hasBulk) => {
    const before: ViewOptions["before"] = (question) =>
      !hasBulk && question.kind === "Get" && question.oids.includes(CONTACT)
        ? errorOf(2, question.oids.indexOf(CONTACT) + 1)
        : undefined;
    expect(summary(await read(askingView(served, { hasBulk, before }), PLAN))).toEqual(COMPLETE);
  });

  test("skips steps made unnecessary by read data", async () => {
    const seen: string[] = [];
    const plan = [
      SYSTEM,
      { ...INTERFACES, isNeeded: (reads: Reads) => reads.get("system")?.scalars.has("contact") === true },
      { ...NEIGHBORS, isNeeded: (reads: Reads) => reads.has("system") && !reads.has("interfaces") },
    ];
    const reads = await readSteps(askingView(served), plan, {
      signal: never,
      timers: new ManualTimers(),
      onStep: (step) => void seen.push(step.name),
    });
    expect([...reads.keys()]).toEqual(["system", "lldp"]);
    expect(seen).toEqual(["system", "lldp"]);
  });

  test("leaves no timer", async () => {
    const timers = new ManualTimers();
    await read(askingView(served), PLAN, never, timers);
    expect(timers.pendingCount).toBe(0);
    expect(timers.waits).toEqual([DEVICE_DEADLINE_MS, STEP_DEADLINE_MS, STEP_DEADLINE_MS, STEP_DEADLINE_MS]);
  });
});

describe("scalars", () => {
  test("are requested together, else individually, and a failing one affects no other", async () => {
    const scalars = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`s${index}`, `1.3.6.1.2.1.1.${index}.0`]),
    );
    const values = Object.fromEntries(Object.values(scalars).map((oid): [string, Served] => [oid, [2, 1]]));
    const bad = "1.3.6.1.2.1.1.4.0";
    for (const [status, hasIndex] of [
      [5, true],
      [5, false],
      [2, true],
      [2, false],
      [1, false],
      [16, true],
    ] as const) {
      const asking = askingView(values, {
        before: ({ oids }) =>
          (status === 1 ? oids.length > 2 : oids.includes(bad))
            ? errorOf(status, hasIndex ? oids.indexOf(bad) + 1 : 0)
            : undefined,
      });
      const step = (await read(asking, [{ name: "all", table: "system", scalars }])).get("all");
      expect(step?.scalars.size).toBe(status === 1 ? 9 : 8);
      expect(step?.scalarsProblem === null).toBe(status < 5);
    }
  });

  test("answered with other or too few ones, or truncated, are rejected", async () => {
    const scalars = { name: NAME, up: UP_TIME };
    const cases: NonNullable<ViewOptions["before"]>[] = [
      ({ oids }) =>
        oids.length === 2
          ? { ...errorOf(0, 0), varbinds: [{ oid: NAME, type: 4, value: Buffer.from("x") }] }
          : undefined,
      ({ oids }) =>
        oids.includes(NAME)
          ? {
              ...errorOf(0, 0),
              varbinds: oids.map((_oid, index) => ({ oid: `1.3.6.1.2.1.1.9.${index}`, type: 2, value: 1 })),
            }
          : undefined,
      ({ oids }) =>
        oids.includes(NAME)
          ? { ...errorOf(0, 0), varbinds: oids.map((oid) => ({ oid, type: 4, value: null })) }
          : undefined,
      ({ oids }) => (oids.includes(NAME) ? failure("garbage") : undefined),
    ];
    const steps = await Promise.all(
      cases.map(async (before) =>
        (await read(askingView(served, { before }), [{ name: "all", table: "system", scalars }])).get("all"),
      ),
    );
    expect(steps.map((step) => [...(step?.scalars.keys() ?? [])])).toEqual([["up", "name"], ["up"], ["up"], ["up"]]);
    expect(steps.map((step) => step?.scalarsProblem)).toEqual([
      null,
      "the device's answer does not match the request",
      "the device's answers cannot be parsed",
      "the device's answers cannot be parsed",
    ]);
  });
});

describe("a failing step", () => {
  test("affects no other", async () => {
    const before: ViewOptions["before"] = (question) =>
      question.oids[0]?.startsWith(DESCR) === true ? failure("no_answer") : undefined;
    expect(summary(await read(askingView(served, { before }), PLAN))).toEqual({
      ...COMPLETE,
      interfaces: `descr 0: ${failure("no_answer").clause}`,
    });
    const garbled: ViewOptions["before"] = (question) =>
      question.oids[0]?.startsWith(DESCR) === true ? failure("garbage") : undefined;
    expect(summary(await read(askingView(served, { before: garbled }), PLAN))).toEqual({
      ...COMPLETE,
      interfaces: `descr 0: ${failure("garbage").clause}`,
    });
  });

  test("skips its columns if its scalars already timed out", async () => {
    const asking = askingView(served, { before: () => failure("no_answer") });
    expect(summary(await read(asking, [NEIGHBORS]))).toEqual({
      lldp: `! ${failure("no_answer").clause}, name 0: ${failure("no_answer").clause}`,
    });
    expect(asking.questions.every((question) => question.kind === "Get")).toBe(true);
  });

  test("that takes too long is cut off, and the next has its full time", async () => {
    const timers = new ManualTimers();
    const before: ViewOptions["before"] = (question) => {
      if (question.oids[0]?.startsWith(DESCR) === true) timers.advance(STEP_DEADLINE_MS + 1);
      return undefined;
    };
    expect(summary(await read(askingView(served, { before, maxVarbinds: 1 }), PLAN, never, timers))).toEqual({
      ...COMPLETE,
      interfaces: "descr 1: not finished within 120 s",
    });
  });
});

describe("an agent that ignores part of a read", () => {
  const BRIDGE = "1.3.6.1.2.1.17";
  /** Silent below some OIDs; counts the questions there with the full and with the brief timeout. */
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

  test("gets one long timeout per MIB, however many tables that has", async () => {
    const { waits, before } = silentBelow(BRIDGE);
    const inBridge = READING_PLAN.filter(
      ({ columns = {} }) => Object.values(columns)[0]?.startsWith(`${BRIDGE}.`) === true,
    );
    expect(inBridge.length).toBeGreaterThan(4);
    const reads = await read(askingView(served, { before }), READING_PLAN);
    expect(waits.long).toBeLessThanOrEqual(2);
    expect(waits.brief).toBeGreaterThan(0);
    expect(reads.get("if_table")?.columns.get("ifDescr")).toMatchObject({ isComplete: true });
    for (const { name, vlanContexts, isNeeded } of inBridge) {
      if (vlanContexts !== undefined || (isNeeded !== undefined && !reads.has(name))) continue;
      for (const column of reads.get(name)?.columns.values() ?? [])
        expect(column).toMatchObject({ isComplete: false, problem: failure("no_answer").clause });
    }
  });

  test("gets normal timeouts for the rest of a MIB it partly answered", async () => {
    const { waits, before } = silentBelow(FDB);
    const port = "1.3.6.1.2.1.17.1.4.1.2";
    const plan: ReadStep[] = ["one", "two"].map((name) => ({ name, table: "forwarding", columns: { port, fdb: FDB } }));
    await read(askingView({ ...served, [`${port}.1`]: [2, 1] }, { before }), plan);
    expect(waits.brief).toBe(0);
  });

  test("gets no more long timeouts after three silent parts", async () => {
    const mibs = [4, 5, 6, 7, 8, 9].map((group) => `1.3.6.1.2.1.${group}`);
    const { waits, before } = silentBelow(...mibs);
    const plan: ReadStep[] = mibs.map((mib) => ({ name: mib, table: "arp", columns: { value: `${mib}.1.1` } }));
    const reads = await read(askingView(served, { before }), [...plan, INTERFACES]);
    expect(waits).toEqual({ long: MAX_SILENT_STEPS * 2, brief: 3 });
    expect(summary(reads).interfaces).toBe("descr 2");
  });
});

describe("an agent that disappears", () => {
  test("gets no further requests after silence to a step and a simple request", async () => {
    const asking = askingView(served, { before: (_question, count) => (count > 1 ? failure("no_answer") : undefined) });
    const reads = await read(asking, [...PLAN, { ...INTERFACES, name: "again" }]);
    const silent = failure("no_answer").clause;
    expect(summary(reads)).toEqual({
      system: "name",
      interfaces: `descr 0: ${silent}`,
      lldp: `! ${silent}, name 0: ${silent}`,
      again: `descr 0: ${silent}`,
    });
    // The system, the interfaces twice, the simplest question.
    expect(asking.questions).toHaveLength(4);
  });

  test("gets no further requests once its port is closed", async () => {
    const asking = askingView(served, {
      before: (_question, count) => (count > 1 ? failure("port_closed") : undefined),
    });
    const closed = failure("port_closed").clause;
    expect(summary(await read(asking, PLAN))).toEqual({
      system: "name",
      interfaces: `descr 0: ${closed}`,
      lldp: `! ${closed}, name 0: ${closed}`,
    });
    expect(asking.questions).toHaveLength(2);
  });

  test("gets no further requests after the device's deadline, or a cancellation", async () => {
    const timers = new ManualTimers();
    const late = askingView(served, { before: () => void timers.advance(DEVICE_DEADLINE_MS / 2 + 1) });
    const reads = await read(late, PLAN, never, timers);
    expect(reads.get("lldp")).toMatchObject({ scalarsProblem: "not finished within 600 s" });

    const stop = new AbortController();
    const asking = askingView(served, { before: () => stop.abort() as undefined });
    expect(summary(await read(asking, PLAN, stop.signal))).toEqual({
      system: "name",
      interfaces: "descr 0: the scan was cancelled",
      lldp: "! the scan was cancelled, name 0: the scan was cancelled",
    });
    expect(asking.questions).toHaveLength(1);
  });
});

describe("VLAN contexts", () => {
  const forwarding = (vlans: readonly number[]): ReadStep => ({
    name: "fdb",
    table: "forwarding",
    columns: { port: FDB },
    vlanContexts: () => vlans,
  });
  const inVlan = (mac: string, port: number): SnmpRequester => askingView({ [`${FDB}.${mac}`]: [2, port] });
  const silent = askingView({}, { before: () => failure("no_answer") });

  test("are read one after another, each value under its VLAN", async () => {
    const asking = askingView(served, { vlans: { 1: inVlan("0.1.2.3.4.5", 7), 10: inVlan("0.1.2.3.4.5", 8) } });
    const { columns } = (await read(asking, [forwarding([1, 10, 20])])).get("fdb") as NonNullable<
      ReturnType<Reads["get"]>
    >;
    expect(columns.get("port")).toEqual({
      isComplete: true,
      problem: null,
      values: new Map([
        ["1.0.1.2.3.4.5", 7],
        ["10.0.1.2.3.4.5", 8],
      ]),
    });
  });

  test("missing from the agent are not a failure, if it answers in its own", async () => {
    for (const reason of ["no_answer", "unsupported", "refused"] as const) {
      const without = askingView({}, { before: () => failure(reason) });
      const reads = await read(askingView(served, { vlans: { 1: without } }), [forwarding([1, 10, 20]), SYSTEM]);
      expect(summary(reads)).toEqual({ fdb: "port 0", system: "name" });
      expect(without.questions).toHaveLength(1);
    }
  });

  test("partly missing keep the others' values, and are reported", async () => {
    const asking = askingView(served, {
      vlans: { 1: inVlan("0.0.0.0.0.1", 7), 10: silent, 20: inVlan("0.0.0.0.0.2", 8) },
    });
    const reads = await read(asking, [forwarding([1, 10, 20])]);
    expect(summary(reads)).toEqual({ fdb: `port 2: VLAN 10: ${failure("no_answer").clause}` });
  });

  test("are not all waited for after two consecutive timeouts", async () => {
    const asking = askingView(served, {
      vlans: { 1: inVlan("0.0.0.0.0.1", 7), 10: silent, 20: silent, 30: inVlan("0.0.0.0.0.2", 8) },
    });
    expect(summary(await read(asking, [forwarding([1, 10, 20, 30]), SYSTEM]))).toEqual({
      fdb: `port 1: VLAN 10: ${failure("no_answer").clause}`,
      system: "name",
    });
  });

  test("that were not read are not treated as empty", async () => {
    const closing = askingView(
      { [`${FDB}.1`]: [2, 7] },
      { maxVarbinds: 2, before: (_question, count) => (count > 1 ? failure("port_closed") : undefined) },
    );
    const step: ReadStep = {
      name: "fdb",
      table: "forwarding",
      columns: { port: FDB, none: `${FDB}9` },
      vlanContexts: () => [1, 10],
    };
    const closed = failure("port_closed").clause;
    expect(summary(await read(askingView(served, { vlans: { 1: closing } }), [step]))).toEqual({
      fdb: `port 1: VLAN 1: ${closed}, none 0: VLAN 10: ${closed}`,
    });
  });

  test("that time out together with the agent are a failure", async () => {
    const asking = askingView({}, { before: () => failure("no_answer"), vlans: { 1: silent } });
    expect(summary(await read(asking, [forwarding([1]), SYSTEM]))).toEqual({
      fdb: `port 0: VLAN 1: ${failure("no_answer").clause}`,
      system: `! ${failure("no_answer").clause}`,
    });
  });
});
