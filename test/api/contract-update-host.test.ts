// Contract of PUT /api/v1/hosts/{id} (handbook: records, "A host and its children"): the answer, the host's own fields,
// tags, optimistic locking, rights. The sync rule of children has a separate file.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { tcp, type Wire } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { hostShape, issuePaths, problems, refused, succeeded } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { anonymous, first, owner } = appliance;
const { live, newApiKey, newCredential, newHost, newIfEntry, newNetwork, newSubnet, newTag } = appliance;
const { newUser, tick, writingWatched, versionsOf, newMember, newStranger } = appliance;
let foreignTag: Wire;
let foreignHost: Wire;

beforeAll(async () => {
  await newSubnet({ cidr: "192.0.2.0/24" });
  const { client: theirs, ...other } = await newStranger("Other");
  foreignTag = await newTag({ name: "theirs" }, theirs);
  foreignHost = await newHost({ name: "theirs", network_id: other.networkId }, theirs);
});

function put(host: Wire, body: unknown, by = owner, headers: Record<string, string> = {}) {
  return by.put(`hosts/${host.id}`, body, headers);
}

function update(host: Wire, changes: Wire = {}): Promise<Wire> {
  return succeeded(put(host, hostBody(host, changes)));
}

/** Asserts that a PUT is refused with these issues and writes nothing. */
async function refusedFields(host: Wire, body: unknown, paths: string[]): Promise<void> {
  const expectNothingWritten = writingWatched();
  expect(await issuePaths(put(host, body))).toEqual(paths);
  expectNothingWritten();
}

describe("the answer", () => {
  test("has every field of tables 2.3 to 2.7 with its type, and no other", async () => {
    const tag = await newTag();
    const credential = await newCredential();
    const host = await newHost({
      description: "core",
      hostname: "core.example",
      tags: [tag.id],
      virtualization: { type: "Proxmox", details: { vm_name: "core", vm_id: "100" } },
      credential_assignments: [{ credential_id: credential.id }],
      ip_addresses: [{ ip_address: "192.0.2.1", mac_address: "00:00:5e:00:53:01", name: "first", position: 3 }],
      ports: [tcp(80)],
    });
    await newIfEntry(host.id, {
      if_name: "eth0",
      if_alias: "uplink",
      speed_bps: 1_000_000_000,
      mac_address: "00:00:5e:00:53:01",
      cdp_device_id: "switch",
      lldp_sys_name: "switch",
    });
    await newIfEntry(host.id);
    const port = host.ports[0].id;
    const address = host.ip_addresses[0].id;
    const bindings = [
      { type: "Port", port_id: port, ip_address_id: null },
      { type: "Port", port_id: port, ip_address_id: address },
      { type: "IpAddress", ip_address_id: address },
    ];
    const after = await update(host, {
      services: [
        {
          name: "web",
          service_definition: "Nginx",
          bindings,
          tags: [tag.id],
          virtualization: { type: "Docker", details: { container_name: "web" } },
        },
      ],
    });
    expect(problems(after, hostShape)).toEqual([]);
    expect(after.interfaces).toHaveLength(2);
    expect(after.ip_addresses).toHaveLength(1);
    expect(after.ports).toHaveLength(1);
    expect(after.services).toHaveLength(1);
    expect(after.services[0].bindings).toHaveLength(3);
    expect(after.credential_assignments).toEqual([{ credential_id: credential.id }]);
    expect(after.virtualization).toEqual({ type: "Proxmox", details: { vm_name: "core", vm_id: "100" } });
    expect(after.source).toEqual({ type: "Manual" });
  });

  test("has null or an empty array for absent values, never a missing key", async () => {
    const host = await newHost();
    const after = await update(host, { name: "bare" });
    expect(problems(after, hostShape)).toEqual([]);
    for (const field of [
      ..."hostname description virtualization valid_to lineage_id sys_name sys_descr sys_object_id".split(" "),
      ..."sys_location sys_contact chassis_id manufacturer model serial_number management_url asset_tag".split(" "),
    ]) {
      expect([field, after[field]]).toEqual([field, null]);
    }
    for (const field of ["tags", "credential_assignments", "interfaces", "ip_addresses", "ports", "services"])
      expect([field, after[field]]).toEqual([field, []]);
  });

  test("has interfaces of shape 2.4: nulls, and none of the fields only 2.9 has", async () => {
    const host = await newHost();
    await newIfEntry(host.id, { fdb_macs: ["00:00:5e:00:53:09"] });
    const [entry] = (await live("hosts", host.id)).interfaces;
    for (const field of [
      ..."if_alias if_name mac_address speed_bps ip_address_id neighbor".split(" "),
      ..."lldp_chassis_id valid_to lineage_id first_discovery_id".split(" "),
    ])
      expect([field, entry[field]]).toEqual([field, null]);
    for (const field of ["fdb_macs", "native_vlan_id", "vlan_ids"]) expect(Object.hasOwn(entry, field)).toBe(false);
  });

  test("is the same to an API key as to a session, and equals a later GET", async () => {
    const host = await newHost();
    const { client } = newApiKey();
    const after = await succeeded(put(host, hostBody(host, { name: "by key" }), client));
    expect(after.name).toBe("by key");
    expect(await live("hosts", host.id)).toEqual(after);
  });

  test("of a change writes one version, naming the changed fields", async () => {
    const host = await newHost();
    const after = await update(host, { name: "renamed", hidden: true });
    const versions = versionsOf(host.id);
    expect(versions).toHaveLength(2);
    expect(versions[1]?.changed?.toSorted()).toEqual(["hidden", "name"]);
    expect(after.updated_at).toBe(versions[1]?.valid_from);
    expect(after.valid_from).toBe(after.updated_at);
    expect(after.created_at).toBe(host.created_at);
  });
});

describe("the required fields", () => {
  test("are each required, by name", async () => {
    const host = await newHost();
    for (const field of ["id", "name", "hidden", "tags"]) {
      const body = hostBody(host);
      delete body[field];
      await refusedFields(host, body, [`/${field}`]);
    }
  });

  test("are reported all at once when all are missing", async () => {
    await refusedFields(await newHost(), {}, ["/hidden", "/id", "/name", "/tags"]);
  });

  test("must not be null", async () => {
    const host = await newHost();
    for (const field of ["id", "name", "hidden", "tags"])
      await refusedFields(host, hostBody(host, { [field]: null }), [`/${field}`]);
  });

  test("are not coerced from another type", async () => {
    const host = await newHost();
    const wrong: Array<[string, unknown]> = [
      ["name", 5],
      ["name", ["a"]],
      ["hidden", "true"],
      ["hidden", 0],
      ["tags", ""],
      ["tags", {}],
      ["id", 5],
    ];
    for (const [field, value] of wrong) await refusedFields(host, hostBody(host, { [field]: value }), [`/${field}`]);
    await refusedFields(host, hostBody(host, { tags: [5] }), ["/tags/0"]);
    await refusedFields(host, hostBody(host, { tags: ["no uuid"] }), ["/tags/0"]);
  });

  test("limit a name to 1 to 255 characters, counted as characters", async () => {
    const host = await newHost();
    await refusedFields(host, hostBody(host, { name: "" }), ["/name"]);
    await refusedFields(host, hostBody(host, { name: "n".repeat(256) }), ["/name"]);
    expect((await update(host, { name: "n".repeat(255) })).name).toHaveLength(255);
    expect((await update(host, { name: "😀".repeat(255) })).name).toBe("😀".repeat(255));
    await refusedFields(host, hostBody(host, { name: "😀".repeat(256) }), ["/name"]);
  });
});

describe("the optional fields", () => {
  const SETTABLE: Wire = {
    description: "a description",
    hostname: "h.example",
    virtualization: { type: "Kvm", details: { vm_name: "v" } },
    sys_name: "s",
    sys_descr: "d",
    sys_object_id: "1.3.6.1.4.1.9.1.1",
    sys_location: "l",
    sys_contact: "c",
    manufacturer: "m",
    model: "o",
    serial_number: "n",
    management_url: "https://192.0.2.1/",
    asset_tag: "NL-000123",
  };

  test("are stored, preserved when absent, and cleared by null", async () => {
    const host = await newHost();
    expect(await update(host, SETTABLE)).toMatchObject(SETTABLE);
    expect(await update(host, { name: "again" })).toMatchObject(SETTABLE);
    const nothing = Object.fromEntries(Object.keys(SETTABLE).map((field) => [field, null]));
    expect(await update(host, nothing)).toMatchObject(nothing);
  });

  test("limit a description to 4,000 characters", async () => {
    const host = await newHost();
    expect((await update(host, { description: "d".repeat(4_000) })).description).toHaveLength(4_000);
    await refusedFields(host, hostBody(host, { description: "d".repeat(4_001) }), ["/description"]);
  });

  test("accept every known virtualization, and no other", async () => {
    const host = await newHost();
    for (const type of ["Proxmox", "VCenter", "Esxi", "HyperV", "Kvm"]) {
      expect((await update(host, { virtualization: { type, details: {} } })).virtualization).toEqual({
        type,
        details: {},
      });
    }
    for (const virtualization of [
      "Kvm",
      [],
      { type: "Docker", details: {} },
      { type: "Kvm" },
      { details: {} },
      { type: "kvm", details: {} },
      { type: "Kvm", details: { vmname: "typo" } },
    ]) {
      await refused(put(host, hostBody(host, { virtualization })), 400, "validation_failed");
    }
  });

  test("that are unknown are refused by name, never silently dropped", async () => {
    const host = await newHost();
    await refusedFields(host, hostBody(host, { desciption: "typo" }), ["/desciption"]);
    await refusedFields(host, hostBody(host, { "a/b~c": 1, hiden: true }), ["/a~1b~0c", "/hiden"]);
  });
});

describe("read-only content", () => {
  test("may be sent back and is ignored", async () => {
    const host = await newHost();
    await newIfEntry(host.id);
    const stored = await live("hosts", host.id);
    const expectNothingWritten = writingWatched();
    const invented = {
      created_at: "2001-01-01T00:00:00Z",
      updated_at: "2001-01-01T00:00:00Z",
      valid_from: "2001-01-01T00:00:00Z",
      valid_to: "2001-01-01T00:00:00Z",
      lineage_id: UNKNOWN,
      source: { type: "Discovery" },
      last_seen_at: "2001-01-01T00:00:00Z",
    };
    expect(await update(stored, invented)).toEqual(stored);
    expectNothingWritten();
  });

  test("includes interfaces: neither an empty nor an edited list changes any", async () => {
    const host = await newHost();
    await newIfEntry(host.id);
    const stored = await live("hosts", host.id);
    expect((await update(stored, { interfaces: [] })).interfaces).toEqual(stored.interfaces);
    const edited = [{ ...stored.interfaces[0], if_descr: "edited" }];
    expect((await update(stored, { interfaces: edited })).interfaces).toEqual(stored.interfaces);
  });

  test("is ignored as a whole: GET, then PUT of the same, changes nothing", async () => {
    const tag = await newTag();
    const credential = await newCredential();
    const host = await newHost({
      tags: [tag.id],
      credential_assignments: [{ credential_id: credential.id }],
      ip_addresses: [{ ip_address: "192.0.2.9", mac_address: "00:00:5e:00:53:09" }],
      ports: [tcp(443)],
      services: [{ name: "s", service_definition: "S" }],
    });
    await newIfEntry(host.id);
    const stored = await live("hosts", host.id);
    const expectNothingWritten = writingWatched();
    expect(await succeeded(put(stored, stored))).toEqual(stored);
    expectNothingWritten();
    expect((await succeeded(put(stored, { ...stored, name: "edited" }))).name).toBe("edited");
  });

  test("must match the record if it is an id", async () => {
    const host = await newHost();
    const network = await newNetwork();
    const expectNothingWritten = writingWatched();
    await refused(put(host, hostBody(host, { id: UNKNOWN })), 400, "validation_id_mismatch");
    expect((await put(host, hostBody(host, { network_id: network.id }))).status).toBe(400);
    expect((await put(host, hostBody(host, { network_id: UNKNOWN }))).status).toBe(400);
    expectNothingWritten();
    expect((await update(host, { network_id: host.network_id })).network_id).toBe(host.network_id);
  });

  test("compares ids case-insensitively", async () => {
    const host = await newHost();
    const after = await succeeded(
      owner.put(`hosts/${host.id.toUpperCase()}`, hostBody(host, { id: host.id.toUpperCase(), name: "upper" })),
    );
    expect([after.id, after.name]).toEqual([host.id, "upper"]);
  });
});

describe("tags", () => {
  test("given twice are stored once, in any case", async () => {
    const [first, second] = [await newTag(), await newTag()];
    const host = await newHost();
    const after = await update(host, { tags: [first.id, second.id, first.id, first.id.toUpperCase()] });
    expect(after.tags.toSorted()).toEqual([first.id, second.id].toSorted());
  });

  test("that are unknown or foreign are 400 alike, and change nothing", async () => {
    const host = await newHost();
    const expectNothingWritten = writingWatched();
    const answers: Wire[] = [];
    for (const id of [UNKNOWN, foreignTag.id]) {
      const { body } = await refused(
        put(host, hostBody(host, { name: "never", tags: [id] })),
        400,
        "entity_reference_invalid",
      );
      expect(body.params.ids).toEqual([id]);
      expect(typeof body.params.entity).toBe("string");
      expect(body.params.field).toContain("tags");
      answers.push(JSON.parse(JSON.stringify(body).replaceAll(id, "ID")));
    }
    expect(answers[0]).toEqual(answers[1] as Wire);
    expectNothingWritten();
    expect((await live("hosts", host.id)).name).toBe(host.name);
  });

  test("report every invalid one at once, also among valid ones", async () => {
    const tag = await newTag();
    const host = await newHost();
    const { body } = await refused(
      put(host, hostBody(host, { tags: [tag.id, UNKNOWN, foreignTag.id] })),
      400,
      "entity_reference_invalid",
    );
    expect(body.params.ids.toSorted()).toEqual([UNKNOWN, foreignTag.id].toSorted());
  });

  test("must be ids of tags, not of another kind", async () => {
    const host = await newHost();
    await refused(put(host, hostBody(host, { tags: [host.id] })), 400, "entity_reference_invalid");
  });

  test("that were deleted are unknown", async () => {
    const tag = await newTag();
    const host = await newHost({ tags: [tag.id] });
    await succeeded(owner.delete(`tags/${tag.id}`));
    expect((await live("hosts", host.id)).tags).toEqual([]);
    await refused(put(host, hostBody(host, { tags: [tag.id] })), 400, "entity_reference_invalid");
  });

  test("are replaced by the list: an empty one takes all off", async () => {
    const tag = await newTag();
    const host = await newHost({ tags: [tag.id] });
    expect((await update(host, { tags: [] })).tags).toEqual([]);
  });

  test("are at most 1,000 per record", async () => {
    const host = await newHost();
    const many = Array.from(
      { length: 1_001 },
      (_, index) => `0192f3a4-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
    );
    await refusedFields(host, hostBody(host, { tags: many }), ["/tags"]);
  });
});

describe("expected_updated_at", () => {
  test("equal to the host's admits the update", async () => {
    const host = await newHost();
    expect((await update(host, { name: "locked", expected_updated_at: host.updated_at })).name).toBe("locked");
  });

  test("that is stale is 409 with the expected and actual value, and nothing is written", async () => {
    const host = await newHost();
    tick();
    const newer = await update(host, { name: "newer" });
    const expectNothingWritten = writingWatched();
    const { body } = await refused(
      put(host, hostBody(host, { name: "lost", expected_updated_at: host.updated_at })),
      409,
      "entity_stale",
    );
    expect(body.params).toMatchObject({ expected: host.updated_at, actual: newer.updated_at });
    expectNothingWritten();
    expect((await live("hosts", host.id)).name).toBe("newer");
  });

  test("that is null or absent does not lock", async () => {
    const host = await newHost();
    await update(host, { name: "newer" });
    expect((await update(host, { name: "newest", expected_updated_at: null })).name).toBe("newest");
  });

  test("is compared as an instant, in any notation", async () => {
    const host = await newHost();
    const at = Date.parse(host.updated_at);
    const shifted = new Date(at + (5 * 60 + 30) * 60_000).toISOString().replace("Z", "+05:30");
    const after = await update(host, { name: "shifted", expected_updated_at: shifted });
    expect(after.name).toBe("shifted");
    const digits = after.updated_at.replace("Z", "000000Z");
    expect((await update(host, { name: "digits", expected_updated_at: digits })).name).toBe("digits");
  });

  test("in the future does not match either", async () => {
    const host = await newHost();
    const later = new Date(Date.parse(host.updated_at) + 1).toISOString();
    await refused(put(host, hostBody(host, { expected_updated_at: later })), 409, "entity_stale");
  });

  test("is also stale if another caller changed only a child", async () => {
    const host = await newHost();
    await newIfEntry(host.id);
    await refused(put(host, hostBody(host, { expected_updated_at: host.updated_at })), 409, "entity_stale");
  });

  test("that is not a timestamp is 400", async () => {
    const host = await newHost();
    for (const expected_updated_at of [
      "",
      "yesterday",
      "2026-11-21",
      "2026-11-21T09:00:00",
      "2026-02-30T00:00:00Z",
      "2026-11-21T24:00:00Z",
      0,
      1_795_000_000_000,
      true,
      {},
      [],
    ]) {
      await refusedFields(host, hostBody(host, { expected_updated_at }), ["/expected_updated_at"]);
    }
  });

  test("admits exactly one of two writers", async () => {
    const host = await newHost();
    const answers = await Promise.all(
      ["left", "right"].map((name) => put(host, hostBody(host, { name, expected_updated_at: host.updated_at }))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });
});

describe("the host", () => {
  test("that is unknown, foreign or out of reach is 404 alike", async () => {
    const host = await newHost();
    const { client: outsider } = await newUser({ role: "Member", networkIds: [] });
    const answers = [];
    for (const [id, by] of [
      [UNKNOWN, owner],
      [foreignHost.id, owner],
      [host.id, outsider],
    ] as const) {
      const { body } = await refused(
        by.put(`hosts/${id}`, { id, name: "n", hidden: false, tags: [] }),
        404,
        "entity_not_found",
      );
      expect(body.params.id).toBe(id);
      answers.push(JSON.stringify(body).replaceAll(id, "ID"));
    }
    expect(new Set(answers).size).toBe(1);
    expect(await live("hosts", host.id)).toEqual(host);
  });

  test("that was deleted is 404", async () => {
    const host = await newHost();
    await succeeded(owner.delete(`hosts/${host.id}`));
    await refused(put(host, hostBody(host)), 404, "entity_not_found");
  });

  test("is identified by a UUID: anything else in the path is 400 with field and value", async () => {
    const { body } = await refused(owner.put("hosts/not-a-uuid", {}), 400, "validation_failed");
    expect(JSON.stringify(body.params)).toContain("not-a-uuid");
    expect(JSON.stringify(body.params)).toContain("id");
  });
});

describe("access", () => {
  test("is refused to a Viewer, and granted to a Member of the network", async () => {
    const host = await newHost();
    const reach = { networkIds: [first.networkId] };
    const viewer = await newUser({ role: "Viewer", ...reach });
    const member = await newUser({ role: "Member", ...reach });
    const { body } = await refused(
      put(host, hostBody(host, { name: "no" }), viewer.client),
      403,
      "auth_permission_denied",
    );
    expect(JSON.stringify(body.params)).toContain("Member");
    expect((await succeeded(put(host, hostBody(host, { name: "yes" }), member.client))).name).toBe("yes");
  });

  test("lets a Member send credential_assignments back, but not change them", async () => {
    const credential = await newCredential();
    const host = await newHost({ credential_assignments: [{ credential_id: credential.id }] });
    const member = await newMember();
    const expectNothingWritten = writingWatched();
    await refused(
      put(host, hostBody(host, { credential_assignments: [] }), member.client),
      403,
      "auth_permission_denied",
    );
    expectNothingWritten();
    const after = await succeeded(
      put(host, hostBody(host, { name: "kept", credential_assignments: host.credential_assignments }), member.client),
    );
    expect([after.name, after.credential_assignments]).toEqual(["kept", host.credential_assignments]);
    await refused(
      member.client.post("hosts", {
        name: "n",
        network_id: first.networkId,
        credential_assignments: [{ credential_id: credential.id }],
      }),
      403,
      "auth_permission_denied",
    );
  });

  test("is refused without credentials, revealing nothing of the schema", async () => {
    const host = await newHost();
    for (const body of [hostBody(host), {}, "{"]) {
      const answer = await refused(put(host, body, anonymous), 401, "auth_not_authenticated");
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });
});
