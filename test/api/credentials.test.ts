// Credentials and their secrets: the exact contract, and no leaks anywhere else.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { SecretBox } from "../../src/base/secret-box.ts";
import { openWritable } from "../../src/db/connection.ts";
import { outcomeOf, type WriteReply } from "../../src/db/writing/writer.ts";
import type { SecretField } from "../../src/resources/credentials/credential.ts";
import { secretContext } from "../../src/resources/credentials/secrets.ts";
import { openWriter } from "../../src/server/open-writer.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { expectOk, inline, type JsonRecord, refusal, snmpV1, snmpV2c } from "../support/appliance/factories.ts";
import { hostReference, networkReference, tagReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const PATH = "/api/v1/credentials";
const MASK = "********";
const SECRET = "tr0ub4dor-and-3";
const OTHER_SECRET = "c0rrect-h0rse-b4ttery";
const UNKNOWN_ID = "0190a000-0000-4000-8000-00000000dead";

const appliance = applianceForEach();
const { clock, credentialBody, first, owner, newApiKey, newNetwork, newTag, tick, watchWrites, versionsOf } = appliance;

function snmpV3(fields: JsonRecord = {}) {
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

function bodyOf(fields: JsonRecord = {}): JsonRecord {
  return { ...credentialBody(), credential_type: snmpV2c(SECRET), name: "Switches", ...fields };
}

async function newCredential(fields: JsonRecord = {}): Promise<JsonRecord> {
  const credential = await expectOk(owner.post(PATH, bodyOf(fields)));
  tick();
  return credential;
}

async function update(credential: JsonRecord, changes: JsonRecord): Promise<ApiResponse> {
  const response = await owner.put(`${PATH}/${credential.id}`, { ...credential, ...changes });
  tick();
  return response;
}

function issuePaths(response: ApiResponse): string[] {
  expect(response).toMatchObject(refusal(400, "validation_failed"));
  return response.body.params.issues.map((issue: { path: string }) => issue.path).sort();
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

/** Locations of a string in the appliance's storage and log. */
function occurrencesOf(text: string): string[] {
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
    scope: "in the organization",
    body: (networkId, position, scope) => ({
      organization_id: scope.organizationId,
      name: `Switches ${position}`,
      credential_type: snmpV3({ context_name: "vlan-7" }),
      assigned_network_ids: [networkId],
      host_assignments: [],
      tags: [],
      target_ips: ["10.1.2.3", "2001:db8::1"],
    }),
    inResponse: (body) => ({
      ...body,
      credential_type: { ...body.credential_type, auth_password: inline(MASK), priv_password: inline(MASK) },
    }),
    hasSecrets: true,
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
    const response = await owner.post(
      PATH,
      bodyOf({
        assigned_network_ids: [network],
        tags: [tag.id, tag.id],
        target_ips: ["10.1.2.3", "2001:DB8::0:1", "10.1.2.3"],
      }),
    );
    expect(response.status).toBe(200);
    const { id, created_at: createdAt } = response.data;
    expect(response.data).toEqual({
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
    expect((await owner.get(`${PATH}/${id}`)).data).toEqual(response.data);
    expect((await owner.get(PATH)).data).toEqual([response.data]);
  });

  test("requires every field of the contract on creation, and each missing one is reported", async () => {
    expect(issuePaths(await owner.post(PATH, {}))).toEqual(
      "/assigned_network_ids /credential_type /host_assignments /name /organization_id /tags".split(" "),
    );
  });
});

describe("a deletion", () => {
  test("is refused while the credential is assigned, and includes the assignments with cascade", async () => {
    const credential = await newCredential({ assigned_network_ids: [first.networkId] });
    const path = `${PATH}/${credential.id}`;
    const refused = await owner.delete(path);
    expect(refused).toMatchObject(refusal(409, "entity_in_use"));
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

  test("is refused entirely in bulk if one is assigned, or used beyond the caller's reach", async () => {
    const otherNetwork = await newNetwork();
    const { networkId } = first;
    const [unassigned, near, alsoNear, both] = [
      await newCredential(),
      await newCredential({ assigned_network_ids: [networkId] }),
      await newCredential({ assigned_network_ids: [networkId] }),
      await newCredential({ assigned_network_ids: [networkId, otherNetwork.id] }),
    ];
    const { client } = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    const expectNothingWritten = watchWrites();
    expect(await client.post(`${PATH}/bulk-delete`, [near.id, alsoNear.id])).toMatchObject(
      refusal(409, "entity_in_use", { id: near.id, dependants: { credential_assignments: 1 } }),
    );
    for (const other of [both, unassigned]) {
      const refused = await client.post(`${PATH}/bulk-delete?cascade=true`, [near.id, other.id]);
      expect(refused).toMatchObject(refusal(403, "entity_access_denied", { id: other.id }));
    }
    expectNothingWritten();
    const removed = await client.post(`${PATH}/bulk-delete?cascade=true`, [alsoNear.id, near.id]);
    expect(removed.data).toMatchObject([{ id: near.id, assigned_network_ids: [networkId] }, { id: alsoNear.id }]);
    expect(versionsOf(first.networkId).at(-1)).toMatchObject({ operation: "Updated", changed: ["credential_ids"] });
  });
});

describe("an inline secret", () => {
  test("can be opened with the key, only for its own record and field", async () => {
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
    expect(occurrencesOf("Switches").length).toBeGreaterThan(0);
    expect(occurrencesOf("request_refused").length).toBeGreaterThan(0);
    expect(secrets.flatMap(occurrencesOf)).toEqual([]);
    const db = openWritable(appliance.databasePath);
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.$client.close();
    expect(occurrencesOf("Switches")).toContain(appliance.databasePath);
    expect(secrets.flatMap(occurrencesOf)).toEqual([]);
  });

  test("is preserved by the mask without a version; resending it creates one, to hide a correct guess", async () => {
    const credential = await newCredential();
    const sealed = sealedSecrets(credential.id);
    const expectNothingWritten = watchWrites();
    expect((await update(credential, { credential_type: snmpV2c(MASK) })).data).toEqual(credential);
    expectNothingWritten();
    expect(sealedSecrets(credential.id)).toEqual(sealed);
    tick();
    const resent = (await update(credential, { credential_type: snmpV2c(SECRET) })).data;
    tick();
    const replaced = (await update(credential, { credential_type: snmpV2c("another") })).data;
    for (const { secrets_updated_at, updated_at } of [resent, replaced]) expect(secrets_updated_at).toBe(updated_at);
    const versions = versionsOf(credential.id);
    expect(versions.slice(-2).map(({ changed }) => changed)).toEqual([
      ["credential_type", "secrets_updated_at"],
      ["credential_type", "secrets_updated_at"],
    ]);
  });

  test("creates a version when changed, even under an identical mask, and advances secrets_updated_at", async () => {
    const credential = await newCredential();
    const response = await update(credential, { credential_type: snmpV2c(OTHER_SECRET) });
    expect(response.data.credential_type).toEqual(credential.credential_type);
    expect(response.data.secrets_updated_at).toBe(response.data.updated_at);
    expect(response.data.secrets_updated_at > credential.secrets_updated_at).toBe(true);
    expect(openedSecrets(credential.id)).toEqual({ community: OTHER_SECRET });
    expect(versionsOf(credential.id).map((version) => version.changed)).toEqual([
      null,
      ["credential_type", "secrets_updated_at"],
    ]);

    const renamed = await update(response.data, { name: "Routers" });
    expect(renamed.data.secrets_updated_at).toBe(response.data.secrets_updated_at);
    const past = await owner.get(`${PATH}/${credential.id}?at=${credential.valid_from}`);
    expect(past.data.secrets_updated_at).toBe(credential.secrets_updated_at);
  });

  test("cannot be the mask if none is stored: on creation, after a file path, in a new field", async () => {
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
    const retained = await update(credential, { credential_type: snmpV1(MASK) });
    expect(retained.data.credential_type.type).toBe("SnmpV1");
    expect(retained.data.secrets_updated_at).toBe(credential.secrets_updated_at);
    expect(openedSecrets(id)).toEqual({ community: SECRET });

    const replaced = await update(credential, {
      credential_type: snmpV3({ auth_password: inline(OTHER_SECRET), priv_protocol: "None", priv_password: undefined }),
    });
    expect(replaced.data.secrets_updated_at).toBe(replaced.data.updated_at);
    expect(openedSecrets(id)).toEqual({ auth_password: OTHER_SECRET });
    expect(issuePaths(await update(credential, {}))).toEqual(["/credential_type/community/value"]);

    const withoutAuth = await update(credential, {
      credential_type: { type: "SnmpV3", security_name: "monitor", auth_protocol: "None", priv_protocol: "None" },
    });
    expect(withoutAuth.data.credential_type).toEqual({
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
    const reverted = await update(credential, {});
    expect(reverted.data.credential_type).toEqual(credential_type);
    expect(reverted.data.secrets_updated_at).toBe(reverted.data.updated_at);
    expect(sealedSecrets(credential.id).size).toBe(0);
  });

  test.each([["/etc/shadow"], ["../shadow"], ["snmp/../../shadow"], ["snmp/.."], [".."], ["a\nb"], [""], ["a\u007fb"]])(
    "is refused if the path could leave the secrets directory: %j",
    async (path) => {
      const response = await owner.post(
        PATH,
        bodyOf({ credential_type: { type: "SnmpV1", community: { mode: "FilePath", path } } }),
      );
      expect(issuePaths(response)).toEqual(["/credential_type/community/path"]);
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
  test.each<[string, JsonRecord, string[]]>([
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

  test.each<[string, JsonRecord]>([
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
  ])("contains the field and never the secret: %s", async (_title, credentialType) => {
    const response = await owner.post(PATH, bodyOf({ credential_type: credentialType }));
    expect(issuePaths(response).every((path) => path.startsWith("/credential_type"))).toBe(true);
    expect(response.text).not.toContain("tr0ub4dor");
    expect(occurrencesOf("tr0ub4dor")).toEqual([]);
  });

  test("does not echo a secret next to its credential type", async () => {
    const response = await owner.post(PATH, bodyOf({ community: SECRET, credentialtype: SECRET }));
    expect(issuePaths(response)).toEqual(["/community", "/credentialtype"]);
    expect(response.text).not.toContain(SECRET);
  });

  test("still echoes non-secret values, so that they can be found", async () => {
    const response = await owner.post(
      PATH,
      bodyOf({ assigned_network_ids: ["campus"], credential_type: snmpV3({ auth_protocol: "Sha3" }) }),
    );
    const values = Object.fromEntries(
      response.body.params.issues.map((issue: { path: string; value: unknown }) => [issue.path, issue.value]),
    );
    expect(values).toEqual({ "/assigned_network_ids/0": "campus", "/credential_type/auth_protocol": "Sha3" });
  });

  test("lists the known modes for an unknown one", async () => {
    const response = await owner.post(
      PATH,
      bodyOf({ credential_type: { type: "SnmpV2c", community: { mode: "Env", value: SECRET } } }),
    );
    expect(response.body.params.issues).toEqual([
      { path: "/credential_type/community", message: "must be an object whose mode is one of Inline, FilePath" },
    ]);
  });
});

test("changing a credential's networks creates versions of the credential and each network, naming the field", async () => {
  const north = await newNetwork();
  const south = await newNetwork();
  const credential = await newCredential({ assigned_network_ids: [north.id] });
  const response = await update(credential, { assigned_network_ids: [south.id] });
  expect(response.data.assigned_network_ids).toEqual([south.id]);
  expect(versionsOf(credential.id).map((version) => version.changed)).toEqual([null, ["assigned_network_ids"]]);
  expect(versionsOf(north.id).map((version) => version.changed)).toEqual([
    null,
    ["credential_ids"],
    ["credential_ids"],
  ]);
  expect(versionsOf(south.id).map((version) => version.changed)).toEqual([null, ["credential_ids"]]);
});
