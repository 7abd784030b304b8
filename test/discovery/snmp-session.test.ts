// SNMP v1 and v2c sessions with agents on loopback: accepted answers, rejected ones, and outcomes.

import { describe, expect, spyOn, test } from "bun:test";
import { getEventListeners } from "node:events";
import { Session } from "net-snmp";
import { pauseThread } from "../../src/base/timers.ts";
import { failure } from "../../src/discovery/snmp/failure.ts";
import { VARBIND_TYPE } from "../../src/discovery/snmp/requests.ts";
import { openSnmpSession, type SnmpSession } from "../../src/discovery/snmp/session.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type AgentFaults, type AgentOptions, type SnmpAgent, startAgent } from "../support/snmp/agent.ts";
import { oid } from "../support/snmp/ber.ts";
import { closedAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, never, SHORT_TIMEOUTS, sessionTo } from "../support/snmp/sessions.ts";
import { viewOf } from "../support/snmp/view.ts";
import { descriptorsAtRest, descriptorsBackTo } from "../support/sweep/descriptors.ts";

const NAME = "1.3.6.1.2.1.1.5.0";
const LOCATION = "1.3.6.1.2.1.1.6.0";
const DESCR = "1.3.6.1.2.1.2.2.1.2";
const view = viewOf({
  [NAME]: "switch",
  [LOCATION]: "hall",
  [`${DESCR}.1`]: "one",
  [`${DESCR}.2`]: "two",
  "1.3.6.1.2.1.4.20.1.1.10.0.0.1": { ip: "10.0.0.1" },
  "1.3.6.1.2.1.31.1.1.1.6.1": 12_345_678_901n,
});

const untilEnd = closedAfterEach();

async function agent(faults: AgentFaults = {}, options: Partial<AgentOptions> = {}): Promise<SnmpAgent> {
  return untilEnd(await startAgent({ communities: { public: view }, faults, ...options }));
}

/** With short timeouts. */
function hasty(target: SnmpAgent, credential = community("public")): Promise<SnmpSession> {
  return session(target, credential, { timeouts: SHORT_TIMEOUTS });
}

async function session(...args: Parameters<typeof sessionTo>): Promise<SnmpSession> {
  return untilEnd(await sessionTo(...args));
}

const getName = { kind: "Get", oids: [NAME] } as const;

describe("a session", () => {
  test("sends get, get-next and get-bulk in v2c", async () => {
    const asking = await session(await agent());
    expect(asking.hasBulk).toBe(true);
    expect(await asking.ask({ kind: "Get", oids: [NAME, `${DESCR}.9`] }, never)).toMatchObject({
      errorStatus: 0,
      varbinds: [
        { oid: NAME, type: VARBIND_TYPE.OctetString, value: Buffer.from("switch") },
        { oid: `${DESCR}.9`, type: VARBIND_TYPE.NoSuchObject },
      ],
    });
    expect(await asking.ask({ kind: "GetNext", oids: [DESCR] }, never)).toMatchObject({
      varbinds: [{ oid: `${DESCR}.1` }],
    });
    expect(
      await asking.ask({ kind: "GetBulk", oids: [DESCR, "1.3.6.1.2.1.31.1.1.1.6"], maxRepetitions: 2 }, never),
    ).toMatchObject({
      varbinds: [
        { oid: `${DESCR}.1` },
        { type: VARBIND_TYPE.Counter64 },
        { oid: `${DESCR}.2` },
        { type: VARBIND_TYPE.EndOfMibView },
      ],
    });
  });

  test("sends get and get-next in v1, where a missing object is an error", async () => {
    const asking = await session(await agent(), community("public", "SnmpV1"));
    expect(asking.hasBulk).toBe(false);
    expect(await asking.ask(getName, never)).toMatchObject({
      varbinds: [{ value: Buffer.from("switch") }],
      errorStatus: 0,
    });
    expect(await asking.ask({ kind: "Get", oids: [NAME, `${DESCR}.9`] }, never)).toMatchObject({
      errorStatus: 2,
      errorIndex: 2,
    });
    expect(await asking.ask({ kind: "GetNext", oids: [`${DESCR}.2`] }, never)).toMatchObject({
      varbinds: [{ type: VARBIND_TYPE.IpAddress, value: "10.0.0.1" }],
    });
  });

  test("works over IPv6", async () => {
    const asking = await session(await agent({}, { address: "::1" }));
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
  });

  test("reads VLAN contexts by community, and then its own again", async () => {
    const asking = await hasty(
      await agent({}, { communities: { public: view, "public@10": viewOf({ [NAME]: "ten" }) } }),
    );
    expect(await asking.inVlan(10).ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("ten") }] });
    expect(await asking.inVlan(11).ask(getName, never)).toMatchObject({ reason: "no_answer" });
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
  });

  test("counts every datagram sent", async () => {
    let requests = 0;
    const asking = await session(await agent({ dropFirst: 1 }), community("public"), {
      onRequest: () => void (requests += 1),
      timeouts: SHORT_TIMEOUTS,
    });
    await asking.ask(getName, never);
    await asking.ask(getName, never);
    expect(requests).toBe(3);
  });
});

describe("a timeout", () => {
  test("does not result from a delayed process: an answer in transit is accepted", async () => {
    const asking = await session(await agent(), community("public"), { timeouts: { timeoutMs: 1, retries: 0 } });
    for (let round = 0; round < 20; round += 1) {
      const answer = asking.ask(getName, never);
      pauseThread(5);
      expect(await answer).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
    }
  });

  test("leads to retries at growing, jittered intervals, then to a report of possible causes", async () => {
    const silent = await agent({ isSilent: true });
    const timers = new ManualTimers();
    const asking = await session(silent, community("public"), {
      timers,
      timeouts: { timeoutMs: 1_000, retries: 2 },
      random: seededRandom(3),
    });
    const answer = asking.ask(getName, never);
    timers.advance(20_000);
    expect(await answer).toEqual({ reason: "no_answer", clause: "no answer: no agent, or a wrong community" });
    const [first = 0, second = 0, third = 0] = timers.waits;
    expect(timers.waits).toHaveLength(3);
    for (const [wait, base] of [
      [first, 1_000],
      [second, 1_500],
      [third, 2_250],
    ] as const) {
      expect(wait).toBeGreaterThanOrEqual(base);
      expect(wait).toBeLessThanOrEqual(base * 1.25);
    }
    expect(new Set([first, second / 1.5, third / 2.25]).size).toBe(3);
    expect(timers.pendingCount).toBe(0);
  });

  test("of an agent that answered before is not attributed to the community", async () => {
    const silent = await agent();
    const asking = await hasty(silent);
    await asking.ask(getName, never);
    silent.faults.isSilent = true;
    const answer = await asking.ask(getName, never);
    expect(answer).toMatchObject({ reason: "no_answer", clause: expect.stringMatching(/^no answer within 0\.\d s$/) });
  });

  test("is the result of a wrong community", async () => {
    expect(await (await hasty(await agent(), community("private"))).ask(getName, never)).toMatchObject({
      reason: "no_answer",
    });
  });

  test("of the first datagram ends with the second", async () => {
    const dropping = await agent({ dropFirst: 1 });
    expect(await (await hasty(dropping)).ask(getName, never)).toMatchObject({ varbinds: [{ oid: NAME }] });
    expect(dropping.requestCount).toBe(2);
  });
});

describe("an answer", () => {
  test("arriving after a retry is accepted", async () => {
    const held: Uint8Array[] = [];
    const slow = await agent({ alter: (answer) => (held.push(answer) === 2 ? (held[0] as Uint8Array) : null) });
    expect(await (await hasty(slow)).ask(getName, never)).toMatchObject({ varbinds: [{ oid: NAME }] });
    expect(slow.requests.map((request) => request.requestId)).toEqual([
      slow.requests[0]?.requestId as number,
      slow.requests[0]?.requestId as number,
    ]);
  });

  test("to the previous request is not used for the next", async () => {
    const held: Uint8Array[] = [];
    const asking = await hasty(await agent({ alter: (answer) => (held.push(answer) <= 2 ? null : [...held]) }));
    expect(await asking.ask(getName, never)).toMatchObject({ reason: "no_answer" });
    expect(await asking.ask({ kind: "Get", oids: [LOCATION] }, never)).toMatchObject({ varbinds: [{ oid: LOCATION }] });
  });

  test("with another request id is ignored, and the timeout reports it", async () => {
    const lying = await agent({ hasOtherRequestId: true });
    expect(await (await hasty(lying)).ask(getName, never)).toMatchObject({
      reason: "no_answer",
      clause: expect.stringContaining("no matching answer"),
    });
  });

  test("with another community is rejected", async () => {
    const lying = await agent({
      alter: (answer) => Buffer.from(Buffer.from(answer).toString("latin1").replace("public", "cilbup"), "latin1"),
    });
    expect(await (await session(lying)).ask(getName, never)).toMatchObject({ reason: "garbage" });
    expect(lying.requestCount).toBe(2);
  });

  test("from another address, or another port, is ignored", async () => {
    for (const answerFrom of ["127.16.0.9", "127.0.0.1"])
      expect(await (await hasty(await agent({ answerFrom }))).ask(getName, never)).toMatchObject({
        reason: "no_answer",
      });
  });

  test("is passed on unchanged, even with another OID, for the caller to interpret", async () => {
    const answer = await (await session(await agent({ otherOid: oid(LOCATION) }))).ask(getName, never);
    expect(answer).toMatchObject({ varbinds: [{ oid: LOCATION }] });
  });
});

describe("a closed port", () => {
  test("is detected at once, without waiting", async () => {
    const gone = await agent();
    gone.close();
    const timers = new ManualTimers();
    for (const target of [gone, { address: "::1", port: gone.port }]) {
      const asking = await session(target, community("public"), { timers });
      expect(await asking.ask(getName, never)).toEqual(failure("port_closed"));
    }
    expect(timers.pendingCount).toBe(0);
  });

  test("is detected during a conversation", async () => {
    const killed = await agent();
    const asking = await session(killed, community("public"), { timers: new ManualTimers() });
    expect(await asking.ask(getName, never)).toMatchObject({ errorStatus: 0 });
    killed.close();
    expect(await asking.ask(getName, never)).toEqual(failure("port_closed"));
  });

  test("is distinguished from an unreachable address", async () => {
    const opened = await openSnmpSession({ address: "127.255.255.255", port: 161 }, community("public"), {
      timers: new ManualTimers(),
      random: seededRandom(1),
    });
    expect(opened).toMatchObject({ reason: "unreachable", clause: expect.stringContaining("EACCES") });
  });
});

describe("the end of a session", () => {
  test("ends an open request at once, with the signal's reason or as cancelled", async () => {
    const asking = await session(await agent({ isSilent: true }), community("public"), { timers: new ManualTimers() });
    const deadline = new AbortController();
    const late = asking.ask(getName, deadline.signal);
    deadline.abort(failure("deadline"));
    expect(await late).toEqual(failure("deadline"));
    expect(await asking.ask(getName, deadline.signal)).toEqual(failure("deadline"));

    const stopped = new AbortController();
    const cut = asking.ask(getName, stopped.signal);
    stopped.abort();
    expect(await cut).toEqual(failure("cancelled"));

    const closing = asking.ask(getName, never);
    asking.close();
    expect(await closing).toEqual(failure("cancelled"));
    expect(await asking.ask(getName, never)).toEqual(failure("cancelled"));
  });

  test("leaves no timer, no listener and no net-snmp request behind", async () => {
    const registered = spyOn(Session.prototype, "registerRequest");
    const timers = new ManualTimers();
    const stop = new AbortController();
    const asking = await session(await agent({ isSilent: true }), community("public"), { timers });
    const answer = asking.ask(getName, stop.signal);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    timers.advance(60_000);
    expect(await answer).toMatchObject({ reason: "no_answer" });
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    expect(timers.pendingCount).toBe(0);
    expect(registered.mock.contexts.at(-1)).toMatchObject({ reqCount: 0, reqs: {} });
    registered.mockRestore();
  });

  test("leaves no socket open, in any state", async () => {
    const [good, silent, gone] = [await agent(), await agent({ isSilent: true }), await agent()];
    gone.close();
    const before = await descriptorsAtRest();
    for (let round = 0; round < 30; round += 1)
      for (const target of [good, silent, gone]) {
        const asking = await sessionTo(target, community("public"), { timeouts: { timeoutMs: 1, retries: 0 } });
        await asking.ask(getName, never);
        asking.close();
        asking.close();
      }
    expect(await descriptorsBackTo(before)).toBeLessThanOrEqual(before);
  });
});
