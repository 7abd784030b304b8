// POST /api/v1/{kind}/import/csv: atomic re-import of exports, unchanged or edited.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { columnRoles } from "../../src/bulk/table-columns.ts";
import { IMPORTABLE } from "../../src/bulk/written-resources.ts";
import type { RecordWrites } from "../../src/resources/record-writes.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";
import { csvRecords, parseCsv } from "../support/contract/csv.ts";

const appliance = applianceForEach();
const { first, newHost, newIfEntry, newNetwork, newTag, newUser, newViewer, newVlan, owner, tick } = appliance;
const { transactionCount, versionsOf, watchWrites, writtenIn } = appliance;

const CSV = { "content-type": "text/csv" };

function importCsv(
  path: string,
  table: string,
  query = "",
  caller: Client = owner,
  headers = {},
): Promise<ApiResponse> {
  return caller.send("POST", `${path}/import/csv${query}`, table, { ...CSV, ...headers });
}

function csv(rows: readonly (readonly unknown[])[], delimiter = ",", newline = "\r\n"): string {
  const quoted = (cell: string) => (/["\r\n,;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((cells) => cells.map((cell) => quoted(String(cell ?? ""))).join(delimiter) + newline).join("");
}

/** A table with these columns, separated by spaces. */
function csvOf(columns: string, ...rows: readonly (readonly unknown[])[]): string {
  return csv([columns.split(" "), ...rows]);
}

async function table(path: string, caller: Client = owner): Promise<string> {
  const { status, text } = await caller.get(`${path}/export/csv`);
  expect(status).toBe(200);
  return text;
}

/** Issues of a refusal, by row and column. */
function issuesOf(response: ApiResponse): Array<[number, string, string]> {
  return response.body.params.issues.map((issue: JsonRecord) => [
    issue.row,
    issue.column,
    issue.code ?? "validation_failed",
  ]);
}

const HOSTILE = [
  "=1+1",
  "'=1+1",
  "''=1",
  "-5",
  "+x;=HYPERLINK(1)",
  "@SUM",
  '"quoted", and so on',
  "two\r\nlines\n=3\n",
  "\t=tab",
  "  blank  ",
  "\u202eright to left \u05d0",
  "ünï 🦊",
  "'",
  "it's",
  ";",
  "a;b;'c",
  "null",
  "true",
  "007",
  "1.20",
];

/** Records of each importable kind, with values that are hard to represent in a table. */
async function createRecords(): Promise<void> {
  for (const field of [
    { key: "note", label: "=Note", kinds: ["host", "vlan"], type: "text", default: "=1", description: "two\nlines" },
    { key: "tier", kinds: ["host"], type: "choice", choices: ["a;b", "[c]", "=d"], default: "a;b" },
    { key: "plain", kinds: ["host"], type: "choice", choices: ["gold", "=lead"] },
    { key: "bracket", kinds: ["subnet"], type: "choice", choices: ["[1]", "x"] },
    { key: "units", kinds: ["ip_range"], type: "number", required: true, default: 1.5 },
    { key: "spare", kinds: ["host", "service"], type: "boolean", default: false },
    { key: "digits", kinds: ["subnet"], type: "text", default: "5" },
  ])
    await expectOk(owner.post("custom-fields", field));
  await expectOk(owner.post("markers", { name: "=before;all", description: "-" }));
  const tags = [await newTag({ name: "core" }), await newTag({ name: "a;b", description: "=1" }), await newTag({})];
  const tagIds = tags.map(({ id }) => id);
  const far = await newNetwork({ name: "Far", description: "two\nlines", tags: [tagIds[1]], stale_after_hours: 24 });
  for (const network of [first.networkId, far.id]) {
    const vlan = await newVlan({ network_id: network, number: 120, name: "Voice" });
    await expectOk(
      owner.post("subnets", {
        network_id: network,
        cidr: "10.2.0.0/16",
        vlan_id: vlan.id,
        tags: tagIds,
        subnet_type: "Lan",
        accepts_credentials: false,
      }),
    );
    await expectOk(owner.post("subnets", { network_id: network, cidr: "2001:db8::/64", name: "Six" }));
    await expectOk(
      owner.post("ip-ranges", {
        network_id: network,
        first: "10.2.9.1",
        last: "10.2.9.9",
        purpose: "Dhcp",
        tags: tagIds,
      }),
    );
    const host = await newHost({ network_id: network, name: "core-1", hidden: true, tags: tagIds.slice(0, 2) });
    const fullHost = await newHost({
      network_id: network,
      name: `whole ${network === far.id ? "far" : "near"}`,
      ip_addresses: [
        { ip_address: "10.2.3.4", name: "=eth0", mac_address: "00:1b:21:aa:bb:cc" },
        { ip_address: "2001:db8::1" },
      ],
      ports: [tcp(443), { number: 53, protocol: "Udp" }],
      services: [{ name: "=Web;shop", service_definition: "nginx", tags: tagIds }],
    });
    const [port, otherPort] = fullHost.ports;
    const [address] = fullHost.ip_addresses;
    const bindings = [
      onPort(port.id),
      { ...onPort(otherPort.id), ip_address_id: address.id },
      { type: "IpAddress", ip_address_id: address.id },
    ];
    await expectOk(owner.put(`services/${fullHost.services[0].id}`, { ...fullHost.services[0], bindings }));
    await expectOk(owner.post("markers", { network_id: network, name: "before", at: "2026-01-02T03:04:05Z" }));
    for (const [name, more] of [
      ["=night", { targets: ["10.2.0.0/24", "2001:db8::1"], is_enabled: false }],
      ["weekly", { cron: "@weekly" }],
    ] as const)
      await expectOk(
        owner.post("discovery/schedules", {
          network_id: network,
          name,
          cron: "30 2 * * 1-5",
          timezone: "Europe/Berlin",
          kind: "full",
          ...more,
        }),
      );
    await expectOk(
      owner.put(`hosts/${host.id}`, {
        ...host,
        virtualization: { type: "Kvm", details: { vm_name: "vm;=1", service_id: fullHost.services[0].id } },
      }),
    );
    const farEntry = await newIfEntry(fullHost.id, {
      if_index: 7,
      if_descr: "Gi1/0/1",
      fdb_macs: ["00:1b:21:00:00:02"],
    });
    await newIfEntry(host.id, {
      if_index: 7,
      if_descr: "Gi1/0/1",
      if_alias: "-uplink",
      native_vlan_id: vlan.id,
      vlan_ids: [vlan.id],
      fdb_macs: ["00:1b:21:00:00:09", "00:1b:21:00:00:01"],
      lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
      neighbor: { type: "IfEntry", id: farEntry.id },
      speed_bps: 1_000_000_000,
    });
    await newIfEntry(host.id, { if_index: 8, if_descr: "", neighbor: { type: "Host", id: fullHost.id } });
  }
  for (const [index, text] of HOSTILE.entries())
    await newHost({
      name: `hostile ${index}`,
      description: text,
      sys_descr: text,
      hostname: text.replaceAll(/\p{Cc}/gu, ""),
    });
  await newHost({ name: "blank", description: "", sys_name: "", hostname: "" });
  tick();
}

describe("an exported table", () => {
  beforeEach(createRecords);

  test.each(IMPORTABLE.map((importable) => [importable.resource.path, importable] as const))(
    "can be imported for %s without creating a version",
    async (path) => {
      const text = await table(path);
      const rows = parseCsv(text);
      expect(rows.length).toBeGreaterThan(2);
      const expectNothingWritten = watchWrites();
      for (const [variant, sent] of [
        ["as exported", text],
        ["with a byte order mark", `\ufeff${text}`],
        ["with semicolons", csv(rows, ";")],
        ["with tabs and line feeds", csv(rows, "\t", "\n")],
        ["with a declared delimiter", `sep=;\r\n${csv(rows, ";")}`],
        ["with its columns reversed", csv(rows.map((cells) => cells.toReversed()))],
        ["with empty rows at its end", `${text}\r\n,,,\r\n`],
      ] as const) {
        const response = await importCsv(path, sent);
        const { counts, applied, changes } = response.data ?? {};
        expect([variant, response.status, response.status === 200 ? "" : response.text]).toEqual([variant, 200, ""]);
        const count = rows.length - 1;
        expect([variant, applied, counts, changes]).toEqual([
          variant,
          false,
          { rows: count, created: 0, updated: 0, unchanged: count },
          [],
        ]);
      }
      expectNothingWritten();
    },
  );

  test("recreates the records of every kind in an empty appliance, by names alone", async () => {
    const target = await newAppliance();
    afterAll(() => target.close());
    const comparable = (text: string, importable: RecordWrites) =>
      csvRecords(text).map((record) =>
        Object.fromEntries(Object.entries(record).filter(([name]) => isWritableText(importable, name))),
      );
    // The first network already exists.
    const [{ name }] = (await owner.get(`networks?ids=${first.networkId}`)).data;
    const [network] = (await target.owner.get("networks")).data;
    await expectOk(target.owner.put(`networks/${network.id}`, { name }));
    const tables = new Map<string, string>();
    for (const { resource } of IMPORTABLE) tables.set(resource.path, await table(resource.path));
    const tableOf = (importable: RecordWrites, isOmitted: (column: string) => boolean) => {
      const [header = [], ...rows] = parseCsv(tables.get(importable.resource.path) as string);
      const isSent = header.map((column) => isWritableText(importable, column) && !isOmitted(column));
      return csv([header, ...rows].map((cells) => cells.filter((_, index) => isSent[index])));
    };
    const send = async (importable: RecordWrites, sent: string) => {
      const { path } = importable.resource;
      const response = await importCsv(path, sent, "", target.owner);
      expect([path, response.status, response.status === 200 ? "" : response.text]).toEqual([path, 200, ""]);
      target.clock.advance(1_000);
      return response.data.counts;
    };
    // Referenced records must exist: first without the references among the rows, then with them.
    for (const importable of IMPORTABLE_IN_ORDER) {
      const counts = await send(
        importable,
        tableOf(importable, (column) => MUTUAL_REFERENCES.includes(column)),
      );
      expect([importable.resource.path, counts.created]).not.toEqual([importable.resource.path, 0]);
    }
    for (const importable of IMPORTABLE_IN_ORDER)
      await send(
        importable,
        tableOf(importable, () => false),
      );
    const order = (records: Array<Record<string, string>>) => records.map((record) => JSON.stringify(record)).sort();
    for (const importable of IMPORTABLE_IN_ORDER) {
      const { path } = importable.resource;
      expect([path, ...order(comparable(await table(path, target.owner), importable))]).toEqual([
        path,
        ...order(comparable(tables.get(path) as string, importable)),
      ]);
      // Again, matched by name.
      const repeated = await send(
        importable,
        tableOf(importable, () => false),
      );
      expect([path, repeated]).toMatchObject([path, { created: 0, updated: 0 }]);
    }
  });
});

/** Columns that refer to later rows or later tables. */
const MUTUAL_REFERENCES = ["neighbor_name", "virtualization_by_name", "binding_names"];

/** Referenced kinds must come first. */
const IMPORTABLE_IN_ORDER = [...IMPORTABLE].sort((a, b) => rank(a) - rank(b));

function rank({ resource: { kind } }: RecordWrites): number {
  return kind.name === "tag" || kind.name === "custom_field" ? 0 : kind.code;
}

/** Whether a table column is a writable string: no ids, no timestamps, no export-only fields. */
function isWritableText(importable: RecordWrites, column: string): boolean {
  const role = columnRoles(importable).get(column);
  if (role?.type === "Names" || column.startsWith("custom_fields.")) return true;
  const isId = column === "id" || column === "tags" || /_ids?$/.test(column);
  return role?.type === "Field" && !isId && !["neighbor", "virtualization"].includes(column);
}

describe("an imported table", () => {
  test("creates, updates and leaves records as its rows specify, in one transaction that one revert undoes", async () => {
    await newVlan({ number: 10, name: "Old", description: "kept" });
    const same = await newVlan({ number: 20, name: "Same" });
    await newVlan({ number: 30, name: "Nobody's row" });
    tick();
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    const before = transactionCount();
    const response = await importCsv(
      "vlans",
      csv([
        ["number", "network_name", "name", "source"],
        [10, name, "New", "Manual"],
        [20, name, "Same", "Manual"],
        [40, name, "Fresh", ""],
      ]),
    );
    expect(response.data).toMatchObject({
      applied: true,
      sequence: before + 1,
      counts: { rows: 3, created: 1, updated: 1, unchanged: 1 },
      ignored_columns: ["source"],
      changes: [
        { operation: "Updated", name: "10 New", fields: [{ field: "name", from: "Old", to: "New" }] },
        { operation: "Created", name: "40 Fresh" },
      ],
    });
    expect(writtenIn()).toEqual({ "Created vlan": 1, "Updated vlan": 1 });
    expect(versionsOf(same.id)).toHaveLength(1);
    // An absent column keeps its values, and records without a row stay.
    const vlans = (await owner.get("vlans?order_by=number")).data;
    expect(vlans.map((vlan: JsonRecord) => [vlan.number, vlan.name, vlan.description])).toEqual([
      [10, "New", "kept"],
      [20, "Same", null],
      [30, "Nobody's row", null],
      [40, "Fresh", null],
    ]);
    tick();
    await expectOk(owner.post(`transactions/${before + 1}/revert`, {}));
    expect((await owner.get("vlans?order_by=number")).data.map((vlan: JsonRecord) => vlan.name)).toEqual([
      "Old",
      "Same",
      "Nobody's row",
    ]);
  });

  test("returns a plan in a dry run; an import that quotes it gets 409 once one of its records has changed", async () => {
    const host = await newHost({ name: "a", description: "old" });
    const unchanged = await newHost({ name: "b" });
    tick();
    const sent = csv([
      ["id", "name", "description", "network_id"],
      [host.id, "a", "new", first.networkId],
      [unchanged.id, "b", "", first.networkId],
      ["", "c", "", first.networkId],
    ]);
    const expectNothingWritten = watchWrites();
    const { data } = await importCsv("hosts", sent, "?dry_run=true");
    expect(data).toMatchObject({
      applied: false,
      sequence: null,
      counts: { rows: 3, created: 1, updated: 1, unchanged: 1 },
      changes: [
        { id: host.id, fields: [{ field: "description", from: "old", to: "new" }] },
        { id: null, name: "c", operation: "Created" },
      ],
    });
    expect((await importCsv("hosts", sent, "?dry_run=true")).data).toEqual(data);
    expectNothingWritten();
    // Another table has another plan, and so does this one after a change to any of its records, even unchanged ones.
    const response = await importCsv("hosts", sent.replace("new", "newer"), `?plan=${data.plan}`);
    expect(response).toMatchObject(refusal(409, "entity_stale"));
    await expectOk(owner.put(`hosts/${unchanged.id}`, { ...unchanged, asset_tag: "1" }));
    tick();
    expect(await importCsv("hosts", sent, `?plan=${data.plan}`)).toMatchObject(refusal(409, "entity_stale"));
    const { plan } = (await importCsv("hosts", sent, "?dry_run=true")).data;
    expect((await importCsv("hosts", sent, `?plan=${plan}`)).data).toMatchObject({ applied: true });
    // Repeated, it would create another host named c.
    expect(await importCsv("hosts", sent, `?plan=${plan}`)).toMatchObject(refusal(409, "entity_stale"));
  });

  test("clears a field by an empty cell, preserves it without a column, and accepts spreadsheet notations", async () => {
    const host = await newHost({ name: "a", description: "x", hidden: true, sys_location: "hall", asset_tag: "1" });
    tick();
    const sent = csvOf("id description hidden asset_tag", [host.id.toUpperCase(), "", "FALSE", "'=1"]);
    expect((await importCsv("hosts", sent)).status).toBe(200);
    expect((await owner.get(`hosts/${host.id}`)).data).toMatchObject({
      description: null,
      hidden: false,
      sys_location: "hall",
      asset_tag: "=1",
    });
    const address = await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/8" }));
    tick();
    await expectOk(owner.post("ip-addresses", { host_id: host.id, ip_address: "10.0.0.1", name: "eth0" }));
    tick();
    const cleared = csv([
      ["host_name", "ip_address", "name", "mac_address", "subnet_cidr"],
      ["a", "10.0.0.1", "", "001B.21AA.BBCC", "10.0.0.0/8"],
    ]);
    expect((await importCsv("ip-addresses", cleared)).data.changes[0].fields).toEqual([
      { field: "mac_address", from: null, to: "00:1b:21:aa:bb:cc" },
      { field: "name", from: "eth0", to: "" },
    ]);
    expect((await owner.get(`ip-addresses?host_id=${host.id}`)).data[0].subnet_id).toBe(address.id);
    for (const [column, cell] of [
      ["name", ""],
      ["hidden", ""],
      ["hidden", "wahr"],
    ])
      expect(issuesOf(await importCsv("hosts", csvOf(`id ${column}`, [host.id, cell])))).toEqual([
        [2, column as string, "validation_failed"],
      ]);
  });

  test("reports all errors at once, by row and column, and then writes nothing", async () => {
    const vlan = await newVlan({ number: 10 });
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    tick();
    const expectNothingWritten = watchWrites();
    const response = await importCsv(
      "subnets",
      csv([
        ["network_name", "cidr", "vlan_id", "subnet_type", "vlan_number", "tag_names"],
        [name, "10.0.0.1/24", "", "Lan", "", ""],
        [name, "10.1.0.0/24", vlan.id, "LAN", "11", ""],
        ["Nowhere", "10.2.0.0/24", "", "", "", ""],
        ["", "10.3.0.0/24", "", "", "", ""],
        [name, "10.4.0.0/24", "01936f2e-0d5c-7d3a-9a39-00000000dead", "", "", ""],
        [name, "10.5.0.0/24", "", "", "", "core"],
        [name, "10.6.0.0/24", "", "", "", ""],
        [name, "10.6.0.0/24", "", "", "", ""],
      ]),
    );
    expect(response.status).toBe(400);
    expect(issuesOf(response).sort(([a], [b]) => a - b)).toEqual([
      [2, "cidr", "validation_failed"],
      [3, "vlan_number", "validation_failed"],
      [4, "network_name", "entity_reference_invalid"],
      [5, "network_name", "validation_failed"],
      [6, "vlan_id", "entity_reference_invalid"],
      [7, "tag_names", "entity_reference_invalid"],
      [9, "cidr", "validation_failed"],
    ]);
    expect(response.body.error).toStartWith("Row ");
    expect((await importCsv("vlans", csvOf("id number", [vlan.id, 20]))).status).toBe(200);
    await newVlan({ number: 30 });
    tick();
    const clash = await importCsv("vlans", csvOf("id number", [vlan.id, 30]));
    expect([clash.status, issuesOf(clash)]).toEqual([409, [[2, "number", "entity_already_exists"]]]);
    expect(expectNothingWritten).toThrow();
  });

  test("can swap unique values of two records", async () => {
    const [a, b] = [await newVlan({ number: 10, name: "a" }), await newVlan({ number: 20, name: "b" })];
    tick();
    expect((await importCsv("vlans", csvOf("id number", [a.id, 20], [b.id, 10]))).status).toBe(200);
    expect((await owner.get(`vlans/${a.id}`)).data.number).toBe(20);
  });

  test("resolves names per network, and lists the candidates if ambiguous", async () => {
    const far = await newNetwork({ name: "Far" });
    const near = (await owner.get(`networks/${first.networkId}`)).data;
    const hosts = [await newHost({ name: "core" }), await newHost({ name: "core", network_id: far.id })];
    tick();
    const ports = (cells: unknown[]) => importCsv("ports", csvOf("network_name host_name number protocol", cells));
    const ambiguous = await ports(["", "core", 22, "Tcp"]);
    expect(issuesOf(ambiguous)).toEqual([[2, "host_name", "entity_reference_invalid"]]);
    for (const { id } of hosts) expect(ambiguous.body.error).toContain(id);
    expect((await ports(["Far", "core", 22, "Tcp"])).status).toBe(200);
    expect((await owner.get("ports")).data.map((port: JsonRecord) => port.host_id)).toEqual([hosts[1]?.id as string]);
    // A name next to its id must match.
    const wrong = csvOf("host_id host_name number protocol", [hosts[0]?.id, "edge", 23, "Tcp"]);
    expect(issuesOf(await importCsv("ports", wrong))).toEqual([[2, "host_name", "validation_failed"]]);
    // A network's name does not select another record's id.
    const moved = await importCsv("hosts", csvOf("id network_name", [hosts[0]?.id, "Far"]));
    expect(issuesOf(moved)).toEqual([[2, "network_name", "validation_failed"]]);
    expect(near.name).not.toBe("Far");
  });

  test("finds records by name columns", async () => {
    const host = await newHost({ name: "a", asset_tag: "4711" });
    await newHost({ name: "b", serial_number: "S1" });
    await newHost({ name: "c", serial_number: "S1" });
    tick();
    const sent = csvOf("asset_tag name", ["4711", "renamed"]);
    const found = await importCsv("hosts", sent, "?match=asset_tag");
    expect(found.data).toMatchObject({ counts: { updated: 1 }, changes: [{ id: host.id, name: "renamed" }] });
    const ambiguous = await importCsv("hosts", csvOf("serial_number hostname", ["S1", "x"]), "?match=serial_number");
    expect(issuesOf(ambiguous)).toEqual([[2, "serial_number", "entity_reference_invalid"]]);
    expect((await importCsv("hosts", sent, "?match=tags")).status).toBe(400);
    const missing = await importCsv("hosts", sent, "?match=serial_number");
    expect([missing.status, missing.body.params.issues[0].path]).toEqual([400, "/match"]);
  });
});

describe("a reference in a table", () => {
  test("is written to listening endpoints by a service's table, which replaces its bindings", async () => {
    await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/8" }));
    await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "2001:db8::/64" }));
    const fullHost = (name: string, address: string) =>
      newHost({
        name,
        ip_addresses: [{ ip_address: address }, { ip_address: `2001:db8::${address.split(".")[3]}` }],
        ports: [tcp(443), { number: 53, protocol: "Udp" }],
      });
    const [one] = [await fullHost("one", "10.0.0.1"), await fullHost("two", "10.0.0.2")];
    const head = ["host_name", "service_definition", "name", "binding_names"];
    const service = (name: string, host: string, bindings: string) => [host, "nginx", name, bindings];
    tick();
    const everywhere = "443/Tcp;10.0.0.1:443/TCP; [2001:DB8::1]:53/udp ;10.0.0.1;2001:db8::1;443/tcp";
    const rows = [service("a", "one", everywhere), service("b", "two", "10.0.0.2:0443/Tcp"), service("c", "one", "")];
    expect((await importCsv("services", csv([head, ...rows]))).data.counts).toMatchObject({ created: 3 });
    tick();
    const text = await table("services");
    expect(csvRecords(text).map(({ binding_names }) => binding_names)).toEqual([
      "443/Tcp;10.0.0.1:443/Tcp;[2001:db8::1]:53/Udp;10.0.0.1;2001:db8::1",
      "10.0.0.2:443/Tcp",
      "",
    ]);
    const expectNothingWritten = watchWrites();
    // The same in another order, and as exported.
    const reordered = service("a", "one", "2001:db8::1;10.0.0.1;443/Tcp;10.0.0.1:443/Tcp;[2001:db8::1]:53/Udp");
    expect((await importCsv("services", csv([head, reordered]))).data.counts).toMatchObject({ unchanged: 1 });
    expect((await importCsv("services", text)).data.counts).toMatchObject({ unchanged: 3 });
    const refused = await importCsv(
      "services",
      csv([
        head,
        service("a", "one", "80/Tcp"),
        service("b", "two", "10.0.0.1:443/Tcp"),
        service("c", "one", "443"),
        service("d", "one", "http"),
      ]),
    );
    expect(issuesOf(refused).sort(([a], [b]) => a - b)).toEqual([
      [2, "binding_names", "entity_reference_invalid"],
      [3, "binding_names", "entity_reference_invalid"],
      [4, "binding_names", "validation_failed"],
      [5, "binding_names", "validation_failed"],
    ]);
    expectNothingWritten();
    // Listed bindings are kept; others are deleted; an empty cell clears.
    const remaining = (await owner.get(`bindings?host_id=${one.id}`)).data[0];
    const reduced = csv([head, service("a", "one", "443/Tcp"), service("b", "two", "")]);
    expect((await importCsv("services", reduced)).data.counts).toMatchObject({ updated: 2 });
    expect(writtenIn()).toMatchObject({ "Deleted binding": 5 });
    expect((await owner.get("bindings")).data.map((binding: JsonRecord) => binding.id)).toEqual([remaining.id]);
    // Without the column they stay.
    tick();
    await importCsv("services", csvOf("host_name service_definition name position", service("a", "one", "7")));
    expect((await owner.get("bindings")).data).toHaveLength(1);
  });

  test("names a neighbor by host, or by host and interface; ambiguous names are listed", async () => {
    const [core, edge] = [await newHost({ name: "core" }), await newHost({ name: "edge" })];
    const uplink = await newIfEntry(core.id, { if_index: 1, if_descr: "eth0", if_name: "Gi0/1" });
    const down = await newIfEntry(edge.id, { if_index: 1, if_descr: "eth0" });
    tick();
    const row = (index: number, neighbor: string) => ["edge", index, `port ${index}`, neighbor];
    const head = ["host_name", "if_index", "if_descr", "neighbor_name"];
    const sent = csv([head, row(2, "core Gi0/1"), row(3, "core"), row(4, ""), row(5, "edge eth0")]);
    expect((await importCsv("if-entries", sent)).data.counts).toMatchObject({ created: 4 });
    tick();
    const entries = (await owner.get(`if-entries?host_id=${edge.id}`)).data.slice(1);
    expect(entries.map((entry: JsonRecord) => entry.neighbor)).toEqual([
      { type: "IfEntry", id: uplink.id },
      { type: "Host", id: core.id },
      undefined,
      { type: "IfEntry", id: down.id },
    ]);
    expect((await importCsv("if-entries", sent)).data.counts).toMatchObject({ unchanged: 4 });
    const cleared = csvOf("id neighbor_name", [entries[1].id, ""], [entries[0].id, "core"]);
    expect((await importCsv("if-entries", cleared)).data.counts).toMatchObject({ updated: 2 });
    tick();
    // A host with the name of another host's interface, and one in another network.
    const odd = await newHost({ name: "core Gi0/1" });
    const far = await newNetwork({ name: "Far" });
    await newHost({ name: "core", network_id: far.id });
    tick();
    const expectNothingWritten = watchWrites();
    const refused = await importCsv(
      "if-entries",
      csv([
        [...head, "neighbor"],
        [...row(2, "core Gi0/1"), ""],
        [...row(3, "core Gi0/2"), ""],
        [...row(4, "core"), JSON.stringify({ type: "Host", id: edge.id })],
        [...row(6, "core"), ""],
      ]),
    );
    expect(issuesOf(refused)).toEqual([
      [2, "neighbor_name", "entity_reference_invalid"],
      [3, "neighbor_name", "entity_reference_invalid"],
      [4, "neighbor_name", "validation_failed"],
    ]);
    const [{ message }] = refused.body.params.issues;
    expect(message).toContain(uplink.id);
    expect(message).toContain(odd.id);
    expectNothingWritten();
  });

  test("names the service that virtualizes a host or a service by name instead of id", async () => {
    const libvirtOn = async (name: string) =>
      expectOk(
        owner.post("services", { host_id: (await newHost({ name })).id, name: "KVM", service_definition: "libvirt" }),
      );
    const kvm = await libvirtOn("hv-1");
    await libvirtOn("hv-2");
    tick();
    const virtualizedBy = (service: unknown, more = {}) =>
      JSON.stringify({ type: "Kvm", details: { vm_name: "=vm;1", ...(service ? { service } : {}), ...more } });
    const head = ["network_id", "name", "virtualization_by_name"];
    const row = (name: string, cell: string) => [first.networkId, name, cell];
    const sent = csv([head, row("a", virtualizedBy("hv-1 KVM")), row("b", virtualizedBy(undefined)), row("c", "")]);
    expect((await importCsv("hosts", sent)).data.counts).toMatchObject({ created: 3 });
    tick();
    const hosts = (await owner.get("hosts?search=a&include_children=false")).data;
    expect(hosts[0].virtualization).toEqual({ type: "Kvm", details: { vm_name: "=vm;1", service_id: kvm.id } });
    expect((await importCsv("hosts", sent)).data.counts).toMatchObject({ unchanged: 3 });
    const [exported] = csvRecords(await table("hosts")).filter(({ name }) => name === "a");
    expect(JSON.parse(exported?.virtualization_by_name as string)).toEqual(JSON.parse(virtualizedBy("hv-1 KVM")));
    const expectNothingWritten = watchWrites();
    const bad = [
      virtualizedBy("hv-3 KVM"),
      virtualizedBy(7),
      virtualizedBy("hv-1 KVM", { service_id: kvm.id }),
      "[]",
      virtualizedBy("hv-1 KVM", { cpu: 1 }),
      "x",
    ];
    const refused = await importCsv("hosts", csv([head, ...bad.map((cell) => row("a", cell))]));
    expect(issuesOf(refused).map(([line, column, code]) => [line, column, code])).toEqual(
      expect.arrayContaining([
        [2, "virtualization_by_name", "entity_reference_invalid"],
        [3, "virtualization_by_name", "validation_failed"],
        [4, "virtualization_by_name", "validation_failed"],
        [5, "virtualization_by_name", "validation_failed"],
        [7, "virtualization_by_name", "validation_failed"],
      ]),
    );
    const both = csv([
      [...head, "virtualization"],
      [
        ...row("a", virtualizedBy("hv-2 KVM")),
        JSON.stringify({ type: "Kvm", details: { vm_name: "=vm;1", service_id: kvm.id } }),
      ],
    ]);
    expect(issuesOf(await importCsv("hosts", both))).toEqual([[2, "virtualization_by_name", "validation_failed"]]);
    expectNothingWritten();
  });
});

describe("kinds written one at a time", () => {
  test("bindings find their services by host and name, and their targets by number and address", async () => {
    await expectOk(owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/8" }));
    const fullHost = (name: string, address: string) =>
      newHost({
        name,
        ip_addresses: [{ ip_address: address }],
        ports: [tcp(443), tcp(80)],
        services: [{ name: "Shop", service_definition: "nginx" }],
      });
    const [one, two] = [await fullHost("one", "10.0.0.1"), await fullHost("two", "10.0.0.2")];
    tick();
    const head = ["host_name", "service_name", "type", "port", "ip_address"];
    const rows = [
      ["one", "Shop", "Port", "443/Tcp", ""],
      ["two", "Shop", "Port", "443/Tcp", "10.0.0.2"],
      ["two", "Shop", "IpAddress", "", "10.0.0.2"],
    ];
    const imported = (await importCsv("bindings", csv([head, ...rows]))).data;
    expect(imported.counts).toMatchObject({ created: 3 });
    // Named by their targets, in the plan of their undo as well.
    const names = ["Shop at 443/Tcp", "Shop at 443/Tcp at 10.0.0.2", "Shop at 10.0.0.2"];
    const namesIn = (entries: JsonRecord[]) =>
      entries.filter(({ entity_type }) => entity_type === "binding").map(({ name }) => name);
    expect(namesIn(imported.changes).sort()).toEqual(names.toSorted());
    const revertPlan = await expectOk(owner.post(`transactions/${imported.sequence}/revert`, { dry_run: true }));
    expect(namesIn(revertPlan.actions).sort()).toEqual(names.toSorted());
    expect(writtenIn()).toEqual({ "Created binding": 3, "Updated service": 2, "Updated host": 2 });
    tick();
    expect((await importCsv("bindings", csv([head, ...rows]))).data.counts).toMatchObject({ unchanged: 3 });
    const [firstBinding] = (await owner.get(`bindings?host_id=${one.id}`)).data;
    expect(firstBinding).toMatchObject({ port_id: one.ports[0].id, ip_address_id: null, type: "Port" });
    // By id, only the given columns change.
    const moved = await importCsv("bindings", csvOf("id port", [firstBinding.id, "80/Tcp"]));
    expect(moved.data.changes).toMatchObject([
      {
        name: "Shop at 80/Tcp",
        operation: "Updated",
        fields: [{ field: "port_id", from: one.ports[0].id, to: one.ports[1].id }],
      },
    ]);
    tick();
    const expectNothingWritten = watchWrites();
    const refused = await importCsv(
      "bindings",
      csv([
        head,
        ["", "Shop", "Port", "443/Tcp", ""],
        ["one", "Shop", "Port", "22/Tcp", ""],
        ["one", "Shop", "IpAddress", "443/Tcp", "10.0.0.1"],
        ["one", "Shop", "Port", "", ""],
        ["one", "Shop", "Both", "443/Tcp", ""],
        ["one", "Shop", "Port", "443/Tcp", "10.0.0.2"],
        ["two", "Shop", "IpAddress", "", "10.0.0.2"],
        ["two", "Shop", "IpAddress", "", "10.0.0.2"],
      ]),
    );
    expect(issuesOf(refused).sort(([a], [b]) => a - b)).toEqual([
      [2, "service_name", "entity_reference_invalid"],
      [3, "port", "entity_reference_invalid"],
      [4, "port", "validation_failed"],
      [5, "port", "validation_failed"],
      [6, "type", "validation_failed"],
      [7, "ip_address", "entity_reference_invalid"],
      [9, "ip_address", "validation_failed"],
    ]);
    expect(refused.body.error).toContain(two.services[0].id);
    expectNothingWritten();
  });

  test("markers of the organization and of networks are distinguished by network, even under one name", async () => {
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    const sent = csv([
      ["name", "network_name", "at"],
      ["Move", "", "2026-01-02T03:04:05.000Z"],
      ["Move", name, "2026-01-02T04:04:05+01:00"],
    ]);
    expect((await importCsv("markers", sent)).data.counts).toMatchObject({ created: 2 });
    tick();
    const renamed = csvOf("name description", ["MOVE", "of all"]);
    expect((await importCsv("markers", renamed)).data.changes).toMatchObject([
      {
        fields: [
          { field: "description", from: null, to: "of all" },
          { field: "name", from: "Move", to: "MOVE" },
        ],
      },
    ]);
    const markers = (await owner.get("markers?order_by=network_id")).data;
    expect(markers.map((marker: JsonRecord) => [marker.network_id, marker.name, marker.at])).toEqual([
      [null, "MOVE", "2026-01-02T03:04:05.000Z"],
      [first.networkId, "Move", "2026-01-02T03:04:05.000Z"],
    ]);
    tick();
    const future = csvOf("name at", ["Later", "2999-01-01T00:00:00Z"], ["Then", "yesterday"]);
    expect(issuesOf(await importCsv("markers", future))).toEqual([
      [2, "at", "validation_failed"],
      [3, "at", "validation_failed"],
    ]);
    // A Member writes markers; those of an inaccessible network do not exist for them.
    const far = await newNetwork({ name: "Far" });
    const member = await newUser({ role: "Member", networkIds: [first.networkId] });
    tick();
    const outOfReach = csvOf("name network_name", ["Mine", far.name]);
    expect(issuesOf(await importCsv("markers", outOfReach, "", member.client))).toEqual([
      [2, "network_name", "entity_reference_invalid"],
    ]);
    const near = outOfReach.replace("Far", name);
    expect((await importCsv("markers", near, "", member.client)).data.counts).toMatchObject({ created: 1 });
  });

  test("schedules are validated for targets, times and roles like individual writes", async () => {
    const head = "network_id name cron timezone kind targets is_enabled";
    const row = (name: string, ...more: string[]) => [first.networkId, name, ...more];
    const good = csvOf(
      head,
      row("Nightly", "30 2 * * *", "Europe/Berlin", "full", "10.0.0.0/24; 10.0.1.7", "FALSE"),
      row("Hourly", "@hourly", "", "sweep", "", ""),
    );
    expect((await importCsv("discovery/schedules", good)).data.counts).toMatchObject({ created: 2 });
    const schedules = (await owner.get("discovery/schedules?order_by=name")).data;
    expect(schedules).toMatchObject([
      { name: "Hourly", timezone: "UTC", targets: null, is_enabled: true },
      { name: "Nightly", targets: ["10.0.0.0/24", "10.0.1.7"], is_enabled: false, next_run_at: null },
    ]);
    tick();
    const expectNothingWritten = watchWrites();
    const bad = csvOf(
      head,
      row("A", "61 * * * *", "", "full", "", ""),
      row("B", "@daily", "Mars/Olympus", "full", "", ""),
      row("C", "@daily", "", "all", "", ""),
      row("D", "@daily", "", "full", "10.0.0.0/24;10.0.0.0/8;224.0.0.1", ""),
      row("Hourly", "@daily", "UTC", "full", "10.0.0.5/24", "true"),
    );
    expect(issuesOf(await importCsv("discovery/schedules", bad)).sort(([a], [b]) => a - b)).toEqual([
      [2, "cron", "validation_failed"],
      [3, "timezone", "validation_failed"],
      [4, "kind", "validation_failed"],
      [5, "targets", "validation_failed"],
      [5, "targets", "validation_failed"],
      [6, "targets", "validation_failed"],
    ]);
    const member = await newUser({ role: "Member", networkIds: [first.networkId] });
    expect(await importCsv("discovery/schedules", good, "", member.client)).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
    expect(expectNothingWritten).toThrow();
    const response = await importCsv("discovery/schedules", csvOf("network_id name targets", row("Nightly", "")));
    expect(response.data.changes[0].fields).toEqual([
      { field: "targets", from: ["10.0.0.0/24", "10.0.1.7"], to: null },
    ]);
  });

  test("custom fields have typed defaults and choices of any text, and keep values in use", async () => {
    const head = ["key", "label", "kinds", "type", "choices", "required", "default"];
    const sent = csv([
      head,
      ["size", "Size", "host;subnet", "number", "", "", "2.50"],
      ["digits", "", "host", "text", "", "", "007"],
      ["spare", "", "host", "boolean", "", "TRUE", "False"],
      ["tier", "", "host", "choice", "gold; lead", "", "lead"],
      ["odd", "", "host", "choice", '["a;b","c"]', "", "a;b"],
      ["sign", "", "host", "choice", "'=x;[y]", "", ""],
    ]);
    expect((await importCsv("custom-fields", sent)).data.counts).toMatchObject({ created: 6 });
    const fields = (await owner.get("custom-fields?order_by=key")).data;
    expect(fields.map((field: JsonRecord) => [field.key, field.label, field.choices, field.default])).toEqual([
      ["digits", "digits", [], "007"],
      ["odd", "odd", ["a;b", "c"], "a;b"],
      ["sign", "sign", ["=x", "[y]"], null],
      ["size", "Size", [], 2.5],
      ["spare", "spare", [], false],
      ["tier", "tier", ["gold", "lead"], "lead"],
    ]);
    tick();
    const host = await newHost({ name: "a" });
    expect(host.custom_fields).toEqual({ digits: "007", odd: "a;b", size: 2.5, spare: false, tier: "lead" });
    const bad = csv([
      head,
      ["size", "Size", "host;subnet", "number", "", "false", "many"],
      ["tier", "Tier", "host", "choice", "gold", "false", "gold"],
      ["Bad key", "", "host", "text", "", "", ""],
      ["none", "", "port", "text", "", "", ""],
      ["fresh", "", "host", "text", "x", "", ""],
    ]);
    const refused = await importCsv("custom-fields", bad);
    expect(issuesOf(refused).sort(([a], [b]) => a - b)).toMatchObject([
      [2, "default", "validation_failed"],
      [3, undefined, "entity_in_use"],
      [4, "key", "validation_failed"],
      [5, "kinds", "validation_failed"],
      [6, "choices", "validation_failed"],
    ]);
    const member = await newUser({ role: "Member", networkIds: [first.networkId] });
    expect(await importCsv("custom-fields", sent, "", member.client)).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
  });
});

describe("custom fields in a table", () => {
  test("have separate columns that set, clear and preserve values, and round-trip", async () => {
    const field = (key: string, type: string, more = {}) =>
      expectOk(owner.post("custom-fields", { key, label: key, kinds: ["host"], type, ...more }));
    for (const [key, type] of [
      ["rack", "text"],
      ["units", "number"],
      ["spare", "boolean"],
      ["until", "date"],
    ])
      await field(key as string, type as string);
    await field("tier", "choice", { choices: ["gold", "=silver"] });
    const values = { rack: "=1;'x", units: -1.5, spare: false, until: "2028-03-31", tier: "=silver" };
    const [a, b] = [await newHost({ name: "a", custom_fields: values }), await newHost({ name: "b" })];
    tick();
    const repeated = await importCsv("hosts", await table("hosts"));
    expect(repeated.data).toMatchObject({ applied: false, counts: { rows: 2, unchanged: 2 } });
    const columns = "id custom_fields.rack custom_fields.units custom_fields.spare";
    const edited = csvOf(columns, [a.id, "", "2", "false"], [b.id, "B1", "", "TRUE"]);
    const response = await importCsv("hosts", edited);
    expect(response.data?.changes ?? response.text).toMatchObject([
      {
        fields: [
          { field: "custom_fields.rack", from: values.rack, to: null },
          { field: "custom_fields.units", from: -1.5, to: 2 },
        ],
      },
      {
        fields: [
          { field: "custom_fields.rack", from: null, to: "B1" },
          { field: "custom_fields.spare", to: true },
        ],
      },
    ]);
    const { rack: _cleared, ...remaining } = values;
    expect((await owner.get(`hosts/${a.id}`)).data.custom_fields).toEqual({ ...remaining, units: 2 });
    const wrong = csvOf("id custom_fields.units custom_fields.tier", [a.id, "many", "gold"], [b.id, "1", "lead"]);
    expect(issuesOf(await importCsv("hosts", wrong))).toEqual([
      [2, "custom_fields.units", "validation_failed"],
      [3, "custom_fields.tier", "validation_failed"],
    ]);
    for (const [path, column] of [
      ["hosts", "custom_fields.none"],
      ["ports", "custom_fields.rack"],
    ] as const)
      expect(issuesOf(await importCsv(path, csvOf(`id ${column}`, [a.id, ""])))).toEqual([
        [1, column, "validation_failed"],
      ]);
    const many = { filter: 'name = "b"', set: { custom_fields: { tier: "gold" } } };
    expect((await owner.post("hosts/bulk-update", many)).data).toMatchObject({
      ids: [b.id],
      changes: [{ fields: [{ field: "custom_fields.tier", from: null, to: "gold" }] }],
    });
  });
});

describe("an uploaded table", () => {
  test("is decoded by its declared encoding", async () => {
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    const text = `network_name;name;description\r\n${name};zürich;größe\r\n`;
    const send = (bytes: Uint8Array, type: string) =>
      appliance.owner.send("POST", "hosts/import/csv", bytes, { "content-type": type });
    const latin = Uint8Array.from([...text].map((char) => char.charCodeAt(0)));
    const refused = await send(latin, "text/csv");
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("charset=windows-1252")]);
    const utf16 = new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
    for (const [bytes, type, counts] of [
      [latin, "text/csv; charset=windows-1252; header=present", { created: 1 }],
      [latin, 'text/csv;charset="ISO-8859-1"', { unchanged: 1 }],
      [utf16, "text/csv", { unchanged: 1 }],
      [utf16, "text/csv; charset=utf-16le", { unchanged: 1 }],
    ] as const) {
      const response = await send(bytes, type);
      expect([type, response.data?.counts ?? response.text]).toMatchObject([type, counts]);
    }
    expect((await send(latin, "text/csv; charset=klingon")).status).toBe(400);
    expect((await send(latin, "application/json")).status).toBe(415);
  });

  test.each([
    ["nothing", "", [undefined, undefined]],
    ["an unknown column", "nmae,network_id\r\n", [1, "nmae"]],
    ["a duplicate column", "name,name\r\n", [1, "name"]],
    ["cells without a header", "name,\r\na,b\r\n", [1, ""]],
    ["a row with too many cells", "name\r\na,b\r\n", [2, undefined]],
    ["an unterminated quote", 'name\r\n"a\r\n', [2, undefined]],
  ])("is refused with an error message if it has %s", async (_case, text, [row, column]) => {
    const expectNothingWritten = watchWrites();
    const response = await importCsv("hosts", text as string);
    expect(response).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(response.body.params.issues[0]).toMatchObject({
      ...(row === undefined ? {} : { row }),
      ...(column === undefined ? {} : { column }),
    });
    expect(response.body.error).toMatch(/^[A-Z].*\.$/);
    expectNothingWritten();
  });

  test("may have hostile cells: they are stored verbatim, or refused by row and column", async () => {
    const head = ["network_id", "name", "description"];
    const row = (text: string) => csv([head, [first.networkId, "hostile", text]]);
    for (const text of ["x".repeat(1024 * 1024), "a\0b"]) {
      const response = await importCsv("hosts", row(text));
      expect([response.status, issuesOf(response)]).toEqual([400, [[2, "description", "validation_failed"]]]);
      expect(response.text.length).toBeLessThan(2_000);
    }
    for (const text of HOSTILE.filter((cell) => !/^'|;'|\t'/.test(cell))) {
      expect((await importCsv("hosts", row(text))).status).toBe(200);
      tick();
      expect((await owner.get("hosts")).data[0].description).toBe(text);
    }
  });
});

describe("an oversized table", () => {
  test.each([
    ["only rows", `name${"\n".repeat(9_000_000)}`],
    ["only cells", `name\n${",".repeat(9_000_000)}\n`],
    ["only quotes", `name\n${'"'.repeat(2_000_001)}\n`],
    ["stray quotes", `name\n"${'a"b'.repeat(2_000_000)}"\n`],
    ["a cell of names", `name,network_id,tag_names\na,NETWORK,"${";".repeat(1_500_000)}"\n`],
    ["a cell of ids", `name,network_id,tags\na,NETWORK,"${"x;".repeat(700_000)}"\n`],
    ["a deeply nested cell", `name,network_id,virtualization\na,NETWORK,"${"[".repeat(1_000_000)}"\n`],
    ["a long cell", `name\n${"x".repeat(3_000_000)}\n`],
    ["many invalid rows", `name,hidden\n${"a,perhaps\n".repeat(90_000)}`],
    ["many columns", `${"a,".repeat(500_000)}name\n`],
  ])("is refused with an error message: %s", async (_case, text) => {
    const expectNothingWritten = watchWrites();
    const response = await importCsv("hosts", text.replace("NETWORK", first.networkId));
    expect([response.status, response.body.error]).toEqual([400, expect.stringMatching(/^[A-Z].{10,}\.$/s)]);
    expect(response.text.length).toBeLessThan(500_000);
    expectNothingWritten();
  });

  test("may contain empty rows", async () => {
    const response = await importCsv("vlans", `number,network_id\n${"\n,\n".repeat(100)}7,${first.networkId}\n`);
    expect(response.data.counts).toEqual({ rows: 1, created: 1, updated: 0, unchanged: 0 });
  });
});

describe("access to imports", () => {
  test("requires the role that writes the kind, and is limited to the caller's networks", async () => {
    const far = await newNetwork({ name: "Far" });
    const [near, hidden] = [await newHost({ name: "core" }), await newHost({ name: "core", network_id: far.id })];
    await newHost({ name: "edge", network_id: far.id });
    const viewer = await newViewer();
    const member = await newUser({ role: "Member", networkIds: [first.networkId] });
    tick();
    const expectNothingWritten = watchWrites();
    const sent = csvOf("host_name number protocol", ["core", 22, "Tcp"]);
    expect(await importCsv("ports", sent, "", viewer.client)).toMatchObject(refusal(403, "auth_permission_denied"));
    expect(await importCsv("tags", "name,color\r\nx,Red\r\n", "", member.client)).toMatchObject({ status: 403 });
    const outOfReach = csvOf("host_name number protocol", ["edge", 22, "Tcp"]);
    const unknown = outOfReach.replace("edge", "none");
    const [a, b] = [
      await importCsv("ports", outOfReach, "", member.client),
      await importCsv("ports", unknown, "", member.client),
    ];
    expect([a.status, a.text.replaceAll("edge", "none")]).toEqual([400, b.text]);
    const byId = await importCsv("hosts", csvOf("id description", [hidden.id, "mine"]), "", member.client);
    expect(byId.status).toBe(400);
    expectNothingWritten();
    // The name is unique for a caller who does not see the other host.
    expect((await importCsv("ports", sent, "", member.client)).status).toBe(200);
    expect((await owner.get("ports")).data[0].host_id).toBe(near.id);
  });
});
