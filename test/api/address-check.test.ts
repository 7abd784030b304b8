// POST /api/v1/ip-addresses/{id}/check: an immediate probe of one address, which requires permission to scan it.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, owner, probes, newHost, newNetwork, newSubnet, newUser, newViewer, waitForScan } = appliance;

async function setUpAddress(cidr = "10.0.0.0/28", ip_address = "10.0.0.2", subnet: JsonRecord = {}) {
  await newSubnet({ cidr, ...subnet });
  const host = await newHost({ name: "printer-3", ip_addresses: [{ ip_address }] });
  return { host, path: `ip-addresses/${host.ip_addresses[0].id}/check` };
}

const countScans = async () => (await owner.get("discovery/scans")).body.meta.pagination.total_count;

test("probes that address only, and writes the result", async () => {
  const { host, path } = await setUpAddress();
  for (const last of [2, 3]) probes.alive.set(`10.0.0.${last}`, { mac_address: `00:1b:21:00:53:0${last}` });
  const { status, data } = await owner.post(path, {});
  expect([status, data]).toEqual([
    200,
    expect.objectContaining({
      status: "Queued",
      kind: "sweep",
      network_id: host.network_id,
      targets: ["10.0.0.2"],
      commit: true,
      requested_by: expect.objectContaining({ id: first.userId }),
    }),
  ]);
  expect(await waitForScan(data.id)).toMatchObject({ status: "Completed", progress: { hosts_found: 1 } });
  expect(probes.swept).toEqual(["10.0.0.2"]);
  const [address] = (await owner.get(`hosts/${host.id}`)).data.ip_addresses;
  expect(address).toMatchObject({
    ip_address: "10.0.0.2",
    mac_address: "00:1b:21:00:53:02",
    last_discovery_id: data.id,
  });
  expect((await owner.get("hosts")).body.meta.pagination.total_count).toBe(1);
});

test("also uses SNMP on request, and accepts no other option", async () => {
  const { path } = await setUpAddress();
  const { data } = await owner.post(path, { kind: "full" });
  expect(data).toMatchObject({ kind: "full", targets: ["10.0.0.2"], are_targets_permitted: true });
  await waitForScan(data.id);
  expect(await owner.post(path, { kind: "ping" })).toMatchObject(refusal(400, "validation_failed"));
  expect(await owner.post(path, { targets: ["10.0.0.3"] })).toMatchObject(refusal(400, "validation_failed"));
  expect(await countScans()).toBe(1);
});

test("requires a Member inside the network's subnets, and an Admin outside the default scan scope", async () => {
  const member = (await newUser({ role: "Member", networkIds: [first.networkId] })).client;
  const inside = await setUpAddress();
  const outside = await setUpAddress("203.0.113.0/24", "203.0.113.9", { subnet_type: "Internet" });
  const { data } = await member.post(inside.path, {});
  expect(data).toMatchObject({ targets: ["10.0.0.2"], are_targets_permitted: false });
  await waitForScan(data.id);
  expect(await member.post(outside.path, {})).toMatchObject(
    refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }),
  );
  expect(await (await newViewer()).client.post(inside.path, {})).toMatchObject(refusal(403, "auth_permission_denied"));
  expect(await countScans()).toBe(1);
  const byOwner = await owner.post(outside.path, {});
  expect(byOwner.status).toBe(200);
  await waitForScan(byOwner.data.id);
  expect(probes.swept).toEqual(["10.0.0.2", "203.0.113.9"]);
});

test("returns 404 for an address that is deleted or out of reach", async () => {
  const { host, path } = await setUpAddress();
  const otherNetwork = await newNetwork({ name: "far" });
  const outsider = (await newUser({ role: "Member", networkIds: [otherNetwork.id] })).client;
  expect(await outsider.post(path, {})).toMatchObject(refusal(404, "entity_not_found"));
  expect((await owner.delete(`ip-addresses/${host.ip_addresses[0].id}`)).status).toBe(200);
  expect(await owner.post(path, {})).toMatchObject(refusal(404, "entity_not_found"));
  expect(await countScans()).toBe(0);
});

test("refuses an address that scans never probe, with the reason", async () => {
  const { path } = await setUpAddress("224.0.0.0/24", "224.0.0.5");
  expect(await owner.post(path, {})).toMatchObject(invalid({ path: "/ip_address", value: "224.0.0.5" }));
  expect(await countScans()).toBe(0);
});

test("starts one scan if sent twice with the same Idempotency-Key", async () => {
  const { path } = await setUpAddress();
  const repeating = owner.with({ "idempotency-key": "check-1" });
  const { data } = await repeating.post(path, {});
  const second = await repeating.post(path, {});
  expect([second.data.id, second.headers.get("idempotency-replayed")]).toEqual([data.id, "true"]);
  await waitForScan(data.id);
  expect(await countScans()).toBe(1);
});
