// Credentials withdrawn by an Admin during a scan: once the change is acknowledged, no address receives the secret,
// regardless of what the scan read when it started.

import { beforeEach, describe, expect, test } from "bun:test";
import { CONCURRENT_DEVICES } from "../../src/discovery/scans/probes.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, snmpV2c } from "../support/appliance/factories.ts";

const [FIRST, SECOND] = ["10.2.0.1", "10.2.0.2"];
const SECRET = "s3cret";

const appliance = applianceForEach();
const {
  startScan,
  communityOf,
  findings,
  holdProbes,
  newHost,
  newMember,
  newNetwork,
  newSubnet,
  owner,
  probes,
  waitForScan,
} = appliance;
let member: Client;
let subnet: JsonRecord;

beforeEach(async () => {
  member = (await newMember()).client;
  subnet = await newSubnet({ cidr: "10.2.0.0/24" });
  for (const address of [FIRST, SECOND]) probes.alive.set(address, {});
});

const communities = (from = 0) =>
  probes.queries
    .slice(from)
    .flatMap(({ address, credentials }) =>
      credentials.map((credential) => [address, "community" in credential ? credential.community : ""]),
    );

/** Addresses that received the secret. */
const sentTo = (from = 0) =>
  communities(from).flatMap(([address, community]) => (community === SECRET ? [address] : []));

/**
 * Runs a scan, and makes a change just before the first address is queried.
 * @returns the number of addresses queried before the change, and the scan
 */
async function changeDuringScan(
  change: () => Promise<unknown>,
  fields: JsonRecord = {},
  caller: Client = member,
): Promise<{ before: number; scan: JsonRecord }> {
  const { reached, release } = holdProbes();
  const { id } = await startScan(fields, caller);
  await reached;
  await change();
  const before = probes.queries.length;
  release();
  return { before, scan: await waitForScan(id) };
}

const update = (credential: JsonRecord, fields: JsonRecord) =>
  expectOk(owner.put(`credentials/${credential.id}`, { ...credential, ...fields }));
const remove = ({ id }: JsonRecord) => expectOk(owner.delete(`credentials/${id}?cascade=true`));

describe("a network's credential during a scan", () => {
  const WITHDRAWALS: Record<string, (credential: JsonRecord) => Promise<unknown>> = {
    "with a subnet that no longer accepts it": () =>
      expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false })),
    "that is unassigned": (credential) => update(credential, { assigned_network_ids: [] }),
    "that is deleted": remove,
  };
  for (const [how, withdraw] of Object.entries(WITHDRAWALS)) {
    test(`${how} is no longer sent`, async () => {
      const credential = await communityOf(SECRET);
      const { scan } = await changeDuringScan(() => withdraw(credential));
      expect(scan.status).toBe("Completed");
      expect(sentTo()).toEqual([]);
    });
  }

  test("is still sent if not withdrawn, regardless of other writes", async () => {
    await communityOf(SECRET);
    await changeDuringScan(() => newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] }));
    expect(sentTo().sort()).toEqual([FIRST, SECOND]);
  });

  test("is reported as withheld when its subnet stops accepting it", async () => {
    await communityOf(SECRET);
    const withdraw = () =>
      expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false }));
    const { scan } = await changeDuringScan(withdraw);
    const skipped = (await findings(scan)).filter(({ type }) => type === "Skipped");
    expect(skipped).toMatchObject([
      { entity: "subnet", id: subnet.id, reason: expect.stringContaining("does not accept credentials") },
    ]);
  });

  test("is sent in its new form if it was already used and then changed", async () => {
    const credential = await communityOf(SECRET, { target_ips: [FIRST] });
    const change = () =>
      update(credential, {
        target_ips: null,
        credential_type: snmpV2c("another"),
      });
    const { before } = await changeDuringScan(change);
    expect(sentTo().slice(0, before)).toEqual([FIRST]);
    expect(communities(before)).toEqual([[SECOND, "another"]]);
  });
});

describe("the credential during a device read", () => {
  const CHANGES: Record<string, (credential: JsonRecord) => Promise<unknown>> = {
    "that is unassigned": (credential) => update(credential, { assigned_network_ids: [], target_ips: [] }),
    "that is deleted": remove,
    "that is changed": (credential) => update(credential, { credential_type: snmpV2c("another") }),
  };
  for (const [how, withdraw] of Object.entries(CHANGES)) {
    test(`${how} is no longer sent to it`, async () => {
      const credential = await communityOf(SECRET, { target_ips: [FIRST] });
      const { before } = await changeDuringScan(() => withdraw(credential));
      expect(probes.queries[0]).toMatchObject({ address: FIRST, credentials: [{ community: SECRET }] });
      expect(before).toBe(1);
      expect(
        probes.sent.filter((sent) => "community" in sent.credential && sent.credential.community === SECRET),
      ).toEqual([]);
    });
  }

  test("is still sent after unrelated writes", async () => {
    await communityOf(SECRET, { target_ips: [FIRST] });
    await changeDuringScan(() => newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] }));
    expect(probes.sent.map(({ address }) => address)).toEqual([FIRST, SECOND]);
  });
});

describe("a host's credential during a scan", () => {
  let host: JsonRecord;
  let credential: JsonRecord;
  beforeEach(async () => {
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, accepts_credentials: false }));
    host = await newHost({ ip_addresses: [{ ip_address: FIRST }, { ip_address: SECOND }] });
    credential = await communityOf(SECRET, { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] });
  });

  test("is sent only to the addresses it was narrowed to", async () => {
    const [{ id }] = host.ip_addresses;
    await changeDuringScan(() =>
      update(credential, { host_assignments: [{ host_id: host.id, ip_address_ids: [id] }] }),
    );
    expect(sentTo()).toEqual([FIRST]);
  });

  test("is no longer sent once unassigned", async () => {
    await changeDuringScan(() => update(credential, { host_assignments: [] }));
    expect(sentTo()).toEqual([]);
  });

  test("is not sent to an address removed from the host", async () => {
    await changeDuringScan(() => expectOk(owner.delete(`ip-addresses/${host.ip_addresses[1].id}?cascade=true`)));
    expect(sentTo()).toEqual([FIRST]);
  });
});

describe("a credential with initial addresses during a scan", () => {
  const targets = Array.from({ length: CONCURRENT_DEVICES + 2 }, (_, index) => `192.0.2.${index + 1}`);
  const WITHDRAWALS: Record<
    string,
    { readonly fields?: JsonRecord; readonly withdraw: (credential: JsonRecord) => Promise<unknown> }
  > = {
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
  for (const [how, { fields, withdraw }] of Object.entries(WITHDRAWALS)) {
    test(`${how} is not sent to the rest of them`, async () => {
      const credential = await communityOf(SECRET, { assigned_network_ids: [], target_ips: targets });
      const { before } = await changeDuringScan(() => withdraw(credential), fields, owner);
      expect(sentTo()).toEqual(targets.slice(0, CONCURRENT_DEVICES));
      expect(sentTo(before)).toEqual([]);
    });
  }

  test("is sent to all of them, even though the scan has cleared them", async () => {
    await communityOf(SECRET, { assigned_network_ids: [], target_ips: targets });
    await changeDuringScan(async () => {}, {}, owner);
    expect(sentTo()).toEqual(targets);
  });
});
