// Accepted conflicts: permissions, scope, expiry, and reopening. test/store/conflicts.test.ts compares the detection
// with a reference implementation.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const { clock, first, newHost, newNetwork, newStranger, newSubnet, newUser, newViewer, owner, tick, watchWrites } =
  applianceForEach();

const UNKNOWN = "01936f2e-0d5c-7d3a-9a39-00000000dead";
const listConflicts = async (caller: Client, query = "") =>
  (await caller.get(`conflicts?limit=0&${query}`)).data as JsonRecord[];
const accept = (caller: Client, { type, value, fingerprint }: JsonRecord, reason?: string | null) =>
  caller.post("conflicts/acceptances", { type, value, fingerprint, ...(reason === undefined ? {} : { reason }) });
const hostWithAddress = (name: string, ip_address: string, network_id: string = first.networkId) =>
  newHost({ name, network_id, ip_addresses: [{ ip_address }] });

/** A network with space for addresses. */
async function anotherNetwork(cidr: string): Promise<string> {
  const { id } = await newNetwork();
  await newSubnet({ network_id: id, cidr });
  return id;
}

/** One address on two hosts of the first network. */
async function newConflict(): Promise<JsonRecord> {
  await newSubnet({ cidr: "10.98.0.0/24" });
  await hostWithAddress("one", "10.98.0.7");
  await hostWithAddress("two", "10.98.0.7");
  tick();
  const [conflict, ...others] = await listConflicts(owner);
  expect(others).toEqual([]);
  expect(conflict).toMatchObject({ type: "Address", value: "10.98.0.7", acceptance: null });
  expect(conflict?.parties.map(({ name }: JsonRecord) => name)).toEqual(["one", "two"]);
  return conflict as JsonRecord;
}

describe("the table of conflicts", () => {
  const table = async (query = "", caller: Client = owner) =>
    csvRecords((await caller.get(`conflicts/export/csv?${query}`)).text);

  test("has a row per participant, as in the list, with names as of the timestamp", async () => {
    const conflict = await newConflict();
    const before = clock.text();
    tick();
    const member = await newUser({ role: "Member", networkIds: [first.networkId], name: "Ada" });
    await expectOk(accept(member.client, conflict, "=a cluster's address"));
    const [one, two] = conflict.parties as JsonRecord[];
    await expectOk(
      owner.put(`hosts/${one?.id}`, {
        id: one?.id,
        name: "uno",
        hidden: false,
        tags: [],
        services: null,
        ports: null,
        ip_addresses: null,
      }),
    );
    tick();
    const { data: network } = await owner.get(`networks/${first.networkId}`);
    const row = {
      type: "Address",
      value: "10.98.0.7",
      entity_type: "host",
      network_id: first.networkId,
      network_name: network.name,
      host_id: "",
      host_name: "",
    };
    expect(await table()).toMatchObject([
      { ...row, id: one?.id, name: "uno", accepted_by_name: "Ada", reason: "'=a cluster's address" },
      { ...row, id: two?.id, name: "two", accepted_by_name: "Ada" },
    ]);
    expect(await table(`at=${before}`)).toEqual([
      expect.objectContaining({ ...row, name: "one", accepted_at: "", reason: "", fingerprint: conflict.fingerprint }),
      expect.objectContaining({ ...row, name: "two", accepted_at: "", reason: "", fingerprint: conflict.fingerprint }),
    ]);
    const { headers } = await owner.get(`conflicts/export/csv?at=${before}`);
    expect(headers.get("content-disposition")).toBe(
      `attachment; filename="conflicts-${before.replaceAll(":", "-")}.csv"`,
    );
    expect(headers.get("content-type")).toContain("text/csv");
  });

  test("accepts the list's parameters, reports invalid ones, and has all rows, regardless of the page size", async () => {
    await newSubnet({ cidr: "10.98.0.0/24" });
    for (let last = 1; last <= 30; last += 1)
      for (const name of ["one", "two", "three"]) await hostWithAddress(`${name}-${last}`, `10.98.0.${last}`);
    tick();
    const [sample] = await listConflicts(owner);
    await expectOk(accept(owner, sample as JsonRecord));
    tick();
    for (const query of [
      "",
      "accepted=true",
      "accepted=false",
      "type=Mac",
      `filter=${encodeURIComponent('value : "10.98.0.2"')}`,
    ]) {
      const conflicts = await listConflicts(owner, query);
      expect((await table(query)).map(({ fingerprint, id }) => [fingerprint, id])).toEqual(
        conflicts.flatMap(({ fingerprint, parties }) => parties.map(({ id }: JsonRecord) => [fingerprint, id])),
      );
    }
    expect(await table()).toHaveLength(90);
    for (const query of ["filter=valu:*", "type=Port", "limit=1", "accepted=maybe"])
      expect(await owner.get(`conflicts/export/csv?${query}`)).toMatchObject({ status: 400 });
  });

  test("shows nothing out of reach", async () => {
    const far = await anotherNetwork("10.97.0.0/24");
    for (const name of ["secret-1", "secret-2"]) await hostWithAddress(name, "10.97.0.9", far);
    tick();
    const { client: reader } = await newViewer();
    expect(await table()).toHaveLength(2);
    expect(await table("", reader)).toEqual([]);
    expect(await table("", (await newStranger()).client)).toEqual([]);
  });
});

describe("an accepted conflict", () => {
  test("shows who accepted it, when and why", async () => {
    const conflict = await newConflict();
    const before = clock.text();
    tick();
    const member = await newUser({ role: "Member", networkIds: [first.networkId], name: "Ada" });
    tick();
    const acceptance = await expectOk(accept(member.client, conflict, "a cluster's address"));
    expect(acceptance).toMatchObject({
      type: "Address",
      value: "10.98.0.7",
      fingerprint: conflict.fingerprint,
      network_ids: [first.networkId],
      reason: "a cluster's address",
      accepted_at: clock.text(),
      accepted_by: { type: "User", id: member.id, name: "Ada" },
    });
    tick();
    expect(await listConflicts(owner)).toEqual([{ ...conflict, acceptance }]);
    expect(await listConflicts(owner, "accepted=true")).toEqual([{ ...conflict, acceptance }]);
    expect(await listConflicts(owner, "accepted=false")).toEqual([]);
    expect(await listConflicts(owner, `at=${before}`)).toEqual([conflict]);
    expect(await listConflicts(owner, `at=${before}&accepted=false`)).toEqual([conflict]);
    expect(await listConflicts(owner, `at=${before}&accepted=true`)).toEqual([]);
  });

  test("keeps its first acceptance, and appears in no transaction", async () => {
    const conflict = await newConflict();
    const latestTransactions = async () =>
      (await expectOk(owner.get("transactions?limit=1"))) as unknown as JsonRecord[];
    const before = await latestTransactions();
    const acceptance = await expectOk(accept(owner, conflict));
    expect(await latestTransactions()).toEqual(before);
    tick();
    const expectNothingWritten = watchWrites();
    expect(await expectOk(accept(owner, conflict, "once more"))).toEqual(acceptance);
    expect(acceptance.reason).toBeNull();
    expectNothingWritten();
  });

  test("reopens when another host gets the address, and when a participant loses it", async () => {
    const conflict = await newConflict();
    const acceptance = await expectOk(accept(owner, conflict));
    const third = await hostWithAddress("three", "10.98.0.7");
    const [changed] = await listConflicts(owner, "accepted=false");
    expect(changed?.parties.map(({ name }: JsonRecord) => name)).toEqual(["one", "two", "three"]);
    expect(await accept(owner, conflict)).toMatchObject(
      refusal(409, "entity_stale", { entity: "conflict", expected: conflict.fingerprint, actual: null }),
    );
    await expectOk(owner.delete(`hosts/${third.id}`));
    // The accepted state is restored.
    expect(await listConflicts(owner)).toEqual([{ ...conflict, acceptance }]);
    await expectOk(owner.delete(`hosts/${conflict.parties[0].id}`));
    expect(await listConflicts(owner)).toEqual([]);
    expect(await accept(owner, conflict)).toMatchObject(refusal(409, "entity_stale"));
  });

  test("reopens when acceptance is withdrawn, but stays accepted at earlier timestamps", async () => {
    const conflict = await newConflict();
    const acceptance = await expectOk(accept(owner, conflict, "for now"));
    tick();
    const between = clock.text();
    tick();
    expect(await expectOk(owner.delete(`conflicts/acceptances/${acceptance.id}`))).toEqual(acceptance);
    expect(await listConflicts(owner)).toEqual([conflict]);
    expect(await listConflicts(owner, `at=${between}`)).toEqual([{ ...conflict, acceptance }]);
    expect(await owner.delete(`conflicts/acceptances/${acceptance.id}`)).toMatchObject(
      refusal(404, "entity_not_found"),
    );
    const renewed = await expectOk(accept(owner, conflict));
    expect(renewed.id).not.toBe(acceptance.id);
    tick();
    expect(await listConflicts(owner, `at=${between}`)).toEqual([{ ...conflict, acceptance }]);
    expect(await listConflicts(owner)).toEqual([{ ...conflict, acceptance: renewed }]);
  });

  test("is accepted for every caller who sees the same conflict, and only for those", async () => {
    const [second, third] = [await anotherNetwork("8.8.8.0/24"), await anotherNetwork("8.8.9.0/24")];
    await newSubnet({ cidr: "8.8.8.0/23" });
    const both = [first.networkId, second];
    const member = (await newUser({ role: "Member", networkIds: both })).client;
    const viewer = (await newViewer()).client;
    const [fullConflict] = await listConflicts(owner, `network_id=${second}`);
    expect(fullConflict).toMatchObject({ type: "Subnet", value: "8.8.8.0/24", network_ids: [...both].sort() });
    expect(await listConflicts(member)).toEqual([fullConflict as JsonRecord]);
    expect(await listConflicts(viewer)).toEqual([]);
    const acceptance = await expectOk(accept(member, fullConflict as JsonRecord));
    expect(await listConflicts(owner, "accepted=true")).toEqual([{ ...fullConflict, acceptance }]);
    expect((await listConflicts(owner, "accepted=false")).map(({ value }) => value)).toEqual(["8.8.9.0/24"]);
    // One who reaches a third network that already had the prefix sees a different conflict.
    const { id: fourth } = await newNetwork();
    const one = (await newUser({ role: "Member", networkIds: [third, fourth] })).client;
    for (const network_id of [third, fourth]) await newSubnet({ network_id, cidr: "8.8.6.0/24" });
    await newSubnet({ network_id: second, cidr: "8.8.6.0/24" });
    const [ofTwo] = (await listConflicts(one, "type=Subnet")).filter(({ value }) => value === "8.8.6.0/24");
    await newSubnet({ cidr: "8.8.6.0/24" });
    await expectOk(accept(one, ofTwo as JsonRecord));
    expect((await listConflicts(owner, "accepted=false")).map(({ value }) => value)).toEqual([
      "8.8.6.0/24",
      "8.8.9.0/24",
    ]);
    expect(await listConflicts(member, "accepted=true")).toEqual([{ ...fullConflict, acceptance }]);
    // Withdrawal requires access to all its networks.
    const confined = (await newUser({ role: "Member", networkIds: [second] })).client;
    const stranger = (await newStranger()).client;
    for (const client of [confined, stranger]) {
      expect(await client.delete(`conflicts/acceptances/${acceptance.id}`)).toMatchObject(
        refusal(404, "entity_not_found"),
      );
      expect(await accept(client, fullConflict as JsonRecord)).toMatchObject(refusal(409, "entity_stale"));
    }
    expect(await accept(viewer, fullConflict as JsonRecord)).toMatchObject(refusal(403, "auth_permission_denied"));
    expect(await owner.delete(`conflicts/acceptances/${UNKNOWN}`)).toMatchObject(refusal(404, "entity_not_found"));
  });
});

test("an accepted shared prefix stays accepted as networks join, until the acceptance is withdrawn", async () => {
  const subnets = async (count: number) => {
    for (let number = 0; number < count; number += 1) {
      const { id } = await newNetwork();
      await newSubnet({ network_id: id, cidr: "192.168.1.0/24" });
      tick();
    }
  };
  await subnets(2);
  const [two] = await listConflicts(owner);
  const acceptance = await expectOk(accept(owner, two as JsonRecord, "every branch has it"));
  tick();
  const [before] = [clock.text()];
  tick();
  await subnets(3);
  const [five, ...others] = await listConflicts(owner, "accepted=true");
  expect(others).toEqual([]);
  expect(five).toMatchObject({ value: "192.168.1.0/24", acceptance });
  expect(five?.parties).toHaveLength(5);
  expect(five?.fingerprint).not.toBe(two?.fingerprint);
  expect(await listConflicts(owner, "accepted=false")).toEqual([]);
  expect((await owner.get("summary")).data.conflicts).toMatchObject({ count: 0, accepted_count: 1 });
  expect(await listConflicts(owner, `at=${before}`)).toEqual([{ ...two, acceptance }]);
  expect(await expectOk(accept(owner, five as JsonRecord, "again"))).toEqual(acceptance);
  await expectOk(owner.delete(`conflicts/acceptances/${acceptance.id}`));
  tick();
  expect(await listConflicts(owner, "accepted=false")).toEqual([{ ...five, acceptance: null }]);
});

describe("a conflict explains itself", () => {
  test("by the time, the author and the MAC address of each claim, and the port of that address", async () => {
    await newSubnet({ cidr: "10.98.0.0/24" });
    const one = await newHost({
      name: "one",
      ip_addresses: [{ ip_address: "10.98.0.7", mac_address: "00:1b:21:00:00:01" }],
    });
    const begun = one.created_at;
    const member = await newUser({ role: "Member", networkIds: [first.networkId], name: "Ada" });
    tick();
    const two = await expectOk(
      member.client.post("hosts", { name: "two", network_id: first.networkId, ip_addresses: [] }),
    );
    const address = await expectOk(member.client.post("ip-addresses", { host_id: two.id, ip_address: "10.98.0.8" }));
    tick();
    await expectOk(member.client.put(`ip-addresses/${address.id}`, { ip_address: "10.98.0.7" }));
    const [joined] = [clock.text()];
    tick();
    // Later changes to other fields do not affect when the claim began.
    await expectOk(owner.put(`ip-addresses/${address.id}`, { ip_address: "10.98.0.7", name: "eth1" }));
    const [conflict] = await listConflicts(owner);
    expect(conflict).toMatchObject({
      since: joined,
      parties: [
        {
          id: one.id,
          since: begun,
          by: { type: "User", id: first.userId },
          mac_address: "00:1b:21:00:00:01",
          port: null,
        },
        { id: two.id, since: joined, by: { type: "User", id: member.id, name: "Ada" }, mac_address: null, port: null },
      ],
    });
    const [row] = csvRecords((await owner.get("conflicts/export/csv")).text);
    expect(row).toMatchObject({ since: begun, by_type: "User", mac_address: "00:1b:21:00:00:01", port_id: "" });
    const filter = encodeURIComponent('parties.by.name = "Ada"');
    expect(await listConflicts(owner, `filter=${filter}`)).toHaveLength(1);
  });

  test("in the address list of its subnet, which distinguishes accepted ones from open ones", async () => {
    const conflict = await newConflict();
    const [subnet] = (await owner.get("subnets?search=10.98.0.0")).data;
    const atAddress = async (query = "") => {
      const { data } = await owner.get(`subnets/${subnet.id}/addresses?limit=0&${query}`);
      return (data as JsonRecord[]).find((row) => row.first === "10.98.0.7")?.conflict;
    };
    const { fingerprint } = conflict;
    expect(await atAddress()).toEqual({ fingerprint, acceptance: null });
    const before = clock.text();
    tick();
    const acceptance = await expectOk(accept(owner, conflict, "a cluster"));
    expect(await atAddress()).toEqual({ fingerprint, acceptance });
    expect(await atAddress(`at=${before}`)).toEqual({ fingerprint, acceptance: null });
    await expectOk(owner.delete(`conflicts/acceptances/${acceptance.id}`));
    expect(await atAddress()).toEqual({ fingerprint, acceptance: null });
  });
});

describe("no conflict", () => {
  const claim = (name: string, ip_address: string, more: object, host: object = {}) =>
    newHost({ name, ip_addresses: [{ ip_address, ...more }], ...host });

  test.each([
    ["docker0", "172.17.0.1"],
    ["br-4f2a9c01d3e7", "172.18.0.1"],
    ["virbr0", "192.168.122.1"],
    ["vmnet8", "192.168.200.1"],
  ])("is an address that several machines have on their own %s", async (name, ip_address) => {
    await newSubnet({ cidr: `${ip_address}/24`.replace(/\d+\/24/, "0/24") });
    const { id: other } = await newNetwork();
    await newSubnet({ network_id: other, cidr: `${ip_address}/24`.replace(/\d+\/24/, "0/24") });
    for (const host of ["one", "two"]) await claim(host, ip_address, { name, mac_address: null });
    await newHost({ name: "three", network_id: other, ip_addresses: [{ ip_address, name }] });
    tick();
    expect(await listConflicts(owner)).toEqual([]);
    // The same on a real interface is one.
    for (const host of ["four", "five"]) await claim(host, ip_address, { name: "eth0" });
    tick();
    expect(await listConflicts(owner, "type=Address")).toHaveLength(1);
  });

  test("is the address of an anycast gateway or a cluster, with one MAC address on several hosts", async () => {
    await newSubnet({ cidr: "10.98.0.0/24" });
    const mac_address = "02:00:5e:10:00:01";
    for (const name of ["leaf-1", "leaf-2", "leaf-3"]) await claim(name, "10.98.0.1", { mac_address, name: "Vlan10" });
    tick();
    expect(await listConflicts(owner)).toEqual([]);
    await claim("intruder", "10.98.0.1", { mac_address: "b8:27:eb:00:00:01" });
    tick();
    expect((await listConflicts(owner)).map(({ parties }) => parties.length)).toEqual([4]);
  });
});

test("MAC addresses and subnets are accepted like addresses; a value without a conflict is refused", async () => {
  const second = await anotherNetwork("10.97.0.0/24");
  await newSubnet({ cidr: "10.97.0.0/16" });
  const [subnet] = await listConflicts(owner, "type=Subnet");
  expect(await expectOk(accept(owner, subnet as JsonRecord))).toMatchObject({
    type: "Subnet",
    value: "10.97.0.0/24",
  });
  expect(await listConflicts(owner, `network_id=${second}&accepted=false`)).toEqual([]);
  const { fingerprint } = subnet as JsonRecord;
  for (const body of [
    { type: "Mac", value: '00" OR "1', fingerprint },
    { type: "Mac", value: "00:1b:21:aa:bb:cc", fingerprint },
    { type: "Address", value: "10.97.0.0/24", fingerprint },
    { type: "Subnet", value: "10.97.0.0/16", fingerprint },
  ])
    expect(await owner.post("conflicts/acceptances", body)).toMatchObject(refusal(409, "entity_stale"));
});

test("random acceptances match a naive model, at any timestamp and for every caller", async () => {
  const random = seededRandom(83);
  const second = await anotherNetwork("8.9.0.0/16");
  await newSubnet({ cidr: "8.9.0.0/16" });
  const callers: Array<{ client: Client; networks: string[] | null }> = [
    { client: owner, networks: null },
    ...(await Promise.all(
      [[first.networkId], [second], [first.networkId, second]].map(async (networks) => ({
        client: (await newUser({ role: "Member", networkIds: networks })).client,
        networks,
      })),
    )),
  ];
  const hosts: JsonRecord[] = [];
  /** By fingerprint, with start and end. */
  const acceptances: Array<{ fingerprint: string; id: string; networks: string[]; from: string; to: string }> = [];
  const instants: string[] = [];
  const counts = { accepted: 0, not: 0, withdrawn: 0 };
  for (let step = 0; step < 120; step += 1) {
    clock.advance(1_000 + random.integer(5_000));
    const roll = random.integer(6);
    const { client, networks } = random.pick(callers);
    if (roll < 2 || hosts.length < 4)
      hosts.push(
        await hostWithAddress(`h${step}`, `8.9.0.${1 + random.integer(3)}`, random.pick([first.networkId, second])),
      );
    else if (roll === 2) await expectOk(owner.delete(`hosts/${hosts.splice(random.integer(hosts.length), 1)[0]?.id}`));
    else if (roll === 3) {
      const active = acceptances.filter(({ to }) => to === "9");
      if (active.length > 0) {
        const acceptance = random.pick(active);
        const reaches = networks === null || acceptance.networks.every((id) => networks.includes(id));
        const response = await client.delete(`conflicts/acceptances/${acceptance.id}`);
        expect(response.status).toBe(reaches ? 200 : 404);
        if (reaches) {
          acceptance.to = clock.text();
          counts.withdrawn += 1;
        }
      }
    } else {
      const conflicts = await listConflicts(client, "accepted=false");
      if (conflicts.length > 0) {
        const conflict = random.pick(conflicts);
        const { id } = await expectOk(accept(client, conflict));
        acceptances.push({
          ...(conflict as { fingerprint: string }),
          id,
          networks: conflict.network_ids,
          from: clock.text(),
          to: "9",
        });
      }
    }
    clock.advance(1);
    instants.push(clock.text());
    const caller = random.pick(callers);
    for (const at of [null, random.pick(instants)]) {
      const query = at === null ? "" : `at=${at}`;
      const all = await listConflicts(caller.client, query);
      const isAccepted = ({ fingerprint }: JsonRecord) =>
        acceptances.find(
          (span) =>
            span.fingerprint === fingerprint && span.from <= (at ?? clock.text()) && span.to > (at ?? clock.text()),
        )?.id ?? null;
      expect(all.map(({ acceptance }) => acceptance?.id ?? null)).toEqual(all.map(isAccepted));
      const expectedAccepted = all.filter((conflict) => isAccepted(conflict) !== null);
      expect(await listConflicts(caller.client, `${query}&accepted=true`)).toEqual(expectedAccepted);
      expect(await listConflicts(caller.client, `${query}&accepted=false`)).toEqual(
        all.filter((conflict) => !expectedAccepted.includes(conflict)),
      );
      counts.accepted += expectedAccepted.length;
      counts.not += all.length - expectedAccepted.length;
    }
  }
  expect(counts.accepted).toBeGreaterThan(20);
  expect(counts.not).toBeGreaterThan(20);
  expect(counts.withdrawn).toBeGreaterThan(4);
});
