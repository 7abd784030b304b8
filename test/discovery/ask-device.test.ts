// Credential selection for a device: the credential that works, findings about the others, and no side effects from the
// attempts.

import { describe, expect, test } from "bun:test";
import type { User } from "net-snmp";
import type { Device } from "../../src/discovery/device.ts";
import type { Reads } from "../../src/discovery/mib/reads.ts";
import {
  type DeviceOutcome,
  type DeviceReader,
  type PollDeviceOptions,
  pollDevice,
} from "../../src/discovery/snmp/ask-device.ts";
import { STEP_DEADLINE_MS } from "../../src/discovery/snmp/read-steps.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { patientTimers } from "../support/injected/patient-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type AgentFaults, type AgentOptions, type SnmpAgent, startAgent } from "../support/snmp/agent.ts";
import { closeAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, SHORT_TIMEOUTS, user } from "../support/snmp/sessions.ts";
import { ann, startV3Agent, type V3Agent } from "../support/snmp/v3-agent.ts";
import { viewOf } from "../support/snmp/view.ts";
import { stableDescriptorCount, waitForDescriptorCount } from "../support/sweep/descriptors.ts";

const NAME = "1.3.6.1.2.1.1.5.0";
const DESCR = "1.3.6.1.2.1.2.2.1.2";
const ports = Object.fromEntries(Array.from({ length: 200 }, (_, row) => [`${DESCR}.${row + 1}`, `port ${row + 1}`]));
const view = viewOf({ "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.9.1" }, [NAME]: "switch", ...ports });

/** Reads passed to the reader below, which returns an empty device. */
let reads: Reads = new Map();
const device = {} as Device;
const reader: DeviceReader = {
  plan: [
    { name: "system", table: "system", scalars: { name: NAME } },
    { name: "interfaces", table: "interfaces", columns: { descr: DESCR } },
    { name: "empty", table: "cdp", columns: { none: "1.3.6.1.4.1.9.9.23.1.2.1.1.3" } },
  ],
  deviceOf: (all) => {
    reads = all;
    return device;
  },
};

const closeAfterTest = closeAfterEach();

async function agent(faults: AgentFaults = {}, options: Partial<AgentOptions> = {}): Promise<SnmpAgent> {
  return closeAfterTest(await startAgent({ communities: { public: view }, faults, ...options }));
}

async function v3Agent(...users: User[]): Promise<V3Agent> {
  return closeAfterTest(await startV3Agent({ users, contexts: { "": view } }));
}

function query(
  target: { address: string; port: number },
  credentials: PollDeviceOptions["credentials"],
  changes: Partial<PollDeviceOptions> = {},
): Promise<DeviceOutcome> {
  const options = {
    credentials,
    remembered: null,
    signal: new AbortController().signal,
    timers: patientTimers,
    random: seededRandom(1),
    trialTimeouts: SHORT_TIMEOUTS,
    timeouts: SHORT_TIMEOUTS,
  };
  return pollDevice(target, { ...options, ...changes }, reader);
}

describe("a device", () => {
  test("is read with the first accepted credential", async () => {
    const target = await agent();
    expect(await query(target, [community("private"), community("public"), community("other")])).toEqual({
      ok: true,
      device,
      credential: { credential_id: "SnmpV2c-public", key_extension: null },
      requests: target.requestCount,
    });
    expect(reads.get("interfaces")?.columns.get("descr")).toMatchObject({ isComplete: true });
    expect(reads.get("interfaces")?.columns.get("descr")?.values.size).toBe(200);
    expect(target.requests.slice(0, 3).map((request) => request.community)).toEqual(["private", "private", "public"]);
  });

  test("receives no further requests with a withdrawn credential, and is tried with the next", async () => {
    const target = await agent();
    const outcome = await query(target, [community("private"), community("public")], {
      maySend: ({ credential_id }) => credential_id !== "SnmpV2c-private",
    });
    expect(outcome).toMatchObject({ ok: true, credential: { credential_id: "SnmpV2c-public" } });
    expect(target.requests.map((request) => request.community)).not.toContain("private");
  });

  test("receives no further requests after its credential is withdrawn during the read", async () => {
    const target = await agent();
    expect(await query(target, [community("public")], { maySend: () => target.requestCount < 3 })).toMatchObject({
      ok: true,
      requests: 3,
    });
    expect(target.requestCount).toBe(3);
    expect(reads.get("interfaces")?.columns.get("descr")).toMatchObject({
      isComplete: false,
      problem: expect.stringContaining("withdrawn"),
    });
  });

  test("is not retried with a credential withdrawn during its silence", async () => {
    const target = await agent();
    let checks = 0;
    const maySend = () => (checks += 1) === 1;
    expect(await query(target, [community("private")], { maySend })).toMatchObject({
      ok: false,
      failures: [{ reason: "cancelled" }],
      requests: 1,
    });
    expect(target.requestCount).toBe(1);
  });

  test("is tried first with the credential that worked last time", async () => {
    const target = await agent();
    expect(
      await query(target, [community("private"), community("public")], {
        remembered: { credential_id: "SnmpV2c-public", key_extension: null },
        trialTimeouts: { timeoutMs: 10_000, retries: 0 },
      }),
    ).toMatchObject({ ok: true });
    expect(
      await query(target, [community("private"), community("public")], {
        remembered: { credential_id: "gone", key_extension: null },
      }),
    ).toMatchObject({ ok: true });
  });

  test("is accepted although it lacks the first requested object", async () => {
    const minimalView = viewOf({ "1.3.6.1.2.1.2.2.1.2.1": "one" });
    for (const version of ["SnmpV1", "SnmpV2c"] as const)
      expect(
        await query(await agent({}, { communities: { public: minimalView } }), [community("public", version)]),
      ).toMatchObject({ ok: true });
  });

  test("is read with v1 if it supports only v1", async () => {
    const target = await agent({}, { versions: ["SnmpV1"] });
    expect(await query(target, [community("public"), community("public", "SnmpV1")])).toMatchObject({
      ok: true,
      credential: { credential_id: "SnmpV1-public" },
    });
    expect(reads.get("interfaces")?.columns.get("descr")?.values.size).toBe(200);
  });

  test("is read as the valid v3 user, without waiting for the invalid ones", async () => {
    const outcome = await query(
      await v3Agent(ann),
      [user("bob"), user("ann", { credential_id: "stale", auth_password: "another123" }), user("ann")],
      { trialTimeouts: { timeoutMs: 10_000, retries: 0 } },
    );
    expect(outcome).toMatchObject({ ok: true, credential: { credential_id: "SnmpV3-ann", key_extension: null } });
  });

  test("reveals its AES-256 key extension, which is tried first from then on", async () => {
    const credential = user("ann", { priv_protocol: "Aes256" });
    const blumenthal = await v3Agent({ ...ann, privProtocol: 6 });
    const reeder = await v3Agent({ ...ann, privProtocol: 8 });
    const outcome = await query(reeder, [credential]);
    expect(outcome).toMatchObject({ ok: true, credential: { credential_id: "SnmpV3-ann", key_extension: "Reeder" } });
    expect(await query(blumenthal, [credential])).toMatchObject({
      ok: true,
      credential: { key_extension: "Blumenthal" },
    });

    const impatient = { trialTimeouts: { timeoutMs: 10_000, retries: 0 } };
    expect(
      await query(reeder, [credential], {
        ...impatient,
        remembered: { credential_id: "SnmpV3-ann", key_extension: "Reeder" },
      }),
    ).toMatchObject({ credential: { key_extension: "Reeder" } });
    // An unknown user name gets no more keys: one datagram for engine discovery, one with the name.
    const before = reeder.datagramCount;
    expect(await query(reeder, [user("bob", { priv_protocol: "Aes256" })], impatient)).toMatchObject({
      failures: [{ reason: "wrong_user" }],
      requests: 2,
    });
    expect(reeder.datagramCount).toBe(before + 2);
    // A 256-bit digest needs no key extension.
    const sha256Agent = await v3Agent({ ...ann, authProtocol: 5, privProtocol: 6 });
    expect(
      await query(sha256Agent, [user("ann", { auth_protocol: "Sha256", priv_protocol: "Aes256" })], impatient),
    ).toMatchObject({ credential: { key_extension: null } });
  });
});

describe("a device that accepts no credential", () => {
  test("is reported with the reason for each", async () => {
    const outcome = await query(await v3Agent(ann), [
      community("public"),
      user("bob"),
      user("ann", { credential_id: "stale", auth_password: "another123" }),
      user("ann", { credential_id: "half", priv_password: null }),
      user("ann", { credential_id: "key", priv_password: "another123" }),
    ]);
    expect(outcome).toMatchObject({
      ok: false,
      failures: [
        {
          credential_id: "SnmpV2c-public",
          reason: "no_answer",
          clause: "no response: no SNMP agent, or a wrong community",
        },
        { credential_id: "SnmpV3-bob", reason: "wrong_user" },
        { credential_id: "stale", reason: "wrong_password" },
        { credential_id: "half", reason: "unsupported" },
        { credential_id: "key", reason: "no_answer", clause: expect.stringContaining("privacy password") },
      ],
    });
  });

  test("is neither tried with other credentials nor waited for if its port is closed", async () => {
    const target = await agent();
    target.close();
    expect(await query(target, [community("a"), community("b"), user("ann")], { timers: new ManualTimers() })).toEqual({
      ok: false,
      failures: [
        {
          credential_id: "SnmpV2c-a",
          reason: "port_closed",
          clause: "the port is closed: no SNMP agent listens there",
        },
      ],
      requests: 1,
    });
  });

  test("is not tried with other credentials if unreachable", async () => {
    const outcome = await query({ address: "255.255.255.255", port: 161 }, [community("a"), community("b")]);
    expect(outcome).toMatchObject({ ok: false, failures: [{ reason: "unreachable" }], requests: 0 });
  });

  test("is reported as refusing access", async () => {
    const target = await agent({ errorAt: { oid: "1.3.6.1.2.1.1", status: 16 } });
    expect(await query(target, [community("public")])).toMatchObject({ ok: false, failures: [{ reason: "refused" }] });
  });

  test("is reported as returning garbage", async () => {
    const target = await agent({ alter: () => new Uint8Array(40).fill(0xa5) });
    expect(await query(target, [community("public")])).toMatchObject({ ok: false, failures: [{ reason: "garbage" }] });
  });

  test("has no failures without credentials", async () => {
    expect(await query(await agent(), [])).toEqual({ ok: false, failures: [], requests: 0 });
  });
});

describe("a device that misbehaves during a read", () => {
  const size = (): number | undefined => reads.get("interfaces")?.columns.get("descr")?.values.size;
  const problem = (): string | null | undefined => reads.get("interfaces")?.columns.get("descr")?.problem;

  test("yields the data read so far if it falls silent", async () => {
    expect(await query(await agent({ silentAfterVarbinds: 60 }), [community("public")])).toMatchObject({ ok: true });
    expect(reads.get("system")?.scalars.size).toBe(1);
    expect(size()).toBeGreaterThan(20);
    expect(size()).toBeLessThan(200);
    expect(problem()).toContain("no response within");
    expect(reads.get("empty")?.columns.get("none")?.problem).toContain("no response within");
  });

  test("causes only one long timeout if it ignores one MIB, and its other MIBs are read", async () => {
    const bridge = "1.3.6.1.2.1.17";
    const tables = Array.from({ length: 6 }, (_, index) => ({
      name: `bridge ${index}`,
      table: "forwarding" as const,
      columns: { value: `${bridge}.${index + 4}.3.1.2` },
    }));
    const target = await agent({ silentBelow: bridge });
    // Well below the extra time granted on a busy machine.
    const timeout = { timeoutMs: 9_000, retries: 2 };
    const outcome = await pollDevice(
      target,
      {
        credentials: [community("public")],
        remembered: null,
        signal: new AbortController().signal,
        // A hundredth of the time really passes; step limits are unchanged.
        timers: { after: (ms, action) => patientTimers.after(ms < STEP_DEADLINE_MS ? ms / 100 : ms, action) },
        random: seededRandom(1),
        trialTimeouts: SHORT_TIMEOUTS,
        timeouts: timeout,
      },
      { ...reader, plan: [...reader.plan.slice(0, 1), ...tables, ...reader.plan.slice(1)] },
    );
    expect(outcome).toMatchObject({ ok: true });
    expect(size()).toBe(200);
    for (const { name } of tables)
      expect(reads.get(name)?.columns.get("value")?.problem).toContain("no response within");
    const waitedMs = tables.map(
      ({ name }) =>
        Number(/within ([0-9.]+) s/.exec(reads.get(name)?.columns.get("value")?.problem ?? "")?.[1]) * 1_000,
    );
    expect(waitedMs[0]).toBeGreaterThanOrEqual(timeout.timeoutMs * (1 + 1.5 + 2.25));
    // Each of the others gets a quarter of that time.
    for (const waited of waitedMs.slice(1)) expect(waited).toBeLessThan(timeout.timeoutMs * 1.5);
  });

  test("is not followed in a loop or backwards", async () => {
    for (const next of [`${DESCR}.100`, `${DESCR}.7`]) {
      const target = await agent({ following: { oid: `${DESCR}.100`, next } });
      expect(await query(target, [community("public")])).toMatchObject({ ok: true });
      expect(size()).toBe(100);
      expect(problem()).not.toBeNull();
      expect(reads.get("empty")?.columns.get("none")).toMatchObject({ isComplete: true });
    }
  });

  test("yields the rows before a general error", async () => {
    expect(
      await query(await agent({ errorAt: { oid: `${DESCR}.150`, status: 5 } }), [community("public")]),
    ).toMatchObject({ ok: true });
    expect(size()).toBe(149);
    expect(problem()).toBe("the device returned an error (genErr)");
    expect(reads.get("empty")?.columns.get("none")).toMatchObject({ isComplete: true });
  });

  test("is read completely if it responds late, only in small packets, or not to large requests", async () => {
    const faultyAgents: readonly (readonly [AgentFaults, number?])[] = [
      [{ delayMs: 1 }],
      [{ tooBigAboveVarbinds: 3 }],
      [{ silentAboveVarbinds: 12 }],
      [{}, 484],
      [{ dropFirst: 1 }],
    ];
    for (const [faults, maxDatagramBytes] of faultyAgents) {
      const target = await agent(faults, maxDatagramBytes === undefined ? {} : { maxDatagramBytes });
      expect(await query(target, [community("public")])).toMatchObject({ ok: true });
      expect(size()).toBe(200);
      expect(problem()).toBeNull();
    }
  });

  test("is given enough time if a table takes longer than the first request", async () => {
    const target = await agent({
      alter: (response) => {
        if (target.requestCount === 3) target.faults.delayMs = 80;
        else delete target.faults.delayMs;
        return response;
      },
    });
    expect(await query(target, [community("public")], { timeouts: { timeoutMs: 5_000, retries: 0 } })).toMatchObject({
      ok: true,
    });
    expect(size()).toBe(200);
    expect(new Set(target.requests.map((request) => request.requestId)).size).toBe(target.requestCount);
  });

  test("is read completely if every third response is lost", async () => {
    const timers = new ManualTimers();
    let count = 0;
    const target = await agent({
      alter: (response) => {
        count += 1;
        if (count % 3 !== 0) return response;
        timers.advance(timers.waits.at(-1) as number);
        return null;
      },
    });
    const timeouts = { timeoutMs: 10, retries: 4 };
    expect(await query(target, [community("public")], { timers, timeouts })).toMatchObject({ ok: true });
    expect(size()).toBe(200);
  });

  test("yields the data read so far immediately if it disappears", async () => {
    const target = await agent({
      alter: (response) => {
        if (target.varbindCount > 100) queueMicrotask(() => target.close());
        return response;
      },
    });
    expect(await query(target, [community("public")], { timeouts: { timeoutMs: 10_000, retries: 0 } })).toMatchObject({
      ok: true,
    });
    expect(problem()).toBe("the port is closed: no SNMP agent listens there");
  });
});

test("a read leaves no socket open, canceled or not", async () => {
  const targets = [
    await agent(),
    await agent({ isSilent: true }),
    await agent({ silentAfterVarbinds: 30 }),
    await v3Agent(ann),
  ];
  const before = await stableDescriptorCount();
  const stop = new AbortController();
  const queries = targets.flatMap((target) => [
    query(target, [community("public"), user("ann")]),
    query(target, [community("public"), user("ann")], {
      signal: stop.signal,
      timeouts: { timeoutMs: 10_000, retries: 0 },
    }),
  ]);
  stop.abort();
  const outcomes = await Promise.all(queries);
  expect(outcomes.filter((response) => !response.ok && response.failures.at(-1)?.reason === "cancelled")).toHaveLength(
    targets.length,
  );
  expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
});
