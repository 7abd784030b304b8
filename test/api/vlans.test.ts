// VLANs: numbers within a network, and what refers to them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import {
  made,
  newHost,
  newNetwork,
  newSubnet,
  newVlan,
  transactionCount,
  versionsOf,
  writtenIn,
} from "../support/factories.ts";
import { describeRecords } from "../support/record-battery.ts";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

describeRecords(
  {
    path: "/api/v1/vlans",
    entity: "vlan",
    writeRole: "Member",
    roleBelow: "Viewer",
    place: "in a network",
    body: (networkId, position) => ({
      network_id: networkId,
      number: 100 + position,
      name: "Voice",
      description: null,
    }),
    change: { field: "description", to: (body) => (body["description"] === null ? "telephones" : null) },
    unique: "number",
    invalid: {
      body: { id: 1, network_id: "x", number: "120", name: " ", description: [], tags: [] },
      paths: ["/id", "/number", "/name", "/description", "/tags"],
    },
    references: [
      {
        field: "network_id",
        entity: "network",
        naming: (body, id) => ({ ...body, network_id: id }),
        make: async (by) => (await made(by.post("/api/v1/networks", { name: "Reference" })))["id"],
      },
    ],
  },
  () => appliance,
);

describe("a VLAN", () => {
  test("is called by its number when it gets no name, and keeps the name when its number changes", async () => {
    const vlan = await made(
      appliance.owner.post("/api/v1/vlans", { network_id: appliance.first.networkId, number: 120 }),
    );
    expect(vlan).toMatchObject({ number: 120, name: "VLAN 120", description: null, source: { type: "Manual" } });
    appliance.clock.advance(1_000);
    expect(await made(appliance.owner.put(`/api/v1/vlans/${vlan["id"]}`, { number: 130 }))).toMatchObject({
      id: vlan["id"],
      number: 130,
      name: "VLAN 120",
    });
    expect(versionsOf(appliance, vlan["id"]).at(-1)).toMatchObject({ operation: "Updated", changed: ["number"] });
  });

  test.each([[0], [4095], [-1], [1.5], [null], [true]])("has no number %p: 1 to 4094 are there", async (number) => {
    const before = transactionCount(appliance);
    const answer = await appliance.owner.post("/api/v1/vlans", { network_id: appliance.first.networkId, number });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "validation_failed", params: { issues: [{ path: "/number", value: number }] } },
    });
    expect(answer.body.params.issues[0].message).toMatch(/1 to 4094/);
    expect(transactionCount(appliance)).toBe(before);
  });

  test.each([[1], [4094]])("has the number %p", async (number) => {
    expect(await newVlan(appliance, { number })).toMatchObject({ number });
  });

  test("has a number that is its own in its network, not in others", async () => {
    const other = await newNetwork(appliance);
    const vlan = await newVlan(appliance, { number: 7 });
    expect(await newVlan(appliance, { number: 7, network_id: other["id"] })).toMatchObject({
      number: 7,
      network_id: other["id"],
    });
    expect((await appliance.owner.get(`/api/v1/vlans?network_id=${appliance.first.networkId}`)).body).toMatchObject({
      data: [vlan],
      meta: { pagination: { total_count: 1 } },
    });
  });

  test("is not deleted under the records that name it, which are counted by kind", async () => {
    const vlan = await newVlan(appliance, { number: 7 });
    await newSubnet(appliance, { vlan_id: vlan["id"] });
    await newSubnet(appliance, { vlan_id: vlan["id"] });
    const host = await newHost(appliance);
    // Named twice by one interface entry, which is one dependant all the same.
    await made(
      appliance.owner.post("/api/v1/if-entries", {
        host_id: host["id"],
        if_index: 1,
        if_descr: "eth0",
        native_vlan_id: vlan["id"],
        vlan_ids: [vlan["id"]],
      }),
    );
    const before = transactionCount(appliance);
    for (const query of ["", "?cascade=false"]) {
      expect(await appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}${query}`)).toMatchObject({
        status: 409,
        body: {
          code: "entity_in_use",
          error:
            "The VLAN is in use by 2 subnets, 1 interface entry; take the VLAN off these first, or repeat with cascade=true, which does that and keeps them.",
          params: { entity: "vlan", id: vlan["id"], dependants: { subnets: 2, if_entries: 1 } },
        },
      });
    }
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is taken off what names it by a cascade, in one transaction", async () => {
    const [vlan, kept] = [await newVlan(appliance, { number: 7 }), await newVlan(appliance, { number: 8 })];
    const subnet = await newSubnet(appliance, { vlan_id: vlan["id"] });
    const host = await newHost(appliance);
    const entry = await made(
      appliance.owner.post("/api/v1/if-entries", {
        host_id: host["id"],
        if_index: 1,
        if_descr: "eth0",
        native_vlan_id: vlan["id"],
        vlan_ids: [vlan["id"], kept["id"]],
      }),
    );
    appliance.clock.advance(1_000);
    const closed = await made(appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}?cascade=true`));
    appliance.clock.advance(1_000);
    expect((await appliance.owner.get(`/api/v1/subnets/${subnet["id"]}`)).data).toMatchObject({
      vlan_id: null,
      updated_at: closed["valid_to"],
    });
    const left = (await appliance.owner.get(`/api/v1/if-entries/${entry["id"]}`)).data;
    expect(left).toMatchObject({ vlan_ids: [kept["id"]], updated_at: closed["valid_to"] });
    expect(left).not.toHaveProperty("native_vlan_id");
    expect((await appliance.owner.get(`/api/v1/subnets/${subnet["id"]}?at=${subnet["valid_from"]}`)).data).toEqual({
      ...subnet,
      valid_to: closed["valid_to"],
    });
    const sequence = versionsOf(appliance, vlan["id"]).at(-1)?.sequence as number;
    expect(versionsOf(appliance, subnet["id"]).at(-1)).toMatchObject({
      operation: "Updated",
      sequence,
      changed: ["vlan_id"],
    });
    expect(versionsOf(appliance, entry["id"]).at(-1)).toMatchObject({
      operation: "Updated",
      sequence,
      changed: ["native_vlan_id", "vlan_ids"],
    });
  });

  test("is deleted together with others that one record names, which makes one version of that", async () => {
    const [first, second, kept] = [
      await newVlan(appliance, { number: 7 }),
      await newVlan(appliance, { number: 8 }),
      await newVlan(appliance, { number: 9 }),
    ];
    const host = await newHost(appliance);
    const entry = await made(
      appliance.owner.post("/api/v1/if-entries", {
        host_id: host["id"],
        if_index: 1,
        if_descr: "eth0",
        native_vlan_id: first["id"],
        vlan_ids: [first["id"], kept["id"], second["id"]],
      }),
    );
    const before = transactionCount(appliance);
    expect(await appliance.owner.post("/api/v1/vlans/bulk-delete", [first["id"], second["id"]])).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", params: { dependants: { if_entries: 1 } } },
    });
    expect(transactionCount(appliance)).toBe(before);
    expect(
      (await appliance.owner.post("/api/v1/vlans/bulk-delete?cascade=true", [first["id"], second["id"]])).data,
    ).toMatchObject([{ id: first["id"] }, { id: second["id"] }]);
    expect(writtenIn(appliance)).toEqual({ "Deleted vlan": 2, "Updated if_entry": 1, "Updated host": 1 });
    expect((await appliance.owner.get(`/api/v1/if-entries/${entry["id"]}`)).data["vlan_ids"]).toEqual([kept["id"]]);
  });

  test("is deleted without further ado when nothing names it, also with cascade=true", async () => {
    const vlan = await newVlan(appliance);
    expect((await appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}?cascade=true`)).status).toBe(200);
    expect(await appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}?cascade=yes`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/cascade", value: "yes" }] } },
    });
  });
});
