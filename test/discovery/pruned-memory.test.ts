// Data that scans keep outside the ledger, after a prune.

import { beforeEach, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, numbered, seenAt } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger, and all rows are counted.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { clock, newApiKey, prune } = appliance;
const scan = new ScanWriter(appliance);

const DAY_MS = 86_400_000;

let owner: typeof appliance.owner;
beforeEach(() => {
  // Otherwise the session would expire in the meantime.
  owner = appliance.anonymous.with({ authorization: `Bearer ${newApiKey({ permissions: "Owner" }).key}` });
});
const hosts = async () => (await expectOk(owner.get("hosts?order_by=name"))) as unknown as JsonRecord[];
const query = (sql: string, ...values: number[]) =>
  appliance.inTransaction((tx) => tx.db.$client.query(sql).values(...values));
/** Tables outside the ledger with rows that refer to a record. */
function tablesWith(n: number): string[] {
  const columns = query(
    `SELECT m.name, f."from" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
     WHERE m.type = 'table' AND f."table" = 'history_records'
       AND (m.name GLOB 'discovery_*' OR m.name = 'ended_hosts') ORDER BY 1`,
  ) as Array<[string, string]>;
  const found = columns.filter(([table, column]) => query(`SELECT 1 FROM ${table} WHERE ${column} = ?`, n).length > 0);
  return [...new Set(found.map(([table]) => table))];
}

const twoPorts = {
  interfaces: [ethernet(1, { vlans: [20] }), ethernet(2, { mac_address: mac(2) })],
  addresses: [address("10.0.0.2"), address("10.0.1.2", 2)],
  vlans: [{ number: 20, name: "voice" }],
};
const served = ["if_table.ifDescr"];
const core = (fields: JsonRecord) => deviceAt("10.0.0.2", { ...twoPorts, sys_name: "core", served, ...fields });
const ssh = { ports: { asked: [22], open: [{ number: 22, protocol: "Tcp", service: null }] } } as const;

test("all data about a host that ended 90 days ago is dropped, and all data about a live one is kept", async () => {
  await scan.devices(core({ serial_number: "SER1" }), numbered(9, { sys_name: "acc", serial_number: "SER9" }));
  await scan.devices(core({ serial_number: "SER1", sys_name: "core-1" }));
  await scan.addresses(seenAt("10.0.1.2", ssh), seenAt("10.0.0.7", { mac_address: "d2:11:22:33:44:55" }));
  const numbers = (await hosts()).map(({ id }) => appliance.reader.recordN(id) as number);
  const [live = 0, core1 = 0, guest = 0] = numbers;
  expect((await hosts()).map(({ name }) => name)).toEqual(["acc", "core-1", "d2:11:22:33:44:55"]);
  for (const { id } of (await hosts()).slice(1)) await expectOk(owner.delete(`hosts/${id}`));
  const remembered = () => [tablesWith(core1), tablesWith(guest)];
  const [ofCore = [], ofGuest = []] = remembered();
  expect(ofCore.map((table) => table.replace("discovery_", ""))).toEqual([
    "identities",
    "macs",
    "open_ports",
    "reads",
    "reads_by_name",
    "reporters",
    "served",
    "tellings",
    "vlan_names",
    "ended_hosts",
  ]);
  expect(ofGuest).toEqual(["discovery_macs", "ended_hosts"]);
  const ofLive = tablesWith(live);
  clock.advance(89 * DAY_MS);
  prune(clock.now() - DAY_MS, "none");
  expect(remembered()).toEqual([ofCore.filter((table) => table !== "discovery_identities"), ofGuest]);
  clock.advance(2 * DAY_MS);
  await scan.devices(numbered(9, { sys_name: "acc", serial_number: "SER9", sys_location: "rack-1" }));
  await scan.devices(numbered(9, { sys_name: "acc", serial_number: "SER9", sys_location: "rack-2" }));
  prune(clock.now(), "none");
  // Addresses seen in use keep their reporter until they expire.
  expect(remembered()).toEqual([["discovery_reporters"], []]);
  expect(tablesWith(live)).toEqual(ofLive);
});

test.each([
  ["again before the same date", 0],
  ["before a later date, since when records were only created", 1],
])("all data about a host that ended 90 days ago is dropped by a prune %s", async (_case, newTags) => {
  await scan.devices(core({ serial_number: "SER1" }));
  await scan.devices(core({ serial_number: "SER1", sys_location: "rack-1" }));
  const [{ id } = {}] = await hosts();
  const n = appliance.reader.recordN(id) as number;
  await expectOk(owner.delete(`hosts/${id}`));
  clock.advance(DAY_MS);
  const before = clock.now();
  prune(before, "none");
  expect(tablesWith(n)).toContain("discovery_tellings");
  clock.advance(91 * DAY_MS);
  for (let count = 0; count < newTags; count += 1) await expectOk(owner.post("tags", { name: "core", color: "Blue" }));
  clock.advance(DAY_MS);
  prune(newTags === 0 ? before : clock.now() - 1, "none");
  expect(tablesWith(n)).toEqual(["discovery_reporters"]);
});

test("of the decisions on identity, those remain that a kept state needs", async () => {
  const at = new Map<string, unknown>();
  const identity = async (id: string, instant: string) =>
    (await expectOk(owner.get(`hosts/${id}/identity?at=${instant}`))) as JsonRecord;
  const sw = (name: string, port: number) =>
    numbered(2, {
      sys_name: name,
      serial_number: "SERIAL-2",
      interfaces: [ethernet(1, { mac_address: mac(1, 2) }), ethernet(port)],
    });
  let id = "";
  for (let day = 0; day < 4; day += 1) {
    // Every other report has the previous name and another network card.
    for (let turn = 0; turn < 6; turn += 1) await scan.devices(sw(`sw-${day}${turn >> 1}`, 2 + turn));
    id ||= (await hosts())[0]?.id;
    const instant = clock.text();
    at.set(instant, await identity(id, instant));
    clock.advance(DAY_MS);
  }
  await scan.devices(sw("sw-40", 9));
  const count = () => (query("SELECT count(*) FROM discovery_identities")[0] as [number])[0];
  const before = count();
  expect(before).toBeGreaterThan(8);
  prune(clock.now(), "daily");
  expect(count()).toBeLessThanOrEqual(6);
  for (const [instant, answer] of at) expect(await identity(id, instant)).toEqual(answer as JsonRecord);
});
