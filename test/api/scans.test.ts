// Scans: requests, queueing, results, cancellation, and events.

import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWritable } from "../../src/db/connection.ts";
import { CANCEL_TIMEOUT_MS } from "../../src/discovery/scans/director.ts";
import { SAVE_INTERVAL_MS } from "../../src/discovery/scans/engine.ts";
import { BATCH_MS } from "../../src/discovery/scans/recorder.ts";
import { SCAN_STREAMS_OF_USER_MAX } from "../../src/discovery/scans/routes.ts";
import { PROGRESS_INTERVAL_MS, SCANS_RUNNING_MAX, STORED_SCANS_MAX } from "../../src/discovery/scans/scan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal, snmpV1 } from "../support/appliance/factories.ts";
import { findings, startScan } from "../support/appliance/scans.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

const PATH = "/api/v1/discovery/scans";

const appliance = applianceForEach();
const { clock, first, handle, owner, probes, timers } = appliance;
const { communityOf, holdProbes, newApiKey, newHost, newNetwork, newSubnet, newUser, runScan, tick } = appliance;
const { transactionCount, watchWrites, waitForScan, versionsOf, writtenIn, newViewer, newStranger } = appliance;

/** The machine of setUpNetwork without a system name or a host name. */
const NAMED_BY_MAC = "ICANN, IANA Department 00:00:5e:00:53:03";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));
const names = async () => ((await owner.get("hosts?order_by=name")).data as JsonRecord[]).map(({ name }) => name);

/** A switch, two other machines and their subnet. */
async function setUpNetwork(): Promise<JsonRecord> {
  await newSubnet({ cidr: "10.0.0.0/28" });
  const credential = await communityOf("public");
  for (const last of [1, 2, 3]) probes.alive.set(`10.0.0.${last}`, { mac_address: `00:00:5e:00:53:0${last}` });
  probes.alive.set("10.0.0.2", {
    mac_address: "00:00:5e:00:53:02",
    hostname: "printer.example",
    ports: {
      asked: [80, 9100],
      open: [{ number: 80, protocol: "Tcp", service: { name: "HTTP", service_definition: "http" } }],
    },
  });
  probes.devices.set("10.0.0.1", {
    community: "public",
    device: fakeDevice({
      sys_name: "core-1",
      interfaces: [1, 2].map((if_index) => ({
        if_index,
        if_descr: `port ${if_index}`,
        if_type: 6,
        admin_status: "Up",
        oper_status: "Up",
      })),
      addresses: [{ ip_address: "10.0.0.1", prefix_length: 28, if_index: 1 }],
    }),
  });
  return credential;
}

/** Starts a scan that is held back. */
async function startHeldScan() {
  await setUpNetwork();
  const held = holdProbes();
  const scan = await startScan(appliance);
  await held.reached;
  return { held, scan };
}

/** Starts a scan that is held back, and queues another one behind it. */
async function startHeldAndQueued() {
  const { held, scan: running } = await startHeldScan();
  return { held, running, waiting: await startScan(appliance) };
}

describe("a scan", () => {
  test("is queued immediately, and later reports its outcome", async () => {
    await setUpNetwork();
    const at = clock.text();
    const queued = await startScan(appliance);
    expect(queued).toEqual({
      id: expect.any(String),
      network_id: first.networkId,
      kind: "full",
      targets: null,
      commit: true,
      allow_large: false,
      are_targets_permitted: false,
      schedule_id: null,
      requested_by: { type: "User", id: first.userId, name: expect.any(String) },
      reason: null,
      status: "Queued",
      requested_at: expect.any(String),
      started_at: null,
      ended_at: null,
      progress: null,
      outcome: null,
    });
    expect(queued.requested_at >= at).toBe(true);
    const scan = await waitForScan(queued.id);
    expect(scan).toEqual({
      ...queued,
      status: "Completed",
      started_at: expect.any(String),
      ended_at: expect.any(String),
      progress: scan.progress,
      outcome: scan.outcome,
    });
    const findingCount = Object.values(scan.outcome.findings as Record<string, number>).reduce(
      (sum, each) => sum + each,
    );
    expect(scan.progress).toMatchObject({
      findings: findingCount,
      phase: "done",
      addresses_total: 14,
      addresses_done: 14,
      hosts_found: 3,
      devices_answered: 1,
    });
    expect(scan.outcome).toMatchObject({
      records: { hosts: { created: 3, updated: 0, deleted: 0 }, if_entries: { created: 2 } },
      hosts: { found: 3, devices: 1, unreached: 0 },
      findings: { Created: 3 },
      findings_dropped: 0,
      problem: null,
    });
    expect(await names()).toEqual(["core-1", NAMED_BY_MAC, "printer.example"]);
    expect(
      (await findings(appliance, scan)).map(({ type, entity, label }) => `${type} ${entity} ${label}`).toSorted(),
    ).toEqual([`Created host ${NAMED_BY_MAC}`, "Created host core-1", "Created host printer.example"]);
  });

  test("is the origin of its writes in the ledger", async () => {
    await setUpNetwork();
    const scan = await runScan();
    const { first, last } = scan.outcome.transactions;
    const transactions: JsonRecord[] = (await owner.get("transactions")).data;
    expect(transactions.map(({ sequence }) => sequence)).toEqual(expect.arrayContaining([first, last]));
    expect(last).toBe(transactionCount());
    expect(transactions[0]).toMatchObject({
      actor: { type: "Discovery", id: scan.id, name: "full scan" },
      request_id: null,
    });
    const { data } = await owner.get("if-entries");
    expect(data[0]).toMatchObject({ first_discovery_id: scan.id, last_discovery_id: scan.id });
  });

  test("writes nothing if the network is unchanged", async () => {
    await setUpNetwork();
    await runScan();
    clock.advance(60_000);
    const expectNothingWritten = watchWrites();
    const repeated = await runScan();
    expectNothingWritten();
    expect(repeated.outcome).toMatchObject({ records: {}, findings: {}, transactions: null, hosts: { found: 3 } });
    expect(await findings(appliance, repeated)).toEqual([]);
  });

  test.each<[string, JsonRecord, string, string]>([
    ["an unknown kind", { kind: "port" }, "validation_failed", "/kind"],
    ["a malformed target", { targets: ["10.0.0.1/24"] }, "validation_failed", "/targets/0"],
    ["an oversized target", { targets: ["10.0.0.1", "10.0.0.0/8"] }, "validation_failed", "/targets/1"],
    [
      "a large IPv6 target, whatever the permissions",
      { targets: ["2001:db8::/64"], allow_large: true },
      "validation_failed",
      "/targets/0",
    ],
    [
      "more addresses than one scan allows",
      { targets: ["10.0.0.0/8"], allow_large: true },
      "validation_failed",
      "/targets/0",
    ],
    ["multicast", { targets: ["224.0.0.1"] }, "validation_failed", "/targets/0"],
    ["empty targets", { targets: [] }, "validation_failed", "/targets"],
    [
      "too many targets",
      { targets: Array.from({ length: 1_001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`) },
      "validation_failed",
      "/targets",
    ],
    ["an unknown field", { commmit: false }, "validation_failed", "/commmit"],
  ])("is refused with %s, by name", async (_case, fields, code, path) => {
    const response = await owner.post(PATH, { network_id: first.networkId, kind: "sweep", ...fields });
    expect(response).toMatchObject(refusal(400, code, { issues: [{ path }] }));
    expect((await owner.get(PATH)).body.meta.pagination.total_count).toBe(0);
  });

  test("is refused in the same way for an unknown network and one out of reach", async () => {
    const { client } = await newUser({ role: "Member", networkIds: [] });
    const body = { network_id: first.networkId, kind: "sweep" };
    expect(await client.post(PATH, body)).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "network", field: "network_id" }),
    );
    expect(await owner.post(PATH, { ...body, network_id: "01936f2e-0d5c-7d3a-9a39-00000000dead" })).toMatchObject(
      refusal(400, "entity_reference_invalid"),
    );
  });

  test("requires the role Member, and the role Admin for targets outside the network's subnets", async () => {
    const client = async (role: "Viewer" | "Member" | "Admin") =>
      (await newUser({ role, networkIds: [first.networkId] })).client;
    const body = { network_id: first.networkId, kind: "sweep" };
    expect(await (await client("Viewer")).post(PATH, body)).toMatchObject(refusal(403, "auth_permission_denied"));
    const member = await client("Member");
    expect(await member.post(PATH, body)).toMatchObject({ status: 200 });
    expect(await member.post(PATH, { ...body, targets: null })).toMatchObject({ status: 200, data: { targets: null } });
    expect(await member.post(PATH, { ...body, targets: ["10.0.0.1"] })).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }),
    );
    expect(
      await (await client("Admin")).post(PATH, { ...body, targets: ["10.0.0.1", "2001:DB8::1", "10.0.0.1"] }),
    ).toMatchObject({ status: 200, data: { targets: ["10.0.0.1", "2001:db8::1"], are_targets_permitted: true } });
  });

  describe("with targets named by a Member", () => {
    const body = () => ({ network_id: first.networkId, kind: "sweep" });

    async function setUpMember() {
      await newSubnet({ cidr: "10.0.0.0/28" });
      await newSubnet({ cidr: "10.0.0.16/28" });
      await newSubnet({ cidr: "2001:db8:1::/64" });
      await newSubnet({ cidr: "10.1.0.0/16" });
      await newSubnet({ cidr: "10.1.9.0/24", subnet_type: "Remote" });
      await newSubnet({ cidr: "203.0.113.0/24", subnet_type: "Internet" });
      await newSubnet({ cidr: "169.254.7.0/24" });
      const far = await newNetwork({ name: "far" });
      await newSubnet({ cidr: "10.5.0.0/24", network_id: far.id });
      return (await newUser({ role: "Member", networkIds: [first.networkId] })).client;
    }

    test.each<[string, readonly string[]]>([
      ["an address in a subnet", ["10.0.0.1"]],
      ["several addresses, including IPv6", ["10.0.0.1", "10.0.0.14", "2001:db8:1::7"]],
      ["a subnet", ["10.0.0.0/28"]],
      ["a part of a subnet", ["10.0.0.4/30", "2001:db8:1::100/120"]],
      ["two adjacent subnets as one block", ["10.0.0.0/27"]],
      ["a part of a subnet outside its excluded block", ["10.1.8.0/24"]],
    ])("accepts %s", async (_case, targets) => {
      expect(await (await setUpMember()).post(PATH, { ...body(), targets })).toMatchObject({
        status: 200,
        data: { targets, are_targets_permitted: false },
      });
    });

    test.each<[string, readonly string[]]>([
      ["an address outside all subnets", ["10.0.0.1", "10.0.0.33"]],
      ["a block larger than its subnets", ["10.0.0.0/26"]],
      ["a block containing an excluded one", ["10.1.8.0/23"]],
      ["an address of a remote subnet, even if also in another", ["10.1.9.7"]],
      ["an address on the Internet", ["203.0.113.9"]],
      ["a subnet of another network", ["10.5.0.1"]],
      ["link-local addresses, regardless of subnets", ["169.254.7.1"]],
      ["the appliance itself", ["127.0.0.1"]],
      ["an IPv4-mapped IPv6 address", ["::ffff:203.0.113.9"]],
    ])("refuses %s", async (_case, targets) => {
      const client = await setUpMember();
      expect([400, 403]).toContain((await client.post(PATH, { ...body(), targets })).status);
      expect((await owner.get(PATH)).body.meta.pagination.total_count).toBe(0);
    });

    test("omits targets no longer in any subnet when it runs, with a notice", async () => {
      await newSubnet({ cidr: "10.0.0.0/28" });
      const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
      const held = holdProbes();
      const running = await startScan(appliance);
      await held.reached;
      const { data: waiting } = await client.post(PATH, { ...body(), targets: ["10.0.0.1", "10.0.0.8/29"] });
      const [subnet] = (await owner.get("subnets")).data as JsonRecord[];
      const { status } = await owner.put(`subnets/${subnet?.id}`, { ...subnet, cidr: "10.0.0.0/29" });
      expect(status).toBe(200);
      held.release();
      await waitForScan(running.id);
      probes.swept.length = 0;
      await waitForScan(waiting.id);
      expect(probes.swept).toEqual(["10.0.0.1"]);
      expect((await findings(appliance, waiting)).filter(({ type }) => type === "Skipped")).toMatchObject([
        { label: "10.0.0.8/29", reason: expect.stringContaining("only an Admin can name the rest") },
      ]);
    });
  });

  test("probes the given targets instead of the subnets", async () => {
    await setUpNetwork();
    await runScan({ kind: "sweep", targets: ["10.9.0.0/30", "10.9.0.1"] });
    expect(probes.swept).toEqual(["10.9.0.1", "10.9.0.2"]);
    await runScan({ kind: "snmp", targets: ["10.9.0.0/30"] });
    expect(probes.queries.map(({ address }) => address)).toEqual(["10.9.0.1", "10.9.0.2"]);
  });

  test("is the same scan when repeated with the same Idempotency-Key", async () => {
    const body = { network_id: appliance.first.networkId, kind: "sweep" };
    const first = await owner.post(PATH, body, { "idempotency-key": "k1" });
    await waitForScan(first.data.id);
    const repeated = await owner.post(PATH, body, { "idempotency-key": "k1" });
    expect(repeated).toMatchObject({ status: 200, text: first.text });
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect((await owner.get(PATH)).data).toHaveLength(1);
    expect(appliance.scanThread.started).toBe(1);
  });

  test("states its reason when it fails, and lets the next one run", async () => {
    await setUpNetwork();
    probes.sweep = async () => {
      throw new Error("no sockets");
    };
    const scan = await runScan({ kind: "sweep" });
    expect(scan).toMatchObject({
      status: "Failed",
      outcome: { problem: "something went wrong inside the appliance; see its log" },
    });
    expect(appliance.logLines.some((line) => line.includes("scan_failed") && line.includes("no sockets"))).toBe(true);
    expect(await runScan({ kind: "snmp" })).toMatchObject({ status: "Completed" });
  });
});

describe("scans of one network", () => {
  test("never overlap, and run in request order", async () => {
    await setUpNetwork();
    const held = holdProbes();
    const ids = [];
    for (const kind of ["sweep", "full", "snmp"]) ids.push((await startScan(appliance, { kind })).id);
    await held.reached;
    expect(((await owner.get(PATH)).data as JsonRecord[]).map(({ status }) => status)).toEqual([
      "Running",
      "Queued",
      "Queued",
    ]);
    held.release();
    const ended = [];
    for (const id of ids) ended.push(await waitForScan(id));
    for (const [index, scan] of ended.entries()) {
      expect(scan.status).toBe("Completed");
      const before = ended[index - 1];
      if (before !== undefined) expect(scan.started_at >= before.ended_at).toBe(true);
    }
  });

  test("do not delay other networks, up to the concurrency limit", async () => {
    const networks = [first.networkId];
    for (let index = 0; index < SCANS_RUNNING_MAX; index += 1) networks.push((await newNetwork()).id);
    for (const network_id of networks) await newSubnet({ network_id, cidr: "10.0.0.0/30" });
    const held = holdProbes();
    const scans = [];
    for (const network_id of networks) scans.push(await startScan(appliance, { network_id, kind: "sweep" }));
    while (probes.swept.length < SCANS_RUNNING_MAX) await nextTick();
    const statuses = ((await owner.get(PATH)).data as JsonRecord[]).map(({ status }) => status);
    expect(statuses).toEqual([...Array.from({ length: SCANS_RUNNING_MAX }, () => "Running"), "Queued"]);
    held.release();
    for (const scan of scans) expect((await waitForScan(scan.id)).status).toBe("Completed");
  });

  test("do not wait for another organization's entire backlog", async () => {
    const networks = [appliance.first.networkId];
    while (networks.length < SCANS_RUNNING_MAX) networks.push((await newNetwork()).id);
    for (const network_id of networks) await newSubnet({ network_id, cidr: "10.0.0.0/30" });
    const { client: other, ...second } = await newStranger();
    const held = holdProbes();
    const [first = {} as JsonRecord] = await Promise.all(
      [...networks, ...networks].map((network_id) => startScan(appliance, { network_id, kind: "sweep" })),
    );
    const otherScan = await startScan(
      appliance,
      { network_id: second.networkId, kind: "sweep", targets: ["10.0.0.1"] },
      other,
    );
    while (probes.swept.length < SCANS_RUNNING_MAX) await nextTick();
    await expectOk(owner.post(`${PATH}/${first.id}/cancel`, {}));
    while (probes.swept.length < SCANS_RUNNING_MAX + 1) await nextTick();
    expect(await other.get(`${PATH}/${otherScan.id}`)).toMatchObject({ data: { status: "Running" } });
    held.release();
  });

  test("end as failed if the network is deleted while they wait", async () => {
    await setUpNetwork();
    const network = await newNetwork();
    const held = holdProbes();
    await newSubnet({ network_id: network.id, cidr: "10.0.0.0/30" });
    const [running, waiting] = [
      await startScan(appliance, { network_id: network.id, kind: "sweep" }),
      await startScan(appliance, { network_id: network.id, kind: "sweep" }),
    ];
    await held.reached;
    await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    held.release();
    while (appliance.scans.live(running.id) !== null || appliance.scans.live(waiting.id) !== null) await nextTick();
    // Records of a missing network do not exist; this one did.
    expect(await owner.get(`${PATH}/${waiting.id}`)).toMatchObject({ status: 404 });
    const rows = appliance.reader.db
      .query<{ status: string; problem: string }, []>(
        "SELECT status, outcome ->> '$.problem' AS problem FROM discovery_scans ORDER BY id",
      )
      .all();
    expect(rows).toEqual([
      { status: "Failed", problem: expect.any(String) },
      { status: "Failed", problem: "the network was deleted" },
    ]);
  });
});

describe("a scan of a deleted network", () => {
  test("ends even if it has found nothing yet, and sends nothing more, since it could not be canceled", async () => {
    const network = (await newNetwork()).id;
    await newSubnet({ network_id: network, cidr: "10.0.0.0/20" });
    probes.hold = nextTick;
    const { id } = await startScan(appliance, { network_id: network, kind: "sweep" });
    while (probes.swept.length === 0) await nextTick();
    await expectOk(owner.delete(`networks/${network}?cascade=true`));
    expect(await owner.post(`${PATH}/${id}/cancel`, {})).toMatchObject({ status: 404 });
    timers.pass(SAVE_INTERVAL_MS);
    const swept = probes.swept.length;
    for (let ticks = 0; ticks < 200 && appliance.scans.live(id) !== null; ticks += 1) await nextTick();
    expect(appliance.scans.live(id)).toBeNull();
    expect(probes.swept.length - swept).toBeLessThan(100);
    const row = appliance.reader.db
      .query<{ status: string; problem: string }, [string]>(
        "SELECT status, outcome ->> '$.problem' AS problem FROM discovery_scans WHERE id = ?",
      )
      .get(id);
    expect(row).toEqual({ status: "Failed", problem: "the network was deleted" });
    expect(appliance.logLines.some((line) => line.includes("scan_failed"))).toBe(false);
  });
});

describe("credentials for scans", () => {
  test("are remembered if they worked, and tried first from then on", async () => {
    await setUpNetwork();
    const right = await communityOf("right");
    probes.devices.set("10.0.0.1", { community: "right", device: fakeDevice({ sys_name: "core-1" }) });
    await runScan();
    const triedCredentials = () =>
      probes.queries
        .filter(({ address }) => address === "10.0.0.1")
        .map(({ credentials, remembered }) => ({ names: credentials.map(({ name }) => name), remembered }));
    await runScan();
    expect(triedCredentials()).toEqual([
      { names: ["public", "right"], remembered: null },
      { names: ["right", "public"], remembered: right.id },
    ]);
  });

  test("are decrypted to their original values, for every type", async () => {
    await newSubnet({ cidr: "10.0.0.0/30" });
    probes.alive.set("10.0.0.1", {});
    await communityOf("v1", { credential_type: snmpV1("old") });
    const v3 = {
      type: "SnmpV3",
      security_name: "noc",
      auth_protocol: "Sha256",
      auth_password: { mode: "Inline", value: "an auth password" },
      priv_protocol: "Aes128",
      priv_password: { mode: "Inline", value: "a priv password" },
      context_name: "c",
    };
    await communityOf("v3", { credential_type: v3 });
    await communityOf("bare", {
      credential_type: { type: "SnmpV3", security_name: "guest", auth_protocol: "None", priv_protocol: "None" },
    });
    await runScan();
    expect(probes.queries[0]?.credentials).toEqual([
      { credential_id: expect.any(String), name: "v1", version: "SnmpV1", community: "old" },
      {
        credential_id: expect.any(String),
        name: "v3",
        version: "SnmpV3",
        security_name: "noc",
        auth_protocol: "Sha256",
        auth_password: "an auth password",
        priv_protocol: "Aes128",
        priv_password: "a priv password",
        context_name: "c",
      },
      {
        credential_id: expect.any(String),
        name: "bare",
        version: "SnmpV3",
        security_name: "guest",
        auth_protocol: "None",
        auth_password: null,
        priv_protocol: "None",
        priv_password: null,
        context_name: null,
      },
    ]);
    for (const secret of ["an auth password", "a priv password", "old"])
      expect(appliance.logLines.some((line) => line.includes(secret))).toBe(false);
  });

  test("leave no secrets in memory once no scan is running", async () => {
    await setUpNetwork();
    const otherNetworkId = (await newNetwork()).id;
    await newSubnet({ network_id: otherNetworkId, cidr: "10.0.1.0/30" });
    const held = holdProbes();
    const first = await startScan(appliance);
    await held.reached;
    await runScan({ network_id: otherNetworkId, kind: "snmp" });
    expect(probes.forgetCount).toBe(0);
    held.release();
    await waitForScan(first.id);
    expect(probes.forgetCount).toBe(1);
  });

  test("take precedence by scope: host and address, then host, then network", async () => {
    await setUpNetwork();
    const host = await newHost({ ip_addresses: [{ ip_address: "10.0.0.3" }, { ip_address: "10.0.0.4" }] });
    const ids = (host.ip_addresses as JsonRecord[]).map(({ id }) => id);
    await communityOf("host", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    await communityOf("address", {
      assigned_network_ids: [],
      host_assignments: [{ host_id: host.id, ip_address_ids: [ids[0]] }],
    });
    await runScan({ kind: "snmp" });
    const triedCredentials = Object.fromEntries(
      probes.queries.map(({ address, credentials }) => [address, credentials.map(({ name }) => name)]),
    );
    expect(triedCredentials).toMatchObject({
      "10.0.0.3": ["address", "host", "public"],
      "10.0.0.4": ["host", "public"],
    });
  });

  describe("with a secret in a file", () => {
    const secretsFolder = join(import.meta.dir, `../../node_modules/.cache/netledger-secrets-${process.pid}`);
    const appliance = applianceForEach({ scanning: { secretsFolder } });
    const { probes } = appliance;
    const { communityOf, newSubnet, runScan } = appliance;
    test("are read on use, only below the secrets directory", async () => {
      mkdirSync(join(secretsFolder, "site"), { recursive: true });
      await newSubnet({ cidr: "10.0.0.0/30" });
      probes.alive.set("10.0.0.1", {});
      const file = (path: string) => ({ credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path } } });
      writeFileSync(join(secretsFolder, "site", "community"), "from a file\n");
      symlinkSync(appliance.databasePath, join(secretsFolder, "escape"));
      try {
        await communityOf("filed", file("site/community"));
        await communityOf("missing", file("nothing"));
        await communityOf("escaping", file("escape"));
        const scan = await runScan();
        expect(probes.queries[0]?.credentials).toMatchObject([{ name: "filed", community: "from a file" }]);
        expect(scan.progress.errors).toEqual({ secret_unreadable: 1 });
        expect(await findings(appliance, scan)).toMatchObject([
          { type: "Created" },
          {
            type: "Unreached",
            label: "10.0.0.1",
            reason: expect.stringContaining("the secret of missing cannot be read: the file nothing does not exist"),
          },
        ]);
      } finally {
        (await import("node:fs")).rmSync(secretsFolder, { recursive: true });
      }
    });
  });

  test("lose their initial addresses when a scan that uses them is dispatched", async () => {
    const first = appliance.first.networkId;
    const otherNetworkId = (await newNetwork()).id;
    const target_ips = ["192.0.2.1"];
    const [here, unassigned, there] = [
      await communityOf("here", { target_ips }),
      await communityOf("unassigned", { assigned_network_ids: [], target_ips: ["192.0.2.2"] }),
      await communityOf("there", { assigned_network_ids: [otherNetworkId], target_ips: ["192.0.2.3"] }),
    ] as [JsonRecord, JsonRecord, JsonRecord];
    const remainingTargets = async () =>
      Object.fromEntries(
        ((await owner.get("credentials")).data as JsonRecord[]).map(({ name, target_ips: ips }) => [name, ips]),
      );
    const all = { here: ["192.0.2.1"], unassigned: ["192.0.2.2"], there: ["192.0.2.3"] };

    await runScan({ kind: "sweep" });
    expect(await remainingTargets()).toEqual(all);
    expect(probes.queries).toEqual([]);

    probes.devices.set("192.0.2.1", { community: "here", device: fakeDevice({ sys_name: "far-1" }) });
    const dryRun = await runScan({ kind: "snmp", commit: false });
    expect(await remainingTargets()).toEqual(all);
    expect(probes.queries.map(({ address }) => address)).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect((await findings(appliance, dryRun)).map(({ label }) => label)).toContain("far-1");

    const before = transactionCount();
    const scan = await runScan({ kind: "snmp", network_id: first });
    expect(await remainingTargets()).toEqual({ ...all, here: null, unassigned: null });
    expect(writtenIn(before + 1)).toEqual({ "Updated credential": 2 });
    expect(scan.outcome.transactions.first).toBe(before + 1);
    expect(versionsOf(here.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["target_ips"] });
    expect((await owner.get(`credentials/${unassigned.id}/history`)).data[0].transaction.actor).toMatchObject({
      type: "Discovery",
      id: scan.id,
    });
    expect(versionsOf(there.id)).toHaveLength(1);
    expect(await names()).toEqual(["far-1"]);
    expect(await findings(appliance, scan)).toContainEqual(
      expect.objectContaining({ type: "Unreached", label: "192.0.2.2" }),
    );
  });

  test("are reported as missing by a device scan, since it requires them", async () => {
    await newSubnet({ cidr: "10.0.0.0/30" });
    expect(await runScan({ kind: "snmp" })).toMatchObject({
      status: "Completed",
      outcome: { problem: "no credential is assigned in this network: no device was read by SNMP" },
    });
  });
});

describe("a dry-run scan", () => {
  test("reports its changes field by field, and writes nothing", async () => {
    await setUpNetwork();
    const [before, files] = [
      transactionCount(),
      appliance.reader.db.query("SELECT count(*) AS n FROM discovery_credentials").get(),
    ];
    const scan = await runScan({ commit: false });
    expect(transactionCount()).toBe(before);
    expect(appliance.reader.db.query("SELECT count(*) AS n FROM discovery_credentials").get()).toEqual(files);
    expect(scan).toMatchObject({
      status: "Completed",
      commit: false,
      outcome: { records: { hosts: { created: 3 }, if_entries: { created: 2 } }, transactions: null },
    });
    const results = await findings(appliance, scan);
    expect(
      results
        .filter(({ entity }) => entity === "host")
        .map(({ label }) => label)
        .toSorted(),
    ).toEqual([NAMED_BY_MAC, "core-1", "printer.example"]);
    expect(results.find(({ label }) => label === "core-1")).toMatchObject({
      type: "Created",
      reason: "responded to SNMP",
      changes: { sys_name: { from: null, to: "core-1" } },
    });
    expect(results.find(({ label }) => label === "port 2")).toMatchObject({
      type: "Created",
      entity: "if_entry",
      changes: { if_index: { from: null, to: 2 } },
    });

    const real = await runScan();
    expect(real.outcome.records).toEqual(scan.outcome.records);
  });

  test("reports the far end of each cable, even for unwritten devices", async () => {
    await newSubnet({ cidr: "10.0.0.0/28" });
    await communityOf("public");
    for (const [near, far] of [
      ["1", "2"],
      ["2", "1"],
    ] as const) {
      probes.alive.set(`10.0.0.${near}`, {});
      const lldp = [
        {
          chassis_id: { subtype: "MacAddress", value: `00:00:5e:00:53:0${far}` },
          port_id: { subtype: "InterfaceName", value: `to-${near}` },
          sys_name: `sw-${far}`,
        },
      ] as const;
      probes.devices.set(`10.0.0.${near}`, {
        community: "public",
        device: fakeDevice({
          sys_name: `sw-${near}`,
          chassis_id: { subtype: "MacAddress", value: `00:00:5e:00:53:0${near}` },
          interfaces: [
            {
              if_index: 1,
              if_descr: `to-${far}`,
              if_name: `to-${far}`,
              if_type: 6,
              mac_address: `00:00:5e:00:53:0${near}`,
              admin_status: "Up",
              oper_status: "Up",
              lldp,
            },
          ],
        }),
      });
    }
    const results = await findings(appliance, await runScan({ commit: false }));
    const entries = results
      .filter(({ entity }) => entity === "if_entry")
      .toSorted((a, b) => (a.label < b.label ? -1 : 1));
    expect(entries.map(({ label, changes }) => [label, changes.neighbor?.to])).toEqual([
      ["to-1", { type: "IfEntry", id: entries[1]?.id }],
      ["to-2", { type: "IfEntry", id: entries[0]?.id }],
    ]);
    await runScan();
    const written = (await owner.get("if-entries?order_by=if_name")).data as JsonRecord[];
    expect(written.map(({ if_name, neighbor }) => [if_name, neighbor])).toEqual([
      ["to-1", { type: "IfEntry", id: written[1]?.id }],
      ["to-2", { type: "IfEntry", id: written[0]?.id }],
    ]);
    expect(await findings(appliance, await runScan({ commit: false }))).toEqual([]);
  });

  test("shows changes as before and after, and an unchanged network as empty", async () => {
    await setUpNetwork();
    await runScan();
    expect(await findings(appliance, await runScan({ commit: false }))).toEqual([]);
    const { device } = probes.devices.get("10.0.0.1") as { device: ReturnType<typeof fakeDevice> };
    probes.devices.set("10.0.0.1", {
      community: "public",
      device: {
        ...device,
        sys_location: "Room 7",
        interfaces: (device.interfaces ?? []).map((entry) =>
          entry.if_index === 2 ? { ...entry, oper_status: "Down" as const } : entry,
        ),
      },
    });
    const expectNothingWritten = watchWrites();
    const results = await findings(appliance, await runScan({ commit: false }));
    expect(results.toSorted((a, b) => (a.entity < b.entity ? -1 : 1))).toMatchObject([
      { type: "Changed", entity: "host", label: "core-1", changes: { sys_location: { from: null, to: "Room 7" } } },
      { type: "Changed", entity: "if_entry", label: "port 2", changes: { oper_status: { from: "Up", to: "Down" } } },
    ]);
    expectNothingWritten();
  });
});

describe("a long dry-run scan", () => {
  test("does not block checkpoints of concurrent writes", async () => {
    await setUpNetwork();
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    // A host was found and matched: the scan has read from the store.
    probes.hold = async (address) => {
      if (address !== "10.0.0.9") return;
      timers.pass(BATCH_MS);
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTick();
      reached.resolve();
      await gate.promise;
    };
    const scan = await startScan(appliance, { commit: false, kind: "sweep" });
    await reached.promise;
    await newHost({ name: "meanwhile" });
    const db = openWritable(appliance.databasePath).$client;
    expect(db.query("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
    db.close();
    gate.resolve();
    expect((await waitForScan(scan.id)).outcome).toMatchObject({ records: { hosts: { created: 3 } } });
  });
});

describe("canceling", () => {
  test("ends a waiting scan immediately", async () => {
    const { held, running, waiting } = await startHeldAndQueued();
    expect(await owner.post(`${PATH}/${waiting.id}/cancel`, {})).toMatchObject({
      status: 200,
      data: { id: waiting.id, status: "Cancelled", started_at: null, ended_at: expect.any(String) },
    });
    held.release();
    expect((await waitForScan(running.id)).status).toBe("Completed");
    expect((await expectOk(owner.get(`${PATH}/${waiting.id}`))).status).toBe("Cancelled");
  });

  test("stops a running scan, and keeps what it has written", async () => {
    await setUpNetwork();
    await runScan();
    const held = holdProbes();
    const scan = await startScan(appliance);
    await held.reached;
    const response = await owner.post(`${PATH}/${scan.id}/cancel`, {});
    expect(response).toMatchObject({
      status: 200,
      data: { id: scan.id, status: "Cancelled", outcome: { problem: null } },
    });
    expect(await names()).toHaveLength(3);
  });

  test("is refused for a finished scan", async () => {
    const scan = await runScan({ kind: "sweep" });
    expect(await owner.post(`${PATH}/${scan.id}/cancel`, {})).toMatchObject(
      refusal(409, "entity_stale", { entity: "scan", actual: "Completed" }),
    );
  });

  test("can be repeated with an Idempotency-Key", async () => {
    const { scan } = await startHeldScan();
    const cancel = () => owner.post(`${PATH}/${scan.id}/cancel`, {}, { "idempotency-key": "k" });
    const first = await cancel();
    const second = await cancel();
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test("requires the role Member and a scan within reach", async () => {
    const scan = await runScan({ kind: "sweep" });
    const viewer = (await newViewer()).client;
    const outsider = (await newUser({ role: "Member", networkIds: [(await newNetwork()).id] })).client;
    expect(await viewer.post(`${PATH}/${scan.id}/cancel`, {})).toMatchObject({ status: 403 });
    expect(await outsider.post(`${PATH}/${scan.id}/cancel`, {})).toMatchObject(refusal(404, "entity_not_found"));
  });

  test("does not wait for an unresponsive thread", async () => {
    await setUpNetwork();
    probes.hold = async () => new Promise<void>(() => {});
    const scan = await startScan(appliance);
    while (probes.swept.length === 0) await nextTick();
    const pending = owner.post(`${PATH}/${scan.id}/cancel`, {});
    for (let index = 0; index < 20; index += 1) await nextTick();
    timers.pass(CANCEL_TIMEOUT_MS);
    expect((await pending).status).toBe(200);
    expect((await waitForScan(scan.id)).status).toBe("Cancelled");
  });
});

describe("the list of scans", () => {
  test("is in request order, either direction, by network and by status", async () => {
    const other = (await newNetwork()).id;
    const ids: string[] = [];
    for (const network_id of [first.networkId, other, first.networkId]) {
      ids.push((await runScan({ network_id, kind: "sweep" })).id);
      tick();
    }
    const listed = async (query: string) =>
      ((await owner.get(`${PATH}?${query}`)).data as JsonRecord[]).map(({ id }) => ids.indexOf(id));
    expect(await listed("")).toEqual([0, 1, 2]);
    expect(await listed("order_direction=desc")).toEqual([2, 1, 0]);
    expect(await listed("limit=1&offset=1")).toEqual([1]);
    expect(await listed(`network_id=${other}`)).toEqual([1]);
    expect(await listed("network_id=01936f2e-0d5c-7d3a-9a39-00000000dead")).toEqual([]);
    expect(await listed("status=Completed,Failed")).toEqual([0, 1, 2]);
    expect(await listed("status=Failed&status=Queued")).toEqual([]);
    expect((await owner.get(`${PATH}?limit=2`)).body.meta.pagination).toEqual({
      total_count: 3,
      limit: 2,
      offset: 0,
      has_more: true,
    });
    expect(await owner.get(`${PATH}?status=Done`)).toMatchObject(invalid({ path: "/status/0" }));
  });

  test("contains all scans without a limit", async () => {
    for (let index = 0; index < 250; index += 1)
      await appliance.writes
        .run(
          "discovery.queue",
          {
            network_id: first.networkId,
            kind: "sweep",
            targets: null,
            commit: true,
            allow_large: false,
            schedule: null,
          },
          { ...(await resolveAuthor()), name: String(index) },
        )
        .then(({ result }) =>
          appliance.writes.run("discovery.cancel", { id: (result as JsonRecord).id }, systemAuthor),
        );
    const { data, body } = await owner.get(`${PATH}?limit=0&order_direction=desc&offset=10`);
    expect(data.map((scan: JsonRecord) => scan.requested_by.name)).toEqual(
      Array.from({ length: 240 }, (_, index) => String(239 - index)),
    );
    expect(body.meta.pagination).toEqual({ total_count: 250, limit: 0, offset: 10, has_more: false });
  });

  test("shows the state of a timestamp", async () => {
    await setUpNetwork();
    const held = holdProbes();
    const early = clock.text();
    clock.advance(10_000);
    const [first, second] = [await startScan(appliance), await startScan(appliance)];
    await held.reached;
    clock.advance(10_000);
    const during = clock.text();
    clock.advance(10_000);
    held.release();
    const ended = [await waitForScan(first.id), await waitForScan(second.id)];
    clock.advance(10_000);
    const after = clock.text();
    clock.advance(10_000);
    const scansAt = (at: string, query = "") => owner.get(`${PATH}?at=${at}${query}`);
    expect((await scansAt(early)).data).toEqual([]);
    expect(await scansAt(during)).toMatchObject({
      data: [
        { ...first, status: "Running", started_at: expect.any(String), ended_at: null, progress: null, outcome: null },
        { ...second, status: "Queued" },
      ],
      body: { meta: { at: during, pagination: { total_count: 2 } } },
    });
    expect((await scansAt(after)).data).toEqual(ended);
    expect((await scansAt(during, "&status=Running")).data.map(({ id }: JsonRecord) => id)).toEqual([first.id]);
    expect((await scansAt(during, "&status=Completed")).data).toEqual([]);
    expect((await owner.get(`${PATH}/${first.id}?at=${during}`)).data).toMatchObject({
      status: "Running",
      outcome: null,
    });
    expect(await owner.get(`${PATH}/${first.id}?at=${early}`)).toMatchObject({ status: 404 });
    expect((await owner.get(`${PATH}/${first.id}/findings?at=${during}`)).data).toEqual([]);
    expect((await owner.get(`${PATH}/${first.id}/findings?at=${after}`)).data).toHaveLength(3);
  });

  test("keeps the latest ones of each network, and none of a deleted network", async () => {
    const otherNetwork = await newNetwork();
    await runScan({ network_id: otherNetwork.id, kind: "sweep" });
    await runScan({ kind: "sweep" });
    const client = openWritable(appliance.databasePath).$client;
    const row = client
      .query<{ organization_n: number; network_n: number; request: string }, [string]>(
        `SELECT organization_n, network_n, request FROM discovery_scans
          WHERE network_n = (SELECT n FROM history_records WHERE id = ?)`,
      )
      .get(first.networkId);
    const insert = client.prepare(
      `INSERT INTO discovery_scans (id, organization_n, network_n, status, requested_at, started_at, ended_at,
        request, progress, outcome) VALUES (?, ?, ?, 'Completed', 1, 1, 1, ?, NULL, NULL)`,
    );
    for (let index = 0; index < STORED_SCANS_MAX; index += 1)
      insert.run(
        `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`,
        row?.organization_n ?? 0,
        row?.network_n ?? 0,
        row?.request ?? "",
      );
    client.run(
      `INSERT INTO discovery_findings (scan_id, ordinal, type, finding)
        VALUES ('00000000-0000-7000-8000-000000000000', 0, 'Created', '{}')`,
    );
    client.close();
    const latest = await startScan(appliance, { kind: "sweep" });
    const { data } = await owner.get(`${PATH}?network_id=${first.networkId}&limit=0`);
    expect(data).toHaveLength(STORED_SCANS_MAX);
    expect(data[0].id).toBe("00000000-0000-7000-8000-000000000002");
    expect(data.at(-1).id).toBe(latest.id);
    expect(appliance.reader.db.query("SELECT count(*) AS n FROM discovery_findings").get()).toEqual({ n: 0 });
    expect((await owner.get(`${PATH}?network_id=${otherNetwork.id}`)).data).toHaveLength(1);
    tick();
    const at = clock.text();
    tick();
    await waitForScan(latest.id);
    await expectOk(owner.delete(`networks/${otherNetwork.id}`));
    expect((await owner.get(`${PATH}?network_id=${otherNetwork.id}`)).data).toEqual([]);
    expect((await owner.get(`${PATH}?network_id=${otherNetwork.id}&at=${at}`)).data).toHaveLength(1);
  });

  test("contains only networks within the caller's reach", async () => {
    const other = await newNetwork();
    const [here, there] = [await runScan({ kind: "sweep" }), await runScan({ network_id: other.id, kind: "sweep" })];
    const { client } = newApiKey({ networkIds: [first.networkId], permissions: "Viewer" });
    expect((await client.get(PATH)).data.map(({ id }: JsonRecord) => id)).toEqual([here.id]);
    for (const rest of ["", "/findings", "/events"])
      expect(await client.get(`${PATH}/${there.id}${rest}`)).toMatchObject(refusal(404, "entity_not_found"));
    const { client: foreigner } = await newStranger();
    expect((await foreigner.get(PATH)).data).toEqual([]);
    expect((await foreigner.get(`${PATH}/${here.id}`)).status).toBe(404);
  });
});

describe("the findings of a scan", () => {
  test("are listed by page and by type", async () => {
    await setUpNetwork();
    await newHost({ name: "gone", ip_addresses: [{ ip_address: "10.0.0.9" }] });
    const scan = await runScan();
    const listed = async (query: string) =>
      ((await owner.get(`${PATH}/${scan.id}/findings?${query}`)).data as JsonRecord[]).map(({ type }) => type);
    expect(await listed("type=Unreached")).toEqual(["Unreached"]);
    expect(await listed("type=Created&limit=2")).toEqual(["Created", "Created"]);
    expect(await listed("type=Created,Unreached&offset=2")).toEqual(["Created", "Unreached"]);
    expect(await listed("limit=0")).toEqual(["Created", "Created", "Created", "Unreached"]);
    expect((await owner.get(`${PATH}/${scan.id}/findings?limit=1`)).body.meta.pagination).toEqual({
      total_count: 4,
      limit: 1,
      offset: 0,
      has_more: true,
    });
  });

  test("are complete and in order, however many", async () => {
    const scan = await runScan({ kind: "sweep" });
    const client = openWritable(appliance.databasePath).$client;
    for (let index = 0; index < 450; index += 1)
      client.query("INSERT INTO discovery_findings (scan_id, ordinal, type, finding) VALUES (?, ?, ?, ?)").run(
        scan.id,
        index,
        index % 2 === 0 ? "Created" : "Partial",
        JSON.stringify({
          type: index % 2 === 0 ? "Created" : "Partial",
          entity: null,
          id: null,
          label: String(index),
          reason: "",
        }),
      );
    client.close();
    const labels = async (query: string) =>
      ((await owner.get(`${PATH}/${scan.id}/findings?${query}`)).data as JsonRecord[]).map(({ label }) =>
        Number(label),
      );
    expect(await labels("limit=0")).toEqual(Array.from({ length: 450 }, (_, index) => index));
    expect(await labels("limit=0&offset=5&type=Partial")).toEqual(
      Array.from({ length: 220 }, (_, index) => 11 + 2 * index),
    );
  });
});

describe("following a scan", () => {
  interface Event {
    readonly name: string;
    readonly data: JsonRecord;
  }

  async function follow(caller: Client, id: string, signal?: AbortSignal) {
    const { headers } = caller as unknown as { headers: Record<string, string> };
    const response = await handle(
      new Request(`http://localhost${PATH}/${id}/events`, { headers, ...(signal === undefined ? {} : { signal }) }),
    );
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      200,
      "text/event-stream",
      "no-store",
    ]);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    let isOver = false;
    const parsed = (): Event[] =>
      [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map((match) => ({
        name: match[1] ?? "",
        data: JSON.parse(match[2] ?? ""),
      }));
    const events = async (until: (events: Event[]) => boolean): Promise<Event[]> => {
      while (!isOver && !until(parsed())) {
        const { done, value } = await reader.read();
        isOver = done;
        text += decoder.decode(value, { stream: true });
      }
      return parsed();
    };
    return { events, all: () => events(() => false), text: () => text };
  }

  test("reports start, progress and end, and closes with it", async () => {
    await setUpNetwork();
    const held = holdProbes();
    const [first, second] = [await startScan(appliance), await startScan(appliance, { kind: "sweep" })];
    await held.reached;
    const [one, two] = [await follow(owner, first.id), await follow(owner, second.id)];
    expect(await one.events((events) => events.length > 0)).toMatchObject([
      { name: "scan", data: { status: "Running" } },
    ]);
    expect(await two.events((events) => events.length > 0)).toMatchObject([
      { name: "scan", data: { status: "Queued", progress: null } },
    ]);
    timers.pass(PROGRESS_INTERVAL_MS);
    expect((await one.events((events) => events.length > 1)).at(-1)).toMatchObject({
      name: "progress",
      data: { phase: "sweep", addresses_total: 14, findings: 0 },
    });
    held.release();
    const events = await one.all();
    expect(events.at(-1)).toEqual({ name: "end", data: await expectOk(owner.get(`${PATH}/${first.id}`)) });
    expect(
      (await two.all())
        .map(({ name, data }) => `${name} ${data.status ?? ""}`.trim())
        .filter((event) => event !== "progress"),
    ).toEqual(["scan Queued", "scan Running", "end Completed"]);
    expect(one.text()).toStartWith("retry: 3000\n\n");
  });

  test("reports the end of a completed scan", async () => {
    const scan = await runScan({ kind: "sweep" });
    expect(await (await follow(owner, scan.id)).all()).toEqual([{ name: "end", data: scan }]);
  });

  test("ends when the permission to follow it is lost", async () => {
    const { held, scan } = await startHeldScan();
    const { client, id } = newApiKey();
    const stream = await follow(client, scan.id);
    await stream.events((events) => events.length > 0);
    await expectOk(owner.delete(`auth/keys/${id}`));
    timers.pass(PROGRESS_INTERVAL_MS);
    expect((await stream.all()).map(({ name }) => name)).toEqual(["scan"]);
    held.release();
  });

  test("sends heartbeats, and ends when its client disconnects", async () => {
    const { held, scan } = await startHeldScan();
    const abortController = new AbortController();
    const stream = await follow(owner, scan.id, abortController.signal);
    await stream.events((events) => events.length > 0);
    const waiting = stream.events(() => stream.text().includes(": still here"));
    await nextTick();
    timers.pass(15_000);
    await waiting;
    abortController.abort();
    held.release();
    await waitForScan(scan.id);
    expect(timers.count).toBe(0);
  });

  test("is limited per user", async () => {
    const { held, scan } = await startHeldScan();
    const { headers } = owner as unknown as { headers: Record<string, string> };
    const open = () => handle(new Request(`http://localhost${PATH}/${scan.id}/events`, { headers }));
    const streams = await Promise.all(Array.from({ length: SCAN_STREAMS_OF_USER_MAX }, open));
    expect((await open()).status).toBe(429);
    await streams[0]?.body?.cancel();
    const next = await open();
    expect(next.status).toBe(200);
    for (const stream of [...streams.slice(1), next]) await stream.body?.cancel();
    held.release();
  });
});

describe("a scanning thread crash", () => {
  test("fails running scans with what was recorded, runs waiting scans on a new thread, and logs the cause", async () => {
    const { held, running, waiting } = await startHeldAndQueued();
    timers.pass(1_000);
    for (let index = 0; index < 10; index += 1) await nextTick();
    appliance.scanThread.crash("out of memory");
    expect(await waitForScan(running.id)).toMatchObject({
      status: "Failed",
      outcome: { problem: expect.stringContaining("ended unexpectedly") },
      progress: { phase: "sweep" },
    });
    held.release();
    expect((await waitForScan(waiting.id)).status).toBe("Completed");
    expect(appliance.scanThread.started).toBe(2);
    expect(appliance.logLines.some((line) => line.includes("scanner_crashed") && line.includes("out of memory"))).toBe(
      true,
    );
  });
});

describe("an appliance shutdown", () => {
  test("marks running and waiting scans interrupted, and releases followers", async () => {
    const { running, waiting } = await startHeldAndQueued();
    const { headers } = owner as unknown as { headers: Record<string, string> };
    const stream = await handle(new Request(`http://localhost${PATH}/${waiting.id}/events`, { headers }));
    const text = stream.text();
    await nextTick();
    await appliance.scans.stop();
    expect(await text).toContain("event: scan");
    const after = async (scan: JsonRecord) => expectOk(owner.get(`${PATH}/${scan.id}`));
    expect(await after(running)).toMatchObject({
      status: "Interrupted",
      started_at: expect.any(String),
      ended_at: expect.any(String),
      outcome: { problem: "the appliance was stopped", icmp: null },
    });
    expect(await after(waiting)).toMatchObject({
      status: "Interrupted",
      started_at: null,
      outcome: { problem: "the appliance was stopped" },
    });
  });

  test("without warning makes the next start mark unfinished scans interrupted, with what was recorded", async () => {
    const { held, running, waiting } = await startHeldAndQueued();
    timers.pass(1_000);
    for (let index = 0; index < 10; index += 1) await nextTick();
    await appliance.scans.start();
    for (const scan of [running, waiting])
      expect(await expectOk(owner.get(`${PATH}/${scan.id}`))).toMatchObject({
        status: "Interrupted",
        outcome: { problem: "the appliance stopped while it waited or ran" },
      });
    expect((await expectOk(owner.get(`${PATH}/${running.id}`))).progress).toMatchObject({
      phase: "sweep",
      addresses_total: 14,
    });
    expect(appliance.logLines.some((line) => line.includes("scans_interrupted count=2"))).toBe(true);
    held.release();
    // The rest of the running work has no effect: the scan has ended.
    await waitForScan(running.id);
    expect((await expectOk(owner.get(`${PATH}/${running.id}`))).status).toBe("Interrupted");
  });
});

const systemAuthor = {
  type: "System" as const,
  id: null,
  name: "",
  organizationId: "",
  requestId: null,
  userId: null,
  role: "Owner" as const,
  networkIds: null,
};
async function resolveAuthor() {
  Object.assign(systemAuthor, { organizationId: first.organizationId });
  return systemAuthor;
}
