// Permissions of a scan's requester during the scan: losing them cancels it, and it writes nothing afterwards.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, newApiKey } from "../support/appliance/factories.ts";

const PATH = "discovery/scans";
const WITHDRAWN = "the user who requested it no longer has permission to";

const appliance = applianceForEach();
const { clock, first, owner, probes, signedIn, timers } = appliance;
const { startScan, communityOf, holdProbes, holdWrites, newNetwork, newSubnet } = appliance;
const { newUser, tick, transactionCount, waitForScan } = appliance;
let network: string;
let otherNetwork: string;

beforeEach(async () => {
  network = first.networkId;
  otherNetwork = (await newNetwork()).id;
  await newSubnet({ cidr: "10.0.0.0/29" });
  for (const last of [1, 2, 3]) probes.alive.set(`10.0.0.${last}`, { mac_address: `00:00:5e:00:53:0${last}` });
});

interface Requester {
  readonly client: Client;
  readonly userId: string;
  readonly keyId: string | null;
}

async function newRequester(role: "Member" | "Admin" = "Member"): Promise<Requester> {
  const { id, client } = await newUser({ role, networkIds: role === "Member" ? [network, otherNetwork] : [] });
  return { client, userId: id, keyId: null };
}

async function newKeyRequester(fields: Parameters<typeof newApiKey>[1] = {}): Promise<Requester> {
  const { userId } = await newRequester();
  const { id, client } = newApiKey(appliance, { userId, permissions: "Member", ...fields });
  return { client, userId, keyId: id };
}

/** Changes a user or an API key like an Owner who has just read it. */
async function change(plural: "users" | "auth/keys", id: string, changes: JsonRecord): Promise<void> {
  const path = `${plural}/${id}`;
  const { network_ids, all_networks, ...rest } = await expectOk(owner.get(path));
  tick();
  await expectOk(owner.put(path, { ...rest, ...(plural === "users" ? { network_ids } : {}), ...changes }));
}

const deleteRecord = (path: string) => expectOk(owner.delete(path));
const countHosts = async () => (await owner.get("hosts")).body.meta.pagination.total_count;
const outcomeOf = async (id: string) => {
  const scan = await waitForScan(id);
  return [scan.status, scan.outcome.problem];
};

describe("a running scan is canceled, and writes nothing more, when", () => {
  test.each<[string, () => Promise<Requester>, (requester: Requester) => Promise<unknown>]>([
    ["its user is disabled", newRequester, ({ userId }) => change("users", userId, { is_enabled: false })],
    ["its user is deleted", newRequester, ({ userId }) => deleteRecord(`users/${userId}`)],
    ["its user becomes a Viewer", newRequester, ({ userId }) => change("users", userId, { role: "Viewer" })],
    [
      "its user loses access to its network",
      newRequester,
      ({ userId }) => change("users", userId, { network_ids: [otherNetwork] }),
    ],
    [
      "its API key is disabled",
      newKeyRequester,
      ({ keyId }) => change("auth/keys", keyId as string, { is_enabled: false }),
    ],
    ["its key is deleted", newKeyRequester, ({ keyId }) => deleteRecord(`auth/keys/${keyId}`)],
    [
      "its key becomes read-only",
      newKeyRequester,
      ({ keyId }) => change("auth/keys", keyId as string, { permissions: "Viewer" }),
    ],
    [
      "its key loses access to its network",
      newKeyRequester,
      ({ keyId }) => change("auth/keys", keyId as string, { network_ids: [otherNetwork] }),
    ],
    ["its key's user is disabled", newKeyRequester, ({ userId }) => change("users", userId, { is_enabled: false })],
  ])("%s", async (_case, createRequester, withdraw) => {
    const requester = await createRequester();
    const held = holdProbes();
    const { id } = await startScan({ kind: "sweep" }, requester.client);
    await held.reached;
    await withdraw(requester);
    const before = transactionCount();
    timers.pass(50);
    expect(await outcomeOf(id)).toEqual(["Cancelled", WITHDRAWN]);
    held.release();
    expect([await countHosts(), transactionCount()]).toEqual([0, before]);
  });

  test("its key has expired", async () => {
    const { client } = await newKeyRequester({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    const held = holdProbes();
    const { id } = await startScan({ kind: "sweep" }, client);
    await held.reached;
    timers.pass(50);
    expect(appliance.scans.live(id)).not.toBeNull();
    timers.pass(1_000);
    expect(await outcomeOf(id)).toEqual(["Cancelled", WITHDRAWN]);
  });

  test("an Admin who named its targets becomes a Member, unless it has none", async () => {
    const [withTargets, withoutTargets] = [await newRequester("Admin"), await newRequester("Admin")];
    const held = holdProbes();
    const targeted = await startScan({ kind: "sweep", targets: ["10.0.0.1"] }, withTargets.client);
    const plain = await startScan({ kind: "sweep" }, withoutTargets.client);
    await held.reached;
    for (const { userId } of [withTargets, withoutTargets])
      await change("users", userId, { role: "Member", network_ids: [network] });
    timers.pass(50);
    expect(await outcomeOf(targeted.id)).toEqual(["Cancelled", WITHDRAWN]);
    held.release();
    expect(await outcomeOf(plain.id)).toEqual(["Completed", null]);
  });

  test("a Member who named targets becomes a Viewer, and no sooner", async () => {
    const requester = await newRequester("Member");
    const held = holdProbes();
    const { id } = await startScan({ kind: "sweep", targets: ["10.0.0.1"] }, requester.client);
    await held.reached;
    timers.pass(50);
    expect(appliance.scans.live(id)).not.toBeNull();
    await change("users", requester.userId, { role: "Viewer" });
    timers.pass(50);
    expect(await outcomeOf(id)).toEqual(["Cancelled", WITHDRAWN]);
  });
});

test("a scan's results are not written after its user is disabled, however soon that happens", async () => {
  const requester = await newRequester();
  const heldWrites = holdWrites(({ type }, command) => type === "Discovery" && command === "discovery.addresses");
  const { id } = await startScan({ kind: "sweep" }, requester.client);
  await Promise.race([heldWrites.arrived, advanceUntilArrived()]);
  await change("users", requester.userId, { is_enabled: false });
  const before = transactionCount();
  heldWrites.release();
  expect(await outcomeOf(id)).toEqual(["Cancelled", WITHDRAWN]);
  expect([await countHosts(), transactionCount()]).toEqual([0, before]);

  /** Waits for the flush time of a batch. */
  async function advanceUntilArrived(): Promise<void> {
    let hasArrived = false;
    void heldWrites.arrived.then(() => {
      hasArrived = true;
    });
    while (!hasArrived) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      timers.pass(10);
    }
  }
});

test("a waiting or starting scan is canceled before it probes or reads a credential's addresses", async () => {
  const requester = await newRequester();
  const credential = await communityOf("public", { target_ips: ["10.0.0.1"] });
  const held = holdProbes();
  const running = await startScan({ kind: "sweep" });
  await held.reached;
  const waiting = await startScan({}, requester.client);
  await change("users", requester.userId, { is_enabled: false });
  timers.pass(50);
  expect(await outcomeOf(waiting.id)).toEqual(["Cancelled", WITHDRAWN]);
  held.release();
  expect(await outcomeOf(running.id)).toEqual(["Completed", null]);

  await change("users", requester.userId, { is_enabled: true });
  const client = await signedIn(requester.userId);
  const dispatching = holdWrites(({ type }) => type === "Discovery");
  const next = await startScan({}, client);
  await dispatching.arrived;
  await change("users", requester.userId, { is_enabled: false });
  dispatching.release();
  expect(await outcomeOf(next.id)).toEqual(["Cancelled", WITHDRAWN]);
  expect((await owner.get(`credentials/${credential.id}`)).data.target_ips).toEqual(["10.0.0.1"]);
});

test("signing out, rotating the key and changes to other networks do not affect a scan", async () => {
  const [user, key] = [await newRequester(), await newKeyRequester()];
  const held = holdProbes();
  const scans = [await startScan({ kind: "sweep" }, user.client), await startScan({ kind: "sweep" }, key.client)];
  await held.reached;
  await expectOk(owner.post(`auth/keys/${key.keyId}/rotate`, {}));
  await change("users", user.userId, { network_ids: [network] });
  await expectOk(user.client.post("/api/auth/logout", {}));
  timers.pass(50);
  held.release();
  for (const { id } of scans) expect(await outcomeOf(id)).toEqual(["Completed", null]);
  expect(await countHosts()).toBe(3);
});

test("the cancellation is reported by the scan and the log", async () => {
  const requester = await newRequester();
  const held = holdProbes();
  const { id } = await startScan({ kind: "sweep" }, requester.client);
  await held.reached;
  await change("users", requester.userId, { is_enabled: false });
  timers.pass(50);
  await outcomeOf(id);
  expect((await owner.get(`${PATH}/${id}`)).data).toMatchObject({
    status: "Cancelled",
    requested_by: { type: "User", id: requester.userId },
  });
  expect(appliance.logLines.filter((line) => line.includes("scan_ended")).join()).toContain(WITHDRAWN);
  expect(appliance.logLines.filter((line) => line.includes("ERROR"))).toEqual([]);
});

describe("a scan logs its user and targets before it sends anything", () => {
  const started = () => appliance.logLines.filter((line) => line.includes("scan_started"));

  /** Another way to request a scan, and its targets. */
  const checkAddress = async ({ client }: Requester) => {
    const host = await expectOk(
      owner.post("hosts", { network_id: network, name: "printer-3", ip_addresses: [{ ip_address: "10.0.0.2" }] }),
    );
    return expectOk(client.post(`ip-addresses/${host.ip_addresses[0].id}/check`, {}));
  };

  test.each<[string, (requester: Requester) => Promise<JsonRecord>, string]>([
    ["for the subnets", ({ client }) => startScan({ kind: "sweep" }, client), "targets=null"],
    [
      "for targets",
      ({ client }) => startScan({ kind: "sweep", targets: ["10.0.0.1"] }, client),
      'targets=["10.0.0.1"]',
    ],
    ["for one address", checkAddress, 'targets=["10.0.0.2"]'],
  ])("%s, by a user or by a key", async (_case, requestScan, targets) => {
    for (const requester of [await newRequester(), await newKeyRequester()]) {
      const startLines: string[][] = [];
      probes.hold = async () => void startLines.push(started());
      appliance.logLines.length = 0;
      const { id } = await requestScan(requester);
      await waitForScan(id);
      const [line = ""] = startLines[0] ?? [];
      for (const part of [id, network, requester.keyId ?? requester.userId, targets]) expect(line).toContain(part);
    }
  });

  test("a scan sends nothing and fails with the reason if logging fails", async () => {
    const push = appliance.logLines.push;
    appliance.logLines.push = () => {
      throw new Error("ENOSPC");
    };
    const { id } = await startScan({ kind: "full" }, (await newRequester()).client);
    const scan = await waitForScan(id);
    appliance.logLines.push = push;
    expect([scan.status, scan.outcome.problem]).toEqual([
      "Failed",
      "nothing was sent, because the log could not be written",
    ]);
    expect([probes.swept, probes.queries]).toEqual([[], []]);
    expect((await outcomeOf((await startScan({ kind: "sweep" })).id))[0]).toBe("Completed");
  });
});
