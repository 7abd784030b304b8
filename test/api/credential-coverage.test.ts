// Coverage of credentials assigned to hosts. If a Member, a scan or an undo gives a host another address, in any way,
// the socket at that address must never receive the secret.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

/** The host's address, and a listener that must not receive the secret. */
const OWN = "10.2.0.1";
const SECOND = "10.2.0.2";
const EVIL = "10.2.0.66";
const SECRET = "s3cret";
const OWN_MAC = "00:00:5e:00:53:01";
const OWN_INTERFACE = { if_index: 1, if_descr: "1", mac_address: OWN_MAC };

const appliance = applianceForEach();
const { first, owner, probes } = appliance;
const { communityOf, findings, newApiKey, newHost, newMember, newNetwork, newSubnet } = appliance;
const { newUser, runScan, tick, transactionCount, versionsOf, watchWrites } = appliance;
let member: Client;
let host: JsonRecord;
let credential: JsonRecord;

beforeEach(async () => {
  member = (await newMember()).client;
  await newSubnet({ cidr: "10.2.0.0/24" });
  host = await newHost({
    name: "core",
    ip_addresses: [{ ip_address: OWN, mac_address: OWN_MAC }, { ip_address: SECOND }],
  });
  tick();
  credential = await communityOf(SECRET, { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
  tick();
  for (const address of [OWN, SECOND, EVIL]) probes.alive.set(address, {});
});

/** Runs every kind of scan that a Member may request. @returns the addresses that received the secret */
async function sentTo(kinds: readonly string[] = ["full", "snmp", "dry"]): Promise<string[]> {
  probes.queries.length = 0;
  for (const kind of kinds) {
    await runScan(kind === "dry" ? { kind: "full", commit: false } : { kind }, member);
    tick();
  }
  return [
    ...new Set(
      probes.queries.flatMap(({ address, credentials }) =>
        credentials.some((credential) => "community" in credential && credential.community === SECRET) ? [address] : [],
      ),
    ),
  ].sort();
}

async function currentHost(): Promise<JsonRecord> {
  return expectOk(owner.get(`hosts/${host.id}`));
}

async function addressOf(value: string): Promise<JsonRecord> {
  const found = (await currentHost()).ip_addresses.find((address: JsonRecord) => address.ip_address === value);
  if (found === undefined) throw new Error(`the host has no address ${value}`);
  return found;
}

/** Sends the host back as read, with changes. */
async function sendBack(caller: Client, changes: JsonRecord = {}): Promise<JsonRecord> {
  const stored = await currentHost();
  const { id, name, hidden, tags, ip_addresses, ports, services, credential_assignments } = stored;
  const result = await expectOk(
    caller.put(`hosts/${id}`, {
      id,
      name,
      hidden,
      tags,
      ip_addresses,
      ports,
      services,
      credential_assignments,
      ...changes,
    }),
  );
  tick();
  return result;
}

async function succeed(result: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await result;
  if (status !== 200) throw new Error(JSON.stringify(body));
  tick();
}

const add = (value: string, caller: Client = member) =>
  succeed(caller.post("ip-addresses", { host_id: host.id, ip_address: value }));
const change = async (from: string, to: string, caller: Client = member) =>
  succeed(caller.put(`ip-addresses/${(await addressOf(from)).id}`, { ip_address: to }));
const remove = async (value: string, caller: Client = member) =>
  succeed(caller.delete(`ip-addresses/${(await addressOf(value)).id}`));
const restoreHost = (at: string, caller: Client) => succeed(caller.post(`hosts/${host.id}/restore`, { at }));
const revert = (sequence: number, caller: Client) => succeed(caller.post(`transactions/${sequence}/revert`, {}));
const confirm = async (value: string, caller: Client = owner) =>
  caller.post(`ip-addresses/${(await addressOf(value)).id}/confirm`, {});

/** A scan that sees the evil address on the host's network interface, and adds it to the host. */
async function addedByScan(): Promise<void> {
  probes.alive.set(EVIL, { mac_address: OWN_MAC });
  probes.alive.set(OWN, { mac_address: OWN_MAC });
  await runScan({ kind: "sweep" }, member);
  tick();
}

/** Ways for an address to get onto a host without an Admin. */
const SCENARIOS: Record<string, () => Promise<unknown>> = {
  "added by a Member": () => add(EVIL),
  "substituted for another by a Member": () => change(OWN, EVIL),
  "sent with the host by a Member, with unchanged assignments": () =>
    sendBack(member, { ip_addresses: [{ ip_address: OWN }, { ip_address: SECOND }, { ip_address: EVIL }] }),
  "sent with the host under the id of another": async () =>
    sendBack(member, { ip_addresses: [{ id: (await addressOf(OWN)).id, ip_address: EVIL }, { ip_address: SECOND }] }),
  "written in bulk": async () =>
    succeed(
      member.post("hosts/bulk", [
        {
          id: host.id,
          name: "core",
          ip_addresses: [{ ip_address: OWN }, { ip_address: EVIL }],
          credential_assignments: (await currentHost()).credential_assignments,
        },
      ]),
    ),
  "swapped with another host's": async () => {
    const otherHost = await newHost({ name: "other", ip_addresses: [{ ip_address: EVIL }] }, member);
    const [own] = host.ip_addresses;
    await succeed(
      member.post("hosts/bulk", [
        { id: host.id, name: "core", ip_addresses: [{ id: own.id, ip_address: EVIL }, { ip_address: SECOND }] },
        { id: otherHost.id, name: "other", ip_addresses: [{ id: otherHost.ip_addresses[0].id, ip_address: OWN }] },
      ]),
    );
  },
  "restored by a Member as an address": async () => {
    await add(EVIL);
    const { id, valid_from } = await addressOf(EVIL);
    await remove(EVIL);
    await succeed(member.post(`ip-addresses/${id}/restore`, { at: valid_from }));
  },
  "restored by a Member to a former value": async () => {
    await change(OWN, EVIL);
    const { id, valid_from } = await addressOf(EVIL);
    await change(EVIL, OWN);
    await succeed(member.post(`ip-addresses/${id}/restore`, { at: valid_from }));
  },
  "restored by a Member with the host": async () => {
    await add(EVIL);
    const { updated_at } = await currentHost();
    await remove(EVIL);
    await restoreHost(updated_at, member);
  },
  "restored by an Admin with the host": async () => {
    await add(EVIL);
    const { updated_at } = await currentHost();
    await succeed(member.delete(`hosts/${host.id}`));
    await restoreHost(updated_at, owner);
  },
  "restored by an Admin's revert": async () => {
    await add(EVIL);
    await remove(EVIL);
    await revert(transactionCount(), owner);
  },
  "restored by an Admin with the credential's assignment": async () => {
    await add(EVIL);
    const { updated_at } = await expectOk(owner.get(`credentials/${credential.id}`));
    await succeed(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: [] }));
    await succeed(owner.post(`credentials/${credential.id}/restore`, { at: updated_at }));
  },
  "restored with its assignment by an Admin's revert": async () => {
    await add(EVIL);
    await succeed(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: [] }));
    await revert(transactionCount(), owner);
  },
  "already present when an Admin sends the host back": async () => {
    await add(EVIL);
    await sendBack(owner, { description: "as it was" });
  },
  "already present when an Admin sends the credential back": async () => {
    await add(EVIL);
    const stored = await expectOk(owner.get(`credentials/${credential.id}`));
    await succeed(owner.put(`credentials/${credential.id}`, { ...stored, name: "renamed" }));
  },
  "already present when an Admin changes the secret and changes it back": async () => {
    await add(EVIL);
    const type = (value: string) => ({ type: "SnmpV2c", community: { mode: "Inline", value } });
    for (const value of ["other", SECRET])
      await succeed(owner.put(`credentials/${credential.id}`, { ...credential, credential_type: type(value) }));
  },
  "added to the host by a scan that sees its MAC address there": addedByScan,
  "reported by a device read with another credential": async () => {
    await communityOf("public");
    probes.devices.set(EVIL, {
      community: "public",
      // Everything needed to identify as the host.
      device: fakeDevice({
        sys_name: "core",
        interfaces: [OWN_INTERFACE],
        addresses: [
          { ip_address: EVIL, prefix_length: 24, if_index: 1 },
          { ip_address: OWN, prefix_length: 24, if_index: 1 },
        ],
      }),
    });
    await succeed(
      member.put(`hosts/${host.id}`, { id: host.id, name: "core", hidden: false, tags: [], sys_name: "core" }),
    );
    await runScan({ kind: "full" }, member);
    expect((await currentHost()).ip_addresses.map((address: JsonRecord) => address.ip_address)).toContain(EVIL);
  },
};

describe("the secret of a credential assigned to a host", () => {
  test("is sent to the host's addresses at the time of assignment", async () => {
    expect(await sentTo()).toEqual([OWN, SECOND]);
  });

  test("is sent to the addresses of a host created with it by an Admin, singly or in bulk", async () => {
    const assigned = { credential_assignments: [{ credential_id: credential.id }] };
    const [single, inBulk, named] = ["10.2.0.31", "10.2.0.32", "10.2.0.33"];
    await newHost({ ip_addresses: [{ ip_address: single }], ...assigned });
    const id = "0190a000-0000-4000-8000-0000000000aa";
    await succeed(
      owner.post("hosts/bulk", [
        { network_id: first.networkId, name: "bulk", ip_addresses: [{ ip_address: inBulk }], ...assigned },
        {
          network_id: first.networkId,
          name: "named",
          ip_addresses: [{ id, ip_address: named }, { ip_address: "10.2.0.34" }],
          credential_assignments: [{ credential_id: credential.id, ip_address_ids: [id] }],
        },
      ]),
    );
    expect(await sentTo(["snmp"])).toEqual([OWN, SECOND, single, inBulk, named].sort());
  });

  test.each(Object.entries(SCENARIOS))(
    "is sent to an address that was %s only once an Admin has confirmed it",
    async (_scenario, arrange) => {
      await arrange();
      expect(await sentTo()).not.toContain(EVIL);
      expect((await confirm(EVIL)).status).toBe(200);
      probes.devices.clear();
      expect(await sentTo(["snmp"])).toContain(EVIL);
    },
  );

  test("is no longer sent to an address whose value changed in between, or that was deleted and re-entered", async () => {
    await change(OWN, EVIL);
    await change(EVIL, OWN);
    await remove(SECOND);
    await add(SECOND);
    expect(await sentTo()).toEqual([]);
    expect((await confirm(OWN)).status).toBe(200);
    expect(await sentTo()).toEqual([OWN]);
  });

  test("is no longer sent to addresses swapped on the host: each has another value", async () => {
    const [own, second] = host.ip_addresses;
    await sendBack(member, {
      ip_addresses: [
        { id: own.id, ip_address: SECOND },
        { id: second.id, ip_address: OWN },
      ],
    });
    expect(await sentTo()).toEqual([]);
  });

  test("is sent only to addresses listed by an Admin in the assignment, from either side", async () => {
    await add(EVIL);
    await add("10.2.0.67");
    const [evil, otherAddress] = [await addressOf(EVIL), await addressOf("10.2.0.67")];
    await succeed(
      owner.put(`credentials/${credential.id}`, {
        ...credential,
        host_assignments: [{ host_id: host.id, ip_address_ids: [evil.id] }],
      }),
    );
    expect(await sentTo()).toEqual([EVIL]);
    await sendBack(owner, {
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [evil.id, otherAddress.id] }],
    });
    expect(await sentTo()).toEqual([EVIL, "10.2.0.67"]);
    // Assigned to the whole host by an Admin: to all its addresses.
    await sendBack(owner, { credential_assignments: [{ credential_id: credential.id }] });
    expect(await sentTo()).toEqual([OWN, SECOND, EVIL, "10.2.0.67"]);
  });

  test("is sent only to the listed value if the assignment lists an address", async () => {
    const own = host.ip_addresses[0];
    const scoped = [{ host_id: host.id, ip_address_ids: [own.id] }];
    await succeed(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: scoped }));
    expect(await sentTo()).toEqual([OWN]);
    expect((await member.put(`ip-addresses/${own.id}`, { ip_address: EVIL })).status).toBe(403);
    await change(OWN, EVIL, owner);
    expect(await sentTo()).toEqual([]);
    // A repeated assignment is not a confirmation.
    await sendBack(owner);
    await succeed(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: scoped }));
    expect(await sentTo()).toEqual([]);
    expect((await confirm(EVIL)).data.credential_ids).toEqual([credential.id]);
    expect(await sentTo()).toEqual([EVIL]);
  });

  test("is not sent to a listed address that a Member has deleted and restored", async () => {
    const own = host.ip_addresses[0];
    const second = host.ip_addresses[1];
    await succeed(
      owner.put(`credentials/${credential.id}`, {
        ...credential,
        host_assignments: [{ host_id: host.id, ip_address_ids: [own.id, second.id] }],
      }),
    );
    const { updated_at } = await currentHost();
    await remove(OWN);
    await succeed(member.post(`ip-addresses/${own.id}/restore`, { at: updated_at }));
    expect(await sentTo()).toEqual([SECOND]);
    await restoreHost(updated_at, member);
    expect(await sentTo()).toEqual([SECOND]);
    await restoreHost(updated_at, owner);
    expect(await sentTo()).toEqual([OWN, SECOND]);
  });

  test("is sent, after an Admin's restore, to its addresses at that time", async () => {
    const { updated_at } = await currentHost();
    await change(OWN, EVIL);
    await remove(SECOND);
    await restoreHost(updated_at, member);
    expect(await sentTo()).toEqual([]);
    await remove(SECOND);
    await change(OWN, EVIL);
    await restoreHost(updated_at, owner);
    expect(await sentTo()).toEqual([OWN, SECOND]);
  });

  test("is sent, after an Admin's revert of a deletion, to its former addresses", async () => {
    await add(EVIL);
    await succeed(member.delete(`hosts/${host.id}`));
    await revert(transactionCount(), owner);
    expect(await sentTo()).toEqual([OWN, SECOND]);
  });

  test("is sent to an address the device reports as its own when read with it, if the subnet accepts credentials", async () => {
    const [inner, outer] = ["10.2.0.9", "10.9.0.9"];
    await newSubnet({ cidr: "10.9.0.0/24" }, member);
    probes.devices.set(OWN, {
      community: SECRET,
      device: fakeDevice({
        sys_name: "core",
        interfaces: [OWN_INTERFACE],
        addresses: [OWN, inner, outer].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: null })),
      }),
    });
    await runScan({ kind: "full" }, member);
    probes.devices.clear();
    for (const address of [inner, outer]) probes.alive.set(address, {});
    expect(await sentTo()).toEqual([OWN, SECOND, inner]);
    await add(EVIL);
    expect(await sentTo()).toEqual([OWN, SECOND, inner]);
  });

  test("is also sent when an unchanged device reports the address again after the subnet began to accept credentials", async () => {
    const outer = "10.9.0.9";
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" }, member);
    probes.devices.set(OWN, {
      community: SECRET,
      device: fakeDevice({
        sys_name: "core",
        interfaces: [OWN_INTERFACE],
        addresses: [OWN, outer].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: null })),
      }),
    });
    await runScan({ kind: "full" }, member);
    await succeed(owner.put(`subnets/${subnet.id}`, { ...subnet, accepts_credentials: true }));
    await runScan({ kind: "full" }, member);
    probes.devices.clear();
    probes.alive.set(outer, {});
    expect(await sentTo()).toEqual([OWN, SECOND, outer]);
  });

  test("is not sent to an address that ended in a scan and returns in a sweep, with its lineage", async () => {
    const returning = "10.2.0.9";
    const reporting = (...own: string[]) => {
      const addresses = own.map((ip_address) => ({ ip_address, prefix_length: 24, if_index: null }));
      const device = fakeDevice({ sys_name: "core", interfaces: [OWN_INTERFACE], addresses });
      probes.devices.set(OWN, { community: SECRET, device });
    };
    reporting(OWN, returning);
    await runScan({ kind: "full" }, member);
    tick();
    const { id } = await addressOf(returning);
    reporting(OWN);
    await runScan({ kind: "full" }, member);
    tick();
    expect((await currentHost()).ip_addresses.map((each: JsonRecord) => each.ip_address)).toEqual([OWN, SECOND]);
    probes.devices.clear();
    probes.alive.set(returning, { mac_address: OWN_MAC });
    await runScan({ kind: "sweep" }, member);
    tick();
    expect(await addressOf(returning)).toMatchObject({ lineage_id: id });
    expect(await sentTo()).toEqual([OWN, SECOND]);
    // The device itself reports it again.
    reporting(OWN, returning);
    await runScan({ kind: "full" }, member);
    tick();
    probes.devices.clear();
    expect(await sentTo()).toEqual([OWN, SECOND, returning]);
  });

  test("is not sent to an address that a user named, once another machine has it", async () => {
    const moving = "10.2.0.9";
    const own = (...addresses: string[]) =>
      fakeDevice({
        sys_name: "core",
        interfaces: [OWN_INTERFACE],
        addresses: addresses.map((ip_address) => ({ ip_address, prefix_length: 24, if_index: 1 })),
      });
    probes.devices.set(OWN, { community: SECRET, device: own(OWN, moving) });
    await runScan({ kind: "full" }, member);
    tick();
    const named = await addressOf(moving);
    await succeed(member.put(`ip-addresses/${named.id}`, { ...named, name: "lab" }));
    tick();
    await communityOf("public");
    const mac_address = "00:1b:21:00:00:77";
    const address = { ip_address: moving, prefix_length: 24, if_index: 1 };
    const device = fakeDevice({
      sys_name: "other",
      interfaces: [{ ...OWN_INTERFACE, mac_address }],
      addresses: [address],
    });
    probes.devices.set(OWN, { community: SECRET, device: own(OWN) });
    probes.devices.set(moving, { community: "public", device });
    appliance.clock.advance(48 * 3_600_000);
    await runScan({ kind: "full" }, member);
    tick();
    expect(await addressOf(moving)).toMatchObject({ id: named.id, stale_since: expect.any(String) });
    expect(await sentTo()).not.toContain(moving);
  });

  test("raises a finding for an unconfirmed address", async () => {
    await add(EVIL);
    await remove(OWN);
    await remove(SECOND);
    const scan = await runScan({ kind: "snmp" }, member);
    const { id } = await addressOf(EVIL);
    expect(await findings(scan)).toEqual([
      {
        type: "Skipped",
        entity: "ip_address",
        id,
        label: EVIL,
        reason: `waits for confirmation: credentials are assigned to core, but no Admin has sent them to this address; confirm it with POST /api/v1/ip-addresses/${id}/confirm`,
      },
    ]);
    await confirm(EVIL);
    expect((await findings(await runScan({ kind: "snmp" }, member))).map(({ type }) => type)).toEqual(["Unreached"]);
  });

  test("still reaches eight addresses of a host despite unconfirmed ones", async () => {
    await remove(OWN);
    await remove(SECOND);
    for (let last = 100; last < 112; last += 1) await add(`10.2.0.${last}`);
    await add(OWN);
    await confirm(OWN);
    expect(await sentTo()).toEqual([OWN]);
  });
});

describe("confirming an address", () => {
  test("returns it with the credentials sent to it, as a transaction of its actor", async () => {
    await add(EVIL);
    const before = transactionCount();
    const result = await confirm(EVIL);
    const { id } = await addressOf(EVIL);
    expect(result.data).toEqual({
      ...(await expectOk(owner.get(`ip-addresses/${id}`))),
      credential_ids: [credential.id],
    });
    expect(result.headers.get("etag")).toBe((await owner.get(`ip-addresses/${id}`)).headers.get("etag"));
    expect(transactionCount()).toBe(before + 1);
    const [version] = (await owner.get(`ip-addresses/${id}/history`)).data;
    expect(version).toMatchObject({
      operation: "Updated",
      changed_fields: ["credential_ids"],
      transaction: { actor: { type: "User", id: first.userId } },
    });
    expect(versionsOf(credential.id).at(-1)?.changed).toEqual(["host_assignments"]);
    expect(versionsOf(host.id).at(-1)?.changed).toEqual(["credential_assignments", "ip_addresses"]);
  });

  test("writes nothing if already covered, or if the host has no credentials", async () => {
    const bare = await newHost({ ip_addresses: [{ ip_address: EVIL }] });
    const expectNothingWritten = watchWrites();
    expect((await confirm(OWN)).data.credential_ids).toEqual([credential.id]);
    expect((await owner.post(`ip-addresses/${bare.ip_addresses[0].id}/confirm`, {})).data.credential_ids).toEqual([]);
    expectNothingWritten();
  });

  test("requires the role Admin, and an address within reach", async () => {
    await add(EVIL);
    const { id } = await addressOf(EVIL);
    expect(await member.post(`ip-addresses/${id}/confirm`, {})).toMatchObject(refusal(403, "auth_permission_denied"));
    const outsider = newApiKey({ networkIds: [(await newNetwork()).id] }).client;
    expect(await outsider.post(`ip-addresses/${id}/confirm`, {})).toMatchObject({ status: 404 });
    expect(await sentTo()).not.toContain(EVIL);
    // Also assigned in another network, so a key limited to this network may not send it.
    const elsewhereId = (await newNetwork()).id;
    await succeed(owner.put(`credentials/${credential.id}`, { ...credential, assigned_network_ids: [elsewhereId] }));
    const confined = newApiKey({ networkIds: [first.networkId] }).client;
    expect(await confined.post(`ip-addresses/${id}/confirm`, {})).toMatchObject(refusal(403, "entity_access_denied"));
    expect(await sentTo()).not.toContain(EVIL);
    await succeed(owner.put(`credentials/${credential.id}`, credential));
    const admin = (await newUser({ role: "Admin" })).client;
    expect((await admin.post(`ip-addresses/${id}/confirm`, {})).status).toBe(200);
  });

  test("confirms only the value that was read if sent with If-Match", async () => {
    await add("10.2.0.65");
    const { id } = await addressOf("10.2.0.65");
    const etag = (await owner.get(`ip-addresses/${id}`)).headers.get("etag") ?? "";
    await change("10.2.0.65", EVIL);
    expect((await owner.with({ "if-match": etag }).post(`ip-addresses/${id}/confirm`, {})).status).toBe(412);
    expect(await sentTo()).not.toContain(EVIL);
    const currentEtag = (await owner.get(`ip-addresses/${id}`)).headers.get("etag") ?? "";
    expect((await owner.with({ "if-match": currentEtag }).post(`ip-addresses/${id}/confirm`, {})).status).toBe(200);
  });

  test("is undone by a revert, which can be reverted", async () => {
    await add(EVIL);
    await confirm(EVIL);
    const confirmed = transactionCount();
    const plan = (await owner.post(`transactions/${confirmed}/revert`, { dry_run: true })).data;
    expect(plan.conflicts).toEqual([]);
    expect(await sentTo()).toContain(EVIL);
    expect((await owner.post(`transactions/${confirmed}/revert`, {})).data).toMatchObject({ applied: true });
    const reverted = transactionCount();
    expect(await sentTo()).toEqual([OWN, SECOND]);
    await revert(reverted, owner);
    expect(await sentTo()).toContain(EVIL);
  });
});
