// Network map export as JSON, Mermaid and GraphML. All device names are escaped.

import { ownValue } from "../../base/fields.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Moment } from "../../db/reading/list-query.ts";
import { metaAt } from "../../schemas/envelope.ts";
import type { MapLink, MapNode, NetworkMap } from "./map.ts";

export const TOPOLOGY_FORMATS = ["json", "mermaid", "graphml"] as const;
export type TopologyFormat = (typeof TOPOLOGY_FORMATS)[number];

export const TOPOLOGY_TYPES: Readonly<Record<TopologyFormat, string>> = {
  json: "application/json",
  mermaid: "text/vnd.mermaid; charset=utf-8",
  graphml: "application/graphml+xml",
};

interface Framing {
  /** Null if unknown. */
  readonly networkId: string | null;
  readonly moment: Moment;
}

/** Nodes or links per chunk of a response. */
const CHUNK_ITEMS = 200;

export function* formatMap(map: NetworkMap, format: TopologyFormat, framing: Framing): Generator<string> {
  yield* FORMATS[format](map, framing);
}

const FORMATS: Readonly<Record<TopologyFormat, (map: NetworkMap, framing: Framing) => Generator<string>>> = {
  json,
  mermaid,
  graphml,
};

function* json({ nodes, links }: NetworkMap, { networkId, moment }: Framing): Generator<string> {
  yield `{"success":true,"data":{"network_id":${JSON.stringify(networkId)},"nodes":[`;
  yield* inChunks(nodes, (node) => JSON.stringify(node), ",");
  yield '],"links":[';
  yield* inChunks(links, (link) => JSON.stringify(link), ",");
  yield `]},"meta":${metaAt(moment)}}\n`;
}

/**
 * `graph LR` (mermaid.js.org). Devices that are not hosts are rounded and dashed; links are dotted unless both interfaces
 * are known.
 */
function* mermaid({ nodes, links }: NetworkMap, { moment: { at } }: Framing): Generator<string> {
  yield `graph LR\n${at === null ? "" : `  %% as of ${formatInstant(at)}\n`}`;
  yield* inChunks(
    nodes,
    (node) =>
      `  ${mermaidId(node.id)}${node.kind === "Known" ? `["${mermaidText(node.name)}"]` : `(["${mermaidText(node.name)}"]):::unknown`}\n`,
    "",
  );
  yield* inChunks(links, mermaidLink, "");
  yield "  classDef unknown stroke-dasharray: 5 5\n";
}

function mermaidLink({ ends: [left, right], certainty, speed_bps: speed }: MapLink): string {
  const label = [
    [left.port, right.port].map((port) => port ?? "?").join(" - "),
    ...(speed === null ? [] : [speedText(speed)]),
  ].join(", ");
  return `  ${mermaidId(left.node_id)} ${certainty === "Interfaces" ? "---" : "-.-"}|"${mermaidText(label)}"| ${mermaidId(right.node_id)}\n`;
}

/** Letters, digits and underscores only; never a keyword. */
function mermaidId(nodeId: string): string {
  return `n_${nodeId.replaceAll(/[^0-9A-Za-z]/g, "")}`;
}

/**
 * Escapes everything except letters, digits and safe punctuation: a quotation mark ends a label, `%%{` starts a
 * directive anywhere.
 */
function mermaidText(text: string): string {
  const line = oneLine(text);
  return line.replaceAll(/[^\p{L}\p{M}\p{N} .,_/()+-]/gu, (character) => `#${character.codePointAt(0)};`);
}

interface GraphKey<Item> {
  readonly id: string;
  readonly name: string;
  readonly type: "string" | "long" | "int" | "boolean";
  readonly value: (item: Item) => string | number | boolean | null | undefined;
}

const NODE_KEYS: ReadonlyArray<GraphKey<MapNode>> = [
  { id: "n0", name: "name", type: "string", value: ({ name }) => name },
  { id: "n1", name: "kind", type: "string", value: ({ kind }) => kind },
  { id: "n2", name: "sys_name", type: "string", value: ({ sys_name }) => sys_name },
  { id: "n3", name: "chassis_id", type: "string", value: ({ chassis_id }) => chassis_id },
  { id: "n4", name: "manufacturer", type: "string", value: ({ manufacturer }) => manufacturer },
  { id: "n5", name: "model", type: "string", value: ({ model }) => model },
  { id: "n6", name: "management_address", type: "string", value: ({ management_address }) => management_address },
  { id: "n7", name: "stale_since", type: "string", value: ({ stale_since }) => stale_since },
];

const EDGE_KEYS: ReadonlyArray<GraphKey<MapLink>> = [
  { id: "e0", name: "protocol", type: "string", value: ({ protocol }) => protocol },
  { id: "e1", name: "certainty", type: "string", value: ({ certainty }) => certainty },
  { id: "e2", name: "source_port", type: "string", value: ({ ends }) => ends[0].port },
  { id: "e3", name: "target_port", type: "string", value: ({ ends }) => ends[1].port },
  { id: "e4", name: "speed_bps", type: "long", value: ({ speed_bps }) => speed_bps },
  { id: "e5", name: "oper_status", type: "string", value: ({ oper_status }) => oper_status },
  { id: "e6", name: "is_shared", type: "boolean", value: ({ is_shared }) => is_shared },
  { id: "e7", name: "group", type: "string", value: ({ group }) => group },
  { id: "e8", name: "parallel", type: "int", value: ({ parallel }) => parallel },
];

/** GraphML 1.0 (graphml.graphdrawing.org), undirected. */
function* graphml({ nodes, links }: NetworkMap, { networkId, moment: { at } }: Framing): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
${keys(NODE_KEYS, "node")}${keys(EDGE_KEYS, "edge")}  <key id="g0" for="graph" attr.name="at" attr.type="string"/>
  <graph id="${xmlText(networkId ?? "network")}" edgedefault="undirected">
${at === null ? "" : `    <data key="g0">${xmlText(formatInstant(at))}</data>\n`}`;
  yield* inChunks(nodes, (node) => `    <node id="${xmlText(node.id)}">${data(NODE_KEYS, node)}</node>\n`, "");
  yield* inChunks(
    links,
    (link) =>
      `    <edge id="${xmlText(link.id)}" source="${xmlText(link.ends[0].node_id)}" target="${xmlText(link.ends[1].node_id)}">${data(EDGE_KEYS, link)}</edge>\n`,
    "",
  );
  yield "  </graph>\n</graphml>\n";
}

function keys<Item>(all: ReadonlyArray<GraphKey<Item>>, domain: "node" | "edge"): string {
  return all
    .map(({ id, name, type }) => `  <key id="${id}" for="${domain}" attr.name="${name}" attr.type="${type}"/>\n`)
    .join("");
}

function data<Item>(all: ReadonlyArray<GraphKey<Item>>, item: Item): string {
  return all
    .map(({ id, value }) => ({ id, reported: value(item) }))
    .filter(({ reported }) => reported !== null && reported !== undefined)
    .map(({ id, reported }) => `<data key="${id}">${xmlText(String(reported))}</data>`)
    .join("");
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Removes characters that XML 1.0 forbids (section 2.2). */
function xmlText(text: string): string {
  return oneLine(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, "")
    .replaceAll(/[&<>"']/g, (character) => ownValue(XML_ENTITIES, character) as string);
}

/** Replaces line ends, control characters, bidirectional controls and lone surrogates. */
function oneLine(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
}

const UNITS = [
  [1e12, "Tbit/s"],
  [1e9, "Gbit/s"],
  [1e6, "Mbit/s"],
  [1e3, "kbit/s"],
] as const;

function speedText(bps: number): string {
  const [size, unit] = UNITS.find(([minimum]) => bps >= minimum) ?? [1, "bit/s"];
  return `${Math.round((bps / size) * 10) / 10} ${unit}`;
}

/** Renders items a chunk at a time. */
export function* inChunks<Item>(
  items: readonly Item[],
  render: (item: Item) => string,
  separator: string,
): Generator<string> {
  for (let start = 0; start < items.length; start += CHUNK_ITEMS) {
    yield (start === 0 ? "" : separator) +
      items
        .slice(start, start + CHUNK_ITEMS)
        .map(render)
        .join(separator);
  }
}
