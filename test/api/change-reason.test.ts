// Reasons for changes: read from X-Change-Reason, stored with the transaction, and shown wherever the transaction is.

import { describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { newUnclaimedAppliance, PASSWORD, SETUP_TOKEN } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";
import {
  bodyOf,
  newRecordFixture,
  OPERATIONS,
  type Operation,
  pathOf,
  type RecordFixture,
} from "../support/contract/operations.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, newHost, newNetwork, newSubnet, newUser, owner, probes, runScan, tick } = appliance;
const tag = { name: "core", color: "Green" };
const withReason = (reason: string) => ({ "x-change-reason": Buffer.from(reason).toString("latin1") });
const reasonsSince = (sequence: number): Array<string | null> =>
  appliance.reader.db
    .query("SELECT reason FROM history_transactions WHERE sequence > ? AND actor_type <> 'Discovery'")
    .values(sequence)
    .flat() as Array<string | null>;
const last = async (count = 1): Promise<JsonRecord[]> => (await owner.get(`transactions?limit=${count}`)).data;
const reasonsOf = (data: JsonRecord[]) => data.map(({ reason }) => reason as string | null);
const findReasons = async (text: string, caller = owner) =>
  reasonsOf((await caller.get(`transactions?reason=${encodeURIComponent(text)}`)).data);

describe("the reason of a write", () => {
  test("is shown with its transaction everywhere, and is null by default", async () => {
    const before = clock.text();
    tick();
    const reason = "CHG-4711: größerer Umbau";
    const record = await expectOk(owner.post("tags", tag, withReason(reason)));
    const [listed] = await last();
    expect(listed).toMatchObject({ command: "tag.create", reason });
    const sequence = listed?.sequence as number;
    expect((await owner.get(`transactions/${sequence}`)).data.reason).toBe(reason);
    expect((await owner.get(`tags/${record.id}/history`)).data[0].transaction.reason).toBe(reason);
    const feed = (await owner.get(`changes?after=${sequence - 1}`)).data;
    expect(feed.map((change: JsonRecord) => change.transaction.reason)).toEqual([reason]);
    const diff = (await owner.get(`diff?from=${before}`)).data;
    expect(diff.added[0].transaction.reason).toBe(reason);
    const [head, row] = (await owner.get(`diff?from=${before}&format=csv`)).text.split("\r\n") as [string, string];
    expect([head.split(",").at(-1), row.split(",").at(-1)]).toEqual(["reason", reason]);
    expect((await owner.get(`diff?from=${before}&format=text`)).text).toMatch(
      /\+ core {2}\(.*Z: CHG-4711: größerer Umbau\)\n/,
    );
    expect(JSON.parse((await owner.get(`diff?from=${before}&format=ndjson`)).text).transaction.reason).toBe(reason);

    tick();
    await owner.put(`tags/${record.id}`, { ...tag, color: "Blue" });
    const history = (await owner.get(`tags/${record.id}/history`)).data;
    expect(history.map((version: JsonRecord) => version.transaction.reason)).toEqual([null, reason]);
    const { fields } = (await owner.get(`diff?from=${record.created_at}`)).data.changed[0];
    expect(fields.map((field: JsonRecord) => field.transaction.reason)).toEqual([null]);
  });

  test("is also sent with server-sent events", async () => {
    const [{ sequence }] = (await last()) as [JsonRecord];
    await owner.post("tags", tag, withReason("why not"));
    const response = await appliance.handle(
      new Request(`http://localhost/api/v1/changes?after=${sequence}`, {
        headers: { ...(owner as unknown as { headers: Record<string, string> }).headers, accept: "text/event-stream" },
      }),
    );
    const events = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("event: change")) text += new TextDecoder().decode((await events.read()).value);
    await events.cancel();
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "").transaction.reason).toBe("why not");
  });

  test("is permanent: the ledger verifies with it, and no version contains it", async () => {
    await owner.post("tags", tag, withReason("for good"));
    await owner.post("tags", { ...tag, name: "edge" });
    const db = openReadOnly(appliance.databasePath);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
    db.$client.close();
    expect(
      appliance.reader.db
        .query(`SELECT 1 FROM history_versions v WHERE ${writtenSql("v", "members")} LIKE '%for good%'`)
        .all(),
    ).toEqual([]);
  });

  test("is not stored if nothing is written", async () => {
    const record = await expectOk(owner.post("tags", tag));
    await owner.put(`tags/${record.id}`, tag, withReason("nothing changes"));
    expect(await findReasons("nothing")).toEqual([]);
  });

  test("is stored with the first transaction if sent with the setup request", async () => {
    const unclaimed = newUnclaimedAppliance();
    const claim = {
      setup_token: SETUP_TOKEN,
      organization_name: "Acme",
      network_name: "Lab",
      email: "ada@example.net",
      password: PASSWORD,
    };
    await expectOk(unclaimed.anonymous.post("/api/auth/setup", claim, withReason("a new site")));
    const rows = unclaimed.reader.db.query("SELECT reason FROM history_transactions").values();
    expect(rows).toEqual([["a new site"]]);
    await unclaimed.close();
  });

  test("is not compared for idempotency: the first reason is kept", async () => {
    const key = { "idempotency-key": "k1" };
    await expectOk(owner.post("tags", tag, { ...key, ...withReason("the first time") }));
    const repeated = await owner.post("tags", tag, { ...key, ...withReason("another reason") });
    expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(reasonsOf(await last())).toEqual(["the first time"]);
    expect(await findReasons("another")).toEqual([]);
  });

  test("is stored with all transactions of a scan, and in the scan itself", async () => {
    await newSubnet({ cidr: "10.0.0.0/28" });
    probes.alive.set("10.0.0.1", { mac_address: "00:00:5e:00:53:01" });
    const { id } = await expectOk(
      owner.post("discovery/scans", { network_id: first.networkId, kind: "full" }, withReason("after the move")),
    );
    const scan = await appliance.waitForScan(id);
    expect(scan).toMatchObject({ status: "Completed", reason: "after the move" });
    const { first: from, last: to } = scan.outcome.transactions;
    const written = await last(to - from + 1);
    expect(written.every(({ actor, reason }) => actor.type === "Discovery" && reason === "after the move")).toBe(true);
    probes.alive.set("10.0.0.2", { mac_address: "00:00:5e:00:53:02" });
    expect((await runScan({ kind: "full" })).reason).toBeNull();
    expect(reasonsOf(await last())).toEqual([null]);
  });
});

describe("every write of the contract", () => {
  const isWrite = ({ method, path }: Operation) =>
    method !== "GET" && !["/api/auth/setup", "/api/auth/login"].includes(path);
  /** Children before parents: a delete cascades to them. */
  const PARTS = ["bindings", "services", "ports", "ip-addresses", "if-entries"];
  const rank = ({ method, plural }: Operation) =>
    method !== "DELETE" ? 0 : PARTS.includes(plural as string) ? 1 + PARTS.indexOf(plural as string) : 10;

  function bodyFor(operation: Operation, fixture: RecordFixture): JsonRecord | undefined {
    if (operation.path === "/api/auth/password")
      return { current_password: PASSWORD, new_password: `${PASSWORD} again` };
    if (operation.method !== "PUT") return bodyOf(operation, fixture);
    const record = fixture.records[operation.plural as string] as JsonRecord;
    const changed: Record<string, JsonRecord> = {
      bindings: { ip_address_id: fixture.records["ip-addresses"]?.id },
      "if-entries": { if_descr: "another" },
      ports: { number: 8_081 },
      "ip-ranges": { description: "another" },
      "custom-fields": { label: "another" },
    };
    return { ...record, ...(changed[operation.plural as string] ?? { name: `${record.name} again` }) };
  }

  test("stores its reason with its transaction", async () => {
    const fixture = await newRecordFixture(appliance);
    const writes = OPERATIONS.filter(isWrite).sort((a, b) => rank(a) - rank(b));
    const unrecorded: string[] = [];
    for (const operation of writes) {
      tick();
      const reason = `${operation.method} ${operation.path}`;
      const before = appliance.transactionCount();
      const url = pathOf(operation, fixture) + (operation.method === "DELETE" ? "?cascade=true" : "");
      const response = await owner.send(operation.method, url, bodyFor(operation, fixture), withReason(reason));
      expect([reason, response.status, response.status === 200 ? "" : response.text]).toEqual([reason, 200, ""]);
      const written = reasonsSince(before);
      if (written.length === 0) unrecorded.push(reason);
      expect([reason, ...new Set(written)]).toEqual([reason, ...(written.length === 0 ? [] : [reason])]);
    }
    expect(unrecorded).toEqual(["POST /api/v1/discovery/scans"]);
  });

  test("requires a reason if the organization demands one, unless it creates no transaction", async () => {
    const fixture = await newRecordFixture(appliance);
    await expectOk(owner.put("organizations", { name: "First", require_change_reason: true }));
    const writes = OPERATIONS.filter(isWrite).sort((a, b) => rank(a) - rank(b));
    const exempt: string[] = [];
    for (const operation of writes) {
      tick();
      const name = `${operation.method} ${operation.path}`;
      const url = pathOf(operation, fixture) + (operation.method === "DELETE" ? "?cascade=true" : "");
      const requestBody = bodyFor(operation, fixture);
      const body = operation.plural === "organizations" ? { ...requestBody, require_change_reason: true } : requestBody;
      const before = appliance.transactionCount();
      for (const headers of [{}, { "x-change-reason": "  " }]) {
        const response = await owner.send(operation.method, url, body, headers);
        if (response.status === 200) {
          exempt.push(name);
          break;
        }
        expect([name, response.status, response.body.code, response.body.params.issues]).toEqual([
          name,
          400,
          "validation_failed",
          [{ path: "/X-Change-Reason", message: expect.stringContaining("your organization requires a reason") }],
        ]);
        expect(appliance.transactionCount()).toBe(before);
      }
      if (exempt.at(-1) === name) continue;
      // The refused request wrote nothing: the same one succeeds now.
      const done = await owner.send(operation.method, url, body, withReason("as demanded"));
      expect([name, done.status, done.status === 200 ? "" : done.text]).toEqual([name, 200, ""]);
    }
    expect(exempt.sort()).toEqual(["POST /api/v1/discovery/scans", "PUT /api/auth/password"]);
  });

  test("stores the reason even for a revert, restore or bulk deletion", async () => {
    const record = await expectOk(owner.post("tags", tag));
    tick();
    await owner.put(`tags/${record.id}`, { ...tag, name: "edge" });
    const [{ sequence }] = (await last()) as [JsonRecord];
    for (const [path, body] of [
      [`transactions/${sequence}/revert`, {}],
      [`tags/${record.id}/restore`, { at: clock.text() }],
      ["tags/bulk-delete", [record.id]],
    ] as const) {
      tick();
      expect((await owner.post(path, body, withReason(path))).status).toBe(200);
      expect(reasonsOf(await last())).toEqual([path]);
    }
  });
});

describe("a malformed reason", () => {
  test.each([
    ["not UTF-8", "Gr\u00f6\u00dfe"],
    ["too long", "x".repeat(501)],
    ["two lines", "UTF-8''a%0Ab"],
  ])("is refused by every write operation, which then writes nothing: %s", async (_case, value) => {
    const host = await newHost();
    const writes = appliance.surface.routes.filter(
      ({ method, operation }) => method !== "GET" && operation.writesNoTransaction !== true,
    );
    expect(writes.length).toBeGreaterThan(70);
    const expectNothingWritten = appliance.watchWrites();
    for (const { method, path, operation } of writes) {
      const caller = path === "/api/auth/setup" ? anonymous : owner;
      const url = path.replace(":id", host.id).replace(":sequence", "1");
      const isTable = operation.table !== undefined;
      const response = await caller.send(method, url, method === "DELETE" ? undefined : isTable ? "id" : {}, {
        "x-change-reason": value,
        ...(isTable ? { "content-type": "text/csv" } : {}),
      });
      const isReported = response.body?.params.issues?.some((issue: JsonRecord) => issue.path === "/X-Change-Reason");
      expect([method, path, response.status, isReported]).toEqual([method, path, 400, true]);
    }
    expectNothingWritten();
  });

  test("is reported with all other issues", async () => {
    const response = await owner.post(
      "tags?unknown=1",
      { name: "x", color: "None" },
      { "x-change-reason": "a\u0007b" },
    );
    expect(response).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(response.body.params.issues.map(({ path }: JsonRecord) => path)).toEqual(
      expect.arrayContaining(["/unknown", "/X-Change-Reason", "/color"]),
    );
  });

  test("is ignored by reads and by writes outside the ledger", async () => {
    const bad = { "x-change-reason": "a\u0007b" };
    expect((await owner.get("tags", bad)).status).toBe(200);
    expect((await owner.post("backups", undefined, bad)).status).toBe(200);
    const scan = await appliance.startScan();
    expect((await owner.post(`discovery/scans/${scan.id}/cancel`, undefined, bad)).status).toBe(200);
    expect((await owner.post("/api/auth/logout", undefined, bad)).status).toBe(200);
  });
});

describe("searching transactions by reason", () => {
  test("finds any substring, ignoring case and accent composition, newest first", async () => {
    for (const [index, reason] of ["CHG-1: Ümbau", null, "chg-12: U\u0308mbau", "routine"].entries()) {
      tick();
      await expectOk(owner.post("tags", { ...tag, name: `t${index}` }, reason === null ? {} : withReason(reason)));
    }
    expect(await findReasons("CHG-1")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await findReasons("ümb")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await findReasons("u\u0308MBAU")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await findReasons("umbau")).toEqual([]);
    expect(await findReasons("chg-1%")).toEqual([]);
    const { body } = await owner.get("transactions?reason=chg&limit=1&offset=1");
    expect(reasonsOf(body.data)).toEqual(["CHG-1: Ümbau"]);
    expect(body.meta.pagination).toEqual({ total_count: 2, limit: 1, offset: 1, has_more: false });
    const [{ at }] = (await owner.get("transactions?reason=chg-1%3A")).data as [JsonRecord];
    expect(reasonsOf((await owner.get(`transactions?reason=chg&at=${at}`)).data)).toEqual(["CHG-1: Ümbau"]);
    for (const bad of ["", "%20", "a%0Ab", "x".repeat(501)])
      expect(await owner.get(`transactions?reason=${bad}`)).toMatchObject(
        invalid(expect.objectContaining({ path: "/reason" })),
      );
  });

  test("finds only transactions within the caller's reach", async () => {
    const near = await newNetwork();
    const far = await newNetwork();
    for (const [index, { id }] of [near, far].entries())
      await expectOk(
        owner.post("subnets", { cidr: `10.${index}.0.0/16`, network_id: id, name: "s" }, withReason(`CHG-${index}`)),
      );
    const { client } = await newUser({ role: "Viewer", networkIds: [near.id] });
    expect(await findReasons("chg", client)).toEqual(["CHG-0"]);
    expect(await findReasons("chg")).toEqual(["CHG-1", "CHG-0"]);
    const { client: stranger } = await appliance.newStranger();
    expect(await findReasons("chg", stranger)).toEqual([]);
  });
});
