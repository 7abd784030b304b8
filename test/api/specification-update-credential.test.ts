// Specification 4.1, PUT /api/v1/credentials/{id}: the answer, the body, secrets, assignments, who may.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import {
  credentialBody,
  newApiKey,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newTag,
  newUser,
  transactionCount,
  versionsOf,
  type Wire,
} from "../support/factories.ts";
import { live } from "../support/inventory.ts";
import { credentialShape, offenders, problems, refused, succeeded } from "../support/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const REQUIRED = ["assigned_network_ids", "credential_type", "host_assignments", "name", "organization_id", "tags"];
const MASK = "********";

let appliance: TestAppliance;
let other: { organizationId: string; networkId: string; userId: string };
let foreign: { credential: Wire; tag: Wire; host: Wire };

beforeAll(async () => {
  appliance = await newAppliance();
  await newSubnet(appliance, { cidr: "192.0.2.0/24" });
  other = await appliance.newOrganization("Other");
  const theirs = await appliance.signedIn(other.userId);
  foreign = {
    credential: await newCredential(appliance, { organization_id: other.organizationId }, theirs),
    tag: await newTag(appliance, {}, theirs),
    host: await newHost(appliance, { network_id: other.networkId }, theirs),
  };
});
afterAll(() => appliance.close());

function inline(value: string): Wire {
  return { mode: "Inline", value };
}

function put(credential: Wire, changes: Wire = {}, by = appliance.owner) {
  const body = Object.fromEntries(REQUIRED.map((field) => [field, credential[field]]));
  return by.put(`/api/v1/credentials/${credential["id"]}`, { ...body, ...changes });
}

async function update(credential: Wire, changes: Wire = {}): Promise<Wire> {
  const after = await succeeded(put(credential, changes));
  expect(problems(after, credentialShape)).toEqual([]);
  return after;
}

async function refusedWhole(credential: Wire, changes: Wire, status: number, code: string) {
  const [before, stored] = [transactionCount(appliance), await live(appliance, "credentials", credential["id"])];
  const answer = await refused(put(credential, { name: "never", ...changes }), status, code);
  expect(transactionCount(appliance)).toBe(before);
  expect(await live(appliance, "credentials", credential["id"])).toEqual(stored);
  return answer;
}

describe("the answer", () => {
  test("has every field of table 2.2 with its type, and no other", async () => {
    const tag = await newTag(appliance);
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.1" }] });
    const credential = await newCredential(appliance);
    const changes = {
      name: "core switches",
      tags: [tag["id"]],
      assigned_network_ids: [appliance.first.networkId],
      credential_type: { type: "SnmpV1", community: inline("public-1") },
      host_assignments: [{ host_id: host["id"], ip_address_ids: [host["ip_addresses"][0].id] }],
      target_ips: ["192.0.2.1", "2001:db8::1"],
    };
    const after = await update(credential, changes);
    expect(after).toMatchObject({
      ...changes,
      credential_type: { type: "SnmpV1", community: inline(MASK) },
      id: credential["id"],
      organization_id: appliance.first.organizationId,
      created_at: credential["created_at"],
    });
    expect(after["updated_at"] > credential["updated_at"]).toBe(true);
    expect(await live(appliance, "credentials", credential["id"])).toEqual(after);
  });

  test("has null and empty arrays where there is nothing", async () => {
    const after = await update(await newCredential(appliance), { name: "bare" });
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
    const credential = await newCredential(appliance);
    const { client } = newApiKey(appliance, { permissions: "Admin" });
    expect((await succeeded(put(credential, { name: "by key" }, client))).name).toBe("by key");
  });
});

describe("the required fields", () => {
  test("are each demanded by name, and all at once", async () => {
    const credential = await newCredential(appliance);
    const path = `/api/v1/credentials/${credential["id"]}`;
    for (const field of REQUIRED) {
      const { [field]: _, ...rest } = credentialBody(appliance);
      expect(await offenders(appliance.owner.put(path, rest))).toEqual([`/${field}`]);
    }
    expect(await offenders(appliance.owner.put(path, {}))).toEqual(REQUIRED.map((field) => `/${field}`).sort());
  });

  test("are neither null nor of another type", async () => {
    const credential = await newCredential(appliance);
    for (const field of REQUIRED)
      for (const value of [null, 5, true])
        expect(await offenders(put(credential, { [field]: value }))).toEqual([`/${field}`]);
    for (const field of ["assigned_network_ids", "tags"]) {
      expect(await offenders(put(credential, { [field]: "" }))).toEqual([`/${field}`]);
      expect(await offenders(put(credential, { [field]: ["x"] }))).toEqual([`/${field}/0`]);
    }
  });

  test("keep the name to 1 to 255 characters", async () => {
    const credential = await newCredential(appliance);
    for (const name of ["", "n".repeat(256)]) expect(await offenders(put(credential, { name }))).toEqual(["/name"]);
    expect((await update(credential, { name: "ü".repeat(255) }))["name"]).toHaveLength(255);
  });

  test("name the caller's organization: another is 403", async () => {
    const credential = await newCredential(appliance);
    for (const organization_id of [other.organizationId, UNKNOWN])
      await refusedWhole(credential, { organization_id }, 403, "entity_access_denied");
  });
});

describe("target_ips", () => {
  test("are kept when absent, replaced by an array, cleared by null", async () => {
    const credential = await newCredential(appliance, { target_ips: ["192.0.2.7"] });
    expect(credential["target_ips"]).toEqual(["192.0.2.7"]);
    expect((await update(credential))["target_ips"]).toEqual(["192.0.2.7"]);
    expect((await update(credential, { target_ips: ["2001:DB8::0:1"] }))["target_ips"]).toEqual(["2001:db8::1"]);
    expect((await update(credential, { target_ips: null }))["target_ips"]).toBeNull();
  });

  test("are addresses", async () => {
    const credential = await newCredential(appliance);
    for (const value of ["router", "192.0.2.0/24", "010.0.0.1", "fe80::1%1", "", 5, null])
      expect(await offenders(put(credential, { target_ips: [value] }))).toEqual(["/target_ips/0"]);
    expect(await offenders(put(credential, { target_ips: "192.0.2.1" }))).toEqual(["/target_ips"]);
  });
});

describe("credential_type", () => {
  test("takes every variant, and answers secrets as a mask", async () => {
    const credential = await newCredential(appliance);
    const v3 = {
      type: "SnmpV3",
      security_name: "monitor",
      auth_protocol: "Sha256",
      auth_password: inline("auth-secret"),
      priv_protocol: "Aes128",
      priv_password: inline("priv-secret"),
      context_name: "ctx",
    };
    expect(
      (await update(credential, { credential_type: { type: "SnmpV1", community: inline("one") } }))["credential_type"],
    ).toEqual({ type: "SnmpV1", community: inline(MASK) });
    expect(
      (await update(credential, { credential_type: { type: "SnmpV2c", community: inline("two") } }))["credential_type"],
    ).toEqual({ type: "SnmpV2c", community: inline(MASK) });
    expect((await update(credential, { credential_type: v3 }))["credential_type"]).toEqual({
      ...v3,
      auth_password: inline(MASK),
      priv_password: inline(MASK),
    });
    const open = { type: "SnmpV3", security_name: "monitor", auth_protocol: "None", priv_protocol: "None" };
    expect((await update(credential, { credential_type: open }))["credential_type"]).toMatchObject(open);
    const filed = { type: "SnmpV2c", community: { mode: "FilePath", path: "community.txt" } };
    expect((await update(credential, { credential_type: filed }))["credential_type"]).toEqual(filed);
  });

  test("refuses what is no variant, by name and without echoing a secret", async () => {
    const credential = await newCredential(appliance);
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
      const answer = await refusedWhole(credential, { credential_type }, 400, "validation_failed");
      expect(
        answer.body.params.issues.every((issue: { path: string }) => issue.path.startsWith("/credential_type")),
      ).toBe(true);
      expect([credential_type, answer.text.includes(secret) || answer.text.includes("7263541")]).toEqual([
        credential_type,
        false,
      ]);
    }
  });

  test("is not echoed either when something else is wrong", async () => {
    const credential = await newCredential(appliance);
    const answer = await refusedWhole(
      credential,
      { credential_type: { type: "SnmpV1", community: inline("hunter2hunter2") }, tags: ["x"], name: 5 },
      400,
      "validation_failed",
    );
    expect(answer.text).not.toContain("hunter2");
  });

  test("sent back with the mask keeps the stored secret: no version", async () => {
    const credential = await newCredential(appliance);
    const before = transactionCount(appliance);
    appliance.clock.advance(1_000);
    expect(await update(credential)).toEqual(credential);
    expect(transactionCount(appliance)).toBe(before);
    const renamed = await update(credential, { name: "renamed" });
    expect(renamed["secrets_updated_at"]).toBe(credential["secrets_updated_at"]);
  });

  test("with a changed secret is a version, and secrets_updated_at moves", async () => {
    const credential = await newCredential(appliance);
    appliance.clock.advance(1_000);
    const after = await update(credential, {
      credential_type: { type: "SnmpV2c", community: inline("another community") },
    });
    expect(versionsOf(appliance, credential["id"])).toHaveLength(2);
    expect(after["secrets_updated_at"] > credential["secrets_updated_at"]).toBe(true);
    expect(after["secrets_updated_at"]).toBe(after["updated_at"]);
  });

  test("with the secret that is stored already is none", async () => {
    const credential = await newCredential(appliance, {
      credential_type: { type: "SnmpV2c", community: inline("just the same") },
    });
    const before = transactionCount(appliance);
    expect(
      await update(credential, { credential_type: { type: "SnmpV2c", community: inline("just the same") } }),
    ).toEqual(credential);
    expect(transactionCount(appliance)).toBe(before);
  });

  test("with a mask where nothing is stored is refused: the mask never becomes the secret", async () => {
    expect(
      (
        await appliance.owner.post("/api/v1/credentials", {
          ...credentialBody(appliance),
          credential_type: { type: "SnmpV2c", community: inline(MASK) },
        })
      ).status,
    ).toBe(400);
    const filed = await newCredential(appliance, {
      credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path: "c.txt" } },
    });
    expect((await put(filed, { credential_type: { type: "SnmpV2c", community: inline(MASK) } })).status).toBe(400);
    const v3 = {
      type: "SnmpV3",
      security_name: "m",
      auth_protocol: "Sha1",
      auth_password: inline(MASK),
      priv_protocol: "None",
    };
    const credential = await newCredential(appliance);
    expect((await put(credential, { credential_type: v3 })).status).toBe(400);
  });

  test("is nowhere in the clear: not in answers, lists, history, the log or the database's files", async () => {
    const secret = "Xy7-plaintext-Zq9";
    const credential = await newCredential(appliance, {
      credential_type: { type: "SnmpV1", community: inline(secret) },
    });
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
      `/${credential["id"]}`,
      `/${credential["id"]}?at=${credential["valid_from"]}`,
      "",
      "?limit=0",
      `?at=${credential["valid_from"]}`,
    ])
      expect((await appliance.owner.get(`/api/v1/credentials${path}`)).text).not.toContain(secret);
    expect(appliance.logLines.join("\n")).not.toContain(secret);
    for (const suffix of ["", "-wal"]) {
      const file = appliance.databasePath + suffix;
      if (existsSync(file)) expect(readFileSync(file).includes(secret)).toBe(false);
    }
  });
});

describe("assigned_network_ids", () => {
  test("are replaced by the list, duplicates once", async () => {
    const network = await newNetwork(appliance);
    const credential = await newCredential(appliance, { assigned_network_ids: [appliance.first.networkId] });
    expect(
      (await update(credential, { assigned_network_ids: [network["id"], network["id"].toUpperCase()] }))[
        "assigned_network_ids"
      ],
    ).toEqual([network["id"]]);
    expect((await update(credential, { assigned_network_ids: [] }))["assigned_network_ids"]).toEqual([]);
  });

  test("that are unknown or foreign are 400, alike", async () => {
    const credential = await newCredential(appliance);
    for (const id of [UNKNOWN, other.networkId, credential["id"]]) {
      const { body } = await refusedWhole(credential, { assigned_network_ids: [id] }, 400, "entity_reference_invalid");
      expect(body.params.ids).toEqual([id]);
    }
  });

  test("are the networks' read-only credential_ids, seen from the credential", async () => {
    const network = await newNetwork(appliance);
    const credential = await newCredential(appliance);
    await update(credential, { assigned_network_ids: [network["id"]] });
    expect((await live(appliance, "networks", network["id"]))["credential_ids"]).toEqual([credential["id"]]);
    await update(credential, { assigned_network_ids: [] });
    expect((await live(appliance, "networks", network["id"]))["credential_ids"]).toEqual([]);
  });
});

describe("host_assignments", () => {
  test("are replaced by the list; without ip_address_ids one is for every address", async () => {
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.11" }] });
    const credential = await newCredential(appliance);
    const scoped = { host_id: host["id"], ip_address_ids: [host["ip_addresses"][0].id] };
    expect((await update(credential, { host_assignments: [{ host_id: host["id"] }] }))["host_assignments"]).toEqual([
      { host_id: host["id"] },
    ]);
    expect((await update(credential, { host_assignments: [scoped] }))["host_assignments"]).toEqual([scoped]);
    expect((await live(appliance, "hosts", host["id"]))["credential_assignments"]).toEqual([
      { credential_id: credential["id"], ip_address_ids: scoped.ip_address_ids },
    ]);
    expect((await update(credential, { host_assignments: [] }))["host_assignments"]).toEqual([]);
    expect((await live(appliance, "hosts", host["id"]))["credential_assignments"]).toEqual([]);
  });

  test("change what the host shows, so its ETag changes, and its past keeps them", async () => {
    const host = await newHost(appliance);
    const credential = await newCredential(appliance);
    appliance.clock.advance(1_000);
    const before = await appliance.owner.get(`/api/v1/hosts/${host["id"]}`);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await update(credential, { host_assignments: [{ host_id: host["id"] }] });
    const after = await appliance.owner.get(`/api/v1/hosts/${host["id"]}`);
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    expect(after.data.updated_at > before.data.updated_at).toBe(true);
    expect(
      (await succeeded(appliance.owner.get(`/api/v1/hosts/${host["id"]}?at=${at}`))).credential_assignments,
    ).toEqual([]);
    appliance.clock.advance(1_000);
    expect(
      (await succeeded(appliance.owner.get(`/api/v1/hosts/${host["id"]}?at=${after.data.updated_at}`)))
        .credential_assignments,
    ).toEqual([{ credential_id: credential["id"] }]);
  });

  test("to an unknown or foreign host, or an address that is not the host's, are 400", async () => {
    const credential = await newCredential(appliance);
    const [host, neighbour] = [
      await newHost(appliance),
      await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.12" }] }),
    ];
    for (const host_id of [UNKNOWN, foreign.host["id"], credential["id"]])
      await refusedWhole(credential, { host_assignments: [{ host_id }] }, 400, "entity_reference_invalid");
    for (const id of [UNKNOWN, neighbour["ip_addresses"][0].id])
      await refusedWhole(
        credential,
        { host_assignments: [{ host_id: host["id"], ip_address_ids: [id] }] },
        400,
        "entity_reference_invalid",
      );
  });

  test("of a wrong shape are refused by name", async () => {
    const credential = await newCredential(appliance);
    expect(await offenders(put(credential, { host_assignments: {} }))).toEqual(["/host_assignments"]);
    expect(await offenders(put(credential, { host_assignments: [UNKNOWN] }))).toEqual(["/host_assignments/0"]);
    expect(await offenders(put(credential, { host_assignments: [{}] }))).toEqual(["/host_assignments/0/host_id"]);
    expect(await offenders(put(credential, { host_assignments: [{ host_id: UNKNOWN, ip_address_ids: [5] }] }))).toEqual(
      ["/host_assignments/0/ip_address_ids/0"],
    );
    expect(await offenders(put(credential, { host_assignments: [{ host_id: UNKNOWN, ipaddressids: [] }] }))).toEqual([
      "/host_assignments/0/ipaddressids",
    ]);
  });

  test("with an empty list of addresses do not become one for all addresses", async () => {
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.13" }] });
    const credential = await newCredential(appliance);
    const answer = await put(credential, { host_assignments: [{ host_id: host["id"], ip_address_ids: [] }] });
    if (answer.status === 200) expect(answer.data.host_assignments).not.toEqual([{ host_id: host["id"] }]);
    else expect(answer.status).toBe(400);
  });
});

describe("tags", () => {
  test("are validated as a host's: duplicates once, unknown and foreign 400", async () => {
    const tag = await newTag(appliance);
    const credential = await newCredential(appliance);
    expect((await update(credential, { tags: [tag["id"], tag["id"]] }))["tags"]).toEqual([tag["id"]]);
    for (const id of [UNKNOWN, foreign.tag["id"]])
      await refusedWhole(credential, { tags: [id] }, 400, "entity_reference_invalid");
  });
});

describe("what is read-only", () => {
  test("may be sent back whole: GET, PUT, nothing changes", async () => {
    const host = await newHost(appliance);
    const credential = await newCredential(appliance, {
      assigned_network_ids: [appliance.first.networkId],
      host_assignments: [{ host_id: host["id"] }],
      target_ips: ["192.0.2.3"],
    });
    const before = transactionCount(appliance);
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
    expect(transactionCount(appliance)).toBe(before);
  });

  test("includes the id, which must be the path's; what the record does not have is refused by name", async () => {
    const credential = await newCredential(appliance);
    await refusedWhole(credential, { id: UNKNOWN }, 400, "validation_id_mismatch");
    expect(await offenders(put(credential, { nmae: "typo" }))).toEqual(["/nmae"]);
  });
});

describe("who may", () => {
  test("Members and Viewers may not, an Admin may", async () => {
    const credential = await newCredential(appliance);
    for (const role of ["Viewer", "Member"] as const) {
      const { client } = await newUser(appliance, { role, networkIds: [appliance.first.networkId] });
      const { body } = await refused(put(credential, { name: "no" }, client), 403, "auth_permission_denied");
      expect(JSON.stringify(body.params)).toContain("Admin");
    }
    const admin = await newUser(appliance, { role: "Admin" });
    expect((await succeeded(put(credential, { name: "yes" }, admin.client))).name).toBe("yes");
    await refused(
      put(credential, {}, newApiKey(appliance, { permissions: "Member" }).client),
      403,
      "auth_permission_denied",
    );
  });

  test("an unknown, deleted or foreign credential is 404, alike; without credentials 401", async () => {
    const gone = await newCredential(appliance);
    await succeeded(appliance.owner.delete(`/api/v1/credentials/${gone["id"]}`));
    for (const id of [UNKNOWN, gone["id"], foreign.credential["id"]]) {
      const { body } = await refused(
        appliance.owner.put(`/api/v1/credentials/${id}`, credentialBody(appliance)),
        404,
        "entity_not_found",
      );
      expect(body.params.id).toBe(id);
    }
    const answer = await refused(put(gone, {}, appliance.anonymous), 401, "auth_not_authenticated");
    expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
  });
});
