// Contract of time (handbook: time, "What at means"): forms of timestamps, records valid at them, and writes with and
// without a version.

import { describe, expect, test } from "bun:test";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { made, refusal, tcp, type Wire } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { newWorld, OPERATIONS, PLURALS } from "../support/contract/operations.ts";
import { envelopeProblems, hostShape, issuePaths, problems, refused, succeeded } from "../support/contract/shapes.ts";

const LONG_AGO = "2001-01-01T00:00:00Z";
const SECOND = 1_000;

const appliance = applianceForEach();
const { clock, first, handle, owner, signedIn } = appliance;
const { inTransaction, live, newApiKey, newCredential, newHost, newIfEntry, newNetwork, newSubnet, newTag } = appliance;
const { newUser, newVlan, transactionCount, writingWatched, versionsOf, newViewer, newStranger } = appliance;

/** Ids of a list as of a timestamp, or live. */
async function ids(plural: string, at?: string, filter = "", by = owner): Promise<string[]> {
  const answer = await by.get(`${plural}?${new URLSearchParams(at === undefined ? {} : { at })}${filter}`);
  expect([plural, at, answer.status, envelopeProblems(answer)]).toEqual([plural, at, 200, []]);
  expect(answer.body.meta.pagination.total_count).toBe(answer.data.length);
  return answer.data.map((item: Wire) => item.id);
}

function one(plural: string, id: string, at: string, by = owner): Promise<Wire> {
  return succeeded(by.get(`${plural}/${id}?${new URLSearchParams({ at })}`));
}

/** Advances by a second. @returns the new time */
function later(ms = SECOND): string {
  clock.advance(ms);
  return clock.text();
}

function shifted(instant: string, ms: number): string {
  return new Date(Date.parse(instant) + ms).toISOString();
}

async function rename(tag: Wire, name: string): Promise<Wire> {
  return succeeded(owner.put(`tags/${tag.id}`, { name, color: tag.color }));
}

async function remove(plural: string, id: string): Promise<Wire> {
  return succeeded(owner.delete(`${plural}/${id}`));
}

async function putHost(host: Wire, changes: Wire): Promise<Wire> {
  return succeeded(owner.put(`hosts/${host.id}`, hostBody(host, changes)));
}

describe("an instant", () => {
  test("that was answered never changes, even if the clock is set back before a write", async () => {
    later();
    const tag = await newTag({ name: "first" });
    const minute = 60 * SECOND;
    later(minute);
    const asked = later();
    later();
    const before = await one("tags", tag.id, asked);
    clock.advance(-minute);
    const renamed = await rename(tag, "second");
    expect(renamed.valid_from).toBe(shifted(asked, 1));
    // While the clock is behind the timestamp, it means the present.
    expect(await one("tags", tag.id, asked)).toEqual(renamed);
    clock.advance(2 * minute);
    expect(await one("tags", tag.id, asked)).toEqual({ ...before, valid_to: renamed.valid_from });
  });

  test("before a record's creation is named in the refusal", async () => {
    const asked = clock.text();
    later();
    const tag = await newTag();
    later();
    const answer = await owner.get(`tags/${tag.id}?at=${asked}`);
    expect([answer.status, answer.body.error]).toEqual([404, `There was no tag with the id ${tag.id} at ${asked}.`]);
  });

  test("in the future guarantees nothing, and does not delay writes", async () => {
    const tag = await newTag({ name: "first" });
    expect(await one("tags", tag.id, "2999-01-01T00:00:00Z")).toMatchObject({ name: "first" });
    later();
    expect((await rename(tag, "second")).valid_from).toBe(clock.text());
  });

  test("at exactly valid_from has the new version, one millisecond earlier the old one", async () => {
    later();
    const tag = await newTag({ name: "first" });
    later();
    const second = await rename(tag, "second");
    later();
    expect(await one("tags", tag.id, second.valid_from)).toMatchObject({ name: "second" });
    expect(await one("tags", tag.id, shifted(second.valid_from, -1))).toMatchObject({ name: "first" });
    expect(await one("tags", tag.id, tag.valid_from)).toMatchObject({ name: "first" });
    await refused(owner.get(`tags/${tag.id}?at=${shifted(tag.valid_from, -1)}`), 404, "entity_not_found");
    expect(await ids("tags", tag.valid_from)).toEqual([tag.id]);
    expect(await ids("tags", shifted(tag.valid_from, -1))).toEqual([]);
  });

  test("accepts any offset, either case, and any number of digits, ignoring those below a millisecond", async () => {
    later();
    const tag = await newTag();
    later();
    const from = tag.valid_from;
    const local = (minutes: number, sign: string, offset: string) =>
      shifted(from, minutes * 60_000).replace("Z", `${sign}${offset}`);
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
    const before = shifted(from, -1);
    for (const at of [
      before.replace("Z", "9Z"),
      before.replace("Z", "999999999Z"),
      shifted(before, 60 * 60_000).replace("Z", "999+01:00"),
    ])
      expect([at, await ids("tags", at)]).toEqual([at, []]);
  });

  test("before the first transaction yields empty lists, and 404 for one record", async () => {
    const world = await newWorld(appliance);
    later();
    for (const plural of PLURALS) {
      for (const at of [LONG_AGO, "0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z"])
        expect([plural, at, await ids(plural, at)]).toEqual([plural, at, []]);
      const answer = await owner.get(`${plural}?limit=0&at=${LONG_AGO}`);
      expect([answer.data, answer.body.meta.pagination.total_count]).toEqual([[], 0]);
      await refused(owner.get(`${plural}/${world.records[plural]?.id}?at=${LONG_AGO}`), 404, "entity_not_found");
    }
  });

  test("at or after the present is the live state of everything", async () => {
    const world = await newWorld(appliance);
    later();
    for (const plural of PLURALS) {
      const [all, record] = [
        (await owner.get(plural)).data,
        (await owner.get(`${plural}/${world.records[plural]?.id}`)).data,
      ];
      for (const at of [clock.text(), shifted(clock.text(), 1), "2999-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"]) {
        expect([plural, (await owner.get(`${plural}?at=${at}`)).data]).toEqual([plural, all]);
        expect([plural, await one(plural, record.id, at)]).toEqual([plural, record]);
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
        const answer = await owner.get(`tags?at=${encodeURIComponent(at)}${query}`);
        expect([answer.body.meta.at, envelopeProblems(answer)]).toEqual([echo, []]);
      }
    }
    expect((await owner.get(`tags/${tag.id}?at=2999-01-01T00:00:00Z`)).body.meta.at).toBe("2999-01-01T00:00:00.000Z");
    for (const path of ["tags", `tags/${tag.id}`]) expect((await owner.get(path)).body.meta).not.toHaveProperty("at");
  });

  test("may be given as an age, and is echoed as the resolved instant", async () => {
    const tag = await newTag({ name: "before" });
    clock.advance(5 * 86_400_000);
    await made(owner.put(`tags/${tag.id}`, { ...tag, name: "after" }));
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
      const at = shifted(now, -ms);
      for (const path of ["tags?", "tags?limit=0&", `tags?ids=${tag.id}&`]) {
        const { data, body } = await owner.get(`${path}at=${age}`);
        expect([age, path, body.meta.at, data.map((each: Wire) => each.name)]).toEqual([
          age,
          path,
          at,
          name === null ? [] : [name],
        ]);
      }
      const one = await owner.get(`tags/${tag.id}?at=${age}`);
      if (name === null) expect(one).toMatchObject(refusal(404, "entity_not_found"));
      else expect([one.data.name, one.body.meta.at]).toEqual([name, at]);
      const table = await owner.get(`tags/export/csv?at=${age}`);
      expect([table.headers.get("content-disposition"), csvRecords(table.text).map((row) => row.name)]).toEqual([
        `attachment; filename="tags-${at.replaceAll(":", "-")}.csv"`,
        name === null ? [] : [name],
      ]);
    }
    expect((await owner.get(`tags/${tag.id}/history?at=-24h`)).data).toHaveLength(1);
    expect((await owner.get("locate?hostname=nobody&at=-24h")).body.meta.at).toBe(shifted(now, -86_400_000));
    const plan = await owner.post(`tags/${tag.id}/restore`, { at: "-24h", dry_run: true });
    expect(plan).toMatchObject({
      status: 200,
      data: { at: shifted(now, -86_400_000), actions: [{ action: "Update", fields: ["name"] }] },
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
    expect(await owner.post(`tags/${tag.id}/restore`, { at: "-1y" })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/at", value: "-1y", message: expect.stringContaining("an age such as") }] } },
    });
  });

  test("is accepted by every list and every single-record GET; an invalid one is 400 by name", async () => {
    const world = await newWorld(appliance);
    for (const operation of OPERATIONS.filter(
      ({ method, answers }) => method === "GET" && answers !== "something else",
    )) {
      const path = operation.path.replace(":id", world.records[operation.plural ?? ""]?.id);
      expect((await owner.get(`${path}?at=${encodeURIComponent(later())}`)).status).toBe(200);
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
    const at = later();
    for (const answer of [
      await owner.put(`tags/${tag.id}?at=${at}`, { name: "then", color: "Red" }),
      await owner.delete(`tags/${tag.id}?at=${at}`),
      await owner.post(`tags?at=${at}`, { name: "then", color: "Red" }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
    }
  });
});

describe("the past", () => {
  test("shows a record created and deleted between two instants only between them", async () => {
    const world = await newWorld(appliance);
    for (const plural of PLURALS.filter((name) => name !== "networks")) {
      const before = later();
      later();
      const made = await succeeded(owner.post(plural, world.body(plural)));
      const record = made.api_key ?? made;
      const between = later();
      later();
      const closed = await succeeded(
        owner.delete(`${plural}/${record.id}${plural === "credentials" ? "?cascade=true" : ""}`),
      );
      const after = later();
      const seen = async (at?: string) => (await ids(plural, at)).includes(record.id);
      expect([plural, await seen(before), await seen(between), await seen(after), await seen()]).toEqual([
        plural,
        false,
        true,
        false,
        false,
      ]);
      expect([
        plural,
        await seen(closed.valid_to),
        await seen(shifted(closed.valid_to, -1)),
        await seen(record.valid_from),
      ]).toEqual([plural, false, true, true]);
      for (const gone of [`at=${before}`, `at=${after}`, `at=${closed.valid_to}`, ""])
        await refused(owner.get(`${plural}/${record.id}?${gone}`), 404, "entity_not_found");
      expect([plural, (await one(plural, record.id, between)).valid_to]).toEqual([plural, closed.valid_to]);
    }
  });

  test("gives valid_to as the true end of each version: its successor, its deletion, or null", async () => {
    later();
    const tag = await newTag({ name: "a" });
    later();
    const second = await rename(tag, "b");
    const middle = later();
    expect(await one("tags", tag.id, tag.valid_from)).toEqual({ ...tag, valid_to: second.valid_from });
    expect((await one("tags", tag.id, middle)).valid_to).toBeNull();
    later();
    const closed = await remove("tags", tag.id);
    later();
    expect((await one("tags", tag.id, middle)).valid_to).toBe(closed.valid_to);
    const [listed] = (await owner.get(`tags?at=${tag.valid_from}`)).data;
    expect(listed).toEqual({ ...tag, valid_to: second.valid_from });
  });

  test("never changes afterwards, except for valid_to of a current version", async () => {
    const world = await newWorld(appliance);
    const at = later();
    later();
    const open = new Map<string, Wire[]>();
    const strip = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/,"valid_to":("[^"]*"|null)/g, ""));
    for (const plural of PLURALS) open.set(plural, strip((await owner.get(`${plural}?at=${at}`)).data) as Wire[]);
    const host = world.records.hosts as Wire;
    await putHost(host, { name: "changed", ports: [], services: [], ip_addresses: [], tags: [] });
    await rename(world.records.tags as Wire, "changed");
    await newIfEntry(host.id);
    await remove("if-entries", (world.records["if-entries"] as Wire).id);
    await succeeded(owner.put(`users/${world.records.users?.id}`, { ...world.records.users, name: "changed" }));
    later();
    await remove("hosts", host.id);
    await remove("tags", world.records.tags?.id);
    later();
    for (const plural of PLURALS)
      expect([plural, strip((await owner.get(`${plural}?at=${at}`)).data)]).toEqual([plural, open.get(plural)]);
  });

  test("keeps a tag deleted since, still assigned to its host", async () => {
    const tag = await newTag();
    const host = await newHost({ tags: [tag.id], services: [{ name: "s", service_definition: "S", tags: [tag.id] }] });
    const then = later();
    later();
    const closed = await remove("tags", tag.id);
    const now = await live("hosts", host.id);
    expect([now.tags, now.services[0].tags]).toEqual([[], []]);
    expect(now.updated_at).toBe(closed.valid_to);
    later();
    const past = await one("hosts", host.id, then);
    expect([past.tags, past.services[0].tags]).toEqual([[tag.id], [tag.id]]);
    expect(problems(past, hostShape)).toEqual([]);
    expect(await ids("tags", then)).toEqual([tag.id]);
    const versions = [versionsOf(tag.id), versionsOf(host.id)].map((all) => all.at(-1)?.sequence);
    expect(versions[0]).toBe(versions[1]);
  });

  test("shows a host with the children, interfaces and assignments at that time, in lists as alone", async () => {
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
    const whole = await live("hosts", host.id);
    const then = later();
    later();
    await putHost(host, {
      name: "new",
      ip_addresses: [{ ip_address: "192.0.2.1", name: "new" }, { ip_address: "192.0.2.2" }],
      ports: [],
      services: [],
      credential_assignments: [],
    });
    await succeeded(
      owner.put(`if-entries/${entry.id}`, {
        host_id: host.id,
        if_index: entry.if_index,
        if_descr: "new",
        if_alias: null,
      }),
    );
    later();
    const past = await one("hosts", host.id, then);
    const withoutEnds = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll(/"valid_to":"[^"]*"/g, '"valid_to":null'));
    expect(problems(past, hostShape)).toEqual([]);
    expect(withoutEnds(past)).toEqual(whole);
    expect(past.ports[0].valid_to).not.toBeNull();
    expect(past.services[0].bindings[0].id).toBe(bound.services[0].bindings[0].id);
    expect((await owner.get(`hosts?at=${then}`)).data).toEqual([past]);
    await remove("hosts", host.id);
    later();
    expect(withoutEnds(await one("hosts", host.id, then))).toEqual(whole);
    expect(await ids("if-entries", then, `&host_id=${host.id}`)).toEqual([entry.id]);
    expect(await ids("if-entries", undefined, `&host_id=${host.id}`)).toEqual([]);
  });

  test("is filtered, ordered and paged by its own values", async () => {
    const tags = [];
    for (const name of ["b", "a", "c"]) {
      tags.push(await newTag({ name, color: name === "b" ? "Red" : "Blue" }));
      later();
    }
    const [b, a, c] = tags as [Wire, Wire, Wire];
    const then = clock.text();
    later();
    await rename(b, "z");
    await remove("tags", a.id);
    await newTag({ name: "aa" });
    later();
    const list = async (query: string) =>
      (await owner.get(`tags?at=${then}${query}`)).data.map((tag: Wire) => tag.name);
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
      const answer = await owner.get(`tags?at=${then}&order_by=name&limit=${limit}&offset=${offset}`);
      expect(answer.data.map((tag: Wire) => tag.name)).toEqual(
        ["a", "b", "c"].slice(offset, limit === 0 ? undefined : offset + limit),
      );
      expect(answer.body.meta.pagination).toEqual({
        limit,
        offset,
        total_count: 3,
        has_more: limit !== 0 && offset + limit < 3,
      });
    }
  });

  test("honors a filter that only matched then: by a network, host or entry deleted since", async () => {
    const network = await newNetwork();
    const filter = `&network_id=${network.id}`;
    const vlan = await newVlan({ network_id: network.id });
    const subnet = await newSubnet({ network_id: network.id, cidr: "192.0.2.0/24" });
    const host = await newHost({ network_id: network.id });
    const entry = await newIfEntry(host.id);
    const then = later();
    later();
    await remove("hosts", host.id);
    await remove("subnets", subnet.id);
    await remove("vlans", vlan.id);
    await remove("networks", network.id);
    later();
    const all = { vlans: vlan, subnets: subnet, hosts: host, "if-entries": entry } as Record<string, Wire>;
    for (const [plural, record] of Object.entries(all)) {
      expect([plural, await ids(plural, then, filter)]).toEqual([plural, [record.id]]);
      expect([plural, await ids(plural, undefined, filter)]).toEqual([plural, []]);
      expect((await one(plural, record.id, then)).id).toBe(record.id);
    }
    expect(await ids("networks", then)).toContain(network.id);
    expect(await ids("networks")).not.toContain(network.id);
  });

  test("is stable while the present is written: its pages neither overlap nor skip", async () => {
    for (let n = 0; n < 7; n++) await newTag();
    const then = later();
    later();
    const all = await ids("tags", then);
    const paged: string[] = [];
    for (let offset = 0; offset < 7; offset += 2) {
      paged.push(...(await owner.get(`tags?at=${then}&limit=2&offset=${offset}`)).data.map((tag: Wire) => tag.id));
      await remove("tags", all[offset] as string);
      await newTag();
    }
    expect(paged).toEqual(all);
    expect((await owner.get(`tags?at=${then}&limit=0`)).data.map((tag: Wire) => tag.id)).toEqual(all);
  });

  for (const query of ["", "&order_by=name&order_direction=desc", "&at"]) {
    test(`and the present are one instant through a whole list without limit${query === "" ? "" : ` (${query.slice(1)})`}, despite concurrent writes`, async () => {
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
      const url = `http://localhost/api/v1/tags?limit=0${query === "&at" ? `&at=${later()}` : query}`;
      later();
      const whole = (await owner.get(url.slice("http://localhost".length))).data as Wire[];
      const response = await handle(new Request(url, { headers: { authorization: `Bearer ${key}` } }));
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = "";
      let chunks = 0;
      for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
        text += decoder.decode(part.value, { stream: true });
        chunks += 1;
        if (chunks > 1) continue;
        const [first, last, middle] = [whole[0], whole.at(-1), whole.at(-2)] as [Wire, Wire, Wire];
        await remove("tags", first.id);
        await remove("tags", last.id);
        await rename(middle, "renamed");
        await newTag({ name: "tag 0000a" });
        await newTag({ name: "zzz" });
      }
      const body = JSON.parse(text);
      expect(chunks).toBeGreaterThan(1);
      expect(body.meta.pagination).toEqual({ limit: 0, offset: 0, total_count: 2_500, has_more: false });
      const withoutEnds = (tags: Wire[]) => tags.map(({ valid_to: _, ...tag }) => tag);
      expect(withoutEnds(body.data)).toEqual(withoutEnds(whole));
    });
  }

  test("has observations as written with the version, not the present ones", async () => {
    const { id, client } = newApiKey();
    const then = later();
    later();
    await succeeded(client.get("tags"));
    later();
    expect((await live("auth/keys", id)).last_used).not.toBeNull();
    expect((await one("auth/keys", id, then)).last_used).toBeNull();
    expect((await owner.get(`auth/keys?at=${then}`)).data[0].last_used).toBeNull();
  });

  test("has an ETag of its own version", async () => {
    const tag = await newTag();
    const path = `tags/${tag.id}`;
    const first = (await owner.get(path)).headers.get("etag");
    const then = later();
    later();
    await rename(tag, "changed");
    later();
    const past = await owner.get(`${path}?at=${then}`);
    const now = await owner.get(path);
    expect(past.headers.get("etag")).not.toBe(now.headers.get("etag"));
    expect(past.headers.get("etag")).toMatch(/^"[^"]+"$/);
    await refused(
      owner.put(path, { name: "lost", color: "Red" }, { "if-match": first ?? "" }),
      412,
      "precondition_failed",
    );
    expect((await owner.get(`${path}?at=${then}`, { "if-none-match": past.headers.get("etag") ?? "" })).status).toBe(
      304,
    );
  });
});

describe("access rights", () => {
  test("to the past are the present ones, whether granted or revoked since", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const [had, gets] = [await newViewer(), await newUser({ role: "Viewer", networkIds: [] })];
    const then = later();
    later();
    const set = async (id: string, network_ids: string[]) => {
      const user = await live("users", id);
      await succeeded(owner.put(`users/${id}`, { ...user, network_ids }));
    };
    await set(had.id, []);
    await set(gets.id, [first.networkId]);
    later();
    for (const [plural, id] of [
      ["hosts", host.id],
      ["if-entries", entry.id],
      ["networks", first.networkId],
    ] as const) {
      expect([plural, await ids(plural, then, "", had.client)]).toEqual([plural, []]);
      expect([plural, await ids(plural, then, "", gets.client)]).toEqual([plural, [id]]);
      await refused(had.client.get(`${plural}/${id}?at=${then}`), 404, "entity_not_found");
      expect((await one(plural, id, then, gets.client)).id).toBe(id);
    }
  });

  test("of a key created today extend to the time before it", async () => {
    const tag = await newTag();
    const then = later();
    later();
    const { client } = newApiKey({ permissions: "Viewer" });
    expect(await ids("tags", then, "", client)).toEqual([tag.id]);
    expect(await ids("networks", then, "", client)).toEqual([first.networkId]);
    expect(await ids("networks", then, "", newApiKey({ networkIds: [] }).client)).toEqual([]);
  });

  test("are limited to the organization in the past too", async () => {
    const { client: theirs, ...other } = await newStranger("Other");
    const tag = await newTag({}, theirs);
    const host = await newHost({ network_id: other.networkId }, theirs);
    const then = later();
    later();
    await succeeded(theirs.delete(`tags/${tag.id}`));
    for (const [plural, id] of [
      ["tags", tag.id],
      ["hosts", host.id],
      ["networks", other.networkId],
      ["users", other.userId],
    ] as const) {
      expect(await ids(plural, then)).not.toContain(id);
      await refused(owner.get(`${plural}/${id}?at=${then}`), 404, "entity_not_found");
    }
  });
});

describe("a version", () => {
  test("is not made by writing equal values: updated_at and ETag stay, for every kind", async () => {
    const world = await newWorld(appliance);
    for (const operation of OPERATIONS.filter(({ method, answers }) => method === "PUT" && answers === "a record")) {
      const path = operation.path.replace(":id", world.records[operation.plural ?? ""]?.id);
      const read = await owner.get(path);
      later();
      const before = transactionCount();
      const written = await succeeded(owner.put(path, read.data));
      expect([path, written]).toEqual([path, read.data]);
      expect([path, transactionCount()]).toEqual([path, before]);
      expect([path, (await owner.get(path)).headers.get("etag")]).toEqual([path, read.headers.get("etag")]);
    }
  });

  test("is not made by another spelling of the same value", async () => {
    await newSubnet({ cidr: "2001:db8::/64" });
    const host = await newHost({ ip_addresses: [{ ip_address: "2001:db8::a", mac_address: "00:00:5e:00:53:0a" }] });
    const entry = await newIfEntry(host.id, { mac_address: "00:00:5e:00:53:0b" });
    const expectNothingWritten = writingWatched();
    await putHost(host, { ip_addresses: [{ ip_address: "2001:DB8:0::A", mac_address: "00-00-5E-00-53-0A" }] });
    await succeeded(owner.put(`if-entries/${entry.id}`, { ...entry, mac_address: "0000.5E00.530B" }));
    expectNothingWritten();
  });

  test("of the host is made by a change of any child, in the same transaction, and names the kind", async () => {
    const host = await newHost();
    const path = `hosts/${host.id}`;
    let etag = (await owner.get(path)).headers.get("etag");
    let updated = host.updated_at;
    const moved = async (kind: string, change: () => Promise<unknown>) => {
      later();
      const count = versionsOf(host.id).length;
      await change();
      const answer = await owner.get(path);
      const versions = versionsOf(host.id);
      expect([kind, versions.length, versions.at(-1)?.changed]).toEqual([kind, count + 1, [kind]]);
      expect([kind, answer.headers.get("etag") === etag, answer.data.updated_at]).toEqual([kind, false, clock.text()]);
      expect(versions.at(-1)?.sequence).toBe(transactionCount());
      etag = answer.headers.get("etag");
      updated = answer.data.updated_at;
    };
    await newSubnet({ cidr: "192.0.2.0/24" });
    const credential = await newCredential();
    let entry: Wire = {};
    await moved("interfaces", async () => (entry = await newIfEntry(host.id)));
    await moved("interfaces", () => succeeded(owner.put(`if-entries/${entry.id}`, { ...entry, if_alias: "changed" })));
    await moved("interfaces", () => remove("if-entries", entry.id));
    await moved("ip_addresses", () => putHost(host, { ip_addresses: [{ ip_address: "192.0.2.1" }] }));
    await moved("ip_addresses", () => putHost(host, { ip_addresses: [{ ip_address: "192.0.2.1", name: "n" }] }));
    await moved("ports", () => putHost(host, { ports: [tcp(80)] }));
    await moved("services", () => putHost(host, { services: [{ name: "s", service_definition: "S" }] }));
    const port_id = (await live("hosts", host.id)).ports[0].id;
    await moved("services", () =>
      putHost(host, {
        services: [{ name: "s", service_definition: "S", bindings: [{ type: "Port", port_id, ip_address_id: null }] }],
      }),
    );
    await moved("credential_assignments", () =>
      putHost(host, { credential_assignments: [{ credential_id: credential.id }] }),
    );
    await moved("credential_assignments", () =>
      succeeded(owner.put(`credentials/${credential.id}`, { ...credential, host_assignments: [] })),
    );
    expect(updated > host.updated_at).toBe(true);
  });

  test("has an updated_at above the previous one, whatever the clock does", async () => {
    let tag = await newTag({ name: "0" });
    const seen = [tag.updated_at];
    for (const [name, move] of [
      ["frozen", 0],
      ["still frozen", 0],
      ["back an hour", -3_600_000],
      ["back a year", -31_536_000_000],
      ["forth a little", 1_000],
    ] as const) {
      clock.advance(move);
      tag = await rename(tag, name);
      expect(tag.valid_from).toBe(tag.updated_at);
      seen.push(tag.updated_at);
    }
    expect(seen).toEqual(seen.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
    clock.advance(31_536_000_000 + 7_200_000);
    const again = await signedIn(first.userId);
    for (const [index, name] of [
      "0",
      "frozen",
      "still frozen",
      "back an hour",
      "back a year",
      "forth a little",
    ].entries())
      expect((await one("tags", tag.id, seen[index] as string, again)).name).toBe(name);
  });

  test("is not lost to a reader while the clock is behind the ledger", async () => {
    const tag = await newTag({ name: "before" });
    clock.advance(-3_600_000);
    await rename(tag, "after");
    expect((await live("tags", tag.id)).name).toBe("after");
    expect((await one("tags", tag.id, clock.text())).name).toBe("after");
    expect((await one("tags", tag.id, "2999-01-01T00:00:00Z")).name).toBe("after");
  });

  test("has its transaction's time: everything in one update shares one instant", async () => {
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
  test("has a new id, and the first incarnation's id as its lineage, every time", async () => {
    const host = await newHost();
    await newSubnet({ cidr: "192.0.2.0/24" });
    const makers: Record<string, () => Promise<Wire>> = {
      tags: () => newTag({ name: "again" }),
      "if-entries": () => newIfEntry(host.id, { if_index: 7 }),
      vlans: () => newVlan({ number: 7 }),
      subnets: () => newSubnet({ cidr: "198.51.100.0/24" }),
      networks: () => newNetwork({ name: "again" }),
    };
    for (const [plural, make] of Object.entries(makers)) {
      const first = await make();
      expect([plural, first.lineage_id ?? null]).toEqual([plural, null]);
      const known = [first.id];
      for (let round = 0; round < 3; round++) {
        later();
        await remove(plural, known.at(-1) as string);
        const next = await make();
        expect([plural, next.lineage_id]).toEqual([plural, first.id]);
        expect(known).not.toContain(next.id);
        known.push(next.id);
      }
    }
  });

  test("is unrelated under another name, and under another host", async () => {
    const tag = await newTag({ name: "a" });
    await remove("tags", tag.id);
    expect((await newTag({ name: "b" })).lineage_id).toBeNull();
    const [host, neighbour] = [await newHost(), await newHost()];
    await remove("if-entries", (await newIfEntry(host.id, { if_index: 1 })).id);
    expect((await newIfEntry(neighbour.id, { if_index: 1 })).lineage_id).toBeUndefined();
  });

  test("never reuses the old id, live or in history", async () => {
    const tag = await newTag();
    await refused(owner.post("tags", { id: tag.id, name: "same id", color: "Red" }), 409, "entity_already_exists");
    await refused(
      owner.post("vlans", { id: tag.id, network_id: first.networkId, number: 9, name: "n" }),
      409,
      "entity_already_exists",
    );
    await remove("tags", tag.id);
    const { body } = await refused(
      owner.post("tags", { id: tag.id.toUpperCase(), name: "same id", color: "Red" }),
      409,
      "entity_already_exists",
    );
    expect(body.params).toMatchObject({ field: "id", value: tag.id });
  });
});

describe("a deletion", () => {
  test("is refused while others depend on the record, with counts by kind, and changes nothing", async () => {
    const network = await newNetwork();
    await newHost({ network_id: network.id });
    await newVlan({ network_id: network.id });
    const expectNothingWritten = writingWatched();
    const { body } = await refused(owner.delete(`networks/${network.id}`), 409, "entity_in_use");
    expect(JSON.stringify(body.params)).toContain("host");
    expect(JSON.stringify(body.params)).toContain("vlan");
    expectNothingWritten();
  });

  test("with cascade=true includes dependants in one transaction; the past keeps everything", async () => {
    const network = await newNetwork();
    const host = await newHost({ network_id: network.id, ports: [tcp(22)] });
    const entry = await newIfEntry(host.id);
    const then = later();
    later();
    const before = transactionCount();
    await succeeded(owner.delete(`networks/${network.id}?cascade=true`));
    expect(transactionCount()).toBe(before + 1);
    for (const [plural, id] of [
      ["networks", network.id],
      ["hosts", host.id],
      ["if-entries", entry.id],
    ] as const)
      await refused(owner.get(`${plural}/${id}`), 404, "entity_not_found");
    later();
    expect((await one("hosts", host.id, then)).ports).toHaveLength(1);
  });

  test("includes owned records by default: the children of a host", async () => {
    const host = await newHost({ ports: [tcp(22)], services: [{ name: "s", service_definition: "S" }] });
    const entry = await newIfEntry(host.id);
    const before = transactionCount();
    await remove("hosts", host.id);
    expect(transactionCount()).toBe(before + 1);
    for (const id of [host.id, entry.id, host.ports[0].id, host.services[0].id])
      expect(versionsOf(id).at(-1)?.operation).toBe("Deleted");
    expect(await ids("if-entries")).toEqual([]);
  });

  test("of a tag removes it from every record in the same transaction, one version each", async () => {
    const [tag, kept] = [await newTag(), await newTag()];
    const network = await newNetwork({ tags: [tag.id] });
    const subnet = await newSubnet({ tags: [tag.id, kept.id] });
    const credential = await newCredential({ tags: [tag.id] });
    const key = (
      await succeeded(
        owner.post("auth/keys", {
          name: "k",
          organization_id: first.organizationId,
          user_id: first.userId,
          tags: [tag.id],
        }),
      )
    ).api_key;
    const before = transactionCount();
    await remove("tags", tag.id);
    expect(transactionCount()).toBe(before + 1);
    for (const [plural, id, rest] of [
      ["networks", network.id, []],
      ["subnets", subnet.id, [kept.id]],
      ["credentials", credential.id, []],
      ["auth/keys", key.id, []],
    ] as const) {
      expect([plural, (await live(plural, id)).tags]).toEqual([plural, [...rest]]);
      expect(versionsOf(id).at(-1)?.changed).toEqual(["tags"]);
    }
  });
});
