// SNMPv3: every protocol of the contract, contexts, and reasons of refusals; with an agent of net-snmp and, if
// installed, Debian's snmpd.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authentication, type User } from "net-snmp";
import type { UserCredential } from "../../src/discovery/snmp/credential.ts";
import { isFailure } from "../../src/discovery/snmp/failure.ts";
import { forgetKeys } from "../../src/discovery/snmp/net-snmp-user.ts";
import { ERROR_STATUS } from "../../src/discovery/snmp/requests.ts";
import { openSnmpSession, type SnmpSession } from "../../src/discovery/snmp/session.ts";
import { walk } from "../../src/discovery/snmp/walk.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { closedAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, never, SHORT_TIMEOUTS, sessionTo, user } from "../support/snmp/sessions.ts";
import { REPORT, startV3Agent, type V3Agent, type V3Faults } from "../support/snmp/v3-agent.ts";
import { viewOf } from "../support/snmp/view.ts";

const NAME = "1.3.6.1.2.1.1.5.0";
const getName = { kind: "Get", oids: [NAME] } as const;
const AUTH = { Md5: 2, Sha1: 3, Sha256: 5, Sha384: 6, Sha512: 7 } as const;
const PRIV = { Des: 2, Aes128: 4, Aes256: 6 } as const;
const AES_256_REEDER = 8;
const [AUTH_KEY, PRIV_KEY] = ["authpass123", "privpass123"];

/** Long enough for engine discovery, short enough to wait for a missing answer. */
const BRIEF = { timeoutMs: 60, retries: 0 };

const untilEnd = closedAfterEach();

async function agent(users: readonly User[], faults: V3Faults = {}): Promise<V3Agent> {
  const descriptions = Object.fromEntries(
    Array.from({ length: 120 }, (_, row) => [`1.3.6.1.2.1.2.2.1.2.${row + 1}`, `port ${row + 1}`]),
  );
  const contexts = {
    "": viewOf({ [NAME]: "switch", ...descriptions }),
    "vlan-10": viewOf({ [NAME]: "ten" }),
    routing: viewOf({ [NAME]: "routing" }),
  };
  return untilEnd(await startV3Agent({ users, contexts, faults }));
}

async function session(...args: Parameters<typeof sessionTo>): Promise<SnmpSession> {
  return untilEnd(await sessionTo(...args));
}

const ann: User = {
  name: "ann",
  level: 3,
  authProtocol: AUTH.Sha1,
  authKey: AUTH_KEY,
  privProtocol: PRIV.Aes128,
  privKey: PRIV_KEY,
};

describe("a user", () => {
  const combinations: { auth: UserCredential["auth_protocol"]; priv: UserCredential["priv_protocol"] }[] = [
    { auth: "None", priv: "None" },
  ];
  for (const auth of ["Md5", "Sha1", "Sha256", "Sha384", "Sha512"] as const)
    for (const priv of ["None", "Des", "Aes128", "Aes256"] as const) combinations.push({ auth, priv });

  test.each(combinations)("with $auth and $priv can read", async ({ auth, priv }) => {
    const level = auth === "None" ? 1 : priv === "None" ? 2 : 3;
    const known = {
      name: "u",
      level,
      ...(auth === "None" ? {} : { authProtocol: AUTH[auth], authKey: AUTH_KEY }),
      ...(priv === "None" ? {} : { privProtocol: PRIV[priv], privKey: PRIV_KEY }),
    };
    const asking = await session(await agent([known]), user("u", { auth_protocol: auth, priv_protocol: priv }));
    const { columns } = await walk(asking, { descr: "1.3.6.1.2.1.2.2.1.2" }, { signal: never });
    expect(columns.get("descr")?.isComplete).toBe(true);
    expect(columns.get("descr")?.values.size).toBe(120);
  });

  test("with AES-256 and a short digest can read with the device's key extension, and no other", async () => {
    const reeder = await agent([{ ...ann, privProtocol: AES_256_REEDER }]);
    const credential = user("ann", { priv_protocol: "Aes256" });
    expect(await (await session(reeder, credential, { keyExtension: "Reeder" })).ask(getName, never)).toMatchObject({
      errorStatus: 0,
    });
    const other = await session(reeder, credential, { keyExtension: "Blumenthal", timeouts: BRIEF });
    expect(isFailure(await other.ask(getName, never))).toBe(true);
    expect(other.hasFoundEngine).toBe(true);
  });

  test("reads its own context and VLAN contexts, and is notified of an unknown one", async () => {
    const target = await agent([ann]);
    const asking = await session(target, user("ann"));
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
    expect(await asking.inVlan(10).ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("ten") }] });
    expect(await asking.inVlan(11).ask(getName, never)).toEqual({
      reason: "unsupported",
      clause: "the device does not serve the context",
    });
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
    expect(await (await session(target, user("ann", { context_name: "routing" }))).ask(getName, never)).toMatchObject({
      varbinds: [{ value: Buffer.from("routing") }],
    });
  });

  test("discovers the engine once, for all requests", async () => {
    const target = await agent([ann]);
    const asking = await session(target, user("ann"));
    for (let count = 0; count < 5; count += 1) await asking.ask(getName, never);
    expect(target.datagramCount).toBe(6);
  });

  test("leaves no keys in memory after disposal, and can be used again", async () => {
    const asking = await session(await agent([ann]), user("ann"));
    await asking.ask(getName, never);
    const cache = (): object => (Authentication as unknown as { authToKeyCache: object }).authToKeyCache;
    expect(JSON.stringify(Object.keys(cache()))).toContain(AUTH_KEY);
    forgetKeys();
    expect(Object.keys(cache())).toEqual([]);
    expect(await asking.ask(getName, never)).toMatchObject({ errorStatus: 0 });
  });
});

describe("a refused user", () => {
  test("is distinguished from a wrong password, without waiting", async () => {
    const target = await agent([ann]);
    const told = async (credential: UserCredential) =>
      (await session(target, credential, { timers: new ManualTimers() })).ask(getName, never);
    expect(await told(user("bob"))).toEqual({ reason: "wrong_user", clause: "the device has no user with this name" });
    expect(await told(user("ann", { auth_password: "another123" }))).toEqual({
      reason: "wrong_password",
      clause: "the authentication password or protocol is wrong",
    });
  });

  test("with a wrong privacy password times out, and the report says so", async () => {
    const target = await agent([ann]);
    expect(
      await (await session(target, user("ann", { priv_password: "another123" }), { timeouts: BRIEF })).ask(
        getName,
        never,
      ),
    ).toEqual({
      reason: "no_answer",
      clause:
        "no answer after it sent its engine id: the privacy password or protocol is wrong, or the user may not read",
    });
  });

  test("with an incomplete credential is never sent", async () => {
    const target = await agent([ann]);
    const options = { timers: new ManualTimers(), random: seededRandom(1) };
    expect(await openSnmpSession(target, user("ann", { auth_password: null }), options)).toMatchObject({
      reason: "unsupported",
      clause: "the credential has no authentication password",
    });
    expect(await openSnmpSession(target, user("ann", { priv_password: null }), options)).toMatchObject({
      reason: "unsupported",
      clause: "the credential has no privacy password",
    });
    expect(target.datagramCount).toBe(0);
  });

  test.each([
    ["unsupportedSecurityLevel", "unsupported"],
    ["unknownUserName", "wrong_user"],
    ["wrongDigest", "wrong_password"],
    ["decryptionError", "wrong_password"],
    ["notInTimeWindow", "garbage"],
    ["unknownEngineId", "garbage"],
    ["unknownContext", "unsupported"],
  ] as const)("with a Report of %s is reported: %s", async (report, reason) => {
    const target = await agent([ann], { report: { oid: REPORT[report], boots: 3, time: 100 } });
    expect(
      await (await session(target, user("ann"), { timers: new ManualTimers() })).ask(getName, never),
    ).toMatchObject({ reason });
    expect(target.datagramCount).toBeLessThan(5);
  });

  test("is given up if the agent keeps requesting resynchronization", async () => {
    const target = await agent([ann], { report: { oid: REPORT.notInTimeWindow, boots: 0, time: 0 } });
    expect(
      await (await session(target, user("ann"), { timers: new ManualTimers() })).ask(getName, never),
    ).toMatchObject({ reason: "garbage" });
    expect(target.datagramCount).toBeLessThan(6);
  });

  test("of an agent without v3 times out, and the report says so", async () => {
    const target = await agent([ann], { alter: () => null });
    expect(await (await session(target, user("ann"), { timeouts: SHORT_TIMEOUTS })).ask(getName, never)).toEqual({
      reason: "no_answer",
      clause: "no answer: no agent, or it does not speak SNMPv3",
    });
  });
});

describe("a v3 answer", () => {
  test("without the request's protection is rejected", async () => {
    // In a signed, unencrypted message, an attacker on the path can clear the flag and alter the content.
    const target = await agent([{ name: "ann", level: 2, authProtocol: AUTH.Sha1, authKey: AUTH_KEY }]);
    const asking = await session(target, user("ann", { priv_protocol: "None" }), { timers: new ManualTimers() });
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("switch") }] });
    target.faults.alter = (answer) => {
      const stripped = Uint8Array.from(answer);
      stripped[flagsAt(stripped)] = 0;
      return stripped;
    };
    expect(await asking.ask(getName, never)).toMatchObject({ reason: "garbage" });
  });

  test("with a matching message id and another request id is rejected", async () => {
    const target = await agent([{ name: "ann", level: 1 }]);
    const asking = await session(target, user("ann", { auth_protocol: "None", priv_protocol: "None" }), {
      timers: new ManualTimers(),
    });
    expect(await asking.ask(getName, never)).toMatchObject({ errorStatus: 0 });
    target.faults.hasOtherRequestId = true;
    expect(await asking.ask(getName, never)).toMatchObject({ reason: "garbage" });
  });

  test("allows all of a request's retries, even after engine discovery used some", async () => {
    const timers = new ManualTimers();
    let count = 0;
    const target = await agent([ann], {
      alter: (answer) => {
        count += 1;
        if (count % 2 === 0) return answer;
        timers.advance(timers.waits.at(-1) as number);
        return null;
      },
    });
    const asking = await session(target, user("ann"), { timers, timeouts: { timeoutMs: 30, retries: 1 } });
    expect(await asking.ask(getName, never)).toMatchObject({ errorStatus: 0 });
    expect(target.datagramCount).toBe(4);
  });
});

/** Offset of the msgFlags byte: after the maximum size, an OCTET STRING of length one. */
function flagsAt(message: Uint8Array): number {
  const maximum = [2, 3, 0, 0xff, 0xe3, 4, 1];
  return Buffer.from(message).indexOf(Buffer.from(maximum)) + maximum.length;
}

const SNMPD = "/usr/sbin/snmpd";

describe.skipIf(!existsSync(SNMPD))("Debian's snmpd (skipped without /usr/sbin/snmpd)", () => {
  let port = 0;
  let folder = "";
  let daemon: Bun.Subprocess<"ignore", "pipe", "ignore"> | null = null;
  let target = { address: "127.0.0.1", port };

  beforeAll(async () => {
    const free = await Bun.udpSocket({ hostname: "127.0.0.1", port: 0 });
    port = free.port;
    target = { ...target, port };
    free.close();
    folder = mkdtempSync(join(tmpdir(), "netledger-snmpd-"));
    const users = [
      ["md5des", "MD5", "DES"],
      ["sha1aes", "SHA", "AES"],
      ["sha256aes", "SHA-256", "AES"],
      ["sha384aes", "SHA-384", "AES"],
      ["sha512aes256", "SHA-512", "AES-256"],
      ["sha1aes256", "SHA", "AES-256"],
      ["sha1reeder", "SHA", "AES-256-C"],
    ];
    const lines = users.flatMap(([name, auth, priv]) => [
      `createUser ${name} ${auth} "${AUTH_KEY}" ${priv} "${PRIV_KEY}"`,
      `rouser ${name} priv`,
    ]);
    writeFileSync(
      join(folder, "snmpd.conf"),
      [
        `agentAddress udp:127.0.0.1:${port},udp6:[::1]:${port}`,
        "rocommunity public 127.0.0.1",
        "sysName real",
        ...lines,
        "",
      ].join("\n"),
    );
    daemon = Bun.spawn(
      [SNMPD, "-f", "-C", "-c", join(folder, "snmpd.conf"), "-I", "-smux", "-p", join(folder, "pid"), "-Lo"],
      { env: { MIBS: "", SNMP_PERSISTENT_DIR: folder }, stdout: "pipe", stderr: "ignore" },
    );
    // Its message once the sockets are open.
    let log = "";
    for await (const chunk of daemon.stdout) {
      log += Buffer.from(chunk).toString();
      if (log.includes("NET-SNMP version")) return;
    }
    throw new Error(`snmpd did not start: ${log}`);
  });

  afterAll(async () => {
    daemon?.kill("SIGKILL");
    await daemon?.exited;
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  test.each([
    ["md5des", "Md5", "Des"],
    ["sha1aes", "Sha1", "Aes128"],
    ["sha256aes", "Sha256", "Aes128"],
    ["sha384aes", "Sha384", "Aes128"],
    ["sha512aes256", "Sha512", "Aes256"],
    ["sha1aes256", "Sha1", "Aes256"],
    ["sha1reeder", "Sha1", "Aes256"],
  ] as const)("accepts %s and returns a whole subtree", async (name, auth_protocol, priv_protocol) => {
    const keyExtension = name === "sha1reeder" ? "Reeder" : "Blumenthal";
    const { columns, failure } = await walk(
      await session(target, user(name, { auth_protocol, priv_protocol }), { keyExtension }),
      { system: "1.3.6.1.2.1.1", interfaces: "1.3.6.1.2.1.2" },
      { signal: never },
    );
    expect(failure).toBeNull();
    expect(columns.get("system")).toMatchObject({ isComplete: true });
    expect(Buffer.from(columns.get("system")?.values.get("5.0") as Uint8Array).toString()).toBe("real");
    expect(columns.get("interfaces")?.values.size).toBeGreaterThan(20);
  });

  test("answers v1 and v2c alike, over IPv6 too", async () => {
    const read = async (credential: ReturnType<typeof community>) =>
      (await walk(await session(target, credential), { system: "1.3.6.1.2.1.1.9.1.3" }, { signal: never })).columns.get(
        "system",
      );
    const [one, two] = [await read(community("public", "SnmpV1")), await read(community("public"))];
    expect(one?.values.size).toBeGreaterThan(3);
    expect(one).toEqual(two);
    const asking = await session({ address: "::1", port }, user("sha1aes"));
    expect(await asking.ask(getName, never)).toMatchObject({ varbinds: [{ value: Buffer.from("real") }] });
  });

  test("reveals if user, password or level is wrong", async () => {
    const told = async (credential: UserCredential) =>
      (await session(target, credential, { timers: new ManualTimers() })).ask(getName, never);
    expect(await told(user("nobody"))).toMatchObject({ reason: "wrong_user" });
    expect(await told(user("sha1aes", { auth_password: "another123" }))).toMatchObject({ reason: "wrong_password" });
    expect(await told(user("sha1aes", { auth_protocol: "Md5", priv_protocol: "Des" }))).toMatchObject({
      reason: "wrong_password",
    });
    expect(await told(user("sha1aes", { auth_protocol: "None", priv_protocol: "None" }))).toMatchObject({
      errorStatus: ERROR_STATUS.authorizationError,
    });
    expect(
      await (await session(target, user("sha1aes", { priv_password: "another123" }), { timeouts: BRIEF })).ask(
        getName,
        never,
      ),
    ).toMatchObject({ reason: "no_answer", clause: expect.stringContaining("privacy password") });
    expect(
      await (await session(target, community("private"), { timeouts: SHORT_TIMEOUTS })).ask(getName, never),
    ).toMatchObject({ reason: "no_answer" });
  });

  test("is a closed port once killed", async () => {
    const asking = await session(target, user("sha1aes"), { timers: new ManualTimers() });
    expect(await asking.ask(getName, never)).toMatchObject({ errorStatus: 0 });
    daemon?.kill("SIGKILL");
    await daemon?.exited;
    expect(await asking.ask(getName, never)).toMatchObject({ reason: "port_closed" });
  });
});
