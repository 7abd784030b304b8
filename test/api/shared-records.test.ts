// Credentials and tags of the organization: a caller confined to networks changes them only if it reaches all affected
// records, by any write, and does not see changes beyond.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import { made, refusal, snmpV1, snmpV2c, type Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { clock, first, owner } = appliance;
const { newApiKey, newCredential, newHost, newNetwork, newSubnet } = appliance;
const { newTag, newUser, transactionCount, writingWatched } = appliance;
/** An Admin's key for the first network only. */
let confined: Client;
let here: string;
let beyond: string;

beforeEach(async () => {
  here = first.networkId;
  beyond = (await newNetwork({ name: "beyond" })).id;
  confined = newApiKey({ permissions: "Admin", networkIds: [here] }).client;
});

const DENIED = refusal(403, "entity_access_denied");

/** Expects each request to be refused without effect. */
async function refused(...asked: ReadonlyArray<() => Promise<Answer>>): Promise<void> {
  const expectNothingWritten = writingWatched();
  for (const ask of asked) expect(await ask()).toMatchObject(DENIED);
  expectNothingWritten();
}

/** Body of a credential PUT. */
function bodyOf(credential: Wire, changes: Wire = {}): Wire {
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
function momentOf(record: Wire): string {
  clock.advance(60_000);
  return record.updated_at;
}

describe("a credential, for a caller limited to some networks,", () => {
  let host: Wire;

  beforeEach(async () => {
    host = await newHost({ name: "theirs" });
  });

  describe.each([
    ["also assigned beyond", () => [here, beyond]],
    ["assigned only beyond", () => [beyond]],
    ["assigned to nothing", () => []],
  ] as const)("%s", (_what, networks: () => readonly string[]) => {
    let credential: Wire;
    let before: string;

    beforeEach(async () => {
      credential = await newCredential({ assigned_network_ids: networks() });
      before = momentOf(credential);
      await made(owner.put(`credentials/${credential.id}`, bodyOf(credential, { name: "renamed since" })));
    });

    test("cannot be changed, deleted, restored or reverted", async () => {
      const path = `credentials/${credential.id}`;
      const seen = await made(confined.get(path));
      const put = (changes: Wire) => () => confined.put(path, bodyOf(seen, changes));
      const renamed = transactionCount();
      const tag = await newTag();
      await refused(
        put({ name: "mine" }),
        put({ target_ips: ["10.9.9.9"] }),
        put({ tags: [tag.id] }),
        put({ assigned_network_ids: [here], host_assignments: [{ host_id: host.id }] }),
        put({ name: "mine", assigned_network_ids: [], host_assignments: [] }),
        put({ credential_type: snmpV1("other") }),
        () => confined.delete(`${path}?cascade=true`),
        () => confined.post("credentials/bulk-delete?cascade=true", [credential.id]),
        () => confined.post(`${path}/restore`, { at: before }),
        () => confined.post(`transactions/${renamed}/revert`, {}),
        () => confined.put("tags/assign", { entity_type: "credential", entity_id: credential.id, tag_ids: [tag.id] }),
        () =>
          confined.post("tags/assign/bulk-add", {
            entity_type: "credential",
            entity_ids: [credential.id],
            tag_id: tag.id,
          }),
      );
    });

    test("may be sent back as read, which changes nothing", async () => {
      const path = `credentials/${credential.id}`;
      const seen = await made(confined.get(path));
      const expectNothingWritten = writingWatched();
      expect(await made(confined.put(path, bodyOf(seen)))).toEqual(seen);
      expectNothingWritten();
    });

    test("cannot be assigned from a host's side either: by an update, a new host or a bulk", async () => {
      const items = [{ credential_id: credential.id }];
      const { id, name } = host;
      const write = { network_id: here, name: "new", credential_assignments: items };
      await refused(
        () => confined.put(`hosts/${id}`, { id, name, hidden: false, tags: [], credential_assignments: items }),
        () => confined.post("hosts", write),
        () => confined.post("hosts/bulk", [{ id, name, network_id: here, credential_assignments: items }]),
      );
    });
  });

  test("can be removed from a host and restored with it only by callers who may assign it", async () => {
    const credential = await newCredential({
      assigned_network_ids: [beyond],
      host_assignments: [{ host_id: host.id }],
    });
    const { id, name } = host;
    await refused(() => confined.put(`hosts/${id}`, { id, name, hidden: false, tags: [], credential_assignments: [] }));
    const at = momentOf(await made(owner.get(`hosts/${id}`)));
    // Deleted with the host, which owns its assignments.
    await made(confined.delete(`hosts/${id}`));
    const plan = await made(confined.post(`hosts/${id}/restore`, { at }));
    expect(plan.actions.find((action: Wire) => action.entity_type === "credential_assignment")).toMatchObject({
      action: "Skip",
      reason: expect.stringContaining("stays unchanged"),
    });
    expect((await made(owner.get(`credentials/${credential.id}`))).host_assignments).toEqual([]);
  });

  test("can be changed and assigned, from either side, if assigned within these networks only", async () => {
    const credential = await newCredential({ assigned_network_ids: [here] });
    const path = `credentials/${credential.id}`;
    expect(
      await made(confined.put(path, bodyOf(credential, { name: "ours", target_ips: ["10.9.9.9"] }))),
    ).toMatchObject({ name: "ours", target_ips: ["10.9.9.9"] });
    const { id, name } = host;
    const answer = await made(
      confined.put(`hosts/${id}`, {
        id,
        name,
        hidden: false,
        tags: [],
        credential_assignments: [{ credential_id: credential.id }],
      }),
    );
    expect(answer.credential_assignments).toEqual([{ credential_id: credential.id }]);
    expect((await confined.delete(`${path}?cascade=true`)).status).toBe(200);
  });

  test("can be created only with an assignment", async () => {
    const fields = {
      organization_id: first.organizationId,
      name: "new",
      credential_type: snmpV2c("a community"),
      tags: [],
    };
    await refused(() =>
      confined.post("credentials", {
        ...fields,
        assigned_network_ids: [],
        host_assignments: [],
        target_ips: ["10.9.9.9"],
      }),
    );
    expect(
      await made(
        confined.post("credentials", { ...fields, assigned_network_ids: [], host_assignments: [{ host_id: host.id }] }),
      ),
    ).toMatchObject({ name: "new" });
  });
});

describe("a tag, for a caller limited to some networks,", () => {
  const rename = (by: Client, tag: Wire) => by.put(`tags/${tag.id}`, { name: "renamed", color: "Red" });

  test.each([
    ["a host", (tag: Wire) => newHost({ network_id: beyond, tags: [tag.id] })],
    ["a subnet", (tag: Wire) => newSubnet({ network_id: beyond, tags: [tag.id] })],
    [
      "a network",
      (tag: Wire) => made(owner.put(`networks/${beyond}`, { name: "beyond", description: null, tags: [tag.id] })),
    ],
    ["a credential", (tag: Wire) => newCredential({ assigned_network_ids: [beyond], tags: [tag.id] })],
  ])(
    "on %s beyond cannot be changed, deleted, restored or reverted, but assigned to records within",
    async (_what, carry) => {
      const tag = await newTag();
      const before = momentOf(tag);
      await made(rename(owner, tag));
      const renamed = transactionCount();
      await carry(tag);
      const path = `tags/${tag.id}`;
      await refused(
        () => confined.put(path, { name: "mine", color: "Red" }),
        () => confined.delete(path),
        () => confined.post("tags/bulk-delete", [tag.id]),
        () => confined.post(`${path}/restore`, { at: before }),
        () => confined.post(`transactions/${renamed}/revert`, {}),
      );
      const host = await newHost({ tags: [tag.id] }, confined);
      expect(host.tags).toEqual([tag.id]);
      expect((await confined.put("tags/assign", { entity_type: "host", entity_id: host.id, tag_ids: [] })).status).toBe(
        200,
      );
    },
  );

  test("on an API key cannot be changed", async () => {
    const tag = await newTag();
    const { organizationId, userId } = first;
    await made(
      owner.post("auth/keys", { organization_id: organizationId, user_id: userId, name: "tagged", tags: [tag.id] }),
    );
    await refused(() => rename(confined, tag));
  });

  test("on records within only, or on none, can be changed and deleted", async () => {
    const [worn, free] = [await newTag(), await newTag()];
    const host = await newHost({ tags: [worn.id] });
    expect((await rename(confined, worn)).status).toBe(200);
    expect((await confined.delete(`tags/${worn.id}`)).status).toBe(200);
    expect((await made(owner.get(`hosts/${host.id}`))).tags).toEqual([]);
    expect((await rename(confined, free)).status).toBe(200);
  });
});

describe("a change of a shared record beyond a caller's reach", () => {
  let viewer: Client;

  beforeEach(async () => {
    viewer = (await newUser({ role: "Viewer", networkIds: [here] })).client;
  });

  /** Changed fields from each kind of version list, newest first. */
  async function told(by: Client, plural: string, entity: string, id: string): Promise<string[][][]> {
    const { data: history }: { data: Wire[] } = await by.get(`${plural}/${id}/history`);
    const { data: feed }: { data: Wire[] } = await by.get(`changes?limit=1000&types=${entity}`);
    const own = feed.filter((change) => change.record.id === id).reverse();
    return [history, own].map((versions) => versions.map((version) => version.changed_fields));
  }

  test("is absent from changed_fields: a credential's assignments", async () => {
    const [near, far] = [await newHost(), await newHost({ network_id: beyond })];
    const credential = await newCredential({ assigned_network_ids: [here] });
    const path = `credentials/${credential.id}`;
    const put = (changes: Wire) => made(owner.put(path, bodyOf(credential, changes)));
    await put({ assigned_network_ids: [here, beyond] });
    await put({ assigned_network_ids: [here, beyond], host_assignments: [{ host_id: far.id }] });
    await put({ name: "both", assigned_network_ids: [here, beyond], host_assignments: [] });
    await put({
      name: "both",
      assigned_network_ids: [beyond],
      host_assignments: [{ host_id: near.id }, { host_id: far.id }],
    });
    const [all, seen] = [
      await told(owner, "credentials", "credential", credential.id),
      await told(viewer, "credentials", "credential", credential.id),
    ];
    const whole = [
      ["assigned_network_ids", "host_assignments"],
      ["host_assignments", "name"],
      ["host_assignments"],
      ["assigned_network_ids"],
      [],
    ];
    expect(all).toEqual([whole, whole]);
    const within = [["assigned_network_ids", "host_assignments"], ["name"], [], [], []];
    expect(seen).toEqual([within, within]);
  });

  test("is absent from changed_fields: a user's networks", async () => {
    const user = await newUser({ role: "Member", networkIds: [here], name: "somebody" });
    const path = `users/${user.id}`;
    const put = (network_ids: string[], name: string) =>
      made(owner.put(path, { email: "somebody@factory.example", role: "Member", name, network_ids }));
    await put([here, beyond], "somebody");
    await put([here], "anybody");
    await put([], "anybody");
    const within = [["network_ids"], ["email", "name"], [], []].map((fields) =>
      fields.filter((field) => field !== "email"),
    );
    expect(await told(viewer, "users", "user", user.id)).toEqual([within, within]);
  });

  test("is not attributed by a diff to the change of a visible field", async () => {
    const [near, far] = [await newHost(), await newHost({ network_id: beyond })];
    const credential = await newCredential({ assigned_network_ids: [here] });
    const path = `credentials/${credential.id}`;
    const from = momentOf(credential);
    await made(owner.put(path, bodyOf(credential, { host_assignments: [{ host_id: near.id }] })));
    const shown = transactionCount();
    await made(owner.put(path, bodyOf(credential, { host_assignments: [{ host_id: near.id }, { host_id: far.id }] })));
    const transactionOf = async (by: Client) =>
      (await made(by.get(`diff?from=${from}&types=credential`))).changed[0].fields[0].transaction.sequence;
    expect(await transactionOf(owner)).toBe(shown + 1);
    expect(await transactionOf(viewer)).toBe(shown);
  });
});
