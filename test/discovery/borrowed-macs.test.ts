// Devices that report thousands of MAC addresses of other hosts: a limit on the number of hosts compared, and the
// finding that reports it.

import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { endedHostsWith } from "../../src/resources/ignored/ended-hosts.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { hosts } = inventoryOf(appliance);

const DEVICE = "10.200.0.1";
const stationMac = (number: number) => mac(number % 256, 1_000 + Math.floor(number / 256));
const stationAddress = (number: number) => `10.0.${Math.floor(number / 250)}.${1 + (number % 250)}`;
const stations = (count: number, first = 0) => Array.from({ length: count }, (_, index) => first + index);

/** Records stations that respond, each with its own MAC address. */
const sweep = (numbers: readonly number[]) =>
  scan.addresses(...numbers.map((number) => seenAt(stationAddress(number), { mac_address: stationMac(number) })));

/** A device with its own MAC addresses on two ports, and those of stations on all others. */
const borrower = (numbers: readonly number[], changed = 1) =>
  deviceAt(DEVICE, {
    sys_name: "borrower",
    interfaces: [
      ethernet(9_001, { mac_address: mac(1, 50_000) }),
      ethernet(9_002, { mac_address: mac(changed, 50_001) }),
      ...numbers.map((number, index) => ethernet(index + 1, { mac_address: stationMac(number) })),
    ],
    addresses: [address(DEVICE, 9_001)],
  });

/** Number of queries, plus reads of a host's parts, which use prepared statements. */
async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const spies = [spyOn(Database.prototype, "query"), spyOn(WriteTransaction.prototype, "children")];
  try {
    await work();
    return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe("a device with the MAC addresses of many hosts", () => {
  test("takes hardly more reads per changed report than a device with the MAC addresses of a few", async () => {
    const counts: number[] = [];
    for (const count of [100, 700]) {
      await appliance.renew();
      await sweep(stations(count));
      await scan.devices(borrower(stations(count)));
      counts.push(await readsOf(() => scan.devices(borrower(stations(count), 2))));
    }
    const [few = 0, many = 0] = counts;
    expect(few).toBeGreaterThan(200);
    expect(many - few).toBeLessThan(200);
  });

  test("remains the same host, and reports how many hosts were not compared", async () => {
    await sweep(stations(200));
    await scan.devices(borrower(stations(200)));
    const { id } = (await hosts()).find(({ name }) => name === "borrower") ?? {};
    const { result } = await scan.devices(borrower(stations(200), 2));
    expect((await hosts()).filter(({ name }) => name === "borrower").map((each) => each.id)).toEqual([id]);
    expect(result.findings.filter(({ type }) => type === "Partial")).toEqual([
      {
        type: "Partial",
        entity: "host",
        id,
        label: "borrower: identity",
        reason: expect.stringMatching(
          /^1\d\d other hosts have one of its MAC addresses or IP addresses and were not compared: the limit is 64$/,
        ),
      },
    ]);
  });

  test("is compared only with the ended hosts that have the most in common, up to the limit", async () => {
    await sweep(stations(200));
    for (const { id } of (await appliance.owner.get("hosts?limit=0")).data) await appliance.owner.delete(`hosts/${id}`);
    const signs = [...stations(200).map((number) => `mac:${stationMac(number)}`), `ip:${stationAddress(150)}`];
    const ended = appliance.inTransaction((tx) =>
      endedHostsWith(tx, tx.recordN(appliance.first.networkId) ?? 0, signs),
    );
    expect(ended).toHaveLength(64);
    expect(ended.flatMap((each) => each.signs)).toContain(`mac:${stationMac(150)}`);
  });
});
