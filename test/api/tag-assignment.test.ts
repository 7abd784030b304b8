// Tag assignment: changes to tags on one or many records, without writing their other fields.

import { describe, expect, test } from "bun:test";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { TAGGED_TYPES, type TaggedType } from "../../src/resources/tag-assignments/tag-assignment.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { BULK_MAX, TAGS_MAX } from "../../src/schemas/schemas.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { type RecordScope, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

const appliance = applianceForEach({}, () => expect(findingsOf()).toEqual([]));
const { clock, first, owner, signedIn } = appliance;
const { findingsOf, inTransaction, keyBody, newApiKey, newCredential, newHost, newNetwork } = appliance;
const { newOrganization, newSubnet, newTag, newUser, tick, transactionCount, watchWrites } = appliance;
const { versionsOf, writtenIn, newMember, newViewer } = appliance;

const ASSIGN = "/api/v1/tags/assign";
const BULK_ADD = `${ASSIGN}/bulk-add`;
const BULK_REMOVE = `${ASSIGN}/bulk-remove`;

const assign = (
  type: string,
  id: string,
  tagIds: readonly string[],
  caller = owner,
  headers: Record<string, string> = {},
) => caller.put(ASSIGN, { entity_type: type, entity_id: id, tag_ids: tagIds }, headers);
const add = (type: string, ids: readonly string[], tagId: string, caller = owner) =>
  caller.post(BULK_ADD, { entity_type: type, entity_ids: ids, tag_id: tagId });
const removeTag = (type: string, ids: readonly string[], tagId: string, caller = owner) =>
  caller.post(BULK_REMOVE, { entity_type: type, entity_ids: ids, tag_id: tagId });

const PATHS: Record<TaggedType, string> = {
  host: "hosts",
  service: "",
  network: "networks",
  subnet: "subnets",
  ip_range: "ip-ranges",
  credential: "credentials",
  api_key: "auth/keys",
};

interface CreatedRecord {
  readonly id: string;
  /** For a service. */
  readonly hostId: string | null;
}

/** A record of the type, without tags. */
async function newTagged(type: TaggedType, caller = owner, scope: RecordScope = first): Promise<CreatedRecord> {
  const { networkId, organizationId, userId } = scope;
  if (type === "service") {
    const host = await newHost(
      { network_id: networkId, services: [{ name: "web", service_definition: "Nginx" }] },
      caller,
    );
    return { id: host.services[0].id, hostId: host.id };
  }
  const factories: Record<Exclude<TaggedType, "service">, () => Promise<JsonRecord>> = {
    host: () => newHost({ network_id: networkId }, caller),
    network: () => newNetwork({}, caller),
    subnet: () => newSubnet({ network_id: networkId }, caller),
    ip_range: async () => {
      const { cidr } = await newSubnet({ network_id: networkId }, caller);
      const first = cidr.split("/")[0];
      return expectOk(caller.post("ip-ranges", { network_id: networkId, first, last: first, purpose: "Static" }));
    },
    credential: () => newCredential({ organization_id: organizationId }, caller),
    api_key: async () =>
      (await expectOk(caller.post("auth/keys", { ...keyBody(), organization_id: organizationId, user_id: userId })))
        .api_key,
  };
  return { id: (await factories[type]()).id, hostId: null };
}

/** The record now, or in the past. */
async function read(type: TaggedType, { id, hostId }: CreatedRecord, at = ""): Promise<JsonRecord> {
  const record = await expectOk(owner.get(`${hostId === null ? `${PATHS[type]}/${id}` : `hosts/${hostId}`}${at}`));
  return hostId === null
    ? record
    : ((record.services as JsonRecord[]).find((service) => service.id === id) as JsonRecord);
}

async function newTags(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let position = 0; position < count; position += 1) ids.push((await newTag()).id);
  return ids;
}

/** A response without an id that must not matter. */
const withoutId = (response: ApiResponse, id: string) => ({
  status: response.status,
  body: JSON.parse(response.text.replaceAll(id, "<id>")),
});

describe.each(TAGGED_TYPES.map((type) => [type]))("the tags of a record: %s", (type) => {
  /** Versions written by a change to one such record. */
  const written: Record<string, number> = {
    [`Updated ${type}`]: 1,
    ...(type === "service" ? { "Updated host": 1 } : {}),
  };

  test("are replaced by the given ones, each once, in order, and by none", async () => {
    const record = await newTagged(type);
    const [a, b, c] = (await newTags(3)) as [string, string, string];
    tick();
    const before = await read(type, record);
    expect(await assign(type, record.id.toUpperCase(), [b, a.toUpperCase(), b])).toMatchObject({
      status: 200,
      data: { entity_type: type, entity_id: record.id, tag_ids: [b, a] },
    });
    expect(writtenIn()).toEqual(written);
    const changedAt = clock.text();
    expect(await read(type, record)).toEqual({ ...before, tags: [b, a], updated_at: changedAt, valid_from: changedAt });
    expect(versionsOf(record.id)).toMatchObject([
      { operation: "Created" },
      { operation: "Updated", changed: ["tags"], valid_from: changedAt },
    ]);
    if (record.hostId !== null)
      expect(versionsOf(record.hostId).at(-1)).toMatchObject({ changed: ["services"], valid_from: changedAt });

    tick();
    expect((await assign(type, record.id, [a, c])).data).toEqual({
      entity_type: type,
      entity_id: record.id,
      tag_ids: [a, c],
    });
    tick();
    const pascalType = type.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    expect((await assign(pascalType, record.id, [])).data).toEqual({
      entity_type: type,
      entity_id: record.id,
      tag_ids: [],
    });
    expect((await read(type, record)).tags).toEqual([]);
    tick();
    expect((await read(type, record, `?at=${changedAt}`)).tags).toEqual([b, a]);
    expect((await read(type, record, `?at=${before.valid_from}`)).tags).toEqual([]);
  });

  test("are added and removed in bulk, in one transaction that touches only changed records", async () => {
    const records = [await newTagged(type), await newTagged(type), await newTagged(type)];
    const ids = records.map((record) => record.id);
    const [first, second, third] = ids as [string, string, string];
    const [a, b] = (await newTags(2)) as [string, string];
    await expectOk(assign(type, second, [b]));
    await expectOk(assign(type, third, [a, b]));
    const untouched = await read(type, records[2] as CreatedRecord);
    tick();

    expect(await add(type, [third, first.toUpperCase(), second, first], a)).toMatchObject({
      status: 200,
      data: { entity_type: type, entity_ids: [third, first, second], tag_id: a, changed_ids: [first, second] },
    });
    expect(writtenIn()).toEqual(Object.fromEntries(Object.entries(written).map(([what, count]) => [what, 2 * count])));
    expect(await Promise.all(records.map(async (record) => (await read(type, record)).tags))).toEqual([
      [a],
      [b, a],
      [a, b],
    ]);
    expect(await read(type, records[2] as CreatedRecord)).toEqual(untouched);

    const before = transactionCount();
    expect((await removeTag(type, ids, b)).data).toEqual({
      entity_type: type,
      entity_ids: ids,
      tag_id: b,
      changed_ids: [second, third],
    });
    expect(transactionCount()).toBe(before + 1);
    expect(await Promise.all(records.map(async (record) => (await read(type, record)).tags))).toEqual([[a], [a], [a]]);
  });

  test("create no version when unchanged", async () => {
    const record = await newTagged(type);
    const [a, b] = (await newTags(2)) as [string, string];
    await expectOk(assign(type, record.id, [a]));
    const expectNothingWritten = watchWrites();
    expect((await assign(type, record.id, [a, a])).data).toMatchObject({ tag_ids: [a] });
    expect((await add(type, [record.id], a)).data).toMatchObject({ changed_ids: [] });
    expect((await removeTag(type, [record.id], b)).data).toMatchObject({ changed_ids: [] });
    expectNothingWritten();
  });

  test("require a record visible to the caller: unknown, deleted and foreign ones and other kinds are refused alike", async () => {
    const second = await newOrganization("Second");
    const foreign = await newTagged(type, await signedIn(second.userId), second);
    const otherRecord = await newTagged(type === "host" ? "subnet" : "host");
    const own = await newTagged(type);
    const deleted = await newTagged(type);
    const [tag] = (await newTags(1)) as [string];
    if (deleted.hostId === null) await expectOk(owner.delete(`${PATHS[type]}/${deleted.id}`));
    else await expectOk(owner.delete(`hosts/${deleted.hostId}`));
    const expectNothingWritten = watchWrites();
    const attempts: Array<[string, (id: string) => Promise<ApiResponse>]> = [
      ["entity_id", (id) => assign(type, id, [tag])],
      ["entity_ids", (id) => add(type, [own.id, id], tag)],
      ["entity_ids", (id) => removeTag(type, [own.id, id], tag)],
    ];
    for (const [field, attempt] of attempts) {
      const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
      expect(unknown).toMatchObject(refusal(400, "entity_reference_invalid", { entity: type, field, ids: ["<id>"] }));
      for (const { id } of [foreign, deleted, otherRecord]) expect(withoutId(await attempt(id), id)).toEqual(unknown);
    }
    const all = await add(type, [UNKNOWN_ID, own.id, foreign.id], tag);
    expect(all.body.params.ids).toEqual([UNKNOWN_ID, foreign.id]);
    expectNothingWritten();
    expect((await read(type, own)).tags).toEqual([]);
  });
});

describe("an assigned tag", () => {
  test("must be visible to the caller: unknown, deleted and foreign ones are refused alike, without a write", async () => {
    const second = await newOrganization("Second");
    const foreign = (await newTag({}, await signedIn(second.userId))).id;
    const [own, deleted] = (await newTags(2)) as [string, string];
    const host = (await newHost({ tags: [own] })).id;
    await expectOk(owner.delete(`tags/${deleted}`));
    const expectNothingWritten = watchWrites();
    const attempts: Array<[string, (id: string) => Promise<ApiResponse>]> = [
      ["tag_ids", (id) => assign("host", host, [own, id])],
      ["tag_id", (id) => add("host", [host], id)],
      ["tag_id", (id) => removeTag("host", [host], id)],
    ];
    for (const [field, attempt] of attempts) {
      const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
      expect(unknown).toMatchObject(refusal(400, "entity_reference_invalid", { entity: "tag", field, ids: ["<id>"] }));
      for (const id of [foreign, deleted]) expect(withoutId(await attempt(id), id)).toEqual(unknown);
    }
    expect((await assign("host", host, [deleted, own, foreign])).body.params.ids).toEqual([deleted, foreign]);
    expectNothingWritten();
  });

  test("is removed when deleted", async () => {
    const records = await Promise.all(TAGGED_TYPES.map((type) => newTagged(type)));
    const [tag] = (await newTags(1)) as [string];
    for (const [position, type] of TAGGED_TYPES.entries())
      await expectOk(add(type, [(records[position] as CreatedRecord).id], tag));
    await expectOk(owner.delete(`tags/${tag}`));
    for (const [position, type] of TAGGED_TYPES.entries())
      expect([type, (await read(type, records[position] as CreatedRecord)).tags]).toEqual([type, []]);
  });
});

describe("the permission to assign tags", () => {
  /** Every operation on a record. */
  const attempts = (type: string, id: string, tag: string, caller: Client) => [
    () => assign(type, id, [tag], caller),
    () => add(type, [id], tag, caller),
    () => removeTag(type, [id], tag, caller),
  ];

  test("equals that to write the record: a Member for hosts, services and subnets, an Admin also for networks and credentials, a Viewer for none", async () => {
    const [viewer, member, admin] = [await newViewer(), await newMember(), await newUser({ role: "Admin" })];
    const [tag] = (await newTags(1)) as [string];
    for (const type of TAGGED_TYPES.filter((type) => type !== "api_key")) {
      // Records that the Member may not write are not even looked up.
      const requiresAdmin = type === "network" || type === "credential";
      const { id } = await newTagged(type);
      const expectNothingWritten = watchWrites();
      for (const recordId of [id, UNKNOWN_ID]) {
        for (const attempt of attempts(type, recordId, tag, viewer.client))
          await expectRefusal(attempt(), 403, "auth_permission_denied", { required: "Member", actual: "Viewer" });
        for (const attempt of requiresAdmin ? attempts(type, recordId, tag, member.client) : [])
          await expectRefusal(attempt(), 403, "auth_permission_denied", { required: "Admin", actual: "Member" });
      }
      expectNothingWritten();
      for (const client of [
        admin.client,
        newApiKey({ permissions: "Admin" }).client,
        ...(requiresAdmin ? [] : [member.client]),
      ]) {
        for (const attempt of attempts(type, id, tag, client))
          expect([type, (await attempt()).status]).toEqual([type, 200]);
      }
    }
  });

  test("requires a session for API keys: for one's own, or as Owner and Admin for users up to one's role", async () => {
    const [one, two, admin] = [
      await newUser({ role: "Member" }),
      await newUser({ role: "Member" }),
      await newUser({ role: "Admin" }),
    ];
    const key = newApiKey({ userId: one.id });
    const [tag] = (await newTags(1)) as [string];
    const denied: Array<[Client, number, string]> = [
      [key.client, 403, "auth_session_required"],
      [newApiKey().client, 403, "auth_session_required"],
      [two.client, 400, "entity_reference_invalid"],
    ];
    for (const [client, status, code] of denied) {
      for (const [position, attempt] of attempts("api_key", key.id, tag, client).entries()) {
        const response = withoutId(await attempt(), key.id);
        expect(response).toMatchObject(refusal(status, code));
        expect(response).toEqual(
          withoutId((await attempts("api_key", UNKNOWN_ID, tag, client)[position]?.()) as ApiResponse, UNKNOWN_ID),
        );
      }
    }
    for (const client of [one.client, admin.client, owner]) {
      for (const attempt of attempts("api_key", key.id, tag, client)) expect((await attempt()).status).toBe(200);
    }
    const ownersKey = newApiKey();
    for (const attempt of attempts("api_key", ownersKey.id, tag, admin.client))
      expect(await attempt()).toMatchObject(
        refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }),
      );
    expect(versionsOf(ownersKey.id)).toHaveLength(1);
  });

  test("is limited to networks in reach: records beyond are invisible", async () => {
    const hidden = (await newNetwork()).id;
    const member = await newMember();
    const key = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    const [tag] = (await newTags(1)) as [string];
    const records: Array<[TaggedType, string, readonly Client[]]> = [["network", hidden, [key.client]]];
    for (const type of ["host", "service", "subnet"] as const)
      records.push([
        type,
        (await newTagged(type, owner, { ...first, networkId: hidden })).id,
        [member.client, key.client],
      ]);
    const expectNothingWritten = watchWrites();
    for (const [type, id, clients] of records) {
      for (const client of clients) {
        for (const [position, attempt] of attempts(type, id, tag, client).entries()) {
          const outOfReach = withoutId(await attempt(), id);
          expect(outOfReach).toMatchObject(refusal(400, "entity_reference_invalid", { entity: type }));
          expect(
            withoutId((await attempts(type, UNKNOWN_ID, tag, client)[position]?.()) as ApiResponse, UNKNOWN_ID),
          ).toEqual(outOfReach);
        }
      }
    }
    expectNothingWritten();
    expect((await add("network", [first.networkId], tag, key.client)).status).toBe(200);
  });
});

describe("an assignment of tags", () => {
  test("is protected by the record's ETag, if sent", async () => {
    const [a, b] = (await newTags(2)) as [string, string];
    const host = await newHost();
    const etag = (await owner.get(`hosts/${host.id}`)).headers.get("etag") as string;
    expect((await assign("host", host.id, [a], owner, { "if-match": etag })).status).toBe(200);
    const expectNothingWritten = watchWrites();
    for (const stale of [etag, '"nonsense"'])
      await expectRefusal(assign("host", host.id, [b], owner, { "if-match": stale }), 412, "precondition_failed");
    expectNothingWritten();
    expect((await assign("host", host.id, [b], owner, { "if-match": "*" })).status).toBe(200);
  });

  test("reports every record at its tag limit, and writes none of them", async () => {
    const tags = inTransaction((tx) =>
      Array.from(
        { length: TAGS_MAX + 1 },
        (_, position) =>
          tx.create(tagKind, first.organizationId, {
            organization_id: first.organizationId,
            name: `many ${position}`,
            description: "",
            color: "Gray",
            is_application: false,
          }).id,
      ),
    );
    const [last, full] = [tags.at(-1) as string, tags.slice(0, TAGS_MAX)];
    const [one, two, three] = [await newHost(), await newHost(), await newHost()].map((host) => host.id) as [
      string,
      string,
      string,
    ];
    for (const id of [one, three]) expect((await expectOk(assign("host", id, full))).tag_ids).toEqual(full);
    const expectNothingWritten = watchWrites();
    expect(await add("host", [two, one, two, three], last)).toMatchObject(
      invalid(
        { path: "/entity_ids/1", message: "already has 1000 tags, the maximum", value: one },
        { path: "/entity_ids/3", value: three },
      ),
    );
    await expectRefusal(assign("host", two, tags), 400, "validation_failed", { issues: [{ path: "/tag_ids" }] });
    expectNothingWritten();
    // Records that already carry the tag need no free slot.
    expect((await add("host", [one, two, three], full[0] as string)).data).toMatchObject({ changed_ids: [two] });
    expect((await removeTag("host", [one], full[0] as string)).data).toMatchObject({ changed_ids: [one] });
    expect((await add("host", [one], last)).data).toMatchObject({ changed_ids: [one] });
  });

  test(`covers up to ${BULK_MAX} records at once`, async () => {
    const { organizationId, networkId } = first;
    const subnets = inTransaction((tx) =>
      Array.from(
        { length: BULK_MAX },
        (_, position) =>
          tx.create(subnetKind, organizationId, {
            network_id: networkId,
            cidr: `10.${position >> 8}.${position & 255}.0/24`,
            name: "many",
            description: null,
            subnet_type: "Lan",
            vlan_id: null,
            source: { type: "Manual" },
            tags: [],
            accepts_credentials: true,
          }).id,
      ),
    );
    const [tag] = (await newTags(1)) as [string];
    expect((await add("subnet", subnets, tag)).data).toEqual({
      entity_type: "subnet",
      entity_ids: subnets,
      tag_id: tag,
      changed_ids: subnets,
    });
    expect(writtenIn()).toEqual({ "Updated subnet": BULK_MAX });
    const expectNothingWritten = watchWrites();
    expect(await removeTag("subnet", [...subnets, UNKNOWN_ID], tag)).toMatchObject(invalid({ path: "/entity_ids" }));
    expectNothingWritten();
  });

  test("is refused with all errors of its body, and nothing is written", async () => {
    const expectNothingWritten = watchWrites();
    const issuePaths = async (response: Promise<ApiResponse>) => {
      const { status, body } = await response;
      expect({ status, code: body.code }).toEqual({ status: 400, code: "validation_failed" });
      return (body.params.issues as Array<{ path: string }>).map((issue) => issue.path).sort();
    };
    expect(await issuePaths(owner.put(ASSIGN, {}))).toEqual(["/entity_id", "/entity_type", "/tag_ids"]);
    expect(
      await issuePaths(
        owner.put(ASSIGN, { entity_type: "HOST", entity_id: "x", tag_ids: ["y", 5], tag_id: UNKNOWN_ID }),
      ),
    ).toEqual(["/entity_id", "/entity_type", "/tag_id", "/tag_ids/0", "/tag_ids/1"]);
    for (const path of [BULK_ADD, BULK_REMOVE]) {
      expect(await issuePaths(owner.post(path, {}))).toEqual(["/entity_ids", "/entity_type", "/tag_id"]);
      expect(await issuePaths(owner.post(path, { entity_type: "vlan", entity_ids: [], tag_id: null }))).toEqual([
        "/entity_ids",
        "/entity_type",
        "/tag_id",
      ]);
      expect(
        await issuePaths(
          owner.post(`${path}?dry_run=true`, {
            entity_type: "host",
            entity_ids: [UNKNOWN_ID, 1],
            tag_id: UNKNOWN_ID,
            tag_ids: [],
          }),
        ),
      ).toEqual(["/dry_run", "/entity_ids/1", "/tag_ids"]);
      await expectRefusal(owner.post(path, "{"), 400, "malformed_json");
    }
    for (const type of ["vlan", "tag", "user", "hosts", "", null, 7])
      expect(await issuePaths(owner.put(ASSIGN, { entity_type: type, entity_id: UNKNOWN_ID, tag_ids: [] }))).toEqual([
        "/entity_type",
      ]);
    expectNothingWritten();
  });

  test("does not shadow a tag's own path", async () => {
    const [tag] = (await newTags(1)) as [string];
    expect(await owner.put(`tags/${tag}`, { name: "renamed", color: "Red" })).toMatchObject({
      status: 200,
      data: { id: tag, name: "renamed" },
    });
    await expectRefusal(owner.post(ASSIGN, {}), 405, "method_not_allowed");
  });
});
