// POST /api/v1/{kind}/bulk-update: the same fields on many records, selected by id or filter, atomically.

import { describe, expect, test } from "bun:test";
import { EDITABLE, settableFields } from "../../src/bulk/written-resources.ts";
import { BULK_UPDATE_MAX } from "../../src/schemas/schemas.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal, tcp } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, newHost, newMember, newNetwork, newTag, newUser, newViewer, newVlan, owner, tick } = appliance;
const { transactionCount, versionsOf, watchWrites, writtenIn } = appliance;

const hosts = (body: unknown, caller: Client = owner, headers = {}) => caller.post("hosts/bulk-update", body, headers);

async function threeHosts(): Promise<JsonRecord[]> {
  const created: JsonRecord[] = [];
  for (const name of ["a", "b", "c"]) created.push(await newHost({ name, description: name === "c" ? "old" : null }));
  tick();
  return created;
}

describe("a bulk update", () => {
  test("sets the given fields for the listed records, in one transaction that one revert undoes", async () => {
    const [a, b, c] = (await threeHosts()) as [JsonRecord, JsonRecord, JsonRecord];
    const before = transactionCount();
    const response = await hosts({ ids: [a.id, c.id, a.id], set: { description: "old", sys_location: "hall 2" } });
    expect(response).toMatchObject({
      status: 200,
      data: {
        applied: true,
        sequence: before + 1,
        counts: { matched: 2, updated: 2, unchanged: 0 },
        ids: [a.id, c.id],
        changes: [
          {
            entity_type: "host",
            id: a.id,
            name: "a",
            operation: "Updated",
            fields: [
              { field: "description", from: null, to: "old" },
              { field: "sys_location", from: null, to: "hall 2" },
            ],
          },
          { id: c.id, fields: [{ field: "sys_location", from: null, to: "hall 2" }] },
        ],
      },
    });
    expect(writtenIn()).toEqual({ "Updated host": 2 });
    expect((await owner.get(`hosts/${a.id}`)).data).toMatchObject({ name: "a", sys_location: "hall 2" });
    expect(versionsOf(b.id)).toHaveLength(1);
    tick();
    expect((await owner.post(`transactions/${before + 1}/revert`, {})).status).toBe(200);
    expect((await owner.get(`hosts/${a.id}`)).data).toMatchObject({ description: null, sys_location: null });
  });

  test("selects by filter at the time of writing, and reports the selected records", async () => {
    const [a, b, c] = (await threeHosts()) as [JsonRecord, JsonRecord, JsonRecord];
    const filter = 'description = "old" OR name = "a"';
    const plan = await hosts({ filter, set: { hidden: true }, dry_run: true });
    expect(plan.data).toMatchObject({ applied: false, sequence: null, ids: [a.id, c.id] });
    // Records that match in the meantime are not lost.
    await expectOk(owner.put(`hosts/${b.id}`, { ...b, description: "old" }));
    tick();
    expect((await hosts({ filter, set: { hidden: true } })).data.ids).toEqual([a.id, b.id, c.id]);
    // All values already apply; a filter over time also finds records.
    const repeated = await hosts({ filter: "changes(description, -1h) > 0", set: { hidden: true } });
    expect(repeated.data).toMatchObject({
      applied: false,
      counts: { matched: 1, updated: 0, unchanged: 1 },
      ids: [b.id],
      changes: [],
    });
  });

  test("reports the same in a dry run and writes nothing; its plan is valid until one of its records changes", async () => {
    const [a, b] = (await threeHosts()) as [JsonRecord, JsonRecord, JsonRecord];
    const body = { ids: [a.id, b.id], set: { description: "new" } };
    const expectNothingWritten = watchWrites();
    const planned = await hosts({ ...body, dry_run: true }, owner, { "idempotency-key": "k1" });
    expect(planned.data).toMatchObject({ applied: false, sequence: null, counts: { updated: 2 } });
    expect((await hosts({ ...body, dry_run: true }, owner, { "idempotency-key": "k1" })).data).toEqual(planned.data);
    expectNothingWritten();
    const { plan, changes } = planned.data;
    // A different request has a different plan.
    expect(await hosts({ ...body, set: { description: "newer" }, plan })).toMatchObject(refusal(409, "entity_stale"));
    await expectOk(owner.put(`hosts/${b.id}`, { ...b, asset_tag: "4711" }));
    tick();
    expect(await hosts({ ...body, plan })).toMatchObject(refusal(409, "entity_stale", { expected: plan }));
    const next = (await hosts({ ...body, dry_run: true })).data.plan;
    expect(next).not.toBe(plan);
    const done = await hosts({ ...body, plan: next });
    expect(done.data).toMatchObject({ applied: true, changes });
  });

  test("reports every issue with its record, and then writes nothing", async () => {
    const otherNetwork = await newNetwork();
    const [a, b] = (await threeHosts()) as [JsonRecord, JsonRecord, JsonRecord];
    const vlan = await newVlan({ number: 10 });
    await newVlan({ number: 20 });
    const otherVlan = await newVlan({ network_id: otherNetwork.id, number: 30 });
    const subnets = [
      await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.1.0.0/24" })),
      await expectOk(owner.post("subnets", { network_id: otherNetwork.id, cidr: "10.1.0.0/24" })),
    ];
    tick();
    const expectNothingWritten = watchWrites();
    const crossed = await owner.post("subnets/bulk-update", {
      ids: subnets.map(({ id }) => id),
      set: { vlan_id: vlan.id },
    });
    expect(crossed).toMatchObject(refusal(400, "entity_reference_invalid"));
    expect(crossed.body.params.issues).toMatchObject([{ path: "/set/vlan_id", value: vlan.id, id: subnets[1]?.id }]);
    // Another VLAN's number, and one for two VLANs.
    const duplicateNumber = await owner.post("vlans/bulk-update", { ids: [vlan.id], set: { number: 20 } });
    expect(duplicateNumber).toMatchObject(refusal(409, "entity_already_exists"));
    expect(duplicateNumber.body.params.issues).toMatchObject([{ path: "/set/number", id: vlan.id, value: 20 }]);
    const shared = await owner.post("vlans/bulk-update", {
      filter: `network_id = ${first.networkId}`,
      set: { number: 40 },
      dry_run: true,
    });
    expect(shared).toMatchObject(refusal(409, "entity_already_exists"));
    const both = await owner.post("vlans/bulk-update", {
      ids: [vlan.id, otherVlan.id],
      set: { number: 50 },
      dry_run: true,
    });
    expect(both.status).toBe(200);
    const unknown = await hosts({ ids: [a.id, vlan.id, b.id], set: { tags: [vlan.id] } });
    expect(unknown).toMatchObject(refusal(400, "entity_reference_invalid"));
    expect(unknown.body.params.issues).toMatchObject([
      { path: "/set/tags/0", id: a.id },
      { path: "/set/tags/0", id: b.id },
      { path: "/ids/1", value: vlan.id },
    ]);
    expectNothingWritten();
  });

  test("allows no two exclusive ranges with the same addresses, but lets them swap", async () => {
    await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.1.0.0/24" }));
    const range = (from: number, to: number, purpose: string) =>
      expectOk(
        owner.post("ip-ranges", {
          network_id: first.networkId,
          first: `10.1.0.${from}`,
          last: `10.1.0.${to}`,
          purpose,
        }),
      );
    const ranges = [await range(1, 9, "Static"), await range(5, 20, "Static"), await range(30, 40, "Dhcp")];
    tick();
    const ids = ranges.map(({ id }) => id);
    const both = await owner.post("ip-ranges/bulk-update", { ids, set: { purpose: "Dhcp" }, dry_run: true });
    expect(both).toMatchObject(refusal(409, "entity_already_exists"));
    expect(both.body.params.issues).toMatchObject([{ path: "/set/first", id: ids[1] }]);
    const [a, , c] = ids;
    expect((await owner.post("ip-ranges/bulk-update", { ids: [a, c], set: { purpose: "Reserved" } })).status).toBe(200);
    tick();
    const swapped = `id,first,last\r\n${a},10.1.0.30,10.1.0.40\r\n${c},10.1.0.1,10.1.0.9\r\n`;
    const send = (table: string) => owner.post("ip-ranges/import/csv", table, { "content-type": "text/csv" });
    expect((await send(swapped)).data).toMatchObject({ counts: { updated: 2 } });
    const overlapping = `network_id,first,last,purpose\r\n${[50, 55].map((start) => `${first.networkId},10.1.0.${start},10.1.0.${start + 9},Dhcp`).join("\r\n")}\r\n`;
    expect((await send(overlapping)).body.params?.issues).toMatchObject([{ row: 3, column: "first" }]);
  });

  test("applies the role rules to each record", async () => {
    const [{ client }, viewer] = [await newMember(), await newViewer()];
    const subnet = await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.1.0.0/24" }));
    tick();
    const expectNothingWritten = watchWrites();
    const body = { ids: [subnet.id], set: { subnet_type: "Lan" } };
    expect(await client.post("subnets/bulk-update", body)).toMatchObject(refusal(403, "auth_permission_denied"));
    expect(await viewer.client.post("subnets/bulk-update", body)).toMatchObject({ status: 403 });
    expectNothingWritten();
    expect((await client.post("subnets/bulk-update", { ...body, set: { name: "Hall" } })).status).toBe(200);
  });

  test("touches nothing beyond the caller's reach", async () => {
    const otherNetwork = await newNetwork();
    const host = await newHost({ name: "near" });
    const hidden = await newHost({ network_id: otherNetwork.id, name: "far" });
    const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
    tick();
    const found = await hosts({ filter: "name:*", set: { description: "mine" } }, client);
    expect(found.data.ids).toEqual([host.id]);
    expect(await hosts({ ids: [hidden.id], set: { description: "mine" } }, client)).toMatchObject(
      refusal(400, "entity_reference_invalid"),
    );
    expect(
      (await hosts({ filter: `network.id = ${otherNetwork.id}`, set: { description: "x" } }, client)).data.ids,
    ).toEqual([]);
    expect(versionsOf(hidden.id)).toHaveLength(1);
  });

  test("refuses malformed requests", async () => {
    const host = await newHost({ ports: [tcp(22)] });
    tick();
    const expectNothingWritten = watchWrites();
    for (const [body, paths] of [
      [{ set: { description: "x" } }, ["/ids"]],
      [{ ids: [host.id], filter: "id:*", set: { description: "x" } }, ["/filter"]],
      [{ ids: [], set: { description: "x" } }, ["/ids"]],
      [{ filter: "  ", set: { description: "x" } }, ["/filter"]],
      [{ filter: "nmae = 1", set: { description: "x" } }, ["/filter"]],
      [{ ids: [host.id], set: {} }, ["/set"]],
      [{ ids: [host.id] }, ["/set"]],
      [{ ids: [host.id], set: { descripton: "x" } }, ["/set/descripton"]],
      [{ ids: [host.id], set: { id: host.id } }, ["/set/id"]],
      [{ ids: [host.id], set: { ports: [] } }, ["/set/ports"]],
      [{ ids: [host.id], set: { network_id: first.networkId } }, ["/set/network_id"]],
      [{ ids: [host.id], set: { name: "" }, plan: "x" }, ["/set/name", "/plan"]],
      [{ ids: Array.from({ length: BULK_UPDATE_MAX + 1 }, () => host.id), set: { hidden: true } }, ["/ids"]],
    ] as Array<[unknown, string[]]>) {
      const response = await hosts(body);
      expect([response.status, response.body.params.issues?.map(({ path }: JsonRecord) => path)]).toEqual([400, paths]);
    }
    expectNothingWritten();
  });

  test("stores its reason, and is idempotent", async () => {
    const tag = await newTag({ name: "core" });
    tick();
    const send = () =>
      owner.post(
        "tags/bulk-update",
        { ids: [tag.id], set: { color: "Red", description: "x" } },
        { "idempotency-key": "k1", "x-change-reason": "CHG-1" },
      );
    const response = await send();
    expect((await send()).text).toBe(response.text);
    expect((await owner.get(`tags/${tag.id}/history`)).data[0].transaction.reason).toBe("CHG-1");
    expect(versionsOf(tag.id)).toHaveLength(2);
  });
});

describe("bulk-editable fields", () => {
  test("are those of the single update, except ids, containers and parts", () => {
    expect(Object.fromEntries(EDITABLE.map((writes) => [writes.resource.path, settableFields(writes)]))).toMatchObject({
      vlans: ["number", "name", "description", "custom_fields"],
      tags: ["name", "description", "color", "is_application"],
      ports: ["number", "protocol"],
      "ip-addresses": ["subnet_id", "ip_address", "mac_address", "name", "position"],
    });
  });
});
