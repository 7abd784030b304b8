// Search of all kinds compared with a naive scan of every version, at random timestamps and for callers with limited
// access.

import { beforeAll, expect, test } from "bun:test";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type NaiveRecord, searchNaively } from "../support/model/naive-search.ts";

const STEP_COUNT = 260;
const QUERY_COUNT = 500;
/** Number of hosts up to which the search covers all children. */
const HOSTS_MAX = 16;
const random = seededRandom(20_261_123);
const appliance = applianceForAll();
const { owner } = appliance;

const NAMES = [
  "core",
  "core-1",
  "Core 1",
  "core-10",
  "Zürich",
  "zurich nord",
  "gi1/0/7",
  "web",
  "10.2.3.17",
  "20",
  "straße 7",
];
const TEXTS = [null, "the core of Zürich", "old web", "racks 1–7", "20 ports"];
const INTERFACES = [
  "GigabitEthernet1/0/7",
  "Gi1/0/7",
  "gi1/0/70",
  "TenGigabitEthernet 1/1/1",
  "Te1/1/1",
  "port-channel20",
  "Uplink Te1/2 core",
  "eth-x 7",
];
const MACS = [null, "00:1b:21:aa:bb:cc", "00:1b:21:aa:bb:cd", "aa:bb:cc:dd:ee:ff"];
const QUERIES = [
  ...NAMES,
  ...INTERFACES,
  ...[
    "co",
    "1",
    "core zurich",
    "nord zur",
    "zürich",
    "gig1/0",
    "gi 1/0/7",
    "te",
    "1/0",
    "core-1 gi1/0/7",
    "gi 1/0/7 core",
    "web 20",
    "vlan 20",
    "vlan20",
    "2",
  ],
  ...[
    "001b",
    "aa-bb-cc",
    "1b:21:aa",
    "bbcc",
    "001b.21aa.bbcc",
    "aabbccddeeff",
    "10.2",
    "3.17",
    "10.2.3.0/24",
    "2.3",
    "FOC",
    "foc1 core",
    "ssh",
    "22",
    "racks",
    "strasse",
    "x",
  ],
];

const records: NaiveRecord[] = [];
const instants: string[] = [];
const near: string[] = [];
let far = "";

/** Records the result of a write. */
function recordVersion(type: string, record: JsonRecord): void {
  const existing = records.find(({ id }) => id === record.id);
  const version = { at: record.valid_from as string, fields: record };
  if (existing === undefined) records.push({ type, id: record.id, versions: [version] });
  else if (existing.versions.at(-1)?.at !== version.at) existing.versions.push(version);
}

function recordEnd(record: NaiveRecord, at: string): void {
  record.versions.push({ at, fields: null });
}

const liveRecords = (type: string) =>
  records.filter((record) => record.type === type && record.versions.at(-1)?.fields != null);
const current = (record: NaiveRecord) => record.versions.at(-1)?.fields as JsonRecord;
const network = () => random.pick([...near, far]);

/** One random write; refusals change nothing. */
async function randomWrite(index: number): Promise<void> {
  appliance.clock.advance(1 + random.integer(5_000));
  const roll = random.integer(12);
  if (roll < 2 && liveRecords("host").length < HOSTS_MAX) {
    await write("host", owner.post("hosts", { network_id: network(), name: random.pick(NAMES), ...hostFields() }));
  } else if (roll < 4) {
    const host = pick("host");
    if (host === null) return;
    const body = { ...current(host), name: random.pick(NAMES), ...hostFields() };
    await write("host", owner.put(`hosts/${host.id}`, body));
  } else if (roll < 6) {
    const host = pick("host");
    if (host === null) return;
    const body = {
      host_id: host.id,
      if_index: index + 1,
      if_descr: random.pick(INTERFACES),
      if_name: random.pick([null, ...INTERFACES]),
      if_alias: random.pick([null, ...NAMES]),
      mac_address: random.pick(MACS),
    };
    await write("if_entry", owner.post("if-entries", body));
  } else if (roll < 8) {
    const entry = pick("if_entry");
    if (entry === null) return;
    const body = {
      ...current(entry),
      if_alias: random.pick([null, ...NAMES]),
      if_name: random.pick([null, ...INTERFACES]),
      mac_address: random.pick(MACS),
    };
    await write("if_entry", owner.put(`if-entries/${entry.id}`, body));
  } else if (roll < 9) {
    const body = { network_id: network(), number: random.pick([2, 20, 200, 21]), ...namedFields() };
    await write("vlan", owner.post("vlans", body));
  } else if (roll < 10) await changeVlanOrTag();
  else if (roll < 11) await removeRandomRecord();
  else await write("tag", owner.post("tags", { color: "Red", ...namedFields() }));
}

/** Records the result of a write unless it is refused. */
async function write(type: string, response: Promise<ApiResponse>): Promise<void> {
  const { data, status } = await response;
  if (status === 200) recordVersion(type, data);
}

function pick(type: string): NaiveRecord | null {
  const candidates = liveRecords(type);
  return candidates.length === 0 ? null : random.pick(candidates);
}

const namedFields = () => ({ name: random.pick(NAMES), description: random.pick(TEXTS) });
const hostFields = () => ({
  description: random.pick(TEXTS),
  serial_number: random.pick([null, "FOC1234", "foc 99"]),
  asset_tag: random.pick([null, "20", "INV-7"]),
});

/**
 * Renames a tag, or moves a VLAN to another network, which clients can't do but a future rule might allow. Its former
 * names stay in the former network.
 */
async function changeVlanOrTag(): Promise<void> {
  const vlan = pick("vlan");
  const tag = pick("tag");
  if (vlan !== null && random.integer(2) === 0) {
    const to = network();
    if (
      liveRecords("vlan").some(
        (other) => current(other).network_id === to && current(other).number === current(vlan).number,
      )
    )
      return;
    const name = random.pick(NAMES);
    appliance.inTransaction((tx) => tx.update(vlanKind, vlan.id, { network_id: to, name }));
    recordVersion("vlan", await expectOk(owner.get(`vlans/${vlan.id}`)));
  } else if (tag !== null) await write("tag", owner.put(`tags/${tag.id}`, { ...current(tag), ...namedFields() }));
}

async function removeRandomRecord(): Promise<void> {
  const record = pick(random.pick(["host", "if_entry", "vlan", "tag"]));
  if (record === null) return;
  const path = { host: "hosts", if_entry: "if-entries", vlan: "vlans", tag: "tags" }[record.type];
  const { data, status } = await owner.delete(`${path}/${record.id}?cascade=true`);
  if (status !== 200) return;
  recordEnd(record, data.valid_to);
  if (record.type === "host")
    for (const entry of liveRecords("if_entry"))
      if (current(entry).host_id === record.id) recordEnd(entry, data.valid_to);
}

beforeAll(async () => {
  const first = await expectOk(owner.get(`networks/${appliance.first.networkId}`));
  recordVersion("network", first);
  near.push(first.id);
  const second = await expectOk(owner.post("networks", { name: "Zürich core", description: "20 racks" }));
  const third = await expectOk(owner.post("networks", { name: "far web" }));
  for (const network of [second, third]) recordVersion("network", network);
  near.push(second.id);
  far = third.id;
  for (const [network_id, cidr, name] of [
    [first.id, "10.2.3.0/24", "core"],
    [second.id, "10.2.0.0/16", "Web 20"],
    [far, "10.20.0.0/16", "Zürich"],
  ] as const)
    recordVersion("subnet", await expectOk(owner.post("subnets", { network_id, cidr, name })));
  for (let index = 0; index < STEP_COUNT; index += 1) {
    await randomWrite(index);
    if (random.integer(6) === 0) instants.push(appliance.instant());
  }
});

test("equals a full scan of all versions, now and in the past, for every caller", async () => {
  const viewer = (await appliance.newUser({ role: "Viewer", networkIds: near })).client;
  const limited = (await appliance.newUser({ role: "Member", networkIds: [near[1] as string] })).client;
  const callers: ReadonlyArray<readonly [Client, readonly string[] | null]> = [
    [owner, null],
    [viewer, near],
    [limited, [near[1] as string]],
  ];
  const types = "network,subnet,vlan,host,ip_address,port,if_entry,tag";
  const last = new Date(appliance.clock.now()).toISOString();
  let count = 0;
  const differing: unknown[] = [];
  for (let index = 0; index < QUERY_COUNT; index += 1) {
    const q = random.pick(QUERIES);
    const at = random.integer(3) === 0 ? null : random.pick(instants);
    const [client, networks] = random.pick(callers);
    const { data, body } = await client.get(
      `search?limit=100&types=${types}&q=${encodeURIComponent(q)}${at === null ? "" : `&at=${at}`}`,
    );
    const found = (data as JsonRecord[]).map(({ type, id, match, named_until, deleted_at }) => ({
      type,
      id,
      kind: match.kind,
      named_until,
      deleted_at,
    }));
    const expected = searchNaively(records, q, at ?? last, networks);
    expect(body.meta.search.cut_off).toEqual([]);
    if (!Bun.deepEquals(found, expected.slice(0, 100), true))
      differing.push({
        q,
        at,
        networks,
        found: found.filter((result) => !expected.some((other) => Bun.deepEquals(result, other))),
        missing: expected
          .filter((result) => !found.some((other) => Bun.deepEquals(result, other)))
          .map((result) => [
            result,
            records
              .find(({ id }) => id === result.id)
              ?.versions.map((v) => [v.at, v.fields?.name, v.fields?.if_name, v.fields?.if_descr, v.fields?.if_alias]),
          ]),
        lengths: [found.length, expected.length],
      });
    expect(body.meta.search.has_more).toBe(expected.length > 100);
    count += expected.length;
  }
  expect(differing.slice(0, 2)).toEqual([]);
  expect(count).toBeGreaterThan(QUERY_COUNT * 3);
});
