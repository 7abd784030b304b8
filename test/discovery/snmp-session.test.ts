// SNMP v1 and v2c sessions with agents on loopback: accepted and rejected responses, and outcomes.

import { describe, expect, spyOn, test } from "bun:test";
import { getEventListeners } from "node:events";
import { Session } from "net-snmp";
import { pauseThread } from "../../src/base/timers.ts";
import { failure } from "../../src/discovery/snmp/failure.ts";
import { VARBIND_TYPE } from "../../src/discovery/snmp/requests.ts";
import { openSnmpSession } from "../../src/discovery/snmp/session.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type AgentFaults, type AgentOptions, type SnmpAgent, startAgent } from "../support/snmp/agent.ts";
import { oid } from "../support/snmp/ber.ts";
import { getName, NAME, named, sessionsForEach } from "../support/snmp/closed-after-each.ts";
import { community, neverAborted, SHORT_TIMEOUTS, sessionTo } from "../support/snmp/sessions.ts";
import { viewOf } from "../support/snmp/view.ts";
import { stableDescriptorCount, waitForDescriptorCount } from "../support/sweep/descriptors.ts";

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

const { closeAfterTest, session, nameAt } = sessionsForEach();

async function agent(faults: AgentFaults = {}, options: Partial<AgentOptions> = {}): Promise<SnmpAgent> {
  return closeAfterTest(await startAgent({ communities: { public: view }, faults, ...options }));
}

/** Session with short timeouts. */
const quickSession = (target: SnmpAgent) => session(target, community("public"), { timeouts: SHORT_TIMEOUTS });
const quickName = (target: SnmpAgent, credential = community("public")) =>
  nameAt(target, credential, { timeouts: SHORT_TIMEOUTS });

describe("a session", () => {
  test("sends get, get-next and get-bulk in v2c", async () => {
    const client = await session(await agent());
    expect(client.hasBulk).toBe(true);
    expect(await client.request({ kind: "Get", oids: [NAME, `${DESCR}.9`] }, neverAborted)).toMatchObject({
      errorStatus: 0,
      varbinds: [
        { oid: NAME, type: VARBIND_TYPE.OctetString, value: Buffer.from("switch") },
        { oid: `${DESCR}.9`, type: VARBIND_TYPE.NoSuchObject },
      ],
    });
    expect(await client.request({ kind: "GetNext", oids: [DESCR] }, neverAborted)).toMatchObject({
      varbinds: [{ oid: `${DESCR}.1` }],
    });
    expect(
      await client.request(
        { kind: "GetBulk", oids: [DESCR, "1.3.6.1.2.1.31.1.1.1.6"], maxRepetitions: 2 },
        neverAborted,
      ),
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
    const client = await session(await agent(), community("public", "SnmpV1"));
    expect(client.hasBulk).toBe(false);
    expect(await client.request(getName, neverAborted)).toMatchObject({ ...named("switch"), errorStatus: 0 });
    expect(await client.request({ kind: "Get", oids: [NAME, `${DESCR}.9`] }, neverAborted)).toMatchObject({
      errorStatus: 2,
      errorIndex: 2,
    });
    expect(await client.request({ kind: "GetNext", oids: [`${DESCR}.2`] }, neverAborted)).toMatchObject({
      varbinds: [{ type: VARBIND_TYPE.IpAddress, value: "10.0.0.1" }],
    });
  });

  test("works over IPv6", async () => {
    expect(await nameAt(await agent({}, { address: "::1" }))).toMatchObject(named("switch"));
  });

  test("reads VLAN contexts by community, and then the default context again", async () => {
    const client = await quickSession(
      await agent({}, { communities: { public: view, "public@10": viewOf({ [NAME]: "ten" }) } }),
    );
    expect(await client.inVlan(10).request(getName, neverAborted)).toMatchObject(named("ten"));
    expect(await client.inVlan(11).request(getName, neverAborted)).toMatchObject({ reason: "no_answer" });
    expect(await client.request(getName, neverAborted)).toMatchObject(named("switch"));
  });

  test("counts every datagram sent", async () => {
    let requests = 0;
    const client = await session(await agent({ dropFirst: 1 }), community("public"), {
      onRequest: () => void (requests += 1),
      timeouts: SHORT_TIMEOUTS,
    });
    await client.request(getName, neverAborted);
    await client.request(getName, neverAborted);
    expect(requests).toBe(3);
  });
});

describe("a timeout", () => {
  test("does not result from a delayed process: a response in transit is accepted", async () => {
    const client = await session(await agent(), community("public"), { timeouts: { timeoutMs: 1, retries: 0 } });
    for (let round = 0; round < 20; round += 1) {
      const response = client.request(getName, neverAborted);
      pauseThread(5);
      expect(await response).toMatchObject(named("switch"));
    }
  });

  test("causes retries at growing, jittered intervals, and then reports possible causes", async () => {
    const silent = await agent({ isSilent: true });
    const timers = new ManualTimers();
    const client = await session(silent, community("public"), {
      timers,
      timeouts: { timeoutMs: 1_000, retries: 2 },
      random: seededRandom(3),
    });
    const response = client.request(getName, neverAborted);
    timers.advance(20_000);
    expect(await response).toEqual({ reason: "no_answer", clause: "no response: no SNMP agent, or a wrong community" });
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

  test("is not attributed to the community if the agent has responded before", async () => {
    const silent = await agent();
    const client = await quickSession(silent);
    await client.request(getName, neverAborted);
    silent.faults.isSilent = true;
    const response = await client.request(getName, neverAborted);
    expect(response).toMatchObject({
      reason: "no_answer",
      clause: expect.stringMatching(/^no response within 0\.\d s$/),
    });
  });

  test("is the result of a wrong community", async () => {
    expect(await quickName(await agent(), community("private"))).toMatchObject({ reason: "no_answer" });
  });

  test("is recovered by the second datagram if the first is lost", async () => {
    const dropping = await agent({ dropFirst: 1 });
    expect(await quickName(dropping)).toMatchObject({ varbinds: [{ oid: NAME }] });
    expect(dropping.requestCount).toBe(2);
  });
});

describe("a response", () => {
  test("is accepted if it arrives after a retry", async () => {
    const responses: Uint8Array[] = [];
    const slow = await agent({
      alter: (response) => (responses.push(response) === 2 ? (responses[0] as Uint8Array) : null),
    });
    expect(await quickName(slow)).toMatchObject({ varbinds: [{ oid: NAME }] });
    const ids = slow.requests.map((request) => request.requestId);
    expect(ids).toEqual(Array(2).fill(ids[0]));
  });

  test("is not used for a later request", async () => {
    const responses: Uint8Array[] = [];
    const client = await quickSession(
      await agent({ alter: (response) => (responses.push(response) <= 2 ? null : [...responses]) }),
    );
    expect(await client.request(getName, neverAborted)).toMatchObject({ reason: "no_answer" });
    expect(await client.request({ kind: "Get", oids: [LOCATION] }, neverAborted)).toMatchObject({
      varbinds: [{ oid: LOCATION }],
    });
  });

  test("is ignored if it has another request id, and the timeout reports it", async () => {
    const faulty = await agent({ hasOtherRequestId: true });
    expect(await quickName(faulty)).toMatchObject({
      reason: "no_answer",
      clause: expect.stringContaining("no matching response"),
    });
  });

  test("is rejected if it has another community", async () => {
    const faulty = await agent({
      alter: (response) => Buffer.from(Buffer.from(response).toString("latin1").replace("public", "cilbup"), "latin1"),
    });
    expect(await nameAt(faulty)).toMatchObject({ reason: "garbage" });
    expect(faulty.requestCount).toBe(2);
  });

  test("is ignored if it comes from another address or port", async () => {
    for (const answerFrom of ["127.16.0.9", "127.0.0.1"])
      expect(await quickName(await agent({ responseAddress: answerFrom }))).toMatchObject({ reason: "no_answer" });
  });

  test("is passed on unchanged, even with another OID, for the caller to interpret", async () => {
    expect(await nameAt(await agent({ otherOid: oid(LOCATION) }))).toMatchObject({ varbinds: [{ oid: LOCATION }] });
  });
});

describe("a closed port", () => {
  test("is detected immediately", async () => {
    const closedAgent = await agent();
    closedAgent.close();
    const timers = new ManualTimers();
    for (const target of [closedAgent, { address: "::1", port: closedAgent.port }]) {
      const client = await session(target, community("public"), { timers });
      expect(await client.request(getName, neverAborted)).toEqual(failure("port_closed"));
    }
    expect(timers.pendingCount).toBe(0);
  });

  test("is detected during a conversation", async () => {
    const killed = await agent();
    const client = await session(killed, community("public"), { timers: new ManualTimers() });
    expect(await client.request(getName, neverAborted)).toMatchObject({ errorStatus: 0 });
    killed.close();
    expect(await client.request(getName, neverAborted)).toEqual(failure("port_closed"));
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
  test("ends an open request immediately, with the signal's reason or as canceled", async () => {
    const client = await session(await agent({ isSilent: true }), community("public"), { timers: new ManualTimers() });
    const deadline = new AbortController();
    const timedOut = client.request(getName, deadline.signal);
    deadline.abort(failure("deadline"));
    expect(await timedOut).toEqual(failure("deadline"));
    expect(await client.request(getName, deadline.signal)).toEqual(failure("deadline"));

    const stopped = new AbortController();
    const cancelled = client.request(getName, stopped.signal);
    stopped.abort();
    expect(await cancelled).toEqual(failure("cancelled"));

    const closing = client.request(getName, neverAborted);
    client.close();
    expect(await closing).toEqual(failure("cancelled"));
    expect(await client.request(getName, neverAborted)).toEqual(failure("cancelled"));
  });

  test("leaves no timer, no listener and no net-snmp request behind", async () => {
    const registered = spyOn(Session.prototype, "registerRequest");
    const timers = new ManualTimers();
    const stop = new AbortController();
    const client = await session(await agent({ isSilent: true }), community("public"), { timers });
    const response = client.request(getName, stop.signal);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    timers.advance(60_000);
    expect(await response).toMatchObject({ reason: "no_answer" });
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    expect(timers.pendingCount).toBe(0);
    expect(registered.mock.contexts.at(-1)).toMatchObject({ reqCount: 0, reqs: {} });
    registered.mockRestore();
  });

  test("leaves no socket open, in any state", async () => {
    const [good, silent, closedAgent] = [await agent(), await agent({ isSilent: true }), await agent()];
    closedAgent.close();
    const before = await stableDescriptorCount();
    for (let round = 0; round < 30; round += 1)
      for (const target of [good, silent, closedAgent]) {
        const client = await sessionTo(target, community("public"), { timeouts: { timeoutMs: 1, retries: 0 } });
        await client.request(getName, neverAborted);
        client.close();
        client.close();
      }
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });
});
