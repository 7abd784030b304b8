// Time contract (handbook: time, "The at parameter"): timestamp formats, records valid at them, and writes with and
// without a version.

import { describe, expect, test } from "bun:test";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { newRecordFixture, OPERATIONS, PLURALS } from "../support/contract/operations.ts";
import {
  envelopeProblems,
  expectRefusal,
  expectSuccess,
  hostShape,
  issuePaths,
  problems,
} from "../support/contract/shapes.ts";

const LONG_AGO = "2001-01-01T00:00:00Z";
const SECOND = 1_000;

const appliance = applianceForEach();
const { clock, first, handle, inTransaction, keyBody, live, newApiKey, newCredential, newHost } = appliance;
const { newIfEntry, newNetwork, newSubnet, newTag, owner } = appliance;
const { newUser, newVlan, transactionCount, watchWrites, versionsOf, newViewer, newStranger } = appliance;

/** Ids of a list as of a timestamp, or live. */
async function ids(plural: string, at?: string, filter = "", caller = owner): Promise<string[]> {
  const response = await caller.get(`${plural}?${new URLSearchParams(at === undefined ? {} : { at })}${filter}`);
  expect([plural, at, response.status, envelopeProblems(response)]).toEqual([plural, at, 200, []]);
  expect(response.body.meta.pagination.total_count).toBe(response.data.length);
  return response.data.map((item: JsonRecord) => item.id);
}

function recordAt(plural: string, id: string, at: string, caller = owner): Promise<JsonRecord> {
  return expectSuccess(caller.get(`${plural}/${id}?${new URLSearchParams({ at })}`));
}

/** Advances by a second. @returns the new time */
function advance(ms = SECOND): string {
  clock.advance(ms);
  return clock.text();
}

function shiftInstant(instant: string, ms: number): string {
  return new Date(Date.parse(instant) + ms).toISOString();
}

async function rename(tag: JsonRecord, name: string): Promise<JsonRecord> {
  return expectSuccess(owner.put(`tags/${tag.id}`, { name, color: tag.color }));
}

async function remove(plural: string, id: string): Promise<JsonRecord> {
  return expectSuccess(owner.delete(`${plural}/${id}`));
}

async function putHost(host: JsonRecord, changes: JsonRecord): Promise<JsonRecord> {
  return expectSuccess(owner.put(`hosts/${host.id}`, hostBody(host, changes)));
}

describe("a timestamp", () => {
  test("never changes once returned, even if the clock is set back before a write", async () => {
    advance();
    const tag = await newTag({ name: "first" });
    const minute = 60 * SECOND;
    advance(minute);
    const instant = advance();
    advance();
    const before = await recordAt("tags", tag.id, instant);
    clock.advance(-minute);
    const renamed = await rename(tag, "second");
    expect(renamed.valid_from).toBe(shiftInstant(instant, 1));
    // While the clock is behind the timestamp, it means now.
    expect(await recordAt("tags", tag.id, instant)).toEqual(renamed);
    clock.advance(2 * minute);
    expect(await recordAt("tags", tag.id, instant)).toEqual({ ...before, valid_to: renamed.valid_from });
  });

  test("appears in the 404 error for a record created later", async () => {
    const instant = clock.text();
    advance();
    const tag = await newTag();
    advance();
    const response = await owner.get(`tags/${tag.id}?at=${instant}`);
    expect([response.status, response.body.error]).toEqual([
      404,
      `There was no tag with the id ${tag.id} at ${instant}.`,
    ]);
  });

  test("may be in the future, without any guarantee and without delaying writes", async () => {
    const tag = await newTag({ name: "first" });
    expect(await recordAt("tags", tag.id, "2999-01-01T00:00:00Z")).toMatchObject({ name: "first" });
    advance();
    expect((await rename(tag, "second")).valid_from).toBe(clock.text());
  });

  test("accepts any offset, either case, and any number of digits, ignoring those below a millisecond", async () => {
    advance();
    const tag = await newTag();
    advance();
    const from = tag.valid_from;
    const local = (minutes: number, sign: string, offset: string) =>
      shiftInstant(from, minutes * 60_000).replace("Z", `${sign}${offset}`);
    for (const at of [
      from,
      from.toLowerCase(),
      local(330, "+", "05:30"),
      local(-480, "-", "08:00"),
      local(0, "+", "00:00"),
      local(0, "-", "00:00"),
      from.replace("Z", "0Z"),
      from.replace("Z", "999999999999Z"),
      from.replace(".000Z", "Z"),
    ]) {
      expect([at, await ids("tags", at)]).toEqual([at, [tag.id]]);
    }
    const before = shiftInstant(from, -1);
    for (const at of [
      before.replace("Z", "9Z"),
      before.replace("Z", "999999999Z"),
      shiftInstant(before, 60 * 60_000).replace("Z", "999+01:00"),
    ])
      expect([at, await ids("tags", at)]).toEqual([at, []]);
  });

  test("yields empty lists, and 404 for one record, before the first transaction", async () => {
    const fixture = await newRecordFixture(appliance);
    advance();
    for (const plural of PLURALS) {
      for (const at of [LONG_AGO, "0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z"])
        expect([plural, at, await ids(plural, at)]).toEqual([plural, at, []]);
      const response = await owner.get(`${plural}?limit=0&at=${LONG_AGO}`);
      expect([response.data, response.body.meta.pagination.total_count]).toEqual([[], 0]);
      await expectRefusal(
        owner.get(`${plural}/${fixture.records[plural]?.id}?at=${LONG_AGO}`),
        404,
        "entity_not_found",
      );
    }
  });

  test("is the live state of everything at or after the current time", async () => {
    const fixture = await newRecordFixture(appliance);
    advance();
    for (const plural of PLURALS) {
      const [all, record] = [
        (await owner.get(plural)).data,
        (await owner.get(`${plural}/${fixture.records[plural]?.id}`)).data,
      ];
      for (const at of [
        clock.text(),
        shiftInstant(clock.text(), 1),
        "2999-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999Z",
      ]) {
        expect([plural, (await owner.get(`${plural}?at=${at}`)).data]).toEqual([plural, all]);
        expect([plural, await recordAt(plural, record.id, at)]).toEqual([plural, record]);
      }
    }
  });

  test("is echoed in meta.at as requested, and absent from requests without it", async () => {
    const tag = await newTag();
    for (const [at, echo] of [
      ["2026-11-21T10:00:00.5+01:00", "2026-11-21T09:00:00.500Z"],
      [LONG_AGO, "2001-01-01T00:00:00.000Z"],
      ["2999-01-01T00:00:00Z", "2999-01-01T00:00:00.000Z"],
    ] as const) {
      for (const query of ["", "&limit=0"]) {
        const response = await owner.get(`tags?at=${encodeURIComponent(at)}${query}`);
        expect([response.body.meta.at, envelopeProblems(response)]).toEqual([echo, []]);
      }
    }
    expect((await owner.get(`tags/${tag.id}?at=2999-01-01T00:00:00Z`)).body.meta.at).toBe("2999-01-01T00:00:00.000Z");
    for (const path of ["tags", `tags/${tag.id}`]) expect((await owner.get(path)).body.meta).not.toHaveProperty("at");
  });

  test("may be given as an age, and is echoed as the resolved timestamp", async () => {
    const tag = await newTag({ name: "before" });
    clock.advance(5 * 86_400_000);
    await expectOk(owner.put(`tags/${tag.id}`, { ...tag, name: "after" }));
    clock.advance(60_000);
    const now = clock.text();
    for (const [age, ms, name] of [
      ["-59s", 59_000, "after"],
      ["-61s", 61_000, "before"],
      ["-2m", 120_000, "before"],
      ["-24h", 86_400_000, "before"],
      ["-4d", 4 * 86_400_000, "before"],
      ["-1w", 7 * 86_400_000, null],
      ["-3w", 21 * 86_400_000, null],
      ["-0s", 0, "after"],
    ] as const) {
      const at = shiftInstant(now, -ms);
      for (const path of ["tags?", "tags?limit=0&", `tags?ids=${tag.id}&`]) {
        const { data, body } = await owner.get(`${path}at=${age}`);
        expect([age, path, body.meta.at, data.map((tag: JsonRecord) => tag.name)]).toEqual([
          age,
          path,
          at,
          name === null ? [] : [name],
        ]);
      }
      const recordAt = await owner.get(`tags/${tag.id}?at=${age}`);
      if (name === null) expect(recordAt).toMatchObject(refusal(404, "entity_not_found"));
      else expect([recordAt.data.name, recordAt.body.meta.at]).toEqual([name, at]);
      const table = await owner.get(`tags/export/csv?at=${age}`);
      expect([table.headers.get("content-disposition"), csvRecords(table.text).map((row) => row.name)]).toEqual([
        `attachment; filename="tags-${at.replaceAll(":", "-")}.csv"`,
        name === null ? [] : [name],
      ]);
    }
    expect((await owner.get(`tags/${tag.id}/history?at=-24h`)).data).toHaveLength(1);
    expect((await owner.get("locate?hostname=nobody&at=-24h")).body.meta.at).toBe(shiftInstant(now, -86_400_000));
    const plan = await owner.post(`tags/${tag.id}/restore`, { at: "-24h", dry_run: true });
    expect(plan).toMatchObject({
      status: 200,
      data: { at: shiftInstant(now, -86_400_000), actions: [{ action: "Update", fields: ["name"] }] },
    });
    const refused = await owner.get("tags?at=-24");
    expect(refused.body.params.issues).toEqual([
      {
        path: "/at",
        message: expect.stringContaining(
          "2026-11-21T09:15:00.123Z, an age such as -90s, -15m, -24h, -7d or -2w, or a marker such as marker:NAME",
        ),
        value: "-24",
      },
    ]);
    expect(await owner.post(`tags/${tag.id}/restore`, { at: "-1y" })).toMatchObject(
      invalid({ path: "/at", value: "-1y", message: expect.stringContaining("an age such as") }),
    );
  });

  test("is accepted by every list and every single-record GET; an invalid one is 400 by name", async () => {
    const fixture = await newRecordFixture(appliance);
    for (const operation of OPERATIONS.filter(
      ({ method, returns: result }) => method === "GET" && result !== "something else",
    )) {
      const path = operation.path.replace(":id", fixture.records[operation.plural ?? ""]?.id);
      expect((await owner.get(`${path}?at=${encodeURIComponent(advance())}`)).status).toBe(200);
      for (const at of [
        "",
        "now",
        "soon",
        "yesterday",
        "-24",
        "24h",
        "-1y",
        "-1.5h",
        "-24H",
        "- 24h",
        "--24h",
        "-24h ",
        "-999999999999999w",
        "2026-11-21",
        "2026-11-21T09:00:00",
        "2026-11-21 09:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T09:60:00Z",
        "2026-11-21T09:00:00.Z",
        "2026-11-21T09:00:00+25:00",
        "2026-11-21T09:00:00+0100",
        "20261121T090000Z",
        "1795251600",
        "1795251600000",
        "-2026-11-21T09:00:00Z",
        "null",
      ]) {
        expect([path, at, await issuePaths(owner.get(`${path}?at=${encodeURIComponent(at)}`))]).toEqual([
          path,
          at,
          ["/at"],
        ]);
      }
    }
  });

  test("is rejected by writes: the past cannot be changed", async () => {
    const tag = await newTag();
    const at = advance();
    for (const response of [
      await owner.put(`tags/${tag.id}?at=${at}`, { name: "then", color: "Red" }),
      await owner.delete(`tags/${tag.id}?at=${at}`),
      await owner.post(`tags?at=${at}`, { name: "then", color: "Red" }),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
    }
  });
});

describe("the past", () => {
  test("never changes afterwards, except for valid_to of a current version", async () => {
    const fixture = await newRecordFixture(appliance);
    const at = advance();
    advance();
    const snapshots = new Map<string, JsonRecord[]>();
    const strip = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/,"valid_to":("[^"]*"|null)/g, ""));
    for (const plural of PLURALS)
      snapshots.set(plural, strip((await owner.get(`${plural}?at=${at}`)).data) as JsonRecord[]);
    const host = fixture.records.hosts as JsonRecord;
    await putHost(host, { name: "changed", ports: [], services: [], ip_addresses: [], tags: [] });
    await rename(fixture.records.tags as JsonRecord, "changed");
    await newIfEntry(host.id);
    await remove("if-entries", (fixture.records["if-entries"] as JsonRecord).id);
    await expectSuccess(owner.put(`users/${fixture.records.users?.id}`, { ...fixture.records.users, name: "changed" }));
    advance();
    await remove("hosts", host.id);
    await remove("tags", fixture.records.tags?.id);
    advance();
    for (const plural of PLURALS)
      expect([plural, strip((await owner.get(`${plural}?at=${at}`)).data)]).toEqual([plural, snapshots.get(plural)]);
  });

  test("shows a host with its children, interfaces and assignments at that time, including in lists", async () => {
    await newSubnet({ cidr: "192.0.2.0/24" });
    const credential = await newCredential();
    const host = await newHost({
      ip_addresses: [{ ip_address: "192.0.2.1", name: "old" }],
      ports: [tcp(80)],
      credential_assignments: [{ credential_id: credential.id }],
    });
    const bound = await putHost(host, {
      services: [
        {
          name: "s",
          service_definition: "S",
          bindings: [{ type: "Port", port_id: host.ports[0].id, ip_address_id: null }],
        },
      ],
    });
    const entry = await newIfEntry(host.id, { if_alias: "old" });
    const complete = await live("hosts", host.id);
    const instant = advance();
    advance();
    await putHost(host, {
      name: "new",
      ip_addresses: [{ ip_address: "192.0.2.1", name: "new" }, { ip_address: "192.0.2.2" }],
      ports: [],
      services: [],
      credential_assignments: [],
    });
    await expectSuccess(
      owner.put(`if-entries/${entry.id}`, {
        host_id: host.id,
        if_index: entry.if_index,
        if_descr: "new",
        if_alias: null,
      }),
    );
    advance();
    const past = await recordAt("hosts", host.id, instant);
    const withoutEnds = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll(/"valid_to":"[^"]*"/g, '"valid_to":null'));
    expect(problems(past, hostShape)).toEqual([]);
    expect(withoutEnds(past)).toEqual(complete);
    expect(past.ports[0].valid_to).not.toBeNull();
    expect(past.services[0].bindings[0].id).toBe(bound.services[0].bindings[0].id);
    expect((await owner.get(`hosts?at=${instant}`)).data).toEqual([past]);
    await remove("hosts", host.id);
    advance();
    expect(withoutEnds(await recordAt("hosts", host.id, instant))).toEqual(complete);
    expect(await ids("if-entries", instant, `&host_id=${host.id}`)).toEqual([entry.id]);
    expect(await ids("if-entries", undefined, `&host_id=${host.id}`)).toEqual([]);
  });

  test("is filtered, ordered and paged by its own values", async () => {
    const tags = [];
    for (const name of ["b", "a", "c"]) {
      tags.push(await newTag({ name, color: name === "b" ? "Red" : "Blue" }));
      advance();
    }
    const [b, a, c] = tags as [JsonRecord, JsonRecord, JsonRecord];
    const instant = clock.text();
    advance();
    await rename(b, "z");
    await remove("tags", a.id);
    await newTag({ name: "aa" });
    advance();
    const list = async (query: string) =>
      (await owner.get(`tags?at=${instant}${query}`)).data.map((tag: JsonRecord) => tag.name);
    expect(await list("&order_by=name")).toEqual(["a", "b", "c"]);
    expect(await list("&order_by=name&order_direction=desc")).toEqual(["c", "b", "a"]);
    expect(await list("&group_by=color&order_by=name&order_direction=desc")).toEqual(["c", "a", "b"]);
    expect(await list("&order_by=updated_at")).toEqual(["b", "a", "c"]);
    expect(await list("")).toEqual(["b", "a", "c"]);
    expect(await list(`&ids=${a.id},${c.id}`)).toEqual(["a", "c"]);
    for (const [limit, offset] of [
      [1, 0],
      [1, 1],
      [2, 1],
      [0, 1],
      [1, 3],
    ] as const) {
      const response = await owner.get(`tags?at=${instant}&order_by=name&limit=${limit}&offset=${offset}`);
      expect(response.data.map((tag: JsonRecord) => tag.name)).toEqual(
        ["a", "b", "c"].slice(offset, limit === 0 ? undefined : offset + limit),
      );
      expect(response.body.meta.pagination).toEqual({
        limit,
        offset,
        total_count: 3,
        has_more: limit !== 0 && offset + limit < 3,
      });
    }
  });

  test("supports filters that matched only then: by a network, host or entry deleted since", async () => {
    const network = await newNetwork();
    const filter = `&network_id=${network.id}`;
    const vlan = await newVlan({ network_id: network.id });
    const subnet = await newSubnet({ network_id: network.id, cidr: "192.0.2.0/24" });
    const host = await newHost({ network_id: network.id });
    const entry = await newIfEntry(host.id);
    const instant = advance();
    advance();
    await remove("hosts", host.id);
    await remove("subnets", subnet.id);
    await remove("vlans", vlan.id);
    await remove("networks", network.id);
    advance();
    const all = { vlans: vlan, subnets: subnet, hosts: host, "if-entries": entry } as Record<string, JsonRecord>;
    for (const [plural, record] of Object.entries(all)) {
      expect([plural, await ids(plural, instant, filter)]).toEqual([plural, [record.id]]);
      expect([plural, await ids(plural, undefined, filter)]).toEqual([plural, []]);
      expect((await recordAt(plural, record.id, instant)).id).toBe(record.id);
    }
    expect(await ids("networks", instant)).toContain(network.id);
    expect(await ids("networks")).not.toContain(network.id);
  });

  test("is stable during writes: its pages neither overlap nor skip", async () => {
    for (let n = 0; n < 7; n++) await newTag();
    const instant = advance();
    advance();
    const all = await ids("tags", instant);
    const paged: string[] = [];
    for (let offset = 0; offset < 7; offset += 2) {
      paged.push(
        ...(await owner.get(`tags?at=${instant}&limit=2&offset=${offset}`)).data.map((tag: JsonRecord) => tag.id),
      );
      await remove("tags", all[offset] as string);
      await newTag();
    }
    expect(paged).toEqual(all);
    expect((await owner.get(`tags?at=${instant}&limit=0`)).data.map((tag: JsonRecord) => tag.id)).toEqual(all);
  });

  for (const query of ["", "&order_by=name&order_direction=desc", "&at"]) {
    test(`and the current state are consistent across a list without limit${query === "" ? "" : ` (${query.slice(1)})`}, despite concurrent writes`, async () => {
      const { organizationId: organization_id } = first;
      inTransaction((tx) => {
        for (let n = 0; n < 2_500; n++)
          tx.create(tagKind, organization_id, {
            organization_id,
            name: `tag ${String(n).padStart(4, "0")}`,
            description: "",
            color: "Green",
            is_application: false,
          });
      });
      const { key } = newApiKey();
      const url = `http://localhost/api/v1/tags?limit=0${query === "&at" ? `&at=${advance()}` : query}`;
      advance();
      const complete = (await owner.get(url.slice("http://localhost".length))).data as JsonRecord[];
      const response = await handle(new Request(url, { headers: { authorization: `Bearer ${key}` } }));
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = "";
      let chunks = 0;
      for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
        text += decoder.decode(part.value, { stream: true });
        chunks += 1;
        if (chunks > 1) continue;
        const [first, last, middle] = [complete[0], complete.at(-1), complete.at(-2)] as [
          JsonRecord,
          JsonRecord,
          JsonRecord,
        ];
        await remove("tags", first.id);
        await remove("tags", last.id);
        await rename(middle, "renamed");
        await newTag({ name: "tag 0000a" });
        await newTag({ name: "zzz" });
      }
      const body = JSON.parse(text);
      expect(chunks).toBeGreaterThan(1);
      expect(body.meta.pagination).toEqual({ limit: 0, offset: 0, total_count: 2_500, has_more: false });
      const withoutEnds = (tags: JsonRecord[]) => tags.map(({ valid_to: _, ...tag }) => tag);
      expect(withoutEnds(body.data)).toEqual(withoutEnds(complete));
    });
  }

  test("has the observations written with the version, not the current ones", async () => {
    const { id, client } = newApiKey();
    const instant = advance();
    advance();
    await expectSuccess(client.get("tags"));
    advance();
    expect((await live("auth/keys", id)).last_used).not.toBeNull();
    expect((await recordAt("auth/keys", id, instant)).last_used).toBeNull();
    expect((await owner.get(`auth/keys?at=${instant}`)).data[0].last_used).toBeNull();
  });

  test("has an ETag of its own version", async () => {
    const tag = await newTag();
    const path = `tags/${tag.id}`;
    const first = (await owner.get(path)).headers.get("etag");
    const instant = advance();
    advance();
    await rename(tag, "changed");
    advance();
    const past = await owner.get(`${path}?at=${instant}`);
    const now = await owner.get(path);
    expect(past.headers.get("etag")).not.toBe(now.headers.get("etag"));
    expect(past.headers.get("etag")).toMatch(/^"[^"]+"$/);
    await expectRefusal(
      owner.put(path, { name: "lost", color: "Red" }, { "if-match": first ?? "" }),
      412,
      "precondition_failed",
    );
    expect((await owner.get(`${path}?at=${instant}`, { "if-none-match": past.headers.get("etag") ?? "" })).status).toBe(
      304,
    );
  });
});

describe("access to the past", () => {
  test("uses current permissions, whether granted or revoked since", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const [formerViewer, newlyGranted] = [await newViewer(), await newUser({ role: "Viewer", networkIds: [] })];
    const instant = advance();
    advance();
    const set = async (id: string, network_ids: string[]) => {
      const user = await live("users", id);
      await expectSuccess(owner.put(`users/${id}`, { ...user, network_ids }));
    };
    await set(formerViewer.id, []);
    await set(newlyGranted.id, [first.networkId]);
    advance();
    for (const [plural, id] of [
      ["hosts", host.id],
      ["if-entries", entry.id],
      ["networks", first.networkId],
    ] as const) {
      expect([plural, await ids(plural, instant, "", formerViewer.client)]).toEqual([plural, []]);
      expect([plural, await ids(plural, instant, "", newlyGranted.client)]).toEqual([plural, [id]]);
      await expectRefusal(formerViewer.client.get(`${plural}/${id}?at=${instant}`), 404, "entity_not_found");
      expect((await recordAt(plural, id, instant, newlyGranted.client)).id).toBe(id);
    }
  });

  test("extends to the time before the key was created", async () => {
    const tag = await newTag();
    const instant = advance();
    advance();
    const { client } = newApiKey({ permissions: "Viewer" });
    expect(await ids("tags", instant, "", client)).toEqual([tag.id]);
    expect(await ids("networks", instant, "", client)).toEqual([first.networkId]);
    expect(await ids("networks", instant, "", newApiKey({ networkIds: [] }).client)).toEqual([]);
  });

  test("is limited to the organization even in the past", async () => {
    const { client: otherClient, ...other } = await newStranger("Other");
    const tag = await newTag({}, otherClient);
    const host = await newHost({ network_id: other.networkId }, otherClient);
    const instant = advance();
    advance();
    await expectSuccess(otherClient.delete(`tags/${tag.id}`));
    for (const [plural, id] of [
      ["tags", tag.id],
      ["hosts", host.id],
      ["networks", other.networkId],
      ["users", other.userId],
    ] as const) {
      expect(await ids(plural, instant)).not.toContain(id);
      await expectRefusal(owner.get(`${plural}/${id}?at=${instant}`), 404, "entity_not_found");
    }
  });
});

describe("a version", () => {
  test("is not created by another spelling of the same value", async () => {
    await newSubnet({ cidr: "2001:db8::/64" });
    const host = await newHost({ ip_addresses: [{ ip_address: "2001:db8::a", mac_address: "00:00:5e:00:53:0a" }] });
    const entry = await newIfEntry(host.id, { mac_address: "00:00:5e:00:53:0b" });
    const expectNothingWritten = watchWrites();
    await putHost(host, { ip_addresses: [{ ip_address: "2001:DB8:0::A", mac_address: "00-00-5E-00-53-0A" }] });
    await expectSuccess(owner.put(`if-entries/${entry.id}`, { ...entry, mac_address: "0000.5E00.530B" }));
    expectNothingWritten();
  });

  test("is also created for the host by a change to any child, in the same transaction, and names the kind", async () => {
    const host = await newHost();
    const path = `hosts/${host.id}`;
    let etag = (await owner.get(path)).headers.get("etag");
    let updated = host.updated_at;
    const expectHostVersion = async (kind: string, change: () => Promise<unknown>) => {
      advance();
      const count = versionsOf(host.id).length;
      await change();
      const response = await owner.get(path);
      const versions = versionsOf(host.id);
      expect([kind, versions.length, versions.at(-1)?.changed]).toEqual([kind, count + 1, [kind]]);
      expect([kind, response.headers.get("etag") === etag, response.data.updated_at]).toEqual([
        kind,
        false,
        clock.text(),
      ]);
      expect(versions.at(-1)?.sequence).toBe(transactionCount());
      etag = response.headers.get("etag");
      updated = response.data.updated_at;
    };
    await newSubnet({ cidr: "192.0.2.0/24" });
    const credential = await newCredential();
    let entry: JsonRecord = {};
    await expectHostVersion("interfaces", async () => (entry = await newIfEntry(host.id)));
    await expectHostVersion("interfaces", () =>
      expectSuccess(owner.put(`if-entries/${entry.id}`, { ...entry, if_alias: "changed" })),
    );
    await expectHostVersion("interfaces", () => remove("if-entries", entry.id));
    await expectHostVersion("ip_addresses", () => putHost(host, { ip_addresses: [{ ip_address: "192.0.2.1" }] }));
    await expectHostVersion("ip_addresses", () =>
      putHost(host, { ip_addresses: [{ ip_address: "192.0.2.1", name: "n" }] }),
    );
    await expectHostVersion("ports", () => putHost(host, { ports: [tcp(80)] }));
    await expectHostVersion("services", () => putHost(host, { services: [{ name: "s", service_definition: "S" }] }));
    const port_id = (await live("hosts", host.id)).ports[0].id;
    await expectHostVersion("services", () =>
      putHost(host, {
        services: [{ name: "s", service_definition: "S", bindings: [{ type: "Port", port_id, ip_address_id: null }] }],
      }),
    );
    await expectHostVersion("credential_assignments", () =>
      putHost(host, { credential_assignments: [{ credential_id: credential.id }] }),
    );
    await expectHostVersion("credential_assignments", () =>
      expectSuccess(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: [] })),
    );
    expect(updated > host.updated_at).toBe(true);
  });

  test("has its transaction's time: everything in one update shares one timestamp", async () => {
    const host = await newHost({ ports: [tcp(22)], services: [{ name: "s", service_definition: "S" }] });
    const instants = [host, ...host.ports, ...host.services].flatMap((record) => [
      record.created_at,
      record.updated_at,
      record.valid_from,
    ]);
    expect(new Set(instants).size).toBe(1);
  });
});

describe("a re-created record", () => {
  test("is unrelated under another name, and under another host", async () => {
    const tag = await newTag({ name: "a" });
    await remove("tags", tag.id);
    expect((await newTag({ name: "b" })).lineage_id).toBeNull();
    const [host, otherHost] = [await newHost(), await newHost()];
    await remove("if-entries", (await newIfEntry(host.id, { if_index: 1 })).id);
    expect((await newIfEntry(otherHost.id, { if_index: 1 })).lineage_id).toBeUndefined();
  });
});

describe("a deletion", () => {
  test("removes a tag from every record in the same transaction, with one version each", async () => {
    const [tag, otherTag] = [await newTag(), await newTag()];
    const network = await newNetwork({ tags: [tag.id] });
    const subnet = await newSubnet({ tags: [tag.id, otherTag.id] });
    const credential = await newCredential({ tags: [tag.id] });
    const key = (await expectSuccess(owner.post("auth/keys", { ...keyBody(), tags: [tag.id] }))).api_key;
    const before = transactionCount();
    await remove("tags", tag.id);
    expect(transactionCount()).toBe(before + 1);
    for (const [plural, id, rest] of [
      ["networks", network.id, []],
      ["subnets", subnet.id, [otherTag.id]],
      ["credentials", credential.id, []],
      ["auth/keys", key.id, []],
    ] as const) {
      expect([plural, (await live(plural, id)).tags]).toEqual([plural, [...rest]]);
      expect(versionsOf(id).at(-1)?.changed).toEqual(["tags"]);
    }
  });
});
