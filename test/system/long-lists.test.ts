// Long lists of a running appliance: ordered and complete, off the serving thread, and ended with their request.

import { beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import type { Running } from "../support/executable/executable.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";
import { stopwatch } from "../support/measure/processor-time.ts";

const HOSTS = 2_000;
/**
 * Makes the full list several megabytes long: more than the buffers between the appliance and a client that does not
 * read.
 */
const DESCRIPTION = "x".repeat(3_000);
const DISCONNECTS = 60;
const MEMORY_GROWTH_MAX_KIB = 64 * 1024;
const WAIT_MAX_MS = 50;

const sandbox = sandboxForAll();
let running: Running;
let client: Client;
let key: string;

beforeAll(async () => {
  const setup = await sandbox.setUp();
  key = setup.key;
  running = await sandbox.serve();
  client = running.withKey(key);
  for (let start = 0; start < HOSTS; start += 1_000) {
    const hosts = Array.from({ length: 1_000 }, (_, index) => ({
      network_id: setup.networkId,
      name: `host ${((start + index) * 7_919) % HOSTS}`,
      description: DESCRIPTION,
      hidden: index % 10 === 0,
      ports: [{ number: 22, protocol: "Tcp" }],
    }));
    expect((await client.post("hosts/bulk", hosts)).status).toBe(200);
  }
});

/** The whole list in order, streamed. */
const streamAll = (signal?: AbortSignal) =>
  fetch(`${running.url}/api/v1/hosts?order_by=name&limit=0`, {
    headers: { authorization: `Bearer ${key}` },
    ...(signal === undefined ? {} : { signal }),
  });

/** Expected order by name: by code point, since all are lower case. */
const expectedNames = () => Array.from({ length: HOSTS }, (_, index) => `host ${index}`).sort();

describe("a sorted list of 2,000 hosts", () => {
  test("is complete and ordered as a stream, with children", async () => {
    const { data, body } = await client.get("hosts?order_by=name&limit=0");
    expect((data as JsonRecord[]).map((host) => host.name)).toEqual(expectedNames());
    expect((data as JsonRecord[]).every((host) => host.ports.length === 1)).toBe(true);
    expect(body.meta.pagination).toEqual({ total_count: HOSTS, limit: 0, offset: 0, has_more: false });
  });

  test("supports pages, searches and filters", async () => {
    const names = async (query: string) => {
      const { data, body } = await client.get(`hosts?${query}&include_children=false`);
      return [(data as JsonRecord[]).map((host) => host.name), body.meta.pagination.total_count];
    };
    expect(await names("order_by=name&limit=7&offset=1000")).toEqual([expectedNames().slice(1_000, 1_007), HOSTS]);
    expect(await names("order_by=name&order_direction=desc&limit=3")).toEqual([
      expectedNames().toReversed().slice(0, 3),
      HOSTS,
    ]);
    expect(await names("search=199&order_by=name&limit=3")).toEqual([["host 199", "host 1990", "host 1991"], 11]);
    expect((await names("hidden=true&limit=1"))[1]).toBe(HOSTS / 10);
  });

  test("exports a table with one row per host, even as of a timestamp", async () => {
    const at = new Date().toISOString();
    for (const atQuery of ["", `&at=${at}`]) {
      const { text, headers } = await client.get(`hosts/export/csv?order_by=name${atQuery}`);
      expect(headers.get("content-type")).toStartWith("text/csv");
      expect(csvRecords(text).map((row) => row.name)).toEqual(expectedNames());
    }
    expect((await client.get("hosts/export/csv?at=2001-01-01T00:00:00Z")).text.split("\r\n")).toHaveLength(2);
    expect((await client.send("HEAD", "hosts/export/csv")).text).toBe("");
  });

  test("does not delay small requests", async () => {
    const streams = Array.from({ length: 4 }, async () => (await streamAll()).arrayBuffer());
    let isDone = false;
    const done = Promise.all(streams).then(() => (isDone = true));
    const waits: number[] = [];
    while (!isDone) {
      // Long-read threads may wait: the first thread serves small requests.
      const elapsedMs = stopwatch("first");
      expect((await client.get("tags?limit=1")).status).toBe(200);
      waits.push(elapsedMs());
    }
    await done;
    waits.sort((a, b) => a - b);
    // The median: delays of single requests on a busy machine do not count.
    expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(WAIT_MAX_MS);
    expect(waits.length).toBeGreaterThan(5);
  });

  test("leaves nothing behind when clients disconnect midway", async () => {
    const disconnect = async () => {
      const controller = new AbortController();
      const reader = (await streamAll(controller.signal)).body?.getReader();
      await reader?.read();
      controller.abort();
      await reader?.closed.catch(() => {});
    };
    for (let index = 0; index < 10; index += 1) await disconnect();
    const before = running.memoryKib("RssAnon");
    for (let index = 0; index < DISCONNECTS; index += 10) await Promise.all(Array.from({ length: 10 }, disconnect));
    expect((await client.get("hosts?order_by=name&limit=1")).body.meta.pagination.total_count).toBe(HOSTS);
    // A list held in memory would take more than ten megabytes each.
    expect(running.memoryKib("RssAnon") - before).toBeLessThan(MEMORY_GROWTH_MAX_KIB);
    expect(running.log).not.toContain("stream_failed");
  });

  test("does not prevent shutdown", async () => {
    const controller = new AbortController();
    const reader = (await streamAll(controller.signal)).body?.getReader();
    await reader?.read();
    controller.abort();
    const result = await running.stop();
    expect([result.code, result.signal]).toEqual([0, null]);
    expect(result.err).not.toContain("requests_cut_off");
    expect(result.err).not.toContain("long_reads_crashed");
    // The log is checkpointed into the database: the file alone is complete.
    expect(statSync(join(sandbox.data, "netledger.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });
});
