// Arbitrary bytes received by an SNMP session: no exceptions, no leaked memory, and normal operation afterwards.

import { describe, expect, test } from "bun:test";
import { isFailure, type SnmpFailure } from "../../src/discovery/snmp/failure.ts";
import type { AgentReply } from "../../src/discovery/snmp/requests.ts";
import { SnmpSession } from "../../src/discovery/snmp/session.ts";
import { walk } from "../../src/discovery/snmp/walk.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { Responder, startAgent } from "../support/snmp/agent.ts";
import { BER, integer, octets, oid, tlv } from "../support/snmp/ber.ts";
import { community, neverAborted, sessionTo, user } from "../support/snmp/sessions.ts";
import { ann, startV3Agent } from "../support/snmp/v3-agent.ts";
import { type ServedValue, viewOf } from "../support/snmp/view.ts";

const DESCR = "1.3.6.1.2.1.2.2.1.2";
const table: Record<string, ServedValue> = {};
for (let row = 1; row <= 30; row += 1)
  Object.assign(table, {
    [`${DESCR}.${row}`]: `port ${row}`,
    [`1.3.6.1.2.1.31.1.1.1.6.${row}`]: BigInt(row) << 40n,
    [`1.3.6.1.2.1.4.20.1.1.10.0.0.${row}`]: { ip: `10.0.0.${row}` },
  });
const view = viewOf(table);
const request = {
  kind: "GetBulk",
  oids: [DESCR, "1.3.6.1.2.1.31.1.1.1.6", "1.3.6.1.2.1.4.20.1.1"],
  maxRepetitions: 8,
} as const;

/** Inputs known to break decoders. */
const MALFORMED: readonly Uint8Array[] = [
  new Uint8Array(0),
  Uint8Array.of(0x30),
  Uint8Array.of(0x30, 0x80),
  Uint8Array.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff),
  Uint8Array.of(0x30, 0xff, ...new Uint8Array(126).fill(0xff)),
  Uint8Array.of(0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0),
  new Uint8Array(65_000).fill(0x30),
  new Uint8Array(60_000),
  nested(20_000),
  tlv(BER.Sequence, integer(1), octets("public"), tlv(0xa2)),
  tlv(BER.Sequence, integer(3), tlv(BER.Sequence), octets("")),
  tlv(BER.Sequence, integer(2 ** 60), octets("public")),
  tlv(BER.Sequence, tlv(BER.Integer), octets("public")),
];

test("known malformed BER does not throw, with or without an open request", () => {
  for (const bytes of MALFORMED) {
    const { session, timers } = directSession();
    session.listener.received(Buffer.from(bytes));
    void session.request(request, neverAborted);
    expect(() => session.listener.received(Buffer.from(bytes))).not.toThrow();
    timers.advance(60_000);
  }
});

test("2,000 mutated responses do not throw, and every request ends", async () => {
  const random = seededRandom(5);
  const responder = new Responder({ communities: { public: view } }, {});
  const { session, timers, sent } = directSession();
  const outcomes = { answered: 0, garbage: 0, no_answer: 0, unsupported: 0 };
  for (let round = 0; round < 2_000; round += 1) {
    const response = session.request(request, neverAborted);
    for (let datagram = sent.shift(); datagram !== undefined; datagram = sent.shift()) {
      const reply = responder.respond(datagram) as Uint8Array;
      session.listener.received(Buffer.from(mutate(reply, random)));
    }
    timers.advance(60_000);
    sent.length = 0;
    const outcome = await response;
    if (!isFailure(outcome)) outcomes.answered += 1;
    else outcomes[outcome.reason as "garbage" | "no_answer" | "unsupported"] += 1;
  }
  expect(Object.values(outcomes).reduce((sum, count) => sum + count)).toBe(2_000);
  // Enough of each kind for a meaningful test; another version occurs only by chance.
  expect(Math.min(outcomes.answered, outcomes.garbage, outcomes.no_answer)).toBeGreaterThan(5);
  const last = session.request(request, neverAborted);
  session.listener.received(Buffer.from(responder.respond(sent[0] as Uint8Array) as Uint8Array));
  expect(((await last) as AgentReply).varbinds).toHaveLength(24);
});

test("responses that merely resemble v3 do not throw in a session without a password", () => {
  const random = seededRandom(6);
  for (let round = 0; round < 3_000; round += 1) {
    const { session, sent, timers } = directSession(user("plain", { auth_protocol: "None", priv_protocol: "None" }));
    void session.request(request, neverAborted);
    const messageId = v3MessageId(sent[0] as Uint8Array);
    const flags = random.integer(8);
    const header = tlv(BER.Sequence, integer(messageId), integer(65_507), octets(Uint8Array.of(flags)), integer(3));
    const security = tlv(
      BER.Sequence,
      octets(random.bytes(random.integer(20))),
      integer(random.integer(3)),
      integer(random.integer(3)),
      octets("plain"),
      octets(random.bytes(random.integer(24))),
      octets(random.bytes(random.integer(10))),
    );
    const pdu = tlv(
      random.pick([0xa2, 0xa8, 0xa0, 0xa4]),
      integer(1),
      integer(random.integer(9)),
      integer(0),
      tlv(BER.Sequence, tlv(BER.Sequence, oid("1.3.6.1.6.3.15.1.1.9.0"), integer(1))),
    );
    const scoped = random.integer(2) === 0 ? tlv(BER.Sequence, octets("x"), octets(""), pdu) : octets(random.bytes(30));
    const message = tlv(BER.Sequence, integer(3), header, octets(security), scoped);
    expect(() =>
      session.listener.received(Buffer.from(random.integer(3) === 0 ? mutate(message, random) : message)),
    ).not.toThrow();
    timers.advance(60_000);
  }
});

describe("over real sockets", () => {
  test("an agent that returns garbage is distinguished from a silent one, without waiting", async () => {
    const random = seededRandom(8);
    for (const alter of [
      () => random.bytes(1 + random.integer(1_400)),
      () => nested(700),
      (response: Uint8Array) => response.subarray(0, response.length - 9).fill(0xff, 20),
    ]) {
      const agent = await startAgent({ communities: { public: view }, faults: { alter } });
      const session = await sessionTo(agent, community("public"), { timers: new ManualTimers() });
      expect(await session.request(request, neverAborted)).toMatchObject({
        reason: "garbage",
        clause: "the device's responses cannot be parsed",
      });
      expect(agent.requestCount).toBe(2);
      session.close();
      agent.close();
    }
  });

  test("garbage between valid responses costs a retry but no data", async () => {
    const random = seededRandom(9);
    const agent = await startAgent({
      communities: { public: view },
      faults: { alter: (response) => (random.integer(2) === 0 ? [random.bytes(90), response] : response) },
    });
    const session = await sessionTo(agent, community("public"), { timeouts: { timeoutMs: 20, retries: 9 } });
    const walkResult = await walk(session, { descr: DESCR }, { signal: neverAborted });
    expect(walkResult.columns.get("descr")).toMatchObject({ isComplete: true });
    expect(walkResult.columns.get("descr")?.values.size).toBe(30);
    session.close();
    agent.close();
  });

  test("truncated responses yield their complete part or nothing, and never a wrong value", async () => {
    const random = seededRandom(10);
    const agent = await startAgent({
      communities: { public: view },
      faults: { alter: (response) => response.subarray(0, response.length - random.integer(120)) },
    });
    const session = await sessionTo(agent, community("public"), { timeouts: { timeoutMs: 5, retries: 2 } });
    for (let round = 0; round < 30; round += 1) {
      const walkResult = await walk(
        session,
        { descr: DESCR, traffic: "1.3.6.1.2.1.31.1.1.1.6" },
        { signal: neverAborted },
      );
      for (const [index, value] of walkResult.columns.get("descr")?.values ?? [])
        expect(Buffer.from(value as Uint8Array).toString()).toBe(`port ${index}`);
      for (const [index, value] of walkResult.columns.get("traffic")?.values ?? [])
        expect(value).toBe(Number(index) * 2 ** 40);
    }
    session.close();
    agent.close();
  });

  test("mutated v3 responses, signed and encrypted, neither throw nor are accepted", async () => {
    const random = seededRandom(12);
    let isMutating = true;
    const agent = await startV3Agent({
      users: [ann],
      contexts: { "": view },
      faults: { alter: (response) => (isMutating ? mutate(response, random) : response) },
    });
    const outcomes = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      const session = await sessionTo(agent, user("ann"), { timeouts: { timeoutMs: 3, retries: 1 } });
      const outcome: AgentReply | SnmpFailure = await session.request(request, neverAborted);
      if (isFailure(outcome)) outcomes.add(outcome.reason);
      else expect(outcome.varbinds[0]?.value).toEqual(Buffer.from("port 1"));
      session.close();
    }
    expect(outcomes.size).toBeGreaterThan(1);
    isMutating = false;
    const session = await sessionTo(agent, user("ann"));
    expect(await session.request(request, neverAborted)).toMatchObject({ errorStatus: 0 });
    session.close();
    agent.close();
  });
});

/** Session whose datagrams are delivered by the test. */
function directSession(credential: Parameters<typeof sessionTo>[1] = community("public")): {
  session: SnmpSession;
  sent: Uint8Array[];
  timers: ManualTimers;
} {
  const timers = new ManualTimers();
  const session = new SnmpSession(
    credential,
    credential.version === "SnmpV3" ? { name: credential.security_name, level: 1 } : null,
    { timers, random: seededRandom(2), timeouts: { timeoutMs: 100, retries: 1 } },
  );
  const sent: Uint8Array[] = [];
  session.start({ send: (datagram) => void sent.push(datagram), close: () => {} });
  return { session, sent, timers };
}

/** One to three mutations: flipped, truncated, inserted or duplicated bytes, an inflated length. */
function mutate(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  let result = Uint8Array.from(bytes);
  for (let count = 1 + random.integer(3); count > 0; count -= 1) {
    const offset = random.integer(result.length + 1);
    const kind = random.integer(6);
    if (kind === 0) result = result.slice(0, offset);
    else if (kind === 1)
      result = Uint8Array.from([
        ...result.slice(0, offset),
        ...random.bytes(1 + random.integer(8)),
        ...result.slice(offset),
      ]);
    else if (kind === 2) result = Uint8Array.from([...result, ...result]);
    else if (offset < result.length)
      result[offset] = kind === 3 ? random.pick([0x84, 0xff, 0x80, 0x7f]) : random.integer(256);
  }
  return result;
}

function nested(depth: number): Uint8Array {
  return Uint8Array.from({ length: depth * 2 }, (_, index) => (index % 2 === 0 ? 0x30 : Math.min(0x7f, depth)));
}

function v3MessageId(datagram: Uint8Array): number {
  // SEQUENCE, version, SEQUENCE, then the id.
  const offset = datagram.indexOf(BER.Integer, 7);
  const length = datagram[offset + 1] as number;
  return [...datagram.subarray(offset + 2, offset + 2 + length)].reduce((value, byte) => value * 256 + byte, 0);
}
