// Custom field values: in writes, after changes to their definitions, and in restores.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, newApiKey, newHost, newSubnet, newVlan, owner, tick, versionsOf, watchWrites } = appliance;

const newField = (fields: JsonRecord = {}) =>
  expectOk(owner.post("custom-fields", { key: "rack", kinds: ["host"], type: "text", ...fields }));
const valuesOf = async (path: string) => (await owner.get(path)).data.custom_fields;
const lastChange = (id: string) => versionsOf(id).at(-1);

/** Factories by kind with custom fields, each for a record's path and body. */
const FACTORIES: Readonly<Record<string, () => Promise<{ path: string; body: JsonRecord }>>> = {
  host: async () => ({ path: "hosts", body: { network_id: first.networkId, name: "core", hidden: false, tags: [] } }),
  subnet: async () => ({ path: "subnets", body: { network_id: first.networkId, cidr: "10.9.0.0/24" } }),
  vlan: async () => ({ path: "vlans", body: { network_id: first.networkId, number: 9 } }),
  if_entry: async () => ({ path: "if-entries", body: { host_id: (await newHost()).id, if_index: 1, if_descr: "a" } }),
  service: async () => ({
    path: "services",
    body: { host_id: (await newHost()).id, name: "web", service_definition: "nginx" },
  }),
  ip_range: async () => {
    const subnet = await newSubnet({ cidr: "10.8.0.0/24" });
    const ends = { first: "10.8.0.10", last: "10.8.0.20" };
    return {
      path: "ip-ranges",
      body: { network_id: first.networkId, subnet_id: subnet.id, purpose: "Static", ...ends },
    };
  },
};

describe.each(Object.keys(FACTORIES))("the custom fields of a record of kind %s", (kind) => {
  const make = FACTORIES[kind] as (typeof FACTORIES)[string];

  test("are set, changed individually, cleared by null, and versioned each under its name", async () => {
    for (const [key, type] of [
      ["rack", "text"],
      ["height", "number"],
      ["spare", "boolean"],
    ] as const)
      await newField({ key, type, kinds: [kind] });
    const { path, body } = await make();
    const created = await expectOk(
      owner.post(path, { ...body, custom_fields: { rack: "R1", height: 2, spare: false } }),
    );
    expect(created.custom_fields).toEqual({ rack: "R1", height: 2, spare: false });
    const instant = created.updated_at as string;
    tick();
    const updateBody = { ...body, ...(kind === "host" ? { id: created.id } : {}) };
    const changed = await expectOk(
      owner.put(`${path}/${created.id}`, { ...updateBody, custom_fields: { rack: "R2", height: null } }),
    );
    expect(changed.custom_fields).toEqual({ rack: "R2", spare: false });
    expect(lastChange(created.id)).toMatchObject({ changed: ["custom_fields.height", "custom_fields.rack"] });
    tick();
    await expectOk(owner.put(`${path}/${created.id}`, { ...updateBody, custom_fields: { rack: null, spare: null } }));
    expect(await owner.get(`${path}/${created.id}`)).not.toHaveProperty("data.custom_fields");
    expect(await valuesOf(`${path}/${created.id}?at=${instant}`)).toEqual({ rack: "R1", height: 2, spare: false });
    const history = (await owner.get(`${path}/${created.id}/history`)).data as JsonRecord[];
    expect(history.map(({ changed_fields }) => changed_fields)).toEqual([
      ["custom_fields.rack", "custom_fields.spare"],
      ["custom_fields.height", "custom_fields.rack"],
      [],
    ]);
  });

  test("can be sent back as read, and are preserved when omitted", async () => {
    await newField({ kinds: [kind] });
    const { path, body } = await make();
    const created = await expectOk(owner.post(path, { ...body, custom_fields: { rack: "R1" } }));
    const expectNothingWritten = watchWrites();
    expect(await expectOk(owner.put(`${path}/${created.id}`, created))).toMatchObject({
      custom_fields: { rack: "R1" },
    });
    const updateBody = { ...body, ...(kind === "host" ? { id: created.id } : {}) };
    expect(await expectOk(owner.put(`${path}/${created.id}`, updateBody))).toMatchObject({
      custom_fields: { rack: "R1" },
    });
    expectNothingWritten();
  });

  test("have a default when omitted, but not when null", async () => {
    await newField({ kinds: [kind], default: "R0" });
    const { path, body } = await make();
    const created = await expectOk(owner.post(path, body));
    expect(created.custom_fields).toEqual({ rack: "R0" });
    await expectOk(owner.delete(`${path}/${created.id}`));
    tick();
    expect(await expectOk(owner.post(path, { ...body, custom_fields: { rack: null } }))).not.toHaveProperty(
      "custom_fields",
    );
  });

  test("are refused by name if unknown or of another type", async () => {
    await newField({ kinds: [kind] });
    await newField({ key: "height", type: "number", kinds: [kind] });
    await newField({ key: "other", kinds: [kind === "vlan" ? "host" : "vlan"] });
    const { path, body } = await make();
    const expectNothingWritten = watchWrites();
    const response = await owner.post(path, {
      ...body,
      custom_fields: { rac: "R1", height: "2", other: "x", "a/b": 1, rack: null },
    });
    expect(response).toMatchObject(
      invalid(
        { path: "/custom_fields/rac", value: "R1" },
        { path: "/custom_fields/height", value: "2" },
        { path: "/custom_fields/other", value: "x" },
        { path: "/custom_fields/a~1b", value: 1 },
      ),
    );
    // Values that no custom field accepts: beyond the limit, and of an unsupported type.
    const tooLong = await owner.post(path, { ...body, custom_fields: { rack: "x".repeat(2_001), height: ["2"] } });
    expect(tooLong.body.params.issues).toEqual([
      { path: "/custom_fields/rack", message: "must have at most 2000 characters", value: expect.any(String) },
      {
        path: "/custom_fields/height",
        message: "must be a string, a number, true, false or null",
        value: "an array of 1",
      },
    ]);
    const overLimit = await owner.post(path, { ...body, custom_fields: { rack: "x".repeat(1_001) } });
    expect(overLimit.body.params.issues).toMatchObject([
      { path: "/custom_fields/rack", message: "must have at most 1,000 characters" },
    ]);
    const [unknown, type] = response.body.params.issues;
    expect(unknown.message).toMatch(/is not a custom field of .*; rack\?/);
    expect(type.message).toBe('must be a number, not "2"');
    expectNothingWritten();
  });

  test("must be present if required when a user creates or changes a record, but not if nothing changes", async () => {
    const { path, body } = await make();
    const existing = await expectOk(owner.post(path, body));
    tick();
    await newField({ kinds: [kind], required: true, label: "Rack" });
    expect(await owner.put(`${path}/${existing.id}`, existing)).toMatchObject({ status: 200 });
    const { field, value } = CHANGED_FIELD[kind] as { field: string; value: unknown };
    const expectNothingWritten = watchWrites();
    expect(await owner.put(`${path}/${existing.id}`, { ...existing, [field]: value })).toMatchObject(
      invalid({ path: "/custom_fields/rack" }),
    );
    const distinctBody = { ...body, ...DISTINCT[kind] };
    expect(await owner.post(path, distinctBody)).toMatchObject(invalid({ path: "/custom_fields/rack" }));
    expectNothingWritten();
    expect(
      await expectOk(
        owner.put(`${path}/${existing.id}`, { ...existing, [field]: value, custom_fields: { rack: "R1" } }),
      ),
    ).toMatchObject({ custom_fields: { rack: "R1" } });
    expect(await owner.put(`${path}/${existing.id}`, { ...existing, custom_fields: { rack: null } })).toMatchObject(
      invalid({ path: "/custom_fields/rack" }),
    );
  });
});

const CHANGED_FIELD: Readonly<Record<string, { field: string; value: unknown }>> = {
  host: { field: "description", value: "changed" },
  subnet: { field: "description", value: "changed" },
  vlan: { field: "description", value: "changed" },
  if_entry: { field: "if_alias", value: "changed" },
  service: { field: "position", value: 7 },
  ip_range: { field: "description", value: "changed" },
};
const DISTINCT: Readonly<Record<string, JsonRecord>> = {
  host: { name: "another" },
  subnet: { cidr: "10.10.0.0/24" },
  vlan: { number: 10 },
  if_entry: { if_index: 2 },
  service: { name: "another" },
  ip_range: { first: "10.8.0.30", last: "10.8.0.40" },
};

describe("custom fields of a host's parts", () => {
  test("are set and cleared with its services, and shown in the host", async () => {
    await newField({ kinds: ["service", "if_entry"] });
    const host = await expectOk(
      owner.post("hosts", {
        network_id: first.networkId,
        name: "core",
        services: [{ name: "web", service_definition: "nginx", custom_fields: { rack: "R1" } }],
        interfaces: [{ if_index: 1, if_descr: "a", custom_fields: { rack: "R2" } }],
      }),
    );
    expect(host.services[0].custom_fields).toEqual({ rack: "R1" });
    expect(host.interfaces[0].custom_fields).toEqual({ rack: "R2" });
    expect(await owner.put(`hosts/${host.id}`, host)).toMatchObject({ status: 200 });
    const [service] = host.services;
    const wrong = { ...host, services: [service, { name: "b", service_definition: "c", custom_fields: { rak: "x" } }] };
    expect(await owner.put(`hosts/${host.id}`, wrong)).toMatchObject(
      invalid({ path: "/services/1/custom_fields/rak" }),
    );
  });

  test("are reported per item when many hosts are written at once", async () => {
    await newField({ kinds: ["host", "if_entry"], required: true });
    const item = (name: string, rack: unknown) => ({ network_id: first.networkId, name, custom_fields: { rack } });
    const response = await owner.post("hosts/bulk", [
      item("a", "R1"),
      item("b", 5),
      { ...item("c", "R3"), interfaces: [{ if_index: 1, if_descr: "x" }] },
    ]);
    expect(response).toMatchObject(
      invalid({ path: "/1/custom_fields/rack", value: 5 }, { path: "/2/interfaces/0/custom_fields/rack" }),
    );
  });
});

describe("an allocation", () => {
  test("sets custom fields of reservations and subnets, including required ones", async () => {
    await newField({ kinds: ["ip_range", "subnet"] });
    const subnet = await newSubnet({ cidr: "10.7.0.0/24", custom_fields: { rack: "R1" } });
    tick();
    const field = (await owner.get("custom-fields")).data[0] as JsonRecord;
    await expectOk(owner.put(`custom-fields/${field.id}`, { ...field, required: true }));
    const allocate = (body: JsonRecord) => owner.post(`subnets/${subnet.id}/allocate`, body);
    expect(await allocate({ count: 1 })).toMatchObject(invalid({ path: "/custom_fields/rack" }));
    expect(await allocate({ count: 1, custom_fields: { rack: "R2" } })).toMatchObject({ status: 200 });
    expect(await allocate({ prefix_length: 28, custom_fields: { rack: "R3" } })).toMatchObject({ status: 200 });
    expect(((await owner.get("ip-ranges")).data as JsonRecord[]).map((range) => range.custom_fields)).toEqual([
      { rack: "R2" },
    ]);
    expect(((await owner.get("subnets")).data as JsonRecord[]).map((subnet) => subnet.custom_fields)).toEqual([
      { rack: "R1" },
      { rack: "R3" },
    ]);
  });
});

describe("a custom field in use", () => {
  const newFieldInUse = async () => {
    const field = await newField({ kinds: ["host", "vlan"], type: "choice", choices: ["R1", "R2"] });
    const host = await newHost({ custom_fields: { rack: "R1" } });
    const vlan = await newVlan({ custom_fields: { rack: "R2" } });
    tick();
    return { field, host, vlan };
  };

  test("keeps its type, and the kinds and choices used by records", async () => {
    const { field } = await newFieldInUse();
    const put = (changes: JsonRecord) => owner.put(`custom-fields/${field.id}`, { ...field, ...changes });
    const inUse = (dependants: JsonRecord) => refusal(409, "entity_in_use", { entity: "custom_field", dependants });
    const expectNothingWritten = watchWrites();
    expect(await put({ type: "text", choices: [] })).toMatchObject(inUse({ hosts: 1, vlans: 1 }));
    expect(await put({ kinds: ["host"] })).toMatchObject(inUse({ vlans: 1 }));
    expect(await put({ choices: ["R2"] })).toMatchObject(inUse({ hosts: 1 }));
    expectNothingWritten();
    expect(await put({ kinds: ["host", "vlan", "subnet"], choices: ["R3", "R2", "R1"] })).toMatchObject({
      status: 200,
    });
  });

  test("is deleted only together with its values, in one transaction that a revert undoes", async () => {
    const { field, host, vlan } = await newFieldInUse();
    expect(await owner.delete(`custom-fields/${field.id}`)).toMatchObject(
      refusal(409, "entity_in_use", { id: field.id, dependants: { hosts: 1, vlans: 1 } }),
    );
    const instant = vlan.updated_at as string;
    tick();
    await expectOk(owner.delete(`custom-fields/${field.id}?cascade=true`));
    for (const { id } of [host, vlan])
      expect(lastChange(id)).toMatchObject({ operation: "Updated", changed: ["custom_fields.rack"] });
    expect(await valuesOf(`hosts/${host.id}`)).toBeUndefined();
    expect(await valuesOf(`hosts/${host.id}?at=${instant}`)).toEqual({ rack: "R1" });
    const [last] = (await owner.get("transactions?limit=1")).data as JsonRecord[];
    tick();
    expect(await owner.post(`transactions/${last?.sequence}/revert`, {})).toMatchObject({ status: 200 });
    expect(await valuesOf(`hosts/${host.id}`)).toEqual({ rack: "R1" });
    expect(await valuesOf(`vlans/${vlan.id}`)).toEqual({ rack: "R2" });
    expect(await owner.get(`custom-fields/${field.id}`)).toMatchObject({ status: 200 });
  });

  test("cannot be defined, required or cleared by a caller limited to some of its networks", async () => {
    const { field } = await newFieldInUse();
    const instant = field.updated_at as string;
    tick();
    const { data: changed } = await owner.put(`custom-fields/${field.id}`, { ...field, label: "Rack or shelf" });
    const { client: confined } = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    const denied = refusal(403, "entity_access_denied");
    const expectNothingWritten = watchWrites();
    const body = { key: "mine", kinds: ["host"], type: "text", default: "theirs" };
    expect(await confined.post("custom-fields", body)).toMatchObject(denied);
    expect(await confined.put(`custom-fields/${field.id}`, { ...changed, required: true })).toMatchObject(denied);
    expect(await confined.delete(`custom-fields/${field.id}`)).toMatchObject(denied);
    expect(await confined.delete(`custom-fields/${field.id}?cascade=true`)).toMatchObject(denied);
    expect(await confined.post(`custom-fields/${field.id}/restore`, { at: instant })).toMatchObject(denied);
    const table = "key,label,kinds,type\r\nmine,Mine,host,text\r\n";
    const imported = await confined.send("POST", "custom-fields/import/csv", table, { "content-type": "text/csv" });
    expect(imported.status).toBeGreaterThanOrEqual(400);
    expect(imported.text).toContain("requires access to every network");
    expectNothingWritten();
  });
});

describe("a restore", () => {
  test("restores custom fields, except those with a deleted or incompatible definition", async () => {
    const rack = await newField();
    const room = await newField({ key: "room", type: "choice", choices: ["A", "B"] });
    await newField({ key: "height", type: "number" });
    const host = await newHost({ custom_fields: { rack: "R1", room: "A", height: 2 } });
    const instant = host.updated_at as string;
    tick();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { rack: null, room: "B", height: 4 } }));
    tick();
    await expectOk(owner.delete(`custom-fields/${rack.id}`));
    await expectOk(owner.put(`custom-fields/${room.id}`, { ...room, choices: ["B"] }));
    tick();
    const { data } = await owner.post(`hosts/${host.id}/restore`, { at: instant });
    expect(data.actions[0]).toMatchObject({ action: "Update", fields: ["custom_fields.height"] });
    expect(data.actions[0].reason).toContain("the custom field rack no longer exists, so it is omitted");
    expect(data.actions[0].reason).toContain("the custom field room no longer accepts its earlier value");
    expect(await valuesOf(`hosts/${host.id}`)).toEqual({ height: 2, room: "B" });
  });

  test("ignores fields that became required after a record's deletion", async () => {
    await newField();
    const host = await newHost({ custom_fields: { rack: "R1" } });
    const instant = host.updated_at as string;
    tick();
    await expectOk(owner.delete(`hosts/${host.id}`));
    await newField({ key: "room", required: true, default: "A" });
    tick();
    expect(await owner.post(`hosts/${host.id}/restore`, { at: instant })).toMatchObject({ status: 200 });
    expect(await valuesOf(`hosts/${host.id}`)).toEqual({ rack: "R1" });
  });
});

describe("a revert", () => {
  const sequence = async () => ((await owner.get("transactions?limit=1")).data as JsonRecord[])[0]?.sequence as number;

  test("keeps later changes to other fields when reverting one, and detects later changes to the same", async () => {
    await newField();
    await newField({ key: "room" });
    const host = await newHost({ custom_fields: { rack: "R1", room: "A" } });
    const put = async (custom_fields: JsonRecord) => {
      tick();
      await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields }));
      return sequence();
    };
    const rackChange = await put({ rack: "R2" });
    const roomChange = await put({ room: "B" });
    tick();
    expect(await owner.post(`transactions/${rackChange}/revert`, {})).toMatchObject({ status: 200 });
    expect(await valuesOf(`hosts/${host.id}`)).toEqual({ rack: "R1", room: "B" });
    await put({ room: "C" });
    tick();
    expect(await owner.post(`transactions/${roomChange}/revert`, {})).toMatchObject({ status: 409 });
  });

  test("is refused for a definition in use", async () => {
    await newField();
    const created = await sequence();
    const host = await newHost({ custom_fields: { rack: "R1" } });
    tick();
    expect(await owner.post(`transactions/${created}/revert`, {})).toMatchObject(refusal(409, "entity_in_use"));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { rack: null } }));
    tick();
    expect(await owner.post(`transactions/${created}/revert`, {})).toMatchObject({ status: 200 });
    expect((await owner.get("custom-fields")).data).toEqual([]);
  });
});

describe("a diff", () => {
  test("lists custom fields individually, each with its transaction", async () => {
    await newField();
    await newField({ key: "room" });
    const host = await newHost({ custom_fields: { rack: "R1" } });
    const from = host.updated_at as string;
    tick();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { rack: "R2" } }));
    tick();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { room: "A" } }));
    const diff = (query = "") => owner.get(`diff?from=${from}&to=now&types=host${query}`);
    const { fields } = (await diff()).data.changed[0];
    expect(fields).toMatchObject([
      { field: "custom_fields.rack", from: "R1", to: "R2" },
      { field: "custom_fields.room", from: null, to: "A" },
    ]);
    expect(fields[0].transaction.sequence).toBe(fields[1].transaction.sequence - 1);
    expect((await diff("&ignore=custom_fields")).data.changed).toEqual([]);
    const counted = await owner.get(`activity?from=${from}&to=now&group_by=field&fields=custom_fields.rack`);
    expect(counted.data).toMatchObject({ groups: [{ field: "custom_fields.rack", updated: 1 }] });
    expect(await owner.get(`activity?from=${from}&to=now&fields=custom_fields`)).toMatchObject(
      invalid({ path: "/fields/0" }),
    );
  });
});

describe("an export", () => {
  test("has a column per field of the kind at that timestamp, in order of creation", async () => {
    await newField({ type: "choice", choices: ["R1", "=1+1"] });
    const host = await newHost({ custom_fields: { rack: "=1+1" } });
    tick();
    await newField({ key: "height", type: "number" });
    await newField({ key: "spare", type: "boolean", kinds: ["host", "vlan"] });
    await newField({ key: "other", kinds: ["vlan"] });
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, custom_fields: { height: 1.5, spare: false } }));
    const table = async (query = "") => {
      const { text } = await owner.get(`hosts/export/csv${query}`);
      const [head = "", row = ""] = text.split("\r\n");
      const cells = row.split(",");
      return Object.fromEntries(
        head.split(",").flatMap((name, index) => (name.startsWith("custom_fields") ? [[name, cells[index]]] : [])),
      );
    };
    expect(await table("?include_children=false")).toEqual({
      "custom_fields.rack": "'=1+1",
      "custom_fields.height": "1.5",
      "custom_fields.spare": "false",
    });
    expect(await table(`?at=${host.updated_at}`)).toEqual({ "custom_fields.rack": "'=1+1" });
  });
});

describe("a bulk update", () => {
  test("sets custom fields of many records, as previewed field by field, and requires mandatory ones", async () => {
    await newField();
    await newField({ key: "room" });
    const hosts = [await newHost({ custom_fields: { rack: "R1", room: "A" } }), await newHost()];
    const ids = hosts.map(({ id }) => id);
    tick();
    const { data } = await owner.post("hosts/bulk-update", {
      dry_run: true,
      ids,
      set: { custom_fields: { rack: "R2" } },
    });
    expect((data.changes as JsonRecord[]).map(({ fields }) => fields)).toEqual([
      [{ field: "custom_fields.rack", from: "R1", to: "R2" }],
      [{ field: "custom_fields.rack", from: null, to: "R2" }],
    ]);
    const done = await owner.post("hosts/bulk-update", { ids, set: { custom_fields: { rack: "R2" } } });
    expect(done).toMatchObject({ status: 200, data: { counts: { updated: 2 } } });
    expect(await valuesOf(`hosts/${ids[0]}`)).toEqual({ rack: "R2", room: "A" });
    const wrong = await owner.post("hosts/bulk-update", { ids, set: { custom_fields: { rack: 5 } } });
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.body.params.issues[0]).toMatchObject({ path: "/set/custom_fields/rack", value: 5 });
    const [, room] = (await owner.get("custom-fields")).data as JsonRecord[];
    await expectOk(owner.put(`custom-fields/${room?.id}`, { ...room, required: true }));
    expect(await owner.post("hosts/bulk-update", { ids, set: { hidden: true } })).toMatchObject({ status: 400 });
  });
});
