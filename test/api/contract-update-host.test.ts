// Contract of PUT /api/v1/hosts/{id} (handbook: records, "A host and its children"): the response, own fields, tags,
// optimistic locking. contract-update-host-children covers the sync rule.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { expectRefusal, expectSuccess, hostShape, issuePaths, problems } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { owner, live, newCredential, newHost, newIfEntry, newSubnet, newTag, watchWrites, newStranger } = appliance;
let foreignTag: JsonRecord;

beforeAll(async () => {
  await newSubnet({ cidr: "192.0.2.0/24" });
  foreignTag = await newTag({ name: "theirs" }, (await newStranger("Other")).client);
});

function put(host: JsonRecord, body: unknown) {
  return owner.put(`hosts/${host.id}`, body);
}

function update(host: JsonRecord, changes: JsonRecord = {}): Promise<JsonRecord> {
  return expectSuccess(put(host, hostBody(host, changes)));
}

/** Asserts that a PUT is refused with these issues and writes nothing. */
async function expectFieldsRefused(host: JsonRecord, body: unknown, paths: string[]): Promise<void> {
  const expectNothingWritten = watchWrites();
  expect(await issuePaths(put(host, body))).toEqual(paths);
  expectNothingWritten();
}

describe("the response", () => {
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

  test("has interfaces of shape 2.4: nulls, and no fields exclusive to 2.9", async () => {
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
});

describe("the required fields", () => {
  test("are each required, by name", async () => {
    const host = await newHost();
    for (const field of ["id", "name", "hidden", "tags"]) {
      const body = hostBody(host);
      delete body[field];
      await expectFieldsRefused(host, body, [`/${field}`]);
    }
  });

  test("are reported all at once when all are missing", async () => {
    await expectFieldsRefused(await newHost(), {}, ["/hidden", "/id", "/name", "/tags"]);
  });

  test("must not be null", async () => {
    const host = await newHost();
    for (const field of ["id", "name", "hidden", "tags"])
      await expectFieldsRefused(host, hostBody(host, { [field]: null }), [`/${field}`]);
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
    for (const [field, value] of wrong)
      await expectFieldsRefused(host, hostBody(host, { [field]: value }), [`/${field}`]);
    await expectFieldsRefused(host, hostBody(host, { tags: [5] }), ["/tags/0"]);
    await expectFieldsRefused(host, hostBody(host, { tags: ["no uuid"] }), ["/tags/0"]);
  });

  test("limit a name to 1 to 255 characters, counted as characters", async () => {
    const host = await newHost();
    await expectFieldsRefused(host, hostBody(host, { name: "" }), ["/name"]);
    await expectFieldsRefused(host, hostBody(host, { name: "n".repeat(256) }), ["/name"]);
    expect((await update(host, { name: "n".repeat(255) })).name).toHaveLength(255);
    expect((await update(host, { name: "😀".repeat(255) })).name).toBe("😀".repeat(255));
    await expectFieldsRefused(host, hostBody(host, { name: "😀".repeat(256) }), ["/name"]);
  });
});

describe("the optional fields", () => {
  const SETTABLE: JsonRecord = {
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
    await expectFieldsRefused(host, hostBody(host, { description: "d".repeat(4_001) }), ["/description"]);
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
      await expectRefusal(put(host, hostBody(host, { virtualization })), 400, "validation_failed");
    }
  });

  test("are refused by name if unknown, never silently dropped", async () => {
    const host = await newHost();
    await expectFieldsRefused(host, hostBody(host, { desciption: "typo" }), ["/desciption"]);
    await expectFieldsRefused(host, hostBody(host, { "a/b~c": 1, hiden: true }), ["/a~1b~0c", "/hiden"]);
  });
});

describe("read-only content", () => {
  test("includes interfaces: neither an empty nor an edited list changes any", async () => {
    const host = await newHost();
    await newIfEntry(host.id);
    const stored = await live("hosts", host.id);
    expect((await update(stored, { interfaces: [] })).interfaces).toEqual(stored.interfaces);
    const edited = [{ ...stored.interfaces[0], if_descr: "edited" }];
    expect((await update(stored, { interfaces: edited })).interfaces).toEqual(stored.interfaces);
  });

  test("compares ids case-insensitively", async () => {
    const host = await newHost();
    const after = await expectSuccess(
      owner.put(`hosts/${host.id.toUpperCase()}`, hostBody(host, { id: host.id.toUpperCase(), name: "upper" })),
    );
    expect([after.id, after.name]).toEqual([host.id, "upper"]);
  });
});

describe("tags", () => {
  test("are stored once if repeated, in any case", async () => {
    const [first, second] = [await newTag(), await newTag()];
    const host = await newHost();
    const after = await update(host, { tags: [first.id, second.id, first.id, first.id.toUpperCase()] });
    expect(after.tags.toSorted()).toEqual([first.id, second.id].toSorted());
  });

  test("report every invalid one at once, even among valid ones", async () => {
    const tag = await newTag();
    const host = await newHost();
    const { body } = await expectRefusal(
      put(host, hostBody(host, { tags: [tag.id, UNKNOWN, foreignTag.id] })),
      400,
      "entity_reference_invalid",
    );
    expect(body.params.ids.toSorted()).toEqual([UNKNOWN, foreignTag.id].toSorted());
  });

  test("must be ids of tags, not of another kind", async () => {
    const host = await newHost();
    await expectRefusal(put(host, hostBody(host, { tags: [host.id] })), 400, "entity_reference_invalid");
  });

  test("are unknown once deleted", async () => {
    const tag = await newTag();
    const host = await newHost({ tags: [tag.id] });
    await expectSuccess(owner.delete(`tags/${tag.id}`));
    expect((await live("hosts", host.id)).tags).toEqual([]);
    await expectRefusal(put(host, hostBody(host, { tags: [tag.id] })), 400, "entity_reference_invalid");
  });

  test("are replaced by the list: an empty one removes all", async () => {
    const tag = await newTag();
    const host = await newHost({ tags: [tag.id] });
    expect((await update(host, { tags: [] })).tags).toEqual([]);
  });

  test("are at most 1,000 per record", async () => {
    const host = await newHost();
    const unknownIds = Array.from(
      { length: 1_001 },
      (_, index) => `0192f3a4-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
    );
    await expectFieldsRefused(host, hostBody(host, { tags: unknownIds }), ["/tags"]);
  });
});

describe("expected_updated_at", () => {
  test("is compared as a timestamp, in any notation", async () => {
    const host = await newHost();
    const at = Date.parse(host.updated_at);
    const shifted = new Date(at + (5 * 60 + 30) * 60_000).toISOString().replace("Z", "+05:30");
    const after = await update(host, { name: "shifted", expected_updated_at: shifted });
    expect(after.name).toBe("shifted");
    const digits = after.updated_at.replace("Z", "000000Z");
    expect((await update(host, { name: "digits", expected_updated_at: digits })).name).toBe("digits");
  });

  test("does not match a future timestamp", async () => {
    const host = await newHost();
    const future = new Date(Date.parse(host.updated_at) + 1).toISOString();
    await expectRefusal(put(host, hostBody(host, { expected_updated_at: future })), 409, "entity_stale");
  });

  test("is refused with 400 if not a timestamp", async () => {
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
      await expectFieldsRefused(host, hostBody(host, { expected_updated_at }), ["/expected_updated_at"]);
    }
  });
});
