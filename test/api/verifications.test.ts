// Ledger verifications through the API: reports during and after a run, findings, failures, and results kept across
// restarts. The verification is real unless the test replaces it.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createLog } from "../../src/base/log.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { FINDING_TEXT_MAX_LENGTH, FINDINGS_LISTED, VERIFICATIONS_KEPT } from "../../src/operations/verification.ts";
import { StoredVerifications } from "../../src/operations/verifications.ts";
import type { VerifyMessages } from "../../src/operations/verify-thread.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { makePipe } from "../support/executable/special-files.ts";
import { directThread } from "../support/injected/direct-thread.ts";

const PATH = "ledger/verifications";
const UNKNOWN = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0999";

const appliance = applianceForEach();
const { anonymous, clock, first, newApiKey, newTag, newUser, owner, prune, renew, timers, transactionCount } =
  appliance;

const storedFile = () => dataFiles(appliance.dataDirectory).verifications;
const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Polls until the condition holds: every request lets the verification continue. */
async function waitFor(id: string, holds: (verification: JsonRecord) => boolean): Promise<JsonRecord> {
  for (;;) {
    const { data } = await owner.get(`${PATH}/${id}`);
    if (holds(data)) return data;
    await nextTick();
  }
}

const waitForEnd = (id: string) => waitFor(id, ({ status }) => status !== "Running");

async function runVerification(): Promise<JsonRecord> {
  const { data } = await owner.post(PATH, {});
  return waitForEnd(data.id);
}

/** A thread scripted by the test. */
class ScriptedThread {
  readonly received: Array<VerifyMessages["to"]> = [];
  post: (message: VerifyMessages["from"]) => void = () => {};
  readonly thread = directThread<VerifyMessages>((post) => {
    this.post = post;
    return (message) => this.received.push(message);
  });
  readonly startThread = this.thread.start;

  end(outcome: "stopped"): void {
    this.post({ type: "ended", outcome, found: { findings: [], more: 0 } });
  }
}

const PROGRESS = { step: "versions", done: 500, total: 2_000 };

/** Results known to the appliance's next start. */
function restartedStore(): StoredVerifications {
  return new StoredVerifications({
    file: storedFile(),
    database: appliance.databasePath,
    startThread: new ScriptedThread().startThread,
    newId: () => UNKNOWN,
    clock,
    timers,
    log: createLog({ write: (line) => appliance.logLines.push(line), format: "text", clock }),
  });
}

function damage(...statements: string[]): void {
  const db = new Database(appliance.databasePath);
  for (const sql of statements) db.run(sql);
  db.close();
}

describe("a verification", () => {
  test("is running at first, and later reports its coverage", async () => {
    await newTag();
    const { sequence, at } = appliance.reader.head();
    const countBefore = transactionCount();
    const started = await owner.post(PATH, {});
    expect(started.data).toEqual({
      id: expect.any(String),
      status: "Running",
      backup: null,
      requested_by: { type: "User", id: first.userId, name: "owner@first.example" },
      started_at: clock.text(),
      ended_at: null,
      progress: null,
      is_sound: null,
      findings_total: 0,
      findings: [],
      head: null,
      verified: null,
      not_checked: [],
      problem: null,
    });
    clock.advance(72_000);
    const done = await waitForEnd(started.data.id);
    expect(done).toEqual({
      ...started.data,
      status: "Completed",
      ended_at: clock.text(),
      progress: { step: "lineages", done: expect.any(Number), total: null },
      is_sound: true,
      head: { sequence, at: new Date(at).toISOString(), hash: appliance.reader.hashOf(sequence) },
      verified: { transactions: sequence, records: 4, versions: 4, dropped_versions: 0 },
      not_checked: ["history_versions"],
    });
    expect(done.head.hash).toBe((await owner.get("ledger")).data.hash);
    expect(transactionCount()).toBe(countBefore);
    expect((await owner.get(PATH)).data).toEqual([done]);
  });

  test("reports its current step and progress", async () => {
    const { data } = await owner.post(PATH, {});
    const steps = new Map<string, JsonRecord>();
    await waitFor(data.id, ({ status, progress }) => {
      if (progress !== null) steps.set(progress.step, progress);
      return status !== "Running";
    });
    expect([...steps.keys()].slice(0, 3)).toEqual(["file", "versions", "transactions"]);
    expect(steps.get("transactions")).toMatchObject({ done: expect.any(Number), total: transactionCount() });
    expect(steps.get("file")).toMatchObject({ done: expect.any(Number), total: null });
  });

  test("covers the state at its start, while writes continue", async () => {
    const { data } = await owner.post(PATH, {});
    const { sequence } = appliance.reader.head();
    await waitFor(data.id, ({ progress }) => progress !== null);
    for (let n = 0; n < 5; n += 1) await newTag();
    expect(await waitForEnd(data.id)).toMatchObject({ status: "Completed", is_sound: true, head: { sequence } });
    expect(appliance.reader.head().sequence).toBe(sequence + 5);
  });

  test("is refused while another one runs, by the name of that one", async () => {
    const { data } = await owner.post(PATH, {});
    expect(await owner.post(PATH, {})).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "verification", field: "status", value: "Running", id: data.id }),
    );
    await waitForEnd(data.id);
    expect((await runVerification()).status).toBe("Completed");
  });

  test("is the same one when repeated with its Idempotency-Key", async () => {
    const header = { "idempotency-key": "weekly" };
    const { data } = await owner.post(PATH, {}, header);
    const repeated = await owner.post(PATH, {}, header);
    expect([repeated.status, repeated.data.id, repeated.headers.get("idempotency-replayed")]).toEqual([
      200,
      data.id,
      "true",
    ]);
    const done = await waitForEnd(data.id);
    expect((await owner.post(PATH, {}, header)).data).toEqual(done);
    expect((await owner.get(PATH)).data).toEqual([done]);
  });

  test("starts when repeated with the Idempotency-Key of a refused request", async () => {
    const { data } = await owner.post(PATH, {});
    const header = { "idempotency-key": "weekly" };
    expect((await owner.post(PATH, {}, header)).status).toBe(409);
    await waitForEnd(data.id);
    const started = await owner.post(PATH, {}, header);
    expect([started.data.status, started.headers.get("idempotency-replayed")]).toEqual(["Running", null]);
    expect((await waitForEnd(started.data.id)).status).toBe("Completed");
  });
});

describe("damage", () => {
  test("is reported with its location if in a live row, and in the log as well", async () => {
    const tag = await newTag();
    damage("UPDATE tags SET members = replace(members, '\"color\"', '\"colour\"')");
    expect(await runVerification()).toMatchObject({
      status: "Completed",
      is_sound: false,
      findings_total: 1,
      findings: [
        {
          check: "live",
          where: expect.stringMatching(new RegExp(`^tag ${tag.id} \\(n \\d+\\)$`)),
          message: "its live document is not its newest version",
        },
      ],
      problem: null,
    });
    const line = appliance.logLines.find((line) => line.includes("verification_ended"));
    expect(line).toMatch(/ERROR verification_ended .*findings=1 first="live: tag /);
  });

  test("is reported during the run if in the ledger itself, and counted beyond the first hundred", async () => {
    for (let n = 0; n < FINDINGS_LISTED + 5; n += 1) await newTag();
    damage(
      "DROP TRIGGER history_versions_are_never_changed",
      `UPDATE history_versions SET members = replace(members, '"color"', '"colour"') WHERE key >> 31 IN (
        SELECT n FROM tags)`,
    );
    const { data } = await owner.post(PATH, {});
    const partial = await waitFor(data.id, ({ findings_total: total }) => total > FINDINGS_LISTED);
    expect([partial.status, partial.is_sound, partial.findings]).toEqual(["Running", null, []]);
    const { findings, findings_total: total, is_sound } = await waitForEnd(data.id);
    expect([findings.length, is_sound]).toEqual([FINDINGS_LISTED, false]);
    expect(total).toBeGreaterThan(2 * FINDINGS_LISTED);
    expect(findings[0]).toEqual({
      check: "schema",
      where: "trigger history_versions_are_never_changed, on history_versions",
      message: "is missing",
    });
    expect(findings[1]).toMatchObject({ check: "version", message: "its content does not match its hash" });
  });

  test("is reported for pages even if nothing else there is readable", async () => {
    for (let n = 0; n < 200; n += 1) await newTag();
    // Moves the log into the database, where the damage bypasses SQLite.
    damage("PRAGMA wal_checkpoint(TRUNCATE)");
    const page = new Database(appliance.databasePath, { readonly: true });
    const [[root] = [0]] = page.query("SELECT rootpage FROM sqlite_schema WHERE name = 'tags'").values() as [[number]];
    page.close();
    const bytes = readFileSync(appliance.databasePath);
    bytes.fill(0xff, (root - 1) * 8_192, (root - 1) * 8_192 + 64);
    writeFileSync(appliance.databasePath, bytes);
    const done = await runVerification();
    expect([done.status, done.is_sound]).toEqual(["Completed", false]);
    expect(done.findings.filter(({ check, where }: JsonRecord) => check === "file" && where === "tags")).not.toEqual(
      [],
    );
  });

  test("is truncated if its description is long", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    const long = "x".repeat(FINDING_TEXT_MAX_LENGTH + 1);
    script.post({
      type: "ended",
      outcome: "stopped",
      found: { findings: [{ check: "file", where: "a table", message: long }], more: 7 },
    });
    const { findings, findings_total: total } = await waitForEnd(data.id);
    expect([findings[0].message, total]).toEqual([`${"x".repeat(FINDING_TEXT_MAX_LENGTH - 1)}…`, 8]);
  });
});

describe("canceling a verification", () => {
  test("stops it between two steps, and keeps its findings", async () => {
    damage("DROP TRIGGER history_versions_are_never_deleted");
    const { data } = await owner.post(PATH, {});
    await waitFor(data.id, ({ progress }) => progress?.step === "file" && progress.done > 3);
    const cancelled = await owner.post(`${PATH}/${data.id}/cancel`, {});
    expect(cancelled.data).toMatchObject({
      id: data.id,
      status: "Cancelled",
      ended_at: clock.text(),
      is_sound: null,
      findings_total: 1,
      findings: [{ check: "schema" }],
      head: null,
      verified: null,
      problem: null,
    });
    expect((await owner.get(PATH)).data).toEqual([cancelled.data]);
    expect(restartedStore().list()).toEqual([cancelled.data]);
    expect(await runVerification()).toMatchObject({ status: "Completed" });
  });

  test("is refused if it has ended or never existed", async () => {
    const { id } = await runVerification();
    expect(await owner.post(`${PATH}/${id}/cancel`, {})).toMatchObject(
      refusal(409, "entity_stale", { entity: "verification", expected: "Running", actual: "Completed" }),
    );
    expect((await owner.post(`${PATH}/${UNKNOWN}/cancel`, {})).body.code).toBe("entity_not_found");
    expect((await owner.get(`${PATH}/${UNKNOWN}`)).body.code).toBe("entity_not_found");
    expect((await owner.get(`${PATH}/nothing`)).body.code).toBe("validation_failed");
  });

  test("returns the outcome when repeated with its Idempotency-Key", async () => {
    const { data } = await owner.post(PATH, {});
    const header = { "idempotency-key": "enough" };
    const cancelled = await owner.post(`${PATH}/${data.id}/cancel`, undefined, header);
    const repeated = await owner.post(`${PATH}/${data.id}/cancel`, undefined, header);
    expect([cancelled.data.status, cancelled.headers.get("idempotency-replayed")]).toEqual(["Cancelled", null]);
    expect([repeated.data, repeated.headers.get("idempotency-replayed")]).toEqual([cancelled.data, "true"]);
    const late = await owner.post(`${PATH}/${data.id}/cancel`, undefined, { "idempotency-key": "more" });
    expect(late.body.code).toBe("entity_stale");
    const none = await owner.post(`${PATH}/${UNKNOWN}/cancel`, undefined, { "idempotency-key": "nothing" });
    expect(none.body.code).toBe("entity_not_found");
  });

  test("is acknowledged before a long step ends, and takes effect", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    script.post({ type: "progress", progress: PROGRESS, found: 2 });
    await waitFor(data.id, ({ progress }) => progress !== null);
    const pending = owner.post(`${PATH}/${data.id}/cancel`, {});
    while (!script.received.some(({ type }) => type === "stop")) await nextTick();
    timers.pass(2_000);
    expect((await pending).data).toMatchObject({ status: "Running", progress: PROGRESS, findings_total: 2 });
    script.end("stopped");
    expect((await waitForEnd(data.id)).status).toBe("Cancelled");
    expect(script.thread.isTerminated).toBe(true);
  });
});

describe("a failed verification", () => {
  test("gives concurrent pruning as its reason", async () => {
    const tag = await newTag();
    clock.advance(1_000);
    await owner.put(`tags/${tag.id}`, { ...tag, description: "another one" });
    clock.advance(1_000);
    const { data } = await owner.post(PATH, {});
    await waitFor(data.id, ({ progress }) => progress !== null);
    prune(clock.now(), "none");
    expect(await waitForEnd(data.id)).toMatchObject({
      status: "Failed",
      is_sound: null,
      head: null,
      problem: "The data was pruned in the meantime: verify it again.",
    });
  });

  test("reveals no details of a thread crash to the caller, and logs the cause", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    script.thread.crash("a secret of the inside");
    expect(await waitForEnd(data.id)).toMatchObject({
      status: "Failed",
      problem: "Something went wrong inside the appliance; see its log.",
    });
    expect(appliance.logLines.join("\n")).toContain("verification_failed id=");
    expect(appliance.logLines.join("\n")).toContain("a secret of the inside");
    expect((await owner.post(PATH, {})).data.status).toBe("Running");
    script.end("stopped");
  });

  test("states the error if there is no database", async () => {
    await renew({ verifications: { database: join(import.meta.path, "netledger.db") } });
    const failed = await runVerification();
    expect(failed).toMatchObject({ status: "Failed", problem: expect.stringContaining("cannot be opened") });
  });
});

describe("the stored verifications", () => {
  test("are the newest, in a file readable by its owner only", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const ids: string[] = [];
    for (let n = 0; n < VERIFICATIONS_KEPT + 2; n += 1) {
      const { data } = await owner.post(PATH, {});
      ids.unshift(data.id);
      script.end("stopped");
      await waitForEnd(data.id);
    }
    const { data } = await owner.get(`${PATH}?limit=0`);
    expect(data.map(({ id }: JsonRecord) => id)).toEqual(ids.slice(0, VERIFICATIONS_KEPT));
    expect((await owner.get(`${PATH}/${ids.at(-1)}`)).status).toBe(404);
    const page = await owner.get(`${PATH}?limit=3&offset=2`);
    expect([page.data, page.body.meta.pagination]).toEqual([
      data.slice(2, 5),
      { total_count: VERIFICATIONS_KEPT, limit: 3, offset: 2, has_more: true },
    ]);
    expect(restartedStore().list()).toEqual(data);
    expect(statSync(storedFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(appliance.dataDirectory).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("mark one running at a crash as interrupted", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    expect(restartedStore().list()).toEqual([
      { ...data, status: "Interrupted", ended_at: null, problem: "The appliance stopped before it was complete." },
    ]);
    script.end("stopped");
    await waitForEnd(data.id);
  });

  test("must be writable before one is started", async () => {
    await renew({ verifications: { file: join(import.meta.path, "verifications.json") } });
    expect(await owner.post(PATH, {})).toMatchObject(refusal(507, "storage_full"));
    expect((await owner.get(PATH)).data).toEqual([]);
    expect((await owner.post(PATH, {})).body.code).toBe("storage_full");
  });

  test("lose one whose end cannot be written, with a log line", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    mkdirSync(`${storedFile()}.new`);
    script.end("stopped");
    await waitForEnd(data.id);
    while (!appliance.logLines.some((line) => line.includes(`verification_not_kept id=${data.id}`))) await nextTick();
    expect(restartedStore().list()).toMatchObject([{ id: data.id, status: "Interrupted" }]);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ["is not JSON", (path) => writeFileSync(path, '{"format":1,"verif'), /is damaged: it is not JSON/],
    ["lacks its content", (path) => writeFileSync(path, '{"format":1}'), /is damaged at \/verifications/],
    ["has another shape", (path) => writeFileSync(path, '{"format":2,"verifications":[]}'), /is damaged at \/format/],
    [
      "has impossible values",
      (path) => writeFileSync(path, JSON.stringify({ format: 1, verifications: [{ id: "x", status: "Sound" }] })),
      /is damaged at \/verifications\/0/,
    ],
    ["is far too long", (path) => writeFileSync(path, " ".repeat(17 * 1024 * 1024)), /has 17825792 bytes, more than/],
    ["is a folder", (path) => mkdirSync(path), /is a folder, not a file/],
    ["is a named pipe", makePipe, /is not a regular file/],
    ["is a link", (path) => symlinkSync(import.meta.path, path), /ELOOP/],
  ])("are reported in the log, without stopping the appliance, if their file %s", async (_case, damageFile, line) => {
    damageFile(storedFile());
    expect(restartedStore().list()).toEqual([]);
    expect(appliance.logLines.filter((line) => line.includes("WARN  verifications_not_read"))).toHaveLength(1);
    expect(appliance.logLines.at(-1)).toMatch(line);
  });

  test.each<[string, (path: string, otherFile: string) => void]>([
    ["a link to a file", (path, otherFile) => symlinkSync(otherFile, path)],
    ["a dangling link", (path, otherFile) => symlinkSync(`${otherFile}.not-there`, path)],
    ["a FIFO", makePipe],
    ["a leftover of an earlier run", (path) => writeFileSync(path, "half")],
  ])("are not written through an existing entry at the temporary path: %s", async (_case, put) => {
    const otherFile = join(appliance.dataDirectory, "elsewhere");
    writeFileSync(otherFile, "theirs");
    put(`${storedFile()}.new`, otherFile);
    const done = await runVerification();
    expect(restartedStore().list()).toEqual([done as never]);
    expect(readFileSync(otherFile, "utf8")).toBe("theirs");
    expect(existsSync(`${otherFile}.not-there`)).toBe(false);
    expect(lstatSync(storedFile()).isFile()).toBe(true);
  });

  test("are rewritten with the next one after damage", async () => {
    writeFileSync(storedFile(), "{");
    const done = await runVerification();
    expect(restartedStore().list()).toEqual([done as never]);
  });
});

describe("verifications when the appliance stops", () => {
  test("are interrupted immediately, and none is started", async () => {
    const { verifications } = appliance;
    const { data } = await owner.post(PATH, {});
    clock.advance(5);
    await verifications.close();
    expect((await owner.get(`${PATH}/${data.id}`)).data).toMatchObject({
      status: "Interrupted",
      ended_at: clock.text(),
      problem: "The appliance stopped before it was complete.",
    });
    expect(restartedStore().list()).toMatchObject([{ id: data.id, status: "Interrupted", ended_at: clock.text() }]);
    expect((await owner.post(PATH, {})).body.code).toBe("shutting_down");
  });

  test("are not waited for during a long step", async () => {
    const script = new ScriptedThread();
    await renew({ verifications: { startThread: script.startThread } });
    const { data } = await owner.post(PATH, {});
    script.post({ type: "progress", progress: PROGRESS, found: 3 });
    await waitFor(data.id, ({ progress }) => progress !== null);
    const closing = appliance.verifications.close();
    while (!script.received.some(({ type }) => type === "stop")) await nextTick();
    expect((await owner.get(`${PATH}/${data.id}`)).data.status).toBe("Running");
    timers.pass(1_000);
    await closing;
    expect(restartedStore().list()).toMatchObject([
      { id: data.id, status: "Interrupted", progress: PROGRESS, findings_total: 3, findings: [] },
    ]);
  });
});

test("access requires an Owner's session, and a single organization", async () => {
  const { data } = await owner.post(PATH, {});
  const requests = [
    ["GET", PATH],
    ["POST", PATH],
    ["GET", `${PATH}/${data.id}`],
    ["POST", `${PATH}/${data.id}/cancel`],
  ] as const;
  const { client: admin } = await newUser({ role: "Admin" });
  const { client: key } = newApiKey({ permissions: "Owner" });
  for (const [method, path] of requests) {
    expect((await anonymous.send(method, path)).status).toBe(401);
    expect((await admin.send(method, path)).body.code).toBe("auth_permission_denied");
    expect((await key.send(method, path)).body.code).toBe("auth_session_required");
  }
  await waitForEnd(data.id);
  await appliance.newOrganization("Second");
  for (const [method, path] of requests)
    expect((await owner.send(method, path)).body.code).toBe("auth_permission_denied");
});
