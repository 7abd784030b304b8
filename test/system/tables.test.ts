// Table import by the executable, with separate threads for reading and writing.

import { expect, test } from "bun:test";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForAll();

test("a table of 2,000 hosts is planned and written in one transaction, and its export imports unchanged", async () => {
  const { key, networkId } = await sandbox.setUp();
  const client = (await sandbox.serve()).withKey(key);
  const send = (query: string, table: string) =>
    client.send("POST", `hosts/import/csv${query}`, table, { "content-type": "text/csv" });
  const rows = Array.from({ length: 2_000 }, (_, host) => `${networkId};host ${host};hall ${host % 4};=1|'x`);
  const table = `\ufeffnetwork_id;name;sys_location;description\r\n${rows.join("\r\n")}\r\n`;
  expect(table.length).toBeGreaterThan(64 * 1024);
  const planned = await send("?dry_run=true", table);
  expect([planned.status, planned.data?.counts ?? planned.text]).toMatchObject([200, { created: 2_000 }]);
  expect((await client.get("hosts?limit=1")).body.meta.pagination.total_count).toBe(0);
  const written = await send(`?plan=${planned.data.plan}`, table);
  expect(written.data).toMatchObject({ applied: true, counts: { rows: 2_000, created: 2_000 } });

  const { text } = await client.get("hosts/export/csv");
  expect(text).toContain("'=1|'x");
  expect((await send("", text)).data).toMatchObject({ applied: false, counts: { unchanged: 2_000 } });
  const set = { sys_location: "hall 9" };
  const updated = await client.post("hosts/bulk-update", { filter: 'sys_location = "hall 3"', set });
  expect(updated.data).toMatchObject({ sequence: written.data.sequence + 1, counts: { matched: 500, updated: 500 } });
  const refused = await send("", `${table}${networkId};host 7;hall 1;\r\n`);
  expect(refused.body.params.issues).toMatchObject([{ row: 2_002, column: "name" }]);
});
