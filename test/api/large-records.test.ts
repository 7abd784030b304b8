// Hosts with thousands of children: assembled off the serving thread, with the same responses as small ones.

import { beforeEach, describe, expect, test } from "bun:test";
import type { AnyLongRead } from "../../src/db/reading/long-reads.ts";
import { changeFeed } from "../../src/history/change-feed.ts";
import { diff as diffRead } from "../../src/history/diff-formats.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";

const PORTS = 2_500;

const appliance = applianceForEach();
const { clock, first, instant, newHost, newSubnet, owner, tick } = appliance;
/** Requested long reads. */
let longReads: string[];
let host: JsonRecord;
let path: string;

beforeEach(async () => {
  longReads = appliance.longReadsStarted;
  await newSubnet({ cidr: "10.0.0.0/8" });
  host = await newHost({ name: "chassis", ports: Array.from({ length: PORTS }, (_, position) => tcp(position + 1)) });
  path = `/api/v1/hosts/${host.id}`;
  longReads.length = 0;
});

describe("a host with thousands of ports", () => {
  test("is read completely, with the ETag that writes are checked against", async () => {
    const response = await owner.get(path);
    expect(longReads).toEqual(["record"]);
    expect(response.data).toEqual(host);
    expect(response.data.ports).toHaveLength(PORTS);
    const etag = response.headers.get("etag") as string;
    expect(await owner.get(path, { "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
    tick();
    const written = await owner.put(path, hostBody(host, { description: "core" }), { "if-match": etag });
    expect(written).toMatchObject({ status: 200, data: { description: "core" } });
    expect(written.data.ports).toHaveLength(PORTS);
    expect((await owner.get(path)).headers.get("etag")).toBe(written.headers.get("etag"));
    expect(await owner.put(path, hostBody(host), { "if-match": etag })).toMatchObject({ status: 412 });
  });

  test("is read as of a timestamp, and returned in its last state", async () => {
    const at = instant();
    const port = host.ports[0].id;
    await expectOk(owner.delete(`ports/${port}`));
    tick();
    const past = await owner.get(`${path}?at=${at}`);
    expect(past.data.ports).toHaveLength(PORTS);
    expect(past.headers.get("etag")).toContain("-ended");
    const closed = await owner.delete(path);
    expect(closed).toMatchObject({ status: 200, data: { id: host.id, name: "chassis" } });
    expect(closed.data.ports).toHaveLength(PORTS - 1);
    expect(closed.headers.get("etag")).toBeNull();
    expect(longReads.length).toBeGreaterThan(1);
    expect(new Set(longReads)).toEqual(new Set(["record"]));
  });

  test("is returned in its last state by a bulk deletion, off the serving thread", async () => {
    const removed = await owner.post("hosts/bulk-delete", [host.id]);
    expect(longReads).toEqual(["list"]);
    expect(removed.status).toBe(200);
    expect(removed.data[0].ports).toEqual(
      host.ports.map((port: JsonRecord) => ({ ...port, valid_to: removed.data[0].valid_to })),
    );
    expect(removed.body.meta).not.toHaveProperty("pagination");
  });

  test("is the same in a page of hosts as alone", async () => {
    await newHost({ name: "small" });
    longReads.length = 0;
    const page = await owner.get("hosts?limit=20");
    expect(longReads).toEqual(["list"]);
    expect(page.body.meta.pagination).toEqual({ total_count: 2, limit: 20, offset: 0, has_more: false });
    expect(page.data[0]).toEqual(host);
    expect(page.data[1].name).toBe("small");
    longReads.length = 0;
    await expectOk(owner.get(`hosts/${page.data[1].id}`));
    expect(longReads).toEqual([]);
  });
});

describe("a page of interface entries with many forwarding entries", () => {
  test("is assembled off the serving thread, and equals smaller pages", async () => {
    const macs = (host: number) =>
      Array.from(
        { length: 7_000 },
        (_, index) =>
          `02:00:00:0${host}:${[index >> 8, index & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`,
      );
    for (const name of [1, 2, 3])
      await newHost({
        name: `switch ${name}`,
        interfaces: [
          { if_index: 1, if_descr: "down" },
          { if_index: 2, if_descr: "up", fdb_macs: macs(name) },
        ],
      });
    longReads.length = 0;
    const small = [
      ...(await owner.get("if-entries?limit=3")).data,
      ...(await owner.get("if-entries?limit=3&offset=3")).data,
    ];
    expect(longReads).toEqual([]);
    expect(small[1].fdb_macs).toEqual(macs(1));
    const large = await owner.get("if-entries?limit=101");
    expect(longReads).toEqual(["list"]);
    expect(large.data).toEqual(small);
    expect((await owner.get("if-entries?limit=0")).data).toEqual(small);

    // Reads versions in small batches, with the same results.
    const { reader } = appliance;
    const actor = {
      type: "User",
      n: 0,
      userN: 0,
      role: "Owner",
      organizationN: reader.recordN(first.organizationId),
      networkNs: null,
    };
    const until = reader.head().sequence;
    const chunksOf = (read: AnyLongRead, input: object) =>
      [...read(reader, { actor, ...input } as never)].filter((chunk) => chunk.length > 0);
    const feed = chunksOf(changeFeed, {
      types: ["if_entry"],
      networkN: null,
      after: 0,
      limit: 1_000,
      format: "json",
    }).map((chunk) => new TextDecoder().decode(chunk));
    expect(JSON.parse(`[${feed.slice(1).join("")}]`).map((change: JsonRecord) => change.record.fdb_macs ?? [])).toEqual(
      small.map((entry) => entry.fdb_macs ?? []),
    );
    expect(feed.slice(1).filter((chunk) => chunk.includes("02:00:00")).length).toBe(3);
    const diff = chunksOf(diffRead, {
      types: ["if_entry"],
      networkN: null,
      hostN: null,
      from: 0,
      to: until,
      fromAt: 0,
      toAt: clock.now(),
      thinnedUntil: null,
      sorts: ["added", "removed", "changed"],
      offset: 0,
      limit: 0,
      format: "ndjson",
    });
    expect(diff.filter((chunk) => new TextDecoder().decode(chunk).includes("02:00:00")).length).toBe(3);
  });
});
