// Reasons of changes: read from X-Change-Reason, stored with the transaction, shown wherever it is.

import { describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { newUnclaimedAppliance, PASSWORD, SETUP_TOKEN } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, made, type Wire } from "../support/appliance/factories.ts";
import { bodyOf, newWorld, OPERATIONS, type Operation, pathOf, type World } from "../support/contract/operations.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, newHost, newNetwork, newSubnet, newUser, owner, probes, scanned, tick } = appliance;
const tag = { name: "core", color: "Green" };
const because = (reason: string) => ({ "x-change-reason": Buffer.from(reason).toString("latin1") });
const writtenSince = (sequence: number): Array<string | null> =>
  appliance.reader.db
    .query("SELECT reason FROM history_transactions WHERE sequence > ? AND actor_type <> 'Discovery'")
    .values(sequence)
    .flat() as Array<string | null>;
const last = async (count = 1): Promise<Wire[]> => (await owner.get(`transactions?limit=${count}`)).data;
const reasonsOf = (data: Wire[]) => data.map(({ reason }) => reason as string | null);
const found = async (text: string, by = owner) =>
  reasonsOf((await by.get(`transactions?reason=${encodeURIComponent(text)}`)).data);

describe("the reason of a write", () => {
  test("is shown with its transaction everywhere, and is null by default", async () => {
    const before = clock.text();
    tick();
    const reason = "CHG-4711: größerer Umbau";
    const record = await made(owner.post("tags", tag, because(reason)));
    const [listed] = await last();
    expect(listed).toMatchObject({ command: "tag.create", reason });
    const sequence = listed?.sequence as number;
    expect((await owner.get(`transactions/${sequence}`)).data.reason).toBe(reason);
    expect((await owner.get(`tags/${record.id}/history`)).data[0].transaction.reason).toBe(reason);
    const feed = (await owner.get(`changes?after=${sequence - 1}`)).data;
    expect(feed.map((change: Wire) => change.transaction.reason)).toEqual([reason]);
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
    expect(history.map((version: Wire) => version.transaction.reason)).toEqual([null, reason]);
    const { fields } = (await owner.get(`diff?from=${record.created_at}`)).data.changed[0];
    expect(fields.map((field: Wire) => field.transaction.reason)).toEqual([null]);
  });

  test("is sent with server-sent events too", async () => {
    const [{ sequence }] = (await last()) as [Wire];
    await owner.post("tags", tag, because("why not"));
    const answer = await appliance.handle(
      new Request(`http://localhost/api/v1/changes?after=${sequence}`, {
        headers: { ...(owner as unknown as { headers: Record<string, string> }).headers, accept: "text/event-stream" },
      }),
    );
    const events = (answer.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("event: change")) text += new TextDecoder().decode((await events.read()).value);
    await events.cancel();
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "").transaction.reason).toBe("why not");
  });

  test("is permanent: the ledger verifies with it, and no version contains it", async () => {
    await owner.post("tags", tag, because("for good"));
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
    const record = await made(owner.post("tags", tag));
    await owner.put(`tags/${record.id}`, tag, because("nothing changes"));
    expect(await found("nothing")).toEqual([]);
  });

  test("of the setup request is that of the first transaction", async () => {
    const fresh = newUnclaimedAppliance();
    const claim = {
      setup_token: SETUP_TOKEN,
      organization_name: "Acme",
      network_name: "Lab",
      email: "ada@example.net",
      password: PASSWORD,
    };
    await made(fresh.anonymous.post("/api/auth/setup", claim, because("a new site")));
    const rows = fresh.reader.db.query("SELECT reason FROM history_transactions").values();
    expect(rows).toEqual([["a new site"]]);
    await fresh.close();
  });

  test("is not compared for idempotency: the first one is kept", async () => {
    const key = { "idempotency-key": "k1" };
    await made(owner.post("tags", tag, { ...key, ...because("the first time") }));
    const again = await owner.post("tags", tag, { ...key, ...because("another reason") });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(reasonsOf(await last())).toEqual(["the first time"]);
    expect(await found("another")).toEqual([]);
  });

  test("of a scan is on everything it writes, and in the scan itself", async () => {
    await newSubnet({ cidr: "10.0.0.0/28" });
    probes.alive.set("10.0.0.1", { mac_address: "00:00:5e:00:53:01" });
    const { id } = await made(
      owner.post("discovery/scans", { network_id: first.networkId, kind: "full" }, because("after the move")),
    );
    const scan = await appliance.untilEnded(id);
    expect(scan).toMatchObject({ status: "Completed", reason: "after the move" });
    const { first: from, last: to } = scan.outcome.transactions;
    const written = await last(to - from + 1);
    expect(written.every(({ actor, reason }) => actor.type === "Discovery" && reason === "after the move")).toBe(true);
    probes.alive.set("10.0.0.2", { mac_address: "00:00:5e:00:53:02" });
    expect((await scanned({ kind: "full" })).reason).toBeNull();
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

  function bodyFor(operation: Operation, world: World): Wire | undefined {
    if (operation.path === "/api/auth/password")
      return { current_password: PASSWORD, new_password: `${PASSWORD} again` };
    if (operation.method !== "PUT") return bodyOf(operation, world);
    const record = world.records[operation.plural as string] as Wire;
    const changed: Record<string, Wire> = {
      bindings: { ip_address_id: world.records["ip-addresses"]?.id },
      "if-entries": { if_descr: "another" },
      ports: { number: 8_081 },
      "ip-ranges": { description: "another" },
      "custom-fields": { label: "another" },
    };
    return { ...record, ...(changed[operation.plural as string] ?? { name: `${record.name} again` }) };
  }

  test("carries its reason into its transaction", async () => {
    const world = await newWorld(appliance);
    const writes = OPERATIONS.filter(isWrite).sort((a, b) => rank(a) - rank(b));
    const silent: string[] = [];
    for (const operation of writes) {
      tick();
      const reason = `${operation.method} ${operation.path}`;
      const before = appliance.transactionCount();
      const url = pathOf(operation, world) + (operation.method === "DELETE" ? "?cascade=true" : "");
      const answer = await owner.send(operation.method, url, bodyFor(operation, world), because(reason));
      expect([reason, answer.status, answer.status === 200 ? "" : answer.text]).toEqual([reason, 200, ""]);
      const written = writtenSince(before);
      if (written.length === 0) silent.push(reason);
      expect([reason, ...new Set(written)]).toEqual([reason, ...(written.length === 0 ? [] : [reason])]);
    }
    expect(silent).toEqual(["POST /api/v1/discovery/scans"]);
  });

  test("requires a reason where the organization demands one, unless it makes no transaction", async () => {
    const world = await newWorld(appliance);
    await made(owner.put("organizations", { name: "First", require_change_reason: true }));
    const writes = OPERATIONS.filter(isWrite).sort((a, b) => rank(a) - rank(b));
    const free: string[] = [];
    for (const operation of writes) {
      tick();
      const name = `${operation.method} ${operation.path}`;
      const url = pathOf(operation, world) + (operation.method === "DELETE" ? "?cascade=true" : "");
      const sent = bodyFor(operation, world);
      const body = operation.plural === "organizations" ? { ...sent, require_change_reason: true } : sent;
      const before = appliance.transactionCount();
      for (const given of [{}, { "x-change-reason": "  " }]) {
        const answer = await owner.send(operation.method, url, body, given);
        if (answer.status === 200) {
          free.push(name);
          break;
        }
        expect([name, answer.status, answer.body.code, answer.body.params.issues]).toEqual([
          name,
          400,
          "validation_failed",
          [{ path: "/X-Change-Reason", message: expect.stringContaining("your organization requires a reason") }],
        ]);
        expect(appliance.transactionCount()).toBe(before);
      }
      if (free.at(-1) === name) continue;
      // The refused request wrote nothing: the same one succeeds now.
      const done = await owner.send(operation.method, url, body, because("as demanded"));
      expect([name, done.status, done.status === 200 ? "" : done.text]).toEqual([name, 200, ""]);
    }
    expect(free.sort()).toEqual(["POST /api/v1/discovery/scans", "PUT /api/auth/password"]);
  });

  test("carries its reason as a revert, restore or bulk deletion too", async () => {
    const record = await made(owner.post("tags", tag));
    tick();
    await owner.put(`tags/${record.id}`, { ...tag, name: "edge" });
    const [{ sequence }] = (await last()) as [Wire];
    for (const [path, body] of [
      [`transactions/${sequence}/revert`, {}],
      [`tags/${record.id}/restore`, { at: clock.text() }],
      ["tags/bulk-delete", [record.id]],
    ] as const) {
      tick();
      expect((await owner.post(path, body, because(path))).status).toBe(200);
      expect(reasonsOf(await last())).toEqual([path]);
    }
  });
});

describe("a malformed reason", () => {
  test.each([
    ["not UTF-8", "Gr\u00f6\u00dfe"],
    ["too long", "x".repeat(501)],
    ["two lines", "UTF-8''a%0Ab"],
  ])("(%s) is refused by every write operation, which then writes nothing", async (_how, value) => {
    const host = await newHost();
    const writes = appliance.surface.routes.filter(
      ({ method, operation }) => method !== "GET" && operation.makesNoTransaction !== true,
    );
    expect(writes.length).toBeGreaterThan(70);
    const expectNothingWritten = appliance.writingWatched();
    for (const { method, path, operation } of writes) {
      const by = path === "/api/auth/setup" ? anonymous : owner;
      const url = path.replace(":id", host.id).replace(":sequence", "1");
      const isTable = operation.table !== undefined;
      const answer = await by.send(method, url, method === "DELETE" ? undefined : isTable ? "id" : {}, {
        "x-change-reason": value,
        ...(isTable ? { "content-type": "text/csv" } : {}),
      });
      const named = answer.body?.params.issues?.some((issue: Wire) => issue.path === "/X-Change-Reason");
      expect([method, path, answer.status, named]).toEqual([method, path, 400, true]);
    }
    expectNothingWritten();
  });

  test("is reported with all other issues", async () => {
    const answer = await owner.post("tags?unknown=1", { name: "x", color: "None" }, { "x-change-reason": "a\u0007b" });
    expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(answer.body.params.issues.map(({ path }: Wire) => path)).toEqual(
      expect.arrayContaining(["/unknown", "/X-Change-Reason", "/color"]),
    );
  });

  test("is ignored by reads and by writes outside the ledger", async () => {
    const bad = { "x-change-reason": "a\u0007b" };
    expect((await owner.get("tags", bad)).status).toBe(200);
    expect((await owner.post("backups", undefined, bad)).status).toBe(200);
    const scan = await appliance.asked();
    expect((await owner.post(`discovery/scans/${scan.id}/cancel`, undefined, bad)).status).toBe(200);
    expect((await owner.post("/api/auth/logout", undefined, bad)).status).toBe(200);
  });
});

describe("searching transactions by reason", () => {
  test("finds any substring, ignoring case and accent composition, newest first", async () => {
    for (const [place, reason] of ["CHG-1: Ümbau", null, "chg-12: U\u0308mbau", "routine"].entries()) {
      tick();
      await made(owner.post("tags", { ...tag, name: `t${place}` }, reason === null ? {} : because(reason)));
    }
    expect(await found("CHG-1")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await found("ümb")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await found("u\u0308MBAU")).toEqual(["chg-12: U\u0308mbau", "CHG-1: Ümbau"]);
    expect(await found("umbau")).toEqual([]);
    expect(await found("chg-1%")).toEqual([]);
    const { body } = await owner.get("transactions?reason=chg&limit=1&offset=1");
    expect(reasonsOf(body.data)).toEqual(["CHG-1: Ümbau"]);
    expect(body.meta.pagination).toEqual({ total_count: 2, limit: 1, offset: 1, has_more: false });
    const [{ at }] = (await owner.get("transactions?reason=chg-1%3A")).data as [Wire];
    expect(reasonsOf((await owner.get(`transactions?reason=chg&at=${at}`)).data)).toEqual(["CHG-1: Ümbau"]);
    for (const bad of ["", "%20", "a%0Ab", "x".repeat(501)])
      expect(await owner.get(`transactions?reason=${bad}`)).toMatchObject(
        invalid(expect.objectContaining({ path: "/reason" })),
      );
  });

  test("finds only those within the caller's reach", async () => {
    const near = await newNetwork();
    const far = await newNetwork();
    for (const [place, { id }] of [near, far].entries())
      await made(
        owner.post("subnets", { cidr: `10.${place}.0.0/16`, network_id: id, name: "s" }, because(`CHG-${place}`)),
      );
    const { client } = await newUser({ role: "Viewer", networkIds: [near.id] });
    expect(await found("chg", client)).toEqual(["CHG-0"]);
    expect(await found("chg")).toEqual(["CHG-1", "CHG-0"]);
    const { client: stranger } = await appliance.newStranger();
    expect(await found("chg", stranger)).toEqual([]);
  });
});
