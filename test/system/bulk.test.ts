// Bulk write of hosts on the executable, with the body in shared memory for the writer thread.

import { expect, test } from "bun:test";
import { workplaceForAll } from "../support/executable/workplaces.ts";

const place = workplaceForAll();

test("a bulk of 200 hosts is written as one transaction, read by others in the meantime, and refused with the position of errors", async () => {
  const { key, networkId } = await place.setUp();
  const client = (await place.serve()).withKey(key);
  const items = Array.from({ length: 200 }, (_, host) => ({
    network_id: networkId,
    name: `switch ${host}`,
    interfaces: Array.from({ length: 10 }, (_each, position) => ({
      if_index: position + 1,
      if_descr: `GigabitEthernet1/0/${position + 1}`,
      lldp_sys_desc: "x".repeat(500),
    })),
  }));
  const written = client.post("hosts/bulk", items);
  expect((await client.get(`networks/${networkId}`)).status).toBe(200);
  const { status, data } = await written;
  expect(status).toBe(200);
  expect(data.map((each: { name: string; operation: string }) => `${each.name} ${each.operation}`)).toEqual(
    items.map(({ name }) => `${name} Created`),
  );
  expect((await client.get("if-entries?limit=1")).body.meta.pagination.total_count).toBe(2_000);
  expect((await client.get(`hosts/${data[199].id}`)).data.created_at).toBe(data[0].updated_at);

  const again = await client.post(
    "hosts/bulk",
    data.map((each: { id: string; name: string }, host: number) => ({ ...items[host], id: each.id })),
  );
  expect(new Set(again.data.map((each: { operation: string }) => each.operation))).toEqual(new Set(["Unchanged"]));

  const refused = await client.post("hosts/bulk", [...items, { ...items[0], tags: [networkId] }]);
  expect(refused.body).toMatchObject({
    code: "entity_reference_invalid",
    params: { issues: [{ path: "/200/tags/0", value: networkId, code: "entity_reference_invalid" }] },
  });
  expect((await client.post("hosts/bulk", "[{]")).body.code).toBe("malformed_json");
  expect((await client.get("hosts?limit=1&include_children=false")).body.meta.pagination.total_count).toBe(200);
});
