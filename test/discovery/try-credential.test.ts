// Trial of a credential with an agent, step by step, with actionable results that claim no more than the protocol
// reveals.

import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { User } from "net-snmp";
import type { SnmpCredential } from "../../src/discovery/snmp/credential.ts";
import type { TrialStep } from "../../src/discovery/snmp/trial-steps.ts";
import { type TryCredentialOptions, tryCredential } from "../../src/discovery/snmp/try-credential.ts";
import { patientTimers } from "../support/injected/patient-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type AgentOptions, startAgent } from "../support/snmp/agent.ts";
import { closeAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, neverAborted, user } from "../support/snmp/sessions.ts";
import { REPORT, startV3Agent, type V3Agent, type V3Faults } from "../support/snmp/v3-agent.ts";
import { type SnmpView, viewOf } from "../support/snmp/view.ts";

const closeAfterTest = closeAfterEach();

const SYSTEM = {
  "1.3.6.1.2.1.1.1.0": "Acme Switch 48, version 7.2",
  "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.9.1.516" },
  "1.3.6.1.2.1.1.3.0": 4_200,
  "1.3.6.1.2.1.1.5.0": "access-1",
};
const SWITCH = {
  ...SYSTEM,
  ...Object.fromEntries(Array.from({ length: 60 }, (_, row) => [`1.3.6.1.2.1.2.2.1.2.${row + 1}`, `Gi0/${row + 1}`])),
  "1.3.6.1.2.1.4.20.1.2.10.0.0.1": 1,
  "1.3.6.1.2.1.17.4.3.1.2.0.27.33.0.83.1": 7,
  "1.3.6.1.2.1.17.4.3.1.2.0.27.33.0.83.2": 7,
};
const [AUTH_KEY, PRIV_KEY] = ["authpass123", "privpass123"];
const ann: User = { name: "ann", level: 3, authProtocol: 3, authKey: AUTH_KEY, privProtocol: 4, privKey: PRIV_KEY };

/** Timeouts for expected silence. */
const BRIEF = { timeouts: { timeoutMs: 500, retries: 1 } };
/** Timeouts for expected responses, even on a busy machine. */
const PATIENT = { timeoutMs: 3_000, retries: 1 };

async function runTrial(
  target: { readonly address: string; readonly port: number },
  credential: SnmpCredential,
  options: Partial<TryCredentialOptions> = {},
): Promise<TrialStep[]> {
  const reportedSteps: TrialStep[] = [];
  const steps = await tryCredential(target, credential, {
    maySend: () => true,
    onStep: (step) => reportedSteps.push(step),
    signal: neverAborted,
    timers: patientTimers,
    random: seededRandom(1),
    timeouts: PATIENT,
    ...options,
  });
  // Each step was reported when it ended.
  expect(reportedSteps).toEqual(steps);
  return steps;
}

async function agent(view: SnmpView, options: Partial<AgentOptions> = {}) {
  return closeAfterTest(await startAgent({ communities: { public: view }, ...options }));
}

async function v3Agent(users: readonly User[] = [ann], faults: V3Faults = {}, view = viewOf(SWITCH)): Promise<V3Agent> {
  return closeAfterTest(await startV3Agent({ users, contexts: { "": view }, faults }));
}

const outcomes = (steps: readonly TrialStep[]): Record<string, unknown> =>
  Object.fromEntries(steps.map(({ step, outcome, reason }) => [step, reason === null ? outcome : [outcome, reason]]));
const stepOf = (steps: readonly TrialStep[], name: string) => steps.find(({ step }) => step === name) as TrialStep;

const NOT_TRIED = {
  system: "NotTried",
  interfaces: "NotTried",
  addresses: "NotTried",
  lldp: "NotTried",
  forwarding: "NotTried",
};

describe("a community", () => {
  test.each(["SnmpV1", "SnmpV2c"] as const)(
    "yields the device's identity and tables if correct: %s",
    async (version) => {
      const target = await agent(viewOf(SWITCH));
      const steps = await runTrial(target, community("public", version));
      expect(outcomes(steps)).toEqual({
        agent: "Passed",
        authentication: "Passed",
        system: "Passed",
        interfaces: "Passed",
        addresses: "Passed",
        lldp: "Empty",
        forwarding: "Passed",
      });
      expect(stepOf(steps, "system").facts).toEqual([
        { name: "sys_name", value: "access-1" },
        { name: "sys_descr", value: "Acme Switch 48, version 7.2" },
        { name: "sys_object_id", value: "1.3.6.1.4.1.9.1.516" },
      ]);
      expect(stepOf(steps, "interfaces").facts).toEqual([{ name: "rows", value: "50 or more" }]);
      expect(stepOf(steps, "forwarding").sentence).toContain("2 rows");
      // A sample of the rows suffices.
      expect(target.varbindCount).toBeLessThan(250);
    },
  );

  test("is distinguished from a missing agent if wrong and the agent supports SNMPv3", async () => {
    const steps = await runTrial(await v3Agent(), community("wrong"), BRIEF);
    expect(outcomes(steps)).toEqual({ agent: "Passed", authentication: ["Failed", "no_answer"], ...NOT_TRIED });
    expect(stepOf(steps, "agent").facts[0]?.name).toBe("engine_id");
    expect(stepOf(steps, "authentication").sentence).toContain("ignores this community: it is wrong");
  });

  test("is reported as ambiguous if wrong and the agent does not support SNMPv3", async () => {
    const steps = await runTrial(await agent(viewOf(SWITCH)), community("wrong"), BRIEF);
    expect(outcomes(steps)).toEqual({
      agent: ["Unclear", "no_answer"],
      authentication: ["Unclear", "no_answer"],
      ...NOT_TRIED,
    });
    expect(stepOf(steps, "agent").sentence).toContain("cannot be distinguished");
  });

  test("is not sent again once withdrawn", async () => {
    const target = await agent(viewOf(SWITCH));
    let sent = 0;
    const steps = await runTrial(target, community("public"), { maySend: () => (sent += 1) <= 2 });
    expect(stepOf(steps, "agent").outcome).toBe("Passed");
    expect(stepOf(steps, "interfaces")).toMatchObject({ outcome: "Failed", reason: "cancelled" });
    expect(stepOf(steps, "addresses").outcome).toBe("NotTried");
    expect(target.requestCount).toBe(2);
  });

  test("fails at a closed port, as reported by the device itself", async () => {
    const closedAgent = await startAgent({ communities: {} });
    closedAgent.close();
    const steps = await runTrial(closedAgent, community("public"));
    expect(outcomes(steps)).toEqual({ agent: ["Failed", "port_closed"], authentication: "NotTried", ...NOT_TRIED });
    expect(stepOf(steps, "agent").sentence).toContain(`UDP port ${closedAgent.port} is closed`);
  });

  test("a trial ends once its client disconnects", async () => {
    const controller = new AbortController();
    const trial = runTrial(await agent(viewOf(SWITCH), { faults: { isSilent: true } }), community("public"), {
      signal: controller.signal,
      timeouts: { timeoutMs: 60_000, retries: 0 },
    });
    controller.abort();
    expect(outcomes(await trial)).toMatchObject({ agent: ["Failed", "cancelled"], authentication: "NotTried" });
  });
});

describe("a MIB view", () => {
  test("is distinguished from a wrong community if empty", async () => {
    const steps = await runTrial(await agent(viewOf({})), community("public"));
    expect(outcomes(steps)).toMatchObject({ authentication: "Passed", system: ["Failed", "nothing_shown"] });
    expect(stepOf(steps, "system").sentence).toContain("its view there is empty");
    expect(stepOf(steps, "interfaces").outcome).toBe("Empty");
  });

  test("is distinguished from an empty one if it lacks only the system group", async () => {
    const { "1.3.6.1.2.1.4.20.1.2.10.0.0.1": row } = SWITCH;
    const steps = await runTrial(await agent(viewOf({ "1.3.6.1.2.1.4.20.1.2.10.0.0.1": row })), community("public"));
    expect(outcomes(steps)).toMatchObject({ system: ["Failed", "nothing_shown"], addresses: "Passed" });
    expect(stepOf(steps, "system").sentence).toContain("add 1.3.6.1.2.1.1 to its view");
  });

  test("is reported as refusing access to a table", async () => {
    const faults = { errorAt: { oid: "1.3.6.1.2.1.2", status: 6, hasIndex: true } };
    const steps = await runTrial(await agent(viewOf(SWITCH), { faults }), community("public"));
    expect(outcomes(steps)).toMatchObject({ system: "Passed", interfaces: ["Failed", "refused"], addresses: "Passed" });
  });
});

describe("a user", () => {
  test("yields the engine, the device's identity and tables if correct", async () => {
    const steps = await runTrial(await v3Agent(), user("ann"));
    expect(outcomes(steps)).toMatchObject({ agent: "Passed", authentication: "Passed", system: "Passed" });
    expect(stepOf(steps, "agent").facts.map(({ name }) => name)).toEqual([
      "engine_id",
      "engine_boots",
      "engine_time_seconds",
    ]);
    expect(stepOf(steps, "authentication").sentence).toContain("authenticated by Sha1 and encrypted by Aes128");
  });

  test("is reported as unknown or as having a wrong password", async () => {
    const target = await v3Agent();
    const unknown = await runTrial(target, user("bob"));
    expect(outcomes(unknown)).toEqual({ agent: "Passed", authentication: ["Failed", "wrong_user"], ...NOT_TRIED });
    expect(stepOf(unknown, "authentication").sentence).toContain("no user bob (unknownUserNames)");
    const wrong = await runTrial(target, user("ann", { auth_password: "another123" }));
    expect(outcomes(wrong)).toEqual({ agent: "Passed", authentication: ["Failed", "wrong_password"], ...NOT_TRIED });
    expect(stepOf(wrong, "authentication").sentence).toContain("(wrongDigests)");
  });

  test("times out with a wrong privacy password, and the step names that cause", async () => {
    const steps = await runTrial(await v3Agent(), user("ann", { priv_password: "another123" }), BRIEF);
    expect(outcomes(steps)).toMatchObject({ agent: "Passed", authentication: ["Unclear", "no_answer"] });
    expect(stepOf(steps, "authentication").sentence).toContain("the privacy password or priv_protocol is wrong");
  });

  test.each([
    ["unsupportedSecurityLevel", "unsupported", "unsupportedSecLevels"],
    ["decryptionError", "wrong_password", "decryptionErrors"],
  ] as const)("is reported with the reason for a Report of %s", async (report, reason, word) => {
    const target = await v3Agent([ann], { report: { oid: REPORT[report], boots: 3, time: 100 } });
    const steps = await runTrial(target, user("ann"));
    expect(stepOf(steps, "authentication")).toMatchObject({ outcome: "Failed", reason });
    expect(stepOf(steps, "authentication").sentence).toContain(word);
  });

  test("is accepted and then rejected at a lower security level than required, unlike with a wrong password", async () => {
    const faults = { errorAt: { oid: "1.3.6.1.2.1", status: 16, hasIndex: true } };
    const target = await v3Agent([{ name: "ann", level: 2, authProtocol: 3, authKey: AUTH_KEY }], faults);
    const steps = await runTrial(target, user("ann", { priv_protocol: "None", priv_password: null }));
    expect(outcomes(steps)).toMatchObject({ authentication: "Passed", system: ["Failed", "refused"] });
    expect(stepOf(steps, "system").sentence).toContain("higher security level");
  });

  test("sends no secret to an agent without SNMPv3", async () => {
    const steps = await runTrial(await agent(viewOf(SWITCH)), user("ann"), BRIEF);
    expect(outcomes(steps)).toEqual({ agent: ["Unclear", "no_answer"], authentication: "NotTried", ...NOT_TRIED });
    expect(stepOf(steps, "authentication").sentence).toContain("no secret was sent");
  });
});

describe("a misbehaving agent", () => {
  test("has its identity truncated to one line of text", async () => {
    const view = viewOf({ ...SYSTEM, "1.3.6.1.2.1.1.1.0": `<script>alert(1)</script>\r\n\u0007${"x".repeat(60_000)}` });
    const steps = await runTrial(await agent(view, { maxDatagramBytes: 65_000 }), community("public"));
    const [, descr] = stepOf(steps, "system").facts;
    expect(descr?.value).toStartWith("<script>alert(1)</script> x");
    expect(descr?.value).toHaveLength(255);
  });

  test("is detected in a loop, and the trial ends", async () => {
    const faults = { following: { oid: "1.3.6.1.2.1.2.2.1.2.3", next: "1.3.6.1.2.1.2.2.1.2.1" } };
    const steps = await runTrial(await agent(viewOf(SWITCH), { faults }), community("public"));
    expect(outcomes(steps)).toMatchObject({ system: "Passed", interfaces: ["Failed", "not_increasing"] });
    expect(stepOf(steps, "forwarding").outcome).toBe("Passed");
  });

  test("is reported as returning garbage", async () => {
    const target = await agent(viewOf(SWITCH), {
      faults: { alter: () => Uint8Array.of(0x30, 0x82, 0xff, 0xff, 1, 2) },
    });
    expect(stepOf(await runTrial(target, community("public")), "authentication")).toMatchObject({
      outcome: "Failed",
      reason: "garbage",
    });
  });

  test("is given up if it falls silent mid-table", async () => {
    const target = await agent(viewOf(SWITCH), { faults: { silentAfterVarbinds: 6 } });
    const steps = await runTrial(target, community("public"), BRIEF);
    expect(outcomes(steps)).toMatchObject({ system: "Passed", forwarding: ["Failed", "no_answer"] });
  });
});

const SNMPD = "/usr/sbin/snmpd";
describe.skipIf(!existsSync(SNMPD))("Debian's snmpd", () => {
  const CONF = (port: number) => `agentAddress udp:127.0.0.1:${port}
rocommunity public 127.0.0.1
view nothing included .1.3.6.1.99
rocommunity blind 127.0.0.1 -V nothing
createUser ann SHA "${AUTH_KEY}" AES "${PRIV_KEY}"
rouser ann priv
sysName real-agent
`;

  test("distinguishes the same cases as the simulated agents", async () => {
    const folder = mkdtempSync(join(tmpdir(), "netledger-snmpd-"));
    const probe = await startAgent({ communities: {} });
    const { port } = probe;
    probe.close();
    writeFileSync(join(folder, "snmpd.conf"), CONF(port));
    const args = `-f -C -c ${folder}/snmpd.conf -I -smux -p ${folder}/pid -Lf /dev/null`.split(" ");
    const env = { ...process.env, MIBS: "", SNMP_PERSISTENT_DIR: folder };
    const running = Bun.spawn([SNMPD, ...args], { env, stdout: "ignore", stderr: "ignore" });
    const snmpd = { address: "127.0.0.1", port };
    const outcomesWith = async (credential: SnmpCredential, options = {}) =>
      outcomes(await runTrial(snmpd, credential, options));
    try {
      // Its port is closed until it listens.
      for (let steps = await runTrial(snmpd, community("public")); ; steps = await runTrial(snmpd, community("public")))
        if (stepOf(steps, "agent").reason !== "port_closed") break;
      const right = await runTrial(snmpd, community("public"));
      expect(outcomes(right)).toMatchObject({ authentication: "Passed", system: "Passed", interfaces: "Passed" });
      expect(stepOf(right, "system").facts[0]).toEqual({ name: "sys_name", value: "real-agent" });
      const unanswered = { agent: "Passed", authentication: ["Failed", "no_answer"] };
      expect(await outcomesWith(community("wrong"), BRIEF)).toMatchObject(unanswered);
      expect(await outcomesWith(community("blind"))).toMatchObject({ authentication: "Passed" });
      expect(stepOf(await runTrial(snmpd, community("blind")), "system").outcome).toBe("Failed");
      expect(await outcomesWith(user("ann"))).toMatchObject({ authentication: "Passed", system: "Passed" });
      expect(await outcomesWith(user("bob"))).toMatchObject({ authentication: ["Failed", "wrong_user"] });
      const wrongPassword = user("ann", { auth_password: "another123" });
      expect(await outcomesWith(wrongPassword)).toMatchObject({ authentication: ["Failed", "wrong_password"] });
      const unencrypted = await outcomesWith(user("ann", { priv_protocol: "None", priv_password: null }));
      expect(unencrypted).toMatchObject({ authentication: "Passed", system: ["Failed", "refused"] });
    } finally {
      running.kill();
      await running.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
