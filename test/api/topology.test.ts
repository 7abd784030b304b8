// Network topology over real hosts and interfaces: at any timestamp, in every format, for callers with access.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { formatMap } from "../../src/reports/topology/formats.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { PRESENT } from "../support/store/moments.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, owner } = appliance;
const { inTransaction, newHost, newIfEntry, newNetwork, newStranger } = appliance;
const { newSubnet, newUser, newViewer, prune, tick } = appliance;
let networkId: string;
let core: JsonRecord;
let access: JsonRecord;

beforeEach(async () => {
  networkId = first.networkId;
  await newSubnet({ cidr: "192.0.2.0/24" });
  core = await newHost({
    name: "core",
    sys_name: "core.example.net",
    manufacturer: "Cisco",
    model: "C9500",
    ip_addresses: [{ ip_address: "192.0.2.9" }, { ip_address: "192.0.2.1" }],
  });
  access = await newHost({ name: "access", sys_name: "access", ip_addresses: [{ ip_address: "192.0.2.2" }] });
});

/** LLDP fields of an entry whose neighbor is the given port of a host. */
function lldp(host: JsonRecord, portName: string, fields: JsonRecord = {}): JsonRecord {
  return {
    lldp_sys_name: host.sys_name ?? host.name,
    lldp_port_id: { subtype: "InterfaceName", value: portName },
    ...fields,
  };
}

function newPort(host: JsonRecord, name: string, fields: JsonRecord = {}): Promise<JsonRecord> {
  return newIfEntry(host.id, { if_name: name, oper_status: "Up", if_type: 6, ...fields });
}

/** Writes fields of an interface entry a second later. @returns the timestamp */
async function changePort(port: JsonRecord, fields: JsonRecord): Promise<string> {
  tick();
  return (
    await expectOk(owner.put(`if-entries/${port.id}`, { if_index: port.if_index, if_descr: port.if_descr, ...fields }))
  ).updated_at;
}

function request(query = "", caller: Client = owner): Promise<ApiResponse> {
  return caller.get(`topology?network_id=${networkId}${query}`);
}

async function topology(query = "", caller: Client = owner): Promise<JsonRecord> {
  return expectOk(request(query, caller));
}

/** Links in short form: `access Gi0/24 -- core Gi1/0/7`. */
function summaries({ nodes, links }: JsonRecord): string[] {
  const names = new Map(nodes.map((node: JsonRecord) => [node.id, node.name]));
  const end = (linkEnd: JsonRecord) =>
    `${names.get(linkEnd.node_id)} ${linkEnd.if_entry === null ? `(${linkEnd.port})` : linkEnd.if_entry.name}`;
  return links.map(
    ({ ends, certainty }: JsonRecord) =>
      `${end(ends[0])} ${certainty === "Interfaces" ? "--" : `-${certainty}-`} ${end(ends[1])}`,
  );
}

describe("GET /api/v1/topology", () => {
  test("shows a cable as one link, with both ports and the reports of both ends", async () => {
    const down = await newPort(core, "Te1/1", {
      speed_bps: 10_000_000_000,
      ...lldp(access, "Gi0/24", { lldp_mgmt_addr: "192.0.2.2" }),
    });
    const up = await newPort(access, "Gi0/24", {
      speed_bps: 1_000_000_000,
      oper_status: "Dormant",
      ...lldp(core, "Te1/1", {
        lldp_mgmt_addr: "192.0.2.1",
        lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
      }),
    });
    await newHost({ name: "lonely" });
    expect(await topology()).toEqual({
      network_id: networkId,
      nodes: [
        {
          id: access.id,
          kind: "Known",
          name: "access",
          sys_name: "access",
          chassis_id: null,
          manufacturer: null,
          model: null,
          management_address: "192.0.2.2",
          position: { x: 320, y: 120, placed: "layout" },
        },
        {
          id: core.id,
          kind: "Known",
          name: "core",
          sys_name: "core.example.net",
          chassis_id: null,
          manufacturer: "Cisco",
          model: "C9500",
          management_address: "192.0.2.1",
          position: { x: 320, y: 0, placed: "layout" },
        },
      ],
      links: [
        {
          id: [down.id, up.id].sort().join("--"),
          protocol: "Lldp",
          certainty: "Interfaces",
          is_shared: false,
          members: [],
          ends: [
            {
              node_id: access.id,
              if_entry: { id: up.id, name: "Gi0/24", if_index: up.if_index },
              port: "Gi0/24",
              speed_bps: 1_000_000_000,
              oper_status: "Dormant",
            },
            {
              node_id: core.id,
              if_entry: { id: down.id, name: "Te1/1", if_index: down.if_index },
              port: "Te1/1",
              speed_bps: 10_000_000_000,
              oper_status: "Up",
            },
          ],
          speed_bps: 1_000_000_000,
          oper_status: "Dormant",
          group: `${access.id}--${core.id}`,
          parallel: 1,
          evidence: [
            {
              node_id: core.id,
              if_entry_id: down.id,
              protocol: "Lldp",
              sys_name: "access",
              port_id: { subtype: "InterfaceName", value: "Gi0/24" },
              mgmt_addr: "192.0.2.2",
            },
            {
              node_id: access.id,
              if_entry_id: up.id,
              protocol: "Lldp",
              sys_name: "core.example.net",
              port_id: { subtype: "InterfaceName", value: "Te1/1" },
              chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
              mgmt_addr: "192.0.2.1",
            },
          ],
        },
      ],
    });
    expect((await topology("&include_isolated=true")).nodes.map((node: JsonRecord) => node.name)).toEqual([
      "access",
      "core",
      "lonely",
    ]);
    expect((await topology("&include_isolated=false")).nodes).toHaveLength(2);
  });

  test("is as of one timestamp: before a cable is moved, at that timestamp, and after", async () => {
    const [one, two] = [await newPort(core, "Te1/1"), await newPort(core, "Te1/2")];
    const up = await newPort(access, "Gi0/24");
    const plugged = await changePort(up, lldp(core, "Te1/1"));
    const unplugged = await changePort(up, { lldp_sys_name: null, lldp_port_id: null });
    const moved = await changePort(up, { ...lldp(core, "Te1/2"), neighbor: { type: "IfEntry", id: two.id } });
    clock.advance(60_000);
    const before = (instant: string) => formatInstant(Date.parse(instant) - 1);
    const at = async (instant: string) => summaries(await topology(`&at=${instant}`));
    for (let k = 0; k < 2; k += 1) {
      expect(await at("1999-12-31T23:59:59Z")).toEqual([]);
      expect(await at(before(plugged))).toEqual([]);
      expect(await at(plugged)).toEqual(["access Gi0/24 -- core Te1/1"]);
      expect(await at(before(unplugged))).toEqual(["access Gi0/24 -- core Te1/1"]);
      expect(await at(unplugged)).toEqual([]);
      expect(await at(moved)).toEqual(["access Gi0/24 -- core Te1/2"]);
      // Later changes do not affect it.
      await expectOk(
        owner
          .delete(`hosts/${core.id}?cascade=true`)
          .then((response) => (k === 0 ? response : { ...response, status: 200 })),
      );
      clock.advance(60_000);
    }
    expect(summaries(await topology())).toEqual(["access Gi0/24 -Announced- core.example.net (Te1/2)"]);
    const response = await request(`&at=${plugged}`);
    expect(response.body.meta.at).toBe(plugged);
    expect(response.data.links[0].ends[1].if_entry.id).toBe(one.id);
  });

  test("prefers a manual neighbor over announcements, and otherwise resolves them", async () => {
    const [first, second] = [await newPort(core, "Te1/1"), await newPort(core, "Te1/2")];
    await newPort(access, "Gi0/1", { neighbor: { type: "IfEntry", id: first.id } });
    const withNeighbor = await newPort(access, "Gi0/2", {
      ...lldp(core, "Te1/9"),
      neighbor: { type: "IfEntry", id: second.id },
    });
    await newPort(access, "Gi0/3", { neighbor: { type: "Host", id: core.id } });
    const result = await topology();
    expect(summaries(result)).toEqual([
      "access Gi0/1 -- core Te1/1",
      "access Gi0/2 -- core Te1/2",
      "access Gi0/3 -Hosts- core (null)",
    ]);
    expect(result.links.map(({ protocol, parallel }: JsonRecord) => [protocol, parallel])).toEqual([
      ["Entered", 3],
      ["Lldp", 3],
      ["Entered", 3],
    ]);
    await changePort(withNeighbor, { neighbor: null });
    expect(summaries(await topology())[1]).toBe("access Gi0/2 -Hosts- core (Te1/9)");
  });

  test("shows parallel cables separately, in one group", async () => {
    for (const n of [2, 1]) {
      await newPort(core, `Te1/${n}`, lldp(access, `Gi0/${n}`));
      await newPort(access, `Gi0/${n}`, lldp(core, `Te1/${n}`));
    }
    const { links } = await topology();
    expect(links.map(({ parallel, ends }: JsonRecord) => [parallel, ends[0].port, ends[1].port])).toEqual([
      [2, "Gi0/2", "Te1/2"],
      [2, "Gi0/1", "Te1/1"],
    ]);
    expect(new Set(links.map(({ group }: JsonRecord) => group)).size).toBe(1);
  });

  test("merges two halves of a cable if no interface is named and the match is unambiguous", async () => {
    const unnamed = { lldp_port_id: { subtype: "AgentCircuitId", value: "?" } };
    await newPort(core, "Te1/1", lldp(access, "", unnamed));
    await newPort(access, "Gi0/24", lldp(core, "", unnamed));
    expect(summaries(await topology())).toEqual(["access Gi0/24 -Hosts- core Te1/1"]);
    await newPort(access, "Gi0/23", lldp(core, "", unnamed));
    expect(summaries(await topology())).toEqual([
      "access (?) -Hosts- core Te1/1",
      "access Gi0/24 -Hosts- core (?)",
      "access Gi0/23 -Hosts- core (?)",
    ]);
  });

  test("has one node per announced device without a host, stable at every timestamp", async () => {
    const phone = {
      lldp_chassis_id: { subtype: "NetworkAddress", value: "192.0.2.77" },
      lldp_port_id: { subtype: "MacAddress", value: "00:04:f2:00:00:01" },
      lldp_sys_name: "Phone 7",
    };
    await newPort(access, "Gi0/1", phone);
    await newPort(access, "Gi0/2", {
      cdp_device_id: "ap-3",
      cdp_port_id: "Gi0",
      cdp_platform: "cisco AIR-AP",
      cdp_address: "192.0.2.78",
    });
    const at = await changePort(await newPort(core, "Te1/1"), {
      cdp_device_id: "ap-3",
      cdp_port_id: "Gi1",
      cdp_platform: "cisco AIR-AP",
      cdp_address: "192.0.2.78",
    });
    const result = await topology();
    expect(summaries(result)).toEqual([
      "access Gi0/2 -Announced- ap-3 (Gi0)",
      "access Gi0/1 -Announced- Phone 7 (00:04:f2:00:00:01)",
      "ap-3 (Gi1) -Announced- core Te1/1",
    ]);
    const [ap, unknown] = [
      result.nodes.find((node: JsonRecord) => node.name === "ap-3"),
      result.nodes.find((node: JsonRecord) => node.name === "Phone 7"),
    ];
    expect(ap).toEqual({
      id: expect.stringMatching(/^unknown-[0-9a-f]{16}$/),
      kind: "Unknown",
      name: "ap-3",
      sys_name: null,
      chassis_id: null,
      manufacturer: null,
      model: "cisco AIR-AP",
      management_address: "192.0.2.78",
      position: { x: expect.any(Number), y: expect.any(Number), placed: "layout" },
    });
    expect(unknown).toMatchObject({ kind: "Unknown", sys_name: "Phone 7", chassis_id: "192.0.2.77" });
    clock.advance(60_000);
    await newHost({ name: "ap-3", sys_name: "ap-3" });
    expect((await topology(`&at=${at}`)).nodes).toEqual(result.nodes);
    expect(summaries(await topology())).toContain("access Gi0/2 -Hosts- ap-3 (Gi0)");
  });

  test("shows every device of a hub, and flooded announcements only if received nowhere else", async () => {
    const printer = await newHost({ name: "printer", sys_name: "printer" });
    await newPort(printer, "eth0");
    const hub = await newPort(access, "Gi0/7", { ...lldp(core, "Te1/1"), cdp_device_id: "x", cdp_port_id: "eth0" });
    await newPort(core, "Te1/1", lldp(access, "Gi0/7"));
    inTransaction((tx) =>
      tx.update(ifEntryKind, hub.id, {
        more_neighbors: [
          { protocol: "Lldp", sys_name: "printer", port_id: { subtype: "InterfaceName", value: "eth0" } },
        ],
      }),
    );
    const result = await topology();
    expect(summaries(result)).toEqual([
      "access Gi0/7 -- core Te1/1",
      "access Gi0/7 -- printer eth0",
      "access Gi0/7 -Beyond- x (eth0)",
    ]);
    expect(result.links.map(({ is_shared }: JsonRecord) => is_shared)).toEqual([true, true, true]);
    await newPort(core, "Te1/2", { cdp_device_id: "x", cdp_port_id: "eth0" });
    expect(summaries(await topology())).toEqual([
      "access Gi0/7 -- core Te1/1",
      "access Gi0/7 -- printer eth0",
      "core Te1/2 -Announced- x (eth0)",
    ]);
  });

  test("follows a re-created far end when the record that refers to it is restored", async () => {
    const printer = await newHost({ name: "printer", sys_name: "printer" });
    const card = await newPort(printer, "eth0", { if_index: 1 });
    const hub = await newPort(access, "Gi0/7", { ...lldp(core, "Te1/1") });
    inTransaction((tx) =>
      tx.update(ifEntryKind, hub.id, {
        more_neighbors: [{ protocol: "Lldp", sys_name: "printer", neighbor: { type: "IfEntry", id: card.id } }],
      }),
    );
    tick();
    const instant = clock.text();
    tick();
    await expectOk(owner.delete(`if-entries/${card.id}`));
    expect((await expectOk(owner.get(`if-entries/${hub.id}`))).more_neighbors).toEqual([
      { protocol: "Lldp", sys_name: "printer" },
    ]);
    const recreated = await newPort(printer, "eth0", { if_index: 1 });
    await expectOk(owner.post(`if-entries/${hub.id}/restore`, { at: instant }));
    expect((await expectOk(owner.get(`if-entries/${hub.id}`))).more_neighbors).toEqual([
      { protocol: "Lldp", sys_name: "printer", neighbor: { type: "IfEntry", id: recreated.id } },
    ]);
    expect(summaries(await topology())).toContain("access Gi0/7 -- printer eth0");
  });

  test("marks stale data", async () => {
    const port = await newPort(access, "Gi0/1", { neighbor: { type: "Host", id: core.id } });
    const since = clock.text();
    inTransaction((tx) => {
      tx.update(ifEntryKind, port.id, { stale_since: since });
      tx.update(hostKind, access.id, { stale_since: since });
    });
    const { nodes, links } = await topology();
    expect(nodes.map(({ stale_since }: JsonRecord) => stale_since)).toEqual([since, undefined]);
    expect(links[0].ends.map(({ stale_since }: JsonRecord) => stale_since)).toEqual([since, undefined]);
  });

  test.each([
    ["", "/network_id"],
    ["network_id=first", "/network_id"],
    ["network_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002&format=svg", "/format"],
    ["network_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002&at=yesterday", "/at"],
    ["network_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002&include_isolated=1", "/include_isolated"],
    ["network_id=01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002&depth=1", "/depth"],
  ])("refuses %p, naming %s", async (query, path) => {
    const response = await owner.get(`topology?${query}`);
    expect([response.status, response.body.code, response.body.params.issues[0].path]).toEqual([
      400,
      "validation_failed",
      path,
    ]);
  });

  test("reports thinned history, in meta or in headers", async () => {
    await newPort(access, "Gi0/24", lldp(core, "Te1/1"));
    clock.advance(DAY_MS);
    await newHost();
    clock.advance(DAY_MS);
    prune(Date.UTC(2026, 10, 23), "daily");
    clock.advance(DAY_MS);
    const at = "&at=2026-11-22T06:00:00Z";
    const json = await request(at);
    expect(json.body.meta.resolution).toBe("daily");
    for (const format of ["mermaid", "graphml"]) {
      const { headers } = await request(`${at}&format=${format}`);
      expect([headers.get("x-resolution"), headers.get("x-resolved-at")]).toEqual([
        json.body.meta.resolution,
        json.body.meta.resolved_at,
      ]);
    }
  });
});

describe("the topology around a host", () => {
  test("refuses parameters that do not apply, and a query without a selection", async () => {
    for (const [query, path] of [
      ["", "/network_id"],
      ["hops=2", "/network_id,/hops"],
      [`network_id=${networkId}&hops=2`, "/hops"],
      [`host_id=${core.id}&include_isolated=true`, "/include_isolated"],
      [`host_id=${core.id}&hops=0`, "/hops"],
      [`host_id=${core.id}&hops=11`, "/hops"],
    ] as const) {
      const { status, body } = await owner.get(`topology?${query}`);
      expect([status, body.params.issues.map((issue: JsonRecord) => issue.path).join()], query).toEqual([400, path]);
    }
  });

  test("contains only the host if it has no cables, with its stations in every format", async () => {
    expect(await expectOk(owner.get(`topology?host_id=${core.id}`))).toMatchObject({
      network_id: networkId,
      nodes: [{ id: core.id }],
      links: [],
    });
    await newPort(core, "Te1/1", lldp({ name: "stranger" }, "Gi1"));
    await newPort(access, "Gi0/24", lldp({ name: "elsewhere" }, "Gi2"));
    expect(summaries(await expectOk(owner.get(`topology?host_id=${core.id}`)))).toEqual([
      "core Te1/1 -Announced- stranger (Gi1)",
    ]);
    for (const format of ["mermaid", "graphml"]) {
      const { text } = await owner.get(`topology?host_id=${core.id}&format=${format}`);
      expect([text.includes("stranger"), text.includes("elsewhere")]).toEqual([true, false]);
    }
  });
});

describe("records out of reach", () => {
  test("are invisible: the network, its hosts, and neighbors in another network", async () => {
    const far = await newNetwork();
    const stranger = await newHost({ network_id: far.id, name: "stranger", sys_name: "stranger" });
    const port = await newPort(stranger, "Gi1", {
      lldp_sys_name: "elsewhere",
      lldp_port_id: { subtype: "InterfaceName", value: "Gi2" },
    });
    await newPort(access, "Gi0/24", lldp(stranger, "Gi1"));
    const { client: foreigner, ...second } = await newStranger();
    const viewer = (await newViewer()).client;
    const noNetworks = (await newUser({ role: "Member" })).client;
    expect(summaries(await topology("", viewer))).toEqual(["access Gi0/24 -Announced- stranger (Gi1)"]);
    const empty = (id: string) => ({ network_id: id, nodes: [], links: [] });
    for (const [client, id] of [
      [viewer, far.id],
      [noNetworks, networkId],
      [foreigner, networkId],
      [foreigner, far.id],
      [owner, second.networkId],
      [owner, "01936f2e-0d5c-7d3a-9a39-00000000dead"],
      [owner, port.id],
    ] as const) {
      for (const query of ["", "&include_isolated=true", "&at=2030-01-01T00:00:00Z"])
        expect(await expectOk(client.get(`topology?network_id=${id}${query}`))).toEqual(empty(id));
    }
    // A neighbor that has moved to another network is not shown.
    inTransaction((tx) => tx.update(ifEntryKind, port.id, { neighbor: { type: "Host", id: access.id } }));
    expect(summaries(await expectOk(owner.get(`topology?network_id=${far.id}`)))).toEqual([
      "elsewhere (Gi2) -Announced- stranger Gi1",
    ]);
  });
});

/** Names that are markup or syntax unless escaped. */
const HOSTILE = [
  `"] --> evil["`,
  `%%{init: {"securityLevel": "loose"}}%%`,
  "`**bold**`",
  "click n href javascript:alert(1)",
  "</data></node><node id='evil'/>",
  `<script>alert("x")</script> & ]]> <!--`,
  "line\nbreak\tand \u202Ebidi\u0007",
  "end; style n fill:#f00; subgraph x",
  "#quot;#35;&amp;&#x41;",
  "Überträger 東京 \u{1F600}",
];

/**
 * Nodes and edges of a GraphML document.
 * @throws Error if it is not well-formed, or an attribute is undeclared
 */
function readGraphml(text: string): { nodes: JsonRecord[]; edges: JsonRecord[] } {
  const unescaped = (value: string) => {
    if (/[<]|&(?!(amp|lt|gt|quot|apos);)/.test(value)) throw new Error(`not escaped: ${value}`);
    return value
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&apos;", "'")
      .replaceAll("&amp;", "&");
  };
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text))
    throw new Error("characters that XML does not have");
  const open: Array<{ name: string; attributes: JsonRecord; text: string }> = [];
  const keys = new Map<string, JsonRecord>();
  const found = { nodes: [] as JsonRecord[], edges: [] as JsonRecord[] };
  let rest = text.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, "");
  while (rest.trim() !== "") {
    const [match, before, closing, name, attributes, empty] =
      /^([^<]*)<(\/?)([a-z]+)((?: [a-zA-Z.:]+="[^"<]*")*)(\/?)>/.exec(rest) ?? [];
    if (match === undefined || name === undefined) throw new Error(`not well-formed at ${rest.slice(0, 80)}`);
    const inner = open.at(-1);
    if (inner !== undefined) inner.text += unescaped(before ?? "");
    rest = rest.slice(match.length);
    const element = {
      name,
      attributes: Object.fromEntries(
        [...(attributes ?? "").matchAll(/ ([a-zA-Z.:]+)="([^"]*)"/g)].map(([, key, value]) => [
          key,
          unescaped(value as string),
        ]),
      ),
      text: "",
    };
    if (closing !== "/") {
      if (name === "key") keys.set(element.attributes.id, element.attributes);
      if (name === "node") found.nodes.push({ id: element.attributes.id });
      if (name === "edge") found.edges.push({ ...element.attributes });
      if (empty !== "/") open.push(element);
      continue;
    }
    const closed = open.pop();
    if (closed?.name !== name) throw new Error(`</${name}> closes ${closed?.name}`);
    const [parent] = open.slice(-1);
    if (name !== "data" || parent === undefined || parent.name === "graph") continue;
    const key = keys.get(closed.attributes.key);
    if (key === undefined || key.for !== parent.name) throw new Error(`undeclared: ${closed.attributes.key}`);
    ((parent.name === "node" ? found.nodes : found.edges).at(-1) as JsonRecord)[key["attr.name"]] = closed.text;
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  return found;
}

/** A Mermaid label as displayed. */
function displayedLabel(label: string): string {
  return label.replaceAll(/#(\d+);/g, (_match, code) => String.fromCodePoint(Number(code)));
}

describe("topology formats", () => {
  beforeEach(async () => {
    for (const [index, name] of HOSTILE.entries())
      await newPort(access, `Gi0/${index}`, {
        speed_bps: 100_000_000,
        lldp_sys_name: name,
        lldp_port_id: { subtype: "LocallyAssigned", value: name },
      });
    await newPort(core, "Te1/1", { speed_bps: 2_500_000_000 });
    await newPort(access, "up", { speed_bps: 10_000_000_000, ...lldp(core, "Te1/1") });
  });

  test("Mermaid has a line for each node and link, and device text cannot break out", async () => {
    const response = await request("&format=mermaid");
    expect(response.headers.get("content-type")).toBe("text/vnd.mermaid; charset=utf-8");
    const lines = response.text.trimEnd().split("\n");
    const { nodes, links } = await topology();
    expect(lines[0]).toBe("graph LR");
    expect(lines.at(-1)).toBe("  classDef unknown stroke-dasharray: 5 5");
    expect(lines).toHaveLength(nodes.length + links.length + 2);
    expect(response.text).not.toMatch(/%%|`|<|>|javascript:/);
    const labels = new Map<string, string>();
    for (const line of lines.slice(1, 1 + nodes.length)) {
      const [, id, label] =
        /^ {2}(n_[0-9a-z]+)(?:\["|\(\[")([\p{L}\p{M}\p{N} .,_/()+#;-]*)(?:"\]|"\]\):::unknown)$/u.exec(line) ?? [];
      labels.set(id as string, displayedLabel(label as string));
    }
    expect([...labels.values()]).toEqual(
      nodes.map((node: JsonRecord) => node.name.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")),
    );
    for (const line of lines.slice(1 + nodes.length, -1)) {
      const [, one, other] =
        /^ {2}(n_[0-9a-z]+) (?:---|-\.-)\|"[\p{L}\p{M}\p{N} .,_/()+#;-]*"\| (n_[0-9a-z]+)$/u.exec(line) ?? [];
      expect([labels.has(one as string), labels.has(other as string)], line).toEqual([true, true]);
    }
    expect(lines.filter((line) => line.includes("---"))).toEqual([
      `  n_${access.id.replaceAll("-", "")} ---|"up - Te1/1, 2.5 Gbit/s"| n_${core.id.replaceAll("-", "")}`,
    ]);
  });

  test("GraphML is well-formed, declares its attributes, and has the same nodes and links", async () => {
    const response = await request("&format=graphml");
    expect(response.headers.get("content-type")).toBe("application/graphml+xml");
    const { nodes, links } = await topology();
    const graph = readGraphml(response.text);
    const clean = (text: string) => text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]/gu, " ");
    expect(graph.nodes.map(({ id, name, kind }) => [id, name, kind])).toEqual(
      nodes.map((node: JsonRecord) => [node.id, clean(node.name), node.kind]),
    );
    expect(
      graph.edges.map((edge) => [edge.id, edge.source, edge.target, edge.source_port, edge.speed_bps, edge.parallel]),
    ).toEqual(
      links.map(({ id, ends, speed_bps, parallel }: JsonRecord) => [
        id,
        ends[0].node_id,
        ends[1].node_id,
        clean(ends[0].port),
        String(speed_bps),
        String(parallel),
      ]),
    );
    expect(graph.nodes.find(({ id }) => id === core.id)).toMatchObject({
      manufacturer: "Cisco",
      model: "C9500",
      sys_name: "core.example.net",
    });
  });

  test("omit characters their languages cannot represent", () => {
    const node = {
      id: "n",
      kind: "Known" as const,
      name: "a\u0000b\uFFFE\uD800",
      sys_name: null,
      chassis_id: null,
      manufacturer: null,
      model: null,
      management_address: null,
    };
    const text = (format: "mermaid" | "graphml") =>
      [...formatMap({ nodes: [node], links: [] }, format, { networkId: "n", moment: PRESENT })].join("");
    expect(readGraphml(text("graphml")).nodes).toEqual([{ id: "n", name: "a b\uFFFD", kind: "Known" }]);
    expect(text("mermaid").split("\n")[1]).toBe('  n_n["a b#65534;#65533;"]');
  });

  test("are as of the requested timestamp, and empty without data", async () => {
    const at = clock.text();
    clock.advance(60_000);
    for (const format of ["json", "mermaid", "graphml"]) {
      const before = (await request(`&format=${format}&at=${at}`)).text;
      await expectOk(
        owner.put(
          `hosts/${core.id}`,
          hostBody(await expectOk(owner.get(`hosts/${core.id}`)), { name: `renamed ${format}` }),
        ),
      );
      clock.advance(60_000);
      expect((await request(`&format=${format}&at=${at}`)).text).toBe(before);
      expect((await request(`&format=${format}`)).text).toContain(`renamed ${format}`);
    }
    expect((await request("&format=mermaid&at=1999-12-31T23:59:59Z")).text).toBe(
      "graph LR\n  %% as of 1999-12-31T23:59:59.000Z\n  classDef unknown stroke-dasharray: 5 5\n",
    );
    expect(readGraphml((await request("&format=graphml&at=1999-12-31T23:59:59Z")).text)).toEqual({
      nodes: [],
      edges: [],
    });
  });
});
