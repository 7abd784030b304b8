// Components over the API: lists, filters, search, history and CSV, and no operation that writes.

import { expect, test } from "bun:test";
import { componentKind } from "../../src/resources/components/component.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import {
  expectOk,
  inTransaction,
  type JsonRecord,
  newComponent,
  newHost,
  newNetwork,
} from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const list = async (query = ""): Promise<JsonRecord[]> =>
  (await expectOk(appliance.owner.get(`components?${query}`))) as unknown as JsonRecord[];
const serials = async (query = "") => (await list(query)).map(({ serial_number }) => serial_number);

/** A stack of two members, and a chassis in another network. */
async function inventory() {
  const stack = await newHost(appliance, { name: "stack-1" });
  const second = newComponent(appliance, stack, { class: "StackMember", position: 2, serial_number: "AC-200" });
  const first = newComponent(appliance, stack, { class: "StackMember", position: 1, serial_number: "AC-100" });
  const other = await newHost(appliance, { name: "far-1", network_id: (await newNetwork(appliance)).id });
  const far = newComponent(appliance, other, { model: "ZX-9", serial_number: null });
  return { stack, other, first, second, far };
}

test("components are listed by host, network, id and order, each with all of its fields", async () => {
  const { stack, other, first, second, far } = await inventory();
  expect(await serials(`host_id=${stack.id}&order_by=position`)).toEqual(["AC-100", "AC-200"]);
  expect(await serials(`network_id=${other.network_id}`)).toEqual([null]);
  expect((await list(`ids=${first.id},${far.id}`)).map(({ id }) => id).sort()).toEqual([first.id, far.id].sort());
  expect(await expectOk(appliance.owner.get(`components/${second.id}`))).toMatchObject({
    host_id: stack.id,
    network_id: stack.network_id,
    class: "StackMember",
    position: 2,
    manufacturer: "Acme",
    model: "AX-48",
    serial_number: "AC-200",
    valid_to: null,
    lineage_id: null,
  });
});

test("components are found by filter, by search in their list, and by the global search", async () => {
  const { stack, second } = await inventory();
  const filtered = (filter: string) => serials(new URLSearchParams({ filter }).toString());
  expect(await filtered("class = StackMember AND position > 1")).toEqual(["AC-200"]);
  expect(await filtered('host.name = "stack-1"')).toHaveLength(2);
  expect(await serials("search=ac-200")).toEqual(["AC-200"]);
  expect(await serials("search=zx")).toEqual([null]);
  const found = (await expectOk(appliance.owner.get("search?q=AC-200"))) as unknown as JsonRecord[];
  expect(found).toMatchObject([{ type: "component", id: second.id, name: "AC-200", host: { id: stack.id } }]);
});

test("a component has a history, is returned as of a timestamp, and is a row of the CSV export", async () => {
  const { stack, second } = await inventory();
  appliance.clock.advance(60_000);
  const before = appliance.clock.text();
  appliance.clock.advance(60_000);
  inTransaction(appliance, (tx) => tx.update(componentKind, second.id, { position: 3 }));
  const at = async (query: string) => (await expectOk(appliance.owner.get(`components/${second.id}${query}`))).position;
  expect([await at(`?at=${before}`), await at("")]).toEqual([2, 3]);
  const history = (await expectOk(appliance.owner.get(`components/${second.id}/history`))) as unknown as JsonRecord[];
  expect(history.map(({ operation, changed_fields }) => [operation, changed_fields])).toEqual([
    ["Updated", ["position"]],
    ["Created", []],
  ]);
  const { text } = await appliance.owner.get(`components/export/csv?host_id=${stack.id}&order_by=position`);
  expect(csvRecords(text)).toMatchObject([
    { serial_number: "AC-100", position: "1", host_name: "stack-1" },
    { serial_number: "AC-200", position: "3", host_name: "stack-1" },
  ]);
});

test("a component is counted with its host, deleted and restored with it", async () => {
  const { stack, first } = await inventory();
  const [counted] = (await expectOk(appliance.owner.get(`hosts?ids=${stack.id}&include=counts`))) as unknown as [
    JsonRecord,
  ];
  expect(counted.counts.components).toBe(2);
  appliance.clock.advance(60_000);
  const at = appliance.clock.text();
  appliance.clock.advance(60_000);
  await expectOk(appliance.owner.delete(`hosts/${stack.id}`));
  expect(await serials()).toEqual([null]);
  await expectOk(appliance.owner.post(`hosts/${stack.id}/restore`, { at }));
  expect(await serials("order_by=position")).toEqual(["AC-100", null, "AC-200"]);
  expect(await expectOk(appliance.owner.get(`components/${first.id}`))).toMatchObject({ host_id: stack.id });
});

test("consolidated hosts keep one component per serial number, each in its position", async () => {
  const { stack, first } = await inventory();
  const twin = await newHost(appliance, { name: "stack-1b" });
  newComponent(appliance, twin, { class: "StackMember", position: 1, serial_number: "AC-100" });
  const third = newComponent(appliance, twin, { class: "StackMember", position: 3, serial_number: "AC-300" });
  await expectOk(appliance.owner.put(`hosts/${stack.id}/consolidate/${twin.id}`, {}));
  const components = await list(`host_id=${stack.id}&order_by=position`);
  expect(components.map(({ position, serial_number }) => [position, serial_number])).toEqual([
    [1, "AC-100"],
    [2, "AC-200"],
    [3, "AC-300"],
  ]);
  expect([components[0]?.id, components[2]?.id]).toEqual([first.id, third.id]);
});

test("no client writes components", async () => {
  const { stack, first } = await inventory();
  const body = { host_id: stack.id, class: "Chassis", position: 9 };
  const attempts = [
    appliance.owner.post("components", body),
    appliance.owner.put(`components/${first.id}`, body),
    appliance.owner.delete(`components/${first.id}`),
    appliance.owner.post("components/bulk-delete", [first.id]),
    appliance.owner.post(`components/${first.id}/restore`, { at: "-1h" }),
  ];
  for (const { status } of await Promise.all(attempts)) expect([404, 405]).toContain(status);
  expect(await list()).toHaveLength(3);
});
