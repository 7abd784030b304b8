// Contract of PUT /api/v1/credentials/{id} (handbook: records, "Credential types"): the answer, the body, secrets,
// assignments, rights.

import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { inline, snmpV1, snmpV2c, type Wire } from "../support/appliance/factories.ts";
import { credentialShape, issuePaths, problems, refused, succeeded } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const REQUIRED = ["assigned_network_ids", "credential_type", "host_assignments", "name", "organization_id", "tags"];
const MASK = "********";

const appliance = applianceForAll();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { credentialBody, live, newApiKey, newCredential, newHost, newNetwork, newOrganization } = appliance;
const { newSubnet, newTag, newUser, tick, transactionCount, writingWatched, versionsOf } = appliance;
let other: { organizationId: string; networkId: string; userId: string };
let foreign: { credential: Wire; tag: Wire; host: Wire };

beforeAll(async () => {
  await newSubnet({ cidr: "192.0.2.0/24" });
  other = await newOrganization("Other");
  const theirs = await signedIn(other.userId);
  foreign = {
    credential: await newCredential({ organization_id: other.organizationId }, theirs),
    tag: await newTag({}, theirs),
    host: await newHost({ network_id: other.networkId }, theirs),
  };
});

function put(credential: Wire, changes: Wire = {}, by = owner) {
  const body = Object.fromEntries(REQUIRED.map((field) => [field, credential[field]]));
  return by.put(`credentials/${credential.id}`, { ...body, ...changes });
}

async function update(credential: Wire, changes: Wire = {}): Promise<Wire> {
  const after = await succeeded(put(credential, changes));
  expect(problems(after, credentialShape)).toEqual([]);
  return after;
}

async function refusedWhole(credential: Wire, changes: Wire, status: number, code: string) {
  const [before, stored] = [transactionCount(), await live("credentials", credential.id)];
  const answer = await refused(put(credential, { name: "never", ...changes }), status, code);
  expect(transactionCount()).toBe(before);
  expect(await live("credentials", credential.id)).toEqual(stored);
  return answer;
}

describe("the answer", () => {
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

  test("is the same to an API key", async () => {
    const credential = await newCredential();
    const { client } = newApiKey({ permissions: "Admin" });
    expect((await succeeded(put(credential, { name: "by key" }, client))).name).toBe("by key");
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
    for (const organization_id of [other.organizationId, UNKNOWN])
      await refusedWhole(credential, { organization_id }, 403, "entity_access_denied");
  });
});

describe("target_ips", () => {
  test("are preserved when absent, replaced by an array, cleared by null", async () => {
    const credential = await newCredential({ target_ips: ["192.0.2.7"] });
    expect(credential.target_ips).toEqual(["192.0.2.7"]);
    expect((await update(credential)).target_ips).toEqual(["192.0.2.7"]);
    expect((await update(credential, { target_ips: ["2001:DB8::0:1"] })).target_ips).toEqual(["2001:db8::1"]);
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
  test("accepts every variant, and masks secrets in the answer", async () => {
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
    const open = { type: "SnmpV3", security_name: "monitor", auth_protocol: "None", priv_protocol: "None" };
    expect((await update(credential, { credential_type: open })).credential_type).toMatchObject(open);
    const filed = { type: "SnmpV2c", community: { mode: "FilePath", path: "community.txt" } };
    expect((await update(credential, { credential_type: filed })).credential_type).toEqual(filed);
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
      const { body, text } = await refusedWhole(credential, { credential_type }, 400, "validation_failed");
      expect(body.params.issues.every(({ path }: Wire) => path.startsWith("/credential_type"))).toBe(true);
      const isEchoed = text.includes(secret) || text.includes("7263541");
      expect([credential_type, isEchoed]).toEqual([credential_type, false]);
    }
  });

  test("is not echoed when something else is invalid", async () => {
    const credential = await newCredential();
    const changes = { credential_type: snmpV1("hunter2hunter2"), tags: ["x"], name: 5 };
    const answer = await refusedWhole(credential, changes, 400, "validation_failed");
    expect(answer.text).not.toContain("hunter2");
  });

  test("sent back with the mask keeps the stored secret, without a version", async () => {
    const credential = await newCredential();
    const expectNothingWritten = writingWatched();
    tick();
    expect(await update(credential)).toEqual(credential);
    expectNothingWritten();
    const renamed = await update(credential, { name: "renamed" });
    expect(renamed.secrets_updated_at).toBe(credential.secrets_updated_at);
  });

  test("with a changed secret is a version, and secrets_updated_at moves", async () => {
    const credential = await newCredential();
    tick();
    const after = await update(credential, { credential_type: snmpV2c("another community") });
    expect(versionsOf(credential.id)).toHaveLength(2);
    expect(after.secrets_updated_at > credential.secrets_updated_at).toBe(true);
    expect(after.secrets_updated_at).toBe(after.updated_at);
  });

  test("with the stored secret also makes a version, so that a correct guess is not revealed", async () => {
    const credential = await newCredential({ credential_type: snmpV2c("just the same") });
    tick();
    const after = await update(credential, { credential_type: snmpV2c("just the same") });
    expect(versionsOf(credential.id)).toHaveLength(2);
    expect(after.secrets_updated_at).toBe(after.updated_at);
  });

  test("with a mask where nothing is stored is refused: the mask never becomes the secret", async () => {
    expect((await owner.post("credentials", { ...credentialBody(), credential_type: snmpV2c(MASK) })).status).toBe(400);
    const filed = await newCredential({
      credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path: "c.txt" } },
    });
    expect((await put(filed, { credential_type: snmpV2c(MASK) })).status).toBe(400);
    const v3 = {
      type: "SnmpV3",
      security_name: "m",
      auth_protocol: "Sha1",
      auth_password: inline(MASK),
      priv_protocol: "None",
    };
    const credential = await newCredential();
    expect((await put(credential, { credential_type: { ...v3, auth_password: inline(MASK) } })).status).toBe(400);
  });

  test("never appears in the clear: not in answers, lists, history, log or database files", async () => {
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
    expect(appliance.logLines.join("\n")).not.toContain(secret);
    for (const suffix of ["", "-wal"]) {
      const file = appliance.databasePath + suffix;
      if (existsSync(file)) expect(readFileSync(file).includes(secret)).toBe(false);
    }
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

  test("that are unknown or foreign are 400 alike", async () => {
    const credential = await newCredential();
    for (const id of [UNKNOWN, other.networkId, credential.id]) {
      const { body } = await refusedWhole(credential, { assigned_network_ids: [id] }, 400, "entity_reference_invalid");
      expect(body.params.ids).toEqual([id]);
    }
  });

  test("appear as the networks' read-only credential_ids", async () => {
    const network = await newNetwork();
    const credential = await newCredential();
    await update(credential, { assigned_network_ids: [network.id] });
    expect((await live("networks", network.id)).credential_ids).toEqual([credential.id]);
    await update(credential, { assigned_network_ids: [] });
    expect((await live("networks", network.id)).credential_ids).toEqual([]);
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

  test("change the host's representation, hence its ETag, and its past keeps them", async () => {
    const host = await newHost();
    const credential = await newCredential();
    tick();
    const before = await owner.get(`hosts/${host.id}`);
    const at = clock.text();
    tick();
    await update(credential, { host_assignments: [{ host_id: host.id }] });
    const after = await owner.get(`hosts/${host.id}`);
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    expect(after.data.updated_at > before.data.updated_at).toBe(true);
    expect((await succeeded(owner.get(`hosts/${host.id}?at=${at}`))).credential_assignments).toEqual([]);
    tick();
    expect((await succeeded(owner.get(`hosts/${host.id}?at=${after.data.updated_at}`))).credential_assignments).toEqual(
      [{ credential_id: credential.id }],
    );
  });

  test("to an unknown or foreign host, or to another host's address, are 400", async () => {
    const credential = await newCredential();
    const [host, neighbour] = [await newHost(), await newHost({ ip_addresses: [{ ip_address: "192.0.2.12" }] })];
    for (const host_id of [UNKNOWN, foreign.host.id, credential.id])
      await refusedWhole(credential, { host_assignments: [{ host_id }] }, 400, "entity_reference_invalid");
    for (const id of [UNKNOWN, neighbour.ip_addresses[0].id]) {
      const host_assignments = [{ host_id: host.id, ip_address_ids: [id] }];
      await refusedWhole(credential, { host_assignments }, 400, "entity_reference_invalid");
    }
  });

  test("in a wrong shape are reported by name", async () => {
    const credential = await newCredential();
    expect(await issuePaths(put(credential, { host_assignments: {} }))).toEqual(["/host_assignments"]);
    expect(await issuePaths(put(credential, { host_assignments: [UNKNOWN] }))).toEqual(["/host_assignments/0"]);
    expect(await issuePaths(put(credential, { host_assignments: [{}] }))).toEqual(["/host_assignments/0/host_id"]);
    expect(
      await issuePaths(put(credential, { host_assignments: [{ host_id: UNKNOWN, ip_address_ids: [5] }] })),
    ).toEqual(["/host_assignments/0/ip_address_ids/0"]);
    expect(await issuePaths(put(credential, { host_assignments: [{ host_id: UNKNOWN, ipaddressids: [] }] }))).toEqual([
      "/host_assignments/0/ipaddressids",
    ]);
  });

  test("with an empty list of addresses do not become an assignment to all", async () => {
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.13" }] });
    const credential = await newCredential();
    const answer = await put(credential, { host_assignments: [{ host_id: host.id, ip_address_ids: [] }] });
    if (answer.status === 200) expect(answer.data.host_assignments).not.toEqual([{ host_id: host.id }]);
    else expect(answer.status).toBe(400);
  });
});

describe("tags", () => {
  test("are validated as for a host: duplicates removed, unknown and foreign 400", async () => {
    const tag = await newTag();
    const credential = await newCredential();
    expect((await update(credential, { tags: [tag.id, tag.id] })).tags).toEqual([tag.id]);
    for (const id of [UNKNOWN, foreign.tag.id])
      await refusedWhole(credential, { tags: [id] }, 400, "entity_reference_invalid");
  });
});

describe("read-only content", () => {
  test("may be sent back whole: GET, then PUT, changes nothing", async () => {
    const host = await newHost();
    const credential = await newCredential({
      assigned_network_ids: [first.networkId],
      host_assignments: [{ host_id: host.id }],
      target_ips: ["192.0.2.3"],
    });
    const expectNothingWritten = writingWatched();
    expect(await succeeded(put(credential, credential))).toEqual(credential);
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

  test("includes the id, which must match the path; unknown fields are refused by name", async () => {
    const credential = await newCredential();
    await refusedWhole(credential, { id: UNKNOWN }, 400, "validation_id_mismatch");
    expect(await issuePaths(put(credential, { nmae: "typo" }))).toEqual(["/nmae"]);
  });
});

describe("access", () => {
  test("is refused to Members and Viewers, and granted to an Admin", async () => {
    const credential = await newCredential();
    for (const role of ["Viewer", "Member"] as const) {
      const { client } = await newUser({ role, networkIds: [first.networkId] });
      const { body } = await refused(put(credential, { name: "no" }, client), 403, "auth_permission_denied");
      expect(JSON.stringify(body.params)).toContain("Admin");
    }
    const admin = await newUser({ role: "Admin" });
    expect((await succeeded(put(credential, { name: "yes" }, admin.client))).name).toBe("yes");
    await refused(put(credential, {}, newApiKey({ permissions: "Member" }).client), 403, "auth_permission_denied");
  });

  test("to an unknown, deleted or foreign credential is 404 alike; without credentials 401", async () => {
    const gone = await newCredential();
    await succeeded(owner.delete(`credentials/${gone.id}`));
    for (const id of [UNKNOWN, gone.id, foreign.credential.id]) {
      const { body } = await refused(owner.put(`credentials/${id}`, credentialBody()), 404, "entity_not_found");
      expect(body.params.id).toBe(id);
    }
    const answer = await refused(put(gone, {}, anonymous), 401, "auth_not_authenticated");
    expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
  });
});
