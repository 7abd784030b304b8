// Shared credentials and tags of an organization: a caller limited to some networks can change one only with access to
// all affected records, by any write, and does not see changes elsewhere.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal, snmpV1, snmpV2c } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { clock, first, owner } = appliance;
const { newApiKey, newCredential, newHost, newNetwork, newSubnet } = appliance;
const { newTag, newUser, transactionCount, watchWrites } = appliance;
/** An Admin's key for the first network only. */
let limitedAdmin: Client;
let nearNetworkId: string;
let farNetworkId: string;

beforeEach(async () => {
  nearNetworkId = first.networkId;
  farNetworkId = (await newNetwork({ name: "beyond" })).id;
  limitedAdmin = newApiKey({ permissions: "Admin", networkIds: [nearNetworkId] }).client;
});

const DENIED = refusal(403, "entity_access_denied");

/** Expects each request to be refused without a write. */
async function expectRefused(...requests: ReadonlyArray<() => Promise<ApiResponse>>): Promise<void> {
  const expectNothingWritten = watchWrites();
  for (const request of requests) expect(await request()).toMatchObject(DENIED);
  expectNothingWritten();
}

/** Body of a credential PUT. */
function bodyOf(credential: JsonRecord, changes: JsonRecord = {}): JsonRecord {
  const { name, organization_id, credential_type, assigned_network_ids, host_assignments, tags, target_ips } =
    credential;
  return {
    name,
    organization_id,
    credential_type,
    assigned_network_ids,
    host_assignments,
    tags,
    target_ips,
    ...changes,
  };
}

/** Start of a record's current version, in the past from now on. */
function pastInstantOf(record: JsonRecord): string {
  clock.advance(60_000);
  return record.updated_at;
}

describe("a credential, for a caller limited to some networks", () => {
  let host: JsonRecord;

  beforeEach(async () => {
    host = await newHost({ name: "theirs" });
  });

  describe.each([
    ["also assigned elsewhere", () => [nearNetworkId, farNetworkId]],
    ["assigned only elsewhere", () => [farNetworkId]],
    ["unassigned", () => []],
  ] as const)("%s", (_case, networks: () => readonly string[]) => {
    let credential: JsonRecord;
    let before: string;

    beforeEach(async () => {
      credential = await newCredential({ assigned_network_ids: networks() });
      before = pastInstantOf(credential);
      await expectOk(owner.put(`credentials/${credential.id}`, bodyOf(credential, { name: "renamed since" })));
    });

    test("cannot be changed, deleted, restored or reverted", async () => {
      const path = `credentials/${credential.id}`;
      const current = await expectOk(limitedAdmin.get(path));
      const put = (changes: JsonRecord) => () => limitedAdmin.put(path, bodyOf(current, changes));
      const renamed = transactionCount();
      const tag = await newTag();
      await expectRefused(
        put({ name: "mine" }),
        put({ target_ips: ["10.9.9.9"] }),
        put({ tags: [tag.id] }),
        put({ assigned_network_ids: [nearNetworkId], host_assignments: [{ host_id: host.id }] }),
        put({ name: "mine", assigned_network_ids: [], host_assignments: [] }),
        put({ credential_type: snmpV1("other") }),
        () => limitedAdmin.delete(`${path}?cascade=true`),
        () => limitedAdmin.post("credentials/bulk-delete?cascade=true", [credential.id]),
        () => limitedAdmin.post(`${path}/restore`, { at: before }),
        () => limitedAdmin.post(`transactions/${renamed}/revert`, {}),
        () =>
          limitedAdmin.put("tags/assign", { entity_type: "credential", entity_id: credential.id, tag_ids: [tag.id] }),
        () =>
          limitedAdmin.post("tags/assign/bulk-add", {
            entity_type: "credential",
            entity_ids: [credential.id],
            tag_id: tag.id,
          }),
      );
    });

    test("may be sent back as read, without a change", async () => {
      const path = `credentials/${credential.id}`;
      const current = await expectOk(limitedAdmin.get(path));
      const expectNothingWritten = watchWrites();
      expect(await expectOk(limitedAdmin.put(path, bodyOf(current)))).toEqual(current);
      expectNothingWritten();
    });

    test("cannot be assigned from a host's side either: not by an update, a new host or a bulk write", async () => {
      const items = [{ credential_id: credential.id }];
      const { id, name } = host;
      const write = { network_id: nearNetworkId, name: "new", credential_assignments: items };
      await expectRefused(
        () => limitedAdmin.put(`hosts/${id}`, { id, name, hidden: false, tags: [], credential_assignments: items }),
        () => limitedAdmin.post("hosts", write),
        () => limitedAdmin.post("hosts/bulk", [{ id, name, network_id: nearNetworkId, credential_assignments: items }]),
      );
    });
  });

  test("can be removed from a host and restored with it only by callers who may assign it", async () => {
    const credential = await newCredential({
      assigned_network_ids: [farNetworkId],
      host_assignments: [{ host_id: host.id }],
    });
    const { id, name } = host;
    await expectRefused(() =>
      limitedAdmin.put(`hosts/${id}`, { id, name, hidden: false, tags: [], credential_assignments: [] }),
    );
    const at = pastInstantOf(await expectOk(owner.get(`hosts/${id}`)));
    // Deleted with the host, which owns its assignments.
    await expectOk(limitedAdmin.delete(`hosts/${id}`));
    const plan = await expectOk(limitedAdmin.post(`hosts/${id}/restore`, { at }));
    expect(plan.actions.find((action: JsonRecord) => action.entity_type === "credential_assignment")).toMatchObject({
      action: "Skip",
      reason: expect.stringContaining("stays unchanged"),
    });
    expect((await expectOk(owner.get(`credentials/${credential.id}`))).host_assignments).toEqual([]);
  });

  test("can be changed and assigned, from either side, if assigned within these networks only", async () => {
    const credential = await newCredential({ assigned_network_ids: [nearNetworkId] });
    const path = `credentials/${credential.id}`;
    expect(
      await expectOk(limitedAdmin.put(path, bodyOf(credential, { name: "ours", target_ips: ["10.9.9.9"] }))),
    ).toMatchObject({ name: "ours", target_ips: ["10.9.9.9"] });
    const { id, name } = host;
    const response = await expectOk(
      limitedAdmin.put(`hosts/${id}`, {
        id,
        name,
        hidden: false,
        tags: [],
        credential_assignments: [{ credential_id: credential.id }],
      }),
    );
    expect(response.credential_assignments).toEqual([{ credential_id: credential.id }]);
    expect((await limitedAdmin.delete(`${path}?cascade=true`)).status).toBe(200);
  });

  test("can be created only with an assignment", async () => {
    const fields = {
      organization_id: first.organizationId,
      name: "new",
      credential_type: snmpV2c("a community"),
      tags: [],
    };
    await expectRefused(() =>
      limitedAdmin.post("credentials", {
        ...fields,
        assigned_network_ids: [],
        host_assignments: [],
        target_ips: ["10.9.9.9"],
      }),
    );
    expect(
      await expectOk(
        limitedAdmin.post("credentials", {
          ...fields,
          assigned_network_ids: [],
          host_assignments: [{ host_id: host.id }],
        }),
      ),
    ).toMatchObject({ name: "new" });
  });
});

describe("a tag, for a caller limited to some networks", () => {
  const rename = (caller: Client, tag: JsonRecord) => caller.put(`tags/${tag.id}`, { name: "renamed", color: "Red" });

  test.each([
    ["a host", (tag: JsonRecord) => newHost({ network_id: farNetworkId, tags: [tag.id] })],
    ["a subnet", (tag: JsonRecord) => newSubnet({ network_id: farNetworkId, tags: [tag.id] })],
    [
      "a network",
      (tag: JsonRecord) =>
        expectOk(owner.put(`networks/${farNetworkId}`, { name: "beyond", description: null, tags: [tag.id] })),
    ],
    ["a credential", (tag: JsonRecord) => newCredential({ assigned_network_ids: [farNetworkId], tags: [tag.id] })],
  ])(
    "cannot be changed, deleted, restored or reverted if on %s elsewhere, but can be assigned to records in these networks",
    async (_case, assignTag) => {
      const tag = await newTag();
      const before = pastInstantOf(tag);
      await expectOk(rename(owner, tag));
      const renamed = transactionCount();
      await assignTag(tag);
      const path = `tags/${tag.id}`;
      await expectRefused(
        () => limitedAdmin.put(path, { name: "mine", color: "Red" }),
        () => limitedAdmin.delete(path),
        () => limitedAdmin.post("tags/bulk-delete", [tag.id]),
        () => limitedAdmin.post(`${path}/restore`, { at: before }),
        () => limitedAdmin.post(`transactions/${renamed}/revert`, {}),
      );
      const host = await newHost({ tags: [tag.id] }, limitedAdmin);
      expect(host.tags).toEqual([tag.id]);
      expect(
        (await limitedAdmin.put("tags/assign", { entity_type: "host", entity_id: host.id, tag_ids: [] })).status,
      ).toBe(200);
    },
  );

  test("cannot be changed if it is on an API key", async () => {
    const tag = await newTag();
    const { organizationId, userId } = first;
    await expectOk(
      owner.post("auth/keys", { organization_id: organizationId, user_id: userId, name: "tagged", tags: [tag.id] }),
    );
    await expectRefused(() => rename(limitedAdmin, tag));
  });

  test("can be changed and deleted if it is on no record outside these networks", async () => {
    const [usedTag, unusedTag] = [await newTag(), await newTag()];
    const host = await newHost({ tags: [usedTag.id] });
    expect((await rename(limitedAdmin, usedTag)).status).toBe(200);
    expect((await limitedAdmin.delete(`tags/${usedTag.id}`)).status).toBe(200);
    expect((await expectOk(owner.get(`hosts/${host.id}`))).tags).toEqual([]);
    expect((await rename(limitedAdmin, unusedTag)).status).toBe(200);
  });
});

describe("a change to a shared record beyond a caller's reach", () => {
  let viewer: Client;

  beforeEach(async () => {
    viewer = (await newUser({ role: "Viewer", networkIds: [nearNetworkId] })).client;
  });

  /** Changed fields from each kind of version list, newest first. */
  async function changedFieldsIn(caller: Client, plural: string, entity: string, id: string): Promise<string[][][]> {
    const { data: history }: { data: JsonRecord[] } = await caller.get(`${plural}/${id}/history`);
    const { data: feed }: { data: JsonRecord[] } = await caller.get(`changes?limit=1000&types=${entity}`);
    const recordChanges = feed.filter((change) => change.record.id === id).reverse();
    return [history, recordChanges].map((versions) => versions.map((version) => version.changed_fields));
  }

  test("is absent from changed_fields: a credential's assignments", async () => {
    const [near, far] = [await newHost(), await newHost({ network_id: farNetworkId })];
    const credential = await newCredential({ assigned_network_ids: [nearNetworkId] });
    const path = `credentials/${credential.id}`;
    const put = (changes: JsonRecord) => expectOk(owner.put(path, bodyOf(credential, changes)));
    await put({ assigned_network_ids: [nearNetworkId, farNetworkId] });
    await put({ assigned_network_ids: [nearNetworkId, farNetworkId], host_assignments: [{ host_id: far.id }] });
    await put({ name: "both", assigned_network_ids: [nearNetworkId, farNetworkId], host_assignments: [] });
    await put({
      name: "both",
      assigned_network_ids: [farNetworkId],
      host_assignments: [{ host_id: near.id }, { host_id: far.id }],
    });
    const [all, visible] = [
      await changedFieldsIn(owner, "credentials", "credential", credential.id),
      await changedFieldsIn(viewer, "credentials", "credential", credential.id),
    ];
    const allFields = [
      ["assigned_network_ids", "host_assignments"],
      ["host_assignments", "name"],
      ["host_assignments"],
      ["assigned_network_ids"],
      [],
    ];
    expect(all).toEqual([allFields, allFields]);
    const visibleFields = [["assigned_network_ids", "host_assignments"], ["name"], [], [], []];
    expect(visible).toEqual([visibleFields, visibleFields]);
  });

  test("is absent from changed_fields: a user's networks", async () => {
    const user = await newUser({ role: "Member", networkIds: [nearNetworkId], name: "somebody" });
    const path = `users/${user.id}`;
    const put = (network_ids: string[], name: string) =>
      expectOk(owner.put(path, { email: "somebody@factory.example", role: "Member", name, network_ids }));
    await put([nearNetworkId, farNetworkId], "somebody");
    await put([nearNetworkId], "anybody");
    await put([], "anybody");
    const visibleFields = [["network_ids"], ["email", "name"], [], []].map((fields) =>
      fields.filter((field) => field !== "email"),
    );
    expect(await changedFieldsIn(viewer, "users", "user", user.id)).toEqual([visibleFields, visibleFields]);
  });

  test("is not attributed by a diff to the change of a visible field", async () => {
    const [near, far] = [await newHost(), await newHost({ network_id: farNetworkId })];
    const credential = await newCredential({ assigned_network_ids: [nearNetworkId] });
    const path = `credentials/${credential.id}`;
    const from = pastInstantOf(credential);
    await expectOk(owner.put(path, bodyOf(credential, { host_assignments: [{ host_id: near.id }] })));
    const visibleSequence = transactionCount();
    await expectOk(
      owner.put(path, bodyOf(credential, { host_assignments: [{ host_id: near.id }, { host_id: far.id }] })),
    );
    const transactionOf = async (caller: Client) =>
      (await expectOk(caller.get(`diff?from=${from}&types=credential`))).changed[0].fields[0].transaction.sequence;
    expect(await transactionOf(owner)).toBe(visibleSequence + 1);
    expect(await transactionOf(viewer)).toBe(visibleSequence);
  });
});
