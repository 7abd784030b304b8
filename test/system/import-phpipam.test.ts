// netledger import phpipam: sections, subnets, VLANs, devices and addresses are imported, and re-imported without
// duplicates.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { type FakePhpipam, PHPIPAM_APP, type PhpipamFixture, servePhpipam } from "../support/imports/fake-phpipam.ts";
import { counts, ImportAppliance, NETBOX_TOKEN as TOKEN } from "../support/imports/import-target.ts";

const sandbox = sandboxForEach();
const servers: FakePhpipam[] = [];
let target: ImportAppliance;
beforeEach(async () => {
  target = await ImportAppliance.open(sandbox);
});
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

function serve(fixture: PhpipamFixture, intercept?: (path: string) => Response | null): string {
  const server = servePhpipam(fixture, TOKEN, intercept);
  servers.push(server);
  return server.url;
}

function run(url: string, ...args: string[]) {
  return target.import(["phpipam", url, "--app-id", PHPIPAM_APP, ...args]);
}

function office(): PhpipamFixture {
  const printer = { hostname: "printer", description: "2nd floor" };
  return {
    sections: [
      { id: "1", name: "Customers", description: "Section for customers", masterSection: "0" },
      { id: "2", name: "Offices", description: null, masterSection: "0" },
    ],
    subnets: [
      { id: "3", subnet: "10.1.0.0", mask: "24", sectionId: "2", description: "Desks", vlanId: "5", isFolder: "0" },
      { id: "4", subnet: "2001:db8:1::", mask: "64", sectionId: "2", description: null, vlanId: "0", isFolder: "0" },
      { id: "6", subnet: "0.0.0.0", mask: "", sectionId: "1", description: "A folder", vlanId: null, isFolder: "1" },
      { id: "7", subnet: "10.2.0.0", mask: "16", sectionId: "1", description: "Racks", vlanId: "0", isFolder: "0" },
    ],
    vlans: [
      { vlanId: "5", domainId: "1", name: "desks", number: "120", description: "Ground floor" },
      { vlanId: "6", domainId: "1", name: "unused", number: "121", description: null },
    ],
    devices: [
      {
        id: "1",
        hostname: "sw-1.example.com",
        ip_addr: "10.1.0.2",
        description: "Access",
        sections: "2;1",
        location: "1",
        snmp_community: "not to be read",
      },
      { id: "2", hostname: "sw-2.example.com", ip_addr: "10.2.0.9", description: null, sections: "", location: "0" },
    ],
    addresses: [
      {
        id: "1",
        subnetId: "3",
        ip: "10.1.0.2",
        hostname: "sw-1.example.com",
        deviceId: "1",
        mac: "00:1b:21:aa:bb:cc",
        tag: "2",
      },
      { id: "2", subnetId: "7", ip: "10.2.0.2", hostname: null, deviceId: "1", port: "Gi0/2", mac: null, tag: "2" },
      { id: "3", subnetId: "3", ip: "10.1.0.1", hostname: "gw", deviceId: "0", is_gateway: "1", tag: "2" },
      { ...printer, id: "4", subnetId: "3", ip: "10.1.0.77", deviceId: null, tag: "3" },
      { id: "5", subnetId: "4", ip: "2001:db8:1::7", hostname: null, description: null, deviceId: "99", tag: "2" },
    ],
    tags: [
      { id: "2", type: "Used", showtag: "0", bgcolor: "#a9c9a4", fgcolor: "#ffffff" },
      { id: "3", type: "Reserved", showtag: "1", bgcolor: "#9ac0cd", fgcolor: "#ffffff" },
    ],
    locations: [{ id: "1", name: "Cellar" }],
  };
}

describe("a phpIPAM", () => {
  test("is imported with all mapped fields; a second import writes no version", async () => {
    const url = serve(office());
    const preview = await run(url, "--default-network", "Elsewhere", "--dry-run", "--verbose");
    expect([preview.code, preview.err]).toEqual([0, ""]);
    const first = await run(url, "--default-network", "Elsewhere");
    expect([first.code, first.err]).toEqual([0, ""]);
    expect(first.out).toStartWith(`phpIPAM at ${url} into `);
    expect(counts(first, "networks")).toEqual([3, 0, 0, 0, 0]);
    expect(counts(first, "hosts")).toEqual([2, 0, 0, 0, 0]);
    expect(counts(first, "addresses")).toEqual([3, 0, 0, 0, 0]);
    expect(counts(first, "ranges")).toEqual([3, 0, 0, 0, 0]);
    for (const kind of ["tags", "networks", "VLANs", "subnets", "hosts", "addresses", "ranges"])
      expect([kind, counts(preview, kind)]).toEqual([kind, counts(first, kind)]);

    const networks = new Map((await target.list("networks")).map(({ name, id }) => [name, id]));
    const [offices, customers, elsewhereId] = ["Offices", "Customers", "Elsewhere"].map((name) => networks.get(name));
    const vlans = await target.list("vlans");
    expect(vlans.map((vlan) => `${vlan.network_id} ${vlan.number} ${vlan.name} ${vlan.description}`).sort()).toEqual(
      [`${offices} 120 desks Ground floor`, `${elsewhereId} 121 unused null`].sort(),
    );
    const subnets = new Map(
      (await target.list("subnets")).map((subnet) => [`${subnet.network_id} ${subnet.cidr}`, subnet]),
    );
    expect(subnets.get(`${offices} 10.1.0.0/24`)).toMatchObject({
      name: "Desks",
      vlan_id: vlans.find(({ number }) => number === 120).id,
      accepts_credentials: false,
    });
    expect(subnets.get(`${customers} 10.2.0.0/16`)).toBeDefined();
    const hosts = new Map((await target.list("hosts")).map((host) => [host.name, host]));
    const firstHost = hosts.get("sw-1.example.com");
    const named = { hostname: "sw-1.example.com", description: "Access", sys_location: "Cellar" };
    expect(firstHost).toMatchObject({ network_id: offices, ...named });
    expect(
      firstHost.ip_addresses.map((address: any) => [address.ip_address, address.name, address.mac_address]).sort(),
    ).toEqual([
      ["10.1.0.2", "sw-1.example.com", "00:1b:21:aa:bb:cc"],
      ["10.2.0.2", "Gi0/2", null],
    ]);
    // A device's own address determines its network; one elsewhere creates its subnet.
    expect(subnets.get(`${offices} 10.2.0.0/16`)).toBeDefined();
    const second = hosts.get("sw-2.example.com");
    expect(second).toMatchObject({ network_id: customers, sys_location: null });
    expect(second.ip_addresses.map(({ ip_address }: any) => ip_address)).toEqual(["10.2.0.9"]);
    const tags = new Map((await target.list("tags")).map(({ name, id }) => [name, id]));
    const ranges = new Map((await target.list("ip-ranges")).map((range) => [range.first, range]));
    expect(ranges.get("10.1.0.1")).toMatchObject({ purpose: "Gateway", description: "gw", tags: [tags.get("Used")] });
    const reserved = { purpose: "Reserved", description: "printer: 2nd floor", tags: [tags.get("Reserved")] };
    expect(ranges.get("10.1.0.77")).toMatchObject({ network_id: offices, ...reserved });
    // The address of a missing device belongs to no host.
    expect(ranges.get("2001:db8:1::7")).toMatchObject({ purpose: "Reserved", description: null });

    const before = await target.transactions();
    const repeated = await run(url, "--default-network", "Elsewhere");
    expect(repeated.code).toBe(0);
    for (const kind of ["tags", "networks", "VLANs", "subnets", "hosts", "addresses", "ranges"]) {
      const [created, changed, , kept, refused] = counts(repeated, kind);
      expect([kind, created, changed, kept, refused]).toEqual([kind, 0, 0, 0, 0]);
    }
    expect(await target.transactions()).toBe(before);
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  test.each([true, false])("has its custom fields imported with their values, nested or not (%p)", async (isNested) => {
    const column = (name: string, type: string) => ({ [name]: { name, type, Comment: `of ${name}`, Null: "YES" } });
    const fixture: PhpipamFixture = {
      ...office(),
      columns: {
        subnets: { ...column("custom_Owner", "varchar(256)"), ...column("custom_size", "int(11)") },
        addresses: { ...column("custom_Owner", "varchar(256)"), ...column("custom_checked", "date") },
        devices: { ...column("custom_42", "tinyint(1)"), ...column("custom_size", "varchar(8)") },
      },
    };
    const withCustomFields = (row: Readonly<Record<string, unknown>>, values: Record<string, unknown>) =>
      isNested ? { ...row, custom_fields: values } : { ...row, ...values };
    fixture.subnets = fixture.subnets.map((row) =>
      withCustomFields(row, { custom_Owner: "Ann", custom_size: "12", custom_x: "no" }),
    );
    fixture.addresses = fixture.addresses.map((row) =>
      withCustomFields(row, { custom_Owner: null, custom_checked: "2026-11-21" }),
    );
    fixture.devices = fixture.devices.map((row) => withCustomFields(row, { custom_42: "1" }));
    const url = serve(fixture);
    const first = await run(url, "--default-network", "Elsewhere");
    expect(counts(first, "fields")).toEqual([4, 0, 0, 0, 1]);
    expect(first.out).toMatch(
      /devices\/custom_fields\/: size is of type number at \S+subnets\/custom_fields\/, and of type text here/,
    );
    const createdFields = new Map((await target.list("custom-fields")).map((field) => [field.key, field]));
    expect(createdFields.get("owner")).toMatchObject({ label: "Owner", type: "text", kinds: ["subnet", "ip_range"] });
    expect(createdFields.get("f_42")).toMatchObject({ type: "boolean", kinds: ["host"], description: "of custom_42" });
    expect((await target.list("subnets")).filter((subnet) => subnet.custom_fields?.owner === "Ann")).toHaveLength(3);
    expect((await target.list("subnets")).filter((subnet) => subnet.custom_fields?.size === 12)).toHaveLength(3);
    expect((await target.list("ip-ranges")).map(({ custom_fields }) => custom_fields)).toEqual(
      Array(3).fill({ checked: "2026-11-21" }),
    );
    expect((await target.list("hosts")).map(({ custom_fields }) => custom_fields)).toEqual([
      { f_42: true },
      { f_42: true },
    ]);
    const before = await target.transactions();
    await run(url, "--default-network", "Elsewhere");
    expect(await target.transactions()).toBe(before);
  });

  test("has invalid objects refused, and the rest imported, despite hostile content", async () => {
    const fixture = office();
    fixture.sections.push({ id: "8", name: "Offices", description: null }, { id: "x", name: "No number" });
    fixture.subnets.push(
      { id: "20", subnet: "10.1.0.5", mask: "24", sectionId: "2", vlanId: "0", isFolder: "0" },
      { id: "21", subnet: "10.1.0.0", mask: "24", sectionId: "2", vlanId: "0", isFolder: "0" },
      { id: "22", subnet: "10.9.0.0", mask: "99999999999999999999", sectionId: "2", vlanId: "0", isFolder: "0" },
    );
    fixture.vlans.push({ vlanId: "9", name: "too far", number: "5000" }, { name: "no id", number: "7" });
    fixture.devices.push({ id: "7", hostname: "x".repeat(1_000_000), ip_addr: null, sections: "2" });
    fixture.addresses.push(
      { id: "30", subnetId: "3", ip: "167837697", deviceId: "0", tag: "2" },
      { id: "31", subnetId: "3", ip: "10.1.0.77", deviceId: "0", tag: "2" },
      { id: "32", subnetId: "3", ip: "10.1.0.2", deviceId: "1", mac: "nonsense" },
    );
    const url = serve(fixture);
    const result = await run(url, "--default-network", "Elsewhere", "--verbose");
    expect(result.code).toBe(1);
    const refused = result.out.split("\n").filter((line) => line.startsWith("refused "));
    const api = `${url}/api/netledger`;
    const expectRefusal = (path: string, reason: RegExp) =>
      expect(refused.filter((line) => line.includes(`${api}${path}: `) && reason.test(line))).toHaveLength(1);
    expectRefusal("/sections/8/", /has this name already/);
    expectRefusal("/sections/", /has no id/);
    expectRefusal("/subnets/20/", /cidr must be/);
    expectRefusal("/subnets/21/", /its network has 10\.1\.0\.0\/24 already/);
    expectRefusal("/subnets/22/", /cidr must be/);
    expectRefusal("/vlan/9/", /number must/);
    expectRefusal("/vlan/", /has no id/);
    expectRefusal("/devices/7/", /name must/);
    expectRefusal("/addresses/30/", /first must be/);
    expectRefusal("/addresses/31/", /its network has 10\.1\.0\.77 already/);
    expectRefusal("/addresses/32/", /mac_address must be a MAC address/);
    expect(counts(result, "hosts")).toEqual([2, 0, 0, 0, 1]);
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  const html = () => new Response("<p>", { headers: { "content-type": "text/html" } });
  const object = () => Response.json({ code: 200, success: true, data: { id: 1 } });
  test.each([
    ["a wrong token", "wrong", PHPIPAM_APP, null, /phpIPAM rejects the token for .*\/sections\/: Invalid token/],
    ["a wrong app", TOKEN, "other", null, /phpIPAM returns 400 for .*\/api\/other\/sections\/: Invalid application id/],
    ["HTML", TOKEN, PHPIPAM_APP, html, /instead of JSON; is it the address of a phpIPAM\?/],
    ["another API", TOKEN, PHPIPAM_APP, () => Response.json({ hello: 1 }), /unexpected JSON: is it phpIPAM\?/],
    ["an object instead of a list", TOKEN, PHPIPAM_APP, object, /does not return a list of objects/],
  ] as const)("with %s is reported in one line", async (_case, token, app, intercept, message) => {
    const url = serve(office(), intercept ?? undefined);
    const refused = await target.import(["phpipam", url, "--app-id", app], { NETLEDGER_TOKEN: token });
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(message);
    expect(refused.err.trimEnd()).not.toContain("\n");
  });
});
