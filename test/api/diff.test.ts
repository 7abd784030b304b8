import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, type JsonRecord, tcp } from "../support/appliance/factories.ts";
import { processorMs } from "../support/measure/processor-time.ts";

const appliance = applianceForEach();
const { clock, first, owner } = appliance;
const { newApiKey, newHost, newIfEntry, newNetwork, newStranger, newSubnet, newTag, newUser, tick } = appliance;
/** Timestamp before all writes of a test. */
let start: string;

beforeEach(async () => {
  clock.advance(60_000);
  start = clock.text();
  tick();
});

const put = (tag: JsonRecord, changes: JsonRecord) =>
  owner.put(`tags/${tag.id}`, { name: tag.name, color: tag.color, ...changes });

async function diff(query: string, caller = owner): Promise<JsonRecord> {
  const response = await caller.get(`diff?${query}`);
  expect(response.status).toBe(200);
  return response.data;
}

describe("the diff of two timestamps", () => {
  test("lists additions, removals and changes, field by field, with actor and time", async () => {
    const changedTag = await newTag({ name: "kept", color: "Green" });
    const removedTag = await newTag({ name: "gone" });
    tick();
    const middle = clock.text();
    tick();
    const recolored = (await put(changedTag, { color: "Blue" })).data;
    tick();
    const renamed = (await put(changedTag, { color: "Blue", name: "renamed" })).data;
    const { data: added } = await owner.post("tags", { name: "new", color: "Red" }, { "x-request-id": "r1" });
    await owner.delete(`tags/${removedTag.id}`);
    tick();

    const found = await diff(`from=${middle}`);
    expect(found).toMatchObject({
      from: { at: middle },
      to: { at: clock.text() },
      counts: { tag: { added: 1, removed: 1, changed: 1 } },
    });
    expect(found.added).toEqual([
      {
        entity_type: "tag",
        id: added.id,
        name: "new",
        record: added,
        transaction: expect.objectContaining({ request_id: "r1", at: added.created_at }),
      },
    ]);
    expect(found.removed).toMatchObject([
      {
        entity_type: "tag",
        id: removedTag.id,
        name: "gone",
        record: { name: "gone" },
        transaction: { actor: { id: first.userId } },
      },
    ]);
    expect(found.changed).toHaveLength(1);
    expect(found.changed[0]).toMatchObject({
      id: changedTag.id,
      name: "renamed",
      host_id: null,
      fields: [
        { field: "color", from: "Green", to: "Blue", transaction: { at: recolored.updated_at } },
        { field: "name", from: "kept", to: "renamed", transaction: { at: renamed.updated_at } },
      ],
      transaction: { at: renamed.updated_at },
    });
  });

  test("names the creator of a record despite later changes, and mistakes no record for a host", async () => {
    const { id, client } = newApiKey();
    const tag = (await client.post("tags", { name: "a", color: "Green" })).data;
    tick();
    await put(tag, { name: "b" });
    tick();
    expect((await diff(`from=${start}&types=tag`)).added).toMatchObject([
      { name: "b", transaction: { at: tag.created_at, actor: { id } } },
    ]);
    expect((await diff(`from=-7d&host_id=${first.networkId}`)).counts).toEqual({});
    expect((await diff(`from=-7d&network_id=${tag.id}`)).counts).toEqual({});
  });

  test("is empty for a single timestamp, or if all changes were undone", async () => {
    const tag = await newTag({ name: "a" });
    tick();
    const from = clock.text();
    tick();
    await put(tag, { name: "b" });
    const transient = await newTag({ name: "passing" });
    tick();
    await put(tag, { name: "a" });
    await owner.delete(`tags/${transient.id}`);
    tick();
    for (const query of [`from=${from}`, `from=${from}&to=${from}`, "from=now"]) {
      expect(await diff(query)).toMatchObject({ added: [], removed: [], changed: [], counts: {} });
    }
  });

  test("compares the states at its ends, including transactions at `from` and at `to`", async () => {
    const tag = await newTag({ name: "a" });
    tick();
    const at = (await put(tag, { name: "b" })).data.updated_at;
    tick();
    expect((await diff(`from=${start}&to=${at}`)).added).toMatchObject([{ record: { name: "b" } }]);
    expect(await diff(`from=${at}`)).toMatchObject({ added: [], changed: [] });
    const before = new Date(Date.parse(at) - 1).toISOString();
    expect((await diff(`from=${before}&to=${at}`)).changed).toMatchObject([
      { fields: [{ field: "name", from: "a", to: "b" }] },
    ]);
    expect((await diff(`from=${start}&to=${before}`)).added).toMatchObject([{ record: { name: "a" } }]);
  });

  test("accepts ages as timestamps, and any timestamp before the first transaction", async () => {
    await newTag({ name: "a" });
    clock.advance(3_600_000);
    await newTag({ name: "b" });
    tick();
    const names = (found: JsonRecord) =>
      found.added.filter((record: JsonRecord) => record.entity_type === "tag").map((record: JsonRecord) => record.name);
    expect(names(await diff("from=-15m"))).toEqual(["b"]);
    expect(names(await diff("from=-2h"))).toEqual(["a", "b"]);
    expect(names(await diff("from=-2h&to=-15m"))).toEqual(["a"]);
    const all = await diff("from=-7d");
    expect(all.from).toMatchObject({ sequence: 0 });
    expect(all.counts).toMatchObject({
      organization: { added: 1 },
      network: { added: 1 },
      user: { added: 1 },
      tag: { added: 2 },
    });
  });

  test("shows children as separate records, without their host", async () => {
    const host = await newHost({ name: "h", ports: [tcp(22)] });
    const entry = await newIfEntry(host.id);
    tick();
    const from = clock.text();
    tick();
    await owner.put(`hosts/${host.id}`, { id: host.id, name: "h", hidden: false, tags: [], ports: [tcp(80)] });
    await owner.put(`if-entries/${entry.id}`, {
      if_index: entry.if_index,
      if_descr: entry.if_descr,
      oper_status: "Down",
      fdb_macs: ["00:00:5e:00:53:01"],
    });
    tick();
    const found = await diff(`from=${from}`);
    expect(found.counts).toEqual({ port: { added: 1, removed: 1 }, if_entry: { changed: 1 } });
    expect(found.changed[0].fields.map((change: JsonRecord) => [change.field, change.from, change.to])).toEqual([
      ["fdb_macs", null, ["00:00:5e:00:53:01"]],
      ["oper_status", entry.oper_status, "Down"],
    ]);
    expect(found.changed[0].host_id).toBe(host.id);
    expect((await diff(`from=${from}&types=port`)).counts).toEqual({ port: { added: 1, removed: 1 } });
    const otherHost = await newHost({ name: "other" });
    tick();
    expect((await diff(`from=${from}&host_id=${host.id}`)).counts).toEqual({
      port: { added: 1, removed: 1 },
      if_entry: { changed: 1 },
    });
    expect((await diff(`from=${from}&host_id=${otherHost.id}`)).counts).toEqual({ host: { added: 1 } });
  });

  test("names a binding after its target at the later end, or at its deletion", async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }], ports: [tcp(443)] });
    const bound = { type: "Port", port_id: host.ports[0].id, ip_address_id: host.ip_addresses[0].id };
    const shop = { host_id: host.id, name: "shop", service_definition: "nginx", tags: [] };
    tick();
    const before = clock.text();
    tick();
    const { data: service } = await owner.post("services", { ...shop, bindings: [bound] });
    tick();
    const between = clock.text();
    tick();
    await owner.put(`services/${service.id}`, { ...shop, name: "store", bindings: [] });
    tick();

    const names = async (query: string, changeType: string) =>
      (await diff(`types=binding&${query}`))[changeType].map((binding: JsonRecord) => binding.name);
    expect(await names(`from=${before}&to=${between}`, "added")).toEqual(["shop at 443/Tcp at 10.2.3.4"]);
    expect(await names(`from=${between}`, "removed")).toEqual(["store at 443/Tcp at 10.2.3.4"]);
    await owner.delete(`hosts/${host.id}`);
    expect(await names(`from=${between}`, "removed")).toEqual(["shop at 443/Tcp at 10.2.3.4"]);
  });

  test("is limited to one network, and to the caller's reach", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    const member = await newUser({ role: "Viewer", networkIds: [otherNetwork.id] });
    const hidden = await newSubnet({ cidr: "10.1.0.0/16" });
    await newSubnet({ cidr: "10.2.0.0/16", network_id: otherNetwork.id });
    tick();
    expect((await diff(`from=${start}&network_id=${otherNetwork.id}`)).counts).toEqual({
      network: { added: 1 },
      subnet: { added: 1 },
    });
    expect((await diff(`from=${start}&types=subnet,network`, member.client)).counts).toEqual({
      network: { added: 1 },
      subnet: { added: 1 },
    });
    for (const format of ["json", "ndjson", "csv", "text"]) {
      const { text } = await member.client.get(`diff?from=${start}&format=${format}`);
      expect(text).not.toContain(hidden.id);
      expect(text).not.toContain("10.1.0.0/16");
    }
    expect((await diff(`from=${start}&network_id=${first.networkId}`, member.client)).counts).toEqual({});
    const { client: foreign } = await newStranger();
    expect(JSON.stringify(await diff(`from=${start}`, foreign))).not.toContain(hidden.id);
  });

  test.each([
    ["", "/from"],
    ["from=yesterday", "/from"],
    ["from=now&to=-1h", "/from"],
    ["from=-1h&types=nonsense", "/types/0"],
    ["from=-1h&format=xml", "/format"],
  ])("rejects the query %p by the field %s", async (query, path) => {
    expect(await owner.get(`diff?${query}`)).toMatchObject(invalid({ path }));
  });

  test("resolves to the same start when repeated up to now, even after a write with the clock set back", async () => {
    clock.advance(20_000);
    const before = await diff(`from=${start}`);
    clock.advance(-25_000);
    await newTag({ name: "late" });
    clock.advance(30_000);
    const after = await diff(`from=${start}`);
    expect(after.from).toEqual(before.from);
    expect(after.counts).toEqual({ tag: { added: 1 } });
  });
});

describe("the formats of a diff", () => {
  let tag: JsonRecord;

  beforeEach(async () => {
    tag = await newTag({ name: "=a", color: "Green" });
    tick();
    start = clock.text();
    tick();
    await put(tag, { color: "Blue", name: "b" });
    await newTag({ name: "new\u001b[31m", color: "Red" }).catch(() => newTag({ name: "new", color: "Red" }));
    tick();
  });

  test("ndjson has the same differences, one per line", async () => {
    const complete = await diff(`from=${start}`);
    const response = await owner.get(`diff?from=${start}&format=ndjson`);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = response.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonRecord);
    expect(response.text.endsWith("\n")).toBe(true);
    for (const changeType of ["added", "removed", "changed"])
      expect(lines.filter((line) => line.change === changeType).map(({ change: _, ...rest }) => rest)).toEqual(
        complete[changeType],
      );
  });

  test("csv has a row per changed field", async () => {
    const response = await owner.get(`diff?from=${start}&format=csv`);
    expect(response.headers.get("content-type")).toStartWith("text/csv");
    const rows = response.text.split("\r\n");
    expect(rows[0]).toBe(
      "change,entity_type,id,name,network_id,host_id,host_name,field,from,to,sequence,at,actor_type,actor_name,request_id,reason",
    );
    expect(rows.some((row) => row.startsWith(`changed,tag,${tag.id},b,,,,color,Green,Blue,`))).toBe(true);
    expect(rows.some((row) => row.startsWith(`changed,tag,${tag.id},b,,,,name,'=a,b,`))).toBe(true);
    expect(rows).toHaveLength(5);
  });

  test("text and csv name a child's host, resolve references, and show list items added and removed", async () => {
    const host = await newHost({ name: "core-1" });
    const entry = await newIfEntry(host.id);
    const put = (changes: JsonRecord) =>
      owner.put(`if-entries/${entry.id}`, { if_index: entry.if_index, if_descr: "Gi1/0/1", ...changes });
    await put({ fdb_macs: ["00:00:5e:00:53:01", "00:00:5e:00:53:02"] });
    tick();
    const from = clock.text();
    tick();
    await put({ fdb_macs: ["00:00:5e:00:53:02", "00:00:5e:00:53:03"], neighbor: { type: "Host", id: host.id } });
    await owner.put(`hosts/${host.id}`, { id: host.id, name: "core-1", hidden: false, tags: [tag.id] });
    tick();
    const { text } = await owner.get(`diff?from=${from}&format=text`);
    expect(text).toContain("  ~ core-1 Gi1/0/1\n");
    expect(text).toContain("      fdb_macs: +00:00:5e:00:53:03 -00:00:5e:00:53:01  (");
    expect(text).toContain("      neighbor: none → core-1  (");
    expect(text).toContain("      tags: +b  (");
    const csv = (await owner.get(`diff?from=${from}&format=csv`)).text;
    expect(csv).toContain(`,Gi1/0/1,${first.networkId},${host.id},core-1,fdb_macs,`);
  });

  test("text resolves references, and quotes strings from users verbatim", async () => {
    const { id: keyId } = newApiKey();
    const host = await newHost({ name: "core-1" });
    tick();
    const from = clock.text();
    tick();
    const setDescription = (description: string) =>
      owner.put(`hosts/${host.id}`, { id: host.id, name: "core-1", hidden: false, tags: [], description });
    for (const id of [keyId, first.userId, host.id as string]) {
      await setDescription(id);
      tick();
      expect((await owner.get(`diff?from=${from}&types=host&format=text`)).text).toContain(
        `      description: none → "${id}"  (`,
      );
    }
  });

  test("text compares two long lists in linear time", async () => {
    const macs = (first: number) =>
      Array.from(
        { length: 10_000 },
        (_, index) =>
          `02:00:00:0${first}:${[index >> 8, index & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`,
      );
    const host = await newHost({ name: "core-1" });
    const entry = await newIfEntry(host.id, { fdb_macs: macs(1) });
    tick();
    const from = clock.text();
    tick();
    expect(
      (
        await owner.put(`if-entries/${entry.id}`, {
          if_index: entry.if_index,
          if_descr: entry.if_descr,
          fdb_macs: macs(2),
        })
      ).status,
    ).toBe(200);
    tick();
    const measure = (format: string) =>
      processorMs(async () => {
        const { text } = await owner.get(`diff?from=${from}&types=if_entry&format=${format}`);
        expect(text.match(/02:00:00:0[12]:/g)).toHaveLength(20_000);
      });
    await measure("ndjson");
    // A nested loop over both lists would take tens of times as long.
    expect((await measure("text")) / (await measure("ndjson"))).toBeLessThan(5);
  });

  test("text is human-readable, without terminal control sequences", async () => {
    const response = await owner.get(`diff?from=${start}&format=text`);
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    expect(response.text).toContain(`Changes from ${start} to `);
    expect(response.text).toContain("\nTags\n");
    expect(response.text).toContain('      color: "Green" → "Blue"  (');
    expect(response.text).toMatch(/\n1 added, 0 removed, 1 changed\.\n$/);
    expect(response.text).not.toMatch(/[^\n\P{Cc}]/u);
    expect((await owner.get("diff?from=now&format=text")).text).toEndWith("\nNo changes.\n");
  });
});
