// Name columns of tables: names as of the timestamp, for references the caller can access, with few queries.

import { describe, expect, test } from "bun:test";
import { exampleName, withNames } from "../../src/records/name-columns.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { schemaColumns } from "../../src/schemas/csv.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, onPort, tcp } from "../support/appliance/factories.ts";
import { csvRecords, parseCsv } from "../support/contract/csv.ts";
import { addressFields, hostFields } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, handle, owner } = appliance;
const { inTransaction, keyBody, newCredential, newHost, newIfEntry, newNetwork } = appliance;
const { newSubnet, newTag, newVlan, newMember, newViewer, newStranger } = appliance;

/** Advances by a second. @returns a time within it */
function takeInstant(): string {
  clock.advance(500);
  const at = clock.text();
  clock.advance(500);
  return at;
}

async function rows(path: string, query = "", caller = owner): Promise<Array<Record<string, string>>> {
  const response = await caller.get(`${path}/export/csv?${query}`);
  expect([path, query, response.status]).toEqual([path, query, 200]);
  return csvRecords(response.text);
}

async function rowOf(path: string, id: string, query = "", caller = owner): Promise<Record<string, string>> {
  const [row, ...others] = await rows(path, `ids=${id}&${query}`, caller);
  expect([path, others]).toEqual([path, []]);
  return row as Record<string, string>;
}

const update = (path: string, record: JsonRecord, changes: JsonRecord) =>
  expectOk(owner.put(`${path}/${record.id}`, { ...record, ...changes }));

/** Records with every reference, and their targets. */
async function newInventory() {
  const [red, blue] = [await newTag({ name: "red" }), await newTag({ name: "blue" })];
  const [voice, data] = [await newVlan({ number: 120, name: "Voice" }), await newVlan({ number: 7, name: "Data" })];
  const subnet = await newSubnet({ cidr: "10.2.0.0/16", vlan_id: voice.id, tags: [blue.id, red.id] });
  const host = await newHost({
    name: "web-1",
    tags: [red.id, blue.id],
    ip_addresses: [{ ip_address: "10.2.3.4" }],
    ports: [tcp(443)],
  });
  const [address, port] = [host.ip_addresses[0], host.ports[0]] as [JsonRecord, JsonRecord];
  const bindings = [onPort(port.id), { type: "IpAddress", ip_address_id: address.id }];
  const service = await expectOk(
    owner.post("services", { host_id: host.id, name: "Shop", service_definition: "nginx", tags: [blue.id], bindings }),
  );
  const far = await newHost({ name: "core-1" });
  const uplink = await newIfEntry(far.id, { if_index: 48, if_descr: "GigabitEthernet0/48", if_name: "Gi0/48" });
  const entry = await newIfEntry(host.id, {
    if_index: 1,
    if_descr: "eth0",
    ip_address_id: address.id,
    native_vlan_id: data.id,
    vlan_ids: [voice.id, data.id],
    neighbor: { type: "IfEntry", id: uplink.id },
  });
  const other = await newIfEntry(host.id, { if_index: 2, if_descr: "eth1", neighbor: { type: "Host", id: far.id } });
  const credential = await newCredential({
    name: "Switches",
    assigned_network_ids: [first.networkId],
    host_assignments: [{ host_id: host.id }, { host_id: far.id }],
    tags: [red.id],
  });
  const user = await newMember();
  const key = (await expectOk(owner.post("auth/keys", { ...keyBody(), network_ids: [first.networkId] })))
    .api_key as JsonRecord;
  return { red, blue, voice, subnet, host, address, port, service, far, uplink, entry, other, credential, user, key };
}

describe("a table", () => {
  test("has a column of names at that timestamp next to each id column", async () => {
    const { red, blue, voice, subnet, host, address, port, service, far, uplink, entry, other, credential, user, key } =
      await newInventory();
    const network = (await owner.get(`networks/${first.networkId}`)).data as JsonRecord;
    const organization = (await owner.get("organizations")).data as JsonRecord;
    const ownerEmail = (await owner.get(`users/${first.userId}`)).data.email as string;
    type Named = "network" | "host" | "vlan" | "tag" | "credential" | "entry";
    const expected = (names: Record<Named, string>): Array<[path: string, id: string, cells: JsonRecord]> => [
      [
        "networks",
        first.networkId,
        { organization_name: organization.name, credential_names: names.credential, tag_names: "" },
      ],
      ["vlans", voice.id, { network_name: names.network }],
      ["subnets", subnet.id, { network_name: names.network, vlan_number: names.vlan, tag_names: `blue;${names.tag}` }],
      [
        "hosts",
        host.id,
        { network_name: names.network, tag_names: `${names.tag};blue`, credential_names: names.credential },
      ],
      ["ip-addresses", address.id, { host_name: names.host, network_name: names.network, subnet_cidr: "10.2.0.0/16" }],
      ["ports", port.id, { host_name: names.host, network_name: names.network }],
      [
        "services",
        service.id,
        { host_name: names.host, network_name: names.network, tag_names: "blue", binding_names: "443/Tcp;10.2.3.4" },
      ],
      [
        "if-entries",
        entry.id,
        {
          host_name: names.host,
          network_name: names.network,
          ip_address: "10.2.3.4",
          native_vlan_number: "7",
          vlan_numbers: `${names.vlan};7`,
          neighbor_name: `core-1 ${names.entry}`,
        },
      ],
      [
        "if-entries",
        other.id,
        { host_name: names.host, ip_address: "", native_vlan_number: "", vlan_numbers: "", neighbor_name: "core-1" },
      ],
      [
        "credentials",
        credential.id,
        {
          organization_name: organization.name,
          assigned_network_names: names.network,
          assigned_host_names: `${names.host};core-1`,
          tag_names: names.tag,
        },
      ],
      ["tags", red.id, { organization_name: organization.name }],
      ["users", user.id, { organization_name: organization.name, network_names: names.network }],
      [
        "auth/keys",
        key.id,
        { organization_name: organization.name, user_email: ownerEmail, network_names: names.network, tag_names: "" },
      ],
    ];
    const before = {
      network: network.name,
      host: "web-1",
      vlan: "120",
      tag: "red",
      credential: "Switches",
      entry: "Gi0/48",
    };
    for (const [path, id, cells] of expected(before))
      expect([path, await rowOf(path, id)]).toEqual([path, expect.objectContaining(cells)]);
    const bindings = (await owner.get(`bindings?service_id=${service.id}`)).data as JsonRecord[];
    const [onPort, onAddress] = [await rowOf("bindings", bindings[0]?.id), await rowOf("bindings", bindings[1]?.id)];
    expect([onPort, onAddress]).toMatchObject([
      { service_name: "Shop", network_name: network.name, port: "443/Tcp", ip_address: "" },
      { service_name: "Shop", port: "", ip_address: "10.2.3.4" },
    ]);
    const at = takeInstant();
    await update("networks", network, { name: "Campus" });
    await update("hosts", (await owner.get(`hosts/${host.id}`)).data, { name: "shop-1", expected_updated_at: null });
    await update("vlans", voice, { number: 121 });
    await update("tags", red, { name: "crimson" });
    await update("credentials", (await owner.get(`credentials/${credential.id}`)).data, { name: "Old switches" });
    await update("if-entries", uplink, { if_name: "Gi0/47" });
    const after = {
      network: "Campus",
      host: "shop-1",
      vlan: "121",
      tag: "crimson",
      credential: "Old switches",
      entry: "Gi0/47",
    };
    for (const [path, id, cells] of expected(after))
      expect([path, await rowOf(path, id)]).toEqual([path, expect.objectContaining(cells)]);
    for (const [path, id, cells] of expected(before))
      expect([path, await rowOf(path, id, `at=${at}`)]).toEqual([path, expect.objectContaining(cells)]);
    // A deleted record has a name as of a time when it existed.
    await expectOk(owner.delete(`tags/${blue.id}`));
    await expectOk(owner.delete(`hosts/${far.id}?cascade=true`));
    expect(await rowOf("hosts", host.id, `at=${at}`)).toMatchObject({
      tags: `${red.id};${blue.id}`,
      tag_names: "red;blue",
    });
    expect(await rowOf("if-entries", entry.id, `at=${at}`)).toMatchObject({ neighbor_name: "core-1 Gi0/48" });
    expect(await rowOf("hosts", host.id)).toMatchObject({ tags: red.id, tag_names: "crimson" });
    expect(await rowOf("if-entries", entry.id)).toMatchObject({ neighbor: "", neighbor_name: "" });
    // Without its children a host shows the same names.
    expect(await rowOf("hosts", host.id, "include_children=false")).toMatchObject({
      network_name: "Campus",
      tag_names: "crimson",
      credential_names: "Old switches",
    });
  });

  test("has no record id without a name, except its own", () => {
    const nameless =
      "id lineage_id first_discovery_id last_discovery_id sys_object_id chassis_id engine_id record_id".split(" ");
    for (const resource of RESOURCES) {
      const own = resource.columns ?? schemaColumns(resource.responseSchema);
      const header = withNames(own, exampleName).map((column) => column.name);
      expect([resource.path, new Set(header).size]).toEqual([resource.path, header.length]);
      const names = own.map((column) => column.name);
      expect(header.filter((name) => names.includes(name))).toEqual(names);
      for (const name of names.filter(
        (name) =>
          /_ids?$|^tags$|^neighbor$|_assignments$/.test(name) && !nameless.includes(name) && !/^(lldp|cdp)_/.test(name),
      )) {
        expect([resource.path, name, names.includes(header[header.indexOf(name) + 1] as string)]).toEqual([
          resource.path,
          name,
          false,
        ]);
      }
    }
  });

  test("documents its name columns", async () => {
    const document = (await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as JsonRecord;
    const { example } = document.paths["/api/v1/ip-addresses/export/csv"].get.responses["200"].content["text/csv"];
    expect(parseCsv(example)[0]?.slice(0, 8)).toEqual(
      "id host_id host_name network_id network_name subnet_id subnet_cidr ip_address".split(" "),
    );
    expect(csvRecords(example)[0]).toMatchObject({
      host_name: "web-1",
      network_name: "Campus North",
      subnet_cidr: "10.2.3.0/24",
    });
  });

  test("omits names out of the caller's reach", async () => {
    const far = await newNetwork({ name: "far" });
    const hidden = await newHost({ name: "secret-host", network_id: far.id });
    const port = await newIfEntry(hidden.id, { if_index: 1, if_descr: "secret-port" });
    const host = await newHost({ name: "near" });
    const [one, two] = [await newIfEntry(host.id, { if_index: 1 }), await newIfEntry(host.id, { if_index: 2 })];
    // No command writes these: neighbors belong to one network.
    inTransaction((tx) => {
      tx.update(ifEntryKind, one.id, { neighbor: { type: "Host", id: hidden.id } });
      tx.update(ifEntryKind, two.id, { neighbor: { type: "IfEntry", id: port.id } });
    });
    const credential = await newCredential({
      name: "c",
      assigned_network_ids: [far.id, first.networkId],
      host_assignments: [{ host_id: hidden.id }, { host_id: host.id }],
    });
    const viewer = (await newViewer()).client;
    const at = takeInstant();
    for (const when of ["", `at=${at}`]) {
      expect([await rowOf("if-entries", one.id, when), await rowOf("if-entries", two.id, when)]).toMatchObject([
        { neighbor_name: "secret-host" },
        { neighbor_name: "secret-host secret-port" },
      ]);
      expect([
        await rowOf("if-entries", one.id, when, viewer),
        await rowOf("if-entries", two.id, when, viewer),
      ]).toMatchObject([{ neighbor_name: "" }, { neighbor_name: "" }]);
      expect(await rowOf("credentials", credential.id, when, viewer)).toMatchObject({ assigned_host_names: "near" });
      for (const path of ["if-entries", "hosts", "credentials", "users", "networks"])
        expect((await viewer.get(`${path}/export/csv?${when}`)).text).not.toMatch(/secret-|\bfar\b/);
    }
    const { client: strangerClient } = await newStranger();
    expect((await strangerClient.get("if-entries/export/csv")).text).not.toContain("secret");
    expect((await owner.get("hosts/export/csv")).text).toContain("secret");
  });

  test("escapes a name that a spreadsheet would evaluate", async () => {
    const tags = [await newTag({ name: "=1+1" }), await newTag({ name: "b;=2+2" })];
    const network = await newNetwork({ name: "@net" });
    const host = await newHost({ name: "h", network_id: network.id, tags: tags.map((tag) => tag.id) });
    expect(await rowOf("hosts", host.id)).toMatchObject({ network_name: "'@net", tag_names: "'=1+1;b;'=2+2" });
  });

  test("looks up names once each, in batches, even with many rows", async () => {
    const { organizationId, networkId } = first;
    const subnet = await newSubnet({ cidr: "10.0.0.0/8" });
    const hosts = 600;
    inTransaction((tx) => {
      for (let index = 0; index < hosts; index += 1) {
        const host = tx.create(hostKind, organizationId, hostFields(networkId, `host ${index}`));
        for (let part = 0; part < 3; part += 1)
          tx.create(
            ipAddressKind,
            organizationId,
            addressFields(host, subnet.id, `10.${part}.${index >> 8}.${index & 255}`),
          );
      }
    });
    const { reader } = appliance;
    const queriedKinds: string[] = [];
    let names = 0;
    const own = reader.ownFields.bind(reader);
    reader.ownFields = (query, fields) => {
      const found = own(query, fields);
      queriedKinds.push(query.kind.name);
      names += found.length;
      return found;
    };
    const exported = await rows("ip-addresses", "order_by=ip_address");
    expect(exported).toHaveLength(3 * hosts);
    expect(new Set(exported.map((row) => `${row.network_name} ${row.subnet_cidr}`)).size).toBe(1);
    for (const row of exported)
      expect(row.host_name).toBe(
        `host ${Number(row.ip_address?.split(".")[2]) * 256 + Number(row.ip_address?.split(".")[3])}`,
      );
    expect(names).toBe(hosts + 2);
    expect(queriedKinds.length).toBeLessThan(10);
  });
});
