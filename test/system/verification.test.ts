// Verifications of the compiled executable through the API: on a separate thread during reads and writes, of a damaged
// database, cancelled, and interrupted by the end of the appliance.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "../support/appliance/client.ts";
import { PASSWORD, type Running } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";

const PATH = "ledger/verifications";
const STOP_MAX_MS = 5_000;
/** Enough records to catch it midway. */
const HOSTS = 1_000;
const ENTRIES = 15;

type Wire = Record<string, any>;

const place = workplaceForEach(tmpdir());

async function signedIn(running: Running): Promise<Client> {
  const answer = await running.client().post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD });
  return running.client({ cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" });
}

async function told(client: Client, id: string, holds: (verification: Wire) => boolean): Promise<Wire> {
  for (;;) {
    const { data } = await client.get(`${PATH}/${id}`);
    if (holds(data)) return data;
  }
}

const ended = (client: Client, id: string) => told(client, id, ({ status }) => status !== "Running");

/** An appliance with a ledger that takes seconds to verify. */
async function serveMany(): Promise<{ running: Running; client: Client; networkId: string }> {
  const { networkId, running } = await place.serveSetUp();
  const client = await signedIn(running);
  const hosts = Array.from({ length: HOSTS }, (_, n) => ({
    name: `switch ${n}`,
    network_id: networkId,
    interfaces: Array.from({ length: ENTRIES }, (_, each) => ({ if_index: each + 1, if_descr: `port ${each + 1}` })),
  }));
  const made = await client.post("hosts/bulk", hosts);
  expect(made.status).toBe(200);
  return { running, client, networkId };
}

/** Progress is logged every few seconds; on a fast machine the command ends before that. */
function withoutProgress(errors: string): string {
  return errors.replaceAll(/^.* INFO {2}verifying .*\n/gm, "");
}

/** The started verification, caught midway. */
async function caught(client: Client): Promise<Wire> {
  const { data } = await client.post(PATH, {});
  return told(client, data.id, ({ status, progress }) => status !== "Running" || progress?.step === "versions");
}

describe("a verification", () => {
  test("runs during reads and writes, and reports the same head as a later verify", async () => {
    const { running, client, networkId } = await serveMany();
    const { data: head } = await client.get("ledger");
    const began = await caught(client);
    expect(began).toMatchObject({ status: "Running", progress: { step: "versions", done: expect.any(Number) } });
    expect(began.progress.total).toBeGreaterThan(HOSTS * ENTRIES);
    const made = await client.post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "meanwhile" });
    expect([made.status, (await client.get(`subnets/${made.data.id}`)).data]).toEqual([200, made.data]);
    expect((await client.get(`${PATH}/${began.id}`)).data.status).toBe("Running");
    const done = await ended(client, began.id);
    expect(done).toMatchObject({
      status: "Completed",
      is_sound: true,
      findings: [],
      head: { sequence: head.sequence, at: head.at, hash: head.hash },
      problem: null,
    });
    expect(running.log).toContain(`INFO  verification_ended id=${began.id} status=Completed`);
    await running.stop();
    const proven = await place.run(["verify", "--data", place.data, "--head", `${head.sequence}:${head.hash}`]);
    expect([proven.code, withoutProgress(proven.err)]).toEqual([0, ""]);
    const again = await place.serve();
    expect((await (await signedIn(again)).get(PATH)).data).toEqual([done]);
  });

  test("is cancelled immediately, and the next one is complete", async () => {
    const { client } = await serveMany();
    const { id } = await caught(client);
    const cancelled = await client.post(`${PATH}/${id}/cancel`, {});
    expect([cancelled.status, cancelled.data.status, cancelled.data.is_sound]).toEqual([200, "Cancelled", null]);
    expect(cancelled.data.progress.done).toBeLessThan(cancelled.data.progress.total);
    expect((await client.post(`${PATH}/${id}/cancel`, {})).body.code).toBe("entity_stale");
    const { data } = await client.post(PATH, {});
    expect(await ended(client, data.id)).toMatchObject({ status: "Completed", is_sound: true });
  });
});

describe("with a damaged database", () => {
  test("a changed byte is found, and its location reported", async () => {
    const { key, networkId } = await place.setUp();
    const first = await place.serve();
    const made = await first
      .withKey(key)
      .post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "Recognizable" });
    await first.stop();
    changed("Recognizable", "Recognisable");
    const running = await place.serve();
    const client = await signedIn(running);
    const { data } = await client.post(PATH, {});
    const done = await ended(client, data.id);
    expect(done).toMatchObject({ status: "Completed", is_sound: false });
    const found = done.findings.map(({ check, where, message }: Wire) => `${check}: ${where}: ${message}`);
    expect(found).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^version: subnet ${made.data.id} \\(n \\d+\\), transaction \\d+: its content does not match its hash$`,
        ),
      ),
    );
    expect(done.findings_total).toBe(found.length);
    expect(running.log).toContain(`ERROR verification_ended id=${data.id} status=Completed`);
    const verified = await place.command("verify");
    expect(verified.code).toBe(1);
    for (const line of found) expect(verified.out).toContain(line);
  });

  test("an unreadable page is reported, and the outcome is the same after a restart", async () => {
    const { key, networkId } = await place.setUp();
    const first = await place.serve();
    for (let n = 0; n < 40; n += 1)
      await first.withKey(key).post("subnets", { network_id: networkId, cidr: `10.0.${n}.0/24`, name: `made ${n}` });
    await first.stop();
    const path = join(place.data, "netledger.db");
    const db = new Database(path, { readonly: true });
    const [[root, size] = [0, 0]] = db
      .query("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'subnets'")
      .values() as [[number, number]];
    db.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (root - 1) * size, (root - 1) * size + 100);
    writeFileSync(path, bytes);

    const running = await place.serve();
    const client = await signedIn(running);
    const { data } = await client.post(PATH, {});
    const done = await ended(client, data.id);
    expect(done).toMatchObject({ status: "Completed", is_sound: false });
    expect(done.findings.some(({ check, where }: Wire) => check === "file" && where === "subnets")).toBe(true);
    expect((await running.stop()).code).toBe(0);
    const again = await place.serve();
    expect((await (await signedIn(again)).get(`${PATH}/${done.id}`)).data).toEqual(done);
  });

  /** Changes the database file wherever the text occurs. */
  function changed(from: string, to: string): void {
    const path = join(place.data, "netledger.db");
    const bytes = readFileSync(path);
    let count = 0;
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1), count += 1) bytes.write(to, at);
    expect(count).toBeGreaterThan(0);
    writeFileSync(path, bytes);
  }
});

describe("a verification when the appliance ends", () => {
  test("by a shutdown is stopped immediately, with the log checkpointed, and marked interrupted", async () => {
    const { running, client } = await serveMany();
    const { id } = await caught(client);
    const end = await running.stop();
    expect([end.code, end.signal, end.err]).toEqual([0, null, expect.stringMatching(/stopped\n$/)]);
    expect(end.tookMs).toBeLessThan(STOP_MAX_MS);
    expect(end.err).toContain(`verification_ended id=${id} status=Interrupted`);
    const log = join(place.data, "netledger.db-wal");
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
    const again = await place.serve();
    const next = await signedIn(again);
    expect((await next.get(PATH)).data).toMatchObject([
      { id, status: "Interrupted", ended_at: expect.any(String), is_sound: null, progress: { step: "versions" } },
    ]);
    expect((await next.post(PATH, {})).data.status).toBe("Running");
  });

  test("by kill -9 is marked interrupted at the next start", async () => {
    const { running, client } = await serveMany();
    const { id } = await caught(client);
    running.kill("SIGKILL");
    await running.exited;
    const again = await place.serve();
    const next = await signedIn(again);
    expect((await next.get(PATH)).data).toMatchObject([
      { id, status: "Interrupted", ended_at: null, problem: "The appliance stopped before it was complete." },
    ]);
    const { data } = await next.post(PATH, {});
    expect((await ended(next, data.id)).status).toBe("Completed");
  });

  test("with a damaged file of verifications leaves it in place: the start reports it and continues", async () => {
    await place.setUp();
    const file = join(place.data, "netledger-verifications.json");
    writeFileSync(file, "{]");
    const running = await place.serve();
    await running.logged(`WARN  verifications_not_read`);
    expect(readFileSync(file, "utf8")).toBe("{]");
    const client = await signedIn(running);
    expect((await client.get(PATH)).data).toEqual([]);
    const { data } = await client.post(PATH, {});
    const done = await ended(client, data.id);
    expect(JSON.parse(readFileSync(file, "utf8")).verifications).toEqual([done]);
  });
});
