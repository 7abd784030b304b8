// Credential assignments: one association, written and read from both the credential and the host.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";

const UNKNOWN_ID = "0190a000-0000-4000-8000-00000000dead";
const NEW_ADDRESS_ID = "0190a000-0000-4000-8000-0000000000aa";

const appliance = applianceForEach();
const { clock, first, owner, newApiKey, newNetwork, newSubnet, newUser, tick, watchWrites } = appliance;
const { versionsOf, newMember, newViewer, newStranger } = appliance;
let networkId: string;
let host: JsonRecord;
let credential: JsonRecord;
/** The host's addresses, in order. */
let addressIds: string[];

beforeEach(async () => {
  networkId = first.networkId;
  await newSubnet({ cidr: "10.2.0.0/16" });
  host = await newHost({ ip_addresses: [{ ip_address: "10.2.0.1" }, { ip_address: "10.2.0.2" }] });
  addressIds = host.ip_addresses.map((address: JsonRecord) => address.id);
  credential = await newCredential();
});

async function newHost(fields: JsonRecord = {}): Promise<JsonRecord> {
  const created = await appliance.newHost(fields);
  tick();
  return created;
}

async function newCredential(fields: JsonRecord = {}): Promise<JsonRecord> {
  const created = await appliance.newCredential(fields);
  tick();
  return created;
}

/** Updates the credential with changes to its original fields. */
async function assign(changes: JsonRecord, caller: Client = owner): Promise<ApiResponse> {
  const response = await caller.put(`credentials/${credential.id}`, { ...credential, ...changes });
  tick();
  return response;
}

/** Updates the host with its required fields and these changes. */
async function updateHost(changes: JsonRecord, caller: Client = owner): Promise<ApiResponse> {
  const response = await caller.put(`hosts/${host.id}`, hostBody(host, changes));
  tick();
  return response;
}

/** Assignments as shown by both sides, now or as of a timestamp. */
async function views(
  at?: string,
): Promise<{ credential: { networks: string[]; hosts: JsonRecord[] }; host: JsonRecord[] }> {
  const query = at === undefined ? "" : `?at=${at}`;
  const ofCredential = await expectOk(owner.get(`credentials/${credential.id}${query}`));
  const ofHost = await expectOk(owner.get(`hosts/${host.id}${query}`));
  return {
    credential: { networks: ofCredential.assigned_network_ids, hosts: ofCredential.host_assignments },
    host: ofHost.credential_assignments,
  };
}

/** Changed fields of each version of a record; null for its creation and its end. */
function changesOf(record: JsonRecord): Array<string[] | null> {
  return versionsOf(record.id).map((version) => version.changed);
}

function refusal(response: ApiResponse): { code: string; params: JsonRecord } {
  expect(response.status).toBe(400);
  return { code: response.body.code, params: response.body.params };
}

describe("an assignment", () => {
  test("appears on the host when written on the credential, and both get a version in the same transaction", async () => {
    const response = await assign({ host_assignments: [{ host_id: host.id }] });
    expect(response.data.host_assignments).toEqual([{ host_id: host.id }]);
    expect(await views()).toEqual({
      credential: { networks: [], hosts: [{ host_id: host.id }] },
      host: [{ credential_id: credential.id }],
    });
    expect(changesOf(credential)).toEqual([null, ["host_assignments"]]);
    expect(changesOf(host)).toEqual([null, ["credential_assignments"]]);
    expect(versionsOf(host.id).at(-1)?.sequence).toBe(versionsOf(credential.id).at(-1)?.sequence as number);
  });

  test("appears on the credential when written on the host, and both get a version in the same transaction", async () => {
    const response = await updateHost({
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [addressIds[1]] }],
    });
    expect(response.data.credential_assignments).toEqual([
      { credential_id: credential.id, ip_address_ids: [addressIds[1]] },
    ]);
    expect((await views()).credential.hosts).toEqual([{ host_id: host.id, ip_address_ids: [addressIds[1]] }]);
    expect(changesOf(credential)).toEqual([null, ["host_assignments"]]);
    expect(changesOf(host)).toEqual([null, ["credential_assignments"]]);
    expect(versionsOf(host.id).at(-1)?.sequence).toBe(versionsOf(credential.id).at(-1)?.sequence as number);
  });

  test("can be created with the host and with the credential", async () => {
    host = await newHost({ credential_assignments: [{ credential_id: credential.id, ip_address_ids: null }] });
    expect(await views()).toEqual({
      credential: { networks: [], hosts: [{ host_id: host.id }] },
      host: [{ credential_id: credential.id }],
    });
    credential = await newCredential({
      assigned_network_ids: [networkId, networkId],
      host_assignments: [{ host_id: host.id }],
    });
    expect((await views()).credential).toEqual({ networks: [networkId], hosts: [{ host_id: host.id }] });
    expect((await views()).host).toHaveLength(2);
    expect((await expectOk(owner.get(`networks/${networkId}`))).credential_ids).toEqual([credential.id]);
    expect(changesOf(credential)).toEqual([null]);
  });

  test("is the same on both sides at every past timestamp", async () => {
    const instants: string[] = [credential.valid_from];
    for (const response of [
      await assign({ host_assignments: [{ host_id: host.id }] }),
      await assign({
        assigned_network_ids: [networkId],
        host_assignments: [{ host_id: host.id, ip_address_ids: addressIds }],
      }),
      await updateHost({ credential_assignments: [{ credential_id: credential.id, ip_address_ids: [addressIds[0]] }] }),
      await updateHost({ credential_assignments: [] }),
    ]) {
      instants.push((await expectOk(Promise.resolve(response))).valid_from);
    }
    const scopes: unknown[] = [];
    for (const at of instants) {
      const { credential: ofCredential, host: ofHost } = await views(at);
      expect(ofHost.map(({ credential_id: _id, ...scope }) => scope)).toEqual(
        ofCredential.hosts.map(({ host_id: _id, ...scope }) => scope),
      );
      scopes.push([ofCredential.networks.length, ofHost.map((item) => item.ip_address_ids ?? "all")]);
    }
    expect(scopes).toEqual([
      [0, []],
      [0, ["all"]],
      [1, [addressIds]],
      [1, [[addressIds[0]]]],
      [1, []],
    ]);
    expect(await views(instants.at(-1))).toEqual(await views());
  });

  test("creates no version if sent again unchanged, in any order and with repeated ids", async () => {
    const otherHost = await newHost();
    const items = [{ host_id: host.id, ip_address_ids: addressIds }, { host_id: otherHost.id }];
    await assign({ assigned_network_ids: [networkId], host_assignments: items });
    const expectNothingWritten = watchWrites();
    const reversed = [
      { host_id: otherHost.id, ip_address_ids: null },
      { host_id: host.id, ip_address_ids: [...addressIds, ...addressIds].reverse() },
    ];
    expect(
      (await assign({ assigned_network_ids: [networkId, networkId], host_assignments: reversed })).data
        .host_assignments,
    ).toEqual(items);
    expect(
      (
        await updateHost({
          credential_assignments: [{ credential_id: credential.id, ip_address_ids: [...addressIds].reverse() }],
        })
      ).status,
    ).toBe(200);
    expect((await updateHost({ credential_assignments: null })).status).toBe(200);
    expect((await updateHost({})).status).toBe(200);
    expectNothingWritten();
  });

  test("stays the same record when its addresses change; omitting the list widens it to all", async () => {
    await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: [addressIds[0]] }] });
    await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: [addressIds[1]] }] });
    await assign({ host_assignments: [{ host_id: host.id }] });
    const records = appliance.reader.db.query("SELECT id FROM history_records WHERE kind = 14").all() as Array<{
      id: string;
    }>;
    expect(records).toHaveLength(1);
    expect(changesOf(records[0] as JsonRecord)).toEqual([null, ["ip_address_ids"], ["ip_address_ids"]]);
    expect((await views()).host).toEqual([{ credential_id: credential.id }]);
  });

  test("is listed in order of creation, regardless of the order in the request", async () => {
    const second = await newHost();
    await assign({ host_assignments: [{ host_id: second.id }] });
    const response = await assign({ host_assignments: [{ host_id: host.id }, { host_id: second.id }] });
    expect(response.data.host_assignments).toEqual([{ host_id: second.id }, { host_id: host.id }]);
  });
});

describe("a list of assignments", () => {
  test("may contain a host, or a credential, only once", async () => {
    const duplicated = await assign({
      host_assignments: [
        { host_id: host.id, ip_address_ids: [addressIds[0]] },
        { host_id: host.id, ip_address_ids: [addressIds[1]] },
      ],
    });
    expect(refusal(duplicated)).toMatchObject({
      code: "validation_failed",
      params: { issues: [{ path: "/host_assignments/1/host_id", value: host.id }] },
    });
    const item = { credential_id: credential.id };
    expect(refusal(await updateHost({ credential_assignments: [item, item, item] })).params.issues).toMatchObject([
      { path: "/credential_assignments/1/credential_id" },
      { path: "/credential_assignments/2/credential_id" },
    ]);
  });

  test("may not have an empty address list, because that would be ambiguous", async () => {
    expect(
      refusal(await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: [] }] })).params.issues,
    ).toMatchObject([{ path: "/host_assignments/0/ip_address_ids" }]);
    expect(
      refusal(await updateHost({ credential_assignments: [{ credential_id: credential.id, ip_address_ids: [] }] }))
        .params.issues,
    ).toMatchObject([{ path: "/credential_assignments/0/ip_address_ids" }]);
  });

  test("requires existing ids: unknown, foreign and deleted ones are refused alike, without a write", async () => {
    const { client: stranger, ...second } = await newStranger();
    const foreignHost = await expectOk(stranger.post("hosts", { network_id: second.networkId, name: "theirs" }));
    const deleted = await newHost();
    await owner.delete(`hosts/${deleted.id}`);
    const expectNothingWritten = watchWrites();
    expect(refusal(await assign({ assigned_network_ids: [networkId, second.networkId, UNKNOWN_ID] }))).toEqual({
      code: "entity_reference_invalid",
      params: { entity: "network", field: "assigned_network_ids", ids: [second.networkId, UNKNOWN_ID] },
    });
    const hostIds = [foreignHost.id, deleted.id, UNKNOWN_ID, credential.id];
    expect(refusal(await assign({ host_assignments: [...hostIds, host.id].map((id) => ({ host_id: id })) }))).toEqual({
      code: "entity_reference_invalid",
      params: { entity: "host", field: "host_assignments/host_id", ids: hostIds },
    });
    const credentialIds = [UNKNOWN_ID, host.id];
    const items = [credential.id, ...credentialIds].map((id) => ({ credential_id: id }));
    expect(refusal(await updateHost({ credential_assignments: items }))).toEqual({
      code: "entity_reference_invalid",
      params: { entity: "credential", field: "credential_assignments/credential_id", ids: credentialIds },
    });
    expectNothingWritten();
  });

  test("accepts addresses of that host only", async () => {
    const otherHost = await newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] });
    const ids = [otherHost.ip_addresses[0].id, UNKNOWN_ID, networkId];
    const params = { entity: "ip_address", ids };
    expect(
      refusal(
        await assign({
          host_assignments: [{ host_id: otherHost.id }, { host_id: host.id, ip_address_ids: [addressIds[0], ...ids] }],
        }),
      ),
    ).toEqual({ code: "entity_reference_invalid", params: { ...params, field: "host_assignments/ip_address_ids" } });
    expect(
      refusal(await updateHost({ credential_assignments: [{ credential_id: credential.id, ip_address_ids: ids }] })),
    ).toEqual({
      code: "entity_reference_invalid",
      params: { ...params, field: "credential_assignments/ip_address_ids" },
    });
  });

  test("may contain an address created by the same write of the host", async () => {
    const response = await updateHost({
      ip_addresses: [
        { id: addressIds[0], ip_address: "10.2.0.1" },
        { id: NEW_ADDRESS_ID, ip_address: "10.2.0.3" },
      ],
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [NEW_ADDRESS_ID, addressIds[0]] }],
    });
    expect(response.data.credential_assignments).toEqual([
      { credential_id: credential.id, ip_address_ids: [NEW_ADDRESS_ID, addressIds[0]] },
    ]);
    expect(changesOf(host)).toEqual([null, ["credential_assignments", "ip_addresses"]]);
    host = await newHost({
      ip_addresses: [{ id: UNKNOWN_ID, ip_address: "10.2.0.4" }],
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [UNKNOWN_ID] }],
    });
    expect((await views()).host).toEqual([{ credential_id: credential.id, ip_address_ids: [UNKNOWN_ID] }]);
  });
});

describe("a deleted address", () => {
  const addresses = (...positions: number[]) =>
    positions.map((position) => ({ id: addressIds[position], ip_address: `10.2.0.${position + 1}` }));

  test("is removed from assignments, and the last one ends the assignment: it never widens", async () => {
    await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: addressIds }] });
    await updateHost({ ip_addresses: addresses(1) });
    expect(await views()).toMatchObject({
      credential: { hosts: [{ host_id: host.id, ip_address_ids: [addressIds[1]] }] },
      host: [{ ip_address_ids: [addressIds[1]] }],
    });
    const last = await updateHost({ ip_addresses: [] });
    expect(await views()).toEqual({ credential: { networks: [], hosts: [] }, host: [] });
    expect(changesOf(credential)).toEqual([null, ["host_assignments"], ["host_assignments"], ["host_assignments"]]);
    expect(changesOf(host)).toEqual([
      null,
      ["credential_assignments"],
      ["credential_assignments", "ip_addresses"],
      ["credential_assignments", "ip_addresses"],
    ]);
    const instant = new Date(Date.parse(last.data.valid_from) - 1).toISOString();
    expect((await views(instant)).host).toEqual([{ credential_id: credential.id, ip_address_ids: [addressIds[1]] }]);
  });

  test("does not affect an assignment to every address", async () => {
    await assign({ host_assignments: [{ host_id: host.id }] });
    await updateHost({ ip_addresses: [] });
    expect((await views()).host).toEqual([{ credential_id: credential.id }]);
    expect(changesOf(credential)).toEqual([null, ["host_assignments"]]);
  });

  test("may still be listed by assignments in the same write, even by a Member", async () => {
    const { client } = await newMember();
    await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: addressIds }] });
    const sent = (await client.get(`hosts/${host.id}`)).data;
    const response = await updateHost({ ...sent, ip_addresses: sent.ip_addresses.slice(0, 1) }, client);
    expect(response.data.credential_assignments).toEqual([
      { credential_id: credential.id, ip_address_ids: [addressIds[0]] },
    ]);
    const last = await updateHost({ ...response.data, ip_addresses: [] }, client);
    expect(last.status).toBe(200);
    expect(last.data.credential_assignments).toEqual([]);
    // In a later write the id does not exist.
    expect(
      refusal(
        await updateHost({
          credential_assignments: [{ credential_id: credential.id, ip_address_ids: [addressIds[0]] }],
        }),
      ).code,
    ).toBe("entity_reference_invalid");
  });
});

describe("the end of an assignment", () => {
  test("a deleted host ends its assignments, creating a version of the credential", async () => {
    await assign({ assigned_network_ids: [networkId], host_assignments: [{ host_id: host.id }] });
    await expectOk(owner.delete(`hosts/${host.id}`));
    expect(await expectOk(owner.get(`credentials/${credential.id}`))).toMatchObject({
      assigned_network_ids: [networkId],
      host_assignments: [],
    });
    expect(changesOf(credential)).toEqual([null, ["assigned_network_ids", "host_assignments"], ["host_assignments"]]);
  });

  test("a deleted network ends its assignments, creating a version of the credential", async () => {
    const north = await newNetwork();
    await assign({ assigned_network_ids: [networkId, north.id] });
    await expectOk(owner.delete(`networks/${north.id}`));
    expect((await views()).credential.networks).toEqual([networkId]);
    expect(changesOf(credential)).toEqual([null, ["assigned_network_ids"], ["assigned_network_ids"]]);
  });

  test("a deleted credential ends its assignments only by cascade, creating versions of hosts and networks", async () => {
    await assign({ assigned_network_ids: [networkId], host_assignments: [{ host_id: host.id }] });
    const path = `credentials/${credential.id}`;
    const refused = await owner.delete(path);
    expect(refused.status).toBe(409);
    expect(refused.body.params.dependants).toEqual({ credential_assignments: 2 });
    const removed = await expectOk(owner.delete(`${path}?cascade=true`));
    expect(removed.host_assignments).toEqual([{ host_id: host.id }]);
    expect((await expectOk(owner.get(`hosts/${host.id}`))).credential_assignments).toEqual([]);
    expect(changesOf(host)).toEqual([null, ["credential_assignments"], ["credential_assignments"]]);
    expect(changesOf({ id: networkId })).toEqual([null, ["credential_ids"], ["credential_ids"]]);
  });
});

describe("a Member", () => {
  let member: Client;

  beforeEach(async () => {
    member = (await newMember()).client;
    await assign({ host_assignments: [{ host_id: host.id, ip_address_ids: addressIds }] });
  });

  test.each<[string, () => JsonRecord[]]>([
    ["adding one", () => [{ credential_id: credential.id, ip_address_ids: addressIds }, { credential_id: UNKNOWN_ID }]],
    ["widening one", () => [{ credential_id: credential.id }]],
    ["narrowing one", () => [{ credential_id: credential.id, ip_address_ids: [addressIds[0]] }]],
    ["removing one", () => []],
  ])("may not change a host's assignments by %s", async (_title, items) => {
    const expectNothingWritten = watchWrites();
    const response = await updateHost({ name: "renamed", credential_assignments: items() }, member);
    expect(response.status).toBe(403);
    expect(response.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Admin", actual: "Member" },
    });
    expectNothingWritten();
  });

  test("may change the host and send its assignments back unchanged", async () => {
    const items = [{ credential_id: credential.id, ip_address_ids: [...addressIds].reverse() }];
    expect((await updateHost({ name: "renamed", credential_assignments: items }, member)).data.name).toBe("renamed");
    expect(changesOf(host)).toEqual([null, ["credential_assignments"], ["name"]]);
  });

  test("may create a host only without assignments", async () => {
    const body = { network_id: networkId, name: "theirs" };
    const refused = await member.post("hosts", { ...body, credential_assignments: [{ credential_id: credential.id }] });
    expect(refused.status).toBe(403);
    expect((await member.post("hosts", { ...body, credential_assignments: [] })).status).toBe(200);
  });
});

describe("a caller limited to some networks", () => {
  let north: JsonRecord;
  let northHost: JsonRecord;

  beforeEach(async () => {
    north = await newNetwork();
    northHost = await newHost({ network_id: north.id });
    await assign({
      assigned_network_ids: [networkId, north.id],
      host_assignments: [{ host_id: host.id }, { host_id: northHost.id }],
    });
  });

  test("sees a credential's assignments in these only, now and in the past", async () => {
    const { client } = await newViewer();
    const visible = { assigned_network_ids: [networkId], host_assignments: [{ host_id: host.id }] };
    const at = clock.text();
    tick();
    for (const path of [`/api/v1/credentials/${credential.id}`, `/api/v1/credentials/${credential.id}?at=${at}`]) {
      expect((await client.get(path)).data).toMatchObject(visible);
    }
    for (const query of ["", "?limit=0", `?at=${at}`]) {
      const response = await client.get(`credentials${query}`);
      expect(response.data).toMatchObject([visible]);
      expect(response.text).not.toContain(north.id);
    }
    const { client: withoutNetworks } = await newUser({ role: "Viewer" });
    expect((await withoutNetworks.get(`credentials/${credential.id}`)).data).toMatchObject({
      assigned_network_ids: [],
      host_assignments: [],
    });
  });

  test("cannot reference other networks, even with an Admin's key", async () => {
    const { client } = newApiKey({ permissions: "Admin", networkIds: [networkId] });
    await assign({ assigned_network_ids: [networkId], host_assignments: [] });
    const outOfReach = [
      { assigned_network_ids: [north.id], host_assignments: [] },
      { assigned_network_ids: [], host_assignments: [{ host_id: northHost.id }] },
    ];
    for (const changes of outOfReach)
      expect(refusal(await assign(changes, client)).code).toBe("entity_reference_invalid");
  });
});
