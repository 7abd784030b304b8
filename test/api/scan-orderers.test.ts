// A scan goes on as long as whoever ordered it may order it: it is cancelled with the right, and writes nothing from then on.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import type { Client } from "../support/client.ts";
import { made, newApiKey, newNetwork, newSubnet, newUser, transactionCount, type Wire } from "../support/factories.ts";
import { holdWrites } from "../support/held-writes.ts";
import { asked, communityOf, holdBack, untilEnded } from "../support/scans.ts";

const PATH = "/api/v1/discovery/scans";
const WITHDRAWN = "whoever ordered it may not order it any more";

let appliance: TestAppliance;
let network: string;
let other: string;

beforeEach(async () => {
  appliance = await newAppliance();
  network = appliance.first.networkId;
  other = (await newNetwork(appliance))["id"];
  await newSubnet(appliance, { cidr: "10.0.0.0/29" });
  for (const last of [1, 2, 3])
    appliance.probes.alive.set(`10.0.0.${last}`, { mac_address: `00:00:5e:00:53:0${last}` });
});
afterEach(() => appliance.close());

interface Orderer {
  readonly client: Client;
  readonly userId: string;
  readonly keyId: string | null;
}

async function person(role: "Member" | "Admin" = "Member"): Promise<Orderer> {
  const { id, client } = await newUser(appliance, { role, networkIds: role === "Member" ? [network, other] : [] });
  return { client, userId: id, keyId: null };
}

async function keyHolder(fields: Parameters<typeof newApiKey>[1] = {}): Promise<Orderer> {
  const { userId } = await person();
  const { id, client } = newApiKey(appliance, { userId, permissions: "Member", ...fields });
  return { client, userId, keyId: id };
}

/** Changes a user or an API key as an Owner does who has just read it. */
async function change(plural: "users" | "auth/keys", id: string, changes: Wire): Promise<void> {
  const path = `/api/v1/${plural}/${id}`;
  const { network_ids, all_networks, ...rest } = await made(appliance.owner.get(path));
  appliance.clock.advance(1_000);
  await made(appliance.owner.put(path, { ...rest, ...(plural === "users" ? { network_ids } : {}), ...changes }));
}

const deleted = (path: string) => made(appliance.owner.delete(`/api/v1/${path}`));
const hosts = async () => (await appliance.owner.get("/api/v1/hosts")).body.meta.pagination.total_count;
const ended = async (id: string) => {
  const scan = await untilEnded(appliance, id);
  return [scan["status"], scan["outcome"].problem];
};

describe("a scan that runs is cancelled, and writes nothing any more, where", () => {
  test.each<[string, () => Promise<Orderer>, (by: Orderer) => Promise<unknown>]>([
    ["the user who ordered it is disabled", person, ({ userId }) => change("users", userId, { is_enabled: false })],
    ["the user is deleted", person, ({ userId }) => deleted(`users/${userId}`)],
    ["the user becomes a Viewer", person, ({ userId }) => change("users", userId, { role: "Viewer" })],
    [
      "the user no longer reaches its network",
      person,
      ({ userId }) => change("users", userId, { network_ids: [other] }),
    ],
    [
      "the API key that ordered it is disabled",
      keyHolder,
      ({ keyId }) => change("auth/keys", keyId as string, { is_enabled: false }),
    ],
    ["the key is deleted", keyHolder, ({ keyId }) => deleted(`auth/keys/${keyId}`)],
    [
      "the key may only read",
      keyHolder,
      ({ keyId }) => change("auth/keys", keyId as string, { permissions: "Viewer" }),
    ],
    [
      "the key no longer reaches its network",
      keyHolder,
      ({ keyId }) => change("auth/keys", keyId as string, { network_ids: [other] }),
    ],
    ["the key's user is disabled", keyHolder, ({ userId }) => change("users", userId, { is_enabled: false })],
  ])("%s", async (_what, ordering, lose) => {
    const by = await ordering();
    const held = holdBack(appliance);
    const { id } = await asked(appliance, { kind: "sweep" }, by.client);
    await held.reached;
    await lose(by);
    const before = transactionCount(appliance);
    appliance.timers.pass(50);
    expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
    held.letGo();
    expect([await hosts(), transactionCount(appliance)]).toEqual([0, before]);
  });

  test("the key has expired", async () => {
    const { client } = await keyHolder({ expiresAt: new Date(appliance.clock.now() + 1_000).toISOString() });
    const held = holdBack(appliance);
    const { id } = await asked(appliance, { kind: "sweep" }, client);
    await held.reached;
    appliance.timers.pass(50);
    expect(appliance.scans.live(id)).not.toBeNull();
    appliance.timers.pass(1_000);
    expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
  });

  test("an Admin who named its targets becomes a Member, which one who named none may become", async () => {
    const [naming, other] = [await person("Admin"), await person("Admin")];
    const held = holdBack(appliance);
    const named = await asked(appliance, { kind: "sweep", targets: ["10.0.0.1"] }, naming.client);
    const plain = await asked(appliance, { kind: "sweep" }, other.client);
    await held.reached;
    for (const { userId } of [naming, other]) await change("users", userId, { role: "Member", network_ids: [network] });
    appliance.timers.pass(50);
    expect(await ended(named["id"])).toEqual(["Cancelled", WITHDRAWN]);
    held.letGo();
    expect(await ended(plain["id"])).toEqual(["Completed", null]);
  });
});

test("what a scan has seen is not written after its orderer is disabled, however soon that comes", async () => {
  const by = await person();
  const written = holdWrites(
    appliance,
    ({ type }, command) => type === "Discovery" && command === "discovery.addresses",
  );
  const { id } = await asked(appliance, { kind: "sweep" }, by.client);
  const seen = Promise.race([written.arrived, passing()]);
  await seen;
  await change("users", by.userId, { is_enabled: false });
  const before = transactionCount(appliance);
  written.release();
  expect(await ended(id)).toEqual(["Cancelled", WITHDRAWN]);
  expect([await hosts(), transactionCount(appliance)]).toEqual([0, before]);

  /** Lets the time pass that a batch waits to fill up. */
  async function passing(): Promise<void> {
    let isThere = false;
    void written.arrived.then(() => {
      isThere = true;
    });
    while (!isThere) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      appliance.timers.pass(10);
    }
  }
});

test("a scan that waits, or is about to begin, is cancelled before it asks anybody or takes a credential's addresses", async () => {
  const by = await person();
  const credential = await communityOf(appliance, "public", { target_ips: ["10.0.0.1"] });
  const held = holdBack(appliance);
  const running = await asked(appliance, { kind: "sweep" });
  await held.reached;
  const waiting = await asked(appliance, {}, by.client);
  await change("users", by.userId, { is_enabled: false });
  appliance.timers.pass(50);
  expect(await ended(waiting["id"])).toEqual(["Cancelled", WITHDRAWN]);
  held.letGo();
  expect(await ended(running["id"])).toEqual(["Completed", null]);

  await change("users", by.userId, { is_enabled: true });
  const client = await appliance.signedIn(by.userId);
  const dispatching = holdWrites(appliance, ({ type }) => type === "Discovery");
  const next = await asked(appliance, {}, client);
  await dispatching.arrived;
  await change("users", by.userId, { is_enabled: false });
  dispatching.release();
  expect(await ended(next["id"])).toEqual(["Cancelled", WITHDRAWN]);
  expect((await appliance.owner.get(`/api/v1/credentials/${credential["id"]}`)).data.target_ips).toEqual(["10.0.0.1"]);
});

test("signing out, another secret of the key and other networks change nothing of a scan", async () => {
  const [user, key] = [await person(), await keyHolder()];
  const held = holdBack(appliance);
  const scans = [
    await asked(appliance, { kind: "sweep" }, user.client),
    await asked(appliance, { kind: "sweep" }, key.client),
  ];
  await held.reached;
  await made(appliance.owner.post(`/api/v1/auth/keys/${key.keyId}/rotate`, {}));
  await change("users", user.userId, { network_ids: [network] });
  await made(user.client.post("/api/auth/logout", {}));
  appliance.timers.pass(50);
  held.letGo();
  for (const { id } of scans) expect(await ended(id)).toEqual(["Completed", null]);
  expect(await hosts()).toBe(3);
});

test("its outcome is told by the scan and by the log", async () => {
  const by = await person();
  const held = holdBack(appliance);
  const { id } = await asked(appliance, { kind: "sweep" }, by.client);
  await held.reached;
  await change("users", by.userId, { is_enabled: false });
  appliance.timers.pass(50);
  await ended(id);
  expect((await appliance.owner.get(`${PATH}/${id}`)).data).toMatchObject({
    status: "Cancelled",
    requested_by: { type: "User", id: by.userId },
  });
  expect(appliance.logLines.filter((line) => line.includes("scan_ended")).join()).toContain(WITHDRAWN);
  expect(appliance.logLines.filter((line) => line.includes("ERROR"))).toEqual([]);
});
