// Networks: who reaches them, which credentials are theirs, and what goes with them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { networkKind } from "../../src/resources/networks/network.ts";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import {
  inTransaction,
  made,
  newApiKey,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newUser,
  newVlan,
  transactionCount,
  versionsOf,
  writtenIn,
  type Wire,
} from "../support/factories.ts";
import { describeRecords } from "../support/record-battery.ts";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

describeRecords(
  {
    path: "/api/v1/networks",
    entity: "network",
    writeRole: "Admin",
    roleBelow: "Member",
    place: "is a network",
    body: (_networkId, position) => ({
      name: `Campus ${position}`,
      description: null,
      tags: [],
      stale_after_hours: 168,
    }),
    change: { field: "stale_after_hours", to: (body) => (body["stale_after_hours"] === 168 ? null : 168) },
    unique: "name",
    invalid: {
      body: { id: {}, name: "a\nb", description: false, tags: "core", stale_after_hours: 0, network_ids: [] },
      paths: ["/id", "/name", "/description", "/tags", "/stale_after_hours", "/network_ids"],
    },
    references: [
      {
        field: "tags",
        entity: "tag",
        naming: (body, id) => ({ ...body, tags: [id] }),
        make: async (by) => (await made(by.post("/api/v1/tags", { name: "Reference", color: "Red" })))["id"],
      },
    ],
  },
  () => appliance,
);

describe("a network", () => {
  test("has no description, no tags and never goes stale when nothing is said", async () => {
    expect(await made(appliance.owner.post("/api/v1/networks", { name: "Campus" }))).toMatchObject({
      organization_id: appliance.first.organizationId,
      name: "Campus",
      description: null,
      tags: [],
      credential_ids: [],
      stale_after_hours: null,
    });
  });

  test.each([[0], [87_601], [1.5], ["168"]])("does not go stale after %p hours", async (hours) => {
    expect(await appliance.owner.post("/api/v1/networks", { name: "Campus", stale_after_hours: hours })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", params: { issues: [{ path: "/stale_after_hours", value: hours }] } },
    });
  });

  test("is not filtered by a network: the parameter is refused", async () => {
    expect(await appliance.owner.get(`/api/v1/networks?network_id=${appliance.first.networkId}`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/network_id" }] } },
    });
  });

  test("shows the credentials assigned to the whole of it, then and now", async () => {
    const networkId = appliance.first.networkId;
    const one = `/api/v1/networks/${networkId}`;
    const bare = (await appliance.owner.get(one)).data;
    const host = await newHost(appliance);
    appliance.clock.advance(1_000);
    const wide = await newCredential(appliance, { assigned_network_ids: [networkId] });
    appliance.clock.advance(1_000);
    const narrow = await newCredential(appliance, { host_assignments: [{ host_id: host["id"] }] });
    appliance.clock.advance(1_000);
    const second = await newCredential(appliance, { assigned_network_ids: [networkId] });
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`/api/v1/credentials/${wide["id"]}?cascade=true`));
    appliance.clock.advance(1_000);

    const now = (await appliance.owner.get(one)).data;
    expect(now.credential_ids).toEqual([second["id"]]);
    expect(versionsOf(appliance, networkId).slice(1)).toMatchObject([
      { changed: ["credential_ids"] },
      { changed: ["credential_ids"] },
      { changed: ["credential_ids"] },
    ]);
    expect((await appliance.owner.get(`${one}?at=${at}`)).data.credential_ids).toEqual([wide["id"], second["id"]]);
    expect((await appliance.owner.get(`${one}?at=${wide["valid_from"]}`)).data.credential_ids).toEqual([wide["id"]]);
    expect((await appliance.owner.get(`${one}?at=${bare["valid_from"]}`)).data).toEqual({
      ...bare,
      valid_to: wide["valid_from"],
    });
    expect((await appliance.owner.get("/api/v1/networks")).data).toEqual([now]);
    expect((await appliance.owner.get("/api/v1/networks?limit=0")).data).toEqual([now]);
    expect((await appliance.owner.get(`/api/v1/networks?at=${at}&limit=0`)).data[0].credential_ids).toEqual([
      wide["id"],
      second["id"],
    ]);
    expect(JSON.stringify(now)).not.toContain(narrow["id"]);
  });

  test("does not take credentials from its own update: they are the credential's to assign", async () => {
    const credential = await newCredential(appliance);
    const network = await newNetwork(appliance);
    const before = transactionCount(appliance);
    expect(
      await made(
        appliance.owner.put(`/api/v1/networks/${network["id"]}`, { ...network, credential_ids: [credential["id"]] }),
      ),
    ).toEqual(network);
    expect(transactionCount(appliance)).toBe(before);
  });
});

describe("who reaches a network", () => {
  test("is every Owner and Admin from its first moment, and a Member when it is given to them", async () => {
    const member = await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
    const admin = await newUser(appliance, { role: "Admin" });
    const network = await newNetwork(appliance, {}, admin.client);
    for (const client of [admin.client, appliance.owner])
      expect((await client.get(`/api/v1/networks/${network["id"]}`)).data).toEqual(network);
    expect(await member.client.get(`/api/v1/networks/${network["id"]}`)).toMatchObject({
      status: 404,
      body: { code: "entity_not_found", params: { entity: "network", id: network["id"] } },
    });
  });

  test("sees only these networks in lists, counts and answers, at every instant", async () => {
    const first = (await appliance.owner.get(`/api/v1/networks/${appliance.first.networkId}`)).data;
    const networks = [
      first,
      await newNetwork(appliance),
      await newNetwork(appliance),
      await newNetwork(appliance),
    ] as Wire[];
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    const seen = [networks[3], networks[1]] as Wire[];
    // Given today, and seen at an instant before it was: rights are those of today.
    const member = (await newUser(appliance, { role: "Member", networkIds: seen.map((network) => network["id"]) }))
      .client;
    const viewer = (await newUser(appliance, { role: "Viewer" })).client;
    for (const when of ["", `&at=${at}`]) {
      for (const limit of ["50", "0"]) {
        expect((await member.get(`/api/v1/networks?limit=${limit}${when}`)).body).toMatchObject({
          data: [networks[1], networks[3]],
          meta: { pagination: { total_count: 2 } },
        });
        expect((await viewer.get(`/api/v1/networks?limit=${limit}${when}`)).body).toMatchObject({
          data: [],
          meta: { pagination: { total_count: 0 } },
        });
        expect((await appliance.owner.get(`/api/v1/networks?limit=${limit}${when}`)).body).toMatchObject({
          data: networks,
          meta: { pagination: { total_count: 4 } },
        });
      }
      expect((await member.get(`/api/v1/networks?limit=1${when}`)).body).toMatchObject({
        data: [networks[1]],
        meta: { pagination: { total_count: 2, has_more: true } },
      });
      const ids = networks.map((network) => network["id"]).join(",");
      expect((await member.get(`/api/v1/networks?ids=${ids}${when}`)).body).toMatchObject({
        data: [networks[1], networks[3]],
        meta: { pagination: { total_count: 2 } },
      });
      for (const [position, network] of networks.entries()) {
        const path = `/api/v1/networks/${network["id"]}${when.replace("&", "?")}`;
        expect((await member.get(path)).status).toBe(position % 2 === 1 ? 200 : 404);
        expect((await viewer.get(path)).status).toBe(404);
      }
    }
  });

  test("is seen the same when they are very many", async () => {
    const ids = inTransaction(appliance, (tx) =>
      Array.from({ length: 150 }, (_, position) => {
        const fields = {
          organization_id: appliance.first.organizationId,
          name: `many ${position}`,
          description: null,
          tags: [],
          stale_after_hours: null,
        };
        return tx.create(networkKind, appliance.first.organizationId, fields).id;
      }),
    );
    const [vlan, hidden] = [await newVlan(appliance, { network_id: ids[5] }), await newVlan(appliance)];
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    const { client } = await newUser(appliance, { role: "Viewer", networkIds: ids });
    for (const when of ["", `&at=${at}`]) {
      for (const limit of ["200", "0"]) {
        const list = await client.get(`/api/v1/networks?limit=${limit}${when}`);
        expect(list.data.map((network: Wire) => network["id"])).toEqual(ids);
        expect(list.body.meta.pagination.total_count).toBe(150);
        expect((await client.get(`/api/v1/vlans?limit=${limit}${when}`)).body).toMatchObject({
          data: [vlan],
          meta: { pagination: { total_count: 1 } },
        });
      }
      expect((await client.get(`/api/v1/vlans?ids=${vlan["id"]},${hidden["id"]}${when}`)).body).toMatchObject({
        data: [vlan],
        meta: { pagination: { total_count: 1 } },
      });
      expect((await client.get(`/api/v1/networks/${appliance.first.networkId}${when.replace("&", "?")}`)).status).toBe(
        404,
      );
      expect((await client.get(`/api/v1/networks/${ids[149]}${when.replace("&", "?")}`)).status).toBe(200);
    }
  });

  test("is no key that is confined to other networks, whatever its role", async () => {
    const network = await newNetwork(appliance);
    const { client } = newApiKey(appliance, { permissions: "Admin", networkIds: [network["id"]] });
    expect((await client.get("/api/v1/networks")).data).toEqual([network]);
    expect((await client.get(`/api/v1/networks/${appliance.first.networkId}`)).status).toBe(404);
    expect((await client.put(`/api/v1/networks/${appliance.first.networkId}`, { name: "Mine" })).status).toBe(404);
    expect((await client.delete(`/api/v1/networks/${appliance.first.networkId}`)).status).toBe(404);
    expect((await client.put(`/api/v1/networks/${network["id"]}`, { name: "Mine" })).data).toMatchObject({
      name: "Mine",
    });
    const before = transactionCount(appliance);
    expect(await client.post("/api/v1/networks", { name: "Out of reach" })).toMatchObject({
      status: 403,
      body: { code: "auth_permission_denied", params: { required: "Admin", all_networks: false } },
    });
    expect(transactionCount(appliance)).toBe(before);
    expect((await client.delete(`/api/v1/networks/${network["id"]}`)).status).toBe(200);
  });
});

describe("deleting a network", () => {
  test("is refused while something lives in it, counted by kind", async () => {
    const network = await newNetwork(appliance);
    const within = { network_id: network["id"] };
    await newVlan(appliance, within);
    await newSubnet(appliance, { ...within, cidr: "10.2.3.0/24" });
    await newSubnet(appliance, within);
    await newHost(appliance, { ...within, ip_addresses: [{ ip_address: "10.2.3.5" }] });
    await newCredential(appliance, { assigned_network_ids: [network["id"]] });
    const before = transactionCount(appliance);
    expect(await appliance.owner.delete(`/api/v1/networks/${network["id"]}`)).toMatchObject({
      status: 409,
      body: {
        code: "entity_in_use",
        params: { entity: "network", id: network["id"], dependants: { vlans: 1, subnets: 2, hosts: 1 } },
      },
    });
    expect(transactionCount(appliance)).toBe(before);
  });

  test("with a cascade takes everything in it along, in one transaction, and the past stays", async () => {
    const network = await newNetwork(appliance);
    const within = { network_id: network["id"] };
    const vlan = await newVlan(appliance, within);
    const subnet = await newSubnet(appliance, { ...within, cidr: "10.2.3.0/24", vlan_id: vlan["id"] });
    const host = await newHost(appliance, { ...within, ip_addresses: [{ ip_address: "10.2.3.5" }] });
    const credential = await newCredential(appliance, {
      assigned_network_ids: [network["id"]],
      host_assignments: [{ host_id: host["id"] }],
    });
    const kept = await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const { id: memberId, client: member } = await newUser(appliance, {
      role: "Member",
      networkIds: [network["id"], appliance.first.networkId],
    });
    appliance.clock.advance(1_000);
    const open = (await appliance.owner.get(`/api/v1/networks/${network["id"]}`)).data;
    const closed = await made(appliance.owner.delete(`/api/v1/networks/${network["id"]}?cascade=true`));
    appliance.clock.advance(1_000);

    expect(closed).toEqual({ ...open, credential_ids: [credential["id"]], valid_to: closed["valid_to"] });
    const sequence = versionsOf(appliance, network["id"]).at(-1)?.sequence as number;
    const lastOf = (id: string) => versionsOf(appliance, id).at(-1);
    for (const record of [network, vlan, subnet, host, host["ip_addresses"][0]])
      expect(lastOf(record["id"])).toMatchObject({ operation: "Deleted", sequence });
    expect(lastOf(credential["id"])).toMatchObject({
      operation: "Updated",
      sequence,
      changed: ["assigned_network_ids", "host_assignments"],
    });
    expect(lastOf(memberId)).toMatchObject({ operation: "Updated", sequence, changed: ["network_ids"] });
    for (const path of ["networks", "vlans", "subnets", "hosts"]) {
      const now = await appliance.owner.get(`/api/v1/${path}?limit=1000`);
      expect(now.text).not.toContain(network["id"]);
      const then = await appliance.owner.get(`/api/v1/${path}?limit=1000&at=${credential["valid_from"]}`);
      expect(then.text).toContain(network["id"]);
      // Nobody but Owner and Admin reaches what is gone: rights are those of today.
      expect((await member.get(`/api/v1/${path}?at=${credential["valid_from"]}`)).text).not.toContain(network["id"]);
    }
    expect((await appliance.owner.get("/api/v1/subnets")).data).toEqual([kept]);
    expect(
      (await appliance.owner.get(`/api/v1/subnets?network_id=${network["id"]}&at=${credential["valid_from"]}`)).data,
    ).toMatchObject([{ id: subnet["id"] }]);
    expect((await member.get("/api/v1/networks")).body.meta.pagination.total_count).toBe(1);
  });

  test("together with others is refused for all when something lives in one of them, and with a cascade takes everything along", async () => {
    const [empty, full] = [await newNetwork(appliance), await newNetwork(appliance)];
    const subnet = await newSubnet(appliance, { network_id: full["id"] });
    const credential = await newCredential(appliance, {
      assigned_network_ids: [empty["id"], full["id"], appliance.first.networkId],
    });
    const key = newApiKey(appliance, { permissions: "Admin", networkIds: [empty["id"]] });
    const before = transactionCount(appliance);
    const removeAll = (query: string, by = appliance.owner) =>
      by.post(`/api/v1/networks/bulk-delete${query}`, [full["id"], empty["id"]]);
    expect(await removeAll("")).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", params: { entity: "network", id: full["id"], dependants: { subnets: 1 } } },
    });
    expect(await removeAll("?cascade=true", key.client)).toMatchObject({
      status: 400,
      body: { code: "entity_reference_invalid", params: { entity: "network", ids: [full["id"]] } },
    });
    expect(transactionCount(appliance)).toBe(before);
    const closed = await made(removeAll("?cascade=true"));
    expect(closed).toMatchObject(
      [empty, full].map((network) => ({
        id: network["id"],
        credential_ids: [credential["id"]],
        valid_to: closed[0]["valid_to"],
      })),
    );
    expect(writtenIn(appliance)).toEqual({
      "Deleted network": 2,
      "Deleted subnet": 1,
      "Deleted credential_assignment": 2,
      "Updated credential": 1,
      "Updated api_key": 1,
    });
    expect((await appliance.owner.get(`/api/v1/subnets/${subnet["id"]}`)).status).toBe(404);
    expect((await appliance.owner.get(`/api/v1/credentials/${credential["id"]}`)).data["assigned_network_ids"]).toEqual(
      [appliance.first.networkId],
    );
  });
});
