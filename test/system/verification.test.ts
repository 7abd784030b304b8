// Verifications by the compiled executable through the API: on a separate thread during reads and writes, of a damaged
// database, canceled, and interrupted by the end of the appliance.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "../support/appliance/client.ts";
import { OWNER, PASSWORD, type Running } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";

const PATH = "ledger/verifications";
const STOP_MAX_MS = 5_000;
/** Enough records to observe a running verification. */
const HOSTS = 1_000;
const INTERFACES_PER_HOST = 15;

type JsonRecord = Record<string, any>;

const sandbox = sandboxForEach(tmpdir());

async function signIn(running: Running): Promise<Client> {
  const response = await running.client().post("/api/auth/login", { email: OWNER, password: PASSWORD });
  return running.client({ cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" });
}

async function waitFor(
  client: Client,
  id: string,
  isReached: (verification: JsonRecord) => boolean,
): Promise<JsonRecord> {
  for (;;) {
    const { data } = await client.get(`${PATH}/${id}`);
    if (isReached(data)) return data;
  }
}

/** Polls only once the log reports the end: requests would slow the verification down. */
async function waitForEnd(running: Running, client: Client, id: string): Promise<JsonRecord> {
  await running.waitForLog(`verification_ended id=${id}`);
  return waitFor(client, id, ({ status }) => status !== "Running");
}

/** An appliance with a ledger that takes seconds to verify. */
async function serveLargeLedger(): Promise<{ running: Running; client: Client; networkId: string }> {
  const { networkId, running } = await sandbox.serveSetUp();
  const client = await signIn(running);
  const hosts = Array.from({ length: HOSTS }, (_, n) => ({
    name: `switch ${n}`,
    network_id: networkId,
    interfaces: Array.from({ length: INTERFACES_PER_HOST }, (_, index) => ({
      if_index: index + 1,
      if_descr: `port ${index + 1}`,
    })),
  }));
  const created = await client.post("hosts/bulk", hosts);
  expect(created.status).toBe(200);
  return { running, client, networkId };
}

/** Progress is logged every few seconds; on a fast machine the command ends before that. */
function withoutProgress(errors: string): string {
  return errors.replaceAll(/^.* INFO {2}verifying .*\n/gm, "");
}

/** Starts a verification. @returns it while it runs */
async function startVerification(client: Client): Promise<JsonRecord> {
  const { data } = await client.post(PATH, {});
  return waitFor(client, data.id, ({ status, progress }) => status !== "Running" || progress?.step === "versions");
}

describe("a verification", () => {
  test("runs during reads and writes, and reports the same head as a later verify", async () => {
    const { running, client, networkId } = await serveLargeLedger();
    const { data: head } = await client.get("ledger");
    const started = await startVerification(client);
    expect(started).toMatchObject({ status: "Running", progress: { step: "versions", done: expect.any(Number) } });
    expect(started.progress.total).toBeGreaterThan(HOSTS * INTERFACES_PER_HOST);
    const created = await client.post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "meanwhile" });
    expect([created.status, (await client.get(`subnets/${created.data.id}`)).data]).toEqual([200, created.data]);
    expect((await client.get(`${PATH}/${started.id}`)).data.status).toBe("Running");
    const done = await waitForEnd(running, client, started.id);
    expect(done).toMatchObject({
      status: "Completed",
      is_sound: true,
      findings: [],
      head: { sequence: head.sequence, at: head.at, hash: head.hash },
      problem: null,
    });
    expect(running.log).toContain(`INFO  verification_ended id=${started.id} status=Completed`);
    await running.stop();
    const verification = await sandbox.command("verify", "--head", `${head.sequence}:${head.hash}`);
    expect([verification.code, withoutProgress(verification.err)]).toEqual([0, ""]);
    const restarted = await sandbox.serve();
    expect((await (await signIn(restarted)).get(PATH)).data).toEqual([done]);
  });

  test("is canceled immediately, and the next one is complete", async () => {
    const { running, client } = await serveLargeLedger();
    const { id } = await startVerification(client);
    const cancelled = await client.post(`${PATH}/${id}/cancel`, {});
    expect([cancelled.status, cancelled.data.status, cancelled.data.is_sound]).toEqual([200, "Cancelled", null]);
    expect(cancelled.data.progress.done).toBeLessThan(cancelled.data.progress.total);
    expect((await client.post(`${PATH}/${id}/cancel`, {})).body.code).toBe("entity_stale");
    const { data } = await client.post(PATH, {});
    expect(await waitForEnd(running, client, data.id)).toMatchObject({ status: "Completed", is_sound: true });
  });
});

describe("a damaged database", () => {
  test("a changed byte is found, and its location reported", async () => {
    const { key, networkId } = await sandbox.setUp();
    const first = await sandbox.serve();
    const subnet = { network_id: networkId, cidr: "10.0.0.0/24", name: "Recognizable" };
    const created = await first.withKey(key).post("subnets", subnet);
    await first.stop();
    replaceText("Recognizable", "Recognisable");
    const running = await sandbox.serve();
    const client = await signIn(running);
    const { data } = await client.post(PATH, {});
    const done = await waitForEnd(running, client, data.id);
    expect(done).toMatchObject({ status: "Completed", is_sound: false });
    const lineOf = ({ check, where, message }: JsonRecord) => `${check}: ${where}: ${message}`;
    const reportedLines = done.findings.map(lineOf);
    const location = `version: subnet ${created.data.id} \\(n \\d+\\), transaction \\d+`;
    expect(reportedLines.join("\n")).toMatch(new RegExp(`^${location}: its content does not match its hash$`, "m"));
    expect(done.findings_total).toBe(reportedLines.length);
    expect(running.log).toContain(`ERROR verification_ended id=${data.id} status=Completed`);
    const verified = await sandbox.command("verify");
    expect(verified.code).toBe(1);
    for (const line of reportedLines) expect(verified.out).toContain(line);
  });

  test("an unreadable page is reported, and the outcome is the same after a restart", async () => {
    const { key, networkId } = await sandbox.setUp();
    const first = await sandbox.serve();
    for (let n = 0; n < 40; n += 1)
      await first.withKey(key).post("subnets", { network_id: networkId, cidr: `10.0.${n}.0/24`, name: `made ${n}` });
    await first.stop();
    const path = join(sandbox.data, "netledger.db");
    const db = new Database(path, { readonly: true });
    const page = "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'subnets'";
    const [[root, size]] = db.query(page).values() as [[number, number]];
    db.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (root - 1) * size, (root - 1) * size + 100);
    writeFileSync(path, bytes);

    const running = await sandbox.serve();
    const client = await signIn(running);
    const { data } = await client.post(PATH, {});
    const done = await waitForEnd(running, client, data.id);
    expect(done).toMatchObject({ status: "Completed", is_sound: false });
    expect(done.findings.some(({ check, where }: JsonRecord) => check === "file" && where === "subnets")).toBe(true);
    expect((await running.stop()).code).toBe(0);
    const restarted = await sandbox.serve();
    expect((await (await signIn(restarted)).get(`${PATH}/${done.id}`)).data).toEqual(done);
  });

  /** Replaces every occurrence of a string in the database file. */
  function replaceText(from: string, to: string): void {
    const path = join(sandbox.data, "netledger.db");
    const bytes = readFileSync(path);
    let count = 0;
    for (let index = bytes.indexOf(from); index >= 0; index = bytes.indexOf(from, index + 1)) {
      bytes.write(to, index);
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
    writeFileSync(path, bytes);
  }
});

describe("a verification when the appliance ends", () => {
  test("is stopped immediately by a shutdown, with the log checkpointed, and marked interrupted", async () => {
    const { running, client } = await serveLargeLedger();
    const { id } = await startVerification(client);
    const result = await running.stop();
    expect([result.code, result.signal, result.err]).toEqual([0, null, expect.stringMatching(/stopped\n$/)]);
    expect(result.tookMs).toBeLessThan(STOP_MAX_MS);
    expect(result.err).toContain(`verification_ended id=${id} status=Interrupted`);
    const log = join(sandbox.data, "netledger.db-wal");
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
    const restarted = await sandbox.serve();
    const nextClient = await signIn(restarted);
    expect((await nextClient.get(PATH)).data).toMatchObject([
      { id, status: "Interrupted", ended_at: expect.any(String), is_sound: null, progress: { step: "versions" } },
    ]);
    expect((await nextClient.post(PATH, {})).data.status).toBe("Running");
  });

  test("is marked interrupted at the next start after kill -9", async () => {
    const { running, client } = await serveLargeLedger();
    const { id } = await startVerification(client);
    running.kill("SIGKILL");
    await running.exited;
    const restarted = await sandbox.serve();
    const nextClient = await signIn(restarted);
    expect((await nextClient.get(PATH)).data).toMatchObject([
      { id, status: "Interrupted", ended_at: null, problem: "The appliance stopped before it was complete." },
    ]);
    const { data } = await nextClient.post(PATH, {});
    expect((await waitForEnd(restarted, nextClient, data.id)).status).toBe("Completed");
  });

  test("does not overwrite a damaged file of verifications: the start logs it and continues", async () => {
    await sandbox.setUp();
    const file = join(sandbox.data, "netledger-verifications.json");
    writeFileSync(file, "{]");
    const running = await sandbox.serve();
    await running.waitForLog(`WARN  verifications_not_read`);
    expect(readFileSync(file, "utf8")).toBe("{]");
    const client = await signIn(running);
    expect((await client.get(PATH)).data).toEqual([]);
    const { data } = await client.post(PATH, {});
    const done = await waitForEnd(running, client, data.id);
    expect(JSON.parse(readFileSync(file, "utf8")).verifications).toEqual([done]);
  });
});
