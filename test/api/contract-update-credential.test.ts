// Contract of PUT /api/v1/credentials/{id} (handbook: records, "Credential types"): the response, the body, secrets.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { inline, type JsonRecord, snmpV1, snmpV2c } from "../support/appliance/factories.ts";
import { credentialShape, expectRefusal, expectSuccess, issuePaths, problems } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const REQUIRED = ["assigned_network_ids", "credential_type", "host_assignments", "name", "organization_id", "tags"];
const MASK = "********";

const appliance = applianceForAll();
const { first, owner, credentialBody, live, newCredential, newHost, newNetwork, newOrganization } = appliance;
const { newSubnet, newTag, transactionCount, watchWrites } = appliance;
let otherOrganization: { organizationId: string; networkId: string; userId: string };

beforeAll(async () => {
  await newSubnet({ cidr: "192.0.2.0/24" });
  otherOrganization = await newOrganization("Other");
});

function put(credential: JsonRecord, changes: JsonRecord = {}) {
  const body = Object.fromEntries(REQUIRED.map((field) => [field, credential[field]]));
  return owner.put(`credentials/${credential.id}`, { ...body, ...changes });
}

async function update(credential: JsonRecord, changes: JsonRecord = {}): Promise<JsonRecord> {
  const after = await expectSuccess(put(credential, changes));
  expect(problems(after, credentialShape)).toEqual([]);
  return after;
}

async function expectRefused(credential: JsonRecord, changes: JsonRecord, status: number, code: string) {
  const [before, stored] = [transactionCount(), await live("credentials", credential.id)];
  const response = await expectRefusal(put(credential, { name: "never", ...changes }), status, code);
  expect(transactionCount()).toBe(before);
  expect(await live("credentials", credential.id)).toEqual(stored);
  return response;
}

describe("the response", () => {
  test("has every field of table 2.2 with its type, and no other", async () => {
    const tag = await newTag();
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.1" }] });
    const credential = await newCredential();
    const changes = {
      name: "core switches",
      tags: [tag.id],
      assigned_network_ids: [first.networkId],
      credential_type: snmpV1("public-1"),
      host_assignments: [{ host_id: host.id, ip_address_ids: [host.ip_addresses[0].id] }],
      target_ips: ["192.0.2.1", "2001:db8::1"],
    };
    const after = await update(credential, changes);
    expect(after).toMatchObject({
      ...changes,
      credential_type: snmpV1(MASK),
      id: credential.id,
      organization_id: first.organizationId,
      created_at: credential.created_at,
    });
    expect(after.updated_at > credential.updated_at).toBe(true);
    expect(await live("credentials", credential.id)).toEqual(after);
  });

  test("has null and empty arrays for absent values", async () => {
    const after = await update(await newCredential(), { name: "bare" });
    expect(after).toMatchObject({
      target_ips: null,
      tags: [],
      assigned_network_ids: [],
      host_assignments: [],
      valid_to: null,
      lineage_id: null,
    });
  });
});

describe("the required fields", () => {
  test("are each required, and reported by name and all at once", async () => {
    const credential = await newCredential();
    const path = `credentials/${credential.id}`;
    for (const field of REQUIRED) {
      const { [field]: _, ...rest } = credentialBody();
      expect(await issuePaths(owner.put(path, rest))).toEqual([`/${field}`]);
    }
    expect(await issuePaths(owner.put(path, {}))).toEqual(REQUIRED.map((field) => `/${field}`).sort());
  });

  test("accept neither null nor another type", async () => {
    const credential = await newCredential();
    for (const field of REQUIRED)
      for (const value of [null, 5, true])
        expect(await issuePaths(put(credential, { [field]: value }))).toEqual([`/${field}`]);
    for (const field of ["assigned_network_ids", "tags"]) {
      expect(await issuePaths(put(credential, { [field]: "" }))).toEqual([`/${field}`]);
      expect(await issuePaths(put(credential, { [field]: ["x"] }))).toEqual([`/${field}/0`]);
    }
  });

  test("limit the name to 1 to 255 characters", async () => {
    const credential = await newCredential();
    for (const name of ["", "n".repeat(256)]) expect(await issuePaths(put(credential, { name }))).toEqual(["/name"]);
    expect((await update(credential, { name: "ü".repeat(255) })).name).toHaveLength(255);
  });

  test("include the caller's organization: another is 403", async () => {
    const credential = await newCredential();
    for (const organization_id of [otherOrganization.organizationId, UNKNOWN])
      await expectRefused(credential, { organization_id }, 403, "entity_access_denied");
  });
});

describe("target_ips", () => {
  test("are preserved when absent, replaced by an array, cleared by null", async () => {
    const credential = await newCredential({ target_ips: ["192.0.2.7"] });
    expect(credential.target_ips).toEqual(["192.0.2.7"]);
    expect((await update(credential)).target_ips).toEqual(["192.0.2.7"]);
    expect((await update(credential, { target_ips: ["2001:DB8::0:1"] })).target_ips).toEqual(["2001:db8::1"]);
    expect((await update(credential, { target_ips: [] })).target_ips).toEqual([]);
    expect((await update(credential, { target_ips: null })).target_ips).toBeNull();
  });

  test("are addresses", async () => {
    const credential = await newCredential();
    for (const value of ["router", "192.0.2.0/24", "010.0.0.1", "fe80::1%1", "", 5, null])
      expect(await issuePaths(put(credential, { target_ips: [value] }))).toEqual(["/target_ips/0"]);
    expect(await issuePaths(put(credential, { target_ips: "192.0.2.1" }))).toEqual(["/target_ips"]);
  });
});

describe("credential_type", () => {
  test("accepts every variant, and masks secrets in the response", async () => {
    const credential = await newCredential();
    const v3 = {
      type: "SnmpV3",
      security_name: "monitor",
      auth_protocol: "Sha256",
      auth_password: inline("auth-secret"),
      priv_protocol: "Aes128",
      priv_password: inline("priv-secret"),
      context_name: "ctx",
    };
    expect((await update(credential, { credential_type: snmpV1("one") })).credential_type).toEqual(snmpV1(MASK));
    expect((await update(credential, { credential_type: snmpV2c("two") })).credential_type).toEqual(snmpV2c(MASK));
    expect((await update(credential, { credential_type: v3 })).credential_type).toEqual({
      ...v3,
      auth_password: inline(MASK),
      priv_password: inline(MASK),
    });
    const withoutAuth = { type: "SnmpV3", security_name: "monitor", auth_protocol: "None", priv_protocol: "None" };
    expect((await update(credential, { credential_type: withoutAuth })).credential_type).toMatchObject(withoutAuth);
    const fileBased = { type: "SnmpV2c", community: { mode: "FilePath", path: "community.txt" } };
    expect((await update(credential, { credential_type: fileBased })).credential_type).toEqual(fileBased);
  });

  test("rejects anything but a variant, by name and without echoing a secret", async () => {
    const credential = await newCredential();
    const secret = "hunter2hunter2";
    const wrong = [
      {},
      [],
      { type: "SnmpV4", community: inline(secret) },
      { type: "snmpv1", community: inline(secret) },
      { community: inline(secret) },
      { type: "SnmpV1" },
      { type: "SnmpV1", community: secret },
      { type: "SnmpV1", community: { mode: "inline", value: secret } },
      { type: "SnmpV1", community: { value: secret } },
      { type: "SnmpV1", community: { mode: "Inline" } },
      { type: "SnmpV1", community: { mode: "Inline", value: [secret] } },
      { type: "SnmpV1", community: { mode: "Inline", value: { of: secret } } },
      { type: "SnmpV1", community: { mode: "Inline", value: 7_263_541 } },
      { type: "SnmpV1", community: { mode: "Inline", value: null } },
      { type: "SnmpV1", community: { mode: "Inline", value: secret, path: "x" } },
      { type: "SnmpV1", community: inline(secret), extra: 1 },
      { type: "SnmpV1", community: { mode: "FilePath" } },
      { type: "SnmpV1", community: { mode: "FilePath", value: secret } },
      { type: "SnmpV3", auth_protocol: "None", priv_protocol: "None" },
      {
        type: "SnmpV3",
        security_name: "m",
        auth_protocol: "Md4",
        priv_protocol: "None",
        auth_password: inline(secret),
      },
      {
        type: "SnmpV3",
        security_name: "m",
        auth_protocol: "Md5",
        priv_protocol: "aes",
        auth_password: inline(secret),
        priv_password: inline(secret),
      },
    ];
    for (const credential_type of wrong) {
      const { body, text } = await expectRefused(credential, { credential_type }, 400, "validation_failed");
      expect(body.params.issues.every(({ path }: JsonRecord) => path.startsWith("/credential_type"))).toBe(true);
      const isEchoed = text.includes(secret) || text.includes("7263541");
      expect([credential_type, isEchoed]).toEqual([credential_type, false]);
    }
  });

  test("is not echoed when something else is invalid", async () => {
    const credential = await newCredential();
    const changes = { credential_type: snmpV1("hunter2hunter2"), tags: ["x"], name: 5 };
    const response = await expectRefused(credential, changes, 400, "validation_failed");
    expect(response.text).not.toContain("hunter2");
  });

  test("never appears in responses, lists or the past", async () => {
    const secret = "Xy7-plaintext-Zq9";
    const credential = await newCredential({ credential_type: snmpV1(secret) });
    await update(credential, {
      credential_type: {
        type: "SnmpV3",
        security_name: "m",
        auth_protocol: "Sha1",
        auth_password: inline(`${secret}a`),
        priv_protocol: "Aes256",
        priv_password: inline(`${secret}p`),
      },
    });
    for (const path of [
      `/${credential.id}`,
      `/${credential.id}?at=${credential.valid_from}`,
      "",
      "?limit=0",
      `?at=${credential.valid_from}`,
    ])
      expect((await owner.get(`credentials${path}`)).text).not.toContain(secret);
  });
});

describe("assigned_network_ids", () => {
  test("are replaced by the list, without duplicates", async () => {
    const network = await newNetwork();
    const credential = await newCredential({ assigned_network_ids: [first.networkId] });
    expect(
      (await update(credential, { assigned_network_ids: [network.id, network.id.toUpperCase()] })).assigned_network_ids,
    ).toEqual([network.id]);
    expect((await update(credential, { assigned_network_ids: [] })).assigned_network_ids).toEqual([]);
  });

  test("are refused alike with 400 if unknown or foreign", async () => {
    const credential = await newCredential();
    for (const id of [UNKNOWN, otherOrganization.networkId, credential.id]) {
      const { body } = await expectRefused(credential, { assigned_network_ids: [id] }, 400, "entity_reference_invalid");
      expect(body.params.ids).toEqual([id]);
    }
  });
});

describe("host_assignments", () => {
  test("are replaced by the list; without ip_address_ids an assignment covers every address", async () => {
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.11" }] });
    const credential = await newCredential();
    const scoped = { host_id: host.id, ip_address_ids: [host.ip_addresses[0].id] };
    expect((await update(credential, { host_assignments: [{ host_id: host.id }] })).host_assignments).toEqual([
      { host_id: host.id },
    ]);
    expect((await update(credential, { host_assignments: [scoped] })).host_assignments).toEqual([scoped]);
    expect((await live("hosts", host.id)).credential_assignments).toEqual([
      { credential_id: credential.id, ip_address_ids: scoped.ip_address_ids },
    ]);
    expect((await update(credential, { host_assignments: [] })).host_assignments).toEqual([]);
    expect((await live("hosts", host.id)).credential_assignments).toEqual([]);
  });
});

describe("read-only content", () => {
  test("may be sent back completely: GET, then PUT, changes nothing", async () => {
    const host = await newHost();
    const credential = await newCredential({
      assigned_network_ids: [first.networkId],
      host_assignments: [{ host_id: host.id }],
      target_ips: ["192.0.2.3"],
    });
    const expectNothingWritten = watchWrites();
    expect(await expectSuccess(put(credential, credential))).toEqual(credential);
    expect(
      await update(credential, {
        created_at: "2001-01-01T00:00:00Z",
        updated_at: "x",
        secrets_updated_at: null,
        valid_to: "never",
        lineage_id: 5,
      }),
    ).toEqual(credential);
    expectNothingWritten();
  });
});
