// POST /api/v1/credentials/{id}/try: sends a credential to an address named by an Admin and reports each step, without
// writes.

import { beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal, snmpV2c } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

const folder = mkdtempSync(join(tmpdir(), "netledger-secrets-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const appliance = applianceForEach({ scanning: { secretsFolder: folder } });
const { first, owner, probes, communityOf, holdProbes, newApiKey, newHost, newMember } = appliance;
const { newNetwork, newSubnet, newUser, newViewer } = appliance;
const ADDRESS = "10.2.0.7";
const SECRET = "s3cret-word";

let credential: JsonRecord;
beforeEach(async () => {
  credential = await communityOf(SECRET, { assigned_network_ids: [] });
  probes.alive.set(ADDRESS, { answered: ["Icmp", "Tcp"] });
  probes.devices.set(ADDRESS, { community: SECRET, device: fakeDevice({ sys_name: "access-1" }) });
});

const body = (fields: JsonRecord = {}) => ({ network_id: first.networkId, ip_address: ADDRESS, ...fields });
const tryCredential = (fields: JsonRecord = {}, caller = owner, id = credential.id) =>
  caller.post(`credentials/${id}/try`, body(fields));
const STREAMED = { accept: "text/event-stream" };
const outcomes = ({ steps }: JsonRecord) =>
  Object.fromEntries(steps.map(({ step, outcome, reason }: JsonRecord) => [step, reason ?? outcome]));
const updateCredential = (fields: JsonRecord) =>
  expectOk(owner.put(`credentials/${credential.id}`, { ...credential, ...fields }));
const countTransactions = async () => (await owner.get("transactions?limit=1")).body.meta.pagination.total_count;

test("reports each step, sends to that address only, and writes nothing", async () => {
  const before = await countTransactions();
  const { status, data } = await tryCredential();
  expect(status).toBe(200);
  expect(data).toMatchObject({ credential_id: credential.id, ip_address: ADDRESS, is_working: true });
  expect(outcomes(data)).toEqual({
    secret: "Passed",
    reach: "Passed",
    agent: "Passed",
    authentication: "Passed",
    system: "Passed",
    scans: "not_assigned",
  });
  expect(data.conclusion).toContain("No scan sends it there");
  expect(probes.sent.map(({ address }) => address)).toEqual([ADDRESS]);
  expect(await countTransactions()).toBe(before);
  expect((await owner.get("hosts")).body.meta.pagination.total_count).toBe(0);
  expect(probes.forgetCount).toBe(1);
});

test("logs the trial without the secret, which appears nowhere else", async () => {
  const { text } = await tryCredential();
  expect(text).not.toContain(SECRET.slice(0, 6));
  const lines = appliance.logLines.filter((line) => line.includes("credential_tried"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(credential.id);
  expect(lines[0]).toContain(ADDRESS);
  expect(appliance.logLines.join("\n")).not.toContain(SECRET);
});

test("logs user, credential and target before anything is sent, regardless of the outcome", async () => {
  const admin = await newUser({ role: "Admin" });
  const { id: key, client } = newApiKey({ userId: admin.id });
  for (const [caller, id] of [
    [admin.client, admin.id],
    [client, key],
  ] as const) {
    appliance.logLines.length = 0;
    const snapshots: string[][] = [];
    probes.hold = async () => void snapshots.push([...appliance.logLines]);
    expect((await tryCredential({}, caller)).status).toBe(200);
    const [line = "", ...others] = (snapshots[0] ?? []).filter((line) => line.includes("credential_trial_started"));
    expect(others).toEqual([]);
    for (const part of [credential.id, ADDRESS, first.networkId, id]) expect(line).toContain(part);
    expect(line).not.toContain(SECRET);
  }
});

test("sends nothing if logging fails", async () => {
  const contacted: string[] = [];
  probes.hold = async (address) => void contacted.push(address);
  const push = appliance.logLines.push;
  appliance.logLines.push = () => {
    throw new Error("ENOSPC");
  };
  for (const response of [
    await tryCredential(),
    await owner.post(`credentials/${credential.id}/try`, body(), STREAMED),
  ])
    expect(response).toMatchObject(refusal(500, "internal_error"));
  appliance.logLines.push = push;
  expect([contacted, probes.sent]).toEqual([[], []]);
  expect((await tryCredential()).data.is_working).toBe(true);
});

test("reports the failing step with a diagnosis", async () => {
  probes.devices.set(ADDRESS, { community: "another", device: fakeDevice() });
  const { data } = await tryCredential();
  expect(data).toMatchObject({ is_working: false, conclusion: "It is silent." });
  expect(outcomes(data)).toMatchObject({ authentication: "no_answer", system: "NotTried" });
});

describe("a streamed trial", () => {
  /** Events received so far, with a wait for more. */
  async function openTrial(fields: JsonRecord = {}, caller = owner) {
    const { headers } = caller as unknown as { headers: Record<string, string> };
    const response = await appliance.handle(
      new Request(`http://localhost/api/v1/credentials/${credential.id}/try`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ network_id: first.networkId, ip_address: ADDRESS, ...fields }),
      }),
    );
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    const parsed = () =>
      [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, name = "", data = ""]) => ({
        name,
        data: JSON.parse(data) as JsonRecord,
      }));
    const until = async (condition: () => boolean) => {
      while (!condition()) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) break;
        text += decoder.decode(chunk.value as Uint8Array, { stream: true });
      }
      return parsed();
    };
    return { response, parsed, until, close: () => reader?.cancel() };
  }

  test("reports each step as it completes, and then the complete result", async () => {
    const { reached, release } = holdProbes();
    const { response, parsed, until } = await openTrial();
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      200,
      "text/event-stream",
      "no-store",
    ]);
    // The address has not responded yet.
    await until(() => parsed().length === 1);
    await reached;
    expect(parsed()).toMatchObject([{ name: "step", data: { step: "secret", outcome: "Passed" } }]);
    release();
    const all = await until(() => false);
    const last = all.pop() as { readonly name: string; readonly data: JsonRecord };
    expect(last.name).toBe("trial");
    expect(all).toEqual((last.data.steps as JsonRecord[]).map((data) => ({ name: "step", data })));
    expect(last.data).toMatchObject({ credential_id: credential.id, ip_address: ADDRESS, is_working: true });
    const plain = (await tryCredential()).data;
    expect(outcomes(last.data)).toEqual(outcomes(plain));
    expect(appliance.logLines.filter((line) => line.includes("credential_tried"))).toHaveLength(2);
  });

  test("is refused before it starts, like the plain form, and counts toward the same limit", async () => {
    const { response } = await openTrial({ ip_address: "224.0.0.5" });
    expect(response.status).toBe(400);
    const { reached, release } = holdProbes();
    const pair = [await openTrial(), await openTrial()];
    for (const { until, parsed } of pair) await until(() => parsed().length === 1);
    await reached;
    expect(await tryCredential()).toMatchObject(refusal(429, "rate_limit_exceeded"));
    release();
    for (const { until } of pair) expect((await until(() => false)).at(-1)?.name).toBe("trial");
    expect((await tryCredential()).status).toBe(200);
  });

  test("ends when the client disconnects, and sends nothing after that", async () => {
    const [reached, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    probes.hold = async (_address, signal) => {
      if (signal.aborted) return;
      reached.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      ended.resolve();
    };
    const { parsed, until, close } = await openTrial();
    await until(() => parsed().length === 1);
    await reached.promise;
    await close();
    await ended.promise;
    probes.hold = async () => {};
    // Its slot is free: two more run concurrently.
    const pair = await Promise.all([tryCredential(), tryCredential()]);
    expect(pair.map(({ status }) => status)).toEqual([200, 200]);
    expect(probes.sent).toHaveLength(2);
  });

  test("reports the cause of its termination: lost permissions, or a stopping appliance", async () => {
    const admin = await newUser({ role: "Admin" });
    const { reached } = holdProbes();
    const lost = await openTrial({}, admin.client);
    await lost.until(() => lost.parsed().length === 1);
    await reached;
    await expectOk(owner.put(`users/${admin.id}`, { ...(await owner.get(`users/${admin.id}`)).data, role: "Viewer" }));
    appliance.timers.pass(1_000);
    expect((await lost.until(() => false)).at(-1)).toMatchObject({
      name: "refused",
      data: { status: 403, success: false, code: "auth_permission_denied", error: expect.any(String) },
    });
    const stopped = await openTrial();
    await stopped.until(() => stopped.parsed().length === 1);
    const stop = appliance.scans.stop();
    expect((await stopped.until(() => false)).at(-1)).toMatchObject({
      name: "refused",
      data: { status: 503, code: "shutting_down" },
    });
    await stop;
    expect(probes.sent).toEqual([]);
  });
});

describe("an unreadable secret", () => {
  const fileBased = (path: string) =>
    updateCredential({ credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path } } });

  test("is reported with its reason, and nothing is sent", async () => {
    await fileBased("missing.txt");
    const { data } = await tryCredential();
    expect(data.steps[0]).toMatchObject({ step: "secret", outcome: "Failed", reason: "secret_unreadable" });
    expect(data.conclusion).toContain("the file missing.txt does not exist");
    expect(outcomes(data).authentication).toBe("NotTried");
    expect(probes.sent).toEqual([]);
  });

  test("works once it becomes readable", async () => {
    await fileBased("there.txt");
    writeFileSync(join(folder, "there.txt"), `${SECRET}\n`);
    expect((await tryCredential()).data.is_working).toBe(true);
  });
});

describe("coverage by scans", () => {
  const scansStep = async () => (await tryCredential()).data.steps.at(-1);

  test("is reported for a network's credential, by whether a subnet accepts it", async () => {
    await updateCredential({ assigned_network_ids: [first.networkId] });
    expect(await scansStep()).toMatchObject({ step: "scans", outcome: "Failed", reason: "subnet_refuses" });
    const subnet = await newSubnet({ cidr: "10.2.0.0/24" });
    expect(await scansStep()).toMatchObject({ outcome: "Passed", reason: null });
    await expectOk(owner.put(`subnets/${subnet.id}`, { ...subnet, accepts_credentials: false }));
    expect((await scansStep()).sentence).toContain("the subnet 10.2.0.0/24 does not accept credentials");
  });

  test("is reported for a host's credential, by whether the address is confirmed", async () => {
    await newSubnet({ cidr: "10.2.0.0/24" });
    const host = await newHost({ name: "sw", ip_addresses: [{ ip_address: "10.2.0.9" }] });
    await updateCredential({ host_assignments: [{ host_id: host.id }] });
    const { data: address } = await owner.post("ip-addresses", { host_id: host.id, ip_address: ADDRESS });
    expect(await scansStep()).toMatchObject({ outcome: "Failed", reason: "waits_for_confirmation" });
    await expectOk(owner.post(`ip-addresses/${address.id}/confirm`, undefined));
    expect(await scansStep()).toMatchObject({ outcome: "Passed" });
  });

  test("is reported for initial addresses", async () => {
    await updateCredential({ target_ips: [ADDRESS] });
    expect(await scansStep()).toMatchObject({ outcome: "Passed" });
  });
});

describe("the targets of a credential", () => {
  const reach = async (caller = owner) => (await caller.get(`credentials/${credential.id}/reach`)).data;

  test("are reported per network by subnet: accepting, inside one, and not accepting", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const inner = await newSubnet({ cidr: "10.2.4.0/24", accepts_credentials: false });
    const refusing = await newSubnet({ cidr: "10.9.0.0/24", accepts_credentials: false });
    await newSubnet({ cidr: "203.0.113.0/24", subnet_type: "Internet" });
    await updateCredential({ assigned_network_ids: [first.networkId] });
    const { networks, hosts, target_ips } = await reach();
    expect([hosts, target_ips]).toEqual([[], []]);
    expect(networks).toEqual([
      expect.objectContaining({ network_id: first.networkId, subnets_asked: 2, subnets_not_asked: 2 }),
    ]);
    expect(networks[0].subnets.map(({ cidr, is_asked }: JsonRecord) => [cidr, is_asked])).toEqual([
      [refusing.cidr, false],
      ["203.0.113.0/24", false],
      ["10.2.0.0/16", true],
      [inner.cidr, true],
    ]);
  });

  test("are reported per host by address: covered and pending", async () => {
    await newSubnet({ cidr: "10.2.0.0/24" });
    const wide = await newHost({ name: "wide", ip_addresses: [{ ip_address: "10.2.0.1" }] });
    const narrow = await newHost({
      name: "narrow",
      ip_addresses: [{ ip_address: "10.2.0.2" }, { ip_address: "10.2.0.3" }],
    });
    await updateCredential({
      target_ips: ["10.2.0.9"],
      host_assignments: [{ host_id: wide.id }, { host_id: narrow.id, ip_address_ids: [narrow.ip_addresses[1].id] }],
    });
    await owner.post("ip-addresses", { host_id: wide.id, ip_address: "10.2.0.4" });
    const report = await reach();
    expect(report.target_ips).toEqual(["10.2.0.9"]);
    expect(
      report.hosts.map(({ name, is_host_wide, addresses }: JsonRecord) => [
        name,
        is_host_wide,
        addresses.map(({ ip_address, is_sent }: JsonRecord) => [ip_address, is_sent]),
      ]),
    ).toEqual([
      [
        "wide",
        true,
        [
          ["10.2.0.4", false],
          ["10.2.0.1", true],
        ],
      ],
      ["narrow", false, [["10.2.0.3", true]]],
    ]);
    expect(report.hosts[0]).toMatchObject({ addresses_sent: 1, addresses_waiting: 1 });
  });

  test("are limited to the caller's reach", async () => {
    const otherNetwork = await newNetwork({ name: "far" });
    await updateCredential({ assigned_network_ids: [otherNetwork.id, first.networkId] });
    const otherViewer = await newUser({ role: "Viewer", networkIds: [otherNetwork.id] });
    expect((await reach(otherViewer.client)).networks.map(({ name }: JsonRecord) => name)).toEqual(["far"]);
  });
});

describe("access", () => {
  test("is limited to Admins", async () => {
    for (const { client } of [await newMember(), await newViewer()])
      expect(await tryCredential({}, client)).toMatchObject(
        refusal(403, "auth_permission_denied", { required: "Admin" }),
      );
    expect((await tryCredential({}, (await newUser({ role: "Admin" })).client)).status).toBe(200);
    expect(probes.sent).toHaveLength(1);
  });

  test("is refused to a key limited to some networks unless the credential is used only in those", async () => {
    const own = await newNetwork({ name: "own" });
    const { data } = await owner.post("auth/keys", {
      name: "confined",
      organization_id: first.organizationId,
      user_id: first.userId,
      tags: [],
      permissions: "Admin",
      network_ids: [own.id],
    });
    const confined = appliance.anonymous.with({ authorization: `Bearer ${data.key}` });
    const inOwnNetwork = { network_id: own.id };
    expect(await tryCredential(inOwnNetwork, confined)).toMatchObject(refusal(403, "entity_access_denied"));
    await updateCredential({ assigned_network_ids: [own.id, first.networkId] });
    expect(await tryCredential(inOwnNetwork, confined)).toMatchObject(refusal(403, "entity_access_denied"));
    expect(probes.sent).toEqual([]);
    await updateCredential({ assigned_network_ids: [own.id] });
    expect((await tryCredential(inOwnNetwork, confined)).status).toBe(200);
    expect(await tryCredential({}, confined)).toMatchObject(refusal(400, "entity_reference_invalid"));
  });

  test("ends the trial if lost during it", async () => {
    const admin = await newUser({ role: "Admin" });
    const { reached, release } = holdProbes();
    const trial = tryCredential({}, admin.client);
    await reached;
    await expectOk(owner.put(`users/${admin.id}`, { ...(await owner.get(`users/${admin.id}`)).data, role: "Viewer" }));
    appliance.timers.pass(1_000);
    expect(await trial).toMatchObject(refusal(403, "auth_permission_denied"));
    const line = appliance.logLines.find((line) => line.includes("credential_trial_started")) ?? "";
    for (const part of [admin.id, credential.id, ADDRESS]) expect(line).toContain(part);
    release();
    expect(probes.sent).toEqual([]);
  });
});

test("a secret changed during a trial is not sent", async () => {
  const { reached, release } = holdProbes();
  const trial = tryCredential();
  await reached;
  await updateCredential({ credential_type: snmpV2c("another-word") });
  release();
  expect(outcomes((await trial).data).agent).toBe("cancelled");
  expect(probes.sent).toEqual([]);
});

test("a trial ends when its client disconnects, and sends nothing after that", async () => {
  const { reached, release } = holdProbes();
  const disconnect = new AbortController();
  const { networkId, userId: id } = first;
  const request = { credential_id: credential.id, network_id: networkId, ip_address: ADDRESS };
  const trial = appliance.scans.tryCredential(
    request,
    { type: "User", id, role: "Admin", networkId },
    disconnect.signal,
  );
  await reached;
  disconnect.abort();
  const steps = await trial;
  release();
  expect(steps.find(({ step }) => step === "agent")).toMatchObject({ outcome: "Failed", reason: "cancelled" });
  expect(probes.sent).toEqual([]);
});

test("at most two trials per user run at once", async () => {
  const { reached, release } = holdProbes();
  const trials = [tryCredential(), tryCredential()];
  await reached;
  const refused = await tryCredential();
  expect(refused).toMatchObject(refusal(429, "rate_limit_exceeded"));
  expect(refused.headers.get("retry-after")).toBe("5");
  release();
  for (const trial of trials) expect((await trial).status).toBe(200);
  expect((await tryCredential()).status).toBe(200);
});

test("addresses that are never probed are refused", async () => {
  for (const ip_address of ["224.0.0.5", "0.0.0.0", "255.255.255.255"])
    expect(await tryCredential({ ip_address })).toMatchObject(invalid({ path: "/ip_address", value: ip_address }));
});

test("a stopping appliance notifies waiting clients", async () => {
  const { reached } = holdProbes();
  const trial = tryCredential();
  await reached;
  const stopped = appliance.scans.stop();
  expect(await trial).toMatchObject(refusal(503, "shutting_down"));
  await stopped;
});

test("a crashed worker thread is reported as such, and the next trial starts another", async () => {
  const { reached, release } = holdProbes();
  const trial = tryCredential();
  await reached;
  appliance.scanThread.crash("out of memory");
  expect(await trial).toMatchObject(refusal(500, "internal_error"));
  release();
  expect((await tryCredential()).status).toBe(200);
});
