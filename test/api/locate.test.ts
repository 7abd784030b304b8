// Locate and its timeline over real switches, hosts and links: at any timestamp, for callers with access, exact to the
// transaction.

import { beforeEach, describe, expect, test } from "bun:test";
import { SYSTEM_AUTHOR } from "../../src/access/actor.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { openWritable } from "../../src/db/connection.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { Writer } from "../../src/db/writing/writer.ts";
import { TIMELINE_POINTS_MAX } from "../../src/history/locate/timeline.ts";
import { KINDS } from "../../src/records/resources.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const MAC = "00:1b:21:00:00:07";
const IP = "192.0.2.7";
const otherMac = (n: number) => `00:1b:21:00:01:${n.toString(16).padStart(2, "0")}`;

const appliance = applianceForEach();
const { clock, first, owner, signedIn, inTransaction, newHost, newIfEntry, newNetwork, newOrganization } = appliance;
const { newSubnet, newUser, newViewer, newVlan, tick } = appliance;

beforeEach(async () => {
  await newSubnet({ cidr: "192.0.2.0/24", name: "Servers" });
  tick();
});

/** Creates a port that is up, with the given MAC addresses in its forwarding table. */
function newPort(
  device: JsonRecord,
  name: string,
  macs: readonly string[],
  fields: JsonRecord = {},
): Promise<JsonRecord> {
  return newIfEntry(device.id, { if_name: name, oper_status: "Up", fdb_macs: macs, ...fields });
}

/** Writes fields of an interface entry, a second after the previous write. @returns its timestamp */
async function changePort(port: JsonRecord, fields: JsonRecord): Promise<string> {
  tick();
  const written = await expectOk(
    owner.put(`if-entries/${port.id}`, { if_index: port.if_index, if_descr: port.if_descr, ...fields }),
  );
  return written.updated_at;
}

function newWebHost(fields: JsonRecord = {}): Promise<JsonRecord> {
  return newHost({ name: "web-1", ip_addresses: [{ ip_address: IP, mac_address: MAC }], ...fields });
}

/** Writes several transactions in one commit. */
function inTransactions(count: number, action: (tx: WriteTransaction, k: number) => unknown): void {
  const db = openWritable(appliance.databasePath);
  const writer = new Writer({
    db,
    kinds: KINDS,
    commands: { "test.run": (tx, k: number) => void action(tx, k) },
    clock: clock,
    random: appliance.random,
  });
  const replies = writer.execute(
    Array.from({ length: count }, (_, input) => ({ command: "test.run", input, actor: SYSTEM_AUTHOR })),
  );
  db.$client.close();
  for (const reply of replies) expect(reply.ok).toBe(true);
}

/** Advances the clock past all writes. */
function advancePastWrites(): void {
  clock.advance(60_000);
}

async function locate(query: string, caller: Client = owner): Promise<JsonRecord> {
  return expectOk(caller.get(`locate?${query}`));
}

async function timeline(query: string, caller: Client = owner): Promise<JsonRecord> {
  return expectOk(caller.get(`locate/timeline?${query}`));
}

/** Short form of a candidate or an interval. */
function summarize(candidate: JsonRecord | undefined): string {
  if (candidate === undefined) return "nowhere";
  const at =
    candidate.port === null ? (candidate.switch?.name ?? "?") : `${candidate.port.name} of ${candidate.switch.name}`;
  return `${candidate.host?.name ?? "unknown"} at ${at}${candidate.behind === null ? "" : ` behind ${candidate.behind.name}`} ${candidate.confidence}`;
}

const summaries = (location: JsonRecord) => (location.candidates as JsonRecord[]).map(summarize);

describe("GET /api/v1/locate", () => {
  test("joins addresses, forwarding tables and links: by MAC, by address and by name alike", async () => {
    const core = await newHost({ name: "core-1" });
    const access = await newHost({ name: "access-1" });
    const web = await newWebHost({ hostname: "web-1.example.net" });
    const down = await newPort(core, "Te1", [MAC, otherMac(1), otherMac(2)]);
    await newPort(access, "Te48", [otherMac(3)], {
      neighbor: { type: "IfEntry", id: down.id },
      lldp_sys_name: "core-1",
    });
    const edge = await newPort(access, "Gi7", [MAC]);
    for (const query of [
      `mac=${MAC}`,
      "mac=001B.2100.0007",
      `ip=${IP}`,
      "hostname=web-1",
      "hostname=WEB-1.example.net.",
      "hostname=web-1&at=2031-01-01T00:00:00Z",
    ]) {
      const location = await locate(query);
      expect(location.explanation).toBe(`web-1 (${IP}, ${MAC}) is at Gi7 of access-1.`);
      expect(summaries(location)).toEqual(["web-1 at Gi7 of access-1 0.9"]);
      expect(location.candidates[0]).toMatchObject({
        host: { id: web.id, name: "web-1", hostname: "web-1.example.net" },
        ip_address: { id: web.ip_addresses[0].id, ip_address: IP },
        mac_address: MAC,
        switch: { id: access.id },
        port: { id: edge.id, role: "Edge", oper_status: "Up" },
        subnet: { name: "Servers", cidr: "192.0.2.0/24" },
      });
      const uplink = location.candidates[0].evidence.find((item: JsonRecord) => item.kind === "Uplink");
      expect(uplink.sentence).toBe("Te1 of core-1 forwards to it as an uplink: its neighbor access-1 is a switch.");
      const evidenceRecord = location.candidates[0].evidence
        .find((item: JsonRecord) => item.kind === "Forwarding")
        .records.find((record: JsonRecord) => record.entity_type === "if_entry");
      expect(evidenceRecord).toEqual({
        entity_type: "if_entry",
        id: edge.id,
        name: "Gi7",
        valid_from: edge.valid_from,
      });
    }
  });

  test("reports an unknown target, with status 200", async () => {
    expect(await locate("ip=192.0.2.99")).toEqual({
      asked: { by: "ip", value: "192.0.2.99" },
      explanation: "192.0.2.99 is unknown.",
      ambiguity: null,
      candidates: [],
      truncated: false,
      last_seen: null,
    });
    for (const query of [
      "mac=00:00:00:00:00:01",
      "hostname=nobody",
      "hostname=%22*%20OR%20a",
      "hostname=a%20AND%20b%20NOT%20c",
      "ip=2001:db8::1",
    ])
      expect((await locate(query)).candidates).toEqual([]);
  });

  test.each([
    ["", "/mac"],
    [`mac=${MAC}&ip=${IP}`, "/ip"],
    [`ip=${IP}&hostname=a`, "/hostname"],
    ["mac=xyz", "/mac"],
    ["ip=010.1.1.1", "/ip"],
    ["hostname=", "/hostname"],
    [`mac=${MAC}&at=yesterday`, "/at"],
    [`mac=${MAC}&host=a`, "/host"],
  ])("refuses %p, naming %s", async (query, path) => {
    const result = await owner.get(`locate?${query}`);
    expect(result).toMatchObject(refusal(400, "validation_failed"));
    expect(result.body.params.issues.map((issue: JsonRecord) => issue.path)).toContain(path);
  });

  test("uses a single timestamp: before a move, at it, and after", async () => {
    await newWebHost();
    const [one, two] = [await newHost({ name: "access-1" }), await newHost({ name: "access-2" })];
    const first = await newPort(one, "Gi1", [MAC]);
    const second = await newPort(two, "Gi2", [otherMac(9)]);
    const removedAt = await changePort(first, { fdb_macs: [] });
    const returnedAt = await changePort(second, { fdb_macs: [MAC] });
    advancePastWrites();
    const before = (instant: string) => formatInstant(Date.parse(instant) - 1);
    for (const query of [`mac=${MAC}`, `ip=${IP}`, "hostname=web-1"]) {
      expect(summaries(await locate(`${query}&at=${before(removedAt)}`))).toEqual(["web-1 at Gi1 of access-1 0.9"]);
      expect(summaries(await locate(`${query}&at=${removedAt}`))).toEqual(["web-1 at ? 0.3"]);
      expect(summaries(await locate(`${query}&at=${before(returnedAt)}`))).toEqual(["web-1 at ? 0.3"]);
      expect(summaries(await locate(`${query}&at=${returnedAt}`))).toEqual(["web-1 at Gi2 of access-2 0.9"]);
      expect(summaries(await locate(query))).toEqual(["web-1 at Gi2 of access-2 0.9"]);
      expect(summaries(await locate(`${query}&at=2001-01-01T00:00:00Z`))).toEqual([]);
    }
    expect((await owner.get(`locate?mac=${MAC}&at=${returnedAt}`)).body.meta.at).toBe(returnedAt);
  });

  test("uses port states and neighbors at the timestamp", async () => {
    await newWebHost();
    const access = await newHost({ name: "access-1" });
    const esx = await newHost({ name: "esx-1" });
    const port = await newPort(access, "Gi1", [MAC, otherMac(1), otherMac(2)]);
    const down = await changePort(port, { oper_status: "LowerLayerDown" });
    const linked = await changePort(port, {
      oper_status: "Up",
      neighbor: { type: "Host", id: esx.id },
      lldp_sys_name: "esx-1",
    });
    const linkedToWeb = await changePort(port, {
      neighbor: { type: "Host", id: (await locate(`mac=${MAC}`)).candidates[0].host.id },
    });
    advancePastWrites();
    expect(summarize((await locate(`mac=${MAC}&at=${port.updated_at}`)).candidates[0])).toBe(
      "web-1 at Gi1 of access-1 0.75",
    );
    expect(summarize((await locate(`mac=${MAC}&at=${down}`)).candidates[0])).toBe("web-1 at Gi1 of access-1 0.23");
    expect(summarize((await locate(`mac=${MAC}&at=${linked}`)).candidates[0])).toBe(
      "web-1 at Gi1 of access-1 behind esx-1 0.85",
    );
    expect(summarize((await locate(`mac=${MAC}&at=${linkedToWeb}`)).candidates[0])).toBe(
      "web-1 at Gi1 of access-1 0.98",
    );
  });

  test("finds a device without a record, by forwarding entries and by its announcements", async () => {
    const access = await newHost({ name: "access-1" });
    const phone = "00:04:f2:00:00:01";
    await newPort(access, "Gi1", [MAC]);
    await newPort(access, "Gi2", [], {
      lldp_chassis_id: { subtype: "NetworkAddress", value: "192.0.2.40" },
      lldp_port_id: { subtype: "MacAddress", value: "0004.F200.0001" },
      lldp_sys_name: "Phone 7.example.net",
    });
    expect(await locate(`mac=${MAC}`)).toMatchObject({
      explanation: `An unknown device (${MAC}) is at Gi1 of access-1.`,
      candidates: [{ host: null, ip_address: null, confidence: 0.9 }],
    });
    for (const query of [`mac=${phone}`, "ip=192.0.2.40", "hostname=Phone%207.example.net", "hostname=phone%207"])
      expect(summaries(await locate(query))).toEqual(["unknown at Gi2 of access-1 0.85"]);
    // And a search does not find a host by its neighbor's name.
    expect((await owner.get("hosts?search=phone")).data).toEqual([]);
  });

  test("treats the far end as an uplink regardless of the source of the link", async () => {
    const core = await newHost({ name: "Core 1", sys_name: "core-1.example.net" });
    const access = await newHost({ name: "access-1" });
    await newIfEntry(core.id, { if_name: "Vl1", mac_address: otherMac(99) });
    await newPort(core, "Te1", [MAC]);
    await newPort(access, "Gi7", [MAC]);
    const uplink = await newPort(access, "Te48", [MAC]);
    const announcements: JsonRecord[] = [
      { neighbor: { type: "Host", id: core.id } },
      { neighbor: null, lldp_sys_name: "CORE-1.example.net" },
      { lldp_sys_name: null, cdp_device_id: "core 1" },
      { cdp_device_id: null, lldp_chassis_id: { subtype: "MacAddress", value: otherMac(99).toUpperCase() } },
    ];
    for (const announcement of announcements) {
      await changePort(uplink, announcement);
      const [first] = (await locate(`mac=${MAC}`)).candidates;
      const portNames = (await locate(`mac=${MAC}`)).candidates.map((candidate: JsonRecord) => candidate.port.name);
      expect(portNames).not.toContain("Te48");
      expect(first.evidence.find((item: JsonRecord) => item.kind === "Uplink").sentence).toContain(
        "its neighbor Core 1 is a switch",
      );
    }
  });

  test("an address on two hosts returns both, the observed one first, and reports the ambiguity", async () => {
    await newHost({ name: "old", ip_addresses: [{ ip_address: IP, mac_address: otherMac(1) }] });
    await newWebHost();
    await newPort(await newHost({ name: "access-1" }), "Gi1", [MAC]);
    const location = await locate(`ip=${IP}`);
    expect(summaries(location)).toEqual(["web-1 at Gi1 of access-1 0.54", "old at ? 0.18"]);
    expect(location.ambiguity).toBe(`${IP} belongs to 2 hosts: old, web-1.`);
  });

  test("an address takes its MAC address from its interface; without one only host and subnet are returned", async () => {
    const host = await newHost({
      name: "db",
      ip_addresses: [{ ip_address: "192.0.2.9" }, { ip_address: "192.0.2.10" }],
    });
    await newIfEntry(host.id, { if_name: "eth0", mac_address: otherMac(5), ip_address_id: host.ip_addresses[0].id });
    await newPort(await newHost({ name: "access-1" }), "Gi1", [otherMac(5)]);
    expect(summaries(await locate("ip=192.0.2.9"))).toEqual(["db at Gi1 of access-1 0.9"]);
    const bare = await locate("ip=192.0.2.10");
    expect(summaries(bare)).toEqual(["db at ? 0.3"]);
    expect(bare.explanation).toBe(
      "db (192.0.2.10) is in the inventory, but its port is unknown. Its subnet is 192.0.2.0/24.",
    );
    expect(summaries(await locate(`mac=${otherMac(5)}`))).toEqual(["db at Gi1 of access-1 0.9"]);
    expect((await locate(`mac=${otherMac(5)}`)).candidates[0].ip_address.ip_address).toBe("192.0.2.9");
  });

  test("a host name matches each of its ports; hosts with the same name are reported as ambiguous", async () => {
    const access = await newHost({ name: "access-1" });
    const web = await newWebHost();
    await newIfEntry(web.id, { if_name: "ipmi", mac_address: otherMac(1) });
    await newIfEntry(web.id, { if_name: "unused", mac_address: otherMac(2) });
    await newPort(access, "Gi1", [MAC]);
    await newPort(access, "Gi2", [otherMac(1)]);
    const location = await locate("hostname=web-1");
    // Most recently learned first.
    expect(summaries(location)).toEqual(["web-1 at Gi2 of access-1 0.9", "web-1 at Gi1 of access-1 0.9"]);
    expect(location.ambiguity).toBeNull();
    await newHost({ name: "Web-1" });
    expect(summaries(await locate("hostname=web-1"))).toEqual([
      "web-1 at Gi2 of access-1 0.54",
      "web-1 at Gi1 of access-1 0.54",
      "Web-1 at ? 0.18",
    ]);
    expect((await locate("hostname=web-1")).ambiguity).toBe("2 hosts are called web-1: web-1, Web-1.");
  });

  test("a partial name matches only without an exact match, and not by inner words", async () => {
    await newHost({ name: "db-1.example.net", description: "beside web-1" });
    expect((await locate("hostname=db-1")).candidates[0]).toMatchObject({
      confidence: 0.27,
      host: { name: "db-1.example.net" },
    });
    expect((await locate("hostname=web-1")).candidates).toEqual([]);
    expect((await locate("hostname=example.net")).candidates).toEqual([]);
    await newHost({ name: "DB-1" });
    expect(summaries(await locate("hostname=db-1"))).toEqual(["DB-1 at ? 0.3"]);
  });

  test("links alone suffice: the port's, and those of the host's own interface", async () => {
    const access = await newHost({ name: "access-1" });
    const web = await newWebHost();
    const port = await newPort(access, "Gi1", [], { neighbor: { type: "Host", id: web.id } });
    expect(summaries(await locate(`ip=${IP}`))).toEqual(["web-1 at Gi1 of access-1 0.85"]);
    await changePort(port, { neighbor: null });
    expect(summaries(await locate(`ip=${IP}`))).toEqual(["web-1 at ? 0.3"]);
    const eth = await newIfEntry(web.id, {
      mac_address: MAC,
      neighbor: { type: "IfEntry", id: port.id },
      cdp_device_id: "access-1",
    });
    expect(summaries(await locate(`mac=${MAC}`))).toEqual(["web-1 at Gi1 of access-1 0.6"]);
    await changePort(eth, { neighbor: { type: "Host", id: access.id }, cdp_device_id: null });
    expect(summaries(await locate("hostname=web-1"))).toEqual(["web-1 at access-1 0.6"]);
  });

  test("names the VLAN of the forwarding entry", async () => {
    await newWebHost();
    const access = await newHost({ name: "access-1" });
    const vlan = await newVlan({ number: 120, name: "Servers" });
    const port = await newPort(access, "Gi1", [], { native_vlan_id: (await newVlan({ number: 1 })).id });
    inTransaction((tx) => {
      tx.create(fdbEntryKind, first.organizationId, {
        if_entry_id: port.id,
        host_id: access.id,
        network_id: first.networkId,
        mac_address: MAC,
        vlan_number: 120,
      });
      tx.setComposed(ifEntryKind, port.id, true);
    });
    const location = await locate(`mac=${MAC}`);
    expect(location.explanation).toBe(`web-1 (${IP}, ${MAC}) is at Gi1 of access-1, VLAN 120 (Servers).`);
    expect(location.candidates[0].vlan).toEqual({
      id: vlan.id,
      number: 120,
      name: "Servers",
      source: "ForwardingTable",
    });
  });

  test("a deleted host is an unknown device afterwards, and known before", async () => {
    const web = await newWebHost();
    await newPort(await newHost({ name: "access-1" }), "Gi1", [MAC]);
    tick();
    await expectOk(owner.delete(`hosts/${web.id}`));
    const at = formatInstant(appliance.reader.head().at);
    advancePastWrites();
    expect(summaries(await locate(`mac=${MAC}`))).toEqual(["unknown at Gi1 of access-1 0.9"]);
    expect((await locate(`ip=${IP}`)).candidates).toEqual([]);
    expect((await locate("hostname=web-1")).candidates).toEqual([]);
    expect(summaries(await locate(`ip=${IP}&at=${formatInstant(Date.parse(at) - 1)}`))).toEqual([
      "web-1 at Gi1 of access-1 0.9",
    ]);
  });
});

describe("a record out of reach", () => {
  /** The same address, MAC address and name in a second network, on a separate port. */
  async function twoNetworks(): Promise<{ second: string; confined: Client; nowhere: Client; foreign: Client }> {
    const second = (await newNetwork({ name: "branch" })).id;
    await newSubnet({ network_id: second, cidr: "192.0.2.0/24" });
    await newWebHost();
    await newWebHost({ network_id: second });
    await newPort(await newHost({ name: "access-1" }), "Gi1", [MAC]);
    const branch = await newHost({ name: "branch-1", network_id: second });
    await newPort(branch, "Gi2", [MAC]);
    await newPort(branch, "Gi3", [MAC, otherMac(1)]);
    const foreign = await newOrganization("Other");
    return {
      second,
      confined: (await newViewer()).client,
      nowhere: (await newUser({ role: "Viewer" })).client,
      foreign: await signedIn(foreign.userId),
    };
  }

  test("is invisible: in the response, the evidence and the confidence, at any timestamp", async () => {
    const { second, confined, nowhere, foreign } = await twoNetworks();
    advancePastWrites();
    const at = formatInstant(appliance.reader.head().at);
    for (const query of [`mac=${MAC}`, `ip=${IP}`, "hostname=web-1"]) {
      for (const when of ["", `&at=${at}`]) {
        const full = await locate(`${query}${when}`);
        expect(full.candidates.length).toBeGreaterThan(1);
        expect(full.ambiguity).toContain("select one with network_id");
        const visible = await locate(`${query}${when}`, confined);
        expect(summaries(visible)).toEqual(["web-1 at Gi1 of access-1 0.9"]);
        expect(visible.ambiguity).toBeNull();
        expect(visible).toEqual(await locate(`${query}${when}&network_id=${first.networkId}`));
        expect(JSON.stringify(visible)).not.toContain(second);
        expect(JSON.stringify(visible)).not.toContain("branch");
        for (const outsider of [nowhere, foreign])
          expect((await locate(`${query}${when}`, outsider)).candidates).toEqual([]);
        expect((await locate(`${query}${when}&network_id=${second}`, confined)).candidates).toEqual([]);
        expect((await locate(`${query}${when}&network_id=${second}`, foreign)).candidates).toEqual([]);
        expect(summarize((await locate(`${query}${when}&network_id=${second}`)).candidates[0])).toBe(
          "web-1 at Gi2 of branch-1 0.72",
        );
        const range = await timeline(`${query}`, confined);
        expect(JSON.stringify(range)).not.toContain("branch");
        expect(range).toEqual(await timeline(`${query}&network_id=${first.networkId}`));
        for (const outsider of [nowhere, foreign]) expect((await timeline(query, outsider)).intervals).toEqual([]);
      }
    }
  });

  test("does not end an interval when it changes", async () => {
    const { second, confined } = await twoNetworks();
    const branch = (await owner.get(`if-entries?network_id=${second}`)).data as JsonRecord[];
    const before = await timeline(`mac=${MAC}`, confined);
    for (const port of branch) await changePort(port, { oper_status: "Down", fdb_macs: [] });
    expect(await timeline(`mac=${MAC}`, confined)).toEqual(before);
  });
});

describe("GET /api/v1/locate/timeline", () => {
  test("returns half-open location intervals, exact to the transaction", async () => {
    const web = await newWebHost();
    const [one, two] = [await newHost({ name: "access-1" }), await newHost({ name: "access-2" })];
    const first = await newPort(one, "Gi1", [MAC]);
    const second = await newPort(two, "Gi2", []);
    const removedAt = await changePort(first, { fdb_macs: [] });
    const returnedAt = await changePort(second, { fdb_macs: [MAC] });
    const down = await changePort(second, { oper_status: "Down" });
    advancePastWrites();
    const all = await timeline(`mac=${MAC}`);
    expect(all).toMatchObject({
      asked: { by: "mac", value: MAC },
      from: null,
      to: null,
      truncated: false,
      next_from: null,
    });
    const intervals = (all.intervals as JsonRecord[]).map((item) => [item.from, item.to, summarize(item)]);
    expect(intervals).toEqual([
      [web.created_at, first.created_at, "web-1 at ? 0.3"],
      [first.created_at, removedAt, "web-1 at Gi1 of access-1 0.9"],
      [removedAt, returnedAt, "web-1 at ? 0.3"],
      [returnedAt, down, "web-1 at Gi2 of access-2 0.9"],
      [down, null, "web-1 at Gi2 of access-2 0.27"],
    ]);
    for (const query of [`ip=${IP}`, "hostname=web-1"])
      expect((await timeline(query)).intervals).toEqual(all.intervals);
    // Clipped to the range, whose end is exclusive.
    const clipped = await timeline(`mac=${MAC}&from=${formatInstant(Date.parse(removedAt) - 5)}&to=${returnedAt}`);
    expect((clipped.intervals as JsonRecord[]).map((item) => [item.from, item.to, summarize(item)])).toEqual([
      [formatInstant(Date.parse(removedAt) - 5), removedAt, "web-1 at Gi1 of access-1 0.9"],
      [removedAt, returnedAt, "web-1 at ? 0.3"],
    ]);
    const open = await timeline(
      `mac=${MAC}&from=${formatInstant(Date.parse(removedAt) - 5)}&to=${formatInstant(Date.parse(returnedAt) + 1)}`,
    );
    expect((open.intervals as JsonRecord[]).at(-1)).toMatchObject({
      from: returnedAt,
      to: formatInstant(Date.parse(returnedAt) + 1),
    });
    expect(open.to).toBe(formatInstant(Date.parse(returnedAt) + 1));
  });

  test("accepts ages, and refuses a range that does not begin before its end", async () => {
    await newWebHost();
    clock.advance(3_600_000);
    const result = await timeline(`ip=${IP}&from=-30m`);
    expect(result.from).toBe(formatInstant(clock.now() - 1_800_000));
    expect(result.intervals).toMatchObject([{ from: result.from, to: null }]);
    expect((await timeline(`ip=${IP}&from=-2d&to=-1d`)).intervals).toEqual([]);
    expect((await timeline(`ip=${IP}&from=-2d&to=now`)).to).toBeNull();
    expect((await timeline(`ip=${IP}&from=-1d&to=2099-01-01T00:00:00Z`)).to).toBeNull();
    for (const [range, path] of [
      ["from=-1d&to=-2d", "/from"],
      ["from=-1d&to=-24h", "/from"],
      ["from=now", "/from"],
      ["from=2099-01-01T00:00:00Z", "/from"],
      ["from=1d", "/from"],
      ["to=x", "/to"],
    ] as const) {
      const refused = await owner.get(`locate/timeline?ip=${IP}&${range}`);
      expect([refused.status, refused.body.params.issues?.[0].path]).toEqual([400, path]);
    }
  });

  test("leaves gaps for unknown periods, and follows a re-created host", async () => {
    const web = await newWebHost();
    tick();
    await expectOk(owner.delete(`hosts/${web.id}`));
    const removedAt = formatInstant(appliance.reader.head().at);
    tick();
    const recreated = await newWebHost();
    advancePastWrites();
    expect(
      ((await timeline("hostname=web-1")).intervals as JsonRecord[]).map((item) => [item.from, item.to, item.host.id]),
    ).toEqual([
      [web.created_at, removedAt, web.id],
      [recreated.created_at, null, recreated.id],
    ]);
  });

  test("ignores a busy uplink and unrelated changes to its devices; too many candidate changes are cut off with a cursor", async () => {
    await newWebHost();
    const core = await newHost({ name: "core-1" });
    const access = await newHost({ name: "access-1" });
    const busy = await newPort(core, "Te1", [MAC, ...Array.from({ length: 20 }, (_, k) => otherMac(k))]);
    const edge = await newPort(access, "Gi1", [MAC]);
    const start = await changePort(edge, { if_alias: "desk" });
    inTransactions(TIMELINE_POINTS_MAX + 50, (tx, k) => {
      const entry = tx
        .children(fdbEntryKind, "if_entry_n", busy.id)
        .find(({ mac_address: mac }) => mac === otherMac(30));
      if (entry === undefined)
        tx.create(fdbEntryKind, first.organizationId, {
          if_entry_id: busy.id,
          host_id: core.id,
          network_id: first.networkId,
          mac_address: otherMac(30),
          vlan_number: null,
        });
      else tx.remove(fdbEntryKind, entry.id);
      tx.update(ifEntryKind, busy.id, { if_alias: `${k}` });
    });
    advancePastWrites();
    const quiet = await timeline(`mac=${MAC}&from=${start}`);
    expect(quiet).toMatchObject({ truncated: false, next_from: null });
    expect(quiet.intervals).toHaveLength(1);
    inTransactions(TIMELINE_POINTS_MAX + 1, (tx, k) =>
      tx.update(ifEntryKind, edge.id, { oper_status: k % 2 === 0 ? "Down" : "Up" }),
    );
    advancePastWrites();
    const flapping = await timeline(`mac=${MAC}&from=${start}`);
    expect(flapping.truncated).toBe(true);
    expect(flapping.intervals).toHaveLength(TIMELINE_POINTS_MAX);
    expect((flapping.intervals as JsonRecord[]).at(-1)?.to).toBe(flapping.next_from);
    const rest = await timeline(`mac=${MAC}&from=${flapping.next_from}`);
    expect(rest.truncated).toBe(false);
    expect(
      (rest.intervals as JsonRecord[]).map((interval) => [interval.from === flapping.next_from, interval.to === null]),
    ).toEqual([
      [true, false],
      [false, true],
    ]);
  });
});

describe("past and present", () => {
  const QUERIES = [`mac=${MAC}`, `mac=${otherMac(1)}`, `ip=${IP}`, "ip=192.0.2.8", "hostname=web-1", "hostname=esx-1"];

  test("a live response equals the later response for that timestamp, and the timeline agrees at every transaction", async () => {
    const random = seededRandom(7);
    const pick = <T>(items: readonly T[]): T =>
      items[Math.floor(((random.bytes(1)[0] as number) / 256) * items.length)] as T;
    const web = await newWebHost();
    const esx = await newHost({ name: "esx-1", ip_addresses: [{ ip_address: "192.0.2.8", mac_address: otherMac(1) }] });
    const switches = [
      await newHost({ name: "core-1" }),
      await newHost({ name: "access-1" }),
      await newHost({ name: "access-2" }),
    ];
    const ports: JsonRecord[] = [];
    for (const device of switches) for (const name of ["p1", "p2", "p3"]) ports.push(await newPort(device, name, []));
    const native = await newVlan();
    const otherMacs = [2, 3, 4, 5, 6, 7].map(otherMac);
    const randomNeighbor = () =>
      pick<JsonRecord | null>([
        null,
        { type: "Host", id: esx.id },
        { type: "Host", id: web.id },
        { type: "Host", id: pick(switches).id },
        { type: "IfEntry", id: pick(ports).id },
      ]);
    const hosts = new Map<string, JsonRecord | null>([
      ["web", web],
      ["esx", esx],
    ]);
    const steps: Array<() => Promise<unknown>> = [
      () => changePort(pick(ports), { fdb_macs: [MAC, otherMac(1), ...otherMacs].filter(() => pick([true, false])) }),
      () => changePort(pick(ports), { fdb_macs: [pick([MAC, otherMac(1)])] }),
      () => changePort(pick(ports), { fdb_macs: [] }),
      () =>
        changePort(pick(ports), {
          oper_status: pick(["Up", "Down", "Unknown"]),
          native_vlan_id: pick([null, native.id]),
        }),
      () =>
        changePort(pick(ports), {
          neighbor: randomNeighbor(),
          lldp_sys_name: pick([null, "web-1", "ESX-1", "core-1", "stranger"]),
          cdp_device_id: pick([null, "access-1"]),
        }),
      () =>
        changePort(pick(ports), {
          lldp_chassis_id: pick([
            null,
            { subtype: "MacAddress", value: MAC },
            { subtype: "MacAddress", value: otherMac(1) },
          ]),
        }),
      async () => {
        const name = pick(["web", "esx"]);
        const host = hosts.get(name) ?? null;
        if (host === null)
          hosts.set(
            name,
            name === "web"
              ? await newWebHost()
              : await newHost({ name: "esx-1", ip_addresses: [{ ip_address: "192.0.2.8", mac_address: otherMac(1) }] }),
          );
        else if (pick([true, false, false])) {
          await expectOk(owner.delete(`hosts/${host.id}?cascade=true`));
          hosts.set(name, null);
        } else {
          const addresses = [{ ip_address: pick([IP, "192.0.2.8"]), mac_address: pick([MAC, otherMac(1), null]) }];
          await expectOk(
            owner.put(
              `hosts/${host.id}`,
              hostBody(host, { name: pick(["web-1", "esx-1", "web-1.example.net"]), ip_addresses: addresses }),
            ),
          );
        }
      },
    ];
    const recorded: Array<{ at: string; query: string; result: JsonRecord }> = [];
    const instants: string[] = [];
    for (let step = 0; step < 100; step += 1) {
      tick();
      // References to a deleted host are refused without a change.
      await pick(steps)().catch((error: Error) => expect(error.message).toContain("entity_reference_invalid"));
      const at = formatInstant(appliance.reader.head().at);
      if (instants.at(-1) !== at) instants.push(at);
      for (const query of QUERIES) recorded.push({ at, query, result: await locate(query) });
    }
    advancePastWrites();
    const responses = new Map(recorded.map(({ at, query, result }) => [`${query} ${at}`, result]));
    for (const { at, query, result } of recorded) expect(await locate(`${query}&at=${at}`)).toEqual(result);
    expect(new Set(recorded.map(({ result }) => summarize(result.candidates[0]))).size).toBeGreaterThan(30);
    for (const query of QUERIES) {
      const { intervals } = (await timeline(query)) as { intervals: JsonRecord[] };
      for (const [position, interval] of intervals.entries()) {
        const next = intervals[position + 1];
        // Merges equal neighbors.
        if (next !== undefined && next.from === interval.to)
          expect({ ...next, from: 0, to: 0, others: 0 }).not.toEqual({ ...interval, from: 0, to: 0, others: 0 });
        expect(interval.to === null || interval.from < interval.to).toBe(true);
      }
      for (const at of instants) {
        const interval = intervals.find((item) => item.from <= at && (item.to === null || at < item.to));
        const first = responses.get(`${query} ${at}`)?.candidates[0];
        const summaryOf = (candidate: JsonRecord | undefined) =>
          candidate === undefined
            ? "nowhere"
            : [
                summarize(candidate),
                candidate.host?.id,
                candidate.ip_address?.id,
                candidate.mac_address,
                candidate.port?.id,
                candidate.port?.role,
                candidate.vlan?.number,
              ].join(" ");
        expect(`${query} ${at} ${summaryOf(interval)}`).toBe(`${query} ${at} ${summaryOf(first)}`);
      }
    }
  });
});
