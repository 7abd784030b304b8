// Queue slots of a network's scans: limit per user, slots reserved for Admins, and order.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  SCANS_RUNNING_MAX,
  SCANS_WAITING_MAX,
  SCANS_WAITING_OF_ADMINS,
  SCANS_WAITING_OF_USER_MAX,
} from "../../src/discovery/scans/scan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";

const PATH = "discovery/scans";

const appliance = applianceForEach();
const { startScan, first, holdProbes, newApiKey, newHost, newNetwork, newSubnet, newUser, owner, waitForScan } =
  appliance;

/** Held-back probes. */
let held: ReturnType<typeof holdProbes>;

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/29" });
  held = holdProbes();
  await startScan({ kind: "sweep" });
  await held.reached;
});

const newRequester = async (role: "Member" | "Admin") =>
  newUser({ role, networkIds: role === "Member" ? [first.networkId] : [] });
const requestScan = (caller: Client, fields: JsonRecord = {}) =>
  caller.post(PATH, { network_id: first.networkId, kind: "sweep", ...fields });
const slotsFull = (scans: number) =>
  refusal(409, "entity_in_use", { entity: "network", id: first.networkId, dependants: { scans } });

/** Queues the maximum number of scans of this user. */
async function fillUserSlots(caller: Client): Promise<JsonRecord[]> {
  const scans: JsonRecord[] = [];
  for (let count = 0; count < SCANS_WAITING_OF_USER_MAX; count += 1) scans.push(await expectOk(requestScan(caller)));
  return scans;
}

/** Members who fill all slots available to Members. */
async function fillMemberSlots(): Promise<Client[]> {
  const members: Client[] = [];
  for (let taken = 0; taken < SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS; taken += SCANS_WAITING_OF_USER_MAX) {
    const { client } = await newRequester("Member");
    members.push(client);
    for (let count = 0; count < SCANS_WAITING_OF_USER_MAX; count += 1) await requestScan(client);
  }
  return members;
}

async function countQueued(): Promise<number> {
  return (await owner.get(`${PATH}?status=Queued`)).body.meta.pagination.total_count;
}

async function checkPath(): Promise<string> {
  const host = await newHost({ name: "printer-3", ip_addresses: [{ ip_address: "10.0.0.2" }] });
  return `ip-addresses/${host.ip_addresses[0].id}/check`;
}

describe("scan slots of a network", () => {
  test("are at most three per user, with all of their API keys", async () => {
    const { id, client } = await newRequester("Member");
    const keys = [newApiKey({ userId: id }).client, newApiKey({ userId: id }).client];
    for (const caller of [client, ...keys]) await expectOk(requestScan(caller));
    for (const caller of [client, ...keys])
      expect(await requestScan(caller)).toMatchObject(slotsFull(SCANS_WAITING_OF_USER_MAX));
    expect((await requestScan(client)).body.error).toContain("3 of your scans of this network are already queued");
    expect((await requestScan((await newRequester("Member")).client)).status).toBe(200);
  });

  test("are also three for an Admin", async () => {
    const { client } = await newRequester("Admin");
    await fillUserSlots(client);
    expect(await requestScan(client)).toMatchObject(slotsFull(SCANS_WAITING_OF_USER_MAX));
  });

  test("are freed by cancellation, and separate for each network", async () => {
    const { client } = await newRequester("Admin");
    const [scan = {} as JsonRecord] = await fillUserSlots(client);
    const otherNetworkId = (await newNetwork()).id;
    expect((await requestScan(client, { network_id: otherNetworkId })).status).toBe(200);
    await expectOk(client.post(`${PATH}/${scan.id}/cancel`, {}));
    expect((await requestScan(client)).status).toBe(200);
  });

  test("leave two to Admins and Owners, however many Members there are", async () => {
    const members = await fillMemberSlots();
    expect(await countQueued()).toBe(SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS);
    const response = await requestScan((await newRequester("Member")).client);
    expect(response).toMatchObject(slotsFull(SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS));
    expect(response.body.error).toContain("the other places are for Admins and Owners");
    const admins = [(await newRequester("Admin")).client, owner];
    for (const caller of admins) expect((await requestScan(caller)).status).toBe(200);
    for (const caller of [...admins, ...members]) expect((await requestScan(caller)).status).toBe(409);
    expect(await requestScan((await newRequester("Admin")).client)).toMatchObject(slotsFull(SCANS_WAITING_MAX));
  });

  test("can all be used by Admins", async () => {
    for (let taken = 0; taken < SCANS_WAITING_MAX; taken += SCANS_WAITING_OF_USER_MAX) {
      const { client } = await newRequester("Admin");
      for (let count = 0; count < SCANS_WAITING_OF_USER_MAX; count += 1) await requestScan(client);
    }
    expect(await countQueued()).toBe(SCANS_WAITING_MAX);
    expect(await requestScan((await newRequester("Member")).client)).toMatchObject(slotsFull(SCANS_WAITING_MAX));
  });

  test("are not taken by an Admin's address check, but by a Member's", async () => {
    const path = await checkPath();
    await fillMemberSlots();
    for (const caller of [(await newRequester("Admin")).client, (await newRequester("Admin")).client])
      await expectOk(requestScan(caller));
    const { client } = await newRequester("Admin");
    expect(await requestScan(client)).toMatchObject(slotsFull(SCANS_WAITING_MAX));
    for (const caller of [client, owner]) expect((await caller.post(path, {})).status).toBe(200);
    for (const caller of [client, owner])
      expect(await caller.post(path, {})).toMatchObject(slotsFull(SCANS_WAITING_MAX));
    expect(await (await newRequester("Member")).client.post(path, {})).toMatchObject(slotsFull(SCANS_WAITING_MAX));
  });

  test("count a Member's address checks toward the limit", async () => {
    const path = await checkPath();
    const { client } = await newRequester("Member");
    for (let count = 0; count < SCANS_WAITING_OF_USER_MAX; count += 1) await expectOk(client.post(path, {}));
    expect(await client.post(path, {})).toMatchObject(slotsFull(SCANS_WAITING_OF_USER_MAX));
  });
});

describe("scan scheduling", () => {
  /** Requesters in the order in which their scans started. */
  async function started(): Promise<string[]> {
    const requesterByScan = new Map(
      ((await owner.get(`${PATH}?limit=0`)).data as JsonRecord[]).map(({ id, requested_by }) => [id, requested_by.id]),
    );
    return appliance.logLines.flatMap(
      (line) => requesterByScan.get(/ scan_started scan_id=(\S+)/.exec(line)?.[1]) ?? [],
    );
  }

  test("is round-robin by user, even if one of them queued their maximum first", async () => {
    const [one, two, three] = [await newRequester("Member"), await newRequester("Member"), await newRequester("Admin")];
    const scans = await fillUserSlots(one.client);
    for (const { client } of [two, two, three]) scans.push(await expectOk(requestScan(client)));
    held.release();
    for (const { id } of scans) await waitForScan(id);
    expect(await started()).toEqual([first.userId, one.id, two.id, three.id, one.id, two.id, one.id]);
  });

  test("counts API keys toward their user", async () => {
    const [one, two] = [await newRequester("Member"), await newRequester("Member")];
    const keys = [0, 1, 2].map(() => newApiKey({ userId: one.id }));
    const scans: JsonRecord[] = [];
    for (const { client } of [...keys, two]) scans.push(await expectOk(requestScan(client)));
    held.release();
    for (const { id } of scans) await waitForScan(id);
    const [a, b, c] = keys.map(({ id }) => id) as [string, string, string];
    expect(await started()).toEqual([first.userId, a, two.id, b, c]);
  });

  test("is round-robin across networks when the global limit is reached", async () => {
    const networks: string[] = [];
    while (networks.length <= SCANS_RUNNING_MAX) {
      const { id: network_id } = await newNetwork();
      await newSubnet({ network_id, cidr: "10.0.0.0/30" });
      networks.push(network_id);
    }
    const last = networks.pop() as string;
    const member = await newUser({ role: "Member", networkIds: networks });
    const [running = {} as JsonRecord] = await Promise.all(
      networks.map((network_id) => expectOk(requestScan(member.client, { network_id }))),
    );
    const { id } = await expectOk(requestScan(owner, { network_id: last }));
    await expectOk(owner.post(`${PATH}/${running.id}/cancel`, {}));
    expect((await owner.get(`${PATH}/${id}`)).data.status).toBe("Running");
    held.release();
    await waitForScan(id);
  });
});
