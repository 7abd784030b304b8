// Independence of answers from records out of reach: two appliances that differ only there return equal bytes. Allowed
// differences are public facts of the whole ledger: the number of transactions and their hash.

import { afterAll, describe, expect, test } from "bun:test";
import { TELLING_INTERVAL_MS } from "../../src/db/commits.ts";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import { newHost, type Wire } from "../support/appliance/factories.ts";
import { newTwin, type Twin } from "../support/authorization/twin-worlds.ts";
import { csvRecords } from "../support/contract/csv.ts";

const plain = await newTwin(false);
const crowded = await newTwin(true);
afterAll(async () => {
  await plain.appliance.close();
  await crowded.appliance.close();
});

/** Between writes of every kind. */
const someInstants = (twin: Twin) => twin.instants.filter((_, place) => place % 3 === 0);

/** Values for each parameter; a missing parameter fails the test. */
const VALUES: Readonly<Record<string, (twin: Twin) => readonly string[]>> = {
  level: () => ["warn"],
  before: () => ["-1d"],
  keep: () => ["daily"],
  change: () => ["added", "removed,changed"],
  ignore: () => ["name,tags"],
  selves: () => ["own", "former", "all"],
  limit: () => ["1000", "0", "1"],
  offset: () => ["1"],
  at: (twin) => ["1999-12-31T23:59:59Z", ...someInstants(twin), ...MARKERS],
  id: (twin) => [twin.networkId, ...(twin.ids.hosts ?? []), ...(twin.ids.ports ?? [])],
  actor_type: () => ["User,System", "ApiKey"],
  actor_id: (twin) => [twin.appliance.first.userId],
  actor_name: () => ["owner@first.example"],
  ids: (twin) => [Object.values(twin.ids).flat().join(",")],
  network_id: (twin) => [twin.networkId],
  known: () => ["true", "false"],
  host_id: (twin) => twin.ids.hosts ?? [],
  service_id: (twin) => twin.ids.services ?? [],
  subnet_id: (twin) => twin.ids.subnets ?? [],
  service_definition: () => ["Nginx"],
  include: () => ["utilization", "highlights"],
  accepted: () => ["true", "false"],
  accepts_credentials: () => ["true", "false"],
  entity: () => ["host"],
  status: () => ["Completed", "Failed"],
  type: () => ["Unreached", "Address", "Mac,Subnet", "Subnet,Address"],
  tag_ids: (twin) => twin.ids.tags ?? [],
  hidden: () => ["false"],
  q: () => ["web", "10.2.", "0200", "core", "old", "vlan 10", "gi", "core 1", "1"],
  search: () => ["web", "10.2.", "02:00", "old", "Servers", "core", "read", "before"],
  // A field unknown to a kind is refused in both, with equal texts.
  filter: (twin) => [
    "id:* AND NOT name = nobody",
    "network.name:* OR networks.name:*",
    'was("marker:before the move", id:*)',
    "tags.name:* OR hosts:*",
    "host.interfaces.vlans.number > 0 OR host.name:*",
    "network_ids:* OR network_id:*",
    ...(twin.ids.hosts ?? []).map((id) => `neighbor.id = ${id} OR host.id = ${id}`),
    "host_assignments:* OR assigned_network_ids:* OR credential_ids:*",
    "credential_assignments.credential_id:* OR interfaces:*",
    ...someInstants(twin).flatMap((at) => [
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
  from: (twin) => ["1999-12-31T23:59:59Z", ...someInstants(twin), ...MARKERS],
  to: (twin) => someInstants(twin),
  format: () => ["json", "ndjson", "csv", "text", "mermaid", "graphml"],
  mac: () => ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"],
  ip: () => ["10.2.0.1", "10.2.0.3", "10.2.7.1"],
  hostname: () => ["web-1", "web-1.example.net", "web-one", "old-1", "access-1"],
};

/** The records beyond have markers of these names as well. */
const MARKERS = ["marker:before the move", "marker:BEFORE IT ALL"];

/** One of these is required, and combines with each of the others. */
const QUESTIONS = ["mac", "ip", "hostname", "q"];

/** Parameters without which a query asks for nothing. */
const ALWAYS: Readonly<Record<string, (twin: Twin) => string>> = {
  "/api/v1/diff": () => "from=1999-12-31T23:59:59Z",
  "/api/v1/topology": (twin) => `network_id=${twin.networkId}`,
  "/api/v1/discovery/schedules/due": () => "cron=@hourly",
  "/api/v1/subnets/tree": (twin) => `network_id=${twin.networkId}`,
};

/** Of the whole appliance: number and hash of the last transaction, backups on its disk. */
const OF_ALL = ["/api/v1/ledger", "/api/v1/backups", "/api/v1/backups/:name"];

/** Every path of an operation, for the same records in both. */
function pathsOf(twin: Twin, { path, operation }: RegisteredRoute): string[] {
  const parameters = Object.keys(operation.query?.properties ?? {});
  const base = ALWAYS[path] === undefined ? [] : [ALWAYS[path](twin)];
  const asked = parameters.flatMap((name) => {
    const values = VALUES[name];
    if (values === undefined) throw new Error(`VALUES says nothing of the parameter ${name}`);
    return values(twin).map((value) => ({ name, query: `${name}=${encodeURIComponent(value)}` }));
  });
  const queries = asked.map(({ name, query }) => [...base.filter((each) => !each.startsWith(`${name}=`)), query]);
  const questions = asked.filter(({ name }) => QUESTIONS.includes(name));
  const whole =
    questions.length === 0
      ? [base, ...queries]
      : questions.flatMap(({ query: question }) => [
          [question],
          ...asked.filter(({ name }) => !QUESTIONS.includes(name)).map(({ query }) => [question, query]),
        ]);
  const plural = /^\/api\/v1\/(.*?)\/:id/.exec(path)?.[1];
  const places =
    plural !== undefined
      ? (twin.ids[plural] ?? []).map((id) => path.replace(":id", id))
      : path.includes(":sequence")
        ? twin.sequences.map((sequence) => path.replace(":sequence", String(sequence)))
        : [path];
  return places.flatMap((place) => whole.map((query) => (query.length === 0 ? place : `${place}?${query.join("&")}`)));
}

/**
 * An answer without allowed differences: transaction numbers become those without the other records; ids assigned by
 * the appliance become one word; the prefix of a transaction's hash, which can't be inverted, is removed.
 */
function comparable(twin: Twin, { status, headers, text }: Answer): unknown {
  // A scan is not a record: its id differs.
  const { "discovery/scans": _made, ...same } = twin.ids;
  const known = new Set([
    ...Object.values(same).flat(),
    twin.appliance.first.organizationId,
    twin.appliance.first.userId,
  ]);
  const number = (sequence: string) => String(twin.stepsUpTo(Number(sequence)));
  const told =
    headers.get("content-type")?.startsWith("text/csv") === true
      ? JSON.stringify(
          csvRecords(text).map((row) => ({ ...row, ...(row.sequence ? { sequence: number(row.sequence) } : {}) })),
        )
      : text;
  const body = told
    .replaceAll(/"(sequence|after)":(\d+)/g, (_whole, name, sequence) => `"${name}":${number(sequence)}`)
    .replaceAll(/"mark":"[0-9a-f]{8}"/g, '"mark":""')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) =>
      known.has(id) ? id : "<made>",
    );
  const tag = headers
    .get("etag")
    ?.replace(/^"(\d+)-[0-9a-f]{8}(.*)"$/, (_whole, sequence, rest) => `${number(sequence)}${rest}`);
  return {
    status,
    tag,
    headers: [...headers].filter(([name]) => name !== "etag" && name !== "x-request-id").sort(),
    body,
  };
}

const callers = Object.keys(plain.callers);
const reads = plain.appliance.surface.routes.filter((route) => route.method === "GET" && !OF_ALL.includes(route.path));

describe.each(reads.map((route) => [route.path, route] as const))("GET %s", (_path, route) => {
  test.each(callers)("does not reveal to %s whether anything exists beyond its reach", async (name) => {
    const differing: unknown[] = [];
    const [paths, others] = [pathsOf(plain, route), pathsOf(crowded, route)];
    for (const [place, path] of paths.entries()) {
      const other = others[place] as string;
      const [one, two] = await Promise.all([
        (plain.callers[name] as Client).get(path),
        (crowded.callers[name] as Client).get(other),
      ]);
      const [here, there] = [comparable(plain, one), comparable(crowded, two)];
      if (!Bun.deepEquals(here, there)) differing.push({ path, here, there });
    }
    expect(differing.slice(0, 3)).toEqual([]);
  });
});

describe("the twin organizations", () => {
  test("differ for every caller who sees more, and the sample is large", async () => {
    const count = async ({ appliance }: Twin) =>
      (await appliance.owner.get("hosts?limit=1")).body.meta.pagination.total_count;
    expect(await count(plain)).toBe(3);
    expect(await count(crowded)).toBeGreaterThan(10);
    expect(crowded.appliance.reader.head().sequence).toBeGreaterThan(plain.appliance.reader.head().sequence + 100);
  });

  test("show a limited caller the same host, history and location", async () => {
    for (const name of callers) {
      const client = crowded.callers[name] as Client;
      expect((await client.get("hosts")).body.meta.pagination.total_count).toBe(3);
      expect((await client.get("locate?mac=02:00:00:00:00:01")).data.candidates).toHaveLength(1);
      expect((await client.get(`hosts/${crowded.ids.hosts?.[0]}/history`)).data.length).toBeGreaterThan(3);
      expect((await client.get("changes?limit=1000")).data.length).toBeGreaterThan(20);
    }
  });
});

describe("a long poll", () => {
  test("is not ended by events out of reach, and contains none", async () => {
    const { appliance } = crowded;
    const { after } = (await (crowded.callers["a Viewer"] as Client).get("changes?limit=1000")).body.meta.feed;
    let answered = false;
    const waiting = (crowded.callers["a Viewer"] as Client).get(`changes?after=${after}&wait=30`).then((answer) => {
      answered = true;
      return answer;
    });
    const networks: Wire[] = (await appliance.owner.get("networks")).data;
    const far = networks.find(({ name }) => name === "far")?.id;
    for (let each = 0; each < 5; each += 1) await newHost(appliance, { network_id: far });
    expect(answered).toBe(false);
    const near = await newHost(appliance);
    // A waiting request is notified once of several commits within a moment.
    for (; !answered; await new Promise((resolve) => setImmediate(resolve))) appliance.timers.pass(TELLING_INTERVAL_MS);
    expect((await waiting).data.map((change: Wire) => change.record.id)).toEqual([near.id]);
  });
});

describe("a credential, which belongs to the organization,", () => {
  test("shows that and when it was changed, but not its assignments out of reach", async () => {
    const { appliance, ids, networkId } = crowded;
    const id = ids.credentials?.[0];
    const path = `credentials/${id}`;
    const viewer = crowded.callers["a Viewer"] as Client;
    const [before, { data: whole }] = [await viewer.get(path), await appliance.owner.get(path)];
    const networks: Wire[] = (await appliance.owner.get("networks")).data;
    const far = networks.find(({ name }) => name === "far")?.id;
    appliance.clock.advance(1_000);
    expect((await appliance.owner.put(path, { ...whole, assigned_network_ids: [networkId, far] })).status).toBe(200);
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
