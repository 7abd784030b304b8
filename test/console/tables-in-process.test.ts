// Table imports in the test process: column mapping, row corrections in place, the plan, the write and the undo.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("an imported table", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => expectOk(client.get(path)) as unknown as Promise<JsonRecord[]>;
  const upload = (name: string, text: string) =>
    page.getByLabel(/file/).setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

  test("has ten errors among 5,000 rows fixed in place, is imported, and undone", async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => {
      const isWrong = index % 500 === 7;
      return isWrong && index % 1_000 === 7 ? `;maybe-${index};false` : `pc-${index};;${isWrong ? "perhaps" : "false"}`;
    });
    await page.goto(`${appliance.url}/hosts`);
    await button("Import CSV").click();
    await upload("pcs.csv", `\ufeffName;Asset tag;Hidden\r\n${rows.join("\r\n")}\r\n`);
    await page.getByText("pcs.csv: 5,000 rows").waitFor();
    await page.getByText("3 of 3 columns matched").waitFor();
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByRole("alert").getByText("10 problems in 10 rows.").waitFor();
    // The refusal is expected.
    expect(visitor.problems()).toHaveLength(2);
    expect(await list("hosts?limit=1")).toEqual([]);
    for (const row of [9, 1_009, 2_009, 3_009, 4_009])
      await page.getByLabel(`name of row ${row.toLocaleString("en")}`).fill(`fixed-${row}`);
    for (const row of [509, 1_509, 2_509, 3_509])
      await page.getByLabel(`hidden of row ${row.toLocaleString("en")}`).fill("true");
    await page.reload();
    await page.getByText("Your unfinished import was restored.").waitFor();
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByRole("alert").getByText("1 problem in 1 row.").waitFor();
    await button("Leave out row 4,509").click();
    await button("Preview").click();
    await page.getByText("4,999 to create, 0 to update, 0 unchanged.").waitFor();
    await page.getByLabel("Why").fill("the list of 2019");
    await button("Write 4,999 rows").click();
    await page.getByText("Saved.").waitFor();
    visitor.problems();
    const count = async () => (await list("hosts?limit=0&include_children=false")).length;
    expect(await count()).toBe(4_999);
    await button("Undo").click();
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
    expect(await count()).toBe(0);
  });

  test("keeps other rows' errors in view when one is excluded", async () => {
    await page.goto(`${appliance.url}/hosts?table=yes`);
    await upload("few.csv", "name,hidden\na,false\nb,perhaps\nc,maybe\nd,false\ne,never\n");
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByRole("alert").getByText("3 problems in 3 rows.").waitFor();
    await button("Leave out row 3").click();
    await page.getByRole("alert").getByText("2 problems in 2 rows.").waitFor();
    await expectEventually(() => page.getByLabel("hidden of row 4").inputValue(), "maybe");
    await page.getByLabel("hidden of row 6").fill("true");
    await button("Leave out row 4").click();
    visitor.problems();
    await button("Preview").click();
    await page.getByText("3 to create, 0 to update, 0 unchanged.").waitFor();
    await button("Cancel").click();
  });

  test("accepts a fix in a different cell than the reported one", async () => {
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", name: "Desks" }));
    await page.goto(`${appliance.url}/subnets/ranges?table=yes`);
    await upload("ranges.csv", "subnet_cidr,first,last,purpose\n10.7.0.0/24,10.7.0.90,10.7.0.20,Dhcp\n");
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    const last = page.getByLabel("last of row 2");
    await last.and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByText("must not be before first, 10.7.0.90").waitFor();
    await page.getByLabel("first of row 2").and(page.locator("[aria-invalid=false]")).fill("10.7.0.10");
    visitor.problems();
    await button("Preview").click();
    await page.getByText("1 to create, 0 to update, 0 unchanged.").waitFor();
    await button("Write 1 row").click();
    await page.getByText("Saved.").waitFor();
    expect(await list("ip-ranges")).toMatchObject([{ first: "10.7.0.10", last: "10.7.0.20" }]);
  });

  test("can contain custom fields, markers or schedules, imported from their lists", async () => {
    for (const [path, text, expectedCount, endpoint] of [
      [
        "/settings/custom-fields",
        "key,label,kinds,type,choices\nroom,Room,host,choice,North;South\nrack,Rack,host;vlan,text,\n",
        2,
        "custom-fields",
      ],
      ["/settings/markers", "Name,at\nbefore the move,2026-01-02T03:04:05Z\n", 1, "markers"],
      [
        "/discovery/schedules",
        `Name,network_id,cron,kind,targets\nNightly,${appliance.networkId},30 2 * * *,full,10.0.0.0/24\n`,
        1,
        "discovery/schedules",
      ],
    ] as const) {
      await page.goto(`${appliance.url}${path}`);
      await button("Import CSV").click();
      await upload("t.csv", text);
      await button("Preview").click();
      await page.getByText(`${expectedCount} to create, 0 to update, 0 unchanged.`).waitFor();
      await button(expectedCount === 1 ? "Write 1 row" : `Write ${expectedCount} rows`).click();
      await page.getByText("Saved.").waitFor();
      expect(await list(endpoint)).toHaveLength(expectedCount);
    }
    expect(await list("custom-fields?order_by=key")).toMatchObject([
      { key: "rack", kinds: ["host", "vlan"], type: "text" },
      { key: "room", choices: ["North", "South"] },
    ]);
    await page.getByRole("link", { name: "Nightly" }).waitFor();
  });

  test("is resumed although one of its columns no longer exists, and reports column errors", async () => {
    const field = await expectOk(
      client.post("custom-fields", { key: "floor", label: "Floor", kinds: ["host"], type: "text" }),
    );
    await page.goto(`${appliance.url}/hosts`);
    await button("Import CSV").click();
    await upload("floors.csv", "Name,Floor\nattic-1,5\n");
    await page.getByText("2 of 2 columns matched").waitFor();
    await client.delete(`custom-fields/${field.id}`);
    // Deleted while the page is open: the previous columns are sent.
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.locator(".problem").getByText("Row 1, column custom_fields.floor").waitFor();
    await page.reload();
    await page.getByText("1 of 2 columns matched").waitFor();
    await page.getByLabel("Network for all rows").selectOption(appliance.networkId);
    await button("Preview").click();
    await page.getByText("1 to create, 0 to update, 0 unchanged.").waitFor();
    await button("Cancel").click();
    visitor.problems();
  });

  test("has a plan in console terms, without raw ids", async () => {
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.6.0.0/24", name: "Shops" }));
    const ports = [443, 8443].map((number) => ({ number, protocol: "Tcp" }));
    const services = [{ name: "old", service_definition: "nginx" }];
    await expectOk(
      client.post("hosts", {
        ...{ network_id: appliance.networkId, name: "front", ports, services },
        ip_addresses: [{ ip_address: "10.6.0.5" }],
      }),
    );
    const plan = page.locator(".bulk-changes");
    const line = (text: string) => plan.getByRole("listitem").filter({ hasText: text });
    for (const [path, table, lines] of [
      ["/settings/tags", "name,color\nplanned,Teal\n", ["planned: new, Name planned; Color Teal"]],
      [
        "/services",
        "host_name,service_definition,name,binding_names\nfront,nginx,shop,443/Tcp\nfront,nginx,old,10.6.0.5:8443/Tcp\n",
        [
          "shop: new, Host front; Network Main; Source Manual; Name shop;",
          "binding shop at 443/Tcp: new",
          "binding old at 8443/Tcp at 10.6.0.5: new",
        ],
      ],
      [
        "/hosts",
        `name,network_name\nplanned-1,Main\n`,
        ["planned-1: new, Name planned-1;", "Network Main;", "Source Manual"],
      ],
    ] as const) {
      await page.goto(`${appliance.url}${path}?table=yes`);
      await upload("t.csv", table);
      await button("Preview").click();
      for (const text of lines) await line(text).waitFor();
      expect([path, await plan.textContent()]).toEqual([
        path,
        expect.not.stringMatching(/[0-9a-f]{8}|Organization|Port:|\{/),
      ]);
      await button("Cancel").click();
    }
  });

  test("shows the differences of an edited export, and columns that are not written", async () => {
    await expectOk(client.post("vlans", { network_id: appliance.networkId, number: 20, name: "Offices" }));
    const csv = await (await page.request.get(`${appliance.url}/api/v1/vlans/export/csv`)).text();
    await page.goto(`${appliance.url}/vlans?table=yes`);
    await upload("same.csv", csv);
    await button("Preview").click();
    await page.getByText("Nothing would change: every row already matches its record.").waitFor();
    await page.getByText("Export-only columns, not imported").waitFor();
    await upload("other.csv", csv.replace("Offices", "Floor 2"));
    await button("Preview").click();
    await page.getByText("0 to create, 1 to update, 0 unchanged.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Name Offices to Floor 2" }).waitFor();
    await button("Write 1 row").click();
    await page.getByText("Saved.").waitFor();
    expect(await list("vlans")).toMatchObject([{ number: 20, name: "Floor 2" }]);
  });
});
