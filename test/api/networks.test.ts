// Networks: access, assigned credentials, and dependents.

import { describe, expect, test } from "bun:test";
import { EXPIRY_DEFAULTS, networkKind } from "../../src/resources/networks/network.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { tagReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { clock, first, owner } = appliance;
const { inTransaction, newApiKey, newCredential, newHost, newIfEntry, newNetwork, newSubnet, newUser } = appliance;
const { newVlan, tick, watchWrites, versionsOf, writtenIn, newMember } = appliance;

describeRecords(
  {
    path: "/api/v1/networks",
    entity: "network",
    writeRole: "Admin",
    scope: "is a network",
    body: (_networkId, position) => ({
      name: `Campus ${position}`,
      description: null,
      tags: [],
      stale_after_hours: 168,
      ...EXPIRY_DEFAULTS,
    }),
    change: { field: "stale_after_hours", to: (body) => (body.stale_after_hours === 168 ? null : 168) },
    unique: "name",
    invalid: {
      body: { id: {}, name: "a\nb", description: false, tags: "core", stale_after_hours: 0, network_ids: [] },
      paths: ["/id", "/name", "/description", "/tags", "/stale_after_hours", "/network_ids"],
    },
    references: [tagReference("tags", (body, id) => ({ ...body, tags: [id] }))],
  },
  appliance,
);

describe("a network", () => {
  test("has no description, no tags and no staleness limit by default", async () => {
    expect(await expectOk(owner.post("networks", { name: "Campus" }))).toMatchObject({
      organization_id: first.organizationId,
      name: "Campus",
      description: null,
      tags: [],
      credential_ids: [],
      stale_after_hours: null,
    });
  });

  test("lets addresses and hosts expire after 30 days by default, those with random MAC addresses after 3", async () => {
    const { id, ...network } = await expectOk(owner.post("networks", { name: "Campus" }));
    expect(network).toMatchObject({
      expire_addresses_after_hours: 720,
      expire_hosts_after_hours: 720,
      expire_random_macs_after_hours: 72,
    });
    const never = await expectOk(owner.put(`networks/${id}`, { name: "Campus", expire_hosts_after_hours: null }));
    expect(never).toMatchObject({ expire_addresses_after_hours: 720, expire_hosts_after_hours: null });
    const other = { name: "Other", expire_hosts_after_hours: null, expire_random_macs_after_hours: 87_600 };
    expect(await expectOk(owner.post("networks", other))).toMatchObject(other);
  });

  test.each([[0], [87_601], [1.5], ["168"]])("rejects a limit of %p hours", async (hours) => {
    for (const field of ["stale_after_hours", ...Object.keys(EXPIRY_DEFAULTS)])
      expect(await owner.post("networks", { name: "Campus", [field]: hours })).toMatchObject(
        invalid({ path: `/${field}`, value: hours }),
      );
  });

  test("list refuses a network parameter", async () => {
    expect(await owner.get(`networks?network_id=${first.networkId}`)).toMatchObject(invalid({ path: "/network_id" }));
  });

  test("shows credentials assigned to the entire network, now and in the past", async () => {
    const networkId = first.networkId;
    const networkPath = `networks/${networkId}`;
    const initial = (await owner.get(networkPath)).data;
    const host = await newHost();
    tick();
    const wide = await newCredential({ assigned_network_ids: [networkId] });
    tick();
    const narrow = await newCredential({ host_assignments: [{ host_id: host.id }] });
    tick();
    const second = await newCredential({ assigned_network_ids: [networkId] });
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`credentials/${wide.id}?cascade=true`));
    tick();

    const current = (await owner.get(networkPath)).data;
    expect(current.credential_ids).toEqual([second.id]);
    expect(versionsOf(networkId).slice(1)).toMatchObject([
      { changed: ["credential_ids"] },
      { changed: ["credential_ids"] },
      { changed: ["credential_ids"] },
    ]);
    expect((await owner.get(`${networkPath}?at=${at}`)).data.credential_ids).toEqual([wide.id, second.id]);
    expect((await owner.get(`${networkPath}?at=${wide.valid_from}`)).data.credential_ids).toEqual([wide.id]);
    expect((await owner.get(`${networkPath}?at=${initial.valid_from}`)).data).toEqual({
      ...initial,
      valid_to: wide.valid_from,
    });
    expect((await owner.get("networks")).data).toEqual([current]);
    expect((await owner.get("networks?limit=0")).data).toEqual([current]);
    expect((await owner.get(`networks?at=${at}&limit=0`)).data[0].credential_ids).toEqual([wide.id, second.id]);
    expect(JSON.stringify(current)).not.toContain(narrow.id);
  });

  test("ignores credentials in its own update: the credential assigns them", async () => {
    const credential = await newCredential();
    const network = await newNetwork();
    const expectNothingWritten = watchWrites();
    expect(
      await expectOk(owner.put(`networks/${network.id}`, { ...network, credential_ids: [credential.id] })),
    ).toEqual(network);
    expectNothingWritten();
  });
});

describe("access to a network", () => {
  test("is granted to every Owner and Admin at creation, and to a Member when assigned", async () => {
    const member = await newMember();
    const admin = await newUser({ role: "Admin" });
    const network = await newNetwork({}, admin.client);
    for (const client of [admin.client, owner])
      expect((await client.get(`networks/${network.id}`)).data).toEqual(network);
    expect(await member.client.get(`networks/${network.id}`)).toMatchObject(
      refusal(404, "entity_not_found", { entity: "network", id: network.id }),
    );
  });

  test("limits lists, counts and responses at every timestamp", async () => {
    const first = (await owner.get(`networks/${appliance.first.networkId}`)).data;
    const networks = [first, await newNetwork(), await newNetwork(), await newNetwork()] as JsonRecord[];
    tick();
    const at = clock.text();
    tick();
    const assigned = [networks[3], networks[1]] as JsonRecord[];
    // Granted today and queried in the past: current permissions apply.
    const member = (await newUser({ role: "Member", networkIds: assigned.map((network) => network.id) })).client;
    const viewer = (await newUser({ role: "Viewer" })).client;
    for (const when of ["", `&at=${at}`]) {
      for (const limit of ["50", "0"]) {
        for (const [client, data] of [
          [member, [networks[1], networks[3]]],
          [viewer, []],
          [owner, networks],
        ] as const)
          expect((await client.get(`networks?limit=${limit}${when}`)).body).toMatchObject({
            data,
            meta: { pagination: { total_count: data.length } },
          });
      }
      expect((await member.get(`networks?limit=1${when}`)).body).toMatchObject({
        data: [networks[1]],
        meta: { pagination: { total_count: 2, has_more: true } },
      });
      const ids = networks.map((network) => network.id).join(",");
      expect((await member.get(`networks?ids=${ids}${when}`)).body).toMatchObject({
        data: [networks[1], networks[3]],
        meta: { pagination: { total_count: 2 } },
      });
      for (const [position, network] of networks.entries()) {
        const path = `networks/${network.id}${when.replace("&", "?")}`;
        expect((await member.get(path)).status).toBe(position % 2 === 1 ? 200 : 404);
        expect((await viewer.get(path)).status).toBe(404);
      }
    }
  });

  test("is equally limited with many networks", async () => {
    const ids = inTransaction((tx) =>
      Array.from({ length: 150 }, (_, position) => {
        const fields = {
          organization_id: first.organizationId,
          name: `many ${position}`,
          description: null,
          tags: [],
          stale_after_hours: null,
          ...EXPIRY_DEFAULTS,
        };
        return tx.create(networkKind, first.organizationId, fields).id;
      }),
    );
    const [vlan, hidden] = [await newVlan({ network_id: ids[5] }), await newVlan()];
    tick();
    const at = clock.text();
    tick();
    const { client } = await newUser({ role: "Viewer", networkIds: ids });
    for (const when of ["", `&at=${at}`]) {
      for (const limit of ["200", "0"]) {
        const list = await client.get(`networks?limit=${limit}${when}`);
        expect(list.data.map((network: JsonRecord) => network.id)).toEqual(ids);
        expect(list.body.meta.pagination.total_count).toBe(150);
        expect((await client.get(`vlans?limit=${limit}${when}`)).body).toMatchObject({
          data: [vlan],
          meta: { pagination: { total_count: 1 } },
        });
      }
      expect((await client.get(`vlans?ids=${vlan.id},${hidden.id}${when}`)).body).toMatchObject({
        data: [vlan],
        meta: { pagination: { total_count: 1 } },
      });
      expect((await client.get(`networks/${first.networkId}${when.replace("&", "?")}`)).status).toBe(404);
      expect((await client.get(`networks/${ids[149]}${when.replace("&", "?")}`)).status).toBe(200);
    }
  });

  test("is not granted to a key limited to other networks, regardless of its role", async () => {
    const network = await newNetwork();
    const { client } = newApiKey({ permissions: "Admin", networkIds: [network.id] });
    expect((await client.get("networks")).data).toEqual([network]);
    expect((await client.get(`networks/${first.networkId}`)).status).toBe(404);
    expect((await client.put(`networks/${first.networkId}`, { name: "Mine" })).status).toBe(404);
    expect((await client.delete(`networks/${first.networkId}`)).status).toBe(404);
    expect((await client.put(`networks/${network.id}`, { name: "Mine" })).data).toMatchObject({ name: "Mine" });
    const expectNothingWritten = watchWrites();
    expect(await client.post("networks", { name: "Out of reach" })).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Admin", all_networks: false }),
    );
    expectNothingWritten();
    expect((await client.delete(`networks/${network.id}`)).status).toBe(200);
  });
});

describe("deleting a network", () => {
  test("is refused while it contains records, counted by kind", async () => {
    const network = await newNetwork();
    const within = { network_id: network.id };
    await newVlan(within);
    await newSubnet({ ...within, cidr: "10.2.3.0/24" });
    await newSubnet(within);
    await newHost({ ...within, ip_addresses: [{ ip_address: "10.2.3.5" }] });
    await newCredential({ assigned_network_ids: [network.id] });
    const expectNothingWritten = watchWrites();
    expect(await owner.delete(`networks/${network.id}`)).toMatchObject(
      refusal(409, "entity_in_use", {
        entity: "network",
        id: network.id,
        dependants: { vlans: 1, subnets: 2, hosts: 1 },
      }),
    );
    expectNothingWritten();
  });

  test("deletes all its contents with cascade in one transaction, and the past remains", async () => {
    const network = await newNetwork();
    const within = { network_id: network.id };
    const vlan = await newVlan(within);
    const subnet = await newSubnet({ ...within, cidr: "10.2.3.0/24", vlan_id: vlan.id });
    const host = await newHost({ ...within, ip_addresses: [{ ip_address: "10.2.3.5" }] });
    const entry = await newIfEntry(host.id);
    const credential = await newCredential({
      assigned_network_ids: [network.id],
      host_assignments: [{ host_id: host.id }],
    });
    const otherSubnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const { id: memberId, client: member } = await newUser({
      role: "Member",
      networkIds: [network.id, first.networkId],
    });
    tick();
    const open = (await owner.get(`networks/${network.id}`)).data;
    const closed = await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    tick();

    expect(closed).toEqual({ ...open, credential_ids: [credential.id], valid_to: closed.valid_to });
    const sequence = versionsOf(network.id).at(-1)?.sequence as number;
    const lastOf = (id: string) => versionsOf(id).at(-1);
    for (const record of [network, vlan, subnet, host, host.ip_addresses[0], entry])
      expect(lastOf(record.id)).toMatchObject({ operation: "Deleted", sequence });
    expect(lastOf(credential.id)).toMatchObject({
      operation: "Updated",
      sequence,
      changed: ["assigned_network_ids", "host_assignments"],
    });
    expect(lastOf(memberId)).toMatchObject({ operation: "Updated", sequence, changed: ["network_ids"] });
    for (const path of ["networks", "vlans", "subnets", "hosts"]) {
      const current = await owner.get(`${path}?limit=1000`);
      expect(current.text).not.toContain(network.id);
      const past = await owner.get(`${path}?limit=1000&at=${credential.valid_from}`);
      expect(past.text).toContain(network.id);
      // Only Owner and Admin can access deleted networks: current permissions apply.
      expect((await member.get(`${path}?at=${credential.valid_from}`)).text).not.toContain(network.id);
    }
    expect((await owner.get("subnets")).data).toEqual([otherSubnet]);
    expect((await owner.get(`subnets?network_id=${network.id}&at=${credential.valid_from}`)).data).toMatchObject([
      { id: subnet.id },
    ]);
    expect((await member.get("networks")).body.meta.pagination.total_count).toBe(1);
  });

  test("is refused in bulk as a whole if one has contents, and deletes everything with cascade", async () => {
    const [empty, full] = [await newNetwork(), await newNetwork()];
    const subnet = await newSubnet({ network_id: full.id });
    const credential = await newCredential({ assigned_network_ids: [empty.id, full.id, first.networkId] });
    const key = newApiKey({ permissions: "Admin", networkIds: [empty.id] });
    const expectNothingWritten = watchWrites();
    const removeAll = (query: string, caller = owner) =>
      caller.post(`networks/bulk-delete${query}`, [full.id, empty.id]);
    expect(await removeAll("")).toMatchObject(
      refusal(409, "entity_in_use", { entity: "network", id: full.id, dependants: { subnets: 1 } }),
    );
    expect(await removeAll("?cascade=true", key.client)).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "network", ids: [full.id] }),
    );
    expectNothingWritten();
    const closed = await expectOk(removeAll("?cascade=true"));
    expect(closed).toMatchObject(
      [empty, full].map((network) => ({
        id: network.id,
        credential_ids: [credential.id],
        valid_to: closed[0].valid_to,
      })),
    );
    expect(writtenIn()).toEqual({
      "Deleted network": 2,
      "Deleted subnet": 1,
      "Deleted credential_assignment": 2,
      "Updated credential": 1,
      "Updated api_key": 1,
    });
    expect((await owner.get(`subnets/${subnet.id}`)).status).toBe(404);
    expect((await owner.get(`credentials/${credential.id}`)).data.assigned_network_ids).toEqual([first.networkId]);
  });
});
