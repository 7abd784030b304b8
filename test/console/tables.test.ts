// Table files and their imports under axe-core in Chromium, on the executable. tables-in-process.test.ts covers text,
// errors and writes.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { duplicateColumn, matchColumns } from "../../src/console/bulk/table-columns.ts";
import { csvToSend, readTable, type Table, textOfFile } from "../../src/console/bulk/table-file.ts";
import { expectOk } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectAccessibleInBoth, follow, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

function tableOf(text: string): Table {
  const table = readTable("t.csv", text);
  if ("brokenLine" in table) throw new Error(`row ${table.brokenLine} is broken`);
  return table;
}

describe("a parsed table", () => {
  test.each([
    ["with commas", "name,description\r\nweb-1,first\r\n"],
    ["with semicolons", "name;description\nweb-1;first\n"],
    ["with tabs", "name\tdescription\nweb-1\tfirst"],
    ["with a declared delimiter", "sep=;\r\nname;description\r\nweb-1;first\r\n"],
    ["with empty rows and columns", "name,description,\n,,\nweb-1,first,\n\n"],
  ])("%s is accepted", (_, text) => {
    const { headers, rows } = tableOf(text);
    expect([headers, rows.map(({ cells }) => cells)]).toEqual([["name", "description"], [["web-1", "first"]]]);
  });

  test("preserves hostile cells byte for byte, and counts rows like a spreadsheet", () => {
    const cells = ["'=1+1", 'he said "no"', "two\r\nlines", "\u202eright to left", " spaces "];
    const serialized = csvToSend(
      { name: "t", headers: ["a", "b", "c", "d", "e"], rows: [{ line: 2, cells }] },
      [..."abcde"],
      { network_id: "7" },
    );
    const parsed = tableOf(serialized);
    expect(parsed.headers).toEqual(["a", "b", "c", "d", "e", "network_id"]);
    expect(parsed.rows).toEqual([{ line: 2, cells: [...cells, "7"] }]);
    expect(tableOf("name\n\nweb-1\n").rows.map(({ line }) => line)).toEqual([3]);
  });

  test("is refused with the number of its malformed row", () => {
    expect(readTable("t", 'name,description\nweb-1,"first\nweb-2,second\n')).toEqual({ brokenLine: 2 });
    expect(readTable("t", "name\nweb-1\nweb-2,too,many\n")).toEqual({ brokenLine: 3 });
    expect(textOfFile(new Uint8Array([0x6e, 0xe4]).buffer, null)).toBeNull();
    expect(textOfFile(new Uint8Array([0x6e, 0xe4]).buffer, "windows-1252")).toBe("n\u00e4");
  });

  test("has its columns matched by name and synonym, each once", () => {
    const known = ["id", "name", "hostname", "network_id", "network_name", "serial_number"];
    const titles: Record<string, string> = {
      hostname: "Host name",
      network_id: "Network",
      serial_number: "Serial number",
    };
    const titleOf = (column: string) => titles[column] ?? column;
    expect(matchColumns(["Name", "Host name", "Network", "SERIAL-NUMBER", "Rack"], known, titleOf)).toEqual([
      "name",
      "hostname",
      "network_name",
      "serial_number",
      null,
    ]);
    expect(matchColumns(["Host name", "hostname"], known, titleOf)).toEqual([null, "hostname"]);
    const tagged = ["name", "tags", "tag_names"];
    const matchTags = (cells: string[]) => matchColumns(["Tags"], tagged, titleOf, () => cells);
    expect(matchTags(["", "core; printers"])).toEqual(["tag_names"]);
    expect(matchTags(["", "01a21e9b-ee52-7b51-bc69-422a550966b5"])).toEqual(["tags"]);
    expect(matchColumns(["tags", "tag_names"], tagged, titleOf, () => ["core"])).toEqual(["tags", "tag_names"]);
    expect([duplicateColumn(["name", "id", "name"]), duplicateColumn(["name", null, null])]).toEqual(["name", null]);
  });
});

describe.skipIf(!hasChromium)("an accessible import", () => {
  const { appliance, client, visitor, page } = visitForAll(undefined, { path: "/hosts" });

  beforeAll(async () => {
    const { networkId } = appliance;
    await expectOk(client.post("subnets", { network_id: networkId, cidr: "10.7.0.0/24", name: "Desks" }));
    await expectOk(client.post("subnets", { network_id: networkId, cidr: "10.6.0.0/24", name: "Shops" }));
    const ports = [443, 8443].map((number) => ({ number, protocol: "Tcp" }));
    const services = [{ name: "old", service_definition: "nginx" }];
    await expectOk(
      client.post("hosts", {
        ...{ network_id: networkId, name: "front", ports, services },
        ip_addresses: [{ ip_address: "10.6.0.5" }],
      }),
    );
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const upload = (name: string, text: string) =>
    page.getByLabel(/file/).setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

  test("shows ten invalid rows in both color schemes", async () => {
    const rows = Array.from({ length: 20 }, (_, index) => {
      if (index % 2 === 0) return `pc-${index};;false`;
      return index % 4 === 1 ? `;maybe-${index};false` : `pc-${index};;perhaps`;
    });
    await follow(page, "/hosts");
    await button("Import CSV").click();
    await upload("pcs.csv", `\ufeffName;Asset tag;Hidden\r\n${rows.join("\r\n")}\r\n`);
    await page.getByText("pcs.csv: 20 rows").waitFor();
    await page.getByText("3 of 3 columns matched").waitFor();
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByRole("alert").getByText("10 problems in 10 rows.").waitFor();
    await expectAccessibleInBoth(page);
    // The refusal is expected.
    visitor.problems();
    await button("Cancel").click();
  });

  const PLANNED = "1 to create, 0 to update, 0 unchanged.";
  const IMPORTS: ReadonlyArray<readonly [place: string, table: () => string, shown: string]> = [
    [
      "/settings/custom-fields",
      () => "key,label,kinds,type,choices\nroom,Room,host,choice,North;South\nrack,Rack,host;vlan,text,\n",
      "2 to create, 0 to update, 0 unchanged.",
    ],
    ["/settings/markers", () => "Name,at\nbefore the move,2026-01-02T03:04:05Z\n", PLANNED],
    [
      "/discovery/schedules",
      () => `Name,network_id,cron,kind,targets\nNightly,${appliance.networkId},30 2 * * *,full,10.0.0.0/24\n`,
      PLANNED,
    ],
    ["/settings/tags", () => "name,color\nplanned,Teal\n", "planned: new, Name planned; Color Teal"],
    [
      "/services",
      () =>
        "host_name,service_definition,name,binding_names\nfront,nginx,shop,443/Tcp\nfront,nginx,old,10.6.0.5:8443/Tcp\n",
      "binding old at 8443/Tcp at 10.6.0.5: new",
    ],
    ["/hosts", () => "name,network_name\nplanned-1,Main\n", "planned-1: new, Name planned-1;"],
  ];

  test.each(IMPORTS)("has a plan without axe-core findings on %s", async (path, table, expectedText) => {
    await follow(page, `${path}?table=yes`);
    await upload("t.csv", table());
    await button("Preview").click();
    await page.getByRole("status").getByText(expectedText).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Cancel").click();
  });

  test("has no axe-core findings in a row with one invalid cell", async () => {
    await follow(page, "/subnets/ranges?table=yes");
    await upload("ranges.csv", "subnet_cidr,first,last,purpose\n10.7.0.0/24,10.7.0.90,10.7.0.20,Dhcp\n");
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByLabel("last of row 2").and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByText("must not be before first, 10.7.0.90").waitFor();
    await page.getByLabel("first of row 2").and(page.locator("[aria-invalid=false]")).fill("10.7.0.10");
    expect(await accessibilityFindings(page)).toEqual([]);
    visitor.problems();
    await button("Cancel").click();
  });
});
