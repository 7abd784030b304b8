// netledger import netbox: a NetBox of version 3 or 4 is imported through the API, re-imported without duplicates, and
// resumed after an interruption.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { EXECUTABLE, OWNER, Sandbox, spawnPiped } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import {
  emptyFixture,
  type FakeNetbox,
  type FakeNetboxOptions,
  type NetboxFixture,
  serveNetbox,
} from "../support/imports/fake-netbox.ts";
import { counts, ImportAppliance, NETBOX_TOKEN } from "../support/imports/import-target.ts";
import { makePair } from "../support/tls/certificates.ts";

const sandbox = sandboxForEach();
const servers: FakeNetbox[] = [];
let target: ImportAppliance;
beforeEach(async () => {
  target = await ImportAppliance.open(sandbox);
});
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

function serve(fixture: NetboxFixture, options: FakeNetboxOptions = {}, port = 0): FakeNetbox {
  const server = serveNetbox(fixture, { token: NETBOX_TOKEN, ...options }, port);
  servers.push(server);
  return server;
}

function interfaceOf(host: any, name: string): any {
  return host.interfaces.find(({ if_name }: any) => if_name === name);
}

/** Arguments of an import with a default network. */
const argsFor = (netbox: FakeNetbox): string[] => ["netbox", netbox.url, "--default-network", "Elsewhere"];

/** Serves a small campus, and imports it. */
async function importedCampus(): Promise<{ fixture: NetboxFixture; args: string[] }> {
  const fixture = campus();
  const args = argsFor(serve(fixture));
  await target.import(args);
  return { fixture, args };
}

async function byName(list: string): Promise<Map<string, any>> {
  return new Map((await target.list(list)).map((record) => [record.name, record]));
}

const OFFICE = { id: 1, vid: 10, name: "Office" };
const VOICE = { id: 2, vid: 20, name: "Voice" };

/** A small campus with objects of every kind. */
function campus(): NetboxFixture {
  return {
    ...emptyFixture(),
    tags: [
      { id: 1, name: "core", color: "2196f3", description: "The backbone" },
      { id: 2, name: "printers", color: "ffeb3b" },
    ],
    sites: [
      { id: 1, name: "Berlin", description: "Headquarters", tags: ["core"] },
      { id: 2, name: "Main" },
    ],
    locations: [{ id: 1, name: "Hall 3", site: 1 }],
    groups: [{ id: 7, name: "Berlin VLANs", site: 1 }],
    clusters: [{ id: 4, name: "hypervisors", site: 1 }],
    vlans: [
      { ...OFFICE, group: 7, description: "Desks" },
      { ...VOICE, site: null },
    ],
    prefixes: [
      { id: 1, prefix: "10.0.0.0/24", site: 1, vlan: OFFICE, tags: ["core"], description: "Desks" },
      { id: 2, prefix: "10.9.0.0/16" },
      { id: 3, prefix: "2001:db8:1::/64", site: 1 },
    ],
    devices: [
      {
        id: 1,
        name: "core-1",
        site: 1,
        description: "In the cellar",
        serial: "FOC1234",
        assetTag: "A-77",
        manufacturer: "Acme",
        model: "Switch 48",
        location: "Hall 3",
        rack: "R1",
        position: 12,
        tags: ["core"],
        primary: 1,
        interfaces: [
          { id: 5, name: "Gi1/0/1", mac: "00:1B:21:AA:BB:CC", speedKbps: 1_000_000, native: OFFICE, tagged: [VOICE] },
          { id: 6, name: "Po1", type: "lag", enabled: false, description: "to the roof" },
        ],
      },
      { id: 2, name: null, site: 2 },
    ],
    machines: [{ id: 1, name: "vm-1", site: null, cluster: 4, interfaces: [{ id: 5, name: "eth0" }] }],
    addresses: [
      { id: 1, address: "10.0.0.5/24", dnsName: "core-1.example.com", on: { device: 1, interface: 5 } },
      { id: 2, address: "2001:db8:1::5/64", on: { device: 1, interface: 5 } },
      { id: 3, address: "192.168.7.5/24", on: { machine: 1, interface: 5 } },
      { id: 4, address: "10.0.0.77/24", dnsName: "printer.example.com", description: "2nd floor", tags: ["printers"] },
      { id: 5, address: "10.9.1.1/16" },
    ],
  };
}

describe.each(["3.5.9", "3.7.8", "4.0.11", "4.2.3"])("a NetBox %s", (version) => {
  test("is imported with all mapped fields; a second import writes no version", async () => {
    const netbox = serve(campus(), { version });
    const first = await target.import(argsFor(netbox));
    expect([first.code, first.err]).toEqual([0, ""]);
    expect(first.out).toStartWith(`NetBox ${version} at ${netbox.url} into http://127.0.0.1:`);
    expect(counts(first, "networks")).toEqual([2, 0, 1, 0, 0]);
    for (const kind of ["hosts", "interfaces", "addresses"])
      expect([kind, counts(first, kind)]).toEqual([kind, [3, 0, 0, 0, 0]]);
    expect(counts(first, "ranges")).toEqual([2, 0, 0, 0, 0]);

    const [networks, tags] = [await byName("networks"), await byName("tags")];
    expect([...networks.keys()].sort()).toEqual(["Berlin", "Elsewhere", "Main"]);
    expect(networks.get("Berlin")).toMatchObject({ description: "Headquarters", tags: [tags.get("core").id] });
    expect(tags.get("core")).toMatchObject({ color: "Sky", description: "The backbone" });
    const berlinId = networks.get("Berlin").id;
    const elsewhereId = networks.get("Elsewhere").id;

    const vlans = await target.list("vlans");
    const vlanOf = (network: string, number: number) =>
      vlans.find((vlan) => vlan.network_id === network && vlan.number === number);
    expect(vlanOf(berlinId, 10)).toMatchObject({ name: "Office", description: "Desks" });
    expect(vlanOf(elsewhereId, 20)).toMatchObject({ name: "Voice" });
    // A VLAN referenced by an interface of another network is created there as well.
    expect(vlanOf(berlinId, 20)).toMatchObject({ name: "Voice" });
    expect(vlans).toHaveLength(3);

    const subnets = new Map(
      (await target.list("subnets")).map((subnet) => [`${subnet.network_id} ${subnet.cidr}`, subnet]),
    );
    expect(subnets.get(`${berlinId} 10.0.0.0/24`)).toMatchObject({
      description: "Desks",
      vlan_id: vlanOf(berlinId, 10).id,
      tags: [tags.get("core").id],
      accepts_credentials: false,
    });
    expect(subnets.get(`${elsewhereId} 10.9.0.0/16`)).toBeDefined();
    // An address outside the prefixes of its site creates its own subnet.
    expect(subnets.get(`${berlinId} 192.168.7.0/24`)).toMatchObject({ accepts_credentials: false });

    const hosts = await byName("hosts");
    const core = hosts.get("core-1");
    expect(core).toMatchObject({
      network_id: berlinId,
      hostname: "core-1.example.com",
      description: "In the cellar",
      manufacturer: "Acme",
      model: "Switch 48",
      serial_number: "FOC1234",
      asset_tag: "A-77",
      sys_location: "Hall 3, rack R1, U12",
      tags: [tags.get("core").id],
    });
    const [port, trunk] = ["Gi1/0/1", "Po1"].map((name) => interfaceOf(core, name));
    expect(port).toMatchObject({
      if_name: "Gi1/0/1",
      if_descr: "Gi1/0/1",
      if_type: 6,
      speed_bps: 1_000_000_000,
      mac_address: "00:1b:21:aa:bb:cc",
      admin_status: "Up",
      ip_address_id: core.ip_addresses.find(({ ip_address }: any) => ip_address === "10.0.0.5").id,
    });
    expect(trunk).toMatchObject({ if_name: "Po1", if_type: 161, admin_status: "Down", if_alias: "to the roof" });
    const entry = (await target.client.get(`if-entries/${port.id}`)).data;
    expect(entry).toMatchObject({ native_vlan_id: vlanOf(berlinId, 10).id, vlan_ids: [vlanOf(berlinId, 20).id] });
    expect(
      core.ip_addresses.map((address: any) => [address.ip_address, address.name, address.mac_address]).sort(),
    ).toEqual([
      ["10.0.0.5", "core-1.example.com", "00:1b:21:aa:bb:cc"],
      ["2001:db8:1::5", "Gi1/0/1", "00:1b:21:aa:bb:cc"],
    ]);
    expect(hosts.get("Switch 48 (2)")).toMatchObject({ network_id: networks.get("Main").id });
    expect(hosts.get("vm-1")).toMatchObject({ network_id: berlinId, manufacturer: null, serial_number: null });

    const ranges = new Map((await target.list("ip-ranges")).map((range) => [range.first, range]));
    expect(ranges.get("10.0.0.77")).toMatchObject({
      network_id: berlinId,
      last: "10.0.0.77",
      purpose: "Reserved",
      description: "printer.example.com: 2nd floor",
      tags: [tags.get("printers").id],
    });
    expect(ranges.get("10.9.1.1")).toMatchObject({ network_id: elsewhereId });

    const reasons = new Set((await target.list("transactions")).map(({ reason }) => reason));
    expect(reasons).toContain(`Import from NetBox at ${netbox.url}`);

    const before = await target.transactions();
    const repeated = await target.import(argsFor(netbox));
    expect(repeated.code).toBe(0);
    for (const kind of ["tags", "networks", "VLANs", "subnets", "hosts", "interfaces", "addresses", "ranges"]) {
      const [created, changed, , kept, refused] = counts(repeated, kind);
      expect([kind, created, changed, kept, refused]).toEqual([kind, 0, 0, 0, 0]);
    }
    expect(await target.transactions()).toBe(before);
    expect((await sandbox.command("verify")).code).toBe(0);
  });
});

test("containers and prefixes of no site conflict with no prefix of a site; two sites with one prefix do", async () => {
  const netbox = serve({
    ...campus(),
    prefixes: [
      { id: 1, prefix: "10.0.0.0/8", status: "container" },
      { id: 2, prefix: "10.0.0.0/16", site: 1, status: "container" },
      { id: 3, prefix: "10.0.0.0/24", site: 1 },
      { id: 4, prefix: "10.0.5.0/24", site: 2 },
      { id: 5, prefix: "10.0.5.0/24" },
      { id: 6, prefix: "10.0.5.128/25", status: "reserved" },
      { id: 7, prefix: "192.168.1.0/24", site: 1 },
      { id: 8, prefix: "192.168.1.0/24", site: 2 },
      { id: 9, prefix: "2001:db8::/32", status: "container" },
      { id: 10, prefix: "2001:db8:9::/64", site: 2 },
    ],
  });
  await target.import(argsFor(netbox));
  const types = new Map(
    (await target.list("subnets")).map(({ cidr, network_id, subnet_type }) => [`${cidr} ${network_id}`, subnet_type]),
  );
  expect([...types.values()].filter((type) => type === "Container")).toHaveLength(5);
  const conflicts = (await target.list("conflicts")).filter(({ type }) => type === "Subnet");
  expect(conflicts.map(({ value }) => value)).toEqual(["192.168.1.0/24"]);
});

describe("the plan", () => {
  test("is printed without being executed, and matches the later execution", async () => {
    const netbox = serve(campus());
    const before = await target.transactions();
    const args = [...argsFor(netbox), "--verbose"];
    const preview = await target.import([...args, "--dry-run"]);
    expect(preview.code).toBe(0);
    expect(preview.out).toContain("dry run, nothing was written");
    expect(preview.out).toContain(`created hosts: core-1 (${netbox.url}/api/dcim/devices/1/)`);
    expect(await target.transactions()).toBe(before);
    const result = await target.import(args);
    const reportedLines = ({ out }: { out: string }) => out.split("\n").filter((line) => !line.includes(" into "));
    expect(reportedLines(result).sort()).toEqual(reportedLines(preview).sort());
  });

  test("reports progress on standard error during long runs", async () => {
    const netbox = serve(campus(), {
      intercept: async (path) => {
        if (path === "/api/virtualization/virtual-machines/") await Bun.sleep(5_500);
        return null;
      },
    });
    const child = spawnPiped([EXECUTABLE, "import", ...argsFor(netbox)], target.environment);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(code).toBe(0);
    expect(err).toMatch(/^\S+ INFO {2}importing step=hosts done=3$/m);
    expect(out).not.toContain("importing");
  });

  test("refuses objects without a site unless a network is named, and accepts the rest", async () => {
    const netbox = serve(campus());
    const result = await target.import(["netbox", netbox.url]);
    expect(result.code).toBe(1);
    expect(result.out).toContain(
      `subnets: ${netbox.url}/api/ipam/prefixes/2/: has no network; specify one with --default-network`,
    );
    expect(counts(result, "hosts")).toEqual([3, 0, 0, 0, 0]);
    expect(counts(result, "subnets")).toEqual([3, 0, 0, 0, 1]);
    expect(counts(result, "ranges")).toEqual([1, 0, 0, 0, 1]);
  });
});

describe("imported custom fields", () => {
  const choicesOf = (...labels: string[]): Array<[string, string]> =>
    labels.map((label) => [label.charAt(0).toLowerCase(), label]);
  const fields: NetboxFixture["fields"] = [
    { id: 1, name: "support_until", type: "date", objects: ["dcim.device"], label: "Support until" },
    { id: 2, name: "Owner", type: "object", objects: ["dcim.device", "virtualization.virtualmachine", "ipam.prefix"] },
    { id: 3, name: "tier", type: "select", objects: ["dcim.device"], choices: choicesOf("Gold", "Silver") },
    { id: 4, name: "cost", type: "decimal", objects: ["ipam.ipaddress", "ipam.vlan"] },
    { id: 5, name: "patched", type: "boolean", objects: ["dcim.interface", "virtualization.vminterface"] },
    { id: 6, name: "of_sites", type: "text", objects: ["dcim.site"] },
    { id: 7, name: "sets", type: "multiselect", objects: ["dcim.device"], choices: choicesOf("A", "B") },
    { id: 8, name: "OWNER", type: "text", objects: ["dcim.device"] },
    { id: 9, name: "link", type: "url", objects: ["dcim.device"] },
  ];

  function withFields(): NetboxFixture {
    const fixture = campus();
    const [device, ...others] = fixture.devices;
    const [port, ...ports] = device?.interfaces ?? [];
    const ann = { id: 4, display: "Ann", name: "Ann" };
    return {
      ...fixture,
      fields,
      vlans: fixture.vlans.map((vlan) => ({ ...vlan, custom: { cost: "12.50" } })),
      prefixes: fixture.prefixes.map((prefix) => ({ ...prefix, custom: { Owner: ann } })),
      addresses: fixture.addresses.map((address) => ({ ...address, custom: { cost: 3 } })),
      devices: [
        {
          ...(device as (typeof fixture.devices)[0]),
          custom: {
            support_until: "2028-03-31",
            Owner: { id: 3, display: "Bo" },
            tier: "Gold",
            sets: ["A", "B"],
            of_sites: "no",
            link: "javascript:alert(1)",
            unheard_of: 1,
          },
          interfaces: [{ ...(port as object), custom: { patched: false } } as any, ...ports],
        },
        ...others,
      ],
    };
  }

  test.each(["3.5.9", "3.7.8", "4.2.3"])(
    "have their values from a NetBox %s; a second import writes no version",
    async (version) => {
      const fixture = withFields();
      // Choices have no labels before 3.6.
      const [device] = fixture.devices;
      if (version !== "3.5.9") (device?.custom as any).tier = { value: "g", label: "Gold" };
      else fixture.fields = fields.map((field) => (field.id === 3 ? { ...field, choices: [["Gold", "Gold"]] } : field));
      const netbox = serve(fixture, { version });
      const args = ["netbox", netbox.url, "--default-network", "E"];
      const first = await target.import(args);
      expect(counts(first, "fields")).toEqual([7, 0, 0, 0, 2]);
      expect(first.out).toMatch(/custom-fields\/8\/: \S+custom-fields\/2\/ has the key owner already/);
      expect(first.out).toMatch(/devices\/1\/: custom_fields\.link must be a URL/);
      const createdFields = new Map((await target.list("custom-fields")).map((field) => [field.key, field]));
      const supportUntil = { label: "Support until", type: "date", kinds: ["host"], required: false };
      expect(createdFields.get("support_until")).toMatchObject(supportUntil);
      expect(createdFields.get("owner")).toMatchObject({ label: "Owner", type: "text", kinds: ["host", "subnet"] });
      expect(createdFields.get("tier").choices).toContain("Gold");
      expect([...createdFields.keys()]).not.toContain("of_sites");
      const [core] = await target.list("hosts?search=core-1");
      expect(core.custom_fields).toEqual({ owner: "Bo", sets: "A, B", support_until: "2028-03-31", tier: "Gold" });
      expect(interfaceOf(core, "Gi1/0/1").custom_fields).toEqual({ patched: false });
      expect((await target.list("vlans")).filter((vlan) => vlan.custom_fields?.cost === 12.5)).toHaveLength(2);
      expect((await target.list("subnets")).filter((subnet) => subnet.custom_fields?.owner === "Ann")).toHaveLength(3);
      expect((await target.list("ip-ranges")).map(({ custom_fields }) => custom_fields)).toEqual([
        { cost: 3 },
        { cost: 3 },
      ]);

      const before = await target.transactions();
      const repeated = await target.import(args);
      expect(counts(repeated, "fields")).toEqual([0, 0, 7, 0, 2]);
      expect(counts(repeated, "hosts")).toEqual([0, 0, 3, 0, 0]);
      expect(await target.transactions()).toBe(before);
    },
  );

  test("keep local changes, otherwise follow the source, and leave other keys alone", async () => {
    const fixture = withFields();
    const netbox = serve(fixture);
    const args = ["netbox", netbox.url, "--default-network", "E"];
    await target.import(args);
    await target.client.post("custom-fields", { key: "room", kinds: ["host"], type: "text" });
    const [core] = await target.list("hosts?search=core-1");
    const { id, name, hidden, tags } = core;
    const changed = { id, name, hidden, tags, custom_fields: { room: "12", owner: "Cy" } };
    expect((await target.client.put(`hosts/${id}`, changed)).status).toBe(200);
    const [device] = fixture.devices;
    Object.assign(device?.custom as object, { support_until: "2030-01-01", Owner: { id: 9, display: "Di" } });
    const second = await target.import(args);
    expect(second.out).toMatch(/hosts: core-1 \(\S+\) custom_fields\.owner was changed by keeper at 20/);
    expect((await target.client.get(`hosts/${id}`)).data.custom_fields).toEqual({
      owner: "Cy",
      room: "12",
      sets: "A, B",
      support_until: "2030-01-01",
      tier: "Gold",
    });
    await target.import([...args, "--overwrite"]);
    expect((await target.client.get(`hosts/${id}`)).data.custom_fields.owner).toBe("Di");
  });

  test("are refused with their values if a field of another type has their key", async () => {
    await target.client.post("custom-fields", { key: "tier", kinds: ["host"], type: "number" });
    const netbox = serve(withFields());
    const result = await target.import(["netbox", netbox.url, "--default-network", "E"]);
    expect(result.out).toMatch(/custom-fields\/3\/: there is a field tier of type number, and this is choice/);
    const [core] = await target.list("hosts?search=core-1");
    expect(core.custom_fields).not.toHaveProperty("tier");
    expect(core.custom_fields).toHaveProperty("owner");
  });
});

describe("a later change", () => {
  test("is imported from the source, while manual values stay and are reported", async () => {
    const { fixture, args } = await importedCampus();
    const [core] = await target.list("hosts?search=core-1");
    const { id, hidden, tags } = core;
    const changed = await target.client.put(`hosts/${id}`, { id, name: "core-1", hidden, tags, description: "Moved" });
    expect(changed.status).toBe(200);
    const [device, ...others] = fixture.devices;
    fixture.devices = [
      {
        ...(device as (typeof fixture.devices)[0]),
        description: "In the attic",
        serial: "FOC9999",
        interfaces: [
          { id: 5, name: "Gi1/0/1", mac: "00:1B:21:AA:BB:CD", speedKbps: 1_000_000, native: OFFICE, tagged: [VOICE] },
          { id: 6, name: "Po1", type: "lag", description: "to the roof" },
          { id: 9, name: "Gi1/0/2" },
        ],
      },
      ...others,
    ];
    const second = await target.import(args);
    expect(second.code).toBe(0);
    expect(counts(second, "hosts")).toEqual([0, 1, 2, 0, 0]);
    expect(counts(second, "interfaces")).toEqual([1, 2, 1, 0, 0]);
    expect(second.out).toMatch(/hosts: core-1 \(\S+\) description was changed by keeper at 20/);
    const after = (await target.client.get(`hosts/${id}`)).data;
    expect(after).toMatchObject({ description: "Moved", serial_number: "FOC9999" });
    expect(after.interfaces).toHaveLength(3);
    expect(interfaceOf(after, "Gi1/0/1").mac_address).toBe("00:1b:21:aa:bb:cd");
    expect(interfaceOf(after, "Po1").admin_status).toBe("Up");
    expect(interfaceOf(after, "Gi1/0/2")).toBeDefined();
    // The import reports the same on every run.
    expect(counts(await target.import(args), "hosts")).toEqual([0, 0, 2, 1, 0]);
    const third = await target.import([...args, "--overwrite"]);
    expect(counts(third, "hosts")).toEqual([0, 1, 2, 0, 0]);
    expect((await target.client.get(`hosts/${id}`)).data.description).toBe("In the attic");
  });

  test("leaves local changes in place: additional interfaces, addresses and tags, and a disabled interface", async () => {
    const { fixture, args } = await importedCampus();
    const [core] = await target.list("hosts?search=core-1");
    const localTag = (await target.client.post("tags", { name: "ours", color: "Red" })).data.id;
    const extraInterface = await target.client.post("if-entries", { host_id: core.id, if_index: 3, if_descr: "Null0" });
    const address = await target.client.post("ip-addresses", { host_id: core.id, ip_address: "10.0.0.6" });
    const { id, name, hidden, tags } = core;
    await target.client.put(`hosts/${id}`, { id, name, hidden, tags: [...tags, localTag] });
    const port = interfaceOf(core, "Gi1/0/1");
    const { if_index, if_descr } = port;
    await target.client.put(`if-entries/${port.id}`, { if_index, if_descr, admin_status: "Down" });
    const [device, ...others] = fixture.devices;
    const [first, ...ports] = device?.interfaces ?? [];
    fixture.devices = [
      {
        ...(device as (typeof fixture.devices)[0]),
        tags: ["core", "printers"],
        interfaces: [{ ...first, description: "new" } as any, ...ports],
      },
      ...others,
    ];
    expect((await target.import(args)).code).toBe(0);
    const after = (await target.client.get(`hosts/${id}`)).data;
    const printers = (await target.list("tags")).find((tag) => tag.name === "printers").id;
    expect(after.tags).toEqual([...tags, localTag, printers]);
    expect(after.interfaces.map(({ id }: any) => id)).toContain(extraInterface.data.id);
    expect(after.ip_addresses.map(({ id }: any) => id)).toContain(address.data.id);
    expect(interfaceOf(after, "Gi1/0/1")).toMatchObject({ if_alias: "new", admin_status: "Down" });
  });

  test("is not undone, and is reported, if it deletes or untags a record locally", async () => {
    const { args } = await importedCampus();
    const hosts = await byName("hosts");
    const core = hosts.get("core-1");
    expect((await target.client.delete(`hosts/${hosts.get("vm-1").id}`)).status).toBe(200);
    expect((await target.client.delete(`if-entries/${interfaceOf(core, "Po1").id}`)).status).toBe(200);
    const { id, name, hidden } = core;
    await target.client.put(`hosts/${id}`, { id, name, hidden, tags: [] });
    const before = await target.transactions();
    const repeated = await target.import(args);
    expect(repeated.code).toBe(0);
    expect(counts(repeated, "hosts")).toEqual([0, 0, 1, 2, 0]);
    expect(counts(repeated, "interfaces")).toEqual([0, 0, 1, 1, 0]);
    expect(repeated.out).toMatch(/hosts: vm-1 \(\S+\) was deleted here/);
    expect(repeated.out).toMatch(/interfaces: Po1 of core-1 \(\S+\) was deleted here/);
    expect(repeated.out).toMatch(/hosts: core-1 \(\S+\) a tag was removed in netledger/);
    expect(await target.transactions()).toBe(before);
  });

  test("applies to the remaining host if made to the device of a consolidated host", async () => {
    const { fixture, args } = await importedCampus();
    const core = (await byName("hosts")).get("core-1");
    const found = await target.client.post("hosts", {
      name: "found",
      network_id: core.network_id,
      ip_addresses: [{ ip_address: "10.0.0.5" }],
      interfaces: [{ if_index: 4, if_descr: "Null0" }],
    });
    expect((await target.client.put(`hosts/${found.data.id}/consolidate/${core.id}`, {})).status).toBe(200);
    const [device, ...others] = fixture.devices;
    const ports = device?.interfaces ?? [];
    fixture.devices = [
      { ...(device as (typeof fixture.devices)[0]), serial: "S2", interfaces: [...ports, { id: 9, name: "Gi1/0/2" }] },
      ...others,
    ];
    const result = await target.import([...args, "--overwrite"]);
    expect(result.code).toBe(0);
    expect(counts(result, "hosts")).toEqual([0, 1, 2, 0, 0]);
    expect(counts(result, "interfaces").slice(0, 1)).toEqual([1]);
    const after = (await target.client.get(`hosts/${found.data.id}`)).data;
    expect(after).toMatchObject({ name: "core-1", serial_number: "S2" });
    expect(after.interfaces.map(({ if_descr }: any) => if_descr).sort()).toEqual([
      "Gi1/0/1",
      "Gi1/0/2",
      "Null0",
      "Po1",
    ]);
    expect(await target.list("hosts")).toHaveLength(3);
    const before = await target.transactions();
    expect((await target.import(args)).code).toBe(0);
    expect(await target.transactions()).toBe(before);
  });

  test("follows one of two devices consolidated into one host, and reports the other", async () => {
    const fixture = manyDevices(3);
    const netbox = serve(fixture);
    await target.import(["netbox", netbox.url]);
    const [first, second] = await target.list("hosts");
    expect((await target.client.put(`hosts/${first.id}/consolidate/${second.id}`, {})).status).toBe(200);
    const before = await target.transactions();
    const repeated = await target.import(["netbox", netbox.url]);
    expect(repeated.code).toBe(0);
    expect(counts(repeated, "hosts")).toEqual([0, 0, 2, 1, 0]);
    expect(repeated.out).toContain(`hosts: ${second.name} (`);
    expect(repeated.out).toContain("is consolidated here with another device");
    expect(await target.transactions()).toBe(before);
  });

  test("creates no duplicates with --known-as if it is to the source's URL", async () => {
    const fixture = campus();
    const old = serve(fixture);
    await target.import(argsFor(old));
    const moved = serve(fixture);
    const before = await target.transactions();
    expect((await target.import([...argsFor(moved), "--known-as", old.url])).code).toBe(0);
    expect(await target.transactions()).toBe(before);
  });
});

/** Enough devices for several requests. */
function manyDevices(devices: number): NetboxFixture {
  const fixture = emptyFixture();
  fixture.sites = [{ id: 1, name: "Berlin" }];
  fixture.prefixes = [{ id: 1, prefix: "10.0.0.0/8", site: 1 }];
  for (let id = 1; id <= devices; id += 1) {
    const interfaces = [1, 2, 3].map((port) => ({ id: id * 10 + port, name: `Gi0/${port}` }));
    fixture.devices.push({ id, name: `switch-${id}`, site: 1, interfaces });
    const [host, on] = [`${id >> 8}.${id & 255}/8`, { device: id, interface: id * 10 + 1 }];
    fixture.addresses.push({ id, address: `10.0.${host}`, on }, { id: devices + id, address: `10.1.${host}` });
  }
  return fixture;
}

describe("an interrupted import", () => {
  test("ends like an uninterrupted one if restarted at any point", async () => {
    const fixture = manyDevices(230);
    const uninterrupted = serve(fixture);
    expect((await target.import(["netbox", uninterrupted.url])).code).toBe(0);
    const expected = await target.inventory();
    const requests = uninterrupted.requestedPaths.length;
    const port = Number(new URL(uninterrupted.url).port);
    await target.running.stop();
    await uninterrupted.stop();
    servers.length = 0;

    for (const share of [0.3, 0.6, 0.95]) {
      const otherSandbox = new Sandbox();
      const otherTarget = await ImportAppliance.open(otherSandbox);
      const child: { kill: () => void } = { kill: () => {} };
      // The same address: ids derive from it.
      const intercept = (_path: string, request: number) => {
        if (request === Math.ceil(requests * share)) child.kill();
        return null;
      };
      const netbox = serve(fixture, { intercept }, port);
      const started = spawnPiped([EXECUTABLE, "import", "netbox", netbox.url], otherTarget.environment);
      child.kill = () => started.kill("SIGKILL");
      await started.exited;
      expect(started.signalCode).toBe("SIGKILL");
      expect((await otherTarget.import(["netbox", netbox.url])).code).toBe(0);
      const found = await otherTarget.inventory();
      // The network of the setup has a different id on each appliance.
      for (const list of ["tags", "vlans", "subnets", "hosts", "ip-ranges"])
        expect(found[list]).toEqual(expected[list] as any[]);
      const before = await otherTarget.transactions();
      expect((await otherTarget.import(["netbox", netbox.url])).code).toBe(0);
      expect(await otherTarget.transactions()).toBe(before);
      await netbox.stop();
      servers.length = 0;
      await otherSandbox.close();
    }
  });

  test("waits for the retry delay of a busy source", async () => {
    let refusals = 0;
    const netbox = serve(campus(), {
      intercept: (path) => {
        if (!/sites|devices/.test(path) || refusals >= 3) return null;
        refusals += 1;
        return new Response("later", { status: refusals === 2 ? 503 : 429, headers: { "retry-after": "0" } });
      },
    });
    expect((await target.import(["netbox", netbox.url, "--default-network", "E"])).code).toBe(0);
    expect(refusals).toBe(3);
  });
});

describe("a hostile NetBox", () => {
  /** Returns a check that a verbose result contains one refusal of an object. */
  const refusalCheck =
    ({ out }: { out: string }, netbox: FakeNetbox) =>
    (path: string, reason: RegExp) => {
      const refused = out.split("\n").filter((line) => line.startsWith("refused ") && line.includes(netbox.url + path));
      expect(refused.filter((line) => reason.test(line))).toHaveLength(1);
    };

  test("has invalid objects refused by URL, and the rest imported", async () => {
    const fixture = manyDevices(3);
    const huge = "x".repeat(1_000_000);
    fixture.tags = [
      { id: 1, name: huge },
      { id: 2, name: "fine", color: "no color" },
      { id: 3, name: "fine" },
    ];
    fixture.sites.push({ id: 2, name: "Ber\u0000lin" }, { id: 3, name: "Berlin" });
    fixture.prefixes.push(
      { id: 2, prefix: "10.0.0.300/24", site: 1 },
      { id: 3, prefix: "10.0.0.1/24", site: 1 },
      { id: 4, prefix: "10.0.0.0/8", site: 1, vrf: 3 },
      { id: 5, prefix: "10.2.0.0/16", site: 2 },
    );
    fixture.vlans = [
      { id: 1, vid: 99_999, name: "too far", site: 1 },
      { id: 2, vid: 5, name: "five", site: 1 },
      { id: 3, vid: 5, name: "another five", site: 1 },
    ];
    fixture.devices.push(
      { id: 50, name: huge, site: 1 },
      { id: 51, name: "\u001b[31mred\u202e", site: 1, interfaces: [] },
      {
        id: 52,
        name: "half sound",
        site: 1,
        tags: [huge, "fine", "unheard of"],
        interfaces: [
          { id: 9001, name: "good" },
          { id: 9002, name: "bad", mac: "no mac" },
          { id: 9003, name: huge },
        ],
      },
    );
    fixture.addresses.push(
      { id: 901, address: "10.0.9.1/8", on: { device: 52, interface: 9001 } },
      { id: 902, address: "10.0.9.1/8", vrf: 2, on: { device: 52, interface: 9001 } },
      { id: 903, address: "nonsense", on: { device: 52, interface: 9001 } },
      { id: 904, address: "10.0.9.9/99" },
      { id: 905, address: "10.1.0.1/8", vrf: 4 },
    );
    const netbox = serve(fixture, {
      distort: (path, object) =>
        path === "/api/dcim/devices/" && object.id === 2
          ? { ...object, name: { $ne: 1 }, serial: 12, tags: "all", device_type: [1], site: { id: 1, name: null } }
          : path === "/api/dcim/devices/" && object.id === 3
            ? { ...object, id: "3" }
            : object,
    });
    const result = await target.import(["netbox", netbox.url, "--default-network", "Rest", "--verbose"]);
    expect(result.code).toBe(1);
    const expectRefusal = refusalCheck(result, netbox);
    expectRefusal("/api/extras/tags/1/", /name must have at most 255 characters|name must/);
    expectRefusal("/api/extras/tags/3/", /has this name already/);
    expectRefusal("/api/dcim/sites/2/", /name must not be blank or contain control characters/);
    expectRefusal("/api/dcim/sites/3/: ", /has this name already/);
    expectRefusal("/api/ipam/prefixes/2/", /cidr must be an IPv4 or IPv6 prefix/);
    expectRefusal("/api/ipam/prefixes/3/", /cidr must be an IPv4 or IPv6 prefix with no host bits set/);
    expectRefusal("/api/ipam/prefixes/4/", /its network has 10\.0\.0\.0\/8 already, from .*prefixes\/1\//);
    expectRefusal("/api/ipam/prefixes/5/", /its network could not be imported/);
    expectRefusal("/api/ipam/vlans/1/", /number must/);
    expectRefusal("/api/ipam/vlans/3/", /its network has VLAN 5 already/);
    expectRefusal("/api/dcim/devices/50/", /name must/);
    expectRefusal("/api/dcim/devices/51/", /name must/);
    expectRefusal("/api/dcim/devices/: ", /has no id/);
    expectRefusal("/api/dcim/interfaces/9002/", /mac_address must be a MAC address/);
    expectRefusal("/api/dcim/interfaces/9003/", /if_descr must/);
    expectRefusal("/api/ipam/ip-addresses/902/", /the host has 10\.0\.9\.1 already/);
    expectRefusal("/api/ipam/ip-addresses/903/", /has no IP address with a prefix length/);
    expectRefusal("/api/ipam/ip-addresses/904/", /has no IP address with a prefix length/);
    expect(result.out).not.toContain("\u001b");
    expect(Math.max(...result.out.split("\n").map((line) => line.length))).toBeLessThan(2_000);
    const hosts = await byName("hosts");
    expect([...hosts.keys()].sort()).toEqual(["half sound", "switch-1", "switch-2"]);
    expect(hosts.get("half sound").interfaces.map(({ if_name }: any) => if_name)).toEqual(["good"]);
    expect(hosts.get("half sound").tags).toHaveLength(1);
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  test("has invisible and look-alike names refused, and the rest imported", async () => {
    const fixture = manyDevices(1);
    fixture.tags = [
      { id: 1, name: "\u3164" },
      { id: 2, name: "fine" },
      { id: 3, name: "fi\u200bne" },
      { id: 4, name: "here" },
    ];
    fixture.sites.push({ id: 2, name: "\u2800" }, { id: 3, name: "Pa\u00adris" }, { id: 4, name: "Paris" });
    fixture.devices.push({ id: 51, name: "tagged", site: 1, tags: ["fine", "fi\u200bne", "here"] });
    const [site = { name: "" }] = fixture.sites;
    const tag = await target.client.post("tags", { name: "he\u2060re", color: "Blue" });
    expect(tag.status).toBe(200);
    const netbox = serve(fixture);
    const result = await target.import(["netbox", netbox.url, "--default-network", "Rest", "--verbose"]);
    expect(result.code).toBe(1);
    const expectRefusal = refusalCheck(result, netbox);
    expectRefusal("/api/extras/tags/1/", /name must not be blank/);
    expectRefusal("/api/extras/tags/3/", /tags\/2\/ has this name already/);
    expectRefusal("/api/dcim/sites/2/", /name must not be blank/);
    expectRefusal("/api/dcim/sites/4/: ", /sites\/3\/ has this name already/);
    const namesOf = async (plural: string) => (await target.list(plural)).map(({ name }) => name);
    expect((await namesOf("tags")).sort()).toEqual(["fine", "he\u2060re"]);
    expect(await namesOf("networks")).toEqual(expect.arrayContaining([site.name, "Pa\u00adris"]));
    const [host] = (await target.list("hosts")).filter(({ name }) => name === "tagged");
    expect(host.tags).toHaveLength(2);
  });

  test.each([
    [
      "HTML instead of JSON",
      () => new Response("<h1>hello</h1>", { headers: { "content-type": "text/html" } }),
      /returns 200 with text\/html instead of JSON; is it the address of a NetBox\?/,
    ],
    [
      "a redirect",
      () => Response.redirect("https://elsewhere.example/login", 302),
      /redirects to https:\/\/elsewhere\.example\/login; give the target address instead/,
    ],
    ["an unknown version", () => Response.json({ "netbox-version": "2.11.12" }), /NetBox 2\.11\.12 is not supported/],
    ["JSON of another shape", () => Response.json({ status: "fine" }), /has no netbox-version: is it NetBox\?/],
    [
      "a missing page",
      () => Response.json({ detail: "Not found." }, { status: 404 }),
      /NetBox returns 404 for .*: Not found\./,
    ],
  ])("is reported in one line if it responds with %s", async (_case, respond, message) => {
    const netbox = serve(campus(), { intercept: () => respond() });
    const refused = await target.import(["netbox", netbox.url]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(message);
    expect(refused.err.trimEnd()).not.toContain("\n");
  });

  test("is read no further than its count if a list is endless", async () => {
    const netbox = serve(campus(), {
      intercept: (path) =>
        path === "/api/extras/tags/" ? Response.json({ count: 1, next: "http://127.0.0.1:1/", results: [] }) : null,
    });
    expect((await target.import(["netbox", netbox.url, "--default-network", "E"])).code).toBe(0);
    expect(netbox.requestedPaths.filter((path) => path.startsWith("/api/extras/tags/"))).toHaveLength(1);
  });
});

describe("access", () => {
  test("is reported in one line with a wrong token, a wrong key or a wrong server", async () => {
    const netbox = serve(campus());
    const expectFailure = async (message: RegExp, args: readonly string[], env: Record<string, string> = {}) => {
      const refused = await target.import(["netbox", ...args], env);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.err).toMatch(message);
      expect(refused.err.trimEnd()).not.toContain("\n");
      expect(refused.err).not.toContain(NETBOX_TOKEN);
    };
    await expectFailure(/NetBox rejects the token for .*: Invalid token/, [netbox.url], { NETLEDGER_TOKEN: "wrong" });
    await expectFailure(/rejects the key: /, [netbox.url], { NETLEDGER_KEY: "wrong" });
    await expectFailure(/is not netledger: it returns /, [netbox.url, "--server", netbox.url]);
    await expectFailure(/NetBox cannot be reached at http:\/\/127\.0\.0\.1:1\/api\/status\//, ["http://127.0.0.1:1"]);
  });

  test("uses secrets from a file or a variable, never from the command line", async () => {
    const netbox = serve(campus());
    const refused = await target.import(["netbox", netbox.url, "--token", NETBOX_TOKEN]);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/--token would expose it to every user of this machine; use NETLEDGER_TOKEN or a file/);
    await Bun.write(sandbox.path("token"), `${NETBOX_TOKEN}\n`);
    const args = ["netbox", netbox.url, "--token-file", sandbox.path("token"), "--default-network", "E", "--dry-run"];
    expect((await target.import(args, { NETLEDGER_TOKEN: "" })).code).toBe(0);
    const missing = await target.import(["netbox", netbox.url], { NETLEDGER_TOKEN: "" });
    expect(missing.err).toMatch(/--token-file FILE is required \(or NETLEDGER_TOKEN\)/);
  });

  test("requires TLS to another machine, with a configurable CA", async () => {
    const plain = await target.import(["netbox", "http://netbox.example.com"]);
    expect([plain.code, plain.out]).toEqual([2, ""]);
    expect(plain.err).toMatch(/is not https: token, key and data could be read in transit; --plain-http permits this/);
    const pair = await makePair(Date.now() - 60_000);
    const netbox = serve(campus(), { tls: { cert: pair.certificate, key: pair.privateKey } });
    const untrusted = await target.import(["netbox", netbox.url]);
    expect(untrusted.err).toMatch(/is not trusted \(.*\); give its CA with --ca-file/);
    await Bun.write(sandbox.path("ca.pem"), pair.certificate);
    const args = ["netbox", netbox.url, "--ca-file", sandbox.path("ca.pem"), "--default-network", "E"];
    expect((await target.import(args)).code).toBe(0);
  });

  test("is limited, by a Member's key, to kinds a Member may write, and the rest is refused", async () => {
    await target.import(["netbox", serve({ ...emptyFixture(), sites: [{ id: 1, name: "Berlin" }] }).url]);
    const create = `key create --email ${OWNER} --name m --permissions Member`;
    const memberKey = await sandbox.command(...create.split(" "));
    const fixture = manyDevices(2);
    fixture.tags = [{ id: 1, name: "new" }];
    const result = await target.import(["netbox", serve(fixture).url], { NETLEDGER_KEY: memberKey.out.trim() });
    expect(result.code).toBe(1);
    expect(counts(result, "tags")).toEqual([0, 0, 0, 0, 1]);
    expect(counts(result, "hosts")).toEqual([2, 0, 0, 0, 0]);
    expect(counts(result, "ranges")).toEqual([2, 0, 0, 0, 0]);
  });
});
