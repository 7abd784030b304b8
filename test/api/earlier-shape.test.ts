// Store of an earlier version, read by this one. Every response equals the earlier version's, plus fields added since.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { openReadOnly, openWritable } from "../../src/db/connection.ts";
import { shapeOf } from "../../src/db/shape.ts";
import { rebuildDerived } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import type { UnclaimedAppliance } from "../support/appliance/appliance.ts";
import type { Client } from "../support/appliance/client.ts";
import {
  addLaterFields,
  type EarlierResponses,
  type EarlierStore,
  earlierResponses,
  openEarlier,
  pruneEarlier,
  putUpgradedStore,
  writeEarlierStore,
} from "../support/appliance/earlier-appliance.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { content } from "../support/appliance/past.ts";
import { csvRecords } from "../support/contract/csv.ts";

/** Fields added since: a key that identifies the kind, the field, and its value in all earlier versions. */
const ADDED = [
  { has: "subnet_type", field: "accepts_credentials", value: true, cell: "true" },
  { has: "sys_descr", field: "asset_tag", value: null, cell: "" },
] as const;

let store: EarlierStore;
let responses: EarlierResponses["responses"];
let etags: EarlierResponses["etags"];
let restoreFields = () => {};
let appliance: UnclaimedAppliance;
let callers: Readonly<Record<"owner" | "member", Client>>;

beforeAll(async () => {
  store = await writeEarlierStore();
  ({ responses, etags } = await earlierResponses(store, pathsOf(store), etagPathsOf(store)));
  restoreFields = addLaterFields();
});
afterAll(() => restoreFields());

async function open(): Promise<void> {
  const opened = await openEarlier(store, (path) => {
    putUpgradedStore(path, store);
    pruneEarlier(path, store);
  });
  appliance = opened.appliance;
  callers = opened;
}

/** Lists, histories, differences and tables, now and at every timestamp. */
function pathsOf({ instants, ids, thinnedBefore }: EarlierStore): Record<"owner" | "member", string[]> {
  const at = instants[5] as string;
  const before = formatInstant(thinnedBefore);
  const kinds = "hosts subnets if-entries ip-addresses services ports bindings vlans networks".split(" ");
  const lists = [...kinds, "tags", "credentials"].map((plural) => `${plural}?limit=0`);
  const everyInstant = instants.map((instant) => `subnets?limit=0&at=${instant}`);
  const shared = [
    "subnets?limit=0",
    ...everyInstant,
    `subnets?order_by=name&order_direction=desc&at=${at}`,
    `subnets?order_by=cidr&group_by=subnet_type&at=${at}`,
    `hosts?search=rack&include_children=false&at=${at}`,
    `hosts?hidden=true&include_children=false&at=${instants[7]}`,
    `diff?from=${before}&to=${instants[7]}`,
    `diff?from=${instants[0]}&to=${instants[8]}&types=subnet`,
  ];
  const owner = [
    ...shared,
    ...lists,
    ...lists.map((path) => `${path}&at=${at}`),
    ...instants.map((instant) => `hosts?limit=50&include_children=false&at=${instant}`),
    ...["", `?at=${at}`].flatMap((query) => [`subnets/export/csv${query}`, `hosts/export/csv${query}`]),
    `hosts?tag_ids=${ids.tag}&include_children=false&at=${instants[2]}`,
    `hosts?order_by=sys_location&include_children=false&at=${at}`,
    ...etagPathsOf({ instants, ids }),
    `subnets/${ids.lab}/history`,
    `subnets/${ids.again}/history`,
    ...[ids.spare, ids.moved].map((id) => `hosts/${id}/history?include_children=false`),
    "changes?after=0&limit=200",
  ];
  return { owner, member: shared };
}

function etagPathsOf({ instants, ids }: Pick<EarlierStore, "instants" | "ids">): string[] {
  return [`hosts/${ids.host}?at=${instants[5]}`, `subnets/${ids.lab}?at=${instants[5]}`, `subnets/${ids.lab}`];
}

/** An earlier response in its current form. */
function currentForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(currentForm);
  if (value === null || typeof value !== "object") return value;
  const fields = Object.fromEntries(Object.entries(value).map(([field, content]) => [field, currentForm(content)]));
  // Only records have a lineage; requests and differences may contain the same keys.
  if ("lineage_id" in value) for (const { has, field, value: added } of ADDED) if (has in value) fields[field] = added;
  return fields;
}

function expectEarlierResponse(text: string, earlier: JsonRecord | string): void {
  if (typeof earlier === "string") {
    const rows = csvRecords(earlier).map((row) =>
      Object.assign({}, row, ...ADDED.filter(({ has }) => has in row).map(({ field, cell }) => ({ [field]: cell }))),
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(csvRecords(text)).toEqual(rows);
    return;
  }
  const { data, meta } = JSON.parse(text) as JsonRecord;
  expect(data).toEqual(currentForm(earlier.data));
  expect(meta).toEqual(earlier.meta);
}

describe("reading a store from before a field was added", () => {
  beforeAll(open);
  afterAll(() => appliance.close());

  test.each(["owner", "member"] as const)("gives its %s the same responses as before the upgrade", async (caller) => {
    for (const [path, earlier] of responses[caller]) {
      const response = await callers[caller].get(path);
      expect([path, response.status]).toEqual([path, 200]);
      expectEarlierResponse(response.text, earlier);
    }
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

  test("filters, searches and orders at past timestamps by the later field's default", async () => {
    const list = async (query: string) => ((await callers.owner.get(query)).data as JsonRecord[]).map(({ id }) => id);
    for (const at of [store.instants[5], store.instants[8]]) {
      const all = await list(`subnets?at=${at}`);
      expect(all.length).toBeGreaterThan(2);
      expect(await list(`subnets?accepts_credentials=true&at=${at}`)).toEqual(all);
      expect(await list(`subnets?accepts_credentials=false&at=${at}`)).toEqual([]);
    }
    expect(await list("subnets?accepts_credentials=true")).toEqual(await list("subnets"));
  });

  test("does not revalidate a response cached before the upgrade", async () => {
    for (const [path, etag] of etags) {
      const response = await callers.owner.get(path, { "if-none-match": etag });
      expect([path, response.status]).toEqual([path, 200]);
      const revalidated = await callers.owner.get(path, { "if-none-match": response.headers.get("etag") as string });
      expect([path, revalidated.status]).toEqual([path, 304]);
    }
  });
});

describe("writing a store from before a field was added", () => {
  beforeEach(open);
  afterEach(() => appliance.close());

  test("accepts an equal write without a version, and names only changed fields, in the new shape", async () => {
    const { owner } = callers;
    const lab = await expectOk(owner.get(`subnets/${store.ids.lab}`));
    const host = await expectOk(owner.get(`hosts/${store.ids.spare}`));
    const head = appliance.reader.head().sequence;
    expect(await expectOk(owner.put(`subnets/${store.ids.lab}`, lab))).toEqual(lab);
    expect(await expectOk(owner.put(`hosts/${store.ids.spare}`, host))).toEqual(host);
    expect(appliance.reader.head().sequence).toBe(head);
    appliance.clock.advance(1_000);
    await expectOk(owner.put(`subnets/${store.ids.lab}`, { ...lab, name: "Lab north" }));
    await expectOk(owner.put(`hosts/${store.ids.spare}`, { ...host, asset_tag: "NL-1" }));
    appliance.clock.advance(1_000);
    const history = async (path: string) => ((await owner.get(path)).data as JsonRecord[])[0] as JsonRecord;
    expect(await history(`subnets/${store.ids.lab}/history`)).toMatchObject({
      changed_fields: ["name"],
      record: { name: "Lab north", accepts_credentials: true },
    });
    expect(await history(`hosts/${store.ids.spare}/history?include_children=false`)).toMatchObject({
      changed_fields: ["asset_tag"],
      record: { asset_tag: "NL-1" },
    });
    const shapes = `SELECT v.shape FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
        WHERE r.id IN (?, ?) AND (v.key & 2147483647) > ?`;
    expect(appliance.reader.statement(shapes).values(store.ids.lab, store.ids.spare, head)).toEqual([
      [shapeOf(subnetKind)],
      [shapeOf(hostKind)],
    ]);
    const { data } = await owner.get(`diff?from=${formatInstant(store.now)}&to=now&types=subnet,host`);
    expect(
      (data.changed as JsonRecord[]).flatMap(({ fields }) =>
        (fields as JsonRecord[]).map(({ field, from, to }) => [field, from, to]),
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
    const at = store.instants[5] as string;
    const earlierLab = await expectOk(owner.get(`subnets/${store.ids.lab}?at=${at}`));
    const lab = await expectOk(owner.get(`subnets/${store.ids.lab}`));
    await expectOk(owner.put(`subnets/${store.ids.lab}`, { ...lab, accepts_credentials: false, name: "closed" }));
    const closing = appliance.reader.head().sequence;
    expect(await member.post(`subnets/${store.ids.lab}/restore`, { at })).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
    expect((await owner.post(`subnets/${store.ids.lab}/restore`, { at })).status).toBe(200);
    // The earlier tag is deleted by now.
    expect(content(await expectOk(owner.get(`subnets/${store.ids.lab}`)))).toEqual(
      content({ ...earlierLab, tags: [], accepts_credentials: true }),
    );
    expect((await owner.post(`transactions/${closing}/revert`, {})).status).toBe(409);
    const host = await expectOk(owner.get(`hosts/${store.ids.spare}`));
    await expectOk(owner.put(`hosts/${store.ids.spare}`, { ...host, asset_tag: "NL-1" }));
    expect((await owner.post(`transactions/${appliance.reader.head().sequence}/revert`, {})).status).toBe(200);
    expect(await expectOk(owner.get(`hosts/${store.ids.spare}`))).toMatchObject({ asset_tag: null });
  });

  test("accepts If-Match of a version read before the upgrade, until the next write", async () => {
    const path = `subnets/${store.ids.lab}`;
    const tag = etags.get(path) as string;
    const lab = await expectOk(callers.owner.get(path));
    expect(await callers.owner.put(path, lab, { "if-match": tag.replace(/.-/, "x-") })).toMatchObject({ status: 412 });
    expect(await callers.owner.put(path, lab, { "if-match": tag })).toMatchObject({ status: 200, data: lab });
    expect(await callers.owner.put(path, { ...lab, name: "Lab north" }, { "if-match": tag })).toMatchObject({
      status: 200,
      data: { name: "Lab north" },
    });
    expect(await callers.owner.put(path, lab, { "if-match": tag })).toMatchObject({ status: 412 });
  });
});
