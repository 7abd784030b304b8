// Recipients of a network's credentials: subnets that accept them, and targets named by an Admin. A socket in any other
// subnet must never receive the secrets, regardless of what others create or change there.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

/** An address in the Admin's subnet, and one that must not receive the secret. */
const OWN = "10.2.0.1";
const EVIL = "10.6.0.66";
const EVIL_SUBNET = "10.6.0.0/24";
const SECRET = "s3cret";

const appliance = applianceForEach();
const { communityOf, findings, first, newHost, newMember, newSubnet, owner, probes, runScan, tick, transactionCount } =
  appliance;
let member: Client;
let subnet: JsonRecord;

beforeEach(async () => {
  member = (await newMember()).client;
  subnet = await newSubnet({ cidr: "10.2.0.0/24" });
  tick();
  await communityOf(SECRET);
  for (const address of [OWN, EVIL]) probes.alive.set(address, {});
});

/** Runs every kind of scan that a Member may request. @returns the addresses that received the secret */
async function sentTo(fields: JsonRecord = {}, client: Client = member): Promise<string[]> {
  probes.queries.length = 0;
  for (const kindOptions of [{ kind: "full", commit: false }, { kind: "full" }, { kind: "snmp" }]) {
    await runScan({ ...kindOptions, ...fields }, client);
    tick();
  }
  return [
    ...new Set(probes.queries.flatMap(({ address, credentials }) => (credentials.length > 0 ? [address] : []))),
  ].sort();
}

/** Attempts a change. A refusal counts as a change that does nothing. */
async function attempt(request: Promise<{ status: number; body: unknown }>, expected = 200): Promise<JsonRecord> {
  const { status, body } = await request;
  tick();
  if (status !== expected) throw new Error(JSON.stringify(body));
  return body as JsonRecord;
}

const create = (fields: JsonRecord, client: Client = member) =>
  client.post("subnets", { network_id: first.networkId, cidr: EVIL_SUBNET, subnet_type: "Lan", ...fields });
const update = ({ id, cidr, subnet_type }: JsonRecord, fields: JsonRecord, client: Client = member) =>
  client.put(`subnets/${id}`, { cidr, subnet_type, ...fields });
const remove = ({ id }: JsonRecord, client: Client = member) => client.delete(`subnets/${id}?cascade=true`);
const restore = ({ id }: JsonRecord, at: string, client: Client = member) =>
  client.post(`subnets/${id}/restore`, { at });
const createAccepting = async (fields: JsonRecord = {}): Promise<JsonRecord> =>
  (await attempt(create(fields, owner))).data;

/** Ways to get the evil address into a scanned subnet. If one is refused, the Member's own subnet still exists. */
const SCENARIOS: Record<string, () => Promise<unknown>> = {
  "created by a Member": () => attempt(create({})),
  "created by a Member as accepting": async () => {
    await attempt(create({ accepts_credentials: true }), 403);
    await attempt(create({ accepts_credentials: false }));
  },
  "set accepting by a Member": async () => {
    const { data } = await attempt(create({}));
    await attempt(update(data, { accepts_credentials: true }), 403);
  },
  "of an Admin, widened by a Member": async () => {
    await attempt(create({}));
    await attempt(update(subnet, { cidr: "10.0.0.0/8" }), 403);
  },
  "of an Admin, made part of scans by a Member": async () => {
    const internet = await createAccepting({ cidr: "10.6.0.0/16", subnet_type: "Internet" });
    await attempt(update(internet, { subnet_type: "Lan" }), 403);
    await attempt(update(internet, { cidr: EVIL_SUBNET }), 403);
  },
  "of a Member inside an Admin's subnet that is scanned only as a target": async () => {
    await createAccepting({ cidr: "10.6.0.0/16", subnet_type: "Internet" });
    await attempt(create({}));
  },
  "of an Admin, deleted and re-created by a Member": async () => {
    await attempt(remove(await createAccepting()));
    await attempt(create({}));
  },
  "of an Admin, deleted and restored by a Member": async () => {
    const otherSubnet = await createAccepting();
    await attempt(remove(otherSubnet));
    await attempt(restore(otherSubnet, otherSubnet.valid_from), 403);
    await attempt(create({}));
  },
  "of an Admin, no longer accepting and restored by a Member": async () => {
    const otherSubnet = await createAccepting();
    await attempt(update(otherSubnet, { accepts_credentials: false }, owner));
    await attempt(restore(otherSubnet, otherSubnet.valid_from), 403);
  },
  "of a Member, sent back by an Admin": async () => {
    const { data } = await attempt(create({}));
    await attempt(owner.put(`subnets/${data.id}`, { ...data, name: "renamed" }));
  },
  "of a Member, restored by an Admin": async () => {
    const { data } = await attempt(create({}));
    await attempt(remove(data));
    await attempt(restore(data, data.valid_from, owner));
  },
  "of a Member, restored by an Admin's revert": async () => {
    const { data } = await attempt(create({}));
    await attempt(remove(data));
    await attempt(owner.post(`transactions/${transactionCount()}/revert`, {}));
  },
  "reported by a device in the Admin's subnet": async () => {
    const addresses = [OWN, "10.6.0.1"].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: null }));
    probes.devices.set(OWN, { community: SECRET, device: fakeDevice({ sys_name: "core", addresses }) });
    await runScan({ kind: "full" }, member);
    expect((await owner.get("subnets")).data.map(({ cidr }: JsonRecord) => cidr)).toContain(EVIL_SUBNET);
  },
  "created by a Member, for a host that a Member added there": async () => {
    await attempt(create({}));
    await newHost({ ip_addresses: [{ ip_address: OWN }, { ip_address: EVIL }] }, member);
  },
  "created by a Member, for a neighbor announced by a device": async () => {
    await attempt(create({}));
    const lldp = [{ mgmt_addr: EVIL }];
    probes.devices.set(OWN, {
      community: SECRET,
      device: fakeDevice({ sys_name: "core", interfaces: [{ if_index: 1, if_descr: "1", lldp }] }),
    });
  },
};

describe("network credentials", () => {
  test("are sent to addresses in subnets that an Admin created", async () => {
    expect(await sentTo()).toEqual([OWN]);
  });

  test.each(Object.entries(SCENARIOS))("are not sent to an address in a subnet %s", async (_scenario, arrange) => {
    await arrange();
    expect(await sentTo()).not.toContain(EVIL);
    // Otherwise the address would have been skipped for another reason.
    for (const subnet of (await owner.get("subnets")).data as JsonRecord[])
      await attempt(update(subnet, { accepts_credentials: true, subnet_type: "Lan" }, owner));
    probes.devices.clear();
    expect(await sentTo()).toContain(EVIL);
  });

  test("are sent to an address inside an accepting subnet, even if a smaller subnet around it does not accept them", async () => {
    await attempt(create({}));
    await createAccepting({ cidr: "10.0.0.0/8" });
    expect(await sentTo()).toEqual([OWN, EVIL]);
  });

  test("are sent to a subnet that accepts them again after an Admin's restore or revert", async () => {
    const otherSubnet = await createAccepting();
    await attempt(update(otherSubnet, { accepts_credentials: false }, owner));
    expect(await sentTo()).toEqual([OWN]);
    await attempt(restore(otherSubnet, otherSubnet.valid_from, owner));
    expect(await sentTo()).toEqual([OWN, EVIL]);
    await attempt(remove(otherSubnet));
    await attempt(owner.post(`transactions/${transactionCount()}/revert`, {}));
    expect(await sentTo()).toContain(EVIL);
  });

  test("are sent to targets named by an Admin, in that scan only", async () => {
    await attempt(create({}));
    expect(await sentTo({ targets: [EVIL] }, owner)).toEqual([EVIL]);
    expect(await sentTo({ targets: ["10.6.0.64/29"] }, owner)).toContain(EVIL);
    // A Member may name it, since it is in a subnet; that does not send the secret there.
    expect(await sentTo({ targets: [EVIL, OWN] }, member)).toEqual([OWN]);
    expect(await sentTo()).toEqual([OWN]);
  });

  test("are sent to a subnet created from an Admin's target, but not to other subnets reported by a device", async () => {
    const addresses = [EVIL, "10.7.0.1"].map((ip_address) => ({
      ip_address,
      prefix_length: ip_address === EVIL ? null : 24,
      if_index: null,
    }));
    probes.devices.set(EVIL, { community: SECRET, device: fakeDevice({ sys_name: "edge", addresses }) });
    await runScan({ kind: "full", targets: [EVIL_SUBNET] });
    const subnets = Object.fromEntries(
      ((await owner.get("subnets")).data as JsonRecord[]).map(({ cidr, accepts_credentials }) => [
        cidr,
        accepts_credentials,
      ]),
    );
    expect(subnets).toEqual({ "10.2.0.0/24": true, [EVIL_SUBNET]: true, "10.7.0.0/24": false });
    probes.devices.clear();
    probes.alive.set("10.7.0.1", {});
    expect(await sentTo()).toEqual([OWN, EVIL]);
  });

  test("are accepted by a target's subnet even if a device reports the same prefix", async () => {
    probes.devices.set(EVIL, {
      community: SECRET,
      device: fakeDevice({ sys_name: "edge", addresses: [{ ip_address: EVIL, prefix_length: 24, if_index: null }] }),
    });
    await runScan({ kind: "full", targets: [EVIL_SUBNET] });
    expect(
      ((await owner.get("subnets")).data as JsonRecord[]).map(({ cidr, accepts_credentials }) => [
        cidr,
        accepts_credentials,
      ]),
    ).toContainEqual([EVIL_SUBNET, true]);
  });

  test("raise a finding with the subnet and the remedy when withheld, even in a dry run", async () => {
    const { data: otherSubnet } = await attempt(create({}));
    for (const last of [67, 68, 69]) probes.alive.set(`10.6.0.${last}`, {});
    const reason = `does not accept credentials: the network's were not sent to ${EVIL}, 10.6.0.67, 10.6.0.68, … (4 addresses); an Admin can set its accepts_credentials, or name them as targets`;
    for (const commit of [false, true]) {
      const scan = await runScan({ kind: "full", commit }, member);
      expect((await findings(scan)).filter(({ type }) => type === "Skipped")).toEqual([
        { type: "Skipped", entity: "subnet", id: otherSubnet.id, label: EVIL_SUBNET, reason },
      ]);
    }
  });

  test("raise no finding for a device that responded to another credential", async () => {
    await attempt(create({}));
    const host = await newHost({ name: "edge", ip_addresses: [{ ip_address: EVIL }] });
    await communityOf("own", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    probes.devices.set(EVIL, { community: "own", device: fakeDevice({ sys_name: "edge" }) });
    const scan = await runScan({ kind: "full" }, member);
    expect((await findings(scan)).filter(({ type }) => type === "Skipped")).toEqual([]);
  });
});
