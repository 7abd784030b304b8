// Search parameter of lists through the API: names of each kind, now and in the past, as a list and as a table.
// store/model.test.ts compares it with a model.

import { describe, expect, test } from "bun:test";
import { RESOURCES } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

const appliance = applianceForEach();
const { owner, instant, newHost, newIfEntry, newVlan, newSubnet, newSchedule, newIgnored, newCredential } = appliance;
const API_KEYS = "auth/keys";

/** Number of matches, as a list and as a table. */
async function count(path: string, search: string, at?: string): Promise<number> {
  const query = `search=${encodeURIComponent(search)}${at === undefined ? "" : `&at=${at}`}`;
  const { status, data, body } = await owner.get(`${path}?${query}`);
  expect([path, search, status]).toEqual([path, search, 200]);
  expect(body.meta.pagination.total_count).toBe(data.length);
  expect(csvRecords((await owner.get(`${path}/export/csv?${query}`)).text).map((row) => row.id)).toEqual(
    data.map((match: JsonRecord) => match.id),
  );
  return data.length;
}

describe("a list", () => {
  test.each<[string, () => Promise<JsonRecord> | JsonRecord, JsonRecord, readonly string[], readonly string[]]>([
    [
      "vlans",
      () => newVlan({ number: 120, name: "Büro-Nord", description: "voice of the 2nd floor" }),
      { number: 3000, name: "Lager", description: null },
      ["120", "12", "buro", "BÜRO", "nord", "voice 2nd 120"],
      ["3000", "lager"],
    ],
    [
      "subnets",
      () => newSubnet({ cidr: "10.77.3.0/24", name: "Server room", description: "racks 1–7" }),
      { cidr: "10.78.3.0/24", name: "Attic", description: null },
      ["10.77.", "10.77.3.0/24", "server", "racks", "room 10.77"],
      ["10.78.", "attic"],
    ],
    [
      "discovery/schedules",
      () => newSchedule({ name: "Jede Nacht" }),
      { name: "Weekly" },
      ["jede", "nacht", "NACHT jede"],
      ["weekly"],
    ],
    ["credentials", () => newCredential({ name: "Core switches" }), { name: "Printers" }, ["core", "sw"], ["print"]],
  ])("finds records of %s by name, now and in the past", async (path, create, change, past, present) => {
    const record = await create();
    const at = instant();
    await expectOk(owner.put(`${path}/${record.id}`, { ...record, ...change }));
    for (const search of past) {
      expect([search, await count(path, search, at)]).toEqual([search, 1]);
      expect([search, await count(path, search)]).toEqual([search, 0]);
    }
    for (const search of present) {
      expect([search, await count(path, search, at)]).toEqual([search, 0]);
      expect([search, await count(path, search)]).toEqual([search, 1]);
    }
    await expectOk(owner.delete(`${path}/${record.id}`));
    for (const search of [...past, ...present]) expect([search, await count(path, search)]).toEqual([search, 0]);
    for (const search of past) expect([search, await count(path, search, at)]).toEqual([search, 1]);
  });

  test("finds each child of a host by its own names", async () => {
    const host = await newHost({
      name: "web-1",
      ports: [
        { number: 443, protocol: "Tcp" },
        { number: 161, protocol: "Udp" },
      ],
      services: [{ name: "Café shop", service_definition: "Nginx" }],
    });
    for (const [path, search, found] of [
      ["ports", "443", 1],
      ["ports", "44", 1],
      ["ports", "https", 1],
      ["ports", "snmp", 1],
      ["ports", "web", 0],
      ["services", "cafe", 1],
      ["services", "ngin shop", 1],
      ["services", "web", 0],
    ] as const)
      expect([path, search, await count(path, search)]).toEqual([path, search, found]);
    expect((await owner.get(`services?search=cafe&host_id=${host.id}`)).data).toHaveLength(1);
  });

  test("finds interface entries by full and abbreviated names, numbers, and MAC addresses", async () => {
    const host = await newHost({ name: "core-1" });
    await newIfEntry(host.id, {
      if_index: 1,
      if_descr: "GigabitEthernet1/0/7",
      if_alias: "Uplink to Zürich",
      mac_address: "00:1b:21:aa:bb:cc",
    });
    await newIfEntry(host.id, { if_index: 2, if_descr: "TenGigabitEthernet 1/1/1", if_name: "Te1/1/1" });
    await newIfEntry(host.id, { if_index: 3, if_descr: "Port-channel10.100" });
    await newIfEntry(host.id, { if_index: 4, if_descr: "ge-0/0/7", fdb_macs: ["02:00:00:00:00:09"] });
    await newIfEntry(host.id, { if_index: 5, if_descr: "Gibson guitar" });
    const found = async (search: string) =>
      ((await owner.get(`if-entries?search=${encodeURIComponent(search)}`)).data as JsonRecord[]).map(
        (entry) => entry.if_index,
      );
    for (const [search, expected] of [
      ["Gi1/0/7", [1]],
      ["gi 1/0/7", [1]],
      ["gig1/0", [1]],
      ["g1", [1]],
      ["GIGABITETHERNET1/0/7", [1]],
      ["gigabit", [1]],
      ["gi", [1, 5]],
      ["gi1/0/70", []],
      ["1/0/7", [1]],
      ["0/7", [1, 4]],
      ["7", [1, 4]],
      ["te1/1/1", [2]],
      ["ten", [2]],
      ["twe1/1/1", []],
      ["TenGigabitEthernet 1/1", [2]],
      ["po10", [3]],
      ["port-channel10.100", [3]],
      ["channel10", [3]],
      ["100", [3]],
      ["ge-0", [4]],
      ["zurich", [1]],
      ["uplink ZÜR", [1]],
      ["001b.21", [1]],
      ["00-1b-21-aa", [1]],
      ["1b:21", []],
      ["02:00:00:00:00:09", [4]],
      ["core", []],
    ] as const)
      expect([search, await found(search)]).toEqual([search, [...expected]]);
  });

  test("finds users, keys and ignored entries by name, and never by a key's secret", async () => {
    await appliance.newUser({ name: "Jürgen Groß", role: "Viewer" });
    await expectOk(owner.post(API_KEYS, { ...appliance.keyBody(), name: "Nightly export" }));
    newIgnored({ label: "printer-7", signs: ["mac:00:1b:21:aa:bb:cc", "name:old-printer"] });
    for (const [path, search, found] of [
      ["users", "jurgen", 1],
      ["users", "gross", 1],
      ["users", "factory", 1],
      [API_KEYS, "night", 1],
      [API_KEYS, "nlk_", 0],
      ["discovery/ignored", "printer", 1],
      ["discovery/ignored", "00:1b:21", 1],
      ["discovery/ignored", "old", 1],
      ["discovery/ignored", "mac", 0],
    ] as const)
      expect([path, search, await count(path, search)]).toEqual([path, search, found]);
  });

  test("ignores accents for hosts and networks", async () => {
    await appliance.newNetwork({ name: "Zürich", description: "Łódź and Smørrebrød" });
    await newHost({ name: "straße-1" });
    for (const search of ["zürich", "zurich", "ZURICH", "lodz", "smorre", "zur łodz"])
      expect([search, await count("networks", search)]).toEqual([search, 1]);
    for (const search of ["straße", "strasse", "1"])
      expect([search, await count("hosts", search)]).toEqual([search, 1]);
  });

  test("accepts any input", async () => {
    await newVlan({ number: 7, name: `"a" OR b* NEAR(c) \u202eabc 😀 x:y` });
    for (const path of RESOURCES.map((resource) => resource.path).filter((path) => path !== "bindings")) {
      for (const search of [
        '"',
        '""',
        "*",
        "a*",
        "NOT",
        "a AND",
        "(",
        "entries:a",
        "^a",
        "\u0000",
        "a\u0000b",
        "\ud800",
        "\u202e",
        "😀",
        "%",
        "'; DROP TABLE history_words; --",
        "x".repeat(200),
        "\u{10ffff}",
      ]) {
        const { status } = await owner.get(`${path}?search=${encodeURIComponent(search.toWellFormed())}`);
        expect([path, search, [200, 400].includes(status)]).toEqual([path, search, true]);
      }
      expect((await owner.get(`${path}?search=${"x".repeat(10_000)}`)).status).toBe(400);
    }
    for (const search of ['"a"', "or", "b*", "near(c)", "\u202eabc", "😀", "x:y", "y"])
      expect([search, await count("vlans", search)]).toEqual([search, 1]);
    for (const search of ["*", "(", "%", "a AND"]) expect([search, await count("vlans", search)]).toEqual([search, 0]);
  });
});
