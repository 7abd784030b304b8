// Labels of devices and ports: selection and positions without overlap, the selected device and its neighbors first.
// Pure.

import { type Diagram, type DiagramNode, degreeOf, type Presence } from "./diagram.ts";
import { type Box, Room } from "./room.ts";
import {
  NAME_HEIGHT,
  type Scene,
  type SceneDot,
  type SceneLine,
  type SceneName,
  type SceneOptions,
} from "./scene-parts.ts";

const NAME_LENGTH_MAX = 26;
/** For a required label without room. */
const SHORT_LENGTH_MAX = 12;
/** Distances of a port label from its device; the first free one applies. */
const PORT_AT = [34, 56, 80, 110] as const;

/** Far ports are labeled only for devices with at most this many cables. */
const FAR_PORTS_OF = 24;
/** A label that touches another device's dot would seem to belong to it. */
const BESIDE_DOT = 5;
/** Up to this many neighbors of the selected device are labeled despite overlap; more would cover one another. */
const NEIGHBORS_NAMED = 13;

const SIGNS: Readonly<Record<Presence, string>> = { stayed: "", appeared: "+ ", vanished: "− ", later: "" };

export function namesOf(
  diagram: Diagram,
  nodes: readonly DiagramNode[],
  { lines, dots }: Pick<Scene, "lines" | "dots">,
  options: SceneOptions,
): SceneName[] {
  const { chosenId, way, found } = options;
  const room = new Room();
  for (const { x, y, radius } of dots)
    room.occupy({
      x: x - radius - BESIDE_DOT,
      y: y - radius,
      width: (radius + BESIDE_DOT) * 2,
      height: radius * 2,
    });
  const neighbors = neighborsOf(diagram, chosenId);
  const weightOf = ({ id, presence }: DiagramNode) =>
    (id === chosenId ? 1e6 : 0) +
    (neighbors.has(id) ? 2e5 : 0) +
    (way.has(id) ? 1e5 : 0) +
    (found?.has(id) === true ? 1e4 : 0) +
    (presence === "stayed" ? 0 : 1e3) +
    degreeOf(diagram, id);
  const order = nodes
    .map((node, index) => ({ node, index, weight: weightOf(node) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  const names: SceneName[] = [];
  const name = ({ node, index }: (typeof order)[number]) => {
    const [isChosen, isNear] = [node.id === chosenId, neighbors.has(node.id)];
    const places = placesOf(node, dots[index] as SceneDot, diagram, options);
    // A label to the side of its dot is easily read as another's, so only highlighted devices get one there.
    const isWanted = isChosen || isNear || way.has(node.id);
    const free = (isWanted ? places : places.slice(0, 2)).find((each) => room.take(boxOf(each)));
    if (free !== undefined) names.push(free);
    else if (isChosen || (isNear && neighbors.size <= NEIGHBORS_NAMED)) {
      const short = placesOf(node, dots[index] as SceneDot, diagram, { ...options, lengthMax: SHORT_LENGTH_MAX });
      const drawn = short.find((each) => room.isFree(boxOf(each))) ?? (short[0] as SceneName);
      room.occupy(boxOf(drawn));
      names.push(drawn);
    }
  };
  const isLookedAt = ({ node: { id } }: (typeof order)[number]) => id === chosenId || neighbors.has(id) || way.has(id);
  for (const each of order.filter(isLookedAt)) name(each);
  for (const ports of portNames(diagram, lines, options)) {
    const free = ports.find((each) => room.take(boxOf(each)));
    if (free !== undefined) names.push(free);
  }
  for (const each of order) if (!isLookedAt(each)) name(each);
  return names;
}

function neighborsOf({ linksById }: Diagram, id: string | null): ReadonlySet<string> {
  const links = id === null ? [] : (linksById.get(id) ?? []);
  return new Set(links.flatMap(({ ends, presence }) => (presence === "later" ? [] : ends.map((end) => end.id))));
}

function boxOf({ x, y, width }: SceneName): Box {
  return { x: x - width / 2, y: y - NAME_HEIGHT / 2, width, height: NAME_HEIGHT };
}

/** Limits a text to this many characters, without splitting a code point. */
export function shortened(text: string, most = NAME_LENGTH_MAX): string {
  const characters = [...text.replace(/\s+/gu, " ")];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

/** Label positions of a device: below or above, whichever has fewer of its cables first, then to the sides. */
function placesOf(
  { id, label, presence, x, y }: DiagramNode,
  dot: SceneDot,
  { linksById }: Diagram,
  options: SceneOptions & { readonly lengthMax?: number },
): SceneName[] {
  const isStrong = id === options.chosenId || options.way.has(id);
  const text = SIGNS[presence] + shortened(withoutDomain(label), options.lengthMax);
  const width = options.widthOf(text, isStrong) + 4;
  const name = { text, width, tone: dot.tone, isStrong };
  const away = dot.radius + (dot.ring === null ? 2 : 5);
  const [up, down] = [-away - NAME_HEIGHT / 2, away + NAME_HEIGHT / 2];
  let leaning = 0;
  for (const { ends } of linksById.get(id) ?? []) {
    const far = ends[0].id === id ? ends[1] : ends[0];
    // Horizontal cables obstruct neither position.
    if (Math.abs(far.y - y) * 3 > Math.abs(far.x - x)) leaning += Math.sign(far.y - y);
  }
  const [preferred, second] = leaning > 0 ? [up, down] : [down, up];
  return [
    { ...name, x: dot.x, y: dot.y + preferred },
    { ...name, x: dot.x, y: dot.y + second },
    { ...name, x: dot.x + away + width / 2, y: dot.y },
    { ...name, x: dot.x - away - width / 2, y: dot.y },
  ];
}

/** Most devices share a domain, and the tables show it. Addresses are kept whole. */
function withoutDomain(label: string): string {
  return /^[\w-]*[a-z][\w-]*\.[\w.-]+$/iu.test(label) ? label.slice(0, label.indexOf(".")) : label;
}

/** Port name of phones and access points with a single port. */
const MAC_ADDRESS = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/iu;

/**
 * Label positions for the port at each end of the selected device's cables. A port shared by several cables is labeled
 * once; with very many cables, far ports appear only in the table.
 */
function portNames(
  { linksById }: Diagram,
  lines: readonly SceneLine[],
  options: SceneOptions,
): (readonly SceneName[])[] {
  const { chosenId } = options;
  const links = chosenId === null ? [] : (linksById.get(chosenId) ?? []);
  const lineById = new Map(lines.map((line) => [line.id, line]));
  const told = new Set<string>();
  return links.flatMap(({ id, link }) => {
    const line = lineById.get(id);
    if (line === undefined) return [];
    const length = lengthOf(line);
    return link.ends.flatMap(({ node_id, port }, end) => {
      if (port === null || port === "" || MAC_ADDRESS.test(port)) return [];
      if (node_id !== chosenId ? links.length > FAR_PORTS_OF : told.has(port)) return [];
      if (node_id === chosenId) told.add(port);
      const text = shortened(port);
      const width = options.widthOf(text, false) + 4;
      const places = PORT_AT.map((away): SceneName => {
        // Never beyond the middle, where the label would seem to belong to the other end.
        const share = Math.min(0.4, away / length);
        const { x, y } = pointOn(line, end === 0 ? share : 1 - share);
        return { text, x, y, width, tone: "quiet", isStrong: false };
      });
      return [places];
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
    const piece = Math.hypot(end.x - start.x, end.y - start.y);
    if (rest <= piece && piece > 0)
      return { x: start.x + ((end.x - start.x) * rest) / piece, y: start.y + ((end.y - start.y) * rest) / piece };
    rest -= piece;
  }
  return { x: line.x2, y: line.y2 };
}
