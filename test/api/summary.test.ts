// GET /api/v1/summary over HTTP: now, at an instant and of one network, on an inventory in which something happened.
// What it counts is compared with plain code in test/store/summary.test.ts.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, type Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newTag, newUser, owner, tick } = appliance;

const later = (seconds: number) => clock.advance(seconds * 1_000);
const now = () => new Date(clock.now()).toISOString();
const names = (records: Wire[]) => records.map(({ name }) => name);

async function flip(entry: Wire, times: number): Promise<void> {
  for (let each = 0; each < times; each += 1) {
    later(60);
    const { data } = await owner.get(`if-entries/${entry.id}`);
    const oper_status = data.oper_status === "Up" ? "Down" : "Up";
    expect((await owner.put(`if-entries/${entry.id}`, { ...data, oper_status })).status).toBe(200);
  }
}

test("what came, what went and what flaps within a day is told, then and a day later", async () => {
  later(86_400);
  const host = await newHost({ name: "access-1" });
  const gone = await newHost({ name: "old-1" });
  const [port, quiet] = [
    await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" }),
    await newIfEntry(host.id, { if_index: 8, if_descr: "Gi1/0/8" }),
  ];
  await flip(quiet, 5);
  await flip(port, 6);
  expect((await owner.delete(`hosts/${gone.id}`)).status).toBe(200);
  later(60);
  const then = now();
  const { data, body } = await owner.get("summary");
  expect(body.meta.at).toBeUndefined();
  expect(data).toMatchObject({
    to: then,
    counts: { network: 1, host: 1, if_entry: 2 },
    interfaces_by_oper_status: { Up: expect.any(Number), Down: expect.any(Number) },
    changes: { deleted: 1, types: { if_entry: { created: 2, updated: 11 }, host: { created: 2, deleted: 1 } } },
    flapping: {
      count: 1,
      ports: [{ id: port.id, name: "Gi1/0/7", host: { id: host.id, name: "access-1" }, changes: 6 }],
    },
    stale: { count: 0, hosts: [] },
    failed_scans: { count: 0, scans: [] },
  });
  expect(names(data.new)).toEqual(["old-1", "access-1"]);
  expect(names(data.vanished)).toEqual(["old-1"]);
  later(86_400);
  tick();
  const next = (await owner.get("summary")).data;
  expect(next).toMatchObject({ new: [], vanished: [], flapping: { count: 0 }, changes: { updated: 0 } });
  // What is said of then does not change.
  const again = await owner.get(`summary?at=${then}`);
  expect(again.data).toEqual(data);
  expect(again.body.meta.at).toBe(then);
});

test("a network's summary is of what lies in it, and nobody is told of one out of reach", async () => {
  const network = await newNetwork({ name: "Branch" });
  await newHost({ name: "branch-1", network_id: network.id });
  await newHost({ name: "campus-1" });
  await newTag();
  tick();
  const ofOne = (await owner.get(`summary?network_id=${network.id}`)).data;
  expect(ofOne.counts).toMatchObject({ host: 1, if_entry: 0 });
  expect(ofOne.counts.tag).toBeUndefined();
  expect(names(ofOne.new)).toEqual(["branch-1", "Branch"]);
  const { client: viewer } = await newUser({ role: "Viewer", networkIds: [network.id] });
  const seen = (await viewer.get("summary")).data;
  expect(seen.counts).toMatchObject({ network: 1, host: 1, tag: 1 });
  expect(names(seen.new)).not.toContain("campus-1");
  const hidden = (await viewer.get(`summary?network_id=${first.networkId}`)).data;
  expect(hidden.counts.host).toBe(0);
  expect(hidden.changes).toEqual({ created: 0, updated: 0, deleted: 0, types: {} });
  expect(await viewer.get("summary?network_id=campus")).toMatchObject(
    invalid(expect.objectContaining({ path: "/network_id" })),
  );
});
