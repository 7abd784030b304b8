// Placement of device and port labels without overlap, the selected device and its neighbors first. Pure.

import { type Diagram, type DiagramNode, degreeOf, type Presence } from "./diagram.ts";
import { type Box, FreeSpace } from "./free-space.ts";
import {
  NAME_HEIGHT,
  type Scene,
  type SceneDot,
  type SceneLine,
  type SceneName,
  type SceneOptions,
} from "./scene-parts.ts";

const NAME_LENGTH_MAX = 26;
/** Used for a required label that has no room. */
const SHORT_LENGTH_MAX = 12;
/** Distances of a port label from its device; the first free one applies. */
const PORT_DISTANCES = [34, 56, 80, 110] as const;

/** Far ports are labeled only for devices with at most this many links. */
const FAR_PORTS_LINKS_MAX = 24;
/** A label that touches another device's dot would seem to belong to it. */
const DOT_MARGIN = 5;
/** Up to this many neighbors of the selected device are labeled despite overlap; more would cover one another. */
const NEIGHBORS_LABELED_MAX = 13;

const SIGNS: Readonly<Record<Presence, string>> = { stayed: "", appeared: "+ ", vanished: "− ", later: "" };

export function namesOf(
  diagram: Diagram,
  nodes: readonly DiagramNode[],
  { lines, dots }: Pick<Scene, "lines" | "dots">,
  options: SceneOptions,
): SceneName[] {
  const { selectedId, path, found } = options;
  const space = new FreeSpace();
  for (const { x, y, radius } of dots)
    space.occupy({ x: x - radius - DOT_MARGIN, y: y - radius, width: (radius + DOT_MARGIN) * 2, height: radius * 2 });
  const neighbors = neighborsOf(diagram, selectedId);
  const weightOf = ({ id, presence }: DiagramNode) =>
    (id === selectedId ? 1e6 : 0) +
    (neighbors.has(id) ? 2e5 : 0) +
    (path.has(id) ? 1e5 : 0) +
    (found?.has(id) === true ? 1e4 : 0) +
    (presence === "stayed" ? 0 : 1e3) +
    degreeOf(diagram, id);
  const order = nodes
    .map((node, index) => ({ node, index, weight: weightOf(node) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  const names: SceneName[] = [];
  const placeName = ({ node, index }: (typeof order)[number]) => {
    const [isSelected, isNeighbor] = [node.id === selectedId, neighbors.has(node.id)];
    const positions = positionsOf(node, dots[index] as SceneDot, diagram, options);
    // A label to the side of its dot is easily read as another's, so only highlighted devices get one there.
    const isHighlighted = isSelected || isNeighbor || path.has(node.id);
    const position = (isHighlighted ? positions : positions.slice(0, 2)).find((name) => space.tryOccupy(boxOf(name)));
    if (position !== undefined) names.push(position);
    else if (isSelected || (isNeighbor && neighbors.size <= NEIGHBORS_LABELED_MAX)) {
      const short = positionsOf(node, dots[index] as SceneDot, diagram, { ...options, lengthMax: SHORT_LENGTH_MAX });
      const fallback = short.find((name) => space.isFree(boxOf(name))) ?? (short[0] as SceneName);
      space.occupy(boxOf(fallback));
      names.push(fallback);
    }
  };
  const isPrioritized = ({ node: { id } }: (typeof order)[number]) =>
    id === selectedId || neighbors.has(id) || path.has(id);
  for (const entry of order.filter(isPrioritized)) placeName(entry);
  for (const ports of portNames(diagram, lines, options)) {
    const position = ports.find((name) => space.tryOccupy(boxOf(name)));
    if (position !== undefined) names.push(position);
  }
  for (const entry of order) if (!isPrioritized(entry)) placeName(entry);
  return names;
}

function neighborsOf({ linksById }: Diagram, id: string | null): ReadonlySet<string> {
  const links = id === null ? [] : (linksById.get(id) ?? []);
  return new Set(links.flatMap(({ ends, presence }) => (presence === "later" ? [] : ends.map((end) => end.id))));
}

function boxOf({ x, y, width }: SceneName): Box {
  return { x: x - width / 2, y: y - NAME_HEIGHT / 2, width, height: NAME_HEIGHT };
}

/** Limits a string to this many characters, without splitting a code point. */
export function shortened(text: string, maximum = NAME_LENGTH_MAX): string {
  const characters = [...text.replace(/\s+/gu, " ")];
  return characters.length <= maximum ? characters.join("") : `${characters.slice(0, maximum - 1).join("")}…`;
}

/** Label positions of a device: below or above, whichever has fewer of its links first, then to the sides. */
function positionsOf(
  { id, label, presence, x, y }: DiagramNode,
  dot: SceneDot,
  { linksById }: Diagram,
  options: SceneOptions & { readonly lengthMax?: number },
): SceneName[] {
  const isStrong = id === options.selectedId || options.path.has(id);
  const text = SIGNS[presence] + shortened(withoutDomain(label), options.lengthMax);
  const width = options.widthOf(text, isStrong) + 4;
  const name = { text, width, tone: dot.tone, isStrong };
  const distance = dot.radius + (dot.ring === null ? 2 : 5);
  const [up, down] = [-distance - NAME_HEIGHT / 2, distance + NAME_HEIGHT / 2];
  let balance = 0;
  for (const { ends } of linksById.get(id) ?? []) {
    const far = ends[0].id === id ? ends[1] : ends[0];
    // Horizontal links obstruct neither position.
    if (Math.abs(far.y - y) * 3 > Math.abs(far.x - x)) balance += Math.sign(far.y - y);
  }
  const [preferred, second] = balance > 0 ? [up, down] : [down, up];
  return [
    { ...name, x: dot.x, y: dot.y + preferred },
    { ...name, x: dot.x, y: dot.y + second },
    { ...name, x: dot.x + distance + width / 2, y: dot.y },
    { ...name, x: dot.x - distance - width / 2, y: dot.y },
  ];
}

/** Most devices share a domain, and the tables show it. Addresses are kept whole. */
function withoutDomain(label: string): string {
  return /^[\w-]*[a-z][\w-]*\.[\w.-]+$/iu.test(label) ? label.slice(0, label.indexOf(".")) : label;
}

/** Port name of phones and access points with a single port. */
const MAC_ADDRESS = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/iu;

/** Label positions for the ports of the selected device's links, each port once; far ports only if there are few. */
function portNames(
  { linksById }: Diagram,
  lines: readonly SceneLine[],
  options: SceneOptions,
): (readonly SceneName[])[] {
  const { selectedId } = options;
  const links = selectedId === null ? [] : (linksById.get(selectedId) ?? []);
  const lineById = new Map(lines.map((line) => [line.id, line]));
  const labeled = new Set<string>();
  return links.flatMap(({ id, link }) => {
    const line = lineById.get(id);
    if (line === undefined) return [];
    const length = lengthOf(line);
    return link.ends.flatMap(({ node_id, port }, end) => {
      if (port === null || port === "" || MAC_ADDRESS.test(port)) return [];
      if (node_id !== selectedId ? links.length > FAR_PORTS_LINKS_MAX : labeled.has(port)) return [];
      if (node_id === selectedId) labeled.add(port);
      const text = shortened(port);
      const width = options.widthOf(text, false) + 4;
      const positions = PORT_DISTANCES.map((distance): SceneName => {
        // Never beyond the middle, where the label would seem to belong to the other end.
        const share = Math.min(0.4, distance / length);
        const { x, y } = pointOn(line, end === 0 ? share : 1 - share);
        return { text, x, y, width, tone: "quiet", isStrong: false };
      });
      return [positions];
    });
  });
}

function cornersOf({ x1, y1, x2, y2, via }: SceneLine) {
  return [{ x: x1, y: y1 }, ...via, { x: x2, y: y2 }];
}

function lengthOf(line: SceneLine): number {
  const corners = cornersOf(line);
  const length = corners.reduce((sum, { x, y }, index) => {
    const last = corners[index - 1];
    return last === undefined ? 0 : sum + Math.hypot(x - last.x, y - last.y);
  }, 0);
  return length || 1;
}

/** @param share fraction of the length, 0 to 1 */
function pointOn(line: SceneLine, share: number) {
  const corners = cornersOf(line);
  let rest = share * lengthOf(line);
  for (const [index, end] of corners.entries()) {
    const start = corners[index - 1];
    if (start === undefined) continue;
    const segmentLength = Math.hypot(end.x - start.x, end.y - start.y);
    if (rest <= segmentLength && segmentLength > 0)
      return {
        x: start.x + ((end.x - start.x) * rest) / segmentLength,
        y: start.y + ((end.y - start.y) * rest) / segmentLength,
      };
    rest -= segmentLength;
  }
  return { x: line.x2, y: line.y2 };
}
