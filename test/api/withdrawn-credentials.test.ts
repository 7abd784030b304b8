// Credentials withdrawn by an Admin during a scan: from the answer to the change on, no address receives the secret,
// whatever the scan read at its start.

import { beforeEach, describe, expect, test } from "bun:test";
import { DEVICES_AT_A_TIME } from "../../src/discovery/scans/probes.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, snmpV2c, type Wire } from "../support/appliance/factories.ts";

const [OWN, SECOND] = ["10.2.0.1", "10.2.0.2"];
const SECRET = "s3cret";

const appliance = applianceForEach();
const { asked, communityOf, findings, holdBack, newHost, newMember, newNetwork, newSubnet, owner, probes, untilEnded } =
  appliance;
let member: Client;
let subnet: Wire;

beforeEach(async () => {
  member = (await newMember()).client;
  subnet = await newSubnet({ cidr: "10.2.0.0/24" });
  for (const address of [OWN, SECOND]) probes.alive.set(address, {});
});

const communities = (from = 0) =>
  probes.asked
    .slice(from)
    .flatMap(({ address, credentials }) =>
      credentials.map((each) => [address, "community" in each ? each.community : ""]),
    );

/** Addresses that received the secret. */
const sentTo = (from = 0) =>
  communities(from).flatMap(([address, community]) => (community === SECRET ? [address] : []));

/**
 * A scan with a change just before the first address is queried.
 * @returns number of addresses queried before, and the scan
 */
async function changedWhileScanning(
  change: () => Promise<unknown>,
  fields: Wire = {},
  by: Client = member,
): Promise<{ before: number; scan: Wire }> {
  const { reached, letGo } = holdBack();
  const { id } = await asked(fields, by);
  await reached;
  await change();
  const before = probes.asked.length;
  letGo();
  return { before, scan: await untilEnded(id) };
}

const update = (credential: Wire, fields: Wire) =>
  made(owner.put(`credentials/${credential.id}`, { ...credential, ...fields }));
const remove = ({ id }: Wire) => made(owner.delete(`credentials/${id}?cascade=true`));

describe("during a scan, a network's credential", () => {
  const WAYS: Record<string, (credential: Wire) => Promise<unknown>> = {
    "with a subnet that no longer accepts it": () =>
      made(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false })),
    "that is unassigned": (credential) => update(credential, { assigned_network_ids: [] }),
    "that is deleted": remove,
  };
  for (const [how, withdraw] of Object.entries(WAYS)) {
    test(`${how} is no longer sent`, async () => {
      const credential = await communityOf(SECRET);
      const { scan } = await changedWhileScanning(() => withdraw(credential));
      expect(scan.status).toBe("Completed");
      expect(sentTo()).toEqual([]);
    });
  }

  test("is still sent if not withdrawn, whatever else is written", async () => {
    await communityOf(SECRET);
    await changedWhileScanning(() => newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] }));
    expect(sentTo().sort()).toEqual([OWN, SECOND]);
  });

  test("is reported as withheld when its subnet stops accepting it", async () => {
    await communityOf(SECRET);
    const withdraw = () => made(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false }));
    const { scan } = await changedWhileScanning(withdraw);
    const told = (await findings(scan)).filter(({ type }) => type === "Skipped");
    expect(told).toMatchObject([
      { entity: "subnet", id: subnet.id, reason: expect.stringContaining("does not accept credentials") },
    ]);
  });

  test("that was already used and then changed is sent in its new form", async () => {
    const credential = await communityOf(SECRET, { target_ips: [OWN] });
    const change = () =>
      update(credential, {
        target_ips: null,
        credential_type: snmpV2c("another"),
      });
    const { before } = await changedWhileScanning(change);
    expect(sentTo().slice(0, before)).toEqual([OWN]);
    expect(communities(before)).toEqual([[SECOND, "another"]]);
  });
});

describe("during a device read, the credential", () => {
  const OTHERS: Record<string, (credential: Wire) => Promise<unknown>> = {
    "that is unassigned": (credential) => update(credential, { assigned_network_ids: [], target_ips: [] }),
    "that is deleted": remove,
    "that is changed": (credential) => update(credential, { credential_type: snmpV2c("another") }),
  };
  for (const [how, withdraw] of Object.entries(OTHERS)) {
    test(`${how} is no longer sent to it`, async () => {
      const credential = await communityOf(SECRET, { target_ips: [OWN] });
      const { before } = await changedWhileScanning(() => withdraw(credential));
      expect(probes.asked[0]).toMatchObject({ address: OWN, credentials: [{ community: SECRET }] });
      expect(before).toBe(1);
      expect(
        probes.sent.filter((each) => "community" in each.credential && each.credential.community === SECRET),
      ).toEqual([]);
    });
  }

  test("is still sent after unrelated writes", async () => {
    await communityOf(SECRET, { target_ips: [OWN] });
    await changedWhileScanning(() => newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] }));
    expect(probes.sent.map(({ address }) => address)).toEqual([OWN, SECOND]);
  });
});

describe("during a scan, a host's credential", () => {
  let host: Wire;
  let credential: Wire;
  beforeEach(async () => {
    await made(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false }));
    host = await newHost({ ip_addresses: [{ ip_address: OWN }, { ip_address: SECOND }] });
    credential = await communityOf(SECRET, { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
  });

  test("narrowed to some addresses is sent to these only", async () => {
    const [{ id }] = host.ip_addresses;
    await changedWhileScanning(() =>
      update(credential, { host_assignments: [{ host_id: host.id, ip_address_ids: [id] }] }),
    );
    expect(sentTo()).toEqual([OWN]);
  });

  test("that is unassigned is no longer sent", async () => {
    await changedWhileScanning(() => update(credential, { host_assignments: [] }));
    expect(sentTo()).toEqual([]);
  });

  test("is not sent to an address removed from the host", async () => {
    await changedWhileScanning(() => made(owner.delete(`ip-addresses/${host.ip_addresses[1].id}?cascade=true`)));
    expect(sentTo()).toEqual([OWN]);
  });
});

describe("during a scan, a credential with initial addresses", () => {
  const targets = Array.from({ length: DEVICES_AT_A_TIME + 2 }, (_, place) => `192.0.2.${place + 1}`);
  const WAYS: Record<string, { readonly fields?: Wire; readonly withdraw: (credential: Wire) => Promise<unknown> }> = {
    "that is deleted": { withdraw: remove },
    "that is assigned to another network": {
      withdraw: async (credential) =>
        update(credential, { target_ips: null, assigned_network_ids: [(await newNetwork()).id] }),
    },
    "that gets different ones": { withdraw: (credential) => update(credential, { target_ips: ["192.0.2.99"] }) },
    "that loses them during a dry run": {
      fields: { commit: false },
      withdraw: (credential) => update(credential, { target_ips: null }),
    },
  };
  for (const [how, { fields, withdraw }] of Object.entries(WAYS)) {
    test(`${how} is not sent to the rest of them`, async () => {
      const credential = await communityOf(SECRET, { assigned_network_ids: [], target_ips: targets });
      const { before } = await changedWhileScanning(() => withdraw(credential), fields, owner);
      expect(sentTo()).toEqual(targets.slice(0, DEVICES_AT_A_TIME));
      expect(sentTo(before)).toEqual([]);
    });
  }

  test("is sent to all of them, even though the scan has cleared them", async () => {
    await communityOf(SECRET, { assigned_network_ids: [], target_ips: targets });
    await changedWhileScanning(async () => {}, {}, owner);
    expect(sentTo()).toEqual(targets);
  });
});
