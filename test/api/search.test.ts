// GET /api/v1/search through the API: notations, match locations and reasons, former names, and reach.
// search-random.test.ts compares it with a model.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { owner, instant, newHost, newIfEntry, newVlan, newSubnet, newNetwork, newTag } = appliance;

async function search(
  q: string,
  parameters = "",
  caller: Client = owner,
): Promise<{ data: JsonRecord[]; meta: JsonRecord }> {
  const { status, data, body } = await caller.get(`search?q=${encodeURIComponent(q)}${parameters}`);
  expect([q, status, data]).toEqual([q, 200, expect.any(Array)]);
  return { data, meta: body.meta };
}

/** Matches in short form: `host core-1 (name Exact)`. */
async function matches(q: string, parameters = "", caller: Client = owner): Promise<string[]> {
  return (await search(q, parameters, caller)).data.map(
    ({ type, name, host, match, named_until, deleted_at }) =>
      `${type} ${host === null ? "" : `${host.name}/`}${name} (${match.field} ${match.kind}${named_until === null ? "" : ", formerly"}${deleted_at === null ? "" : ", deleted"})`,
  );
}

async function newCore(): Promise<{ host: JsonRecord; uplink: JsonRecord; access: JsonRecord }> {
  await newSubnet({ cidr: "10.2.3.0/24", name: "Server room" });
  const host = await newHost({
    name: "core-1",
    serial_number: "FOC1234X0AB",
    asset_tag: "INV-0042",
    ip_addresses: [{ ip_address: "10.2.3.17", mac_address: "00:1b:21:aa:bb:cc", name: "mgmt" }],
    ports: [{ number: 22, protocol: "Tcp" }],
    services: [{ name: "SSH", service_definition: "OpenSSH" }],
  });
  const uplink = await newIfEntry(host.id, {
    if_index: 7,
    if_descr: "GigabitEthernet1/0/7",
    if_name: "Gi1/0/7",
    if_alias: "Zürich uplink",
    mac_address: "00:1b:21:dd:ee:ff",
  });
  const access = await newIfEntry(host.id, {
    if_index: 8,
    if_descr: "TenGigabitEthernet1/1/1",
    fdb_macs: ["3c:52:82:01:02:03"],
  });
  return { host, uplink, access };
}

describe("a search", () => {
  test("ranks exact matches, then prefixes, then words, by kind and name", async () => {
    await newHost({ name: "web" });
    await newHost({ name: "web-2" });
    await newHost({ name: "Web-10" });
    await newHost({ name: "old-web", description: "the web before" });
    await newTag({ name: "WEB" });
    expect(await matches("web")).toEqual([
      "host web (name Exact)",
      "tag WEB (name Exact)",
      "host Web-10 (name Prefix)",
      "host web-2 (name Prefix)",
      "host old-web (name Word)",
    ]);
    expect(await matches("web", "&types=tag")).toEqual(["tag WEB (name Exact)"]);
    expect(await matches("web", "&limit=2")).toEqual(["host web (name Exact)", "tag WEB (name Exact)"]);
    expect((await search("web", "&limit=2")).meta.search).toEqual({ limit: 2, has_more: true, cut_off: [] });
    expect((await search("web", "&limit=5")).meta.search).toEqual({ limit: 5, has_more: false, cut_off: [] });
  });

  test("reports each result's location and matching field", async () => {
    const { host, uplink } = await newCore();
    expect((await search("Gi1/0/7")).data).toEqual([
      {
        type: "if_entry",
        id: uplink.id,
        name: "Gi1/0/7",
        network: { id: host.network_id, name: expect.any(String) },
        host: { id: host.id, name: "core-1" },
        match: { field: "if_name", value: "Gi1/0/7", kind: "Exact" },
        named_until: null,
        deleted_at: null,
        last_seen: null,
      },
    ]);
  });

  test("matches four or more consecutive hex digits anywhere in a MAC address", async () => {
    const host = await newHost({ name: "digits" });
    const macs = ["3c52820a1b2c", "2820a13c5282", "a1b2c3c52820"];
    for (const [n, mac] of macs.entries())
      await newIfEntry(host.id, {
        if_index: 100 + n,
        if_descr: `port ${n}`,
        mac_address: mac.replaceAll(/(..)(?=.)/g, "$1:"),
      });
    for (const mac of macs)
      for (let from = 0; from < 12; from += 1)
        for (let to = from + 4; to <= 12; to += 1) {
          const digits = mac.slice(from, to);
          const values = (await search(digits, "&types=if_entry")).data.map(({ match }) =>
            match.value.replaceAll(":", ""),
          );
          expect([digits, values.sort()]).toEqual([digits, macs.filter((mac) => mac.includes(digits)).sort()]);
        }
  });

  test.each<[string, readonly string[]]>([
    ["001b21aabbcc", ["ip_address core-1/10.2.3.17 (mac_address Exact)"]],
    ["00:1B:21:AA:BB:CC", ["ip_address core-1/10.2.3.17 (mac_address Exact)"]],
    ["001b.21aa.bbcc", ["ip_address core-1/10.2.3.17 (mac_address Exact)"]],
    ["00-1b-21-aa-bb-cc", ["ip_address core-1/10.2.3.17 (mac_address Exact)"]],
    ["001b.21", ["ip_address core-1/10.2.3.17 (mac_address Prefix)", "if_entry core-1/Gi1/0/7 (mac_address Prefix)"]],
    ["aa:bb", ["ip_address core-1/10.2.3.17 (mac_address Part)"]],
    ["1aab", ["ip_address core-1/10.2.3.17 (mac_address Part)"]],
    ["EE-FF", ["if_entry core-1/Gi1/0/7 (mac_address Part)"]],
    ["3c52.8201.0203", ["if_entry core-1/TenGigabitEthernet1/1/1 (fdb_macs Exact)"]],
    ["8201", ["if_entry core-1/TenGigabitEthernet1/1/1 (fdb_macs Part)"]],
    ["bbc", []],
    ["10.2.3.17", ["ip_address core-1/10.2.3.17 (ip_address Exact)"]],
    ["10.2.3.0/24", ["subnet 10.2.3.0/24 (cidr Exact)"]],
    ["10.2.", ["subnet 10.2.3.0/24 (cidr Prefix)", "ip_address core-1/10.2.3.17 (ip_address Prefix)"]],
    ["3.17", ["ip_address core-1/10.2.3.17 (ip_address Part)"]],
    ["FOC1234X0AB", ["host core-1 (serial_number Exact)"]],
    ["foc1234", ["host core-1 (serial_number Prefix)"]],
    ["inv-0042", ["host core-1 (asset_tag Exact)"]],
    ["Gi1/0/7", ["if_entry core-1/Gi1/0/7 (if_name Exact)"]],
    ["gi 1/0/7", ["if_entry core-1/Gi1/0/7 (if_name Exact)"]],
    ["GigabitEthernet1/0/7", ["if_entry core-1/Gi1/0/7 (if_name Exact)"]],
    ["gig1/0", ["if_entry core-1/Gi1/0/7 (if_name Prefix)"]],
    ["te1/1/1", ["if_entry core-1/TenGigabitEthernet1/1/1 (if_descr Exact)"]],
    ["1/0/7", ["if_entry core-1/Gi1/0/7 (if_name Word)"]],
    ["core-1 gi1/0/7", ["if_entry core-1/Gi1/0/7 (if_name Exact)"]],
    ["gi 1/0/7 core-1", ["if_entry core-1/Gi1/0/7 (if_name Exact)"]],
    ["core gi1/0", ["if_entry core-1/Gi1/0/7 (if_name Prefix)"]],
    ["core-1 uplink", ["if_entry core-1/Gi1/0/7 (if_alias Word)"]],
    ["core-1 openssh", ["service core-1/SSH (service_definition Exact)"]],
    ["core-2 gi1/0/7", []],
    ["zurich", ["if_entry core-1/Gi1/0/7 (if_alias Prefix)"]],
    ["ZÜRICH UPLINK", ["if_entry core-1/Gi1/0/7 (if_alias Exact)"]],
    ["uplink zurich", ["if_entry core-1/Gi1/0/7 (if_alias Word)"]],
    ["room", ["subnet 10.2.3.0/24 (name Word)"]],
  ])("finds the expected records for %s", async (q, expected) => {
    await newCore();
    expect(await matches(q)).toEqual([...expected]);
  });

  test("finds VLANs by number, with and without the word", async () => {
    await newVlan({ number: 20, name: "Voice" });
    await newVlan({ number: 200, name: "Guests" });
    expect(await matches("20")).toEqual(["vlan 20 Voice (number Exact)", "vlan 200 Guests (number Prefix)"]);
    for (const q of ["vlan 20", "VLAN20", "vlan 020"])
      expect(await matches(q)).toEqual(["vlan 20 Voice (number Exact)"]);
    const host = await newHost({ name: "sw" });
    await newIfEntry(host.id, { if_descr: "Vlan20" });
    for (const q of ["vlan 20", "vl20"]) expect(await matches(q)).toContain("if_entry sw/Vlan20 (if_descr Exact)");
  });

  test("finds IPv6 addresses in any notation", async () => {
    await newSubnet({ cidr: "2001:db8::/32" });
    await newHost({ name: "six", ip_addresses: [{ ip_address: "2001:db8::a:1" }] });
    for (const q of ["2001:DB8::A:1", "2001:db8:0:0:0:0:a:1"])
      expect(await matches(q)).toEqual(["ip_address six/2001:db8::a:1 (ip_address Exact)"]);
    expect(await matches("2001:db8:0::/32")).toEqual(["subnet 2001:db8::/32 (cidr Exact)"]);
    expect(await matches("a:1")).toEqual(["ip_address six/2001:db8::a:1 (ip_address Part)"]);
  });
});

describe("a former name", () => {
  test("is found with the time it was last used, but not before it was first used", async () => {
    const host = await newHost({ name: "alpha" });
    const first = instant();
    const renamed = await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "beta" }));
    const second = instant();
    await expectOk(owner.put(`hosts/${host.id}`, { ...renamed, name: "gamma" }));
    const { data } = await search("alpha");
    expect(data).toMatchObject([
      {
        id: host.id,
        name: "gamma",
        match: { field: "name", value: "alpha", kind: "Exact" },
        named_until: renamed.updated_at,
        deleted_at: null,
      },
    ]);
    expect(await matches("alpha", `&at=${first}`)).toEqual(["host alpha (name Exact)"]);
    expect(await matches("alpha", `&at=${second}`)).toEqual(["host beta (name Exact, formerly)"]);
    expect(await matches("beta", `&at=${first}`)).toEqual([]);
    expect(await matches("gamma", `&at=${second}`)).toEqual([]);
  });

  test("ranks below current names; deleted records come last, with their deletion time", async () => {
    const renamed = await newHost({ name: "web" });
    await expectOk(owner.put(`hosts/${renamed.id}`, { ...renamed, name: "aaa" }));
    await newHost({ name: "web" });
    const deletedHost = await newHost({ name: "web" });
    const before = instant();
    const closed = await expectOk(owner.delete(`hosts/${deletedHost.id}`));
    await newHost({ name: "web-1" });
    expect(await matches("web")).toEqual([
      "host web (name Exact)",
      "host aaa (name Exact, formerly)",
      "host web-1 (name Prefix)",
      "host web (name Exact, deleted)",
    ]);
    expect((await search("web")).data.at(-1)).toMatchObject({ id: deletedHost.id, deleted_at: closed.valid_to });
    expect(await matches("web", `&at=${before}`)).toEqual([
      "host web (name Exact)",
      "host web (name Exact)",
      "host aaa (name Exact, formerly)",
    ]);
  });

  test("includes a MAC address's former location", async () => {
    const { access } = await newCore();
    await expectOk(owner.put(`if-entries/${access.id}`, { ...access, fdb_macs: [] }));
    expect(await matches("3c:52:82:01:02:03")).toEqual([
      "if_entry core-1/TenGigabitEthernet1/1/1 (fdb_macs Exact, formerly)",
    ]);
  });

  test("ends when the MAC address last left, if it came back to a port", async () => {
    const { access } = await newCore();
    const setMacs = (fdb_macs: readonly string[]) =>
      expectOk(owner.put(`if-entries/${access.id}`, { ...access, fdb_macs: [...fdb_macs] }));
    let last = "";
    for (const _ of [1, 2, 3]) {
      await setMacs(["3c:52:82:01:02:03"]);
      instant();
      last = (await setMacs([])).updated_at;
      instant();
    }
    expect((await search("3c:52:82:01:02:03")).data).toMatchObject([{ named_until: last, deleted_at: null }]);
  });
});

describe("a caller", () => {
  test("cannot find records outside their networks, even by former names", async () => {
    const far = await newNetwork({ name: "far" });
    const viewer = (await appliance.newViewer()).client;
    const near = await newHost({ name: "near-web" });
    const hidden = await newHost({ name: "far-web", network_id: far.id });
    for (const q of ["web", "far-web", "far"]) expect((await matches(q)).length).toBeGreaterThan(0);
    expect(await matches("web", "", viewer)).toEqual(["host near-web (name Word)"]);
    for (const q of ["far-web", "far"]) expect(await matches(q, "", viewer)).toEqual([]);
    expect(await matches("web", `&network_id=${far.id}`, viewer)).toEqual([]);
    expect(await matches("web", `&network_id=${far.id}`)).toEqual(["host far-web (name Word)"]);
    const moved = await owner.put(`hosts/${hidden.id}`, {
      ...hidden,
      name: "moved",
      network_id: appliance.first.networkId,
    });
    // Hosts stay in their network; only a restore or a scan brings one from another.
    expect([200, 400]).toContain(moved.status);
    expect(await matches("far-web", "", viewer)).toEqual([]);
    await expectOk(owner.delete(`hosts/${near.id}`));
    expect(await matches("near-web", "", viewer)).toEqual(["host near-web (name Exact, deleted)"]);
  });

  test("finds markers of the organization and of networks in reach, with their owner", async () => {
    const far = await newNetwork({ name: "far" });
    const viewer = (await appliance.newViewer()).client;
    await expectOk(owner.post("markers", { name: "before the move", at: instant() }));
    await expectOk(owner.post("markers", { name: "before the far move", at: instant(), network_id: far.id }));
    expect(await matches("move")).toEqual([
      "marker before the far move (name Word)",
      "marker before the move (name Word)",
    ]);
    expect(await matches("move", "", viewer)).toEqual(["marker before the move (name Word)"]);
    expect(await matches("move", `&network_id=${far.id}`)).toEqual(["marker before the far move (name Word)"]);
  });

  test("finds only kinds they may list", async () => {
    await expectOk(owner.post("auth/keys", { ...appliance.keyBody(), name: "nightly" }));
    const { client: key } = appliance.newApiKey();
    const viewer = (await appliance.newViewer()).client;
    expect(await matches("nightly")).toEqual(["api_key nightly (name Exact)"]);
    expect(await matches("nightly", "", key)).toEqual([]);
    expect(await matches("nightly", "", viewer)).toEqual([]);
    expect(await matches("nlk_")).toEqual([]);
  });
});

describe("a query", () => {
  test("rejects empty queries, unknown kinds and out-of-range limits", async () => {
    expect(await owner.get("search")).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/q" }] } } });
    expect((await owner.get("search?q=+%09")).body).toMatchObject(
      invalid({ path: "/q", message: "must contain a word", value: " \t" }).body,
    );
    expect((await owner.get("search?q=a+b+c+d+e+f+g+h+i+j+k")).status).toBe(400);
    for (const query of [
      "q=a&limit=0",
      "q=a&limit=101",
      "q=a&types=binding",
      "q=a&types=secret",
      `q=${"x".repeat(201)}`,
    ])
      expect([query, (await owner.get(`search?${query}`)).status]).toEqual([query, 400]);
    expect(await matches("a", "&at=1999-12-31T23:59:59Z")).toEqual([]);
  });

  test("may be any string", async () => {
    await newVlan({ number: 7, name: `"a" OR b* NEAR(c) \u202eabc 😀 x:y` });
    for (const q of ['"', '""', "*", "NOT a", "a AND", "(", "entries:a", "^a", "\u202e", "%", "'; DROP", "-"])
      expect((await search(q)).meta.search.cut_off).toEqual([]);
    for (const q of ['"a"', "near(c)", "\u202eabc", "😀", "x:y", '"a" or b*'])
      expect([q, await matches(q)]).toEqual([q, [expect.stringMatching(/^vlan 7 .* \(name (Prefix|Word)\)$/)]]);
    expect((await owner.get(`search?q=${"x".repeat(10_000)}`)).status).toBe(400);
    expect(await matches("x".repeat(200))).toEqual([]);
  });

  test("caps the candidates examined and reports the kinds that were cut off", async () => {
    const items = Array.from({ length: 5 }, (_, host) => ({
      network_id: appliance.first.networkId,
      name: `switch-${host}`,
      interfaces: Array.from({ length: 60 }, (_, index) => ({
        if_index: index + 1,
        if_descr: `GigabitEthernet1/0/${index + 1}`,
      })),
    }));
    await expectOk(owner.post("hosts/bulk", items));
    const { data, meta } = await search("gi1", "&limit=100");
    expect(data).toHaveLength(100);
    expect(meta.search).toEqual({ limit: 100, has_more: true, cut_off: ["if_entry"] });
    expect(await matches("switch-3 gi1/0/41")).toEqual(["if_entry switch-3/GigabitEthernet1/0/41 (if_descr Exact)"]);
    expect((await search("gi1/0/41")).data).toHaveLength(5);
  });
});
