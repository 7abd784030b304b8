// What is drawn where at one size: lines, dots and names, in pixels from the origin of the map, so that panning only
// shifts it. Names that would lie on others are left out, those of what is chosen last. Plain functions.

import { BEND_AFTER, inOrder } from "./bends.ts";
import type { Diagram, DiagramLink, DiagramNode, Presence } from "./diagram.ts";
import { type Box, Room } from "./room.ts";

/** Each stands for a colour. */
export type Tone = "text" | "quiet" | "line" | "accent" | "added" | "removed" | "ground";

export interface SceneLine {
  readonly id: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** Where it turns, on its way around a device. */
  readonly via: readonly { readonly x: number; readonly y: number }[];
  readonly width: number;
  readonly tone: Tone;
  /** `broken`: vanished. `dotted`: not certain at which interfaces it ends. */
  readonly stroke: "whole" | "broken" | "dotted";
}

export interface SceneDot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly tone: Tone;
  /** Only its edge: it has vanished, or is in no inventory. */
  readonly isHollow: boolean;
  readonly isBroken: boolean;
  /** A ring around it: chosen, or found. */
  readonly ring: Tone | null;
}

export interface SceneName {
  readonly text: string;
  /** Its middle. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly tone: Tone;
  readonly isStrong: boolean;
}

export interface Scene {
  readonly lines: readonly SceneLine[];
  readonly dots: readonly SceneDot[];
  readonly names: readonly SceneName[];
}

export interface SceneOptions {
  readonly scale: number;
  readonly chosenId: string | null;
  /** On the way between two: ids of devices and of links. */
  readonly way: ReadonlySet<string>;
  /** Null where nothing is sought. */
  readonly found: ReadonlySet<string> | null;
  /** In pixels. */
  readonly widthOf: (text: string, isStrong: boolean) => number;
}

export const NAME_SIZE = 12;
export const NAME_HEIGHT = 15;
const NAME_LENGTH_MAX = 26;
const LANE_GAP = 5;
/** However many cables there are between two, they lie within this. */
const LANES_WIDTH_MAX = 28;
/** How far from its device a port is named: the first that is free. */
const PORT_AT = [34, 56, 80, 110] as const;

/** A name that touches another device's dot would seem to be that one's. */
const BESIDE_DOT = 5;
/** So many neighbors of what is chosen are named, whatever lies there. */
const NEIGHBORS_NAMED = 12;

const SIGNS: Readonly<Record<Presence, string>> = { stayed: "", appeared: "+ ", vanished: "− ", later: "" };

export function sceneOf(diagram: Diagram, options: SceneOptions): Scene {
  const nodes = diagram.nodes.filter(({ presence }) => presence !== "later");
  const lines = diagram.links.flatMap((link) =>
    link.presence === "later" ? [] : lineOf(link, diagram.bends.get(link.link.group) ?? 0, options),
  );
  const dots = nodes.map((node) => dotOf(node, degreeOf(diagram, node.id), options));
  return { lines, dots, names: namesOf(diagram, nodes, { lines, dots }, options) };
}

function degreeOf({ linksById }: Diagram, id: string): number {
  return linksById.get(id)?.length ?? 0;
}

function namesOf(
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
  let forced = 0;
  for (const { node, index } of order) {
    const isChosen = node.id === chosenId;
    const places = placesOf(node, dots[index] as SceneDot, diagram, options);
    const isWanted = isChosen || neighbors.has(node.id) || way.has(node.id);
    // Beside its dot a name is easily read as another's: only what is looked at is named there.
    const free = (isWanted ? places : places.slice(0, 2)).find((name) => room.take(boxOf(name)));
    const isNear = neighbors.has(node.id) && forced < NEIGHBORS_NAMED;
    if (free !== undefined) names.push(free);
    else if ((isChosen || isNear) && places[0] !== undefined) {
      forced += isNear ? 1 : 0;
      room.occupy(boxOf(places[0]));
      names.push(places[0]);
    }
    if (!isChosen) continue;
    for (const ports of portNames(diagram.linksById.get(node.id) ?? [], lines, options)) {
      const freePort = ports.find((name) => room.take(boxOf(name)));
      if (freePort !== undefined) names.push(freePort);
    }
  }
  return names;
}

function neighborsOf({ linksById }: Diagram, id: string | null): ReadonlySet<string> {
  const links = id === null ? [] : (linksById.get(id) ?? []);
  return new Set(links.flatMap(({ ends, presence }) => (presence === "later" ? [] : ends.map((end) => end.id))));
}

function boxOf({ x, y, width }: SceneName): Box {
  return { x: x - width / 2, y: y - NAME_HEIGHT / 2, width, height: NAME_HEIGHT };
}

/** At most so many characters, never half of one. */
export function shortened(text: string, most = NAME_LENGTH_MAX): string {
  const characters = [...text.replace(/\s+/gu, " ")];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

function lineOf(cable: DiagramLink, bend: number, options: SceneOptions): SceneLine[] {
  const { id, ends, lane, lanes, presence, status, link } = cable;
  const { scale, chosenId, way } = options;
  // A cable from a device to itself is in the table, and no line.
  if (ends[0].id === ends[1].id) return [];
  // The lanes of all cables between two lie the same way round, whichever end each names first.
  const [first, last] = inOrder(ends);
  const [dx, dy] = [last.x - first.x, last.y - first.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const aside = lane * Math.min(LANE_GAP, LANES_WIDTH_MAX / Math.max(1, lanes - 1)) * Math.min(1, scale * 1.5);
  const at = (node: DiagramNode, along: number, beside: number) => ({
    x: (node.x + ux * along) * scale - uy * beside,
    y: (node.y + uy * along) * scale + ux * beside,
  });
  const [one, other] = [at(ends[0], 0, aside), at(ends[1], 0, aside)];
  const after = Math.min(BEND_AFTER, length / 2);
  const beside = bend * scale + aside;
  const turns = bend === 0 ? [] : [at(first, after, beside), at(last, -after, beside)];
  const isMarked = way.has(id) || ends.some((end) => end.id === chosenId);
  const tone = presence === "stayed" ? (way.has(id) ? "accent" : stateTone(status, isMarked)) : presenceTone(presence);
  return [
    {
      id,
      x1: one.x,
      y1: one.y,
      x2: other.x,
      y2: other.y,
      via: ends[0] === first ? turns : turns.toReversed(),
      width: widthBySpeed(link.speed_bps) * Math.max(0.6, Math.min(1, scale * 2)) + (isMarked ? 0.75 : 0),
      tone,
      stroke: presence === "vanished" ? "broken" : link.certainty === "Interfaces" ? "whole" : "dotted",
    },
  ];
}

function stateTone(status: string | null, isMarked: boolean): Tone {
  if (status === "Down" || status === "LowerLayerDown") return "removed";
  return isMarked ? "text" : "line";
}

function presenceTone(presence: Presence): Tone {
  return presence === "appeared" ? "added" : "removed";
}

function widthBySpeed(bps: number | null): number {
  if (bps === null || bps < 1e9) return 1.1;
  return bps < 1e10 ? 1.6 : 2.4;
}

function dotOf({ id, x, y, presence, node }: DiagramNode, degree: number, options: SceneOptions): SceneDot {
  const { scale, chosenId, way, found } = options;
  const isAside = found !== null && !found.has(id);
  return {
    id,
    x: x * scale,
    y: y * scale,
    radius: (4 + Math.min(5, Math.log2(1 + degree))) * Math.min(1.2, Math.max(0.35, scale * 1.3)),
    tone: presence !== "stayed" ? presenceTone(presence) : way.has(id) ? "accent" : isAside ? "quiet" : "text",
    isHollow: presence === "vanished" || node.kind === "Unknown",
    isBroken: presence === "vanished",
    ring: id === chosenId ? "accent" : found?.has(id) === true ? "text" : null,
  };
}

/** Where a device can be named: below it or above it, where fewer of its own cables run, then beside it. */
function placesOf(
  { id, label, presence, x, y }: DiagramNode,
  dot: SceneDot,
  { linksById }: Diagram,
  options: SceneOptions,
): SceneName[] {
  const isStrong = id === options.chosenId || options.way.has(id);
  const text = SIGNS[presence] + shortened(withoutDomain(label));
  const width = options.widthOf(text, isStrong) + 4;
  const name = { text, width, tone: dot.tone, isStrong };
  const away = dot.radius + (dot.ring === null ? 2 : 5);
  const [up, down] = [-away - NAME_HEIGHT / 2, away + NAME_HEIGHT / 2];
  let leaning = 0;
  for (const { ends } of linksById.get(id) ?? []) {
    const far = ends[0].id === id ? ends[1] : ends[0];
    // What runs sideways is in the way of neither.
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

/** The domain is the same for most devices, and the tables have it. An address stays whole. */
function withoutDomain(label: string): string {
  return /^[\w-]*[a-z][\w-]*\.[\w.-]+$/iu.test(label) ? label.slice(0, label.indexOf(".")) : label;
}

/** What telephones and access points call their one port. */
const MAC_ADDRESS = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/iu;

/** Where each cable leaves what is chosen, and where it arrives: of each the places where its port can be named. */
function portNames(
  links: readonly DiagramLink[],
  lines: readonly SceneLine[],
  options: SceneOptions,
): (readonly SceneName[])[] {
  const lineById = new Map(lines.map((line) => [line.id, line]));
  return links.flatMap(({ id, link }) => {
    const line = lineById.get(id);
    if (line === undefined) return [];
    const length = lengthOf(line);
    return link.ends.flatMap(({ port }, end) => {
      if (port === null || port === "" || MAC_ADDRESS.test(port)) return [];
      const text = shortened(port);
      const width = options.widthOf(text, false) + 4;
      const places = PORT_AT.map((away): SceneName => {
        // Never beyond the middle, where it would seem to be the other end's.
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

/** @param share of its length, from 0 to 1 */
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

/** The device at a point, in pixels from the origin of the map; the nearest of those within reach. */
export function dotAt({ dots }: Scene, x: number, y: number, reach: number): SceneDot | null {
  let nearest: SceneDot | null = null;
  let nearestAway = Number.POSITIVE_INFINITY;
  for (const dot of dots) {
    const away = Math.hypot(dot.x - x, dot.y - y) - dot.radius;
    if (away > reach || away >= nearestAway) continue;
    nearest = dot;
    nearestAway = away;
  }
  return nearest;
}
