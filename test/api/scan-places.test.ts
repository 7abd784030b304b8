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
import { made, refusal, type Wire } from "../support/appliance/factories.ts";

const PATH = "discovery/scans";

const appliance = applianceForEach();
const { asked, first, holdBack, newApiKey, newHost, newNetwork, newSubnet, newUser, owner, untilEnded } = appliance;

/** Held-back probes. */
let held: ReturnType<typeof holdBack>;

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/29" });
  held = holdBack();
  await asked({ kind: "sweep" });
  await held.reached;
});

const person = async (role: "Member" | "Admin") =>
  newUser({ role, networkIds: role === "Member" ? [first.networkId] : [] });
const ask = (by: Client, fields: Wire = {}) => by.post(PATH, { network_id: first.networkId, kind: "sweep", ...fields });
const full = (scans: number) =>
  refusal(409, "entity_in_use", { entity: "network", id: first.networkId, dependants: { scans } });

/** Queues the maximum number of scans of this user. */
async function takeAll(by: Client): Promise<Wire[]> {
  const scans: Wire[] = [];
  for (let each = 0; each < SCANS_WAITING_OF_USER_MAX; each += 1) scans.push(await made(ask(by)));
  return scans;
}

/** Members who fill all slots available to Members. */
async function crowdOfMembers(): Promise<Client[]> {
  const members: Client[] = [];
  for (let taken = 0; taken < SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS; taken += SCANS_WAITING_OF_USER_MAX) {
    const { client } = await person("Member");
    members.push(client);
    for (let each = 0; each < SCANS_WAITING_OF_USER_MAX; each += 1) await ask(client);
  }
  return members;
}

async function waiting(): Promise<number> {
  return (await owner.get(`${PATH}?status=Queued`)).body.meta.pagination.total_count;
}

async function checkPath(): Promise<string> {
  const host = await newHost({ name: "printer-3", ip_addresses: [{ ip_address: "10.0.0.2" }] });
  return `ip-addresses/${host.ip_addresses[0].id}/check`;
}

describe("scan slots of a network", () => {
  test("are at most three per user, with all of their API keys", async () => {
    const { id, client } = await person("Member");
    const keys = [newApiKey({ userId: id }).client, newApiKey({ userId: id }).client];
    for (const by of [client, ...keys]) await made(ask(by));
    for (const by of [client, ...keys]) expect(await ask(by)).toMatchObject(full(SCANS_WAITING_OF_USER_MAX));
    expect((await ask(client)).body.error).toContain("3 of your scans of this network are already queued");
    expect((await ask((await person("Member")).client)).status).toBe(200);
  });

  test("are as many for an Admin", async () => {
    const { client } = await person("Admin");
    await takeAll(client);
    expect(await ask(client)).toMatchObject(full(SCANS_WAITING_OF_USER_MAX));
  });

  test("are freed by cancellation, and separate from other networks'", async () => {
    const { client } = await person("Admin");
    const [scan = {} as Wire] = await takeAll(client);
    const other = (await newNetwork()).id;
    expect((await ask(client, { network_id: other })).status).toBe(200);
    await made(client.post(`${PATH}/${scan.id}/cancel`, {}));
    expect((await ask(client)).status).toBe(200);
  });

  test("leave two to Admins and Owners, however many Members there are", async () => {
    const members = await crowdOfMembers();
    expect(await waiting()).toBe(SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS);
    const answer = await ask((await person("Member")).client);
    expect(answer).toMatchObject(full(SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS));
    expect(answer.body.error).toContain("the other places are for Admins and Owners");
    const admins = [(await person("Admin")).client, owner];
    for (const by of admins) expect((await ask(by)).status).toBe(200);
    for (const by of [...admins, ...members]) expect((await ask(by)).status).toBe(409);
    expect(await ask((await person("Admin")).client)).toMatchObject(full(SCANS_WAITING_MAX));
  });

  test("can all be used by Admins", async () => {
    for (let taken = 0; taken < SCANS_WAITING_MAX; taken += SCANS_WAITING_OF_USER_MAX) {
      const { client } = await person("Admin");
      for (let each = 0; each < SCANS_WAITING_OF_USER_MAX; each += 1) await ask(client);
    }
    expect(await waiting()).toBe(SCANS_WAITING_MAX);
    expect(await ask((await person("Member")).client)).toMatchObject(full(SCANS_WAITING_MAX));
  });

  test("are not taken by an Admin's address checks, one at a time, but by a Member's", async () => {
    const path = await checkPath();
    await crowdOfMembers();
    for (const by of [(await person("Admin")).client, (await person("Admin")).client]) await made(ask(by));
    const { client } = await person("Admin");
    expect(await ask(client)).toMatchObject(full(SCANS_WAITING_MAX));
    for (const by of [client, owner]) expect((await by.post(path, {})).status).toBe(200);
    for (const by of [client, owner]) expect(await by.post(path, {})).toMatchObject(full(SCANS_WAITING_MAX));
    expect(await (await person("Member")).client.post(path, {})).toMatchObject(full(SCANS_WAITING_MAX));
  });

  test("include a Member's checks in the three", async () => {
    const path = await checkPath();
    const { client } = await person("Member");
    for (let each = 0; each < SCANS_WAITING_OF_USER_MAX; each += 1) await made(client.post(path, {}));
    expect(await client.post(path, {})).toMatchObject(full(SCANS_WAITING_OF_USER_MAX));
  });
});

describe("scan scheduling", () => {
  /** Requesters in the order in which their scans started. */
  async function started(): Promise<string[]> {
    const ordered = new Map(
      ((await owner.get(`${PATH}?limit=0`)).data as Wire[]).map(({ id, requested_by }) => [id, requested_by.id]),
    );
    return appliance.logLines.flatMap((line) => ordered.get(/ scan_started scan_id=(\S+)/.exec(line)?.[1]) ?? []);
  }

  test("is round-robin by user, even if one of them queued their maximum first", async () => {
    const [one, two, three] = [await person("Member"), await person("Member"), await person("Admin")];
    const scans = await takeAll(one.client);
    for (const { client } of [two, two, three]) scans.push(await made(ask(client)));
    held.letGo();
    for (const { id } of scans) await untilEnded(id);
    expect(await started()).toEqual([first.userId, one.id, two.id, three.id, one.id, two.id, one.id]);
  });

  test("counts API keys toward their user", async () => {
    const [one, two] = [await person("Member"), await person("Member")];
    const keys = [0, 1, 2].map(() => newApiKey({ userId: one.id }));
    const scans: Wire[] = [];
    for (const { client } of [...keys, two]) scans.push(await made(ask(client)));
    held.letGo();
    for (const { id } of scans) await untilEnded(id);
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
    const [running = {} as Wire] = await Promise.all(
      networks.map((network_id) => made(ask(member.client, { network_id }))),
    );
    const { id } = await made(ask(owner, { network_id: last }));
    await made(owner.post(`${PATH}/${running.id}/cancel`, {}));
    expect((await owner.get(`${PATH}/${id}`)).data.status).toBe("Running");
    held.letGo();
    await untilEnded(id);
  });
});
