// Credentials and their secrets: the contract to the letter, and absence of secrets elsewhere.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { SecretBox } from "../../src/base/secret-box.ts";
import { openWritable } from "../../src/db/connection.ts";
import { outcomeOf, type WriteReply } from "../../src/db/writing/writer.ts";
import type { SecretField } from "../../src/resources/credentials/credential.ts";
import { secretContext } from "../../src/resources/credentials/secrets.ts";
import { openWriter } from "../../src/server/open-writer.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer } from "../support/appliance/client.ts";
import { inline, made, refusal, snmpV1, snmpV2c, type Wire } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-battery.ts";
import { hostReference, networkReference, tagReference } from "../support/contract/record-subject.ts";
import { refused } from "../support/contract/shapes.ts";

const PATH = "/api/v1/credentials";
const MASK = "********";
const SECRET = "tr0ub4dor-and-3";
const OTHER_SECRET = "c0rrect-h0rse-b4ttery";
const UNKNOWN_ID = "0190a000-0000-4000-8000-00000000dead";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { newApiKey, newNetwork, newOrganization, newTag, newUser } = appliance;
const { tick, writingWatched, versionsOf, newStranger } = appliance;

function snmpV3(fields: Wire = {}) {
  return {
    type: "SnmpV3",
    security_name: "monitor",
    auth_protocol: "Sha256",
    auth_password: inline(SECRET),
    priv_protocol: "Aes128",
    priv_password: inline(OTHER_SECRET),
    ...fields,
  };
}

function bodyOf(fields: Wire = {}): Wire {
  return {
    assigned_network_ids: [],
    credential_type: snmpV2c(SECRET),
    host_assignments: [],
    name: "Switches",
    organization_id: first.organizationId,
    tags: [],
    ...fields,
  };
}

async function newCredential(fields: Wire = {}): Promise<Wire> {
  const credential = await made(owner.post(PATH, bodyOf(fields)));
  tick();
  return credential;
}

async function update(credential: Wire, changes: Wire): Promise<Answer> {
  const answer = await owner.put(`${PATH}/${credential.id}`, { ...credential, ...changes });
  tick();
  return answer;
}

function issuePaths(answer: Answer): string[] {
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe("validation_failed");
  return answer.body.params.issues.map((issue: { path: string }) => issue.path).sort();
}

/** Stored secrets of a credential, sealed, by field. */
function sealedSecrets(id: string): Map<SecretField, Uint8Array> {
  const rows = appliance.reader.db
    .query<{ field: SecretField; sealed: Uint8Array }, [string]>(
      `SELECT s.field, s.sealed FROM credential_secrets s JOIN history_records r ON r.n = s.credential_n
        WHERE r.id = ? ORDER BY s.field`,
    )
    .all(id);
  return new Map(rows.map((row) => [row.field, row.sealed]));
}

/** Secrets of a credential, opened with the key. */
function openedSecrets(id: string): Record<string, string> {
  const box = new SecretBox(appliance.secretKey, appliance.random);
  return Object.fromEntries(
    [...sealedSecrets(id)].map(([field, sealed]) => [field, box.open(sealed, secretContext(id, field))]),
  );
}

/** Locations of a text in the appliance's storage and log. */
function placesOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const files = [appliance.databasePath, `${appliance.databasePath}-wal`, `${appliance.databasePath}-shm`].filter(
    existsSync,
  );
  return [
    ...files.filter((path) => readFileSync(path).includes(bytes)),
    ...appliance.logLines.filter((line) => line.includes(text)),
  ];
}

describeRecords(
  {
    path: PATH,
    entity: "credential",
    writeRole: "Admin",
    place: "in the organization",
    body: (networkId, position, place) => ({
      organization_id: place.organizationId,
      name: `Switches ${position}`,
      credential_type: snmpV3({ context_name: "vlan-7" }),
      assigned_network_ids: [networkId],
      host_assignments: [],
      tags: [],
      target_ips: ["10.1.2.3", "2001:db8::1"],
    }),
    shown: (body) => ({
      ...body,
      credential_type: { ...body.credential_type, auth_password: inline(MASK), priv_password: inline(MASK) },
    }),
    holdsSecrets: true,
    // Assigned networks prevent a deletion.
    deletion: "?cascade=true",
    change: { field: "target_ips", to: (body) => (body.target_ips === null ? [] : null) },
    unique: null,
    writes: {
      created: { "Created credential_assignment": 1, "Updated network": 1 },
      deleted: { "Deleted credential_assignment": 1, "Updated network": 1 },
    },
    invalid: {
      body: {
        id: 1,
        organization_id: "mine",
        name: " ",
        credential_type: {
          type: "SnmpV3",
          security_name: "",
          auth_protocol: "Sha3",
          auth_password: { mode: "Inline", value: "" },
          priv_protocol: null,
          context: 1,
        },
        assigned_network_ids: null,
        host_assignments: [{ ip_address_ids: ["x"] }, { host_id: UNKNOWN_ID, ip_address_ids: [] }],
        tags: ["core"],
        target_ips: ["10.0.0.256"],
        targets: [],
      },
      paths: [
        ..."/id /organization_id /name /assigned_network_ids /tags/0 /target_ips/0 /targets".split(" "),
        ..."/credential_type/security_name /credential_type/auth_protocol".split(" "),
        ..."/credential_type/auth_password/value /credential_type/priv_protocol /credential_type/context".split(" "),
        ..."/host_assignments/0/host_id /host_assignments/0/ip_address_ids/0 /host_assignments/1/ip_address_ids".split(
          " ",
        ),
      ],
    },
    references: [
      tagReference(),
      networkReference("assigned_network_ids", (body, id) => ({ ...body, assigned_network_ids: [id, id] })),
      hostReference("host_assignments/host_id", (body, id) => ({ ...body, host_assignments: [{ host_id: id }] })),
    ],
  },
  appliance,
);

describe("a credential", () => {
  test("is returned with every field of its table, its inline secret masked", async () => {
    const network = first.networkId;
    const tag = await newTag();
    const answer = await owner.post(
      PATH,
      bodyOf({
        assigned_network_ids: [network],
        tags: [tag.id, tag.id],
        target_ips: ["10.1.2.3", "2001:DB8::0:1", "10.1.2.3"],
      }),
    );
    expect(answer.status).toBe(200);
    const { id, created_at: createdAt } = answer.data;
    expect(answer.data).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization_id: first.organizationId,
      name: "Switches",
      credential_type: snmpV2c(MASK),
      assigned_network_ids: [network],
      host_assignments: [],
      tags: [tag.id],
      target_ips: ["10.1.2.3", "2001:db8::1"],
      secrets_updated_at: createdAt,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: createdAt,
      valid_from: createdAt,
      valid_to: null,
      lineage_id: null,
    });
    expect((await owner.get(`${PATH}/${id}`)).data).toEqual(answer.data);
    expect((await owner.get(PATH)).data).toEqual([answer.data]);
  });

  test("requires every field of the contract, in a create and in an update, and each missing one is reported", async () => {
    const credential = await newCredential();
    const required = "/assigned_network_ids /credential_type /host_assignments /name /organization_id /tags".split(" ");
    expect(issuePaths(await owner.post(PATH, {}))).toEqual(required);
    expect(issuePaths(await owner.put(`${PATH}/${credential.id}`, {}))).toEqual(required);
    expect(issuePaths(await update(credential, { name: null, tags: null, host_assignments: null }))).toEqual([
      "/host_assignments",
      "/name",
      "/tags",
    ]);
    expect(versionsOf(credential.id)).toHaveLength(1);
  });

  test("is replaced by an update in its required fields; target_ips are preserved when absent and cleared by null", async () => {
    const credential = await newCredential({ target_ips: ["10.0.0.1"] });
    const { target_ips: _left, ...rest } = credential;
    const kept = await update(rest, { name: "Routers" });
    expect(kept.data).toMatchObject({ name: "Routers", target_ips: ["10.0.0.1"] });
    const cleared = await update(credential, { name: "Routers", target_ips: null });
    expect(cleared.data.target_ips).toBeNull();
    const emptied = await update(credential, { name: "Routers", target_ips: [] });
    expect(emptied.data.target_ips).toEqual([]);
    expect(versionsOf(credential.id).map((version) => version.changed)).toEqual([
      null,
      ["name"],
      ["target_ips"],
      ["target_ips"],
    ]);
  });

  test("sent back as returned is unchanged: no version, the same updated_at and ETag", async () => {
    const credential = await newCredential({
      credential_type: snmpV3(),
      assigned_network_ids: [first.networkId],
      target_ips: ["10.0.0.1"],
    });
    const expectNothingWritten = writingWatched();
    const read = await owner.get(`${PATH}/${credential.id}`);
    const answer = await update(read.data, {});
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual(read.data);
    expect(answer.headers.get("etag")).toBe(read.headers.get("etag"));
    expectNothingWritten();
  });

  test("with another organization_id is refused in a create and in an update, and nothing is written", async () => {
    const second = await newOrganization("Second");
    const credential = await newCredential();
    const expectNothingWritten = writingWatched();
    for (const organizationId of [second.organizationId, UNKNOWN_ID]) {
      for (const answer of [
        await owner.post(PATH, bodyOf({ organization_id: organizationId })),
        await update(credential, { organization_id: organizationId }),
      ]) {
        expect(answer.status).toBe(403);
        expect(answer.body.code).toBe("entity_access_denied");
      }
    }
    expectNothingWritten();
  });

  test("is invisible to another organization", async () => {
    const credential = await newCredential();
    const { client: stranger, ...second } = await newStranger();
    const path = `${PATH}/${credential.id}`;
    const theirs = bodyOf({ organization_id: second.organizationId });
    for (const answer of [
      await stranger.get(path),
      await stranger.put(path, theirs),
      await stranger.delete(path),
      await owner.get(`${PATH}/${UNKNOWN_ID}`),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe("entity_not_found");
    }
    expect((await stranger.get(PATH)).data).toEqual([]);
    expect((await stranger.get(`${PATH}?ids=${credential.id}`)).body.meta.pagination.total_count).toBe(0);
  });

  test("is written by Admins and Owners, and read, masked, by every signed-in user", async () => {
    const credential = await newCredential();
    const path = `${PATH}/${credential.id}`;
    for (const role of ["Viewer", "Member"] as const) {
      const { client } = await newUser({ role });
      expect((await client.get(path)).data.credential_type).toEqual({
        type: "SnmpV2c",
        community: { mode: "Inline", value: MASK },
      });
      for (const answer of [
        await client.post(PATH, bodyOf()),
        await client.put(path, credential),
        await client.delete(path),
      ]) {
        expect(answer.status).toBe(403);
        expect(answer.body.code).toBe("auth_permission_denied");
      }
    }
    const admin = (await newUser({ role: "Admin" })).client;
    expect((await admin.put(path, { ...credential, name: "Access switches" })).status).toBe(200);
    expect((await newApiKey({ permissions: "Admin" }).client.delete(path)).status).toBe(200);
    for (const answer of [await anonymous.get(path), await anonymous.post(PATH, "not JSON")]) {
      expect(answer.status).toBe(401);
    }
  });

  test("must keep the id of the path, and an unknown field is refused by name", async () => {
    const credential = await newCredential();
    await refused(update(credential, { id: UNKNOWN_ID }), 400, "validation_id_mismatch");
    expect(issuePaths(await update(credential, { targets: [], Name: "x" }))).toEqual(["/Name", "/targets"]);
    expect(issuePaths(await update(credential, { target_ips: ["10.0.0.1", "010.0.0.1", "fe80::1%eth0"] }))).toEqual([
      "/target_ips/1",
      "/target_ips/2",
    ]);
  });

  test("accepts only tags of its organization", async () => {
    const second = await newOrganization("Second");
    const foreign = await newTag({}, await signedIn(second.userId));
    const ids = [foreign.id, UNKNOWN_ID];
    const answer = await refused(owner.post(PATH, bodyOf({ tags: ids })), 400, "entity_reference_invalid");
    expect(answer.body.params).toEqual({ entity: "tag", field: "tags", ids });
  });

  test("may bring its own id once, and may share its name", async () => {
    const id = "0190A000-0000-4000-8000-0000000000AA";
    expect((await newCredential({ id })).id).toBe(id.toLowerCase());
    await refused(owner.post(PATH, bodyOf({ id })), 409, "entity_already_exists");
    expect((await owner.post(PATH, bodyOf())).status).toBe(200);
  });

  test("re-created under the name of a deleted one carries the id of its first incarnation", async () => {
    const first = await newCredential();
    await owner.delete(`${PATH}/${first.id}`);
    expect((await newCredential()).lineage_id).toBe(first.id);
  });

  test("answers conditional requests by its version", async () => {
    const credential = await newCredential();
    const path = `${PATH}/${credential.id}`;
    const tag = (await owner.get(path)).headers.get("etag") as string;
    expect((await owner.get(path, { "if-none-match": tag })).status).toBe(304);
    const updated = await owner.put(path, { ...credential, name: "Routers" }, { "if-match": tag });
    expect(updated.status).toBe(200);
    expect(updated.headers.get("etag")).not.toBe(tag);
    const late = await owner.put(path, { ...credential, name: "Firewalls" }, { "if-match": tag });
    expect(late.status).toBe(412);
    expect((await owner.delete(path, { "if-match": tag })).status).toBe(412);
    expect((await owner.get(path)).data.name).toBe("Routers");
  });

  test("shows its state at an instant, nothing before its creation, and its last state after deletion", async () => {
    const before = clock.text();
    tick();
    const created = await newCredential();
    const updated = (await update(created, { name: "Routers", credential_type: snmpV1(MASK) })).data;
    const path = `${PATH}/${created.id}`;
    const removed = (await owner.delete(path)).data;
    tick();
    expect(removed).toEqual({ ...updated, valid_to: removed.valid_to });
    expect(removed.valid_to).not.toBeNull();

    expect((await owner.get(`${PATH}?at=${before}`)).data).toEqual([]);
    expect((await owner.get(`${path}?at=${before}`)).status).toBe(404);
    expect((await owner.get(`${path}?at=${created.valid_from}`)).data).toEqual({
      ...created,
      valid_to: updated.valid_from,
    });
    expect((await owner.get(`${PATH}?at=${updated.valid_from}`)).data).toEqual([removed]);
    expect((await owner.get(path)).status).toBe(404);
    expect((await owner.get(PATH)).data).toEqual([]);
  });
});

describe("the list of credentials", () => {
  test("is paged in order of creation, filtered by ids, and streamed for limit=0", async () => {
    const ids: string[] = [];
    for (const name of ["c", "a", "b"])
      ids.push((await newCredential({ name, assigned_network_ids: [first.networkId] })).id);
    const idsOf = (answer: Answer) => answer.data.map((credential: Wire) => credential.id);
    const page = await owner.get(`${PATH}?limit=2&offset=1`);
    expect(idsOf(page)).toEqual(ids.slice(1));
    expect(page.body.meta.pagination).toEqual({ total_count: 3, limit: 2, offset: 1, has_more: false });
    const all = await owner.get(`${PATH}?limit=0`);
    expect(idsOf(all)).toEqual(ids);
    expect(all.data).toEqual((await owner.get(PATH)).data);
    expect(all.data[0].assigned_network_ids).toEqual([first.networkId]);
    expect(idsOf(await owner.get(`${PATH}?ids=${ids[2]},${ids[0]}`))).toEqual([ids[0], ids[2]]);
    const refused = await owner.get(`${PATH}?limit=1001&name=c`);
    expect(issuePaths(refused)).toEqual(["/limit", "/name"]);
  });
});

describe("a deletion", () => {
  test("is refused while the credential is assigned, and with cascade includes the assignments", async () => {
    const credential = await newCredential({ assigned_network_ids: [first.networkId] });
    const path = `${PATH}/${credential.id}`;
    const refused = await owner.delete(path);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe("entity_in_use");
    expect(refused.body.params.dependants).toEqual({ credential_assignments: 1 });
    const removed = await owner.delete(`${path}?cascade=true`);
    expect(removed.status).toBe(200);
    expect(removed.data).toEqual({ ...credential, valid_to: removed.data.valid_to });
    expect((await owner.get(`networks/${first.networkId}`)).data.credential_ids).toEqual([]);
    expect(versionsOf(credential.id).map((version) => version.operation)).toEqual(["Created", "Deleted"]);
  });

  test("includes the sealed secrets", async () => {
    const [credential, second, third] = [await newCredential(), await newCredential(), await newCredential()];
    expect(sealedSecrets(credential.id).size).toBe(1);
    await owner.delete(`${PATH}/${credential.id}`);
    expect((await owner.post(`${PATH}/bulk-delete`, [second.id, third.id])).status).toBe(200);
    expect(appliance.reader.db.query("SELECT * FROM credential_secrets").all()).toEqual([]);
  });

  test("of many is refused as a whole when one is assigned, or used beyond the caller's reach", async () => {
    const elsewhere = await newNetwork();
    const { networkId } = first;
    const [free, here, too, both] = [
      await newCredential(),
      await newCredential({ assigned_network_ids: [networkId] }),
      await newCredential({ assigned_network_ids: [networkId] }),
      await newCredential({ assigned_network_ids: [networkId, elsewhere.id] }),
    ];
    const { client } = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    const expectNothingWritten = writingWatched();
    expect(await client.post(`${PATH}/bulk-delete`, [here.id, too.id])).toMatchObject(
      refusal(409, "entity_in_use", { id: here.id, dependants: { credential_assignments: 1 } }),
    );
    for (const other of [both, free]) {
      const refused = await client.post(`${PATH}/bulk-delete?cascade=true`, [here.id, other.id]);
      expect(refused).toMatchObject(refusal(403, "entity_access_denied", { id: other.id }));
    }
    expectNothingWritten();
    const removed = await client.post(`${PATH}/bulk-delete?cascade=true`, [too.id, here.id]);
    expect(removed.data).toMatchObject([{ id: here.id, assigned_network_ids: [networkId] }, { id: too.id }]);
    expect(versionsOf(first.networkId).at(-1)).toMatchObject({ operation: "Updated", changed: ["credential_ids"] });
  });
});

describe("an inline secret", () => {
  test("can be opened with the key, in its own place only", async () => {
    const credential = await newCredential({ credential_type: snmpV3() });
    const id = credential.id;
    expect(openedSecrets(id)).toEqual({ auth_password: SECRET, priv_password: OTHER_SECRET });

    const sealed = sealedSecrets(id).get("auth_password") as Uint8Array;
    const box = new SecretBox(appliance.secretKey, appliance.random);
    expect(() => box.open(sealed, secretContext(id, "priv_password"))).toThrow("belongs to another record");
    expect(() => box.open(sealed, secretContext(UNKNOWN_ID, "auth_password"))).toThrow("belongs to another record");
    const otherKey = new SecretBox(appliance.random.bytes(32), appliance.random);
    expect(() => otherKey.open(sealed, secretContext(id, "auth_password"))).toThrow("sealed with another key");
  });

  test("appears in no file and no log line, whether set, replaced, moved or refused", async () => {
    const credential = await newCredential({ credential_type: snmpV2c("first-secret-0001") });
    await update(credential, { credential_type: snmpV2c("second-secret-0002") });
    await update(credential, {
      credential_type: snmpV3({
        auth_password: inline("third-secret-0003"),
        priv_password: inline("fourth-secret-0004"),
      }),
    });
    await update(credential, {
      credential_type: snmpV3({ priv_protocol: "None", priv_password: inline("fifth-secret-0005") }),
    });
    await update(credential, { credential_type: { type: "SnmpV2c", community: "sixth-secret-0006" } });
    await owner.delete(`${PATH}/${credential.id}`);
    const secrets = ["first-secret", "second-secret", "third-secret", "fourth-secret", "fifth-secret", "sixth-secret"];
    // The scan finds devices; otherwise it would prove nothing.
    expect(placesOf("Switches").length).toBeGreaterThan(0);
    expect(placesOf("request_refused").length).toBeGreaterThan(0);
    expect(secrets.flatMap(placesOf)).toEqual([]);
    const db = openWritable(appliance.databasePath);
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.$client.close();
    expect(placesOf("Switches")).toContain(appliance.databasePath);
    expect(secrets.flatMap(placesOf)).toEqual([]);
  });

  test("is preserved by the mask, without a version; sent again it is set as usual, so that a correct guess is not revealed", async () => {
    const credential = await newCredential();
    const sealed = sealedSecrets(credential.id);
    const expectNothingWritten = writingWatched();
    expect((await update(credential, { credential_type: snmpV2c(MASK) })).data).toEqual(credential);
    expectNothingWritten();
    expect(sealedSecrets(credential.id)).toEqual(sealed);
    tick();
    const again = (await update(credential, { credential_type: snmpV2c(SECRET) })).data;
    tick();
    const other = (await update(credential, { credential_type: snmpV2c("another") })).data;
    for (const { secrets_updated_at, updated_at } of [again, other]) expect(secrets_updated_at).toBe(updated_at);
    const versions = versionsOf(credential.id);
    expect(versions.slice(-2).map(({ changed }) => changed)).toEqual([
      ["credential_type", "secrets_updated_at"],
      ["credential_type", "secrets_updated_at"],
    ]);
  });

  test("makes a version when changed, even under an identical mask, and moves secrets_updated_at", async () => {
    const credential = await newCredential();
    const answer = await update(credential, { credential_type: snmpV2c(OTHER_SECRET) });
    expect(answer.data.credential_type).toEqual(credential.credential_type);
    expect(answer.data.secrets_updated_at).toBe(answer.data.updated_at);
    expect(answer.data.secrets_updated_at > credential.secrets_updated_at).toBe(true);
    expect(openedSecrets(credential.id)).toEqual({ community: OTHER_SECRET });
    expect(versionsOf(credential.id).map((version) => version.changed)).toEqual([
      null,
      ["credential_type", "secrets_updated_at"],
    ]);

    const renamed = await update(answer.data, { name: "Routers" });
    expect(renamed.data.secrets_updated_at).toBe(answer.data.secrets_updated_at);
    const then = await owner.get(`${PATH}/${credential.id}?at=${credential.valid_from}`);
    expect(then.data.secrets_updated_at).toBe(credential.secrets_updated_at);
  });

  test("cannot be the mask if none is stored: on a create, after a file path, in a new field", async () => {
    expect(issuePaths(await owner.post(PATH, bodyOf({ credential_type: snmpV2c(MASK) })))).toEqual([
      "/credential_type/community/value",
    ]);
    const byPath = await newCredential({
      credential_type: { type: "SnmpV1", community: { mode: "FilePath", path: "snmp/community" } },
    });
    expect(issuePaths(await update(byPath, { credential_type: snmpV1(MASK) }))).toEqual([
      "/credential_type/community/value",
    ]);
    const noPrivacy = await newCredential({
      credential_type: snmpV3({ priv_protocol: "None", priv_password: undefined }),
    });
    const both = snmpV3({ auth_password: inline(MASK), priv_password: inline(MASK) });
    expect(issuePaths(await update(noPrivacy, { credential_type: both }))).toEqual([
      "/credential_type/priv_password/value",
    ]);
  });

  test("survives a change of type that keeps its field, and is dropped otherwise", async () => {
    const credential = await newCredential();
    const id = credential.id;
    const kept = await update(credential, { credential_type: snmpV1(MASK) });
    expect(kept.data.credential_type.type).toBe("SnmpV1");
    expect(kept.data.secrets_updated_at).toBe(credential.secrets_updated_at);
    expect(openedSecrets(id)).toEqual({ community: SECRET });

    const replaced = await update(credential, {
      credential_type: snmpV3({ auth_password: inline(OTHER_SECRET), priv_protocol: "None", priv_password: undefined }),
    });
    expect(replaced.data.secrets_updated_at).toBe(replaced.data.updated_at);
    expect(openedSecrets(id)).toEqual({ auth_password: OTHER_SECRET });
    expect(issuePaths(await update(credential, {}))).toEqual(["/credential_type/community/value"]);

    const open = await update(credential, {
      credential_type: { type: "SnmpV3", security_name: "monitor", auth_protocol: "None", priv_protocol: "None" },
    });
    expect(open.data.credential_type).toEqual({
      type: "SnmpV3",
      security_name: "monitor",
      auth_protocol: "None",
      priv_protocol: "None",
    });
    expect(sealedSecrets(id).size).toBe(0);
    expect(versionsOf(id).map((version) => version.changed)).toEqual([
      null,
      ["credential_type"],
      ["credential_type", "secrets_updated_at"],
      ["credential_type", "secrets_updated_at"],
    ]);
  });

  test("can be replaced after its key file was lost", async () => {
    const credential = await newCredential();
    const author = {
      type: "System",
      id: null,
      name: "test",
      organizationId: first.organizationId,
      requestId: null,
      userId: null,
      role: "Owner",
      networkIds: null,
    } as const;
    const secretKey = appliance.random.bytes(32);
    const writer = openWriter({ databasePath: appliance.databasePath, secretKey }, clock, appliance.random);
    const input = { id: credential.id, body: bodyOf({ credential_type: snmpV2c(SECRET) }), ifMatch: null };
    outcomeOf(writer.execute([{ command: "credential.update", input, actor: author }])[0] as WriteReply);
    writer.close();
    const sealed = sealedSecrets(credential.id).get("community") as Uint8Array;
    expect(new SecretBox(secretKey, appliance.random).open(sealed, secretContext(credential.id, "community"))).toBe(
      SECRET,
    );
  });
});

describe("a secret in a file", () => {
  test("is a path returned verbatim; nothing is sealed, and another path is another secret", async () => {
    const credential_type = { type: "SnmpV2c", community: { mode: "FilePath", path: "snmp/community.txt" } };
    const credential = await newCredential({ credential_type });
    expect(credential.credential_type).toEqual(credential_type);
    expect(sealedSecrets(credential.id).size).toBe(0);
    const moved = await update(credential, {
      credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path: "snmp/other" } },
    });
    expect(moved.data.secrets_updated_at).toBe(moved.data.updated_at);

    await update(credential, { credential_type: snmpV2c(SECRET) });
    expect(openedSecrets(credential.id)).toEqual({ community: SECRET });
    const back = await update(credential, {});
    expect(back.data.credential_type).toEqual(credential_type);
    expect(back.data.secrets_updated_at).toBe(back.data.updated_at);
    expect(sealedSecrets(credential.id).size).toBe(0);
  });

  test.each([["/etc/shadow"], ["../shadow"], ["snmp/../../shadow"], ["snmp/.."], [".."], ["a\nb"], [""], ["a\u007fb"]])(
    "is refused if the path could leave the secrets folder: %j",
    async (path) => {
      const answer = await owner.post(
        PATH,
        bodyOf({ credential_type: { type: "SnmpV1", community: { mode: "FilePath", path } } }),
      );
      expect(issuePaths(answer)).toEqual(["/credential_type/community/path"]);
    },
  );

  test.each([["community"], ["a/b..c/..d"], ["with space"]])("may be at the path %j", async (path) => {
    expect(
      (await newCredential({ credential_type: { type: "SnmpV1", community: { mode: "FilePath", path } } }))
        .credential_type.community.path,
    ).toBe(path);
  });
});

describe("SNMPv3", () => {
  test.each<[string, Wire, string[]]>([
    [
      "a password without authentication",
      { auth_protocol: "None", priv_protocol: "None", priv_password: undefined },
      ["/credential_type/auth_password"],
    ],
    [
      "privacy without authentication",
      { auth_protocol: "None", auth_password: undefined },
      ["/credential_type/priv_protocol"],
    ],
    ["authentication without a password", { auth_password: undefined }, ["/credential_type/auth_password"]],
    ["privacy without a password", { priv_password: undefined }, ["/credential_type/priv_password"]],
    ["a privacy password without privacy", { priv_protocol: "None" }, ["/credential_type/priv_password"]],
    [
      "passwords shorter than eight characters",
      { auth_password: inline("1234567"), priv_password: inline("ééééééé") },
      ["/credential_type/auth_password/value", "/credential_type/priv_password/value"],
    ],
    [
      "everything at once",
      { auth_protocol: "None", priv_password: inline("short") },
      ["/credential_type/auth_password", "/credential_type/priv_password/value", "/credential_type/priv_protocol"],
    ],
    [
      "unknown protocols",
      { auth_protocol: "Sha3", priv_protocol: "Rot13" },
      ["/credential_type/auth_protocol", "/credential_type/priv_protocol"],
    ],
    ["a community", { community: inline(SECRET) }, ["/credential_type/community"]],
    ["an excessively long security name", { security_name: "x".repeat(33) }, ["/credential_type/security_name"]],
  ])("is refused with %s", async (_title, fields, paths) => {
    expect(issuePaths(await owner.post(PATH, bodyOf({ credential_type: snmpV3(fields) })))).toEqual(paths);
  });

  test.each<[string, Wire]>([
    [
      "noAuthNoPriv",
      { auth_protocol: "None", auth_password: undefined, priv_protocol: "None", priv_password: undefined },
    ],
    ["authNoPriv", { priv_protocol: "None", priv_password: undefined }],
    ["authPriv", { context_name: "vlan-7" }],
    [
      "passwords in files",
      { auth_password: { mode: "FilePath", path: "a" }, priv_password: { mode: "FilePath", path: "b" } },
    ],
  ])("is accepted with %s", async (_title, fields) => {
    expect((await newCredential({ credential_type: snmpV3(fields) })).credential_type).toMatchObject({
      type: "SnmpV3",
      security_name: "monitor",
    });
  });
});

describe("an error", () => {
  test.each<[string, unknown]>([
    ["a secret without its object", { type: "SnmpV2c", community: SECRET }],
    ["a credential type that is the secret", SECRET],
    ["an array of it", [SECRET]],
    ["an unknown mode", { type: "SnmpV2c", community: { mode: SECRET, value: SECRET } }],
    ["a misspelled mode", { type: "SnmpV2c", community: { mode: "inline", value: SECRET } }],
    ["no mode", { type: "SnmpV2c", community: { value: SECRET } }],
    ["an unknown type", { type: SECRET, community: inline(SECRET) }],
    ["a misspelled field next to the secret", { type: "SnmpV2c", comunity: SECRET }],
    ["an extra field inside the secret", { type: "SnmpV2c", community: { mode: "Inline", value: "x", plain: SECRET } }],
    ["the secret as a file's value", { type: "SnmpV2c", community: { mode: "FilePath", value: SECRET } }],
    ["the secret as an absolute path", { type: "SnmpV2c", community: { mode: "FilePath", path: `/${SECRET}` } }],
    ["an excessively long secret", snmpV2c(SECRET.repeat(100))],
    ["a secret with a truncated character", snmpV2c(`${SECRET}\ud800`)],
    ["a misspelled password", snmpV3({ auth_password: undefined, auth_pasword: SECRET })],
    [
      "a password of the wrong type",
      snmpV3({ auth_password: [SECRET], priv_password: { mode: "Inline", value: { text: SECRET } } }),
    ],
    ["a superfluous password", snmpV3({ auth_protocol: "None", priv_protocol: "None" })],
  ])("about %s names the field and never the secret", async (_title, credentialType) => {
    const answer = await owner.post(PATH, bodyOf({ credential_type: credentialType }));
    expect(issuePaths(answer).every((path) => path.startsWith("/credential_type"))).toBe(true);
    expect(answer.text).not.toContain("tr0ub4dor");
    expect(placesOf("tr0ub4dor")).toEqual([]);
  });

  test("does not echo a secret next to its credential type", async () => {
    const answer = await owner.post(PATH, bodyOf({ community: SECRET, credentialtype: SECRET }));
    expect(issuePaths(answer)).toEqual(["/community", "/credentialtype"]);
    expect(answer.text).not.toContain(SECRET);
  });

  test("still echoes non-secret values, so that they can be found", async () => {
    const answer = await owner.post(
      PATH,
      bodyOf({ assigned_network_ids: ["campus"], credential_type: snmpV3({ auth_protocol: "Sha3" }) }),
    );
    const values = Object.fromEntries(
      answer.body.params.issues.map((issue: { path: string; value: unknown }) => [issue.path, issue.value]),
    );
    expect(values).toEqual({ "/assigned_network_ids/0": "campus", "/credential_type/auth_protocol": "Sha3" });
  });

  test("about a mode lists the known ones", async () => {
    const answer = await owner.post(
      PATH,
      bodyOf({ credential_type: { type: "SnmpV2c", community: { mode: "Env", value: SECRET } } }),
    );
    expect(answer.body.params.issues).toEqual([
      { path: "/credential_type/community", message: "must be an object whose mode is one of Inline, FilePath" },
    ]);
  });
});

test("a change of networks makes a version of the credential and of each network, naming the changed field", async () => {
  const north = await newNetwork();
  const south = await newNetwork();
  const credential = await newCredential({ assigned_network_ids: [north.id] });
  const answer = await update(credential, { assigned_network_ids: [south.id] });
  expect(answer.data.assigned_network_ids).toEqual([south.id]);
  expect(versionsOf(credential.id).map((version) => version.changed)).toEqual([null, ["assigned_network_ids"]]);
  expect(versionsOf(north.id).map((version) => version.changed)).toEqual([
    null,
    ["credential_ids"],
    ["credential_ids"],
  ]);
  expect(versionsOf(south.id).map((version) => version.changed)).toEqual([null, ["credential_ids"]]);
});
