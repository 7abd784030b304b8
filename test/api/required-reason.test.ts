// Required change reasons of an organization: which callers and operations need them, from when on, and exemptions.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";

const PATH = "/api/v1/organizations";
const appliance = applianceForEach();
const { newApiKey, newHost, newNetwork, newOrganization, newSubnet, newUser, owner, probes, signedIn, tick } =
  appliance;
const withReason = (reason: string) => ({ "x-change-reason": reason });
const tag = { name: "core", color: "Green" };

async function requireReasons(): Promise<void> {
  await expectOk(owner.put(PATH, { name: "First", require_change_reason: true }));
  tick();
}

const missingReason = {
  status: 400,
  body: {
    code: "validation_failed",
    error: expect.stringContaining("reason"),
    params: { issues: [{ path: "/X-Change-Reason" }] },
  },
};

describe("an organization", () => {
  test("demands no reason until an Owner enables it, and an omitted setting is preserved", async () => {
    expect((await owner.get(PATH)).data.require_change_reason).toBe(false);
    const before = (await owner.get(PATH)).data;
    // Not required before: enabling it needs no reason.
    const on = await expectOk(owner.put(PATH, { name: "First", require_change_reason: true }));
    expect(on.require_change_reason).toBe(true);
    expect((await owner.get("/api/auth/me")).data.organization.require_change_reason).toBe(true);
    expect((await expectOk(owner.put(PATH, { name: "Second" }, withReason("CHG-1")))).require_change_reason).toBe(true);
    expect((await owner.get(`${PATH}?at=${before.valid_from}`)).data.require_change_reason).toBe(false);
    expect(appliance.versionsOf(before.id)).toMatchObject([
      { operation: "Created" },
      { operation: "Updated", changed: ["require_change_reason"] },
      { operation: "Updated", changed: ["name"] },
    ]);
    for (const value of [null, "true", 1])
      expect(await owner.put(PATH, { name: "x", require_change_reason: value }, withReason("x"))).toMatchObject(
        invalid({ path: "/require_change_reason" }),
      );
  });

  test("needs a reason to end its demand, and the next write needs none", async () => {
    await requireReasons();
    const off = { name: "First", require_change_reason: false };
    expect(await owner.put(PATH, off)).toMatchObject(missingReason);
    await expectOk(owner.put(PATH, off, withReason("too much of it")));
    await expectOk(owner.post("tags", tag));
  });

  test("demands nothing from other organizations' users", async () => {
    const second = await newOrganization("Second");
    await requireReasons();
    const otherOwner = await signedIn(second.userId);
    await expectOk(otherOwner.post("tags", tag));
    expect(await owner.post("tags", tag)).toMatchObject(missingReason);
  });
});

describe("while reasons are required", () => {
  test("sessions and keys of every role must provide one, and nothing is written without it", async () => {
    await requireReasons();
    const { client: member } = await newUser({ role: "Member" });
    const { client: admin } = await newUser({ role: "Admin" });
    const apiKey = newApiKey({ permissions: "Owner" });
    const expectNothingWritten = appliance.watchWrites();
    const network_id = appliance.first.networkId;
    for (const client of [owner, admin, apiKey.client])
      for (const headers of [{}, withReason(" \t ")])
        expect(await client.post("tags", tag, headers)).toMatchObject(missingReason);
    expect(await member.post("hosts", { name: "h", network_id })).toMatchObject({ status: 400 });
    expectNothingWritten();
    await expectOk(apiKey.client.post("tags", tag, withReason("CHG-2")));
    await expectOk(admin.post("tags", { ...tag, name: "edge" }, withReason("CHG-3")));
    expect((await owner.get("transactions?limit=2")).data.map(({ reason }: JsonRecord) => reason)).toEqual([
      "CHG-3",
      "CHG-2",
    ]);
  });

  test("missing permissions and other issues are reported first", async () => {
    await requireReasons();
    const { client: viewer } = await newUser({ role: "Viewer" });
    expect(await viewer.post("tags", tag)).toMatchObject({ status: 403, body: { code: "auth_permission_denied" } });
    expect(await owner.post("tags", { name: "x", color: "None" })).toMatchObject(invalid({ path: "/color" }));
  });

  test("no reason is needed without a change: an equal write, a dry run, a read", async () => {
    const record = await expectOk(owner.post("tags", tag));
    tick();
    await expectOk(owner.put(`tags/${record.id}`, { ...tag, color: "Red" }));
    const [{ sequence }] = (await owner.get("transactions?limit=1")).data as [JsonRecord];
    tick();
    await requireReasons();
    const expectNothingWritten = appliance.watchWrites();
    expect((await owner.put(`tags/${record.id}`, { ...tag, color: "Red" })).status).toBe(200);
    expect((await owner.post(`transactions/${sequence}/revert`, { dry_run: true })).data.applied).toBe(false);
    expect((await owner.post(`tags/${record.id}/restore`, { at: record.created_at, dry_run: true })).status).toBe(200);
    const set = { ids: [record.id], set: { color: "Blue" }, dry_run: true };
    expect((await owner.post("tags/bulk-update", set)).status).toBe(200);
    expectNothingWritten();
  });

  test("revert, restore, bulk and deletion require one", async () => {
    const record = await expectOk(owner.post("tags", tag));
    tick();
    const red = await expectOk(owner.put(`tags/${record.id}`, { ...tag, color: "Red" }));
    const [{ sequence }] = (await owner.get("transactions?limit=1")).data as [JsonRecord];
    tick();
    await requireReasons();
    for (const [method, path, body] of [
      ["POST", `transactions/${sequence}/revert`, {}],
      ["POST", `tags/${record.id}/restore`, { at: red.updated_at }],
      ["POST", "tags/bulk-update", { ids: [record.id], set: { color: "Blue" } }],
      ["POST", "tags/bulk-delete", [record.id]],
    ] as const) {
      tick();
      expect([path, await owner.send(method, path, body)]).toMatchObject([path, missingReason]);
      expect([path, (await owner.send(method, path, body, withReason("CHG-4"))).status]).toEqual([path, 200]);
    }
  });

  test("an import is previewed without one and applied with one", async () => {
    await requireReasons();
    const table = `name,network_id\r\nhost-1,${appliance.first.networkId}\r\n`;
    const csv = { "content-type": "text/csv" };
    const send = (query: string, extraHeaders = {}) =>
      owner.send("POST", `hosts/import/csv${query}`, table, { ...csv, ...extraHeaders });
    const planned = await send("?dry_run=true");
    expect(planned.status).toBe(200);
    const commit = `?plan=${encodeURIComponent(planned.data.plan)}`;
    const refused = await send(commit);
    expect(refused).toMatchObject(missingReason);
    expect((await owner.get("hosts")).data).toEqual([]);
    const done = await send(commit, withReason("CHG-5"));
    expect([done.status, done.data.counts?.created]).toEqual([200, 1]);
  });

  test("a refusal is not stored for idempotent replay", async () => {
    await requireReasons();
    const key = { "idempotency-key": "k1" };
    expect(await owner.post("tags", tag, key)).toMatchObject(missingReason);
    const done = await owner.post("tags", tag, { ...key, ...withReason("CHG-6") });
    expect([done.status, done.headers.get("idempotency-replayed")]).toEqual([200, null]);
    const repeated = await owner.post("tags", tag, key);
    expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  });

  test("scans of users and schedules continue, with or without a reason", async () => {
    await newSubnet({ cidr: "10.0.0.0/28" });
    await requireReasons();
    probes.alive.set("10.0.0.1", { mac_address: "00:00:5e:00:53:01" });
    const scan = await appliance.runScan({ kind: "full" });
    expect(scan).toMatchObject({ status: "Completed", reason: null });
    expect((await owner.get("hosts")).data).toHaveLength(1);
  });

  test("a user's own password, sessions, preferences and map positions need none", async () => {
    const host = await newHost();
    await requireReasons();
    await expectOk(owner.put("/api/auth/password", { current_password: PASSWORD, new_password: `${PASSWORD} again` }));
    expect((await owner.put("/api/auth/preferences", { value: { zone: "UTC" } })).status).toBeOneOf([200, 400]);
    const positions = { nodes: { [host.id]: { x: 1, y: 2 } } };
    expect((await owner.put(`networks/${host.network_id}/map-positions`, positions)).status).toBe(200);
    expect((await owner.post("/api/auth/sessions/end-others", undefined)).status).toBe(200);
    // For another user it is an ordinary change.
    const otherUser = await newUser({ role: "Member" });
    const user = (await owner.get(`users/${otherUser.id}`)).data;
    const changed = { ...user, password: "correct horse battery again" };
    expect(await owner.put(`users/${user.id}`, changed)).toMatchObject(missingReason);
  });

  test("the demand applies at the time of writing, not of sending", async () => {
    const network = await newNetwork();
    const on = owner.put(PATH, { name: "First", require_change_reason: true });
    const lateWrite = owner.put(`networks/${network.id}`, { name: "Another" });
    expect((await on).status).toBe(200);
    expect(await lateWrite).toMatchObject(missingReason);
  });
});
