// `filter=` on lists of rows other than records (scans, findings, transactions, versions, conflicts, addresses,
// backups, verifications, the log, sessions): every field of every row compared with plain code, now and in the past;
// and complete coverage of all lists.

import { beforeAll, describe, expect, test } from "bun:test";
import { PROGRESS_INTERVAL_MS } from "../../src/discovery/scans/scan.ts";
import { ROW_LISTS } from "../../src/registry/row-lists.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { Answer } from "../support/appliance/client.ts";
import { made, newTag, type Wire } from "../support/appliance/factories.ts";
import { asked as startScan } from "../support/appliance/scans.ts";
import { OpenApiDocument } from "../support/contract/openapi.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForAll();
const { first, handle } = appliance;
const { communityOf, instant, newHost, holdBack, newApiKey } = appliance;
const { newMember, newNetwork, newSubnet, untilEnded } = appliance;
const { owner, probes, scanned, tick, timers } = appliance;
const random = seededRandom(1733);

/** Lists without filters, and the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  getSubnetTree: "all subnets of a network, each within its parent: the list of subnets takes one",
  listBlocksOfSubnet: "counts of all addresses of a subnet, 256 at most; the list of its addresses takes one",
  listChanges: "a feed that is gone through by its cursor, and narrowed by types and network",
  search: "what words find, best first; the lists of what it finds take one",
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
  await scanned({ kind: "sweep", commit: false });
  const scan = await scanned();
  const host = await newHost({ name: "Zürich", tags: [(await newTag(appliance)).id] });
  midway = instant();
  tick();
  await scanned({ kind: "snmp", targets: ["10.0.0.1", "10.0.0.9"] });
  for (const name of ["core-7", "Čop", "core-8"])
    await made(
      owner.put(
        `hosts/${host.id}`,
        { ...host, name, expected_updated_at: null },
        { "x-change-reason": `To "${encodeURI(name)}"` },
      ),
    );
  for (const name of ["one", "two"]) await newHost({ name, ip_addresses: [{ ip_address: "10.0.0.7" }] });
  await made(
    owner.post("ip-ranges", { network_id: first.networkId, first: "10.0.0.8", last: "10.0.0.11", purpose: "Dhcp" }),
  );
  // Neither a subnet nor an address receives the network's and the host's credentials without an Admin's approval.
  await newSubnet({ cidr: "10.9.0.0/24", accepts_credentials: false });
  const grown = await newHost({ name: "grown", ip_addresses: [{ ip_address: "10.0.0.12" }] });
  await communityOf("own", { assigned_network_ids: [], host_assignments: [{ host_id: grown.id }] });
  await made(owner.post("ip-addresses", { host_id: grown.id, ip_address: "10.0.0.13" }));
  await made(owner.post("backups", {}));
  const verification = await made(owner.post("ledger/verifications", {}));
  while ((await owner.get(`ledger/verifications/${verification.id}`)).data.status === "Running")
    await new Promise<void>((resolve) => setImmediate(resolve));
  const cancelled = await made(owner.post("ledger/verifications", {}));
  await made(owner.post(`ledger/verifications/${cancelled.id}/cancel`, {}));
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

const asked = (list: string, query: Record<string, string>): Promise<Answer> =>
  owner.get(`${paths[list]}?${new URLSearchParams({ ...(isPaged(list) ? { limit: "0" } : MANY[list]), ...query })}`);
const MANY: Record<string, Record<string, string>> = { log_line: { limit: "1000" } };
const isPaged = (list: string) => !["log_line", "session"].includes(list);
const takesInstant = (list: string) => isPaged(list) && !["backup", "verification"].includes(list);

/** Values at a path of a row, for each item of its lists. */
function valuesAt(row: unknown, path: readonly string[]): unknown[] {
  if (row === null || row === undefined) return [];
  if (Array.isArray(row)) return row.flatMap((item) => valuesAt(item, path));
  const [name, ...rest] = path;
  return name === undefined ? [row] : valuesAt((row as Wire)[name], rest);
}

const isEmpty = (value: unknown) =>
  value === "" || (typeof value === "object" && Object.keys(value as object).length === 0);

/** A filter text, and whether a value matches. */
interface Drawn {
  readonly text: string;
  readonly passes: (value: unknown) => boolean;
}

const quoted = (text: string) => `"${text.replace(/["\\*]/g, "\\$&")}"`;

/** A comparison with a row's value, by type in plain code. */
function drawn({ type, operators }: Wire, value: unknown): Drawn {
  const by = random.pick((operators as string[]).filter((each) => each !== ":*"));
  const isNot = by === "!=";
  const orderOf = (one: number) => ({ "<": one < 0, "<=": one <= 0, ">": one > 0, ">=": one >= 0 })[by] ?? one === 0;
  const as = (text: string, passes: (value: unknown) => boolean): Drawn => ({ text: `${by} ${text}`, passes });
  if (type === "text") {
    const [own, folded] = [String(value).slice(0, 60), (text: unknown) => String(text).toLowerCase()];
    if (by === ":") {
      const part = own.slice(1, 9).trim() || own;
      return as(quoted(part), (other) => other !== "" && folded(other).includes(folded(part)));
    }
    const codes = (text: string) => [...text].map((character) => character.codePointAt(0) as number);
    const order = (other: unknown) =>
      Bun.deepEquals(folded(other), folded(own)) ? 0 : comparedCodes(codes(folded(other)), codes(folded(own)));
    return as(quoted(own), (other) => other !== "" && (isNot ? order(other) === 0 : orderOf(order(other))));
  }
  if (type === "number") return as(String(value), (other) => orderOf(Number(other) - Number(value)));
  if (type === "instant")
    return as(quoted(String(value)), (other) => orderOf(Date.parse(other as string) - Date.parse(value as string)));
  // Equality of a canonical text: the tests of record lists cover the other operators of these types.
  return { text: `= ${quoted(String(value))}`, passes: (other) => other === value };
}

function comparedCodes(one: readonly number[], other: readonly number[]): number {
  for (const [place, code] of one.entries()) {
    const difference = code - (other[place] ?? -1);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

describe.each(
  ROW_LISTS.filter(({ name }) => !name.endsWith("_version") || name === "host_version").map(({ name }) => name),
)("a filter of the list of %s rows", (list) => {
  test("accepts every field of a row, and matches a naive model", async () => {
    const { fields, functions, is_searched } = (await owner.get(`fields/${list}`)).data as Wire;
    expect({ functions, is_searched }).toEqual({ functions: [], is_searched: false });
    let found = 0;
    for (const at of takesInstant(list) ? [undefined, midway] : [undefined]) {
      const query: Record<string, string> = at === undefined ? {} : { at };
      const rows = (await asked(list, query)).data as Wire[];
      if (at === undefined) expect(rows.length, list).toBeGreaterThan(0);
      const unasked = ROW_LISTS.find((each) => each.name === list)?.unasked ?? {};
      const told = [...fields.map(({ name }: Wire) => name), ...Object.keys(unasked)];
      for (const row of rows) for (const name of Object.keys(row)) expect(told).toContain(name);
      for (const name of Object.keys(unasked))
        expect((await asked(list, { filter: `${name}:*` })).body.error).toContain(
          `must not use ${name}, which ${unasked[name]}`,
        );
      const questions: Array<{ filter: string; holds: (row: Wire) => boolean }> = [];
      for (const field of fields as Wire[]) {
        if (field.type === "record") continue;
        const path = field.name.split(".");
        questions.push({
          filter: `${field.name}:*`,
          holds: (row) => valuesAt(row, path).some((value) => !isEmpty(value)),
        });
        if (field.type === "object") continue;
        const values = rows.flatMap((row) => valuesAt(row, path));
        for (let each = 0; each < 2 && values.length > 0; each += 1) {
          const { text, passes } = drawn(field, random.pick(values));
          const isNot = text.startsWith("!=");
          questions.push({
            filter: `${field.name} ${text}`,
            holds: (row) => valuesAt(row, path).some(passes) !== isNot,
          });
        }
      }
      const atoms = [...questions];
      for (let each = 0; each < 20; each += 1) {
        const [one, other] = [random.pick(atoms), random.pick(atoms)];
        questions.push(
          { filter: `${one.filter} AND NOT ${other.filter}`, holds: (row) => one.holds(row) && !other.holds(row) },
          { filter: `(${one.filter} OR ${other.filter})`, holds: (row) => one.holds(row) || other.holds(row) },
        );
      }
      for (const { filter, holds } of questions) {
        const answer = await asked(list, { ...query, filter });
        expect([filter, answer.status, answer.body.error]).toEqual([filter, 200, undefined]);
        // The log has grown by then; its earlier lines are unchanged.
        const expected = rows.filter(holds);
        expect([at, filter, answer.data.slice(0, expected.length)]).toEqual([at, filter, expected]);
        if (list !== "log_line") expect([filter, answer.data.length]).toEqual([filter, expected.length]);
        found += expected.length;
        if (!isPaged(list) || random.integer(4) > 0) continue;
        const { data, body } = await asked(list, { ...query, filter, limit: "2", offset: "1" });
        expect([filter, data]).toEqual([filter, expected.slice(1, 3)]);
        expect(body.meta.pagination).toMatchObject({ total_count: expected.length, limit: 2, offset: 1 });
      }
    }
    expect(found).toBeGreaterThan(10);
  });

  test("is refused with the error's position and a suggestion", async () => {
    const { fields } = (await owner.get(`fields/${list}`)).data as Wire;
    const name = fields.find((field: Wire) => field.name.length > 3).name as string;
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
      const answer = await asked(list, { filter });
      expect([filter, answer.status, answer.body.code]).toEqual([filter, 400, "validation_failed"]);
      const [issue] = answer.body.params.issues;
      expect([filter, issue]).toMatchObject([filter, { path: "/filter", position }]);
      expect(issue.message).toContain(message);
    }
    expect((await asked(list, { filter: "  " })).data.length).toBeGreaterThan(0);
  });
});

describe("a filter", () => {
  test("is accepted by every list, or exempt for a stated reason", async () => {
    const api = await OpenApiDocument.of(handle);
    const lists = api.operations.filter(({ method, operation }) => {
      const content = (operation as Wire).responses["200"].content;
      const data = content["application/json"]?.schema?.properties?.data;
      return method === "GET" && (data?.type === "array" || (content["text/csv"] !== undefined && data === undefined));
    });
    const without = lists
      .filter(({ operation }) => !((operation as Wire).parameters ?? []).some(({ name }: Wire) => name === "filter"))
      .map(({ operation }) => operation.operationId as string);
    expect(without.sort()).toEqual(Object.keys(WITHOUT).sort());
    expect(lists.length).toBeGreaterThan(60);
    const [fields] = api.operations.filter(({ path }) => path === "/api/v1/fields/{kind}");
    const { parameters } = (fields as (typeof lists)[0]).operation as Wire;
    const kinds = parameters.find(({ name }: Wire) => name === "kind").schema.enum as string[];
    const listed: Wire[] = await Promise.all(kinds.map(async (kind) => (await owner.get(`fields/${kind}`)).data));
    const pathOf = (path: string) => (path.startsWith("/") ? path : `/api/v1/${path}`);
    expect(listed.map(({ path }) => pathOf(path)).sort()).toEqual(
      lists
        .filter(
          ({ path, operation }) => !path.endsWith("/csv") && WITHOUT[operation.operationId as string] === undefined,
        )
        .map(({ path }) => path)
        .sort(),
    );
  });

  test("matches records named by a scan, by their names at that time", async () => {
    const filter = 'network.name = "Main"';
    const count = async (query: Record<string, string>) => (await asked("scan", query)).data.length;
    const { name } = (await owner.get(`networks/${first.networkId}`)).data;
    const all = await count({});
    expect(await count({ filter: `network.name = ${quoted(name)}` })).toBe(all);
    const network = (await owner.get(`networks/${first.networkId}`)).data;
    const at = instant();
    tick();
    await made(owner.put(`networks/${first.networkId}`, { ...network, name: "Main" }));
    expect([await count({ filter }), await count({ filter, at })]).toEqual([all, 0]);
    expect(await count({ filter: "schedule:*" })).toBe(0);
    expect(await count({ filter: "NOT schedule:*" })).toBe(all);
    await made(owner.put(`networks/${first.networkId}`, { ...network, name }));
  });

  test("finds nothing out of reach, neither directly nor through references", async () => {
    const other = await newNetwork({ name: "Secret" });
    await made(owner.post("vlans", { network_id: other.id, number: 7, name: "hidden" }));
    const { client } = await newMember();
    const count = async (path: string, filter: string, by = client) =>
      (await by.get(`${path}?${new URLSearchParams({ filter, limit: "0" })}`)).data.length;
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
      const { fields, path } = (await owner.get(`fields/${kind}`)).data as Wire;
      expect(fields.map(({ name }: Wire) => name)).not.toContain(field);
      const id = kind === "credential_version" ? (await owner.get("credentials")).data[0].id : newApiKey().id;
      const answer = await owner.get(`${path.replace("{id}", id)}?${new URLSearchParams({ filter: `${field}:*` })}`);
      expect(answer).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/filter", position: 0 }] } } });
    }
  });

  test("matches the progress of a running scan", async () => {
    const held = holdBack();
    const { id } = await startScan(appliance);
    await held.reached;
    timers.pass(PROGRESS_INTERVAL_MS);
    while ((await owner.get(`discovery/scans/${id}`)).data.progress === null)
      await new Promise<void>((resolve) => setImmediate(resolve));
    const found = async (filter: string) => (await asked("scan", { filter })).data.map((scan: Wire) => scan.id);
    expect(await found("progress.phase:* AND status = running")).toEqual([id]);
    expect(await found('progress.hosts_found >= 0 AND NOT ended_at:* AND requested_at > "-1h"')).toEqual([id]);
    held.letGo();
    await untilEnded(id);
    expect(await found("status = Running")).toEqual([]);
  });

  test("follows the log past excluded lines", async () => {
    const filter = "event = disk_nearly_full";
    const told = (await owner.get(`log?${new URLSearchParams({ filter, after: "0" })}`)).body;
    expect(told.data).toHaveLength(1);
    appliance.log.info("noise");
    appliance.log.warn("disk_nearly_full", { free: 6 });
    const { after } = told.meta.log;
    const next = (await owner.get(`log?${new URLSearchParams({ filter, after: String(after) })}`)).body;
    expect(next.data.map(({ text }: Wire) => text.includes("free=6"))).toEqual([true]);
  });
});
