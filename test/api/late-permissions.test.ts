// Permissions at the time of the write, which count instead of those at the arrival of the request.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import {
  expectOk,
  type JsonRecord,
  type NewApiKey,
  type NewUser,
  newApiKey,
  newUser,
  transactionCount,
} from "../support/appliance/factories.ts";
import { holdWrites } from "../support/appliance/held-writes.ts";
import { casesOf } from "../support/authorization/cases.ts";
import { type Caller, newAuthorizationFixture } from "../support/authorization/fixture.ts";

describe("an operation whose caller is disabled while it waits for the writer writes nothing and responds with 401", async () => {
  const fixture = await newAuthorizationFixture();
  const { appliance } = fixture;
  const owner = fixture.callers.find(({ name }) => name === "Owner") as Caller;
  afterAll(() => appliance.close());

  /** Operations without writes through the writer, or that only end the caller's own sessions. */
  const others = new Set([
    ..."createBackup downloadBackup deleteBackup createLedgerVerification".split(" "),
    ..."cancelLedgerVerification verifyBackup signOut endSession endOtherSessions".split(" "),
    "changePassword",
  ]);
  const isWrite = ({ method, operation }: RegisteredRoute) =>
    method !== "GET" && operation.access !== "anyone" && !others.has(operation.operationId);
  const writeRoutes = appliance.surface.routes.filter(isWrite);

  test.each(writeRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s",
    async (_name, route) => {
      const disabledUser = await newUser(appliance, { role: "Owner" });
      const keyId = newApiKey(appliance, { userId: disabledUser.id, permissions: "Viewer" }).id;
      const caller: Caller = { ...owner, client: disabledUser.client, userId: disabledUser.id, keyId };
      const { path, body, headers } = await requestOf(caller, route);
      const held = holdWrites(appliance, ({ id }) => id === disabledUser.id);
      const pending = caller.client.send(route.method, path, body, headers);
      await Promise.race([
        held.arrived,
        pending.then(({ status, text }) => Promise.reject(new Error(`was not held: ${status} ${text}`))),
      ]);
      await change(appliance, "users", disabledUser.id, { is_enabled: false });
      const before = transactionCount(appliance);
      held.release();
      const response = await pending;
      expect([response.status, response.body.code]).toEqual([401, "auth_not_authenticated"]);
      expect(transactionCount(appliance)).toBe(before);
    },
  );

  /** A request that succeeds for an Owner. */
  async function requestOf(
    caller: Caller,
    route: RegisteredRoute,
  ): Promise<{ path: string; body: unknown; headers: Record<string, string> }> {
    const allowedCase = casesOf(fixture, caller, route).find(({ code }) => code === null);
    if (allowedCase === undefined) throw new Error("the authorization tests have no case that an Owner may run");
    const fresh = await allowedCase.prepare?.();
    return {
      path: fresh?.path ?? allowedCase.path,
      body: fresh?.body ?? allowedCase.body,
      headers: { ...allowedCase.headers, ...fresh?.headers },
    };
  }
});

describe("a queued write whose caller's permissions change", () => {
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
  const changeUser = (changes: JsonRecord) => () => change(appliance, "users", member.id, changes);
  const changeKey =
    (changes: JsonRecord) =>
    ({ id }: NewApiKey) =>
      change(appliance, "auth/keys", id, changes);

  /** Sends a host, and releases it after a change to its caller's permissions. */
  async function sendHeld(
    client: Client,
    callerId: string,
    withdraw: () => Promise<unknown>,
    send = (requester: Client) => requester.post("hosts", body()),
  ): Promise<ApiResponse> {
    const held = holdWrites(appliance, ({ id }, command) => id === callerId && command.startsWith("host."));
    const pending = send(client);
    await held.arrived;
    await withdraw();
    held.release();
    return pending;
  }

  test.each<[string, number, string, () => Promise<unknown>]>([
    ["the user is disabled", 401, "auth_not_authenticated", changeUser({ is_enabled: false })],
    ["the user is deleted", 401, "auth_not_authenticated", () => expectOk(owner.delete(`users/${member.id}`))],
    ["the user signs out", 401, "auth_not_authenticated", () => expectOk(member.client.post("/api/auth/logout", {}))],
    ["the user's password is reset", 401, "auth_not_authenticated", changeUser({ password: "quite another phrase" })],
    ["the role is lowered too far", 403, "auth_permission_denied", changeUser({ role: "Viewer" })],
    ["the network is withdrawn", 400, "entity_reference_invalid", changeUser({ network_ids: [] })],
  ])("is refused for a session when %s", async (_case, status, code, withdraw) => {
    const response = await sendHeld(member.client, member.id, withdraw);
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(await countHosts()).toBe(0);
  });

  test.each<[string, number, string, (created: NewApiKey) => Promise<unknown>]>([
    ["the key is disabled", 401, "auth_key_disabled", changeKey({ is_enabled: false })],
    ["the key is deleted", 401, "auth_not_authenticated", ({ id }) => expectOk(owner.delete(`auth/keys/${id}`))],
    [
      "the key is rotated",
      401,
      "auth_not_authenticated",
      ({ id }) => expectOk(owner.post(`auth/keys/${id}/rotate`, {})),
    ],
    [
      "the key is set to expire",
      401,
      "auth_key_expired",
      ({ id }) => change(appliance, "auth/keys", id, { expires_at: clock.text() }),
    ],
    ["the key's role is lowered too far", 403, "auth_permission_denied", changeKey({ permissions: "Viewer" })],
    [
      "the key's networks become empty",
      400,
      "entity_reference_invalid",
      changeKey({ all_networks: false, network_ids: [] }),
    ],
    ["the key's user is disabled", 401, "auth_key_disabled", changeUser({ is_enabled: false })],
    ["the key's user is deleted", 401, "auth_not_authenticated", () => expectOk(owner.delete(`users/${member.id}`))],
    ["the role of the key's user is lowered too far", 403, "auth_permission_denied", changeUser({ role: "Viewer" })],
    ["the network is withdrawn from the key's user", 400, "entity_reference_invalid", changeUser({ network_ids: [] })],
  ])("is refused for an API key when %s", async (_case, status, code, withdraw) => {
    const apiKey = key();
    const response = await sendHeld(apiKey.client, apiKey.id, () => withdraw(apiKey));
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(await countHosts()).toBe(0);
  });

  test("is refused for an API key that expires while it waits", async () => {
    const apiKey = key({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    const response = await sendHeld(apiKey.client, apiKey.id, async () => clock.advance(1_000));
    expect([response.status, response.body.code]).toEqual([401, "auth_key_expired"]);
  });

  test("is executed if the remaining permissions suffice", async () => {
    const admin = await newUser(appliance, { role: "Admin" });
    const response = await sendHeld(admin.client, admin.id, () =>
      change(appliance, "users", admin.id, { role: "Member", network_ids: [network] }),
    );
    expect(response.status).toBe(200);
    const far = (await newNetwork()).id;
    const second = await newUser(appliance, { role: "Admin" });
    const lowered = () => change(appliance, "users", second.id, { role: "Member", network_ids: [network] });
    const outOfReach = await sendHeld(second.client, second.id, lowered, (requester) =>
      requester.post("hosts", { name: "far", network_id: far }),
    );
    expect([outOfReach.status, outOfReach.body.code]).toEqual([400, "entity_reference_invalid"]);
  });

  test("does not benefit from permissions granted while it waits, since its response could not be returned", async () => {
    const far = (await newNetwork()).id;
    const send = (requester: Client) => requester.post("hosts", { name: "far", network_id: far });
    const response = await sendHeld(member.client, member.id, changeUser({ network_ids: [network, far] }), send);
    expect([response.status, response.body.code]).toEqual([400, "entity_reference_invalid"]);
    expect((await send(member.client)).status).toBe(200);
  });

  test("proceeds in the session that changes the password, and in no other", async () => {
    await givePassword(member.id);
    const [currentSession, otherSession] = [await signedIn(member.id), await signedIn(member.id)];
    const changed = (client: Client) =>
      sendHeld(client, member.id, () =>
        expectOk(currentSession.put("/api/auth/password", { current_password: PASSWORD, new_password: PASSWORD })),
      );
    expect((await changed(otherSession)).status).toBe(401);
    expect((await changed(currentSession)).status).toBe(200);
  });

  test("is refused in the same way as bulk, restore and idempotent replay", async () => {
    const host = await newHost();
    const at = clock.text();
    clock.advance(1_000);
    await expectOk(member.client.put(`hosts/${host.id}`, { id: host.id, name: "renamed", hidden: false, tags: [] }));
    const withKey = { "idempotency-key": "k1" };
    await expectOk(member.client.post("hosts/bulk", [body()], withKey));
    const before = transactionCount(appliance);
    for (const send of [
      (requester: Client) => requester.post("hosts/bulk", [{ ...body(), name: "another" }]),
      (requester: Client) => requester.post(`hosts/${host.id}/restore`, { at }),
      (requester: Client) => requester.post("hosts/bulk", [body()], withKey),
      (requester: Client) => requester.post("hosts/bulk-delete", [host.id]),
    ]) {
      const refused = await sendHeld(member.client, member.id, changeUser({ role: "Viewer" }), send);
      expect([refused.status, refused.body.code]).toEqual([403, "auth_permission_denied"]);
      await change(appliance, "users", member.id, { role: "Member" });
    }
    expect(transactionCount(appliance) - before).toBe(8);
  });

  test("does not return written records that are out of reach by then", async () => {
    const withKey = { "idempotency-key": "k1" };
    const send = (requester: Client) => requester.post("hosts/bulk", [body()], withKey);
    await expectOk(send(member.client));
    await change(appliance, "users", member.id, { network_ids: [] });
    const retried = await send(member.client);
    expect([retried.status, retried.body.code]).toEqual([404, "entity_not_found"]);
    await change(appliance, "users", member.id, { network_ids: [network] });
    expect((await send(member.client)).headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("an idempotent replay with fewer permissions than the original", () => {
  const appliance = applianceForEach();
  const { first, instant, keyBody, newHost, newNetwork, owner } = appliance;
  let near: string;
  let far: string;
  let member: NewUser;
  const withKey = { "idempotency-key": "k1" };
  const outcome = ({ status, body, headers }: ApiResponse) => [
    status,
    body.code ?? null,
    headers.get("idempotency-replayed"),
  ];

  beforeEach(async () => {
    near = first.networkId;
    far = (await newNetwork()).id;
    member = await newUser(appliance, { role: "Member", networkIds: [near, far] });
  });

  const rename = async (host: JsonRecord) => expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "renamed" }));

  /** Operations that disclose a network without writing. */
  const DISCLOSING: Record<string, (host: JsonRecord) => Promise<(requester: Client) => Promise<ApiResponse>>> = {
    "a restore's plan": async (host) => {
      const at = instant();
      await rename(host);
      return (requester) => requester.post(`hosts/${host.id}/restore`, { at, dry_run: true }, withKey);
    },
    "a queued scan": async () => (requester) =>
      requester.post("discovery/scans", { network_id: far, kind: "full" }, withKey),
    "a bulk without changes": async (host) => (requester) =>
      requester.post("hosts/bulk", [{ id: host.id, network_id: far, name: "core" }], withKey),
  };

  test.each(Object.entries(DISCLOSING))("does not return %s from a withdrawn network", async (_case, prepare) => {
    const send = await prepare(await newHost({ network_id: far, name: "core" }));
    const first = await send(member.client);
    expect(outcome(first)).toEqual([200, null, null]);
    await change(appliance, "users", member.id, { network_ids: [near] });
    const retried = await send(member.client);
    expect(outcome(retried)).toEqual([404, "entity_not_found", null]);
    expect(retried.text).not.toContain("core");
    await change(appliance, "users", member.id, { network_ids: [near, far] });
    const restored = await send(member.client);
    expect([...outcome(restored), restored.text]).toEqual([200, null, "true", first.text]);
  });

  test.each([["every network"], ["some"]])(
    "does not return anything by a key narrowed from %s to fewer",
    async (from) => {
      const host = await newHost({ network_id: far, name: "core" });
      await rename(host);
      const sequence = transactionCount(appliance);
      const reach = from === "every network" ? {} : { networkIds: [near, far] };
      const { id, client } = newApiKey(appliance, { permissions: "Admin", ...reach });
      const plan = () => client.post(`transactions/${sequence}/revert`, { dry_run: true }, withKey);
      const unchanged = [{ id: host.id, network_id: far, name: "renamed" }];
      const bulk = () => client.post("hosts/bulk", unchanged, { "idempotency-key": "k2" });
      for (const send of [plan, bulk]) expect(outcome(await send())).toEqual([200, null, null]);
      await change(appliance, "auth/keys", id, { all_networks: false, network_ids: [near] });
      for (const send of [plan, bulk]) expect(outcome(await send())).toEqual([404, "entity_not_found", null]);
    },
  );

  test.each([["created"], ["rotated"]])(
    "does not return, after a demotion, the secret of another user's API key that was %s, nor any other response",
    async (how) => {
      const admin = await newUser(appliance, { role: "Admin" });
      const body = { ...keyBody(), user_id: member.id };
      const key = newApiKey(appliance, { userId: member.id, permissions: "Viewer" });
      const path = how === "created" ? "/api/v1/auth/keys" : `/api/v1/auth/keys/${key.id}/rotate`;
      const send = (requester: Client) => requester.post(path, how === "created" ? body : {}, withKey);
      const first = await send(admin.client);
      expect(outcome(first)).toEqual([200, null, null]);
      expect((await send(admin.client)).text).toBe(first.text);
      await change(appliance, "users", admin.id, { role: "Member", network_ids: [near] });
      const retried = await send(admin.client);
      expect(outcome(retried)).toEqual([403, "auth_permission_denied", null]);
      expect(retried.text).not.toContain(first.data.key);
    },
  );

  test("does not return the secret of a key transferred since, unless the key has been deleted", async () => {
    const body = { ...keyBody(), user_id: member.id };
    const send = () => member.client.post("auth/keys", body, withKey);
    const first = await expectOk(send());
    const otherUser = await newUser(appliance, { role: "Member", networkIds: [near, far] });
    await change(appliance, "auth/keys", first.api_key.id, { user_id: otherUser.id });
    expect(outcome(await send())).toEqual([404, "entity_not_found", null]);
    await expectOk(owner.delete(`auth/keys/${first.api_key.id}`));
    expect(outcome(await send())).toEqual([200, null, "true"]);
  });

  test("is refused with the required role, even if the written record is within reach", async () => {
    const admin = await newUser(appliance, { role: "Admin" });
    const send = () => admin.client.post("hosts", { name: "core", network_id: near }, withKey);
    await expectOk(send());
    await change(appliance, "users", admin.id, { role: "Member", network_ids: [near] });
    const retried = await send();
    expect([...outcome(retried), retried.body.params]).toEqual([
      403,
      "auth_permission_denied",
      null,
      { required: "Admin", actual: "Member" },
    ]);
  });
});

describe("a scan of explicit targets", () => {
  test("is not started if the role was lowered in the meantime", async () => {
    const appliance = await newAppliance();
    const network = appliance.first.networkId;
    const admin = await newUser(appliance, { role: "Admin" });
    const held = holdWrites(appliance, ({ id }) => id === admin.id);
    const pending = admin.client.post("discovery/scans", {
      network_id: network,
      kind: "sweep",
      targets: ["192.0.2.7"],
    });
    await held.arrived;
    await change(appliance, "users", admin.id, { role: "Member", network_ids: [network] });
    held.release();
    const response = await pending;
    expect([response.status, response.body.code]).toEqual([403, "auth_permission_denied"]);
    await appliance.close();
  });
});

/** Changes a user or an API key like an Owner who has just read it. */
async function change(appliance: TestAppliance, plural: string, id: string, changes: JsonRecord): Promise<JsonRecord> {
  const path = `${plural}/${id}`;
  const stored = await expectOk(appliance.owner.get(path));
  appliance.clock.advance(1_000);
  const { network_ids, all_networks, ...rest } = stored;
  const preserved = plural === "users" ? { network_ids } : {};
  return expectOk(appliance.owner.put(path, { ...rest, ...preserved, ...changes }));
}
