import { describe, expect, spyOn, test } from "bun:test";
import { Counters } from "../../src/base/counters.ts";
import { DomainError } from "../../src/base/errors.ts";
import { NOTIFY_INTERVAL_MS } from "../../src/db/commits.ts";
import { LONG_READS_OF_CALLER_MAX, LongReadPool, type LongReads } from "../../src/db/reading/long-reads.ts";
import {
  EVENT_STREAMS_MAX,
  EVENT_STREAMS_OF_USER_MAX,
  WAITING_OF_USER_MAX,
} from "../../src/history/change-feed-routes.ts";
import { callerOfRead } from "../../src/registry/long-reads.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { invalid, type JsonRecord, tcp } from "../support/appliance/factories.ts";
import { DirectLongReads } from "../support/injected/direct-long-reads.ts";

const appliance = applianceForEach();
const { clock, first, handle, owner, timers } = appliance;
const { newApiKey, newHost, newIfEntry, newNetwork, newStranger, newSubnet } = appliance;
const { newTag, newUser, prune, tick, transactionCount } = appliance;

const summaryOf = (change: JsonRecord) => `${change.entity_type} ${change.operation}`;

/** Yields once to pending work. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The whole feed, page by page. */
async function readFeed(caller: Client, limit: number, query = ""): Promise<JsonRecord[]> {
  const all: JsonRecord[] = [];
  for (let [after, mark] = [0, ""]; ; ) {
    const response = await caller.get(`changes?after=${after}&mark=${mark}&limit=${limit}${query}`);
    expect(response.status).toBe(200);
    all.push(...response.data);
    const { feed } = response.body.meta;
    expect(feed.after).toBeGreaterThanOrEqual(after);
    if (!feed.has_more) return all;
    expect(feed.after).toBeGreaterThan(after);
    ({ after, mark } = feed);
  }
}

/** Counts running long reads. @param wrap wraps the start of each read */
function watchReads(wrap: (start: LongReads["start"]) => LongReads["start"] = (start) => start) {
  let running = 0;
  const original = DirectLongReads.prototype.start;
  let start: LongReads["start"] | null = null;
  const spy = spyOn(DirectLongReads.prototype, "start").mockImplementation(function (
    this: DirectLongReads,
    ...request
  ) {
    start ??= wrap(async (...options) => {
      const steps = (await original.apply(this, options as Parameters<typeof original>))[Symbol.asyncIterator]();
      running += 1;
      return (async function* () {
        try {
          for (let next = await steps.next(); next.done !== true; next = await steps.next()) yield next.value;
        } finally {
          running -= 1;
          await steps.return?.();
        }
      })();
    });
    return start(...request);
  });
  return { running: () => running, started: () => spy.mock.calls.length, restore: () => spy.mockRestore() };
}

/** Starts long reads on a pool of threads, as the appliance does. */
function viaPool(start: LongReads["start"]): LongReads["start"] {
  const lane: LongReads = { start, close: async () => {} };
  const shared = new LongReadPool([lane], [lane], callerOfRead, new Counters().counts.long_reads);
  return (...request) => shared.start(...request);
}

describe("the change feed", () => {
  test("delivers every version once, in commit order, with its actor", async () => {
    const tag = await newTag({ name: "core" });
    tick();
    const renamed = (await owner.put(`tags/${tag.id}`, { name: "edge", color: "Green" })).data;
    tick();
    const { client, id } = newApiKey();
    const at = clock.text();
    await client.delete(`tags/${tag.id}`, { "x-request-id": "mine" });
    const feed = (await owner.get("changes?types=tag")).data as JsonRecord[];
    expect(feed.map(summaryOf)).toEqual(["tag Created", "tag Updated", "tag Deleted"]);
    expect(feed[0]).toMatchObject({ changed_fields: [], record: { ...tag, valid_to: renamed.valid_from } });
    expect(feed[1]).toMatchObject({
      changed_fields: ["name"],
      record: { ...renamed, valid_to: feed[2]?.transaction.at },
    });
    expect(feed[2]?.record).toEqual(feed[1]?.record);
    expect(feed[2]?.transaction).toMatchObject({ actor: { type: "ApiKey", id }, request_id: "mine" });
    expect(feed[2]?.transaction.at >= at).toBe(true);
  });

  test.each([[1], [2], [3], [7], [1_000]])(
    "has no gaps or duplicates with a limit of %i, and splits no transaction",
    async (limit) => {
      for (let index = 0; index < 6; index += 1) {
        tick();
        await newHost({ name: `h${index}`, ports: [tcp(22), tcp(80)] });
      }
      const entireFeed = await readFeed(owner, 1_000);
      const paged = await readFeed(owner, limit);
      expect(paged).toEqual(entireFeed);
      const keys = entireFeed.map((change) => `${change.transaction.sequence} ${change.record.id}`);
      expect(new Set(keys).size).toBe(keys.length);
      const sequences = entireFeed.map((change) => change.transaction.sequence);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
      expect(sequences.at(-1)).toBe(transactionCount());
    },
  );

  test("limits the page size, but delivers a larger transaction completely", async () => {
    await newHost({ name: "big", ports: Array.from({ length: 30 }, (_, index) => tcp(index + 1)) });
    const before = transactionCount() - 1;
    const response = await owner.get(`changes?after=${before}&limit=5`);
    expect(response.data).toHaveLength(31);
    expect(response.body.meta.feed).toEqual({
      after: before + 1,
      mark: appliance.reader.hashPrefixOf(before + 1),
      has_more: false,
    });
  });

  test("shows a host without its children, whose changes are separate", async () => {
    const host = await newHost({ name: "h", ports: [tcp(22)] });
    await newIfEntry(host.id);
    const feed = (await owner.get("changes?types=host,port,if_entry")).data as JsonRecord[];
    expect(feed.map(summaryOf)).toEqual(["host Created", "port Created", "host Updated", "if_entry Created"]);
    expect(feed[2]?.changed_fields).toEqual(["interfaces"]);
    for (const field of ["interfaces", "ip_addresses", "ports", "services"])
      expect(feed[0]?.record).not.toHaveProperty(field);
    expect(feed[0]?.record).toHaveProperty("credential_assignments", []);
  });

  test("reports forwarding entries and assignments only through the records they belong to", async () => {
    const host = await newHost({ name: "h" });
    const entry = await newIfEntry(host.id);
    const after = transactionCount();
    await owner.put(`if-entries/${entry.id}`, {
      if_index: entry.if_index,
      if_descr: entry.if_descr,
      fdb_macs: ["00:00:5e:00:53:01"],
    });
    const feed = (await owner.get(`changes?after=${after}`)).data as JsonRecord[];
    expect(feed.map(summaryOf)).toEqual(["host Updated", "if_entry Updated"]);
    expect(feed[1]).toMatchObject({ changed_fields: ["fdb_macs"], record: { fdb_macs: ["00:00:5e:00:53:01"] } });
  });

  test("omits API keys, and rejects them as a type", async () => {
    newApiKey();
    expect((await readFeed(owner, 100)).map((change) => change.entity_type)).not.toContain("api_key");
    expect(await owner.get("changes?types=api_key")).toMatchObject(invalid({ path: "/types/0" }));
  });

  test("can be narrowed to one network", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    await newSubnet({ cidr: "10.1.0.0/16" });
    await newSubnet({ cidr: "10.2.0.0/16", network_id: otherNetwork.id });
    const feed = await readFeed(owner, 1, `&network_id=${otherNetwork.id}`);
    expect(feed.map(summaryOf)).toEqual(["network Created", "subnet Created"]);
    expect(feed[1]).toMatchObject({ record: { cidr: "10.2.0.0/16" } });
    expect(await readFeed(owner, 10, "&network_id=01936f2e-0d5c-7d3a-9a39-00000000dead")).toEqual([]);
  });

  test("shows only the caller's networks, and advances past the rest", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    const member = await newUser({ role: "Member", networkIds: [otherNetwork.id] });
    for (let index = 0; index < 5; index += 1) await newSubnet({ cidr: `10.${index}.0.0/16` });
    const seen = await newSubnet({ cidr: "10.2.0.0/16", network_id: otherNetwork.id });
    const feed = await readFeed(member.client, 2);
    const json = JSON.stringify(feed);
    expect(feed.filter((change) => change.entity_type === "subnet").map((change) => change.record.id)).toEqual([
      seen.id,
    ]);
    expect(json).not.toContain(first.networkId);
    const response = await member.client.get("changes?after=0");
    expect(response.body.meta.feed.after).toBe(transactionCount());
  });

  test("is in commit order even for a caller of many networks", async () => {
    const networks: JsonRecord[] = [];
    for (let index = 0; index < 70; index += 1) networks.push(await newNetwork());
    const member = await newUser({ role: "Member", networkIds: networks.map((network) => network.id) });
    for (let index = 0; index < 6; index += 1) {
      tick();
      await newSubnet({ cidr: `10.${index}.0.0/16`, network_id: networks[[69, 3, 40, 0, 68, 1][index] as number]?.id });
    }
    for (const limit of [1, 2, 1_000]) {
      const subnets = (await readFeed(member.client, limit)).filter((change) => change.entity_type === "subnet");
      expect(subnets.map((change) => change.record.cidr)).toEqual(
        Array.from({ length: 6 }, (_, index) => `10.${index}.0.0/16`),
      );
    }
  });

  test("does not show other organizations", async () => {
    const { client, ...second } = await newStranger();
    const feed = await readFeed(client, 3);
    expect(feed.map(summaryOf).sort()).toEqual(["network Created", "organization Created", "user Created"]);
    expect(JSON.stringify(await readFeed(owner, 100))).not.toContain(second.organizationId);
  });

  test("refuses a cursor beyond the ledger, since it belongs to other data", async () => {
    const head = transactionCount();
    expect(await owner.get(`changes?after=${head}`)).toMatchObject({ status: 200, data: [] });
    expect(await owner.get(`changes?after=${head + 1}`)).toMatchObject(invalid({ path: "/after", value: head + 1 }));
  });
});

describe("a feed cursor", () => {
  test("is refused if its checksum belongs to a transaction in other data", async () => {
    await newTag({ name: "core" });
    const { feed } = (await owner.get("changes")).body.meta;
    expect(feed.mark).toMatch(/^[0-9a-f]{8}$/);
    for (const path of [`after=${feed.after}&mark=${feed.mark}`, `after=${feed.after}`, "after=0&mark=", "after=0"])
      expect([path, (await owner.get(`changes?${path}`)).status]).toEqual([path, 200]);
    for (const path of [
      `after=${feed.after}&mark=00000000`,
      `after=${feed.after}&mark=`,
      `after=0&mark=${feed.mark}`,
      `after=${feed.after - 1}&mark=${feed.mark}`,
    ]) {
      expect([path, await owner.get(`changes?${path}`)]).toMatchObject([
        path,
        invalid({ path: "/mark", message: expect.stringContaining("the data has since been replaced") }),
      ]);
    }
  });
});

describe("a long poll", () => {
  test("ends with the first change", async () => {
    const head = transactionCount();
    const poll = owner.get(`changes?after=${head}&wait=60`);
    await owner.post("tags", { name: "core", color: "Green" });
    const response = await poll;
    expect(response.data.map(summaryOf)).toEqual(["tag Created"]);
    expect(response.body.meta.feed).toEqual({
      after: head + 1,
      mark: appliance.reader.hashPrefixOf(head + 1),
      has_more: false,
    });
    expect(timers.count).toBe(0);
  });

  test("sees another process's write within a second", async () => {
    const head = transactionCount();
    const poll = owner.get(`changes?after=${head}&wait=60`);
    while (timers.count < 2) await nextTurn();
    // Its own writer does not notify.
    await newTag({ name: "core" });
    timers.pass(1_000);
    expect((await poll).data.map(summaryOf)).toEqual(["tag Created"]);
  });

  test("continues past changes out of reach, and ends empty at its timeout", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    const member = await newUser({ role: "Member", networkIds: [otherNetwork.id] });
    const head = transactionCount();
    let isDone = false;
    const poll = member.client.get(`changes?after=${head}&wait=10`).finally(() => {
      isDone = true;
    });
    await newSubnet({ cidr: "10.1.0.0/16" });
    timers.pass(9_999);
    await nextTurn();
    expect(isDone).toBe(false);
    timers.pass(1);
    expect(await poll).toMatchObject({
      status: 200,
      data: [],
      body: { meta: { feed: { after: head + 1, has_more: false } } },
    });
  });

  test("holds no read transaction while it waits, nor for an empty page", async () => {
    const reads = watchReads();
    try {
      const poll = owner.get(`changes?after=${transactionCount()}&types=subnet&wait=60`);
      while (timers.count < 2) await nextTurn();
      expect([reads.started(), reads.running()]).toEqual([1, 0]);
      for (const name of ["a", "b", "c"]) await owner.post("tags", { name, color: "Green" });
      await newSubnet({ cidr: "10.1.0.0/16" });
      timers.pass(1_000);
      expect((await poll).data.map(summaryOf)).toEqual(["subnet Created"]);
      expect(reads.started()).toBeGreaterThan(2);
      expect(reads.running()).toBe(0);
    } finally {
      reads.restore();
    }
  });

  test("uses no other request budget of its user, and has its own limit", async () => {
    const reads = watchReads(viaPool);
    try {
      const { client, key } = newApiKey();
      const head = transactionCount();
      const poll = Array.from({ length: WAITING_OF_USER_MAX }, (_, index) =>
        (index % 2 === 0 ? owner : client).get(`changes?after=${head}&wait=60`),
      );
      while (timers.count <= WAITING_OF_USER_MAX) await nextTurn();
      for (const path of [
        "/api/v1/diff?from=-1d",
        "/api/v1/tags/export/csv",
        "/api/v1/transactions",
        `/api/v1/changes?after=${head}`,
        "/api/v1/changes?after=0&wait=60",
      ])
        expect([path, (await owner.get(path)).status]).toEqual([path, 200]);
      timers.pass(NOTIFY_INTERVAL_MS);
      const refused = await client.get(`changes?after=${head}&wait=60`);
      expect(refused).toMatchObject({
        status: 429,
        body: {
          code: "rate_limit_exceeded",
          error: expect.stringContaining(`You have ${WAITING_OF_USER_MAX} requests waiting for changes already`),
        },
      });
      expect(refused.headers.get("retry-after")).not.toBeNull();
      // Even if its user has the maximum number of other requests running.
      const idle = await Promise.all(
        Array.from({ length: LONG_READS_OF_CALLER_MAX }, () =>
          handle(new Request("http://localhost/api/v1/diff?from=-1d", { headers: { authorization: `Bearer ${key}` } })),
        ),
      );
      const otherUser = await newUser({ role: "Viewer", networkIds: [] });
      timers.pass(1_000);
      for (const response of await Promise.all(poll))
        expect(response).toMatchObject({ status: 200, data: [{ entity_type: "user" }] });
      for (const response of idle) await response.body?.cancel();
      timers.pass(NOTIFY_INTERVAL_MS);
      const [again, others] = [client, otherUser.client].map((caller) =>
        caller.get(`changes?after=${transactionCount()}&wait=10`),
      );
      while (timers.count < 3) await nextTurn();
      timers.pass(10_000);
      expect([(await again)?.status, (await others)?.status]).toEqual([200, 200]);
      expect([reads.running(), timers.count]).toEqual([0, 0]);
    } finally {
      reads.restore();
    }
  });

  test("returns immediately if there is already a change", async () => {
    await newTag({ name: "core" });
    const response = await owner.get("changes?after=0&wait=60");
    expect(response.data.length).toBeGreaterThan(0);
  });

  test("returns immediately after a quiet period, then batches changes for a twentieth of a second", async () => {
    const head = transactionCount();
    const reads = watchReads();
    try {
      const request = (after: number) => owner.get(`changes?after=${after}&wait=60&types=tag`);
      const first = request(head);
      await owner.post("tags", { name: "one", color: "Green" });
      expect((await first).data.length).toBe(1);
      // A caller that lags behind gets its response immediately; its next request returns all changes since then.
      expect((await request(head)).data.length).toBe(1);
      let isDone = false;
      const second = request(head + 1).finally(() => {
        isDone = true;
      });
      for (const name of ["two", "three"]) await owner.post("tags", { name, color: "Green" });
      timers.pass(NOTIFY_INTERVAL_MS - 1);
      await nextTurn();
      expect(isDone).toBe(false);
      timers.pass(1);
      expect((await second).data.length).toBe(2);
      expect(reads.running()).toBe(0);
      expect(timers.count).toBe(0);
    } finally {
      reads.restore();
    }
  });

  test("ends when its caller loses access", async () => {
    const { id, client } = newApiKey();
    const head = transactionCount();
    const poll = client.get(`changes?after=${head}&wait=60`);
    await owner.delete(`auth/keys/${id}`);
    expect(await poll).toMatchObject({ status: 401 });
  });
});

describe("the feed as server-sent events", () => {
  const openStream = async (after: number, headers: Record<string, string> = {}, apiKey = newApiKey()) => {
    const controller = new AbortController();
    const response = await handle(
      new Request(`http://localhost/api/v1/changes?after=${after}`, {
        headers: { accept: "text/event-stream", authorization: `Bearer ${apiKey.key}`, ...headers },
        signal: controller.signal,
      }),
    );
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    /** Reads until the text contains the part. */
    const until = async (part: string): Promise<string> => {
      while (!text.includes(part)) {
        const next = await reader.read();
        if (next.done) throw new Error(`the stream ended before ${part}: ${text}`);
        text += decoder.decode(next.value, { stream: true });
      }
      const found = text;
      text = "";
      return found;
    };
    return {
      response,
      until,
      reader,
      close: () => {
        controller.abort();
        return reader.cancel();
      },
    };
  };

  test("replays the past and then follows, ending each transaction with its sequence number", async () => {
    const key = newApiKey();
    const head = transactionCount();
    await newHost({ name: "h", ports: [tcp(22)] });
    const stream = await openStream(head, {}, key);
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
    const first = await stream.until(`id: ${head + 1}-`);
    expect(first.startsWith("retry: 3000\n\n")).toBe(true);
    expect([...first.matchAll(/^event: change$/gm)]).toHaveLength(2);
    expect([...first.matchAll(/^id: /gm)]).toHaveLength(1);
    await owner.post("tags", { name: "core", color: "Green" });
    const second = await stream.until(`id: ${head + 2}-`);
    expect(JSON.parse(/^data: (.*)$/m.exec(second)?.[1] ?? "")).toMatchObject({
      entity_type: "tag",
      operation: "Created",
      record: { name: "core" },
    });
    await stream.close();
  });

  test("resumes after Last-Event-ID, which overrides the URL", async () => {
    const key = newApiKey();
    await newTag({ name: "seen" });
    const head = transactionCount();
    await newTag({ name: "missed" });
    const stream = await openStream(0, { "last-event-id": String(head) }, key);
    const text = await stream.until(`id: ${head + 1}-`);
    expect(text).toContain("missed");
    expect(text).not.toContain("seen");
    await stream.close();
  });

  test("resumes after the id of its own events, and refuses one from other data", async () => {
    const key = newApiKey();
    const head = transactionCount();
    await newTag({ name: "core" });
    const first = await openStream(head, {}, key);
    const id = /^id: (.*)$/m.exec(await first.until(`id: ${head + 1}-`))?.[1] as string;
    await first.close();
    await newTag({ name: "edge" });
    const second = await openStream(0, { "last-event-id": id }, key);
    expect(await second.until(`id: ${head + 2}-`)).toContain("edge");
    await second.close();
    const refused = await owner.get("changes", {
      accept: "text/event-stream",
      "last-event-id": `${head + 1}-00000000`,
    });
    expect(refused).toMatchObject(
      invalid({ path: "/Last-Event-ID", message: expect.stringContaining("the data has since been replaced") }),
    );
  });

  test("sends heartbeats while idle, and ends when the appliance stops or the client disconnects", async () => {
    const key = newApiKey();
    const stream = await openStream(transactionCount(), {}, key);
    const heartbeat = stream.until(": still here\n\n");
    await nextTurn();
    while (timers.count === 0) await nextTurn();
    timers.pass(15_000);
    await heartbeat;
    await stream.close();
    while (timers.count > 0) await nextTurn();
  });

  test("ends when its caller loses access", async () => {
    const key = newApiKey();
    const stream = await openStream(transactionCount(), {}, key);
    await stream.until("retry");
    await owner.delete(`auth/keys/${key.id}`);
    let end = await stream.reader.read();
    while (!end.done) end = await stream.reader.read();
    expect(end.done).toBe(true);
  });

  test("runs alongside its user's other requests, up to its limit", async () => {
    const reads = watchReads(viaPool);
    try {
      const key = newApiKey();
      const head = transactionCount();
      const streams = await Promise.all(
        Array.from({ length: EVENT_STREAMS_OF_USER_MAX }, () => openStream(head, {}, key)),
      );
      const received = streams.map((stream) => stream.until(`id: ${head + 1}-`));
      // Long reads whose responses are not consumed.
      const idle = await Promise.all(
        Array.from({ length: 31 }, () =>
          handle(
            new Request("http://localhost/api/v1/diff?from=-1d", { headers: { authorization: `Bearer ${key.key}` } }),
          ),
        ),
      );
      expect((await owner.get("tags/export/csv")).status).toBe(200);
      await owner.post("tags", { name: "core", color: "Green" });
      for (const text of await Promise.all(received)) expect(text).toContain("core");
      const refused = await owner.get("changes", { accept: "text/event-stream" });
      expect(refused).toMatchObject({
        status: 429,
        body: {
          error: expect.stringContaining(`You have ${EVENT_STREAMS_OF_USER_MAX} change streams open already`),
        },
      });
      await Promise.all([
        ...streams.map((stream) => stream.close()),
        ...idle.map((response) => response.body?.cancel()),
      ]);
      for (let round = 0; round < 20; round += 1) await nextTurn();
      expect(reads.running()).toBe(0);
    } finally {
      reads.restore();
    }
  });

  test("closes with a log line on any failure other than lost permissions", async () => {
    const key = newApiKey();
    const head = transactionCount();
    const stream = await openStream(head, { "x-request-id": "broken-2" }, key);
    const rest = stream.until("never");
    while (timers.count === 0) await nextTurn();
    const reads = watchReads(() => async () => {
      throw new DomainError("rate_limit_exceeded", "Too many.");
    });
    try {
      await newTag({ name: "core" });
      timers.pass(1_000);
      expect(String(await rest.catch((error: unknown) => error))).toContain("Too many.");
      expect(
        appliance.logLines.filter((line) => line.includes("stream_failed") && line.includes("broken-2")),
      ).toHaveLength(1);
    } finally {
      reads.restore();
    }
  });

  test("leaves no read transaction open when the client disconnects, even over thinned history", async () => {
    const tag = await newTag({ name: "a" });
    tick();
    await owner.put(`tags/${tag.id}`, { name: "b", color: "Blue" });
    tick();
    expect(prune(clock.now(), "none").dropped).toBeGreaterThan(0);
    tick();
    const reads = watchReads();
    try {
      const key = newApiKey();
      for (const chunkCount of [0, 1, 2, 3]) {
        const stream = await openStream(0, {}, key);
        let text = "";
        for (let chunk = 0; chunk < chunkCount; chunk += 1)
          text += new TextDecoder().decode((await stream.reader.read()).value);
        if (chunkCount > 1) expect(text).toContain("event: thinned");
        await nextTurn();
        await stream.close();
        for (let round = 0; round < 20; round += 1) await nextTurn();
        expect([chunkCount, reads.running()]).toEqual([chunkCount, 0]);
      }
      // An unread stream starts none.
      expect(reads.started()).toBe(3);
    } finally {
      reads.restore();
    }
  });

  test("does not count unread streams: HEAD opens none, and an abandoned one ends before its start", async () => {
    const { key } = newApiKey();
    const headers = { accept: "text/event-stream", authorization: `Bearer ${key}` };
    const send = (method: string) => handle(new Request("http://localhost/api/v1/changes", { method, headers }));
    for (let index = 0; index <= EVENT_STREAMS_MAX; index += 1) {
      expect((await send("HEAD")).status).toBe(200);
      const response = await send("GET");
      expect(response.status).toBe(200);
      await response.body?.cancel();
    }
  });

  test("refuses a malformed Last-Event-ID", async () => {
    const response = await owner.get("changes", { accept: "text/event-stream", "last-event-id": "x" });
    expect(response).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/Last-Event-ID" }] } } });
  });
});
