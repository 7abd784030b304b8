// Bulk write of hosts by the executable, which passes the body to the writer thread in shared memory.

import { expect, test } from "bun:test";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForAll();

test("200 hosts are written in one transaction while others read, and errors name their position", async () => {
  const { key, networkId } = await sandbox.setUp();
  const client = (await sandbox.serve()).withKey(key);
  const items = Array.from({ length: 200 }, (_, index) => ({
    network_id: networkId,
    name: `switch ${index}`,
    interfaces: Array.from({ length: 10 }, (_item, position) => ({
      if_index: position + 1,
      if_descr: `GigabitEthernet1/0/${position + 1}`,
      lldp_sys_desc: "x".repeat(500),
    })),
  }));
  const written = client.post("hosts/bulk", items);
  expect((await client.get(`networks/${networkId}`)).status).toBe(200);
  const { status, data } = await written;
  expect(status).toBe(200);
  expect(data.map(({ name, operation }: { name: string; operation: string }) => `${name} ${operation}`)).toEqual(
    items.map(({ name }) => `${name} Created`),
  );
  expect((await client.get("if-entries?limit=1")).body.meta.pagination.total_count).toBe(2_000);
  expect((await client.get(`hosts/${data[199].id}`)).data.created_at).toBe(data[0].updated_at);

  const repeated = await client.post(
    "hosts/bulk",
    data.map(({ id }: { id: string }, index: number) => ({ ...items[index], id })),
  );
  expect(new Set(repeated.data.map(({ operation }: { operation: string }) => operation))).toEqual(
    new Set(["Unchanged"]),
  );

  const refused = await client.post("hosts/bulk", [...items, { ...items[0], tags: [networkId] }]);
  expect(refused.body).toMatchObject({
    code: "entity_reference_invalid",
    params: { issues: [{ path: "/200/tags/0", value: networkId, code: "entity_reference_invalid" }] },
  });
  expect((await client.post("hosts/bulk", "[{]")).body.code).toBe("malformed_json");
  expect((await client.get("hosts?limit=1&include_children=false")).body.meta.pagination.total_count).toBe(200);
});
