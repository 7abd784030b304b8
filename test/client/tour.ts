// A client of the API as anybody would write it: openapi-fetch over the types that openapi-typescript makes of the
// OpenAPI document. Type-checked against them and run by test/api/generated-client.test.ts; without any cast, so that
// it is the document that has to be right.

import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.ts";

type Host = components["schemas"]["Host"];
type Change = components["schemas"]["Change"];

interface TourOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly email: string;
  readonly password: string;
}

/** What the tour came upon, in words that a test can look at. */
interface Tour {
  readonly name: string;
  readonly steps: string[];
}

class Refused extends Error {
  readonly code: components["schemas"]["Error"]["code"];
  readonly issues: readonly string[];

  constructor(error: components["schemas"]["Error"]) {
    super(error.error);
    this.code = error.code;
    this.issues = (error.params.issues ?? []).map((issue) => `${issue.path} ${issue.message}`);
  }
}

/** What an answer holds; its error thrown. */
function dataOf<T>(answer: { data?: { success: true; data: T }; error?: components["schemas"]["Error"] }): T {
  if (answer.error !== undefined) throw new Refused(answer.error);
  if (answer.data === undefined) throw new Error("an answer without a body");
  return answer.data.data;
}

/** The text of an answer that is no JSON, of an operation that can answer JSON as well. */
function textOf(answer: { data?: unknown; error?: components["schemas"]["Error"] }): string {
  if (answer.error !== undefined) throw new Refused(answer.error);
  return typeof answer.data === "string" ? answer.data : "";
}

type Json = Client<paths, "application/json">;

function clientWith(options: TourOptions, headers: Record<string, string>): Json {
  const client = createClient<paths, "application/json">({
    baseUrl: "http://localhost",
    fetch: options.fetch,
    headers,
  });
  const named: Middleware = {
    onRequest: ({ request }) => {
      request.headers.set("x-request-id", "tour");
      return request;
    },
  };
  client.use(named);
  return client;
}

export async function tour(options: TourOptions): Promise<Tour> {
  const steps: string[] = [];
  const version = dataOf(await clientWith(options, {}).GET("/api/version"));
  steps.push(`version ${version.api_version}, read only: ${version.read_only}`);

  const session = await signIn(options);
  const me = dataOf(await session.GET("/api/auth/me"));
  steps.push(`${me.effective_role} by ${me.authenticated_by}`);
  const made = dataOf(
    await session.POST("/api/v1/auth/keys", {
      body: { name: "tour", organization_id: me.organization_id, user_id: me.id, tags: [], permissions: "Owner" },
    }),
  );
  const keyId = made.api_key.id;
  const client = clientWith(options, { authorization: `Bearer ${made.key}` });

  const networkId = await networks(client, steps);
  const host = await hosts(client, networkId, steps);
  await children(client, host, steps);
  await credentials(client, me.organization_id, networkId, host, steps);
  await lists(client, networkId, host, steps);
  await past(client, host, steps);
  await changes(client, networkId, steps);
  await locating(client, host, steps);
  await mapping(options, client, made.key, networkId, steps);
  await restoring(client, host, steps);
  await bulk(client, networkId, steps);
  await schedules(client, networkId, steps);
  await scans(options, client, made.key, networkId, steps);
  await tables(options, made.key, steps);
  await refusals(client, networkId, steps);
  await keysAndUsers(session, keyId, networkId, steps);
  return { name: me.name, steps };
}

async function signIn(options: TourOptions): Promise<Json> {
  const { data, response } = await clientWith(options, {}).POST("/api/auth/login", {
    body: { email: options.email, password: options.password },
  });
  if (data === undefined) throw new Error("nobody signed in");
  const cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(";", 1)[0])
    .join("; ");
  return clientWith(options, { cookie });
}

async function networks(client: Json, steps: string[]): Promise<string> {
  const tag = dataOf(await client.POST("/api/v1/tags", { body: { name: "core", color: "Green" } }));
  const recoloured = dataOf(
    await client.PUT("/api/v1/tags/{id}", { params: { path: { id: tag.id } }, body: { ...tag, color: "Blue" } }),
  );
  const network = dataOf(
    await client.POST("/api/v1/networks", { body: { name: "Campus", tags: [tag.id], stale_after_hours: 24 } }),
  );
  const renamed = dataOf(
    await client.PUT("/api/v1/networks/{id}", {
      params: { path: { id: network.id } },
      body: { ...network, name: "Campus North", stale_after_hours: null },
    }),
  );
  const vlan = dataOf(await client.POST("/api/v1/vlans", { body: { network_id: network.id, number: 120 } }));
  await client
    .PUT("/api/v1/vlans/{id}", { params: { path: { id: vlan.id } }, body: { ...vlan, name: "Servers" } })
    .then(dataOf);
  const subnet = dataOf(
    await client.POST("/api/v1/subnets", {
      body: { network_id: network.id, cidr: "10.2.0.0/16", subnet_type: "Lan", vlan_id: vlan.id },
    }),
  );
  const described = dataOf(
    await client.PUT("/api/v1/subnets/{id}", {
      params: { path: { id: subnet.id } },
      body: { ...subnet, description: "of the tour" },
    }),
  );
  steps.push(`${recoloured.color} tag, ${renamed.name}, ${described.cidr} of VLAN ${vlan.number}`);
  return network.id;
}

async function hosts(client: Json, networkId: string, steps: string[]): Promise<Host> {
  const created = dataOf(
    await client.POST("/api/v1/hosts", {
      params: { header: { "Idempotency-Key": "tour-host" } },
      body: {
        network_id: networkId,
        name: "web-1",
        hostname: "web-1.example.net",
        ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "00:1b:21:aa:bb:cc" }],
        ports: [{ number: 443, protocol: "Tcp" }],
        services: [
          {
            name: "web",
            service_definition: "Nginx",
            virtualization: { type: "Docker", details: { container_name: "web" } },
          },
        ],
        virtualization: { type: "Kvm", details: { vm_name: "web-1" } },
      },
    }),
  );
  const [port] = created.ports;
  const [service] = created.services;
  if (port === undefined || service === undefined) throw new Error("a host without what it was made with");
  dataOf(await client.POST("/api/v1/bindings", { body: { type: "Port", service_id: service.id, port_id: port.id } }));
  // What was read, edited and sent back.
  const { data, response } = await client.GET("/api/v1/hosts/{id}", { params: { path: { id: created.id } } });
  if (data === undefined) throw new Error("the host is gone");
  const etag = response.headers.get("etag") ?? "";
  const answer = await client.PUT("/api/v1/hosts/{id}", {
    params: { path: { id: created.id }, header: { "If-Match": etag } },
    body: { ...data.data, description: "the web", expected_updated_at: data.data.updated_at },
  });
  const updated = dataOf(answer);
  const again = await client.GET("/api/v1/hosts/{id}", {
    params: { path: { id: created.id }, header: { "If-None-Match": answer.response.headers.get("etag") ?? "" } },
  });
  const [binding] = updated.services.flatMap((each) => each.bindings);
  const target =
    binding === undefined
      ? "nothing"
      : binding.type === "Port"
        ? `port ${updated.ports.find((each) => each.id === binding.port_id)?.number}`
        : `address ${binding.ip_address_id}`;
  steps.push(
    `${updated.name}: ${updated.description}, ${updated.virtualization?.type}, bound to ${target}, then ${again.response.status}`,
  );
  return updated;
}

async function children(client: Json, host: Host, steps: string[]): Promise<void> {
  const device = dataOf(
    await client.POST("/api/v1/hosts", { body: { network_id: host.network_id, name: "access-1" } }),
  );
  const entry = dataOf(
    await client.POST("/api/v1/if-entries", {
      body: {
        host_id: device.id,
        if_index: 7,
        if_descr: "GigabitEthernet1/0/7",
        fdb_macs: ["00:1b:21:aa:bb:cc"],
        lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:aa:bb:cc" },
        neighbor: { type: "Host", id: host.id },
      },
    }),
  );
  const edited = dataOf(
    await client.PUT("/api/v1/if-entries/{id}", {
      params: { path: { id: entry.id } },
      body: { ...entry, if_alias: "desk" },
    }),
  );
  const address = dataOf(
    await client.POST("/api/v1/ip-addresses", { body: { host_id: device.id, ip_address: "10.2.0.2" } }),
  );
  const named = dataOf(
    await client.PUT("/api/v1/ip-addresses/{id}", {
      params: { path: { id: address.id } },
      body: { ...address, name: "management" },
    }),
  );
  const port = dataOf(
    await client.POST("/api/v1/ports", { body: { host_id: device.id, number: 22, protocol: "Tcp" } }),
  );
  dataOf(
    await client.PUT("/api/v1/ports/{id}", {
      params: { path: { id: port.id } },
      body: { ...port, number: 161, protocol: "Udp" },
    }),
  );
  const service = dataOf(
    await client.POST("/api/v1/services", { body: { host_id: device.id, name: "snmp", service_definition: "SNMP" } }),
  );
  dataOf(
    await client.PUT("/api/v1/services/{id}", {
      params: { path: { id: service.id } },
      body: { ...service, name: "snmpd" },
    }),
  );
  const binding = dataOf(
    await client.POST("/api/v1/bindings", {
      body: { type: "IpAddress", service_id: service.id, ip_address_id: address.id },
    }),
  );
  dataOf(await client.PUT("/api/v1/bindings/{id}", { params: { path: { id: binding.id } }, body: binding }));
  const speed = edited.speed_bps === undefined ? "of unknown speed" : `at ${edited.speed_bps} bit/s`;
  steps.push(
    `${edited.if_descr} ${speed} forwards to ${edited.fdb_macs?.length ?? 0}, ${named.name} ${named.ip_address}, ${port.type}`,
  );
}

async function credentials(
  client: Json,
  organizationId: string,
  networkId: string,
  host: Host,
  steps: string[],
): Promise<void> {
  const created = dataOf(
    await client.POST("/api/v1/credentials", {
      body: {
        name: "read-only",
        organization_id: organizationId,
        credential_type: {
          type: "SnmpV3",
          security_name: "noc",
          auth_protocol: "Sha256",
          auth_password: { mode: "Inline", value: "an auth password" },
          priv_protocol: "None",
        },
        assigned_network_ids: [networkId],
        host_assignments: [{ host_id: host.id }],
        tags: [],
      },
    }),
  );
  const kept = dataOf(
    await client.PUT("/api/v1/credentials/{id}", {
      params: { path: { id: created.id } },
      body: { ...created, target_ips: ["192.0.2.1"] },
    }),
  );
  const type = kept.credential_type;
  const secret = type.type === "SnmpV3" ? type.auth_password : type.community;
  const shown = secret === undefined ? "none" : secret.mode === "Inline" ? secret.value : secret.path;
  steps.push(`${type.type} with the secret ${shown}, tried at ${kept.host_assignments.length} host`);
}

async function lists(client: Json, networkId: string, host: Host, steps: string[]): Promise<void> {
  const { data } = await client.GET("/api/v1/hosts", {
    params: {
      query: {
        network_id: networkId,
        search: "10.2.",
        hidden: false,
        include_children: false,
        order_by: "name",
        order_direction: "desc",
        limit: 10,
      },
    },
  });
  const names = data?.data.map((each) => `${each.name} with ${each.ports?.length ?? "unasked"} ports`).join(", ");
  const byId = dataOf(
    await client.GET("/api/v1/ip-addresses", {
      params: { query: { ids: host.ip_addresses.map((each) => each.id), host_id: host.id } },
    }),
  );
  const [tag] = dataOf(await client.GET("/api/v1/tags", { params: { query: { search: "core", group_by: "color" } } }));
  if (tag === undefined) throw new Error("no tag is found by its name");
  dataOf(
    await client.PUT("/api/v1/tags/assign", { body: { entity_type: "host", entity_id: host.id, tag_ids: [tag.id] } }),
  );
  const changed = dataOf(
    await client.POST("/api/v1/tags/assign/bulk-add", {
      body: { entity_type: "service", entity_ids: host.services.map((each) => each.id), tag_id: tag.id },
    }),
  );
  const tagged = dataOf(await client.GET("/api/v1/hosts", { params: { query: { tag_ids: [tag.id] } } }));
  steps.push(
    `${data?.meta.pagination.total_count} found: ${names}; ${byId.length} by id, ${changed.changed_ids.length} service and ${tagged.length} host tagged`,
  );
}

async function past(client: Json, host: Host, steps: string[]): Promise<void> {
  const params = { path: { id: host.id } };
  const { data: then } = await client.GET("/api/v1/hosts/{id}", {
    params: { ...params, query: { at: host.created_at } },
  });
  const versions = dataOf(
    await client.GET("/api/v1/hosts/{id}/history", { params: { ...params, query: { include_children: false } } }),
  );
  const said = versions.map(
    ({ operation, changed_fields, transaction, record }) =>
      `${operation} ${changed_fields.join("+")} by ${transaction.actor.type} as ${record.name}`,
  );
  steps.push(
    `then ${then?.data.description ?? "undescribed"} at ${then?.meta.at === host.created_at ? "its creation" : "another instant"}; ${said.length} versions, first ${said.at(-1)}`,
  );
  const diff = dataOf(
    await client.GET("/api/v1/diff", {
      params: { query: { from: "-1h", types: ["host", "ip_address"], host_id: host.id } },
    }),
  );
  const added = diff.added.map((each) => (each.entity_type === "ip_address" ? each.record.ip_address : each.name));
  const fields = diff.changed.flatMap((each) =>
    each.fields.map(({ field, transaction }) => `${field} in ${transaction?.sequence ?? "nobody knows which"}`),
  );
  steps.push(
    `added ${added.join(", ")}; ${diff.removed.length} removed, ${fields.length} fields changed, ${diff.counts.host?.added ?? 0} host counted`,
  );
}

async function changes(client: Json, networkId: string, steps: string[]): Promise<void> {
  const seen: string[] = [];
  let [after, mark] = [0, ""];
  for (;;) {
    const { data, error } = await client.GET("/api/v1/changes", {
      params: { query: { after, mark, limit: 5, network_id: networkId } },
    });
    if (error !== undefined) throw new Refused(error);
    seen.push(...data.data.map(label));
    ({ after, mark } = data.meta.feed);
    if (!data.meta.feed.has_more) break;
  }
  const transactions = dataOf(await client.GET("/api/v1/transactions", { params: { query: { limit: 1 } } }));
  const counted = Object.entries(transactions[0]?.changes ?? {}).map(([kind, each]) => `${kind} ${each.Updated ?? 0}`);
  const head = dataOf(await client.GET("/api/v1/ledger"));
  steps.push(
    `changes: ${[...new Set(seen)].slice(0, 6).join(", ")}; last ${transactions[0]?.command}: ${counted.join(", ")}; hash of ${head.hash?.length} digits`,
  );
}

/** Each kind of record by what it has of its own. */
function label(change: Change): string {
  switch (change.entity_type) {
    case "port":
      return `port ${change.record.number}`;
    case "ip_address":
      return `address ${change.record.ip_address}`;
    case "subnet":
      return `subnet ${change.record.cidr}`;
    case "host":
      return `host ${change.record.name}`;
    default:
      return change.entity_type;
  }
}

async function locating(client: Json, host: Host, steps: string[]): Promise<void> {
  const found = dataOf(await client.GET("/api/v1/locate", { params: { query: { mac: "00-1B-21-AA-BB-CC" } } }));
  const [best] = found.candidates;
  const evidence = best?.evidence.map((each) => each.kind).includes("Neighbor") ? "its neighbor" : "its table";
  steps.push(
    `${best?.host?.id === host.id ? "the host" : "something"} is at ${best?.port?.name} of ${best?.switch?.name} (${best?.port?.oper_status}), says ${evidence}`,
  );
  const timeline = dataOf(
    await client.GET("/api/v1/locate/timeline", { params: { query: { ip: "10.2.3.4", from: "-1d" } } }),
  );
  steps.push(
    `${timeline.intervals.length > 0 ? "it has been somewhere" : "it has been nowhere"} until ${timeline.intervals.at(-1)?.to ?? "this day"}`,
  );
}

async function mapping(
  options: TourOptions,
  client: Json,
  key: string,
  networkId: string,
  steps: string[],
): Promise<void> {
  const query = { network_id: networkId };
  const { nodes, links } = dataOf(
    await client.GET("/api/v1/topology", { params: { query: { ...query, include_isolated: true } } }),
  );
  const told = links.map(
    ({ ends, protocol, certainty, evidence }) =>
      `${ends.map((end) => end.if_entry?.name ?? end.port ?? "?").join(" to ")} by ${protocol} (${certainty}, ${evidence[0]?.chassis_id?.subtype ?? "no chassis"})`,
  );
  const diagram = textOf(
    await createClient<paths>({
      baseUrl: "http://localhost",
      fetch: options.fetch,
      headers: { authorization: `Bearer ${key}` },
    }).GET("/api/v1/topology", { params: { query: { ...query, format: "mermaid" } }, parseAs: "text" }),
  );
  steps.push(
    `${nodes.map((node) => `${node.kind} ${node.name}`).join(", ")}; ${told.join(", ")}; ${diagram.split("\n")[0]}`,
  );
}

async function restoring(client: Json, host: Host, steps: string[]): Promise<void> {
  const params = { path: { id: host.id } };
  const { data: changed } = await client.PUT("/api/v1/hosts/{id}", {
    params,
    body: { id: host.id, name: "mistake", hidden: true, tags: [], ports: [] },
  });
  if (changed === undefined) throw new Error("no mistake was made");
  const plan = dataOf(
    await client.POST("/api/v1/hosts/{id}/restore", { params, body: { at: host.updated_at, dry_run: true } }),
  );
  const restored = dataOf(await client.POST("/api/v1/hosts/{id}/restore", { params, body: { at: host.updated_at } }));
  if (restored.sequence === null) throw new Error("nothing was restored");
  const reverted = dataOf(
    await client.POST("/api/v1/transactions/{sequence}/revert", {
      params: { path: { sequence: restored.sequence } },
      body: {},
    }),
  );
  const planned = plan.actions
    .map((each) => `${each.action} ${each.entity_type}`)
    .filter((each) => !each.startsWith("Skip"));
  const now = dataOf(await client.GET("/api/v1/hosts/{id}", { params }));
  steps.push(
    `plan ${plan.applied ? "done" : "told"}: ${[...new Set(planned)].join(", ")}; undone in ${reverted.applied ? "one transaction" : "none"}: ${now.name}`,
  );
  dataOf(await client.POST("/api/v1/hosts/{id}/restore", { params, body: { at: host.updated_at } }));
}

async function scans(
  options: TourOptions,
  client: Json,
  key: string,
  networkId: string,
  steps: string[],
): Promise<void> {
  const asked = dataOf(
    await client.POST("/api/v1/discovery/scans", {
      body: { network_id: networkId, kind: "snmp", targets: ["10.2.3.4"], commit: false },
    }),
  );
  const params = { path: { id: asked.id } };
  // A stream ends with the scan.
  const events = textOf(
    await createClient<paths>({
      baseUrl: "http://localhost",
      fetch: options.fetch,
      headers: { authorization: `Bearer ${key}` },
    }).GET("/api/v1/discovery/scans/{id}/events", { params, parseAs: "text" }),
  );
  const ended = dataOf(await client.GET("/api/v1/discovery/scans/{id}", { params }));
  const found = dataOf(
    await client.GET("/api/v1/discovery/scans/{id}/findings", {
      params: { ...params, query: { type: ["Unreached"] } },
    }),
  );
  const listed = dataOf(
    await client.GET("/api/v1/discovery/scans", {
      params: { query: { network_id: networkId, status: ["Completed"], order_direction: "desc" } },
    }),
  );
  const { error } = await client.POST("/api/v1/discovery/scans/{id}/cancel", { params });
  steps.push(
    `${asked.status} ${asked.kind} scan ${ended.status} in the phase ${ended.progress?.phase}, ${ended.outcome?.hosts.devices ?? "no"} devices; ${found.map((each) => `${each.label}: ${each.reason}`).join()}; ${listed.length} listed; last ${events.match(/event: \w+/g)?.at(-1)}; ${error?.code}`,
  );
}

async function bulk(client: Json, networkId: string, steps: string[]): Promise<void> {
  const written = dataOf(
    await client.POST("/api/v1/hosts/bulk", {
      body: [
        { network_id: networkId, name: "bulk-1", interfaces: [{ if_index: 1, if_descr: "eth0", oper_status: "Up" }] },
        { network_id: networkId, name: "bulk-2", ip_addresses: [{ ip_address: "10.2.9.9" }] },
      ],
    }),
  );
  const gone = dataOf(await client.POST("/api/v1/hosts/bulk-delete", { body: written.map((each) => each.id) }));
  steps.push(
    `${written.map((each) => `${each.operation} ${each.name}`).join(", ")}; deleted ${gone.map((each) => each.name).join(", ")}`,
  );
}

async function schedules(client: Json, networkId: string, steps: string[]): Promise<void> {
  const nightly = dataOf(
    await client.POST("/api/v1/discovery/schedules", {
      body: { network_id: networkId, name: "Night", cron: "30 2 * * *", timezone: "europe/berlin", kind: "full" },
    }),
  );
  const paused = dataOf(
    await client.PUT("/api/v1/discovery/schedules/{id}", {
      params: { path: { id: nightly.id } },
      body: { ...nightly, targets: ["10.2.0.0/16"], is_enabled: false },
    }),
  );
  const ignored = dataOf(
    await client.GET("/api/v1/discovery/ignored", { params: { query: { network_id: networkId, entity: "host" } } }),
  );
  steps.push(
    `${nightly.name} in ${nightly.timezone} is due ${nightly.next_run_at === null ? "never" : "some time"}, then ${paused.targets?.join()} ${paused.next_run_at ?? "not at all"}; ${ignored.length} hosts ignored`,
  );
}

async function tables(options: TourOptions, key: string, steps: string[]): Promise<void> {
  const client = createClient<paths>({
    baseUrl: "http://localhost",
    fetch: options.fetch,
    headers: { authorization: `Bearer ${key}` },
  });
  const hosts = textOf(
    await client.GET("/api/v1/hosts/export/csv", {
      params: { query: { include_children: false, order_by: "name" } },
      parseAs: "text",
    }),
  );
  const diff = textOf(
    await client.GET("/api/v1/diff", { params: { query: { from: "-1h", format: "csv" } }, parseAs: "text" }),
  );
  steps.push(
    `tables that begin with ${hosts.split(",", 2).join(" and ")}, and with ${diff.split(",", 2).join(" and ")}`,
  );
}

async function refusals(client: Json, networkId: string, steps: string[]): Promise<void> {
  const told: string[] = [];
  const attempt = async (ask: () => Promise<unknown>) => {
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      told.push([error.code, ...error.issues].join(": "));
    }
  };
  await attempt(async () =>
    dataOf(await client.POST("/api/v1/vlans", { body: { network_id: networkId, number: 4095 } })),
  );
  await attempt(async () =>
    dataOf(await client.POST("/api/v1/subnets", { body: { network_id: networkId, cidr: "10.2.0.0/16" } })),
  );
  await attempt(async () => dataOf(await client.GET("/api/v1/hosts/{id}", { params: { path: { id: networkId } } })));
  await attempt(async () => dataOf(await client.GET("/api/v1/auth/keys")));
  steps.push(told.join("; "));
}

async function keysAndUsers(session: Json, keyId: string, networkId: string, steps: string[]): Promise<void> {
  const params = { path: { id: keyId } };
  const key = dataOf(await session.GET("/api/v1/auth/keys/{id}", { params }));
  const narrowed = dataOf(
    await session.PUT("/api/v1/auth/keys/{id}", { params, body: { ...key, name: "toured", expires_at: null } }),
  );
  const rotated = dataOf(await session.POST("/api/v1/auth/keys/{id}/rotate", { params }));
  dataOf(await session.DELETE("/api/v1/auth/keys/{id}", { params }));
  const user = dataOf(
    await session.POST("/api/v1/users", {
      body: { email: "ada@example.net", role: "Member", network_ids: [networkId], password: "a phrase of her own" },
    }),
  );
  const disabled = dataOf(
    await session.PUT("/api/v1/users/{id}", {
      params: { path: { id: user.id } },
      body: { ...user, is_enabled: false },
    }),
  );
  const gone = dataOf(await session.DELETE("/api/v1/users/{id}", { params: { path: { id: user.id } } }));
  steps.push(
    `key ${narrowed.name}, of ${rotated.key.length} characters; ${gone.email} ${disabled.is_enabled ? "enabled" : "disabled"} and gone at ${gone.valid_to === null ? "no time" : "an instant"}`,
  );
}
