// Required change reasons of an organization: affected callers and operations, start, and exemptions.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { made, type Wire } from "../support/appliance/factories.ts";

const PATH = "/api/v1/organizations";
const appliance = applianceForEach();
const { newApiKey, newHost, newNetwork, newOrganization, newSubnet, newUser, owner, probes, signedIn, tick } =
  appliance;
const because = (reason: string) => ({ "x-change-reason": reason });
const tag = { name: "core", color: "Green" };

/** Requires reasons, with one existing network and tag. */
async function demanding(): Promise<void> {
  await made(owner.put(PATH, { name: "First", require_change_reason: true }));
  tick();
}

const lacksReason = {
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
    const on = await made(owner.put(PATH, { name: "First", require_change_reason: true }));
    expect(on.require_change_reason).toBe(true);
    expect((await owner.get("/api/auth/me")).data.organization.require_change_reason).toBe(true);
    expect((await made(owner.put(PATH, { name: "Second" }, because("CHG-1")))).require_change_reason).toBe(true);
    expect((await owner.get(`${PATH}?at=${before.valid_from}`)).data.require_change_reason).toBe(false);
    expect(appliance.versionsOf(before.id)).toMatchObject([
      { operation: "Created" },
      { operation: "Updated", changed: ["require_change_reason"] },
      { operation: "Updated", changed: ["name"] },
    ]);
    for (const value of [null, "true", 1])
      expect(await owner.put(PATH, { name: "x", require_change_reason: value }, because("x"))).toMatchObject({
        status: 400,
        body: { params: { issues: [{ path: "/require_change_reason" }] } },
      });
  });

  test("ends its demand with a reason, and the next write needs none", async () => {
    await demanding();
    const off = { name: "First", require_change_reason: false };
    expect(await owner.put(PATH, off)).toMatchObject(lacksReason);
    await made(owner.put(PATH, off, because("too much of it")));
    await made(owner.post("tags", tag));
  });

  test("demands nothing of other organizations' users", async () => {
    const second = await newOrganization("Second");
    await demanding();
    const theirs = await signedIn(second.userId);
    await made(theirs.post("tags", tag));
    expect(await owner.post("tags", tag)).toMatchObject(lacksReason);
  });
});

describe("under a demand for reasons", () => {
  test("sessions and keys of every role must give one, and nothing is written without", async () => {
    await demanding();
    const { client: member } = await newUser({ role: "Member" });
    const { client: admin } = await newUser({ role: "Admin" });
    const keyed = newApiKey({ permissions: "Owner" });
    const expectNothingWritten = appliance.writingWatched();
    const network_id = appliance.first.networkId;
    for (const client of [owner, admin, keyed.client])
      for (const given of [{}, because(" \t ")])
        expect(await client.post("tags", tag, given)).toMatchObject(lacksReason);
    expect(await member.post("hosts", { name: "h", network_id })).toMatchObject({ status: 400 });
    expectNothingWritten();
    await made(keyed.client.post("tags", tag, because("CHG-2")));
    await made(admin.post("tags", { ...tag, name: "edge" }, because("CHG-3")));
    expect((await owner.get("transactions?limit=2")).data.map(({ reason }: Wire) => reason)).toEqual([
      "CHG-3",
      "CHG-2",
    ]);
  });

  test("missing rights and other issues are reported first", async () => {
    await demanding();
    const { client: viewer } = await newUser({ role: "Viewer" });
    expect(await viewer.post("tags", tag)).toMatchObject({ status: 403, body: { code: "auth_permission_denied" } });
    expect(await owner.post("tags", { name: "x", color: "None" })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/color" }] } },
    });
  });

  test("no reason is needed without a change: an equal write, a dry run, a read", async () => {
    const record = await made(owner.post("tags", tag));
    tick();
    await made(owner.put(`tags/${record.id}`, { ...tag, color: "Red" }));
    const [{ sequence }] = (await owner.get("transactions?limit=1")).data as [Wire];
    tick();
    await demanding();
    const expectNothingWritten = appliance.writingWatched();
    expect((await owner.put(`tags/${record.id}`, { ...tag, color: "Red" })).status).toBe(200);
    expect((await owner.post(`transactions/${sequence}/revert`, { dry_run: true })).data.applied).toBe(false);
    expect((await owner.post(`tags/${record.id}/restore`, { at: record.created_at, dry_run: true })).status).toBe(200);
    const set = { ids: [record.id], set: { color: "Blue" }, dry_run: true };
    expect((await owner.post("tags/bulk-update", set)).status).toBe(200);
    expectNothingWritten();
  });

  test("revert, restore, bulk and deletion require one", async () => {
    const record = await made(owner.post("tags", tag));
    tick();
    const red = await made(owner.put(`tags/${record.id}`, { ...tag, color: "Red" }));
    const [{ sequence }] = (await owner.get("transactions?limit=1")).data as [Wire];
    tick();
    await demanding();
    for (const [method, path, body] of [
      ["POST", `transactions/${sequence}/revert`, {}],
      ["POST", `tags/${record.id}/restore`, { at: red.updated_at }],
      ["POST", "tags/bulk-update", { ids: [record.id], set: { color: "Blue" } }],
      ["POST", "tags/bulk-delete", [record.id]],
    ] as const) {
      tick();
      expect([path, await owner.send(method, path, body)]).toMatchObject([path, lacksReason]);
      expect([path, (await owner.send(method, path, body, because("CHG-4"))).status]).toEqual([path, 200]);
    }
  });

  test("an import is previewed without one and applied with one", async () => {
    await demanding();
    const table = `name,network_id\r\nhost-1,${appliance.first.networkId}\r\n`;
    const csv = { "content-type": "text/csv" };
    const send = (query: string, more = {}) =>
      owner.send("POST", `hosts/import/csv${query}`, table, { ...csv, ...more });
    const planned = await send("?dry_run=true");
    expect(planned.status).toBe(200);
    const commit = `?plan=${encodeURIComponent(planned.data.plan)}`;
    const refused = await send(commit);
    expect(refused).toMatchObject(lacksReason);
    expect((await owner.get("hosts")).data).toEqual([]);
    const done = await send(commit, because("CHG-5"));
    expect([done.status, done.data.counts?.created]).toEqual([200, 1]);
  });

  test("a refusal is not stored for idempotent replay", async () => {
    await demanding();
    const key = { "idempotency-key": "k1" };
    expect(await owner.post("tags", tag, key)).toMatchObject(lacksReason);
    const done = await owner.post("tags", tag, { ...key, ...because("CHG-6") });
    expect([done.status, done.headers.get("idempotency-replayed")]).toEqual([200, null]);
    const again = await owner.post("tags", tag, key);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  });

  test("scans of people and schedules continue, with a reason and without", async () => {
    await newSubnet({ cidr: "10.0.0.0/28" });
    await demanding();
    probes.alive.set("10.0.0.1", { mac_address: "00:00:5e:00:53:01" });
    const scan = await appliance.scanned({ kind: "full" });
    expect(scan).toMatchObject({ status: "Completed", reason: null });
    expect((await owner.get("hosts")).data).toHaveLength(1);
  });

  test("one's own password, sessions, preferences and map positions need none", async () => {
    const host = await newHost();
    await demanding();
    await made(owner.put("/api/auth/password", { current_password: PASSWORD, new_password: `${PASSWORD} again` }));
    expect((await owner.put("/api/auth/preferences", { value: { zone: "UTC" } })).status).toBeOneOf([200, 400]);
    const positions = { nodes: { [host.id]: { x: 1, y: 2 } } };
    expect((await owner.put(`networks/${host.network_id}/map-positions`, positions)).status).toBe(200);
    expect((await owner.post("/api/auth/sessions/end-others", undefined)).status).toBe(200);
    // For another user it is an ordinary change.
    const other = await newUser({ role: "Member" });
    const user = (await owner.get(`users/${other.id}`)).data;
    const changed = { ...user, password: "correct horse battery again" };
    expect(await owner.put(`users/${user.id}`, changed)).toMatchObject(lacksReason);
  });

  test("the demand applies at the time of writing, not of sending", async () => {
    const network = await newNetwork();
    const on = owner.put(PATH, { name: "First", require_change_reason: true });
    const late = owner.put(`networks/${network.id}`, { name: "Another" });
    expect((await on).status).toBe(200);
    expect(await late).toMatchObject(lacksReason);
  });
});
