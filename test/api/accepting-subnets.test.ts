// Reach of a network's credentials: subnets accepted by an Admin, and targets named by an Admin. For every way that
// others have to create or change a subnet, the socket in it must never receive the secrets.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";

/** An address in the Admin's subnet, and one that must not receive the secret. */
const OWN = "10.2.0.1";
const EVIL = "10.6.0.66";
const EVIL_SUBNET = "10.6.0.0/24";
const SECRET = "s3cret";

const appliance = applianceForEach();
const { communityOf, findings, first, newHost, newMember, newSubnet, owner, probes, scanned, tick, transactionCount } =
  appliance;
let member: Client;
let subnet: Wire;

beforeEach(async () => {
  member = (await newMember()).client;
  subnet = await newSubnet({ cidr: "10.2.0.0/24" });
  tick();
  await communityOf(SECRET);
  for (const address of [OWN, EVIL]) probes.alive.set(address, {});
});

/** Addresses that received the secret, in scans of every kind that a Member may request. */
async function sentTo(fields: Wire = {}, by: Client = member): Promise<string[]> {
  probes.asked.length = 0;
  for (const more of [{ kind: "full", commit: false }, { kind: "full" }, { kind: "snmp" }]) {
    await scanned({ ...more, ...fields }, by);
    tick();
  }
  return [
    ...new Set(probes.asked.flatMap(({ address, credentials }) => (credentials.length > 0 ? [address] : []))),
  ].sort();
}

/** Attempts a change now; a refusal counts like a change without effect. */
async function tried(answer: Promise<{ status: number; body: unknown }>, expected = 200): Promise<Wire> {
  const { status, body } = await answer;
  tick();
  if (status !== expected) throw new Error(JSON.stringify(body));
  return body as Wire;
}

const create = (fields: Wire, by: Client = member) =>
  by.post("subnets", { network_id: first.networkId, cidr: EVIL_SUBNET, subnet_type: "Lan", ...fields });
const update = ({ id, cidr, subnet_type }: Wire, fields: Wire, by: Client = member) =>
  by.put(`subnets/${id}`, { cidr, subnet_type, ...fields });
const remove = ({ id }: Wire, by: Client = member) => by.delete(`subnets/${id}?cascade=true`);
const restore = ({ id }: Wire, at: string, by: Client = member) => by.post(`subnets/${id}/restore`, { at });
const accepting = async (fields: Wire = {}): Promise<Wire> => (await tried(create(fields, owner))).data;

/** Ways for the evil address to get into a scanned subnet. Where one is refused, a Member's own subnet still exists. */
const WAYS: Record<string, () => Promise<unknown>> = {
  "created by a Member": () => tried(create({})),
  "created by a Member as accepting": async () => {
    await tried(create({ accepts_credentials: true }), 403);
    await tried(create({ accepts_credentials: false }));
  },
  "set accepting by a Member": async () => {
    const { data } = await tried(create({}));
    await tried(update(data, { accepts_credentials: true }), 403);
  },
  "an Admin's, widened by a Member": async () => {
    await tried(create({}));
    await tried(update(subnet, { cidr: "10.0.0.0/8" }), 403);
  },
  "an Admin's, made part of scans by a Member": async () => {
    const internet = await accepting({ cidr: "10.6.0.0/16", subnet_type: "Internet" });
    await tried(update(internet, { subnet_type: "Lan" }), 403);
    await tried(update(internet, { cidr: EVIL_SUBNET }), 403);
  },
  "a Member's inside an Admin's that is scanned only as a target": async () => {
    await accepting({ cidr: "10.6.0.0/16", subnet_type: "Internet" });
    await tried(create({}));
  },
  "an Admin's, deleted and re-created by a Member": async () => {
    await tried(remove(await accepting()));
    await tried(create({}));
  },
  "an Admin's, deleted and restored by a Member": async () => {
    const theirs = await accepting();
    await tried(remove(theirs));
    await tried(restore(theirs, theirs.valid_from), 403);
    await tried(create({}));
  },
  "an Admin's, no longer accepting and restored by a Member": async () => {
    const theirs = await accepting();
    await tried(update(theirs, { accepts_credentials: false }, owner));
    await tried(restore(theirs, theirs.valid_from), 403);
  },
  "a Member's, sent back by an Admin": async () => {
    const { data } = await tried(create({}));
    await tried(owner.put(`subnets/${data.id}`, { ...data, name: "renamed" }));
  },
  "a Member's, restored by an Admin": async () => {
    const { data } = await tried(create({}));
    await tried(remove(data));
    await tried(restore(data, data.valid_from, owner));
  },
  "a Member's, restored by an Admin's revert": async () => {
    const { data } = await tried(create({}));
    await tried(remove(data));
    await tried(owner.post(`transactions/${transactionCount()}/revert`, {}));
  },
  "reported by a device in the Admin's subnet": async () => {
    const addresses = [OWN, "10.6.0.1"].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: null }));
    probes.devices.set(OWN, { community: SECRET, device: fakeDevice({ sys_name: "core", addresses }) });
    await scanned({ kind: "full" }, member);
    expect((await owner.get("subnets")).data.map(({ cidr }: Wire) => cidr)).toContain(EVIL_SUBNET);
  },
  "created by a Member, for a host entered there by a Member": async () => {
    await tried(create({}));
    await newHost({ ip_addresses: [{ ip_address: OWN }, { ip_address: EVIL }] }, member);
  },
  "created by a Member, for a neighbor announced by a device": async () => {
    await tried(create({}));
    const lldp = [{ mgmt_addr: EVIL }];
    probes.devices.set(OWN, {
      community: SECRET,
      device: fakeDevice({ sys_name: "core", interfaces: [{ if_index: 1, if_descr: "1", lldp }] }),
    });
  },
};

describe("network credentials", () => {
  test("are sent to addresses in subnets created by an Admin", async () => {
    expect(await sentTo()).toEqual([OWN]);
  });

  test.each(Object.entries(WAYS))("are not sent to an address in a subnet that is %s", async (_how, bring) => {
    await bring();
    expect(await sentTo()).not.toContain(EVIL);
    // Otherwise the address would have been skipped for another reason.
    for (const each of (await owner.get("subnets")).data as Wire[])
      await tried(update(each, { accepts_credentials: true, subnet_type: "Lan" }, owner));
    probes.devices.clear();
    expect(await sentTo()).toContain(EVIL);
  });

  test("are sent to an address inside an accepting subnet, even if a smaller subnet around it does not accept them", async () => {
    await tried(create({}));
    await accepting({ cidr: "10.0.0.0/8" });
    expect(await sentTo()).toEqual([OWN, EVIL]);
  });

  test("are sent into a subnet that an Admin's restore or revert makes accepting", async () => {
    const theirs = await accepting();
    await tried(update(theirs, { accepts_credentials: false }, owner));
    expect(await sentTo()).toEqual([OWN]);
    await tried(restore(theirs, theirs.valid_from, owner));
    expect(await sentTo()).toEqual([OWN, EVIL]);
    await tried(remove(theirs));
    await tried(owner.post(`transactions/${transactionCount()}/revert`, {}));
    expect(await sentTo()).toContain(EVIL);
  });

  test("are sent to targets named by an Admin, in that scan only", async () => {
    await tried(create({}));
    expect(await sentTo({ targets: [EVIL] }, owner)).toEqual([EVIL]);
    expect(await sentTo({ targets: ["10.6.0.64/29"] }, owner)).toContain(EVIL);
    // A Member may name it, since it is in a subnet; that does not send the secret there.
    expect(await sentTo({ targets: [EVIL, OWN] }, member)).toEqual([OWN]);
    expect(await sentTo()).toEqual([OWN]);
  });

  test("are sent into a subnet created from an Admin's target, but not into other subnets reported by a device", async () => {
    const addresses = [EVIL, "10.7.0.1"].map((ip_address) => ({
      ip_address,
      prefix_length: ip_address === EVIL ? null : 24,
      if_index: null,
    }));
    probes.devices.set(EVIL, { community: SECRET, device: fakeDevice({ sys_name: "edge", addresses }) });
    await scanned({ kind: "full", targets: [EVIL_SUBNET] });
    const subnets = Object.fromEntries(
      ((await owner.get("subnets")).data as Wire[]).map(({ cidr, accepts_credentials }) => [cidr, accepts_credentials]),
    );
    expect(subnets).toEqual({ "10.2.0.0/24": true, [EVIL_SUBNET]: true, "10.7.0.0/24": false });
    probes.devices.clear();
    probes.alive.set("10.7.0.1", {});
    expect(await sentTo()).toEqual([OWN, EVIL]);
  });

  test("are accepted by a target's subnet even if a device reports that very prefix", async () => {
    probes.devices.set(EVIL, {
      community: SECRET,
      device: fakeDevice({ sys_name: "edge", addresses: [{ ip_address: EVIL, prefix_length: 24, if_index: null }] }),
    });
    await scanned({ kind: "full", targets: [EVIL_SUBNET] });
    expect(
      ((await owner.get("subnets")).data as Wire[]).map(({ cidr, accepts_credentials }) => [cidr, accepts_credentials]),
    ).toContainEqual([EVIL_SUBNET, true]);
  });

  test("when missing, raise a finding that names the subnet and the remedy, in a dry run too", async () => {
    const { data: theirs } = await tried(create({}));
    for (const last of [67, 68, 69]) probes.alive.set(`10.6.0.${last}`, {});
    const reason = `does not accept credentials: the network's were not sent to ${EVIL}, 10.6.0.67, 10.6.0.68, … (4 addresses); an Admin can set its accepts_credentials, or name them as targets`;
    for (const commit of [false, true]) {
      const scan = await scanned({ kind: "full", commit }, member);
      expect((await findings(scan)).filter(({ type }) => type === "Skipped")).toEqual([
        { type: "Skipped", entity: "subnet", id: theirs.id, label: EVIL_SUBNET, reason },
      ]);
    }
  });

  test("raise no finding for a device that answered otherwise", async () => {
    await tried(create({}));
    const host = await newHost({ name: "edge", ip_addresses: [{ ip_address: EVIL }] });
    await communityOf("own", { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
    probes.devices.set(EVIL, { community: "own", device: fakeDevice({ sys_name: "edge" }) });
    const scan = await scanned({ kind: "full" }, member);
    expect((await findings(scan)).filter(({ type }) => type === "Skipped")).toEqual([]);
  });
});
