// VLANs: numbers within a network, and references.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, refusal } from "../support/appliance/factories.ts";
import { networkReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { first, newHost, newIfEntry, newNetwork, newSubnet, newVlan, owner, tick } = appliance;
const { watchWrites, versionsOf, writtenIn } = appliance;

describeRecords(
  {
    path: "/api/v1/vlans",
    entity: "vlan",
    writeRole: "Member",
    scope: "in a network",
    body: (networkId, position) => ({
      network_id: networkId,
      number: 100 + position,
      name: "Voice",
      description: null,
    }),
    change: { field: "description", to: (body) => (body.description === null ? "telephones" : null) },
    unique: "number",
    invalid: {
      body: { id: 1, network_id: "x", number: "120", name: " ", description: [], tags: [] },
      paths: ["/id", "/number", "/name", "/description", "/tags"],
    },
    references: [networkReference()],
  },
  appliance,
);

describe("a VLAN", () => {
  test("is named by its number by default, and keeps its name when the number changes", async () => {
    const vlan = await expectOk(owner.post("vlans", { network_id: first.networkId, number: 120 }));
    expect(vlan).toMatchObject({ number: 120, name: "VLAN 120", description: null, source: { type: "Manual" } });
    tick();
    expect(await expectOk(owner.put(`vlans/${vlan.id}`, { number: 130 }))).toMatchObject({
      id: vlan.id,
      number: 130,
      name: "VLAN 120",
    });
    expect(versionsOf(vlan.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["number"] });
  });

  test.each([[0], [4095], [-1], [1.5], [null], [true]])(
    "rejects the number %p: 1 to 4094 are valid",
    async (number) => {
      const expectNothingWritten = watchWrites();
      const response = await owner.post("vlans", { network_id: first.networkId, number });
      expect(response).toMatchObject(invalid({ path: "/number", value: number }));
      expect(response.body.params.issues[0].message).toMatch(/1 to 4094/);
      expectNothingWritten();
    },
  );

  test.each([[1], [4094]])("accepts the number %p", async (number) => {
    expect(await newVlan({ number })).toMatchObject({ number });
  });

  test("has a number unique within its network", async () => {
    const other = await newNetwork();
    const vlan = await newVlan({ number: 7 });
    expect(await newVlan({ number: 7, network_id: other.id })).toMatchObject({ number: 7, network_id: other.id });
    expect((await owner.get(`vlans?network_id=${first.networkId}`)).body).toMatchObject({
      data: [vlan],
      meta: { pagination: { total_count: 1 } },
    });
  });

  test("refuses deletion while referenced, and counts the references by kind", async () => {
    const vlan = await newVlan({ number: 7 });
    await newSubnet({ vlan_id: vlan.id });
    await newSubnet({ vlan_id: vlan.id });
    // Referenced twice by one interface entry, which is still one dependent.
    await newIfEntry((await newHost()).id, { native_vlan_id: vlan.id, vlan_ids: [vlan.id] });
    const expectNothingWritten = watchWrites();
    for (const query of ["", "?cascade=false"]) {
      expect(await owner.delete(`vlans/${vlan.id}${query}`)).toMatchObject({
        status: 409,
        body: {
          code: "entity_in_use",
          error:
            "The VLAN is in use by 2 subnets, 1 interface entry; remove the VLAN from these first, or repeat with cascade=true to do that and keep them.",
          params: { entity: "vlan", id: vlan.id, dependants: { subnets: 2, if_entries: 1 } },
        },
      });
    }
    expectNothingWritten();
  });

  test("clears all references in one transaction on a cascading delete", async () => {
    const [vlan, remaining] = [await newVlan({ number: 7 }), await newVlan({ number: 8 })];
    const subnet = await newSubnet({ vlan_id: vlan.id });
    const entry = await newIfEntry((await newHost()).id, {
      native_vlan_id: vlan.id,
      vlan_ids: [vlan.id, remaining.id],
    });
    tick();
    const closed = await expectOk(owner.delete(`vlans/${vlan.id}?cascade=true`));
    tick();
    expect((await owner.get(`subnets/${subnet.id}`)).data).toMatchObject({
      vlan_id: null,
      updated_at: closed.valid_to,
    });
    const updated = (await owner.get(`if-entries/${entry.id}`)).data;
    expect(updated).toMatchObject({ vlan_ids: [remaining.id], updated_at: closed.valid_to });
    expect(updated).not.toHaveProperty("native_vlan_id");
    expect((await owner.get(`subnets/${subnet.id}?at=${subnet.valid_from}`)).data).toEqual({
      ...subnet,
      valid_to: closed.valid_to,
    });
    const sequence = versionsOf(vlan.id).at(-1)?.sequence as number;
    expect(versionsOf(subnet.id).at(-1)).toMatchObject({ operation: "Updated", sequence, changed: ["vlan_id"] });
    expect(versionsOf(entry.id).at(-1)).toMatchObject({
      operation: "Updated",
      sequence,
      changed: ["native_vlan_id", "vlan_ids"],
    });
  });

  test("creates one version of a record that references several VLANs deleted in bulk", async () => {
    const [first, second, remaining] = [
      await newVlan({ number: 7 }),
      await newVlan({ number: 8 }),
      await newVlan({ number: 9 }),
    ];
    const entry = await newIfEntry((await newHost()).id, {
      native_vlan_id: first.id,
      vlan_ids: [first.id, remaining.id, second.id],
    });
    const expectNothingWritten = watchWrites();
    expect(await owner.post("vlans/bulk-delete", [first.id, second.id])).toMatchObject(
      refusal(409, "entity_in_use", { dependants: { if_entries: 1 } }),
    );
    expectNothingWritten();
    expect((await owner.post("vlans/bulk-delete?cascade=true", [first.id, second.id])).data).toMatchObject([
      { id: first.id },
      { id: second.id },
    ]);
    expect(writtenIn()).toEqual({ "Deleted vlan": 2, "Updated if_entry": 1, "Updated host": 1 });
    expect((await owner.get(`if-entries/${entry.id}`)).data.vlan_ids).toEqual([remaining.id]);
  });

  test("is deleted with or without cascade=true if unreferenced", async () => {
    const vlan = await newVlan();
    expect((await owner.delete(`vlans/${vlan.id}?cascade=true`)).status).toBe(200);
    expect(await owner.delete(`vlans/${vlan.id}?cascade=yes`)).toMatchObject(
      invalid({ path: "/cascade", value: "yes" }),
    );
  });
});
