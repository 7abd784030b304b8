// POST /api/v1/ip-addresses/{id}/check: immediate probe of one address, with the rights of a scan of that target.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { refusal, type Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, owner, probes, newHost, newNetwork, newSubnet, newUser, newViewer, untilEnded } = appliance;

async function furnished(cidr = "10.0.0.0/28", ip_address = "10.0.0.2", subnet: Wire = {}) {
  await newSubnet({ cidr, ...subnet });
  const host = await newHost({ name: "printer-3", ip_addresses: [{ ip_address }] });
  return { host, path: `ip-addresses/${host.ip_addresses[0].id}/check` };
}

const countScans = async () => (await owner.get("discovery/scans")).body.meta.pagination.total_count;

test("probes that address only, and writes the result", async () => {
  const { host, path } = await furnished();
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
  expect(await untilEnded(data.id)).toMatchObject({ status: "Completed", progress: { hosts_found: 1 } });
  expect(probes.swept).toEqual(["10.0.0.2"]);
  const [address] = (await owner.get(`hosts/${host.id}`)).data.ip_addresses;
  expect(address).toMatchObject({
    ip_address: "10.0.0.2",
    mac_address: "00:1b:21:00:53:02",
    last_discovery_id: data.id,
  });
  expect((await owner.get("hosts")).body.meta.pagination.total_count).toBe(1);
});

test("can be asked to use SNMP as well, and nothing else", async () => {
  const { path } = await furnished();
  const { data } = await owner.post(path, { kind: "full" });
  expect(data).toMatchObject({ kind: "full", targets: ["10.0.0.2"], are_targets_permitted: true });
  await untilEnded(data.id);
  expect(await owner.post(path, { kind: "ping" })).toMatchObject(refusal(400, "validation_failed"));
  expect(await owner.post(path, { targets: ["10.0.0.3"] })).toMatchObject(refusal(400, "validation_failed"));
  expect(await countScans()).toBe(1);
});

test("requires a Member inside the network's subnets, and an Admin outside the default scan scope", async () => {
  const member = (await newUser({ role: "Member", networkIds: [first.networkId] })).client;
  const inside = await furnished();
  const outside = await furnished("203.0.113.0/24", "203.0.113.9", { subnet_type: "Internet" });
  const { data } = await member.post(inside.path, {});
  expect(data).toMatchObject({ targets: ["10.0.0.2"], are_targets_permitted: false });
  await untilEnded(data.id);
  expect(await member.post(outside.path, {})).toMatchObject(
    refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }),
  );
  expect(await (await newViewer()).client.post(inside.path, {})).toMatchObject(refusal(403, "auth_permission_denied"));
  expect(await countScans()).toBe(1);
  const byOwner = await owner.post(outside.path, {});
  expect(byOwner.status).toBe(200);
  await untilEnded(byOwner.data.id);
  expect(probes.swept).toEqual(["10.0.0.2", "203.0.113.9"]);
});

test("of an address that is deleted or out of reach is 404", async () => {
  const { host, path } = await furnished();
  const far = await newNetwork({ name: "far" });
  const elsewhere = (await newUser({ role: "Member", networkIds: [far.id] })).client;
  expect(await elsewhere.post(path, {})).toMatchObject(refusal(404, "entity_not_found"));
  expect((await owner.delete(`ip-addresses/${host.ip_addresses[0].id}`)).status).toBe(200);
  expect(await owner.post(path, {})).toMatchObject(refusal(404, "entity_not_found"));
  expect(await countScans()).toBe(0);
});

test("of an address that scans never probe is refused with the reason", async () => {
  const { path } = await furnished("224.0.0.0/24", "224.0.0.5");
  expect(await owner.post(path, {})).toMatchObject({
    status: 400,
    body: { code: "validation_failed", params: { issues: [{ path: "/ip_address", value: "224.0.0.5" }] } },
  });
  expect(await countScans()).toBe(0);
});

test("sent twice with one Idempotency-Key is one scan", async () => {
  const { path } = await furnished();
  const again = owner.with({ "idempotency-key": "check-1" });
  const { data } = await again.post(path, {});
  const second = await again.post(path, {});
  expect([second.data.id, second.headers.get("idempotency-replayed")]).toEqual([data.id, "true"]);
  await untilEnded(data.id);
  expect(await countScans()).toBe(1);
});
