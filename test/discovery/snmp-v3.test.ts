// SNMPv3: every supported protocol, contexts, and reasons for failures; with a net-snmp agent and, if installed,
// Debian's snmpd.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authentication, type User } from "net-snmp";
import type { UserCredential } from "../../src/discovery/snmp/credential.ts";
import { isFailure } from "../../src/discovery/snmp/failure.ts";
import { forgetKeys } from "../../src/discovery/snmp/net-snmp-user.ts";
import { ERROR_STATUS } from "../../src/discovery/snmp/requests.ts";
import { openSnmpSession } from "../../src/discovery/snmp/session.ts";
import { walk } from "../../src/discovery/snmp/walk.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { getName, NAME, named, sessionsForEach } from "../support/snmp/closed-after-each.ts";
import { community, neverAborted, SHORT_TIMEOUTS, user } from "../support/snmp/sessions.ts";
import { ann, REPORT, startV3Agent, type V3Agent, type V3Faults } from "../support/snmp/v3-agent.ts";
import { viewOf } from "../support/snmp/view.ts";

const AUTH = { Md5: 2, Sha1: 3, Sha256: 5, Sha384: 6, Sha512: 7 } as const;
const PRIV = { Des: 2, Aes128: 4, Aes256: 6 } as const;
const AES_256_REEDER = 8;
const [AUTH_KEY, PRIV_KEY] = ["authpass123", "privpass123"];

/** Long enough for engine discovery, short enough to wait for a missing response. */
const BRIEF = { timeoutMs: 60, retries: 0 };

const { closeAfterTest, session, nameAt } = sessionsForEach();

async function agent(users: readonly User[], faults: V3Faults = {}): Promise<V3Agent> {
  const descriptions = Object.fromEntries(
    Array.from({ length: 120 }, (_, row) => [`1.3.6.1.2.1.2.2.1.2.${row + 1}`, `port ${row + 1}`]),
  );
  const contexts = {
    "": viewOf({ [NAME]: "switch", ...descriptions }),
    "vlan-10": viewOf({ [NAME]: "ten" }),
    routing: viewOf({ [NAME]: "routing" }),
  };
  return closeAfterTest(await startV3Agent({ users, contexts, faults }));
}

describe("a user", () => {
  const combinations: { auth: UserCredential["auth_protocol"]; priv: UserCredential["priv_protocol"] }[] = [
    { auth: "None", priv: "None" },
  ];
  for (const auth of ["Md5", "Sha1", "Sha256", "Sha384", "Sha512"] as const)
    for (const priv of ["None", "Des", "Aes128", "Aes256"] as const) combinations.push({ auth, priv });

  test.each(combinations)("with $auth and $priv can read", async ({ auth, priv }) => {
    const level = auth === "None" ? 1 : priv === "None" ? 2 : 3;
    const servedUser = {
      name: "u",
      level,
      ...(auth === "None" ? {} : { authProtocol: AUTH[auth], authKey: AUTH_KEY }),
      ...(priv === "None" ? {} : { privProtocol: PRIV[priv], privKey: PRIV_KEY }),
    };
    const client = await session(await agent([servedUser]), user("u", { auth_protocol: auth, priv_protocol: priv }));
    const { columns } = await walk(client, { descr: "1.3.6.1.2.1.2.2.1.2" }, { signal: neverAborted });
    expect(columns.get("descr")?.isComplete).toBe(true);
    expect(columns.get("descr")?.values.size).toBe(120);
  });

  test("with AES-256 and a short digest can read with the device's key extension, and no other", async () => {
    const reeder = await agent([{ ...ann, privProtocol: AES_256_REEDER }]);
    const credential = user("ann", { priv_protocol: "Aes256" });
    expect(await nameAt(reeder, credential, { keyExtension: "Reeder" })).toMatchObject({ errorStatus: 0 });
    const other = await session(reeder, credential, { keyExtension: "Blumenthal", timeouts: BRIEF });
    expect(isFailure(await other.request(getName, neverAborted))).toBe(true);
    expect(other.hasFoundEngine).toBe(true);
  });

  test("reads its own context and VLAN contexts, and an unknown one is reported", async () => {
    const target = await agent([ann]);
    const client = await session(target, user("ann"));
    expect(await client.request(getName, neverAborted)).toMatchObject(named("switch"));
    expect(await client.inVlan(10).request(getName, neverAborted)).toMatchObject(named("ten"));
    expect(await client.inVlan(11).request(getName, neverAborted)).toEqual({
      reason: "unsupported",
      clause: "the device does not serve the context",
    });
    expect(await client.request(getName, neverAborted)).toMatchObject(named("switch"));
    expect(await nameAt(target, user("ann", { context_name: "routing" }))).toMatchObject(named("routing"));
  });

  test("discovers the engine once, for all requests", async () => {
    const target = await agent([ann]);
    const client = await session(target, user("ann"));
    for (let count = 0; count < 5; count += 1) await client.request(getName, neverAborted);
    expect(target.datagramCount).toBe(6);
  });

  test("leaves no keys in memory after disposal, and can be used again", async () => {
    const client = await session(await agent([ann]), user("ann"));
    await client.request(getName, neverAborted);
    const cache = (): object => (Authentication as unknown as { authToKeyCache: object }).authToKeyCache;
    expect(JSON.stringify(Object.keys(cache()))).toContain(AUTH_KEY);
    forgetKeys();
    expect(Object.keys(cache())).toEqual([]);
    expect(await client.request(getName, neverAborted)).toMatchObject({ errorStatus: 0 });
  });
});

describe("a refused user", () => {
  test("is distinguished from a wrong password, without waiting", async () => {
    const target = await agent([ann]);
    const getNameAs = (credential: UserCredential) => nameAt(target, credential, { timers: new ManualTimers() });
    expect(await getNameAs(user("bob"))).toEqual({
      reason: "wrong_user",
      clause: "the device has no user with this name",
    });
    expect(await getNameAs(user("ann", { auth_password: "another123" }))).toEqual({
      reason: "wrong_password",
      clause: "the authentication password or protocol is wrong",
    });
  });

  test("times out with a wrong privacy password, and the error names that cause", async () => {
    const target = await agent([ann]);
    expect(await nameAt(target, user("ann", { priv_password: "another123" }), { timeouts: BRIEF })).toEqual({
      reason: "no_answer",
      clause:
        "no response after engine discovery: the privacy password or protocol is wrong, or the user has no read access",
    });
  });

  test("is never sent if its credential is incomplete", async () => {
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
  ] as const)("is reported for a Report of %s as %s", async (report, reason) => {
    const target = await agent([ann], { report: { oid: REPORT[report], boots: 3, time: 100 } });
    expect(await nameAt(target, user("ann"), { timers: new ManualTimers() })).toMatchObject({ reason });
    expect(target.datagramCount).toBeLessThan(5);
  });

  test("is given up if the agent keeps requesting resynchronization", async () => {
    const target = await agent([ann], { report: { oid: REPORT.notInTimeWindow, boots: 0, time: 0 } });
    expect(await nameAt(target, user("ann"), { timers: new ManualTimers() })).toMatchObject({ reason: "garbage" });
    expect(target.datagramCount).toBeLessThan(6);
  });

  test("times out at an agent without v3, and the error names that cause", async () => {
    const target = await agent([ann], { alter: () => null });
    expect(await nameAt(target, user("ann"), { timeouts: SHORT_TIMEOUTS })).toEqual({
      reason: "no_answer",
      clause: "no response: no SNMP agent, or it does not support SNMPv3",
    });
  });
});

describe("a v3 response", () => {
  test("is rejected without the request's protection", async () => {
    // In a signed, unencrypted message, an attacker on the path can clear the flag and alter the content.
    const target = await agent([{ name: "ann", level: 2, authProtocol: AUTH.Sha1, authKey: AUTH_KEY }]);
    const client = await session(target, user("ann", { priv_protocol: "None" }), { timers: new ManualTimers() });
    expect(await client.request(getName, neverAborted)).toMatchObject(named("switch"));
    target.faults.alter = (response) => {
      const stripped = Uint8Array.from(response);
      stripped[flagsAt(stripped)] = 0;
      return stripped;
    };
    expect(await client.request(getName, neverAborted)).toMatchObject({ reason: "garbage" });
  });

  test("is rejected with a matching message id but another request id", async () => {
    const target = await agent([{ name: "ann", level: 1 }]);
    const client = await session(target, user("ann", { auth_protocol: "None", priv_protocol: "None" }), {
      timers: new ManualTimers(),
    });
    expect(await client.request(getName, neverAborted)).toMatchObject({ errorStatus: 0 });
    target.faults.hasOtherRequestId = true;
    expect(await client.request(getName, neverAborted)).toMatchObject({ reason: "garbage" });
  });

  test("may take all of a request's retries, even after engine discovery used some", async () => {
    const timers = new ManualTimers();
    let count = 0;
    const target = await agent([ann], {
      alter: (response) => {
        count += 1;
        if (count % 2 === 0) return response;
        timers.advance(timers.waits.at(-1) as number);
        return null;
      },
    });
    const client = await session(target, user("ann"), { timers, timeouts: { timeoutMs: 30, retries: 1 } });
    expect(await client.request(getName, neverAborted)).toMatchObject({ errorStatus: 0 });
    expect(target.datagramCount).toBe(4);
  });
});

/** Offset of the msgFlags byte: after the maximum size, an OCTET STRING of length one. */
function flagsAt(message: Uint8Array): number {
  const maximum = [2, 3, 0, 0xff, 0xe3, 4, 1];
  return Buffer.from(message).indexOf(Buffer.from(maximum)) + maximum.length;
}

const SNMPD = "/usr/sbin/snmpd";
/** Users with their protocols, as named by the product and by snmpd. */
const SNMPD_USERS = [
  ["md5des", "Md5", "Des", "MD5 DES"],
  ["sha1aes", "Sha1", "Aes128", "SHA AES"],
  ["sha256aes", "Sha256", "Aes128", "SHA-256 AES"],
  ["sha384aes", "Sha384", "Aes128", "SHA-384 AES"],
  ["sha512aes256", "Sha512", "Aes256", "SHA-512 AES-256"],
  ["sha1aes256", "Sha1", "Aes256", "SHA AES-256"],
  ["sha1reeder", "Sha1", "Aes256", "SHA AES-256-C"],
] as const;

describe.skipIf(!existsSync(SNMPD))("Debian's snmpd (skipped without /usr/sbin/snmpd)", () => {
  let port = 0;
  let folder = "";
  let daemon: Bun.Subprocess<"ignore", "pipe", "ignore"> | null = null;
  let target = { address: "127.0.0.1", port };

  beforeAll(async () => {
    const probeSocket = await Bun.udpSocket({ hostname: "127.0.0.1", port: 0 });
    port = probeSocket.port;
    target = { ...target, port };
    probeSocket.close();
    folder = mkdtempSync(join(tmpdir(), "netledger-snmpd-"));
    const lines = SNMPD_USERS.flatMap(([name, , , protocols]) => {
      const [auth, priv] = protocols.split(" ");
      return [`createUser ${name} ${auth} "${AUTH_KEY}" ${priv} "${PRIV_KEY}"`, `rouser ${name} priv`];
    });
    const addresses = `agentAddress udp:127.0.0.1:${port},udp6:[::1]:${port}`;
    const conf = [addresses, "rocommunity public 127.0.0.1", "sysName real", ...lines, ""];
    writeFileSync(join(folder, "snmpd.conf"), conf.join("\n"));
    daemon = Bun.spawn(
      [SNMPD, "-f", "-C", "-c", join(folder, "snmpd.conf"), "-I", "-smux", "-p", join(folder, "pid"), "-Lo"],
      { env: { MIBS: "", SNMP_PERSISTENT_DIR: folder }, stdout: "pipe", stderr: "ignore" },
    );
    // Printed once the sockets are open.
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

  test.each(SNMPD_USERS)("accepts %s and returns complete subtrees", async (name, auth_protocol, priv_protocol) => {
    const keyExtension = name === "sha1reeder" ? "Reeder" : "Blumenthal";
    const { columns, failure } = await walk(
      await session(target, user(name, { auth_protocol, priv_protocol }), { keyExtension }),
      { system: "1.3.6.1.2.1.1", interfaces: "1.3.6.1.2.1.2" },
      { signal: neverAborted },
    );
    expect(failure).toBeNull();
    expect(columns.get("system")).toMatchObject({ isComplete: true });
    expect(Buffer.from(columns.get("system")?.values.get("5.0") as Uint8Array).toString()).toBe("real");
    expect(columns.get("interfaces")?.values.size).toBeGreaterThan(20);
  });

  test("responds to v1 and v2c alike, including over IPv6", async () => {
    const read = async (credential: ReturnType<typeof community>) =>
      (
        await walk(await session(target, credential), { system: "1.3.6.1.2.1.1.9.1.3" }, { signal: neverAborted })
      ).columns.get("system");
    const [v1Result, v2Result] = [await read(community("public", "SnmpV1")), await read(community("public"))];
    expect(v1Result?.values.size).toBeGreaterThan(3);
    expect(v1Result).toEqual(v2Result);
    const client = await session({ address: "::1", port }, user("sha1aes"));
    expect(await client.request(getName, neverAborted)).toMatchObject(named("real"));
  });

  test("reveals whether the user, password or level is wrong", async () => {
    const getNameAs = (credential: UserCredential) => nameAt(target, credential, { timers: new ManualTimers() });
    expect(await getNameAs(user("nobody"))).toMatchObject({ reason: "wrong_user" });
    expect(await getNameAs(user("sha1aes", { auth_password: "another123" }))).toMatchObject({
      reason: "wrong_password",
    });
    expect(await getNameAs(user("sha1aes", { auth_protocol: "Md5", priv_protocol: "Des" }))).toMatchObject({
      reason: "wrong_password",
    });
    expect(await getNameAs(user("sha1aes", { auth_protocol: "None", priv_protocol: "None" }))).toMatchObject({
      errorStatus: ERROR_STATUS.authorizationError,
    });
    const wrongPrivacy = user("sha1aes", { priv_password: "another123" });
    expect(await nameAt(target, wrongPrivacy, { timeouts: BRIEF })).toMatchObject({
      reason: "no_answer",
      clause: expect.stringContaining("privacy password"),
    });
    expect(await nameAt(target, community("private"), { timeouts: SHORT_TIMEOUTS })).toMatchObject({
      reason: "no_answer",
    });
  });

  test("is reported as a closed port once killed", async () => {
    const client = await session(target, user("sha1aes"), { timers: new ManualTimers() });
    expect(await client.request(getName, neverAborted)).toMatchObject({ errorStatus: 0 });
    daemon?.kill("SIGKILL");
    await daemon?.exited;
    expect(await client.request(getName, neverAborted)).toMatchObject({ reason: "port_closed" });
  });
});
