// API client as a user would write it: openapi-fetch over the types that openapi-typescript generates from the OpenAPI
// document. Type-checked against them and run by test/api/generated-client.test.ts; it has no casts, so the document
// itself must be right.

import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.ts";

type Host = components["schemas"]["Host"];
type Change = components["schemas"]["Change"];

interface TourOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly email: string;
  readonly password: string;
}

/** Results of the tour, as text for the test to compare. */
interface Tour {
  readonly name: string;
  readonly steps: string[];
}

class ApiError extends Error {
  readonly code: components["schemas"]["Error"]["code"];
  readonly issues: readonly string[];

  constructor(error: components["schemas"]["Error"]) {
    super(error.error);
    this.code = error.code;
    this.issues = (error.params.issues ?? []).map((issue) => `${issue.path} ${issue.message}`);
  }
}

/** Data of a response. @throws ApiError if it is an error */
function dataOf<T>(response: { data?: { success: true; data: T }; error?: components["schemas"]["Error"] }): T {
  if (response.error !== undefined) throw new ApiError(response.error);
  if (response.data === undefined) throw new Error("a response without a body");
  return response.data.data;
}

/** Text of a non-JSON response, for an operation that can also return JSON. */
function textOf(response: { data?: unknown; error?: components["schemas"]["Error"] }): string {
  if (response.error !== undefined) throw new ApiError(response.error);
  return typeof response.data === "string" ? response.data : "";
}

/** Parameters of an operation on one record. */
const idParams = ({ id }: { id: string }) => ({ params: { path: { id } } });

type Json = Client<paths, "application/json">;

const baseUrl = "http://localhost";
/** A client for operations that return text, with an API key. */
const textClient = ({ fetch }: TourOptions, key: string): Client<paths> =>
  createClient<paths>({ baseUrl, fetch, headers: { authorization: `Bearer ${key}` } });

function clientWith({ fetch }: TourOptions, headers: Record<string, string>): Json {
  const client = createClient<paths, "application/json">({ baseUrl, fetch, headers });
  const requestIds: Middleware = {
    onRequest: ({ request }) => {
      request.headers.set("x-request-id", "tour");
      return request;
    },
  };
  client.use(requestIds);
  return client;
}

export async function tour(options: TourOptions): Promise<Tour> {
  const steps: string[] = [];
  const version = dataOf(await clientWith(options, {}).GET("/api/version"));
  steps.push(`version ${version.api_version}, read only: ${version.read_only}`);

  const session = await signIn(options);
  const me = dataOf(await session.GET("/api/auth/me"));
  steps.push(`${me.effective_role} by ${me.authenticated_by}`);
  const created = dataOf(
    await session.POST("/api/v1/auth/keys", {
      body: { name: "tour", organization_id: me.organization_id, user_id: me.id, tags: [], permissions: "Owner" },
    }),
  );
  const keyId = created.api_key.id;
  const client = clientWith(options, { authorization: `Bearer ${created.key}` });

  const networkId = await writeNetworks(client, steps);
  const host = await writeHost(client, networkId, steps);
  await writeChildren(client, host, steps);
  await writeCredential(client, me.organization_id, networkId, host, steps);
  await readLists(client, networkId, host, steps);
  await readPast(client, host, steps);
  await readChanges(client, networkId, steps);
  await locateHost(client, host, steps);
  await readTopology(options, client, created.key, networkId, steps);
  await restoreHost(client, host, steps);
  await writeBulk(client, networkId, steps);
  await writeSchedule(client, networkId, steps);
  await runScan(options, client, created.key, networkId, steps);
  await exportTables(options, created.key, steps);
  await collectRefusals(client, networkId, steps);
  await writeKeysAndUsers(session, keyId, networkId, steps);
  return { name: me.name, steps };
}

async function signIn(options: TourOptions): Promise<Json> {
  const { data, response } = await clientWith(options, {}).POST("/api/auth/login", {
    body: { email: options.email, password: options.password },
  });
  if (data === undefined) throw new Error("the sign-in returned no body");
  const cookie = response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");
  return clientWith(options, { cookie });
}

async function writeNetworks(client: Json, steps: string[]): Promise<string> {
  const tag = dataOf(await client.POST("/api/v1/tags", { body: { name: "core", color: "Green" } }));
  const recolored = dataOf(
    await client.PUT("/api/v1/tags/{id}", { ...idParams(tag), body: { ...tag, color: "Blue" } }),
  );
  const network = dataOf(
    await client.POST("/api/v1/networks", { body: { name: "Campus", tags: [tag.id], stale_after_hours: 24 } }),
  );
  const renaming = { ...network, name: "Campus North", stale_after_hours: null };
  const renamed = dataOf(await client.PUT("/api/v1/networks/{id}", { ...idParams(network), body: renaming }));
  const vlan = dataOf(await client.POST("/api/v1/vlans", { body: { network_id: network.id, number: 120 } }));
  dataOf(await client.PUT("/api/v1/vlans/{id}", { ...idParams(vlan), body: { ...vlan, name: "Servers" } }));
  const subnet = dataOf(
    await client.POST("/api/v1/subnets", {
      body: { network_id: network.id, cidr: "10.2.0.0/16", subnet_type: "Lan", vlan_id: vlan.id },
    }),
  );
  const described = dataOf(
    await client.PUT("/api/v1/subnets/{id}", { ...idParams(subnet), body: { ...subnet, description: "of the tour" } }),
  );
  steps.push(`${recolored.color} tag, ${renamed.name}, ${described.cidr} of VLAN ${vlan.number}`);
  return network.id;
}

async function writeHost(client: Json, networkId: string, steps: string[]): Promise<Host> {
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
  if (port === undefined || service === undefined) throw new Error("the host lacks its initial port or service");
  dataOf(await client.POST("/api/v1/bindings", { body: { type: "Port", service_id: service.id, port_id: port.id } }));
  // Read, edited and sent back.
  const { data, response } = await client.GET("/api/v1/hosts/{id}", idParams(created));
  if (data === undefined) throw new Error("the host is gone");
  const etag = response.headers.get("etag") ?? "";
  const putResult = await client.PUT("/api/v1/hosts/{id}", {
    params: { path: { id: created.id }, header: { "If-Match": etag } },
    body: { ...data.data, description: "the web", expected_updated_at: data.data.updated_at },
  });
  const updated = dataOf(putResult);
  const unchanged = await client.GET("/api/v1/hosts/{id}", {
    params: { path: { id: created.id }, header: { "If-None-Match": putResult.response.headers.get("etag") ?? "" } },
  });
  const [binding] = updated.services.flatMap((service) => service.bindings);
  const target =
    binding === undefined
      ? "nothing"
      : binding.type === "Port"
        ? `port ${updated.ports.find((port) => port.id === binding.port_id)?.number}`
        : `address ${binding.ip_address_id}`;
  steps.push(
    `${updated.name}: ${updated.description}, ${updated.virtualization?.type}, bound to ${target}, then ${unchanged.response.status}`,
  );
  return updated;
}

async function writeChildren(client: Json, host: Host, steps: string[]): Promise<void> {
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
    await client.PUT("/api/v1/if-entries/{id}", { ...idParams(entry), body: { ...entry, if_alias: "desk" } }),
  );
  const address = dataOf(
    await client.POST("/api/v1/ip-addresses", { body: { host_id: device.id, ip_address: "10.2.0.2" } }),
  );
  const named = dataOf(
    await client.PUT("/api/v1/ip-addresses/{id}", { ...idParams(address), body: { ...address, name: "management" } }),
  );
  const port = dataOf(
    await client.POST("/api/v1/ports", { body: { host_id: device.id, number: 22, protocol: "Tcp" } }),
  );
  dataOf(
    await client.PUT("/api/v1/ports/{id}", { ...idParams(port), body: { ...port, number: 161, protocol: "Udp" } }),
  );
  const service = dataOf(
    await client.POST("/api/v1/services", { body: { host_id: device.id, name: "snmp", service_definition: "SNMP" } }),
  );
  dataOf(await client.PUT("/api/v1/services/{id}", { ...idParams(service), body: { ...service, name: "snmpd" } }));
  const binding = dataOf(
    await client.POST("/api/v1/bindings", {
      body: { type: "IpAddress", service_id: service.id, ip_address_id: address.id },
    }),
  );
  dataOf(await client.PUT("/api/v1/bindings/{id}", { ...idParams(binding), body: binding }));
  const speed = edited.speed_bps === undefined ? "of unknown speed" : `at ${edited.speed_bps} bit/s`;
  steps.push(
    `${edited.if_descr} ${speed} forwards to ${edited.fdb_macs?.length ?? 0} address, ${named.name} ${named.ip_address}, ${port.type}`,
  );
}

async function writeCredential(
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
  const updated = dataOf(
    await client.PUT("/api/v1/credentials/{id}", {
      ...idParams(created),
      body: { ...created, target_ips: ["192.0.2.1"] },
    }),
  );
  const type = updated.credential_type;
  const secret = type.type === "SnmpV3" ? type.auth_password : type.community;
  const secretText = secret === undefined ? "none" : secret.mode === "Inline" ? secret.value : secret.path;
  steps.push(`${type.type} with the secret ${secretText}, assigned to ${updated.host_assignments.length} host`);
}

async function readLists(client: Json, networkId: string, host: Host, steps: string[]): Promise<void> {
  const filter = { network_id: networkId, search: "10.2.", hidden: false, include_children: false };
  const { data } = await client.GET("/api/v1/hosts", {
    params: { query: { ...filter, order_by: "name", order_direction: "desc", limit: 10 } },
  });
  const names = data?.data.map((item) => `${item.name} with ${item.ports?.length ?? "omitted"} ports`).join(", ");
  const byId = dataOf(
    await client.GET("/api/v1/ip-addresses", {
      params: { query: { ids: host.ip_addresses.map((address) => address.id), host_id: host.id } },
    }),
  );
  const [tag] = dataOf(await client.GET("/api/v1/tags", { params: { query: { search: "core", group_by: "color" } } }));
  if (tag === undefined) throw new Error("no tag is found by its name");
  dataOf(
    await client.PUT("/api/v1/tags/assign", { body: { entity_type: "host", entity_id: host.id, tag_ids: [tag.id] } }),
  );
  const changed = dataOf(
    await client.POST("/api/v1/tags/assign/bulk-add", {
      body: { entity_type: "service", entity_ids: host.services.map((service) => service.id), tag_id: tag.id },
    }),
  );
  const tagged = dataOf(await client.GET("/api/v1/hosts", { params: { query: { tag_ids: [tag.id] } } }));
  steps.push(
    `${data?.meta.pagination.total_count} found: ${names}; ${byId.length} by id, ${changed.changed_ids.length} service and ${tagged.length} host tagged`,
  );
}

async function readPast(client: Json, host: Host, steps: string[]): Promise<void> {
  const params = { path: { id: host.id } };
  const { data: pastHost } = await client.GET("/api/v1/hosts/{id}", {
    params: { ...params, query: { at: host.created_at } },
  });
  const versions = dataOf(
    await client.GET("/api/v1/hosts/{id}/history", { params: { ...params, query: { include_children: false } } }),
  );
  const summaries = versions.map(
    ({ operation, changed_fields, transaction, record }) =>
      `${operation} ${changed_fields.join("+")} by ${transaction.actor.type} as ${record.name}`,
  );
  steps.push(
    `description at ${pastHost?.meta.at === host.created_at ? "its creation" : "another time"}: ${pastHost?.data.description ?? "none"}; ${summaries.length} versions, first ${summaries.at(-1)}`,
  );
  const diff = dataOf(
    await client.GET("/api/v1/diff", {
      params: { query: { from: "-1h", types: ["host", "ip_address"], host_id: host.id } },
    }),
  );
  const added = diff.added.map((item) => (item.entity_type === "ip_address" ? item.record.ip_address : item.name));
  const fields = diff.changed.flatMap((record) =>
    record.fields.map(({ field, transaction }) => `${field} in ${transaction?.sequence ?? "an unknown transaction"}`),
  );
  steps.push(
    `added ${added.join(", ")}; ${diff.removed.length} removed, ${fields.length} fields changed, ${diff.counts.host?.added ?? 0} host counted`,
  );
}

async function readChanges(client: Json, networkId: string, steps: string[]): Promise<void> {
  const labels: string[] = [];
  let [after, mark] = [0, ""];
  for (;;) {
    const { data, error } = await client.GET("/api/v1/changes", {
      params: { query: { after, mark, limit: 5, network_id: networkId } },
    });
    if (error !== undefined) throw new ApiError(error);
    labels.push(...data.data.map(label));
    ({ after, mark } = data.meta.feed);
    if (!data.meta.feed.has_more) break;
  }
  const transactions = dataOf(await client.GET("/api/v1/transactions", { params: { query: { limit: 1 } } }));
  const counts = Object.entries(transactions[0]?.changes ?? {}).map(([kind, count]) => `${kind} ${count.Updated ?? 0}`);
  const head = dataOf(await client.GET("/api/v1/ledger"));
  steps.push(
    `changes: ${[...new Set(labels)].slice(0, 6).join(", ")}; last ${transactions[0]?.command}: ${counts.join(", ")}; hash of ${head.hash?.length} digits`,
  );
}

/** Short text of a changed record, by its kind. */
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

async function locateHost(client: Json, host: Host, steps: string[]): Promise<void> {
  const found = dataOf(await client.GET("/api/v1/locate", { params: { query: { mac: "00-1B-21-AA-BB-CC" } } }));
  const [best] = found.candidates;
  const evidence = best?.evidence.map((item) => item.kind).includes("Neighbor") ? "its neighbor" : "its table";
  steps.push(
    `${best?.host?.id === host.id ? "the host" : "something"} is at ${best?.port?.name} of ${best?.switch?.name} (${best?.port?.oper_status}), according to ${evidence}`,
  );
  const { intervals } = dataOf(
    await client.GET("/api/v1/locate/timeline", { params: { query: { ip: "10.2.3.4", from: "-1d" } } }),
  );
  steps.push(`${intervals.length > 0 ? "located" : "not located"} until ${intervals.at(-1)?.to ?? "now"}`);
}

async function readTopology(
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
  const linkTexts = links.map(
    ({ ends, protocol, certainty, evidence }) =>
      `${ends.map((end) => end.if_entry?.name ?? end.port ?? "?").join(" to ")} by ${protocol} (${certainty}, ${evidence[0]?.chassis_id?.subtype ?? "no chassis"})`,
  );
  const asText = { params: { query: { ...query, format: "mermaid" } }, parseAs: "text" } as const;
  const diagram = textOf(await textClient(options, key).GET("/api/v1/topology", asText));
  steps.push(
    `${nodes.map((node) => `${node.kind} ${node.name}`).join(", ")}; ${linkTexts.join(", ")}; ${diagram.split("\n")[0]}`,
  );
}

async function restoreHost(client: Json, host: Host, steps: string[]): Promise<void> {
  const params = { path: { id: host.id } };
  const { data: changed } = await client.PUT("/api/v1/hosts/{id}", {
    params,
    body: { id: host.id, name: "mistake", hidden: true, tags: [], ports: [] },
  });
  if (changed === undefined) throw new Error("the host was not changed");
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
    .map((action) => `${action.action} ${action.entity_type}`)
    .filter((action) => !action.startsWith("Skip"));
  const current = dataOf(await client.GET("/api/v1/hosts/{id}", { params }));
  steps.push(
    `plan ${plan.applied ? "applied" : "previewed"}: ${[...new Set(planned)].join(", ")}; undone in ${reverted.applied ? "one transaction" : "none"}: ${current.name}`,
  );
  dataOf(await client.POST("/api/v1/hosts/{id}/restore", { params, body: { at: host.updated_at } }));
}

async function runScan(
  options: TourOptions,
  client: Json,
  key: string,
  networkId: string,
  steps: string[],
): Promise<void> {
  const requested = dataOf(
    await client.POST("/api/v1/discovery/scans", {
      body: { network_id: networkId, kind: "snmp", targets: ["10.2.3.4"], commit: false },
    }),
  );
  const { params } = idParams(requested);
  // A stream ends with the scan.
  const events = textOf(
    await textClient(options, key).GET("/api/v1/discovery/scans/{id}/events", { params, parseAs: "text" }),
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
    `${requested.status} ${requested.kind} scan ${ended.status} in the phase ${ended.progress?.phase}, ${ended.outcome?.hosts.devices ?? "no"} devices; ${found.map((finding) => `${finding.label}: ${finding.reason}`).join()}; ${listed.length} listed; last ${events.match(/event: \w+/g)?.at(-1)}; ${error?.code}`,
  );
}

async function writeBulk(client: Json, networkId: string, steps: string[]): Promise<void> {
  const written = dataOf(
    await client.POST("/api/v1/hosts/bulk", {
      body: [
        { network_id: networkId, name: "bulk-1", interfaces: [{ if_index: 1, if_descr: "eth0", oper_status: "Up" }] },
        { network_id: networkId, name: "bulk-2", ip_addresses: [{ ip_address: "10.2.9.9" }] },
      ],
    }),
  );
  const deleted = dataOf(await client.POST("/api/v1/hosts/bulk-delete", { body: written.map((host) => host.id) }));
  steps.push(
    `${written.map((host) => `${host.operation} ${host.name}`).join(", ")}; deleted ${deleted.map((host) => host.name).join(", ")}`,
  );
}

async function writeSchedule(client: Json, networkId: string, steps: string[]): Promise<void> {
  const nightly = dataOf(
    await client.POST("/api/v1/discovery/schedules", {
      body: { network_id: networkId, name: "Night", cron: "30 2 * * *", timezone: "europe/berlin", kind: "full" },
    }),
  );
  const pausing = { ...nightly, targets: ["10.2.0.0/16"], is_enabled: false };
  const paused = dataOf(await client.PUT("/api/v1/discovery/schedules/{id}", { ...idParams(nightly), body: pausing }));
  const ignored = dataOf(
    await client.GET("/api/v1/discovery/ignored", { params: { query: { network_id: networkId, entity: "host" } } }),
  );
  steps.push(
    `${nightly.name} in ${nightly.timezone} is ${nightly.next_run_at === null ? "not due" : "due"}; ${paused.targets?.join()} disabled, next run ${paused.next_run_at ?? "none"}; ${ignored.length} hosts ignored`,
  );
}

async function exportTables(options: TourOptions, key: string, steps: string[]): Promise<void> {
  const client = textClient(options, key);
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

async function collectRefusals(client: Json, networkId: string, steps: string[]): Promise<void> {
  const failures: string[] = [];
  const attempt = async (send: () => Promise<unknown>) => {
    try {
      await send();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures.push([error.code, ...error.issues].join(": "));
    }
  };
  const vlan = { network_id: networkId, number: 4095 };
  const subnet = { network_id: networkId, cidr: "10.2.0.0/16" };
  await attempt(async () => dataOf(await client.POST("/api/v1/vlans", { body: vlan })));
  await attempt(async () => dataOf(await client.POST("/api/v1/subnets", { body: subnet })));
  await attempt(async () => dataOf(await client.GET("/api/v1/hosts/{id}", idParams({ id: networkId }))));
  await attempt(async () => dataOf(await client.GET("/api/v1/auth/keys")));
  steps.push(failures.join("; "));
}

async function writeKeysAndUsers(session: Json, keyId: string, networkId: string, steps: string[]): Promise<void> {
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
    await session.PUT("/api/v1/users/{id}", { ...idParams(user), body: { ...user, is_enabled: false } }),
  );
  const deleted = dataOf(await session.DELETE("/api/v1/users/{id}", idParams(user)));
  steps.push(
    `key ${narrowed.name}, ${rotated.key.length} characters; ${deleted.email} ${disabled.is_enabled ? "enabled" : "disabled"}, ${deleted.valid_to === null ? "not deleted" : "deleted"}`,
  );
}
