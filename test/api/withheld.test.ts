// GET /discovery/withheld: targets that need an Admin's approval before discovery sends credentials, now and in the
// past; compared with scan findings, and with a naive model on random data.

import { beforeEach, describe, expect, test } from "bun:test";
import { isIpWithin } from "../../src/base/ip.ts";
import { findWithheld } from "../../src/reports/withheld/find-withheld.ts";
import { WITHHELD_TYPES } from "../../src/reports/withheld/withheld-schema.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, type NewUser } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { processorMs } from "../support/measure/processor-time.ts";

const appliance = applianceForEach();
const { first, owner, probes } = appliance;
const { communityOf, findings, inTransaction, instant, newHost, newMember, newNetwork } = appliance;
const { newSubnet, newUser, newViewer, runScan, tick, transactionCount } = appliance;
let member: NewUser;

beforeEach(async () => {
  member = await newMember();
  tick();
});

const list = async (caller: Client = owner, query = "") =>
  (await expectOk(caller.get(`discovery/withheld?${query}`))) as JsonRecord[];
const values = async (caller: Client = owner, query = "") => (await list(caller, query)).map(({ value }) => value);

/** Timestamp just before the next transaction. */
function takeInstant(): string {
  const at = instant();
  tick();
  return at;
}

describe("the table of withheld subnets and addresses", () => {
  const table = async (query = "", caller: Client = owner) =>
    csvRecords((await caller.get(`discovery/withheld/export/csv?${query}`)).text);

  test("equals the list, now and in the past, with names, and with all credentials in one cell", async () => {
    await newSubnet({ cidr: "10.2.0.0/24" });
    const host = await newHost({ name: "=core", ip_addresses: [{ ip_address: "10.2.0.1" }] });
    tick();
    const [one, two] = [
      await communityOf("one", { name: "b", assigned_network_ids: [], host_assignments: [{ host_id: host.id }] }),
      await communityOf("two", { name: "a;c", assigned_network_ids: [], host_assignments: [{ host_id: host.id }] }),
    ];
    tick();
    expect(await table()).toEqual([]);
    const before = takeInstant();
    for (const ip_address of ["10.2.0.66", "10.2.0.67"])
      await expectOk(member.client.post("ip-addresses", { host_id: host.id, ip_address }));
    await expectOk(member.client.post("subnets", { network_id: first.networkId, cidr: "10.3.0.0/24" }));
    tick();
    const { data: network } = await owner.get(`networks/${first.networkId}`);
    const listed = await list();
    expect(listed).toHaveLength(2);
    expect(await table()).toEqual(
      listed.map(({ since, type, id, value, reason, entered_by: author }) => ({
        since,
        type,
        id,
        value,
        host_id: host.id,
        host_name: "'=core",
        network_id: first.networkId,
        network_name: network.name,
        credential_ids: `${two?.id};${one?.id}`,
        credential_names: '["a;c","b"]',
        address_count: "1",
        entered_by_type: "User",
        entered_by_id: member.id,
        entered_by_name: author.name,
        reason,
      })),
    );
    expect(await table("filter=value%20%3D%20%2210.2.0.67%22")).toMatchObject([{ value: "10.2.0.67" }]);
    // The credentials now apply to the network as well, and so to its subnet that is not accepted.
    await expectOk(owner.put(`credentials/${one?.id}`, { ...one, assigned_network_ids: [first.networkId] }));
    tick();
    expect(await table("type=Subnet")).toMatchObject([
      { type: "Subnet", value: "10.3.0.0/24", host_id: "", host_name: "", credential_names: "b" },
    ]);
    // A renamed record appears with its name at that time.
    await expectOk(owner.put(`networks/${first.networkId}`, { name: "Renamed", tags: [] }));
    expect((await table("type=Address"))[0]).toMatchObject({ network_name: "Renamed" });
    expect(await table(`at=${before}`)).toEqual([]);
    const { headers } = await owner.get(`discovery/withheld/export/csv?at=${before}`);
    expect(headers.get("content-disposition")).toBe(
      `attachment; filename="withheld-${before.replaceAll(":", "-")}.csv"`,
    );
    for (const query of ["filter=valeu:*", "type=Host", "limit=1"])
      expect(await owner.get(`discovery/withheld/export/csv?${query}`)).toMatchObject({ status: 400 });
  });
});

describe("an address of a host with credentials", () => {
  let host: JsonRecord;
  let credential: JsonRecord;

  beforeEach(async () => {
    await newSubnet({ cidr: "10.2.0.0/24" });
    host = await newHost({ name: "core", ip_addresses: [{ ip_address: "10.2.0.1" }] });
    tick();
    credential = await communityOf("s3cret", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    tick();
  });

  const add = async (ip_address: string, caller: Client = member.client) => {
    const address = await expectOk(caller.post("ip-addresses", { host_id: host.id, ip_address }));
    tick();
    return address;
  };

  test("is pending from its creation by a Member until an Admin confirms it, with its value at that time", async () => {
    expect(await list()).toEqual([]);
    const before = takeInstant();
    const address = await add("10.2.0.66");
    const row = {
      type: "Address",
      id: address.id,
      value: "10.2.0.66",
      network_id: first.networkId,
      host: { id: host.id, name: "core" },
      credentials: [{ id: credential.id, name: credential.name }],
      address_count: 1,
      since: address.created_at,
      entered_by: { type: "User", id: member.id, name: expect.any(String) },
      reason: `Credentials are assigned to core, but no Admin has approved this address: scans do not send them there until it is confirmed with POST /api/v1/ip-addresses/${address.id}/confirm.`,
    };
    expect(await list()).toEqual([row]);
    const pending = takeInstant();
    await expectOk(owner.put(`hosts/${host.id}`, { ...hostBody(host), name: "core-1" }));
    tick();
    await expectOk(owner.post(`ip-addresses/${address.id}/confirm`, {}));
    const confirmed = transactionCount();
    expect(await list()).toEqual([]);
    expect(await list(owner, `at=${before}`)).toEqual([]);
    expect(await list(owner, `at=${pending}`)).toEqual([row]);
    // The confirmation is withdrawn: it is pending again.
    tick();
    const { actions } = await expectOk(owner.post(`transactions/${confirmed}/revert`, { dry_run: true }));
    expect(actions.filter(({ action }: JsonRecord) => action !== "Skip")).toMatchObject([
      {
        entity_type: "credential_assignment",
        action: "Update",
        fields: ["credential_ids"],
        reason: "its credential is no longer sent to 10.2.0.66",
      },
    ]);
    await expectOk(owner.post(`transactions/${confirmed}/revert`, {}));
    const [{ at }] = (await owner.get("transactions?limit=1")).data;
    expect(await list()).toMatchObject([{ value: "10.2.0.66", since: at, host: { name: "core-1" } }]);
    tick();
    await expectOk(owner.delete(`ip-addresses/${address.id}`));
    expect(await list()).toEqual([]);
    expect(await list(owner, `at=${pending}`)).toEqual([row]);
  });

  test("is also pending after its value changes, manually or by a scan, and once the credential is assigned to its host", async () => {
    const [address] = host.ip_addresses;
    await expectOk(member.client.put(`ip-addresses/${address.id}`, { ip_address: "10.2.0.7" }));
    tick();
    expect(await values()).toEqual(["10.2.0.7"]);
    probes.alive.set("10.2.0.8", { mac_address: "00:00:5e:00:53:01" });
    await expectOk(
      member.client.put(`ip-addresses/${address.id}`, { ip_address: "10.2.0.7", mac_address: "00:00:5e:00:53:01" }),
    );
    tick();
    const scan = await runScan({ kind: "sweep" });
    expect(await list()).toMatchObject([
      { value: "10.2.0.7", entered_by: { type: "User" } },
      { value: "10.2.0.8", entered_by: { type: "Discovery", id: scan.id } },
    ]);
    tick();
    // An assignment with addresses applies to no others.
    const { ip_addresses } = await expectOk(owner.get(`hosts/${host.id}`));
    const assigned = ip_addresses.find((address: JsonRecord) => address.ip_address === "10.2.0.8");
    await expectOk(
      owner.put(`hosts/${host.id}`, {
        ...hostBody(host),
        credential_assignments: [{ credential_id: credential.id, ip_address_ids: [assigned.id] }],
      }),
    );
    // An Admin's assignment that names the address is an approval.
    expect(await values()).toEqual([]);
  });

  test("is not pending if the same credential is sent to it through its network", async () => {
    await add("10.2.0.66");
    await expectOk(
      owner.put(`credentials/${credential.id}`, { ...credential, assigned_network_ids: [first.networkId] }),
    );
    tick();
    expect(await values()).toEqual([]);
    // Another credential is withheld.
    const other = await communityOf("other", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    tick();
    await add("10.2.0.67");
    expect(await list()).toMatchObject([{ value: "10.2.0.67", credentials: [{ id: other.id }] }]);
  });

  test("is named by a scan that withheld the credential, with the same request", async () => {
    const address = await add("10.2.0.66");
    probes.alive.set("10.2.0.66", {});
    const skipped = (await findings(await runScan({ kind: "full" }))).filter(({ reason }) => /waits for/.test(reason));
    expect(skipped.map(({ id }) => id)).toEqual([address.id]);
    expect((await list()).map(({ id }) => id)).toEqual([address.id]);
  });
});

describe("a subnet in a network with credentials", () => {
  const add = async (fields: JsonRecord, caller: Client = member.client) => {
    const subnet = await expectOk(
      caller.post("subnets", { network_id: first.networkId, subnet_type: "Lan", ...fields }),
    );
    tick();
    return subnet;
  };

  test("is pending once both exist until an Admin decides on acceptance", async () => {
    const subnet = await add({ cidr: "10.6.0.0/24" });
    await newHost({ ip_addresses: [{ ip_address: "10.6.0.1" }, { ip_address: "10.6.0.2" }] });
    tick();
    expect(await list()).toEqual([]);
    const credential = await communityOf("s3cret");
    expect(await list()).toEqual([
      {
        type: "Subnet",
        id: subnet.id,
        value: "10.6.0.0/24",
        network_id: first.networkId,
        host: null,
        credentials: [{ id: credential.id, name: credential.name }],
        address_count: 2,
        since: credential.created_at,
        entered_by: { type: "User", id: member.id, name: expect.any(String) },
        reason: `Credentials are assigned to the network, but no Admin has approved the subnet: scans do not send them to its addresses until its accepts_credentials is set with PUT /api/v1/subnets/${subnet.id}.`,
      },
    ]);
    const pending = takeInstant();
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: true }));
    const accepted = transactionCount();
    tick();
    expect(await values()).toEqual([]);
    // A reverted approval does not count.
    await expectOk(owner.post(`transactions/${accepted}/revert`, {}));
    tick();
    expect(await values()).toEqual(["10.6.0.0/24"]);
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: true }));
    tick();
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false }));
    expect(await values()).toEqual([]);
    expect(await values(owner, `at=${pending}`)).toEqual(["10.6.0.0/24"]);
  });

  test("is pending only without an accepting parent, and represents its children", async () => {
    await communityOf("s3cret");
    tick();
    for (const cidr of ["10.6.0.0/16", "10.6.1.0/24", "10.6.2.0/24"]) await add({ cidr });
    await add({ cidr: "10.6.1.0/28" }, owner);
    for (const [cidr, subnet_type] of [
      ["10.7.0.0/16", "Internet"],
      ["10.8.0.0/16", "Remote"],
      ["10.9.0.0/16", "Loopback"],
    ])
      await add({ cidr, subnet_type });
    await newHost({
      ip_addresses: ["10.6.0.1", "10.6.1.1", "10.6.1.99", "10.6.2.1"].map((ip_address) => ({ ip_address })),
    });
    tick();
    // Addresses in the accepting /28 are scanned, regardless of the enclosing subnets.
    expect((await list()).map(({ value, address_count }) => [value, address_count])).toEqual([
      ["10.6.0.0/16", 3],
      ["10.6.1.0/24", 1],
      ["10.6.2.0/24", 1],
    ]);
    const [enclosing] = await list();
    await expectOk(owner.put(`subnets/${enclosing?.id}`, { cidr: "10.6.0.0/16", accepts_credentials: true }));
    expect(await values()).toEqual([]);
  });

  test("is shown to callers with access to its network, by page, type and filter", async () => {
    const other = await newNetwork();
    tick();
    await communityOf("s3cret", { assigned_network_ids: [first.networkId, other.id] });
    tick();
    for (const cidr of ["10.6.10.0/24", "10.6.9.0/24", "2001:db8::/64"]) await add({ cidr });
    await expectOk(owner.post("subnets", { network_id: other.id, cidr: "10.9.0.0/24", accepts_credentials: false }));
    tick();
    const host = await newHost({ name: "core", ip_addresses: [{ ip_address: "10.6.9.1" }] });
    tick();
    await communityOf("other", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    tick();
    await expectOk(member.client.post("ip-addresses", { host_id: host.id, ip_address: "10.6.9.2" }));
    const all = ["10.6.9.0/24", "10.6.10.0/24", "10.9.0.0/24", "2001:db8::/64", "10.6.9.2"];
    expect(await values()).toEqual(all);
    const response = await owner.get("discovery/withheld?limit=2&offset=1");
    expect(response.data.map(({ value }: JsonRecord) => value)).toEqual(all.slice(1, 3));
    expect((response.body as JsonRecord).meta.pagination).toEqual({
      limit: 2,
      offset: 1,
      total_count: 5,
      has_more: true,
    });
    expect(await values(owner, "type=Address")).toEqual(["10.6.9.2"]);
    expect(await values(owner, `network_id=${other.id}`)).toEqual(["10.9.0.0/24"]);
    expect(await values(owner, `filter=${encodeURIComponent('host.name = "core" OR value : "2001"')}`)).toEqual([
      "2001:db8::/64",
      "10.6.9.2",
    ]);
    const { client: viewer } = await newViewer();
    const { client: near } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const { client: far } = await newUser({ role: "Member", networkIds: [other.id] });
    expect(await values(near)).toEqual(all.filter((value) => value !== "10.9.0.0/24"));
    expect(await values(far)).toEqual(["10.9.0.0/24"]);
    expect(await values(far, `network_id=${first.networkId}`)).toEqual([]);
    // Listed under attention only for callers who can act on it.
    const fetchItems = async (caller: Client) =>
      ((await caller.get("summary")).data.needs_attention as JsonRecord[]).filter(({ kind }) => kind === "Withheld");
    expect(await fetchItems(owner)).toEqual([{ kind: "Withheld", count: 5, request: "/api/v1/discovery/withheld" }]);
    for (const caller of [viewer, near, far]) expect(await fetchItems(caller)).toEqual([]);
  });
});

/** Expected result by address or prefix: from the current lists and the recorded sends. */
class NaiveModel {
  /** Values to which an Admin sent a credential, by credential and host. */
  readonly sent = new Map<string, Set<string>>();
  /** Subnets refused by an Admin. */
  readonly refused = new Set<string>();

  sentTo(credentialId: string, hostId: string): Set<string> {
    const key = `${credentialId} ${hostId}`;
    const values = this.sent.get(key) ?? new Set<string>();
    this.sent.set(key, values);
    return values;
  }

  async withheld(): Promise<string[]> {
    const all = async (plural: string) => (await expectOk(owner.get(`${plural}?limit=0`))) as JsonRecord[];
    const [credentials, subnets, addresses] = await Promise.all(["credentials", "subnets", "ip-addresses"].map(all));
    const accepting = (subnets as JsonRecord[]).filter(
      (subnet) => subnet.accepts_credentials && !["Internet", "Remote", "Loopback"].includes(subnet.subnet_type),
    );
    const broadcast = (credentials as JsonRecord[]).filter((credential) => credential.assigned_network_ids.length > 0);
    const isWithin = (inner: string, outer: string) =>
      isIpWithin(inner.split("/")[0] as string, outer) && Number(inner.split("/")[1]) >= Number(outer.split("/")[1]);
    const pending = (subnets as JsonRecord[]).filter(
      ({ id, cidr, subnet_type }) =>
        broadcast.length > 0 &&
        subnet_type !== "Remote" &&
        !this.refused.has(id) &&
        !accepting.some((parent) => isWithin(cidr, parent.cidr)),
    );
    const found = pending.map(({ cidr }) => cidr);
    for (const { id, host_id, ip_address } of addresses as JsonRecord[]) {
      const isAccepted = accepting.some(({ cidr }) => isIpWithin(ip_address, cidr));
      const ownCredentials = (credentials as JsonRecord[]).filter((credential) =>
        credential.host_assignments.some(
          (assignment: JsonRecord) =>
            assignment.host_id === host_id &&
            (assignment.ip_address_ids === undefined || assignment.ip_address_ids.includes(id)) &&
            !this.sentTo(credential.id, host_id).has(ip_address) &&
            !(isAccepted && broadcast.includes(credential)),
        ),
      );
      if (ownCredentials.length > 0) found.push(`${ip_address} ${ownCredentials.map(({ name }) => name).sort()}`);
    }
    return found.sort();
  }
}

test("pending items match a naive model at random, at every timestamp", async () => {
  const random = seededRandom(47);
  const model = new NaiveModel();
  await newSubnet({ cidr: "10.0.0.0/8", accepts_credentials: false, subnet_type: "Remote" });
  tick();
  const hosts = [await newHost({ name: "one" }), await newHost({ name: "two" })];
  tick();
  const credentials: JsonRecord[] = [];
  for (const name of ["a", "b"]) {
    const host_assignments = hosts.map(({ id }) => ({ host_id: id }));
    credentials.push(await communityOf(name, { name, assigned_network_ids: [], host_assignments }));
    tick();
  }
  const cidrs = ["10.1.0.0/16", "10.1.1.0/24", "10.1.1.0/25", "10.1.2.0/24", "10.2.0.0/24"];
  const subnets = new Map<string, string>();
  const addresses = new Map<string, { id: string; host: string }>();
  const states: Array<{ at: string; found: string[] }> = [];
  const counts = { subnets: 0, addresses: 0, confirmed: 0, changed: 0 };
  const removeSends = (host: string, value: string) => {
    for (const { id } of credentials) model.sentTo(id, host).delete(value);
  };
  const recordSends = (host: string, value: string) => {
    for (const { id } of credentials) model.sentTo(id, host).add(value);
  };
  for (let step = 0; step < 150; step += 1) {
    const cidr = random.pick(cidrs);
    const anyValue = () => `10.${random.pick(["1.1", "1.2", "2.0"])}.${1 + random.integer(2)}`;
    const ip_address = anyValue();
    const host = random.pick(hosts).id;
    const [existing, subnet] = [addresses.get(ip_address), subnets.get(cidr)];
    switch (random.integer(7)) {
      case 0:
        if (subnet === undefined) {
          const body = { network_id: first.networkId, cidr, subnet_type: "Lan" };
          subnets.set(cidr, (await expectOk(member.client.post("subnets", body))).id);
        }
        break;
      case 1: {
        if (subnet === undefined) break;
        const accepts_credentials = random.integer(2) === 0;
        const before = await expectOk(owner.get(`subnets/${subnet}`));
        if (before.accepts_credentials !== accepts_credentials) {
          await expectOk(owner.put(`subnets/${subnet}`, { cidr, accepts_credentials }));
          model.refused.add(subnet);
        }
        break;
      }
      case 2:
        if (subnet === undefined) break;
        await expectOk(owner.delete(`subnets/${subnet}?cascade=true`));
        subnets.delete(cidr);
        // Its addresses were deleted with it.
        for (const [value, { id, host: hostId }] of addresses)
          if ((await owner.get(`ip-addresses/${id}`)).status === 404) {
            addresses.delete(value);
            removeSends(hostId, value);
          }
        break;
      case 3:
        if (existing === undefined) {
          const address = await expectOk(member.client.post("ip-addresses", { host_id: host, ip_address }));
          addresses.set(ip_address, { id: address.id, host });
        } else {
          await expectOk(member.client.delete(`ip-addresses/${existing.id}`));
          addresses.delete(ip_address);
          removeSends(existing.host, ip_address);
        }
        break;
      case 4: {
        if (addresses.size === 0) break;
        const [value, { id, host: hostId }] = random.pick([...addresses]);
        await expectOk(owner.post(`ip-addresses/${id}/confirm`, {}));
        recordSends(hostId, value);
        counts.confirmed += 1;
        break;
      }
      case 5: {
        const free = anyValue();
        if (addresses.size === 0 || addresses.has(free)) break;
        const [value, address] = random.pick([...addresses]);
        await expectOk(member.client.put(`ip-addresses/${address.id}`, { ip_address: free }));
        addresses.delete(value);
        addresses.set(free, address);
        removeSends(address.host, value);
        counts.changed += 1;
        break;
      }
      default: {
        const credential = random.pick(credentials);
        const current = await expectOk(owner.get(`credentials/${credential.id}`));
        const assigned_network_ids = random.integer(3) === 0 ? [] : [first.networkId];
        await expectOk(owner.put(`credentials/${credential.id}`, { ...current, assigned_network_ids }));
      }
    }
    tick();
    const found = await model.withheld();
    states.push({ at: takeInstant(), found });
    counts.subnets += found.filter((item) => item.includes("/")).length;
    counts.addresses += found.filter((item) => !item.includes("/")).length;
  }
  const fetchItems = async (query: string) =>
    (await list(owner, `limit=0${query}`))
      .map(({ type, value, credentials: ownCredentials }) =>
        type === "Subnet" ? value : `${value} ${ownCredentials.map(({ name }: JsonRecord) => name).sort()}`,
      )
      .sort();
  for (const { at, found } of states) expect({ at, found: await fetchItems(`&at=${at}`) }).toEqual({ at, found });
  expect(await fetchItems("")).toEqual(states.at(-1)?.found as string[]);
  for (const [what, count] of Object.entries(counts)) expect([what, count > 5]).toEqual([what, true]);
});

test("the cost depends on assignments, not on the inventory: negligible among 10,000 hosts", async () => {
  const subnet = await newSubnet({ cidr: "10.0.0.0/8" });
  for (let start = 0; start < 10_000; start += 1_000)
    await expectOk(
      owner.post(
        "hosts/bulk",
        Array.from({ length: 1_000 }, (_, index) => ({
          name: `host-${start + index}`,
          network_id: first.networkId,
          ip_addresses: [{ ip_address: `10.${(start + index) >> 8}.${(start + index) & 255}.1`, subnet_id: subnet.id }],
        })),
      ),
    );
  const host = await newHost({ name: "core", ip_addresses: [{ ip_address: "10.99.0.1" }] });
  tick();
  await communityOf("s3cret", { host_assignments: [{ host_id: host.id }] });
  await communityOf("own", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
  tick();
  await expectOk(member.client.post("ip-addresses", { host_id: host.id, ip_address: "10.99.0.2" }));
  const actor = inTransaction((tx) => ({ organizationN: tx.recordN(first.organizationId) as number, networkNs: null }));
  const find = () => {
    const { sequence } = appliance.reader.head();
    const steps = findWithheld(appliance.reader, { reach: actor, networkId: null, types: WITHHELD_TYPES, sequence });
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  };
  expect(find().map(({ value }) => value)).toEqual(["10.99.0.2"]);
  // A few milliseconds for ten reads; a walk over the hosts would take a hundred each.
  const ms = await processorMs(() => {
    for (let time = 0; time < 10; time += 1) find();
  });
  expect(ms).toBeLessThan(100);
});
