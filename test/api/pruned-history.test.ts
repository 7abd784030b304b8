// Thinned history at every endpoint that takes a timestamp: the last retained state, marked as such. Other history is
// unaffected.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import type { Resolution } from "../../src/db/pruned-history.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { DAY_MS } from "../support/store/store.ts";

const HOUR_MS = 3_600_000;

const appliance = applianceForEach();
const { clock, first, handle, newApiKey, newHost, newIfEntry, newMember, newSubnet, newTag, newUser, owner, prune } =
  appliance;
/** The host after each of its changes. */
let states: JsonRecord[];
/** Created and deleted on the first day; its end is the last transaction of that day. */
let shortLivedTag: JsonRecord;
let tagDeletedAt: string;

/**
 * Day 1 (2026-11-21): a host with two ports is created at 10:00, renamed at 11:00, loses a port at 12:00; a tag is
 * created and deleted. Day 2: renamed at 13:00 and 14:00. Day 3: at 15:00.
 */
beforeEach(async () => {
  // The set-up took a second.
  clock.advance(HOUR_MS - 1_000);
  const created = await newHost({ name: "one", ports: [tcp(22), tcp(80)] });
  states = [created];
  clock.advance(HOUR_MS);
  await change({ name: "two" });
  shortLivedTag = await newTag({ name: "brief" });
  clock.advance(HOUR_MS);
  await change({ name: "two", ports: [tcp(22)] });
  tagDeletedAt = (await owner.delete(`tags/${shortLivedTag.id}`)).data.valid_to;
  clock.advance(DAY_MS + HOUR_MS);
  await change({ name: "three" });
  clock.advance(HOUR_MS);
  await change({ name: "four" });
  clock.advance(DAY_MS + HOUR_MS);
  await change({ name: "five" });
  clock.advance(HOUR_MS);
});

async function change(changes: JsonRecord): Promise<void> {
  states.push(await expectOk(owner.put(`hosts/${states[0]?.id}`, hostBody(states.at(-1) as JsonRecord, changes))));
}

/** Thins history before a day of the month. */
function pruneBefore(day: number, keep: Resolution): void {
  expect(prune(Date.UTC(2026, 10, day), keep).report?.findings).toEqual([]);
  clock.advance(HOUR_MS);
}

const at = (text: string) => `at=2026-11-${text}Z`;
const id = () => states[0]?.id as string;
const validFrom = (index: number) => states[index]?.valid_from as string;
/** A state as shown after its end. */
const endedState = (index: number) => ({ ...states[index], valid_to: validFrom(index + 1) });

describe("a host whose first two days are thinned to daily states", () => {
  beforeEach(() => pruneBefore(23, "daily"));
  test("has the state of the previous day's end, with a notice", async () => {
    for (const instant of ["22T09:00:00", "22T12:59:59.999", "22T13:00:00", "22T13:59:59.999"]) {
      const response = await owner.get(`hosts/${id()}?${at(instant)}`);
      expect(response.data).toEqual(endedState(2));
      expect(response.body.meta).toMatchObject({
        at: formatInstant(Date.parse(`2026-11-${instant}Z`)),
        resolution: "daily",
        resolved_at: tagDeletedAt,
      });
      const list = await owner.get(`hosts?${at(instant)}`);
      expect(list.data).toEqual([response.data]);
      expect(list.body.meta).toEqual({
        ...response.body.meta,
        pagination: { total_count: 1, limit: 50, offset: 0, has_more: false },
      });
    }
  });

  test("has its exact state from the end of the last thinned day on, without a notice", async () => {
    for (const [instant, index] of [
      ["22T14:00:00.000", 4],
      ["23T00:00:00", 4],
      ["23T14:59:59.999", 4],
      ["23T15:00:00", 5],
    ] as const) {
      const response = await owner.get(`hosts/${id()}?${at(instant)}`);
      expect(response.data).toEqual(index === 5 ? states[5] : endedState(index));
      expect(Object.keys(response.body.meta)).toEqual(["api_version", "server_version", "at"]);
    }
    const live = await owner.get(`hosts/${id()}`);
    expect(live.data).toEqual(states[5]);
    expect(Object.keys(live.body.meta)).toEqual(["api_version", "server_version"]);
  });

  test("is unknown before the first kept state, like everything else", async () => {
    const list = await owner.get(`hosts?${at("21T11:30:00")}`);
    expect(list.data).toEqual([]);
    expect(list.body.meta).toMatchObject({ resolution: "daily", resolved_at: null, pagination: { total_count: 0 } });
    const response = await owner.get(`hosts/${id()}?${at("21T11:30:00")}`);
    expect([response.status, response.body.code, response.body.params]).toEqual([
      404,
      "entity_not_found",
      { entity: "host", id: id(), resolution: "daily", resolved_at: null },
    ]);
    expect(response.body.error).toEndWith("History was thinned there: no earlier state is retained.");
    // Before the first transaction there was nothing, which is exact.
    expect((await owner.get(`hosts?${at("20T00:00:00")}`)).body.meta).not.toHaveProperty("resolution");
  });

  test("is exported as listed, with headers giving notice", async () => {
    const csv = await owner.get(`hosts/export/csv?include_children=false&${at("22T13:30:00")}`);
    expect(csv.text).toContain("two");
    expect([csv.headers.get("x-resolution"), csv.headers.get("x-resolved-at")]).toEqual(["daily", tagDeletedAt]);
    const exact = await owner.get(`hosts/export/csv?${at("22T14:30:00")}`);
    expect([exact.headers.get("x-resolution"), exact.headers.get("x-resolved-at")]).toEqual([null, null]);
    const long = await owner.get(`hosts?limit=0&order_by=name&${at("22T13:30:00")}`);
    expect(long.body.meta).toMatchObject({ resolution: "daily" });
  });

  test("has the remaining versions as its history, marked as incomplete", async () => {
    const response = await owner.get(`hosts/${id()}/history`);
    expect(response.data.map((version: JsonRecord) => [version.operation, version.record.name])).toEqual([
      ["Updated", "five"],
      ["Updated", "four"],
      ["Updated", "two"],
    ]);
    expect(response.data.map((version: JsonRecord) => version.record)).toEqual([
      states[5],
      endedState(4),
      endedState(2),
    ]);
    expect(response.body.meta).toMatchObject({ thinned_until: validFrom(4), pagination: { total_count: 3 } });
    const past = await owner.get(`hosts/${id()}/history?${at("22T13:30:00")}`);
    expect(past.data).toEqual(response.data.slice(2));
    expect(past.body.meta).toMatchObject({ resolution: "daily", thinned_until: validFrom(4) });
    // Records created since have their full history.
    const tag = await newTag({ name: "new" });
    expect((await owner.get(`tags/${tag.id}/history`)).body.meta).not.toHaveProperty("thinned_until");
  });

  test("is found by remaining names, and by no other at any time", async () => {
    const found = async (search: string, when = "") =>
      (await owner.get(`hosts?search=${search}${when}`)).data.map((host: JsonRecord) => host.name);
    for (const name of ["one", "three", "brief"])
      for (const when of ["21T10:30:00", "21T23:00:00", "22T13:30:00", "22T23:00:00", "23T23:00:00"])
        expect(await found(name, `&${at(when)}`)).toEqual([]);
    expect(await found("two", `&${at("22T13:30:00")}`)).toEqual(["two"]);
    expect(await found("four", `&${at("23T01:00:00")}`)).toEqual(["four"]);
    expect(await found("five")).toEqual(["five"]);
    expect((await owner.get(`tags?ids=${shortLivedTag.id}&${at("21T12:30:00")}`)).data).toEqual([]);
    expect((await owner.get(`tags/${shortLivedTag.id}/history`)).status).toBe(404);
  });

  test("is restored to the last kept state", async () => {
    const plan = await owner.post(`hosts/${id()}/restore`, { at: "2026-11-22T13:30:00Z", dry_run: true });
    expect(plan.data.actions).toContainEqual(
      expect.objectContaining({ entity_type: "host", action: "Update", fields: ["name"] }),
    );
    expect(plan.body.meta).toMatchObject({ resolution: "daily" });
    await expectOk(owner.post(`hosts/${id()}/restore`, { at: "2026-11-22T13:30:00Z" }));
    expect((await owner.get(`hosts/${id()}`)).data.name).toBe("two");
    const exact = await owner.post(`hosts/${id()}/restore`, { at: "2026-11-22T14:30:00Z", dry_run: true });
    expect(exact.body.meta).not.toHaveProperty("resolution");
  });

  test("has stable ETags", async () => {
    const response = await owner.get(`hosts/${id()}?${at("22T13:30:00")}`);
    const revalidated = await owner.get(`hosts/${id()}?${at("22T12:30:00")}`, {
      "if-none-match": response.headers.get("etag") as string,
    });
    expect(revalidated.status).toBe(304);
  });
});

describe("changes over thinned history", () => {
  beforeEach(() => pruneBefore(23, "daily"));

  test("are the transactions with remaining versions", async () => {
    const response = await owner.get("transactions?limit=0");
    expect(response.body.meta.thinned_until).toBe(validFrom(4));
    const commands = response.data.map((transaction: JsonRecord) => [transaction.command, transaction.changes.host]);
    expect(commands.filter(([, host]: [string, unknown]) => host !== undefined)).toEqual([
      ["host.update", { Updated: 1 }],
      ["host.update", { Updated: 1 }],
      ["host.update", { Updated: 1 }],
    ]);
    expect(commands.some(([command]: [string]) => command.startsWith("tag."))).toBe(false);
    const [newest] = response.data;
    expect((await owner.get(`transactions/${newest.sequence}`)).body.meta).not.toHaveProperty("thinned_until");
    const [, , oldest] = response.data;
    expect((await owner.get(`transactions/${oldest.sequence}`)).body.meta).toHaveProperty(
      "thinned_until",
      validFrom(4),
    );
    expect((await owner.get(`transactions?${at("22T13:30:00")}`)).body.meta).toMatchObject({
      resolution: "daily",
      thinned_until: validFrom(4),
    });
  });

  test("are fed in order, and a cursor before them gets a notice of gaps", async () => {
    const ledger = (await owner.get("ledger")).data;
    const until = ledger.thinned[0].last_sequence;
    const response = await owner.get("changes?types=host");
    expect(response.data.map((change: JsonRecord) => change.record.name)).toEqual(["two", "four", "five"]);
    expect(response.body.meta.feed).toEqual({
      after: ledger.sequence,
      mark: ledger.hash.slice(0, 8),
      has_more: false,
      thinned_until: until,
    });
    expect((await owner.get("changes?limit=1")).body.meta.feed).toHaveProperty("thinned_until", until);
    expect((await owner.get(`changes?after=${until - 1}`)).body.meta.feed).toHaveProperty("thinned_until", until);
    const after = await owner.get(`changes?after=${until}`);
    expect(after.data.map((change: JsonRecord) => change.record.name)).toEqual(["five"]);
    expect(after.body.meta.feed).toEqual({ after: ledger.sequence, mark: ledger.hash.slice(0, 8), has_more: false });
  });

  test("are streamed as events after a notice", async () => {
    const stream = await handle(
      new Request("http://localhost/api/v1/changes?types=host", {
        headers: { authorization: `Bearer ${newApiKey().key}`, accept: "text/event-stream" },
      }),
    );
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes('"five"')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(text.replace(/^retry.*\n\n/, "")).toMatch(
      /^event: thinned\ndata: \{"thinned_until":\d+\}\n\nevent: change\n/,
    );
    expect(text.match(/^event: thinned$/gm)).toHaveLength(1);
  });

  test("are the difference of kept states, without an actor if that is unknown", async () => {
    const response = await owner.get("diff?from=2026-11-22T13:30:00Z&types=host,port");
    expect(response.data.from).toMatchObject({ at: "2026-11-22T13:30:00.000Z", resolution: "daily" });
    expect(response.data.to).not.toHaveProperty("resolution");
    expect(response.body.meta.thinned_until).toBe(validFrom(4));
    expect(response.data.changed).toEqual([
      expect.objectContaining({
        id: id(),
        fields: [
          { field: "name", from: "two", to: "five", transaction: expect.objectContaining({ at: validFrom(5) }) },
        ],
      }),
    ]);

    // The author of the rename to "four" is unknown: the previous version, of the same day, was dropped.
    const days = await owner.get("diff?from=2026-11-22T00:00:00Z&to=2026-11-23T00:00:00Z&types=host");
    expect(days.data.changed[0].fields).toEqual([
      { field: "name", from: "two", to: "four", transaction: expect.objectContaining({ at: validFrom(4) }) },
    ]);

    const all = await owner.get("diff?from=2026-11-20T00:00:00Z&types=host,port,tag");
    expect(all.data.added.map((record: JsonRecord) => [record.entity_type, record.name])).toEqual([
      ["host", "five"],
      ["port", "22/Tcp"],
    ]);
    expect([all.data.removed, all.data.changed]).toEqual([[], []]);
    expect(all.data.from).toEqual({ at: "2026-11-20T00:00:00.000Z", sequence: 0 });

    const text = await owner.get("diff?from=2026-11-22T13:30:00Z&format=text");
    expect(text.text).toContain(
      `\nHistory up to ${validFrom(4)} was thinned: some changes were dropped.\nThe beginning is as of `,
    );
    expect(text.headers.get("x-thinned-until")).toBe(validFrom(4));
    const exact = await owner.get("diff?from=2026-11-22T14:30:00Z&format=csv");
    expect(exact.headers.get("x-thinned-until")).toBeNull();
    expect((await owner.get("diff?from=2026-11-22T14:30:00Z")).body.meta).not.toHaveProperty("thinned_until");
  });

  test("cannot be reverted, unlike later ones", async () => {
    const { data } = await owner.get("transactions");
    const [newest, thinned] = data;
    const refused = await owner.post(`transactions/${thinned.sequence}/revert`, {});
    expect([refused.status, refused.body.code]).toEqual([409, "entity_stale"]);
    expect((await owner.post(`transactions/${newest.sequence}/revert`, {})).status).toBe(200);
    expect((await owner.get(`hosts/${id()}`)).data.name).toBe("four");
  });

  test("are reflected in the ledger's head if the ledger itself was changed", async () => {
    const { data } = await owner.get("ledger");
    expect(data.thinned).toEqual([
      {
        first_sequence: 1,
        last_sequence: expect.any(Number),
        until: validFrom(4),
        resolution: "daily",
        pruned_by: data.sequence,
      },
    ]);
  });
});

test("the author of a field's change is omitted if a later change may have been dropped", async () => {
  const ann = await newMember();
  // Day 3, after "five": Ann renames it, and the Owner overwrites it the same day.
  await expectOk(ann.client.put(`hosts/${id()}`, hostBody(states.at(-1) as JsonRecord, { name: "by Ann" })));
  states.push((await owner.get(`hosts/${id()}`)).data);
  clock.advance(HOUR_MS);
  await change({ name: "by Ann", description: "by the Owner" });
  clock.advance(2 * DAY_MS);
  pruneBefore(24, "daily");
  const { data } = await owner.get("diff?from=2026-11-22T23:00:00Z&types=host");
  expect(data.changed[0].fields).toEqual([
    {
      field: "description",
      from: null,
      to: "by the Owner",
      transaction: expect.objectContaining({ actor: expect.objectContaining({ id: first.userId }) }),
    },
    { field: "name", from: "four", to: "by Ann", transaction: null },
  ]);
  const csv = await owner.get("diff?from=2026-11-22T23:00:00Z&types=host&format=csv");
  expect(csv.text).toMatch(/,name,four,by Ann,,,,,,\r\n/);
  const text = await owner.get("diff?from=2026-11-22T23:00:00Z&types=host&format=text");
  expect(text.text).toContain('      name: "four" → "by Ann"  (author unknown)\n');
});

test("a changed field is found even if the remaining version names others", async () => {
  await change({ name: "six" });
  clock.advance(HOUR_MS);
  // The host's version lists only its ports.
  await change({ ports: [] });
  clock.advance(2 * DAY_MS);
  pruneBefore(24, "daily");
  const { data } = await owner.get("diff?from=2026-11-22T23:00:00Z&types=host");
  expect(data.changed.map((record: JsonRecord) => record.fields)).toEqual([
    [{ field: "name", from: "four", to: "six", transaction: null }],
  ]);
});

test("references of a remaining version are shown as kept with it", async () => {
  const user = await newUser({ role: "Member", networkIds: [] });
  const { id: keyId } = newApiKey({ userId: user.id });
  clock.advance(HOUR_MS);
  const { data } = await owner.get(`users/${user.id}`);
  await expectOk(
    owner.put(`users/${user.id}`, {
      email: data.email,
      name: data.name,
      role: "Member",
      network_ids: [first.networkId],
    }),
  );
  clock.advance(2 * DAY_MS);
  pruneBefore(24, "daily");
  const history = await owner.get(`auth/keys/${keyId}/history`);
  expect(history.data.map((version: JsonRecord) => version.record.network_ids)).toEqual([[first.networkId]]);
});

test("a diff of one host includes changes to its parts, even if its own versions were dropped", async () => {
  const { data: ports } = await owner.get(`ports?host_id=${id()}`);
  // In one transaction with the port; then, on the same day, only the host.
  await change({ ports: [tcp(23, ports[0].id)] });
  clock.advance(HOUR_MS);
  await change({ description: "later" });
  clock.advance(2 * DAY_MS);
  const query = `diff?from=2026-11-22T23:00:00Z&host_id=${id()}&types=port`;
  const exact = (await owner.get(query)).data;
  expect(exact.counts).toEqual({ port: { changed: 1 } });
  pruneBefore(24, "daily");
  expect((await owner.get(query)).data.changed).toEqual(exact.changed);
});

test("locate uses the kept state, and its timeline has kept states only", async () => {
  await newSubnet({ cidr: "192.0.2.0/24", name: "Servers" });
  const device = await newHost({ name: "switch" });
  const mac = "00:1b:21:00:00:07";
  const [first, second] = [
    await newIfEntry(device.id, { oper_status: "Up", fdb_macs: [mac] }),
    await newIfEntry(device.id, { oper_status: "Up", fdb_macs: [] }),
  ];
  const move = async (from: JsonRecord, to: JsonRecord) => {
    clock.advance(HOUR_MS);
    for (const [port, macs] of [
      [from, []],
      [to, [mac]],
    ] as const)
      await expectOk(
        owner.put(`if-entries/${port.id}`, { if_index: port.if_index, if_descr: port.if_descr, fdb_macs: macs }),
      );
  };
  // Back and forth twice on one day, and then it stays.
  await move(first, second);
  await move(second, first);
  await move(first, second);
  clock.advance(HOUR_MS);
  const { created_at: retainedAt } = await newTag({ name: "the day's last transaction" });
  // The next day it goes down, then gets another name, which locate ignores.
  clock.advance(DAY_MS);
  for (const fields of [{ oper_status: "Down" }, { oper_status: "Down", if_alias: "seven" }]) {
    clock.advance(HOUR_MS);
    await expectOk(
      owner.put(`if-entries/${second.id}`, { if_index: second.if_index, if_descr: second.if_descr, ...fields }),
    );
  }
  const down = clock.text();
  clock.advance(DAY_MS);
  pruneBefore(25, "daily");

  const located = await owner.get(`locate?mac=${mac}&at=2026-11-23T17:30:00Z`);
  expect(located.body.meta).toMatchObject({ resolution: "daily" });
  expect(located.data.candidates).toEqual([]);
  const later = await owner.get(`locate?mac=${mac}&at=2026-11-24T00:00:00Z`);
  expect(later.data.candidates[0].port.id).toBe(second.id);
  expect(later.body.meta).toMatchObject({ resolution: "daily", resolved_at: retainedAt });
  expect((await owner.get(`locate?mac=${mac}&at=${down}`)).body.meta).not.toHaveProperty("resolution");
  const timeline = await owner.get(`locate/timeline?mac=${mac}`);
  expect(timeline.data.intervals.map((item: JsonRecord) => [item.from, item.to, item.port.id])).toEqual([
    [retainedAt, down, second.id],
    [down, null, second.id],
  ]);
  expect(timeline.body.meta).toHaveProperty("thinned_until");
});

test("prunes of different resolutions each give their own notice", async () => {
  pruneBefore(22, "none");
  pruneBefore(23, "daily");
  const resolved = async (when: string) => {
    const { meta } = (await owner.get(`hosts?${at(when)}`)).body;
    return [meta.resolution, meta.resolved_at];
  };
  expect(await resolved("21T10:30:00")).toEqual(["none", null]);
  expect(await resolved("22T00:00:00")).toEqual([undefined, undefined]);
  expect(await resolved("22T13:30:00")).toEqual(["daily", tagDeletedAt]);
  expect(await resolved("22T14:30:00")).toEqual([undefined, undefined]);
  // The end of a version in the next segment.
  const host = (await owner.get(`hosts/${id()}?${at("22T00:00:00")}`)).data;
  expect(host).toEqual(endedState(2));
  expect((await owner.get("ledger")).data.thinned.map((segment: JsonRecord) => segment.resolution)).toEqual([
    "none",
    "daily",
  ]);
});
