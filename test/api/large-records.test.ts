// A host with thousands of children is put together beside the thread that answers, and is answered as any other.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LongRead } from "../../src/db/long-reads.ts";
import { LONG_READS } from "../../src/reads.ts";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import { made, newHost, newSubnet, type Wire } from "../support/factories.ts";
import { hostBody } from "../support/inventory.ts";
import { instant } from "../support/past.ts";

const PORTS = 2_500;

let appliance: TestAppliance;
/** Which long reads were asked for. */
let asked: string[];
let host: Wire;
let path: string;

beforeEach(async () => {
  appliance = await newAppliance();
  asked = appliance.longReadsAsked;
  await newSubnet(appliance, { cidr: "10.0.0.0/8" });
  host = await newHost(appliance, {
    name: "chassis",
    ports: Array.from({ length: PORTS }, (_, position) => ({ number: position + 1, protocol: "Tcp" })),
  });
  path = `/api/v1/hosts/${host["id"]}`;
  asked.length = 0;
});
afterEach(() => appliance.close());

describe("a host with thousands of ports", () => {
  test("is read whole, with the tag that a write is checked against", async () => {
    const answer = await appliance.owner.get(path);
    expect(asked).toEqual(["record"]);
    expect(answer.data).toEqual(host);
    expect(answer.data.ports).toHaveLength(PORTS);
    const etag = answer.headers.get("etag") as string;
    expect(await appliance.owner.get(path, { "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
    appliance.clock.advance(1_000);
    const written = await appliance.owner.put(path, hostBody(host, { description: "core" }), { "if-match": etag });
    expect(written).toMatchObject({ status: 200, data: { description: "core" } });
    expect(written.data.ports).toHaveLength(PORTS);
    expect((await appliance.owner.get(path)).headers.get("etag")).toBe(written.headers.get("etag"));
    expect(await appliance.owner.put(path, hostBody(host), { "if-match": etag })).toMatchObject({ status: 412 });
  });

  test("is read as of an instant, and answered as it was closed", async () => {
    const at = instant(appliance);
    const port = host["ports"][0].id;
    await made(appliance.owner.delete(`/api/v1/ports/${port}`));
    appliance.clock.advance(1_000);
    const then = await appliance.owner.get(`${path}?at=${at}`);
    expect(then.data.ports).toHaveLength(PORTS);
    expect(then.headers.get("etag")).toContain("-ended");
    const closed = await appliance.owner.delete(path);
    expect(closed).toMatchObject({ status: 200, data: { id: host["id"], name: "chassis" } });
    expect(closed.data.ports).toHaveLength(PORTS - 1);
    expect(closed.headers.get("etag")).toBeNull();
    expect(asked.length).toBeGreaterThan(1);
    expect(new Set(asked)).toEqual(new Set(["record"]));
  });

  test("is answered as it was closed by a removal of many, beside the thread that answers", async () => {
    const removed = await appliance.owner.post("/api/v1/hosts/bulk-delete", [host["id"]]);
    expect(asked).toEqual(["list"]);
    expect(removed.status).toBe(200);
    expect(removed.data[0].ports).toEqual(
      host["ports"].map((port: Wire) => ({ ...port, valid_to: removed.data[0].valid_to })),
    );
    expect(removed.body.meta).not.toHaveProperty("pagination");
  });

  test("stands in a page of hosts as it does alone", async () => {
    await newHost(appliance, { name: "small" });
    asked.length = 0;
    const page = await appliance.owner.get("/api/v1/hosts?limit=20");
    expect(asked).toEqual(["list"]);
    expect(page.body.meta.pagination).toEqual({ total_count: 2, limit: 20, offset: 0, has_more: false });
    expect(page.data[0]).toEqual(host);
    expect(page.data[1].name).toBe("small");
    asked.length = 0;
    await made(appliance.owner.get(`/api/v1/hosts/${page.data[1].id}`));
    expect(asked).toEqual([]);
  });
});

describe("a page of interface entries with very many forwarding entries", () => {
  test("is put together beside the thread that answers, and says what smaller pages say", async () => {
    const macs = (host: number) =>
      Array.from(
        { length: 7_000 },
        (_, each) =>
          `02:00:00:0${host}:${[each >> 8, each & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`,
      );
    for (const name of [1, 2, 3])
      await newHost(appliance, {
        name: `switch ${name}`,
        interfaces: [
          { if_index: 1, if_descr: "down" },
          { if_index: 2, if_descr: "up", fdb_macs: macs(name) },
        ],
      });
    asked.length = 0;
    const small = [
      ...(await appliance.owner.get("/api/v1/if-entries?limit=3")).data,
      ...(await appliance.owner.get("/api/v1/if-entries?limit=3&offset=3")).data,
    ];
    expect(asked).toEqual([]);
    expect(small[1].fdb_macs).toEqual(macs(1));
    const large = await appliance.owner.get("/api/v1/if-entries?limit=101");
    expect(asked).toEqual(["list"]);
    expect(large.data).toEqual(small);
    expect((await appliance.owner.get("/api/v1/if-entries?limit=0")).data).toEqual(small);

    // Whatever reads versions of them does so a few at a time, and says the same.
    const { first, reader } = appliance;
    const actor = {
      type: "User",
      n: 0,
      userN: 0,
      role: "Owner",
      organizationN: reader.recordN(first.organizationId),
      networkNs: null,
    };
    const until = reader.head().sequence;
    const chunksOf = (name: string, input: object) =>
      [...(LONG_READS[name] as LongRead)(reader, { actor, ...input })].filter((chunk) => chunk.length > 0);
    const feed = chunksOf("change_feed", {
      types: ["if_entry"],
      networkN: null,
      after: 0,
      limit: 1_000,
      format: "json",
    }).map((chunk) => new TextDecoder().decode(chunk));
    expect(JSON.parse(`[${feed.slice(1).join("")}]`).map((change: Wire) => change["record"].fdb_macs ?? [])).toEqual(
      small.map((entry) => entry.fdb_macs ?? []),
    );
    expect(feed.slice(1).filter((chunk) => chunk.includes("02:00:00")).length).toBe(3);
    const diff = chunksOf("diff", {
      types: ["if_entry"],
      networkN: null,
      hostN: null,
      from: 0,
      to: until,
      fromAt: 0,
      toAt: appliance.clock.now(),
      thinnedUntil: null,
      format: "ndjson",
    });
    expect(diff.filter((chunk) => new TextDecoder().decode(chunk).includes("02:00:00")).length).toBe(3);
  });
});
