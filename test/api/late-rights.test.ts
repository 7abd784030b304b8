// Rights at the time of the write: rights at the arrival of the request do not count.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import {
  made,
  type NewApiKey,
  type NewUser,
  newApiKey,
  newUser,
  transactionCount,
  type Wire,
} from "../support/appliance/factories.ts";
import { holdWrites } from "../support/appliance/held-writes.ts";
import { casesOf } from "../support/authorization/cases.ts";
import { type Caller, newAuthorizationWorld } from "../support/authorization/world.ts";

describe("an operation whose caller is disabled while it waits for the writer writes nothing and is 401", async () => {
  const world = await newAuthorizationWorld();
  const { appliance } = world;
  const owner = world.callers.find(({ name }) => name === "Owner") as Caller;
  afterAll(() => appliance.close());

  /** Operations without writes through the writer, or that only end the caller's own sessions. */
  const others = new Set([
    ..."createBackup downloadBackup deleteBackup createLedgerVerification".split(" "),
    ..."cancelLedgerVerification verifyBackup signOut endSession endOtherSessions".split(" "),
    "changePassword",
  ]);
  const isWriting = ({ method, operation }: RegisteredRoute) =>
    method !== "GET" && operation.access !== "anyone" && !others.has(operation.operationId);
  const writing = appliance.surface.routes.filter(isWriting);

  test.each(writing.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", async (_name, route) => {
    const leaving = await newUser(appliance, { role: "Owner" });
    const keyId = newApiKey(appliance, { userId: leaving.id, permissions: "Viewer" }).id;
    const caller: Caller = { ...owner, client: leaving.client, userId: leaving.id, keyId };
    const { path, body, headers } = await requestOf(caller, route);
    const held = holdWrites(appliance, ({ id }) => id === leaving.id);
    const answering = caller.client.send(route.method, path, body, headers);
    await Promise.race([
      held.arrived,
      answering.then(({ status, text }) => Promise.reject(new Error(`was not held: ${status} ${text}`))),
    ]);
    await change(appliance, "users", leaving.id, { is_enabled: false });
    const before = transactionCount(appliance);
    held.release();
    const answer = await answering;
    expect([answer.status, answer.body.code]).toEqual([401, "auth_not_authenticated"]);
    expect(transactionCount(appliance)).toBe(before);
  });

  /** A request that succeeds for an Owner. */
  async function requestOf(
    caller: Caller,
    route: RegisteredRoute,
  ): Promise<{ path: string; body: unknown; headers: Record<string, string> }> {
    const asked = casesOf(world, caller, route).find(({ code }) => code === null);
    if (asked === undefined) throw new Error("the authorization tests have none that an Owner may");
    const fresh = await asked.fresh?.();
    return {
      path: fresh?.path ?? asked.path,
      body: fresh?.body ?? asked.body,
      headers: { ...asked.headers, ...fresh?.headers },
    };
  }
});

describe("a queued write whose caller's rights change", () => {
  const appliance = applianceForEach();
  const { clock, first, givePassword, newHost, newNetwork, owner, signedIn } = appliance;
  let network: string;
  let member: NewUser;

  beforeEach(async () => {
    network = first.networkId;
    member = await newUser(appliance, { role: "Member", networkIds: [network] });
  });

  const body = () => ({ name: "late", network_id: network });
  const key = (fields: Parameters<typeof newApiKey>[1] = {}): NewApiKey =>
    newApiKey(appliance, { userId: member.id, permissions: "Member", ...fields });
  const countHosts = async () => (await owner.get("hosts")).body.meta.pagination.total_count;

  /** Sends a host, and releases it after a change of rights. */
  async function late(
    client: Client,
    ofId: string,
    meanwhile: () => Promise<unknown>,
    send = (by: Client) => by.post("hosts", body()),
  ): Promise<Answer> {
    const held = holdWrites(appliance, ({ id }, command) => id === ofId && command.startsWith("host."));
    const answering = send(client);
    await held.arrived;
    await meanwhile();
    held.release();
    return answering;
  }

  test.each<[string, number, string, () => Promise<unknown>]>([
    [
      "the user is disabled",
      401,
      "auth_not_authenticated",
      () => change(appliance, "users", member.id, { is_enabled: false }),
    ],
    ["the user is deleted", 401, "auth_not_authenticated", () => made(owner.delete(`users/${member.id}`))],
    ["the user signs out", 401, "auth_not_authenticated", () => made(member.client.post("/api/auth/logout", {}))],
    [
      "the user's password is reset",
      401,
      "auth_not_authenticated",
      () => change(appliance, "users", member.id, { password: "quite another phrase" }),
    ],
    [
      "the role is lowered too far",
      403,
      "auth_permission_denied",
      () => change(appliance, "users", member.id, { role: "Viewer" }),
    ],
    [
      "the network is withdrawn",
      400,
      "entity_reference_invalid",
      () => change(appliance, "users", member.id, { network_ids: [] }),
    ],
  ])("is refused for a session when %s", async (_what, status, code, meanwhile) => {
    const answer = await late(member.client, member.id, meanwhile);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await countHosts()).toBe(0);
  });

  test.each<[string, number, string, (made: NewApiKey) => Promise<unknown>]>([
    [
      "the key is disabled",
      401,
      "auth_key_disabled",
      ({ id }) => change(appliance, "auth/keys", id, { is_enabled: false }),
    ],
    ["the key is deleted", 401, "auth_not_authenticated", ({ id }) => made(owner.delete(`auth/keys/${id}`))],
    ["the key is rotated", 401, "auth_not_authenticated", ({ id }) => made(owner.post(`auth/keys/${id}/rotate`, {}))],
    [
      "the key is set to expire",
      401,
      "auth_key_expired",
      ({ id }) => change(appliance, "auth/keys", id, { expires_at: clock.text() }),
    ],
    [
      "the key's role is lowered too far",
      403,
      "auth_permission_denied",
      ({ id }) => change(appliance, "auth/keys", id, { permissions: "Viewer" }),
    ],
    [
      "the key's networks become empty",
      400,
      "entity_reference_invalid",
      ({ id }) => change(appliance, "auth/keys", id, { all_networks: false, network_ids: [] }),
    ],
    [
      "the key's user is disabled",
      401,
      "auth_key_disabled",
      () => change(appliance, "users", member.id, { is_enabled: false }),
    ],
    ["the key's user is deleted", 401, "auth_not_authenticated", () => made(owner.delete(`users/${member.id}`))],
    [
      "the role of the key's user is lowered too far",
      403,
      "auth_permission_denied",
      () => change(appliance, "users", member.id, { role: "Viewer" }),
    ],
    [
      "the network is withdrawn from the key's user",
      400,
      "entity_reference_invalid",
      () => change(appliance, "users", member.id, { network_ids: [] }),
    ],
  ])("is refused for an API key when %s", async (_what, status, code, meanwhile) => {
    const own = key();
    const answer = await late(own.client, own.id, () => meanwhile(own));
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await countHosts()).toBe(0);
  });

  test("is refused for an API key that expires in the meantime", async () => {
    const own = key({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    const answer = await late(own.client, own.id, async () => clock.advance(1_000));
    expect([answer.status, answer.body.code]).toEqual([401, "auth_key_expired"]);
  });

  test("is carried out if the remaining rights suffice", async () => {
    const admin = await newUser(appliance, { role: "Admin" });
    const answer = await late(admin.client, admin.id, () =>
      change(appliance, "users", admin.id, { role: "Member", network_ids: [network] }),
    );
    expect(answer.status).toBe(200);
    const far = (await newNetwork()).id;
    const second = await newUser(appliance, { role: "Admin" });
    const lowered = () => change(appliance, "users", second.id, { role: "Member", network_ids: [network] });
    const out = await late(second.client, second.id, lowered, (by) =>
      by.post("hosts", { name: "far", network_id: far }),
    );
    expect([out.status, out.body.code]).toEqual([400, "entity_reference_invalid"]);
  });

  test("does not profit from rights granted in the meantime, since its answer could not be returned", async () => {
    const far = (await newNetwork()).id;
    const send = (by: Client) => by.post("hosts", { name: "far", network_id: far });
    const answer = await late(
      member.client,
      member.id,
      () => change(appliance, "users", member.id, { network_ids: [network, far] }),
      send,
    );
    expect([answer.status, answer.body.code]).toEqual([400, "entity_reference_invalid"]);
    expect((await send(member.client)).status).toBe(200);
  });

  test("proceeds in the session that changes the password, and in no other", async () => {
    await givePassword(member.id);
    const [here, there] = [await signedIn(member.id), await signedIn(member.id)];
    const changed = (client: Client) =>
      late(client, member.id, () =>
        made(here.put("/api/auth/password", { current_password: PASSWORD, new_password: PASSWORD })),
      );
    expect((await changed(there)).status).toBe(401);
    expect((await changed(here)).status).toBe(200);
  });

  test("is refused alike as bulk, restore and idempotent replay", async () => {
    const host = await newHost();
    const at = clock.text();
    clock.advance(1_000);
    await made(member.client.put(`hosts/${host.id}`, { id: host.id, name: "renamed", hidden: false, tags: [] }));
    const repeated = { "idempotency-key": "k1" };
    await made(member.client.post("hosts/bulk", [body()], repeated));
    const before = transactionCount(appliance);
    for (const send of [
      (by: Client) => by.post("hosts/bulk", [{ ...body(), name: "another" }]),
      (by: Client) => by.post(`hosts/${host.id}/restore`, { at }),
      (by: Client) => by.post("hosts/bulk", [body()], repeated),
      (by: Client) => by.post("hosts/bulk-delete", [host.id]),
    ]) {
      const lost = await late(
        member.client,
        member.id,
        () => change(appliance, "users", member.id, { role: "Viewer" }),
        send,
      );
      expect([lost.status, lost.body.code]).toEqual([403, "auth_permission_denied"]);
      await change(appliance, "users", member.id, { role: "Member" });
    }
    expect(transactionCount(appliance) - before).toBe(8);
  });

  test("does not return written records that are out of reach by then", async () => {
    const repeated = { "idempotency-key": "k1" };
    const send = (by: Client) => by.post("hosts/bulk", [body()], repeated);
    await made(send(member.client));
    await change(appliance, "users", member.id, { network_ids: [] });
    const again = await send(member.client);
    expect([again.status, again.body.code]).toEqual([404, "entity_not_found"]);
    await change(appliance, "users", member.id, { network_ids: [network] });
    expect((await send(member.client)).headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("an idempotent replay with fewer rights than the original", () => {
  const appliance = applianceForEach();
  const { first, instant, keyBody, newHost, newNetwork, owner, untilEnded } = appliance;
  let near: string;
  let far: string;
  let member: NewUser;
  const repeated = { "idempotency-key": "k1" };
  const told = ({ status, body, headers }: Answer) => [status, body.code ?? null, headers.get("idempotency-replayed")];

  beforeEach(async () => {
    near = first.networkId;
    far = (await newNetwork()).id;
    member = await newUser(appliance, { role: "Member", networkIds: [near, far] });
  });

  const renamed = async (host: Wire) => made(owner.put(`hosts/${host.id}`, { ...host, name: "renamed" }));

  /** Operations that disclose a network without writing. */
  const TELLING: Record<string, (host: Wire) => Promise<(by: Client) => Promise<Answer>>> = {
    "a restore's plan": async (host) => {
      const at = instant();
      await renamed(host);
      return (by) => by.post(`hosts/${host.id}/restore`, { at, dry_run: true }, repeated);
    },
    "a queued scan": async () => (by) => by.post("discovery/scans", { network_id: far, kind: "full" }, repeated),
    "a bulk without changes": async (host) => (by) =>
      by.post("hosts/bulk", [{ id: host.id, network_id: far, name: "core" }], repeated),
  };

  test.each(Object.entries(TELLING))("does not return %s from a withdrawn network", async (what, prepare) => {
    const send = await prepare(await newHost({ network_id: far, name: "core" }));
    const first = await send(member.client);
    expect(told(first)).toEqual([200, null, null]);
    if (what.startsWith("a scan")) await untilEnded(first.data.id);
    await change(appliance, "users", member.id, { network_ids: [near] });
    const again = await send(member.client);
    expect(told(again)).toEqual([404, "entity_not_found", null]);
    expect(again.text).not.toContain("core");
    await change(appliance, "users", member.id, { network_ids: [near, far] });
    const back = await send(member.client);
    expect([...told(back), back.text]).toEqual([200, null, "true", first.text]);
  });

  test.each([["every network"], ["some"]])(
    "does not return anything by a key narrowed from %s to fewer",
    async (from) => {
      const host = await newHost({ network_id: far, name: "core" });
      await renamed(host);
      const sequence = transactionCount(appliance);
      const reach = from === "every network" ? {} : { networkIds: [near, far] };
      const { id, client } = newApiKey(appliance, { permissions: "Admin", ...reach });
      const plan = () => client.post(`transactions/${sequence}/revert`, { dry_run: true }, repeated);
      const unchanged = [{ id: host.id, network_id: far, name: "renamed" }];
      const bulk = () => client.post("hosts/bulk", unchanged, { "idempotency-key": "k2" });
      for (const send of [plan, bulk]) expect(told(await send())).toEqual([200, null, null]);
      await change(appliance, "auth/keys", id, { all_networks: false, network_ids: [near] });
      for (const send of [plan, bulk]) expect(told(await send())).toEqual([404, "entity_not_found", null]);
    },
  );

  test.each([["made"], ["rotated"]])(
    "does not return, after a demotion, the secret of another user's API key that was %s, nor any other answer",
    async (how) => {
      const admin = await newUser(appliance, { role: "Admin" });
      const body = { ...keyBody(), user_id: member.id };
      const key = newApiKey(appliance, { userId: member.id, permissions: "Viewer" });
      const path = how === "made" ? "/api/v1/auth/keys" : `/api/v1/auth/keys/${key.id}/rotate`;
      const send = (by: Client) => by.post(path, how === "made" ? body : {}, repeated);
      const first = await send(admin.client);
      expect(told(first)).toEqual([200, null, null]);
      expect((await send(admin.client)).text).toBe(first.text);
      await change(appliance, "users", admin.id, { role: "Member", network_ids: [near] });
      const again = await send(admin.client);
      expect(told(again)).toEqual([403, "auth_permission_denied", null]);
      expect(again.text).not.toContain(first.data.key);
    },
  );

  test("does not return the secret of a key transferred since, unless the key has been deleted", async () => {
    const body = { ...keyBody(), user_id: member.id };
    const send = () => member.client.post("auth/keys", body, repeated);
    const first = await made(send());
    const other = await newUser(appliance, { role: "Member", networkIds: [near, far] });
    await change(appliance, "auth/keys", first.api_key.id, { user_id: other.id });
    expect(told(await send())).toEqual([404, "entity_not_found", null]);
    await made(owner.delete(`auth/keys/${first.api_key.id}`));
    expect(told(await send())).toEqual([200, null, "true"]);
  });

  test("is refused with the required role, even if the written record is within reach", async () => {
    const admin = await newUser(appliance, { role: "Admin" });
    const send = () => admin.client.post("hosts", { name: "core", network_id: near }, repeated);
    await made(send());
    await change(appliance, "users", admin.id, { role: "Member", network_ids: [near] });
    const again = await send();
    expect([...told(again), again.body.params]).toEqual([
      403,
      "auth_permission_denied",
      null,
      { required: "Admin", actual: "Member" },
    ]);
  });
});

describe("a scan of explicit targets", () => {
  test("is not started with a role lowered in the meantime", async () => {
    const appliance = await newAppliance();
    const network = appliance.first.networkId;
    const admin = await newUser(appliance, { role: "Admin" });
    const held = holdWrites(appliance, ({ id }) => id === admin.id);
    const answering = admin.client.post("discovery/scans", {
      network_id: network,
      kind: "sweep",
      targets: ["192.0.2.7"],
    });
    await held.arrived;
    await change(appliance, "users", admin.id, { role: "Member", network_ids: [network] });
    held.release();
    const answer = await answering;
    expect([answer.status, answer.body.code]).toEqual([403, "auth_permission_denied"]);
    await appliance.close();
  });
});

/** Changes a user or an API key like an Owner who has just read it. */
async function change(appliance: TestAppliance, plural: string, id: string, changes: Wire): Promise<Wire> {
  const path = `${plural}/${id}`;
  const stored = await made(appliance.owner.get(path));
  appliance.clock.advance(1_000);
  const { network_ids, all_networks, ...rest } = stored;
  const kept = plural === "users" ? { network_ids } : {};
  return made(appliance.owner.put(path, { ...rest, ...kept, ...changes }));
}
