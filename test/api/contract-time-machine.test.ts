// Time contract (handbook: time) as a property: after any sequence of writes, each list as of a timestamp equals the
// live list at that timestamp.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { type JsonRecord, onPort, tcp } from "../support/appliance/factories.ts";
import { PLURALS } from "../support/contract/operations.ts";
import { envelopeProblems } from "../support/contract/shapes.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";

const STEPS = 120;
const LISTS = [
  ...PLURALS.map((plural) => `${plural}?limit=0`),
  "tags?group_by=color&order_by=name&order_direction=desc&limit=3&offset=1",
  "hosts?limit=2&offset=1",
  "if-entries?limit=3&offset=2",
  "services?limit=2&offset=1",
];

const { clock, credentialBody, first, newHost, newSubnet, owner, tick, transactionCount, newMember } =
  applianceForEach();

/** Live records, from the last live lists. */
type LiveRecords = Record<string, JsonRecord[]>;

type Action = () => Promise<ApiResponse>;
type Context = ReturnType<typeof newContext>;

/** One random change; refusals are expected. */
function change(random: SeededRandom, live: LiveRecords, step: number): Promise<ApiResponse> {
  const context = newContext(random, live, step);
  return random.pick([
    ...networkActions(context),
    ...hostActions(context),
    ...childActions(context),
    ...accessActions(context),
  ])();
}

function newContext(random: SeededRandom, live: LiveRecords, step: number) {
  const anyRecord = (plural: string): JsonRecord | undefined =>
    live[plural]?.length ? random.pick(live[plural]) : undefined;
  const someIds = (plural: string): string[] =>
    (live[plural] ?? []).filter(() => random.integer(2) === 0).map((record) => record.id);
  const network = () => anyRecord("networks")?.id ?? first.networkId;
  const host = anyRecord("hosts");
  const update = (changes: JsonRecord) =>
    host === undefined
      ? owner.get("/api/health")
      : owner.put(`hosts/${host.id}`, {
          id: host.id,
          name: host.name,
          hidden: host.hidden,
          tags: host.tags,
          ...changes,
        });
  const remove = (plural: string, query = "") => owner.delete(`${plural}/${anyRecord(plural)?.id}${query}`);
  const addresses = () =>
    Array.from({ length: random.integer(3) }, () => ({
      ip_address: `192.0.2.${1 + random.integer(6)}`,
      name: random.pick(["a", "b"]),
    })).filter((item, index, all) => all.findIndex((other) => other.ip_address === item.ip_address) === index);
  const ports = () => [22, 80, 443].filter(() => random.integer(2) === 0).map((number) => tcp(number));
  return { random, live, step, owner, first, anyRecord, someIds, network, host, update, remove, addresses, ports };
}

function networkActions({ random, anyRecord, someIds, network, remove, owner }: Context): Action[] {
  return [
    () =>
      owner.post("tags", {
        name: random.pick(["core", "edge", "Edge", "lab"]),
        color: random.pick(["Red", "Blue", "Amber"]),
      }),
    () =>
      owner.put(`tags/${anyRecord("tags")?.id}`, {
        name: `tag ${random.integer(5)}`,
        color: random.pick(["Red", "Blue"]),
      }),
    () => remove("tags"),
    () => owner.post("networks", { name: `network ${random.integer(4)}`, tags: someIds("tags") }),
    () => (random.integer(3) === 0 ? remove("networks", "?cascade=true") : owner.get("/api/health")),
    () => owner.post("vlans", { network_id: network(), number: 1 + random.integer(4), name: "v" }),
    () => remove("vlans", "?cascade=true"),
    () =>
      owner.post("subnets", {
        network_id: network(),
        cidr: random.pick(["192.0.2.0/24", "192.0.2.0/29", "198.51.100.0/24"]),
        tags: someIds("tags"),
      }),
    () => remove("subnets", "?cascade=true"),
  ];
}

function hostActions({
  random,
  step,
  someIds,
  network,
  host,
  update,
  remove,
  addresses,
  ports,
  first,
  owner,
}: Context): Action[] {
  return [
    () => owner.post("hosts", { name: `host ${step}`, network_id: network(), tags: someIds("tags"), ports: ports() }),
    () =>
      owner.post("hosts", {
        name: `host ${step}`,
        network_id: first.networkId,
        ports: ports(),
        services: [{ name: "web", service_definition: "Nginx" }],
      }),
    () => update({ name: `host ${random.integer(9)}`, tags: someIds("tags"), hidden: random.integer(2) === 0 }),
    () => update({ ip_addresses: addresses() }),
    () => update({ ports: ports() }),
    () =>
      update({
        services: [
          {
            name: "web",
            service_definition: "Nginx",
            tags: someIds("tags"),
            bindings: (host?.ports ?? [])
              .filter(() => random.integer(2) === 0)
              .map((port: JsonRecord) => ({ type: "Port", port_id: port.id, ip_address_id: null })),
          },
        ],
      }),
    () =>
      update({
        services: [],
        credential_assignments: someIds("credentials").map((credential_id) => ({ credential_id })),
      }),
    () => (random.integer(2) === 0 ? remove("hosts") : owner.get("/api/health")),
  ];
}

function childActions({ random, step, anyRecord, someIds, host, remove, owner }: Context): Action[] {
  return [
    () =>
      owner.post("if-entries", {
        host_id: host?.id,
        if_index: 1 + random.integer(3),
        if_descr: `port ${step}`,
        ip_address_id: host?.ip_addresses[0]?.id ?? null,
      }),
    () =>
      owner.post("if-entries", {
        host_id: host?.id,
        if_index: 1 + random.integer(3),
        if_descr: `port ${step}`,
        fdb_macs: ["00:00:5e:00:53:01", "00:00:5e:00:53:02"].slice(random.integer(3)),
      }),
    () => {
      const entry = anyRecord("if-entries");
      return owner.put(`if-entries/${entry?.id}`, {
        ...entry,
        if_alias: random.pick(["x", "y", null]),
        fdb_macs: ["00:00:5e:00:53:03", "00:00:5e:00:53:02"].slice(random.integer(3)),
      });
    },
    () => remove("if-entries"),
    () => owner.post("ip-addresses", { host_id: host?.id, ip_address: `192.0.2.${1 + random.integer(6)}` }),
    () =>
      owner.put(`ip-addresses/${anyRecord("ip-addresses")?.id}`, {
        ip_address: `192.0.2.${1 + random.integer(6)}`,
        name: random.pick(["a", "b"]),
      }),
    () => remove("ip-addresses"),
    () => owner.post("ports", { host_id: host?.id, number: random.pick([22, 80, 443]), protocol: "Tcp" }),
    () => remove("ports"),
    () =>
      owner.post("services", {
        host_id: host?.id,
        name: random.pick(["web", "api"]),
        service_definition: "Nginx",
        tags: someIds("tags"),
        bindings: (host?.ports ?? []).filter(() => random.integer(2) === 0).map((port: JsonRecord) => onPort(port.id)),
      }),
    () => remove("services"),
    () =>
      owner.post("bindings", { service_id: anyRecord("services")?.id, type: "Port", port_id: anyRecord("ports")?.id }),
    () =>
      owner.put(`bindings/${anyRecord("bindings")?.id}`, {
        type: "IpAddress",
        ip_address_id: anyRecord("ip-addresses")?.id,
      }),
    () => remove("bindings"),
    () => {
      const plural = random.pick(["ip-addresses", "ports", "services", "bindings"]);
      return owner.post(`${plural}/bulk-delete`, someIds(plural));
    },
  ];
}

function accessActions({ random, step, live, anyRecord, someIds, remove, first, owner }: Context): Action[] {
  return [
    () =>
      owner.post("credentials", {
        ...credentialBody(),
        name: `credential ${step}`,
        assigned_network_ids: someIds("networks"),
        host_assignments: someIds("hosts").map((host_id) => ({ host_id })),
        tags: someIds("tags"),
      }),
    () => {
      const credential = anyRecord("credentials");
      return owner.put(`credentials/${credential?.id}`, {
        ...credential,
        assigned_network_ids: someIds("networks"),
        host_assignments: someIds("hosts").map((host_id) => ({ host_id })),
      });
    },
    () => remove("credentials", "?cascade=true"),
    () => {
      const user = live.users?.find((user) => user.role === "Member");
      return owner.put(`users/${user?.id}`, { ...user, network_ids: someIds("networks") });
    },
    () =>
      owner.post("auth/keys", {
        name: `key ${step}`,
        organization_id: first.organizationId,
        user_id: first.userId,
        tags: someIds("tags"),
        network_ids: someIds("networks"),
      }),
    () => {
      const key = anyRecord("auth/keys");
      return owner.put(`auth/keys/${key?.id}`, { ...key, is_enabled: random.integer(2) === 0, tags: someIds("tags") });
    },
    () => remove("auth/keys"),
  ];
}

async function read(list: string, at?: string): Promise<ApiResponse> {
  const response = await owner.get(`${list}${at === undefined ? "" : `&at=${at}`}`);
  expect([list, at, response.status, envelopeProblems(response)]).toEqual([list, at, 200, []]);
  return response;
}

/** A list without the fields that differ in past responses: the end of its versions, and observations. */
function timeless(response: ApiResponse): unknown {
  return {
    data: JSON.parse(
      JSON.stringify(response.data).replaceAll(/,"(valid_to|last_login|last_used)":("[^"]*"|null)/g, ""),
    ),
    pagination: response.body.meta.pagination,
  };
}

for (const seed of seedsOf(1, 2)) {
  test(`every list as of a timestamp returns its state at that time, after ${STEPS} random changes (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    await newMember();
    await newSubnet({ cidr: "192.0.2.0/24" });
    for (let count = 0; count < 2; count += 1)
      await newHost({
        ip_addresses: [{ ip_address: "192.0.2.1" }],
        ports: [tcp(22)],
        services: [{ name: "web", service_definition: "Nginx" }],
      });
    tick();
    const snapshots: Array<{ at: string; lists: Map<string, unknown> }> = [];
    let changes = 0;
    for (let step = 0; step < STEPS; step++) {
      const [live, lists]: [LiveRecords, Map<string, unknown>] = [{}, new Map()];
      for (const list of LISTS) {
        const response = await read(list);
        lists.set(list, timeless(response));
        if (list.endsWith("limit=0")) live[list.split("?")[0] as string] = response.data;
      }
      snapshots.push({ at: clock.text(), lists });
      clock.advance(1 + random.integer(5_000));
      const before = transactionCount();
      const { status } = await change(random, live, step);
      expect(status).toBeLessThan(500);
      if (transactionCount() > before) changes += 1;
      clock.advance(1 + random.integer(5_000));
    }
    expect(changes).toBeGreaterThan(STEPS / 4);
    for (const { at, lists } of snapshots) {
      for (const [list, past] of lists) expect([at, list, timeless(await read(list, at))]).toEqual([at, list, past]);
      for (const host of (await read("hosts?limit=0", at)).data)
        expect((await owner.get(`hosts/${host.id}?at=${at}`)).data).toEqual(host);
    }
  });
}
