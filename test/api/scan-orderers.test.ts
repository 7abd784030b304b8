// Rights of a scan's requester during the scan: losing them cancels it, and it writes nothing afterwards.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, newApiKey, type Wire } from "../support/appliance/factories.ts";

const PATH = "discovery/scans";
const WITHDRAWN = "the user who requested it no longer has the rights to";

const appliance = applianceForEach();
const { clock, first, owner, probes, signedIn, timers } = appliance;
const { asked, communityOf, holdBack, holdWrites, newNetwork, newSubnet } = appliance;
const { newUser, tick, transactionCount, untilEnded } = appliance;
let network: string;
let other: string;

beforeEach(async () => {
  network = first.networkId;
  other = (await newNetwork()).id;
  await newSubnet({ cidr: "10.0.0.0/29" });
  for (const last of [1, 2, 3]) probes.alive.set(`10.0.0.${last}`, { mac_address: `00:00:5e:00:53:0${last}` });
});

interface Orderer {
  readonly client: Client;
  readonly userId: string;
  readonly keyId: string | null;
}

async function person(role: "Member" | "Admin" = "Member"): Promise<Orderer> {
  const { id, client } = await newUser({ role, networkIds: role === "Member" ? [network, other] : [] });
  return { client, userId: id, keyId: null };
}

async function keyHolder(fields: Parameters<typeof newApiKey>[1] = {}): Promise<Orderer> {
  const { userId } = await person();
  const { id, client } = newApiKey(appliance, { userId, permissions: "Member", ...fields });
  return { client, userId, keyId: id };
}

/** Changes a user or an API key like an Owner who has just read it. */
async function change(plural: "users" | "auth/keys", id: string, changes: Wire): Promise<void> {
  const path = `${plural}/${id}`;
  const { network_ids, all_networks, ...rest } = await made(owner.get(path));
  tick();
  await made(owner.put(path, { ...rest, ...(plural === "users" ? { network_ids } : {}), ...changes }));
}

const deleted = (path: string) => made(owner.delete(path));
const hosts = async () => (await owner.get("hosts")).body.meta.pagination.total_count;
const ended = async (id: string) => {
  const scan = await untilEnded(id);
  return [scan.status, scan.outcome.problem];
};

describe("a running scan is cancelled, and writes nothing more, when", () => {
  test.each<[string, () => Promise<Orderer>, (by: Orderer) => Promise<unknown>]>([
    ["its user is disabled", person, ({ userId }) => change("users", userId, { is_enabled: false })],
    ["its user is deleted", person, ({ userId }) => deleted(`users/${userId}`)],
    ["its user becomes a Viewer", person, ({ userId }) => change("users", userId, { role: "Viewer" })],
    [
      "its user no longer reaches its network",
      person,
      ({ userId }) => change("users", userId, { network_ids: [other] }),
    ],
    ["its API key is disabled", keyHolder, ({ keyId }) => change("auth/keys", keyId as string, { is_enabled: false })],
    ["its key is deleted", keyHolder, ({ keyId }) => deleted(`auth/keys/${keyId}`)],
    [
      "its key becomes read-only",
      keyHolder,
      ({ keyId }) => change("auth/keys", keyId as string, { permissions: "Viewer" }),
    ],
    [
      "its key no longer reaches its network",
      keyHolder,
      ({ keyId }) => change("auth/keys", keyId as string, { network_ids: [other] }),
    ],
    ["its key's user is disabled", keyHolder, ({ userId }) => change("users", userId, { is_enabled: false })],
  ])("%s", async (_what, ordering, lose) => {
    const by = await ordering();
    const held = holdBack();
    const { id } = await asked({ kind: "sweep" }, by.client);
    await held.reached;
    await lose(by);
    const before = transactionCount();
    timers.pass(50);
    expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
    held.letGo();
    expect([await hosts(), transactionCount()]).toEqual([0, before]);
  });

  test("its key has expired", async () => {
    const { client } = await keyHolder({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    const held = holdBack();
    const { id } = await asked({ kind: "sweep" }, client);
    await held.reached;
    timers.pass(50);
    expect(appliance.scans.live(id)).not.toBeNull();
    timers.pass(1_000);
    expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
  });

  test("an Admin who named its targets becomes a Member, unless it has none", async () => {
    const [naming, other] = [await person("Admin"), await person("Admin")];
    const held = holdBack();
    const named = await asked({ kind: "sweep", targets: ["10.0.0.1"] }, naming.client);
    const plain = await asked({ kind: "sweep" }, other.client);
    await held.reached;
    for (const { userId } of [naming, other]) await change("users", userId, { role: "Member", network_ids: [network] });
    timers.pass(50);
    expect(await ended(named.id)).toEqual(["Cancelled", WITHDRAWN]);
    held.letGo();
    expect(await ended(plain.id)).toEqual(["Completed", null]);
  });

  test("a Member who named targets becomes a Viewer, and no sooner", async () => {
    const by = await person("Member");
    const held = holdBack();
    const { id } = await asked({ kind: "sweep", targets: ["10.0.0.1"] }, by.client);
    await held.reached;
    timers.pass(50);
    expect(appliance.scans.live(id)).not.toBeNull();
    await change("users", by.userId, { role: "Viewer" });
    timers.pass(50);
    expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
  });
});

test("a scan's results are not written after its user is disabled, however soon that happens", async () => {
  const by = await person();
  const written = holdWrites(({ type }, command) => type === "Discovery" && command === "discovery.addresses");
  const { id } = await asked({ kind: "sweep" }, by.client);
  const seen = Promise.race([written.arrived, passing()]);
  await seen;
  await change("users", by.userId, { is_enabled: false });
  const before = transactionCount();
  written.release();
  expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
  expect([await hosts(), transactionCount()]).toEqual([0, before]);

  /** Waits for the flush time of a batch. */
  async function passing(): Promise<void> {
    let isThere = false;
    void written.arrived.then(() => {
      isThere = true;
    });
    while (!isThere) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      timers.pass(10);
    }
  }
});

test("a waiting or starting scan is cancelled before it probes or reads a credential's addresses", async () => {
  const by = await person();
  const credential = await communityOf("public", { target_ips: ["10.0.0.1"] });
  const held = holdBack();
  const running = await asked({ kind: "sweep" });
  await held.reached;
  const waiting = await asked({}, by.client);
  await change("users", by.userId, { is_enabled: false });
  timers.pass(50);
  expect(await ended(waiting.id)).toEqual(["Cancelled", WITHDRAWN]);
  held.letGo();
  expect(await ended(running.id)).toEqual(["Completed", null]);

  await change("users", by.userId, { is_enabled: true });
  const client = await signedIn(by.userId);
  const dispatching = holdWrites(({ type }) => type === "Discovery");
  const next = await asked({}, client);
  await dispatching.arrived;
  await change("users", by.userId, { is_enabled: false });
  dispatching.release();
  expect(await ended(next.id)).toEqual(["Cancelled", WITHDRAWN]);
  expect((await owner.get(`credentials/${credential.id}`)).data.target_ips).toEqual(["10.0.0.1"]);
});

test("signing out, rotating the key and changes of other networks do not affect a scan", async () => {
  const [user, key] = [await person(), await keyHolder()];
  const held = holdBack();
  const scans = [await asked({ kind: "sweep" }, user.client), await asked({ kind: "sweep" }, key.client)];
  await held.reached;
  await made(owner.post(`auth/keys/${key.keyId}/rotate`, {}));
  await change("users", user.userId, { network_ids: [network] });
  await made(user.client.post("/api/auth/logout", {}));
  timers.pass(50);
  held.letGo();
  for (const { id } of scans) expect(await ended(id)).toEqual(["Completed", null]);
  expect(await hosts()).toBe(3);
});

test("the cancellation is reported by the scan and the log", async () => {
  const by = await person();
  const held = holdBack();
  const { id } = await asked({ kind: "sweep" }, by.client);
  await held.reached;
  await change("users", by.userId, { is_enabled: false });
  timers.pass(50);
  await ended(id);
  expect((await owner.get(`${PATH}/${id}`)).data).toMatchObject({
    status: "Cancelled",
    requested_by: { type: "User", id: by.userId },
  });
  expect(appliance.logLines.filter((line) => line.includes("scan_ended")).join()).toContain(WITHDRAWN);
  expect(appliance.logLines.filter((line) => line.includes("ERROR"))).toEqual([]);
});

describe("before a scan sends anything, user and targets are logged", () => {
  const started = () => appliance.logLines.filter((line) => line.includes("scan_started"));

  /** Another way to request a scan, and its targets. */
  const checked = async ({ client }: Orderer) => {
    const host = await made(
      owner.post("hosts", { network_id: network, name: "printer-3", ip_addresses: [{ ip_address: "10.0.0.2" }] }),
    );
    return made(client.post(`ip-addresses/${host.ip_addresses[0].id}/check`, {}));
  };

  test.each<[string, (by: Orderer) => Promise<Wire>, string]>([
    ["for the subnets", ({ client }) => asked({ kind: "sweep" }, client), "targets=null"],
    ["for targets", ({ client }) => asked({ kind: "sweep", targets: ["10.0.0.1"] }, client), 'targets=["10.0.0.1"]'],
    ["for one address", checked, 'targets=["10.0.0.2"]'],
  ])("%s, by a user or by a key", async (_what, order, targets) => {
    for (const by of [await person(), await keyHolder()]) {
      const seen: string[][] = [];
      probes.hold = async () => void seen.push(started());
      appliance.logLines.length = 0;
      const { id } = await order(by);
      await untilEnded(id);
      const [line = ""] = seen[0] ?? [];
      for (const part of [id, network, by.keyId ?? by.userId, targets]) expect(line).toContain(part);
    }
  });

  test("and if logging fails, nothing is sent: the scan fails with the reason", async () => {
    const push = appliance.logLines.push;
    appliance.logLines.push = () => {
      throw new Error("ENOSPC");
    };
    const { id } = await asked({ kind: "full" }, (await person()).client);
    const scan = await untilEnded(id);
    appliance.logLines.push = push;
    expect([scan.status, scan.outcome.problem]).toEqual([
      "Failed",
      "nothing was sent, because the log could not be written",
    ]);
    expect([probes.swept, probes.asked]).toEqual([[], []]);
    expect((await ended((await asked({ kind: "sweep" })).id))[0]).toBe("Completed");
  });
});
