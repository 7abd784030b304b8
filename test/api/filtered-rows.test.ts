// `filter=` on lists of rows other than records (scans, findings, transactions, versions, conflicts, addresses,
// backups, verifications, the log, sessions): every field of every row compared with a naive model, now and in the
// past; and complete coverage of all lists.

import { beforeAll, describe, expect, test } from "bun:test";
import { PROGRESS_INTERVAL_MS } from "../../src/discovery/scans/scan.ts";
import { ROW_LISTS } from "../../src/registry/row-lists.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, newTag } from "../support/appliance/factories.ts";
import { startScan } from "../support/appliance/scans.ts";
import { OpenApiDocument } from "../support/contract/openapi.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForAll();
const { first, handle } = appliance;
const { communityOf, instant, newHost, holdProbes, newApiKey } = appliance;
const { newMember, newNetwork, newSubnet, waitForScan } = appliance;
const { owner, probes, runScan, tick, timers } = appliance;
const random = seededRandom(1733);

/** Lists without filters, each with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  getSubnetTree: "all subnets of a network, each within its parent: the list of subnets takes one",
  listBlocksOfSubnet: "counts of all addresses of a subnet, 256 at most; the list of its addresses takes one",
  listChanges: "a feed read by cursor, and narrowed by types and network",
  search: "matches of words, best first; the lists of their kinds take one",
};

/** List paths by the name of their rows, with `{id}` filled in. */
const paths: Record<string, string> = {};
let midway: string;

beforeAll(async () => {
  const subnet = await newSubnet({ cidr: "10.0.0.0/28" });
  await communityOf("public");
  for (const last of [1, 2, 3]) probes.alive.set(`10.0.0.${last}`, { mac_address: `00:00:5e:00:53:0${last}` });
  const interfaces = [1, 2].map((if_index) => ({
    if_index,
    if_descr: `port ${if_index}`,
    if_type: 6,
    admin_status: "Up" as const,
    oper_status: "Up" as const,
    forwarding: [`00:00:5e:00:53:0${if_index + 1}`, `00:1b:21:aa:bb:0${if_index}`].map((mac_address) => ({
      mac_address,
      vlan_number: 10 * if_index,
    })),
  }));
  const addresses = [{ ip_address: "10.0.0.1", prefix_length: 28, if_index: 1 }];
  probes.devices.set("10.0.0.1", {
    community: "public",
    device: fakeDevice({ sys_name: "core-1", interfaces, addresses }),
  });
  await runScan({ kind: "sweep", commit: false });
  const scan = await runScan();
  const host = await newHost({ name: "Zürich", tags: [(await newTag(appliance)).id] });
  midway = instant();
  tick();
  await runScan({ kind: "snmp", targets: ["10.0.0.1", "10.0.0.9"] });
  for (const name of ["core-7", "Čop", "core-8"])
    await expectOk(
      owner.put(
        `hosts/${host.id}`,
        { ...host, name, expected_updated_at: null },
        { "x-change-reason": `To "${encodeURI(name)}"` },
      ),
    );
  for (const name of ["one", "two"]) await newHost({ name, ip_addresses: [{ ip_address: "10.0.0.7" }] });
  await expectOk(
    owner.post("ip-ranges", { network_id: first.networkId, first: "10.0.0.8", last: "10.0.0.11", purpose: "Dhcp" }),
  );
  // Neither a subnet nor an address receives the network's and the host's credentials without an Admin's approval.
  await newSubnet({ cidr: "10.9.0.0/24", accepts_credentials: false });
  const grown = await newHost({ name: "grown", ip_addresses: [{ ip_address: "10.0.0.12" }] });
  await communityOf("own", { assigned_network_ids: [], host_assignments: [{ host_id: grown.id }] });
  await expectOk(owner.post("ip-addresses", { host_id: grown.id, ip_address: "10.0.0.13" }));
  await expectOk(owner.post("backups", {}));
  const verification = await expectOk(owner.post("ledger/verifications", {}));
  while ((await owner.get(`ledger/verifications/${verification.id}`)).data.status === "Running")
    await new Promise<void>((resolve) => setImmediate(resolve));
  const cancelled = await expectOk(owner.post("ledger/verifications", {}));
  await expectOk(owner.post(`ledger/verifications/${cancelled.id}/cancel`, {}));
  appliance.log.warn("disk_nearly_full", { free: 7 });
  Object.assign(paths, {
    scan: "discovery/scans",
    scan_finding: `discovery/scans/${scan.id}/findings`,
    transaction: "transactions",
    host_version: `hosts/${host.id}/history`,
    conflict: "conflicts",
    station: "stations",
    withheld: "discovery/withheld",
    address_row: `subnets/${subnet.id}/addresses`,
    backup: "backups",
    log_line: "log",
    verification: "ledger/verifications",
    session: "/api/auth/sessions",
  });
});

const fetchRows = (list: string, query: Record<string, string>): Promise<ApiResponse> =>
  owner.get(`${paths[list]}?${new URLSearchParams({ ...(isPaged(list) ? { limit: "0" } : LIMITS[list]), ...query })}`);
const LIMITS: Record<string, Record<string, string>> = { log_line: { limit: "1000" } };
const isPaged = (list: string) => !["log_line", "session"].includes(list);
const takesInstant = (list: string) => isPaged(list) && !["backup", "verification"].includes(list);

/** Values at a path of a row, for each item of its lists. */
function valuesAt(row: unknown, path: readonly string[]): unknown[] {
  if (row === null || row === undefined) return [];
  if (Array.isArray(row)) return row.flatMap((item) => valuesAt(item, path));
  const [name, ...rest] = path;
  return name === undefined ? [row] : valuesAt((row as JsonRecord)[name], rest);
}

const isEmpty = (value: unknown) =>
  value === "" || (typeof value === "object" && Object.keys(value as object).length === 0);

/** A filter string, and whether a value matches. */
interface Comparison {
  readonly text: string;
  readonly passes: (value: unknown) => boolean;
}

const quoted = (text: string) => `"${text.replace(/["\\*]/g, "\\$&")}"`;

/** Draws a comparison with a row's value, evaluated naively by type. */
function drawComparison({ type, operators }: JsonRecord, value: unknown): Comparison {
  const operator = random.pick((operators as string[]).filter((operator) => operator !== ":*"));
  const isNot = operator === "!=";
  const orderOf = (sign: number) =>
    ({ "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0 })[operator] ?? sign === 0;
  const comparison = (text: string, passes: (value: unknown) => boolean): Comparison => ({
    text: `${operator} ${text}`,
    passes,
  });
  if (type === "text") {
    const [sample, fold] = [String(value).slice(0, 60), (text: unknown) => String(text).toLowerCase()];
    if (operator === ":") {
      const part = sample.slice(1, 9).trim() || sample;
      return comparison(quoted(part), (other) => other !== "" && fold(other).includes(fold(part)));
    }
    const codes = (text: string) => [...text].map((character) => character.codePointAt(0) as number);
    const compare = (other: unknown) =>
      Bun.deepEquals(fold(other), fold(sample)) ? 0 : compareCodePoints(codes(fold(other)), codes(fold(sample)));
    return comparison(
      quoted(sample),
      (other) => other !== "" && (isNot ? compare(other) === 0 : orderOf(compare(other))),
    );
  }
  if (type === "number") return comparison(String(value), (other) => orderOf(Number(other) - Number(value)));
  if (type === "instant")
    return comparison(quoted(String(value)), (other) =>
      orderOf(Date.parse(other as string) - Date.parse(value as string)),
    );
  // Equality of a canonical string: the tests of record lists cover the other operators of these types.
  return { text: `= ${quoted(String(value))}`, passes: (other) => other === value };
}

function compareCodePoints(left: readonly number[], right: readonly number[]): number {
  for (const [index, code] of left.entries()) {
    const difference = code - (right[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

describe.each(
  ROW_LISTS.filter(({ name }) => !name.endsWith("_version") || name === "host_version").map(({ name }) => name),
)("a filter of the list of %s rows", (list) => {
  test("accepts every field of a row, and matches a naive model", async () => {
    const { fields, functions, is_searched } = (await owner.get(`fields/${list}`)).data as JsonRecord;
    expect({ functions, is_searched }).toEqual({ functions: [], is_searched: false });
    let matchCount = 0;
    for (const at of takesInstant(list) ? [undefined, midway] : [undefined]) {
      const query: Record<string, string> = at === undefined ? {} : { at };
      const rows = (await fetchRows(list, query)).data as JsonRecord[];
      if (at === undefined) expect(rows.length, list).toBeGreaterThan(0);
      const excluded = ROW_LISTS.find((rows) => rows.name === list)?.unfilterable ?? {};
      const known = [...fields.map(({ name }: JsonRecord) => name), ...Object.keys(excluded)];
      for (const row of rows) for (const name of Object.keys(row)) expect(known).toContain(name);
      for (const name of Object.keys(excluded))
        expect((await fetchRows(list, { filter: `${name}:*` })).body.error).toContain(
          `must not use ${name}, which ${excluded[name]}`,
        );
      const cases: Array<{ filter: string; holds: (row: JsonRecord) => boolean }> = [];
      for (const field of fields as JsonRecord[]) {
        if (field.type === "record") continue;
        const path = field.name.split(".");
        cases.push({
          filter: `${field.name}:*`,
          holds: (row) => valuesAt(row, path).some((value) => !isEmpty(value)),
        });
        if (field.type === "object") continue;
        const values = rows.flatMap((row) => valuesAt(row, path));
        for (let count = 0; count < 2 && values.length > 0; count += 1) {
          const { text, passes } = drawComparison(field, random.pick(values));
          const isNot = text.startsWith("!=");
          cases.push({
            filter: `${field.name} ${text}`,
            holds: (row) => valuesAt(row, path).some(passes) !== isNot,
          });
        }
      }
      const atoms = [...cases];
      for (let count = 0; count < 20; count += 1) {
        const [left, right] = [random.pick(atoms), random.pick(atoms)];
        cases.push(
          { filter: `${left.filter} AND NOT ${right.filter}`, holds: (row) => left.holds(row) && !right.holds(row) },
          { filter: `(${left.filter} OR ${right.filter})`, holds: (row) => left.holds(row) || right.holds(row) },
        );
      }
      for (const { filter, holds } of cases) {
        const response = await fetchRows(list, { ...query, filter });
        expect([filter, response.status, response.body.error]).toEqual([filter, 200, undefined]);
        // The log has grown since; its earlier lines are unchanged.
        const expected = rows.filter(holds);
        expect([at, filter, response.data.slice(0, expected.length)]).toEqual([at, filter, expected]);
        if (list !== "log_line") expect([filter, response.data.length]).toEqual([filter, expected.length]);
        matchCount += expected.length;
        if (!isPaged(list) || random.integer(4) > 0) continue;
        const { data, body } = await fetchRows(list, { ...query, filter, limit: "2", offset: "1" });
        expect([filter, data]).toEqual([filter, expected.slice(1, 3)]);
        expect(body.meta.pagination).toMatchObject({ total_count: expected.length, limit: 2, offset: 1 });
      }
    }
    expect(matchCount).toBeGreaterThan(10);
  });

  test("is refused with the error's position and a suggestion", async () => {
    const { fields } = (await owner.get(`fields/${list}`)).data as JsonRecord;
    const name = fields.find((field: JsonRecord) => field.name.length > 3).name as string;
    const wrong = `${name.slice(0, -1)}${name.at(-1)}x`;
    for (const [filter, position, message] of [
      [`${wrong}:*`, 0, `(did you mean \`${name}\`?)`],
      [`${name}:* AND ever(${name}:*, -7d)`, name.length + 7, "has no versions"],
      [`changes(${name}, -7d) > 1`, 0, "must not use changes(…)"],
      [`was(2026-11-01, ${name}:*)`, 0, "must not use was(…)"],
      [`evr(${name}:*, -7d)`, 0, "has no function evr()"],
      ["core", 0, "is not searched by words"],
      [`${name} = `, name.length + 3, "must have a value"],
      [`constructor:*`, 0, "names `constructor`, which is not a field"],
    ] as const) {
      const response = await fetchRows(list, { filter });
      expect([filter, response.status, response.body.code]).toEqual([filter, 400, "validation_failed"]);
      const [issue] = response.body.params.issues;
      expect([filter, issue]).toMatchObject([filter, { path: "/filter", position }]);
      expect(issue.message).toContain(message);
    }
    expect((await fetchRows(list, { filter: "  " })).data.length).toBeGreaterThan(0);
  });
});

describe("a filter", () => {
  test("is accepted by every list, or exempt for a stated reason", async () => {
    const api = await OpenApiDocument.of(handle);
    const lists = api.operations.filter(({ method, operation }) => {
      const content = (operation as JsonRecord).responses["200"].content;
      const data = content["application/json"]?.schema?.properties?.data;
      return method === "GET" && (data?.type === "array" || (content["text/csv"] !== undefined && data === undefined));
    });
    const without = lists
      .filter(
        ({ operation }) =>
          !((operation as JsonRecord).parameters ?? []).some(({ name }: JsonRecord) => name === "filter"),
      )
      .map(({ operation }) => operation.operationId as string);
    expect(without.sort()).toEqual(Object.keys(EXEMPT).sort());
    expect(lists.length).toBeGreaterThan(60);
    const [fields] = api.operations.filter(({ path }) => path === "/api/v1/fields/{kind}");
    const { parameters } = (fields as (typeof lists)[0]).operation as JsonRecord;
    const kinds = parameters.find(({ name }: JsonRecord) => name === "kind").schema.enum as string[];
    const listed: JsonRecord[] = await Promise.all(kinds.map(async (kind) => (await owner.get(`fields/${kind}`)).data));
    const pathOf = (path: string) => (path.startsWith("/") ? path : `/api/v1/${path}`);
    expect(listed.map(({ path }) => pathOf(path)).sort()).toEqual(
      lists
        .filter(
          ({ path, operation }) => !path.endsWith("/csv") && EXEMPT[operation.operationId as string] === undefined,
        )
        .map(({ path }) => path)
        .sort(),
    );
  });

  test("matches records named by a scan, by their names at that time", async () => {
    const filter = 'network.name = "Main"';
    const count = async (query: Record<string, string>) => (await fetchRows("scan", query)).data.length;
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    const all = await count({});
    expect(await count({ filter: `network.name = ${quoted(name)}` })).toBe(all);
    const network = (await owner.get(`networks/${first.networkId}`)).data;
    const at = instant();
    tick();
    await expectOk(owner.put(`networks/${first.networkId}`, { ...network, name: "Main" }));
    expect([await count({ filter }), await count({ filter, at })]).toEqual([all, 0]);
    expect(await count({ filter: "schedule:*" })).toBe(0);
    expect(await count({ filter: "NOT schedule:*" })).toBe(all);
    await expectOk(owner.put(`networks/${first.networkId}`, { ...network, name }));
  });

  test("finds nothing out of reach, neither directly nor through references", async () => {
    const otherNetwork = await newNetwork({ name: "Secret" });
    await expectOk(owner.post("vlans", { network_id: otherNetwork.id, number: 7, name: "hidden" }));
    const { client } = await newMember();
    const count = async (path: string, filter: string, operator = client) =>
      (await operator.get(`${path}?${new URLSearchParams({ filter, limit: "0" })}`)).data.length;
    expect(await count("transactions", "changes.vlan.Created >= 1", owner)).toBe(1);
    expect(await count("transactions", "changes.vlan.Created >= 1")).toBe(0);
    expect(await count("discovery/scans", 'network.name = "Secret"')).toBe(0);
  });

  test("never matches a secret or its mask, in any version", async () => {
    for (const [kind, field] of [
      ["credential_version", "record.credential_type.community"],
      ["credential_version", "record.credential_type.auth_password"],
      ["api_key_version", "record.key"],
    ] as const) {
      const { fields, path } = (await owner.get(`fields/${kind}`)).data as JsonRecord;
      expect(fields.map(({ name }: JsonRecord) => name)).not.toContain(field);
      const id = kind === "credential_version" ? (await owner.get("credentials")).data[0].id : newApiKey().id;
      const response = await owner.get(`${path.replace("{id}", id)}?${new URLSearchParams({ filter: `${field}:*` })}`);
      expect(response).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/filter", position: 0 }] } } });
    }
  });

  test("matches the progress of a running scan", async () => {
    const held = holdProbes();
    const { id } = await startScan(appliance);
    await held.reached;
    timers.pass(PROGRESS_INTERVAL_MS);
    while ((await owner.get(`discovery/scans/${id}`)).data.progress === null)
      await new Promise<void>((resolve) => setImmediate(resolve));
    const matchCount = async (filter: string) =>
      (await fetchRows("scan", { filter })).data.map((scan: JsonRecord) => scan.id);
    expect(await matchCount("progress.phase:* AND status = running")).toEqual([id]);
    expect(await matchCount('progress.hosts_found >= 0 AND NOT ended_at:* AND requested_at > "-1h"')).toEqual([id]);
    held.release();
    await waitForScan(id);
    expect(await matchCount("status = Running")).toEqual([]);
  });

  test("follows the log past excluded lines", async () => {
    const filter = "event = disk_nearly_full";
    const firstRead = (await owner.get(`log?${new URLSearchParams({ filter, after: "0" })}`)).body;
    expect(firstRead.data).toHaveLength(1);
    appliance.log.info("noise");
    appliance.log.warn("disk_nearly_full", { free: 6 });
    const { after } = firstRead.meta.log;
    const next = (await owner.get(`log?${new URLSearchParams({ filter, after: String(after) })}`)).body;
    expect(next.data.map(({ text }: JsonRecord) => text.includes("free=6"))).toEqual([true]);
  });
});
