// Independence of responses from records out of reach: two appliances that differ only in such records return identical
// bytes. The only allowed differences are public facts about the ledger: the number of transactions and their hash.

import { afterAll, describe, expect, test } from "bun:test";
import { NOTIFY_INTERVAL_MS } from "../../src/db/commits.ts";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { type JsonRecord, newHost } from "../support/appliance/factories.ts";
import { newPairedAppliance, type PairedAppliance } from "../support/authorization/paired-appliances.ts";
import { csvRecords } from "../support/contract/csv.ts";

const plain = await newPairedAppliance(false);
const populated = await newPairedAppliance(true);
afterAll(async () => {
  await plain.appliance.close();
  await populated.appliance.close();
});

/** Between writes of every kind. */
const sampleInstants = (setup: PairedAppliance) => setup.instants.filter((_, index) => index % 3 === 0);

/** Values for each parameter; a missing parameter fails the test. */
const VALUES: Readonly<Record<string, (setup: PairedAppliance) => readonly string[]>> = {
  level: () => ["warn"],
  before: () => ["-1d"],
  keep: () => ["daily"],
  change: () => ["added", "removed,changed"],
  ignore: () => ["name,tags"],
  selves: () => ["own", "former", "all"],
  limit: () => ["1000", "0", "1"],
  offset: () => ["1"],
  at: (setup) => ["1999-12-31T23:59:59Z", ...sampleInstants(setup), ...MARKERS],
  id: (setup) => [setup.networkId, ...(setup.ids.hosts ?? []), ...(setup.ids.ports ?? [])],
  actor_type: () => ["User,System", "ApiKey"],
  actor_id: (setup) => [setup.appliance.first.userId],
  actor_name: () => ["owner@first.example"],
  ids: (setup) => [Object.values(setup.ids).flat().join(",")],
  network_id: (setup) => [setup.networkId],
  known: () => ["true", "false"],
  host_id: (setup) => setup.ids.hosts ?? [],
  service_id: (setup) => setup.ids.services ?? [],
  subnet_id: (setup) => setup.ids.subnets ?? [],
  service_definition: () => ["Nginx"],
  include: () => ["utilization", "highlights"],
  accepted: () => ["true", "false"],
  accepts_credentials: () => ["true", "false"],
  entity: () => ["host"],
  status: () => ["Completed", "Failed"],
  type: () => ["Unreached", "Address", "Mac,Subnet", "Subnet,Address"],
  tag_ids: (setup) => setup.ids.tags ?? [],
  hidden: () => ["false"],
  q: () => ["web", "10.2.", "0200", "core", "old", "vlan 10", "gi", "core 1", "1"],
  search: () => ["web", "10.2.", "02:00", "old", "Servers", "core", "read", "before"],
  // A field unknown to a kind is refused in both, with equal texts.
  filter: (setup) => [
    "id:* AND NOT name = nobody",
    "network.name:* OR networks.name:*",
    'was("marker:before the move", id:*)',
    "tags.name:* OR hosts:*",
    "host.interfaces.vlans.number > 0 OR host.name:*",
    "network_ids:* OR network_id:*",
    ...(setup.ids.hosts ?? []).map((id) => `neighbor.id = ${id} OR host.id = ${id}`),
    "host_assignments:* OR assigned_network_ids:* OR credential_ids:*",
    "credential_assignments.credential_id:* OR interfaces:*",
    ...sampleInstants(setup).flatMap((at) => [
      `was(${at}, id:*)`,
      `NOT ever(name = web*, ${at})`,
      `changes(name, ${at}) > 0`,
      `changes(network_id, ${at}) = 0 AND always(id:*, ${at})`,
    ]),
  ],
  count: () => ["7"],
  cron: () => ["@daily", "0 8 * * 1-5"],
  timezone: () => ["Europe/Berlin"],
  prefix_length: () => ["24", "30"],
  within: () => ["10.2.0.0/30", "10.2.0.0/26", "10.2.7.0/24"],
  include_children: () => ["false"],
  children: () => ["ip_addresses"],
  include_isolated: () => ["true"],
  hops: () => ["2"],
  group_by: () => ["created_at", "name", "type", "record", "field", "actor", "network"],
  buckets: () => ["3"],
  operation: () => ["Created", "Deleted"],
  fields: () => ["name", "fdb_macs", "host_assignments"],
  order_by: () => ["name", "label", "updated_at", "ip_address", "number", "if_descr", "email"],
  order_direction: () => ["desc"],
  types: () => ["host,if_entry", "network,user,credential"],
  after: () => ["0"],
  mark: () => ["", "00000000"],
  wait: () => ["0"],
  reason: () => ["chg-1", "CHG-7", "of nothing"],
  from: (setup) => ["1999-12-31T23:59:59Z", ...sampleInstants(setup), ...MARKERS],
  to: (setup) => sampleInstants(setup),
  format: () => ["json", "ndjson", "csv", "text", "mermaid", "graphml"],
  mac: () => ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"],
  ip: () => ["10.2.0.1", "10.2.0.3", "10.2.7.1"],
  hostname: () => ["web-1", "web-1.example.net", "web-one", "old-1", "access-1"],
};

/** The records out of reach have markers of these names as well. */
const MARKERS = ["marker:before the move", "marker:BEFORE IT ALL"];

/** One of these is required, and combines with each of the others. */
const QUERY_TARGETS = ["mac", "ip", "hostname", "q"];

/** Parameters that a query requires, by path. */
const REQUIRED_QUERIES: Readonly<Record<string, (setup: PairedAppliance) => string>> = {
  "/api/v1/diff": () => "from=1999-12-31T23:59:59Z",
  "/api/v1/topology": (setup) => `network_id=${setup.networkId}`,
  "/api/v1/discovery/schedules/due": () => "cron=@hourly",
  "/api/v1/subnets/tree": (setup) => `network_id=${setup.networkId}`,
};

/** Of the whole appliance: number and hash of the last transaction, backups on its disk. */
const APPLIANCE_WIDE = ["/api/v1/ledger", "/api/v1/backups", "/api/v1/backups/:name"];

/** Every path of an operation, for the same records in both appliances. */
function pathsOf(setup: PairedAppliance, { path, operation }: RegisteredRoute): string[] {
  const parameters = Object.keys(operation.query?.properties ?? {});
  const base = REQUIRED_QUERIES[path] === undefined ? [] : [REQUIRED_QUERIES[path](setup)];
  const options = parameters.flatMap((name) => {
    const values = VALUES[name];
    if (values === undefined) throw new Error(`VALUES has no entry for the parameter ${name}`);
    return values(setup).map((value) => ({ name, query: `${name}=${encodeURIComponent(value)}` }));
  });
  const queries = options.map(({ name, query }) => [...base.filter((text) => !text.startsWith(`${name}=`)), query]);
  const targets = options.filter(({ name }) => QUERY_TARGETS.includes(name));
  const combinations =
    targets.length === 0
      ? [base, ...queries]
      : targets.flatMap(({ query: target }) => [
          [target],
          ...options.filter(({ name }) => !QUERY_TARGETS.includes(name)).map(({ query }) => [target, query]),
        ]);
  const plural = /^\/api\/v1\/(.*?)\/:id/.exec(path)?.[1];
  const resourcePaths =
    plural !== undefined
      ? (setup.ids[plural] ?? []).map((id) => path.replace(":id", id))
      : path.includes(":sequence")
        ? setup.sequences.map((sequence) => path.replace(":sequence", String(sequence)))
        : [path];
  return resourcePaths.flatMap((resourcePath) =>
    combinations.map((query) => (query.length === 0 ? resourcePath : `${resourcePath}?${query.join("&")}`)),
  );
}

/**
 * A response without allowed differences: transaction numbers become those without the other records; ids assigned by
 * the appliance become one word; the prefix of a transaction's hash, which can't be inverted, is removed.
 */
function comparable(setup: PairedAppliance, { status, headers, text }: ApiResponse): unknown {
  // A scan is not a record: its id differs.
  const { "discovery/scans": _made, ...same } = setup.ids;
  const known = new Set([
    ...Object.values(same).flat(),
    setup.appliance.first.organizationId,
    setup.appliance.first.userId,
  ]);
  const number = (sequence: string) => String(setup.stepsUpTo(Number(sequence)));
  const renumbered =
    headers.get("content-type")?.startsWith("text/csv") === true
      ? JSON.stringify(
          csvRecords(text).map((row) => ({ ...row, ...(row.sequence ? { sequence: number(row.sequence) } : {}) })),
        )
      : text;
  const body = renumbered
    .replaceAll(/"(sequence|after)":(\d+)/g, (_match, name, sequence) => `"${name}":${number(sequence)}`)
    .replaceAll(/"mark":"[0-9a-f]{8}"/g, '"mark":""')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) =>
      known.has(id) ? id : "<made>",
    );
  const tag = headers
    .get("etag")
    ?.replace(/^"(\d+)-[0-9a-f]{8}(.*)"$/, (_match, sequence, rest) => `${number(sequence)}${rest}`);
  return {
    status,
    tag,
    headers: [...headers].filter(([name]) => name !== "etag" && name !== "x-request-id").sort(),
    body,
  };
}

const callers = Object.keys(plain.callers);
const reads = plain.appliance.surface.routes.filter(
  (route) => route.method === "GET" && !APPLIANCE_WIDE.includes(route.path),
);

describe.each(reads.map((route) => [route.path, route] as const))("GET %s", (_path, route) => {
  test.each(callers)("does not reveal to %s whether anything exists beyond its reach", async (name) => {
    const differing: unknown[] = [];
    const [paths, others] = [pathsOf(plain, route), pathsOf(populated, route)];
    for (const [index, path] of paths.entries()) {
      const other = others[index] as string;
      const [plainResponse, populatedResponse] = await Promise.all([
        (plain.callers[name] as Client).get(path),
        (populated.callers[name] as Client).get(other),
      ]);
      const [plainResult, populatedResult] = [
        comparable(plain, plainResponse),
        comparable(populated, populatedResponse),
      ];
      if (!Bun.deepEquals(plainResult, populatedResult))
        differing.push({ path, here: plainResult, there: populatedResult });
    }
    expect(differing.slice(0, 3)).toEqual([]);
  });
});

describe("the two organizations", () => {
  test("differ for every caller who sees more, and the sample is large", async () => {
    const count = async ({ appliance }: PairedAppliance) =>
      (await appliance.owner.get("hosts?limit=1")).body.meta.pagination.total_count;
    expect(await count(plain)).toBe(3);
    expect(await count(populated)).toBeGreaterThan(10);
    expect(populated.appliance.reader.head().sequence).toBeGreaterThan(plain.appliance.reader.head().sequence + 100);
  });

  test("show a limited caller the same host, history and location", async () => {
    for (const name of callers) {
      const client = populated.callers[name] as Client;
      expect((await client.get("hosts")).body.meta.pagination.total_count).toBe(3);
      expect((await client.get("locate?mac=02:00:00:00:00:01")).data.candidates).toHaveLength(1);
      expect((await client.get(`hosts/${populated.ids.hosts?.[0]}/history`)).data.length).toBeGreaterThan(3);
      expect((await client.get("changes?limit=1000")).data.length).toBeGreaterThan(20);
    }
  });
});

describe("a long poll", () => {
  test("is not ended by events out of reach, and contains none", async () => {
    const { appliance } = populated;
    const { after } = (await (populated.callers["a Viewer"] as Client).get("changes?limit=1000")).body.meta.feed;
    let isAnswered = false;
    const waiting = (populated.callers["a Viewer"] as Client).get(`changes?after=${after}&wait=30`).then((response) => {
      isAnswered = true;
      return response;
    });
    const networks: JsonRecord[] = (await appliance.owner.get("networks")).data;
    const far = networks.find(({ name }) => name === "far")?.id;
    for (let index = 0; index < 5; index += 1) await newHost(appliance, { network_id: far });
    expect(isAnswered).toBe(false);
    const near = await newHost(appliance);
    // A waiting request is notified once of several commits within a moment.
    for (; !isAnswered; await new Promise((resolve) => setImmediate(resolve)))
      appliance.timers.pass(NOTIFY_INTERVAL_MS);
    expect((await waiting).data.map((change: JsonRecord) => change.record.id)).toEqual([near.id]);
  });
});

describe("a credential, which belongs to the organization,", () => {
  test("shows that and when it was changed, but not its assignments out of reach", async () => {
    const { appliance, ids, networkId } = populated;
    const id = ids.credentials?.[0];
    const path = `credentials/${id}`;
    const viewer = populated.callers["a Viewer"] as Client;
    const [before, { data: credential }] = [await viewer.get(path), await appliance.owner.get(path)];
    const networks: JsonRecord[] = (await appliance.owner.get("networks")).data;
    const far = networks.find(({ name }) => name === "far")?.id;
    appliance.clock.advance(1_000);
    const changed = { ...credential, assigned_network_ids: [networkId, far] };
    expect((await appliance.owner.put(path, changed)).status).toBe(200);
    const after = await viewer.get(path);
    const at = appliance.clock.text();
    expect(after.data).toEqual({ ...before.data, updated_at: at, valid_from: at });
    expect((await viewer.get(`diff?from=-1s&types=credential,network`)).data).toMatchObject({
      added: [],
      removed: [],
      changed: [],
    });
    expect((await viewer.get(`changes?limit=1000`)).text).not.toContain(far);
    expect((await viewer.get(`${path}/history`)).text).not.toContain(far);
  });
});
