// `filter=` on lists and exports: the meaning of each field, value and function, live and as of a timestamp, and errors
// in filters. api/filter-model.test.ts compares it with a naive model over random histories.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, newNetwork, newTag } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

const appliance = applianceForAll();
const { owner, newHost, newIfEntry, newSubnet, newVlan, newViewer, instant, tick } = appliance;

/** Names of the hosts, or indexes of the interfaces, that match a filter. */
async function listMatches(list: string, filter: string, at?: string, caller = owner): Promise<unknown[]> {
  const query = new URLSearchParams({ filter, limit: "0", ...(at === undefined ? {} : { at }) });
  const response = await caller.get(`${list}?${query}`);
  expect(response.text, filter).toStartWith('{"success":true');
  const names = response.data.map((row: JsonRecord) => row.name ?? row.if_index ?? row.cidr);
  const page = await caller.get(
    `${list}?${new URLSearchParams({ filter, limit: "2", offset: "1", ...(at === undefined ? {} : { at }) })}`,
  );
  expect(
    page.data.map((row: JsonRecord) => row.name ?? row.if_index ?? row.cidr),
    filter,
  ).toEqual(names.slice(1, 3));
  expect(page.body.meta.pagination.total_count).toBe(names.length);
  // In another order, and on the path of long lists.
  const table = await caller.get(
    `${list}/export/csv?${new URLSearchParams({ filter, order_by: "updated_at", order_direction: "desc", ...(at === undefined ? {} : { at }) })}`,
  );
  expect(
    csvRecords(table.text)
      .map(({ id }) => id)
      .sort(),
    filter,
  ).toEqual(response.data.map((row: JsonRecord) => row.id).sort());
  return names;
}

const hosts = (filter: string, at?: string) => listMatches("hosts", filter, at);
const ports = (filter: string, at?: string) => listMatches("if-entries", filter, at);

async function problem(list: string, filter: string): Promise<JsonRecord> {
  const response = await owner.get(`${list}?${new URLSearchParams({ filter })}`);
  expect(response).toMatchObject({ status: 400, body: { code: "validation_failed" } });
  const [issue] = response.body.params.issues;
  expect(issue.path).toBe("/filter");
  return issue;
}

let core: JsonRecord;
let edge: JsonRecord;
let otherNetwork: JsonRecord;
let tag: JsonRecord;
let beforeInterfaces: string;
let midway: string;

beforeAll(async () => {
  otherNetwork = await newNetwork(appliance, { name: "Lab" });
  await newSubnet({ cidr: "10.0.0.0/8", subnet_type: "Lan" });
  await newSubnet({ cidr: "10.2.0.0/16", subnet_type: "Lan" });
  await newSubnet({ cidr: "2001:db8::/32", subnet_type: "Dmz" });
  const vlan = await newVlan({ number: 20, name: "voice" });
  const data = await newVlan({ number: 30, name: "data" });
  tag = await newTag(appliance, { name: "Prod", color: "Red" });
  core = await newHost({
    name: "core-1",
    sys_location: "Zürich, Keller",
    serial_number: "FOC1234X0AB",
    tags: [tag.id],
    description: "100% *busy*",
    ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "00:1b:21:aa:bb:cc" }, { ip_address: "2001:db8::5" }],
    ports: [{ number: 22, protocol: "Tcp" }],
  });
  edge = await newHost({
    name: "Edge-2",
    sys_location: "Bern",
    hidden: true,
    ip_addresses: [{ ip_address: "10.20.3.4" }],
  });
  await newHost({ name: "printer", network_id: otherNetwork.id });
  beforeInterfaces = instant();
  await newIfEntry(core.id, {
    if_index: 1,
    if_name: "Gi1/0/1",
    speed_bps: 10_000_000_000,
    oper_status: "Up",
    mac_address: "00:1b:21:00:00:01",
    native_vlan_id: vlan.id,
    vlan_ids: [data.id],
    lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:02" },
    fdb_macs: ["02:00:00:00:00:01", "02:00:00:00:00:02"],
  });
  await newIfEntry(core.id, {
    if_index: 2,
    if_name: "Gi1/0/2",
    speed_bps: 1_000_000_000,
    oper_status: "Down",
    vlan_ids: [vlan.id],
  });
  await newIfEntry(edge.id, { if_index: 3, if_descr: "lo", oper_status: "Up" });
  midway = instant();
  for (const oper_status of ["Down", "Up", "Down"]) {
    tick();
    const { data } = await owner.get("if-entries?filter=if_index%20%3D%203");
    await expectOk(owner.put(`if-entries/${data[0].id}`, { if_index: 3, if_descr: "lo", oper_status }));
  }
  tick();
});

describe("A filter compares", () => {
  test("text ignoring case, by order, substring and wildcards", async () => {
    expect(await hosts('name = "CORE-1"')).toEqual(["core-1"]);
    expect(await hosts("name = core-1")).toEqual(["core-1"]);
    expect(await hosts("name != core-1")).toEqual(["Edge-2", "printer"]);
    expect(await hosts("name = *-*")).toEqual(["core-1", "Edge-2"]);
    expect(await hosts('name = "c*1"')).toEqual(["core-1"]);
    expect(await hosts("name > d AND name <= edge-2")).toEqual(["Edge-2"]);
    expect(await hosts('sys_location : "ZÜRICH"')).toEqual(["core-1"]);
    expect(await hosts('sys_location = "zü*"')).toEqual(["core-1"]);
    expect(await hosts('sys_location : "rn"')).toEqual(["Edge-2"]);
    expect(await hosts('description : "\\*busy"')).toEqual(["core-1"]);
    expect(await hosts('description = "100%*"')).toEqual(["core-1"]);
    expect(await hosts('description = "1000*"')).toEqual([]);
  });

  test("the presence of a value", async () => {
    expect(await hosts("sys_location:*")).toEqual(["core-1", "Edge-2"]);
    expect(await hosts("NOT sys_location:*")).toEqual(["printer"]);
    expect(await hosts("-sys_location:*")).toEqual(["printer"]);
    expect(await hosts("tags:*")).toEqual(["core-1"]);
    expect(await hosts("ip_addresses:*")).toEqual(["core-1", "Edge-2"]);
    expect(await hosts('sys_location = ""')).toEqual([]);
    expect(await hosts("discovered:* OR stale_since:*")).toEqual([]);
  });

  test("an empty string like an absent value", async () => {
    const none = await newHost({ name: "none", description: "" });
    for (const comparison of ['= ""', "= *", ': "*"', ': "**"', ': ""', '< "zzz"', '>= ""'])
      expect(await hosts(`name = none AND description ${comparison}`)).toEqual([]);
    expect(await hosts('name = none AND description != "" AND NOT description:*')).toEqual(["none"]);
    expect(await hosts('name = none AND ever(description < "zzz", -1h)')).toEqual([]);
    await expectOk(owner.delete(`hosts/${none.id}`));
  });

  test("booleans, numbers, units and enumerations", async () => {
    expect(await hosts("hidden = TRUE")).toEqual(["Edge-2"]);
    expect(await hosts("hidden != true")).toEqual(["core-1", "printer"]);
    expect(await ports("speed_bps >= 10G")).toEqual([1]);
    expect(await ports("speed_bps < 2.5G")).toEqual([2]);
    expect(await ports("speed_bps = 1000Mbps")).toEqual([2]);
    // 4.03 * 1000 is slightly more than 4030.
    const odd = await newIfEntry(edge.id, { speed_bps: 4030 });
    expect(await ports("speed_bps = 4.03k")).toEqual([odd.if_index]);
    expect(await ports("speed_bps = 0.000000004030T")).toEqual([odd.if_index]);
    await expectOk(owner.delete(`if-entries/${odd.id}`));
    expect(await ports("NOT speed_bps >= 10G")).toEqual([2, 3]);
    expect(await ports("oper_status = down")).toEqual([2, 3]);
    expect(await ports("if_index > 1 if_index <= 2")).toEqual([2]);
  });

  test("addresses, prefixes and MAC addresses in any notation", async () => {
    expect(await listMatches("ip-addresses", 'ip_address : "10.2.0.0/16"')).toHaveLength(1);
    expect(await hosts('ip_addresses.ip_address : "10.0.0.0/8"')).toEqual(["core-1", "Edge-2"]);
    expect(await hosts('ip_addresses.ip_address : "10.2.0.0/15"')).toEqual(["core-1"]);
    expect(await hosts('ip_addresses.ip_address = "2001:DB8:0::5"')).toEqual(["core-1"]);
    expect(await hosts('ip_addresses.ip_address : "2001:db8::/48"')).toEqual(["core-1"]);
    expect(await hosts("ip_addresses.ip_address > 10.2.3.4")).toEqual(["core-1", "Edge-2"]);
    expect(await listMatches("subnets", 'cidr : "10.2.3.4"')).toHaveLength(2);
    expect(await listMatches("subnets", 'cidr : "10.2.0.0/15"')).toHaveLength(1);
    expect(await listMatches("subnets", 'cidr = "10.2.0.0/16"')).toHaveLength(1);
    expect(await hosts("ip_addresses.mac_address = 001B.21AA.BBCC")).toEqual(["core-1"]);
    expect(await ports('mac_address : "00-1B-21"')).toEqual([1]);
    expect(await ports('fdb_macs : "0200"')).toEqual([1]);
    expect(await ports("fdb_macs = 02:00:00:00:00:02")).toEqual([1]);
    expect(await ports("fdb_macs:*")).toEqual([1]);
  });

  test("timestamps and ages, relative to the requested timestamp", async () => {
    expect(await hosts(`created_at < "${beforeInterfaces}"`)).toEqual(["core-1", "Edge-2", "printer"]);
    expect(await hosts("created_at > -1d")).toEqual(["core-1", "Edge-2", "printer"]);
    expect(await hosts("created_at > 2099-01-01")).toEqual([]);
    expect(await ports(`updated_at > "${midway}"`)).toEqual([3]);
    expect(await ports('created_at > "-1h"', midway)).toEqual([1, 2, 3]);
    expect(await hosts('last_seen_at < "-24h"')).toEqual([]);
    expect(await hosts("valid_to < now OR network.valid_to >= -1d OR interfaces.valid_to:*")).toEqual([]);
    expect(await ports("network.valid_to != 2026-11-21 AND host.valid_to != now")).toEqual([1, 2, 3]);
  });

  test("fields inside objects and lists", async () => {
    expect(await ports("lldp_chassis_id.subtype = macaddress")).toEqual([1]);
    expect(await ports('lldp_chassis_id.value : "00:1b"')).toEqual([1]);
    expect(await hosts("source.type = Manual")).toEqual(["core-1", "Edge-2", "printer"]);
  });

  test("references, list items, and chains of these", async () => {
    expect(await ports("host.name = core-*")).toEqual([1, 2]);
    expect(await ports("host.network.name != Lab")).toEqual([1, 2, 3]);
    expect(await ports("vlan.number = 20")).toEqual([1, 2]);
    expect(await ports("native_vlan.number = 20")).toEqual([1]);
    expect(await ports("vlans.name = voice")).toEqual([2]);
    expect(await ports("host.tags.name = prod")).toEqual([1, 2]);
    expect(await hosts("network.name = lab")).toEqual(["printer"]);
    expect(await listMatches("services", "host.ip_addresses.host.name:*")).toEqual([]);
    expect(await hosts('ip_addresses.host.interfaces.fdb_macs : "0200"')).toEqual(["core-1"]);
    expect(await hosts("ip_addresses.subnet.cidr = 10.2.0.0/16")).toEqual(["core-1"]);
    expect(await hosts("interfaces.oper_status = Down AND ports.number = 22")).toEqual(["core-1"]);
    expect(await hosts(`tags = "${tag.id}"`)).toEqual(["core-1"]);
    expect(await hosts(`network_id != "${otherNetwork.id}"`)).toEqual(["core-1", "Edge-2"]);
  });

  test("search words", async () => {
    expect(await hosts("core")).toEqual(["core-1"]);
    expect(await hosts('"10.2." AND hidden = false')).toEqual(["core-1"]);
    expect(await hosts("NOT core")).toEqual(["Edge-2", "printer"]);
  });

  test("conditions combined with AND, OR, NOT and parentheses", async () => {
    expect(await hosts("name = core-1 OR name = printer")).toEqual(["core-1", "printer"]);
    expect(await hosts("(name = core-1 OR name = printer) AND NOT (network.name = Lab)")).toEqual(["core-1"]);
    expect(await hosts("  ")).toHaveLength(3);
  });
});

describe("A temporal filter tests", () => {
  test("the number of changes to a field", async () => {
    expect(await ports('changes(oper_status, "-1h") >= 3')).toEqual([3]);
    expect(await ports("changes(oper_status, -1h) = 0")).toEqual([1, 2]);
    expect(await ports("changes(oper_status, -1h) != 3")).toEqual([1, 2]);
    expect(await ports("changes(oper_status, -1h) >= 1", midway)).toEqual([]);
    expect(await ports(`changes(oper_status, ${midway}) = 3`)).toEqual([3]);
    // Every update changes it, including updates of a host's children; no version lists it.
    expect(await ports(`changes(updated_at, ${midway}) = 3`)).toEqual([3]);
    expect(await hosts(`changes(updated_at, ${midway}) >= 3 AND changes(name, ${midway}) = 0`)).toEqual(["Edge-2"]);
  });

  test("whether a condition held ever, always or at a timestamp", async () => {
    expect(await ports('ever(oper_status = "Up", "-1h")')).toEqual([1, 3]);
    expect(await ports('ever(oper_status = "Up", "-1h") AND oper_status = Down')).toEqual([3]);
    expect(await ports(`always(oper_status = Up, ${midway})`)).toEqual([1]);
    expect(await ports(`always(oper_status = Down, ${midway})`)).toEqual([2]);
    // None of them existed throughout.
    expect(await ports('always(oper_status = Down, "-1h")')).toEqual([]);
    expect(await ports(`was(${midway}, oper_status = Up)`)).toEqual([1, 3]);
    expect(await ports(`was(${midway}, NOT oper_status = Up)`)).toEqual([2]);
    expect(await ports(`was(${beforeInterfaces}, NOT oper_status = Up)`)).toEqual([]);
  });
});

describe("a malformed filter", () => {
  const mistakes: Array<[string, string, number, string]> = [
    [
      "if-entries",
      'oper_stat = "Up"',
      0,
      "names `oper_stat`, which is not a field of an interface entry (did you mean `oper_status`?)",
    ],
    ["if-entries", "if_index = 1 AND oper_status = Upp", 31, "must be a known value (did you mean Up?)"],
    ["hosts", "constructor = x", 0, "names `constructor`, which is not a field of a host"],
    ["hosts", "network.__proto__:*", 0, "names `__proto__`, which is not a field of a network"],
    ["hosts", "host.name = x", 0, "names `host`, which is not a field of a host (did you mean `name`?)"],
    ["hosts", "ports.nunber = 1", 0, "names `nunber`, which is not a field of a port (did you mean `number`?)"],
    ["hosts", "port.number = 1", 0, "names `port`, which is not a field of a host (did you mean `ports.number`?)"],
    ["hosts", "hostnam.x = 1", 0, "names `hostnam`, which is not a field of a host"],
    [
      "if-entries",
      "neighbor.nam = x",
      0,
      "names `neighbor.nam`, which is not a field of an interface entry (did you mean `neighbor.name`?)",
    ],
    ["if-entries", "neighbor.host = x", 16, "must compare a field of a host, such as its id, or write :*"],
    [
      "if-entries",
      "ever(neighbor.name = x, -7d)",
      5,
      "must use fields of the record itself within ever(…), but neighbor.name belongs to another record",
    ],
    ["if-entries", "host.nam = x", 0, "names `nam`, which is not a field of a host (did you mean `name`?)"],
    [
      "hosts",
      "name = a AND hidden = true OR hidden = false",
      27,
      "must not mix AND and OR without parentheses: write a AND (b OR c)",
    ],
    ["hosts", "(name = a", 0, "has an unclosed ("],
    ["hosts", 'name = "a', 7, 'has an unclosed "'],
    ["hosts", "name = a)", 8, "has an unmatched )"],
    ["hosts", "name = a and hidden = true", 9, "must write AND in capitals; quote the word to search for it"],
    ["hosts", "name =", 6, "must have a value after ="],
    ["hosts", "hidden", 0, "must compare hidden with something, or write hidden:*; quote it to search for the word"],
    ["hosts", "hidden > true", 9, "must compare true or false by = != or :, not by >"],
    [
      "hosts",
      "created_at > yesterday",
      13,
      "must be an RFC 3339 timestamp, a date such as 2026-11-21, an age such as -15m, -24h or -7d, or a marker such as marker:NAME",
    ],
    ["subnets", "cidr : 10.2.3.4/16", 7, "must be a prefix with no host bits set; 10.2.0.0/16?"],
    ["if-entries", "everr(oper_status = Up, -7d)", 0, "has no function everr(); ever()?"],
    [
      "if-entries",
      "ever(host.name = x, -7d)",
      5,
      "must use fields of the record itself within ever(…), but host.name belongs to another record",
    ],
    [
      "if-entries",
      "ever(last_seen_at > -7d, -7d)",
      5,
      "must not use last_seen_at within ever(…): its changes create no version",
    ],
    ["if-entries", "ever(was(-1d, if_index = 1), -7d)", 5, "must not use was(…) within ever(…)"],
    ["if-entries", "was(2099-01-01, if_index = 1)", 4, "must not be after the timestamp of the list"],
    ["credentials", "credential_type.community:*", 0, "must not use credential_type.community, which is a secret"],
    ["auth/keys", "key = nlk_a", 0, "must not use key, which masks a secret"],
  ];
  test.each(mistakes)("is refused for %s with the error position: %s", async (list, filter, position, message) => {
    expect(await problem(list, filter)).toMatchObject({ position, message });
  });

  test("reports all errors in fields and values at once", async () => {
    const response = await owner.get(`hosts?${new URLSearchParams({ filter: "nam = a AND hidden = 3" })}`);
    expect(response.body.params.issues.map((issue: JsonRecord) => issue.position)).toEqual([0, 21]);
  });

  test("is refused in an export before a file is started", async () => {
    expect(await owner.get("hosts/export/csv?filter=nam%3Da")).toMatchObject({ status: 400 });
  });
});

test("an export has the same rows as the list", async () => {
  const rows = csvRecords((await owner.get("hosts/export/csv?filter=network.name%3DLab")).text);
  expect(rows.map((row: JsonRecord) => row.name)).toEqual(["printer"]);
});

test("a caller with fewer networks finds nothing out of reach, not even through references", async () => {
  const viewer = (await newViewer()).client;
  expect(await listMatches("hosts", "name:*", undefined, viewer)).toEqual(["core-1", "Edge-2"]);
  expect(await listMatches("hosts", 'network.name = "Lab"', undefined, viewer)).toEqual([]);
  expect(await listMatches("networks", 'name = "Lab" OR description:*', undefined, viewer)).toEqual([]);
});

// Last in the file, because it changes the records of the other blocks.
describe("A filter matches", () => {
  test("the other end of a link, by name, at every timestamp", async () => {
    const { data } = await owner.get("if-entries?limit=0");
    const [uplink, second, loop] = data as [JsonRecord, JsonRecord, JsonRecord];
    const connect = async (port: JsonRecord, neighbor: JsonRecord | null) => {
      const { id, host_id, if_index, if_descr } = port;
      await expectOk(owner.put(`if-entries/${id}`, { host_id, if_index, if_descr, neighbor }));
      tick();
    };
    const matchPorts = (filter: string, at?: string) => ports(filter, at);
    await connect(uplink, { type: "IfEntry", id: loop.id });
    const cabled = instant();
    tick();
    await connect(second, { type: "Host", id: edge.id });
    await connect(loop, { type: "IfEntry", id: uplink.id });
    for (const filter of ["neighbor.name = edge-*", "neighbor.host.sys_location = Bern"]) {
      expect(await matchPorts(filter)).toEqual([1, 2]);
      expect(await matchPorts(filter, cabled)).toEqual([1]);
      expect(await matchPorts(filter, beforeInterfaces)).toEqual([]);
    }
    expect(await matchPorts("neighbor.name = core-1")).toEqual([3]);
    expect(await matchPorts("neighbor.name != core-1")).toEqual([1, 2]);
    expect(await matchPorts("neighbor.interface.if_index = 3")).toEqual([1]);
    expect(await matchPorts('neighbor.interface.if_name = "Gi*" AND neighbor.host.network.name:*')).toEqual([3]);
    expect(await matchPorts("neighbor.host:* AND NOT neighbor.interface:*")).toEqual([2]);
    expect(await hosts('interfaces.neighbor.name = "Edge-2"')).toEqual(["core-1"]);
    const beforeRename = instant();
    tick();
    await expectOk(owner.put(`hosts/${edge.id}`, { ...edge, name: "Rim-2", expected_updated_at: null }));
    expect(await matchPorts("neighbor.name = edge-*")).toEqual([]);
    expect(await matchPorts("neighbor.name = edge-*", beforeRename)).toEqual([1, 2]);
    await expectOk(owner.put(`hosts/${edge.id}`, { ...edge, expected_updated_at: null }));
    const fields = (await owner.get("fields/if_entry")).data.fields as JsonRecord[];
    expect(
      fields
        .filter(({ name }) => name.startsWith("neighbor"))
        .map(({ name, type, refers_to, over_time }) => [name, type, refers_to, over_time]),
    ).toEqual([
      ["neighbor", "object", null, true],
      ["neighbor.type", "enumeration", null, true],
      ["neighbor.id", "uuid", null, true],
      ["neighbor.name", "text", null, false],
      ["neighbor.host", "record", "host", false],
      ["neighbor.interface", "record", "if_entry", false],
    ]);
    for (const port of [uplink, second, loop]) await connect(port, null);
  });
});
