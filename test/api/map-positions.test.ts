// Map positions of a network's devices: storage, visibility, and presence in the topology at every timestamp.

import { beforeEach, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { layOutMap } from "../../src/resources/map-positions/layout/layout.ts";
import { MAP_COORDINATE_MAX, MAP_POSITIONS_MAX } from "../../src/resources/map-positions/map-position.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newUser, owner, prune, tick, transactionCount } = appliance;
let networkId: string;
let core: JsonRecord;
let access: JsonRecord;

beforeEach(async () => {
  networkId = first.networkId;
  core = await newHost({ name: "core", sys_name: "core" });
  access = await newSwitchBelow("access", core);
});

/** A switch with a cable to another one. */
async function newSwitchBelow(name: string, far: JsonRecord): Promise<JsonRecord> {
  tick();
  const host = await newHost({ name, sys_name: name, network_id: far.network_id });
  await newIfEntry(host.id, { if_name: "Gi0/1", neighbor: { type: "Host", id: far.id } });
  return host;
}

const pathOf = (id = networkId) => `networks/${id}/map-positions`;
const put = (nodes: Record<string, unknown>, caller: Client = owner, id = networkId) =>
  caller.put(pathOf(id), { nodes });

/** Positions by node name. */
async function positions(query = ""): Promise<Record<string, JsonRecord>> {
  const { nodes } = await expectOk(owner.get(`topology?network_id=${networkId}${query}`));
  return Object.fromEntries(nodes.map(({ name, position }: JsonRecord) => [name, position]));
}

function pickNodes(all: Record<string, JsonRecord>, ...names: string[]): Record<string, JsonRecord> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

const placedByUser = (x: number, y: number) => ({ x, y, placed: "person" });

describe("map positions", () => {
  test("are merged by node, deleted by null, and returned completely", async () => {
    const { nodes } = await expectOk(owner.get(pathOf()));
    expect(Object.keys(nodes)).toEqual([core.id, access.id].sort());
    const transactions = transactionCount();
    const placed = { ...nodes, [core.id]: placedByUser(10, -20) };
    expect(await expectOk(put({ [core.id]: { x: 10, y: -20 } }))).toEqual({ network_id: networkId, nodes: placed });
    const both = { ...placed, [access.id]: placedByUser(0, MAP_COORDINATE_MAX) };
    expect((await expectOk(put({ [access.id]: { x: 0, y: MAP_COORDINATE_MAX } }))).nodes).toEqual(both);
    expect((await expectOk(owner.get(pathOf()))).nodes).toEqual(both);
    expect((await expectOk(put({ [core.id]: null, [access.id]: { x: 1, y: 2 } }))).nodes).toEqual({
      [core.id]: { ...placedByUser(expect.any(Number), expect.any(Number)), placed: "layout" },
      [access.id]: placedByUser(1, 2),
    });
    // Positions from the topology can be sent back.
    expect((await expectOk(put({ [core.id]: { x: 3, y: 4, placed: "layout" } }))).nodes[core.id]).toEqual(
      placedByUser(3, 4),
    );
    expect(transactionCount()).toBe(transactions);
  });

  test("appear in the topology at every timestamp, over a period, and around a host", async () => {
    tick();
    const before = clock.text();
    clock.advance(DAY_MS);
    const third = await newSwitchBelow("third", access);
    const all = await positions();
    expect(Object.values(all).map(({ placed }) => placed)).toEqual(["layout", "layout", "layout"]);
    expect(await positions(`&at=${before}`)).toEqual(pickNodes(all, "core", "access"));
    await expectOk(put({ [core.id]: { x: 5_000, y: 5_000 } }));
    const expected = { ...all, core: placedByUser(5_000, 5_000) };
    expect(await positions()).toEqual(expected);
    expect(await positions(`&at=${before}`)).toEqual(pickNodes(expected, "core", "access"));
    expect(await positions(`&from=${before}`)).toEqual(expected);
    for (const period of ["", `&from=${before}`])
      expect(await positions(`&host_id=${third.id}${period}`)).toEqual(pickNodes(expected, "access", "third"));
  });

  test("are kept for linked hosts: additions, removals and moves leave the others alone", async () => {
    const first = await positions();
    const random = seededRandom(31);
    const all = [core, access];
    let expected = { ...first };
    for (let round = 0; round < 40; round += 1) {
      tick();
      const [one, other] = [random.pick(all), random.pick(all)];
      const action = random.integer(4);
      if (action === 0 && all.length > 6) {
        const deletedHost = all.splice(2 + random.integer(all.length - 2), 1)[0] as JsonRecord;
        await expectOk(owner.delete(`hosts/${deletedHost.id}?cascade=true`));
      } else if (action === 1 && one.id !== other.id) {
        await newIfEntry(one.id, { if_name: `Te${round}`, speed_bps: 1e10, neighbor: { type: "Host", id: other.id } });
      } else if (action === 2) {
        // Created at the same time.
        const hosts: JsonRecord[] = [];
        for (const number of [1, 2, 3]) hosts.push(await newHost({ name: `one-of-${round}-${number}` }));
        for (const host of hosts) await newIfEntry(host.id, { if_name: "up", neighbor: { type: "Host", id: one.id } });
        all.push(...hosts);
      } else all.push(await newSwitchBelow(`switch-${round}`, one));
      const current = await positions();
      const remaining = Object.keys(current).filter((name) => expected[name] !== undefined);
      expect(pickNodes(current, ...remaining)).toEqual(pickNodes(expected, ...remaining));
      expected = { ...expected, ...current };
    }
    expect(Object.keys(expected).length).toBeGreaterThan(20);
    expect(new Set(Object.values(expected).map(({ x, y }) => `${x} ${y}`)).size).toBe(Object.keys(expected).length);
    expect((await expectOk(owner.get(pathOf()))).nodes).toMatchObject({
      [core.id]: expected.core,
      [access.id]: expected.access,
    });
  });

  test("are recomputed with everything linked once deleted; deleting all restarts the layout", async () => {
    const names = ["b", "c", "d", "e"];
    const hosts = [core, access];
    for (const name of names) hosts.push(await newSwitchBelow(name, access));
    // The core existed first, with one switch; the hub of all others is below it.
    const grown = await positions();
    expect(grown.access?.y).toBeGreaterThan(grown.core?.y);
    const recomputed = await expectOk(put(Object.fromEntries(hosts.map(({ id }) => [id, null]))));
    const after = await positions();
    expect(recomputed.nodes).toEqual(Object.fromEntries(hosts.map(({ id, name }) => [id, after[name]])));
    expect(Object.values(after).every(({ placed }) => placed === "layout")).toBe(true);
    expect(after.access?.y).toBeLessThan(after.core?.y);
    for (const name of names) expect(after[name]?.y).toBe(after.core?.y);
    await expectOk(put({ [core.id]: { x: -900, y: -900 } }));
    const reset = (await expectOk(put({ [core.id]: null }))).nodes[core.id];
    expect(reset.placed).toBe("layout");
    expect(reset.y).toBeGreaterThan(after.access?.y);
  });

  test("are deterministic if not stored, and a new or unlinked device moves no other", async () => {
    // Announcements alone write no link end.
    const announced = { lldp_sys_name: "core" };
    await expectOk(owner.delete(`hosts/${access.id}?cascade=true`));
    await expectOk(put({ [core.id]: null, [access.id]: null }));
    access = await newHost({ name: "access", sys_name: "access" });
    await newIfEntry(access.id, { if_name: "Gi0/1", ...announced });
    expect((await expectOk(owner.get(pathOf()))).nodes).toEqual({});
    const before = await positions();
    expect(await positions()).toEqual(before);
    for (const name of ["b", "c", "d"]) {
      tick();
      await newIfEntry((await newHost({ name, sys_name: name })).id, { if_name: "Gi0/1", ...announced });
    }
    await newHost({ name: "lonely" });
    const after = await positions();
    expect(Object.keys(after).sort()).toEqual(["access", "b", "c", "core", "d"]);
    expect(after).toMatchObject(before);
    expect(new Set(Object.values(after).map(({ x, y }) => `${x} ${y}`)).size).toBe(5);
    expect(await positions("&include_isolated=true")).toEqual({ ...after, lonely: expect.anything() });
  });

  test("keep a deleted host in place until nothing of it is known", async () => {
    await expectOk(put({ [access.id]: { x: 7, y: 8 }, [core.id]: { x: 1, y: 1 } }));
    tick();
    const before = clock.text();
    tick();
    await expectOk(owner.delete(`hosts/${access.id}?cascade=true`));
    clock.advance(DAY_MS);
    expect((await positions(`&at=${before}`)).access).toEqual(placedByUser(7, 8));
    // The device can still be placed, for the past.
    await expectOk(put({ [access.id]: { x: 9, y: 9 } }));
    expect((await positions(`&at=${before}`)).access).toEqual(placedByUser(9, 9));
    clock.advance(DAY_MS);
    prune(clock.now() - 1, "none");
    expect((await expectOk(owner.get(pathOf()))).nodes).toEqual({ [core.id]: placedByUser(1, 1) });
  });

  test("are deleted only with their network", async () => {
    const otherNetwork = await newNetwork({ name: "other" });
    const otherHost = await newHost({ name: "there", network_id: otherNetwork.id });
    await expectOk(put({ [otherHost.id]: { x: 1, y: 1 } }, owner, otherNetwork.id));
    await expectOk(put({ [core.id]: { x: 2, y: 2 } }));
    await expectOk(owner.delete(`networks/${otherNetwork.id}?cascade=true`));
    expect(await owner.get(pathOf(otherNetwork.id))).toMatchObject(refusal(404, "entity_not_found"));
    expect(await put({ [otherHost.id]: null }, owner, otherNetwork.id)).toMatchObject(refusal(404, "entity_not_found"));
    const { count } = appliance.reader.db.query("SELECT count(*) AS count FROM map_positions").get() as JsonRecord;
    expect(count).toBe(2);
  });

  test("are read by Viewers and written by Members, without hosts of other networks", async () => {
    const otherNetwork = await newNetwork({ name: "elsewhere" });
    const foreign = await newHost({ name: "foreign", network_id: otherNetwork.id });
    const viewer = (await newUser({ role: "Viewer", networkIds: [networkId] })).client;
    const member = (await newUser({ role: "Member", networkIds: [networkId] })).client;
    const { nodes } = await expectOk(put({ [core.id]: { x: 1, y: 1 } }, member));
    expect(nodes).toEqual({ [core.id]: placedByUser(1, 1), [access.id]: expect.anything() });
    expect((await expectOk(viewer.get(pathOf()))).nodes).toEqual(nodes);
    expect(await put({ [core.id]: null }, viewer)).toMatchObject(refusal(403, "auth_permission_denied"));
    for (const caller of [viewer, member])
      expect(await caller.get(pathOf(otherNetwork.id))).toMatchObject(refusal(404, "entity_not_found"));
    expect(await put({ [foreign.id]: { x: 1, y: 1 } }, member, otherNetwork.id)).toMatchObject(
      refusal(404, "entity_not_found"),
    );
    const unknown = "01936f2e-0d5c-7d3a-9a39-ffffffffffff";
    for (const [caller, id] of [
      [member, foreign.id],
      [owner, foreign.id],
      [member, unknown],
    ] as Array<[Client, string]>)
      expect(await put({ [core.id]: { x: 5, y: 5 }, [id]: { x: 1, y: 1 } }, caller)).toMatchObject(
        refusal(400, "entity_reference_invalid", { entity: "host", field: "nodes", ids: [id] }),
      );
    expect((await expectOk(owner.get(pathOf()))).nodes).toEqual(nodes);
    // Resetting an unknown device reveals nothing.
    expect((await put({ [foreign.id]: null }, member)).status).toBe(200);
  });

  test("can be given to devices without a record, by their topology id", async () => {
    await newIfEntry(core.id, { if_name: "Gi0/9", lldp_sys_name: "printer", lldp_mgmt_addr: "192.0.2.77" });
    const { nodes } = await expectOk(owner.get(`topology?network_id=${networkId}`));
    const printer = nodes.find(({ kind }: JsonRecord) => kind === "Unknown");
    expect(printer.position.placed).toBe("layout");
    await expectOk(put({ [printer.id]: { x: -1, y: -1 } }));
    expect((await positions()).printer).toEqual(placedByUser(-1, -1));
  });

  test("are bounded integers for existing nodes, and limited in number", async () => {
    const outOfRange = MAP_COORDINATE_MAX + 1;
    for (const [nodes, path] of [
      [{ [core.id]: { x: outOfRange, y: 0 } }, `/nodes/${core.id}/x`],
      [{ [core.id]: { x: 0, y: -outOfRange } }, `/nodes/${core.id}/y`],
      [{ [core.id]: { x: 0.5, y: 0 } }, `/nodes/${core.id}/x`],
      [{ [core.id]: { x: 0 } }, `/nodes/${core.id}/y`],
      [{ [core.id]: { x: 0, y: 0, z: 0 } }, `/nodes/${core.id}/z`],
      [{ core: { x: 0, y: 0 } }, "/nodes/core"],
      [{ "unknown-12": null }, "/nodes/unknown-12"],
      [{}, "/nodes"],
      [unknownNodes(0, MAP_POSITIONS_MAX + 1), "/nodes"],
    ] as Array<[Record<string, unknown>, string]>) {
      const response = await put(nodes);
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params?.issues.map((issue: JsonRecord) => issue.path)).toEqual([path]);
    }
    // The two switches already have positions.
    expect((await put(unknownNodes(0, MAP_POSITIONS_MAX - 2))).status).toBe(200);
    const more = unknownNodes(MAP_POSITIONS_MAX, 1);
    expect(await put(more)).toMatchObject(refusal(400, "validation_failed"));
    expect((await put({ [core.id]: { x: 1, y: 1 } })).status).toBe(200);
    const third = await newSwitchBelow("third", core);
    expect((await positions()).third).toMatchObject({ placed: "layout" });
    expect((await expectOk(owner.get(pathOf()))).nodes[third.id]).toBeUndefined();
    const [unknownId] = Object.keys(unknownNodes(0, 1)) as [string];
    expect((await put({ ...more, [unknownId]: null })).status).toBe(200);
    const { nodes: stored } = await expectOk(owner.get(pathOf()));
    expect(Object.keys(stored)).toHaveLength(MAP_POSITIONS_MAX);
    // Resetting all positions recomputes the whole layout, independent of the former ones.
    await expectOk(put(Object.fromEntries(Object.keys(stored).map((id) => [id, null]))));
    const links = [access, third].map(({ id }) => ({ ends: [id, core.id] as const, speedBps: 0 }));
    const recomputed = layOutMap([core.id, access.id, third.id], links, new Map());
    expect(recomputed.size).toBe(3);
    expect((await expectOk(owner.get(pathOf()))).nodes).toEqual(
      Object.fromEntries([...recomputed].map(([id, { x, y }]) => [id, { x, y, placed: "layout" }])),
    );
    const db = openReadOnly(appliance.databasePath);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
    db.$client.close();
  });
});

function unknownNodes(from: number, count: number): Record<string, { x: number; y: number }> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `unknown-${(from + index).toString(16).padStart(16, "0")}`,
      { x: index, y: from },
    ]),
  );
}
