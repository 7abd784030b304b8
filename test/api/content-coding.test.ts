// Content codings of responses: negotiation, exceptions, and entity tags.

import { beforeAll, describe, expect, test } from "bun:test";
import { preferredCoding } from "../../src/http/content-coding.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForAll();
const { newHost, owner } = appliance;

const DECODE = {
  zstd: (bytes: Uint8Array<ArrayBuffer>) => Bun.zstdDecompressSync(bytes),
  gzip: (bytes: Uint8Array<ArrayBuffer>) => Bun.gunzipSync(bytes),
} as const;
const CODINGS = ["zstd", "gzip"] as const;

let host: JsonRecord;
let apiKey: string;

beforeAll(async () => {
  for (let i = 0; i < 60; i += 1)
    host = await newHost({ name: `switch-${i}`, description: `${"in the basement ".repeat(60)}${i}` });
  apiKey = (await appliance.owner.post("auth/keys", await appliance.keyBody())).data.key;
});

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return appliance.handle(
    new Request(`http://localhost/api/v1/${path}`, { headers: { authorization: `Bearer ${apiKey}`, ...headers } }),
  );
}

async function decoded(response: Response, coding: (typeof CODINGS)[number]): Promise<string> {
  expect(response.headers.get("content-encoding")).toBe(coding);
  return Buffer.from(DECODE[coding]((await response.bytes()) as Uint8Array<ArrayBuffer>)).toString();
}

describe.each(CODINGS)("%s", (coding) => {
  test.each([
    ["a page", "hosts?limit=50&include_children=false"],
    ["a large page", "hosts?limit=1000&include_children=false"],
    ["a streamed list", "hosts?limit=0&include_children=false"],
    ["a list of hosts with children", "hosts?limit=0"],
    ["an export", "hosts/export/csv"],
    ["the change feed", "changes?after=0&limit=1000"],
    ["a diff as NDJSON", "diff?from=2000-01-01T00:00:00Z&format=ndjson"],
    ["one record", "hosts/ID"],
  ])("%s decompresses to the same content, and is smaller", async (_name, path) => {
    const url = path.replace("ID", host.id);
    const plain = await get(url);
    const text = await plain.text();
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("vary")).toBe("accept-encoding");
    const response = await get(url, { "accept-encoding": coding });
    expect(response.headers.get("vary")).toBe("accept-encoding");
    expect(response.headers.get("content-type")).toBe(plain.headers.get("content-type"));
    const bytes = await response.clone().bytes();
    expect(bytes.length).toBeLessThan(text.length / 2);
    expect(await decoded(response, coding)).toBe(text);
  });

  test("a record's ETag depends on the coding; any coding's ETag satisfies If-None-Match and If-Match", async () => {
    const plain = (await get(`hosts/${host.id}`)).headers.get("etag") as string;
    const response = await get(`hosts/${host.id}`, { "accept-encoding": coding });
    const tag = response.headers.get("etag") as string;
    expect(tag).toBe(`${plain.slice(0, -1)}.${coding}"`);
    for (const sentTag of [plain, tag])
      for (const accepted of ["", coding]) {
        const repeated = await get(`hosts/${host.id}`, { "if-none-match": sentTag, "accept-encoding": accepted });
        expect(repeated.status).toBe(304);
        expect(repeated.headers.get("etag")).toBe(sentTag === tag && accepted === coding ? tag : plain);
      }
    const body = { name: host.name, description: host.description };
    const { status, data } = await owner.put(`hosts/${host.id}`, { ...host, ...body }, { "if-match": tag });
    expect(status).toBe(200);
    host = data;
    expect(
      await owner.put(`hosts/${host.id}`, { ...host, name: "other" }, { "if-match": '"1-00000000.gzip"' }),
    ).toMatchObject({ status: 412 });
  });
});

test("short, refused, secret and event-stream responses stay uncompressed", async () => {
  const acceptCoding = { "accept-encoding": "zstd, gzip" };
  for (const path of ["tags", "hosts/none", "ledger", "auth/keys", "credentials"])
    expect((await get(path, acceptCoding)).headers.get("content-encoding")).toBeNull();
  const created = await owner.post("auth/keys", { ...appliance.keyBody(), name: "x".repeat(250) }, acceptCoding);
  expect(created.status).toBe(200);
  expect(created.headers.get("content-encoding")).toBeNull();
  const events = await get("changes?after=0", { ...acceptCoding, accept: "text/event-stream" });
  expect(events.headers.get("content-type")).toStartWith("text/event-stream");
  expect(events.headers.get("content-encoding")).toBeNull();
  await events.body?.cancel();
});

test("an abandoned stream is released", async () => {
  const response = await get("hosts?limit=0", { "accept-encoding": "zstd" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await reader.cancel();
  expect((await get("hosts?limit=1")).status).toBe(200);
});

test.each([
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, deflate, br", "gzip"],
  ["zstd;q=0.5, gzip", "gzip"],
  ["ZSTD ; q=0, gzip;q=0.1", "gzip"],
  ["*", "zstd"],
  ["zstd;q=0, *;q=0.3", "gzip"],
  ["identity", null],
  ["gzip;q=0", null],
  ["gzip;q=nonsense", null],
  ["", null],
] as const)("Accept-Encoding: %s prefers %p", (header, coding) => {
  expect(preferredCoding(header)).toBe(coding);
});
