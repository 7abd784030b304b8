// Store of an earlier version, read by this one: every answer equals the earlier version's, plus fields added since.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openReadOnly, openWritable } from "../../src/db/connection.ts";
import { migrate } from "../../src/db/files/migrate.ts";
import { shapeOf } from "../../src/db/shape.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { upgradeStore } from "../../src/history/upgrade.ts";
import { rebuildDerived } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { newUnclaimedAppliance, type UnclaimedAppliance } from "../support/appliance/appliance.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, refusal, type Wire } from "../support/appliance/factories.ts";
import { content } from "../support/appliance/past.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { earlierAnswers, writeEarlierStore } from "../support/store/earlier-store.ts";

const EARLIER = earlierAnswers();
const { ids, instants, answers, etags } = EARLIER;

/** Fields added to records since: key that identifies the kind, field, and its value in all earlier versions. */
const ADDED: ReadonlyArray<{
  readonly has: string;
  readonly field: string;
  readonly value: unknown;
  readonly cell: string;
}> = [
  { has: "subnet_type", field: "accepts_credentials", value: true, cell: "true" },
  { has: "sys_descr", field: "asset_tag", value: null, cell: "" },
  { has: "sys_descr", field: "consolidated_into", value: null, cell: "" },
  { has: "all_networks", field: "allowed_sources", value: null, cell: "" },
];

/** Columns added to tables since, for records without a value. */
const ADDED_COLUMNS = [{ has: "virtualization", column: "virtualization_by_name" }] as const;

let appliance: UnclaimedAppliance;
let callers: Readonly<Record<"owner" | "member", Client>>;

async function open(): Promise<void> {
  appliance = newUnclaimedAppliance({ prepare: prepareEarlierStore });
  appliance.clock.advance(Date.parse(EARLIER.now) - appliance.clock.now());
  callers = { owner: await appliance.signedIn(EARLIER.ownerId), member: await appliance.signedIn(EARLIER.memberId) };
}

function prepareEarlierStore(path: string): void {
  writeEarlierStore(path);
  const db = openWritable(path);
  migrate(db, path, upgradeStore);
  pruneHistory(
    db,
    KINDS,
    { before: Date.parse(EARLIER.thinnedBefore), keep: "daily" },
    Date.parse(EARLIER.now) - 3_600_000,
  );
  db.$client.close();
}

/** An earlier answer in its current form. */
function today(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(today);
  if (value === null || typeof value !== "object") return value;
  const fields = Object.fromEntries(Object.entries(value).map(([field, each]) => [field, today(each)]));
  // Only records have a lineage; requests and differences may contain the same keys.
  if ("request_id" in value) fields.reason = null;
  // A difference names its parent.
  if ("entity_type" in value && "fields" in value) fields.host_id = value.entity_type === "if_entry" ? ids.host : null;
  // All records except organizations belong to one, or to a network.
  if ("lineage_id" in value && !("organization_id" in value) && !("network_id" in value))
    fields.require_change_reason = false;
  if ("lineage_id" in value) for (const { has, field, value: added } of ADDED) if (has in value) fields[field] = added;
  return fields;
}

function expectEarlierAnswer(text: string, earlier: Wire | string): void {
  if (typeof earlier === "string") {
    const rows = csvRecords(earlier).map(
      (row) =>
        Object.assign(
          {},
          row,
          "request_id" in row ? { reason: "" } : {},
          ...ADDED.filter(({ has }) => has in row).map(({ field, cell }) => ({ [field]: cell })),
          ...ADDED_COLUMNS.filter(({ has }) => has in row).map(({ column }) => ({ [column]: "" })),
        ) as Record<string, string>,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(csvRecords(text)).toEqual(rows);
    return;
  }
  const { data, meta } = JSON.parse(text) as Wire;
  expect(data).toEqual(today(earlier.data));
  expect(meta).toEqual({ ...earlier.meta, server_version: meta.server_version });
}

describe("reading a store from before a field", () => {
  beforeAll(open);
  afterAll(() => appliance.close());

  test.each(
    Object.entries(answers).flatMap(([caller, of]) =>
      Object.keys(of).map((path) => [caller as "owner" | "member", path] as const),
    ),
  )("answers %s at %s as before the upgrade", async (caller, path) => {
    const answer = await callers[caller].get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expectEarlierAnswer(answer.text, answers[caller][path] as Wire | string);
  });

  test("verifies, and its live rows match its ledger", () => {
    const readOnly = openReadOnly(appliance.databasePath);
    expect(verifyLedger(readOnly, KINDS).findings).toEqual([]);
    readOnly.$client.close();
    const db = openWritable(appliance.databasePath);
    const tables = (
      db.$client
        .query(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'history_search%' AND name NOT LIKE 'history_words%' ORDER BY name",
        )
        .values() as Array<[string]>
    ).map(([name]) => name);
    const rows = () => tables.map((table) => [table, db.$client.query(`SELECT * FROM "${table}"`).values()]);
    const before = rows();
    rebuildDerived(db, KINDS);
    expect(rows()).toEqual(before);
    db.$client.close();
  });

  test("filters, searches and orders at past instants by the later field's default", async () => {
    const list = async (query: string) => ((await callers.owner.get(query)).data as Wire[]).map(({ id }) => id);
    for (const at of [instants[5], instants[8]]) {
      const all = await list(`subnets?at=${at}`);
      expect(all.length).toBeGreaterThan(2);
      expect(await list(`subnets?accepts_credentials=true&at=${at}`)).toEqual(all);
      expect(await list(`subnets?accepts_credentials=false&at=${at}`)).toEqual([]);
    }
    expect(await list("subnets?accepts_credentials=true")).toEqual(await list("subnets"));
  });

  test.each(Object.keys(etags))("does not revalidate a cached %s from before the upgrade", async (path) => {
    const answer = await callers.owner.get(path, { "if-none-match": etags[path] as string });
    expect(answer.status).toBe(200);
    expect((await callers.owner.get(path, { "if-none-match": answer.headers.get("etag") as string })).status).toBe(304);
  });
});

describe("writing a store from before a field", () => {
  beforeEach(open);
  afterEach(() => appliance.close());

  test("accepts an equal write without a version, and names only changed fields, in the new shape", async () => {
    const { owner } = callers;
    const lab = await made(owner.get(`subnets/${ids.lab}`));
    const host = await made(owner.get(`hosts/${ids.spare}`));
    const head = appliance.reader.head().sequence;
    expect(await made(owner.put(`subnets/${ids.lab}`, lab))).toEqual(lab);
    expect(await made(owner.put(`hosts/${ids.spare}`, host))).toEqual(host);
    expect(appliance.reader.head().sequence).toBe(head);
    appliance.clock.advance(1_000);
    await made(owner.put(`subnets/${ids.lab}`, { ...lab, name: "Lab north" }));
    await made(owner.put(`hosts/${ids.spare}`, { ...host, asset_tag: "NL-1" }));
    appliance.clock.advance(1_000);
    const history = async (path: string) => ((await owner.get(path)).data as Wire[])[0] as Wire;
    expect(await history(`subnets/${ids.lab}/history`)).toMatchObject({
      changed_fields: ["name"],
      record: { name: "Lab north", accepts_credentials: true },
    });
    expect(await history(`hosts/${ids.spare}/history?include_children=false`)).toMatchObject({
      changed_fields: ["asset_tag"],
      record: { asset_tag: "NL-1" },
    });
    const shapes = `SELECT v.shape FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
        WHERE r.id IN (?, ?) AND (v.key & 2147483647) > ?`;
    expect(appliance.reader.statement(shapes).values(ids.lab, ids.spare, head)).toEqual([
      [shapeOf(subnetKind)],
      [shapeOf(hostKind)],
    ]);
    const { data } = await owner.get(`diff?from=${EARLIER.now}&to=now&types=subnet,host`);
    expect(
      (data.changed as Wire[]).flatMap(({ fields }) =>
        (fields as Wire[]).map(({ field, from, to }) => [field, from, to]),
      ),
    ).toEqual([
      ["name", lab.name, "Lab north"],
      ["asset_tag", null, "NL-1"],
    ]);
    const db = openReadOnly(appliance.databasePath);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
    db.$client.close();
  });

  test("restores records from before the field, if the caller may set its value", async () => {
    const { owner, member } = callers;
    const at = instants[5] as string;
    const then = await made(owner.get(`subnets/${ids.lab}?at=${at}`));
    const lab = await made(owner.get(`subnets/${ids.lab}`));
    await made(owner.put(`subnets/${ids.lab}`, { ...lab, accepts_credentials: false, name: "closed" }));
    const closing = appliance.reader.head().sequence;
    expect(await member.post(`subnets/${ids.lab}/restore`, { at })).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
    expect((await owner.post(`subnets/${ids.lab}/restore`, { at })).status).toBe(200);
    // The earlier tag is deleted by now.
    expect(content(await made(owner.get(`subnets/${ids.lab}`)))).toEqual(
      content({ ...then, tags: [], accepts_credentials: true }),
    );
    expect((await owner.post(`transactions/${closing}/revert`, {})).status).toBe(409);
    const host = await made(owner.get(`hosts/${ids.spare}`));
    await made(owner.put(`hosts/${ids.spare}`, { ...host, asset_tag: "NL-1" }));
    expect((await owner.post(`transactions/${appliance.reader.head().sequence}/revert`, {})).status).toBe(200);
    expect(await made(owner.get(`hosts/${ids.spare}`))).toMatchObject({ asset_tag: null });
  });

  test("accepts If-Match of a version read before the upgrade, until the next write", async () => {
    const path = `/api/v1/subnets/${ids.lab}`;
    const tag = etags[path] as string;
    const lab = await made(callers.owner.get(path));
    expect(await callers.owner.put(path, lab, { "if-match": tag.replace(/.-/, "x-") })).toMatchObject({ status: 412 });
    expect(await callers.owner.put(path, lab, { "if-match": tag })).toMatchObject({ status: 200, data: lab });
    expect(await callers.owner.put(path, { ...lab, name: "Lab north" }, { "if-match": tag })).toMatchObject({
      status: 200,
      data: { name: "Lab north" },
    });
    expect(await callers.owner.put(path, lab, { "if-match": tag })).toMatchObject({ status: 412 });
  });
});
